//! Which objects stand for which: what was put back from a copy is another object than the one before, with everything else the
//! same. Earlier records know the old one by its number, and have to find the new one.

use std::collections::{HashMap, HashSet};

use rustix::io::Errno;

use crate::error::{At, UndoError};
use crate::ground::Ground;
use crate::system;

const NAME: &[u8] = b"stands";
/// Two numbers.
const PAIR: usize = 16;

/// From an object to those that took its place.
#[derive(Default)]
pub(crate) struct Stands(HashMap<u64, Vec<u64>>);

impl Stands {
    pub(crate) fn load(ground: &Ground) -> Result<Self, UndoError> {
        let mut stands = Stands::default();
        let Some(folders) = ground.existing()? else { return Ok(stands) };
        let bytes = match system::open_reading(folders.undo(), NAME) {
            Err(Errno::NOENT) => return Ok(stands),
            file => file.and_then(system::read_whole).at("read what stands for what", NAME)?,
        };
        for pair in bytes.chunks_exact(PAIR) {
            let number = |half: &[u8]| half.first_chunk().copied().map(u64::from_le_bytes);
            let (old, new) = pair.split_at(PAIR / 2);
            if let (Some(old), Some(new)) = (number(old), number(new)) {
                stands.0.entry(old).or_default().push(new);
            }
        }
        Ok(stands)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether one took the place of another, or of one that had.
    pub(crate) fn includes(&self, new: u64, old: u64) -> bool {
        let (mut waiting, mut seen) = (vec![old], HashSet::new());
        while let Some(number) = waiting.pop() {
            if number == new {
                return true;
            }
            if seen.insert(number) {
                waiting.extend(self.0.get(&number).into_iter().flatten());
            }
        }
        false
    }
}

/// More of them, on the disk with whatever is synced next.
pub(super) fn add(ground: &Ground, pairs: &[(u64, u64)]) -> Result<(), UndoError> {
    if pairs.is_empty() {
        return Ok(());
    }
    let undo = ground.folders()?.undo();
    let written = || -> Result<(), Errno> {
        let file = match system::open_appending(undo, NAME) {
            Err(Errno::NOENT) => system::create_file(undo, NAME)?,
            file => file?,
        };
        // What was torn is no pair, and would shift all that follow.
        let length = system::stat_handle(&file)?.st_size as u64;
        system::truncate(&file, length - length % PAIR as u64)?;
        let bytes = pairs.iter().flat_map(|(old, new)| [old.to_le_bytes(), new.to_le_bytes()]);
        system::append(&file, &bytes.flatten().collect::<Vec<u8>>())
    };
    written().at("write down what stands for what", NAME)
}
