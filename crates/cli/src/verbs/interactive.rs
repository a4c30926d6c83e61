//! `exacta` alone on a terminal: line editing, history, completion.

use std::io::IsTerminal;
use std::sync::Arc;

use bstr::ByteSlice;
use exacta::gate::Face;
use exacta::{Request, Session};
use exacta_syntax::Missing;
use rustyline::completion::{Completer, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Editor, Helper};

use super::failed;
use super::script::apply_options;
use crate::exit::Exit;
use crate::invocation::{Global, ScriptInvocation};
use crate::launch::Launch;
use crate::prompt::Prompt;
use crate::signals::Interrupts;
use crate::{output, streams};

/// There is somebody who types. Lines that `-i` is fed from elsewhere are a script's.
pub fn wanted(script: &ScriptInvocation) -> bool {
    std::io::stdin().is_terminal() && (script.interactive || std::io::stderr().is_terminal())
}

pub fn perform(global: &Global, script: &ScriptInvocation) -> Exit {
    let mut options = match Launch::new(global) {
        Ok(launch) => launch.session(Face::Shell, Arc::new(Prompt)),
        Err(problem) => return failed(&problem),
    };
    options.arguments.clone_from(&script.arguments);
    let root = options.root.clone();
    let mut session = match Session::new(options) {
        Ok(session) => session,
        Err(problem) => return failed(&problem),
    };
    if let Err(problem) = apply_options(&mut session, script) {
        output::error(&format!("bash: {problem}\n"));
        return Exit::Usage;
    }
    session.shell_mut().options.interactive = true;
    session.shell_mut().options.expand_aliases = true;
    session.shell_mut().options.history = true;
    let interrupts = match Interrupts::listen() {
        Ok(interrupts) => interrupts,
        Err(error) => return failed(&format!("cannot listen for signals: {error}")),
    };
    let mut editor: Editor<Assistant, FileHistory> = match Editor::new() {
        Ok(editor) => editor,
        Err(error) => return failed(&error),
    };
    let history = exacta::project::state_directory(&root).ok().map(|state| state.join("history"));
    if let Some(history) = &history {
        // The first session has no history yet.
        let _ = editor.load_history(history);
    }
    let exit = converse(&mut editor, &mut session, &interrupts);
    if let Some(history) = &history
        && let Err(error) = editor.save_history(history)
    {
        output::error(&format!("exacta: the history was not saved: {error}\n"));
    }
    exit
}

/// Reads and runs until the end.
fn converse(
    editor: &mut Editor<Assistant, FileHistory>,
    session: &mut Session,
    interrupts: &Interrupts,
) -> Exit {
    loop {
        editor.set_helper(Some(Assistant::new(session)));
        let line = match editor.readline(&prompt(session)) {
            Ok(line) => line,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => {
                output::error("exit\n");
                return Exit::Script(session.shell().status);
            }
            Err(error) => return failed(&error),
        };
        if line.trim().is_empty() {
            continue;
        }
        // A line that the history does not take is still run.
        let _ = editor.add_history_entry(&line);
        interrupts.watch(session.prepare());
        let outcome = session.run(&streams::own(Request::new(line)));
        if outcome.exited && outcome.stopped.is_none() {
            return Exit::Script(outcome.status);
        }
    }
}

/// `exacta:~/src$ `, with the root as `~`.
fn prompt(session: &Session) -> String {
    let shell = session.shell();
    let root = shell.host.files().root();
    let place = match shell.directory.strip_prefix(root.as_bytes()) {
        Some(rest) => format!("~{}", rest.to_str_lossy()),
        None => shell.directory.to_str_lossy().into_owned(),
    };
    format!("exacta:{place}$ ")
}

/// What the editor knows of the session while a line is being typed.
struct Assistant {
    commands: Vec<String>,
    files: Arc<dyn exacta_shell::host::Host>,
    directory: bstr::BString,
}

