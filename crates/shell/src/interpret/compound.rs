//! Compound commands.

use bstr::{BStr, BString, ByteSlice};
use exacta_syntax::ast::{
    ArithmeticFor, CaseCommand, CaseEnd, Command, CompoundCommand, CompoundKind, Conditional,
    ForLoop, IfCommand, List, WhileLoop,
};

use super::{STACK_PIECE, STACK_RESERVE};
use crate::expand::pattern::{Pattern, PatternOptions};
use crate::release::Heavy;
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow, Interrupt, LimitKind, Running};

/// What a loop does after its body.
pub(super) enum Next {
    Iterate(ExitStatus),
    Leave(ExitStatus),
}

impl Shell {
    pub(super) fn run_compound(&mut self, command: &CompoundCommand) -> Flow {
        if command.redirects.is_empty() {
            return stacker::maybe_grow(STACK_RESERVE, STACK_PIECE, || self.run_kind(command));
        }
        let line = std::mem::replace(&mut self.line, command.span.line);
        let open = self.transient.substitutions.len();
        let flow = match self.redirect(&command.redirects) {
            Ok(replaced) => {
                let flow =
                    stacker::maybe_grow(STACK_RESERVE, STACK_PIECE, || self.run_kind(command));
                self.undo_redirects(replaced);
                flow
            }
            Err(failure) => {
                self.line = line;
                self.redirect_failed(failure)
            }
        };
        if self.transient.substitutions.len() > open {
            self.close_substitutions(open);
        }
        flow
    }

    fn run_kind(&mut self, command: &CompoundCommand) -> Flow {
        match &command.kind {
            CompoundKind::Group(list) => self.run_list(list),
            CompoundKind::Subshell(list) => {
                self.control.step()?;
                if std::mem::take(&mut self.transient.sole) {
                    return self.run_list(list);
                }
                self.run_in_subshell(|shell| shell.run_list(list))
            }
            CompoundKind::For(body) => self.in_loop(|shell| shell.run_for(body, command)),
            CompoundKind::ArithmeticFor(body) => {
                self.in_loop(|shell| shell.run_arithmetic_for(body, command))
            }
            CompoundKind::Select(body) => self.in_loop(|shell| shell.run_select(body, command)),
            CompoundKind::While(body) => self.in_loop(|shell| shell.run_while(body)),
            CompoundKind::If(branches) => self.run_if(branches),
            CompoundKind::Case(clauses) => self.run_case(clauses, command),
            CompoundKind::Arithmetic(expression) => {
                self.line = command.span.line;
                self.step()?;
                if !self.announce(command)? {
                    return Ok(ExitStatus::SUCCESS);
                }
                if self.options.xtrace {
                    self.trace_arithmetic(expression);
                }
                match self.evaluate_for("((", expression) {
                    Ok(value) => Ok(ExitStatus::from_bool(value != 0)),
                    // Unlike `$((…))`, a bad `((…))` only fails.
                    Err(Interrupt::Discard(_)) => Ok(ExitStatus::FAILURE),
                    Err(interrupt) => Err(interrupt),
                }
            }
            CompoundKind::Coprocess(coprocess) => self.start_coprocess(coprocess),
            CompoundKind::Conditional(condition) => {
                self.line = command.span.line;
                self.step()?;
                if !self.announce(command)? {
                    return Ok(ExitStatus::SUCCESS);
                }
                self.run_conditional(condition)
            }
        }
    }

    /// The DEBUG trap before a compound command that bash treats as one. `false`: skip it.
    fn announce(&mut self, command: &CompoundCommand) -> Running<bool> {
        if self.traps.get(super::Condition::Debug).is_none() {
            return Ok(true);
        }
        self.run_debug_trap(|| headline(command))
    }

    fn run_if(&mut self, command: &IfCommand) -> Flow {
        for branch in &command.branches {
            if self.run_condition(&branch.condition)?.success() {
                return self.run_list(&branch.body);
            }
        }
        if let Some(body) = &command.otherwise {
            return self.run_list(body);
        }
        self.status = ExitStatus::SUCCESS;
        Ok(ExitStatus::SUCCESS)
    }

    fn run_condition(&mut self, list: &List) -> Flow {
        self.as_condition(|shell| shell.run_list(list))
    }

