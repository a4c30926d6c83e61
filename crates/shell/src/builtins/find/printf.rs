//! `-printf`

use bstr::{BStr, BString, ByteSlice};

use super::ToolError;
use super::evaluate::Finder;
use super::expression::{Stamp, Target};
use crate::builtins::ls::quote::with_question_marks;
use crate::dates::{self, Dialect, Moment};
use crate::filesystem::{FileKind, Follow, Metadata};
use crate::mode;
use crate::walk::Walk;

/// A format that was understood.
#[derive(Debug, Clone)]
pub(super) struct Format {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone)]
enum Piece {
    Text(Vec<u8>),
    Directive(Directive),
    /// `\c`: nothing after it is printed.
    Stop,
}

#[derive(Debug, Clone)]
struct Directive {
    left: bool,
    zero: bool,
    alternate: bool,
    plus: bool,
    width: usize,
    precision: Option<usize>,
    what: What,
}

#[derive(Debug, Clone, Copy)]
enum What {
    Letter(u8),
    /// `%Tk`, `%Ak`, `%Ck`, `%Bk`: the time and how it is shown.
    Time(Stamp, u8),
}

impl Format {
    /// The format, and warnings about what is not understood.
    pub(super) fn parse(text: &[u8]) -> Result<(Format, Vec<String>), ToolError> {
        let mut parser = Parser { rest: text, pieces: Vec::new(), warnings: Vec::new() };
        while let Some((byte, rest)) = parser.rest.split_first() {
            match byte {
                b'\\' => parser.escape(),
                b'%' => parser.directive()?,
                _ => {
                    parser.rest = rest;
                    parser.push(*byte);
                }
            }
        }
        Ok((Format { pieces: parser.pieces }, parser.warnings))
    }
}

struct Parser<'a> {
    rest: &'a [u8],
    pieces: Vec<Piece>,
    warnings: Vec<String>,
}

impl Parser<'_> {
    fn push(&mut self, byte: u8) {
        match self.pieces.last_mut() {
            Some(Piece::Text(text)) => text.push(byte),
            _ => self.pieces.push(Piece::Text(vec![byte])),
        }
    }

    fn skip(&mut self, count: usize) {
        self.rest = self.rest.get(count..).unwrap_or_default();
    }

    fn escape(&mut self) {
        let Some(letter) = self.rest.get(1).copied() else {
            self.warnings.push("warning: escape `\\' followed by nothing at all".to_owned());
            self.skip(1);
            return self.push(b'\\');
        };
        let byte = match letter {
            b'a' => 0x07,
            b'b' => 0x08,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 0x0b,
            b'\\' => b'\\',
            b'c' => {
                self.skip(2);
                return self.pieces.push(Piece::Stop);
            }
            b'0'..=b'7' => {
                let digits = self.rest.iter().skip(1).take(3);
                let digits: Vec<u8> =
                    digits.copied().take_while(|byte| matches!(byte, b'0'..=b'7')).collect();
                self.skip(1 + digits.len());
                let value =
                    digits.iter().fold(0_u32, |sum, digit| sum * 8 + u32::from(digit - b'0'));
                return self.push(value as u8);
            }
            other => {
                let other = char::from(other);
                self.warnings.push(format!("warning: unrecognized escape `\\{other}'"));
                self.push(b'\\');
                letter
            }
        };
        self.skip(2);
        self.push(byte);
    }

    fn directive(&mut self) -> Result<(), ToolError> {
        let at_end = || ToolError::usage("error: % at end of format string");
        let start = self.rest;
        self.skip(1);
        if self.rest.is_empty() {
            return Err(at_end());
        }
        if self.rest.first() == Some(&b'%') {
            self.skip(1);
            self.push(b'%');
            return Ok(());
        }
        let mut directive = self.flags();
        let Some(letter) = self.rest.first().copied() else { return Err(at_end()) };
        self.skip(1);
        directive.what = match letter {
            b'A' | b'B' | b'C' | b'T' => {
                let stamp = match letter {
                    b'A' => Stamp::Accessed,
                    b'B' => Stamp::Created,
                    b'C' => Stamp::Changed,
                    _ => Stamp::Modified,
                };
                let Some(style) = self.rest.first().copied() else { return Err(at_end()) };
                self.skip(1);
                What::Time(stamp, style)
            }
            b'a' | b'b' | b'c' | b'd' | b'D' | b'f' | b'g' | b'G' | b'h' | b'H' | b'i' | b'k'
            | b'l' | b'm' | b'M' | b'n' | b'p' | b'P' | b's' | b'S' | b't' | b'u' | b'U' | b'y'
            | b'Y' => What::Letter(letter),
            b'F' | b'Z' => {
                let letter = char::from(letter);
                return Err(ToolError::Unsupported(format!("-printf %{letter}")));
            }
            other => {
                let other = char::from(other);
                self.warnings.push(format!("warning: unrecognized format directive `%{other}'"));
                let used = start.len() - self.rest.len();
                for byte in start.get(..used).unwrap_or_default() {
                    self.push(*byte);
                }
                return Ok(());
            }
        };
        self.pieces.push(Piece::Directive(directive));
        Ok(())
    }

    fn flags(&mut self) -> Directive {
        let mut directive = Directive {
            left: false,
            zero: false,
            alternate: false,
            plus: false,
            width: 0,
            precision: None,
            what: What::Letter(b'p'),
        };
        while let Some(byte) = self.rest.first() {
            match byte {
                b'-' => directive.left = true,
                b'0' => directive.zero = true,
                b'#' => directive.alternate = true,
                b'+' => directive.plus = true,
                b' ' => {}
                _ => break,
            }
            self.skip(1);
        }
        directive.width = self.number().unwrap_or(0);
        if self.rest.first() == Some(&b'.') {
            self.skip(1);
            directive.precision = Some(self.number().unwrap_or(0));
        }
        directive
    }

    /// Widths beyond any line are cut: they only fill memory.
    fn number(&mut self) -> Option<usize> {
        let count = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let digits = self.rest.get(..count)?.to_str().ok()?;
        let number = if digits.is_empty() { None } else { Some(digits.parse().unwrap_or(65_535)) };
        self.skip(count);
        number.map(|number: usize| number.min(65_535))
    }
}

