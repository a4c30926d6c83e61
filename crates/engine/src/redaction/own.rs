//! Patterns of the operator's own, line by line.

use std::fmt;
use std::sync::Arc;

use regex_automata::meta::Regex;
use regex_automata::util::syntax;

use super::found::{Found, Kind, RANK_OWN};

#[derive(Debug, Clone)]
pub struct Pattern {
    kind: Arc<str>,
    regex: Regex,
}

/// Why a pattern is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternError(String);

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PatternError {}

/// A pattern that needs more than this is a mistake.
const LARGEST: usize = 4 << 20;

impl Pattern {
    pub fn new(kind: &str, pattern: &str) -> Result<Self, PatternError> {
        let config = Regex::config()
            .nfa_size_limit(Some(LARGEST))
            .hybrid_cache_capacity(LARGEST)
            .utf8_empty(false);
        let regex = Regex::builder()
            .configure(config)
            .syntax(syntax::Config::new().utf8(false))
            .build(pattern)
            .map_err(|error| PatternError(reason(&error)))?;
        if regex.is_match("") {
            return Err(PatternError("it matches nothing at all".to_owned()));
        }
        Ok(Pattern { kind: kind.into(), regex })
    }

    pub fn look(&self, line: &[u8], found: &mut Found<'_>) {
        if !self.regex.is_match(line) {
            return;
        }
        for captures in self.regex.captures_iter(line) {
            let span = captures.get_group(1).or(captures.get_match().map(|found| found.span()));
            if let Some(span) = span {
                found.add_kind(span.start, span.end, Kind::Own(Arc::clone(&self.kind)), RANK_OWN);
            }
        }
    }
}

/// What the parser says, on one line.
fn reason(error: &regex_automata::meta::BuildError) -> String {
    if let Some(error) = error.syntax_error() {
        let text = error.to_string();
        let last = text.lines().last().unwrap_or_default();
        return last.strip_prefix("error: ").unwrap_or(last).to_owned();
    }
    error.to_string()
}
