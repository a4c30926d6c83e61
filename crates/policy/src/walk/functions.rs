//! Functions: walked where they are called, with the arguments of the call; and once on their own, with nothing
//! known, if they are not called or not every call could be walked.

use std::rc::Rc;
use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};
use exacta_syntax::ast::{CompoundCommand, FunctionDefinition};

use crate::event::Via;
use crate::word::Word;

use super::Walker;
use super::changes::Changes;
use super::output::Output;
use super::paths::Place;
use super::state::{Function, Positional, State, Way};
use super::values::Value;

/// How deep calls, `eval` and aliases are followed.
const DEEPEST: usize = 16;

/// How many commands are walked in them, all together.
const MOST_COMMANDS: usize = 20_000;

/// A call or a loop: what can be left before its end.
#[derive(Debug)]
pub(super) struct Frame {
    /// The number of the call; `None`: a loop.
    call: Option<usize>,
    variables: usize,
    /// Something left early; from here on, what was set since the beginning may be what it had then.
    escaped: bool,
    /// Set on ways that ended, and are therefore not followed.
    lost: Vec<BString>,
    /// Where it was left; `None`: nowhere yet.
    place: Option<Place>,
    /// Variables of the call alone, and what they had before.
    locals: Vec<BString>,
    /// … that the call had set before, for everybody.
    spilled: Vec<BString>,
}

/// What is walked when everything else is done.
#[derive(Debug)]
pub(super) enum Deferred {
    Body {
        name: BString,
        body: Arc<CompoundCommand>,
        via: Via,
    },
    /// A trap; `at_end`: when the shell ends.
    Text {
        text: BString,
        via: Via,
        at_end: bool,
    },
}

impl Frame {
    pub fn of_loop(state: &State) -> Self {
        Frame {
            call: None,
            variables: state.variables_mark(),
            escaped: false,
            lost: Vec::new(),
            place: None,
            locals: Vec::new(),
            spilled: Vec::new(),
        }
    }
}

