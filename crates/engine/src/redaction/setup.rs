//! What is to be redacted in a session, put together before anybody knows whether it is needed: rules are made when
//! the first text has to be looked at.

use std::sync::OnceLock;

use bstr::{BString, ByteSlice};

use super::{PatternError, Rules};

/// Whether a caller gets results as they are (S3: whole in memory) or without secrets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Results {
    #[default]
    Whole,
    Redacted,
}

/// The operator's patterns, known secrets, and what is done with results.
#[derive(Debug, Clone, Default)]
pub struct Redaction {
    pub results: Results,
    /// Built-in rules and patterns.
    base: Option<Rules>,
    variables: Vec<(BString, BString)>,
    secrets: Vec<(String, BString)>,
    rules: OnceLock<Rules>,
}

impl Redaction {
    pub fn new(results: Results) -> Self {
        Redaction { results, ..Redaction::default() }
    }

    /// A pattern of the operator's own; if it has a group, that is the secret.
    pub fn with_pattern(mut self, kind: &str, pattern: &str) -> Result<Self, PatternError> {
        self.base = Some(self.base.unwrap_or_default().with_pattern(kind, pattern)?);
        self.rules = OnceLock::new();
        Ok(self)
    }

    /// The values of those of these variables whose names promise a secret.
    pub fn with_environment(mut self, variables: &[(BString, BString)]) -> Self {
        self.variables.extend_from_slice(variables);
        self.rules = OnceLock::new();
        self
    }

    /// This value, whatever it is called.
    pub fn with_secret(mut self, kind: &str, value: BString) -> Self {
        self.secrets.push((kind.to_owned(), value));
        self.rules = OnceLock::new();
        self
    }

    /// What is looked for.
    pub fn rules(&self) -> &Rules {
        self.rules.get_or_init(|| {
            let variables = self.variables.iter();
            let variables = variables.map(|(name, value)| (name.as_bytes(), value.as_bytes()));
            let rules = self.base.clone().unwrap_or_default().with_environment(variables);
            self.secrets.iter().fold(rules, |rules, (kind, value)| rules.with_secret(kind, value))
        })
    }
}
