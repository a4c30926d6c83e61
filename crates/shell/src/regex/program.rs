//! From the tree to the steps of the backtracking machine.

use super::{Anchor, Error, Node, RepeatMode, Set};

/// The most steps one expression may have: `{65535}` of something long is refused.
const MOST_STEPS: usize = 1 << 18;

#[derive(Debug)]
pub(super) struct Program {
    pub(super) steps: Vec<Step>,
    pub(super) counters: usize,
    /// Two for each group, from 2 on; 0 is where the match begins.
    pub(super) slots: usize,
}

#[derive(Debug)]
pub(super) enum Step {
    One(One),
    Anchor(Anchor),
    Backreference {
        group: u32,
        fold: bool,
    },
    /// Tries `first`, then `second`.
    Split {
        first: usize,
        second: usize,
    },
    Jump(usize),
    Save(usize),
    /// One character again and again.
    Run {
        one: One,
        min: u32,
        max: Option<u32>,
        mode: RepeatMode,
    },
    CounterStart(usize),
    /// The head of a loop over anything longer.
    Loop {
        counter: usize,
        min: u32,
        max: Option<u32>,
        lazy: bool,
        exit: usize,
    },
    /// Look-around and atomic groups: what follows up to `Inside` is tried by itself.
    Around {
        negative: bool,
        exit: usize,
    },
    AroundEnd,
    Atomic,
    AtomicEnd,
    /// Some characters back.
    Back(u32),
    Accept,
}

#[derive(Debug, Clone)]
pub(super) enum One {
    Char(char),
    Byte(u8),
    Set(Set),
}

impl Program {
    pub(super) fn compile(node: &Node) -> Result<Program, Error> {
        let slots = 2 + 2 * node.groups() as usize;
        let mut program = Program { steps: Vec::new(), counters: 0, slots };
        program.emit(node)?;
        program.push(Step::Accept)?;
        Ok(program)
    }

    fn push(&mut self, step: Step) -> Result<usize, Error> {
        if self.steps.len() >= MOST_STEPS {
            return Err(Error::Invalid("regular expression is too large"));
        }
        self.steps.push(step);
        Ok(self.steps.len() - 1)
    }

    fn here(&self) -> usize {
        self.steps.len()
    }

    fn emit(&mut self, node: &Node) -> Result<(), Error> {
        match node {
            Node::Empty => {}
            Node::Char(character) => self.one(One::Char(*character))?,
            Node::Byte(byte) => self.one(One::Byte(*byte))?,
            Node::Set(set) => self.one(One::Set(set.clone()))?,
            Node::Anchor(anchor) => {
                self.push(Step::Anchor(*anchor))?;
            }
            Node::Concat(nodes) => nodes.iter().try_for_each(|node| self.emit(node))?,
            Node::Alternate(nodes) => self.alternate(nodes, Self::emit)?,
            Node::Repeat { node, min, max, mode } => self.repeat(node, *min, *max, *mode)?,
            Node::Group(group, node) => {
                let slot = 2 * *group as usize;
                self.push(Step::Save(slot))?;
                self.emit(node)?;
                self.push(Step::Save(slot + 1))?;
            }
            Node::Backreference { group, fold } => {
                self.push(Step::Backreference { group: *group, fold: *fold })?;
            }
            Node::Around { behind, negative, node } => self.around(*behind, *negative, node)?,
            Node::Atomic(node) => {
                self.push(Step::Atomic)?;
                self.emit(node)?;
                self.push(Step::AtomicEnd)?;
            }
            Node::Keep => {
                self.push(Step::Save(0))?;
            }
        }
        Ok(())
    }

    fn one(&mut self, one: One) -> Result<(), Error> {
        self.push(Step::One(one)).map(drop)
    }