impl Walker<'_> {
    fn push_call(&mut self) {
        self.calls += 1;
        self.frames.push(Frame { call: Some(self.calls), ..Frame::of_loop(&self.state) });
    }

    pub(super) fn define(&mut self, definition: &FunctionDefinition) {
        let name = definition.name.as_bstr();
        self.state.define(name, Arc::clone(&definition.body));
        self.definitions.push((definition.name.clone(), Arc::clone(&definition.body)));
        self.deferred.push(Deferred::Body {
            name: definition.name.clone(),
            body: Arc::clone(&definition.body),
            via: self.via.clone(),
        });
    }

    /// May another text or body be walked inside this one?
    pub(super) fn may_descend(&self) -> bool {
        self.level < DEEPEST && self.spent < MOST_COMMANDS
    }

    pub(super) fn call(
        &mut self,
        name: &BStr,
        function: &Function,
        arguments: Vec<Word>,
    ) -> Output {
        let arguments = Rc::new(arguments);
        if let [body] = function.bodies.as_slice() {
            return self.call_body(name, body, &arguments);
        }
        let mut ways = Vec::with_capacity(function.bodies.len());
        for body in &function.bodies {
            let mark = self.state.mark();
            self.call_body(name, body, &arguments);
            ways.push(self.state.rollback(mark));
        }
        self.merge(ways, false);
        Output::unknown()
    }

    fn call_body(
        &mut self,
        name: &BStr,
        body: &Arc<CompoundCommand>,
        arguments: &Rc<Vec<Word>>,
    ) -> Output {
        let key = Arc::as_ptr(body);
        if self.active.contains(&key) || !self.may_descend() {
            self.uncovered.insert(key);
            let changes = self.changes_of_bodies(std::slice::from_ref(body));
            self.forget(&changes);
            return Output::unknown();
        }
        self.covered.insert(key);
        let positional = if self.state.adrift {
            Positional::Unknown
        } else {
            Positional::Known(Rc::clone(arguments))
        };
        let outer = std::mem::replace(&mut self.state.positional, positional);
        let ended = std::mem::replace(&mut self.state.ended, false);
        let leaked = std::mem::replace(&mut self.state.leaked, false);
        self.push_call();
        self.active.push(key);
        self.via.push(BString::from([b"function ", name.as_bytes()].concat()));
        self.level += 1;
        let mut output = self.compound(body);
        self.level -= 1;
        self.active.pop();
        self.via.pop();
        self.state.positional = outer;
        self.state.ended = ended;
        if self.state.leaked {
            output = Output::unknown();
        }
        self.state.leaked = leaked;
        if let Some(frame) = self.frames.pop() {
            let escaped = self.escaped(&frame);
            self.leave(frame, &escaped);
        }
        output
    }

    /// `return`, `break`, `continue`: what is set here reaches the end of the frame.
    pub(super) fn escape(&mut self, from_call: bool) {
        let place = &self.state.place;
        for frame in self.frames.iter_mut().rev() {
            frame.escaped = true;
            match &mut frame.place {
                Some(known) => known.join(place),
                None => frame.place = Some(place.clone()),
            }
            if frame.call.is_some() && from_call {
                break;
            }
        }
    }

    /// The variables of which it is not known what they had when the frame was left.
    pub(super) fn escaped(&self, frame: &Frame) -> Vec<BString> {
        if !frame.escaped {
            return Vec::new();
        }
        let mut names = self.state.changed_since(frame.variables);
        names.extend(frame.lost.iter().cloned());
        names
    }

    /// A way ended and is not followed, but a `return` on it comes out at the end of the frame.
    pub(super) fn lose<'way>(&mut self, ways: impl Iterator<Item = &'way Way>) {
        let Some(frame) = self.frames.last_mut().filter(|frame| frame.escaped) else { return };
        for way in ways.filter(|way| way.has_ended()) {
            for name in way.names() {
                frame.lost.push(name.clone());
                // Not the call's own on that way: everybody sees it.
                if let Some(call) = frame.call
                    && !self.state.is_surely_local(call, name.as_bstr())
                    && !way.made_local(call, name.as_bstr())
                {
                    frame.spilled.push(name.clone());
                }
            }
        }
    }

    pub(super) fn is_in_call(&self) -> bool {
        self.frames.iter().any(|frame| frame.call.is_some())
    }

    /// Does this very call have a variable of that name, whatever way it took?
    pub(super) fn is_own_local(&self, name: &BStr) -> bool {
        let call = self.frames.iter().rev().find_map(|frame| frame.call);
        call.is_some_and(|call| self.state.is_surely_local(call, name))
    }

    /// `local`: the variable ends with the call.
    pub(super) fn make_local(&mut self, name: &BStr) {
        let call = self.frames.iter_mut().rev().find_map(|frame| Some((frame.call?, frame)));
        if let Some((call, frame)) = call {
            if !frame.locals.iter().any(|local| local == name)
                && self.state.changed_since(frame.variables).iter().any(|set| set == name)
            {
                frame.spilled.push(name.into());
            }
            frame.locals.push(name.into());
            self.state.make_local(call, name);
        }
    }

    pub(super) fn leave(&mut self, frame: Frame, escaped: &[BString]) {
        let surroundings = self.surroundings;
        for name in escaped {
            self.set(name.as_bstr(), Value::unknown(), false);
        }
        if let Some(place) = &frame.place {
            self.state.place.join(place);
        }
        let call = frame.call.unwrap_or_default();
        let (locals, doubtful): (Vec<BString>, Vec<BString>) = frame
            .locals
            .into_iter()
            .partition(|name| self.state.is_surely_local(call, name.as_bstr()));
        self.state.restore(&locals, frame.variables, &|name| {
            super::environment::initial(surroundings, name)
        });
        for name in frame.spilled.iter().chain(&doubtful) {
            self.set(name.as_bstr(), Value::unknown(), false);
        }
    }

    /// Whatever these changes set is not known from here on.
    pub(super) fn forget(&mut self, changes: &Changes) {
        if changes.everything {
            self.state.forget_everything();
        }
        self.state.adrift |= changes.adrift;
        self.state.strange |= changes.strange;
        self.state.unsettle(changes.unsettled.iter().cloned());
        if changes.undefines {
            self.state.doubt_functions();
        }
        for name in &changes.names {
            self.set(name.as_bstr(), Value::unknown(), false);
        }
        if changes.moves {
            self.state.lose_place();
        }
        if changes.positional {
            self.state.positional = Positional::Unknown;
        }
    }

    /// Traps that run when the shell ends, with what is known then; later once more, with nothing known.
    pub(super) fn walk_exits(&mut self) {
        if self.state.ever.is_empty() {
            return;
        }
        let texts: Vec<(BString, Via)> = self
            .deferred
            .iter()
            .filter_map(|deferred| match deferred {
                Deferred::Text { text, via, at_end: true } => Some((text.clone(), via.clone())),
                _ => None,
            })
            .collect();
        for (text, via) in texts {
            self.walk_text_alone(text.as_bstr(), via);
        }
    }

    /// Functions that nobody called, and traps: they may run at any time, so nothing that the text sets is known.
    pub(super) fn walk_deferred(&mut self) {
        if self.deferred.is_empty() {
            return;
        }
        self.forget_all_set();
        let mut done = 0;
        while done < self.deferred.len() {
            let pending: Vec<Deferred> = self.deferred.drain(done..).collect();
            done = 0;
            for deferred in pending {
                match deferred {
                    Deferred::Body { name, body, via } => {
                        self.walk_alone(name.as_bstr(), &body, via);
                    }
                    Deferred::Text { text, via, .. } => self.walk_text_alone(text.as_bstr(), via),
                }
            }
        }
    }

    fn forget_all_set(&mut self) {
        let mut changes = Changes::default();
        let bodies: Vec<Arc<CompoundCommand>> = self
            .deferred
            .iter()
            .filter_map(|deferred| match deferred {
                Deferred::Body { body, .. } => Some(Arc::clone(body)),
                Deferred::Text { .. } => None,
            })
            .collect();
        changes.absorb(self.changes_of_bodies(&bodies));
        let traps = self.deferred.iter().any(|deferred| matches!(deferred, Deferred::Text { .. }));
        changes.everything |= self.state.has_forgotten();
        changes.names.extend(self.state.ever.iter().cloned());
        changes.positional = true;
        changes.moves |= self.state.moves > 0 || (traps && changes.everything);
        self.forget(&changes);
    }

    fn walk_alone(&mut self, name: &BStr, body: &Arc<CompoundCommand>, via: Via) {
        let key = Arc::as_ptr(body);
        if self.covered.contains(&key) && !self.uncovered.contains(&key) {
            return;
        }
        self.covered.insert(key);
        self.uncovered.remove(&key);
        let mark = self.state.mark();
        self.via = via;
        self.via.push(BString::from([b"function ", name.as_bytes()].concat()));
        self.state.positional = Positional::Unknown;
        self.state.ended = false;
        self.push_call();
        self.active.push(key);
        // The level of a call: what is walked here may be walked again, so it must count.
        self.level = 1;
        self.compound(body);
        self.level = 0;
        self.active.clear();
        self.frames.clear();
        self.state.rollback(mark);
    }

    fn walk_text_alone(&mut self, text: &BStr, via: Via) {
        let mark = self.state.mark();
        let label = via.last().cloned().unwrap_or_default();
        self.via = via;
        self.via.pop();
        self.state.positional = Positional::Unknown;
        self.state.ended = false;
        self.walk_text(text, label);
        self.frames.clear();
        self.state.rollback(mark);
    }

    pub(super) fn report_bombs(&mut self) {
        if self.definitions.is_empty() {
            return;
        }
        let definitions = std::mem::take(&mut self.definitions);
        for function in super::bombs::find(&definitions) {
            (self.emit)(crate::event::Event::Shape(crate::event::Shape::ForkBomb { function }));
        }
    }
}
