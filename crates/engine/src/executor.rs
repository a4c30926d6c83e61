//! The face of S0: a parsed command in, its output or the words of its failure out.
//!
//! It has no executor of its own: a [`Command`] becomes a line of text that goes the way of every request.

use std::fmt;

use bstr::{BString, ByteSlice};
use exacta_shell::control::Limits;
use exacta_shell::status::ExitStatus;

use crate::error::EngineError;
use crate::session::{Request, Session, SessionOptions};

/// One command with its arguments, where its output goes, and what it is piped into.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Command {
    pub name: String,
    pub args: Vec<String>,
    pub redirect: Option<Redirect>,
    /// The next stage of the pipeline.
    pub pipe: Option<Box<Command>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Redirect {
    /// `>`
    Write(String),
    /// `>>`
    Append(String),
}

/// What a command printed, and its status: `grep` that finds nothing prints nothing and gives 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    pub stdout: BString,
    pub status: ExitStatus,
}

/// A command that failed and said why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecError {
    /// Standard error, to the letter.
    pub message: BString,
    pub status: ExitStatus,
    /// What it had printed before.
    pub stdout: BString,
}

impl fmt::Display for ExecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)
    }
}

impl std::error::Error for ExecError {}

impl Command {
    pub fn new(name: impl Into<String>) -> Self {
        Command { name: name.into(), ..Command::default() }
    }

    pub fn arg(mut self, arg: impl Into<String>) -> Self {
        self.args.push(arg.into());
        self
    }

    pub fn args<S: Into<String>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    pub fn redirect(mut self, redirect: Redirect) -> Self {
        self.redirect = Some(redirect);
        self
    }

    /// Appends a stage at the end of the pipeline.
    pub fn pipe(mut self, next: Command) -> Self {
        match self.pipe.take() {
            Some(rest) => self.pipe = Some(Box::new(rest.pipe(next))),
            None => self.pipe = Some(Box::new(next)),
        }
        self
    }

    /// The line of text that means exactly this command.
    fn text(&self) -> String {
        let mut text = quoted(&self.name);
        for arg in &self.args {
            text.push(' ');
            // `cd` expands a tilde (S0); everything else takes its arguments as they are.
            text.push_str(&if self.name == "cd" { tilde_or_quoted(arg) } else { quoted(arg) });
        }
        match &self.redirect {
            Some(Redirect::Write(path)) => text.push_str(&format!(" > {}", quoted(path))),
            Some(Redirect::Append(path)) => text.push_str(&format!(" >> {}", quoted(path))),
            None => {}
        }
        if let Some(next) = &self.pipe {
            text.push_str(" | ");
            text.push_str(&next.text());
        }
        text
    }
}

pub(crate) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// `~/a b` as `~/'a b'`: the tilde expands, the rest is literal. The slash stays bare, because a quote directly
/// after the tilde would keep it from expanding; so does a plain rest, which messages then show as it was given.
fn tilde_or_quoted(word: &str) -> String {
    let (prefix, rest) =
        word.split_once('/').map_or((word, None), |(prefix, rest)| (prefix, Some(rest)));
    let plain = |text: &str| {
        text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte))
    };
    match (prefix.strip_prefix('~').is_some_and(plain), rest) {
        (false, _) => quoted(word),
        (true, None) => prefix.to_owned(),
        (true, Some(rest)) if plain(rest) => format!("{prefix}/{rest}"),
        (true, Some(rest)) => format!("{prefix}/{}", quoted(rest)),
    }
}

/// Runs commands one after the other in a session that keeps its directory, variables and functions.
pub struct Executor {
    session: Session,
}

impl Executor {
    pub fn new(root: impl Into<std::path::PathBuf>) -> Result<Self, EngineError> {
        Self::with_options(SessionOptions::new(root))
    }

    pub fn with_options(options: SessionOptions) -> Result<Self, EngineError> {
        Ok(Executor { session: Session::new(options)? })
    }

    /// The same with limits of the caller's choice, e.g. another pipe depth.
    pub fn with_limits(
        root: impl Into<std::path::PathBuf>,
        limits: Limits,
    ) -> Result<Self, EngineError> {
        let mut options = SessionOptions::new(root);
        options.limits = limits;
        Self::with_options(options)
    }

    pub fn run(&mut self, command: &Command) -> Result<Output, ExecError> {
        self.run_text(&command.text())
    }

    /// Any script, with the same kind of answer.
    pub fn run_text(&mut self, text: &str) -> Result<Output, ExecError> {
        let outcome = self.session.run(&Request::new(text));
        let stdout = BString::from(outcome.stdout);
        if outcome.status.success() || outcome.stderr.as_bstr().is_empty() {
            return Ok(Output { stdout, status: outcome.status });
        }
        Err(ExecError { message: outcome.stderr.into(), status: outcome.status, stdout })
    }

    pub fn session(&mut self) -> &mut Session {
        &mut self.session
    }
}
