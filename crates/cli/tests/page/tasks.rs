//! Tasks on the page: a person looks at what one would do, decides, and sees what came of it.

use std::time::Duration;

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::daemon::{As, Daemon, until};
use crate::support::Project;
use crate::{HOSTILE, harmless, opened};

/// A click counts when the question was there for a moment.
const SETTLING: Duration = Duration::from_millis(900);

fn daemon() -> Daemon {
    let project = Project::new();
    project.write("old.txt", "old\n");
    Daemon::serving(project)
}

fn create(daemon: &Daemon, plan: &Value) -> String {
    let body = json!({ "plan": plan }).to_string();
    let made = daemon.call(As::Agent, "POST", "/v1/tasks", "X-Exacta-Agent: bot\r\n", &body).json();
    made["id"].as_str().unwrap_or_else(|| panic!("no task: {made}")).to_owned()
}

fn reaches(daemon: &Daemon, id: &str, state: &str) {
    until(state, || {
        let task = daemon.get(As::Person, &format!("/v1/tasks/{id}")).json();
        (task["state"] == state).then_some(())
    });
}

fn dangerous() -> Value {
    json!({
        "goal": "a clean start",
        "steps": [
            { "command": "echo begin", "why": "to see that it begins" },
            { "command": "rm old.txt", "expect": { "files_absent": ["old.txt"] } },
            { "command": "echo it is gone", "expect": { "stdout_contains": ["gone"] } },
        ],
    })
}

fn approve(browser: &Browser, within: &str) {
    std::thread::sleep(SETTLING);
    browser.click("Approve", within);
    // It cannot be undone: it is asked again.
    browser.confirm();
}

#[test]
fn a_task_at_the_gate_is_approved_on_the_page_and_finishes() {
    let daemon = daemon();
    let browser = opened(&daemon);
    browser.go("#/tasks");
    browser.sees("No task is open");
    let id = create(&daemon, &dangerous());
    browser.sees("a clean start");
    browser.sees("pending approval");
    browser.go(&format!("#/tasks/{id}"));
    for part in ["Goal", "Plan", "Irreversible Command", "rm old.txt", "needs a yes", "bot"] {
        browser.sees(part);
    }
    browser.picture("tasks");
    assert!(daemon.project().read("old.txt").is_some(), "nothing runs by looking");
    approve(&browser, "[data-gate]");
    browser.sees("completed");
    browser.sees("3 of 3 steps");
    browser.sees("it is gone");
    browser.until("document.querySelectorAll('.task-step.is-done').length === 3");
    browser.until("document.querySelectorAll('#main .badge.is-holds').length >= 5");
    assert!(daemon.project().read("old.txt").is_none());
    browser.picture("task");
    harmless(&browser);
}

#[test]
fn the_inbox_shows_what_the_task_is_about() {
    let daemon = daemon();
    let browser = opened(&daemon);
    let id = create(&daemon, &dangerous());
    for part in ["Goal", "a clean start", "Plan", "echo it is gone", "Irreversible Command"] {
        browser.sees(part);
    }
    browser.until("document.title.startsWith('(1)')");
    approve(&browser, "[data-approval]");
    reaches(&daemon, &id, "completed");
    let id = create(&daemon, &dangerous());
    browser.until("document.querySelector('[data-approval]:not(.settled) .decisions')");
    std::thread::sleep(SETTLING);
    browser.click("Reject", "[data-approval]:not(.settled)");
    reaches(&daemon, &id, "failed");
    harmless(&browser);
}

/// Goal, commands, reasons, output and the log are what others wrote.
#[test]
fn what_others_write_into_a_task_is_only_text() {
    let daemon = daemon();
    let browser = opened(&daemon);
    let quoted = HOSTILE.replace('\'', "'\\''");
    let plan = json!({
        "goal": format!("goal {HOSTILE}"),
        "steps": [
            { "command": format!("echo 'out {quoted}'; echo 'err {quoted}' >&2"), "why": HOSTILE },
            { "command": format!("rm -f 'old.txt' 'x{quoted}'") },
            { "command": "echo last", "expect": { "stdout_contains": [HOSTILE] }, "retry": { "attempts": 0 } },
        ],
    });
    let body = json!({ "plan": plan }).to_string();
    let head = "X-Exacta-Agent: <img src=x onerror=window.hacked=3>\r\n";
    let made = daemon.call(As::Agent, "POST", "/v1/tasks", head, &body).json();
    let id = made["id"].as_str().unwrap_or_else(|| panic!("no task: {made}"));
    browser.sees("onerror");
    harmless(&browser);
    browser.go("#/tasks");
    browser.sees("onerror");
    harmless(&browser);
    browser.go(&format!("#/tasks/{id}"));
    browser.sees("Irreversible Command");
    harmless(&browser);
    approve(&browser, "[data-gate]");
    browser.sees("stdout_contains");
    reaches(&daemon, id, "failed");
    browser.script("document.querySelectorAll('#main details').forEach(it => it.open = true)", &[]);
    browser.sees("err <img");
    harmless(&browser);
    browser.go("#/tasks");
    browser.sees("failed");
    harmless(&browser);
}

#[test]
fn a_pasted_plan_is_started_on_a_phone_in_the_dark() {
    let daemon = daemon();
    let browser = opened(&daemon);
    browser.look(390, true);
    browser.go("#/tasks");
    browser.click("New task", "#main");
    let put = |text: &str| {
        let script = "document.querySelector('.task-form textarea').value = arguments[0]";
        browser.script(script, &[json!(text)]);
        browser.click("Start", ".task-form");
    };
    put("goal = \"x\"\n[[steps]]\ncommand = 7\n");
    browser.sees("bad_plan");
    browser.sees("Line 3, column");
    put(
        "goal = \"said twice\"\n[[steps]]\ncommand = \"rm old.txt\"\n[[steps]]\ncommand = \"rm other.txt\"\n",
    );
    browser.until("location.hash.startsWith('#/tasks/')");
    browser.sees("Approve step 2");
    browser.sees("step 2: irreversible keyword");
    browser.until("document.documentElement.scrollWidth <= innerWidth");
    browser.picture("task-phone");
    std::thread::sleep(SETTLING);
    browser.click("Approve step 1", "[data-gate]");
    browser.confirm();
    browser.sees("1 of 2 steps");
    browser.until("document.querySelector('[data-gate]')?.innerText.includes('rm other.txt')");
    browser.click("Cancel task", "#main");
    browser.confirm();
    browser.sees("cancelled");
    assert!(daemon.project().read("old.txt").is_none());
    harmless(&browser);
}
