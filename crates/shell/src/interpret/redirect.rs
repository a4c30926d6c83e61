//! Redirects: applied in order, undone in reverse.

use std::io;
use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};
use exacta_syntax::ast::{
    DuplicateDirection, FileOperator, Redirect, RedirectDescriptor, RedirectKind, Word,
};

use crate::errno;
use crate::filesystem::{Follow, OpenFile, OpenOptions};
use crate::pipe::Bytes;
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow, Interrupt};
use crate::variables::{Reference, parse_reference};

/// What the redirects of a command replaced, oldest first.
#[derive(Default)]
pub(super) struct Replaced {
    saved: Vec<(u32, Option<Arc<dyn OpenFile>>)>,
}

/// Why a redirect was not made.
pub(super) enum Failure {
    /// The message is printed; the command is not run.
    Reported,
    Interrupted(Interrupt),
}

impl From<Interrupt> for Failure {
    fn from(interrupt: Interrupt) -> Self {
        Failure::Interrupted(interrupt)
    }
}

type Redirecting<T> = Result<T, Failure>;

/// First descriptor for `{name}>file`.
const FIRST_NAMED: u32 = 10;

impl Shell {
    /// Runs something with redirects in force; if one cannot be made, it is not run and the status is 1.
    pub(super) fn with_redirects(
        &mut self,
        redirects: &[Redirect],
        run: impl FnOnce(&mut Self) -> Flow,
    ) -> Flow {
        if redirects.is_empty() {
            return run(self);
        }
        match self.redirect(redirects) {
            Ok(replaced) => {
                let flow = run(self);
                self.undo_redirects(replaced);
                flow
            }
            Err(failure) => self.redirect_failed(failure),
        }
    }

    /// The same for a program, whose redirects its own process makes: an error that would end this shell ends only that.
    pub(super) fn with_redirects_of_program(
        &mut self,
        redirects: &[Redirect],
        run: impl FnOnce(&mut Self) -> Flow,
    ) -> Flow {
        if redirects.is_empty() {
            return run(self);
        }
        match self.redirect(redirects) {
            Ok(replaced) => {
                let flow = run(self);
                self.undo_redirects(replaced);
                flow
            }
            Err(Failure::Interrupted(Interrupt::Exit(status) | Interrupt::Discard(status))) => {
                Ok(status)
            }
            Err(failure) => self.redirect_failed(failure),
        }
    }

    pub(super) fn redirect_failed(&mut self, failure: Failure) -> Flow {
        match failure {
            Failure::Reported => {
                self.transient.redirect_failed = true;
                Ok(ExitStatus::FAILURE)
            }
            Failure::Interrupted(interrupt) => Err(interrupt),
        }
    }

    /// Makes all redirects, or none.
    pub(super) fn redirect(&mut self, redirects: &[Redirect]) -> Redirecting<Replaced> {
        let mut replaced = Replaced::default();
        for redirect in redirects {
            if let Err(failure) = self.redirect_one(redirect, &mut replaced) {
                self.undo_redirects(replaced);
                return Err(failure);
            }
        }
        Ok(replaced)
    }

    pub(super) fn undo_redirects(&mut self, mut replaced: Replaced) {
        while let Some((descriptor, file)) = replaced.saved.pop() {
            let ours = self.files.set(descriptor, file);
            self.close(ours);
        }
    }

    /// The last use of a file may report what writing did not.
    fn close(&self, file: Option<Arc<dyn OpenFile>>) {
        if let Some(file) = file
            && Arc::strong_count(&file) == 1
            && let Err(error) = file.finish()
        {
            self.complain(format!("write error: {}", errno::text(&error)));
        }
    }

    fn redirect_one(&mut self, redirect: &Redirect, replaced: &mut Replaced) -> Redirecting<()> {
        let descriptor = redirect.descriptor.as_ref();
        match &redirect.kind {
            RedirectKind::File { operator, target } => {
                let path = self.redirect_target(target)?;
                self.redirect_to_file(descriptor, *operator, path.as_bstr(), replaced)
            }
            RedirectKind::Duplicate { direction, target } => {
                self.duplicate(descriptor, *direction, target, replaced)
            }
            RedirectKind::HereDocument(document) => {
                let body = self.expand_here_document(document)?;
                self.install(descriptor, 0, Arc::new(Bytes::new(body)), replaced)
            }
            RedirectKind::HereString(word) => {
                let mut text = self.expand_to_string(word)?;
                text.push(b'\n');
                self.install(descriptor, 0, Arc::new(Bytes::new(text)), replaced)
            }
        }
    }

