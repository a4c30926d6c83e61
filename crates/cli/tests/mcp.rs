//! `exacta mcp` as clients meet it: a small one of our own, which can also misbehave, and the official Python SDK.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    reason = "tests make directories, run the binary and talk to it"
)]

#[path = "mcp/tasks.rs"]
mod tasks;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(30);

/// A program with a child: what a shell would do by itself shows nothing about trees.
const TREE: &str = "import subprocess, sys\nsubprocess.run(['/bin/sleep', sys.argv[1]])\n";

struct Project {
    folder: PathBuf,
    root: PathBuf,
}

impl Project {
    fn new() -> Self {
        static SERIAL: AtomicU32 = AtomicU32::new(0);
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let name = format!("exacta-mcp-{}-{serial}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(folder.join("project/.git/hooks")).expect("a temporary directory");
        fs::create_dir_all(folder.join("home")).expect("a temporary directory");
        let folder = folder.canonicalize().expect("a real path");
        let root = folder.join("project");
        fs::write(root.join("tree.py"), TREE).expect("a file");
        Project { folder, root }
    }

    fn exacta(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_exacta"));
        self.surround(command.args(arguments).stdin(Stdio::null()));
        command
    }

    fn surround(&self, command: &mut Command) {
        command.current_dir(&self.root).env("HOME", self.folder.join("home"));
        for name in ["XDG_STATE_HOME", "XDG_CONFIG_HOME", "EXACTA_AGENT", "EXACTA_PROFILE"] {
            command.env_remove(name);
        }
    }

    fn token(&self, name: &str) -> String {
        let path = self.folder.join("home/.local/state/exacta/serve").join(name);
        fs::read_to_string(path).expect("a token").trim().to_owned()
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        let _best_effort = fs::remove_dir_all(&self.folder);
    }
}

struct Client {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Value>,
    next: u64,
    /// What came while something else was waited for.
    aside: Vec<Value>,
}

impl Client {
    /// Nothing is said yet.
    fn start(project: &Project) -> Self {
        Client::with(project, &["mcp"])
    }

    fn with(project: &Project, arguments: &[&str]) -> Self {
        let mut command = project.exacta(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the binary runs");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let message = serde_json::from_str(&line);
                let message = message.unwrap_or_else(|_| panic!("not of the protocol: {line}"));
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        Client { child, input, lines, next: 0, aside: Vec::new() }
    }

    fn open(project: &Project, version: &str, capabilities: &Value) -> (Self, Value) {
        let mut client = Client::start(project);
        let about = client.greet(version, capabilities);
        (client, about)
    }

    fn greet(&mut self, version: &str, capabilities: &Value) -> Value {
        let answer = self.ask(
            "initialize",
            json!({
                "protocolVersion": version,
                "capabilities": capabilities,
                "clientInfo": { "name": "tester", "version": "1" },
            }),
        );
        self.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        answer["result"].clone()
    }

    fn usual(project: &Project) -> Self {
        Client::open(project, "2025-11-25", &json!({})).0
    }

    fn say_text(&mut self, text: &str) {
        let input = self.input.as_mut().expect("open");
        input.write_all(format!("{text}\n").as_bytes()).expect("the server reads");
        input.flush().expect("the server reads");
    }

    fn say(&mut self, message: &Value) {
        self.say_text(&message.to_string());
    }

    fn send(&mut self, method: &str, parameters: Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters }));
        id
    }

    fn hear(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.aside.iter().position(&fits) {
            return self.aside.remove(at);
        }
        let begun = Instant::now();
        loop {
            let left = PATIENCE.saturating_sub(begun.elapsed());
            match self.lines.recv_timeout(left) {
                Ok(message) if fits(&message) => return message,
                Ok(message) => self.aside.push(message),
                Err(error) => panic!("no answer: {error}; aside: {:?}", self.aside),
            }
        }
    }

    fn answer(&mut self, id: u64) -> Value {
        self.hear(|message| message["id"] == id && message.get("method").is_none())
    }

    fn ask(&mut self, method: &str, parameters: Value) -> Value {
        let id = self.send(method, parameters);
        self.answer(id)
    }

    /// The result of a tool.
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({ "name": tool, "arguments": arguments }));
        assert!(answer["result"].is_object(), "{tool}: {answer}");
        answer["result"].clone()
    }

    /// What was run.
    fn run(&mut self, command: &str) -> Value {
        let result = self.call("shell_exec", json!({ "command": command }));
        assert_eq!(result["isError"], false, "{result}");
        result["structuredContent"].clone()
    }

    /// Its input ends; how long it takes to end.
    fn end(mut self) -> Duration {
        let begun = Instant::now();
        self.input.take();
        let ended = self.child.wait().expect("a child");
        assert!(ended.success(), "{ended:?}");
        begun.elapsed()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.input.take();
        let _it_may_be_gone = self.child.wait();
    }
}

