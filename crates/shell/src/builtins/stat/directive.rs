//! The conversions of `stat -c`: `%a`, `%-10s`, `%.3Y`.

use std::fmt::Write;
use std::time::SystemTime;

use bstr::{BStr, BString, ByteSlice};

use super::super::ToolError;
use super::super::operations::quote::quoted;
use super::super::rm::kind_text;
use super::{escape, group_name, user_name};
use crate::dates::{self, Dialect, Moment, Zone};
use crate::filesystem::Metadata;
use crate::host::Identity;
use crate::mode;

/// One file, and all that its description needs.
pub(super) struct Subject<'a> {
    pub name: &'a BStr,
    /// What a symbolic link says.
    pub link: Option<BString>,
    pub metadata: Metadata,
    pub zone: &'a Zone,
    pub identity: &'a Identity,
}

/// What a conversion gives, before width and flags.
pub(super) enum Field {
    Text(BString),
    Decimal(u64),
    /// A number that could be negative for the kernel: `+` and space count.
    Signed(u64),
    Octal(u64),
    Hexadecimal(u64),
    Seconds(Moment),
    /// Two names with an arrow between, each padded.
    Names(BString, Option<BString>),
}

#[derive(Clone, Copy, Default)]
struct Flags {
    alternate: bool,
    left: bool,
    plus: bool,
    space: bool,
    zero: bool,
}

struct Directive<'a> {
    flags: Flags,
    width: usize,
    precision: Option<Precision>,
    /// Nothing between the percent sign and the letter.
    plain: bool,
    /// `H` or `L`, then the letter.
    part: Option<u8>,
    letter: Option<u8>,
    text: &'a [u8],
}

#[derive(Clone, Copy)]
enum Precision {
    /// A dot alone.
    All,
    Digits(usize),
}

/// Wider than any file system's numbers; keeps `%999999999s` from filling memory.
const WIDEST: usize = 1 << 16;

impl<'a> Directive<'a> {
    /// Reads what follows the percent sign at the start of `text`.
    fn parse(text: &'a [u8]) -> (Self, &'a [u8]) {
        let byte_at = |at: usize| text.get(at).copied();
        let mut at = 1;
        let mut flags = Flags::default();
        while let Some(flag) = byte_at(at) {
            match flag {
                b'#' => flags.alternate = true,
                b'-' => flags.left = true,
                b'+' => flags.plus = true,
                b' ' => flags.space = true,
                b'0' => flags.zero = true,
                b'\'' | b'I' => {}
                _ => break,
            }
            at += 1;
        }
        let number = |at: &mut usize| {
            let mut value = 0;
            let start = *at;
            while let Some(digit @ b'0'..=b'9') = byte_at(*at) {
                value = (value * 10 + usize::from(digit - b'0')).min(WIDEST);
                *at += 1;
            }
            (value, *at > start)
        };
        let (width, _) = number(&mut at);
        let mut precision = None;
        if byte_at(at) == Some(b'.') {
            at += 1;
            let (digits, given) = number(&mut at);
            precision = Some(if given { Precision::Digits(digits) } else { Precision::All });
        }
        let plain = at == 1;
        let part = byte_at(at).filter(|letter| matches!(letter, b'H' | b'L'));
        at += usize::from(part.is_some());
        let letter = byte_at(at);
        let (text, rest) = text.split_at_checked(at + 1).unwrap_or((text, &[]));
        (Directive { flags, width, precision, plain, part, letter, text }, rest)
    }
}

/// Finds what makes a format wrong or impossible before anything is shown.
pub(super) fn check(format: &BStr, escapes: bool) -> Result<(), ToolError> {
    let mut rest = format.as_bytes();
    while let Some(at) = rest.find_byte(b'%') {
        if escapes && ends_in_backslash(rest.get(..at).unwrap_or_default()) {
            rest = rest.get(at + 1..).unwrap_or_default();
            continue;
        }
        let (directive, after) = Directive::parse(rest.get(at..).unwrap_or_default());
        let end = if escapes { None } else { Some(b'\n') };
        let cut = directive.letter.is_none() || (directive.letter == end && after.is_empty());
        if (cut || directive.letter == Some(b'%')) && !directive.plain {
            let text = directive.text.trim_end_with(|end| end == '\n').to_str_lossy();
            return Err(ToolError::usage(format!("'{text}': invalid directive")));
        }
        if let Some(letter @ (b'C' | b'm')) = directive.letter
            && directive.part.is_none()
        {
            return Err(ToolError::Unsupported(format!("format %{}", char::from(letter))));
        }
        rest = after;
    }
    Ok(())
}

