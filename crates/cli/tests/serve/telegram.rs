//! Questions on a phone, with a server that speaks the methods of the Bot API that are used.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use serde_json::{Value, json};

use crate::HOOK;
use crate::daemon::{As, Daemon, until};
use crate::support::Project;

const TOKEN: &str = "123456:this-is-the-token-of-a-bot-for-tests";
const CHAT: i64 = 4242;
const ANNA: i64 = 7;

#[derive(Default)]
struct Phone {
    /// Every call but long polls, with what was sent.
    calls: Vec<(String, Value)>,
    updates: VecDeque<Value>,
    /// What the next calls are answered with instead: a status and a body.
    trouble: VecDeque<(u16, Value)>,
    next: i64,
}

#[derive(Clone)]
struct Telegram {
    phone: Arc<Mutex<Phone>>,
    port: u16,
}

impl Telegram {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let telegram = Telegram { phone: Arc::default(), port };
        let answering = telegram.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let telegram = answering.clone();
                std::thread::spawn(move || while telegram.answer(&stream).is_some() {});
            }
        });
        telegram
    }

    fn phone(&self) -> MutexGuard<'_, Phone> {
        self.phone.lock().expect("no test has failed here")
    }

    fn answer(&self, stream: &TcpStream) -> Option<()> {
        let mut reader = BufReader::new(stream.try_clone().ok()?);
        let (mut line, mut length) = (String::new(), 0);
        reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
        loop {
            let mut header = String::new();
            reader.read_line(&mut header).ok()?;
            if let Some(text) = header.to_lowercase().strip_prefix("content-length:") {
                length = text.trim().parse().ok()?;
            }
            if header.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let asked: Value = serde_json::from_slice(&body).ok()?;
        let path = line.split(' ').nth(1)?.to_owned();
        let method = path.strip_prefix(&format!("/bot{TOKEN}/"));
        let (status, answer) = match method {
            Some(method) => self.perform(method, &asked),
            None => (404, json!({ "ok": false, "description": "Not Found" })),
        };
        let text = answer.to_string();
        let head = format!("HTTP/1.1 {status} x\r\nContent-Length: {}\r\n\r\n", text.len());
        (&*stream).write_all((head + &text).as_bytes()).ok()
    }

    fn perform(&self, method: &str, asked: &Value) -> (u16, Value) {
        if method == "getUpdates" {
            std::thread::sleep(Duration::from_millis(50));
            let offset = asked["offset"].as_i64().unwrap_or(0);
            let mut phone = self.phone();
            phone.updates.retain(|update| update["update_id"].as_i64() >= Some(offset));
            let updates: Vec<Value> = phone.updates.iter().cloned().collect();
            return (200, json!({ "ok": true, "result": updates }));
        }
        let mut phone = self.phone();
        if let Some(trouble) = phone.trouble.pop_front() {
            return trouble;
        }
        phone.calls.push((method.to_owned(), asked.clone()));
        phone.next += 1;
        (200, json!({ "ok": true, "result": { "message_id": phone.next } }))
    }

    fn press(&self, button: &str, by: i64) {
        let mut phone = self.phone();
        phone.next += 1;
        let number = phone.next;
        phone.updates.push_back(json!({
            "update_id": number,
            "callback_query": { "id": number.to_string(), "data": button, "from": { "id": by, "username": "anna" } },
        }));
    }

    /// What was said with this method, as soon as there are so many.
    fn said(&self, method: &str, count: usize) -> Vec<Value> {
        until(&format!("{count} of {method}"), || {
            let phone = self.phone();
            let all = phone.calls.iter().filter(|(name, _)| name == method);
            let all: Vec<Value> = all.map(|(_, asked)| asked.clone()).collect();
            (all.len() >= count).then_some(all)
        })
    }

    fn daemon(&self, project: Project) -> Daemon {
        let address = format!("http://127.0.0.1:{}", self.port);
        let text = format!("[telegram]\nchat = {CHAT}\nallow = [{ANNA}]\napi = \"{address}\"\n");
        let home = project.root.parent().expect("a home").join(".config/exacta");
        std::fs::create_dir_all(&home).expect("made");
        std::fs::write(home.join("config.toml"), text).expect("written");
        Daemon::with(project, &[], &[("EXACTA_TELEGRAM_TOKEN", TOKEN)])
    }
}

fn ask(daemon: &Daemon, command: &str) -> Value {
    let run = json!({ "command": command, "goal": "a hook for commits", "wait_ms": 0 });
    daemon.post(As::Agent, "/v1/run", &run).json()
}

fn button(message: &Value, text: &str) -> String {
    let rows = message["reply_markup"]["inline_keyboard"].as_array().expect("buttons").clone();
    let all = rows.iter().flat_map(|row| row.as_array().expect("a row").clone());
    let found = all.into_iter().find(|button| button["text"] == text);
    found.expect("a button")["callback_data"].as_str().expect("data").to_owned()
}

fn state(daemon: &Daemon) -> Value {
    daemon.get(As::Person, "/v1/approvals").json()[0]["state"].clone()
}

