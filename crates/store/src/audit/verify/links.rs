//! The records themselves, one after the other.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};

use super::super::chain::{Hash, Link, genesis, sha256};
use super::super::database::searched;
use super::super::entry::{Asked, Entry, Kept, Outcome, RequestId, Ruling};
use super::super::error::AuditError;
use super::super::ledger::{Archive, Head, Row};
use super::super::outline::{BLOCK, Sketch, complete};
use super::signatures::Expected;
use super::{ON, ProblemKind, Report};
use crate::watch::Watch;

/// So many records removed or put in at one place are recognised as that; more are just not what was written.
const FARTHEST: i64 = 1_000;

/// Where the chain begins, or goes on after a cut.
#[derive(Debug, Clone, Copy)]
pub(super) struct Start {
    first: u64,
    before: Hash,
    /// The record that says so.
    pub cut: Option<u64>,
}

/// The block that is being walked through.
struct Sketched {
    block: Option<u64>,
    sketch: Sketch,
}

impl Default for Sketched {
    fn default() -> Self {
        Sketched { block: None, sketch: Sketch::new() }
    }
}

impl Sketched {
    fn add(&mut self, asked: &Asked) {
        self.sketch.add(searched(&asked.command), asked.time);
    }
}

/// What the records say that must be found beside them.
#[derive(Default)]
pub(super) struct Told {
    pub outputs: HashMap<(u64, u8), Kept>,
    /// By the request's first record, the digest of its row: there may be millions.
    pub rows: HashMap<u64, u64>,
    /// Records were numbered anew, and nothing beside them is found by its number.
    pub renumbered: bool,
    /// The digests of the outlines that complete blocks must have, if they have one.
    pub outlines: HashMap<u64, Hash>,
    sketch: Sketched,
    hasher: RandomState,
    /// Requests that have begun.
    open: HashMap<RequestId, u64>,
}

pub(super) fn beginning(archive: &dyn Archive, report: &mut Report) -> Result<Start, AuditError> {
    let whole = Start { first: 1, before: genesis(&archive.database()), cut: None };
    let Some(link) = archive.last_cut()? else { return Ok(whole) };
    if let Ok(Entry::Cut(cut)) = link.entry() {
        report.cut = cut.upto;
        return Ok(Start { first: cut.upto + 1, before: cut.hash, cut: Some(link.sequence) });
    }
    let detail = "it says that records were removed, but not which";
    report.add(ProblemKind::Changed, link.sequence, detail);
    Ok(whole)
}

pub(super) fn walk(
    archive: &dyn Archive,
    start: Start,
    head: &Head,
    expected: &Expected,
    watch: &Watch,
    report: &mut Report,
) -> Result<Told, AuditError> {
    let mut walk = Walk {
        before: start.before,
        before_that: None,
        next: start.first,
        doubtful: None,
        shift: 0,
        contradicted: false,
        told: Told::default(),
        expected,
        report,
    };
    let total = (head.sequence + 1).saturating_sub(start.first) as usize;
    archive.links(0, &mut |link| {
        if walk.report.records.is_multiple_of(4096) {
            watch.tell(walk.report.records as usize, total);
        }
        walk.look_at(&link);
        ON
    })?;
    walk.settle_doubt();
    if complete(head.sequence) > head.sequence / BLOCK {
        walk.told.complete();
    }
    walk.told.renumbered = walk.shift != 0;
    Ok(walk.told)
}

struct Walk<'a> {
    /// The hash of the record in front.
    before: Hash,
    before_that: Option<Hash>,
    next: u64,
    /// A record that does not follow the one in front of it: the one after it tells why.
    doubtful: Option<Doubtful>,
    /// By how much the numbers are off, after records were removed or put in and the rest numbered anew.
    shift: i64,
    contradicted: bool,
    told: Told,
    expected: &'a Expected,
    report: &'a mut Report,
}

struct Doubtful {
    sequence: u64,
    /// Of the record in front of it.
    before: Hash,
}

