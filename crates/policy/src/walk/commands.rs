//! Lists, chains and simple commands.

use bstr::{BStr, BString, ByteSlice};
use exacta_syntax::ast::{AndOr, Argument, Command, List, RedirectKind, SimpleCommand, WordPart};

use crate::effect::Effect;
use crate::event::{Event, Input, Invocation};
use crate::programs;
use crate::word::{Dynamic, Word};

use super::Walker;
use super::draft::{Splitting, first_active};
use super::output::Output;
use super::redirects::Redirected;
use super::state::Function;
use super::values::Value;
use super::variables::{Folded, plain};

/// Commands that can make the assignments before them last.
const KEEPING: &[&str] = &[
    ".", "builtin", "command", "declare", "eval", "export", "local", "readonly", "source",
    "typeset",
];

impl Walker<'_> {
    /// Walks the commands of a list; what they print together.
    pub(super) fn list(&mut self, list: &List) -> Output {
        stacker::maybe_grow(128 << 10, 2 << 20, || {
            let mut output = Output::nothing();
            for item in &list.items {
                let reachable = !self.state.ended;
                let certain = !self.state.leaked;
                let printed = if item.background {
                    // Whoever does not wait for it does not pause.
                    let pauses = self.pauses;
                    self.background(&item.chain);
                    self.pauses = pauses;
                    Output::unknown()
                } else {
                    let doubtful = self.state.dropped;
                    self.perhaps(doubtful, |walker| walker.chain(&item.chain))
                };
                if reachable {
                    output =
                        if certain { output.then(printed) } else { output.then_maybe(&printed) };
                }
            }
            output
        })
    }

    fn background(&mut self, chain: &AndOr) {
        let mark = self.state.mark();
        let input = self.input.clone();
        let frames = std::mem::take(&mut self.frames);
        self.chain(chain);
        self.frames = frames;
        self.input = input;
        self.state.rollback(mark);
    }

    pub(super) fn command(&mut self, command: &Command) -> Output {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound(compound) => self.compound(compound),
            Command::Function(definition) => {
                self.define(definition);
                Output::nothing()
            }
        }
    }

    fn simple(&mut self, command: &SimpleCommand) -> Output {
        self.spent += usize::from(self.level > 0);
        let first_reader = std::mem::take(&mut self.reads_alone);
        let mut words = Vec::with_capacity(command.words.len());
        let mut declared = Vec::new();
        let outer = self.writer.take();
        let notes_writer = mentions_process(command);
        for argument in &command.words {
            match argument {
                Argument::Word(word) => {
                    let before = words.len();
                    self.fields(word, &mut words);
                    if words.len() == before && names_the_next(&words) {
                        self.vanished(word);
                    }
                }
                Argument::Assignment(assignment) => {
                    let folded = self.fold_assignment(assignment);
                    words.push(shown_assignment(assignment, &folded));
                    declared.push((assignment, folded));
                }
            }
            if notes_writer && self.writer.is_none() {
                self.writer = words.first().cloned();
            }
        }
        // A program's redirects are expanded where it runs: what they set is lost.
        let redirected = self
            .perhaps(!command.redirects.is_empty(), |walker| walker.redirects(&command.redirects));
        self.writer = outer;
        self.reads_alone =
            redirected.input.is_some() || (first_reader && command.assignments.is_empty());
        if self.splitting() == Splitting::Blanks
            && let Some(alternatives) = alternatives(&words)
        {
            return self.run_any(command, alternatives, redirected);
        }
        if words.is_empty() {
            self.reads_alone = false;
            for assignment in &command.assignments {
                self.perform_assignment(assignment, false);
            }
            self.open(redirected, Some(BString::default()));
            return Output::nothing();
        }
        self.run(command, words, declared, redirected)
    }

    /// `$TOOL build`, `nohup $TOOL` where nobody has set `TOOL`: strictly it runs `build` or nothing, but it is written
    /// to run something else.
    fn vanished(&mut self, word: &exacta_syntax::ast::Word) {
        let written = exacta_syntax::print_word(word);
        let word = Dynamic { written, splits: true, ..Dynamic::default() };
        (self.emit)(Event::Command(Invocation {
            words: vec![Word::Dynamic(Box::new(word))],
            directory: self.state.place.directory(),
            via: self.via.clone(),
            ..Invocation::default()
        }));
    }

    fn run(
        &mut self,
        command: &SimpleCommand,
        words: Vec<Word>,
        declared: Vec<(&exacta_syntax::ast::Assignment, Folded)>,
        redirected: Redirected,
    ) -> Output {
        let reads_alone = std::mem::take(&mut self.reads_alone);
        let before = (!command.assignments.is_empty()).then(|| self.state.variables_mark());
        let assignments = self.prefix_assignments(command);
        self.reads_alone = reads_alone;
        let input = match &redirected.input {
            Some(input) => input.clone(),
            None => self.inherited(),
        };
        let function = self.function_of(&words);
        let mut output = if function.is_some() || self.is_alias(command) {
            Output::unknown()
        } else {
            self.printed(&words, &input)
        };
        let defined = self.is_defined(&words, function.as_ref());
        if self.collecting > 0
            && let Some(name) = words.first()
        {
            self.names.push(name.clone());
        }
        self.notes_pause(&words);
        if redirected.goes_to_file() {
            self.printed_into_file(&words, &input);
        }
        let changes = function.is_some() || self.changes_shell(&words) || self.state.has_aliases();
        let kept = if changes { words.clone() } else { Vec::new() };
        let followed = function.is_none() && super::texts::is_followed(&words);
        (self.emit)(Event::Command(Invocation {
            words,
            assignments,
            input: input.clone(),
            directory: self.state.place.directory(),
            via: self.via.clone(),
            defined,
            followed,
        }));
        if changes {
            self.in_force(before, command, |walker| {
                let printed = walker.perhaps(redirected.may_fail(), |walker| {
                    walker.effects(command, &kept, declared, function, input)
                });
                if let Some(printed) = printed {
                    output = printed;
                }
            });
        } else if let Some(before) = before {
            self.restore(before, command);
        }
        self.keep_assignments(command, &kept);
        self.reads_alone = false;
        let content = match &output {
            Output::Text(text) if !is_exec(&kept) => Some(text.clone()),
            _ => None,
        };
        match self.open(redirected, content) {
            super::redirects::Goes::On => output,
            super::redirects::Goes::Away => Output::nothing(),
            super::redirects::Goes::Somewhere => Output::unknown(),
        }
    }

    /// A name that is one of several texts which bash would split: each is a command of its own.
    fn run_any(
        &mut self,
        command: &SimpleCommand,
        alternatives: Vec<Vec<Word>>,
        redirected: Redirected,
    ) -> Output {
        let mut ways = Vec::with_capacity(alternatives.len());
        self.reads_alone = false;
        for words in alternatives {
            let mark = self.state.mark();
            if words.is_empty() {
                for assignment in &command.assignments {
                    self.perform_assignment(assignment, false);
                }
            } else {
                self.run(command, words, Vec::new(), redirected.of_input());
            }
            ways.push(self.state.rollback(mark));
        }
        self.merge(ways, false);
        self.open(redirected, None);
        Output::unknown()
    }

    /// `x=1 command`: folds them, and lets those that follow see them.
    fn prefix_assignments(&mut self, command: &SimpleCommand) -> Vec<(BString, Word)> {
        let mut assignments = Vec::with_capacity(command.assignments.len());
        for assignment in &command.assignments {
            let folded = self.fold_assignment(assignment);
            let (value, shown) = self.assigned(assignment, folded);
            self.set(assignment.name.as_bstr(), value, true);
            assignments.push((assignment.name.clone(), shown));
        }
        assignments
    }

    /// May the name stand for something else?
    fn is_alias(&self, command: &SimpleCommand) -> bool {
        alias_candidate(command).is_some_and(|name| self.state.aliases(name).is_some())
    }

    /// Does something while the assignments before a command hold.
    fn in_force(
        &mut self,
        before: Option<usize>,
        command: &SimpleCommand,
        act: impl FnOnce(&mut Self),
    ) {
        act(self);
        if let Some(before) = before {
            self.restore(before, command);
        }
    }

    /// `x=1 export x`: what was only in force for a command stays.
    fn keep_assignments(&mut self, command: &SimpleCommand, words: &[Word]) {
        let name = words.first().and_then(Word::as_literal);
        if name.is_some_and(|name| KEEPING.iter().any(|keeping| *name == *keeping)) {
            for assignment in &command.assignments {
                self.set(assignment.name.as_bstr(), Value::unknown(), false);
            }
        }
    }

    /// Takes the assignments before a command back.
    fn restore(&mut self, before: usize, command: &SimpleCommand) {
        let names: Vec<BString> =
            command.assignments.iter().map(|assignment| assignment.name.clone()).collect();
        let surroundings = self.surroundings;
        self.state.restore(&names, before, &|name| super::environment::initial(surroundings, name));
    }

    fn is_defined(&self, words: &[Word], function: Option<&Function>) -> bool {
        let name = || words.first().and_then(Word::as_literal);
        match function {
            Some(function) => function.sure,
            None => name().is_some_and(|name| self.surroundings.is_defined(name)),
        }
    }

    fn function_of(&self, words: &[Word]) -> Option<Function> {
        let name = words.first()?.as_literal()?;
        self.state.function(name).cloned()
    }

    /// What a command does to the shell itself; what it prints if that is found out here.
    fn effects(
        &mut self,
        command: &SimpleCommand,
        words: &[Word],
        declared: Vec<(&exacta_syntax::ast::Assignment, Folded)>,
        function: Option<Function>,
        input: Input,
    ) -> Option<Output> {
        let reads_alone = std::mem::take(&mut self.reads_alone);
        self.expand_alias(command, &input);
        let Some(function) = function else {
            self.reads_alone = reads_alone;
            return self.builtin(words, declared, &input);
        };
        let arguments = words.get(1..).unwrap_or_default().to_vec();
        let name = words.first().map(|word| BString::from(word.shown())).unwrap_or_default();
        let outer = std::mem::replace(&mut self.input, input.clone());
        let output = if function.sure {
            self.call(name.as_bstr(), &function, arguments)
        } else {
            let mark = self.state.mark();
            self.call(name.as_bstr(), &function, arguments);
            let way = self.state.rollback(mark);
            self.merge(vec![way], true);
            self.builtin(words, declared, &input);
            Output::unknown()
        };
        self.input = outer;
        Some(output)
    }

    /// Does something that, if `doubtful`, may not happen at all.
    pub(super) fn perhaps<T>(&mut self, doubtful: bool, act: impl FnOnce(&mut Self) -> T) -> T {
        if !doubtful {
            return act(self);
        }
        let mark = self.state.mark();
        let result = act(self);
        let way = self.state.rollback(mark);
        self.state.leaked |= way.has_ended();
        self.merge(vec![way], true);
        result
    }

    /// One of these ways was taken, or none if `stayed`.
    pub(super) fn merge(&mut self, ways: Vec<super::state::Way>, stayed: bool) {
        let surroundings = self.surroundings;
        self.lose(ways.iter());
        self.state.merge(ways, stayed, &|name| super::environment::initial(surroundings, name));
    }
}

