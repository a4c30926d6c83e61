//! Matching with sets of positions: from where the pattern may stand, to where it may go on.
//!
//! It answers more than yes or no: all ends of matches from a place, or all beginnings of matches to the end.

use std::collections::BTreeSet;

use super::{GroupKind, Node, Pattern};

/// Sorted, without duplicates.
type Positions = Vec<usize>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Forward,
    Backward,
}

struct Walk<'a> {
    pattern: &'a Pattern,
    text: &'a [u8],
    direction: Direction,
}

impl Pattern {
    pub(super) fn whole_by_positions(&self, text: &[u8]) -> bool {
        self.ends_from(text, 0).last() == Some(&text.len())
    }

    /// Every place where a match that begins at `start` may end.
    pub(super) fn ends_from(&self, text: &[u8], start: usize) -> Positions {
        let walk = Walk { pattern: self, text, direction: Direction::Forward };
        walk.sequence(&self.nodes, vec![start])
    }

    /// Every place where a match that ends with the text may begin.
    pub(super) fn starts_to_end(&self, text: &[u8]) -> Positions {
        let walk = Walk { pattern: self, text, direction: Direction::Backward };
        walk.sequence(&self.nodes, vec![text.len()])
    }

    /// Every place where some match begins.
    pub(super) fn all_starts(&self, text: &[u8]) -> Positions {
        let walk = Walk { pattern: self, text, direction: Direction::Backward };
        walk.sequence(&self.nodes, walk.boundaries(0, text.len()))
    }
}

