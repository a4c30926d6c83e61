//! `realpath`: absolute paths without links and dots, or relative to another.

use std::io;

use bstr::{BStr, BString, ByteSlice};

use super::{Command, Context, Run, ToolError};
use crate::arguments::{self, Arguments, OptionSpec, Order, both, long};
use crate::errno;
use crate::filesystem::{Follow, MayMiss};
use crate::status::ExitStatus;

static OPTIONS: [OptionSpec; 10] = [
    both('e', "e", "canonicalize-existing", "every component must exist"),
    both('m', "m", "canonicalize-missing", "no component needs to exist"),
    both('L', "L", "logical", "take .. away before links are followed"),
    both('P', "P", "physical", "follow links as they come (default)"),
    both('q', "q", "quiet", "no messages"),
    long("relative-to", "print paths relative to DIR").takes("DIR"),
    long("relative-base", "print paths beneath DIR relative to it, others absolute").takes("DIR"),
    both('s', "s", "strip", "do not follow links"),
    OptionSpec { id: "s", ..long("no-symlinks", "the same as --strip") },
    both('z', "z", "zero", "end each line with NUL, not newline"),
];

pub static COMMAND: Command = Command {
    name: "realpath",
    synopsis: "realpath [OPTION]... PATH...",
    summary: "print the resolved absolute path",
    options: &OPTIONS,
    run: Run::Tool(run),
};

fn run(context: &mut Context<'_>, words: &[BString]) -> Result<ExitStatus, ToolError> {
    let arguments = arguments::parse(&OPTIONS, words, Order::Anywhere)
        .map_err(|error| error.with_hint("realpath", ExitStatus::FAILURE))?;
    if arguments.operands.is_empty() {
        return Err(ToolError::hinted("realpath", "missing operand", ExitStatus::FAILURE));
    }
    let resolver = Resolver::new(&arguments);
    let relation = match Relation::new(context, &resolver, &arguments) {
        Ok(relation) => relation,
        Err((name, error)) => {
            context.complain_of(name.as_bstr(), &error);
            return Ok(ExitStatus::FAILURE);
        }
    };
    let end = if arguments.has("z") { 0 } else { b'\n' };
    let mut status = ExitStatus::SUCCESS;
    for operand in &arguments.operands {
        match resolver.resolve(context, operand.as_bstr()) {
            Ok(path) => {
                context.output.write(&relation.apply(path))?;
                context.output.write(&[end])?;
            }
            Err(error) => {
                context.control().check()?;
                if !arguments.has("q") {
                    context.complain_of(operand.as_bstr(), &error);
                }
                status = ExitStatus::FAILURE;
            }
        }
    }
    Ok(status)
}

struct Resolver {
    missing: MayMiss,
    /// `..` is taken away by its text.
    lexical: bool,
    follows: bool,
}

impl Resolver {
    fn new(arguments: &Arguments) -> Self {
        let missing = match arguments.last_of(&["e", "m"]) {
            Some("e") => MayMiss::Nothing,
            Some(_) => MayMiss::Everything,
            None => MayMiss::LastComponent,
        };
        match arguments.last_of(&["s", "L", "P"]) {
            Some("s") => Resolver { missing, lexical: true, follows: false },
            Some("L") => Resolver { missing, lexical: true, follows: true },
            _ => Resolver { missing, lexical: false, follows: true },
        }
    }

    fn resolve(&self, context: &Context<'_>, operand: &BStr) -> io::Result<BString> {
        if operand.is_empty() {
            return Err(errno::error(errno::ENOENT));
        }
        let mut path = context.path(operand);
        if self.lexical {
            path = self.normalize(context, path.as_bstr())?;
        }
        if self.follows {
            path = context.files().canonicalize(path.as_bstr(), self.missing)?;
        }
        if operand.ends_with(b"/") && self.missing != MayMiss::Everything {
            let found = context.files().metadata(path.as_bstr(), Follow::Yes);
            if found.is_ok_and(|metadata| !metadata.is_directory()) {
                return Err(errno::error(errno::ENOTDIR));
            }
        }
        Ok(path)
    }

