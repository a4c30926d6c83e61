//! Running the tree.

use std::sync::Arc;

use bstr::{BStr, BString};
use exacta_syntax::ast::{CommandSubstitution, List, ProcessSubstitution};

use crate::filesystem::OpenFile;
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow, Running};

#[derive(Clone, Default)]
pub struct Traps {}

#[derive(Clone, Default)]
pub struct Jobs {}

/// State that exists only while something runs: no part of a session.
#[derive(Clone, Default)]
pub struct Transient {}

impl Shell {
    /// Runs a text as `eval`, `source`, `-c` and a script file do: command by command, as bash reads it.
    pub fn run_text(&mut self, text: &BStr, first_line: u32) -> Flow {
        let _ = (text, first_line);
        Ok(ExitStatus::SUCCESS)
    }

    /// The end of a shell: its EXIT trap, its jobs, and what the way out means as a status.
    pub fn finish(&mut self, flow: Flow) -> ExitStatus {
        flow.unwrap_or(ExitStatus::FAILURE)
    }

    /// The end of a request in a session that goes on: as [`Shell::finish`], without the EXIT trap.
    pub fn end_request(&mut self, flow: Flow) -> ExitStatus {
        flow.unwrap_or(ExitStatus::FAILURE)
    }

    pub fn run_list(&mut self, list: &List) -> Flow {
        let _ = list;
        Ok(ExitStatus::SUCCESS)
    }

    /// The output of `$(…)` without its trailing newlines; `$?` is that of the substitution.
    pub fn run_substitution(&mut self, substitution: &CommandSubstitution) -> Running<BString> {
        let _ = substitution;
        Ok(BString::default())
    }

    /// Starts `<(…)` or `>(…)` and gives the name (`/dev/fd/63`) to use in its place.
    pub fn start_process_substitution(
        &mut self,
        substitution: &ProcessSubstitution,
    ) -> Running<BString> {
        let _ = substitution;
        Ok(BString::default())
    }

    /// Runs words that are already expanded, as `command` does: no functions, no aliases. In a subshell,
    /// as a program would run: what it changes is gone afterwards. `input` replaces standard input,
    /// `environment` all exported variables.
    pub fn run_as_program(
        &mut self,
        argv: &[BString],
        input: Option<Arc<dyn OpenFile>>,
        environment: Option<Vec<(BString, BString)>>,
    ) -> Flow {
        let _ = (argv, input, environment);
        Ok(ExitStatus::SUCCESS)
    }
}