impl Directive {
    fn pad(&self, text: &[u8], numeric: bool) -> Vec<u8> {
        let text = match self.precision {
            Some(most) if !numeric => text.get(..most.min(text.len())).unwrap_or(text),
            _ => text,
        };
        let missing = self.width.saturating_sub(text.len());
        let fill = if self.zero && numeric && !self.left { b'0' } else { b' ' };
        let mut padded = Vec::with_capacity(text.len() + missing);
        if self.left {
            padded.extend_from_slice(text);
            padded.resize(text.len() + missing, b' ');
        } else {
            padded.resize(missing, fill);
            padded.extend_from_slice(text);
        }
        padded
    }
}

/// The letter of a kind of file.
fn kind_letter(kind: FileKind) -> &'static [u8] {
    match kind {
        FileKind::File => b"f",
        FileKind::Directory => b"d",
        FileKind::Symlink => b"l",
        FileKind::Fifo => b"p",
        FileKind::Socket => b"s",
        FileKind::BlockDevice => b"b",
        FileKind::CharacterDevice => b"c",
    }
}

/// The name; of an operand with the slash at its end.
fn shown_name(walk: &Walk<'_>) -> Vec<u8> {
    let mut name = walk.name().to_vec();
    if walk.path().ends_with(b"/") && !name.ends_with(b"/") {
        name.push(b'/');
    }
    name
}

/// What is before the last slash that is not at the end; `.` if there is no slash at all.
fn directory_of(path: &BStr) -> &[u8] {
    if !path.contains(&b'/') {
        return b".";
    }
    let end = path.iter().rposition(|byte| *byte != b'/').map_or(0, |at| at + 1);
    let trimmed = path.get(..end).unwrap_or_default();
    match trimmed.rfind_byte(b'/') {
        None => trimmed,
        Some(at) => trimmed.get(..at).unwrap_or_default(),
    }
}

