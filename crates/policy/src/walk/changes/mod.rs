//! What a piece of the tree may set, found without walking it: for loops, whose later commands reach earlier ones,
//! and for calls that are not followed.

mod names;
mod tree;
mod words;

use std::collections::HashSet;
use std::sync::Arc;

use bstr::BString;
use exacta_syntax::ast::{CompoundCommand, List};

use super::Walker;
use super::state::State;
use crate::Surroundings;

use names::Piece;

/// Loops in loops that call functions can be searched for ever; after so many commands anything may be set.
const MOST_SEARCHED: usize = 1 << 20;

#[derive(Debug, Default)]
pub(super) struct Changes {
    pub names: HashSet<BString>,
    /// Any variable at all.
    pub everything: bool,
    pub moves: bool,
    pub positional: bool,
    /// Variables that do not keep what is assigned to them.
    pub unsettled: HashSet<BString>,
    /// From then on nothing keeps it: references, traps.
    pub adrift: bool,
    /// A mode in which words mean something else.
    pub strange: bool,
    /// Functions may be taken away.
    pub undefines: bool,
    /// Functions that it defines.
    pub bodies: Vec<Arc<CompoundCommand>>,
}

impl Changes {
    pub fn absorb(&mut self, other: Changes) {
        self.names.extend(other.names);
        self.everything |= other.everything;
        self.moves |= other.moves;
        self.positional |= other.positional;
        self.unsettled.extend(other.unsettled);
        self.adrift |= other.adrift;
        self.strange |= other.strange;
        self.undefines |= other.undefines;
        self.bodies.extend(other.bodies);
    }
}

impl Walker<'_> {
    pub(super) fn changes(&mut self, lists: &[&List]) -> Changes {
        let mut search = Search::new(&self.state, self.surroundings, self.searched);
        for list in lists {
            search.list(list);
        }
        self.searched = search.searched;
        search.finish()
    }

    pub(super) fn changes_of_bodies(&mut self, bodies: &[Arc<CompoundCommand>]) -> Changes {
        let mut search = Search::new(&self.state, self.surroundings, self.searched);
        for body in bodies {
            if search.bodies.insert(Arc::as_ptr(body)) {
                search.compound(body);
            }
        }
        self.searched = search.searched;
        search.finish()
    }
}

struct Search<'state> {
    state: &'state State,
    surroundings: &'state dyn Surroundings,
    found: Changes,
    /// Commands looked at, in this search and all before it.
    searched: usize,
    bodies: HashSet<*const CompoundCommand>,
    /// Names of commands that are computed.
    names_of_commands: Vec<Vec<Piece>>,
}

impl<'state> Search<'state> {
    fn new(state: &'state State, surroundings: &'state dyn Surroundings, searched: usize) -> Self {
        Search {
            searched,
            state,
            surroundings,
            found: Changes::default(),
            bodies: HashSet::new(),
            names_of_commands: Vec::new(),
        }
    }

    /// A computed name is harmless if what it is made of is known, stays as it is, and names nothing that sets.
    fn finish(mut self) -> Changes {
        for pieces in std::mem::take(&mut self.names_of_commands) {
            if !self.is_harmless(&pieces) {
                self.anything();
            }
        }
        self.found
    }

    fn anything(&mut self) {
        self.found.everything = true;
        self.found.moves = true;
    }
}