    /// The path without `.` and `..`; what must exist is looked at.
    fn normalize(&self, context: &Context<'_>, path: &BStr) -> io::Result<BString> {
        let mut normal = BString::from("/");
        let mut parts = path.split_str("/").filter(|part| !part.is_empty()).peekable();
        while let Some(part) = parts.next() {
            match part {
                b"." => {}
                b".." => {
                    let end = normal.rfind_byte(b'/').unwrap_or(0);
                    normal.truncate(end.max(1));
                }
                part => {
                    if normal.len() > 1 {
                        normal.push(b'/');
                    }
                    normal.extend_from_slice(part);
                    self.check(context, normal.as_bstr(), parts.peek().is_none())?;
                }
            }
        }
        Ok(normal)
    }

    fn check(&self, context: &Context<'_>, path: &BStr, is_last: bool) -> io::Result<()> {
        // What is above the project's root is not visible, but certainly there.
        let is_above = is_beneath(context.files().root(), path);
        if self.missing == MayMiss::Everything || is_above {
            return Ok(());
        }
        match context.files().metadata(path, Follow::Yes) {
            Ok(metadata) if !is_last && !metadata.is_directory() => {
                Err(errno::error(errno::ENOTDIR))
            }
            Ok(_) => Ok(()),
            Err(error) if is_last && self.missing == MayMiss::LastComponent => {
                if errno::is(&error, errno::ENOENT) { Ok(()) } else { Err(error) }
            }
            Err(error) => Err(error),
        }
    }
}

/// What paths are printed relative to.
struct Relation {
    to: Option<BString>,
    /// Only what is beneath it is printed relative.
    base: Option<BString>,
}

impl Relation {
    fn new(
        context: &Context<'_>,
        resolver: &Resolver,
        arguments: &Arguments,
    ) -> Result<Self, (BString, io::Error)> {
        let resolve = |name: &BStr| {
            let fail = |error| (BString::from(name), error);
            let path = resolver.resolve(context, name).map_err(fail)?;
            if resolver.missing == MayMiss::Nothing {
                let metadata =
                    context.files().metadata(path.as_bstr(), Follow::Yes).map_err(fail)?;
                if !metadata.is_directory() {
                    return Err(fail(errno::error(errno::ENOTDIR)));
                }
            }
            Ok(path)
        };
        let base = arguments.value("relative-base").map(resolve).transpose()?;
        let to = arguments.value("relative-to").map(resolve).transpose()?;
        Ok(match (to, base) {
            (None, base) => Relation { to: base.clone(), base },
            (Some(to), None) => Relation { to: Some(to), base: None },
            // A start outside the base makes every path absolute.
            (Some(to), Some(base)) if !is_beneath(to.as_bstr(), base.as_bstr()) => {
                Relation { to: None, base: None }
            }
            (Some(to), Some(base)) => Relation { to: Some(to), base: Some(base) },
        })
    }

    fn apply(&self, path: BString) -> BString {
        let outside =
            self.base.as_ref().is_some_and(|base| !is_beneath(path.as_bstr(), base.as_bstr()));
        match &self.to {
            Some(to) if !outside => relative(path.as_bstr(), to.as_bstr()),
            _ => path,
        }
    }
}

fn components(path: &BStr) -> impl Iterator<Item = &[u8]> {
    path.split_str("/").filter(|part| !part.is_empty())
}

fn is_beneath(path: &BStr, base: &BStr) -> bool {
    let mut parts = components(path);
    components(base).all(|part| parts.next() == Some(part))
}

/// The way from one directory to a path, both absolute.
fn relative(path: &BStr, from: &BStr) -> BString {
    let mut there = components(path).peekable();
    let mut here = components(from).peekable();
    while there.peek().is_some() && there.peek() == here.peek() {
        there.next();
        here.next();
    }
    let parts: Vec<&[u8]> = here.map(|_| &b".."[..]).chain(there).collect();
    if parts.is_empty() { ".".into() } else { bstr::join("/", parts).into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways() {
        let cases = [
            ("/a/b", "/a", "b"),
            ("/a", "/a/b", ".."),
            ("/a", "/a", "."),
            ("/a/x/y", "/a/b/c", "../../x/y"),
            ("/ab", "/a", "../ab"),
            ("/a", "/", "a"),
            ("/", "/a", ".."),
        ];
        for (path, from, expected) in cases {
            assert_eq!(relative(path.into(), from.into()), expected, "{path} from {from}");
        }
        assert!(is_beneath("/a/b".into(), "/a".into()));
        assert!(!is_beneath("/ab".into(), "/a".into()));
    }
}
