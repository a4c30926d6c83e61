//! Redirects: files that are opened, and where a command reads from and prints to.

use bstr::{BStr, BString, ByteSlice};
use exacta_syntax::ast::{
    self, DuplicateDirection, FileOperator, ProcessDirection, Redirect, RedirectDescriptor,
    RedirectKind, WordPart,
};

use crate::event::{Access, Directory, Event, Input, Open};
use crate::word::Word;

use super::Walker;
use super::fold;
use super::output::Output;
use super::paths::resolve;

/// What redirects make of a command.
#[derive(Debug, Default)]
pub(super) struct Redirected {
    /// `None`: as without them.
    pub input: Option<Input>,
    opens: Vec<Opened>,
    prints: Prints,
}

#[derive(Debug)]
struct Opened {
    path: Word,
    access: Access,
    directory: Directory,
    /// What the command prints goes there.
    receives: bool,
    /// … behind what is there already.
    appends: bool,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Prints {
    #[default]
    Unchanged,
    /// To the file opened last.
    ToFile,
    Elsewhere,
}

impl Redirected {
    /// A file that cannot be opened: the command does not run.
    pub fn may_fail(&self) -> bool {
        !self.opens.is_empty()
    }

    /// What the command prints goes into a file that keeps it.
    pub fn goes_to_file(&self) -> bool {
        self.prints == Prints::ToFile && self.opens.iter().any(|opened| opened.receives)
    }

    /// Only where it reads from.
    pub fn of_input(&self) -> Redirected {
        Redirected { input: self.input.clone(), ..Redirected::default() }
    }
}

/// Where the output goes, for those who would read it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Goes {
    On,
    Away,
    Somewhere,
}

