//! What a tool gets: its streams, the files, and a way to run other commands.

use std::fmt::Display;
use std::io;
use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};

use super::ToolError;
use crate::control::Control;
use crate::errno;
use crate::filesystem::{FileSystem, Follow, OpenFile, OpenOptions};
use crate::host::Host;
use crate::interpret::{Found, is_program_too};
use crate::shell::{LARGEST_WRITE, Shell};
use crate::status::{Flow, Interrupt};

pub struct Context<'a> {
    /// The name in the table, for messages.
    pub name: &'static str,
    pub input: Arc<dyn OpenFile>,
    pub output: Output,
    shell: &'a mut Shell,
}

impl<'a> Context<'a> {
    /// A closed descriptor behaves as bash's children see it: reads and writes fail with `EBADF`.
    pub fn new(name: &'static str, shell: &'a mut Shell) -> Self {
        let input = shell.file_or_closed(0);
        let output = Output::new(shell.file_or_closed(1), Arc::clone(&shell.control));
        Context { name, input, output, shell }
    }

    /// The shell itself, for the one tool that is a shell.
    pub(super) fn shell_mut(&mut self) -> &mut Shell {
        self.shell
    }

    pub fn files(&self) -> &dyn FileSystem {
        self.shell.host.files()
    }

    /// For threads of the tool's own.
    pub fn host(&self) -> Arc<dyn Host> {
        Arc::clone(&self.shell.host)
    }

    pub fn control(&self) -> Arc<Control> {
        Arc::clone(&self.shell.control)
    }

    /// The absolute path of an operand, not normalised.
    pub fn path(&self, operand: &BStr) -> BString {
        self.shell.absolute(operand)
    }

    /// The same for a directory to work in: without the `.` that `find .` begins with.
    pub fn directory_at(&self, operand: &BStr) -> BString {
        let absolute = self.path(operand);
        let parts = absolute.split_str(b"/").filter(|part| !part.is_empty() && *part != b".");
        let mut directory = BString::default();
        for part in parts {
            directory.push(b'/');
            directory.extend_from_slice(part);
        }
        if directory.is_empty() { "/".into() } else { directory }
    }

    /// The operand as the script wrote it (`~/x`), for messages.
    pub fn as_written<'b>(&'b self, operand: &'b BStr) -> &'b BStr {
        self.shell.as_written(operand)
    }

    /// Opens a file for reading; `-` is standard input, `/dev/fd/N` and `/dev/stdin` the shell's descriptors.
    pub fn open(&self, operand: &BStr) -> io::Result<Arc<dyn OpenFile>> {
        if operand == "-" {
            return Ok(Arc::clone(&self.input));
        }
        self.open_with(operand, OpenOptions::reading())
    }

    pub fn open_with(&self, operand: &BStr, options: OpenOptions) -> io::Result<Arc<dyn OpenFile>> {
        self.shell.open(operand, options)
    }

    /// Permissions for new files (`0o666`) or directories (`0o777`) after the umask.
    pub fn masked(&self, mode: u32) -> u32 {
        mode & !self.shell.umask
    }

    pub fn umask(&self) -> u32 {
        self.shell.umask
    }

    /// An exported variable.
    pub fn variable(&self, name: &str) -> Option<BString> {
        self.shell.variables.exported_value(name.into())
    }

    pub fn environment(&self) -> Vec<(BString, BString)> {
        self.shell.variables.environment()
    }

    /// Where the shell found this command, for `_`; `None`: something else has started it.
    pub fn started_as(&self) -> Option<BString> {
        self.shell.transient.started_as.clone()
    }

    pub fn directory(&self) -> &BStr {
        self.shell.directory.as_bstr()
    }

    /// `name: message` on standard error, after what is still buffered for standard output.
    pub fn complain(&mut self, message: impl Display) {
        let text = format!("{}: {message}\n", self.name);
        self.error_bytes(text.as_bytes());
    }

    /// `name: what: No such file or directory`, with the operand's bytes as they are.
    pub fn complain_of(&mut self, what: &BStr, error: &io::Error) {
        let mut line = format!("{}: ", self.name).into_bytes();
        line.extend_from_slice(self.shell.as_written(what));
        line.extend_from_slice(format!(": {}\n", errno::text(error)).as_bytes());
        self.error_bytes(&line);
    }

