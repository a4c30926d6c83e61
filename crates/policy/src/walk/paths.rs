//! Where a command would run: `cd` followed by its words alone. Links are the judge's business.
//!
//! A `cd` can fail, and what follows then runs where the shell was: every place it may be is kept, the one where all
//! went well apart from the others. Going back to where it has been, and up, does not fail.

use bstr::{BStr, BString, ByteSlice};

use crate::event::Directory;

/// More places than this are not told apart.
const MOST: usize = 8;

/// A directory; `None`: nobody knows.
type Path = Option<BString>;

/// One place where the shell may be, and what `cd -` and `popd` go back to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Spot {
    pub directory: Path,
    pub previous: Path,
    /// Nearest last. `None`: not known any more.
    pub stack: Option<Vec<Path>>,
    /// Where nobody knows the directory: how far it is beneath the one where it was lost, or above it if negative.
    pub below: i32,
}

/// Where the shell is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// If all went well.
    expected: Spot,
    /// If something did not. `None`: anywhere.
    others: Option<Vec<Spot>>,
}

/// What a `cd` does from one spot.
#[derive(Debug)]
pub(super) enum Step {
    Surely(Spot),
    /// Or it fails and stays.
    Perhaps(Spot),
}

/// Both ends of a `cd`.
#[derive(Debug, Clone)]
pub(super) struct Crossing {
    pub success: Place,
    /// `None`: it cannot fail.
    pub failure: Option<Place>,
}

impl Spot {
    /// Goes there, which fails if there is nothing; nowhere else than up is it certain that there is.
    pub fn enter(&self, directory: Path) -> Step {
        let up = match (&self.directory, &directory) {
            (Some(from), Some(to)) => is_above(to, from),
            _ => false,
        };
        let spot = self.moved(directory);
        if up { Step::Surely(spot) } else { Step::Perhaps(spot) }
    }

    pub fn moved(&self, directory: Path) -> Spot {
        Spot {
            directory,
            previous: self.directory.clone(),
            stack: self.stack.clone(),
            below: self.below,
        }
    }

    /// The same, so much further down if nobody knows where it is.
    pub fn deeper(self, by: i32) -> Spot {
        let below = if self.directory.is_none() { self.below.saturating_add(by) } else { 0 };
        Spot { below, ..self }
    }

    /// Where it has been before is not above where it began.
    pub fn back(self) -> Spot {
        Spot { below: self.below.max(0), ..self }
    }
}

impl Place {
    pub fn new(directory: &Directory) -> Self {
        let at = |path: &BString| Spot {
            directory: Some(normalize(path.as_bstr())),
            stack: Some(Vec::new()),
            ..Spot::default()
        };
        match directory {
            Directory::Known(path) => Place { expected: at(path), others: Some(Vec::new()) },
            Directory::Likely { expected, others } if others.is_empty() => {
                Place { expected: at(expected), others: None }
            }
            Directory::Likely { expected, others } => {
                Place { expected: at(expected), others: Some(others.iter().map(at).collect()) }
            }
            Directory::Unknown => Place {
                expected: Spot { stack: Some(Vec::new()), ..Spot::default() },
                others: Some(Vec::new()),
            },
        }
    }

    pub fn directory(&self) -> Directory {
        self.every(|spot| &spot.directory)
    }

    pub fn previous(&self) -> Directory {
        self.every(|spot| &spot.previous)
    }

    fn every(&self, path: impl Fn(&Spot) -> &Path) -> Directory {
        let Some(expected) = path(&self.expected).clone() else { return Directory::Unknown };
        let others = self.others.as_ref().and_then(|others| {
            others.iter().map(|spot| path(spot).as_ref()).collect::<Option<Vec<_>>>()
        });
        let Some(paths) = others else {
            return Directory::Likely { expected, others: Vec::new() };
        };
        let mut others: Vec<BString> = Vec::new();
        for path in paths {
            if *path != expected && !others.contains(path) {
                others.push(path.clone());
            }
        }
        if others.is_empty() {
            Directory::Known(expected)
        } else {
            Directory::Likely { expected, others }
        }
    }