#[test]
fn whoever_is_on_the_list_decides() {
    let telegram = Telegram::start();
    let daemon = telegram.daemon(Project::new());
    assert_eq!(ask(&daemon, HOOK)["exit_code"], 126);
    let message = telegram.said("sendMessage", 1)[0].clone();
    assert_eq!(message["chat_id"], CHAT);
    let text = message["text"].as_str().expect("a text");
    for part in ["Goal: a hook for commits", "Plan:", HOOK, "Why it asks:"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // A stranger's press decides nothing.
    telegram.press(&button(&message, "Once"), 666);
    let told = telegram.said("answerCallbackQuery", 1)[0].clone();
    assert!(told["text"].as_str().is_some_and(|text| text.contains("not on the list")), "{told}");
    assert_eq!(state(&daemon), "pending");
    telegram.press(&button(&message, "Once"), ANNA);
    let told = telegram.said("answerCallbackQuery", 2)[1].clone();
    assert_eq!(told["text"], "approved");
    let edited = telegram.said("editMessageText", 1)[0].clone();
    assert!(
        edited["text"].as_str().is_some_and(|text| text.starts_with("APPROVED by @anna (7)")),
        "{edited}"
    );
    assert!(edited["reply_markup"].is_null(), "the buttons are gone");
    assert_eq!(ask(&daemon, HOOK)["exit_code"], 0);
    let used = daemon.get(As::Person, "/v1/approvals").json()[0].clone();
    assert_eq!((&used["door"], &used["by"]), (&json!("telegram"), &json!("@anna (7)")));
}

/// S4's notification: Goal, Plan, Irreversible Command.
#[test]
fn a_task_goes_on_when_its_question_is_answered_on_a_phone() {
    let telegram = Telegram::start();
    let project = Project::new();
    project.write("old.txt", "old\n");
    let daemon = telegram.daemon(project);
    let steps = json!([{ "command": "echo first" }, { "command": "rm old.txt" }]);
    let plan = json!({ "goal": "a clean start", "agent": "bot", "steps": steps });
    let made = daemon.post(As::Agent, "/v1/tasks", &json!({ "plan": plan })).json();
    let message = telegram.said("sendMessage", 1)[0].clone();
    let text = message["text"].as_str().expect("a text");
    let parts = "Goal: a clean start\n\nPlan:\n1. echo first\n2. rm old.txt\n\nIrreversible Command: rm old.txt\n";
    assert!(text.contains(parts), "{text}");
    let offered = message["reply_markup"]["inline_keyboard"].to_string();
    assert!(!offered.contains("Session") && !offered.contains("Always"), "{offered}");
    telegram.press(&button(&message, "Approve"), ANNA);
    let path = format!("/v1/tasks/{}", made["id"].as_str().expect("an id"));
    let task = until("it is done", || {
        let task = daemon.get(As::Person, &path).json();
        (task["state"] == "completed").then_some(task)
    });
    assert_eq!(task["approved_by"], "@anna (7) (telegram)");
    assert!(daemon.project().read("old.txt").is_none());
}

#[test]
fn what_was_decided_elsewhere_is_shown() {
    let telegram = Telegram::start();
    let daemon = telegram.daemon(Project::new());
    let id = ask(&daemon, HOOK)["approval"]["id"].as_str().expect("an id").to_owned();
    let message = telegram.said("sendMessage", 1)[0].clone();
    daemon.post(As::Person, &format!("/v1/approvals/{id}"), &json!({ "decision": "deny" }));
    let edited = telegram.said("editMessageText", 1)[0].clone();
    assert!(edited["text"].as_str().is_some_and(|text| text.starts_with("DENIED by ")), "{edited}");
    // The second decision is told of the first.
    telegram.press(&button(&message, "Once"), ANNA);
    let told = telegram.said("answerCallbackQuery", 1)[0].clone();
    assert!(told["text"].as_str().is_some_and(|text| text.contains("denied already")), "{told}");
}

#[test]
fn trouble_passes() {
    let telegram = Telegram::start();
    let busy = json!({ "ok": false, "error_code": 429, "parameters": { "retry_after": 1 } });
    telegram.phone().trouble.extend([(429, busy), (502, json!("bad gateway"))]);
    let daemon = telegram.daemon(Project::new());
    ask(&daemon, HOOK);
    telegram.said("sendMessage", 1);
}

#[test]
fn a_restart_neither_asks_twice_nor_forgets() {
    let telegram = Telegram::start();
    let daemon = telegram.daemon(Project::new());
    ask(&daemon, HOOK);
    let message = telegram.said("sendMessage", 1)[0].clone();
    let (project, _) = daemon.stop();
    let daemon = telegram.daemon(project);
    telegram.press(&button(&message, "Deny"), ANNA);
    telegram.said("editMessageText", 1);
    assert_eq!(state(&daemon), "denied");
    assert_eq!(telegram.said("sendMessage", 1).len(), 1);
}

#[test]
fn no_secret_is_sent() {
    let telegram = Telegram::start();
    let daemon = telegram.daemon(Project::new());
    let secret = "ghp_abcdefghij0123456789ABCDEFGHIJklmnop";
    ask(&daemon, &format!("echo {secret} > .git/hooks/pre-commit"));
    let message = telegram.said("sendMessage", 1)[0].to_string();
    assert!(!message.contains(secret) && message.contains("[REDACTED]"), "{message}");
}

#[test]
fn without_a_token_it_says_so() {
    let telegram = Telegram::start();
    let (project, _) = telegram.daemon(Project::new()).stop();
    let output = project.run(&["serve", "--listen", "127.0.0.1:0"]);
    let said = crate::support::text(&output.stderr);
    assert!(said.contains("EXACTA_TELEGRAM_TOKEN is not set"), "{said}");
    assert_eq!(crate::support::code(&output), 125);
}