impl Finder<'_, '_> {
    pub(super) fn print_format(
        &mut self,
        target: Target,
        format: &Format,
        walk: &mut Walk<'_>,
    ) -> Result<(), ToolError> {
        for piece in &format.pieces {
            match piece {
                Piece::Text(text) => self.write(target, text)?,
                Piece::Stop => {
                    if let Target::File(number) = target {
                        self.flush(number)?;
                    }
                    return Ok(());
                }
                Piece::Directive(directive) => {
                    let numeric = matches!(directive.what, What::Letter(b'm' | b'd'));
                    if let Some(mut text) = self.directive(directive, walk)? {
                        if self.shows(target) {
                            text = with_question_marks(&text);
                        }
                        let padded = directive.pad(&text, numeric);
                        self.write(target, &padded)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// `None`: the file is gone; that has been said.
    fn directive(
        &mut self,
        directive: &Directive,
        walk: &mut Walk<'_>,
    ) -> Result<Option<Vec<u8>>, ToolError> {
        let letter = match directive.what {
            What::Letter(letter) => letter,
            What::Time(..) => b'T',
        };
        let of_path = match letter {
            b'p' => Some(walk.path().to_vec()),
            b'f' => Some(shown_name(walk)),
            b'h' => Some(directory_of(walk.path()).to_vec()),
            b'H' => Some(self.operand.to_vec()),
            b'P' => Some(self.below_operand(walk).to_vec()),
            b'd' => Some(walk.depth().to_string().into_bytes()),
            b'y' => Some(kind_letter(walk.kind()).to_vec()),
            b'Y' => Some(Self::other_letter(walk)),
            b'l' => Some(match walk.kind() {
                FileKind::Symlink => walk.read_link().unwrap_or_default().to_vec(),
                _ => Vec::new(),
            }),
            _ => None,
        };
        if of_path.is_some() {
            return Ok(of_path);
        }
        let Some(metadata) = self.stat(walk)? else { return Ok(None) };
        Ok(Some(self.of_metadata(directive, letter, &metadata)))
    }

    /// The path without the operand.
    fn below_operand<'w>(&self, walk: &'w Walk<'_>) -> &'w [u8] {
        let rest = walk.path().strip_prefix(self.operand.as_bytes()).unwrap_or_default();
        rest.strip_prefix(b"/").unwrap_or(rest)
    }

    fn other_letter(walk: &mut Walk<'_>) -> Vec<u8> {
        if walk.kind() != FileKind::Symlink {
            return kind_letter(walk.kind()).to_vec();
        }
        match walk.metadata_with(Follow::Yes) {
            Ok(metadata) => kind_letter(metadata.kind).to_vec(),
            Err(error) if crate::errno::is(&error, crate::errno::ELOOP) => b"L".to_vec(),
            Err(error) if crate::errno::is(&error, crate::errno::ENOENT) => b"N".to_vec(),
            Err(_) => b"?".to_vec(),
        }
    }

    fn of_metadata(&self, directive: &Directive, letter: u8, metadata: &Metadata) -> Vec<u8> {
        if let What::Time(stamp, style) = directive.what {
            return self.time(stamp, style, metadata);
        }
        let text = match letter {
            b'a' => return self.time(Stamp::Accessed, 0, metadata),
            b'c' => return self.time(Stamp::Changed, 0, metadata),
            b't' => return self.time(Stamp::Modified, 0, metadata),
            b'u' => return self.user_name(metadata.user).into(),
            b'g' => return self.group_name(metadata.group).into(),
            b'U' => metadata.user.to_string(),
            b'G' => metadata.group.to_string(),
            b'b' => metadata.blocks.to_string(),
            b'k' => metadata.blocks.div_ceil(2).to_string(),
            b's' => metadata.size.to_string(),
            b'D' => metadata.device.to_string(),
            b'i' => metadata.inode.to_string(),
            b'n' => metadata.links.to_string(),
            b'm' if directive.alternate => {
                format!("{:#o}", metadata.permissions).replacen("0o", "0", 1)
            }
            b'm' => format!("{:o}", metadata.permissions),
            b'M' => mode::permission_text(metadata.kind, metadata.permissions),
            b'S' => sparseness(metadata),
            _ => String::new(),
        };
        text.into_bytes()
    }

    pub(super) fn user_name(&self, user: u32) -> BString {
        let host = self.context.host();
        let identity = host.identity();
        match user {
            0 => "root".into(),
            user if user == identity.user_id => identity.user_name.clone(),
            user => user.to_string().into(),
        }
    }

    pub(super) fn group_name(&self, group: u32) -> BString {
        let host = self.context.host();
        let identity = host.identity();
        match group {
            0 => "root".into(),
            group if group == identity.group_id => identity.group_name.clone(),
            group => group.to_string().into(),
        }
    }

    /// A time in the style of a letter; 0 is that of ctime(3).
    fn time(&self, stamp: Stamp, style: u8, metadata: &Metadata) -> Vec<u8> {
        let Some(moment) = stamp.of(metadata) else { return Vec::new() };
        // Ten digits, of which the last is always zero.
        let fraction = format!(".{:09}0", moment.nanoseconds);
        let mut out = match style {
            0 => self.formatted(moment, b"%a %b %e %H:%M:%S"),
            b'@' => moment.seconds.to_string().into_bytes(),
            b'+' => self.formatted(moment, b"%Y-%m-%d+%H:%M:%S"),
            b'T' | b'X' => self.formatted(moment, b"%H:%M:%S"),
            b'S' => self.formatted(moment, b"%S"),
            letter => return self.formatted(moment, &[b'%', letter]),
        };
        out.extend_from_slice(fraction.as_bytes());
        if style == 0 {
            out.extend(self.formatted(moment, b" %Y"));
        }
        out
    }

    pub(super) fn formatted(&self, moment: Moment, format: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        if let Some(local) = self.settings.zone.local(moment) {
            dates::format(&mut out, format.as_bstr(), &local, Dialect::C);
        }
        out
    }
}

/// Blocks in use for each block of the size, as `%g` shows it.
fn sparseness(metadata: &Metadata) -> String {
    if metadata.size == 0 {
        return if metadata.blocks == 0 { "1".to_owned() } else { "0".to_owned() };
    }
    let ratio = 512.0 * metadata.blocks as f64 / metadata.size as f64;
    let text = format!("{ratio:.6}");
    if ratio >= 1e6 {
        return format!("{ratio:e}");
    }
    // Six significant digits, no zeros at the end.
    let whole = text.find('.').unwrap_or(text.len());
    let digits = if ratio >= 1.0 { 6_usize.saturating_sub(whole) } else { 6 };
    let text = format!("{ratio:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}