/// Does anything run that has this in its command line?
fn runs(marker: &str) -> bool {
    let processes = fs::read_dir("/proc").expect("proc");
    processes.flatten().any(|entry| {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(marker)
    })
}

fn until(what: &str, holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Needs a person, and leaves a file by which it shows whether it was done.
const ASKS: &str = "echo true > .git/hooks/asked";

fn was_done(project: &Project) -> bool {
    project.root.join(".git/hooks/asked").exists()
}

#[test]
fn every_version_with_a_handshake() {
    let project = Project::new();
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let (mut client, about) = Client::open(&project, version, &json!({}));
        assert_eq!(about["protocolVersion"], version, "{about}");
        assert_eq!(about["serverInfo"]["name"], "exacta");
        assert!(about["capabilities"]["tools"].is_object());
        assert_eq!(client.run("echo hi")["stdout"], "hi\n");
    }
    let (_client, about) = Client::open(&project, "1999-01-01", &json!({}));
    assert_eq!(about["protocolVersion"], "2025-11-25");
}

/// What every request of the present protocol has with it.
fn meta(capabilities: &Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "tester", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    })
}

#[test]
fn the_version_without_a_handshake() {
    let project = Project::new();
    let mut client = Client::start(&project);
    let found = client.ask("server/discover", json!({ "_meta": meta(&json!({})) }));
    let versions = found["result"]["supportedVersions"].to_string();
    assert!(versions.contains("2026-07-28") && versions.contains("2025-03-26"), "{found}");
    let arguments = json!({ "command": "echo hi" });
    let call = json!({ "_meta": meta(&json!({})), "name": "shell_exec", "arguments": arguments });
    let answer = client.ask("tools/call", call);
    assert_eq!(answer["result"]["structuredContent"]["stdout"], "hi\n", "{answer}");
    let bare = client.ask("tools/call", json!({ "name": "log", "arguments": {} }));
    assert_eq!(bare["error"]["code"], -32602, "{bare}");
}

