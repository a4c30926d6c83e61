//! Perl's expressions, as far as PCRE without Unicode properties by default reads them (`grep -P`).
//!
//! Not here: recursion, conditions, callouts, verbs. They are refused by name.

mod class;
mod escape;
mod group;

use super::posix::{Input, Item};
use super::{Anchor, DEPTH, Error, Node, RepeatMode, classes};

const PARENTHESIS: Error = Error::Invalid("missing closing parenthesis");
const NO_OPERAND: Error = Error::Invalid("quantifier does not follow a repeatable item");
const NO_SUCH_GROUP: Error = Error::Invalid("reference to non-existent subpattern");

/// Parses a whole expression; `fold` is `-i`.
pub fn parse(text: &[u8], fold: bool) -> Result<Node, Error> {
    let mut parser = Parser {
        input: Input::new(text),
        flags: Flags { fold, ..Flags::default() },
        groups: 0,
        names: Vec::new(),
        references: Vec::new(),
        quoting: false,
    };
    let node = parser.alternatives(0)?;
    if parser.input.peek().is_some() {
        return Err(Error::Invalid("unmatched closing parenthesis"));
    }
    if parser.references.iter().any(|group| *group > parser.groups) {
        return Err(NO_SUCH_GROUP);
    }
    Ok(node)
}

#[derive(Debug, Clone, Copy, Default)]
struct Flags {
    fold: bool,
    /// `.` matches a newline: never of use on single lines, kept for `-z`.
    dot_all: bool,
    /// `^` and `$` match at lines inside.
    multi_line: bool,
    /// White space and comments are skipped.
    extended: bool,
    /// Greedy and lazy swap.
    ungreedy: bool,
}

struct Parser<'a> {
    input: Input<'a>,
    flags: Flags,
    groups: u32,
    names: Vec<(&'a [u8], u32)>,
    references: Vec<u32>,
    /// Between `\Q` and `\E`.
    quoting: bool,
}

/// What was read: something, or only a setting that is in force from here on.
enum Atom {
    Node(Node),
    /// Matches nothing and cannot be repeated.
    Setting,
    /// A comment, the end of a quotation: as if it were not there.
    Nothing,
}

