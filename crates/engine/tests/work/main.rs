//! What people build, test and commit with, in the jail, with the tools of whoever runs the tests: so not in a
//! disposable world, where those may be out of reach. None of it is hostile.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "tests make directories; the product's rooms do not apply"
)]

mod projects;
#[path = "../programs/scene.rs"]
mod scene;

use std::process::ExitCode;

use libtest_mimic::Arguments;

fn main() -> ExitCode {
    libtest_mimic::run(&Arguments::from_args(), projects::trials()).exit_code()
}