#[test]
fn tools_say_what_they_are() {
    let project = Project::new();
    let mut client = Client::usual(&project);
    let listed = client.ask("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().expect("tools").clone();
    assert_eq!(tools.len(), 19);
    for tool in &tools {
        let hints = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
        assert!(hints.iter().all(|hint| tool["annotations"][*hint].is_boolean()), "{tool}");
        assert_eq!(tool["inputSchema"]["type"], "object");
        assert_eq!(tool["outputSchema"]["type"], "object");
    }
}

#[test]
fn a_command_and_what_became_of_it() {
    let project = Project::new();
    let mut client = Client::usual(&project);
    let script = "printf '\\e[31mred\\e[0m\\n'; echo bad >&2; exit 7";
    let result = client.call("shell_exec", json!({ "command": script }));
    assert_eq!(result["isError"], false);
    let value = &result["structuredContent"];
    assert_eq!(value["state"], "ended");
    assert_eq!(value["exit_code"], 7);
    assert_eq!(value["stdout"], "red\n");
    assert_eq!(value["stderr"], "bad\n");
    assert!(value["isolation"]["level"].is_string(), "{value}");
    let text = result["content"][0]["text"].as_str().expect("text");
    assert!(text.starts_with("exit code 7") && text.contains("red"), "{text}");
    let late = client.call("shell_exec", json!({ "command": "sleep 20", "timeout_ms": 200 }));
    assert_eq!(late["structuredContent"]["state"], "timed_out", "{late}");
    assert_eq!(late["structuredContent"]["exit_code"], 124);
    let with = json!({ "command": "echo $x; pwd", "env": { "x": "y" }, "cwd": "sub" });
    let missing = client.call("shell_exec", with.clone());
    assert!(missing["content"][0]["text"].as_str().expect("text").starts_with("not_a_directory"));
    client.run("mkdir sub");
    let there = client.call("shell_exec", with);
    let said = there["structuredContent"]["stdout"].as_str().expect("output");
    assert!(said.starts_with("y\n") && said.ends_with("/project/sub\n"), "{there}");
    let refused = client.run("sudo ls");
    assert_eq!(refused["state"], "refused", "{refused}");
}

#[test]
fn long_output_keeps_both_ends() {
    let project = Project::new();
    let mut client = Client::usual(&project);
    let value = client.run("echo first; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo last");
    let output = value["stdout"].as_str().expect("output");
    assert!(output.len() < 60_000, "{}", output.len());
    assert!(output.starts_with("first\n") && output.ends_with("last\n"));
    assert_eq!(value["truncated"], true);
    let spilled = value["spill_path"].as_str().expect("a path");
    assert_eq!(client.run(&format!("wc -c < {spilled}"))["stdout"], "3000012\n");
}

#[test]
fn progress_has_the_output() {
    let project = Project::new();
    let mut client = Client::usual(&project);
    let id = client.send(
        "tools/call",
        json!({
            "name": "shell_exec",
            "arguments": { "command": "echo one; sleep 0.5; echo two" },
            "_meta": { "progressToken": "mine" },
        }),
    );
    let first = client.hear(|message| message["method"] == "notifications/progress");
    assert_eq!(first["params"]["progressToken"], "mine");
    assert_eq!(first["params"]["message"], "one\n");
    assert_eq!(first["params"]["progress"], 4.0);
    // The answer comes after all of the progress.
    let mut told = Vec::new();
    let answer = loop {
        let message = client.hear(|_| true);
        if message["id"] == id {
            break message;
        }
        told.push(message["params"]["message"].clone());
    };
    assert_eq!(told, ["two\n"]);
    assert_eq!(answer["result"]["structuredContent"]["stdout"], "one\ntwo\n");
}

#[test]
fn cancelling_kills_the_tree() {
    let project = Project::new();
    let mut client = Client::usual(&project);
    let command = "python3 tree.py 86413 & python3 tree.py 86413; true";
    let arguments = json!({ "name": "shell_exec", "arguments": { "command": command } });
    let id = client.send("tools/call", arguments);
    until("it runs", || runs("/bin/sleep\086413"));
    let cancelled = json!({ "requestId": id, "reason": "enough" });
    client.say(&json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled,
    }));
    until("it is gone", || !runs("86413"));
    assert_eq!(client.run("echo on")["stdout"], "on\n");
    assert!(client.aside.iter().all(|message| message["id"] != id), "{:?}", client.aside);
}

#[test]
fn nonsense_does_not_end_it() {
    let project = Project::new();
    let mut client = Client::usual(&project);
    for text in ["{{{", "[]", "null", "\"x\"", "{\"jsonrpc\": \"2.0\"}", "\u{0}", "", "[[[[[["] {
        client.say_text(text);
    }
    let unknown = client.ask("tools/call", json!({ "name": "approve", "arguments": {} }));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    let unknown = client.ask("no/such/method", json!({}));
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    let wrong = [
        ("shell_exec", json!({}), "bad_request"),
        ("shell_exec", json!({ "command": 7 }), "bad_request"),
        ("shell_exec", json!({ "command": "true", "sudo": true }), "bad_request"),
        ("shell_exec", json!({ "command": "true", "session_id": "none" }), "unknown_session"),
        ("shell_exec", json!({ "command": "true", "project": "/" }), "unknown_project"),
        ("shell_session_close", json!({ "session_id": "none" }), "unknown_session"),
        ("process_read", json!({ "process_id": "none" }), "unknown_process"),
        ("undo", json!({ "id": 999 }), "unknown_record"),
        ("undo", json!({ "force": true }), "bad_request"),
        ("history", json!({ "id": "999" }), "unknown_record"),
        ("approval_wait", json!({ "approval_id": "none" }), "unknown_approval"),
    ];
    for (tool, arguments, code) in wrong {
        let result = client.call(tool, arguments);
        assert_eq!(result["isError"], true, "{tool}: {result}");
        assert_eq!(result["structuredContent"]["error"]["code"], code, "{tool}: {result}");
    }
    assert_eq!(client.run("echo on")["stdout"], "on\n");
}

