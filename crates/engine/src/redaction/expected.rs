//! Secrets that the line before announces: the output of a command that prints one, what PHP's `var_dump` puts on a line of its
//! own, rows of a table under the head of their column, codes and words for a recovery under their heading.

use super::below::{self, Below};
use super::blocks::Part;
use super::names::{Name, Promise};
use super::reading::{after_spaces, at, closing_quote, opening_quote};
use super::values::{Form, Makeup, is_secret};
use super::{chosen, commands, references, vocabulary, wallets};

/// What the next lines may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// One word on a line: what the command before has printed.
    Output,
    /// One word that a machine has made; there may be an empty line before it.
    Announced { name: Name, left: u8 },
    /// `string(11) "…"`
    Dumped(Name),
    /// Cells of a column.
    Column(Name, Column),
    /// `<string>…</string>`
    Listed(Name),
    /// The value of the name above.
    Below(Below),
    /// `user:password`, line by line.
    Users,
    /// `user name password` on one of so many lines.
    Transfer { left: u8 },
    /// Words for the recovery of a wallet.
    Words { left: u8 },
    /// A key of a wallet on one of so many lines.
    WalletKey { left: u8 },
    /// Codes for a second factor, one or more on a line.
    Codes { seen: bool, empty: u8 },
    /// It was there.
    Done,
}

/// A column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    pub separator: u8,
    pub number: usize,
    /// So many the head has.
    pub count: usize,
}

impl Expected {
    pub fn kind(self) -> &'static str {
        match self {
            Expected::Output | Expected::Done => "command-output",
            Expected::Announced { name, .. }
            | Expected::Dumped(name)
            | Expected::Listed(name)
            | Expected::Column(name, _) => name.kind,
            Expected::Below(below) => below.kind,
            Expected::Users | Expected::Transfer { .. } => "password-argument",
            Expected::Words { .. } => wallets::SEED_PHRASE,
            Expected::WalletKey { .. } => wallets::WALLET_KEY,
            Expected::Codes { .. } => wallets::RECOVERY_CODES,
        }
    }

    /// What the next line is.
    pub fn line(&mut self, line: &[u8]) -> Part {
        match self {
            Expected::Output => self.once(output(line)),
            Expected::Announced { left: 0, .. }
            | Expected::Words { left: 0 }
            | Expected::WalletKey { left: 0 }
            | Expected::Transfer { left: 0 }
            | Expected::Done => Part::Over,
            Expected::Announced { left, .. } | Expected::Words { left }
                if line.trim_ascii().is_empty() =>
            {
                *left -= 1;
                Part::Nothing
            }
            Expected::Announced { name, .. } => {
                let name = *name;
                self.once(announced(line, name))
            }
            Expected::Words { .. } => self.once(wallets::words(line, after_spaces(line, 0))),
            Expected::Dumped(name) => {
                let name = *name;
                self.once(dumped(line, name))
            }
            Expected::Column(name, column) => row(line, *name, *column),
            Expected::Listed(name) => {
                let name = *name;
                self.once(listed(line, after_spaces(line, 0), name))
            }
            Expected::Below(below) => below.line(line),
            Expected::Users => below::user(line),
            Expected::Transfer { left } => {
                *left -= 1;
                let login = below::transfer_login(line);
                login.map_or(Part::Nothing, |(from, to)| Part::Piece(from, to))
            }
            Expected::WalletKey { left } => {
                *left -= 1;
                wallets::key(line).map_or(Part::Nothing, |(from, to)| Part::Piece(from, to))
            }
            Expected::Codes { seen, empty } => codes(line, seen, empty),
        }
    }

    fn once(&mut self, found: Option<(usize, usize)>) -> Part {
        *self = Expected::Done;
        found.map_or(Part::Over, |(from, to)| Part::Piece(from, to))
    }
}

/// The only word of a line.
pub fn only_word(line: &[u8]) -> Option<(usize, usize)> {
    let start = after_spaces(line, 0);
    let text = line.get(start..)?.trim_ascii_end();
    let one = !text.is_empty() && text.iter().all(|byte| byte.is_ascii_graphic() || *byte > 127);
    one.then_some((start, start + text.len()))
}