impl Assistant {
    fn new(session: &Session) -> Self {
        let shell = session.shell();
        let mut commands: Vec<String> =
            exacta_shell::builtins::TABLE.iter().map(|command| command.name.to_owned()).collect();
        commands
            .extend(shell.functions.keys().chain(shell.aliases.keys()).map(ToString::to_string));
        commands.sort();
        commands.dedup();
        Assistant { commands, files: Arc::clone(&shell.host), directory: shell.directory.clone() }
    }

    fn complete_file(&self, typed: &str) -> Vec<Pair> {
        let (folder, prefix) =
            typed.rsplit_once('/').map_or(("", typed), |(folder, name)| (folder, name));
        let shown = if typed.contains('/') { format!("{folder}/") } else { String::new() };
        let path = if typed.starts_with('/') {
            shown.clone()
        } else {
            format!("{}/{shown}", self.directory)
        };
        let path = path.replacen(
            "~/",
            &format!("{}/", self.files.files().root()),
            usize::from(typed.starts_with('~')),
        );
        let follow = exacta_shell::filesystem::Follow::Yes;
        let Ok(directory) = self.files.files().open_directory(path.as_str().into(), follow) else {
            return Vec::new();
        };
        let mut found: Vec<Pair> = directory
            .entries()
            .unwrap_or_default()
            .into_iter()
            .filter(|entry| entry.name.starts_with(prefix.as_bytes()))
            .filter(|entry| !entry.name.starts_with(b".") || prefix.starts_with('.'))
            .map(|entry| {
                let end = if entry.kind == exacta_shell::filesystem::FileKind::Directory {
                    "/"
                } else {
                    ""
                };
                let name = format!("{}{end}", entry.name);
                Pair { replacement: format!("{shown}{}", escaped(&name)), display: name }
            })
            .collect();
        found.sort_by(|one, other| one.display.cmp(&other.display));
        found
    }
}

/// Options of a command, from its row in the table.
fn complete_option(name: &str, typed: &str) -> Vec<Pair> {
    let Some(command) = exacta_shell::builtins::find(name.as_bytes()) else { return Vec::new() };
    let forms = |option: &exacta_shell::arguments::OptionSpec| {
        let short = option.short.map(|letter| format!("-{letter}"));
        let long = option.long.map(|long| format!("--{long}"));
        [short, long].into_iter().flatten().collect::<Vec<_>>()
    };
    let matching = command.options.iter().flat_map(forms).filter(|form| form.starts_with(typed));
    matching.map(|form| Pair { display: form.clone(), replacement: form }).collect()
}

/// A name as it can be typed.
fn escaped(name: &str) -> String {
    let special = " \t\n'\"\\$`*?[](){}<>|&;!#";
    name.chars()
        .flat_map(|letter| special.contains(letter).then_some('\\').into_iter().chain([letter]))
        .collect()
}

impl Completer for Assistant {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _context: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let before = line.get(..position).unwrap_or(line);
        let start =
            before.rfind([' ', '\t', '|', ';', '&', '(', '>', '<', '=']).map_or(0, |at| at + 1);
        let typed = before.get(start..).unwrap_or_default();
        let lead = before.get(..start).unwrap_or_default().trim_end();
        let command_position = lead.is_empty() || lead.ends_with(['|', ';', '&', '(']);
        if command_position && !typed.contains('/') {
            let matching = self.commands.iter().filter(|name| name.starts_with(typed));
            let pairs = matching
                .map(|name| Pair { display: name.clone(), replacement: format!("{name} ") });
            return Ok((start, pairs.collect()));
        }
        if typed.starts_with('-') {
            let segment = lead.rsplit(['|', ';', '&', '(']).next().unwrap_or(lead);
            let name = segment.split_whitespace().next().unwrap_or_default();
            return Ok((start, complete_option(name, typed)));
        }
        Ok((start, self.complete_file(typed)))
    }
}

impl Validator for Assistant {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let options = exacta_syntax::ParseOptions::default();
        let text = context.input().as_bytes();
        let missing = exacta_syntax::missing(text, options, exacta_syntax::Limits::default());
        let incomplete = matches!(missing, Missing::Lines | Missing::Delimiter(_));
        Ok(if incomplete { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

impl Hinter for Assistant {
    type Hint = String;
}

impl Highlighter for Assistant {}

impl Helper for Assistant {}