    fn in_loop(&mut self, run: impl FnOnce(&mut Self) -> Flow) -> Flow {
        self.loop_depth += 1;
        let flow = run(self);
        self.loop_depth = self.loop_depth.saturating_sub(1);
        if let Ok(status) = flow {
            self.status = status;
        }
        flow
    }

    /// One more iteration of a loop.
    fn iterate(&mut self, iterations: &mut u64) -> Running<()> {
        *iterations += 1;
        let limit = self.control.limits.loop_iterations;
        if *iterations > limit {
            return Err(Interrupt::Stopped(
                self.control.exceeded(LimitKind::LoopIterations, limit),
            ));
        }
        self.step()
    }

    /// Runs the body of a loop; `break` and `continue` of outer loops go on.
    pub(super) fn run_body(&mut self, body: &List) -> Running<Next> {
        match self.run_list(body) {
            Ok(status) => Ok(Next::Iterate(status)),
            Err(interrupt) => self.after(interrupt),
        }
    }

    /// What an interrupt of the body means to the loop around it.
    fn after(&mut self, interrupt: Interrupt) -> Running<Next> {
        match interrupt {
            Interrupt::Break(0 | 1) => {
                let failed = std::mem::take(&mut self.transient.loop_failed);
                Ok(Next::Leave(ExitStatus::from_bool(!failed)))
            }
            Interrupt::Break(levels) => Err(Interrupt::Break(levels - 1)),
            Interrupt::Continue(0 | 1) => Ok(Next::Iterate(ExitStatus::SUCCESS)),
            Interrupt::Continue(levels) => Err(Interrupt::Continue(levels - 1)),
            other => Err(other),
        }
    }

    fn run_while(&mut self, command: &WhileLoop) -> Flow {
        let mut status = ExitStatus::SUCCESS;
        let mut iterations = 0;
        loop {
            self.iterate(&mut iterations)?;
            let condition = match self.run_condition(&command.condition) {
                Ok(condition) => condition,
                Err(interrupt) => match self.after(interrupt)? {
                    // `continue` succeeds, and that is what `until` waits for.
                    Next::Iterate(_) if command.until => return Ok(status),
                    Next::Iterate(_) => continue,
                    Next::Leave(left) => return Ok(left),
                },
            };
            if condition.success() == command.until {
                return Ok(status);
            }
            match self.run_body(&command.body)? {
                Next::Iterate(done) => status = done,
                Next::Leave(left) => return Ok(left),
            }
        }
    }

    fn run_for(&mut self, command: &ForLoop, whole: &CompoundCommand) -> Flow {
        self.line = whole.span.line;
        if !self.is_loop_variable(command)? {
            return Ok(ExitStatus::FAILURE);
        }
        let words = self.loop_words(command)?;
        let mut status = ExitStatus::SUCCESS;
        let mut iterations = 0;
        for word in words.iter() {
            self.iterate(&mut iterations)?;
            self.line = whole.span.line;
            if self.options.xtrace {
                self.trace_for(command);
            }
            if !self.announce(whole)? {
                continue;
            }
            if !self.assign_loop_variable(command.variable.as_bstr(), word.clone())? {
                return Ok(ExitStatus::FAILURE);
            }
            match self.run_body(&command.body)? {
                Next::Iterate(done) => status = done,
                Next::Leave(left) => return Ok(left),
            }
        }
        Ok(status)
    }

    /// `for i.j in …` is found out only now.
    pub(super) fn is_loop_variable(&mut self, command: &ForLoop) -> Running<bool> {
        let name = &command.variable;
        let valid = name.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
            && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        if valid {
            return Ok(true);
        }
        let mut message = BString::from("`");
        message.extend_from_slice(name);
        message.extend_from_slice(b"': not a valid identifier");
        self.complain(message);
        if self.options.posix {
            return Err(Interrupt::Exit(ExitStatus::FAILURE));
        }
        Ok(false)
    }

    /// The words after `in`, or the positional parameters.
    pub(super) fn loop_words(&mut self, command: &ForLoop) -> Running<Heavy<Vec<BString>>> {
        match &command.words {
            Some(words) => self.expand_words(words),
            None => Ok(Heavy::new(self.positional.to_vec())),
        }
    }

