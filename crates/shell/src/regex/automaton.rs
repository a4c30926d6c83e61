//! From the tree to the automata of the `regex` family.

use regex_automata::hybrid::dfa::DFA;
use regex_automata::meta;
use regex_automata::nfa::thompson::{self, NFA, WhichCaptures, pikevm::PikeVM};
use regex_automata::util::look::LookMatcher;
use regex_automata::{MatchKind, hybrid};
use regex_syntax::hir::{Capture, Class, ClassBytes, ClassBytesRange, Hir, Look, Repetition};

use super::{Anchor, Error, Node, RepeatMode, Set, classes};

/// Memory an automaton may take while it is built.
pub(super) const SIZE: usize = 64 << 20;

/// What the automaton is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Says of a single line what matches, exactly. Fails if the tree has what no automaton can do.
    Exact,
    /// The same, and remembers where the groups are.
    Groups,
    /// Runs over whole buffers and finds every line that may match, perhaps some more. Conditions that would
    /// make it slow or are impossible are left out.
    Scan,
}

pub(super) struct Lowering {
    pub(super) purpose: Purpose,
    /// Ends a line; no match contains it.
    pub(super) terminator: u8,
}

impl Lowering {
    /// `None`: no automaton can do this.
    pub(super) fn lower(&self, node: &Node) -> Option<Hir> {
        let scan = self.purpose == Purpose::Scan;
        Some(match node {
            Node::Empty => Hir::empty(),
            Node::Char(character) if u32::from(*character) == u32::from(self.terminator) => {
                Hir::fail()
            }
            Node::Char(character) => {
                Hir::literal(character.encode_utf8(&mut [0; 4]).as_bytes().to_vec())
            }
            Node::Byte(byte) => Hir::literal(vec![*byte]),
            Node::Set(set) => self.set(set),
            Node::Anchor(anchor) => self.anchor(*anchor),
            Node::Concat(nodes) => Hir::concat(self.all(nodes)?),
            Node::Alternate(nodes) => Hir::alternation(self.all(nodes)?),
            Node::Repeat { mode: RepeatMode::Possessive, .. } if !scan => return None,
            Node::Repeat { node, min, max, mode } => Hir::repetition(Repetition {
                min: *min,
                max: *max,
                greedy: *mode != RepeatMode::Lazy,
                sub: Box::new(self.lower(node)?),
            }),
            Node::Group(index, node) if self.purpose == Purpose::Groups => {
                let sub = Box::new(self.lower(node)?);
                Hir::capture(Capture { index: *index, name: None, sub })
            }
            Node::Group(_, node) => self.lower(node)?,
            Node::Backreference { .. } if scan => self.anything(),
            Node::Atomic(node) if scan => self.lower(node)?,
            Node::Around { .. } | Node::Keep if scan => Hir::empty(),
            Node::Backreference { .. } | Node::Atomic(_) | Node::Around { .. } | Node::Keep => {
                return None;
            }
        })
    }

    fn all(&self, nodes: &[Node]) -> Option<Vec<Hir>> {
        nodes.iter().map(|node| self.lower(node)).collect()
    }

    fn set(&self, set: &Set) -> Hir {
        let mut class = set.characters.clone();
        class.difference(&classes::single(char::from(self.terminator)));
        let characters = Hir::class(Class::Unicode(class));
        if set.bytes.is_empty() {
            return characters;
        }
        let bytes = set.bytes.iter().map(|byte| ClassBytesRange::new(*byte, *byte));
        Hir::alternation(vec![characters, Hir::class(Class::Bytes(ClassBytes::new(bytes)))])
    }

    /// Any bytes of one line.
    fn anything(&self) -> Hir {
        let mut class = ClassBytes::new([ClassBytesRange::new(self.terminator, self.terminator)]);
        class.negate();
        let sub = Box::new(Hir::class(Class::Bytes(class)));
        Hir::repetition(Repetition { min: 0, max: None, greedy: true, sub })
    }

