//! `exacta audit verify` and `exacta audit head`.

use exacta::audit::store::{AuditError, ProblemKind, Report, Signed, hex};
use exacta::audit::{Trail, Verified};
use serde_json::json;

use super::refused;
use crate::exit::Exit;
use crate::invocation::Global;
use crate::output;
use crate::progress::Progress;

pub fn perform(global: &Global, trail: &Trail, heads: Vec<Signed>) -> Exit {
    let progress = Progress::new();
    let verified = trail.verify(heads, &progress.watch());
    progress.clear();
    match verified {
        Ok(verified) => tell(global, trail, &verified),
        Err(error) => refused(&error),
    }
}

fn tell(global: &Global, trail: &Trail, verified: &Verified) -> Exit {
    let Verified { report, keyed } = verified;
    let exit = if report.is_good() { Exit::Success } else { Exit::Broken };
    if global.json {
        output::print(&format!("{}\n", as_json(report, *keyed)));
        return exit;
    }
    for problem in &report.problems {
        output::print(&format!("{problem}\n"));
    }
    let Report { records, first, last, signed, anchored, .. } = report;
    if report.is_good() {
        output::print(&format!("{records} records, {first} to {last}: all as they were written\n"));
    }
    let cut = report.cut;
    if cut > 0 {
        output::print(&format!(
            "records up to {cut} were removed by the limits, and that is signed\n"
        ));
    }
    let key = if *keyed { "" } else { ", but there is no key of yours to hold that against" };
    output::print(&format!(
        "signed up to {signed}, anchored outside of the project up to {anchored}{key}\n"
    ));
    if last > signed {
        let unsigned = last - signed;
        output::print(&format!(
            "the last {unsigned} are not signed yet: nothing vouches for them but their place\n"
        ));
    }
    if !report.is_good() {
        output::error("hint: keep a copy of .clada/exacta.db before anything else is done here\n");
    }
    let replaced = report.problems.iter().any(|problem| problem.kind == ProblemKind::CutOff);
    if let Some(anchor) = trail.anchor().filter(|_| replaced) {
        output::error(&format!(
            "hint: if you have removed the database yourself, or put an older copy back, remove {} to begin anew\n",
            anchor.display()
        ));
    }
    exit
}

fn as_json(report: &Report, keyed: bool) -> serde_json::Value {
    let problems: Vec<_> = report
        .problems
        .iter()
        .map(|it| json!({ "kind": it.kind.name(), "record": it.sequence, "detail": it.detail }))
        .collect();
    json!({
        "schema_version": 1,
        "good": report.is_good(),
        "records": report.records,
        "first": report.first,
        "last": report.last,
        "head": hex(&report.head),
        "signed": report.signed,
        "anchored": report.anchored,
        "cut": report.cut,
        "keyed": keyed,
        "problems": problems,
    })
}

/// One line to be kept where nobody who can change the project can change it.
pub fn head(global: &Global, trail: &Trail) -> Exit {
    let signed = trail.signed().and_then(|signed| match signed {
        Some(signed) => Ok(Some(signed)),
        None => trail.anchored(),
    });
    match signed {
        Ok(Some(signed)) => {
            let text = if global.json { in_json(&signed) } else { signed.to_string() };
            output::print(&format!("{text}\n"));
            Exit::Success
        }
        Ok(None) => refused(&AuditError::Key("nothing was signed yet".into())),
        Err(error) => refused(&error),
    }
}

fn in_json(signed: &Signed) -> String {
    json!({
        "schema_version": 1,
        "database": hex(&signed.head.database),
        "record": signed.head.sequence,
        "hash": hex(&signed.head.hash),
        "time": exacta::report::moment(signed.head.stamp),
        "key": hex(&signed.key),
        "signature": hex(&signed.signature),
        "line": signed.to_string(),
    })
    .to_string()
}
