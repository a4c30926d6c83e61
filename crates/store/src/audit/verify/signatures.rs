//! Checkpoints and anchors: what was signed must be there.

use std::collections::BTreeMap;

use super::super::anchor::hex;
use super::super::chain::{Hash, Link};
use super::super::key::Signed;
use super::super::ledger::Head;
use super::{Known, ProblemKind, Report};

/// The hashes that records must have.
#[derive(Default)]
pub(super) struct Expected {
    hashes: BTreeMap<u64, Hash>,
    /// The last record that there must be, and who says so.
    last: Option<(u64, &'static str)>,
}

impl Expected {
    /// If the record is not what was signed: the first one after what was signed before.
    pub(super) fn contradicted_by(&self, link: &Link) -> Option<u64> {
        let expected = self.hashes.get(&link.sequence)?;
        let before =
            self.hashes.range(..link.sequence).next_back().map_or(0, |(before, _)| *before);
        (*expected != link.hash).then_some(before + 1)
    }

    fn demand(&mut self, signed: &Signed, who: &'static str) {
        let Head { sequence, hash, .. } = signed.head;
        self.hashes.insert(sequence, hash);
        if self.last.is_none_or(|(last, _)| sequence > last) {
            self.last = Some((sequence, who));
        }
    }
}

pub(super) fn check(
    checkpoints: &[Signed],
    known: &Known,
    database: &[u8; 16],
    cut: Option<u64>,
    report: &mut Report,
) -> Expected {
    let mut expected = Expected::default();
    for signed in checkpoints {
        let sequence = signed.head.sequence;
        if !signed.holds() {
            report.add(
                ProblemKind::Unsigned,
                sequence,
                "the signature of its checkpoint does not hold",
            );
        } else if known.key.is_some_and(|key| key != signed.key) {
            let detail = format!("its checkpoint is signed by another key: {}", hex(&signed.key));
            report.add(ProblemKind::Unsigned, sequence, detail);
        } else {
            report.signed = report.signed.max(sequence);
            expected.demand(signed, "a signed checkpoint");
        }
    }
    for anchor in &known.anchors {
        let sequence = anchor.head.sequence;
        if !anchor.holds() || known.key.is_some_and(|key| key != anchor.key) {
            report.add(
                ProblemKind::Unsigned,
                sequence,
                "the signature of the anchored head does not hold",
            );
        } else if anchor.head.database != *database {
            let detail = "the anchored head is of another database: this one has taken its place";
            report.add(ProblemKind::CutOff, sequence, detail);
        } else if sequence > report.cut {
            report.anchored = report.anchored.max(sequence);
            expected.demand(anchor, "the anchored head");
        }
    }
    // Whoever has no key can say that records were removed by the limits, but not sign it.
    let signs = known.key.is_some() || !checkpoints.is_empty() || !known.anchors.is_empty();
    if signs && cut.is_some_and(|cut| report.signed.max(report.anchored) < cut) {
        let detail =
            "the records up to here are not there, and nobody has signed that they should not be";
        report.add(ProblemKind::Removed, report.cut, detail);
    }
    expected
}

/// Without its checkpoints a chain still holds against its anchor, but nobody can tell any more how far it was signed.
pub(super) fn are_there(checkpoints: &[Signed], known: &Known, report: &mut Report) {
    for anchor in &known.anchors {
        let sequence = anchor.head.sequence;
        let there = checkpoints.iter().any(|signed| signed.head.sequence == sequence);
        if !there && sequence > report.cut {
            let detail = "its checkpoint is missing: it was signed, the anchored head says so";
            report.add(ProblemKind::Unsigned, sequence, detail);
        }
    }
}

/// Is the last record there that must be?
pub(super) fn ends(expected: &Expected, head: &Head, report: &mut Report) {
    let Some((last, who)) = expected.last else { return };
    if head.sequence < last {
        let first = head.sequence + 1;
        let detail = format!(
            "records {first} to {last} are missing at the end: {who} says that they were there"
        );
        report.add(ProblemKind::CutOff, first, detail);
    }
}
