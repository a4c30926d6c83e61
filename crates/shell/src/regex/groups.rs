//! Where the groups of a match are: for `[[ text =~ expression ]]`.

use std::ops::Range;
use std::sync::Arc;

use regex_automata::nfa::thompson::WhichCaptures;
use regex_automata::util::primitives::NonMaxUsize;
use regex_automata::{Anchored, Input, meta};
use regex_syntax::hir::{Hir, Look};

use super::automaton::{Lowering, Purpose, SIZE, TOO_BIG};
use super::{Error, Matcher, Node, Preference, Scratch};
use crate::control::Control;

/// Texts of the shell never hold this byte, so that matches may hold every other.
const TERMINATOR: u8 = 0;

pub struct GroupMatcher {
    matcher: Matcher,
    scratch: Scratch,
    /// Slots: two for each group, the whole match first.
    slots: usize,
    /// Not there if only the backtracking machine can do it.
    captures: Option<meta::Regex>,
}

impl GroupMatcher {
    pub fn new(node: &Node) -> Result<GroupMatcher, Error> {
        let matcher = Matcher::for_texts(node, Preference::Longest)?;
        let lowering = Lowering { purpose: Purpose::Groups, terminator: TERMINATOR };
        let captures = match lowering.lower(node) {
            Some(hir) if node.groups() > 0 => Some(build(hir)?),
            _ => None,
        };
        let scratch = matcher.scratch(None);
        Ok(GroupMatcher { matcher, scratch, slots: 2 + 2 * node.groups() as usize, captures })
    }

    /// The longest of the leftmost matches and its groups, in order.
    /// `control` lets a long search notice that the request is over.
    pub fn find(
        &mut self,
        text: &[u8],
        control: &Arc<Control>,
    ) -> Result<Option<Vec<Option<Range<usize>>>>, Error> {
        self.scratch.watch(control);
        let Some(whole) = self.matcher.find_at(&mut self.scratch, text, 0)? else {
            return Ok(None);
        };
        let mut slots = vec![None; self.slots];
        if let Some(regex) = &self.captures {
            // The expression ends with the end of the text: that is how the longest match is found again.
            let until = text.get(..whole.end).unwrap_or_default();
            let input = Input::new(until).range(whole.start..whole.end).anchored(Anchored::Yes);
            let mut found: Vec<Option<NonMaxUsize>> = vec![None; self.slots];
            regex.search_slots(&input, &mut found);
            slots = found.into_iter().map(|slot| slot.map(NonMaxUsize::get)).collect();
        } else if let Some(remembered) = self.matcher.backtracked(&self.scratch) {
            slots = remembered.to_vec();
        }
        let range = |pair: &[Option<usize>]| match pair {
            [Some(start), Some(end)] if start <= end => Some(*start..*end),
            _ => None,
        };
        let mut groups: Vec<_> = slots.chunks(2).map(range).collect();
        if let Some(first) = groups.first_mut() {
            *first = Some(whole);
        }
        Ok(Some(groups))
    }
}

fn build(hir: Hir) -> Result<meta::Regex, Error> {
    let config = meta::Config::new()
        .utf8_empty(false)
        .which_captures(WhichCaptures::All)
        .nfa_size_limit(Some(SIZE));
    let whole = Hir::concat(vec![hir, Hir::look(Look::End)]);
    meta::Builder::new().configure(config).build_from_hir(&whole).map_err(|_| TOO_BIG)
}
