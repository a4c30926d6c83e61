//! From the shell's question to the pipeline's answer.

use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};
use exacta_policy::Profile;
use exacta_policy::event::Access;
use exacta_shell::builtins::{self, Run};
use exacta_shell::host::{Action, Clearance, Execution, Refusal};

use crate::gate::{Face, Gate};
use crate::pipeline;
use crate::surroundings::World;

/// May this happen?
pub fn judge(gate: &Gate, action: &Action<'_>) -> Result<Clearance, Refusal> {
    match action {
        Action::Run { argv, how, directory, environment } => {
            run(gate, argv, *how, directory, environment)
        }
        Action::Open { path, writes } => open(gate, path, *writes),
    }
}

fn run(
    gate: &Gate,
    argv: &[BString],
    how: Execution,
    directory: &BStr,
    environment: &[(BString, BString)],
) -> Result<Clearance, Refusal> {
    let in_process = how == Execution::InProcess;
    if in_process && is_plain(gate, argv) {
        return Ok(Clearance::unrestricted());
    }
    let changed = gate.not_initial(environment.iter().cloned());
    let action = exacta_policy::Action::Run { argv, in_process, environment: &changed, directory };
    // In the face of S0 nobody is asked about a program that is not there; a denied one is denied all the same.
    let missing = how == Execution::Missing && gate.judgement.face == Face::Shell;
    let world = world(gate, directory);
    let cleared = if missing || (in_process && is_language(argv)) {
        pipeline::judge_unasked(gate, &action, &world)
    } else {
        pipeline::judge(gate, &action, &world)
    };
    match cleared {
        Ok(cleared) => {
            let rule = Arc::clone(&cleared.finding().rule);
            Ok(Clearance::new(rule, Some(Arc::new(cleared))))
        }
        Err(refused) => Err(gate.as_refusal(&refused)),
    }
}

/// Would a rule have this program write directly, if it were allowed?
pub fn is_direct(gate: &Gate, argv: &[BString], directory: &BStr) -> bool {
    let action =
        exacta_policy::Action::Run { argv, in_process: false, environment: &[], directory };
    gate.judgement.policy.judge(&action, &world(gate, directory)).direct
}

fn open(gate: &Gate, path: &BStr, writes: bool) -> Result<Clearance, Refusal> {
    if is_device(path) && gate.judgement.policy.profile() != Profile::Safe {
        return Ok(Clearance::unrestricted());
    }
    let access = if writes { Access::Write } else { Access::Read };
    let action = exacta_policy::Action::Open { path, access };
    let root = gate.files.root();
    match pipeline::judge(gate, &action, &world(gate, root)) {
        Ok(cleared) => Ok(Clearance::new(Arc::clone(&cleared.finding().rule), None)),
        Err(refused) => Err(gate.as_refusal(&refused)),
    }
}

fn world<'a>(gate: &'a Gate, directory: &'a BStr) -> World<'a> {
    World { files: &*gate.files, directory, shell: None, grants: &gate.judgement.grants }
}

/// No rule is about this command, and its paths are the file system's business: most commands of most scripts.
fn is_plain(gate: &Gate, argv: &[BString]) -> bool {
    let Some(name) = argv.first() else { return false };
    gate.judgement.face == Face::Shell
        && gate.blocks_nothing()
        && !changes_names(name)
        && gate.is_plain(name.as_bstr())
}

/// Tools that change the tree without opening a file: rules about paths can only be held against their words.
fn changes_names(name: &BString) -> bool {
    const TOOLS: [&str; 13] = [
        "chgrp", "chmod", "chown", "cp", "find", "ln", "mkdir", "mkfifo", "mktemp", "mv", "rm",
        "rmdir", "touch",
    ];
    let base = name.rsplit(|byte| *byte == b'/').next().unwrap_or(name);
    TOOLS.iter().any(|tool| tool.as_bytes() == base)
}

/// Part of the shell itself: it changes nothing but the shell, and what it makes the shell do is judged when it
/// happens.
fn is_language(argv: &[BString]) -> bool {
    let command = argv.first().and_then(|name| builtins::find(name));
    command.is_some_and(|command| !matches!(command.run, Run::Tool(_)))
}

/// Open to everybody, and what most redirects are about.
fn is_device(path: &BStr) -> bool {
    const DEVICES: [&[u8]; 5] =
        [b"/dev/null", b"/dev/zero", b"/dev/full", b"/dev/random", b"/dev/urandom"];
    DEVICES.contains(&path.as_bytes())
}
