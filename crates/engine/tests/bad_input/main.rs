//! Any input: no panic, no hang, bounded memory, a sensible status.
//!
//! Each case runs in a process of its own, so that an abort or an overflowing stack is that case's failure, and its
//! peak of memory can be read off. Everything happens in a disposable world.

#![expect(
    clippy::expect_used,
    clippy::too_many_lines,
    reason = "a test may fail, and tables of cases are long"
)]
#![expect(clippy::disallowed_methods, reason = "the tests make what they run on")]
#![expect(clippy::print_stdout, reason = "a child reports to its parent")]

mod case;
mod child;
mod disks;
mod endless;
mod expressions;
mod files;
mod numbers;
mod patterns;
mod streams;
mod texts;

use std::process::ExitCode;

use exacta_world::World;
use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    exacta_world::within(&exacta_world::here!(), run)
}

fn run(world: &World) -> ExitCode {
    let cases = all();
    if let Some(name) = child::asked_for() {
        let case = cases.iter().find(|case| case.name == name).expect("a case of that name");
        return child::run(case);
    }
    let arguments = Arguments::from_args();
    let trial = |case: case::Case| {
        let world = world.clone();
        Trial::test(case.name.clone(), move || child::start(&case, &world))
    };
    libtest_mimic::run(&arguments, cases.into_iter().map(trial).collect()).exit_code()
}

fn all() -> Vec<case::Case> {
    let mut cases = texts::cases();
    cases.extend(expressions::cases());
    cases.extend(patterns::cases());
    cases.extend(numbers::cases());
    cases.extend(endless::cases());
    cases.extend(files::cases());
    cases.extend(streams::cases());
    cases.extend(disks::cases());
    cases
}