fn output(line: &[u8]) -> Option<(usize, usize)> {
    let (start, end) = only_word(line)?;
    let text = line.get(start..end)?;
    let marked = matches!(at(text, 0), b'$' | b'{' | b'[' | b'<' | b'-' | b'/' | b'(')
        || text.ends_with(b":")
        || text.ends_with(b"$");
    let plain = !marked
        && text.len() >= 6
        && !vocabulary::is_placeholder(text)
        && !text.windows(3).any(|window| window == b"://");
    (plain && !commands::is_prompt(line)).then_some((start, end))
}

fn announced(line: &[u8], name: Name) -> Option<(usize, usize)> {
    let (start, end) = only_word(line)?;
    let text = line.get(start..end)?;
    let makeup = Makeup::of(text);
    let kinds = [makeup.lower, makeup.upper, makeup.digits, makeup.other];
    let kinds = kinds.iter().filter(|count| **count > 0).count();
    let strong = makeup.is_random() || makeup.length >= 8 && makeup.digits > 0 && kinds >= 3;
    let labelled = text.ends_with(b":") || text.contains(&b'(');
    (strong && !labelled && is_secret(text, name, Form::Plain)).then_some((start, end))
}

fn dumped(line: &[u8], name: Name) -> Option<(usize, usize)> {
    let start = after_spaces(line, 0);
    let rest = line.get(start..)?.strip_prefix(b"string(")?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let rest = rest.get(digits..)?.strip_prefix(b") ")?;
    let quoted = line.len() - rest.len();
    let quote = opening_quote(line, quoted)?;
    let from = quoted + quote.length();
    let to = closing_quote(line, from, quote)?;
    let text = line.get(from..to)?;
    // Here it is a value and nothing else, so words will do.
    let joined = chosen::is_joined(text) && is_secret(text, name, Form::Argument);
    (joined || is_secret(text, name, Form::Quoted)).then_some((from, to))
}

/// A string of a list of properties that begins here.
pub fn listed(line: &[u8], start: usize, name: Name) -> Option<(usize, usize)> {
    let rest = line.get(start..)?.strip_prefix(b"<string>")?;
    let from = line.len() - rest.len();
    let to = from + rest.iter().position(|byte| *byte == b'<')?;
    let text = line.get(from..to)?;
    let joined = chosen::is_joined(text) && is_secret(text, name, Form::Argument);
    (joined || is_secret(text, name, Form::Quoted)).then_some((from, to))
}

/// Places of the cells of a line, without the spaces around them.
pub fn cells(line: &[u8], separator: u8) -> impl Iterator<Item = (usize, usize)> + '_ {
    let framed = separator == b'|' && line.trim_ascii_start().first() == Some(&b'|');
    let mut place = 0;
    let cells = line.split(move |byte| *byte == separator).map(move |cell| {
        let (start, end) = (place, place + cell.len());
        place = end + 1;
        (start, end)
    });
    cells.skip(usize::from(framed)).map(|(start, end)| {
        let cell = line.get(start..end).unwrap_or_default();
        let lead = cell.len() - cell.trim_ascii_start().len();
        (start + lead, start + lead + cell.trim_ascii().len())
    })
}

fn row(line: &[u8], name: Name, column: Column) -> Part {
    let text = line.trim_ascii();
    let rule = !text.is_empty() && text.iter().all(|byte| b"-+|:= ".contains(byte));
    if rule {
        return Part::Nothing;
    }
    if line.len() > 4096 || cells(line, column.separator).count() != column.count {
        return Part::Over;
    }
    let Some((from, to)) = cells(line, column.separator).nth(column.number) else {
        return Part::Over;
    };
    let value = line.get(from..to).unwrap_or_default();
    let described = value.contains(&b'(');
    let joined = chosen::is_joined(value) && is_secret(value, name, Form::Argument);
    let numbers = Makeup::of(value).letters() == 0;
    let secret = name.promise != Promise::Perhaps
        && !described
        && !numbers
        && (joined || is_secret(value, name, Form::Quoted) || references::is_crypted(value));
    if secret { Part::Piece(from, to) } else { Part::Nothing }
}

fn codes(line: &[u8], seen: &mut bool, empty: &mut u8) -> Part {
    let found = wallets::codes(line, wallets::after_bullet(line));
    if line.trim_ascii().is_empty() && *empty > 0 {
        *empty -= 1;
        return Part::Nothing;
    }
    match found {
        None => Part::Over,
        // All of the list is one secret.
        Some(_) if std::mem::replace(seen, true) => Part::Whole,
        Some((from, to)) => {
            *empty = 0;
            Part::Piece(from, to)
        }
    }
}
