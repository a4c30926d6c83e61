//! `case … in … esac`

use super::Parsed;
use super::cursor::Reader;
use super::reserved::Reserved;
use super::words::WordKind;
use crate::ast::{CaseClause, CaseCommand, CaseEnd, CompoundKind, Word};

impl Reader<'_, '_> {
    /// Behind `case`.
    pub fn case_command(&mut self, place: &mut CompoundKind) -> Parsed<()> {
        let subject = self.required_word(WordKind::Plain)?;
        self.skip_newlines()?;
        self.expect_reserved(Reserved::In)?;
        let mut clauses = Vec::new();
        self.case_clauses(&mut clauses)?;
        *place = CompoundKind::Case(CaseCommand { subject, clauses });
        self.expect_reserved(Reserved::Esac)
    }

    fn case_clauses(&mut self, clauses: &mut Vec<CaseClause>) -> Parsed<()> {
        loop {
            self.skip_newlines()?;
            if matches!(self.reserved_word(), Some((Reserved::Esac, _))) {
                return Ok(());
            }
            if self.peek().is_none() {
                return self.unexpected();
            }
            if !self.case_clause(clauses)? {
                return Ok(());
            }
        }
    }

    /// One clause; false if it ended without `;;`, so that only `esac` may follow.
    fn case_clause(&mut self, clauses: &mut Vec<CaseClause>) -> Parsed<bool> {
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
        clauses.push(CaseClause { patterns, body, end: end.unwrap_or(CaseEnd::Break) });
        Ok(end.is_some())
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
