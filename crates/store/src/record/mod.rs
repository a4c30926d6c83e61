//! One request in the journal: its entries read together.

pub(crate) mod codec;
mod entry;
pub(crate) mod file;

use bstr::BString;

pub(crate) use codec::checksum;
pub use entry::{
    About, DirectoryTime, Left, Made, Numbered, Outcome, Phase, RecordId, Step, TreeIdentity,
};
pub(crate) use entry::{Entry, LayerEntry, VERSION};

use crate::by_path::ByPath;
use crate::facts::Time;
use crate::path;

/// A record as it stands.
#[derive(Clone, Debug)]
pub struct Record {
    pub id: RecordId,
    pub about: About,
    pub tree: TreeIdentity,
    pub phase: Phase,
    /// Of the last change of phase.
    pub since: Time,
    /// What was done, in order, without what turned out not to have happened.
    pub steps: Vec<Numbered>,
    /// Why some of it cannot be taken back.
    pub irreversible: Vec<String>,
    pub outcome: Option<Outcome>,
    pub made: Made,
    /// How the record left its paths when its phase last changed.
    pub left: Vec<Left>,
    /// Times of directories before.
    pub times: Vec<(BString, Time)>,
    pub(crate) keep_times: Vec<BString>,
    pub(crate) loosened: Vec<(BString, u32)>,
    pub(crate) layer: Option<LayerEntry>,
    pub(crate) next_number: u32,
    /// Entries behind the last good one.
    pub(crate) torn: bool,
}

impl Record {
    /// `None` when it does not even begin.
    pub(crate) fn read(bytes: &[u8]) -> Option<(Self, usize)> {
        let decoded = codec::decode(bytes);
        let good = decoded.good;
        let mut entries = decoded.entries.into_iter();
        let Some(Entry::Begin { version: VERSION, id, about, tree }) = entries.next() else {
            return None;
        };
        let mut record = Record::begin(id, about, tree);
        record.torn = good < bytes.len();
        for entry in entries {
            record.add(entry);
        }
        Some((record, good))
    }

    pub(crate) fn begin(id: RecordId, about: About, tree: TreeIdentity) -> Self {
        Record {
            id,
            since: about.time,
            about,
            tree,
            phase: Phase::Recording,
            steps: Vec::new(),
            irreversible: Vec::new(),
            outcome: None,
            made: Made::default(),
            left: Vec::new(),
            times: Vec::new(),
            keep_times: Vec::new(),
            loosened: Vec::new(),
            layer: None,
            next_number: 0,
            torn: false,
        }
    }

    pub(crate) fn add(&mut self, entry: Entry) {
        match entry {
            Entry::Begin { .. } => {}
            Entry::Step(numbered) => {
                self.number(&numbered);
                self.steps.push(numbered);
            }
            Entry::Void { number } => self.steps.retain(|step| step.number != number),
            Entry::Time { path, modified } => self.times.push((path, modified)),
            Entry::Irreversible { reason } => self.irreversible.push(reason),
            Entry::Made(made) => self.made = made,
            Entry::Left(left) => self.left = left,
            Entry::Phase { phase, time } => {
                self.phase = phase;
                self.since = time;
            }
            Entry::KeepTimes(paths) => self.keep_times = paths,
            Entry::Divide { number, pieces } => self.divide(number, pieces),
            Entry::Loosened { path, mode } => self.loosened.push((path, mode)),
            Entry::End(outcome) => self.outcome = Some(outcome),
            Entry::Layer(layer) => self.layer = Some(layer),
        }
    }

    fn number(&mut self, step: &Numbered) {
        self.next_number = self.next_number.max(step.number.saturating_add(1));
    }

    fn divide(&mut self, number: u32, pieces: Vec<Numbered>) {
        for piece in &pieces {
            self.number(piece);
        }
        if let Some(at) = self.steps.iter().position(|step| step.number == number) {
            self.steps.splice(at..=at, pieces);
        }
    }

    /// The object a `Create` step made.
    pub(crate) fn object(&self, number: u32) -> Option<u64> {
        let objects = &self.made.objects;
        let at = objects.binary_search_by_key(&number, |(number, _)| *number).ok()?;
        objects.get(at).map(|(_, inode)| *inode)
    }

    /// Every object that it has changed, moved or left, by its number; some of them more than once.
    pub(crate) fn objects(&self) -> impl Iterator<Item = u64> {
        let steps = self.steps.iter().filter_map(|one| match &one.step {
            Step::Create { .. } => None,
            Step::Replace { before, .. }
            | Step::Delete { before, .. }
            | Step::Write { before, .. }
            | Step::Append { before, .. }
            | Step::Meta { before, .. } => Some(before.inode),
            Step::Trash { inode, .. } | Step::Move { inode, .. } | Step::Link { inode, .. } => {
                Some(*inode)
            }
        });
        let left = self.left.iter().filter_map(|left| left.facts.as_ref()).map(|facts| facts.inode);
        let made = self.made.objects.iter().map(|(_, inode)| *inode);
        steps.chain(left).chain(made)
    }

    /// The time that an object had before the record set it: `touch -d` on a directory, and then a new name in it.
    pub(crate) fn time_set(&self, inode: Option<u64>) -> Option<Time> {
        self.steps.iter().find_map(|one| match &one.step {
            Step::Meta { before, .. } if Some(before.inode) == inode => Some(before.modified),
            _ => None,
        })
    }

    /// Whether its end cannot be read. It is not undone then: what is missing may matter.
    pub fn is_damaged(&self) -> bool {
        self.torn
    }

    /// Every path at which it changes the tree, once.
    pub fn paths(&self) -> Vec<&BString> {
        let mut paths: Vec<&BString> = self.steps.iter().flat_map(|one| one.step.paths()).collect();
        paths.sort();
        paths.dedup();
        paths
    }

    /// Whether both change the same path, or one changes what lies in something the other changes.
    pub(crate) fn touches(&self, other: &Record) -> bool {
        let (mine, theirs) = (self.paths(), other.paths());
        within(&mine, &theirs) || within(&theirs, &mine)
    }
}

/// Whether one of the paths is one of the others, or lies in it.
fn within(paths: &[&BString], others: &[&BString]) -> bool {
    let others = ByPath::new(others.iter().map(|path| (path.as_slice(), 0)));
    paths.iter().any(|path| others.on_the_way(path).any(|found| !found.is_empty()))
}

/// A path, what holds it, and so on up to the root.
pub(crate) fn ancestors(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::successors(Some(path), |path| (!path.is_empty()).then(|| path::split(path).0))
}