impl Walk<'_> {
    fn look_at(&mut self, link: &Link) {
        if self.report.records == 0 {
            self.report.first = link.sequence;
        }
        self.report.records += 1;
        if link.sequence == self.next {
            self.check_hash(link);
        } else {
            self.number_is_wrong(link);
        }
        // All that follows the first contradicts as well.
        if !self.contradicted && self.shift == 0 {
            self.contradicted = self.contradicts(link);
        }
        self.before_that = Some(self.before);
        self.before = link.hash;
        self.next = link.sequence + 1;
        self.report.last = link.sequence;
        self.report.head = link.hash;
        self.listen(link);
    }

    fn number_is_wrong(&mut self, link: &Link) {
        self.settle_doubt();
        let missing = self.next;
        if link.sequence < missing {
            let detail = "those up to there were removed by the limits, and this is none of them";
            return self.report.add(ProblemKind::Inserted, link.sequence, detail);
        }
        let upto = link.sequence - 1;
        let detail = if upto == missing {
            "it is missing".to_owned()
        } else {
            format!("records {missing} to {upto} are missing")
        };
        self.report.add(ProblemKind::Removed, missing, detail);
    }

    fn check_hash(&mut self, link: &Link) {
        let number = link.sequence.saturating_add_signed(self.shift);
        if link.follows_as(&self.before, number) {
            return self.settle_doubt();
        }
        if let Some(doubtful) = self.doubtful.take() {
            return self.explain(&doubtful, link);
        }
        // The one in front may have been put in with a hash that fits.
        let before_that = self.before_that.filter(|hash| link.follows_as(hash, number - 1));
        if before_that.is_some() {
            self.report.add(ProblemKind::Inserted, link.sequence - 1, INSERTED);
            self.shift -= 1;
            return;
        }
        self.doubtful = Some(Doubtful { sequence: link.sequence, before: self.before });
    }

    /// Two in a row do not follow: numbers may be off.
    fn explain(&mut self, doubtful: &Doubtful, link: &Link) {
        let number = doubtful.sequence.saturating_add_signed(self.shift);
        if link.follows_as(&doubtful.before, number) {
            self.report.add(ProblemKind::Inserted, doubtful.sequence, INSERTED);
            self.shift -= 1;
            return;
        }
        let off = (1..=FARTHEST).flat_map(|by| [by, -by]).find(|by| {
            let number = link.sequence.saturating_add_signed(self.shift + by);
            link.follows_as(&self.before, number)
        });
        match off {
            Some(by) if by > 0 => {
                let detail = format!(
                    "{by} in front of what has this number now: those after were numbered anew"
                );
                self.report.add(ProblemKind::Removed, doubtful.sequence, detail);
                self.shift += by;
            }
            Some(by) => {
                let first = doubtful.sequence.saturating_add_signed(by);
                let detail = format!("{}, up to record {}", INSERTED, doubtful.sequence - 1);
                self.report.add(ProblemKind::Inserted, first, detail);
                self.shift += by;
            }
            None => {
                self.report.add(
                    ProblemKind::Changed,
                    doubtful.sequence,
                    changed(doubtful.sequence),
                );
                self.doubtful = Some(Doubtful { sequence: link.sequence, before: self.before });
            }
        }
    }

    /// The one after it follows it: it was itself changed.
    fn settle_doubt(&mut self) {
        if let Some(doubtful) = self.doubtful.take() {
            self.report.add(ProblemKind::Changed, doubtful.sequence, changed(doubtful.sequence));
        }
    }

    fn contradicts(&mut self, link: &Link) -> bool {
        let Some(since) = self.expected.contradicted_by(link) else { return false };
        let detail = format!(
            "it is not the one that was signed: something from record {since} on is not what was written"
        );
        self.report.add(ProblemKind::Changed, link.sequence, detail);
        true
    }

    /// What the record says of what is beside it.
    fn listen(&mut self, link: &Link) {
        self.told.reach(link.sequence);
        match link.entry() {
            Ok(Entry::Intent(intent)) => {
                self.told.begin(link.sequence, &intent.asked, &intent.ruling);
            }
            Ok(Entry::Outcome(outcome)) => self.told.end(link.sequence, &outcome),
            Ok(Entry::Start(_) | Entry::Answer(_) | Entry::Cut(_) | Entry::Moved(_)) => {}
            Err(_) => self.report.add(ProblemKind::Changed, link.sequence, "it cannot be read"),
        }
    }
}

impl Told {
    pub(super) fn digest(&self, row: &Row) -> u64 {
        self.hasher.hash_one(row)
    }

    /// Whatever was before this record's block is complete.
    fn reach(&mut self, sequence: u64) {
        let block = sequence / BLOCK;
        if self.sketch.block.is_some_and(|before| before != block) {
            self.complete();
        }
        self.sketch.block = Some(block);
    }

    fn complete(&mut self) {
        if let Some(block) = self.sketch.block.take() {
            self.outlines.insert(block, sha256(&self.sketch.sketch.take()));
        }
    }

    fn begin(&mut self, sequence: u64, asked: &Asked, ruling: &Ruling) {
        self.open.insert(asked.id, sequence);
        self.sketch.add(asked);
        let row = row(sequence, asked, ruling);
        self.rows.insert(sequence, self.digest(&row));
    }

    fn end(&mut self, sequence: u64, outcome: &Outcome) {
        for (stream, output) in (0..).zip([&outcome.stdout, &outcome.stderr]) {
            if let Some(kept) = &output.kept {
                self.outputs.insert((sequence, stream), kept.clone());
            }
        }
        let begun = self.open.remove(&outcome.asked.id).filter(|_| outcome.intended);
        if begun.is_none() {
            self.sketch.add(&outcome.asked);
        }
        let first = begun.unwrap_or(sequence);
        let row = Row {
            last: Some(sequence),
            exit: Some(i64::from(outcome.exit)),
            ..row(first, &outcome.asked, &outcome.ruling)
        };
        self.rows.insert(first, self.digest(&row));
    }
}

fn row(first: u64, asked: &Asked, ruling: &Ruling) -> Row {
    Row {
        first,
        last: None,
        id: asked.id.to_vec(),
        session: asked.session.to_string(),
        verdict: ruling.verdict as i64,
        exit: None,
        started: asked.time,
        command: searched(&asked.command).to_vec(),
    }
}

const INSERTED: &str = "it was never written, and those after it were numbered anew";

fn changed(sequence: u64) -> String {
    let before = sequence.saturating_sub(1);
    format!(
        "it does not follow record {before}: it, or the hash of that one, is not what was written"
    )
}