/// A percent sign behind an unpaired backslash is no conversion of `--printf`.
fn ends_in_backslash(text: &[u8]) -> bool {
    text.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

impl Subject<'_> {
    pub(super) fn format(
        &self,
        out: &mut Vec<u8>,
        format: &BStr,
        escapes: bool,
        warnings: &mut Vec<String>,
    ) {
        let mut rest = format.as_bytes();
        while let Some((&first, after)) = rest.split_first() {
            match first {
                b'%' => rest = self.convert(out, rest, escapes),
                b'\\' if escapes => {
                    let (byte, taken) = escape::read(after);
                    if byte.is_none() {
                        warnings.push(match after.first() {
                            Some(byte) => {
                                format!("warning: unrecognized escape '\\{}'", char::from(*byte))
                            }
                            None => "warning: backslash at end of format".to_owned(),
                        });
                    }
                    out.push(byte.or(after.first().copied()).unwrap_or(b'\\'));
                    rest = after.get(taken..).unwrap_or_default();
                }
                other => {
                    out.push(other);
                    rest = after;
                }
            }
        }
    }

    fn convert<'f>(&self, out: &mut Vec<u8>, text: &'f [u8], escapes: bool) -> &'f [u8] {
        let (directive, rest) = Directive::parse(text);
        match directive.letter {
            Some(b'\n') if !escapes && rest.is_empty() => out.extend_from_slice(b"%\n"),
            None | Some(b'%') => out.push(b'%'),
            Some(letter) => {
                if let Some(field) = self.field(letter, directive.part, directive.plain) {
                    write_field(out, field, &directive);
                } else {
                    out.push(b'?');
                    // Only the half of a device number was asked for: the letter itself is text.
                    out.extend(directive.part.and(Some(letter)));
                }
            }
        }
        rest
    }

    fn field(&self, letter: u8, part: Option<u8>, plain: bool) -> Option<Field> {
        let found = &self.metadata;
        if let Some(part) = part {
            let number = match letter {
                b'd' => found.device,
                b'r' => found.device_number,
                _ => return None,
            };
            return Some(Field::Decimal(if part == b'H' { major(number) } else { minor(number) }));
        }
        let mode = u64::from(mode::type_bits(found.kind) | found.permissions);
        Some(match letter {
            b'a' => Field::Octal(u64::from(found.permissions)),
            b'A' => Field::Text(mode::permission_text(found.kind, found.permissions).into()),
            b'b' => Field::Decimal(found.blocks),
            b'B' => Field::Decimal(512),
            b'd' => Field::Decimal(found.device),
            b'D' => Field::Hexadecimal(found.device),
            b'f' => Field::Hexadecimal(mode),
            b'F' => Field::Text(kind_text(found).into()),
            b'g' => Field::Decimal(u64::from(found.group)),
            b'G' => group_name(self.identity, found.group),
            b'h' => Field::Decimal(found.links),
            b'i' => Field::Decimal(found.inode),
            b'n' => Field::Text(self.name.into()),
            b'N' => self.names(plain),
            b'o' => Field::Decimal(found.block_size),
            b's' => Field::Signed(found.size),
            b'r' => Field::Decimal(found.device_number),
            b'R' => Field::Hexadecimal(found.device_number),
            b't' => Field::Hexadecimal(major(found.device_number)),
            b'T' => Field::Hexadecimal(minor(found.device_number)),
            b'u' => Field::Decimal(u64::from(found.user)),
            b'U' => user_name(self.identity, found.user),
            b'w' => found.created.map_or_else(|| Field::Text("-".into()), |time| self.time(time)),
            b'W' => Field::Seconds(found.created.map_or(Moment::from_seconds(0), Into::into)),
            b'x' => self.time(found.accessed),
            b'X' => Field::Seconds(found.accessed.into()),
            b'y' => self.time(found.modified),
            b'Y' => Field::Seconds(found.modified.into()),
            b'z' => self.time(found.changed),
            b'Z' => Field::Seconds(found.changed.into()),
            _ => return None,
        })
    }

    /// Quoted, unless a width or a flag was asked for.
    fn names(&self, plain: bool) -> Field {
        let show = |name: &BStr| if plain { quoted(name) } else { name.into() };
        Field::Names(show(self.name), self.link.as_ref().map(|link| show(link.as_bstr())))
    }

    fn time(&self, time: SystemTime) -> Field {
        let moment = Moment::from(time);
        let mut text = Vec::new();
        match self.zone.local(moment) {
            Some(local) => {
                let format = b"%Y-%m-%d %H:%M:%S.%N %z".as_bstr();
                dates::format(&mut text, format, &local, Dialect::Gnu);
            }
            None => text.extend_from_slice(moment.seconds.to_string().as_bytes()),
        }
        Field::Text(text.into())
    }
}

