//! Times the judge over the corpus: `exacta-bench verdicts FOLDER`.
//!
//! Prints one JSON object per line of the corpus: what it is, what the verdict was, and the fastest of many.

use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use exacta_policy::{Policy, Profile};
use serde_json::json;

use crate::scoring::lines::lines;
use crate::scoring::world::Project;

const ROUNDS: usize = 20;

pub fn measure(folder: &str) -> Result<(), Box<dyn Error>> {
    let policy = Policy::builtin(Profile::Dev).map_err(|error| format!("{error:?}"))?;
    let mut output = std::io::stdout().lock();
    for line in lines(Path::new(folder))? {
        let mut seconds = f64::INFINITY;
        let mut decision = "";
        for _ in 0..ROUNDS {
            let start = Instant::now();
            let verdict = policy.screen(line.text.as_str().into(), &Project);
            seconds = seconds.min(start.elapsed().as_secs_f64());
            decision = verdict.decision.name();
        }
        let (set, class) = (line.set.name(), &line.class);
        let row = json!({ "text": line.text, "set": set, "class": class, "decision": decision, "seconds": seconds });
        writeln!(output, "{row}")?;
    }
    Ok(())
}
