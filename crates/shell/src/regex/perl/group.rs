//! What begins with a parenthesis.

use super::super::{Error, Node};
use super::{Atom, Flags, PARENTHESIS, Parser};

const UNRECOGNIZED: Error = Error::Invalid("unrecognized character after (? or (?-");

impl Parser<'_> {
    /// After `(`.
    pub(super) fn group(&mut self, depth: usize) -> Result<Atom, Error> {
        if self.input.peek() == Some(b'*') {
            return Err(Error::Unsupported("(*VERB)"));
        }
        if !self.input.take_if(b'?') {
            return self.capture(depth).map(Atom::Node);
        }
        let rest = self.input.rest();
        let around = |behind, negative| Some((behind, negative));
        let (length, kind) = match rest {
            [b'<', b'=', ..] => (2, around(true, false)),
            [b'<', b'!', ..] => (2, around(true, true)),
            [b'=', ..] => (1, around(false, false)),
            [b'!', ..] => (1, around(false, true)),
            _ => (0, None),
        };
        if let Some((behind, negative)) = kind {
            self.skip(length);
            let node = Box::new(self.inside(depth)?);
            if behind {
                super::super::program::fixed_lengths(&node)?;
            }
            return Ok(Atom::Node(Node::Around { behind, negative, node }));
        }
        match rest.first() {
            None => Err(PARENTHESIS),
            Some(b':') => {
                self.skip(1);
                self.inside(depth).map(Atom::Node)
            }
            Some(b'>') => {
                self.skip(1);
                Ok(Atom::Node(Node::Atomic(Box::new(self.inside(depth)?))))
            }
            Some(b'#') => {
                self.until(b')').map_err(|_| Error::Invalid("missing ) after (?# comment"))?;
                Ok(Atom::Nothing)
            }
            Some(b'<' | b'\'' | b'P') => self.named_group(depth).map(Atom::Node),
            Some(b'|') => Err(Error::Unsupported("(?|…)")),
            Some(b'(') => Err(Error::Unsupported("conditional groups")),
            Some(b'R' | b'&' | b'0'..=b'9' | b'+' | b'C') => {
                Err(Error::Unsupported("recursion and callouts"))
            }
            Some(b'-') if rest.get(1).is_some_and(u8::is_ascii_digit) => {
                Err(Error::Unsupported("recursion and callouts"))
            }
            Some(_) => self.settings(depth),
        }
    }

    fn skip(&mut self, count: usize) {
        self.input.seek(self.input.position() + count);
    }

    /// Up to and with the closing parenthesis.
    fn inside(&mut self, depth: usize) -> Result<Node, Error> {
        let node = self.alternatives(depth + 1)?;
        if self.input.take_if(b')') { Ok(node) } else { Err(PARENTHESIS) }
    }

    fn capture(&mut self, depth: usize) -> Result<Node, Error> {
        self.groups += 1;
        let group = self.groups;
        Ok(Node::Group(group, Box::new(self.inside(depth)?)))
    }

    /// `(?<name>…)`, `(?'name'…)`, `(?P<name>…)`, `(?P=name)`.
    fn named_group(&mut self, depth: usize) -> Result<Node, Error> {
        if self.input.take_if(b'P') {
            if self.input.take_if(b'=') {
                let name = self.until(b')')?;
                return self.named_reference(name);
            }
            if self.input.peek() == Some(b'>') {
                return Err(Error::Unsupported("recursion and callouts"));
            }
            if self.input.peek() != Some(b'<') {
                return Err(Error::Invalid("unrecognized character after (?P"));
            }
        }
        let close = if self.input.peek() == Some(b'<') { b'>' } else { b'\'' };
        self.skip(1);
        let name = self.until(close)?;
        if name.first().is_some_and(u8::is_ascii_digit) {
            return Err(Error::Invalid("subpattern name must start with a non-digit"));
        }
        let word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        if name.is_empty() {
            return Err(Error::Invalid("subpattern name expected"));
        }
        if !name.iter().all(word) {
            return Err(Error::Invalid("syntax error in subpattern name (missing terminator?)"));
        }
        if self.names.iter().any(|(known, _)| *known == name) {
            return Err(Error::Invalid(
                "two named subpatterns have the same name (PCRE2_DUPNAMES not set)",
            ));
        }
        self.names.push((name, self.groups + 1));
        self.capture(depth)
    }

    /// `(?i)`, `(?i-s:…)`, `(?^)`.
    fn settings(&mut self, depth: usize) -> Result<Atom, Error> {
        let mut flags = self.flags;
        if self.input.take_if(b'^') {
            flags = Flags { ungreedy: flags.ungreedy, ..Flags::default() };
        }
        let mut on = true;
        loop {
            let byte = self.input.peek().ok_or(PARENTHESIS)?;
            self.skip(1);
            match byte {
                b'i' => flags.fold = on,
                b's' => flags.dot_all = on,
                b'm' => flags.multi_line = on,
                b'x' => flags.extended = on,
                b'U' => flags.ungreedy = on,
                b'n' | b'J' => return Err(Error::Unsupported("(?n) and (?J)")),
                b'-' if on => on = false,
                b')' => {
                    // In force to the end of the group around: `alternatives` restores.
                    self.flags = flags;
                    return Ok(Atom::Setting);
                }
                b':' => {
                    let outer = std::mem::replace(&mut self.flags, flags);
                    let node = self.inside(depth);
                    self.flags = outer;
                    return node.map(Atom::Node);
                }
                _ => return Err(UNRECOGNIZED),
            }
        }
    }
}