    pub fn cross(&self, step: impl Fn(&Spot) -> Step) -> Crossing {
        let mut stayed = Vec::new();
        let mut moved = |spot: &Spot| match step(spot) {
            Step::Surely(spot) => spot,
            Step::Perhaps(next) => {
                // `cd "$d" || continue; …; cd ..`: nobody goes back up from where he did not go down.
                let below = spot.below.max(next.below);
                stayed.push(Spot { below, ..spot.clone() });
                next
            }
        };
        let success = Place {
            expected: moved(&self.expected),
            others: self.others.as_ref().map(|others| others.iter().map(&mut moved).collect()),
        };
        let anywhere = self.others.is_none();
        let mut stayed = stayed.into_iter();
        let failure = stayed
            .next()
            .map(|expected| Place { expected, others: (!anywhere).then(|| stayed.collect()) });
        Crossing { success: success.tidied(), failure }
    }

    pub fn lose(&mut self) {
        *self = Place { expected: Spot::default(), others: Some(Vec::new()) };
    }

    /// It is somewhere above the directory where it was lost.
    pub fn is_above_where_it_was(&self) -> bool {
        self.expected.directory.is_none() && self.expected.below < 0
    }

    /// What is known when it is either of two.
    pub fn join(&mut self, other: &Place) {
        if self == other {
            return;
        }
        let (one, two) = (&mut self.expected, &other.expected);
        let same = one.directory == two.directory && one.directory.is_some();
        if !same {
            one.directory = None;
        }
        if one.previous != two.previous {
            one.previous = None;
        }
        if one.stack != two.stack {
            one.stack = None;
        }
        one.below = one.below.min(two.below);
        if same {
            self.or_else(other);
        } else {
            self.others = Some(Vec::new());
        }
    }

    /// It is in the other place if something went wrong.
    pub fn or_else(&mut self, other: &Place) {
        if self.expected.directory.is_none() {
            let below = self.expected.below;
            self.lose();
            self.expected.below = below;
            return;
        }
        self.others = match (self.others.take(), &other.others) {
            (Some(mut mine), Some(theirs)) => {
                mine.push(other.expected.clone());
                mine.extend(theirs.iter().cloned());
                Some(mine)
            }
            _ => None,
        };
        *self = std::mem::replace(self, Place { expected: Spot::default(), others: None }).tidied();
    }

    fn tidied(mut self) -> Self {
        if let Some(others) = &mut self.others {
            let mut kept: Vec<Spot> = Vec::new();
            for spot in others.drain(..) {
                if spot != self.expected && !kept.contains(&spot) && kept.len() <= MOST {
                    kept.push(spot);
                }
            }
            if kept.len() > MOST {
                self.others = None;
            } else {
                *others = kept;
            }
        }
        self
    }
}

impl Crossing {
    pub fn either(&self) -> Place {
        let mut place = self.success.clone();
        if let Some(failure) = &self.failure {
            place.or_else(failure);
        }
        place
    }
}

/// Is it the same directory or one further up?
fn is_above(upper: &BString, lower: &BString) -> bool {
    let Some(rest) = lower.strip_prefix(upper.as_slice()) else { return false };
    rest.is_empty() || rest.starts_with(b"/") || upper == "/"
}

/// How many directories a relative path leads down, or up if negative.
pub(super) fn descent(path: &BStr) -> i32 {
    let steps = path.split(|byte| *byte == b'/').map(|part| match part {
        b"" | b"." => 0,
        b".." => -1,
        _ => 1,
    });
    steps.fold(0, i32::saturating_add)
}

/// A path as seen from a directory.
pub(super) fn resolve(directory: Option<&BString>, path: &BStr) -> Option<BString> {
    if path.starts_with(b"/") {
        return Some(normalize(path));
    }
    let mut whole = directory?.clone();
    whole.push(b'/');
    whole.extend_from_slice(path);
    Some(normalize(whole.as_bstr()))
}

/// An absolute path without `.`, `..` and empty parts.
pub(super) fn normalize(path: &BStr) -> BString {
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in path.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    let mut normal = BString::default();
    for part in parts {
        normal.push(b'/');
        normal.extend_from_slice(part);
    }
    if normal.is_empty() {
        normal.push(b'/');
    }
    normal
}

#[cfg(test)]
mod tests {
    use bstr::BStr;

    use super::normalize;

    #[test]
    fn normal_paths_have_no_dots() {
        for (path, normal) in [
            ("/a/b", "/a/b"),
            ("/a//b/./c/", "/a/b/c"),
            ("/a/../b", "/b"),
            ("/../..", "/"),
            ("/a/b/../../c", "/c"),
        ] {
            assert_eq!(normalize(BStr::new(path)), normal, "{path}");
        }
    }
}
