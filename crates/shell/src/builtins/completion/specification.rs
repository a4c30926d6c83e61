//! What `complete` and `compgen` are told, and how it is read and printed.

use bstr::{BStr, BString, ByteSlice};

use super::actions::{ACTIONS, Action};
use crate::builtins::{Command, usage};
use crate::expand::quote;
use crate::shell::Shell;
use crate::status::ExitStatus;

/// How completions are generated.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Specification {
    /// Names of `-o`, in the order of [`OPTIONS`].
    pub(super) options: Vec<&'static str>,
    /// In the order of [`ACTIONS`].
    pub(super) actions: Vec<Action>,
    pub(super) glob: Option<BString>,
    pub(super) words: Option<BString>,
    pub(super) function: Option<BString>,
    pub(super) command: Option<BString>,
    pub(super) filter: Option<BString>,
    pub(super) prefix: BString,
    pub(super) suffix: BString,
}

/// What `-o` takes.
pub(super) static OPTIONS: [&str; 8] =
    ["bashdefault", "default", "dirnames", "filenames", "noquote", "nosort", "nospace", "plusdirs"];

/// A specification out of options, the letters that belong to the command itself, and what follows.
pub(super) struct Parsed<'a> {
    pub specification: Specification,
    /// Letters such as `p`, `r`, `D`.
    pub letters: Vec<u8>,
    pub operands: &'a [BString],
    /// Nothing but letters of the command was given.
    pub is_empty: bool,
}

/// `own` are the letters without value that only this command has.
pub(super) fn parse<'a>(
    shell: &Shell,
    command: &'static Command,
    words: &'a [BString],
    own: &[u8],
) -> Result<Parsed<'a>, ExitStatus> {
    let specification = Specification::default();
    let mut parsed = Parsed { specification, letters: Vec::new(), operands: &[], is_empty: true };
    let mut rest = words;
    while let [word, after @ ..] = rest {
        let Some(letters) = word.strip_prefix(b"-").filter(|letters| !letters.is_empty()) else {
            break;
        };
        rest = after;
        if letters == b"-" {
            break;
        }
        rest = parse_letters(shell, command, letters, after, own, &mut parsed)?;
    }
    parsed.operands = rest;
    parsed.specification.actions.sort_unstable();
    parsed.specification.actions.dedup();
    parsed.specification.options.sort_unstable();
    parsed.specification.options.dedup();
    Ok(parsed)
}

fn parse_letters<'a>(
    shell: &Shell,
    command: &'static Command,
    letters: &[u8],
    mut after: &'a [BString],
    own: &[u8],
    parsed: &mut Parsed<'_>,
) -> Result<&'a [BString], ExitStatus> {
    for (at, &letter) in letters.iter().enumerate() {
        if own.contains(&letter) {
            parsed.letters.push(letter);
            continue;
        }
        parsed.is_empty = false;
        if let Some(action) = Action::by_letter(letter) {
            parsed.specification.actions.push(action);
            continue;
        }
        if !b"oAGWFCXPS".contains(&letter) {
            let what = format!("-{}: invalid option", char::from(letter));
            return Err(usage::complain(shell, command, &what));
        }
        let attached = letters.get(at + 1..).unwrap_or_default();
        let value = if attached.is_empty() {
            let Some((value, rest)) = after.split_first() else {
                let what = format!("-{}: option requires an argument", char::from(letter));
                return Err(usage::complain(shell, command, &what));
            };
            after = rest;
            value.clone()
        } else {
            BString::from(attached)
        };
        parsed.specification.take(shell, command, letter, value)?;
        break;
    }
    Ok(after)
}

impl Specification {
    fn take(
        &mut self,
        shell: &Shell,
        command: &Command,
        letter: u8,
        value: BString,
    ) -> Result<(), ExitStatus> {
        let name = command.name;
        match letter {
            b'o' => {
                let Some(option) = OPTIONS.iter().find(|option| value == **option) else {
                    let value = value.to_str_lossy();
                    shell.complain(format!("{name}: {value}: invalid option name"));
                    return Err(ExitStatus::USAGE);
                };
                self.options.push(option);
            }
            b'A' => {
                let Some(action) = Action::by_name(&value) else {
                    let value = value.to_str_lossy();
                    shell.complain(format!("{name}: {value}: invalid action name"));
                    return Err(ExitStatus::USAGE);
                };
                self.actions.push(action);
            }
            b'G' => self.glob = Some(value),
            b'W' => self.words = Some(value),
            b'F' => self.function = Some(value),
            b'C' => self.command = Some(value),
            b'X' => self.filter = Some(value),
            b'P' => self.prefix = value,
            _ => self.suffix = value,
        }
        Ok(())
    }

    /// `complete -W 'a b' name`, to be run again. `name` may be `-D` and the like.
    pub(super) fn print(&self, name: &BStr) -> BString {
        let mut text = BString::from("complete ");
        for option in &self.options {
            text.extend_from_slice(format!("-o {option} ").as_bytes());
        }
        for action in ACTIONS.iter().filter(|action| self.actions.contains(&action.action)) {
            match action.letter {
                0 => text.extend_from_slice(format!("-A {} ", action.name).as_bytes()),
                letter => text.extend_from_slice(&[b'-', letter, b' ']),
            }
        }
        let not_empty = |text: &BString| (!text.is_empty()).then(|| text.clone());
        let quoted = [
            ("-G", self.glob.clone()),
            ("-W", self.words.clone()),
            ("-P", not_empty(&self.prefix)),
            ("-S", not_empty(&self.suffix)),
            ("-X", self.filter.clone()),
            ("-C", self.command.clone()),
        ];
        for (letter, value) in quoted {
            if let Some(value) = value {
                text.extend_from_slice(letter.as_bytes());
                text.push(b' ');
                text.extend_from_slice(&quote::single(&value));
                text.push(b' ');
            }
        }
        if let Some(function) = &self.function {
            text.extend_from_slice(b"-F ");
            text.extend_from_slice(function);
            text.push(b' ');
        }
        text.extend_from_slice(name);
        text.push(b'\n');
        text
    }
}
