//! `exacta run --strict`: one command as S1 has it, asked about on the terminal.

use std::sync::Arc;

use bstr::ByteSlice;
use exacta::approvals::Unattended;
use exacta::background::block_on;
use exacta::covenant::{
    ExecuteOptions, ExecutionContext, RunCommand, RunErrorKind, RunResult, execute_run, to_json,
};
use exacta::gate::Face;
use exacta_shell::status::ExitStatus;

use super::failed;
use crate::exit::Exit;
use crate::invocation::{Global, RunInvocation};
use crate::launch::Launch;
use crate::{output, terminal};

pub fn perform(global: &Global, run: RunInvocation) -> Exit {
    let session = match Launch::new(global) {
        Ok(launch) => launch.session(Face::Shell, Arc::new(Unattended)),
        Err(problem) => return failed(&problem),
    };
    let caller = session.directory.filter(|caller| caller.starts_with(&session.root));
    let cwd = caller.unwrap_or_else(|| session.root.clone());
    let context = ExecutionContext::new(cwd).with_root(&session.root);
    let mut options = ExecuteOptions {
        environment: session.environment,
        trust: session.trust,
        judgement: session.judgement,
        ..Default::default()
    };
    if run.clear_environment {
        options.environment.clone_from(&global.environment);
    }
    options.time_limit = run.timeout.unwrap_or(options.time_limit);
    options.output_limit = run.max_output.unwrap_or(options.output_limit);
    if !run.no_input {
        let yes = run.yes;
        options = options.prompter(move |question: String| async move {
            if yes { "yes".to_owned() } else { terminal::ask(&question).unwrap_or_default() }
        });
    }
    // What is not text is no word of any command; the check says so in its own words.
    let text = run.command.to_str().map_or_else(|_| "\0".to_owned(), str::to_owned);
    let command = RunCommand { command: text, cwd: run.directory };
    let result = block_on(execute_run(&command, &context, options));
    show(global, &result);
    exit(&result)
}

fn show(global: &Global, result: &RunResult) {
    if global.json {
        output::print(&format!("{}\n", to_json(result)));
        return;
    }
    match result {
        Ok(value) => output::print(&value.output),
        Err(error) => {
            output::print(error.output.as_deref().unwrap_or_default());
            output::error(&format!("{}\n", error.error));
        }
    }
}

fn exit(result: &RunResult) -> Exit {
    let Err(error) = result else { return Exit::Success };
    match error.kind {
        RunErrorKind::Invalid
        | RunErrorKind::Path
        | RunErrorKind::NotApproved
        | RunErrorKind::Blocked => Exit::Script(ExitStatus::REFUSED),
        RunErrorKind::Failed(code) => Exit::Script(ExitStatus(code)),
        RunErrorKind::NotFound => Exit::NotFound,
        RunErrorKind::TimedOut => Exit::TimedOut,
        RunErrorKind::TooLarge | RunErrorKind::Cancelled | RunErrorKind::Internal => Exit::Failed,
    }
}
