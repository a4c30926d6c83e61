//! `exacta-world COMMAND [ARGUMENT…]`: runs a command in a disposable world, for experiments and fuzzers.

#![expect(clippy::disallowed_methods, reason = "a command in the world is not one of the product")]
#![expect(clippy::print_stderr, reason = "a command that cannot be started is said aloud")]

use std::env;
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let mut words = env::args_os().skip(1);
    let Some(program) = words.next() else {
        eprintln!("usage: exacta-world COMMAND [ARGUMENT...]");
        return ExitCode::from(2);
    };
    exacta_world::within(&exacta_world::here!(), |_| {
        match Command::new(&program).args(words).status() {
            Ok(status) => exacta_world::exit_code(status),
            Err(error) => {
                eprintln!("exacta-world: {}: {error}", program.display());
                ExitCode::from(101)
            }
        }
    })
}
