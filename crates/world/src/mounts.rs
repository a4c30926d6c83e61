//! `/proc/self/mountinfo`, read.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use crate::refusal::{Refusal, While};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mount {
    /// What of its file system is shown.
    pub root: PathBuf,
    pub point: PathBuf,
    pub kind: String,
    pub source: String,
    /// Options of the file system, such as the controllers of a control group hierarchy.
    pub options: String,
}

/// In the order of mounting: of two at the same point the later one is seen.
pub fn all() -> Result<Vec<Mount>, Refusal> {
    let text = fs::read("/proc/self/mountinfo").when(|| "reading /proc/self/mountinfo".into())?;
    Ok(text.split(|byte| *byte == b'\n').filter_map(parse).collect())
}

/// What is seen at exactly this point.
pub fn at<'a>(mounts: &'a [Mount], point: &Path) -> Option<&'a Mount> {
    mounts.iter().rev().find(|mount| mount.point == point)
}

/// `36 35 98:0 /root /point options optional… - kind source options`
fn parse(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|byte| *byte == b' ');
    let root = path(fields.nth(3)?);
    let point = path(fields.next()?);
    let mut after = fields.skip_while(|field| *field != b"-").skip(1);
    let mut text = || Some(String::from_utf8_lossy(after.next()?).into_owned());
    Some(Mount { root, point, kind: text()?, source: text()?, options: text()? })
}

/// Spaces, tabs, newlines and backslashes are written as three octal digits.
fn path(field: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        let escaped = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match escaped.filter(|_| *first == b'\\') {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(3..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_with_optional_fields_and_a_space() {
        let line = b"36 35 98:0 /a /mnt/with\\040space rw,noatime shared:1 master:2 - ext4 /dev/root rw,errors=continue";
        let expected = Mount {
            root: "/a".into(),
            point: "/mnt/with space".into(),
            kind: "ext4".into(),
            source: "/dev/root".into(),
            options: "rw,errors=continue".into(),
        };
        assert_eq!(parse(line), Some(expected));
    }

    #[test]
    fn a_broken_line_is_no_mount() {
        for line in [&b""[..], b"36 35", b"36 35 98:0 / /x rw", b"36 35 98:0 / /x rw - ext4"] {
            assert_eq!(parse(line), None);
        }
    }
}
