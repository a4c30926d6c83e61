//! `tail -f`: looking at the files again and again until the request ends or nobody reads any more.

use std::io::{self, SeekFrom};
use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};

use super::copy;
use super::settings::{Follow, Settings};
use crate::builtins::head::Headers;
use crate::builtins::input::{self, Wording};
use crate::builtins::{Context, ToolError};
use crate::errno;
use crate::filesystem::{FileKind, Metadata, OpenFile};
use crate::status::{ExitStatus, Interrupt};

/// One file that is watched.
pub struct Followed {
    name: BString,
    /// `None`: it was not there when it was last looked for.
    file: Option<Arc<dyn OpenFile>>,
}

impl Followed {
    pub fn open(name: &BStr, file: Arc<dyn OpenFile>) -> Self {
        Followed { name: name.into(), file: Some(file) }
    }

    pub fn missing(name: &BStr) -> Self {
        Followed { name: name.into(), file: None }
    }
}

pub fn follow(
    context: &mut Context<'_>,
    settings: &Settings,
    how: Follow,
    headers: &mut Headers,
    mut files: Vec<Followed>,
) -> Result<ExitStatus, ToolError> {
    // The name in the last header.
    let mut last = files.last().map(|file| file.name.clone()).unwrap_or_default();
    let control = context.control();
    loop {
        let mut at = 0;
        while let Some(file) = files.get_mut(at) {
            if how == Follow::Name || file.file.is_none() {
                look_up(context, file)?;
            }
            if file.file.is_none() && !settings.retry {
                files.remove(at);
                continue;
            }
            print_news(context, file, headers, &mut last)?;
            at += 1;
        }
        if files.is_empty() {
            context.complain("no files remaining");
            return Ok(ExitStatus::FAILURE);
        }
        context.output.flush()?;
        // A pipe whose reader is gone says so even to an empty write.
        if let Err(error) = context.output.file().write(b"")
            && errno::is(&error, errno::EPIPE)
        {
            return Err(ToolError::Interrupted(Interrupt::Killed(crate::shell::SIGPIPE)));
        }
        control.sleep(settings.interval)?;
    }
}

/// Is the name still that of the file that is open? If not, the new file is followed from its start.
fn look_up(context: &mut Context<'_>, followed: &mut Followed) -> Result<(), ToolError> {
    if followed.name == "-" {
        return Ok(());
    }
    let was_there = followed.file.is_some();
    let name = input::quoted(followed.name.as_bstr());
    let (file, now) = match open_regular(context, followed.name.as_bstr()) {
        Ok(found) => found,
        Err(error) => {
            context.control().check()?;
            if was_there {
                input::complain(context, &[&name, b" has become inaccessible"], Some(&error));
            }
            followed.file = None;
            return Ok(());
        }
    };
    let before = followed.file.as_ref().and_then(|file| file.metadata().ok());
    let same = before.is_some_and(|before| is_same(&before, &now));
    if same {
        return Ok(());
    }
    let verb: &[u8] = if was_there { b" has been replaced" } else { b" has appeared" };
    input::complain(context, &[&name, verb, b";  following new file"], None);
    followed.file = Some(file);
    Ok(())
}

fn open_regular(context: &Context<'_>, name: &BStr) -> io::Result<(Arc<dyn OpenFile>, Metadata)> {
    let file = context.open(name)?;
    let metadata = file.metadata()?;
    if metadata.kind == FileKind::Directory {
        return Err(errno::error(errno::EISDIR));
    }
    Ok((file, metadata))
}

fn is_same(one: &Metadata, other: &Metadata) -> bool {
    (one.device, one.inode) == (other.device, other.inode)
}

fn print_news(
    context: &mut Context<'_>,
    followed: &Followed,
    headers: &mut Headers,
    last: &mut BString,
) -> Result<(), ToolError> {
    let Some(file) = &followed.file else { return Ok(()) };
    let metadata = file.metadata().ok().filter(Metadata::is_file);
    if let (Some(metadata), Ok(position)) = (metadata, file.seek(SeekFrom::Current(0))) {
        if metadata.size == position {
            return Ok(());
        }
        if metadata.size < position {
            input::complain(context, &[&followed.name, b": file truncated"], None);
            let _ = file.seek(SeekFrom::Start(0));
        }
    }
    if *last != followed.name {
        headers.print(context, followed.name.as_bstr())?;
        *last = followed.name.clone();
    }
    if let Err(error) = copy::rest_of(context, file)? {
        input::read_failed(context, followed.name.as_bstr(), &error, Wording::Sentence)?;
    }
    Ok(())
}
