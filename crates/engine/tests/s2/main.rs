//! The face of S2: its own tests and its seven testing requirements, each by name, under tokio and under no runtime at
//! all. What ends commands early is in `ending.rs`, what they may see in `confinement.rs`.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests make directories and look at processes; the product's rooms do not apply"
)]

mod confinement;
mod ending;
mod requirements;
mod scene;
mod seed;

use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::process::{Command, ExitCode};

use exacta::background::block_on;
use libtest_mimic::{Arguments, Trial};

/// A test that can be awaited.
type Body = fn() -> Pin<Box<dyn Future<Output = ()> + Send>>;

/// The same on both runtimes of tokio, and on none.
fn trial(name: &str, body: Body) -> Trial {
    Trial::test(name, move || {
        let threads = tokio::runtime::Builder::new_multi_thread().enable_time().build()?;
        let spawned = threads.block_on(threads.spawn(body()));
        spawned.map_err(|error| format!("on threads: {error}"))?;
        tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(body());
        block_on(body());
        Ok(())
    })
}

fn main() -> ExitCode {
    // Roots of which nothing is granted keep their state with the user's, which is not ours to touch.
    let state = Path::new(env!("CARGO_TARGET_TMPDIR")).join("exacta-s2-state");
    if std::env::var_os("XDG_STATE_HOME").is_none_or(|known| known != state) {
        let mut again = Command::new(std::env::current_exe().expect("this test"));
        again.args(std::env::args_os().skip(1)).env("XDG_STATE_HOME", &state);
        let secret = ("EXACTA_TEST_SECRET", "do-not-pass-on");
        let status = again.envs([secret, ("LC_TIME", "C")]).status().expect("this test again");
        let _it_is_in_the_build_directory = std::fs::remove_dir_all(&state);
        return if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let all = [seed::trials(), requirements::trials(), ending::trials(), confinement::trials()];
    libtest_mimic::run(&Arguments::from_args(), all.into_iter().flatten().collect()).exit_code()
}