impl Parser<'_> {
    fn alternatives(&mut self, depth: usize) -> Result<Node, Error> {
        if depth > DEPTH {
            return Err(Error::Unsupported("expressions nested this deep"));
        }
        let outer = self.flags;
        let mut branches = vec![self.branch(depth)?];
        while !self.quoting && self.input.take_if(b'|') {
            branches.push(self.branch(depth)?);
        }
        self.flags = outer;
        Ok(Node::alternate(branches))
    }

    fn branch(&mut self, depth: usize) -> Result<Node, Error> {
        let mut nodes = Vec::new();
        loop {
            self.skip_blanks();
            if !self.quoting && matches!(self.input.peek(), None | Some(b'|' | b')')) {
                return Ok(Node::concat(nodes));
            }
            if self.quoting && self.input.peek().is_none() {
                return Ok(Node::concat(nodes));
            }
            match self.atom(depth)? {
                Atom::Setting => {}
                Atom::Nothing => match nodes.pop() {
                    Some(repeat @ Node::Repeat { .. }) => nodes.push(repeat),
                    Some(last) => nodes.push(self.quantified(last)?),
                    None => {}
                },
                Atom::Node(node) => nodes.push(self.quantified(node)?),
            }
        }
    }

    /// In `(?x)`: blanks and comments.
    fn skip_blanks(&mut self) {
        if !self.flags.extended || self.quoting {
            return;
        }
        while let Some(byte) = self.input.peek() {
            if byte == b'#' {
                while self.input.next().is_some_and(|item| item != Item::Char('\n')) {}
            } else if byte.is_ascii_whitespace() || byte == 0x0b {
                self.input.take_if(byte);
            } else {
                return;
            }
        }
    }

    fn quantified(&mut self, node: Node) -> Result<Node, Error> {
        self.skip_blanks();
        if self.quoting {
            return Ok(node);
        }
        let Some((min, max)) = self.quantifier()? else { return Ok(node) };
        if matches!(node, Node::Anchor(_) | Node::Keep) {
            return Err(NO_OPERAND);
        }
        let mode = if self.input.take_if(b'+') {
            RepeatMode::Possessive
        } else if self.input.take_if(b'?') != self.flags.ungreedy {
            RepeatMode::Lazy
        } else {
            RepeatMode::Greedy
        };
        self.skip_blanks();
        let position = self.input.position();
        if self.quantifier()?.is_some() {
            self.input.seek(position);
            return Err(NO_OPERAND);
        }
        Ok(Node::Repeat { node: Box::new(node), min, max, mode })
    }

    fn quantifier(&mut self) -> Result<Option<(u32, Option<u32>)>, Error> {
        let bounds = match self.input.peek() {
            Some(b'*') => (0, None),
            Some(b'+') => (1, None),
            Some(b'?') => (0, Some(1)),
            Some(b'{') => return self.interval(),
            _ => return Ok(None),
        };
        self.input.next();
        Ok(Some(bounds))
    }

    /// `{3}`, `{3,}`, `{3,5}`; anything else stands for itself.
    fn interval(&mut self) -> Result<Option<(u32, Option<u32>)>, Error> {
        let rest = self.input.rest();
        let Some(end) = rest.iter().position(|byte| *byte == b'}') else { return Ok(None) };
        let text = rest.get(1..end).unwrap_or_default();
        let mut parts = text.splitn(2, |byte| *byte == b',');
        let first = parts.next().unwrap_or_default();
        let second = parts.next();
        let digits = |part: &[u8]| part.iter().all(u8::is_ascii_digit);
        if first.is_empty() || !digits(first) || !second.is_none_or(digits) {
            return Ok(None);
        }
        let min = count(first)?;
        let max = match second {
            None => Some(min),
            Some([]) => None,
            Some(text) => Some(count(text)?),
        };
        if max.is_some_and(|max| max < min) {
            return Err(Error::Invalid("numbers out of order in {} quantifier"));
        }
        self.input.seek(self.input.position() + end + 1);
        Ok(Some((min, max)))
    }

    fn atom(&mut self, depth: usize) -> Result<Atom, Error> {
        let position = self.input.position();
        let Some(item) = self.input.next() else { return Ok(Atom::Setting) };
        let Item::Char(character) = item else { return Ok(Atom::Node(self.item(item))) };
        if self.quoting {
            if character == '\\' && self.input.take_if(b'E') {
                self.quoting = false;
                return Ok(Atom::Nothing);
            }
            return Ok(Atom::Node(self.item(item)));
        }
        Ok(Atom::Node(match character {
            '\\' => return self.escape(),
            '.' => Node::Set(self.dot().into()),
            '^' if self.flags.multi_line => Node::Anchor(Anchor::InnerLineStart),
            '^' => Node::Anchor(Anchor::LineStart),
            '$' if self.flags.multi_line => Node::Anchor(Anchor::InnerLineEnd),
            '$' => Node::Anchor(Anchor::LineEnd),
            '[' => self.class()?,
            '(' => return self.group(depth),
            '*' | '+' | '?' => return Err(NO_OPERAND),
            '{' => {
                self.input.seek(position);
                if self.interval()?.is_some() {
                    return Err(NO_OPERAND);
                }
                self.input.next();
                Node::Char('{')
            }
            _ => self.item(item),
        }))
    }

    fn item(&self, item: Item) -> Node {
        match item {
            Item::Char(character) => Node::character(character, self.flags.fold),
            Item::Byte(byte) => Node::Byte(byte),
        }
    }

    fn dot(&self) -> regex_syntax::hir::ClassUnicode {
        let mut class = classes::everything();
        if !self.flags.dot_all {
            class.difference(&classes::single('\n'));
        }
        class
    }
}

fn count(text: &[u8]) -> Result<u32, Error> {
    const TOO_BIG: Error = Error::Invalid("number too big in {} quantifier");
    let number = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
    number.filter(|number| *number <= 65_535).ok_or(TOO_BIG)
}
