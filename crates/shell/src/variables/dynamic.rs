//! Variables that the shell computes when they are read, or that mean something when they are assigned.
//!
//! They sit in the table of variables like any other, marked in their attributes: an ordinary name costs one
//! lookup, and `unset RANDOM` or `local RANDOM` takes the meaning away without a further rule, as in bash.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use bstr::{BStr, BString, ByteSlice};

use super::scope::{Scope, ScopeKind};
use super::{AssociativeArray, Attributes, ElementKey, IndexedArray, Value, Variable};
use crate::shell::{FrameKind, Shell};
use crate::status::Running;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dynamic {
    Random,
    StrongRandom,
    Seconds,
    Line,
    FunctionNames,
    Sources,
    CallLines,
    ArgumentCounts,
    ArgumentVector,
    /// `BASH_ARGV0`
    ShellName,
    PipeStatus,
    ProcessId,
    SubshellLevel,
    EpochSeconds,
    EpochTime,
    DirectoryStack,
    Groups,
    Aliases,
    RememberedCommands,
    ShellOptions,
    BashOptions,
    LastArgument,
    CommandText,
    HistoryNumber,
    /// Assigning forgets where commands were found.
    Path,
    /// Existing turns posix mode on.
    PosixMode,
    /// `HISTSIZE`: assigning drops what is too much.
    HistorySize,
    /// `HISTFILESIZE`: assigning shortens the file.
    HistoryFileSize,
    /// `GLOBIGNORE`: a list turns `dotglob` on, being unset turns it off.
    IgnoredNames,
    /// `OPTIND` while `getopts` is inside a word of several letters: how many bytes of it are done. Any other
    /// assignment to `OPTIND` starts the word anew.
    OptionIndex(u32),
}

/// Name, meaning, and which attributes `declare -p` shows.
const COMPUTED: &[(&str, Dynamic, Shown)] = &[
    ("BASHOPTS", Dynamic::BashOptions, Shown::Readonly),
    ("BASHPID", Dynamic::ProcessId, Shown::Integer),
    ("BASH_ALIASES", Dynamic::Aliases, Shown::Associative),
    ("BASH_ARGC", Dynamic::ArgumentCounts, Shown::Indexed),
    ("BASH_ARGV", Dynamic::ArgumentVector, Shown::Indexed),
    ("BASH_ARGV0", Dynamic::ShellName, Shown::Plain),
    ("BASH_CMDS", Dynamic::RememberedCommands, Shown::Associative),
    ("BASH_COMMAND", Dynamic::CommandText, Shown::Plain),
    ("BASH_LINENO", Dynamic::CallLines, Shown::Indexed),
    ("BASH_SOURCE", Dynamic::Sources, Shown::Indexed),
    ("BASH_SUBSHELL", Dynamic::SubshellLevel, Shown::Plain),
    ("DIRSTACK", Dynamic::DirectoryStack, Shown::Indexed),
    ("EPOCHREALTIME", Dynamic::EpochTime, Shown::Plain),
    ("EPOCHSECONDS", Dynamic::EpochSeconds, Shown::Plain),
    ("FUNCNAME", Dynamic::FunctionNames, Shown::Indexed),
    ("GROUPS", Dynamic::Groups, Shown::Indexed),
    ("HISTCMD", Dynamic::HistoryNumber, Shown::Integer),
    ("LINENO", Dynamic::Line, Shown::Plain),
    ("PIPESTATUS", Dynamic::PipeStatus, Shown::Indexed),
    ("RANDOM", Dynamic::Random, Shown::Integer),
    ("SECONDS", Dynamic::Seconds, Shown::Integer),
    ("SHELLOPTS", Dynamic::ShellOptions, Shown::Readonly),
    ("SRANDOM", Dynamic::StrongRandom, Shown::Integer),
    ("_", Dynamic::LastArgument, Shown::Plain),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    Plain,
    Integer,
    Readonly,
    Indexed,
    Associative,
}

/// The scope every shell begins with; all share it until they set something.
pub(super) fn global_scope() -> Arc<Scope> {
    static SCOPE: OnceLock<Arc<Scope>> = OnceLock::new();
    let scope = SCOPE.get_or_init(|| {
        let mut scope = Scope::new(ScopeKind::Global);
        // With room for what is found in an environment.
        scope.variables.reserve(2 * COMPUTED.len());
        for (name, dynamic, shown) in COMPUTED {
            let attributes = Attributes {
                dynamic: Some(*dynamic),
                integer: *shown == Shown::Integer,
                readonly: *shown == Shown::Readonly,
                indexed: *shown == Shown::Indexed,
                associative: *shown == Shown::Associative,
                ..Attributes::default()
            };
            scope.variables.insert((*name).into(), Arc::new(Variable { value: None, attributes }));
        }
        for (name, variable) in crate::initial::constants() {
            scope.variables.insert(name.into(), Arc::new(variable));
        }
        Arc::new(scope)
    });
    Arc::clone(scope)
}

