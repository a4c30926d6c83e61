//! `case … in … esac`

use super::Parsed;
use super::cursor::Reader;
use super::reserved::Reserved;
use super::words::WordKind;
use crate::ast::{CaseClause, CaseCommand, CaseEnd, CompoundKind, Word};

impl Reader<'_, '_> {
    /// Behind `case`.
    pub fn case_command(&mut self) -> Parsed<CompoundKind> {
        let subject = self.required_word(WordKind::Plain)?;
        self.skip_newlines()?;
        self.expect_reserved(Reserved::In)?;
        let mut clauses = Vec::new();
        loop {
            self.skip_newlines()?;
            if self.accept_reserved(Reserved::Esac) {
                return Ok(CompoundKind::Case(CaseCommand { subject, clauses }));
            }
            if self.peek().is_none() {
                return self.unexpected();
            }
            let (clause, last) = self.case_clause()?;
            clauses.push(clause);
            if last {
                self.expect_reserved(Reserved::Esac)?;
                return Ok(CompoundKind::Case(CaseCommand { subject, clauses }));
            }
        }
    }

    /// One clause, and whether it ended without `;;`, so that only `esac` may follow.
    fn case_clause(&mut self) -> Parsed<(CaseClause, bool)> {
        let patterns = self.case_patterns()?;
        let body = self.list()?;
        let end = if self.accept_text(b";;&") {
            Some(CaseEnd::TestNext)
        } else if self.accept_text(b";;") {
            Some(CaseEnd::Break)
        } else if self.accept_text(b";&") {
            Some(CaseEnd::FallThrough)
        } else {
            None
        };
        let clause = CaseClause { patterns, body, end: end.unwrap_or(CaseEnd::Break) };
        Ok((clause, end.is_none()))
    }

    /// `a|b)` or `(a|b)`
    fn case_patterns(&mut self) -> Parsed<Vec<Word>> {
        self.accept(b'(');
        let mut patterns = Vec::new();
        loop {
            patterns.push(self.required_word(WordKind::Plain)?);
            self.skip_blanks();
            if self.accept(b')') {
                return Ok(patterns);
            }
            if self.looking_at(b"||") || !self.accept(b'|') {
                return self.unexpected();
            }
        }
    }
}
