//! Groups, branches and loops.

use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};
use exacta_syntax::ast::{
    CaseCommand, CaseEnd, CompoundCommand, CompoundKind, Conditional, ConditionalOperator,
    Coprocess, ForLoop, IfCommand, List, WhileLoop,
};

use crate::event::{Access, Event, Input, Shape};
use crate::guarded;
use crate::word::{Dynamic, Word};

use super::Walker;
use super::functions::Frame;
use super::output::Output;
use super::redirects::Goes;
use super::state::Positional;
use super::values::Value;

/// A loop over more words than this has a variable that is not known.
const MOST_VALUES: usize = 32;

impl Walker<'_> {
    pub(super) fn compound(&mut self, compound: &CompoundCommand) -> Output {
        let redirected = self.redirects(&compound.redirects);
        let outer = match &redirected.input {
            Some(input) => Some(std::mem::replace(&mut self.input, input.clone())),
            None => None,
        };
        let output = self.perhaps(redirected.may_fail(), |walker| walker.kind(&compound.kind));
        if let Some(outer) = outer {
            self.input = outer;
        }
        let content = match &output {
            Output::Text(text) if !compound.redirects.is_empty() => Some(text.clone()),
            _ => None,
        };
        match self.open(redirected, content) {
            Goes::On => output,
            Goes::Away => Output::nothing(),
            Goes::Somewhere => Output::unknown(),
        }
    }

    fn kind(&mut self, kind: &CompoundKind) -> Output {
        match kind {
            CompoundKind::Group(list) => return self.list(list),
            CompoundKind::Subshell(list) => {
                let input = self.input.clone();
                let output = self.list_in_subshell(list);
                self.input = input;
                return output;
            }
            CompoundKind::If(command) => return self.branches(command),
            CompoundKind::For(command) => self.for_loop(command, false),
            CompoundKind::Select(command) => {
                self.assign_unknown(BStr::new("REPLY"), "select");
                self.for_loop(command, true);
            }
            CompoundKind::ArithmeticFor(command) => {
                if let Some(initial) = &command.initial {
                    self.visit_arithmetic(initial);
                }
                let mark = self.state.mark();
                self.enter_loop(&[&command.body]);
                let before = self.state.variables_mark();
                for step in [&command.condition, &command.update].into_iter().flatten() {
                    self.visit_arithmetic(step);
                }
                let stepped = self.state.changed_since(before);
                self.unknown_all(&stepped);
                let pauses = self.pauses;
                self.loop_body(None, &command.body);
                if command.condition.is_none() {
                    self.ends_by_itself(pauses);
                }
                self.leave_loop(mark, &stepped);
            }
            CompoundKind::While(command) => self.while_loop(command),
            CompoundKind::Case(command) => self.case(command),
            CompoundKind::Arithmetic(arithmetic) => {
                self.visit_arithmetic(arithmetic);
                return Output::nothing();
            }
            CompoundKind::Conditional(conditional) => {
                self.conditional(conditional);
                return Output::nothing();
            }
            CompoundKind::Coprocess(coprocess) => self.coprocess(coprocess),
        }
        Output::unknown()
    }

    fn branches(&mut self, command: &IfCommand) -> Output {
        let mut ways = Vec::with_capacity(command.branches.len() + 1);
        let mut conditions = None;
        let mut printed: Option<Output> = None;
        for (index, branch) in command.branches.iter().enumerate() {
            self.list(&branch.condition);
            if index == 0 {
                conditions = Some(self.state.mark());
            }
            let mark = self.state.mark();
            let output = self.list(&branch.body);
            ways.push(self.state.rollback(mark));
            printed = Some(match printed {
                Some(before) => before.or(output),
                None => output,
            });
        }
        let Some(first) = conditions else { return Output::nothing() };
        // What later conditions set, they may have set on any of the ways.
        let doubtful = self.state.changed_since_mark(&first);
        let stayed = command.otherwise.is_none();
        let mut last = Output::nothing();
        if let Some(otherwise) = &command.otherwise {
            let mark = self.state.mark();
            last = self.list(otherwise);
            ways.push(self.state.rollback(mark));
        }
        self.state.rollback(first);
        self.leak(&ways);
        self.merge(ways, stayed);
        self.unknown_all(&doubtful);
        // What a condition prints is not followed.
        let quiet = command.branches.iter().all(|branch| is_quiet(&branch.condition));
        match printed {
            Some(printed) if quiet => printed.or(last),
            _ => Output::unknown(),
        }
    }

    fn leak(&mut self, ways: &[super::state::Way]) {
        self.state.leaked |= ways.iter().any(super::state::Way::has_ended);
    }

    fn case(&mut self, command: &CaseCommand) {
        self.single(&command.subject);
        let mut ways = Vec::with_capacity(command.clauses.len());
        let mut complete = false;
        let mut falls = false;
        for clause in &command.clauses {
            for pattern in &clause.patterns {
                let pattern = self.perhaps(true, |walker| walker.pattern(pattern));
                complete |= pattern.is_some_and(|pattern| pattern == "*");
            }
            let mark = self.state.mark();
            if falls {
                // It may go on from the clause before.
                self.blur_ways(&ways);
            }
            self.list(&clause.body);
            ways.push(self.state.rollback(mark));
            falls |= clause.end != CaseEnd::Break;
        }
        self.leak(&ways);
        if falls {
            self.blur_ways(&ways);
        }
        self.merge(ways, !complete || falls);
    }

    /// Whatever these ways changed is not known.
    fn blur_ways(&mut self, ways: &[super::state::Way]) {
        let names: Vec<BString> = ways.iter().flat_map(|way| way.names().cloned()).collect();
        self.unknown_all(&names);
        if ways.iter().any(|way| !way.is_at(&self.state)) {
            self.state.lose_place();
        }
    }

    fn for_loop(&mut self, command: &ForLoop, asks: bool) {
        let mut over = None;
        let mut value = match &command.words {
            Some(words) => {
                let mut fields = Vec::new();
                for word in words {
                    self.fields(word, &mut fields);
                }
                let value = loop_values(&fields);
                // The one word, or of several a pattern of something guarded.
                over = match fields.len() {
                    1 => fields.pop(),
                    _ => fields.iter().rev().find_map(guarded_pattern),
                };
                value
            }
            None => match &self.state.positional {
                Positional::Known(words) => loop_values(&words.clone()),
                Positional::Unknown => Value::unknown(),
            },
        };
        if asks {
            // Any other answer leaves it empty.
            value = value.join(&Value::Text(BString::default()));
        }
        let mark = self.state.mark();
        self.set(command.variable.as_bstr(), value.clone(), false);
        self.enter_loop(&[&command.body]);
        let shown = match over {
            // What it runs over says more than its name.
            Some(word @ Word::Dynamic(_)) if matches!(value, Value::Unknown(_)) => word,
            _ => value.to_word(command.variable.as_bstr()),
        };
        self.loop_body(Some((command.variable.as_bstr(), value, shown)), &command.body);
        self.leave_loop(mark, &[]);
    }

    fn while_loop(&mut self, command: &WhileLoop) {
        let mark = self.state.mark();
        self.enter_loop(&[&command.condition, &command.body]);
        let before = self.state.variables_mark();
        self.list(&command.condition);
        let tested = self.state.changed_since(before);
        let pauses = self.pauses;
        self.loop_body(None, &command.body);
        if super::endless::is_always(&command.condition, command.until) {
            self.ends_by_itself(pauses);
        }
        self.leave_loop(mark, &tested);
    }

    /// The loop has run some times or never; what its conditions set, they have set last.
    fn leave_loop(&mut self, mark: super::state::Mark, tested: &[BString]) {
        let frame = self.frames.pop();
        let escaped = frame.as_ref().map(|frame| self.escaped(frame)).unwrap_or_default();
        if self.state.has_climbed(&mark) {
            (self.emit)(Event::Shape(Shape::Climbs));
        }
        let way = self.state.rollback(mark);
        self.leak(std::slice::from_ref(&way));
        self.merge(vec![way], true);
        if let Some(frame) = frame {
            self.leave(frame, &escaped);
        }
        self.unknown_all(tested);
    }

    fn unknown_all(&mut self, names: &[BString]) {
        for name in names {
            self.set(name.as_bstr(), Value::unknown(), false);
        }
    }

    /// What the loop sets may come from an earlier round.
    fn enter_loop(&mut self, lists: &[&List]) {
        let changes = self.changes(lists);
        self.forget(&changes);
        // A later round may call them where this walk does not know them yet.
        self.uncovered.extend(changes.bodies.iter().map(Arc::as_ptr));
    }

    /// Leaves its frame to [`Walker::leave_loop`].
    fn loop_body(&mut self, variable: Option<(&BStr, Value, Word)>, body: &List) {
        self.frames.push(Frame::of_loop(&self.state));
        if let Some((name, value, shown)) = variable {
            self.assign(name, value, shown, false);
        }
        self.list(body);
    }

    fn coprocess(&mut self, coprocess: &Coprocess) {
        self.via.push(BString::from("coproc"));
        let input = std::mem::replace(&mut self.input, Input::Pipe(Vec::new()));
        self.list_in_subshell(&coprocess.body);
        self.input = input;
        self.via.pop();
        self.assign_unknown(coprocess.name.as_bstr(), "coproc");
        let identifier = BString::from([coprocess.name.as_slice(), b"_PID"].concat());
        self.set(identifier.as_bstr(), Value::unknown(), false);
    }

    fn conditional(&mut self, conditional: &Conditional) {
        stacker::maybe_grow(64 << 10, 1 << 20, || match conditional {
            Conditional::Not(inner) => self.conditional(inner),
            Conditional::And(all) | Conditional::Or(all) => {
                for (index, inner) in all.iter().enumerate() {
                    self.perhaps(index > 0, |walker| walker.conditional(inner));
                }
            }
            Conditional::Unary { operator, operand } => {
                let operand = self.single(operand);
                if matches!(operator, b'v' | b'R')
                    && let Some(text) = operand.as_literal()
                {
                    self.evaluated_text(text);
                }
            }
            Conditional::Binary { operator, left, right } => {
                let left = self.single(left);
                let right = if matches!(
                    operator,
                    ConditionalOperator::Matches
                        | ConditionalOperator::Differs
                        | ConditionalOperator::Regex
                ) {
                    self.visit(right);
                    None
                } else {
                    Some(self.single(right))
                };
                if *operator == ConditionalOperator::Regex {
                    self.set(BStr::new("BASH_REMATCH"), Value::unknown(), false);
                }
                if is_numeric(*operator) {
                    for operand in [Some(left), right].into_iter().flatten() {
                        self.evaluated_operand(&operand);
                    }
                }
            }
            Conditional::Word(word) => drop(self.single(word)),
        });
    }

    /// An operand that is evaluated as arithmetic: a name stands for its value, which is evaluated again.
    pub(super) fn evaluated_operand(&mut self, operand: &Word) {
        let Some(text) = operand.as_literal() else { return };
        self.visit_expression_text(text);
    }
}