    fn alternate(
        &mut self,
        nodes: &[Node],
        emit: fn(&mut Self, &Node) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut ends = Vec::new();
        for (at, node) in nodes.iter().enumerate() {
            if at + 1 == nodes.len() {
                emit(self, node)?;
                break;
            }
            let split = self.push(Step::Split { first: self.here() + 1, second: 0 })?;
            emit(self, node)?;
            ends.push(self.push(Step::Jump(0))?);
            let next = self.here();
            self.patch(split, next);
        }
        let end = self.here();
        for jump in ends {
            self.patch(jump, end);
        }
        Ok(())
    }

    fn patch(&mut self, at: usize, to: usize) {
        match self.steps.get_mut(at) {
            Some(Step::Split { second, .. }) => *second = to,
            Some(Step::Jump(target)) => *target = to,
            Some(Step::Loop { exit, .. } | Step::Around { exit, .. }) => *exit = to,
            _ => {}
        }
    }

    fn repeat(
        &mut self,
        node: &Node,
        min: u32,
        max: Option<u32>,
        mode: RepeatMode,
    ) -> Result<(), Error> {
        let one = match node {
            Node::Char(character) => Some(One::Char(*character)),
            Node::Byte(byte) => Some(One::Byte(*byte)),
            Node::Set(set) => Some(One::Set(set.clone())),
            _ => None,
        };
        if let Some(one) = one {
            return self.push(Step::Run { one, min, max, mode }).map(drop);
        }
        if mode == RepeatMode::Possessive {
            self.push(Step::Atomic)?;
        }
        let counter = self.counters;
        self.counters += 1;
        self.push(Step::CounterStart(counter))?;
        let lazy = mode == RepeatMode::Lazy;
        let head = self.push(Step::Loop { counter, min, max, lazy, exit: 0 })?;
        self.emit(node)?;
        self.push(Step::Jump(head))?;
        let exit = self.here();
        self.patch(head, exit);
        if mode == RepeatMode::Possessive {
            self.push(Step::AtomicEnd)?;
        }
        Ok(())
    }

    fn around(&mut self, behind: bool, negative: bool, node: &Node) -> Result<(), Error> {
        let start = self.push(Step::Around { negative, exit: 0 })?;
        if behind {
            match node {
                Node::Alternate(nodes) => self.alternate(nodes, Self::behind)?,
                node => self.behind(node)?,
            }
        } else {
            self.emit(node)?;
        }
        self.push(Step::AroundEnd)?;
        let exit = self.here();
        self.patch(start, exit);
        Ok(())
    }

    fn behind(&mut self, node: &Node) -> Result<(), Error> {
        let length = length(node).ok_or(NOT_FIXED)?;
        self.push(Step::Back(length))?;
        self.emit(node)
    }
}

const NOT_FIXED: Error = Error::Invalid("lookbehind assertion is not fixed length");

/// Is every alternative of a look-behind of one length?
pub(super) fn fixed_lengths(node: &Node) -> Result<(), Error> {
    let fixed = match node {
        Node::Alternate(nodes) => nodes.iter().all(|node| length(node).is_some()),
        node => length(node).is_some(),
    };
    if fixed { Ok(()) } else { Err(NOT_FIXED) }
}

/// How many characters the node matches, if that is always the same.
fn length(node: &Node) -> Option<u32> {
    match node {
        Node::Empty | Node::Anchor(_) | Node::Around { .. } | Node::Keep => Some(0),
        Node::Char(_) | Node::Byte(_) | Node::Set(_) => Some(1),
        Node::Concat(nodes) => {
            nodes.iter().try_fold(0_u32, |sum, node| sum.checked_add(length(node)?))
        }
        Node::Alternate(nodes) => {
            let mut lengths = nodes.iter().map(length);
            let first = lengths.next()??;
            lengths.all(|other| other == Some(first)).then_some(first)
        }
        Node::Repeat { node, min, max, .. } => {
            if *max == Some(*min) {
                length(node)?.checked_mul(*min)
            } else {
                None
            }
        }
        Node::Group(_, node) | Node::Atomic(node) => length(node),
        Node::Backreference { .. } => None,
    }
}
