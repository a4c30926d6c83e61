//! Compound commands, line by line as `declare -f` shows them.

use super::layout::Printer;
use super::statement::ends_bare;
use super::word::{ArithmeticPlace, Surroundings};
use crate::ast::{
    Arithmetic, ArithmeticFor, CaseClause, CaseCommand, CaseEnd, Command, CompoundCommand,
    CompoundKind, Conditional, ConditionalOperator, ForLoop, IfBranch, List, WhileLoop, Word,
};

/// Bash shows `elif` as an `if` inside `else`. Beyond this many the text would nest too deeply to be read back.
const NESTED_BRANCHES: usize = 20;

impl<'tree> Printer<'tree> {
    pub fn compound(&mut self, compound: &'tree CompoundCommand) {
        match &compound.kind {
            CompoundKind::Group(list) => self.group(list),
            CompoundKind::Subshell(list) => {
                self.text(b"( ");
                self.list(list);
                self.end_documents();
                self.text(if ends_bare(list) { b"; )" } else { b" )" });
            }
            CompoundKind::For(for_loop) => self.for_loop(b"for ", for_loop),
            CompoundKind::Select(for_loop) => self.for_loop(b"select ", for_loop),
            CompoundKind::ArithmeticFor(for_loop) => self.arithmetic_for(for_loop),
            CompoundKind::While(while_loop) => self.while_loop(while_loop),
            CompoundKind::If(command) => {
                self.branches(&command.branches, command.otherwise.as_ref(), 0);
            }
            CompoundKind::Case(case) => self.case(case),
            CompoundKind::Arithmetic(arithmetic) => {
                self.text(b"((");
                self.arithmetic(arithmetic, ArithmeticPlace::Parentheses);
                self.text(b"))");
            }
            CompoundKind::Conditional(conditional) => {
                self.text(b"[[ ");
                self.conditional(conditional);
                self.text(b" ]]");
            }
            CompoundKind::Coprocess(coprocess) => {
                self.text(b"coproc ");
                // In front of a simple command a name would be its first word.
                if begins_compound(&coprocess.body) {
                    self.text(&coprocess.name);
                    self.text(b" ");
                }
                self.list(&coprocess.body);
            }
        }
        for redirect in &compound.redirects {
            self.text(b" ");
            self.redirect(redirect);
        }
    }

    /// `{ …; }`, on lines of its own inside a function.
    fn group(&mut self, list: &'tree List) {
        self.text(b"{ ");
        if !self.in_function {
            self.list(list);
            self.end_documents();
            self.semicolon();
            self.text(b" }");
            return;
        }
        self.deeper();
        self.line(b"");
        self.list(list);
        self.end_documents();
        self.shallower();
        self.line(b"}");
    }

    /// A body one level deeper, on new lines, and the word that closes it.
    fn body(&mut self, list: &'tree List, closing: &[u8]) {
        self.deeper();
        self.line(b"");
        self.list(list);
        self.shallower();
        self.end_documents();
        self.semicolon();
        self.line(closing);
    }

    /// A condition and the word behind it.
    fn condition(&mut self, list: &'tree List, word: &[u8]) {
        self.list(list);
        self.semicolon();
        self.text(word);
    }

    fn for_loop(&mut self, keyword: &[u8], for_loop: &'tree ForLoop) {
        self.text(keyword);
        self.text(&for_loop.variable);
        self.text(b" in ");
        match &for_loop.words {
            None => self.text(b"\"$@\""),
            Some(words) => self.words(words, b" "),
        }
        self.text(b";");
        self.line(b"do");
        self.body(&for_loop.body, b"done");
    }

    fn words(&mut self, words: &'tree [Word], separator: &[u8]) {
        for (index, word) in words.iter().enumerate() {
            if index > 0 {
                self.text(separator);
            }
            self.word(word, Surroundings::Unquoted);
        }
    }

    fn arithmetic_for(&mut self, for_loop: &'tree ArithmeticFor) {
        self.text(b"for ((");
        self.loop_expression(for_loop.initial.as_ref());
        self.text(b"; ");
        self.loop_expression(for_loop.condition.as_ref());
        self.text(b"; ");
        self.loop_expression(for_loop.update.as_ref());
        self.text(b"))");
        self.line(b"do");
        self.body(&for_loop.body, b"done");
    }

    /// Bash shows an absent expression as `1`, and reads that back as the same.
    fn loop_expression(&mut self, expression: Option<&'tree Arithmetic>) {
        match expression {
            None => self.text(b"1"),
            Some(arithmetic) => self.arithmetic(arithmetic, ArithmeticPlace::Loop),
        }
    }

    fn while_loop(&mut self, while_loop: &'tree WhileLoop) {
        self.text(if while_loop.until { b"until " } else { b"while " });
        self.condition(&while_loop.condition, b" do");
        self.body(&while_loop.body, b"done");
    }

