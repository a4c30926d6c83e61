//! Questions on standard error, answered on standard input.

use super::super::{Context, ToolError};
use crate::filesystem::{Access, Follow, Metadata};
use crate::mode;
use bstr::{BStr, ByteSlice};

/// Asks and reads one line: yes if it begins with `y` or `Y`. The end of input is a no.
pub(in crate::builtins) fn ask(
    context: &mut Context<'_>,
    parts: &[&[u8]],
) -> Result<bool, ToolError> {
    let mut question = context.name.as_bytes().to_vec();
    question.extend_from_slice(b": ");
    question.extend(parts.iter().copied().flatten());
    question.extend_from_slice(b"? ");
    context.error_bytes(&question);
    // Byte by byte: what follows the line belongs to whoever reads next.
    let mut first = None;
    let mut byte = [0];
    loop {
        match context.input.read(&mut byte) {
            Ok(0) => break,
            Ok(_) if byte == *b"\n" => break,
            Ok(_) => {
                first.get_or_insert(byte);
            }
            Err(error) => {
                context.interrupted(&error)?;
                break;
            }
        }
    }
    context.control().check()?;
    Ok(matches!(first, Some([b'y' | b'Y'])))
}

/// Whether a file may be written, links followed.
pub(in crate::builtins) fn is_writable(context: &Context<'_>, name: &BStr) -> bool {
    context.files().access(context.path(name).as_bstr(), Access::Write).is_ok()
}

/// `0444, r--r--r--` as the two halves of a message about a file that may not be written.
pub(in crate::builtins) fn mode_texts(context: &Context<'_>, name: &BStr) -> (String, String) {
    let metadata = context.files().metadata(context.path(name).as_bstr(), Follow::Yes);
    let texts = |metadata: Metadata| {
        let text = mode::permission_text(metadata.kind, metadata.permissions);
        (format!("{:04o}", metadata.permissions), text.get(1..).unwrap_or_default().to_owned())
    };
    metadata.map(texts).unwrap_or_default()
}