impl Walker<'_> {
    /// Folds the targets and finds out what they mean; nothing is told yet.
    pub(super) fn redirects(&mut self, redirects: &[Redirect]) -> Redirected {
        let mut redirected = Redirected::default();
        for redirect in redirects {
            self.redirect(redirect, &mut redirected);
        }
        redirected
    }

    fn redirect(&mut self, redirect: &Redirect, redirected: &mut Redirected) {
        let number = match &redirect.descriptor {
            Some(RedirectDescriptor::Number(number)) => Some(*number),
            Some(RedirectDescriptor::Variable(name)) => {
                self.assign_unknown(array_name(name).as_bstr(), "{…}");
                // Never one of the standard streams.
                Some(10)
            }
            None => None,
        };
        match &redirect.kind {
            RedirectKind::HereDocument(document) => {
                let text = self.document(&document.body);
                if number.unwrap_or(0) == 0 {
                    redirected.input = Some(Input::Text(text));
                }
            }
            RedirectKind::HereString(word) => {
                let text = if has_late_tilde(word) {
                    self.visit(word);
                    fold::dynamic(word, BString::default())
                } else {
                    with_newline(self.single(word))
                };
                if number.unwrap_or(0) == 0 {
                    redirected.input = Some(Input::Text(text));
                }
            }
            RedirectKind::File { operator, target } => {
                self.file(*operator, target, number, redirected);
            }
            RedirectKind::Duplicate { direction, target } => {
                self.duplicate(*direction, target, number, redirected);
            }
        }
    }

    fn file(
        &mut self,
        operator: FileOperator,
        target: &ast::Word,
        number: Option<u32>,
        redirected: &mut Redirected,
    ) {
        let (reads, writes) = match operator {
            FileOperator::Read => (true, false),
            FileOperator::ReadWrite => (true, true),
            _ => (false, true),
        };
        let both = matches!(operator, FileOperator::WriteBoth | FileOperator::AppendBoth);
        let number = number.unwrap_or(u32::from(!reads));
        if let [WordPart::Process(process)] = target.parts.as_slice() {
            let (output, names) = self.naming(|walker| walker.process_substitution(process));
            if reads && number == 0 && process.direction == ProcessDirection::Read {
                redirected.input = Some(match output {
                    Output::Text(text) => Input::Text(Word::Literal(text)),
                    _ => Input::Pipe(names),
                });
            } else if writes && number == 1 {
                redirected.prints = Prints::Elsewhere;
            }
            return;
        }
        let path = self.target(target);
        if reads && number == 0 {
            redirected.input = Some(Input::File(path.clone()));
        }
        let receives = writes && (number == 1 || both);
        if receives {
            redirected.prints = Prints::ToFile;
        }
        if reads {
            self.opens(&path, Access::Read, false, redirected);
        }
        if writes {
            self.opens(&path, Access::Write, receives, redirected);
        }
        let appends = matches!(operator, FileOperator::Append | FileOperator::AppendBoth);
        if let Some(opened) = redirected.opens.last_mut() {
            opened.appends = appends;
        }
    }

    fn opens(&self, path: &Word, access: Access, receives: bool, redirected: &mut Redirected) {
        if receives {
            // Only the last of several files gets anything.
            for opened in &mut redirected.opens {
                opened.receives = false;
            }
        }
        if is_harmless_device(path.prefix(), path.as_literal().is_some()) {
            return;
        }
        redirected.opens.push(Opened {
            path: path.clone(),
            access,
            directory: self.state.place.directory(),
            receives,
            appends: false,
        });
    }

    fn duplicate(
        &mut self,
        direction: DuplicateDirection,
        target: &ast::Word,
        number: Option<u32>,
        redirected: &mut Redirected,
    ) {
        let word = self.target(target);
        let descriptor = word.as_literal().is_some_and(is_descriptor);
        match direction {
            DuplicateDirection::Input => {
                if number.unwrap_or(0) == 0 && word.as_literal().is_none_or(|word| *word != "0") {
                    // Whatever was opened there before.
                    redirected.input = Some(Input::Pipe(Vec::new()));
                }
            }
            DuplicateDirection::Output if descriptor => {
                if number.unwrap_or(1) == 1 && word.as_literal().is_none_or(|word| *word != "1") {
                    redirected.prints = Prints::Elsewhere;
                }
            }
            DuplicateDirection::Output => {
                let receives = word.as_literal().is_some();
                redirected.prints = if receives { Prints::ToFile } else { Prints::Elsewhere };
                self.opens(&word, Access::Write, receives, redirected);
            }
        }
    }

    /// The name of a file: one word, or it is an error when it runs.
    fn target(&mut self, word: &ast::Word) -> Word {
        let mut words = Vec::new();
        self.fields(word, &mut words);
        match (words.pop(), words.is_empty()) {
            (Some(only), true) => only,
            _ => fold::dynamic(word, BString::default()),
        }
    }

    /// Tells of the files; `content` is what the command prints.
    pub(super) fn open(&mut self, redirected: Redirected, content: Option<BString>) -> Goes {
        let goes = match redirected.prints {
            Prints::Unchanged => Goes::On,
            Prints::ToFile => Goes::Away,
            Prints::Elsewhere => Goes::Somewhere,
        };
        for opened in redirected.opens {
            let content =
                if opened.receives && goes == Goes::Away { content.clone() } else { None };
            let content =
                if opened.access == Access::Write { self.written(&opened, content) } else { None };
            (self.emit)(Event::Open(Open {
                path: opened.path,
                access: opened.access,
                directory: opened.directory,
                content,
                via: self.via.clone(),
            }));
        }
        goes
    }

    /// All that is in the file afterwards, as far as this text has put it there.
    fn written(&mut self, opened: &Opened, content: Option<BString>) -> Option<BString> {
        let Some(path) = opened.path.as_literal() else { return content };
        let Some(path) = resolve(opened.directory.expected(), path) else { return content };
        let whole = match (self.files.remove(&path), content) {
            (Some(mut before), Some(more)) if opened.appends => {
                before.extend_from_slice(&more);
                before
            }
            (Some(before), None) if opened.appends => {
                self.files.insert(path, before);
                return None;
            }
            (_, content) => content?,
        };
        let kept = self.afford(whole.len());
        self.files.insert(path, whole.clone());
        kept.then_some(whole)
    }
}

/// `<<< a:~`: bash expands it as in an assignment.
/// The variable of `{name[1]}>`.
fn array_name(text: &[u8]) -> &[u8] {
    text.split(|byte| *byte == b'[').next().unwrap_or_default()
}

fn has_late_tilde(word: &ast::Word) -> bool {
    let late = |part: &WordPart| match part {
        WordPart::Literal(text) => text.contains_str(":~") || text.contains_str("=~"),
        _ => false,
    };
    word.parts.iter().any(late)
}

fn with_newline(word: Word) -> Word {
    match word {
        Word::Literal(mut text) => {
            text.push(b'\n');
            Word::Literal(text)
        }
        Word::Dynamic(mut dynamic) => {
            for value in &mut dynamic.values {
                value.push(b'\n');
            }
            Word::Dynamic(dynamic)
        }
    }
}

/// `1`, `-`, `2-`
fn is_descriptor(text: &BStr) -> bool {
    let digits = text.strip_suffix(b"-").unwrap_or(text);
    !text.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

/// What every process may read and write without anybody caring.
fn is_harmless_device(path: &BStr, whole: bool) -> bool {
    let Some(device) = path.strip_prefix(b"/dev/") else { return false };
    if let Some(number) = device.strip_prefix(b"fd/") {
        return number.iter().all(u8::is_ascii_digit);
    }
    whole
        && matches!(
            device,
            b"null" | b"stdin" | b"stdout" | b"stderr" | b"zero" | b"full" | b"random" | b"urandom"
        )
}
