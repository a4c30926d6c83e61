//! Compound commands: groups, subshells, loops, conditions.

use bstr::BString;

use super::Parsed;
use super::arithmetic_text::{ArithmeticEnd, is_blank};
use super::cursor::Reader;
use super::input::Mark;
use super::reserved::Reserved;
use super::words::WordKind;
use crate::SyntaxErrorKind;
use crate::ast::{
    AndOr, Arithmetic, ArithmeticFor, Command, CompoundCommand, CompoundKind, ForLoop, IfBranch,
    IfCommand, List, ListItem, Parameter, Stage, WhileLoop, Word, WordPart,
};

impl Reader<'_, '_> {
    /// The compound command at the position, with its redirects, into `place`.
    pub fn compound(&mut self, place: &mut CompoundCommand, mark: Mark) -> Parsed<()> {
        self.nested(|reader| reader.compound_kind(&mut place.kind))?;
        self.redirects(&mut place.redirects)?;
        place.span = self.span_since(mark);
        Ok(())
    }

    fn compound_kind(&mut self, place: &mut CompoundKind) -> Parsed<()> {
        if self.peek() == Some(b'(') {
            return self.parenthesis(place);
        }
        let Some((word, end)) = self.reserved_word() else { return self.unexpected() };
        if !word.opens_compound() {
            return self.unexpected();
        }
        self.input.position = end;
        match word {
            Reserved::OpenBrace => self.brace_group(place),
            Reserved::If => self.if_command(place),
            Reserved::For => self.for_command(place),
            Reserved::Select => self.select_command(place),
            Reserved::While => self.while_loop(place, false),
            Reserved::Until => self.while_loop(place, true),
            Reserved::Case => self.case_command(place),
            _ => self.conditional_command(place),
        }
    }

    /// `{ …; }`
    fn brace_group(&mut self, place: &mut CompoundKind) -> Parsed<()> {
        let list = self.required_list()?;
        *place = CompoundKind::Group(list);
        self.expect_reserved(Reserved::CloseBrace)
    }

    /// `(( … ))` if it is one, else `( … )`.
    fn parenthesis(&mut self, place: &mut CompoundKind) -> Parsed<()> {
        let mark = self.mark();
        self.bump();
        if self.peek() != Some(b'(') {
            return self.subshell(place);
        }
        if self.arithmetic_command(place)? {
            return Ok(());
        }
        match self.subshell(place) {
            Err(error) if error.kind == SyntaxErrorKind::UnexpectedEnd => self.unclosed(')', mark),
            other => other,
        }
    }

    fn subshell(&mut self, place: &mut CompoundKind) -> Parsed<()> {
        let list = self.required_list()?;
        *place = CompoundKind::Subshell(list);
        if self.accept(b')') { Ok(()) } else { self.unexpected() }
    }

    fn arithmetic_command(&mut self, place: &mut CompoundKind) -> Parsed<bool> {
        let found = self.try_arithmetic(|reader| {
            reader.bump();
            reader.arithmetic_in_parentheses()
        })?;
        let is_arithmetic = found.is_some();
        if let Some(arithmetic) = found {
            *place = CompoundKind::Arithmetic(*arithmetic);
        }
        Ok(is_arithmetic)
    }

    fn if_command(&mut self, place: &mut CompoundKind) -> Parsed<()> {
        let mut command = IfCommand { branches: Vec::new(), otherwise: None };
        self.if_branch(&mut command.branches)?;
        while self.accept_reserved(Reserved::Elif) {
            self.if_branch(&mut command.branches)?;
        }
        if self.accept_reserved(Reserved::Else) {
            command.otherwise = Some(self.required_list()?);
        }
        self.expect_reserved(Reserved::Fi)?;
        flatten(&mut command);
        *place = CompoundKind::If(command);
        Ok(())
    }

    fn if_branch(&mut self, branches: &mut Vec<IfBranch>) -> Parsed<()> {
        let condition = self.required_list()?;
        self.expect_reserved(Reserved::Then)?;
        let body = self.required_list()?;
        branches.push(IfBranch { condition, body });
        Ok(())
    }

    fn while_loop(&mut self, place: &mut CompoundKind, until: bool) -> Parsed<()> {
        let condition = self.required_list()?;
        let body = self.do_body()?;
        *place = CompoundKind::While(WhileLoop { until, condition, body });
        Ok(())
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

    fn for_command(&mut self, place: &mut CompoundKind) -> Parsed<()> {
        self.skip_blanks();
        if self.looking_at(b"((") {
            return self.arithmetic_for(place);
        }
        let (variable, words) = self.for_head()?;
        let body = self.loop_body()?;
        *place = CompoundKind::For(ForLoop { variable, words, body });
        Ok(())
    }

    fn select_command(&mut self, place: &mut CompoundKind) -> Parsed<()> {
        let (variable, words) = self.for_head()?;
        let body = self.loop_body()?;
        *place = CompoundKind::Select(ForLoop { variable, words, body });
        Ok(())
    }

    /// Behind `for` or `select`, up to the body.
    fn for_head(&mut self) -> Parsed<(BString, Option<Vec<Word>>)> {
        self.skip_blanks();
        if !self.at_word() {
            return self.unexpected_in_line();
        }
        let variable = self.loop_variable()?;
        self.skip_blanks();
        if self.peek() == Some(b';') {
            self.list_terminator()?;
            return Ok((variable, None));
        }
        let same_line = self.peek() != Some(b'\n');
        self.skip_newlines()?;
        if same_line && matches!(self.reserved_word(), Some((Reserved::OpenBrace, _))) {
            // Bash does not look for a reserved word other than `in` and `do` there.
            return self.unexpected();
        }
        let words = if self.accept_reserved(Reserved::In) { self.loop_words()? } else { None };
        Ok((variable, words))
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
    fn arithmetic_for(&mut self, place: &mut CompoundKind) -> Parsed<()> {
        self.accept_text(b"((");
        let mut expressions = [None, None, None];
        for (index, expression) in expressions.iter_mut().enumerate() {
            *expression = self.loop_expression()?;
            let last = index == 2;
            if last && self.peek() == Some(b';') {
                return self.other("syntax error: `;' unexpected".into());
            }
            if !last && !self.accept(b';') {
                return self.other("syntax error: arithmetic expression required".into());
            }
        }
        if !self.accept_text(b"))") {
            return self.unexpected();
        }
        let [initial, condition, update] = expressions;
        let head = ArithmeticFor { initial, condition, update, body: List::default() };
        *place = CompoundKind::ArithmeticFor(head);
        self.skip_blanks();
        self.accept(b';');
        self.arithmetic_for_body(place)
    }

    fn arithmetic_for_body(&mut self, place: &mut CompoundKind) -> Parsed<()> {
        let body = self.loop_body()?;
        if let CompoundKind::ArithmeticFor(command) = place {
            command.body = body;
        }
        Ok(())
    }

    fn loop_expression(&mut self) -> Parsed<Option<Arithmetic>> {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n')) {
            self.bump();
        }
        let arithmetic = self.arithmetic(ArithmeticEnd::Semicolon)?;
        // To bash an absent expression is `1`, and that is how it shows it.
        let absent = is_blank(&arithmetic.text)
            || matches!(arithmetic.text.parts.as_slice(), [WordPart::Literal(text)] if text == "1");
        Ok(if absent { None } else { Some(*arithmetic) })
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
