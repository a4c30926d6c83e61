//! What can go wrong on the way to an endpoint, and that a key goes to nobody else.

use std::io::Write as _;
use std::net::TcpListener;
use std::time::{Duration, Instant};

use serde_json::json;

use super::server::{Reply, Server, openai};
use super::{KEY, PLAN, Planned, assert_planned};

fn error(code: &str) -> serde_json::Value {
    // Some repeat the key that they were given.
    json!({ "error": { "message": format!("no: {KEY}"), "type": "t", "param": null, "code": code } })
}

#[test]
fn statuses_have_their_words() {
    for (status, code, expected) in [
        (401, "invalid_api_key", "127.0.0.1 does not accept the key (status 401): no: [REDACTED]"),
        (404, "model_not_found", "127.0.0.1 has no model m-1: no"),
        (404, "", "has no model m-1, or no such API at this address"),
        (429, "insufficient_quota", "the budget at 127.0.0.1 is used up"),
        (418, "", "does not take the request (status 418)"),
    ] {
        let server = Server::start([Reply::json(status, &error(code))]);
        let said = Planned::at("openai", &server).failure();
        assert!(said.contains(expected), "{said}");
        assert_eq!(server.asked().len(), 1, "{said}");
    }
}

#[test]
fn whoever_is_busy_is_asked_again() {
    for status in [408, 429, 500, 502, 503, 504, 529] {
        let server = Server::start([
            Reply::json(status, &error("")).with("retry-after", "0"),
            Reply::stream(&openai(PLAN, "stop"), 50),
        ]);
        assert_planned(&Planned::at("openai", &server).plan());
        assert_eq!(server.asked().len(), 2, "{status}");
    }
}

#[test]
fn but_not_for_ever() {
    let server = Server::start([Reply::json(429, &error("")).with("retry-after-ms", "10")]);
    let said = Planned::at("openai", &server).failure();
    assert!(said.contains("wants to be asked less often (status 429)"), "{said}");
    assert_eq!(server.asked().len(), 3);
    let server =
        Server::start([Reply::new(502, "text/html", vec![b"<html>bad</html>".to_vec()])
            .with("retry-after", "0")]);
    let said = Planned::at("openai", &server).failure();
    assert!(said.contains("is not well (status 502): <html>bad</html>"), "{said}");
}

#[test]
fn a_pause_that_is_too_long_is_told_and_not_waited_for() {
    let server = Server::start([Reply::json(429, &error("")).with("retry-after", "600")]);
    let begun = Instant::now();
    let said = Planned::at("openai", &server).failure();
    assert!(said.contains("it wants a pause of 600 s"), "{said}");
    assert!(begun.elapsed() < Duration::from_secs(15));
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn time_is_limited_for_all_of_it() {
    let stream = openai(PLAN, "stop");
    let half = &stream[..stream.len() / 2];
    let never: Vec<Reply> = vec![
        Reply::stream(half, 50).endless(),
        Reply::json(200, &json!({})).endless(),
        Reply::stream("", 1).endless(),
    ];
    for reply in never {
        let server = Server::start([reply]);
        let mut planned = Planned::at("openai", &server);
        planned.configuration = planned.configuration.replace("20s", "1s");
        let begun = Instant::now();
        let said = planned.failure();
        assert!(said.contains("no plan after 1 s"), "{said}");
        assert!(said.contains("planner.timeout"), "{said}");
        assert!(begun.elapsed() < Duration::from_secs(15));
    }
}

#[test]
fn an_answer_that_breaks_off_is_none() {
    let stream = openai(PLAN, "stop");
    // The last of the plan is there, and still nobody has said that it is the last.
    let unfinished = &stream[..stream.find("\"stop\"").expect("an end") - 60];
    for reply in [
        Reply::stream(unfinished, 50),
        Reply::stream(unfinished, 50).abrupt(),
        Reply::stream("", 1),
        Reply::json(200, &json!({ "hello": "world" })),
    ] {
        let server = Server::start([reply]);
        let said = Planned::at("openai", &server).failure();
        assert!(said.contains("broke off"), "{said}");
    }
    let server = Server::start([Reply::new(200, "text/html", vec![b"<html>".to_vec()])]);
    let said = Planned::at("openai", &server).failure();
    assert!(said.contains("is not its wire format"), "{said}");
}

#[test]
fn an_error_in_the_stream_is_told() {
    let stream = openai(PLAN, "stop");
    let error =
        json!({ "error": { "message": "The server had an error", "type": "server_error" } });
    let first = stream.find("\n\n").expect("an event") + 2;
    let server =
        Server::start([Reply::stream(&format!("{}data: {error}\n\n", &stream[..first]), 50)]);
    let said = Planned::at("openai", &server).failure();
    assert!(said.contains("The server had an error"), "{said}");
}

#[test]
fn an_answer_is_never_longer_than_a_plan_could_be() {
    let long = "x".repeat(200_000);
    let event = format!("data: {}\n\n", json!({ "choices": [{ "delta": { "content": long } }] }));
    let streamed = Reply::stream(&event.repeat(7), 1 << 16);
    let line = Reply::stream(&"y".repeat(2 << 20), 1 << 16);
    let whole = Reply::new(200, "application/json", vec![vec![b' '; 1 << 19]; 4]);
    for reply in [streamed, line, whole] {
        let server = Server::start([reply.endless()]);
        let said = Planned::at("openai", &server).failure();
        assert!(said.contains("the answer is longer than 1048576 bytes"), "{said}");
    }
}

#[test]
fn whom_nobody_reaches() {
    let port = {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.local_addr().expect("an address").port()
    };
    let at = |url: &str| {
        Planned::new(&format!("[planner]\nkind = \"openai\"\nmodel = \"m\"\nurl = \"{url}\"\n"))
    };
    let said = at(&format!("http://127.0.0.1:{port}")).failure();
    assert!(said.contains("127.0.0.1 cannot be reached"), "{said}");
    let said = at("https://does-not-exist.invalid/v1").failure();
    assert!(said.contains("does-not-exist.invalid"), "{said}");
    // It does not speak TLS.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("somebody");
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        std::thread::sleep(Duration::from_secs(5));
    });
    let said = at(&format!("https://127.0.0.1:{port}/v1")).failure();
    assert!(said.contains("no secure connection to 127.0.0.1"), "{said}");
}

