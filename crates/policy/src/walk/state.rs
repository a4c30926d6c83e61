//! What the shell would know at a point of the text: variables, functions, aliases, where it is.

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use bstr::{BStr, BString};
use exacta_syntax::ast::CompoundCommand;

use crate::word::Word;

use super::journal::{Changes, Journal};
use super::paths::Place;
use super::values::Value;

#[derive(Debug, Clone)]
pub(super) struct Variable {
    pub value: Value,
    pub exported: bool,
    /// When it was set; see [`State::forget_everything`].
    epoch: u32,
}

/// A name that is, or may be, a function.
#[derive(Debug, Clone, Default)]
pub(super) struct Function {
    /// Every body it can have.
    pub bodies: Vec<Arc<CompoundCommand>>,
    /// It is one of these for sure.
    pub sure: bool,
}

/// `$1`, `$2`, …
#[derive(Debug, Clone)]
pub(super) enum Positional {
    Known(Rc<Vec<Word>>),
    Unknown,
}

#[derive(Debug)]
pub(super) struct State {
    variables: Journal<Variable>,
    functions: Journal<Function>,
    /// What a name may stand for.
    aliases: Journal<Vec<BString>>,
    /// Variables of calls, by the number of the call and their names: are they surely of that call alone?
    locals: Journal<bool>,
    pub place: Place,
    pub positional: Positional,
    pub zero: Option<Word>,
    /// Variables set before this are not known any more.
    epoch: u32,
    last_epoch: u32,
    /// `exit`, `return` or `exec` was reached: what follows does not come from here.
    pub ended: bool,
    /// One of several ways ended before: what follows may not run.
    pub leaked: bool,
    /// `set -a`
    pub exports_all: bool,
    /// A mode that hardly anybody uses and that changes what words mean: only plain text is known from there on.
    pub strange: bool,
    /// There was an error after which bash does not run the rest of the line: what follows may not happen.
    pub dropped: bool,
    /// `shopt -s nocasematch`
    pub any_case: bool,
    /// `shopt -s lastpipe`
    pub last_in_shell: bool,
    /// Every name that was ever set, on any way.
    pub ever: HashSet<BString>,
    /// Every name that was ever made local, by any call.
    ever_local: HashSet<BString>,
    /// Names that were made read-only on some way: assigning to them may fail.
    pub read_only: HashSet<BString>,
    /// How often the directory was changed, on any way.
    pub moves: usize,
    /// What a trap may set at any time: from then on never known.
    unsettled: HashSet<BString>,
    /// A trap may set anything, and go anywhere.
    pub adrift: bool,
}

/// A point to come back to.
#[derive(Debug)]
pub(super) struct Mark {
    variables: usize,
    functions: usize,
    aliases: usize,
    locals: usize,
    place: Place,
    positional: Positional,
    epoch: u32,
    ended: bool,
    leaked: bool,
    exports_all: bool,
}

/// One way through the text, relative to where it began.
#[derive(Debug)]
pub(super) struct Way {
    variables: Changes<Variable>,
    functions: Changes<Function>,
    aliases: Changes<Vec<BString>>,
    locals: Changes<bool>,
    place: Place,
    positional: Positional,
    forgot: bool,
    ended: bool,
    exports_all: bool,
}

impl Way {
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    pub fn names(&self) -> impl Iterator<Item = &BString> {
        self.variables.keys()
    }

    /// Did this way make it a variable of the call?
    pub fn made_local(&self, call: usize, name: &BStr) -> bool {
        self.locals.get(&local_key(call, name)).copied().unwrap_or(false)
    }

    /// Is it where the state is?
    pub fn is_at(&self, state: &State) -> bool {
        self.place == state.place
    }
}

impl State {
    pub fn new(place: Place, positional: Positional, zero: Option<Word>) -> Self {
        State {
            variables: Journal::default(),
            functions: Journal::default(),
            aliases: Journal::default(),
            locals: Journal::default(),
            place,
            positional,
            zero,
            epoch: 0,
            last_epoch: 0,
            ended: false,
            leaked: false,
            exports_all: false,
            strange: false,
            any_case: false,
            dropped: false,
            last_in_shell: false,
            ever_local: HashSet::new(),
            ever: HashSet::new(),
            read_only: HashSet::new(),
            moves: 0,
            unsettled: HashSet::new(),
            adrift: false,
        }
    }

    /// These may be set at any time from here on.
    pub fn unsettle(&mut self, names: impl Iterator<Item = BString>) {
        self.unsettled.extend(names);
    }