/// The word under which an alias would be found, if it is one.
pub(super) fn alias_candidate(command: &SimpleCommand) -> Option<&BStr> {
    match command.words.first()? {
        Argument::Word(word) => plain(word),
        Argument::Assignment(_) => None,
    }
}

/// Every command that words with such a name can be.
/// Is the word that follows these the name of a command? The first one, or that which a wrapper runs.
fn names_the_next(words: &[Word]) -> bool {
    if words.is_empty() {
        return true;
    }
    let next = Word::literal("\u{1}");
    let longer: Vec<Word> = words.iter().cloned().chain([next.clone()]).collect();
    programs::read(&longer)
        .effects
        .iter()
        .any(|effect| matches!(effect, Effect::Run { words, .. } if words.first() == Some(&next)))
}

fn alternatives(words: &[Word]) -> Option<Vec<Vec<Word>>> {
    let (Word::Dynamic(name), rest) = words.split_first()? else { return None };
    if !name.splits || name.values.is_empty() || name.glob.is_some() {
        return None;
    }
    let mut all = Vec::with_capacity(name.values.len());
    for value in &name.values {
        let fields = value.split(|byte| b" \t\n".contains(byte)).filter(|field| !field.is_empty());
        let mut words: Vec<Word> = fields.map(|field| name_field(field, name)).collect();
        if words.is_empty() {
            // With quotes around nothing somewhere in it, it is a word all the same.
            all.push(std::iter::once(Word::literal("")).chain(rest.iter().cloned()).collect());
        }
        words.extend(rest.iter().cloned());
        all.push(words);
    }
    Some(all)
}