    /// One word; more or fewer are ambiguous.
    fn redirect_target(&mut self, target: &Word) -> Redirecting<BString> {
        let mut words = Vec::with_capacity(1);
        self.expand_word_into(target, &mut words)?;
        if words.len() > 1 {
            words.clear();
        }
        words.pop().ok_or_else(|| self.ambiguous(target))
    }

    fn ambiguous(&self, target: &Word) -> Failure {
        let mut message = exacta_syntax::print_word(target);
        message.extend_from_slice(b": ambiguous redirect");
        self.complain(message);
        Failure::Reported
    }

    fn redirect_to_file(
        &mut self,
        descriptor: Option<&RedirectDescriptor>,
        operator: FileOperator,
        path: &BStr,
        replaced: &mut Replaced,
    ) -> Redirecting<()> {
        let mode = 0o666 & !self.umask;
        let (options, default) = match operator {
            FileOperator::Read => (OpenOptions::reading(), 0),
            FileOperator::ReadWrite => {
                (OpenOptions { read: true, truncate: false, ..OpenOptions::writing(mode) }, 0)
            }
            FileOperator::Write | FileOperator::Clobber | FileOperator::WriteBoth => {
                (OpenOptions::writing(mode), 1)
            }
            FileOperator::Append | FileOperator::AppendBoth => (OpenOptions::appending(mode), 1),
        };
        let guarded = matches!(operator, FileOperator::Write | FileOperator::WriteBoth);
        let opened = if guarded && self.options.noclobber {
            self.open_without_clobbering(path, options)
        } else {
            self.open_counted(path, options)
        };
        let file = match opened {
            Ok(file) => file,
            Err(error) => return Err(self.report_open(path, &error)),
        };
        if matches!(operator, FileOperator::WriteBoth | FileOperator::AppendBoth) {
            self.replace(1, Some(Arc::clone(&file)), replaced)?;
            return self.replace(2, Some(file), replaced);
        }
        self.install(descriptor, default, file, replaced)
    }

    fn report_open(&self, path: &BStr, error: &io::Error) -> Failure {
        if let Err(stop) = self.control.check() {
            return Failure::Interrupted(stop.into());
        }
        let mut message = self.as_written(path).to_vec();
        if error.kind() == io::ErrorKind::AlreadyExists {
            message.extend_from_slice(b": cannot overwrite existing file");
        } else {
            message.extend_from_slice(format!(": {}", errno::text(error)).as_bytes());
        }
        self.complain(message);
        Failure::Reported
    }

    fn open_counted(&self, path: &BStr, options: OpenOptions) -> io::Result<Arc<dyn OpenFile>> {
        if self.files.open_count() >= self.open_file_limit() as usize {
            return Err(errno::error(errno::EMFILE));
        }
        self.open(path, options)
    }

    /// `set -C`: a regular file that exists stays as it is; devices may be written.
    fn open_without_clobbering(
        &self,
        path: &BStr,
        options: OpenOptions,
    ) -> io::Result<Arc<dyn OpenFile>> {
        let absolute = self.absolute(path);
        match self.host.files().metadata(absolute.as_bstr(), Follow::Yes) {
            Ok(metadata) if metadata.is_file() => Err(errno::error(errno::EEXIST)),
            Ok(_) => self.open_counted(path, OpenOptions { truncate: false, ..options }),
            Err(_) => self.open_counted(path, OpenOptions { exclusive: true, ..options }),
        }
    }

