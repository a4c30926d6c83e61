//! What the binary can be asked to do, one file each.

pub mod approvals;
pub mod audit;
mod completions;
pub mod deeds;
mod init;
mod interactive;
pub mod isolation;
pub mod preview;
pub mod records;
mod redact;
pub mod report;
mod run;
mod script;
pub mod shell;
mod strict;
mod task;
mod trust;

use crate::exit::Exit;
use crate::hook::{self, Where};
use crate::invocation::{Invocation, Manage, Source, What};
use crate::{doctor, explain, output, setup, usage};

pub fn perform(invocation: Invocation) -> Exit {
    let Invocation { global, what } = invocation;
    match what {
        What::Help => {
            output::print(usage::HELP);
            Exit::Success
        }
        What::Explain(topic) => {
            output::print(&explain::help(&topic));
            Exit::Success
        }
        What::Version => {
            output::print(concat!("exacta ", env!("CARGO_PKG_VERSION"), "\n"));
            Exit::Success
        }
        What::Script(script) if script.source == Source::Stdin && interactive::wanted(&script) => {
            interactive::perform(&global, &script)
        }
        What::Script(script) => script::perform(&global, script),
        What::Run(run) if run.strict => strict::perform(&global, run),
        What::Run(run) => run::perform(&global, run),
        What::Manage(Manage::Doctor) => doctor::perform(&global),
        What::Manage(Manage::Shell(verb)) => shell::perform(&global, &verb),
        What::Manage(Manage::Approvals(verb)) => approvals::perform(&global, &verb),
        What::Manage(Manage::Records(verb)) => records::perform(&global, &verb),
        What::Manage(Manage::Audit(verb)) => audit::perform(&global, verb),
        What::Manage(Manage::Serve(serve)) => crate::serve::perform(&global, &serve),
        What::Manage(Manage::Mcp(mcp)) => crate::mcp::perform(&global, &mcp),
        What::Manage(Manage::Task(verb)) => task::perform(&global, &verb),
        What::Manage(Manage::Redact) => redact::perform(&global),
        What::Manage(Manage::Completions(shell)) => completions::perform(shell),
        What::Manage(Manage::Hook { rewrite }) => {
            hook::perform(&global, if rewrite { Where::Exacta } else { Where::Host })
        }
        What::Manage(Manage::Setup(setup)) => setup::perform(&global, &setup),
        What::Manage(Manage::Man(verb)) => {
            output::print(&explain::man(verb));
            Exit::Success
        }
        What::Manage(Manage::Trust { yes, forget }) => trust::perform(&global, yes, forget),
        What::Manage(Manage::Init { import, force }) => {
            init::perform(&global, import.as_deref(), force)
        }
    }
}

/// It was done, and cannot be accounted for.
pub fn not_recorded(error: &exacta::audit::store::AuditError) -> Exit {
    let hint = error.next().map(|next| format!("\nhint: {next}")).unwrap_or_default();
    failed(&format!("what was done was not recorded: {error}{hint}"))
}

/// exacta itself could not do it.
pub fn failed(problem: &dyn std::fmt::Display) -> Exit {
    output::error(&format!("exacta: {problem}\n"));
    Exit::Failed
}
