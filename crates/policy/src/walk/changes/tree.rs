//! Commands: what runs in this shell may set something, what runs in one of its own does not.

use std::sync::Arc;

use bstr::{BStr, BString};
use exacta_syntax::ast::{
    AndOr, Argument, AssignedValue, Assignment, Command, CompoundCommand, CompoundKind,
    Conditional, List, Pipeline, Redirect, RedirectDescriptor, RedirectKind, SimpleCommand,
};

use super::{MOST_SEARCHED, Search};
use crate::walk::variables::plain;

impl Search<'_> {
    pub(super) fn list(&mut self, list: &List) {
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
            && plain(word).is_some_and(is_prefix)
        {
            name = words.next();
        }
        if let Some(Argument::Word(word)) = name {
            self.named(word, words.as_slice());
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
                let variable = name.split(|byte| *byte == b'[').next().unwrap_or_default();
                self.found.names.insert(variable.into());
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

    pub(super) fn compound(&mut self, compound: &CompoundCommand) {
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
}

/// What may stand before the name of a builtin.
fn is_prefix(word: &BStr) -> bool {
    ["command", "builtin", "-p", "--"].iter().any(|prefix| *word == *prefix)
}
