//! Compound commands: groups, subshells, loops, conditions.

use bstr::BString;

use super::Parsed;
use super::arithmetic_text::{ArithmeticEnd, is_blank};
use super::cursor::Reader;
use super::input::Mark;
use super::reserved::Reserved;
use super::words::WordKind;
use crate::ast::{
    AndOr, Arithmetic, ArithmeticFor, Command, CompoundCommand, CompoundKind, ForLoop, IfBranch,
    IfCommand, List, ListItem, Parameter, Stage, WhileLoop, Word, WordPart,
};

impl Reader<'_, '_> {
    /// The compound command at the position, with its redirects.
    pub fn compound(&mut self, mark: Mark) -> Parsed<CompoundCommand> {
        let kind = self.nested(Self::compound_kind)?;
        let redirects = self.redirects()?;
        Ok(CompoundCommand { kind, redirects, span: self.span_since(mark) })
    }

    fn compound_kind(&mut self) -> Parsed<CompoundKind> {
        if self.peek() == Some(b'(') {
            return self.parenthesis();
        }
        let Some((word, end)) = self.reserved_word() else { return self.unexpected() };
        if !word.opens_compound() {
            return self.unexpected();
        }
        self.input.position = end;
        match word {
            Reserved::OpenBrace => self.brace_group(),
            Reserved::If => self.if_command(),
            Reserved::For => self.for_command(),
            Reserved::Select => Ok(CompoundKind::Select(self.for_loop()?)),
            Reserved::While => self.while_loop(false),
            Reserved::Until => self.while_loop(true),
            Reserved::Case => self.case_command(),
            _ => self.conditional_command(),
        }
    }

    /// `{ …; }`
    fn brace_group(&mut self) -> Parsed<CompoundKind> {
        let list = self.required_list()?;
        self.expect_reserved(Reserved::CloseBrace)?;
        Ok(CompoundKind::Group(list))
    }

    /// `(( … ))` if it is one, else `( … )`.
    fn parenthesis(&mut self) -> Parsed<CompoundKind> {
        self.bump();
        if self.peek() == Some(b'(') {
            let found = self.try_arithmetic(|reader| {
                reader.bump();
                reader.arithmetic_in_parentheses()
            })?;
            if let Some(arithmetic) = found {
                return Ok(CompoundKind::Arithmetic(arithmetic));
            }
        }
        let list = self.required_list()?;
        if self.accept(b')') { Ok(CompoundKind::Subshell(list)) } else { self.unexpected() }
    }

    fn if_command(&mut self) -> Parsed<CompoundKind> {
        let mut branches = Vec::new();
        let mut otherwise = None;
        loop {
            let condition = self.required_list()?;
            self.expect_reserved(Reserved::Then)?;
            let body = self.required_list()?;
            branches.push(IfBranch { condition, body });
            if !self.accept_reserved(Reserved::Elif) {
                break;
            }
        }
        if self.accept_reserved(Reserved::Else) {
            otherwise = Some(self.required_list()?);
        }
        self.expect_reserved(Reserved::Fi)?;
        let mut command = IfCommand { branches, otherwise };
        flatten(&mut command);
        Ok(CompoundKind::If(command))
    }

    fn while_loop(&mut self, until: bool) -> Parsed<CompoundKind> {
        let condition = self.required_list()?;
        let body = self.do_body()?;
        Ok(CompoundKind::While(WhileLoop { until, condition, body }))
    }

    /// `do …; done`
    fn do_body(&mut self) -> Parsed<List> {
        self.expand_aliases()?;
        self.expect_reserved(Reserved::Do)?;
        let body = self.required_list()?;
        self.expect_reserved(Reserved::Done)?;
        Ok(body)
    }

    /// `do …; done`, or the `{ …; }` that bash allows after `for` and `select`.
    fn loop_body(&mut self) -> Parsed<List> {
        self.skip_newlines()?;
        if !self.accept_reserved(Reserved::OpenBrace) {
            return self.do_body();
        }
        let body = self.required_list()?;
        self.expect_reserved(Reserved::CloseBrace)?;
        Ok(body)
    }

    fn for_command(&mut self) -> Parsed<CompoundKind> {
        self.skip_blanks();
        if self.looking_at(b"((") {
            return self.arithmetic_for();
        }
        Ok(CompoundKind::For(self.for_loop()?))
    }