#[test]
fn what_is_too_long_is_left_out() {
    let project = Project::new();
    let mut client = Client::usual(&project);
    let long = "x".repeat(20 << 20);
    client.send("tools/call", json!({ "name": "policy_test", "arguments": { "command": long } }));
    assert_eq!(client.run("echo on")["stdout"], "on\n");
    let value = client.run(&format!("echo {} | wc -c", "y".repeat(1 << 20)));
    assert_eq!(value["stdout"], "1048577\n");
}

#[test]
fn nothing_outlives_its_input() {
    let project = Project::new();
    let mut client = Client::usual(&project);
    let background = json!({ "command": "python3 tree.py 86417", "background": true });
    client.call("shell_exec", background);
    let running =
        json!({ "name": "shell_exec", "arguments": { "command": "python3 tree.py 86419" } });
    client.send("tools/call", running);
    let session = client.call("shell_session_open", json!({}));
    let session = session["structuredContent"]["session_id"].clone();
    let within = json!({ "command": "python3 tree.py 86423", "session_id": session });
    client.send("tools/call", json!({ "name": "shell_exec", "arguments": within }));
    let child_of = |marker: &str| runs(&format!("/bin/sleep\0{marker}"));
    until("all of it runs", || ["86417", "86419", "86423"].into_iter().all(child_of));
    let took = client.end();
    assert!(took < Duration::from_secs(10), "{took:?}");
    for marker in ["86417", "86419", "86423"] {
        assert!(!runs(marker), "{marker}");
    }
}

#[test]
fn who_declares_nothing_is_asked_nothing() {
    let project = Project::new();
    let mut client = Client::usual(&project);
    let value = client.run(ASKS);
    assert_eq!(value["state"], "approval_pending", "{value}");
    assert_eq!(value["exit_code"], 126);
    let decide = value["approval"]["decide"].to_string();
    assert!(decide.contains("exacta approvals approve"), "{value}");
    assert!(client.aside.iter().all(|message| message["method"] != "elicitation/create"));
    assert!(!was_done(&project));
    let denied = value["approval"]["id"].as_str().expect("an id").to_owned();
    let said = project.exacta(&["approvals", "deny", &denied]).output().expect("runs");
    assert!(said.status.success(), "{said:?}");
    let waited = client.call("approval_wait", json!({ "approval_id": denied }));
    assert_eq!(waited["structuredContent"]["state"], "denied", "{waited}");
}

#[test]
fn a_form_that_is_answered_strangely_approves_nothing() {
    let project = Project::new();
    let (mut client, _) = Client::open(&project, "2025-06-18", &json!({ "elicitation": {} }));
    let answers = [
        json!({ "result": { "action": "accept" } }),
        json!({ "result": { "action": "accept", "content": { "decision": "always" } } }),
        json!({ "result": { "action": "accept", "content": { "decision": true } } }),
        json!({ "result": { "action": "cancel", "content": { "decision": "once" } } }),
        json!({ "error": { "code": -32601, "message": "no such method" } }),
    ];
    for answer in answers {
        let arguments = json!({ "name": "shell_exec", "arguments": { "command": ASKS } });
        let id = client.send("tools/call", arguments);
        let form = client.hear(|message| message["method"] == "elicitation/create");
        let choices = &form["params"]["requestedSchema"]["properties"]["decision"]["enum"];
        assert_eq!(*choices, json!(["once", "deny"]), "{form}");
        let mut reply = json!({ "jsonrpc": "2.0", "id": form["id"] });
        let (reply, answer) = (reply.as_object_mut().expect("one"), answer.as_object());
        reply.extend(answer.expect("one").clone());
        client.say(&Value::Object(reply.clone()));
        let result = client.answer(id);
        let state = &result["result"]["structuredContent"]["state"];
        assert_eq!(*state, "approval_pending", "{answer:?}: {result}");
        assert!(!was_done(&project), "{answer:?}");
    }
}

#[test]
fn another_door_is_as_good_as_the_form() {
    let project = Project::new();
    let (mut client, _) = Client::open(&project, "2025-11-25", &json!({ "elicitation": {} }));
    let arguments = json!({ "name": "shell_exec", "arguments": { "command": ASKS } });
    let id = client.send("tools/call", arguments);
    let _nobody_answers_it = client.hear(|message| message["method"] == "elicitation/create");
    let listed = client.call("approval_list", json!({}))["structuredContent"]["approvals"].clone();
    let approval = listed[0]["id"].as_str().expect("an id");
    let said = project.exacta(&["approvals", "approve", approval]).output().expect("runs");
    assert!(said.status.success(), "{said:?}");
    let result = client.answer(id);
    assert_eq!(result["result"]["structuredContent"]["state"], "ended", "{result}");
    assert!(was_done(&project));
}

