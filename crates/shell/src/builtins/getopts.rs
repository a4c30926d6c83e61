//! `getopts`

use bstr::{BStr, BString, ByteSlice};

use super::{Command, Run, usage};
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow, Running};
use crate::variables::{Attributes, Dynamic, Value, Variable, is_name};

pub static COMMAND: Command = Command {
    name: "getopts",
    synopsis: "getopts optstring name [arg ...]",
    summary: "Take the next option from the arguments of a script",
    options: &[],
    run: Run::Builtin { special: false, run },
};

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    let arguments = match usage::parse(shell, &COMMAND, words) {
        Ok(arguments) => arguments,
        Err(status) => return Ok(status),
    };
    let [specification, name, given @ ..] = arguments.operands.as_slice() else {
        usage::print(shell, &COMMAND);
        return Ok(ExitStatus::USAGE);
    };
    let positional = shell.positional.clone();
    let words = if arguments.operands.len() > 2 { given } else { positional.as_slice() };
    let mut state = State::of(shell);
    let found = state.next(words, specification.as_bstr());
    state.store(shell);
    report(shell, specification.as_bstr(), name.as_bstr(), found)
}

/// Which word, and how far into it: kept in `OPTIND` and in its hidden attribute.
struct State {
    /// Counted from 1.
    index: usize,
    /// Bytes of the word that are done; 0: the word is new.
    offset: usize,
}

/// What the next option is.
enum Found {
    End,
    Option { letter: u8, argument: Option<BString> },
    Unknown(u8),
    MissingArgument(u8),
}

impl State {
    fn of(shell: &Shell) -> State {
        let variable = shell.variables.get("OPTIND".into());
        let text = variable.and_then(Variable::as_scalar);
        let index = text.and_then(|text| text.to_str().ok()?.parse().ok()).unwrap_or(1).max(1);
        let offset = match variable.and_then(|variable| variable.attributes.dynamic) {
            Some(Dynamic::OptionIndex(offset)) => offset as usize,
            _ => 0,
        };
        State { index, offset }
    }

    fn store(&self, shell: &mut Shell) {
        let variable = shell.variables.get_or_create("OPTIND".into());
        variable.value = Some(Value::Scalar(self.index.to_string().into()));
        let dynamic = (self.offset > 0).then_some(Dynamic::OptionIndex(self.offset as u32));
        variable.attributes = Attributes { dynamic, ..variable.attributes };
    }

    fn next(&mut self, words: &[BString], specification: &BStr) -> Found {
        if self.offset == 0 {
            match words.get(self.index - 1).map(|word| word.as_slice()) {
                Some(b"--") => {
                    self.index += 1;
                    return Found::End;
                }
                Some(word) if word.len() > 1 && word.starts_with(b"-") => self.offset = 1,
                Some(_) => return Found::End,
                None => {
                    self.index = words.len() + 1;
                    return Found::End;
                }
            }
        }
        let word = words.get(self.index - 1).map(|word| word.as_slice()).unwrap_or_default();
        let Some(&letter) = word.get(self.offset) else {
            // The arguments are others than last time.
            self.offset = 0;
            self.index += 1;
            return if self.index > words.len() {
                Found::End
            } else {
                self.next(words, specification)
            };
        };
        self.offset += 1;
        let rest = word.get(self.offset..).unwrap_or_default();
        if rest.is_empty() {
            self.index += 1;
            self.offset = 0;
        }
        let place = specification.iter().position(|known| *known == letter);
        let Some(place) = place.filter(|_| letter != b':') else { return Found::Unknown(letter) };
        if specification.get(place + 1) != Some(&b':') {
            return Found::Option { letter, argument: None };
        }
        self.take_argument(words, letter, rest)
    }

    /// The rest of the word, or the word after it.
    fn take_argument(&mut self, words: &[BString], letter: u8, rest: &[u8]) -> Found {
        if !rest.is_empty() {
            self.index += 1;
            self.offset = 0;
            return Found::Option { letter, argument: Some(rest.into()) };
        }
        match words.get(self.index - 1) {
            Some(word) => {
                self.index += 1;
                Found::Option { letter, argument: Some(word.clone()) }
            }
            None => Found::MissingArgument(letter),
        }
    }
}

fn report(shell: &mut Shell, specification: &BStr, name: &BStr, found: Found) -> Flow {
    let silent = specification.starts_with(b":");
    let (value, argument, status) = match found {
        Found::End => (b'?', None, ExitStatus::FAILURE),
        Found::Option { letter, argument } => (letter, argument, ExitStatus::SUCCESS),
        Found::Unknown(letter) if silent => (b'?', Some([letter].into()), ExitStatus::SUCCESS),
        Found::MissingArgument(letter) if silent => {
            (b':', Some([letter].into()), ExitStatus::SUCCESS)
        }
        Found::Unknown(letter) => {
            complain(shell, "illegal option", letter);
            (b'?', None, ExitStatus::SUCCESS)
        }
        Found::MissingArgument(letter) => {
            complain(shell, "option requires an argument", letter);
            (b'?', None, ExitStatus::SUCCESS)
        }
    };
    set_argument(shell, argument)?;
    if !is_name(name) {
        shell.complain_of_identifier("getopts", name);
        return Ok(ExitStatus::FAILURE);
    }
    if !shell.try_assign_scalar(name, [value].into())? {
        return Ok(if status.success() { ExitStatus::USAGE } else { ExitStatus::FAILURE });
    }
    Ok(status)
}

fn set_argument(shell: &mut Shell, argument: Option<BString>) -> Running<()> {
    match argument {
        Some(argument) => shell.try_assign_scalar("OPTARG".into(), argument).map(|_| ()),
        None => shell.unset_variable("OPTARG".into()).map(|_| ()),
    }
}

/// `script: illegal option -- x`, unless `OPTERR` is 0.
fn complain(shell: &Shell, what: &str, letter: u8) {
    let quiet = shell.scalar_of("OPTERR".into()).is_some_and(|value| value.as_bytes() == b"0");
    if !quiet {
        let text = format!(": {what} -- ");
        shell.write_error(&[shell.name.as_bytes(), text.as_bytes(), &[letter], b"\n"].concat());
    }
}