impl Walk<'_> {
    fn sequence(&self, nodes: &[Node], mut at: Positions) -> Positions {
        let mut step = |node: &Node| {
            if !at.is_empty() {
                at = self.step(node, std::mem::take(&mut at));
            }
        };
        match self.direction {
            Direction::Forward => nodes.iter().for_each(&mut step),
            Direction::Backward => nodes.iter().rev().for_each(&mut step),
        }
        at
    }

    fn step(&self, node: &Node, mut from: Positions) -> Positions {
        match node {
            Node::Literal(_) | Node::AnyOne | Node::Set(_) => {
                if !matches!(node, Node::Literal(_)) {
                    self.drop_hidden(&mut from);
                }
                let mut to: Positions =
                    from.into_iter().filter_map(|at| self.over_one(node, at)).collect();
                // Case folding can change lengths, and with them the order.
                tidy(&mut to);
                to
            }
            Node::Star => {
                self.drop_hidden(&mut from);
                match (self.direction, from.first(), from.last()) {
                    (Direction::Forward, Some(&first), _) => {
                        self.boundaries(first, self.text.len())
                    }
                    (Direction::Backward, _, Some(&last)) => self.boundaries(0, last),
                    _ => Positions::new(),
                }
            }
            Node::Group(kind, alternatives) => self.group(*kind, alternatives, from),
        }
    }

    fn over_one(&self, node: &Node, at: usize) -> Option<usize> {
        match self.direction {
            Direction::Forward => self.pattern.forward(node, self.text, at),
            Direction::Backward => self.pattern.backward(node, self.text, at),
        }
    }

    /// The request is over: whatever the answer, nobody will see it.
    fn stopped(&self) -> bool {
        self.pattern.control.as_ref().is_some_and(|control| control.check().is_err())
    }

    /// A leading dot is not matched by a wildcard.
    fn drop_hidden(&self, from: &mut Positions) {
        if self.pattern.options.leading_dot
            && self.direction == Direction::Forward
            && self.text.first() == Some(&b'.')
        {
            from.retain(|&at| at != 0);
        }
    }

    /// The places between characters, both ends included.
    fn boundaries(&self, first: usize, last: usize) -> Positions {
        if self.text.is_ascii() {
            return (first..=last).collect();
        }
        let mut all = Positions::new();
        let mut at = first;
        while at <= last {
            all.push(at);
            at += self.pattern.length_at(self.text, at);
        }
        all
    }

    fn group(&self, kind: GroupKind, alternatives: &[Vec<Node>], mut from: Positions) -> Positions {
        match kind {
            GroupKind::One => self.any_of(alternatives, &from),
            GroupKind::Optional => {
                let mut to = self.any_of(alternatives, &from);
                to.append(&mut from);
                tidy(&mut to);
                to
            }
            GroupKind::Any => self.repeated(alternatives, from),
            GroupKind::Some => {
                let once = self.any_of(alternatives, &from);
                self.repeated(alternatives, once)
            }
            GroupKind::Not => {
                self.drop_hidden(&mut from);
                self.none_of(alternatives, &from)
            }
        }
    }

    fn any_of(&self, alternatives: &[Vec<Node>], from: &Positions) -> Positions {
        let mut to = Positions::new();
        for alternative in alternatives {
            to.append(&mut self.sequence(alternative, from.clone()));
        }
        tidy(&mut to);
        to
    }

    /// Zero or more times: only places not seen before are tried again.
    fn repeated(&self, alternatives: &[Vec<Node>], from: Positions) -> Positions {
        let mut all: BTreeSet<usize> = from.iter().copied().collect();
        if !self.pattern.options.leading_dot
            && let Some(nodes) = single_nodes(alternatives)
        {
            self.run_over(&nodes, from, &mut all);
            return all.into_iter().collect();
        }
        let mut new = from;
        let mut rounds = 0_usize;
        while !new.is_empty() {
            rounds += 1;
            if rounds.is_multiple_of(256) && self.stopped() {
                break;
            }
            new = self.any_of(alternatives, &new);
            new.retain(|at| all.insert(*at));
        }
        all.into_iter().collect()
    }

    /// The same for alternatives of one node each, as in `*([ab]|x)`: every place is followed as far as it goes.
    fn run_over(&self, nodes: &[&Node], from: Positions, all: &mut BTreeSet<usize>) {
        let mut open = from;
        while let Some(at) = open.pop() {
            for node in nodes {
                if let Some(next) = self.over_one(node, at)
                    && all.insert(next)
                {
                    open.push(next);
                }
            }
        }
    }

    /// Everything that can be reached from some place without matching an alternative from there. Seen from the
    /// place that reaches farthest, that is all but what matches from it and from every other place on the way.
    fn none_of(&self, alternatives: &[Vec<Node>], from: &Positions) -> Positions {
        let mut places: Box<dyn Iterator<Item = &usize>> = match self.direction {
            Direction::Forward => Box::new(from.iter()),
            Direction::Backward => Box::new(from.iter().rev()),
        };
        let Some(&outermost) = places.next() else { return Positions::new() };
        let mut excluded = self.any_of(alternatives, &vec![outermost]);
        for &place in places {
            let reached = |at: &usize| match self.direction {
                Direction::Forward => *at >= place,
                Direction::Backward => *at <= place,
            };
            if !excluded.iter().any(reached) || self.stopped() {
                break;
            }
            let matched = self.any_of(alternatives, &vec![place]);
            excluded.retain(|at| !reached(at) || matched.binary_search(at).is_ok());
        }
        let mut all = match self.direction {
            Direction::Forward => self.boundaries(outermost, self.text.len()),
            Direction::Backward => self.boundaries(0, outermost),
        };
        all.retain(|at| excluded.binary_search(at).is_err());
        all
    }
}

/// The nodes of alternatives that are one literal, `?` or set each. A leading dot needs more care.
fn single_nodes(alternatives: &[Vec<Node>]) -> Option<Vec<&Node>> {
    alternatives
        .iter()
        .map(|alternative| match alternative.as_slice() {
            [node @ (Node::Literal(_) | Node::AnyOne | Node::Set(_))] => Some(node),
            _ => None,
        })
        .collect()
}

fn tidy(positions: &mut Positions) {
    if !positions.is_sorted_by(|one, other| one < other) {
        positions.sort_unstable();
        positions.dedup();
    }
}