impl Dynamic {
    /// Names that mean something only while they exist.
    pub(super) fn of_new(name: &BStr) -> Option<Dynamic> {
        match name.as_bytes() {
            b"PATH" => Some(Dynamic::Path),
            b"POSIXLY_CORRECT" => Some(Dynamic::PosixMode),
            b"GLOBIGNORE" => Some(Dynamic::IgnoredNames),
            b"HISTSIZE" => Some(Dynamic::HistorySize),
            b"HISTFILESIZE" => Some(Dynamic::HistoryFileSize),
            _ => None,
        }
    }

    /// The value is the one in the table; only assigning is special.
    pub(super) fn is_stored(self) -> bool {
        matches!(
            self,
            Dynamic::Path
                | Dynamic::PosixMode
                | Dynamic::IgnoredNames
                | Dynamic::HistorySize
                | Dynamic::HistoryFileSize
                | Dynamic::OptionIndex(_)
        )
    }
}

impl Shell {
    /// What a computed variable is now; `None`: unset.
    pub(super) fn compute(&self, dynamic: Dynamic) -> Option<Value> {
        Some(match dynamic {
            Dynamic::Random => number(u64::from(self.next_random())),
            Dynamic::StrongRandom => number(self.host.random() & 0xffff_ffff),
            Dynamic::Seconds => scalar(self.seconds().to_string()),
            Dynamic::Line => number(u64::from(self.line)),
            Dynamic::FunctionNames => self.function_names()?,
            Dynamic::Sources => {
                let frames = self.frames.iter().rev().map(|frame| frame.source.clone());
                let script = Some(self.script.clone()).filter(|script| !script.is_empty());
                Value::Indexed(frames.chain(script).collect())
            }
            Dynamic::CallLines => self.call_lines(),
            Dynamic::ArgumentCounts => self.argument_counts(),
            Dynamic::ArgumentVector => self.argument_vector(),
            Dynamic::ShellName => Value::Scalar(self.name.clone()),
            Dynamic::PipeStatus => {
                let statuses = self.pipe_status.iter().map(|status| status.to_string().into());
                Value::Indexed(statuses.collect())
            }
            Dynamic::ProcessId => number(u64::from(self.process_id())),
            Dynamic::SubshellLevel => number(u64::from(self.subshell_level)),
            Dynamic::EpochSeconds => number(self.since_epoch().as_secs()),
            Dynamic::EpochTime => {
                let now = self.since_epoch();
                scalar(format!("{}.{:06}", now.as_secs(), now.subsec_micros()))
            }
            Dynamic::DirectoryStack => {
                let shown = self.shown_directory_stack(true);
                Value::Indexed(shown.into_iter().collect())
            }
            Dynamic::Groups => {
                let group = self.host.identity().group_id.to_string();
                Value::Indexed([group.into()].into_iter().collect())
            }
            Dynamic::Aliases => {
                let mut all = AssociativeArray::with_buckets(64);
                self.aliases.iter().for_each(|(name, text)| all.set(name.clone(), text.clone()));
                Value::Associative(all)
            }
            Dynamic::RememberedCommands => {
                let mut all = AssociativeArray::with_buckets(256);
                let known = self.hashed.iter();
                known.for_each(|(name, found)| all.set(name.clone(), found.path.clone()));
                Value::Associative(all)
            }
            Dynamic::ShellOptions => scalar(self.options.shellopts()),
            Dynamic::BashOptions => scalar(self.options.bashopts()),
            Dynamic::LastArgument => Value::Scalar(self.last_argument.clone()),
            Dynamic::CommandText => Value::Scalar(self.command_text.clone()),
            Dynamic::HistoryNumber => number(self.history_number() as u64),
            Dynamic::Path
            | Dynamic::PosixMode
            | Dynamic::IgnoredNames
            | Dynamic::HistorySize
            | Dynamic::HistoryFileSize
            | Dynamic::OptionIndex(_) => return None,
        })
    }

    /// Assigning to a computed variable: an effect for some, nothing for the rest. Readonly ones never get here.
    pub(super) fn assign_computed(&mut self, dynamic: Dynamic, value: BString) -> Running<()> {
        match dynamic {
            Dynamic::Random => {
                let seed = self.evaluate_text(value.as_bstr())? as u32;
                self.random.set(if seed == 0 { RANDOM_FOR_ZERO } else { seed });
            }
            Dynamic::Seconds => {
                let seconds = self.evaluate_text(value.as_bstr())?;
                let distance = Duration::from_secs(seconds.unsigned_abs());
                let now = self.host.now();
                let started = if seconds >= 0 {
                    now.checked_sub(distance)
                } else {
                    now.checked_add(distance)
                };
                self.started = started.unwrap_or(now);
            }
            Dynamic::ShellName => self.name = value,
            Dynamic::LastArgument => self.last_argument = value,
            _ => {}
        }
        Ok(())
    }

