//! The state of a shell. A copy of it is a subshell; between requests it is the session.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};
use exacta_syntax::ast::CompoundCommand;

use crate::builtins::Specification;
use crate::control::{Control, Limits};
use crate::errno;
use crate::files::FileTable;
use crate::filesystem::{Metadata, OpenFile, OpenOptions};
use crate::history::History;
use crate::host::{Action, Host};
use crate::interpret::{Jobs, Transient, Traps};
use crate::options::Options;
use crate::release::Heavy;
use crate::status::{ExitStatus, Flow, Interrupt, Stop};
use crate::variables::Variables;

/// What a builtin writes at once.
pub(crate) const LARGEST_WRITE: usize = 1 << 20;

pub const SIGPIPE: i32 = 13;
pub const SIGCHLD: i32 = 17;

#[derive(Clone)]
pub struct Shell {
    pub host: Arc<dyn Host>,
    /// Of the request being run.
    pub control: Arc<Control>,
    pub variables: Variables,
    pub functions: Arc<BTreeMap<BString, Arc<Function>>>,
    pub aliases: Arc<BTreeMap<BString, BString>>,
    pub options: Options,
    pub files: FileTable,
    /// Absolute and logical, as `pwd` shows it: symbolic links are not resolved.
    pub directory: BString,
    /// `pushd`; without the current directory, the one pushed last at the end.
    pub directory_stack: Vec<BString>,
    /// `$0`, and the name in front of messages.
    pub name: BString,
    /// `$1` and on.
    pub positional: Arc<Heavy<Vec<BString>>>,
    /// Functions and sourced files being run, innermost last.
    pub frames: Vec<Frame>,
    /// `$?`
    pub status: ExitStatus,
    /// `PIPESTATUS`
    pub pipe_status: Vec<ExitStatus>,
    /// `$!`
    pub last_background: Option<u32>,
    pub umask: u32,
    pub traps: Traps,
    pub jobs: Jobs,
    /// Line of the command being run.
    pub line: u32,
    /// Functions, substitutions, subshells, `eval` inside each other: limited by `Limits::recursion`.
    pub depth: u32,
    /// Whoever starts it knows that its stack has room for the outermost text: to ask the C library how large the first thread's
    /// stack is makes the kernel write down all of the process's memory.
    pub roomy: bool,
    /// `BASH_SUBSHELL`
    pub subshell_level: u32,
    /// Words of the current command that were written with a tilde: (expanded, as written).
    pub written: Vec<(BString, BString)>,
    /// State of `$RANDOM`; 0: to be seeded when it is asked for.
    pub random: Cell<u32>,
    /// When the shell began, for `$SECONDS`.
    pub started: std::time::SystemTime,
    /// The script file being run, for `BASH_SOURCE`; empty with `-c` and in a session.
    pub script: BString,
    /// `$_`: the last argument of the command before.
    pub last_argument: BString,
    /// `BASH_COMMAND`, while a trap or something that asks for it is running.
    pub command_text: BString,
    /// What is being run is a condition: a failure does not count for `set -e` and the ERR trap.
    pub tested: bool,
    /// Loops around the current command, up to the function that is being run.
    pub loop_depth: u32,
    /// Status of the last `$(…)` since it was asked for: that of a command that is only assignments.
    pub substitution_status: Option<ExitStatus>,
    /// Where commands were found: `hash`.
    pub hashed: Arc<BTreeMap<BString, Hashed>>,
    /// The number of the process that is this shell: 0 unless it was started by another, as `bash` is.
    pub shell_process: u32,
    /// What `ulimit` has changed: soft and hard limit by letter. That on open files holds here; the others are
    /// for programs.
    pub resources: Arc<BTreeMap<u8, ResourceLimits>>,
    /// `complete`
    pub completions: Arc<BTreeMap<BString, Specification>>,
    /// `--rcfile`: what an interactive shell runs before it reads.
    pub startup_file: Option<BString>,
    /// `history`
    pub history: Arc<History>,
    /// Builtins switched off by `enable -n`.
    pub disabled: Arc<BTreeSet<&'static str>>,
    pub(crate) transient: Transient,
}

/// Soft and hard; `None` is unlimited.
pub type ResourceLimits = (Option<u64>, Option<u64>);