#[test]
fn a_yes_for_the_session_is_one() {
    let project = Project::new();
    let (mut client, _) = Client::open(&project, "2025-11-25", &json!({ "elicitation": {} }));
    let session = client.call("shell_session_open", json!({}));
    let session = session["structuredContent"]["session_id"].clone();
    let arguments = json!({ "command": ASKS, "session_id": session });
    let call = json!({ "name": "shell_exec", "arguments": arguments });
    let id = client.send("tools/call", call.clone());
    let form = client.hear(|message| message["method"] == "elicitation/create");
    let choices = &form["params"]["requestedSchema"]["properties"]["decision"]["enum"];
    assert_eq!(*choices, json!(["once", "session", "deny"]), "{form}");
    let yes = json!({ "action": "accept", "content": { "decision": "session" } });
    client.say(&json!({ "jsonrpc": "2.0", "id": form["id"], "result": yes }));
    assert_eq!(client.answer(id)["result"]["structuredContent"]["state"], "ended");
    let again = client.ask("tools/call", call);
    assert_eq!(again["result"]["structuredContent"]["state"], "ended", "{again}");
    assert!(client.aside.iter().all(|message| message["method"] != "elicitation/create"));
}

#[test]
fn what_waits_in_the_background_says_so() {
    let project = Project::new();
    let mut client = Client::usual(&project);
    let started = client.call("shell_exec", json!({ "command": ASKS, "background": true }));
    let process = started["structuredContent"]["process_id"].clone();
    let reading = json!({ "process_id": process, "wait_ms": 20_000 });
    let read = client.call("process_read", reading.clone())["structuredContent"].clone();
    assert_eq!(read["state"], "running", "{read}");
    let approval = read["approval"].as_str().expect("an id").to_owned();
    let said = project.exacta(&["approvals", "approve", &approval]).output().expect("runs");
    assert!(said.status.success(), "{said:?}");
    let begun = Instant::now();
    loop {
        let read = client.call("process_read", reading.clone())["structuredContent"].clone();
        if read["state"] == "ended" {
            assert_eq!(read["result"]["state"], "ended", "{read}");
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "{read}");
    }
    assert!(was_done(&project));
}

#[test]
fn of_several_projects_one_is_named() {
    let (one, other) = (Project::new(), Project::new());
    let roots = [&one, &other].map(|project| project.root.display().to_string());
    let mut client = Client::with(&one, &["mcp", "--project", &roots[0], "--project", &roots[1]]);
    client.greet("2025-11-25", &json!({}));
    let unnamed = client.call("shell_exec", json!({ "command": "true" }));
    assert_eq!(unnamed["structuredContent"]["error"]["code"], "bad_request", "{unnamed}");
    for root in &roots {
        let result = client.call("shell_exec", json!({ "command": "pwd", "project": root }));
        assert_eq!(result["structuredContent"]["stdout"], format!("{root}\n"), "{result}");
    }
}

