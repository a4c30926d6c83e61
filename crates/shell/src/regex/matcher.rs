//! An expression ready for use.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use regex_automata::meta;
use regex_automata::nfa::thompson::pikevm;
use regex_automata::util::primitives::NonMaxUsize;
use regex_automata::{Anchored, Input, hybrid};
use regex_syntax::hir::Hir;

use super::automaton::{self, Longest, Lowering, Purpose};
use super::backtrack::{Machine, Memory};
use super::program::Program;
use super::{Error, Node, Preference};
use crate::control::Control;

/// Shared between threads; each has a [`Scratch`] of its own.
pub struct Matcher {
    /// Runs over whole buffers. Not there if only single texts are matched.
    scan: Option<meta::Regex>,
    /// Every line the scan finds matches.
    scan_is_exact: bool,
    exact: Exact,
    preference: Preference,
}

enum Exact {
    Automaton { find: meta::Regex, longest: Option<Box<LazyLongest>> },
    Backtrack(Program),
}

/// What finds the longest match where the first is not always the longest. Most uses never ask for it, so it is
/// built when somebody does. That it is too big has been ruled out: what finds the first match is larger.
struct LazyLongest {
    hir: Hir,
    built: OnceLock<Result<Longest, Error>>,
}

/// What a search needs to remember between two calls.
pub struct Scratch {
    scan: Option<meta::Cache>,
    find: Option<meta::Cache>,
    longest: Option<hybrid::dfa::Cache>,
    machine: Option<pikevm::Cache>,
    memory: Memory,
    control: Option<Arc<Control>>,
}

impl Scratch {
    /// From now on a long search looks at this.
    pub(super) fn watch(&mut self, control: &Arc<Control>) {
        self.control = Some(Arc::clone(control));
    }
}

impl Matcher {
    /// `terminator` ends the lines of the buffers that are scanned; no match contains it.
    pub fn new(node: &Node, preference: Preference, terminator: u8) -> Result<Matcher, Error> {
        let scanning = Lowering { purpose: Purpose::Scan, terminator };
        let hir = scanning.lower(node).ok_or(Error::Unsupported("this expression"))?;
        let scan = automaton::build(&hir)?;
        let scan_is_exact = scanning.is_exact(node);
        // What says exactly which lines match says the same of a line by itself.
        let find = scan_is_exact.then(|| scan.clone());
        let exact = exact(node, preference, terminator, find)?;
        Ok(Matcher { scan: Some(scan), scan_is_exact, exact, preference })
    }

    /// For single texts, which may hold anything but NUL. There is nothing to scan.
    pub fn for_texts(node: &Node, preference: Preference) -> Result<Matcher, Error> {
        let exact = exact(node, preference, 0, None)?;
        Ok(Matcher { scan: None, scan_is_exact: false, exact, preference })
    }

    /// `control` lets a long search notice that the request is over.
    pub fn scratch(&self, control: Option<Arc<Control>>) -> Scratch {
        Scratch {
            scan: self.scan.as_ref().map(meta::Regex::create_cache),
            find: None,
            longest: None,
            machine: None,
            memory: Memory::default(),
            control,
        }
    }

    /// A place in the first line of `buffer[range]` that may match: the end of a match, or of something near it.
    /// Lines end with the terminator; looks at the bytes before the range.
    pub fn scan(&self, scratch: &mut Scratch, buffer: &[u8], range: Range<usize>) -> Option<usize> {
        let input = Input::new(buffer).range(range).earliest(true);
        let (scan, cache) = (self.scan.as_ref()?, scratch.scan.as_mut()?);
        scan.search_half_with(cache, &input).map(|found| found.offset())
    }

    /// Does a line that [`Matcher::scan`] found still have to be asked?
    pub fn must_verify(&self) -> bool {
        !self.scan_is_exact
    }