fn is_numeric(operator: ConditionalOperator) -> bool {
    matches!(
        operator,
        ConditionalOperator::Equal
            | ConditionalOperator::NotEqual
            | ConditionalOperator::Less
            | ConditionalOperator::LessOrEqual
            | ConditionalOperator::Greater
            | ConditionalOperator::GreaterOrEqual
    )
}

/// What a variable has that runs over these words.
fn loop_values(words: &[Word]) -> Value {
    if words.is_empty() {
        return Value::unknown();
    }
    if words.iter().all(|word| word.as_literal().is_some()) && words.len() <= MOST_VALUES {
        return Value::of_possibilities(
            words
                .iter()
                .filter_map(|word| word.as_literal().map(|text| Some(text.into())))
                .collect(),
        );
    }
    if words.iter().any(is_parted) {
        return Value::unknown();
    }
    let prefixes: Vec<BString> = words.iter().map(|word| word.prefix().into()).collect();
    Value::Unknown(super::values::common_prefix(&prefixes))
}

/// May it be several words, of which only the first begins as it does? All names of files do.
fn is_parted(word: &Word) -> bool {
    match word {
        Word::Literal(_) => false,
        Word::Dynamic(dynamic) => dynamic.splits && dynamic.glob.is_none(),
    }
}

/// One of several words that can be something guarded; with which text the value begins is not known then.
fn guarded_pattern(word: &Word) -> Option<Word> {
    let Word::Dynamic(dynamic) = word else { return None };
    let glob = dynamic.glob.as_ref()?;
    let guarded = !guarded::paths(glob.as_bstr(), Access::Write).is_empty();
    let word = Dynamic { prefix: BString::default(), ..(**dynamic).clone() };
    guarded.then(|| Word::Dynamic(Box::new(word)))
}

/// A condition that prints nothing: tests.
fn is_quiet(list: &List) -> bool {
    use exacta_syntax::ast::{Argument, Command};
    list.items.iter().all(|item| {
        let pipelines = std::iter::once(&item.chain.first)
            .chain(item.chain.rest.iter().map(|(_, pipeline)| pipeline));
        pipelines.flat_map(|pipeline| &pipeline.stages).all(|stage| match &stage.command {
            Command::Simple(command) => match command.words.first() {
                Some(Argument::Word(word)) => super::variables::plain(word).is_some_and(|name| {
                    [&b"["[..], b"test", b"true", b"false", b":"].contains(&name.as_bytes())
                }),
                Some(Argument::Assignment(_)) => false,
                None => true,
            },
            Command::Compound(compound) => {
                matches!(compound.kind, CompoundKind::Arithmetic(_) | CompoundKind::Conditional(_))
            }
            Command::Function(_) => true,
        })
    })
}