/// A command that was found in `PATH`.
#[derive(Debug, Clone)]
pub struct Hashed {
    pub path: BString,
    pub hits: u32,
}

/// A function that was defined.
#[derive(Debug, Clone)]
pub struct Function {
    pub name: BString,
    pub body: Arc<CompoundCommand>,
    /// File it was defined in, for `BASH_SOURCE`.
    pub source: BString,
    pub line: u32,
    pub exported: bool,
    pub readonly: bool,
    /// `declare -ft`: the DEBUG and RETURN traps are inherited.
    pub traced: bool,
}

/// An entry of the call stack: `FUNCNAME`, `BASH_SOURCE`, `BASH_LINENO`.
#[derive(Debug, Clone)]
pub struct Frame {
    pub kind: FrameKind,
    /// Name of the function, or `source`.
    pub name: BString,
    pub source: BString,
    /// Line of the call.
    pub call_line: u32,
    /// `$1` and on of whoever called.
    pub arguments_before: Arc<Heavy<Vec<BString>>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameKind {
    Function,
    Source,
}

impl Shell {
    /// A shell at the root of the host's files. The engine gives it descriptors, a control and options
    /// before each request.
    pub fn new(host: Arc<dyn Host>, environment: &[(BString, BString)]) -> Self {
        let root = host.files().root().to_owned();
        let started = host.now();
        let mut shell = Shell {
            control: Arc::new(Control::new(Limits::default())),
            variables: Variables::default(),
            functions: Arc::default(),
            aliases: Arc::default(),
            options: Options::default(),
            files: FileTable::default(),
            directory: root,
            directory_stack: Vec::new(),
            name: "bash".into(),
            positional: Arc::default(),
            frames: Vec::new(),
            status: ExitStatus::SUCCESS,
            pipe_status: Vec::new(),
            last_background: None,
            umask: 0o022,
            traps: Traps::default(),
            jobs: Jobs::default(),
            line: 0,
            depth: 0,
            roomy: false,
            subshell_level: 0,
            written: Vec::new(),
            random: Cell::new(host.random() as u32),
            started,
            script: BString::default(),
            last_argument: BString::default(),
            command_text: BString::default(),
            tested: false,
            loop_depth: 0,
            substitution_status: None,
            hashed: Arc::default(),
            shell_process: 0,
            resources: Arc::default(),
            completions: Arc::default(),
            startup_file: None,
            history: Arc::default(),
            disabled: Arc::default(),
            transient: Transient::default(),
            host,
        };
        shell.set_initial_variables(environment);
        shell
    }

    /// `$$`: the same in all subshells of a shell.
    pub fn shell_process_id(&self) -> u32 {
        self.host.identity().process_id.wrapping_add(self.shell_process)
    }

    /// `BASHPID`: that of this subshell.
    pub fn process_id(&self) -> u32 {
        self.host.identity().process_id.wrapping_add(self.control.process())
    }

    pub fn file(&self, descriptor: u32) -> Option<&Arc<dyn OpenFile>> {
        self.files.get(descriptor)
    }

    /// A descriptor that is not open fails on use, as it does for a program.
    pub fn file_or_closed(&self, descriptor: u32) -> Arc<dyn OpenFile> {
        self.files.get(descriptor).map_or_else(|| Arc::new(Closed) as Arc<dyn OpenFile>, Arc::clone)
    }

    /// How many descriptors may be open: the request's limit, or less by `ulimit -n`.
    pub fn open_file_limit(&self) -> u32 {
        let limit = self.control.limits.open_files;
        match self.resources.get(&b'n') {
            Some((Some(soft), _)) => u32::try_from(*soft).unwrap_or(u32::MAX).min(limit),
            _ => limit,
        }
    }

    /// The path from the root of all, not normalised.
    pub fn absolute(&self, path: &BStr) -> BString {
        if path.starts_with(b"/") || path.is_empty() {
            return path.into();
        }
        let mut absolute = self.directory.clone();
        if !absolute.ends_with(b"/") {
            absolute.push(b'/');
        }
        absolute.extend_from_slice(path);
        absolute
    }

