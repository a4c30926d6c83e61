//! Bracket expressions of POSIX: `[a-z]`, `[^[:space:]]`, `[[.-.]]`.

use regex_syntax::hir::ClassUnicode;

use super::posix::{Input, Item};
use super::{Error, Node, Set, Syntax, classes, fold_case};

const UNMATCHED: Error = Error::Invalid("Unmatched [, [^, [:, [., or [=");
const RANGE: Error = Error::Invalid("Invalid range end");
const COLLATION: Error = Error::Invalid("Invalid collation character");

/// Reads after `[` up to and with `]`.
pub(super) fn parse(input: &mut Input<'_>, syntax: Syntax, fold: bool) -> Result<Node, Error> {
    let mut reader = Bracket { input, syntax, set: ClassUnicode::empty().into(), fold };
    reader.read()
}

struct Bracket<'a, 'b> {
    input: &'a mut Input<'b>,
    syntax: Syntax,
    set: Set,
    fold: bool,
}

/// What stands in a list: one member, which may begin a range, or a class, which may not.
enum Member {
    One(Item),
    Class(ClassUnicode),
}

impl<'b> Bracket<'_, 'b> {
    fn read(&mut self) -> Result<Node, Error> {
        let begin = self.input.position();
        let negated = self.input.take_if(b'^');
        let body = self.input.position();
        loop {
            if self.input.position() > body && self.input.take_if(b']') {
                break;
            }
            self.member()?;
        }
        self.refuse_bare_class(begin)?;
        if self.fold {
            fold_case(&mut self.set.characters);
        }
        if negated {
            self.set.characters.negate();
            self.set.bytes.clear();
            if self.syntax.negation_spares_newline {
                self.set.characters.difference(&classes::single('\n'));
            }
        }
        let empty = Set::from(ClassUnicode::empty());
        Ok(Node::Set(std::mem::replace(&mut self.set, empty)))
    }

    /// `[:space:]` where `[[:space:]]` was meant.
    fn refuse_bare_class(&self, begin: usize) -> Result<(), Error> {
        let text = self.input.between(begin, self.input.position());
        let inner = text.strip_prefix(b":").and_then(|rest| rest.strip_suffix(b":]"));
        match inner {
            Some(inner) if !inner.is_empty() && !inner.contains(&b'[') => {
                Err(Error::Invalid("character class syntax is [[:space:]], not [:space:]"))
            }
            _ => Ok(()),
        }
    }

    fn member(&mut self) -> Result<(), Error> {
        let first = self.one()?;
        let ranges = self.input.peek() == Some(b'-')
            && self.input.peek_at(1).is_some_and(|next| next != b']');
        match (first, ranges) {
            (Member::Class(class), false) => self.set.characters.union(&class),
            (Member::Class(_), true) => return Err(RANGE),
            (Member::One(item), false) => self.add(item),
            (Member::One(first), true) => {
                self.input.take_if(b'-');
                match (first, self.one()?) {
                    (Item::Char(first), Member::One(Item::Char(last))) if first <= last => {
                        self.set.characters.union(&classes::range(first, last));
                    }
                    (Item::Byte(first), Member::One(Item::Byte(last))) if first <= last => {
                        self.set.bytes.extend(first..=last);
                    }
                    _ => return Err(RANGE),
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, item: Item) {
        match item {
            Item::Char(character) => self.set.characters.union(&classes::single(character)),
            Item::Byte(byte) => self.set.bytes.push(byte),
        }
    }

    fn one(&mut self) -> Result<Member, Error> {
        let item = self.input.next().ok_or(UNMATCHED)?;
        match item {
            Item::Char('[') => match self.input.peek() {
                Some(b':') if self.syntax.classes => self.named().map(Member::Class),
                Some(kind @ (b'.' | b'=')) => self.collating(kind).map(Member::One),
                _ => Ok(Member::One(item)),
            },
            Item::Char('\\') if self.syntax.escapes_in_brackets => {
                self.input.next().map(Member::One).ok_or(UNMATCHED)
            }
            _ => Ok(Member::One(item)),
        }
    }

    /// `[:alpha:]`; folding makes `upper` and `lower` the same.
    fn named(&mut self) -> Result<ClassUnicode, Error> {
        let name = self.delimited(b':')?;
        let name = if self.fold && matches!(name, b"upper" | b"lower") { b"alpha" } else { name };
        classes::named(name).ok_or(Error::Invalid("Invalid character class name"))
    }

    /// `[.x.]` and `[=x=]`: in this locale a character by itself.
    fn collating(&mut self, kind: u8) -> Result<Item, Error> {
        let name = self.delimited(kind)?;
        let mut inner = Input::new(name);
        match (inner.next(), inner.next()) {
            (Some(item), None) => Ok(item),
            _ => Err(COLLATION),
        }
    }

    /// From `[:` (the bracket is read) to `:]`.
    fn delimited(&mut self, kind: u8) -> Result<&'b [u8], Error> {
        let start = self.input.position() + 1;
        let rest = self.input.rest_from(start);
        let end = rest.windows(2).position(|pair| pair == [kind, b']']).ok_or(UNMATCHED)?;
        self.input.seek(start + end + 2);
        Ok(rest.get(..end).unwrap_or_default())
    }
}