fn write_field(out: &mut Vec<u8>, field: Field, directive: &Directive<'_>) {
    match field {
        Field::Text(text) => pad_text(out, text.as_bstr(), directive),
        Field::Names(name, link) => {
            pad_text(out, name.as_bstr(), directive);
            if let Some(link) = link {
                out.extend_from_slice(b" -> ");
                pad_text(out, link.as_bstr(), directive);
            }
        }
        Field::Decimal(number) => pad_number(out, "", number.to_string(), directive),
        Field::Signed(number) => {
            pad_number(out, sign(false, directive.flags), number.to_string(), directive);
        }
        Field::Octal(number) => {
            let prefix = if directive.flags.alternate && number != 0 { "0" } else { "" };
            pad_number(out, "", format!("{prefix}{number:o}"), directive);
        }
        Field::Hexadecimal(number) => {
            let prefix = if directive.flags.alternate && number != 0 { "0x" } else { "" };
            pad_number(out, prefix, format!("{number:x}"), directive);
        }
        Field::Seconds(moment) => write_seconds(out, moment, directive),
    }
}

/// As printf(3) pads strings; a precision cuts them.
fn pad_text(out: &mut Vec<u8>, text: &BStr, directive: &Directive<'_>) {
    let text = match directive.precision {
        None => text.as_bytes(),
        Some(Precision::All) => &[],
        Some(Precision::Digits(most)) => text.get(..most).unwrap_or(text),
    };
    pad(out, "", text, directive.width, Flags { zero: false, ..directive.flags });
}

/// As printf(3) pads numbers; a precision is the least number of digits.
fn pad_number(out: &mut Vec<u8>, sign: &str, digits: String, directive: &Directive<'_>) {
    let least = match directive.precision {
        Some(Precision::Digits(least)) => least,
        Some(Precision::All) | None => 0,
    };
    let digits = format!("{digits:0>least$}");
    let zero = directive.flags.zero && directive.precision.is_none();
    let flags = Flags { zero, ..directive.flags };
    pad(out, sign, digits.as_bytes(), directive.width, flags);
}

fn pad(out: &mut Vec<u8>, sign: &str, body: &[u8], width: usize, flags: Flags) {
    let missing = width.saturating_sub(sign.len() + body.len());
    let before = |out: &mut Vec<u8>, fill: u8| out.resize(out.len() + missing, fill);
    if !flags.left && !flags.zero {
        before(out, b' ');
    }
    out.extend_from_slice(sign.as_bytes());
    if flags.zero && !flags.left {
        before(out, b'0');
    }
    out.extend_from_slice(body);
    if flags.left {
        before(out, b' ');
    }
}

/// Seconds since 1970 with as many decimals as the precision says: without any they are rounded down, else towards
/// zero, as GNU has it.
fn write_seconds(out: &mut Vec<u8>, moment: Moment, directive: &Directive<'_>) {
    let decimals = match directive.precision {
        None => 0,
        Some(Precision::All) => 9,
        Some(Precision::Digits(decimals)) => decimals,
    };
    let kept = decimals.min(9);
    let unit = 10_i128.pow(9 - kept as u32);
    let total = i128::from(moment.seconds) * 1_000_000_000 + i128::from(moment.nanoseconds);
    let shown = if kept == 0 { total.div_euclid(unit) } else { total / unit };
    let scale = 10_u128.pow(kept as u32);
    let (whole, fraction) = (shown.unsigned_abs() / scale, shown.unsigned_abs() % scale);
    let mut text = whole.to_string();
    if decimals > 0 {
        let _infallible = write!(text, ".{fraction:0kept$}");
        text.extend(std::iter::repeat_n('0', decimals - kept));
    }
    let flags = directive.flags;
    let sign = sign(shown < 0, flags);
    pad(out, sign, text.as_bytes(), directive.width, flags);
}

fn sign(negative: bool, flags: Flags) -> &'static str {
    match (negative, flags.plus, flags.space) {
        (true, ..) => "-",
        (false, true, _) => "+",
        (false, false, true) => " ",
        (false, false, false) => "",
    }
}

/// The two halves of a device number, as Linux packs them.
fn major(device: u64) -> u64 {
    (device >> 32) & 0xffff_f000 | (device >> 8) & 0xfff
}

fn minor(device: u64) -> u64 {
    (device >> 12) & 0xffff_ff00 | device & 0xff
}