#[test]
fn a_signal_ends_it_as_well() {
    let project = Project::new();
    let mut client = Client::usual(&project);
    let call = json!({ "name": "shell_exec", "arguments": { "command": "python3 tree.py 86429" } });
    client.send("tools/call", call);
    until("it runs", || runs("/bin/sleep\086429"));
    let pid = rustix_pid(&client.child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it runs");
    assert!(client.child.wait().expect("a child").success());
    assert!(!runs("86429"));
}

#[test]
fn an_answer_belongs_to_its_question() {
    let project = Project::new();
    let mut client = Client::start(&project);
    let able = json!({ "elicitation": { "form": {} } });
    let call = |command: &str, capabilities: &Value, more: Value| {
        let mut call = json!({
            "_meta": meta(capabilities),
            "name": "shell_exec",
            "arguments": { "command": command },
        });
        let more = more.as_object().cloned().unwrap_or_default();
        call.as_object_mut().expect("an object").extend(more);
        call
    };
    let yes = |state: &Value| {
        let once = json!({ "action": "accept", "content": { "decision": "once" } });
        json!({ "requestState": state, "inputResponses": { "approval": once } })
    };
    let asked = client.ask("tools/call", call(ASKS, &able, Value::Null))["result"].clone();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let state = asked["requestState"].clone();
    let other = "echo other > .git/hooks/asked";
    let strays = [
        call(ASKS, &able, yes(&json!("made up"))),
        call(other, &able, yes(&state)),
        // It was good for one answer, though that was to another call.
        call(ASKS, &able, yes(&state)),
    ];
    for stray in strays {
        let answer = client.ask("tools/call", stray);
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        assert!(!was_done(&project));
    }
    let asked = client.ask("tools/call", call(ASKS, &able, Value::Null))["result"].clone();
    let mute = call(ASKS, &json!({}), yes(&asked["requestState"]));
    let answer = client.ask("tools/call", mute);
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert!(!was_done(&project));
    let asked = client.ask("tools/call", call(ASKS, &able, Value::Null))["result"].clone();
    let good = client.ask("tools/call", call(ASKS, &able, yes(&asked["requestState"])));
    assert_eq!(good["result"]["structuredContent"]["state"], "ended", "{good}");
    assert!(was_done(&project));
}

#[test]
fn only_its_own_is_taken_back() {
    let project = Project::new();
    let mut theirs = project.exacta(&["run", "--", "echo theirs > theirs"]);
    assert!(theirs.env("EXACTA_AGENT", "other").status().expect("runs").success());
    let mut client = Client::usual(&project);
    assert_eq!(client.call("undo", json!({}))["isError"], true);
    let own = client.run("echo own > own")["undo"]["id"].as_u64().expect("an id");
    let listed = client.call("log", json!({}))["structuredContent"]["records"].clone();
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
    for id in 1..own {
        for tool in ["undo", "diff"] {
            let result = client.call(tool, json!({ "id": id }));
            assert_eq!(result["structuredContent"]["error"]["code"], "unknown_record", "{result}");
        }
    }
    let dry = client.call("undo", json!({ "dry_run": true }))["structuredContent"].clone();
    assert_eq!(dry["changes"][0]["path"], "own", "{dry}");
    let undone = client.call("undo", json!({}))["structuredContent"].clone();
    assert_eq!(undone["records"], json!([own]), "{undone}");
    assert!(!project.root.join("own").exists() && project.root.join("theirs").exists());
    let past = project.exacta(&["shell", "history", "--json", "--session", "agent"]).output();
    let past: Value = serde_json::from_slice(&past.expect("runs").stdout).expect("JSON");
    assert_eq!(past[0]["command"], format!("exacta undo {own}"), "{past}");
    assert_eq!(past[0]["agent"], "tester", "{past}");
}

/// One request to a daemon; its status and body.
fn posted(address: &str, headers: &[(&str, &str)]) -> (u16, String) {
    let mut stream = TcpStream::connect(address).expect("it listens");
    let body = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": meta(&json!({})) },
    });
    let body = body.to_string();
    let mut head = format!(
        "POST /mcp HTTP/1.1\r\nConnection: close\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\nContent-Length: {}\r\n",
        body.len()
    );
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    stream.write_all(format!("{head}\r\n{body}").as_bytes()).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.expect("a status"), answer)
}