    /// Bytes to standard error. That this fails is not reported anywhere: there is nowhere left.
    pub fn error_bytes(&mut self, bytes: &[u8]) {
        let _ = self.output.flush();
        let _ = self.shell.file_or_closed(2).write_all(bytes);
    }

    /// Runs another command as `xargs`, `find -exec` and `env` do: builtins and tools, no functions or aliases.
    /// `input` replaces standard input. Buffered output is written first.
    pub fn run(&mut self, argv: &[BString], input: Option<Arc<dyn OpenFile>>) -> Flow {
        let _ = self.output.flush();
        self.shell.run_as_program(argv, input, None)
    }

    /// The same with an environment of its own (`env -i A=1 command`) and perhaps another directory.
    pub fn run_with(
        &mut self,
        argv: &[BString],
        input: Option<Arc<dyn OpenFile>>,
        environment: Vec<(BString, BString)>,
    ) -> Flow {
        let _ = self.output.flush();
        self.shell.run_as_program(argv, input, Some(environment))
    }

    /// The same in another directory.
    pub fn run_in(
        &mut self,
        argv: &[BString],
        environment: Vec<(BString, BString)>,
        directory: Option<BString>,
    ) -> Flow {
        let Some(directory) = directory else { return self.run_with(argv, None, environment) };
        let before = std::mem::replace(&mut self.shell.directory, directory);
        let flow = self.run_with(argv, None, environment);
        self.shell.directory = before;
        flow
    }

    /// Would [`Context::run`] find anything under this name?
    pub fn has_command(&mut self, name: &BStr) -> bool {
        match self.shell.find_program(name) {
            Found::Nothing => is_program_too(name) && self.shell.find_builtin(name).is_some(),
            Found::File(path) => {
                let path = self.shell.absolute(path.as_bstr());
                self.files().metadata(path.as_bstr(), Follow::Yes).is_ok()
            }
            Found::Function(_) | Found::Builtin(_) | Found::Tool(..) | Found::Program(_) => true,
        }
    }

    /// Every place where a program of this name is found in `PATH`; a path that can be run is its own place.
    pub fn program_places(&self, name: &BStr) -> Vec<BString> {
        if !crate::interpret::is_path(name) {
            return self.shell.search_path_each(name, false);
        }
        if self.shell.is_runnable(name) { vec![name.into()] } else { Vec::new() }
    }

    /// Turns a read error into the end of the tool if the request is over, else gives it back for a message.
    pub fn interrupted(&self, error: &io::Error) -> Result<(), ToolError> {
        self.shell.control.check()?;
        if errno::is(error, errno::EPIPE) {
            return Err(ToolError::Interrupted(Interrupt::Killed(13)));
        }
        Ok(())
    }
}

/// Buffered standard output. Dropping it does not flush: the caller of the tool does, and sees the error.
pub struct Output {
    file: Arc<dyn OpenFile>,
    control: Arc<Control>,
    buffer: Vec<u8>,
}

const BUFFER: usize = 32 << 10;

impl Output {
    pub fn new(file: Arc<dyn OpenFile>, control: Arc<Control>) -> Self {
        Output { file, control, buffer: Vec::new() }
    }

    pub fn write(&mut self, bytes: &[u8]) -> Result<(), ToolError> {
        if self.buffer.len() + bytes.len() > BUFFER {
            self.flush()?;
            if bytes.len() >= BUFFER {
                return self.write_through(bytes);
            }
        }
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    pub fn line(&mut self, bytes: &[u8]) -> Result<(), ToolError> {
        self.write(bytes)?;
        self.write(b"\n")
    }

    pub fn flush(&mut self) -> Result<(), ToolError> {
        let bytes = std::mem::take(&mut self.buffer);
        let written = self.write_through(&bytes);
        self.buffer = bytes;
        self.buffer.clear();
        written
    }

    pub fn is_terminal(&self) -> bool {
        self.file.is_terminal()
    }

    pub fn file(&self) -> &Arc<dyn OpenFile> {
        &self.file
    }

    fn write_through(&self, bytes: &[u8]) -> Result<(), ToolError> {
        // In pieces, so that the request can end between two of them.
        for part in bytes.chunks(LARGEST_WRITE) {
            self.control.check()?;
            self.file.write_all(part).map_err(ToolError::Output)?;
        }
        Ok(())
    }
}