    /// Behind `for` or `select`.
    fn for_loop(&mut self) -> Parsed<ForLoop> {
        self.skip_blanks();
        if !self.at_word() {
            return self.unexpected_in_line();
        }
        let variable = self.loop_variable()?;
        self.skip_blanks();
        if self.peek() == Some(b';') {
            self.list_terminator()?;
            return Ok(ForLoop { variable, words: None, body: self.loop_body()? });
        }
        let same_line = self.peek() != Some(b'\n');
        self.skip_newlines()?;
        if same_line && matches!(self.reserved_word(), Some((Reserved::OpenBrace, _))) {
            // Bash does not look for a reserved word other than `in` and `do` there.
            return self.unexpected();
        }
        let words = if self.accept_reserved(Reserved::In) { self.loop_words()? } else { None };
        Ok(ForLoop { variable, words, body: self.loop_body()? })
    }

    fn loop_variable(&mut self) -> Parsed<BString> {
        let start = self.input.position;
        self.plain_word()?;
        Ok(self.written(start, self.input.position))
    }

    /// The words behind `in`, and the `;` or newline that ends them. `"$@"` alone is the same as none at all.
    fn loop_words(&mut self) -> Parsed<Option<Vec<Word>>> {
        let mut words = Vec::new();
        loop {
            self.skip_blanks();
            if self.at_word() {
                words.push(self.word(WordKind::Argument)?);
            } else {
                self.list_terminator()?;
                return Ok(if is_all_arguments(&words) { None } else { Some(words) });
            }
        }
    }

    /// `;` or a newline.
    fn list_terminator(&mut self) -> Parsed<()> {
        let semicolon =
            self.peek() == Some(b';') && !matches!(self.peek_second(), Some(b';' | b'&'));
        if semicolon {
            self.bump();
            return Ok(());
        }
        if self.accept_newline()? { Ok(()) } else { self.unexpected() }
    }

    /// `for ((a; b; c))`
    fn arithmetic_for(&mut self) -> Parsed<CompoundKind> {
        self.accept_text(b"((");
        let mut expressions = [None, None, None];
        for (index, expression) in expressions.iter_mut().enumerate() {
            *expression = self.loop_expression()?;
            let last = index == 2;
            if last && self.peek() == Some(b';') {
                return Err(self.other("syntax error: `;' unexpected".into()));
            }
            if !last && !self.accept(b';') {
                return Err(self.other("syntax error: arithmetic expression required".into()));
            }
        }
        if !self.accept_text(b"))") {
            return self.unexpected();
        }
        self.skip_blanks();
        self.accept(b';');
        let body = self.loop_body()?;
        let [initial, condition, update] = expressions;
        Ok(CompoundKind::ArithmeticFor(ArithmeticFor { initial, condition, update, body }))
    }

    fn loop_expression(&mut self) -> Parsed<Option<Arithmetic>> {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n')) {
            self.bump();
        }
        let arithmetic = self.arithmetic(ArithmeticEnd::Semicolon)?;
        // To bash an absent expression is `1`, and that is how it shows it.
        let absent = is_blank(&arithmetic.text)
            || matches!(arithmetic.text.parts.as_slice(), [WordPart::Literal(text)] if text == "1");
        Ok(if absent { None } else { Some(arithmetic) })
    }
}

/// To bash `elif` is an `if` alone in `else`, and it prints it so: both become branches here.
fn flatten(command: &mut IfCommand) {
    let Some(List { items }) = &mut command.otherwise else { return };
    let [ListItem { chain, background: false }] = items.as_mut_slice() else { return };
    let AndOr { first, rest } = chain;
    if !rest.is_empty() || first.negated || first.timed.is_some() {
        return;
    }
    let [Stage { command: Command::Compound(compound), .. }] = first.stages.as_mut_slice() else {
        return;
    };
    let CompoundCommand { kind: CompoundKind::If(inner), redirects, .. } = compound else { return };
    if redirects.is_empty() {
        command.branches.append(&mut inner.branches);
        command.otherwise = inner.otherwise.take();
    }
}

fn is_all_arguments(words: &[Word]) -> bool {
    let [Word { parts, .. }] = words else { return false };
    let [WordPart::DoubleQuoted(inside)] = parts.as_slice() else { return false };
    let [WordPart::Parameter(expansion)] = inside.as_slice() else { return false };
    expansion.parameter == Parameter::All && !expansion.braced
}
