//! Judges the corpus under `dev` and prints how much of it is caught, asked about and let through.
//!
//!     cargo run -p exacta-policy --example score               # the table
//!     cargo run -p exacta-policy --example score -- --misses   # and every line judged otherwise than expected
//!     cargo run -p exacta-policy --example score -- --corpus=FOLDER
//!     cargo run -p exacta-policy --example score -- 'LINE'…    # the verdict on these lines

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a command for people: reads the corpus, prints"
)]

use std::error::Error;
use std::path::{Path, PathBuf};

use exacta_policy::{Policy, Profile};

#[path = "../tests/scoring/mod.rs"]
mod scoring;

use scoring::world::Project;

fn main() -> Result<(), Box<dyn Error>> {
    let policy = Policy::builtin(Profile::Dev).map_err(|error| format!("{error:?}"))?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| !argument.starts_with("--")) {
        for line in &arguments {
            explain(&policy, line);
        }
        return Ok(());
    }
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let other = arguments.iter().find_map(|argument| argument.strip_prefix("--corpus="));
    let folder = other.map_or(own, PathBuf::from);
    let score = scoring::Score::of(&scoring::lines::lines(&folder)?, &policy, &Project);
    let cases = scoring::lines::cases(&folder)?;
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let wrong = scoring::wrong(case, &policy, &Project)?;
            Some(format!("  {}: {wrong}", case.name))
        })
        .collect();
    print!("{}", scoring::table::table(&score));
    println!("lists of the specifications: {} of {} right", cases.len() - wrong.len(), cases.len());
    print!(
        "{}",
        scoring::table::misses(&score.misses, arguments.iter().any(|it| it == "--misses"))
    );
    for line in wrong {
        println!("{line}");
    }
    Ok(())
}

fn explain(policy: &Policy, line: &str) {
    let verdict = policy.screen(line.into(), &Project);
    println!("{}: {line}", verdict.decision.name());
    for command in &verdict.commands {
        let finding = &command.finding;
        let argv = bstr::join(" ", &command.argv);
        let argv = String::from_utf8_lossy(&argv).into_owned();
        println!(
            "  {} {argv} [{}]: {} ({})",
            finding.decision.name(),
            bstr::join(", ", &command.via).escape_ascii(),
            finding.rule,
            finding.reason
        );
    }
}
