//! `stat`: shows what is known about files.

mod directive;
mod escape;

use bstr::{BStr, BString, ByteSlice};

use self::directive::{Field, Subject};
use super::operations::{self, fail, misuse};
use super::{Command, Context, Run, ToolError};
use crate::arguments::{OptionSpec, both, long};
use crate::dates::Zone;
use crate::filesystem::{FileKind, Follow};
use crate::host::Identity;
use crate::status::ExitStatus;

static OPTIONS: [OptionSpec; 5] = [
    both('L', "L", "dereference", "follow symbolic links"),
    OptionSpec { id: "cached", ..long("cached", "accepted and without effect").takes("MODE") },
    both('c', "c", "format", "show this instead, each time with a newline").takes("FORMAT"),
    long("printf", "show this instead, with escapes and without a newline").takes("FORMAT"),
    both('t', "t", "terse", "show everything on one line"),
];

pub static COMMAND: Command = Command {
    name: "stat",
    synopsis: "stat [OPTION]... FILE...",
    summary: "show the status of files",
    options: &OPTIONS,
    run: Run::Tool(run),
};

const TERSE: &str = "%n %s %b %f %u %g %D %i %h %t %T %X %Y %Z %W %o\n";

/// Between the name and the times.
const USUAL_HEAD: &str = "  Size: %-10s\tBlocks: %-10b IO Block: %-6o %F\n";
const USUAL_TAIL: &str = "\nAccess: (%04a/%10.10A)  Uid: (%5u/%8U)   Gid: (%5g/%8G)\n\
    Access: %x\nModify: %y\nChange: %z\n Birth: %w\n";

fn run(context: &mut Context<'_>, words: &[BString]) -> Result<ExitStatus, ToolError> {
    let arguments = operations::parse(context, &OPTIONS, words)?;
    if arguments.operands.is_empty() {
        return Err(misuse(context, "missing operand"));
    }
    let given = match arguments.last_of(&["c", "printf"]) {
        Some("c") => {
            let mut format = BString::from(arguments.value("c").unwrap_or_default());
            format.push(b'\n');
            Some((format, false))
        }
        Some(_) => Some((arguments.value("printf").unwrap_or_default().into(), true)),
        None => None,
    };
    if let Some((format, escapes)) = &given {
        directive::check(format.as_bstr(), *escapes)?;
    }
    let settings = Settings {
        format: given,
        terse: arguments.has("t"),
        follow: if arguments.has("L") { Follow::Yes } else { Follow::No },
        zone: Zone::of(context),
    };
    let mut success = true;
    for operand in &arguments.operands {
        context.control().check()?;
        success &= settings.show(context, operand.as_bstr())?;
    }
    Ok(ExitStatus::from_bool(success))
}

struct Settings {
    /// The format, and whether backslashes count.
    format: Option<(BString, bool)>,
    terse: bool,
    follow: Follow,
    zone: Zone,
}

impl Settings {
    /// `false`: something was reported.
    fn show(&self, context: &mut Context<'_>, name: &BStr) -> Result<bool, ToolError> {
        let found = if name == "-" {
            context.input.metadata()
        } else {
            operations::metadata(context, name, self.follow)
        };
        let metadata = match found {
            Ok(metadata) => metadata,
            Err(error) => {
                fail(context, "cannot statx", name, &error);
                return Ok(false);
            }
        };
        let link = (metadata.is_symlink())
            .then(|| context.files().read_link(context.path(name).as_bstr()).ok())
            .flatten();
        let host = context.host();
        let subject = Subject { name, link, metadata, zone: &self.zone, identity: host.identity() };
        let (format, escapes) = match &self.format {
            Some((format, escapes)) => (format.clone(), *escapes),
            None if self.terse => (TERSE.into(), false),
            None => (usual_format(&subject), false),
        };
        let mut out = Vec::new();
        let mut warnings = Vec::new();
        subject.format(&mut out, format.as_bstr(), escapes, &mut warnings);
        for warning in warnings {
            context.complain(warning);
        }
        context.output.write(&out)?;
        Ok(true)
    }
}

fn usual_format(subject: &Subject<'_>) -> BString {
    let mut format = BString::from("  File: ");
    // The name is no format: its percent signs stay.
    let mut name = BString::from(subject.name);
    if let Some(link) = &subject.link {
        name.extend_from_slice(b" -> ");
        name.extend_from_slice(link);
    }
    format.extend_from_slice(&name.replace(b"%", b"%%"));
    format.push(b'\n');
    format.extend_from_slice(USUAL_HEAD.as_bytes());
    let devices = [FileKind::BlockDevice, FileKind::CharacterDevice];
    format.extend_from_slice(b"Device: %Hd,%Ld\tInode: %-10i  Links: ");
    if devices.contains(&subject.metadata.kind) {
        format.extend_from_slice(b"%-5h Device type: %Hr,%Lr");
    } else {
        format.extend_from_slice(b"%h");
    }
    format.extend_from_slice(USUAL_TAIL.as_bytes());
    format
}

/// The name of a user or group, as far as the script is told of any.
fn owner_name(number: u32, own: u32, name: &BString) -> Field {
    if number == own && !name.is_empty() {
        return Field::Text(name.clone());
    }
    Field::Text(if number == 0 { "root".into() } else { "UNKNOWN".into() })
}

fn user_name(identity: &Identity, number: u32) -> Field {
    owner_name(number, identity.user_id, &identity.user_name)
}

fn group_name(identity: &Identity, number: u32) -> Field {
    owner_name(number, identity.group_id, &identity.group_name)
}