    /// `None`: never set here, ask the surroundings.
    pub fn value(&self, name: &BStr) -> Option<Value> {
        if self.adrift || (!self.unsettled.is_empty() && self.unsettled.contains(name)) {
            return Some(Value::unknown());
        }
        match self.variables.get(name) {
            Some(variable) if variable.epoch >= self.epoch => Some(variable.value.clone()),
            None if self.epoch == 0 => None,
            _ => Some(Value::unknown()),
        }
    }

    pub fn is_exported(&self, name: &BStr) -> Option<bool> {
        self.variables.get(name).map(|variable| variable.exported)
    }

    pub fn set(&mut self, name: &BStr, value: Value, exported: bool) {
        if !self.ever.contains(name) {
            self.ever.insert(name.into());
        }
        self.variables.set(name, Variable { value, exported, epoch: self.epoch });
    }

    /// Something ran that may have set any variable.
    pub fn forget_everything(&mut self) {
        self.last_epoch += 1;
        self.epoch = self.last_epoch;
        self.positional = Positional::Unknown;
    }

    pub fn has_forgotten(&self) -> bool {
        self.epoch > 0
    }

    pub fn function(&self, name: &BStr) -> Option<&Function> {
        self.functions.get(name).filter(|function| !function.bodies.is_empty())
    }

    pub fn define(&mut self, name: &BStr, body: Arc<CompoundCommand>) {
        self.functions.set(name, Function { bodies: vec![body], sure: true });
    }

    pub fn undefine(&mut self, name: &BStr) {
        self.functions.set(name, Function::default());
    }

    pub fn aliases(&self, name: &BStr) -> Option<&[BString]> {
        self.aliases.get(name).map(Vec::as_slice).filter(|texts| !texts.is_empty())
    }

    pub fn has_aliases(&self) -> bool {
        !self.aliases.is_empty()
    }

    pub fn all_aliases(&self) -> impl Iterator<Item = (&BString, &Vec<BString>)> {
        self.aliases.iter()
    }

    pub fn alias(&mut self, name: &BStr, text: BString) {
        self.aliases.set(name, vec![text]);
    }

    pub fn unalias(&mut self, name: &BStr) {
        self.aliases.set(name, Vec::new());
    }

    /// The variable is one of this call's own from here on.
    pub fn make_local(&mut self, call: usize, name: &BStr) {
        self.ever_local.insert(name.into());
        self.locals.set(local_key(call, name).as_ref(), true);
    }

    pub fn was_ever_local(&self, name: &BStr) -> bool {
        self.ever_local.contains(name)
    }

    /// One of them may have been changed behind the back of its call: none of them is known from here on.
    pub fn forget_locals(&mut self) {
        self.unsettled.extend(self.ever_local.iter().cloned());
    }

    /// Any function may be gone.
    pub fn doubt_functions(&mut self) {
        let names: Vec<BString> = self.functions.iter().map(|(name, _)| name.clone()).collect();
        for name in names {
            if let Some(function) = self.functions.get(name.as_ref()).cloned() {
                self.functions.set(name.as_ref(), Function { sure: false, ..function });
            }
        }
    }

    /// … whatever way was taken.
    pub fn is_surely_local(&self, call: usize, name: &BStr) -> bool {
        self.locals.get(local_key(call, name).as_ref()).copied().unwrap_or(false)
    }

    pub fn mark(&self) -> Mark {
        Mark {
            variables: self.variables.mark(),
            functions: self.functions.mark(),
            aliases: self.aliases.mark(),
            locals: self.locals.mark(),
            place: self.place.clone(),
            positional: self.positional.clone(),
            epoch: self.epoch,
            ended: self.ended,
            leaked: self.leaked,
            exports_all: self.exports_all,
        }
    }

    pub fn variables_mark(&self) -> usize {
        self.variables.mark()
    }

    /// The names of variables set since.
    pub fn changed_since(&self, variables_mark: usize) -> Vec<BString> {
        self.variables.changed_since(variables_mark).cloned().collect()
    }

    pub fn changed_since_mark(&self, mark: &Mark) -> Vec<BString> {
        self.changed_since(mark.variables)
    }

    pub fn go(&mut self, place: Place) {
        self.moves += 1;
        self.place = place;
        if self.adrift {
            self.place.lose();
        }
    }

    /// Has the shell gone up since then, nobody knows from where?
    pub fn has_climbed(&self, mark: &Mark) -> bool {
        self.place != mark.place && self.place.is_above_where_it_was()
    }

    pub fn lose_place(&mut self) {
        self.moves += 1;
        self.place.lose();
    }

    /// Gives variables back what they had before they were first set since.
    pub fn restore(&mut self, names: &[BString], mark: usize, initial: &dyn Fn(&BStr) -> Value) {
        if names.is_empty() {
            return;
        }
        for (name, old) in self.variables.before(mark, names) {
            let old = old.unwrap_or_else(|| Variable {
                value: initial(name.as_ref()),
                exported: false,
                epoch: 0,
            });
            self.variables.set(name.as_ref(), old);
        }
    }

