//! POSIX expressions with the GNU extensions, in any [`Syntax`].
//!
//! Which characters are operators depends on what stands before them, so the lexer keeps that state.

use bstr::ByteSlice;

use super::{Anchor, DEPTH, Error, Node, RepeatMode, Syntax, bracket, classes};

/// The largest count in `{…}`.
const MOST: u32 = 32_767;

/// Repeats directly around each other: `a{2}{3}`.
const MOST_REPEATS: usize = 8;

const CONTENT: Error = Error::Invalid("Invalid content of \\{\\}");

/// A character, or a byte that is not part of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Item {
    Char(char),
    Byte(u8),
}

/// The text of an expression and a place in it.
pub(super) struct Input<'a> {
    text: &'a [u8],
    position: usize,
}

impl<'a> Input<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Input { text, position: 0 }
    }

    pub(super) fn position(&self) -> usize {
        self.position
    }

    pub(super) fn seek(&mut self, position: usize) {
        self.position = position.min(self.text.len());
    }

    pub(super) fn rest_from(&self, start: usize) -> &'a [u8] {
        self.text.get(start..).unwrap_or_default()
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest_from(self.position)
    }

    pub(super) fn between(&self, start: usize, end: usize) -> &'a [u8] {
        self.text.get(start..end).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.peek_at(0)
    }

    pub(super) fn peek_at(&self, offset: usize) -> Option<u8> {
        self.text.get(self.position + offset).copied()
    }

    pub(super) fn take_if(&mut self, byte: u8) -> bool {
        let taken = self.peek() == Some(byte);
        if taken {
            self.position += 1;
        }
        taken
    }

    pub(super) fn next(&mut self) -> Option<Item> {
        let rest = self.rest();
        let first = *rest.first()?;
        if first < 0x80 {
            self.position += 1;
            return Some(Item::Char(char::from(first)));
        }
        if let (Some(character), length) = bstr::decode_utf8(rest) {
            self.position += length;
            return Some(Item::Char(character));
        }
        self.position += 1;
        Some(Item::Byte(first))
    }
}

/// An expression and what GNU `grep` warns about.
#[derive(Debug)]
pub struct Parsed {
    pub node: Node,
    pub warnings: Vec<&'static str>,
}

/// Parses a whole expression; `fold` makes it match every case.
pub fn parse(text: &[u8], syntax: Syntax, fold: bool) -> Result<Parsed, Error> {
    let mut parser = Parser {
        input: Input::new(text),
        syntax,
        fold,
        groups: 0,
        open: 0,
        at_start: true,
        last: Last::Start,
        token: Token::End,
        finished: Vec::new(),
        warnings: Vec::new(),
    };
    parser.advance()?;
    let node = parser.alternatives(0)?;
    match parser.token {
        Token::Close => Err(Error::Invalid("Unmatched ) or \\)")),
        _ => Ok(Parsed { node, warnings: parser.warnings }),
    }
}

#[derive(Debug)]
enum Token {
    End,
    Node(Node),
    Repeat(u32, Option<u32>),
    Bar,
    Open,
    Close,
}

/// The kind of the token before, as far as `^` asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    Start,
    OpenOrBar,
    Other,
}

struct Parser<'a> {
    input: Input<'a>,
    syntax: Syntax,
    fold: bool,
    groups: u32,
    /// Groups that are open.
    open: usize,
    /// Nothing that could be repeated has been seen in this alternative.
    at_start: bool,
    last: Last,
    token: Token,
    /// Groups that are closed: only these may be referred to.
    finished: Vec<u32>,
    warnings: Vec<&'static str>,
}