    pub fn is_match(&self, scratch: &mut Scratch, line: &[u8]) -> Result<bool, Error> {
        match &self.exact {
            Exact::Automaton { find, .. } => {
                let cache = scratch.find.get_or_insert_with(|| find.create_cache());
                let input = Input::new(line).earliest(true);
                Ok(find.search_half_with(cache, &input).is_some())
            }
            Exact::Backtrack(program) => {
                self.backtrack(program, scratch, line, 0).map(|found| found.is_some())
            }
        }
    }

    /// The leftmost match that begins at `from` or later, the longest or first as preferred.
    pub fn find_at(
        &self,
        scratch: &mut Scratch,
        line: &[u8],
        from: usize,
    ) -> Result<Option<Range<usize>>, Error> {
        match &self.exact {
            Exact::Automaton { find, longest } => {
                let cache = scratch.find.get_or_insert_with(|| find.create_cache());
                let input = Input::new(line).range(from..line.len());
                let Some(found) = find.search_with(cache, &input) else { return Ok(None) };
                Ok(Some(match longest {
                    None => found.range(),
                    Some(longest) => {
                        let longest = longest.get()?;
                        let end = longest_end(longest, scratch, line, found.start());
                        found.start()..end.unwrap_or(found.end()).max(found.end())
                    }
                }))
            }
            Exact::Backtrack(program) => self.backtrack(program, scratch, line, from),
        }
    }

    /// Does the whole text match?
    pub fn is_full_match(&self, scratch: &mut Scratch, text: &[u8]) -> Result<bool, Error> {
        Ok(self.find_at(scratch, text, 0)?.is_some_and(|found| found == (0..text.len())))
    }

    /// Where the groups of the last match were, if the backtracking machine found it: two places for each, those
    /// of the whole match first and not filled in.
    pub(super) fn backtracked<'s>(&self, scratch: &'s Scratch) -> Option<&'s [Option<usize>]> {
        matches!(self.exact, Exact::Backtrack(_)).then(|| scratch.memory.groups())
    }

    fn backtrack(
        &self,
        program: &Program,
        scratch: &mut Scratch,
        line: &[u8],
        from: usize,
    ) -> Result<Option<Range<usize>>, Error> {
        let control = scratch.control.clone();
        let stopped = || control.as_ref().is_some_and(|control| control.check().is_err());
        Machine::new(program, line, self.preference, &stopped, &mut scratch.memory).search(from)
    }
}

impl LazyLongest {
    fn get(&self) -> Result<&Longest, Error> {
        self.built.get_or_init(|| Longest::build(&self.hir)).as_ref().map_err(Clone::clone)
    }
}

/// `find`: an automaton that is known to do.
fn exact(
    node: &Node,
    preference: Preference,
    terminator: u8,
    find: Option<meta::Regex>,
) -> Result<Exact, Error> {
    let lowering = Lowering { purpose: Purpose::Exact, terminator };
    let Some(hir) = lowering.lower(node) else {
        return Ok(Exact::Backtrack(Program::compile(node)?));
    };
    let find = match find {
        Some(find) => find,
        None => automaton::build(&hir)?,
    };
    let settled = preference == Preference::First || automaton::first_is_longest(node);
    let lazy = LazyLongest { hir, built: OnceLock::new() };
    Ok(Exact::Automaton { find, longest: (!settled).then(|| Box::new(lazy)) })
}

fn longest_end(
    longest: &Longest,
    scratch: &mut Scratch,
    line: &[u8],
    start: usize,
) -> Option<usize> {
    let input = Input::new(line).range(start..line.len()).anchored(Anchored::Yes);
    if let Some(automaton) = &longest.automaton {
        let cache = scratch.longest.get_or_insert_with(|| automaton.create_cache());
        if let Ok(found) = automaton.try_search_fwd(cache, &input) {
            return found.map(|found| found.offset());
        }
    }
    let cache = scratch.machine.get_or_insert_with(|| longest.machine.create_cache());
    let mut slots: [Option<NonMaxUsize>; 2] = [None, None];
    longest.machine.search_slots(cache, &input, &mut slots)?;
    slots[1].map(NonMaxUsize::get)
}