    /// Some of what came since the mark may not have happened.
    pub fn blur(&mut self, mark: &Mark, initial: &dyn Fn(&BStr) -> Value) {
        let epoch = self.epoch;
        let before = |name: &BStr| Variable { value: initial(name), exported: false, epoch: 0 };
        self.variables.blur(mark.variables, before, |one, two| join(one, two, epoch));
        self.functions.blur(mark.functions, |_| Function::default(), Function::join);
        self.aliases.blur(mark.aliases, |_| Vec::new(), join_texts);
        self.locals.blur(mark.locals, |_| false, |one, two| one && *two);
        self.positional = join_positional(&self.positional, &mark.positional);
    }

    /// Back to the mark; what came after it comes back as a way.
    pub fn rollback(&mut self, mark: Mark) -> Way {
        self.leaked = mark.leaked;
        Way {
            variables: self.variables.rollback(mark.variables),
            functions: self.functions.rollback(mark.functions),
            aliases: self.aliases.rollback(mark.aliases),
            locals: self.locals.rollback(mark.locals),
            place: std::mem::replace(&mut self.place, mark.place),
            positional: std::mem::replace(&mut self.positional, mark.positional),
            forgot: std::mem::replace(&mut self.epoch, mark.epoch) != self.epoch,
            ended: std::mem::replace(&mut self.ended, mark.ended),
            exports_all: std::mem::replace(&mut self.exports_all, mark.exports_all),
        }
    }

    /// One of these ways was taken, or none if `stayed`. A way that ended does not come out here, unless all do.
    pub fn merge(&mut self, mut ways: Vec<Way>, stayed: bool, initial: &dyn Fn(&BStr) -> Value) {
        let all_end = !stayed && ways.iter().all(|way| way.ended);
        if !all_end {
            ways.retain(|way| !way.ended);
        }
        self.ended |= all_end && !ways.is_empty();
        let forgot = ways.iter().any(|way| way.forgot);
        self.merge_rest(&ways, stayed);
        let mut variables = Vec::with_capacity(ways.len());
        let mut functions = Vec::with_capacity(ways.len());
        let mut aliases = Vec::with_capacity(ways.len());
        let mut locals = Vec::with_capacity(ways.len());
        for way in ways {
            variables.push(way.variables);
            functions.push(way.functions);
            aliases.push(way.aliases);
            locals.push(way.locals);
        }
        let epoch = self.epoch;
        let before = |name: &BStr| {
            let value = if epoch > 0 { Value::unknown() } else { initial(name) };
            Variable { value, exported: false, epoch }
        };
        self.variables.merge(variables, stayed, before, |one, two| join(one, two, epoch));
        self.functions.merge(functions, stayed, |_| Function::default(), Function::join);
        self.aliases.merge(aliases, stayed, |_| Vec::new(), join_texts);
        self.locals.merge(locals, stayed, |_| false, |one, two| one && *two);
        if forgot {
            self.forget_everything();
        }
    }

    fn merge_rest(&mut self, ways: &[Way], stayed: bool) {
        for (index, way) in ways.iter().enumerate() {
            self.exports_all |= way.exports_all;
            if index == 0 && !stayed {
                self.place = way.place.clone();
                self.positional = way.positional.clone();
            } else {
                self.place.join(&way.place);
                self.positional = join_positional(&self.positional, &way.positional);
            }
        }
    }
}

fn local_key(call: usize, name: &BStr) -> BString {
    BString::from([&call.to_ne_bytes()[..], name].concat())
}

fn join(one: Variable, two: &Variable, epoch: u32) -> Variable {
    let known = one.epoch >= epoch && two.epoch >= epoch;
    let value = if known { one.value.join(&two.value) } else { Value::unknown() };
    Variable { value, exported: one.exported || two.exported, epoch: one.epoch.max(epoch) }
}

fn join_texts(mut one: Vec<BString>, two: &Vec<BString>) -> Vec<BString> {
    for text in two {
        if !one.contains(text) {
            one.push(text.clone());
        }
    }
    one
}

fn join_positional(one: &Positional, two: &Positional) -> Positional {
    match (one, two) {
        (Positional::Known(one), Positional::Known(two)) if one == two => {
            Positional::Known(Rc::clone(one))
        }
        _ => Positional::Unknown,
    }
}

impl Function {
    fn join(mut self, other: &Function) -> Self {
        for body in &other.bodies {
            if !self.bodies.iter().any(|mine| Arc::ptr_eq(mine, body)) {
                self.bodies.push(Arc::clone(body));
            }
        }
        self.sure &= other.sure;
        self
    }
}
