//! `-ls`

use bstr::ByteSlice;

use super::ToolError;
use super::evaluate::Finder;
use super::expression::Target;
use crate::dates::Moment;
use crate::filesystem::{FileKind, Metadata};
use crate::mode;
use crate::walk::Walk;

/// Columns grow with what has been shown so far.
#[derive(Debug)]
pub(super) struct Widths {
    inode: usize,
    blocks: usize,
    links: usize,
    user: usize,
    group: usize,
    size: usize,
}

impl Default for Widths {
    fn default() -> Self {
        Widths { inode: 9, blocks: 6, links: 3, user: 8, group: 8, size: 8 }
    }
}

/// About half a year: older times show the year instead of the hour.
const RECENT: i64 = 31_556_952 / 2;

impl Finder<'_, '_> {
    pub(super) fn list(&mut self, target: Target, walk: &mut Walk<'_>) -> Result<bool, ToolError> {
        let Some(metadata) = self.stat(walk)? else { return Ok(false) };
        let line = self.line(&metadata, walk);
        self.write(target, &line)?;
        Ok(true)
    }

    fn line(&mut self, metadata: &Metadata, walk: &mut Walk<'_>) -> Vec<u8> {
        let size = match metadata.kind {
            FileKind::BlockDevice | FileKind::CharacterDevice => {
                let (major, minor) = device_numbers(metadata.device_number);
                format!("{major:>3}, {minor:>3}")
            }
            _ => metadata.size.to_string(),
        };
        let (inode, blocks) = (metadata.inode.to_string(), metadata.blocks.div_ceil(2).to_string());
        let links = metadata.links.to_string();
        let user = self.user_name(metadata.user).to_string();
        let group = self.group_name(metadata.group).to_string();
        let widths = &mut self.widths;
        for (width, text) in [
            (&mut widths.inode, &inode),
            (&mut widths.blocks, &blocks),
            (&mut widths.links, &links),
            (&mut widths.user, &user),
            (&mut widths.group, &group),
            (&mut widths.size, &size),
        ] {
            *width = (*width).max(text.len());
        }
        let widths = &self.widths;
        let mode = mode::permission_text(metadata.kind, metadata.permissions);
        let moment = Moment::from(metadata.modified);
        let age = self.settings.now.seconds.saturating_sub(moment.seconds);
        let recent = (-3600..=RECENT).contains(&age);
        let time = self.formatted(moment, if recent { b"%b %e %H:%M" } else { b"%b %e  %Y" });
        let mut line = format!(
            "{inode:>inode_width$} {blocks:>blocks_width$} {mode} {links:>links_width$} \
             {user:<user_width$} {group:<group_width$} {size:>size_width$} ",
            inode_width = widths.inode,
            blocks_width = widths.blocks,
            links_width = widths.links,
            user_width = widths.user,
            group_width = widths.group,
            size_width = widths.size,
        )
        .into_bytes();
        line.extend(time);
        line.push(b' ');
        line.extend(quoted(walk.path()));
        if metadata.kind == FileKind::Symlink
            && let Ok(to) = walk.read_link()
        {
            line.extend_from_slice(b" -> ");
            line.extend(quoted(&to));
        }
        line.push(b'\n');
        line
    }
}

/// The major and minor number in a device number of Linux.
fn device_numbers(number: u64) -> (u64, u64) {
    let major = ((number >> 8) & 0xfff) | ((number >> 32) & !0xfff);
    let minor = (number & 0xff) | ((number >> 12) & !0xff);
    (major, minor)
}

/// Everything but visible ASCII is escaped.
fn quoted(path: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(path.len());
    for byte in path.as_bytes() {
        match byte {
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\x08' => out.extend_from_slice(b"\\b"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\x0c' => out.extend_from_slice(b"\\f"),
            b' ' => out.extend_from_slice(b"\\ "),
            b'"' => out.extend_from_slice(b"\\\""),
            0x21..=0x7e => out.push(*byte),
            _ => out.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
        }
    }
    out
}
