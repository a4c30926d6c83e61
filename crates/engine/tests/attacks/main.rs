//! Attacks on the confinement, as data. Whatever a script does, it shows no secret, changes nothing outside, and is
//! answered as if the rest of the machine were not there.
//!
//! Everything runs in process, in temporary directories of a disposable world; `docs/attacks.md` lists the classes.

#![expect(clippy::expect_used, clippy::panic, reason = "a test may fail")]
#![expect(clippy::disallowed_methods, reason = "the tests look at the real tree from outside")]

mod cases;
mod documents;
mod matrix;
mod process;
mod scene;

use std::path::Path;
use std::process::ExitCode;

use libtest_mimic::Arguments;

fn main() -> ExitCode {
    exacta_world::within(&exacta_world::here!(), |_| run())
}

fn run() -> ExitCode {
    let arguments = Arguments::from_args();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/attacks");
    let mut trials = matrix::trials(&folder);
    trials.extend(cases::trials(&folder.join("cases")));
    trials.extend(process::trials());
    let names = trials.iter().map(|trial| trial.name().to_owned()).collect();
    trials.push(documents::trial(names));
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn read<T: serde::de::DeserializeOwned>(file: &Path) -> T {
    let text = std::fs::read_to_string(file).expect("a file of the tests can be read");
    toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}
