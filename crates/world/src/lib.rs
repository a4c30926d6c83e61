//! A disposable world for tests that really run hostile commands: attacks, bombs, whatever deletes.
//!
//! A test binary whose `main` is [`within`] starts itself again in namespaces of its own, on layers that are thrown
//! away, with private devices, nothing but a loopback network and a limit of processes and memory. Its body runs
//! there and nowhere else: without such a world the binary fails and says what is missing. Nothing that is written
//! comes out; output and exit status do.
//!
//! The steps, each a start of the same binary with a [`Passport`](passport::Passport):
//!
//! 1. outside (`outside.rs`): checks what is needed and starts the next step;
//! 2. ground (`ground.rs`): only for root, who lays the layers out while it may still read everything;
//! 3. init (`init.rs`): process 1 of the world, in a user namespace whose root is nobody on the machine;
//! 4. inside (`inspection.rs`): asks the kernel whether all of that is so, then runs the body.
//!
//! The user namespace is the wall that counts: a world that kept the machine's own root would let a hostile line
//! write `/proc/sysrq-trigger` or make a device node of the disk.

#![expect(
    clippy::disallowed_methods,
    reason = "builds mounts and namespaces for tests; no part of the product"
)]
#![expect(clippy::print_stderr, reason = "a world that cannot be built is said aloud")]

mod control_groups;
mod ground;
mod init;
mod inspection;
mod launch;
mod layers;
mod limits;
mod mounts;
mod namespaces;
mod outside;
mod passport;
mod refusal;
mod world;

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{ExitCode, ExitStatus};

pub use world::World;

use passport::{Passport, Step};
use refusal::Refusal;

/// The exit status of a binary that found no world, unlike that of a failed test.
pub const NO_WORLD: u8 = 125;

/// Where the calling test crate is: made by [`here!`].
#[derive(Clone, Debug)]
pub struct Here {
    pub(crate) manifest: PathBuf,
    pub(crate) scratch: Option<PathBuf>,
}

impl Here {
    pub fn new(manifest: &str, scratch: Option<&str>) -> Self {
        Here { manifest: manifest.into(), scratch: scratch.map(PathBuf::from) }
    }
}

/// The folders of the crate that calls it.
#[macro_export]
macro_rules! here {
    () => {
        $crate::Here::new(env!("CARGO_MANIFEST_DIR"), option_env!("CARGO_TARGET_TMPDIR"))
    };
}

/// Runs the body in a disposable world, or fails. To be called first in `main`, before any thread exists.
pub fn within(here: &Here, body: impl FnOnce(&World) -> ExitCode) -> ExitCode {
    let done = match Passport::shown() {
        Ok(None) => outside::start(here),
        Ok(Some(passport)) => match passport.step {
            Step::Ground => ground::lay(&passport, here),
            Step::Init => init::run(&passport, here),
            Step::Inside => inspection::inspect(&passport).map(|world| body(&world)),
        },
        Err(refusal) => Err(refusal),
    };
    done.unwrap_or_else(Refusal::say)
}

/// The world around this process, for tests that [`tests!`] runs.
pub fn around() -> Option<World> {
    inspected().ok()
}

/// For programs whose `main` is somebody else's, such as fuzzers: ends the process unless a world is around it.
pub fn require() {
    if let Err(refusal) = inspected() {
        let _the_same = refusal.say();
        std::process::exit(i32::from(NO_WORLD));
    }
}

fn inspected() -> Result<World, Refusal> {
    match Passport::shown()? {
        Some(passport) if passport.step == Step::Inside => inspection::inspect(&passport),
        _ => Err(Refusal::new("run it with: cargo run -p exacta-world -- PROGRAM")),
    }
}

/// `main` of a binary with `harness = false`: the named functions as tests, in one world. A function that is not named
/// is unused code, which the compiler reports. The calling crate has `libtest-mimic` among its dependencies.
#[macro_export]
macro_rules! tests {
    ($($first:ident $(:: $rest:ident)*),+ $(,)?) => {
        fn main() -> ::std::process::ExitCode {
            $crate::within(&$crate::here!(), |_| {
                let trials = ::std::vec![$(::libtest_mimic::Trial::test(
                    concat!(stringify!($first) $(, "::", stringify!($rest))*),
                    || {
                        $first $(:: $rest)* ();
                        Ok(())
                    },
                )),+];
                let arguments = ::libtest_mimic::Arguments::from_args();
                ::libtest_mimic::run(&arguments, trials).exit_code()
            })
        }
    };
}

/// The status of a process as a shell shows it, but for those with which the tools that build a world fail.
pub fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    match code.and_then(|code| u8::try_from(code).ok()) {
        Some(1 | 126 | 127) => ExitCode::from(101),
        code => ExitCode::from(code.unwrap_or(NO_WORLD)),
    }
}