    /// `>&word`, `<&word`: a descriptor, `-` to close, `n-` to move, else for `>&` a file for both outputs.
    fn duplicate(
        &mut self,
        descriptor: Option<&RedirectDescriptor>,
        direction: DuplicateDirection,
        target: &Word,
        replaced: &mut Replaced,
    ) -> Redirecting<()> {
        let text = self.redirect_target(target)?;
        let default = u32::from(direction == DuplicateDirection::Output);
        if text == "-" {
            return self.close_descriptor(descriptor, default, replaced);
        }
        let (number, moves) = match text.strip_suffix(b"-") {
            Some(number) => (number, true),
            None => (text.as_slice(), false),
        };
        if let Some(source) = parse_descriptor(number) {
            let onto_itself = match descriptor {
                None => source == default,
                Some(RedirectDescriptor::Number(number)) => *number == source,
                Some(RedirectDescriptor::Variable(_)) => false,
            };
            if onto_itself {
                // Nothing to do, not even to find out whether it is open.
                return Ok(());
            }
            let Some(file) = self.files.get(source).cloned() else {
                let written = exacta_syntax::print_word(target);
                self.complain(concat(&written, format!(": {}", bad_descriptor()).as_bytes()));
                return Err(Failure::Reported);
            };
            self.install(descriptor, default, file, replaced)?;
            return if moves { self.replace(source, None, replaced) } else { Ok(()) };
        }
        let both = matches!(descriptor, None | Some(RedirectDescriptor::Number(1)));
        if direction == DuplicateDirection::Output && both && !text.is_empty() {
            let operator = FileOperator::WriteBoth;
            return self.redirect_to_file(None, operator, text.as_bstr(), replaced);
        }
        Err(self.ambiguous(target))
    }

    fn close_descriptor(
        &mut self,
        descriptor: Option<&RedirectDescriptor>,
        default: u32,
        replaced: &mut Replaced,
    ) -> Redirecting<()> {
        match descriptor {
            None => self.replace(default, None, replaced),
            Some(RedirectDescriptor::Number(number)) => self.replace(*number, None, replaced),
            Some(RedirectDescriptor::Variable(name)) => {
                let number = self.descriptor_in(name.as_bstr())?;
                let Some(number) = number else {
                    self.complain(concat(name, b": ambiguous redirect"));
                    return Err(Failure::Reported);
                };
                let file = self.files.set(number, None);
                self.close(file);
                Ok(())
            }
        }
    }

    /// The number that `{name}` or `{name[1]}` holds.
    fn descriptor_in(&mut self, text: &BStr) -> Redirecting<Option<u32>> {
        let Some(Reference { name, subscript: Some(subscript) }) = parse_reference(text) else {
            let value = self.scalar_of(text);
            return Ok(value.and_then(|value| parse_descriptor(&value)));
        };
        let key = self.element_key_of_text(name, subscript)?;
        let value = self.value_of(name);
        let element = value.as_ref().and_then(|value| value.element(&key));
        Ok(element.and_then(|text| parse_descriptor(text)))
    }

    /// Puts the file where the redirect says. `{name}>` takes the first free one and leaves it open.
    fn install(
        &mut self,
        descriptor: Option<&RedirectDescriptor>,
        default: u32,
        file: Arc<dyn OpenFile>,
        replaced: &mut Replaced,
    ) -> Redirecting<()> {
        match descriptor {
            None => self.replace(default, Some(file), replaced),
            Some(RedirectDescriptor::Number(number)) => self.replace(*number, Some(file), replaced),
            Some(RedirectDescriptor::Variable(name)) => {
                let number = self.files.first_free(FIRST_NAMED);
                if number >= self.open_file_limit() {
                    self.complain(concat(name, b": Too many open files"));
                    return Err(Failure::Reported);
                }
                if !self.try_assign_reference(name.as_bstr(), number.to_string().into())? {
                    self.complain(concat(name, b": cannot assign fd to variable"));
                    return Err(Failure::Reported);
                }
                if self.options.varredir_close {
                    return self.replace(number, Some(file), replaced);
                }
                self.files.set(number, Some(file));
                Ok(())
            }
        }
    }

    fn replace(
        &mut self,
        descriptor: u32,
        file: Option<Arc<dyn OpenFile>>,
        replaced: &mut Replaced,
    ) -> Redirecting<()> {
        if file.is_some() && descriptor >= self.open_file_limit().max(3) {
            self.complain(format!("{descriptor}: {}", bad_descriptor()));
            return Err(Failure::Reported);
        }
        let before = self.files.set(descriptor, file);
        replaced.saved.push((descriptor, before));
        Ok(())
    }
}

fn bad_descriptor() -> String {
    errno::text(&errno::error(errno::EBADF))
}

fn parse_descriptor(text: &[u8]) -> Option<u32> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    // A number that is too large is a descriptor that is not open, never the name of a file.
    Some(text.to_str().ok()?.parse().unwrap_or(u32::MAX))
}

fn concat(name: &BString, rest: &[u8]) -> BString {
    let mut all = name.clone();
    all.extend_from_slice(rest);
    all
}
