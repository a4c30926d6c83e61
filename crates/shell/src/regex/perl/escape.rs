//! What follows a backslash.

use regex_syntax::hir::ClassUnicode;

use super::super::posix::Item;
use super::super::{Anchor, Error, Node, RepeatMode, classes};
use super::{Atom, NO_SUCH_GROUP, Parser};

const AT_END: Error = Error::Invalid("\\ at end of pattern");
const TOO_LARGE: Error =
    Error::Invalid("character code point value in \\x{} or \\o{} is too large");
const BAD_REFERENCE: Error = Error::Invalid("a numbered reference must not be zero");

/// What an escape means both inside and outside of a class.
pub(super) enum Escape {
    Char(char),
    Class(ClassUnicode),
}

impl<'a> Parser<'a> {
    /// After a backslash outside of a class.
    pub(super) fn escape(&mut self) -> Result<Atom, Error> {
        let position = self.input.position();
        let Some(item) = self.input.next() else { return Err(AT_END) };
        let Item::Char(character) = item else { return Ok(Atom::Node(self.item(item))) };
        Ok(Atom::Node(match character {
            'Q' => {
                self.quoting = true;
                return Ok(Atom::Setting);
            }
            'E' => return Ok(Atom::Nothing),
            'b' => Node::Anchor(Anchor::AsciiBoundary),
            'B' => Node::Anchor(Anchor::NotAsciiBoundary),
            'A' => Node::Anchor(Anchor::LineStart),
            'Z' | 'z' => Node::Anchor(Anchor::LineEnd),
            'K' => Node::Keep,
            'R' => any_newline(),
            'N' if !self.input.rest().starts_with(b"{U+") => {
                Node::Set(not(classes::single('\n')).into())
            }
            'g' => self.reference_by_number()?,
            'k' => self.reference_by_name()?,
            '1'..='9' => {
                self.input.seek(position);
                return self.digits().map(Atom::Node);
            }
            'C' | 'G' | 'X' => return Err(Error::Unsupported("\\C, \\G and \\X")),
            _ => {
                self.input.seek(position);
                match self.common_escape()? {
                    Escape::Char(character) => Node::character(character, self.flags.fold),
                    Escape::Class(class) => Node::Set(class.into()),
                }
            }
        }))
    }

    /// `\12` is a group if there are that many or it has one digit, else a character in octal.
    fn digits(&mut self) -> Result<Node, Error> {
        let digits = self.input.rest().iter().take_while(|byte| byte.is_ascii_digit()).count();
        let text = self.input.rest().get(..digits).unwrap_or_default();
        let number = std::str::from_utf8(text).ok().and_then(|text| text.parse::<u32>().ok());
        if let Some(number) = number.filter(|number| *number < 10 || *number <= self.groups) {
            self.input.seek(self.input.position() + digits);
            return Ok(self.reference(number));
        }
        let octal = self.octal(3);
        let character = octal.and_then(char::from_u32).ok_or(NO_SUCH_GROUP)?;
        Ok(Node::character(character, self.flags.fold))
    }

    fn reference(&mut self, group: u32) -> Node {
        self.references.push(group);
        Node::Backreference { group, fold: self.flags.fold }
    }

    /// `\g1`, `\g{1}`, `\g{-1}`, `\g{name}`.
    fn reference_by_number(&mut self) -> Result<Node, Error> {
        if matches!(self.input.peek(), Some(b'<' | b'\'')) {
            return Err(Error::Unsupported("subroutine calls"));
        }
        let text = if self.input.take_if(b'{') {
            self.until(b'}')?
        } else {
            let rest = self.input.rest();
            let sign = usize::from(matches!(rest.first(), Some(b'-' | b'+')));
            let digits = rest.iter().skip(sign).take_while(|byte| byte.is_ascii_digit()).count();
            let text = rest.get(..sign + digits).unwrap_or_default();
            self.input.seek(self.input.position() + text.len());
            text
        };
        let number = std::str::from_utf8(text).ok().and_then(|text| text.parse::<i64>().ok());
        let group = match number {
            Some(0) => return Err(BAD_REFERENCE),
            Some(back) if back < 0 => i64::from(self.groups) + 1 + back,
            Some(number) if text.first() == Some(&b'+') => i64::from(self.groups) + number,
            Some(number) => number,
            None => return self.named_reference(text),
        };
        match u32::try_from(group) {
            Ok(group) if group > 0 => Ok(self.reference(group)),
            _ => Err(NO_SUCH_GROUP),
        }
    }

