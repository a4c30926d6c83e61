//! Fork bombs: functions that start themselves again more than once at a time, or in the background.
//!
//! A function that calls itself once in the foreground is ordinary recursion.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};
use exacta_syntax::ast::{
    AndOr, Argument, Command, CompoundCommand, CompoundKind, List, Parameter, Pipeline, WordPart,
};

/// How long calls are followed, all together.
const MOST_STEPS: usize = 1 << 18;

/// Who calls whom.
#[derive(Debug, Default)]
struct Calls<'tree> {
    /// Everything that is called.
    all: Vec<&'tree BStr>,
    /// Called in the background, or in one pipeline with another function.
    multiplied: Vec<&'tree BStr>,
}

/// The names of the functions that are bombs.
pub(super) fn find(definitions: &[(BString, Arc<CompoundCommand>)]) -> Vec<BString> {
    let mut graph: HashMap<&BStr, Calls<'_>> = HashMap::new();
    let names: HashSet<&BStr> = definitions.iter().map(|(name, _)| name.as_bstr()).collect();
    for (name, body) in definitions {
        let calls = graph.entry(name.as_bstr()).or_default();
        let mut search = Search { own: name.as_bstr(), names: &names, calls };
        search.compound(body, false);
    }
    let mut found: Vec<BString> = Vec::new();
    let mut steps = 0;
    for (name, _) in definitions {
        let Some(calls) = graph.get(name.as_bstr()) else { continue };
        let returns = calls
            .multiplied
            .iter()
            .any(|called| reaches(&graph, called, name.as_bstr(), &mut steps));
        if returns && !found.contains(name) {
            found.push(name.clone());
        }
    }
    found
}

/// Whether one comes to call the other. A maze in which that cannot be found out counts as if it did.
fn reaches(graph: &HashMap<&BStr, Calls<'_>>, from: &BStr, to: &BStr, steps: &mut usize) -> bool {
    let mut open = vec![from];
    let mut seen: HashSet<&BStr> = HashSet::new();
    while let Some(name) = open.pop() {
        *steps += 1;
        if name == to || *steps > MOST_STEPS {
            return true;
        }
        if !seen.insert(name) {
            continue;
        }
        if let Some((_, calls)) = graph.get_key_value(name) {
            open.extend(calls.all.iter().copied());
        }
    }
    false
}

struct Search<'tree, 'graph> {
    own: &'tree BStr,
    names: &'graph HashSet<&'tree BStr>,
    calls: &'graph mut Calls<'tree>,
}

impl<'tree> Search<'tree, '_> {
    fn list(&mut self, list: &'tree List, multiplied: bool) {
        for item in &list.items {
            self.chain(&item.chain, multiplied || item.background);
        }
    }

    fn chain(&mut self, chain: &'tree AndOr, multiplied: bool) {
        self.pipeline(&chain.first, multiplied);
        for (_, pipeline) in &chain.rest {
            self.pipeline(pipeline, multiplied);
        }
    }

    fn pipeline(&mut self, pipeline: &'tree Pipeline, multiplied: bool) {
        let before = self.calls.all.len();
        let mut calling = 0;
        for stage in &pipeline.stages {
            let seen = self.calls.all.len();
            self.command(&stage.command, multiplied);
            calling += usize::from(self.calls.all.len() > seen);
        }
        if calling > 1 {
            let together = self.calls.all.get(before..).unwrap_or_default().to_vec();
            self.calls.multiplied.extend(together);
        }
    }

    fn command(&mut self, command: &'tree Command, multiplied: bool) {
        match command {
            Command::Simple(simple) => {
                if let Some(Argument::Word(word)) = simple.words.first() {
                    self.call(&word.parts, multiplied);
                }
            }
            Command::Compound(compound) => self.compound(compound, multiplied),
            Command::Function(_) => {}
        }
    }

    fn call(&mut self, parts: &'tree [WordPart], multiplied: bool) {
        let called = match parts {
            [
                WordPart::Literal(text)
                | WordPart::SingleQuoted(text)
                | WordPart::AnsiQuoted(text)
                | WordPart::Escaped(text),
            ] => text.as_bstr(),
            [WordPart::DoubleQuoted(parts)] => return self.call(parts, multiplied),
            [WordPart::Parameter(expansion)] => match &expansion.parameter {
                Parameter::Variable(name) if name == "FUNCNAME" => self.own,
                _ => return,
            },
            _ => return,
        };
        if !self.names.contains(called) {
            return;
        }
        self.calls.all.push(called);
        if multiplied {
            self.calls.multiplied.push(called);
        }
    }

    fn compound(&mut self, compound: &'tree CompoundCommand, multiplied: bool) {
        stacker::maybe_grow(64 << 10, 1 << 20, || match &compound.kind {
            CompoundKind::Group(list) | CompoundKind::Subshell(list) => self.list(list, multiplied),
            CompoundKind::For(command) | CompoundKind::Select(command) => {
                self.list(&command.body, multiplied);
            }
            CompoundKind::ArithmeticFor(command) => self.list(&command.body, multiplied),
            CompoundKind::While(command) => {
                self.list(&command.condition, multiplied);
                self.list(&command.body, multiplied);
            }
            CompoundKind::If(command) => {
                for branch in &command.branches {
                    self.list(&branch.condition, multiplied);
                    self.list(&branch.body, multiplied);
                }
                if let Some(otherwise) = &command.otherwise {
                    self.list(otherwise, multiplied);
                }
            }
            CompoundKind::Case(command) => {
                for clause in &command.clauses {
                    self.list(&clause.body, multiplied);
                }
            }
            CompoundKind::Coprocess(coprocess) => self.list(&coprocess.body, true),
            CompoundKind::Arithmetic(_) | CompoundKind::Conditional(_) => {}
        });
    }
}