#[test]
fn a_key_goes_where_it_was_sent_and_nowhere_else() {
    let other = Server::start([Reply::stream(&openai(PLAN, "stop"), 50)]);
    for status in [301, 302, 303, 307, 308] {
        let place = format!("http://127.0.0.1:{}/v1/chat/completions", other.port);
        let server = Server::start([Reply::json(status, &json!({})).with("location", &place)]);
        let said = Planned::at("openai", &server).failure();
        assert!(said.contains("that is not followed"), "{said}");
    }
    assert_eq!(other.asked().len(), 0);
    // Nor in the clear, nor to a proxy.
    let planned = Planned::new(
        "[planner]\nkind = \"openai\"\nmodel = \"m\"\nurl = \"http://llm.example/v1\"\n",
    );
    let said = planned.failure();
    assert!(
        said.contains("the key of OPENAI_API_KEY would go to llm.example in the clear"),
        "{said}"
    );
    let server = Server::start([Reply::stream(&openai(PLAN, "stop"), 50)]);
    let mut planned = Planned::at("openai", &server);
    let proxy = format!("http://127.0.0.1:{}", other.port);
    planned.variables.extend([
        ("HTTP_PROXY", proxy.clone()),
        ("ALL_PROXY", proxy.clone()),
        ("http_proxy", proxy),
    ]);
    assert_planned(&planned.plan());
    assert_eq!(other.asked().len(), 0);
}

#[test]
fn a_key_can_be_named_and_left_out() {
    let server = Server::start([Reply::stream(&openai(PLAN, "stop"), 50)]);
    let mut planned = Planned::at("openai", &server).with("key_env = \"MINE\"");
    planned.variables.push(("MINE", "another-key-altogether".to_owned()));
    assert_planned(&planned.plan());
    assert_eq!(server.asked()[0].headers["authorization"], "Bearer another-key-altogether");
    let planned = Planned::at("openai", &server).with("key_env = \"\"");
    assert_planned(&planned.plan());
    assert!(!server.asked()[1].headers.contains_key("authorization"));
    // What cannot be a key is not sent, and not shown.
    let mut planned = Planned::at("openai", &server).with("key_env = \"MINE\"");
    planned.variables.push(("MINE", "two\nlines".to_owned()));
    let said = planned.failure();
    assert!(said.contains("what is in MINE is no key") && !said.contains("lines\n"), "{said}");
    assert_eq!(server.asked().len(), 2);
}
