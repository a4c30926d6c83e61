//! `exacta setup AGENT`: the configuration that makes an agent use exacta, printed or written.
//!
//! Files of others: what is in them stays as it is, byte for byte where something is added, and one that cannot be read as what
//! it should be is left alone. [`agents`] says what goes where.

mod agents;
pub mod claude_code;
mod difference;
pub mod files;
mod json;

use std::path::Path;

use crate::exit::Exit;
use crate::invocation::{Global, Scale, SetupInvocation};
use crate::terminal::{ask, visible, visible_line};
use crate::verbs::failed;
use crate::{launch, output};
use agents::{Applied, Surroundings, Target};

pub fn perform(global: &Global, setup: &SetupInvocation) -> Exit {
    let surroundings = match surroundings(global, setup) {
        Ok(surroundings) => surroundings,
        Err(problem) => return failed(&problem),
    };
    let targets = match agents::targets(setup.agent, &surroundings, setup.mcp) {
        Ok(targets) => targets,
        Err(problem) => return failed(&problem),
    };
    let mut exit = Exit::Success;
    for target in &targets {
        let done =
            if setup.write { write(target, setup, &surroundings) } else { print(target, setup) };
        if done != Exit::Success {
            exit = done;
        }
    }
    for note in agents::notes(setup.agent) {
        output::print(&format!("note: {note}\n"));
    }
    exit
}

fn surroundings(global: &Global, setup: &SetupInvocation) -> Result<Surroundings, String> {
    let scale = setup.scope.unwrap_or_else(|| agents::usual_scale(setup.agent));
    let root = launch::root(global).map_err(|problem| problem.to_string())?;
    let missing = || "HOME does not say where your configuration is".to_owned();
    Ok(Surroundings {
        scale,
        root,
        home: launch::home().ok_or_else(missing)?,
        configuration: launch::configuration_home().ok_or_else(missing)?,
    })
}

/// What to put where.
fn print(target: &Target, setup: &SetupInvocation) -> Exit {
    let shown = visible(&target.file.display().to_string());
    let hint = match files::read(&target.file) {
        Err(problem) => format!("{shown} cannot be read: {problem}"),
        Ok(old) => match target.applied(old.as_deref()) {
            Applied::Same => format!("{shown} has it already"),
            Applied::ByHand(why) => format!("{shown} has to be changed by hand: {why}"),
            Applied::Changed(_) => {
                format!("`exacta setup {} --write` puts it there", setup.agent)
            }
        },
    };
    output::print(&format!("{shown}:\n\n{}\nhint: {hint}\n", target.snippet()));
    Exit::Success
}

/// Shows what would change, asks, and changes it.
fn write(target: &Target, setup: &SetupInvocation, surroundings: &Surroundings) -> Exit {
    let shown = visible(&target.file.display().to_string());
    if surroundings.scale == Scale::Project
        && files::leads_elsewhere(&target.file, &surroundings.root)
    {
        return by_hand(target, "a link of the project leads somewhere else");
    }
    let old = match files::read(&target.file) {
        Ok(old) => old,
        Err(problem) => return failed(&format!("{shown}: {problem}")),
    };
    let new = match target.applied(old.as_deref()) {
        Applied::Same => {
            output::print(&format!("{shown} has it already\n"));
            return Exit::Success;
        }
        Applied::ByHand(why) => return by_hand(target, &why),
        Applied::Changed(new) => new,
    };
    output::print(&shown_change(&target.file, old.as_deref(), &new));
    if !setup.yes {
        match ask(&format!("write {shown}? [y/N] ")) {
            Some(answer) if ["y", "yes"].contains(&answer.trim().to_lowercase().as_str()) => {}
            Some(_) => {
                output::error("exacta: not written\n");
                return Exit::Declined;
            }
            None => {
                output::error(
                    "exacta: not written: there is no terminal to ask on\n\nhint: --yes writes it without a question\n",
                );
                return Exit::Declined;
            }
        }
    }
    match files::replace(&target.file, old.as_deref(), &new) {
        Ok(None) => output::print(&format!("wrote {shown}\n")),
        Ok(Some(backup)) => {
            let backup = visible(&backup.display().to_string());
            output::print(&format!("wrote {shown}; what was there is in {backup}\n"));
        }
        Err(problem) => return failed(&format!("{shown}: {problem}")),
    }
    Exit::Success
}

fn by_hand(target: &Target, why: &str) -> Exit {
    let shown = visible(&target.file.display().to_string());
    output::error(&format!("exacta: {shown} was not touched: {why}\n"));
    output::print(&format!("put this into {shown}:\n\n{}", target.snippet()));
    Exit::Declined
}

fn shown_change(file: &Path, old: Option<&str>, new: &str) -> String {
    let lines = difference::unified(file, old, new);
    let lines: Vec<String> = lines.iter().map(|line| visible_line(line)).collect();
    lines.join("\n") + "\n"
}
