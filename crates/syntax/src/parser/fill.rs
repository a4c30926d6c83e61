//! Puts the bodies of here-documents into a finished tree.
//!
//! A body is read after the line that announces it, when the redirect may already be deep inside the tree. So
//! the redirect holds an index, and one walk at the end replaces it.

use std::sync::Arc;

use super::cursor::Reader;
use crate::ast::{
    AndOr, Argument, Arithmetic, AssignedValue, Assignment, BraceExpansion, Command,
    CompoundCommand, CompoundKind, Conditional, List, Operation, ParameterExpansion, Pipeline,
    Redirect, RedirectKind, Selector, SimpleCommand, Word, WordPart,
};

impl Reader<'_, '_> {
    pub fn fill_documents(&mut self, list: &mut List) {
        if !self.bodies.is_empty() {
            let mut bodies = std::mem::take(&mut self.bodies);
            Filler { bodies: &mut bodies }.list(list);
        }
    }
}

struct Filler<'bodies> {
    bodies: &'bodies mut [Word],
}

impl Filler<'_> {
    fn list(&mut self, list: &mut List) {
        for item in &mut list.items {
            self.chain(&mut item.chain);
        }
    }

    /// Nothing shares the body yet, so this never copies.
    fn shared_list(&mut self, list: &mut Arc<List>) {
        self.list(Arc::make_mut(list));
    }

    fn chain(&mut self, chain: &mut AndOr) {
        self.pipeline(&mut chain.first);
        for (_, pipeline) in &mut chain.rest {
            self.pipeline(pipeline);
        }
    }

    fn pipeline(&mut self, pipeline: &mut Pipeline) {
        for stage in &mut pipeline.stages {
            match &mut stage.command {
                Command::Simple(simple) => self.simple(simple),
                Command::Compound(compound) => self.compound(compound),
                Command::Function(function) => self.compound(Arc::make_mut(&mut function.body)),
            }
        }
    }

    fn simple(&mut self, simple: &mut SimpleCommand) {
        for assignment in &mut simple.assignments {
            self.assignment(assignment);
        }
        for argument in &mut simple.words {
            match argument {
                Argument::Word(word) => self.word(word),
                Argument::Assignment(assignment) => self.assignment(assignment),
            }
        }
        self.redirects(&mut simple.redirects);
    }

    fn assignment(&mut self, assignment: &mut Assignment) {
        if let Some(subscript) = &mut assignment.subscript {
            self.arithmetic(subscript);
        }
        match &mut assignment.value {
            AssignedValue::Scalar(word) => self.word(word),
            AssignedValue::Array(elements) => {
                for element in elements {
                    if let Some(subscript) = &mut element.subscript {
                        self.arithmetic(subscript);
                    }
                    self.word(&mut element.value);
                }
            }
        }
    }

    fn compound(&mut self, compound: &mut CompoundCommand) {
        self.redirects(&mut compound.redirects);
        match &mut compound.kind {
            CompoundKind::Group(list) | CompoundKind::Subshell(list) => self.list(list),
            CompoundKind::For(for_loop) | CompoundKind::Select(for_loop) => {
                self.words(for_loop.words.as_deref_mut().unwrap_or_default());
                self.list(&mut for_loop.body);
            }
            CompoundKind::ArithmeticFor(for_loop) => {
                let expressions =
                    [&mut for_loop.initial, &mut for_loop.condition, &mut for_loop.update];
                for expression in expressions.into_iter().flatten() {
                    self.arithmetic(expression);
                }
                self.list(&mut for_loop.body);
            }
            CompoundKind::While(while_loop) => {
                self.list(&mut while_loop.condition);
                self.list(&mut while_loop.body);
            }
            CompoundKind::If(if_command) => {
                for branch in &mut if_command.branches {
                    self.list(&mut branch.condition);
                    self.list(&mut branch.body);
                }
                if let Some(otherwise) = &mut if_command.otherwise {
                    self.list(otherwise);
                }
            }
            CompoundKind::Case(case) => {
                self.word(&mut case.subject);
                for clause in &mut case.clauses {
                    self.words(&mut clause.patterns);
                    self.list(&mut clause.body);
                }
            }
            CompoundKind::Arithmetic(arithmetic) => self.arithmetic(arithmetic),
            CompoundKind::Conditional(conditional) => self.conditional(conditional),
            CompoundKind::Coprocess(coprocess) => self.list(&mut coprocess.body),
        }
    }

    fn conditional(&mut self, conditional: &mut Conditional) {
        match conditional {
            Conditional::Not(inner) => self.conditional(inner),
            Conditional::And(terms) | Conditional::Or(terms) => {
                for term in terms {
                    self.conditional(term);
                }
            }
            Conditional::Unary { operand, .. } => self.word(operand),
            Conditional::Binary { left, right, .. } => {
                self.word(left);
                self.word(right);
            }
            Conditional::Word(word) => self.word(word),
        }
    }

    fn redirects(&mut self, redirects: &mut [Redirect]) {
        for redirect in redirects {
            match &mut redirect.kind {
                RedirectKind::File { target, .. } | RedirectKind::Duplicate { target, .. } => {
                    self.word(target);
                }
                RedirectKind::HereString(word) => self.word(word),
                RedirectKind::HereDocument(document) => {
                    let index = document.body.span.start as usize;
                    if let Some(body) = self.bodies.get_mut(index) {
                        document.body = std::mem::take(body);
                    }
                    self.word(&mut document.body);
                }
            }
        }
    }

    fn words(&mut self, words: &mut [Word]) {
        for word in words {
            self.word(word);
        }
    }

    fn word(&mut self, word: &mut Word) {
        self.parts(&mut word.parts);
    }

    fn parts(&mut self, parts: &mut [WordPart]) {
        for part in parts {
            match part {
                WordPart::Literal(_)
                | WordPart::Escaped(_)
                | WordPart::SingleQuoted(_)
                | WordPart::AnsiQuoted(_)
                | WordPart::Tilde(_)
                | WordPart::Brace(
                    BraceExpansion::Numbers { .. } | BraceExpansion::Letters { .. },
                ) => {}
                WordPart::DoubleQuoted(parts) | WordPart::LocaleQuoted(parts) => self.parts(parts),
                WordPart::Parameter(expansion) => self.parameter(expansion),
                WordPart::Command(command) => self.shared_list(&mut command.body),
                WordPart::Process(process) => self.shared_list(&mut process.body),
                WordPart::Arithmetic(arithmetic) => self.arithmetic(arithmetic),
                WordPart::Brace(BraceExpansion::Alternatives(words)) => self.words(words),
            }
        }
    }

    /// The tree of an expression holds plain parameters only, so its text is all there is to fill; but a
    /// subscript in it may hold anything.
    fn arithmetic(&mut self, arithmetic: &mut Arithmetic) {
        self.word(&mut arithmetic.text);
    }

    fn parameter(&mut self, expansion: &mut ParameterExpansion) {
        if let Some(Selector::Index(subscript)) = &mut expansion.selector {
            self.arithmetic(subscript);
        }
        match &mut expansion.operation {
            Operation::Plain
            | Operation::Length
            | Operation::Transform(_)
            | Operation::NamesWithPrefix { .. }
            | Operation::Bad(_) => {}
            Operation::Default { word, .. } => self.word(word),
            Operation::RemovePrefix { pattern, .. } | Operation::RemoveSuffix { pattern, .. } => {
                self.word(pattern);
            }
            Operation::Replace { pattern, replacement, .. } => {
                self.word(pattern);
                self.words(replacement.as_mut_slice());
            }
            Operation::ChangeCase { pattern, .. } => self.words(pattern.as_mut_slice()),
            Operation::Slice { offset, length } => {
                self.arithmetic(offset);
                if let Some(length) = length {
                    self.arithmetic(length);
                }
            }
        }
    }
}