/// A field of such a name, which may be a pattern.
fn name_field(field: &[u8], name: &Dynamic) -> Word {
    match first_active(field) {
        None => Word::Literal(BString::from(field)),
        Some(first) => Word::Dynamic(Box::new(Dynamic {
            written: name.written.clone(),
            prefix: BString::from(field.get(..first).unwrap_or_default()),
            glob: Some(BString::from(field)),
            splits: true,
            values: Vec::new(),
        })),
    }
}

fn is_exec(words: &[Word]) -> bool {
    words.first().and_then(Word::as_literal).is_some_and(|name| *name == "exec")
}

fn mentions_process(command: &SimpleCommand) -> bool {
    let mentions = |word: &exacta_syntax::ast::Word| {
        word.parts.iter().any(|part| matches!(part, WordPart::Process(_)))
    };
    let in_redirects = command.redirects.iter().any(|redirect| match &redirect.kind {
        RedirectKind::File { target, .. } => mentions(target),
        _ => false,
    });
    in_redirects
        || command.words.iter().any(|argument| match argument {
            Argument::Word(word) => mentions(word),
            Argument::Assignment(_) => false,
        })
}

/// `name=value` as the declaring command gets it.
fn shown_assignment(assignment: &exacta_syntax::ast::Assignment, folded: &Folded) -> Word {
    let mut text = assignment.name.clone();
    if let Some(subscript) = &assignment.subscript {
        text.push(b'[');
        text.extend_from_slice(&exacta_syntax::print_word(&subscript.text));
        text.push(b']');
    }
    text.extend_from_slice(if assignment.append { b"+=" } else { b"=" });
    match folded {
        Folded::Scalar(Word::Literal(value)) => {
            text.extend_from_slice(value);
            Word::Literal(text)
        }
        Folded::Scalar(Word::Dynamic(value)) => {
            let attach = |end: &BString| BString::from([text.as_slice(), end.as_slice()].concat());
            Word::Dynamic(Box::new(Dynamic {
                written: attach(&value.written),
                prefix: attach(&value.prefix),
                values: value.values.iter().map(attach).collect(),
                splits: false,
                glob: None,
            }))
        }
        Folded::Array(_) => {
            text.push(b'(');
            let mut written = text.clone();
            written.extend_from_slice("…)".as_bytes());
            Word::Dynamic(Box::new(Dynamic { written, prefix: text, ..Dynamic::default() }))
        }
    }
}
