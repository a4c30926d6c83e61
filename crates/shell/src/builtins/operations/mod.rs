//! What the commands that change files share: messages, prompts, destinations, backups, and the copying itself.

pub(super) mod backup;
pub(super) mod choice;
pub(super) mod copy;
pub(super) mod destination;
pub(super) mod path;
pub(super) mod prompt;
pub(super) mod quote;
pub(super) mod replace;

use std::io;

use bstr::{BStr, BString, ByteSlice};

use super::{Context, ToolError};
use crate::arguments::{self, Arguments, OptionSpec, Order};
use crate::errno;
use crate::filesystem::{Follow, MayMiss, Metadata};
use crate::shell::own_descriptor;
use crate::status::ExitStatus;

/// Options anywhere, and wrong use reported with the line that says where to read more.
pub(super) fn parse(
    context: &Context<'_>,
    specs: &'static [OptionSpec],
    words: &[BString],
) -> Result<Arguments, ToolError> {
    arguments::parse(specs, words, Order::Anywhere)
        .map_err(|error| error.with_hint(context.name, ExitStatus::FAILURE))
}

/// Wrong use: the message, the line that says where to read more, status 1.
pub(super) fn misuse(context: &Context<'_>, message: impl Into<String>) -> ToolError {
    ToolError::hinted(context.name, message, ExitStatus::FAILURE)
}

/// `'name'` inside a message about wrong use.
pub(super) fn shown(name: &BStr) -> String {
    quote::quoted(name).to_str_lossy().into_owned()
}

/// `rm: cannot remove 'd': Is a directory`. What does not exist is always `rm: d: No such file or directory`.
pub(super) fn fail(context: &mut Context<'_>, doing: &str, name: &BStr, error: &io::Error) {
    if errno::is(error, errno::ENOENT) {
        context.complain_of(name, error);
        return;
    }
    let text = errno::text(error);
    say(context, &[doing.as_bytes(), b" ", &quote::quoted(name), b": ", text.as_bytes()]);
}

/// `name: ` and the parts on standard error, as one line.
pub(super) fn say(context: &mut Context<'_>, parts: &[&[u8]]) {
    let mut line = context.name.as_bytes().to_vec();
    line.extend_from_slice(b": ");
    line.extend(parts.iter().copied().flatten());
    line.push(b'\n');
    context.error_bytes(&line);
}

/// The parts on standard output, as one line.
pub(super) fn tell(context: &mut Context<'_>, parts: &[&[u8]]) -> Result<(), ToolError> {
    context.output.line(&parts.concat())
}

/// stat(2) of an operand; the shell's own descriptors (`/dev/stdin`) are what they are open on.
pub(super) fn metadata(
    context: &Context<'_>,
    operand: &BStr,
    follow: Follow,
) -> io::Result<Metadata> {
    let path = context.path(operand);
    if own_descriptor(path.as_bstr()).is_some() {
        return context.open(operand)?.metadata();
    }
    context.files().metadata(path.as_bstr(), follow)
}

/// The same object under two names.
pub(super) fn is_same(one: &Metadata, other: &Metadata) -> bool {
    one.device == other.device && one.inode == other.inode
}

/// One and the same entry of a directory, however it is written.
pub(super) fn is_same_entry(context: &Context<'_>, one: &BStr, other: &BStr) -> bool {
    let place = |name: &BStr| {
        let parent = context.path(path::parent(name));
        let canonical = context.files().canonicalize(parent.as_bstr(), MayMiss::Everything);
        (canonical.unwrap_or(parent), BString::from(path::last(name)))
    };
    path::last(one) == path::last(other) && place(one) == place(other)
}

/// Names in a directory, ordered by inode as GNU's copying commands read them.
pub(super) fn entries_by_inode(context: &Context<'_>, name: &BStr) -> io::Result<Vec<BString>> {
    let path = context.path(name);
    let mut entries = context.files().open_directory(path.as_bstr(), Follow::Yes)?.entries()?;
    entries.sort_by_key(|entry| entry.inode);
    Ok(entries.into_iter().map(|entry| entry.name).collect())
}
