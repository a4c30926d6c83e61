//! Where an object is after the steps of a record, and where it was before them.

use bstr::BString;

use crate::by_path::ByPath;
use crate::path;
use crate::record::{Numbered, Step};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Whereabouts {
    Tree(BString),
    /// Below what a step has kept.
    Kept {
        number: u32,
        below: BString,
    },
}

/// Steps by the paths they move things away from, so that one object is followed without reading all of them.
pub(crate) struct Ways<'a> {
    steps: &'a [Numbered],
    from: ByPath<'a>,
}

impl<'a> Ways<'a> {
    pub(crate) fn new(steps: &'a [Numbered]) -> Self {
        let left =
            steps.iter().enumerate().filter_map(|(index, Numbered { step, .. })| match step {
                Step::Move { from: path, .. }
                | Step::Trash { path, .. }
                | Step::Delete { path, .. }
                | Step::Replace { path, .. } => Some((path.as_slice(), index)),
                Step::Create { .. }
                | Step::Link { .. }
                | Step::Write { .. }
                | Step::Append { .. }
                | Step::Meta { .. } => None,
            });
        Ways { steps, from: ByPath::new(left) }
    }

    /// Follows what is at a path through the steps from an index on.
    pub(crate) fn after(&self, mut index: usize, path: &[u8]) -> Whereabouts {
        let mut place = BString::from(path);
        while let Some(next) = self.next(index, &place) {
            let Some(Numbered { number, step }) = self.steps.get(next) else { break };
            match step {
                Step::Move { from, to, .. } | Step::Trash { path: from, to, .. } => {
                    if let Some(rest) = path::below(&place, from) {
                        place = path::join(to, rest);
                    }
                }
                Step::Delete { path: gone, .. } | Step::Replace { path: gone, .. } => {
                    let below = path::below(&place, gone).unwrap_or_default().into();
                    return Whereabouts::Kept { number: *number, below };
                }
                Step::Create { .. }
                | Step::Link { .. }
                | Step::Write { .. }
                | Step::Append { .. }
                | Step::Meta { .. } => {}
            }
            index = next + 1;
        }
        Whereabouts::Tree(place)
    }

    /// The first step from an index on that moves this path.
    fn next(&self, index: usize, place: &[u8]) -> Option<usize> {
        let first =
            |steps: &[usize]| steps.get(steps.partition_point(|&step| step < index)).copied();
        self.from.on_the_way(place).filter_map(first).min()
    }
}

/// Where what is at a path now was before the steps; `None` when they made it.
pub(crate) fn before(steps: &[Numbered], path: &[u8]) -> Option<BString> {
    let mut place = BString::from(path);
    for Numbered { step, .. } in steps.iter().rev() {
        match step {
            Step::Move { from, to, .. } | Step::Trash { path: from, to, .. } => {
                if let Some(rest) = path::below(&place, to) {
                    place = path::join(from, rest);
                }
            }
            Step::Create { path: made }
            | Step::Link { path: made, .. }
            | Step::Replace { path: made, .. } => {
                if path::below(&place, made).is_some() {
                    return None;
                }
            }
            Step::Delete { .. } | Step::Write { .. } | Step::Append { .. } | Step::Meta { .. } => {}
        }
    }
    Some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(steps: Vec<Step>) -> Vec<Numbered> {
        (0..).zip(steps).map(|(number, step)| Numbered { number, step }).collect()
    }

    fn moved(from: &str, to: &str) -> Step {
        Step::Move { from: from.into(), to: to.into(), inode: 1 }
    }

    #[test]
    fn moves_are_followed_both_ways() {
        let steps = steps(vec![
            moved("a", "b"),
            moved("b/x", "c"),
            Step::Create { path: "a".into() },
            moved("b", "c/b"),
        ]);
        let ways = Ways::new(&steps);
        assert_eq!(ways.after(0, b"a/x/y"), Whereabouts::Tree("c/y".into()));
        assert_eq!(ways.after(0, b"a/z"), Whereabouts::Tree("c/b/z".into()));
        assert_eq!(before(&steps, b"c/b/z"), Some("a/z".into()));
        assert_eq!(before(&steps, b"c/y"), Some("a/x/y".into()));
        assert_eq!(before(&steps, b"a/q"), None);
        assert_eq!(before(&steps, b"other"), Some("other".into()));
    }
}