    fn anchor(&self, anchor: Anchor) -> Hir {
        let look = match anchor {
            _ if self.drops(anchor) => return Hir::empty(),
            Anchor::LineStart if self.purpose == Purpose::Scan => Look::StartLF,
            Anchor::LineEnd if self.purpose == Purpose::Scan => Look::EndLF,
            Anchor::LineStart => Look::Start,
            Anchor::LineEnd => Look::End,
            Anchor::InnerLineStart => Look::StartLF,
            Anchor::InnerLineEnd => Look::EndLF,
            Anchor::WordStart => Look::WordStartUnicode,
            Anchor::WordEnd => Look::WordEndUnicode,
            Anchor::WordBoundary => Look::WordUnicode,
            Anchor::NotWordBoundary => Look::WordUnicodeNegate,
            Anchor::WordStartHalf => Look::WordStartHalfUnicode,
            Anchor::WordEndHalf => Look::WordEndHalfUnicode,
            Anchor::AsciiBoundary => Look::WordAscii,
            Anchor::NotAsciiBoundary => Look::WordAsciiNegate,
            Anchor::AsciiStartHalf => Look::WordStartHalfAscii,
            Anchor::AsciiEndHalf => Look::WordEndHalfAscii,
        };
        Hir::look(look)
    }

    /// Words of any alphabet stop the fast automata at the first byte that is not ASCII; and records that do not
    /// end in a newline have no condition for their ends.
    pub(super) fn drops(&self, anchor: Anchor) -> bool {
        self.purpose == Purpose::Scan && (anchor.is_word() || self.terminator != b'\n')
    }

    /// Does the scan say of every line exactly whether it matches?
    pub(super) fn is_exact(&self, node: &Node) -> bool {
        match node {
            Node::Empty | Node::Char(_) | Node::Byte(_) | Node::Set(_) => true,
            Node::Anchor(anchor) => !self.drops(*anchor),
            Node::Concat(nodes) | Node::Alternate(nodes) => {
                nodes.iter().all(|node| self.is_exact(node))
            }
            Node::Repeat { mode: RepeatMode::Possessive, .. }
            | Node::Backreference { .. }
            | Node::Around { .. }
            | Node::Atomic(_)
            | Node::Keep => false,
            Node::Repeat { node, .. } | Node::Group(_, node) => self.is_exact(node),
        }
    }
}

pub(super) const TOO_BIG: Error = Error::Invalid("Regular expression too big");

pub(super) fn build(hir: &Hir) -> Result<meta::Regex, Error> {
    let config = meta::Config::new()
        .utf8_empty(false)
        .which_captures(WhichCaptures::Implicit)
        .nfa_size_limit(Some(SIZE));
    meta::Builder::new().configure(config).build_from_hir(hir).map_err(|_| TOO_BIG)
}

/// Finds where the longest match ends that begins at a known place.
pub(super) struct Longest {
    /// Not there if the expression asks for words of any alphabet.
    pub(super) automaton: Option<DFA>,
    pub(super) machine: PikeVM,
}

impl Longest {
    pub(super) fn build(hir: &Hir) -> Result<Longest, Error> {
        let config = thompson::Config::new()
            .utf8(false)
            .which_captures(WhichCaptures::Implicit)
            .nfa_size_limit(Some(SIZE))
            .look_matcher(LookMatcher::new());
        let nfa: NFA =
            thompson::Compiler::new().configure(config).build_from_hir(hir).map_err(|_| TOO_BIG)?;
        let lazy =
            hybrid::dfa::Config::new().match_kind(MatchKind::All).skip_cache_capacity_check(true);
        let automaton =
            hybrid::dfa::Builder::new().configure(lazy).build_from_nfa(nfa.clone()).ok();
        let config = thompson::pikevm::Config::new().match_kind(MatchKind::All);
        let machine = thompson::pikevm::Builder::new()
            .configure(config)
            .build_from_nfa(nfa)
            .map_err(|_| TOO_BIG)?;
        Ok(Longest { automaton, machine })
    }
}

/// Is the match that Perl prefers always the longest? True if at most one part varies in length, greedily.
pub(super) fn first_is_longest(node: &Node) -> bool {
    variable_parts(node).is_some_and(|count| count <= 1)
}

/// `None`: it branches.
fn variable_parts(node: &Node) -> Option<usize> {
    match node {
        Node::Empty | Node::Char(_) | Node::Byte(_) | Node::Set(_) | Node::Anchor(_) => Some(0),
        Node::Concat(nodes) => {
            nodes.iter().try_fold(0, |sum, node| Some(sum + variable_parts(node)?))
        }
        Node::Group(_, node) => variable_parts(node),
        Node::Repeat { node, min, max, mode } => {
            if variable_parts(node)? > 0 || *mode != RepeatMode::Greedy {
                return None;
            }
            Some(usize::from(*max != Some(*min)))
        }
        Node::Alternate(_)
        | Node::Backreference { .. }
        | Node::Around { .. }
        | Node::Atomic(_)
        | Node::Keep => None,
    }
}
