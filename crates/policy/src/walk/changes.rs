//! What a piece of the tree may set, found without walking it: for loops, whose later commands reach earlier ones,
//! and for calls that are not followed.

use std::collections::HashSet;
use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};
use exacta_syntax::ast::{
    AndOr, Argument, Arithmetic, AssignedValue, Assignment, Command, CompoundCommand, CompoundKind,
    Conditional, DefaultKind, Expression, List, Operation, Parameter, ParameterExpansion, Pipeline,
    Redirect, RedirectDescriptor, RedirectKind, Selector, SimpleCommand, Word, WordPart,
};

use crate::Surroundings;

use super::Walker;
use super::builtins::is_changing;
use super::state::State;
use super::variables::{self, plain};

/// Loops in loops that call functions can be searched for ever; after so many commands anything may be set.
const MOST_SEARCHED: usize = 1 << 20;

#[derive(Debug, Default)]
pub(super) struct Changes {
    pub names: HashSet<BString>,
    /// Any variable at all.
    pub everything: bool,
    pub moves: bool,
    pub positional: bool,
    /// Functions that it defines.
    pub bodies: Vec<Arc<CompoundCommand>>,
}

impl Changes {
    pub fn absorb(&mut self, other: Changes) {
        self.names.extend(other.names);
        self.everything |= other.everything;
        self.moves |= other.moves;
        self.positional |= other.positional;
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

/// What such a name is made of.
enum Piece {
    Text(BString),
    Variable(BString),
    Positional(usize),
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

    fn is_harmless(&self, pieces: &[Piece]) -> bool {
        let mut names = vec![BString::default()];
        for piece in pieces {
            let values = match piece {
                Piece::Text(text) => Some(vec![Some(text.clone())]),
                Piece::Variable(name) if self.found.names.contains(name) => None,
                Piece::Variable(name) => {
                    let value = self.state.value(name.as_bstr());
                    let initial = || variables::initial(self.surroundings, name.as_bstr());
                    value.unwrap_or_else(initial).possibilities()
                }
                Piece::Positional(_) if self.found.positional => None,
                Piece::Positional(number) => {
                    variables::positional(&self.state.positional, *number).possibilities()
                }
            };
            let Some(values) = values.filter(|values| values.len() * names.len() <= 64) else {
                return false;
            };
            let longer = |name: &BString| {
                let name = name.clone();
                values.clone().into_iter().map(move |value| {
                    BString::from([name.as_slice(), &value.unwrap_or_default()].concat())
                })
            };
            names = names.iter().flat_map(longer).collect();
        }
        names.iter().all(|name| {
            let first = name
                .split(|byte| b" \t\n".contains(byte))
                .find(|word| !word.is_empty())
                .unwrap_or_default();
            !is_changing(first.as_bstr()) && self.state.function(first.as_bstr()).is_none()
        })
    }

    fn list(&mut self, list: &List) {
        self.searched += list.items.len();
        if self.searched > MOST_SEARCHED {
            return self.anything();
        }
        for item in &list.items {
            if !item.background {
                self.chain(&item.chain);
            }
        }
    }

    fn chain(&mut self, chain: &AndOr) {
        self.pipeline(&chain.first);
        for (_, pipeline) in &chain.rest {
            self.pipeline(pipeline);
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        let alone = pipeline.stages.len() == 1 || self.state.last_in_shell;
        if let Some(stage) = pipeline.stages.last().filter(|_| alone) {
            match &stage.command {
                Command::Simple(simple) => self.simple(simple),
                Command::Compound(compound) => self.compound(compound),
                Command::Function(definition) => {
                    self.found.bodies.push(Arc::clone(&definition.body));
                    // Redefined, it may set what the one known now does not.
                    if self.bodies.insert(Arc::as_ptr(&definition.body)) {
                        self.compound(&definition.body);
                    }
                }
            }
        }
    }

    fn simple(&mut self, command: &SimpleCommand) {
        for assignment in &command.assignments {
            self.assignment(assignment);
        }
        self.redirects(&command.redirects);
        for argument in &command.words {
            match argument {
                Argument::Word(word) => self.word(word),
                Argument::Assignment(assignment) => self.assignment(assignment),
            }
        }
        let mut words = command.words.iter();
        let mut name = words.next();
        while let Some(Argument::Word(word)) = name
            && plain(word).is_some_and(|name| *name == "command" || *name == "builtin")
        {
            name = words.next();
        }
        if let Some(Argument::Word(word)) = name {
            self.named(word, words.as_slice());
        }
    }

    fn named(&mut self, word: &Word, operands: &[Argument]) {
        let mut text = BString::default();
        for part in &word.parts {
            match part {
                WordPart::Literal(piece)
                | WordPart::Escaped(piece)
                | WordPart::SingleQuoted(piece)
                | WordPart::AnsiQuoted(piece) => text.extend_from_slice(piece),
                _ => return self.computed(word),
            }
        }
        if let Some(function) = self.state.function(text.as_bstr()) {
            for body in &function.bodies {
                if self.bodies.insert(Arc::as_ptr(body)) {
                    self.compound(body);
                }
            }
        }
        let operands: Vec<Option<&BStr>> = operands
            .iter()
            .map(|argument| match argument {
                Argument::Word(word) => literal(word),
                Argument::Assignment(assignment) => Some(assignment.name.as_bstr()),
            })
            .collect();
        self.builtin(text.as_bstr(), &operands);
    }

    /// A name that is only known when it runs.
    fn computed(&mut self, word: &Word) {
        let mut pieces = Vec::new();
        let known = word.parts.iter().all(|part| match part {
            WordPart::DoubleQuoted(parts) => parts.iter().all(|part| add_piece(part, &mut pieces)),
            part => add_piece(part, &mut pieces),
        });
        if known {
            self.names_of_commands.push(pieces);
        } else if !matches!(word.parts.last(), Some(WordPart::Literal(end)) if end.contains(&b'/'))
        {
            // Inside a path there is no builtin; everything else it may be.
            self.anything();
        }
    }

    fn anything(&mut self) {
        self.found.everything = true;
        self.found.moves = true;
    }

    fn builtin(&mut self, name: &BStr, operands: &[Option<&BStr>]) {
        match name.as_bytes() {
            b"eval" | b"." | b"source" => self.anything(),
            b"cd" | b"pushd" | b"popd" => self.found.moves = true,
            b"set" | b"shift" => self.found.positional = true,
            b"declare" | b"typeset" | b"local" | b"export" | b"readonly" | b"read" | b"mapfile"
            | b"readarray" | b"getopts" | b"unset" | b"printf" | b"wait" | b"let" => {
                for own in [&b"REPLY"[..], b"MAPFILE", b"OPTARG", b"OPTIND"] {
                    self.found.names.insert(BString::from(own));
                }
                self.operands(name, operands);
            }
            _ => {}
        }
    }

    fn operands(&mut self, name: &BStr, operands: &[Option<&BStr>]) {
        let declares = matches!(name.as_bytes(), b"declare" | b"typeset" | b"local");
        for operand in operands {
            let Some(operand) = operand else {
                // `printf` only sets with `-v`, which has to be the first.
                let harmless = *name == "printf"
                    && operands
                        .first()
                        .is_some_and(|first| first.is_some_and(|word| *word != "-v"));
                if !harmless && *name != "wait" {
                    self.found.everything = true;
                }
                continue;
            };
            if declares && operand.starts_with(b"-") && operand.contains(&b'n') {
                self.found.everything = true;
            }
            let name: &[u8] = operand;
            for piece in name.split(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_')) {
                if variables::is_name(piece) {
                    self.found.names.insert(BString::from(piece));
                }
            }
        }
    }

    fn assignment(&mut self, assignment: &Assignment) {
        self.found.names.insert(assignment.name.clone());
        if let Some(subscript) = &assignment.subscript {
            self.arithmetic(subscript);
        }
        match &assignment.value {
            AssignedValue::Scalar(word) => self.word(word),
            AssignedValue::Array(elements) => {
                for element in elements {
                    self.word(&element.value);
                }
            }
        }
    }

    fn redirects(&mut self, redirects: &[Redirect]) {
        for redirect in redirects {
            if let Some(RedirectDescriptor::Variable(name)) = &redirect.descriptor {
                self.found.names.insert(name.clone());
            }
            match &redirect.kind {
                RedirectKind::File { target, .. } | RedirectKind::Duplicate { target, .. } => {
                    self.word(target);
                }
                RedirectKind::HereDocument(document) => self.word(&document.body),
                RedirectKind::HereString(word) => self.word(word),
            }
        }
    }

    fn compound(&mut self, compound: &CompoundCommand) {
        stacker::maybe_grow(64 << 10, 1 << 20, || {
            self.redirects(&compound.redirects);
            self.kind(&compound.kind);
        });
    }

    fn kind(&mut self, kind: &CompoundKind) {
        match kind {
            CompoundKind::Group(list) => self.list(list),
            CompoundKind::Subshell(_) => {}
            CompoundKind::For(command) | CompoundKind::Select(command) => {
                self.found.names.insert(command.variable.clone());
                self.found.names.insert(BString::from("REPLY"));
                for word in command.words.iter().flatten() {
                    self.word(word);
                }
                self.list(&command.body);
            }
            CompoundKind::ArithmeticFor(command) => {
                let steps = [&command.initial, &command.condition, &command.update];
                for step in steps.into_iter().flatten() {
                    self.arithmetic(step);
                }
                self.list(&command.body);
            }
            CompoundKind::While(command) => {
                self.list(&command.condition);
                self.list(&command.body);
            }
            CompoundKind::If(command) => {
                for branch in &command.branches {
                    self.list(&branch.condition);
                    self.list(&branch.body);
                }
                if let Some(otherwise) = &command.otherwise {
                    self.list(otherwise);
                }
            }
            CompoundKind::Case(command) => {
                self.word(&command.subject);
                for clause in &command.clauses {
                    self.list(&clause.body);
                }
            }
            CompoundKind::Arithmetic(arithmetic) => self.arithmetic(arithmetic),
            CompoundKind::Conditional(conditional) => self.conditional(conditional),
            CompoundKind::Coprocess(coprocess) => {
                self.found.names.insert(coprocess.name.clone());
            }
        }
    }

    fn conditional(&mut self, conditional: &Conditional) {
        match conditional {
            Conditional::Not(inner) => self.conditional(inner),
            Conditional::And(all) | Conditional::Or(all) => {
                for inner in all {
                    self.conditional(inner);
                }
            }
            Conditional::Unary { operand, .. } => self.word(operand),
            Conditional::Binary { left, right, .. } => {
                self.found.names.insert(BString::from("BASH_REMATCH"));
                self.word(left);
                self.word(right);
            }
            Conditional::Word(word) => self.word(word),
        }
    }

    fn word(&mut self, word: &Word) {
        self.parts(&word.parts);
    }

    fn parts(&mut self, parts: &[WordPart]) {
        for part in parts {
            match part {
                WordPart::DoubleQuoted(parts) | WordPart::LocaleQuoted(parts) => self.parts(parts),
                WordPart::Parameter(expansion) => self.parameter(expansion),
                WordPart::Arithmetic(arithmetic) => self.arithmetic(arithmetic),
                _ => {}
            }
        }
    }

    fn parameter(&mut self, expansion: &ParameterExpansion) {
        if let Some(Selector::Index(subscript)) = &expansion.selector {
            self.arithmetic(subscript);
        }
        stacker::maybe_grow(64 << 10, 1 << 20, || match &expansion.operation {
            Operation::Default { kind, word, .. } => {
                if let (DefaultKind::Assign, Parameter::Variable(name)) =
                    (kind, &expansion.parameter)
                {
                    self.found.names.insert(name.clone());
                    self.found.everything |= expansion.indirect;
                }
                self.word(word);
            }
            Operation::RemovePrefix { pattern, .. } | Operation::RemoveSuffix { pattern, .. } => {
                self.word(pattern);
            }
            Operation::Replace { pattern, replacement, .. } => {
                self.word(pattern);
                if let Some(replacement) = replacement {
                    self.word(replacement);
                }
            }
            Operation::Slice { offset, length } => {
                self.arithmetic(offset);
                if let Some(length) = length {
                    self.arithmetic(length);
                }
            }
            _ => {}
        });
    }

    fn arithmetic(&mut self, arithmetic: &Arithmetic) {
        match &arithmetic.expression {
            Some(expression) => self.expression(expression),
            None => {
                self.word(&arithmetic.text);
                // What it sets is known only after expansion; every name in it may be.
                let text = exacta_syntax::print_word(&arithmetic.text);
                self.found.everything |= text.contains(&b'$') && text.contains(&b'=');
                let pieces = text.split(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_'));
                for piece in pieces.filter(|piece| variables::is_name(piece)) {
                    self.found.names.insert(BString::from(piece));
                }
            }
        }
    }

    fn expression(&mut self, expression: &Expression) {
        stacker::maybe_grow(64 << 10, 1 << 20, || match expression {
            Expression::Number(_) | Expression::Variable(_) | Expression::Expansion(_) => {}
            Expression::Unary(_, operand) => self.expression(operand),
            Expression::Chain(first, links) => {
                self.expression(first);
                for (_, operand) in links {
                    self.expression(operand);
                }
            }
            Expression::Assign { target, value, .. } => {
                self.found.names.insert(target.name.clone());
                self.expression(value);
            }
            Expression::Step { target, .. } => {
                self.found.names.insert(target.name.clone());
            }
            Expression::Ternary(condition, yes, no) => {
                self.expression(condition);
                self.expression(yes);
                self.expression(no);
            }
            Expression::Comma(all) => {
                for expression in all {
                    self.expression(expression);
                }
            }
        });
    }
}

/// Takes a part of a computed name apart; not if it is none of the simple ones.
fn add_piece(part: &WordPart, pieces: &mut Vec<Piece>) -> bool {
    let piece = match part {
        WordPart::Literal(text)
        | WordPart::Escaped(text)
        | WordPart::SingleQuoted(text)
        | WordPart::AnsiQuoted(text) => Piece::Text(text.clone()),
        WordPart::Parameter(expansion)
            if expansion.operation == Operation::Plain && !expansion.indirect =>
        {
            match &expansion.parameter {
                Parameter::Variable(name) => Piece::Variable(name.clone()),
                Parameter::All | Parameter::Joined => Piece::Positional(1),
                Parameter::Positional(number @ 1..) => Piece::Positional(*number as usize),
                _ => return false,
            }
        }
        _ => return false,
    };
    pieces.push(piece);
    true
}

/// The text of a word if nothing in it is expanded.
fn literal(word: &Word) -> Option<&BStr> {
    match word.parts.as_slice() {
        [WordPart::Literal(text) | WordPart::SingleQuoted(text) | WordPart::AnsiQuoted(text)] => {
            Some(text.as_bstr())
        }
        [WordPart::DoubleQuoted(parts)] => match parts.as_slice() {
            [WordPart::Literal(text)] => Some(text.as_bstr()),
            [] => Some(BStr::new("")),
            _ => None,
        },
        _ => None,
    }
}