impl Parser<'_> {
    fn advance(&mut self) -> Result<(), Error> {
        self.token = self.lex()?;
        self.last = match self.token {
            Token::Open | Token::Bar => Last::OpenOrBar,
            _ => Last::Other,
        };
        Ok(())
    }

    fn take(&mut self) -> Result<Token, Error> {
        let token = std::mem::replace(&mut self.token, Token::End);
        self.advance()?;
        Ok(token)
    }

    fn alternatives(&mut self, depth: usize) -> Result<Node, Error> {
        let mut branches = vec![self.branch(depth)?];
        while matches!(self.token, Token::Bar) {
            self.advance()?;
            branches.push(self.branch(depth)?);
        }
        Ok(Node::alternate(branches))
    }

    fn branch(&mut self, depth: usize) -> Result<Node, Error> {
        let mut nodes = Vec::new();
        while !matches!(self.token, Token::End | Token::Bar | Token::Close) {
            let mut node = self.atom(depth)?;
            while let Token::Repeat(min, max) = self.token {
                self.advance()?;
                node = repeated(node, min, max)?;
            }
            nodes.push(node);
        }
        Ok(Node::concat(nodes))
    }

    fn atom(&mut self, depth: usize) -> Result<Node, Error> {
        match self.token {
            Token::Repeat(..) => return Ok(Node::Empty),
            Token::Open => {}
            _ => {
                return Ok(match self.take()? {
                    Token::Node(node) => node,
                    _ => Node::Empty,
                });
            }
        }
        if depth >= DEPTH {
            return Err(Error::Unsupported("expressions nested this deep"));
        }
        self.groups += 1;
        let group = self.groups;
        self.advance()?;
        let node = self.alternatives(depth + 1)?;
        if !matches!(self.token, Token::Close) {
            return Err(Error::Invalid("Unmatched ( or \\("));
        }
        self.finished.push(group);
        self.advance()?;
        Ok(Node::Group(group, Box::new(node)))
    }

    fn lex(&mut self) -> Result<Token, Error> {
        let Some(item) = self.input.next() else { return Ok(Token::End) };
        match item {
            Item::Char('\\') => match self.input.next() {
                None => Err(Error::Invalid("Trailing backslash")),
                Some(Item::Char(character)) => self.operator(character, true),
                Some(byte) => Ok(self.literal(byte)),
            },
            Item::Char(character) => self.operator(character, false),
            byte @ Item::Byte(_) => Ok(self.literal(byte)),
        }
    }

    fn literal(&mut self, item: Item) -> Token {
        self.at_start = false;
        Token::Node(match item {
            Item::Char(character) => Node::character(character, self.fold),
            Item::Byte(byte) => Node::Byte(byte),
        })
    }

    fn set(&mut self, class: regex_syntax::hir::ClassUnicode) -> Token {
        self.at_start = false;
        Token::Node(Node::Set(class.into()))
    }

    /// What a character means here, `escaped` or not.
    fn operator(&mut self, character: char, escaped: bool) -> Result<Token, Error> {
        let syntax = self.syntax;
        Ok(match character {
            '^' if !escaped && self.begins_line() => Token::Node(Node::Anchor(Anchor::LineStart)),
            '$' if !escaped && self.ends_line() => Token::Node(Node::Anchor(Anchor::LineEnd)),
            '.' if !escaped => {
                let mut class = classes::everything();
                if !syntax.dot_newline {
                    class.difference(&classes::single('\n'));
                }
                self.set(class)
            }
            '[' if !escaped => {
                self.at_start = false;
                Token::Node(bracket::parse(&mut self.input, syntax, self.fold)?)
            }
            '*' if !escaped => self.repeat('*', 0, None, "* at start of expression")?,
            '+' if escaped == syntax.escaped_plus && !syntax.limited => {
                self.repeat('+', 1, None, "+ at start of expression")?
            }
            '?' if escaped == syntax.escaped_plus && !syntax.limited => {
                self.repeat('?', 0, Some(1), "? at start of expression")?
            }
            '{' if syntax.intervals && escaped == syntax.escaped_intervals => self.interval()?,
            '|' if escaped == syntax.escaped_bar && !syntax.limited => self.bar(),
            '\n' if !escaped && syntax.newline_is_bar => self.bar(),
            '(' if escaped == syntax.escaped_groups => {
                self.open += 1;
                self.at_start = true;
                Token::Open
            }
            ')' if escaped == syntax.escaped_groups => self.close(),
            '1'..='9' if escaped && syntax.backreferences => self.backreference(character)?,
            _ if escaped && syntax.gnu_operators => self.gnu(character),
            _ => self.literal(Item::Char(character)),
        })
    }

    fn bar(&mut self) -> Token {
        self.at_start = true;
        Token::Bar
    }

    fn close(&mut self) -> Token {
        self.at_start = false;
        if self.open == 0 && self.syntax.literal_unmatched_close {
            return self.literal(Item::Char(')'));
        }
        self.open = self.open.saturating_sub(1);
        Token::Close
    }

    /// `\w` and the like.
    fn gnu(&mut self, character: char) -> Token {
        let anchor = match character {
            'w' => return self.set(classes::word()),
            'W' => return self.set(negated(classes::word())),
            's' => return self.set(spaces()),
            'S' => return self.set(negated(spaces())),
            '`' => Anchor::LineStart,
            '\'' => Anchor::LineEnd,
            '<' => Anchor::WordStart,
            '>' => Anchor::WordEnd,
            'b' => Anchor::WordBoundary,
            'B' => Anchor::NotWordBoundary,
            _ => return self.literal(Item::Char(character)),
        };
        Token::Node(Node::Anchor(anchor))
    }

    fn begins_line(&self) -> bool {
        self.syntax.anchors_anywhere || self.last != Last::Other
    }

    fn ends_line(&self) -> bool {
        let rest = self.input.rest();
        let close: &[u8] = if self.syntax.escaped_groups { b"\\)" } else { b")" };
        let bar: &[u8] = if self.syntax.escaped_bar { b"\\|" } else { b"|" };
        self.syntax.anchors_anywhere
            || rest.is_empty()
            || rest.starts_with(close)
            || rest.starts_with(bar)
            || (self.syntax.newline_is_bar && rest.starts_with(b"\n"))
    }

    fn repeat(
        &mut self,
        character: char,
        min: u32,
        max: Option<u32>,
        warning: &'static str,
    ) -> Result<Token, Error> {
        if self.at_start {
            if !self.syntax.operators_anywhere {
                return Ok(self.literal(Item::Char(character)));
            }
            self.without_operand(warning)?;
        }
        Ok(Token::Repeat(min, max))
    }

    fn without_operand(&mut self, warning: &'static str) -> Result<(), Error> {
        if self.syntax.operators_need_operand {
            return Err(Error::Invalid("Invalid preceding regular expression"));
        }
        self.warnings.push(warning);
        Ok(())
    }

    /// After `{`: `{3}`, `{3,}`, `{,5}`, `{3,5}`.
    fn interval(&mut self) -> Result<Token, Error> {
        let close: &[u8] = if self.syntax.escaped_intervals { b"\\}" } else { b"}" };
        let bounds = self.bounds(close);
        if self.syntax.literal_bad_interval && bounds.is_err() {
            let broken = !self.at_start && is_broken_interval(self.input.rest());
            return if broken { Err(CONTENT) } else { Ok(self.literal(Item::Char('{'))) };
        }
        if self.at_start {
            if !self.syntax.operators_anywhere {
                return Ok(self.literal(Item::Char('{')));
            }
            self.without_operand("{...} at start of expression")?;
        }
        let (min, max, length) = bounds?;
        if max.is_some_and(|max| max < min) {
            return Err(CONTENT);
        }
        if max.unwrap_or(min).max(min) > MOST {
            return Err(Error::Invalid("Regular expression too big"));
        }
        self.input.seek(self.input.position() + length);
        self.at_start = false;
        Ok(Token::Repeat(min, max))
    }

    /// The bounds and how long their text is, the closing brace included.
    fn bounds(&self, close: &[u8]) -> Result<(u32, Option<u32>, usize), Error> {
        let rest = self.input.rest();
        let end = rest.find(close).ok_or(Error::Invalid("Unmatched \\{"))?;
        let text = rest.get(..end).unwrap_or_default();
        let length = end + close.len();
        let (min, max) = match text.find_byte(b',') {
            None => {
                let count = number(text)?.ok_or(CONTENT)?;
                (count, Some(count))
            }
            Some(comma) => {
                let min = number(text.get(..comma).unwrap_or_default())?;
                let max = number(text.get(comma + 1..).unwrap_or_default())?;
                (min.unwrap_or(0), max)
            }
        };
        Ok((min, max, length))
    }

    fn backreference(&mut self, digit: char) -> Result<Token, Error> {
        self.at_start = false;
        let group = digit.to_digit(10).unwrap_or(0);
        if !self.finished.contains(&group) {
            return Err(Error::Invalid("Invalid back reference"));
        }
        Ok(Token::Node(Node::Backreference { group, fold: self.fold }))
    }
}