    /// `BASH_ALIASES[ll]='ls -l'`, `DIRSTACK[1]=/tmp`; other computed arrays ignore it.
    pub(super) fn assign_computed_element(
        &mut self,
        dynamic: Dynamic,
        key: ElementKey,
        value: BString,
    ) {
        match (dynamic, key) {
            (Dynamic::Aliases, ElementKey::Key(name)) => {
                Arc::make_mut(&mut self.aliases).insert(name, value);
            }
            (Dynamic::DirectoryStack, ElementKey::Index(index)) => {
                let at = usize::try_from(index).ok().and_then(|index| index.checked_sub(1));
                let last = self.directory_stack.len();
                let slot = at.and_then(|at| last.checked_sub(at + 1));
                if let Some(entry) = slot.and_then(|slot| self.directory_stack.get_mut(slot)) {
                    *entry = value;
                }
            }
            _ => {}
        }
    }

    /// A stored variable with a meaning was given a value.
    pub(super) fn after_assignment(&mut self, dynamic: Dynamic) {
        match dynamic {
            Dynamic::Path => self.hashed = Arc::default(),
            Dynamic::PosixMode => self.options.posix = true,
            Dynamic::HistorySize => self.limit_history(),
            Dynamic::HistoryFileSize => self.truncate_history_file(),
            Dynamic::IgnoredNames => {
                let list = self.variables.scalar("GLOBIGNORE");
                self.options.dotglob |= list.is_some_and(|list| !list.is_empty());
            }
            _ => {}
        }
    }

    /// A variable with a meaning is gone.
    pub(super) fn after_unset(&mut self, dynamic: Dynamic) {
        match dynamic {
            Dynamic::Path => self.hashed = Arc::default(),
            Dynamic::PosixMode => self.options.posix = false,
            Dynamic::IgnoredNames => self.options.dotglob = false,
            _ => {}
        }
    }

    /// Bash's generator, so that `RANDOM=42` gives the numbers it gives there.
    fn next_random(&self) -> u32 {
        let mut state = self.random.get();
        if state == 0 {
            state = (self.host.random() as u32).max(1);
        }
        let before = random_from(state);
        loop {
            state = next_random_state(state);
            let random = random_from(state);
            if random != before {
                self.random.set(state);
                return random;
            }
        }
    }

    fn seconds(&self) -> i64 {
        match self.host.now().duration_since(self.started) {
            Ok(since) => since.as_secs() as i64,
            // Still to come: `SECONDS=-5`. Rounded down, as bash's difference of whole seconds is.
            Err(error) => -(error.duration().as_secs_f64().ceil() as i64),
        }
    }

    fn since_epoch(&self) -> Duration {
        self.host.now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
    }

    /// Set only while a function is running; then sourced files are listed too, and `main` for a script.
    fn function_names(&self) -> Option<Value> {
        self.frames.iter().find(|frame| frame.kind == FrameKind::Function)?;
        let frames = self.frames.iter().rev().map(|frame| frame.name.clone());
        let script = (!self.script.is_empty()).then(|| "main".into());
        Some(Value::Indexed(frames.chain(script).collect()))
    }

    /// `BASH_ARGC`
    fn argument_counts(&self) -> Value {
        let counts = self.argument_lists().into_iter().map(<[BString]>::len);
        Value::Indexed(counts.map(|count| count.to_string().into()).collect())
    }

    /// `BASH_ARGV`: the last argument of the innermost call first.
    fn argument_vector(&self) -> Value {
        let lists = self.argument_lists();
        let words = lists.into_iter().flat_map(|list| list.iter().rev().cloned());
        Value::Indexed(words.collect())
    }

    /// The arguments of every call, innermost first, and of the script: all of them only for a debugger.
    fn argument_lists(&self) -> Vec<&[BString]> {
        if !self.frames.is_empty() && !self.options.extdebug {
            return Vec::new();
        }
        let before = self.frames.iter().rev().map(|frame| frame.arguments_before.as_slice());
        std::iter::once(self.positional.as_slice()).chain(before).collect()
    }

    fn call_lines(&self) -> Value {
        let frames = self.frames.iter().rev().map(|frame| frame.call_line);
        let script = (!self.script.is_empty()).then_some(0);
        let lines = frames.chain(script).map(|line| line.to_string().into());
        Value::Indexed(lines.collect::<IndexedArray>())
    }
}

/// What a seed of 0 stands for: the generator would never leave 0.
const RANDOM_FOR_ZERO: u32 = 123_459_876;

/// Park and Miller's minimal standard generator, computed without overflow as Schrage does.
fn next_random_state(state: u32) -> u32 {
    let high = (state / 127_773) as i32;
    let low = (state % 127_773) as i32;
    let next = 16_807_i32.wrapping_mul(low).wrapping_sub(2_836_i32.wrapping_mul(high));
    if next < 0 { next.wrapping_add(0x7fff_ffff) as u32 } else { next as u32 }
}

/// 0 to 32767.
fn random_from(state: u32) -> u32 {
    ((state >> 16) ^ (state & 0xffff)) & 0x7fff
}

fn scalar(text: impl Into<BString>) -> Value {
    Value::Scalar(text.into())
}

fn number(number: u64) -> Value {
    Value::Scalar(number.to_string().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_numbers_are_those_of_bash() {
        let mut state = 42;
        let numbers = [(); 3].map(|()| {
            state = next_random_state(state);
            random_from(state)
        });
        assert_eq!(numbers, [17772, 26794, 1435]);
    }
}
