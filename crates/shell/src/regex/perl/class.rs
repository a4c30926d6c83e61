//! `[…]` of Perl.

use regex_syntax::hir::ClassUnicode;

use super::super::posix::Item;
use super::super::{Error, Node, Set, classes, fold_case};
use super::Parser;
use super::escape::{Escape, not};

const UNTERMINATED: Error = Error::Invalid("missing terminating ] for character class");

enum Member {
    One(Item),
    Class(ClassUnicode),
    /// `\Q`, `\E`
    Nothing,
}

impl Parser<'_> {
    /// After `[`.
    pub(super) fn class(&mut self) -> Result<Node, Error> {
        let negated = self.input.take_if(b'^');
        let mut set = Set::from(ClassUnicode::empty());
        // Named classes have no other case.
        let mut named = ClassUnicode::empty();
        let mut first = true;
        loop {
            if !first && !self.quoting && self.input.take_if(b']') {
                break;
            }
            first = false;
            match self.class_member()? {
                Member::Nothing => {}
                Member::Class(class) => {
                    named.union(&class);
                    if self.range_follows() {
                        return Err(Error::Invalid("invalid range in character class"));
                    }
                }
                Member::One(item) if self.range_follows() => self.range(item, &mut set)?,
                Member::One(Item::Char(character)) => {
                    set.characters.union(&classes::single(character));
                }
                Member::One(Item::Byte(byte)) => set.bytes.push(byte),
            }
        }
        if self.flags.fold {
            fold_case(&mut set.characters);
        }
        set.characters.union(&named);
        if negated {
            set.characters.negate();
            set.bytes.clear();
        }
        Ok(Node::Set(set))
    }

    fn range_follows(&self) -> bool {
        !self.quoting
            && self.input.peek() == Some(b'-')
            && self.input.peek_at(1).is_some_and(|next| next != b']')
    }

    fn range(&mut self, first: Item, set: &mut Set) -> Result<(), Error> {
        self.input.take_if(b'-');
        match (first, self.class_member()?) {
            (Item::Char(first), Member::One(Item::Char(last))) => {
                if first > last {
                    return Err(Error::Invalid("range out of order in character class"));
                }
                set.characters.union(&classes::range(first, last));
                Ok(())
            }
            (_, Member::Class(_)) => Err(Error::Invalid("invalid range in character class")),
            _ => Err(Error::Unsupported("ranges of bytes that are no characters")),
        }
    }

    fn class_member(&mut self) -> Result<Member, Error> {
        let item = self.input.next().ok_or(UNTERMINATED)?;
        if self.quoting {
            if item == Item::Char('\\') && self.input.take_if(b'E') {
                self.quoting = false;
                return Ok(Member::Nothing);
            }
            return Ok(Member::One(item));
        }
        match item {
            Item::Char('[') if self.input.peek() == Some(b':') => self.posix_class(),
            Item::Char('[') if matches!(self.input.peek(), Some(b'.' | b'=')) => {
                let close = [self.input.peek().unwrap_or_default(), b']'];
                if self
                    .input
                    .rest_from(self.input.position() + 1)
                    .windows(2)
                    .any(|two| two == close)
                {
                    return Err(Error::Invalid("POSIX collating elements are not supported"));
                }
                Ok(Member::One(item))
            }
            Item::Char('\\') => self.class_escape(),
            _ => Ok(Member::One(item)),
        }
    }

    /// `[:alpha:]`, `[:^alpha:]`; what is not closed stands for itself.
    fn posix_class(&mut self) -> Result<Member, Error> {
        let rest = self.input.rest_from(self.input.position() + 1);
        let named = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'^';
        let length = rest.iter().take_while(|byte| named(byte)).count();
        let (name, after) = rest.split_at(length);
        if !after.starts_with(b":]") {
            return Ok(Member::One(Item::Char('[')));
        }
        self.input.seek(self.input.position() + 1 + length + 2);
        let (name, negated) = match name.strip_prefix(b"^") {
            Some(name) => (name, true),
            None => (name, false),
        };
        let folded = self.flags.fold && matches!(name, b"upper" | b"lower");
        let class = classes::named_ascii(if folded { b"alpha" } else { name })
            .ok_or(Error::Invalid("unknown POSIX class name"))?;
        Ok(Member::Class(if negated { not(class) } else { class }))
    }

    fn class_escape(&mut self) -> Result<Member, Error> {
        match self.input.peek() {
            Some(b'b') => {
                self.input.next();
                Ok(Member::One(Item::Char('\x08')))
            }
            Some(b'Q') => {
                self.input.next();
                self.quoting = true;
                Ok(Member::Nothing)
            }
            Some(b'E') => {
                self.input.next();
                Ok(Member::Nothing)
            }
            Some(b'1'..=b'7') => {
                let digits = self.input.rest().iter().take(3);
                let digits: Vec<u8> =
                    digits.copied().take_while(|byte| matches!(byte, b'0'..=b'7')).collect();
                self.input.seek(self.input.position() + digits.len());
                let number = digits.iter().fold(0, |sum, digit| sum * 8 + u32::from(digit - b'0'));
                char::from_u32(number).map(|character| Member::One(Item::Char(character))).ok_or(
                    Error::Invalid("octal value is greater than \\377 in 8-bit non-UTF-8 mode"),
                )
            }
            _ => Ok(match self.common_escape()? {
                Escape::Char(character) => Member::One(Item::Char(character)),
                Escape::Class(class) => Member::Class(class),
            }),
        }
    }
}