    /// Opens a file for a redirect, a tool or `source`. `/dev/stdin`, `/dev/stdout`, `/dev/stderr` and
    /// `/dev/fd/N` are this shell's own descriptors.
    pub fn open(&self, path: &BStr, options: OpenOptions) -> io::Result<Arc<dyn OpenFile>> {
        let absolute = self.absolute(path);
        if let Some(descriptor) = own_descriptor(absolute.as_bstr()) {
            return self
                .file(descriptor)
                .map(Arc::clone)
                .ok_or_else(|| errno::error(errno::ENOENT));
        }
        let action = Action::Open { path: absolute.as_bstr(), writes: options.write };
        if let Err(refusal) = self.host.judge(&action) {
            // Ends the request; whoever asked for the file sees an interrupted call until it notices.
            self.control.stop(Stop::Refused(refusal));
            return Err(errno::error(errno::EINTR));
        }
        self.host.files().open(absolute.as_bstr(), options)
    }

    /// The word as the script wrote it, if that was with a tilde; else the word itself.
    pub fn as_written<'a>(&'a self, word: &'a BStr) -> &'a BStr {
        let written = self.written.iter().find(|(expanded, _)| expanded == word);
        written.map_or(word, |(_, written)| written.as_bstr())
    }

    /// The name in front of messages: that of the file the running function or `source` comes from, else `$0`.
    pub fn error_name(&self) -> &BStr {
        match self.frames.last() {
            Some(frame) if !matches!(frame.source.as_slice(), b"" | b"environment" | b"main") => {
                frame.source.as_bstr()
            }
            _ => self.name.as_bstr(),
        }
    }

    /// `name: line 3: message` on standard error.
    pub fn complain(&self, message: impl AsRef<[u8]>) {
        let mut line = self.error_name().to_vec();
        let place = if self.options.gnu_errfmt {
            format!(":{}: ", self.line)
        } else {
            format!(": line {}: ", self.line)
        };
        line.extend_from_slice(place.as_bytes());
        line.extend_from_slice(message.as_ref());
        line.push(b'\n');
        self.write_error(&line);
    }

    /// Output of a builtin. A closed pipe ends the shell as `SIGPIPE` would; any other failure is
    /// `name: line 1: echo: write error: No space left on device` and status 1.
    pub fn print(&self, builtin: &str, bytes: &[u8]) -> Flow {
        let written = match self.file(1) {
            // In pieces, so that the request can end between two of them.
            Some(file) => bytes.chunks(LARGEST_WRITE).try_for_each(|part| {
                self.control.may_hold(0)?;
                file.write_all(part)
            }),
            None if bytes.is_empty() => Ok(()),
            None => Err(errno::error(errno::EBADF)),
        };
        match written {
            Ok(()) => Ok(ExitStatus::SUCCESS),
            Err(error) if errno::is(&error, errno::EPIPE) && !self.control.ignores(SIGPIPE) => {
                Err(Interrupt::Killed(SIGPIPE))
            }
            Err(error) => {
                self.control.check()?;
                self.transient.output_failed.set(true);
                self.complain(format!("{builtin}: write error: {}", errno::text(&error)));
                Ok(ExitStatus::FAILURE)
            }
        }
    }

    /// Bytes to standard error. A failure is not reported: there is nowhere left.
    pub fn write_error(&self, bytes: &[u8]) {
        if let Some(file) = self.file(2) {
            let _ = file.write_all(bytes);
        }
    }
}

/// `/dev/fd/3` is 3, `/dev/stdin` is 0.
pub fn own_descriptor(path: &BStr) -> Option<u32> {
    match path.strip_prefix(b"/dev/")? {
        b"stdin" => Some(0),
        b"stdout" => Some(1),
        b"stderr" => Some(2),
        name => name.strip_prefix(b"fd/")?.to_str().ok()?.parse().ok(),
    }
}

struct Closed;

impl OpenFile for Closed {
    fn read(&self, _buffer: &mut [u8]) -> io::Result<usize> {
        Err(errno::error(errno::EBADF))
    }

    fn write(&self, _data: &[u8]) -> io::Result<usize> {
        Err(errno::error(errno::EBADF))
    }

    fn metadata(&self) -> io::Result<Metadata> {
        Err(errno::error(errno::EBADF))
    }
}
