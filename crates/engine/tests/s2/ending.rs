//! What ends commands before their end: dropping the future, time. And what does not: output that nobody keeps.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use exacta::primitives::{BashOptions, bash};
use libtest_mimic::Trial;

use crate::scene::{Scene, await_count, count, unique};
use crate::trial;

/// From the end of a command to the end of the last of its processes.
const PROMISED: Duration = Duration::from_millis(100);

pub fn trials() -> Vec<Trial> {
    vec![
        trial("a_timeout_ends_everything", || Box::pin(timed_out())),
        trial("a_future_that_was_never_polled_has_not_begun", || {
            Box::pin(async { never_polled() })
        }),
        trial("output_over_the_limit_never_blocks", || Box::pin(flooding())),
        trial("what_is_left_running_ends_with_the_command", || Box::pin(left_running())),
    ]
}

/// A shell, which is our own, with a daemon in a session of its own, and one that has also left its parent and ignores
/// signals. The two have the word.
fn hard_to_end(word: &str) -> String {
    format!(
        r#"/usr/bin/sh -c 'for_ever="while :; do sleep 1; done"
        setsid sh -c "$for_ever" {word} &
        (setsid sh -c "trap : TERM INT HUP; $for_ever" {word} &)
        eval "$for_ever"' {word}; echo ended"#
    )
}

/// Begins the work, and lets go of it once it is under way.
fn drop_when(
    future: impl Future,
    begun: impl Fn() -> bool,
    explain: impl Fn() -> String,
) -> Instant {
    let mut future = pin!(future);
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let mut context = Context::from_waker(Waker::noop());
        let polled = future.as_mut().poll(&mut context);
        assert!(matches!(polled, Poll::Pending), "it ended by itself");
        if begun() {
            break;
        }
        assert!(Instant::now() < deadline, "it has not begun: {}", explain());
        std::thread::sleep(Duration::from_millis(5));
    }
    Instant::now()
}

/// Within the promise at least once: other work on the machine may hold up one try, but not all of them.
fn kept(mut attempt: impl FnMut() -> Duration) {
    let mut took = Vec::new();
    while took.len() < 5 && took.iter().all(|took| *took > PROMISED) {
        took.push(attempt());
    }
    assert!(took.iter().any(|took| *took <= PROMISED), "{took:?}");
}

pub fn dropped() {
    let scene = Scene::unjudged();
    // Kept in a file, for the case that nothing begins.
    let errors = scene.project().join("errors");
    kept(|| {
        let word = unique("exacta-s2-dropped");
        let command = format!("{{ {}; }} 2> errors", hard_to_end(&word));
        let work = bash(&scene.context, &command, Some(BashOptions::new().no_timeout()));
        let seen = || (count(&word), std::fs::read_to_string(&errors));
        let asked = drop_when(work, || count(&word) == 2, || format!("{:?}", seen()));
        await_count(&word, 0);
        asked.elapsed()
    });
    // Builtins stop as well, before they do what would come next.
    let marker = scene.project().join("marker");
    let command = "touch begun; while :; do :; done; touch marker";
    let begun = scene.project().join("begun");
    drop_when(bash(&scene.context, command, None), || begun.exists(), || "touch".to_owned());
    std::thread::sleep(PROMISED);
    assert!(!marker.exists());
}

async fn timed_out() {
    let scene = Scene::unjudged();
    let word = unique("exacta-s2-timeout");
    let cases = [
        (hard_to_end(&word), ""),
        ("echo before; sleep 1000; echo after".to_owned(), "before\n"),
        ("echo before; while :; do :; done".to_owned(), "before\n"),
        ("echo before; /usr/bin/sleep 1000".to_owned(), "before\n"),
        ("echo before; /usr/bin/sleep 1000 | cat; echo after".to_owned(), "before\n"),
    ];
    let time = Duration::from_millis(400);
    for (command, expected) in cases {
        let mut late = Vec::new();
        // As in `kept`.
        while late.len() < 5 && late.iter().all(|late| *late > PROMISED) {
            let options = BashOptions::new().timeout(time);
            let result = bash(&scene.context, &command, Some(options)).await.expect("a result");
            assert_eq!((result.exit_code, result.timed_out), (-1, true), "{command}");
            assert_eq!(result.stdout, expected, "{command}");
            // When there is a result, nothing is left.
            assert_eq!(count(&word), 0, "{command}");
            let took = result.metadata.duration;
            late.push(took.checked_sub(time).expect("not before its time"));
        }
        assert!(late.iter().any(|late| *late <= PROMISED), "{command}: {late:?}");
    }
}

fn never_polled() {
    let scene = Scene::new();
    drop(bash(&scene.context, "touch made", None));
    std::thread::sleep(PROMISED);
    assert!(!scene.project().join("made").exists());
}

async fn flooding() {
    let scene = Scene::unjudged();
    let cases = [
        "head -c 30000000 /dev/zero | tr '\\0' x",
        "/usr/bin/head -c 30000000 /dev/zero | /usr/bin/tr '\\0' x",
        "/usr/bin/sh -c 'head -c 30000000 /dev/zero | tr \"\\\\0\" x >&2'; echo x",
    ];
    for command in cases {
        // It runs to its end, which is told by its status.
        let command = format!("{command}; echo end > end; exit 9");
        let options = BashOptions::new().max_output(1000);
        let result = bash(&scene.context, &command, Some(options)).await.expect("a result");
        assert_eq!((result.exit_code, result.truncated), (9, true), "{command}");
        assert!(result.stdout.len() <= 1000 && result.stderr.len() <= 1000, "{command}");
        assert!(result.stdout.bytes().all(|byte| b"x\n".contains(&byte)), "{command}");
        assert!(scene.project().join("end").exists(), "{command}");
        std::fs::remove_file(scene.project().join("end")).expect("the end");
    }
    // What prints without end is ended by its time, and what it has printed is there.
    let options = BashOptions::new().max_output(10).timeout(Duration::from_millis(300));
    let result = bash(&scene.context, "yes", Some(options)).await.expect("a result");
    assert_eq!((result.stdout.as_str(), result.timed_out), ("y\ny\ny\ny\ny\n", true));
}

async fn left_running() {
    let scene = Scene::unjudged();
    let word = unique("exacta-s2-left");
    let command = format!("{{ {}; }} & echo $?; sleep 0.3", hard_to_end(&word));
    let result = bash(&scene.context, &command, None).await.expect("a result");
    assert_eq!((result.exit_code, result.stdout.as_str()), (0, "0\n"));
    assert_eq!(count(&word), 0);
}
