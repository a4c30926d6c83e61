//! The wire format of `OpenAI`: streams in any pieces, answers at once, refusals, repair.

use serde_json::{Value, json};

use super::server::{Reply, Server, openai};
use super::support::{code, text};
use super::{COMMAND, GOAL, KEY, PLAN, Planned, assert_planned};

fn whole(message: &Value, finish: &str) -> Reply {
    let choice = json!({ "index": 0, "message": message, "finish_reason": finish });
    Reply::json(200, &json!({ "object": "chat.completion", "choices": [choice] }))
}

#[test]
fn a_plan_is_streamed() {
    let server = Server::start([Reply::stream(&openai(PLAN, "stop"), 50)]);
    let planned = Planned::at("openai", &server);
    assert_planned(&planned.plan());
    let asked = server.asked();
    let [asked] = asked.as_slice() else { panic!("{asked:?}") };
    assert_eq!(asked.path, "/v1/chat/completions");
    assert_eq!(asked.headers["authorization"], format!("Bearer {KEY}"));
    let body = &asked.body;
    assert_eq!((&body["model"], &body["stream"]), (&json!("m-1"), &json!(true)));
    let format = &body["response_format"];
    assert_eq!(format["type"], "json_schema");
    assert_eq!(format["json_schema"]["strict"], true);
    assert_eq!(format["json_schema"]["schema"]["type"], "object");
    assert_eq!(body["messages"][0]["role"], "system");
    let said = body["messages"][1]["content"].as_str().expect("a text");
    assert!(said.starts_with(&format!("Goal: {GOAL}\n")), "{said}");
    assert!(!asked.text.contains(KEY));
}

#[test]
fn pieces_line_ends_and_comments_do_not_matter() {
    let stream = openai(PLAN, "stop");
    let commented =
        stream.replace("\n\n", "\n\n: keep-alive\n\n").replace("data: ", "id: 1\ndata:");
    for text in
        [stream.replace('\n', "\r\n"), stream.replace('\n', "\r"), format!(": hi\n\n{commented}")]
    {
        for piece in [1, 3, 1 << 20] {
            let server = Server::start([Reply::stream(&text, piece)]);
            assert_planned(&Planned::at("openai", &server).plan());
        }
    }
}

#[test]
fn as_json_and_into_a_file() {
    let server = Server::start([Reply::stream(&openai(PLAN, "stop"), 50)]);
    let planned = Planned::at("openai", &server);
    let output = planned.run(&["task", "plan", GOAL, "--json"]);
    let plan: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&plan["goal"], &plan["steps"][0]["command"]), (&json!(GOAL), &json!(COMMAND)));
    assert_eq!(plan["steps"][0]["idempotent"], true);
    // What the rules say is beside it.
    assert!(text(&output.stderr).contains("  1  allow"), "{}", text(&output.stderr));

    // A link is replaced, and not followed.
    planned.project.write("elsewhere", "kept");
    std::os::unix::fs::symlink("elsewhere", planned.project.root.join("plan.toml"))
        .expect("a link");
    let output = planned.run(&["task", "plan", GOAL, "-o", "plan.toml"]);
    assert_eq!((code(&output), text(&output.stdout).as_str()), (0, ""));
    let written = planned.project.read("plan.toml").expect("a file");
    assert!(written.contains(COMMAND), "{written}");
    assert_eq!(planned.project.read("elsewhere").as_deref(), Some("kept"));
}

#[test]
fn servers_that_do_not_stream() {
    let server = Server::start([whole(
        &json!({ "role": "assistant", "content": PLAN, "refusal": null }),
        "stop",
    )]);
    assert_planned(&Planned::at("openai", &server).plan());
    // Nor say what they send.
    let stream = openai(PLAN, "stop").into_bytes();
    let server = Server::start([Reply::new(200, "text/plain", vec![stream])]);
    assert_planned(&Planned::at("openai", &server).plan());
}