    fn branches(
        &mut self,
        branches: &'tree [IfBranch],
        otherwise: Option<&'tree List>,
        depth: usize,
    ) {
        let Some((first, rest)) = branches.split_first() else { return };
        self.text(b"if ");
        self.branch(first);
        let mut rest = rest;
        if depth >= NESTED_BRANCHES {
            for next in std::mem::take(&mut rest) {
                self.line(b"elif ");
                self.branch(next);
            }
        }
        if !rest.is_empty() {
            self.line(b"else");
            self.deeper();
            self.line(b"");
            self.branches(rest, otherwise, depth + 1);
            self.shallower();
            self.semicolon();
            self.line(b"fi");
            return;
        }
        match otherwise {
            None => self.line(b"fi"),
            Some(list) => {
                self.line(b"else");
                self.body(list, b"fi");
            }
        }
    }

    /// Condition and body, up to the end of the body's last line.
    fn branch(&mut self, branch: &'tree IfBranch) {
        self.condition(&branch.condition, b" then");
        self.deeper();
        self.line(b"");
        self.list(&branch.body);
        self.shallower();
        self.end_documents();
        self.semicolon();
    }

    fn case(&mut self, case: &'tree CaseCommand) {
        self.text(b"case ");
        self.word(&case.subject, Surroundings::Unquoted);
        self.text(b" in ");
        self.deeper();
        for clause in &case.clauses {
            self.case_clause(clause);
        }
        self.shallower();
        self.line(b"esac");
    }

    fn case_clause(&mut self, clause: &'tree CaseClause) {
        self.line(b"");
        if clause.patterns.first().is_some_and(is_esac) {
            // Only a parenthesis keeps it from ending the command.
            self.text(b"(");
        }
        self.words(&clause.patterns, b" | ");
        self.text(b")");
        if clause.body.items.is_empty() {
            self.end_line();
        } else {
            self.deeper();
            self.line(b"");
            self.list(&clause.body);
            self.shallower();
        }
        self.end_documents();
        self.line(match clause.end {
            CaseEnd::Break => b";;",
            CaseEnd::FallThrough => b";&",
            CaseEnd::TestNext => b";;&",
        });
    }

    fn conditional(&mut self, conditional: &'tree Conditional) {
        match conditional {
            Conditional::Not(inner) => {
                self.text(b"! ");
                self.term(inner);
            }
            Conditional::And(terms) => self.joined(terms, b" && "),
            Conditional::Or(terms) => {
                for (index, term) in terms.iter().enumerate() {
                    if index > 0 {
                        self.text(b" || ");
                    }
                    match term {
                        Conditional::And(terms) => self.joined(terms, b" && "),
                        other => self.term(other),
                    }
                }
            }
            Conditional::Unary { operator, operand } => {
                self.text(&[b'-', *operator, b' ']);
                self.word(operand, Surroundings::Unquoted);
            }
            Conditional::Binary { operator, left, right } => {
                self.word(left, Surroundings::Unquoted);
                self.text(conditional_operator(*operator));
                self.word(right, Surroundings::Unquoted);
            }
            Conditional::Word(word) => {
                self.text(b"-n ");
                self.word(word, Surroundings::Unquoted);
            }
        }
    }

    fn joined(&mut self, terms: &'tree [Conditional], operator: &[u8]) {
        for (index, term) in terms.iter().enumerate() {
            if index > 0 {
                self.text(operator);
            }
            self.term(term);
        }
    }

    /// In parentheses if it is a chain of its own.
    fn term(&mut self, term: &'tree Conditional) {
        if matches!(term, Conditional::And(_) | Conditional::Or(_)) {
            self.text(b"( ");
            self.conditional(term);
            self.text(b" )");
        } else {
            self.conditional(term);
        }
    }
}

fn is_esac(word: &Word) -> bool {
    matches!(word.parts.as_slice(), [crate::ast::WordPart::Literal(text)] if text == "esac")
}

fn conditional_operator(operator: ConditionalOperator) -> &'static [u8] {
    match operator {
        ConditionalOperator::Matches => b" == ",
        ConditionalOperator::Differs => b" != ",
        ConditionalOperator::Regex => b" =~ ",
        ConditionalOperator::Before => b" < ",
        ConditionalOperator::After => b" > ",
        ConditionalOperator::Equal => b" -eq ",
        ConditionalOperator::NotEqual => b" -ne ",
        ConditionalOperator::Less => b" -lt ",
        ConditionalOperator::LessOrEqual => b" -le ",
        ConditionalOperator::Greater => b" -gt ",
        ConditionalOperator::GreaterOrEqual => b" -ge ",
        ConditionalOperator::Newer => b" -nt ",
        ConditionalOperator::Older => b" -ot ",
        ConditionalOperator::SameFile => b" -ef ",
    }
}

fn begins_compound(list: &List) -> bool {
    let stage = list.items.first().and_then(|item| item.chain.first.stages.first());
    stage.is_some_and(|stage| matches!(stage.command, Command::Compound(_)))
}
