//! The steps of a record by the paths they concern: those of a path and of all that holds it are found in one walk.
//!
//! A map with whole paths as keys would read every ancestor of every path again from its beginning; for a tree that is
//! three thousand levels deep, that alone took ten seconds.

use std::collections::HashMap;

/// Names as a tree. The root of the project is the first node.
pub(crate) struct ByPath<'a> {
    /// The node of a name in the node that holds it.
    nodes: HashMap<(usize, &'a [u8]), usize>,
    /// Indices of steps at each node, rising.
    steps: Vec<Vec<usize>>,
}

impl<'a> ByPath<'a> {
    /// From pairs of a path and the index of its step, whose indices rise.
    pub(crate) fn new(pairs: impl IntoIterator<Item = (&'a [u8], usize)>) -> Self {
        let mut index = ByPath { nodes: HashMap::new(), steps: vec![Vec::new()] };
        for (path, step) in pairs {
            let node = index.make(path);
            if let Some(steps) = index.steps.get_mut(node) {
                steps.push(step);
            }
        }
        index
    }

    fn make(&mut self, path: &'a [u8]) -> usize {
        names(path).fold(0, |holder, name| {
            *self.nodes.entry((holder, name)).or_insert_with(|| {
                self.steps.push(Vec::new());
                self.steps.len() - 1
            })
        })
    }

    /// The steps at exactly this path.
    pub(crate) fn at(&self, path: &[u8]) -> &[usize] {
        let node = names(path).try_fold(0, |holder, name| self.nodes.get(&(holder, name)).copied());
        node.map(|node| self.steps_of(node)).unwrap_or_default()
    }

    /// The steps at the root, at every directory on the way to a path, and at the path itself.
    pub(crate) fn on_the_way(&self, path: &[u8]) -> impl Iterator<Item = &[usize]> {
        let below = names(path).scan(0, |node, name| {
            *node = *self.nodes.get(&(*node, name))?;
            Some(*node)
        });
        std::iter::once(0).chain(below).map(|node| self.steps_of(node))
    }

    fn steps_of(&self, node: usize) -> &[usize] {
        self.steps.get(node).map(Vec::as_slice).unwrap_or_default()
    }
}

fn names(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|&byte| byte == b'/').filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_a_path_and_of_what_holds_it() {
        let pairs: [(&[u8], usize); 5] =
            [(b"a", 0), (b"a/b/c", 1), (b"a", 2), (b"", 3), (b"a-b", 4)];
        let index = ByPath::new(pairs);
        let on_the_way =
            |path: &[u8]| index.on_the_way(path).flatten().copied().collect::<Vec<_>>();
        assert_eq!(index.at(b"a"), [0, 2]);
        assert_eq!(index.at(b"a/b"), []);
        assert_eq!(index.at(b"nothing/there"), []);
        assert_eq!(on_the_way(b"a/b/c/d"), [3, 0, 2, 1]);
        assert_eq!(on_the_way(b"a-b"), [3, 4]);
        assert_eq!(on_the_way(b""), [3]);
    }
}
