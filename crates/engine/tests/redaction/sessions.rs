//! What a caller gets of a session: results whole unless redaction is asked for, and what is spilled never with secrets.

use exacta::redaction::{Redaction, Results};
use exacta::{OutputLimit, Request, Session, SessionOptions, Storage};

fn session(results: Results) -> Session {
    let mut options = SessionOptions::new("/project");
    options.storage = Storage::Memory;
    options.redaction = Redaction::new(results);
    options.environment = vec![("API_TOKEN".into(), "q8w7e6r5t4y3".into())];
    Session::new(options).expect("a session")
}

const SCRIPT: &str =
    "printf 'DB_PASSWORD=%s\\n' hunter2; echo $API_TOKEN; printf 'password=s3cr3tpw' >&2";

#[test]
fn results_are_whole_by_default() {
    let outcome = session(Results::Whole).run(&Request::new(SCRIPT));
    assert_eq!(String::from_utf8_lossy(&outcome.stdout), "DB_PASSWORD=hunter2\nq8w7e6r5t4y3\n");
    assert!(outcome.redacted.is_empty());
}

#[test]
fn results_are_redacted_where_that_is_asked_for() {
    let outcome = session(Results::Redacted).run(&Request::new(SCRIPT));
    assert_eq!(String::from_utf8_lossy(&outcome.stdout), "DB_PASSWORD=[REDACTED]\n[REDACTED]\n");
    assert_eq!(String::from_utf8_lossy(&outcome.stderr), "password=[REDACTED]");
    assert_eq!(outcome.redacted.kinds.get("password"), Some(&2));
    assert_eq!(outcome.redacted.kinds.get("environment"), Some(&1));
}

#[test]
fn a_cut_does_not_show_half_a_secret() {
    let mut options = SessionOptions::new("/project");
    options.storage = Storage::Memory;
    options.redaction = Redaction::new(Results::Redacted);
    options.output = Some(OutputLimit::new(40, None, "x"));
    let mut session = Session::new(options).expect("a session");
    let outcome = session.run(&Request::new("echo DB_PASSWORD=hunter2hunter2hunter2; seq 100"));
    let text = String::from_utf8_lossy(&outcome.stdout);
    assert!(outcome.truncated && text.starts_with("DB_PASSWORD=[REDACTE"), "{text}");
}