    /// `\k<name>`, `\k{name}`, `\k'name'`.
    fn reference_by_name(&mut self) -> Result<Node, Error> {
        const SYNTAX: Error =
            Error::Invalid("\\k is not followed by a braced, angle-bracketed, or quoted name");
        let close = match self.input.peek() {
            Some(b'<') => b'>',
            Some(b'{') => b'}',
            Some(b'\'') => b'\'',
            _ => return Err(SYNTAX),
        };
        self.input.next();
        let name = self.until(close)?;
        self.named_reference(name)
    }

    pub(super) fn named_reference(&mut self, name: &[u8]) -> Result<Node, Error> {
        let group = self.names.iter().find(|(known, _)| *known == name).map(|(_, group)| *group);
        group.map(|group| self.reference(group)).ok_or(NO_SUCH_GROUP)
    }

    /// The text up to a byte, which is read too.
    pub(super) fn until(&mut self, close: u8) -> Result<&'a [u8], Error> {
        let rest = self.input.rest();
        let end = rest
            .iter()
            .position(|byte| *byte == close)
            .ok_or(Error::Invalid("syntax error in subpattern name (missing terminator?)"))?;
        self.input.seek(self.input.position() + end + 1);
        Ok(rest.get(..end).unwrap_or_default())
    }

    /// After a backslash: what is allowed in a class too.
    pub(super) fn common_escape(&mut self) -> Result<Escape, Error> {
        let Some(item) = self.input.next() else { return Err(AT_END) };
        let Item::Char(character) = item else {
            return Err(Error::Unsupported("escaped bytes that are no characters"));
        };
        Ok(match character {
            'd' => Escape::Class(classes::range('0', '9')),
            'D' => Escape::Class(not(classes::range('0', '9'))),
            'w' => Escape::Class(classes::word_ascii()),
            'W' => Escape::Class(not(classes::word_ascii())),
            's' => Escape::Class(classes::space_ascii()),
            'S' => Escape::Class(not(classes::space_ascii())),
            'h' => Escape::Class(horizontal()),
            'H' => Escape::Class(not(horizontal())),
            'v' => Escape::Class(vertical()),
            'V' => Escape::Class(not(vertical())),
            'p' | 'P' => Escape::Class(self.property(character == 'P')?),
            'a' => Escape::Char('\x07'),
            'e' => Escape::Char('\x1b'),
            'f' => Escape::Char('\x0c'),
            'n' => Escape::Char('\n'),
            'r' => Escape::Char('\r'),
            't' => Escape::Char('\t'),
            'c' => Escape::Char(self.control()?),
            'x' => Escape::Char(self.hexadecimal()?),
            'o' => Escape::Char(self.braced_octal()?),
            '0' => Escape::Char(self.octal(2).and_then(char::from_u32).unwrap_or('\0')),
            'N' => Escape::Char(self.code_point()?),
            'L' | 'l' | 'U' | 'u' => {
                return Err(Error::Invalid(
                    "PCRE2 does not support \\F, \\L, \\l, \\N{name}, \\U, or \\u",
                ));
            }
            _ if character.is_ascii_alphanumeric() => {
                return Err(Error::Invalid("unrecognized character follows \\"));
            }
            _ => Escape::Char(character),
        })
    }

    fn octal(&mut self, most: usize) -> Option<u32> {
        let rest = self.input.rest();
        let digits = rest.iter().take(most).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
        let text = rest.get(..digits).unwrap_or_default();
        self.input.seek(self.input.position() + digits);
        u32::from_str_radix(std::str::from_utf8(text).ok()?, 8).ok()
    }

    fn braced_octal(&mut self) -> Result<char, Error> {
        const SYNTAX: Error =
            Error::Invalid("non-octal character in \\o{} (closing brace missing?)");
        if !self.input.take_if(b'{') {
            return Err(Error::Invalid("missing opening brace after \\o"));
        }
        let text = self.until(b'}').map_err(|_| SYNTAX)?;
        let text = std::str::from_utf8(text).map_err(|_| SYNTAX)?;
        let number = u32::from_str_radix(text, 8).map_err(|_| SYNTAX)?;
        char::from_u32(number).ok_or(TOO_LARGE)
    }

    /// `\x41`, `\x{263a}`.
    fn hexadecimal(&mut self) -> Result<char, Error> {
        const SYNTAX: Error = Error::Invalid("non-hex character in \\x{} (closing brace missing?)");
        if self.input.take_if(b'{') {
            let text = self.until(b'}').map_err(|_| SYNTAX)?;
            let text = std::str::from_utf8(text).map_err(|_| SYNTAX)?;
            let number = u32::from_str_radix(text, 16).map_err(|_| SYNTAX)?;
            return char::from_u32(number).ok_or(TOO_LARGE);
        }
        let rest = self.input.rest();
        let digits = rest.iter().take(2).take_while(|byte| byte.is_ascii_hexdigit()).count();
        let text = std::str::from_utf8(rest.get(..digits).unwrap_or_default()).unwrap_or_default();
        self.input.seek(self.input.position() + digits);
        Ok(u32::from_str_radix(text, 16).ok().and_then(char::from_u32).unwrap_or('\0'))
    }

    /// `\N{U+41}`
    fn code_point(&mut self) -> Result<char, Error> {
        const SYNTAX: Error =
            Error::Invalid("PCRE2 does not support \\F, \\L, \\l, \\N{name}, \\U, or \\u");
        if !self.input.take_if(b'{') {
            return Err(Error::Invalid("\\N is not supported in a class"));
        }
        let text = self.until(b'}').map_err(|_| SYNTAX)?;
        let digits = text.strip_prefix(b"U+").ok_or(SYNTAX)?;
        let digits = std::str::from_utf8(digits).map_err(|_| SYNTAX)?;
        let number = u32::from_str_radix(digits, 16).map_err(|_| SYNTAX)?;
        char::from_u32(number).ok_or(TOO_LARGE)
    }

    fn control(&mut self) -> Result<char, Error> {
        match self.input.next() {
            None => Err(Error::Invalid("\\c at end of pattern")),
            Some(Item::Char(character @ ' '..='~')) => {
                Ok(char::from(character.to_ascii_uppercase() as u8 ^ 0x40))
            }
            Some(_) => Err(Error::Invalid("\\c must be followed by a printable ASCII character")),
        }
    }

    /// `\p{Lu}`, `\pL`, `\p{^Lu}`.
    fn property(&mut self, negated: bool) -> Result<ClassUnicode, Error> {
        const UNKNOWN: Error = Error::Invalid("unknown property after \\P or \\p");
        const MALFORMED: Error = Error::Invalid("malformed \\P or \\p sequence");
        let name = if self.input.take_if(b'{') {
            self.until(b'}').map_err(|_| MALFORMED)?
        } else {
            let rest = self.input.rest();
            self.input.next().ok_or(MALFORMED)?;
            rest.get(..1).unwrap_or_default()
        };
        let (name, inner) = match name.strip_prefix(b"^") {
            Some(name) => (name, true),
            None => (name, false),
        };
        let name = std::str::from_utf8(name).map_err(|_| UNKNOWN)?;
        let word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b' ' | b'-');
        if name.is_empty() || !name.bytes().all(word) {
            return Err(UNKNOWN);
        }
        let text = match name {
            "L&" => r"[\p{Lu}\p{Ll}\p{Lt}]".to_owned(),
            "Any" => r"[\x{0}-\x{10ffff}]".to_owned(),
            "Xan" => r"[\p{L}\p{N}]".to_owned(),
            "Xwd" => r"[\p{L}\p{N}_]".to_owned(),
            "Xsp" | "Xps" => r"\s".to_owned(),
            name => format!(r"\p{{{name}}}"),
        };
        let class = classes::written(&text).ok_or(UNKNOWN)?;
        Ok(if negated == inner { class } else { not(class) })
    }
}

pub(super) fn not(mut class: ClassUnicode) -> ClassUnicode {
    class.negate();
    class
}

fn horizontal() -> ClassUnicode {
    classes::written(r"[\t\p{Zs}\x{180e}]").unwrap_or_else(classes::everything)
}

fn vertical() -> ClassUnicode {
    classes::written(r"[\n-\r\x{85}\x{2028}\x{2029}]").unwrap_or_else(classes::everything)
}

/// `\R`: `\r\n` as a whole, or any one line break.
fn any_newline() -> Node {
    let pair = Node::Concat(vec![Node::Char('\r'), Node::Char('\n')]);
    let any = Node::Alternate(vec![pair, Node::Set(vertical().into())]);
    Node::Repeat { node: Box::new(any), min: 1, max: Some(1), mode: RepeatMode::Possessive }
}
