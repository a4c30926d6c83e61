//! Which commands a tree would run, and with which words, as far as that is known before it runs.
//!
//! The walk is a careful reading, not an execution: every branch is taken, loops once with whatever they change not
//! known, functions where they are called (and once more on their own if they are not, or not all calls are known).
//! What is not certain is "not known"; nothing that could run is left out.
//!
//! - `commands`, `chains`, `compound`, `pipelines`, `redirects`: the tree, in the order of execution.
//! - `fold`, `draft`, `parameters`, `arithmetic`, `substitutions`: words.
//! - `state`, `journal`, `values`, `variables`: what is known at a point, and how ways come together.
//! - `builtins`, `declarations`, `directories`, `texts`, `functions`, `bombs`: commands that change the shell itself;
//!   `endless`: what never ends.
//! - `changes`: what a loop may set, found before it is walked.

mod arithmetic;
mod bombs;
mod builtins;
mod chains;
mod changes;
mod commands;
mod compound;
mod declarations;
mod directories;
mod draft;
mod endless;
mod environment;
mod fold;
mod formats;
mod functions;
mod journal;
mod output;
mod parameters;
mod paths;
mod patterns;
mod pipelines;
mod reading;
mod redirects;
mod reliable;
mod state;
mod substitutions;
mod texts;
mod values;
mod variables;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use bstr::{BString, ByteSlice};
use exacta_syntax::ast::{CompoundCommand, List};

use crate::event::{Directory, Event, Input, Via};
use crate::surroundings::Surroundings;
use crate::word::Word;

use draft::Splitting;
use functions::{Deferred, Frame};
use output::Output;
use paths::{Crossing, Place};
use state::{Positional, State};

/// How it came to a command that stands in a text which is evaluated late.
pub const LATE: &str = "$((…))";

/// How much work on values and texts is done before all of it counts as not known.
const EFFORT: usize = 8 << 20;

/// Where a tree begins: a whole text, or one found inside a command.
#[derive(Debug, Clone, Default)]
pub struct Start {
    pub directory: Directory,
    pub input: Input,
    pub via: Via,
    /// `$0`, `$1`, …: of `sh -c TEXT NAME ARGUMENT…`. Empty: not known.
    pub positional: Vec<Word>,
    /// Variables that the text finds in its environment besides those of the session.
    pub variables: Vec<Inherited>,
}

/// A variable that a text gets from the one that runs it.
#[derive(Debug, Clone)]
pub struct Inherited {
    pub name: BString,
    pub value: Word,
    /// It is there in any case: `x=1 sh -c …`. Else it may be there or not.
    pub certain: bool,
}

/// Calls `emit` for everything the tree would do, in the order of the text; bodies of functions come where they are
/// called, those never called and the texts of traps come last. Every branch is taken, every function body is
/// walked, nothing is left out however long the text is.
pub fn walk(
    list: &List,
    start: &Start,
    surroundings: &dyn Surroundings,
    emit: &mut dyn FnMut(Event),
) {
    let mut walker = Walker::new(start, surroundings, emit);
    walker.inherit(&start.variables);
    walker.list(list);
    walker.walk_exits();
    walker.walk_deferred();
    walker.report_bombs();
}

struct Walker<'world> {
    surroundings: &'world dyn Surroundings,
    emit: &'world mut dyn FnMut(Event),
    state: State,
    /// Of everything emitted from here.
    via: Via,
    /// What a command without redirects would read.
    input: Input,
    /// Nothing but the command at hand reads its input; set for a command about to be walked.
    reads_alone: bool,
    /// How deep in functions, `eval` and aliases.
    level: usize,
    /// Commands walked in those, and effort spent on values.
    spent: usize,
    effort: usize,
    /// Commands looked at for what they may set.
    searched: usize,
    /// Words made by braces.
    braced: usize,
    /// Names of the commands of a pipeline, for those who read from it; collected only inside one.
    names: Vec<Word>,
    collecting: usize,
    /// The name of the command whose words are being folded.
    writer: Option<Word>,
    /// Calls and loops that can be left early.
    frames: Vec<Frame>,
    /// The bodies being walked.
    active: Vec<*const CompoundCommand>,
    /// Functions seen, for the shape of the whole.
    definitions: Vec<(BString, Arc<CompoundCommand>)>,
    /// What is walked last.
    deferred: Vec<Deferred>,
    /// Bodies whose calls were all walked so far, and those of which one was not.
    covered: HashSet<*const CompoundCommand>,
    uncovered: HashSet<*const CompoundCommand>,
    /// What this text has written into files.
    files: HashMap<BString, BString>,
    /// Names of temporary files given out.
    made_up: usize,
    /// How the session splits, asked once.
    splitting: Option<Splitting>,
    /// Commands seen with which a loop ends or waits.
    pauses: usize,
    /// Where the last `cd` led, for what follows it in its chain.
    crossing: Option<Crossing>,
    /// Calls walked so far; each has a number.
    calls: usize,
    /// Substitutions of the braced word at hand, already walked.
    reuse: Option<HashMap<*const List, Output>>,
}

impl<'world> Walker<'world> {
    fn new(
        start: &Start,
        surroundings: &'world dyn Surroundings,
        emit: &'world mut dyn FnMut(Event),
    ) -> Self {
        let place = Place::new(&start.directory);
        let mut positional = start.positional.iter();
        let zero = positional.next().cloned();
        let positional = match &zero {
            Some(_) => Positional::Known(Rc::new(positional.cloned().collect())),
            None => Positional::Unknown,
        };
        Walker {
            surroundings,
            emit,
            state: State::new(place, positional, zero),
            via: start.via.clone(),
            input: start.input.clone(),
            reads_alone: false,
            level: 0,
            spent: 0,
            effort: 0,
            searched: 0,
            braced: 0,
            names: Vec::new(),
            collecting: 0,
            writer: None,
            frames: Vec::new(),
            active: Vec::new(),
            definitions: Vec::new(),
            deferred: Vec::new(),
            covered: HashSet::new(),
            uncovered: HashSet::new(),
            files: HashMap::new(),
            made_up: 0,
            splitting: None,
            pauses: 0,
            crossing: None,
            calls: 0,
            reuse: None,
        }
    }

    fn inherit(&mut self, variables: &[Inherited]) {
        for Inherited { name, value, certain } in variables {
            let mut value = values::Value::of_word(value);
            if !certain {
                value = value.join(&values::Value::Unset);
            }
            self.state.set(name.as_bstr(), value, true);
        }
    }

    /// Is there effort left for work of this size?
    fn afford(&mut self, cost: usize) -> bool {
        self.effort = self.effort.saturating_add(cost);
        self.effort < EFFORT
    }
}
