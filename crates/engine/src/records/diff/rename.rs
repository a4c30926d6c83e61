//! Renames that nobody recorded as such: programs on an overlay copy and delete. What was deleted and what was made are
//! one change when their contents are the same, or mostly.

use std::collections::{HashMap, HashSet};

use bstr::ByteSlice;
use exacta_store::{Journal, Kind, Side};
use sha2::{Digest, Sha256};

use super::text::percent;
use super::{ChangeKind, Content, Found, content};

/// More pairs of files are not compared for likeness.
const PAIRS: usize = 10_000;
/// Larger ones neither.
const LARGEST: u64 = 1 << 20;
/// Less alike is not the same file.
const ALIKE: u8 = 50;

pub(super) fn find(journal: &Journal, found: &mut Vec<Found>) {
    let mut pairs = exact(journal, found);
    pairs.extend(alike(journal, found, &pairs));
    for pair in &pairs {
        let Some(gone) = found.get(pair.gone).cloned() else { continue };
        if let Some(made) = found.get_mut(pair.made) {
            made.kind = ChangeKind::Moved;
            made.from = Some(gone.path);
            made.before = gone.before;
            made.similarity = Some(pair.similarity);
        }
    }
    let gone: HashSet<usize> = pairs.iter().map(|pair| pair.gone).collect();
    let mut index = 0;
    found.retain(|_| {
        index += 1;
        !gone.contains(&(index - 1))
    });
}

/// By their places in the list.
struct Pair {
    gone: usize,
    made: usize,
    similarity: u8,
}

/// Regular files with something in them, on their only side.
fn files(found: &[Found], kind: ChangeKind) -> impl Iterator<Item = (usize, &Side)> {
    found.iter().enumerate().filter(move |(_, one)| one.kind == kind).filter_map(|(index, one)| {
        let side = one.before.as_ref().or(one.after.as_ref())?;
        (side.facts.kind == Kind::File && side.facts.size > 0).then_some((index, side))
    })
}

fn exact(journal: &Journal, found: &[Found]) -> Vec<Pair> {
    let mut sizes: HashMap<u64, Vec<(usize, &Side)>> = HashMap::new();
    for (index, side) in files(found, ChangeKind::Deleted) {
        sizes.entry(side.facts.size).or_default().push((index, side));
    }
    let mut gone: HashMap<(u64, [u8; 32]), Vec<usize>> = HashMap::new();
    let mut looked_at = HashSet::new();
    let mut pairs = Vec::new();
    for (made, side) in files(found, ChangeKind::Created) {
        let size = side.facts.size;
        let Some(candidates) = sizes.get(&size) else { continue };
        if looked_at.insert(size) {
            for (index, side) in candidates {
                if let Some(digest) = digest(journal, side) {
                    gone.entry((size, digest)).or_default().push(*index);
                }
            }
        }
        let digest = digest(journal, side);
        let same = digest.and_then(|digest| gone.get_mut(&(size, digest)));
        let Some(same) = same.filter(|same| !same.is_empty()) else { continue };
        // Of several that are equal, one with the same name.
        let name = |index: usize| found.get(index).map(|one| file_name(&one.path));
        let at = same.iter().position(|gone| name(*gone) == name(made)).unwrap_or(0);
        pairs.push(Pair { gone: same.remove(at), made, similarity: 100 });
    }
    pairs
}

fn file_name(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}

fn digest(journal: &Journal, side: &Side) -> Option<[u8; 32]> {
    match content(journal, Some(side)) {
        Ok(Content::Bytes(bytes)) => Some(Sha256::digest(bytes).into()),
        _ => None,
    }
}

/// The best match first.
fn alike(journal: &Journal, found: &[Found], taken: &[Pair]) -> Vec<Pair> {
    let (old, new): (HashSet<usize>, HashSet<usize>) =
        taken.iter().map(|pair| (pair.gone, pair.made)).unzip();
    let small = |(_, side): &(usize, &Side)| side.facts.size <= LARGEST;
    let gone: Vec<(usize, &Side)> = files(found, ChangeKind::Deleted)
        .filter(|(index, _)| !old.contains(index))
        .filter(small)
        .collect();
    let made: Vec<(usize, &Side)> = files(found, ChangeKind::Created)
        .filter(|(index, _)| !new.contains(index))
        .filter(small)
        .collect();
    if gone.is_empty() || made.is_empty() || gone.len() * made.len() > PAIRS {
        return Vec::new();
    }
    let read = |files: &[(usize, &Side)]| -> Vec<(usize, Lines)> {
        let lines = |(index, side): &(usize, &Side)| Some((*index, lines(journal, side)?));
        files.iter().filter_map(lines).collect()
    };
    let (gone, made) = (read(&gone), read(&made));
    let mut pairs = Vec::new();
    for (made, new) in &made {
        for (gone, old) in &gone {
            let similarity = likeness(old, new);
            if similarity >= ALIKE {
                pairs.push(Pair { gone: *gone, made: *made, similarity });
            }
        }
    }
    pairs.sort_by_key(|pair| (std::cmp::Reverse(pair.similarity), pair.made, pair.gone));
    let mut chosen: Vec<Pair> = Vec::new();
    for pair in pairs {
        if !chosen.iter().any(|other| other.gone == pair.gone || other.made == pair.made) {
            chosen.push(pair);
        }
    }
    chosen
}

/// How often which line is there, and the size of all.
struct Lines {
    counts: HashMap<Vec<u8>, usize>,
    size: usize,
}

fn lines(journal: &Journal, side: &Side) -> Option<Lines> {
    let Ok(Content::Bytes(bytes)) = content(journal, Some(side)) else { return None };
    if bytes.contains(&0) {
        return None;
    }
    let mut counts: HashMap<Vec<u8>, usize> = HashMap::new();
    for line in bytes.lines_with_terminator() {
        *counts.entry(line.to_vec()).or_default() += 1;
    }
    Some(Lines { counts, size: bytes.len() })
}

fn likeness(one: &Lines, other: &Lines) -> u8 {
    let (small, large) = (one.size.min(other.size), one.size.max(other.size));
    if percent(small, large) < ALIKE {
        return 0;
    }
    let kept = one
        .counts
        .iter()
        .map(|(line, count)| line.len() * other.counts.get(line).copied().unwrap_or(0).min(*count));
    // Only what is the same is called so.
    percent(kept.sum(), large).min(99)
}
