//! What is beside the chain: outputs, which records hold by their digests, and the rows that requests are found by.

use super::super::blocks::ends_of;
use super::super::chain::sha256;
use super::super::error::AuditError;
use super::super::ledger::Archive;
use super::links::Told;
use super::{ON, ProblemKind, Report};

pub(super) fn check_outputs(
    archive: &dyn Archive,
    told: &Told,
    report: &mut Report,
) -> Result<(), AuditError> {
    let mut there = std::collections::HashSet::new();
    archive.beside(&mut |beside| {
        let stream = name(beside.stream);
        match told.outputs.get(&(beside.sequence, beside.stream)) {
            None => report.add(
                ProblemKind::Inserted,
                beside.sequence,
                format!("its {stream} was never written"),
            ),
            Some(kept) if kept.digest != sha256(&beside.data) => {
                report.add(
                    ProblemKind::Changed,
                    beside.sequence,
                    format!("its {stream} is not what was written"),
                );
            }
            Some(_) => {}
        }
        let place = (beside.sequence, beside.stream);
        if told.outputs.contains_key(&place) {
            there.insert(place);
        }
        ON
    })?;
    if there.len() < told.outputs.len() {
        for (sequence, stream) in told.outputs.keys().filter(|place| !there.contains(place)) {
            report.add(
                ProblemKind::Removed,
                *sequence,
                format!("its {} is missing", name(*stream)),
            );
        }
    }
    Ok(())
}

pub(super) fn check_rows(
    archive: &dyn Archive,
    told: &Told,
    report: &mut Report,
) -> Result<(), AuditError> {
    let mut there = std::collections::HashSet::new();
    archive.rows(&mut |row| {
        match told.rows.get(&row.first) {
            None => report.add(
                ProblemKind::Inserted,
                row.first,
                "the history lists a request that was never recorded",
            ),
            Some(expected) if *expected != told.digest(&row) => {
                report.add(
                    ProblemKind::Changed,
                    row.first,
                    "the history does not say what the record says",
                );
            }
            Some(_) => {}
        }
        if told.rows.contains_key(&row.first) {
            there.insert(row.first);
        }
        ON
    })?;
    if there.len() < told.rows.len() {
        for first in told.rows.keys().filter(|first| !there.contains(*first)) {
            report.add(ProblemKind::Removed, *first, "the history does not list it any more");
        }
    }
    Ok(())
}

/// An outline that says less than it should would hide requests from a search.
pub(super) fn check_outlines(
    archive: &dyn Archive,
    told: &Told,
    report: &mut Report,
) -> Result<(), AuditError> {
    archive.outlines(&mut |(block, outline)| {
        let (first, last) = ends_of(block);
        match told.outlines.get(&block) {
            None => report.add(
                ProblemKind::Inserted,
                first,
                "the outline of a block that is not complete: a search would pass over what comes into it",
            ),
            Some(expected) if *expected != sha256(&outline) => {
                let detail = format!(
                    "the outline of records up to {last} is not theirs: a search may pass over some of them"
                );
                report.add(ProblemKind::Changed, first, detail);
            }
            Some(_) => {}
        }
        ON
    })
}

fn name(stream: u8) -> &'static str {
    if stream == 0 { "standard output" } else { "standard error" }
}
