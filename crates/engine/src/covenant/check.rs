//! Everything that is decided before anybody is asked and before anything runs.

use std::path::{Path, PathBuf};

use bstr::{BStr, BString, ByteSlice};
use exacta_policy::Place;
use exacta_shell::filesystem::{FileSystem, Follow, MayMiss};

use super::answer::{RunError, RunErrorKind};
use super::prompt::Answer;
use super::words::{self, Problem, Word};
use super::{ExecuteOptions, ExecutionContext, RunCommand, flags, paths};
use crate::commands_file::{CommandsFile, Decision, Entered, Trust};
use crate::executor::quoted;
use crate::filesystem::Opened;
use crate::gate::{Face, Judgement};
use crate::session::Storage;
use crate::surroundings::World;
use crate::{filesystem, places, project};

/// In front of the output, or behind the refusal.
pub(super) const ADDED: &str = "[Added to .clada/commands.json]\n";

/// A command that may run once it is permitted.
pub(super) struct Checked {
    /// As it was asked: what people see and what `commands.json` holds.
    pub command: String,
    pub words: Vec<String>,
    pub root: PathBuf,
    pub opened: Opened,
    pub directory: BString,
    pub permission: Permission,
    pub tier: Tier,
    pub judgement: Judgement,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Permission {
    /// A person has allowed exactly this for good.
    Given,
    /// Tier 1 asks nobody.
    Unneeded,
    Needed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tier {
    One,
    Two,
}

pub(super) fn check(
    command: &RunCommand,
    context: &ExecutionContext,
    options: &ExecuteOptions,
) -> Result<Checked, RunError> {
    let text = as_asked(&command.command);
    let words = words::split(&command.command).map_err(wrong_words)?;
    let words = with_line_breaks(words);
    let ground = Ground::find(command, context)?;
    let (tier, wanted) = match flags::check(&words) {
        Some(checked) => {
            let wanted =
                checked.map_err(|problem| RunError::new(RunErrorKind::Invalid, problem))?;
            (
                Tier::One,
                paths::first_outside(&*ground.opened.files, ground.directory.as_bstr(), &wanted),
            )
        }
        None => (
            Tier::Two,
            paths::first_outside_of(&*ground.opened.files, ground.directory.as_bstr(), &words),
        ),
    };
    if let Some(path) = wanted {
        return Err(RunError::new(RunErrorKind::Path, format!("Invalid path: {path}")));
    }
    let permission = decided(&ground.root, text, tier, &*options.trust)?;
    let judgement = judgement(options)?;
    let permission = judged(&judgement, &ground, text, &words, permission)?;
    let Ground { root, opened, directory } = ground;
    let command = text.to_owned();
    Ok(Checked { command, words, root, opened, directory, permission, tier, judgement })
}

/// Writes down what was answered. The refusal that follows from it, if one does.
pub(super) fn remember(checked: &Checked, answer: Answer, trust: &dyn Trust) -> Option<RunError> {
    let (file, command) = (CommandsFile::of(&checked.root), &checked.command);
    let entered = match answer {
        Answer::Always => file.allow(command, trust),
        Answer::Never => file.block(command, trust).map(|()| Entered::Blocked),
        Answer::Yes | Answer::No => return None,
    };
    match (entered, answer) {
        (Ok(Entered::Allowed), _) => None,
        (Ok(Entered::Blocked), Answer::Never) => {
            let text = format!("Command blocked: {command}\n{}", ADDED.trim_end());
            Some(RunError::new(RunErrorKind::Blocked, text))
        }
        (Ok(Entered::Blocked), _) => Some(blocked(command)),
        (Err(problem), _) => Some(RunError::internal(&problem)),
    }
}

fn blocked(command: &str) -> RunError {
    RunError::new(RunErrorKind::Blocked, format!("Command blocked: {command}"))
}

/// Without the white space around it, unless that is part of the last word.
fn as_asked(command: &str) -> &str {
    let command = command.trim_start();
    let trimmed = command.trim_end();
    if trimmed.ends_with('\\') { command } else { trimmed }
}

fn wrong_words(problem: Problem) -> RunError {
    let text = match problem {
        Problem::Syntax => "Invalid shell syntax",
        Problem::Operators => "Shell operators not allowed",
        Problem::Empty => "Empty command",
    };
    RunError::new(RunErrorKind::Invalid, text)
}

/// S1's multi-line commands also arrive with `\n` written out. `echo` and Python code take it for a line break; for
/// every other command a backslash stays what it is in bash (`sed "s/,/\n/"`, `printf "a\n"`).
fn with_line_breaks(words: Vec<Word>) -> Vec<String> {
    let name = words.first().map(|name| name.text.clone()).unwrap_or_default();
    let python = name
        .strip_prefix("python")
        .is_some_and(|version| version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'));
    let mut code = false;
    let mut texts = Vec::with_capacity(words.len());
    for word in words {
        let text = match () {
            () if name == "echo" => word.with_line_breaks(),
            () if python && code => word.with_line_breaks_between_strings(),
            () => word.text.clone(),
        };
        code = text == "-c";
        texts.push(text);
    }
    texts
}

/// The project and the place in it where the command would run.
struct Ground {
    root: PathBuf,
    opened: Opened,
    directory: BString,
}

impl Ground {
    fn find(command: &RunCommand, context: &ExecutionContext) -> Result<Self, RunError> {
        let asked = command.cwd.as_ref().unwrap_or(&context.cwd);
        let invalid = || {
            let text = format!("Invalid working directory: {}", asked.display());
            RunError::new(RunErrorKind::Path, text)
        };
        let own = project::canonical_root(&context.cwd).map_err(|_| invalid())?;
        let root = match &context.root {
            Some(root) => {
                project::canonical_root(root).map_err(|problem| RunError::internal(&problem))?
            }
            None => project::find_root(&own),
        };
        let opened = filesystem::open(&root, Storage::Directory)
            .map_err(|problem| RunError::internal(&problem))?;
        let directory = match &command.cwd {
            Some(cwd) => below(&own, &context.cwd, cwd),
            None => bytes(&own),
        };
        if !is_usable(&*opened.files, directory.as_bstr()) {
            return Err(invalid());
        }
        let directory = without_climbing(&*opened.files, directory).ok_or_else(invalid)?;
        Ok(Ground { root, opened, directory })
    }
}

/// The agent's directory as the session sees it. A link through which the operator named the context leads to the
/// same place in the agent's words.
fn below(own: &Path, context: &Path, cwd: &Path) -> BString {
    let inside = cwd.strip_prefix(context).ok().filter(|_| context.is_absolute());
    match inside {
        Some(rest) if rest.as_os_str().is_empty() => bytes(own),
        Some(rest) => bytes(&own.join(rest)),
        None => bytes(&own.join(cwd)),
    }
}

/// `pwd` shows where one is, not how one came there.
fn without_climbing(files: &dyn FileSystem, directory: BString) -> Option<BString> {
    if directory.split_str("/").all(|part| part != b"." && part != b"..") {
        return Some(directory);
    }
    files.canonicalize(directory.as_bstr(), MayMiss::Nothing).ok()
}

fn is_usable(files: &dyn FileSystem, directory: &BStr) -> bool {
    matches!(places::place(files, directory), Place::Project | Place::Scratch)
        && files.metadata(directory, Follow::Yes).is_ok_and(|found| found.is_directory())
}

fn bytes(path: &Path) -> BString {
    path.as_os_str().as_encoded_bytes().into()
}

/// What people decided before. A block counts in both tiers.
fn decided(
    root: &Path,
    command: &str,
    tier: Tier,
    trust: &dyn Trust,
) -> Result<Permission, RunError> {
    let decisions = CommandsFile::of(root).read(trust);
    let decisions = decisions.map_err(|problem| RunError::internal(&problem))?;
    match (decisions.about(command), tier) {
        (Decision::Blocked, _) => Err(blocked(command)),
        (Decision::Allowed, _) => Ok(Permission::Given),
        (Decision::Unknown, Tier::One) => Ok(Permission::Unneeded),
        (Decision::Unknown, Tier::Two) => Ok(Permission::Needed),
    }
}

fn judgement(options: &ExecuteOptions) -> Result<Judgement, RunError> {
    let judgement = match &options.judgement {
        Some(judgement) => judgement.clone(),
        None => Judgement::standard().map_err(|problem| RunError::internal(&problem))?,
    };
    // What lies outside does not exist for whatever the command starts; its own words were checked.
    Ok(Judgement { face: Face::Shell, ..judgement })
}

/// The policy above the tiers: it may refuse or ask where they would not, and never permits what they ask about.
fn judged(
    judgement: &Judgement,
    ground: &Ground,
    command: &str,
    words: &[String],
    permission: Permission,
) -> Result<Permission, RunError> {
    let text = words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    let directory = ground.directory.as_bstr();
    let world =
        World { files: &*ground.opened.files, directory, shell: None, grants: &judgement.grants };
    let verdict = judgement.policy.screen(text.as_bytes().as_bstr(), &world);
    let finding = &verdict.finding;
    match verdict.decision {
        // Tier 1 is a list of known programs, whatever the rules know.
        exacta_policy::Decision::Confirm
            if permission == Permission::Unneeded && &*finding.rule != "unknown-program" =>
        {
            Ok(Permission::Needed)
        }
        exacta_policy::Decision::Allow | exacta_policy::Decision::Confirm => Ok(permission),
        exacta_policy::Decision::Deny if finding.step == exacta_policy::Step::Paths => {
            let text = format!("Invalid path: {}", finding.about);
            Err(RunError::new(RunErrorKind::Path, text))
        }
        exacta_policy::Decision::Deny => {
            let text = format!("Command blocked: {command}\n{}", finding.reason);
            Err(RunError::new(RunErrorKind::Blocked, text))
        }
    }
}
