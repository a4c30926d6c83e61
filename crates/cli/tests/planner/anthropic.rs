//! Anthropic's wire format.

use serde_json::{Value, json};

use super::server::{Reply, Server, anthropic};
use super::{KEY, PLAN, Planned, assert_planned};

#[test]
fn a_plan_is_the_input_of_a_tool() {
    for (text, piece) in [
        (anthropic(PLAN, "tool_use"), 50),
        (anthropic(PLAN, "tool_use"), 1),
        (anthropic(PLAN, "tool_use").replace('\n', "\r\n"), 5),
    ] {
        let server = Server::start([Reply::stream(&text, piece)]);
        assert_planned(&Planned::at("anthropic", &server).plan());
        let asked = server.asked();
        let [asked] = asked.as_slice() else { panic!("{asked:?}") };
        assert_eq!(asked.path, "/v1/messages");
        assert_eq!(asked.headers["x-api-key"], KEY);
        assert_eq!(asked.headers["anthropic-version"], "2023-06-01");
        assert!(!asked.headers.contains_key("authorization"));
        let body = &asked.body;
        assert!(body["max_tokens"].as_u64().is_some_and(|tokens| tokens > 1_000));
        assert_eq!(body["tools"][0]["input_schema"]["type"], "object");
        assert_eq!(body["tool_choice"]["name"], body["tools"][0]["name"]);
        assert_eq!((&body["tool_choice"]["type"], &body["stream"]), (&json!("tool"), &json!(true)));
        assert_eq!(body["messages"][0]["role"], "user");
        assert!(body["system"].as_str().is_some_and(|text| text.contains("plan")));
    }
}

#[test]
fn answers_that_come_at_once() {
    let input: Value = serde_json::from_str(PLAN).expect("JSON");
    let block = json!({ "type": "tool_use", "id": "t", "name": "submit_plan", "input": input });
    let text = json!({ "type": "text", "text": "Here it is." });
    let message = json!({ "type": "message", "content": [text, block], "stop_reason": "tool_use" });
    let server = Server::start([Reply::json(200, &message)]);
    assert_planned(&Planned::at("anthropic", &server).plan());
}

#[test]
fn refusals_and_cut_answers_are_told() {
    for (stop, expected) in [
        ("refusal", "the model refuses to plan this"),
        ("max_tokens", "the answer was cut"),
        ("model_context_window_exceeded", "the answer was cut"),
    ] {
        let server = Server::start([Reply::stream(&anthropic(PLAN, stop), 50)]);
        let said = Planned::at("anthropic", &server).failure();
        assert!(said.contains(expected), "{said}");
        assert_eq!(server.asked().len(), 1);
    }
}

#[test]
fn an_error_in_the_stream_is_told() {
    let error = json!({ "type": "error", "error": { "type": "overloaded_error", "message": "Overloaded" } });
    let begun: String = anthropic(PLAN, "tool_use").chars().take(700).collect();
    let cut = begun.rfind("\n\n").map_or("", |end| &begun[..end + 2]);
    let server =
        Server::start([Reply::stream(&format!("{cut}event: error\ndata: {error}\n\n"), 50)]);
    let said = Planned::at("anthropic", &server).failure();
    assert!(said.contains("127.0.0.1 is overloaded (status 529): Overloaded"), "{said}");
}

#[test]
fn an_overloaded_server_is_asked_again() {
    let error = json!({ "type": "error", "error": { "type": "overloaded_error", "message": "Overloaded" } });
    let server = Server::start([
        Reply::json(529, &error).with("retry-after", "0"),
        Reply::stream(&anthropic(PLAN, "tool_use"), 50),
    ]);
    assert_planned(&Planned::at("anthropic", &server).plan());
    assert_eq!(server.asked().len(), 2);
}

#[test]
fn errors_have_their_words() {
    for (status, kind, expected) in [
        (401, "authentication_error", "does not accept the key (status 401): no"),
        (403, "permission_error", "does not accept the key (status 403): no"),
        (404, "not_found_error", "has no model m-1: no"),
        (400, "invalid_request_error", "does not take the request (status 400): no"),
        (413, "request_too_large", "does not take the request (status 413): no"),
    ] {
        let error = json!({ "type": "error", "error": { "type": kind, "message": "no" } });
        let server = Server::start([Reply::json(status, &error)]);
        let said = Planned::at("anthropic", &server).failure();
        assert!(said.contains(expected), "{said}");
        assert_eq!(server.asked().len(), 1, "{said}");
    }
}

#[test]
fn what_is_no_plan_is_repaired() {
    let server = Server::start([
        Reply::stream(&anthropic("", "tool_use"), 50),
        Reply::stream(&anthropic("{\"goal\":\"g\",\"steps\":[]}", "tool_use"), 50),
        Reply::stream(&anthropic(PLAN, "tool_use"), 50),
    ]);
    assert_planned(&Planned::at("anthropic", &server).plan());
    let asked = server.asked();
    let messages = asked[2].body["messages"].as_array().expect("messages").clone();
    assert_eq!(messages.len(), 5);
    // An empty message is refused by the API.
    assert!(
        messages.iter().all(|message| message["content"].as_str().is_some_and(|it| !it.is_empty()))
    );
}
