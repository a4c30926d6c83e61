//! `exacta redact`: standard input to standard output, without its secrets, as it comes. With `--json` the kinds and how many of
//! each go to standard error as one object, so that what is on standard output is the text and nothing else.

use std::io::{ErrorKind, Read};

use exacta::redaction::{Redactor, Report};
use serde_json::json;

use super::failed;
use crate::exit::Exit;
use crate::invocation::Global;
use crate::{launch, output};

const PIECE: usize = 64 << 10;

pub fn perform(global: &Global) -> Exit {
    let configuration = match launch::configuration(global) {
        Ok(configuration) => configuration,
        Err(problem) => return failed(&problem),
    };
    let redaction = launch::redaction(&configuration);
    match stream(Redactor::new(redaction.rules().clone())) {
        Ok(report) => {
            if global.json {
                let shown =
                    json!({ "schema_version": 1, "total": report.total(), "kinds": report.kinds });
                output::error(&format!("{shown}\n"));
            }
            Exit::Success
        }
        Err(error) => failed(&format!("cannot read standard input: {error}")),
    }
}

fn stream(mut redactor: Redactor) -> std::io::Result<Report> {
    let mut input = std::io::stdin().lock();
    let mut piece = vec![0; PIECE];
    let mut decided = Vec::new();
    loop {
        let length = match input.read(&mut piece) {
            Ok(length) => length,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        decided.clear();
        if length == 0 {
            let report = redactor.finish(&mut decided);
            output::print_bytes(&decided);
            return Ok(report);
        }
        redactor.push(piece.get(..length).unwrap_or_default(), &mut decided);
        // Nobody reads any more: what is left would go nowhere.
        if !decided.is_empty() && output::print_bytes(&decided) == output::Reader::Gone {
            return Ok(redactor.report().clone());
        }
    }
}
