//! Reading the arguments of primaries.

use std::sync::Arc;

use bstr::{BStr, ByteSlice};

use super::ToolError;
use super::expression::{Compare, Number, PermissionCompare, Permissions, Primary};
use super::parse::Parser;
use crate::errno;
use crate::filesystem::{FileKind, Follow, Metadata};
use crate::mode::Mode;
use crate::regex::{self, Error, Matcher, Preference, Syntax};
use crate::walk::Symlinks;

/// `+`, `-` or nothing, and the rest.
pub(super) fn comparison(text: &[u8]) -> (Compare, &[u8]) {
    match text {
        [b'+', rest @ ..] => (Compare::More, rest),
        [b'-', rest @ ..] => (Compare::Less, rest),
        rest => (Compare::Exactly, rest),
    }
}

fn digits(text: &[u8]) -> Option<u64> {
    text.to_str().ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))?.parse().ok()
}

pub(super) fn invalid(name: &BStr, text: &[u8]) -> ToolError {
    ToolError::usage(format!("invalid argument `{}' to `{name}'", text.as_bstr()))
}

pub(super) fn number(name: &BStr, text: &[u8]) -> Result<Number, ToolError> {
    let (compare, rest) = comparison(text);
    let value = digits(rest).ok_or_else(|| invalid(name, text))?;
    Ok(Number { compare, value })
}

/// `-size +10k`
pub(super) fn size(text: &[u8]) -> Result<Primary, ToolError> {
    let (compare, rest) = comparison(text);
    let (number, unit) = match rest.split_last() {
        None => return Err(ToolError::usage("invalid null argument to -size")),
        Some((b'0'..=b'9', _)) => (rest, 512),
        Some((letter, number)) => {
            let unit = match letter {
                b'b' => 512,
                b'c' => 1,
                b'w' => 2,
                b'k' => 1 << 10,
                b'M' => 1 << 20,
                b'G' => 1 << 30,
                other => {
                    let other = char::from(*other);
                    return Err(ToolError::usage(format!("invalid -size type `{other}'")));
                }
            };
            (number, unit)
        }
    };
    let invalid = || ToolError::usage(format!("Invalid argument `{}' to -size", text.as_bstr()));
    let value = digits(number).ok_or_else(invalid)?;
    Ok(Primary::Size(Number { compare, value }, unit))
}

/// `-type f,d`
pub(super) fn kinds(name: &BStr, text: &[u8]) -> Result<Vec<FileKind>, ToolError> {
    let mut kinds = Vec::new();
    if text.is_empty() {
        return Err(ToolError::usage(format!(
            "Arguments to {name} should contain at least one letter"
        )));
    }
    let mut rest = text;
    while let Some((letter, after)) = rest.split_first() {
        kinds.push(match letter {
            b'f' => FileKind::File,
            b'd' => FileKind::Directory,
            b'l' => FileKind::Symlink,
            b'p' => FileKind::Fifo,
            b's' => FileKind::Socket,
            b'b' => FileKind::BlockDevice,
            b'c' => FileKind::CharacterDevice,
            other => {
                let other = char::from(*other);
                return Err(ToolError::usage(format!("Unknown argument to {name}: {other}")));
            }
        });
        rest = match after {
            [] => break,
            [b','] => {
                return Err(ToolError::usage(format!(
                    "Last file type in list argument to {name} is missing, i.e., list is ending on: ','"
                )));
            }
            [b',', rest @ ..] => rest,
            _ => {
                return Err(ToolError::usage(format!(
                    "Must separate multiple arguments to {name} using: ','"
                )));
            }
        };
    }
    Ok(kinds)
}

pub(super) fn permissions(text: &[u8]) -> Result<Primary, ToolError> {
    let (compare, mode) = match text {
        [b'-', rest @ ..] => (PermissionCompare::All, rest),
        [b'/', rest @ ..] => (PermissionCompare::Any, rest),
        rest => (PermissionCompare::Exactly, rest),
    };
    let invalid = || ToolError::usage(format!("invalid mode ‘{}’", text.as_bstr()));
    if let [b'+', b'0'..=b'7', ..] = mode {
        // This once meant what `/` means now.
        return Err(invalid());
    }
    let parsed = Mode::parse(mode.as_bstr()).ok_or_else(invalid)?;
    let (of_files, of_directories) = (parsed.apply(0, false, 0), parsed.apply(0, true, 0));
    // `/000` would match nothing; it is taken as `-000`, which matches everything.
    let nothing = compare == PermissionCompare::Any && of_files == 0 && of_directories == 0;
    let compare = if nothing { PermissionCompare::All } else { compare };
    Ok(Primary::Permissions(Permissions { compare, of_files, of_directories }))
}

pub(super) fn regex(text: &[u8], syntax: Syntax, fold: bool) -> Result<Primary, ToolError> {
    let explain = |error| match error {
        Error::Unsupported(what) => ToolError::Unsupported(what.to_owned()),
        Error::Invalid(message) => ToolError::usage(message),
        Error::TooComplex | Error::Stopped => ToolError::usage("Regular expression too big"),
    };
    let parsed = regex::parse_posix(text, syntax, fold).map_err(explain)?;
    let matcher = Matcher::for_texts(&parsed.node, Preference::Longest).map_err(explain)?;
    Ok(Primary::Regex(Arc::new(matcher)))
}

impl Parser<'_, '_> {
    pub(super) fn user(&mut self, name: &BStr) -> Result<Primary, ToolError> {
        let text = self.argument(name)?;
        let host = self.context.host();
        let identity = host.identity();
        let known = if text == identity.user_name {
            Some(u64::from(identity.user_id))
        } else if text == "root" {
            Some(0)
        } else {
            digits(&text)
        };
        let value = known
            .ok_or_else(|| ToolError::usage(format!("‘{text}’ is not the name of a known user")))?;
        Ok(Primary::User(Number { compare: Compare::Exactly, value }))
    }

    pub(super) fn group(&mut self, name: &BStr) -> Result<Primary, ToolError> {
        let text = self.argument(name)?;
        let host = self.context.host();
        let identity = host.identity();
        let known = if text == identity.group_name {
            Some(u64::from(identity.group_id))
        } else if text == "root" {
            Some(0)
        } else {
            digits(&text)
        };
        let value = known.ok_or_else(|| {
            ToolError::usage(format!("‘{text}’ is not the name of an existing group"))
        })?;
        Ok(Primary::Group(Number { compare: Compare::Exactly, value }))
    }

    pub(super) fn same_file(&mut self, name: &BStr) -> Result<Primary, ToolError> {
        let metadata = self.reference(name)?;
        Ok(Primary::Same { device: metadata.device, inode: metadata.inode })
    }

    /// stat of a file that others are compared with.
    pub(super) fn reference(&mut self, name: &BStr) -> Result<Metadata, ToolError> {
        let text = self.argument(name)?;
        let path = self.context.path(text.as_bstr());
        let follow =
            if self.settings.symlinks == Symlinks::Never { Follow::No } else { Follow::Yes };
        self.context.files().metadata(path.as_bstr(), follow).map_err(|error| {
            let shown = self.context.as_written(text.as_bstr());
            ToolError::usage(format!("{shown}: {}", errno::text(&error)))
        })
    }
}
