//! Text to tree, one complete command at a time.
//!
//! Shell lexing depends on the grammar around it, so there is no token stream: each rule reads bytes through
//! the [`cursor`] and knows what may follow. Nested text is parsed where it stands.

mod alias;
mod arithmetic_text;
mod assignment;
mod brace;
mod case;
mod command;
mod compound;
mod conditional;
mod cursor;
mod dollar;
mod expression;
mod fill;
mod heredoc;
mod input;
mod list;
mod numbers;
mod parameter;
mod parts;
mod quotes;
mod redirect;
mod reserved;
mod scan;
mod substitution;
mod tilde;
mod words;

use bstr::{BStr, BString};

pub use quotes::decode_ansi;

use crate::ast::{Expression, List};
use crate::{Limits, SyntaxError, SyntaxErrorKind};

use cursor::Reader;
use input::Input;

/// What every rule returns. The error is boxed because rules nest, and each holds a few of these on the stack.
type Parsed<T> = Result<T, Box<SyntaxError>>;

/// Where the parser looks up aliases; asked for every literal command word, when it is read.
pub trait Aliases {
    fn alias(&self, name: &BStr) -> Option<BString>;

    /// Whether there may be any at all; without them the text is read where it stands, uncopied.
    fn any(&self) -> bool {
        true
    }
}

pub struct NoAliases;

impl Aliases for NoAliases {
    fn alias(&self, _name: &BStr) -> Option<BString> {
        None
    }

    fn any(&self) -> bool {
        false
    }
}

/// Shell options that change the grammar.
#[derive(Debug, Clone, Copy, Default)]
pub struct ParseOptions {
    pub extglob: bool,
    pub posix: bool,
}

/// Reads a text command by command: a later line may depend on what an earlier one did (aliases, `shopt`).
pub struct Parser<'source> {
    input: Input<'source>,
    limits: Limits,
    finished: bool,
    open_document: Option<OpenDocument>,
}

impl<'source> Parser<'source> {
    pub fn new(source: &'source [u8], limits: Limits) -> Self {
        Parser { input: Input::new(source, 1), limits, finished: false, open_document: None }
    }

    /// The first line counts as `line` (for `eval` and traps); default 1.
    pub fn at_line(mut self, line: u32) -> Self {
        self.input.set_first_line(line);
        self
    }

    /// How much of the source has been read.
    pub fn consumed(&self) -> usize {
        self.input.offset(self.input.position) as usize
    }

    /// The next complete command: everything up to a newline that ends a list, as bash reads it.
    /// `None` at the end of the text. After an error the parser is at its end.
    pub fn next_command(
        &mut self,
        options: ParseOptions,
        aliases: &dyn Aliases,
    ) -> Result<Option<List>, SyntaxError> {
        if self.finished {
            return Ok(None);
        }
        if self.input.end > self.limits.bytes {
            self.finished = true;
            let kind = SyntaxErrorKind::TooLong(self.limits.bytes);
            return Err(SyntaxError { kind, span: crate::Span::default() });
        }
        let mut input = std::mem::take(&mut self.input);
        input.forget_history();
        if aliases.any() && input.aliases.is_empty() {
            input.make_room();
        }
        let mut reader = Reader::new(input, options, self.limits, aliases);
        let result = reader.complete_command();
        self.input = reader.input;
        self.open_document = reader.open_document;
        self.finished = !matches!(result, Ok(Some(_)));
        result.map_err(|error| *error)
    }
}

/// A here-document whose delimiter has not come yet. The end of a text ends it too, as in bash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenDocument {
    pub delimiter: BString,
    /// `<<-`
    pub strip_tabs: bool,
}

impl OpenDocument {
    /// Whether a line may be the one with the delimiter; only then is it worth parsing again.
    pub fn may_end_with(&self, line: &[u8]) -> bool {
        let tabs = line.iter().take_while(|byte| self.strip_tabs && **byte == b'\t').count();
        line.get(tabs..).is_some_and(|line| line.starts_with(&self.delimiter))
    }
}

/// What a text needs before it can be run, if it may go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    Nothing,
    Lines,
    Delimiter(OpenDocument),
    /// It is no script, whatever follows.
    Sense,
}

/// For whoever reads line by line: is this all, or does more belong to it?
pub fn missing(source: &[u8], options: ParseOptions, limits: Limits) -> Missing {
    let mut parser = Parser::new(source, limits);
    loop {
        let parsed = parser.next_command(options, &NoAliases);
        let more = match &parsed {
            Ok(_) => false,
            Err(error) if error.is_incomplete() => true,
            Err(_) => return Missing::Sense,
        };
        match parser.open_document.take() {
            Some(document) => return Missing::Delimiter(document),
            None if more => return Missing::Lines,
            None if matches!(parsed, Ok(None)) => return Missing::Nothing,
            None => {}
        }
    }
}

/// The whole text as one list.
pub fn parse(source: &[u8], options: ParseOptions, limits: Limits) -> Result<List, SyntaxError> {
    let mut parser = Parser::new(source, limits);
    let mut all = List::default();
    while let Some(list) = parser.next_command(options, &NoAliases)? {
        if all.items.is_empty() {
            all = list;
        } else {
            all.items.extend(list.items);
        }
    }
    Ok(all)
}

/// Text that is already expanded to an expression: late arithmetic. Errors are bash's words
/// (``1 +: syntax error: operand expected (error token is "+")``).
pub fn parse_arithmetic(text: &BStr, limits: Limits) -> Result<Expression, SyntaxError> {
    expression::parse_text(text, limits)
}