#[test]
fn over_http_only_who_may_comes_in() {
    let project = Project::new();
    for arguments in [["mcp", "--listen", "127.0.0.1:0"], ["serve", "--listen", "127.0.0.1:0"]] {
        let mut command = project.exacta(&arguments);
        let mut child = command.stderr(Stdio::piped()).spawn().expect("the binary runs");
        let mut said = BufReader::new(child.stderr.take().expect("piped"));
        let mut line = String::new();
        said.read_line(&mut line).expect("an address");
        let address = line.split("http://").nth(1).and_then(|rest| rest.split('/').next());
        let address = address.expect("an address").trim().to_owned();
        let (host, agent) =
            (("Host", &*address), format!("Bearer {}", project.token("agent-token")));
        let token = ("Authorization", &*agent);
        assert_eq!(posted(&address, &[host]).0, 401);
        assert_eq!(posted(&address, &[host, ("Authorization", "Bearer nonsense")]).0, 401);
        assert_eq!(posted(&address, &[("Host", "evil.example"), token]).0, 421);
        assert_eq!(posted(&address, &[host, token, ("Origin", "http://evil.example")]).0, 403);
        let (status, answer) = posted(&address, &[host, token]);
        assert_eq!(status, 200, "{answer}");
        assert!(answer.contains("shell_exec"), "{answer}");
        let pid = rustix_pid(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it runs");
        assert!(child.wait().expect("a child").success(), "{arguments:?}");
    }
}

fn rustix_pid(child: &Child) -> rustix::process::Pid {
    let number = i32::try_from(child.id()).expect("a small number");
    rustix::process::Pid::from_raw(number).expect("not zero")
}

/// A Python with the SDK, made once. Without a network this fails, unless `EXACTA_TESTS_OFFLINE` says that there is none.
fn python() -> Option<PathBuf> {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mcp-python");
    let python = place.join("bin/python");
    let has_it = || {
        let mut command = Command::new(&python);
        let tried = command.args(["-c", "import mcp.client.client, httpx2"]).output();
        tried.is_ok_and(|output| output.status.success())
    };
    if has_it() {
        return Some(python);
    }
    let made = Command::new("python3").args(["-m", "venv", "--clear"]).arg(&place).output();
    let made = made.expect("python3 is there");
    let mut command = Command::new(&python);
    let got = command.args(["-m", "pip", "install", "-q", "mcp>=2.3,<3"]).output();
    if has_it() {
        return Some(python);
    }
    if std::env::var_os("EXACTA_TESTS_OFFLINE").is_some() {
        return None;
    }
    panic!("no MCP SDK for Python (EXACTA_TESTS_OFFLINE=1 does without): {made:?} {got:?}");
}

#[test]
fn the_official_sdk() {
    let Some(python) = python() else { return };
    let project = Project::new();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/client.py");
    let mut command = Command::new(python);
    command.arg(script).arg(env!("CARGO_BIN_EXE_exacta")).arg(&project.root);
    project.surround(&mut command);
    let output = command.output().expect("python runs");
    let said = String::from_utf8_lossy(&output.stdout);
    let why = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("all of it works"), "{said}\n{why}");
}

/// A server that says nothing for long is not mistaken for one that is gone.
#[test]
fn silence_is_no_end() {
    let project = Project::new();
    let mut client = Client::usual(&project);
    let quiet = client.lines.recv_timeout(Duration::from_millis(500));
    assert_eq!(quiet.expect_err("nothing is said"), RecvTimeoutError::Timeout);
    assert_eq!(client.run("echo on")["stdout"], "on\n");
}

/// The inspector's command line, where it can be had: `npm install` needs a registry.
#[test]
fn the_inspector() {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mcp-inspector");
    let inspector = place.join("node_modules/.bin/mcp-inspector");
    if !inspector.exists() {
        std::fs::create_dir_all(&place).expect("a folder");
        let mut command = Command::new("npm");
        command.args(["install", "--no-audit", "--no-fund", "--silent", "--prefix"]).arg(&place);
        let _without_npm_or_network = command.arg("@modelcontextprotocol/inspector").output();
    }
    if !inspector.exists() {
        let note = b"SKIPPED: the inspector does not install here\n";
        let _nobody_may_read = std::io::Write::write_all(&mut std::io::stderr(), note);
        return;
    }
    let project = Project::new();
    let ask = |words: &[&str]| -> Value {
        let mut command = Command::new(&inspector);
        command.args(["--cli", env!("CARGO_BIN_EXE_exacta"), "mcp"]).args(words);
        project.surround(&mut command);
        let output = command.output().expect("node runs");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let why = String::from_utf8_lossy(&output.stderr);
        serde_json::from_str(&said).unwrap_or_else(|_| panic!("{said}\n{why}"))
    };
    let listed = ask(&["--method", "tools/list"]);
    let names: Vec<_> = listed["tools"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    for name in ["shell_exec", "shell_session_open", "process_read", "undo", "approval_wait"] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
    let call = ["--method", "tools/call", "--tool-name", "shell_exec", "--tool-arg"];
    let ran = ask(&[&call[..], &["command=echo inspected; exit 3"]].concat());
    let result = &ran["structuredContent"];
    assert_eq!((&result["stdout"], &result["exit_code"]), (&"inspected\n".into(), &3.into()));
    let asked = ask(&[&call[..], &["command=git push --force"]].concat());
    assert_eq!(asked["structuredContent"]["state"], "approval_pending", "{asked}");
}