#[test]
fn fences_and_thoughts_are_taken_away() {
    let text = format!("<think>{{\nhm</think>\n```json\n{PLAN}\n```");
    let server = Server::start([Reply::stream(&openai(&text, "stop"), 50)]);
    assert_planned(&Planned::at("openai", &server).plan());
}

#[test]
fn refusals_are_told() {
    let refusal = "I'm sorry, I can't\x1b[2J help with that.";
    let events = format!(
        "data: {}\n\ndata: {}\n\ndata: [DONE]\n\n",
        json!({ "choices": [{ "delta": { "role": "assistant", "refusal": "I'm sorry, I can't\x1b[2J" } }] }),
        json!({ "choices": [{ "delta": { "refusal": " help with that." }, "finish_reason": "stop" }] }),
    );
    let at_once = whole(&json!({ "content": null, "refusal": refusal }), "stop");
    for reply in [Reply::stream(&events, 9), at_once] {
        let server = Server::start([reply]);
        let said = Planned::at("openai", &server).failure();
        assert!(
            said.contains("refuses to plan this: I'm sorry, I can't [2J help with that."),
            "{said}"
        );
        assert_eq!(server.asked().len(), 1);
    }
    let server = Server::start([Reply::stream(&openai("{", "content_filter"), 50)]);
    assert!(Planned::at("openai", &server).failure().contains("refuses"));
}

#[test]
fn a_cut_answer_is_no_plan() {
    let server = Server::start([Reply::stream(&openai(PLAN, "length"), 50)]);
    let said = Planned::at("openai", &server).failure();
    assert!(said.contains("the answer was cut"), "{said}");
}

#[test]
fn servers_that_know_no_schemas_are_asked_once_more() {
    let unknown = json!({ "error": { "message": "response_format json_schema is not supported", "type": "invalid_request_error" } });
    let server =
        Server::start([Reply::json(400, &unknown), Reply::stream(&openai(PLAN, "stop"), 50)]);
    assert_planned(&Planned::at("openai", &server).plan());
    let asked = server.asked();
    let [first, second] = asked.as_slice() else { panic!("{asked:?}") };
    assert_eq!(first.body["response_format"]["type"], "json_schema");
    assert_eq!(second.body["response_format"], json!({ "type": "json_object" }));
    let instruction = second.body["messages"][0]["content"].as_str().expect("a text");
    assert!(
        instruction.contains("JSON Schema") && instruction.contains("\"command\""),
        "{instruction}"
    );

    // It was something else.
    let server = Server::start([Reply::json(400, &unknown)]);
    let said = Planned::at("openai", &server).failure();
    assert!(said.contains("status 400") && said.contains("is not supported"), "{said}");
    assert_eq!(server.asked().len(), 2);
}

#[test]
fn an_answer_that_is_no_plan_is_repaired() {
    let wrong = r#"{"goal":"g","steps":[{"comand":"ls"}]}"#;
    let server = Server::start([
        Reply::stream(&openai(wrong, "stop"), 50),
        Reply::stream(&openai("I would run ls.", "stop"), 50),
        Reply::stream(&openai(PLAN, "stop"), 50),
    ]);
    let output = Planned::at("openai", &server).plan();
    assert_planned(&output);
    assert!(text(&output.stderr).contains("asking again"), "{}", text(&output.stderr));
    let asked = server.asked();
    assert_eq!(asked.len(), 3);
    let messages = asked[2].body["messages"].as_array().expect("messages").clone();
    let roles: Vec<&Value> = messages.iter().map(|message| &message["role"]).collect();
    assert_eq!(roles, ["system", "user", "assistant", "user", "assistant", "user"]);
    assert_eq!(messages[2]["content"], wrong);
    let complaint = messages[3]["content"].as_str().expect("a text");
    assert!(complaint.contains("not a valid plan") && complaint.contains("command"), "{complaint}");
}

#[test]
fn after_two_repairs_it_is_given_up() {
    let server = Server::start([Reply::stream(&openai("no", "stop"), 50)]);
    let said = Planned::at("openai", &server).failure();
    assert!(said.contains("after 3 tries the answer is still no plan"), "{said}");
    assert_eq!(server.asked().len(), 3);
}