/// `{}` and `{1,2,` are errors even where other nonsense stands for itself.
fn is_broken_interval(text: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if text.starts_with(b"}") {
        return true;
    }
    let Some(rest) = text.get(digits(text)..).and_then(|rest| rest.strip_prefix(b",")) else {
        return false;
    };
    rest.get(digits(rest)..).is_some_and(|rest| rest.starts_with(b","))
}

/// `None`: nothing is there. Larger than all bounds stays larger.
fn number(text: &[u8]) -> Result<Option<u32>, Error> {
    if !text.iter().all(u8::is_ascii_digit) {
        return Err(CONTENT);
    }
    let digit =
        |number: u32, byte: &u8| number.saturating_mul(10).saturating_add(u32::from(byte - b'0'));
    Ok(if text.is_empty() { None } else { Some(text.iter().fold(0, digit)) })
}

/// `a**` is `a*`. Other repeats of repeats are few in any honest expression.
fn repeated(node: Node, min: u32, max: Option<u32>) -> Result<Node, Error> {
    if let (0, None, Node::Repeat { min: 0, max: None, .. }) = (min, max, &node) {
        return Ok(node);
    }
    let mut nested = 0;
    let mut inner = &node;
    while let Node::Repeat { node, .. } = inner {
        nested += 1;
        inner = node;
    }
    if nested >= MOST_REPEATS {
        return Err(Error::Unsupported("repeats nested this deep"));
    }
    Ok(Node::Repeat { node: Box::new(node), min, max, mode: RepeatMode::Greedy })
}

fn negated(mut class: regex_syntax::hir::ClassUnicode) -> regex_syntax::hir::ClassUnicode {
    class.negate();
    class
}

fn spaces() -> regex_syntax::hir::ClassUnicode {
    classes::named(b"space").unwrap_or_else(classes::everything)
}
