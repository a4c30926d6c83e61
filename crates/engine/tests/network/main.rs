//! Real clients in a real jail, with a world outside that is made up. Everything runs in a disposable world without a
//! network, so that nothing could get out even if it did.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "tests make servers and directories; the product's rooms do not apply"
)]

mod clients;
mod outside;
mod scene;

use std::process::ExitCode;

use libtest_mimic::Arguments;

fn main() -> ExitCode {
    exacta_world::within(&exacta_world::here!(), |_| {
        let arguments = Arguments::from_args();
        let trials = clients::trials();
        libtest_mimic::run(&arguments, trials).exit_code()
    })
}
