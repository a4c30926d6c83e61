//! Tasks from end to end: what runs, what halts, what is tried again, and what is found by whoever comes after a process that
//! was killed. Everything happens in a disposable world.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may fail; it makes directories, and its children report to it"
)]

mod child;
mod endings;
mod gate;
mod kills;
mod put_down;
mod retries;
mod scene;
mod turns;
mod way;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    exacta_world::within(&exacta_world::here!(), |_| match child::asked_for() {
        Some(child) => child.run(),
        None => run_all(),
    })
}

fn run_all() -> ExitCode {
    let all =
        [way::ALL, gate::ALL, retries::ALL, endings::ALL, kills::ALL, turns::ALL, put_down::ALL]
            .concat();
    let trial = |(name, test): (&'static str, fn())| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    };
    libtest_mimic::run(&Arguments::from_args(), all.into_iter().map(trial).collect()).exit_code()
}
