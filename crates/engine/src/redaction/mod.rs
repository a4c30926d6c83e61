//! Secrets out of a text before it is kept or shown: `[REDACTED]` in their place, and what kinds they were.
//!
//! Pure: bytes in, bytes out. It neither reads an environment nor knows where the text goes; [`Rules`] is told the values
//! that must not be seen. What is around a secret stays: the name of a variable or header, the user and host of an address.
//!
//! A text is looked at where a word of the [`gate`] stands, and only as far as [`stream::BACK`] and [`stream::FORWARD`]
//! reach on the same line. So it does not matter in which pieces a text comes, memory has a bound, and a line of a
//! gigabyte costs what short ones cost.

mod addresses;
mod announced;
mod arguments;
mod around;
mod assignment;
mod below;
mod blocks;
mod builtin;
mod calls;
mod chosen;
mod code;
mod commands;
mod devices;
mod digests;
mod expected;
mod forms;
mod found;
mod gate;
mod headers;
mod inserts;
mod keyed;
mod lines;
mod literals;
mod logins;
mod names;
mod naming;
mod own;
mod pipes;
mod programs;
mod prompts;
mod reading;
mod references;
mod setup;
mod shape;
mod siblings;
mod spaced;
mod statements;
mod stream;
mod sure;
mod table;
mod tokens;
mod values;
mod versions;
mod vocabulary;
mod wallets;

pub use literals::is_secret_variable;
pub use own::PatternError;
pub use setup::{Redaction, Results};
pub use stream::Redactor;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use blocks::Start;
use gate::{Gate, Letters};
use lines::Line;
use own::Pattern;
use programs::Program;
use table::{NKEY, NUMBERED, TOKENS, Token};

/// What stands in the place of a secret (S3 §8).
pub const REDACTED: &str = "[REDACTED]";

/// What was replaced: how many of each kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Report {
    pub kinds: BTreeMap<String, u64>,
}

impl Report {
    pub fn total(&self) -> u64 {
        self.kinds.values().sum()
    }

    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// With what another text had.
    pub fn with(mut self, other: &Report) -> Self {
        for (kind, count) in &other.kinds {
            *self.kinds.entry(kind.clone()).or_default() += count;
        }
        self
    }

    fn count(&mut self, kind: &str) {
        match self.kinds.get_mut(kind) {
            Some(count) => *count += 1,
            None => drop(self.kinds.insert(kind.to_owned(), 1)),
        }
    }
}

/// What is looked for: the built-in rules, values that are known to be secret, and the operator's own patterns. Cheap to copy.
#[derive(Clone)]
pub struct Rules {
    gate: Arc<Gate<Meaning>>,
    own: Arc<[Pattern]>,
}

impl std::fmt::Debug for Rules {
    /// Nothing of what is looked for: known secrets are among it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rules").field("own", &self.own.len()).finish_non_exhaustive()
    }
}

static BUILTIN: LazyLock<Arc<Gate<Meaning>>> = LazyLock::new(|| Arc::new(builtin::gate()));

impl Default for Rules {
    fn default() -> Self {
        Rules { gate: Arc::clone(&BUILTIN), own: Arc::new([]) }
    }
}

impl Rules {
    /// The built-in rules.
    pub fn new() -> Self {
        Self::default()
    }

    /// This very value is secret wherever it stands, as it is and encoded. Values shorter than eight bytes are left alone:
    /// they would be found in every text.
    pub fn with_secret(mut self, kind: &str, value: &[u8]) -> Self {
        if value.trim_ascii().len() >= literals::SHORTEST {
            self.add_forms(kind, value);
        }
        self
    }

    /// The values of those variables whose names promise a secret.
    pub fn with_environment<'a>(
        mut self,
        variables: impl IntoIterator<Item = (&'a [u8], &'a [u8])>,
    ) -> Self {
        for (name, value) in variables {
            if literals::is_secret_variable(name, value) {
                self.add_forms("environment", value);
            }
        }
        self
    }

    /// A pattern of the operator's own, in the syntax of the regex crate. If it has a group, that is the secret.
    pub fn with_pattern(mut self, kind: &str, pattern: &str) -> Result<Self, PatternError> {
        let pattern = Pattern::new(kind, pattern)?;
        self.own = self.own.iter().cloned().chain([pattern]).collect();
        Ok(self)
    }

    fn add_forms(&mut self, kind: &str, value: &[u8]) {
        let kind: Arc<str> = kind.into();
        let gate = Arc::make_mut(&mut self.gate);
        for form in literals::forms(value) {
            gate.add(form, Letters::AsWritten, Meaning::Literal(Arc::clone(&kind)));
        }
    }

    /// The whole text at once; borrowed if there was nothing to replace.
    pub fn redact<'a>(&self, text: &'a [u8]) -> (Cow<'a, [u8]>, Report) {
        let mut redactor = Redactor::new(self.clone());
        let mut output = Vec::with_capacity(text.len());
        redactor.push(text, &mut output);
        let report = redactor.finish(&mut output);
        if report.is_empty() { (Cow::Borrowed(text), report) } else { (Cow::Owned(output), report) }
    }

    /// The same for what is text already.
    pub fn redact_text(&self, text: &str) -> (String, Report) {
        let (output, report) = self.redact(text.as_bytes());
        // Cuts are at the borders of what was found, which need not be those of characters.
        (String::from_utf8_lossy(&output).into_owned(), report)
    }
}

/// The kinds of secrets that show by themselves what they are.
pub fn kinds() -> impl Iterator<Item = &'static str> {
    TOKENS.iter().chain([&NUMBERED, &NKEY]).map(|token| token.kind)
}

/// What a word of the gate calls for.
#[derive(Debug, Clone)]
enum Meaning {
    Token(&'static Token),
    Program(&'static Program),
    Line(Line),
    /// Arguments of which one is a password.
    Call(usize),
    /// Arguments of which one is a key.
    Keyed(usize),
    Block(Start),
    /// A name that may promise a secret.
    Name,
    /// `value:` after such a name.
    Value,
    Authorization,
    Scheme,
    Cookie,
    Address,
    Literal(Arc<str>),
}
