//! Whatever goes wrong blocks the call: status 2, with the reason where the agent reads it.

#![expect(
    clippy::disallowed_methods,
    reason = "a panic or a lack of time has to end the process with the one status that blocks"
)]

use std::time::Duration;

use crate::exit::Exit;
use crate::output;

/// A judgement takes milliseconds. An agent's own patience with hooks is longer, and ends in letting the call through.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// From here on a panic, in whichever thread, and a lack of time end in a refusal.
pub fn fail_closed() {
    std::panic::set_hook(Box::new(|panic| end(&format!("exacta itself failed: {panic}"))));
    let watching = std::thread::Builder::new().spawn(|| {
        std::thread::sleep(PATIENCE);
        end(&format!("no decision after {} s", PATIENCE.as_secs()));
    });
    if watching.is_err() {
        end("no thread can be started to watch the time");
    }
}

/// The status that blocks, and why.
pub fn blocked(problem: &str) -> Exit {
    output::error(&text(problem));
    Exit::Usage
}

fn end(problem: &str) {
    output::error(&text(problem));
    std::process::exit(i32::from(Exit::Usage.code()));
}

fn text(problem: &str) -> String {
    format!("exacta hook: blocked, because it could not be judged: {problem}\n")
}
