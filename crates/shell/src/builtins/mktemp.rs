//! `mktemp`: makes a file or directory with a name that nobody has.

use std::io;

use bstr::{BStr, BString, ByteSlice};

use super::operations::{self, fail, misuse, path};
use super::{Command, Context, Run, ToolError};
use crate::arguments::{Arguments, OptionSpec, both, flag, long};
use crate::errno;
use crate::filesystem::{Follow, OpenOptions};
use crate::status::ExitStatus;

static OPTIONS: [OptionSpec; 7] = [
    both('d', "d", "directory", "make a directory"),
    both('u', "u", "dry-run", "only show a name, make nothing"),
    both('q', "q", "quiet", "say nothing when it fails"),
    long("suffix", "put this behind the template").takes("SUFFIX"),
    flag('p', "p", "make it in this directory").takes("DIRECTORY"),
    OptionSpec {
        id: "tmpdir",
        ..long("tmpdir", "make it in this directory, else in $TMPDIR").may_take("DIRECTORY")
    },
    flag('t', "t", "make it in the directory for temporary files"),
];

pub static COMMAND: Command = Command {
    name: "mktemp",
    synopsis: "mktemp [OPTION]... [TEMPLATE]",
    summary: "make a temporary file or directory and print its name",
    options: &OPTIONS,
    run: Run::Tool(run),
};

const LETTERS: &[u8; 62] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/// With three letters there are 238,328 names; somebody who has them all is told so.
const TRIES: u32 = 10_000;

fn run(context: &mut Context<'_>, words: &[BString]) -> Result<ExitStatus, ToolError> {
    let arguments = operations::parse(context, &OPTIONS, words)?;
    let template = Template::new(context, &arguments)?;
    let directory = arguments.has("d");
    let result = if arguments.has("u") {
        template.free_name(context)
    } else {
        template.make(context, directory)
    };
    match result {
        Ok(name) => {
            context.output.line(&name)?;
            Ok(ExitStatus::SUCCESS)
        }
        Err(error) => {
            if !arguments.has("q") {
                let kind = if directory { "directory" } else { "file" };
                let doing = format!("failed to create {kind} via template");
                fail(context, &doing, template.whole().as_bstr(), &error);
            }
            Ok(ExitStatus::FAILURE)
        }
    }
}

/// `before`, so many letters, `after`.
struct Template {
    before: BString,
    letters: usize,
    after: BString,
}

impl Template {
    fn new(context: &Context<'_>, arguments: &Arguments) -> Result<Self, ToolError> {
        let (text, given) = match arguments.operands.as_slice() {
            [] => (BString::from("tmp.XXXXXXXXXX"), false),
            [one] => (one.clone(), true),
            _ => return Err(misuse(context, "too many templates")),
        };
        let template = Self::split(&text, arguments.value("suffix"))?;
        let directory = directory(context, arguments, given);
        let Some(directory) = directory else { return Ok(template) };
        let name = text.to_str_lossy();
        if arguments.has("t") {
            if text.contains(&b'/') {
                let message = format!("invalid template, '{name}', contains directory separator");
                return Err(ToolError::usage(message));
            }
        } else if text.starts_with(b"/") {
            let message =
                format!("invalid template, '{name}'; with --tmpdir, it may not be absolute");
            return Err(ToolError::usage(message));
        }
        let before = path::join(directory.as_bstr(), template.before.as_bstr());
        Ok(Template { before, ..template })
    }

    /// The last run of at least three X; with a suffix it must be the end.
    fn split(text: &BString, suffix: Option<&BStr>) -> Result<Self, ToolError> {
        let name = text.to_str_lossy();
        let is_x = |byte: &u8| *byte == b'X';
        let end = match suffix {
            Some(_) if !text.ends_with(b"X") => {
                let message = format!("with --suffix, template '{name}' must end in X");
                return Err(ToolError::usage(message));
            }
            _ => text.iter().rposition(is_x).map_or(0, |at| at + 1),
        };
        let head = text.get(..end).unwrap_or_default();
        let letters = head.iter().rev().take_while(|byte| is_x(byte)).count();
        let mut after = BString::from(text.get(end..).unwrap_or_default());
        after.extend_from_slice(suffix.unwrap_or_default());
        if after.contains(&b'/') {
            let message =
                format!("invalid suffix '{}', contains directory separator", after.to_str_lossy());
            return Err(ToolError::usage(message));
        }
        if letters < 3 {
            let suffix = suffix.unwrap_or_default().to_str_lossy();
            let message = format!("too few X's in template '{name}{suffix}'");
            return Err(ToolError::usage(message));
        }
        let before = head.get(..end - letters).unwrap_or_default().into();
        Ok(Template { before, letters, after })
    }

    fn whole(&self) -> BString {
        [self.before.as_slice(), &b"X".repeat(self.letters), &self.after].concat().into()
    }

    fn random_name(&self, context: &Context<'_>) -> BString {
        let mut name = self.before.clone();
        let mut random = 0;
        for at in 0..self.letters {
            if at % 10 == 0 {
                random = context.host().random();
            }
            let letter = LETTERS.get((random % 62) as usize).copied().unwrap_or(b'X');
            random /= 62;
            name.push(letter);
        }
        name.extend_from_slice(&self.after);
        name
    }

    fn make(&self, context: &Context<'_>, directory: bool) -> io::Result<BString> {
        for _ in 0..TRIES {
            let name = self.random_name(context);
            let made = if directory {
                let path = context.path(name.as_bstr());
                context.files().create_directory(path.as_bstr(), context.masked(0o700))
            } else {
                let mode = context.masked(0o600);
                let options =
                    OpenOptions { exclusive: true, read: true, ..OpenOptions::writing(mode) };
                context.open_with(name.as_bstr(), options).and_then(|file| file.finish())
            };
            match made {
                Ok(()) => return Ok(name),
                Err(error) if errno::is(&error, errno::EEXIST) => {}
                Err(error) => return Err(error),
            }
        }
        Err(errno::error(errno::EEXIST))
    }

    /// `-u`: whoever uses the name must be ready to find it taken.
    fn free_name(&self, context: &Context<'_>) -> io::Result<BString> {
        for _ in 0..TRIES {
            let name = self.random_name(context);
            let path = context.path(name.as_bstr());
            match context.files().metadata(path.as_bstr(), Follow::No) {
                Ok(_) => {}
                Err(_) => return Ok(name),
            }
        }
        Err(errno::error(errno::EEXIST))
    }
}

/// Where the name goes if the template does not say.
fn directory(context: &Context<'_>, arguments: &Arguments, given: bool) -> Option<BString> {
    let variable = || context.variable("TMPDIR").filter(|value| !value.is_empty());
    let option = ["p", "tmpdir"].iter().find_map(|id| arguments.value(id));
    let option = option.filter(|value| !value.is_empty()).map(BString::from);
    if arguments.has("t") {
        return Some(variable().or(option).unwrap_or_else(|| "/tmp".into()));
    }
    if arguments.has("p") || arguments.has("tmpdir") || !given {
        return Some(option.or_else(variable).unwrap_or_else(|| "/tmp".into()));
    }
    None
}