    fn run_arithmetic_for(&mut self, command: &ArithmeticFor, whole: &CompoundCommand) -> Flow {
        self.line = whole.span.line;
        let mut status = ExitStatus::SUCCESS;
        let mut iterations = 0;
        if let Some(initial) = &command.initial
            && self.loop_expression(initial, whole)?.is_none()
        {
            return Ok(ExitStatus::FAILURE);
        }
        loop {
            self.iterate(&mut iterations)?;
            self.line = whole.span.line;
            if let Some(condition) = &command.condition {
                match self.loop_expression(condition, whole)? {
                    None => return Ok(ExitStatus::FAILURE),
                    Some(0) => return Ok(status),
                    Some(_) => {}
                }
            }
            match self.run_body(&command.body)? {
                Next::Iterate(done) => status = done,
                Next::Leave(left) => return Ok(left),
            }
            self.line = whole.span.line;
            if let Some(update) = &command.update
                && self.loop_expression(update, whole)?.is_none()
            {
                return Ok(ExitStatus::FAILURE);
            }
        }
    }

    /// `None`: a bad expression, already reported.
    fn loop_expression(
        &mut self,
        expression: &exacta_syntax::ast::Arithmetic,
        whole: &CompoundCommand,
    ) -> Running<Option<i64>> {
        if !self.announce(whole)? {
            return Ok(Some(0));
        }
        if self.options.xtrace {
            self.trace_arithmetic(expression);
        }
        match self.evaluate_for("((", expression) {
            Ok(value) => Ok(Some(value)),
            Err(Interrupt::Discard(_)) => Ok(None),
            Err(interrupt) => Err(interrupt),
        }
    }

    fn run_case(&mut self, command: &CaseCommand, whole: &CompoundCommand) -> Flow {
        self.line = whole.span.line;
        self.step()?;
        if !self.announce(whole)? {
            return Ok(ExitStatus::SUCCESS);
        }
        if self.options.xtrace {
            self.trace_case(&command.subject);
        }
        let subject = self.expand_to_string(&command.subject)?;
        let mut status = ExitStatus::SUCCESS;
        let mut falls_through = false;
        for clause in &command.clauses {
            if !falls_through && !self.any_pattern_matches(&clause.patterns, subject.as_bstr())? {
                continue;
            }
            status = if clause.body.items.is_empty() {
                ExitStatus::SUCCESS
            } else {
                self.run_list(&clause.body)?
            };
            match clause.end {
                CaseEnd::Break => break,
                CaseEnd::FallThrough => falls_through = true,
                CaseEnd::TestNext => falls_through = false,
            }
        }
        self.status = status;
        Ok(status)
    }

    fn any_pattern_matches(
        &mut self,
        patterns: &[exacta_syntax::ast::Word],
        subject: &BStr,
    ) -> Running<bool> {
        for pattern in patterns {
            let pattern = self.expand_pattern(pattern)?;
            if self.matches_pattern(&pattern, subject, self.options.extglob) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// `case` and `[[ == ]]`: in the latter extended patterns are always on.
    pub(super) fn matches_pattern(&self, pattern: &[u8], subject: &[u8], extglob: bool) -> bool {
        let options = PatternOptions { extglob, ..self.pattern_options() };
        Pattern::new(pattern.as_bstr(), options).watched_by(&self.control).matches(subject)
    }
}

/// What `BASH_COMMAND` says of a compound command: its first line, without the body.
fn headline(command: &CompoundCommand) -> BString {
    let short = match &command.kind {
        CompoundKind::For(body) => {
            CompoundKind::For(ForLoop { body: List::default(), ..body.clone() })
        }
        CompoundKind::Select(body) => {
            CompoundKind::Select(ForLoop { body: List::default(), ..body.clone() })
        }
        CompoundKind::Case(case) => {
            CompoundKind::Case(CaseCommand { clauses: Vec::new(), ..case.clone() })
        }
        CompoundKind::Conditional(Conditional::Word(operand)) => {
            CompoundKind::Conditional(Conditional::Unary {
                operator: b'n',
                operand: operand.clone(),
            })
        }
        kind => kind.clone(),
    };
    let short = CompoundCommand { kind: short, redirects: Vec::new(), span: command.span };
    let text = exacta_syntax::print_command(&Command::Compound(short));
    match &command.kind {
        CompoundKind::For(_) | CompoundKind::Select(_) => {
            let line = text.lines().next().unwrap_or_default();
            BString::from(line.strip_suffix(b";").unwrap_or(line))
        }
        CompoundKind::Case(_) => text.lines().next().unwrap_or_default().into(),
        _ => text,
    }
}
