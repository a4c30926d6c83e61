//! Secrets over several lines: private keys in PEM armour, sealed vaults, the data of Kubernetes secrets.

use super::expected::Expected;
use super::found::{Found, Hit, Memory};
use super::literals::from_base64;
use super::reading::{after_spaces, at, closing_quote, opening_quote};
use super::{digests, vocabulary};

/// A block that has begun. Its lines come one after another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    Armour(Armour),
    /// Lines of hexadecimal digits.
    Vault {
        seen: bool,
    },
    /// So many lines more.
    Counted {
        left: u32,
        seen: bool,
    },
    /// `name: value` deeper than this.
    Data {
        indent: usize,
        sure: bool,
    },
    /// Names and their digests, deeper than this.
    Digests {
        indent: usize,
    },
    /// What the line before announces.
    Expected(Expected),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Armour {
    /// Where it begins in the stream; covered as soon as a line of it was seen.
    pub begins: u64,
    pub body: bool,
    /// A short line was seen: it is the last.
    last: bool,
}

/// What a line is to a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// All of it, with the end of the line before.
    Whole,
    /// From here to there, and the block goes on.
    Piece(usize, usize),
    /// Up to here, and that was the end of it.
    Until(usize),
    /// A part of it in which nothing is secret.
    Nothing,
    /// Known for what it is, whatever the names in it promise.
    Harmless,
    /// The block was over before.
    Over,
}

/// What begins at a hit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Begun {
    Nothing,
    /// The block goes on in the next line.
    Block(Block),
}

/// The words that begin a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    Armour,
    Vault,
    PrivateLines,
    /// What the next line has is said in this one.
    Comment,
    Kind,
    ApiVersion,
    Data,
    Digests,
}

pub const WORDS: &[(&str, Start)] = &[
    ("-----BEGIN ", Start::Armour),
    ("---- BEGIN ", Start::Armour),
    ("$ANSIBLE_VAULT;", Start::Vault),
    ("Private-Lines: ", Start::PrivateLines),
    ("untrusted comment: ", Start::Comment),
    ("kind:", Start::Kind),
    ("apiVersion:", Start::ApiVersion),
    ("data:", Start::Data),
    ("stringData:", Start::Data),
];

pub fn look(
    hit: &Hit<'_>,
    start: Start,
    length: usize,
    memory: &mut Memory,
    found: &mut Found<'_>,
) -> Begun {
    let rest = hit.line.get(hit.at + length..).unwrap_or_default();
    let alone = hit.begins
        && hit
            .line
            .get(..hit.at)
            .unwrap_or_default()
            .iter()
            .all(|byte| matches!(byte, b' ' | b'-'));
    match start {
        Start::Armour => return armour(hit, length, found),
        Start::Vault => return Begun::Block(Block::Vault { seen: false }),
        Start::Digests => return digests::look(hit, length),
        Start::PrivateLines => {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).take(4);
            let left = digits.fold(0, |left, digit| left * 10 + u32::from(digit - b'0'));
            return Begun::Block(Block::Counted { left, seen: false });
        }
        // `signature from … secret key` is a comment as well.
        Start::Comment
            if rest.trim_ascii_end().ends_with(b"secret key")
                && !rest.starts_with(b"signature") =>
        {
            return Begun::Block(Block::Counted { left: 1, seen: false });
        }
        Start::Kind if alone => {
            memory.secret_document = rest.trim_ascii() == b"Secret";
            memory.kind_at = Some(hit.absolute(hit.at));
        }
        Start::ApiVersion if alone => {
            let near = memory.kind_at.is_some_and(|kind| hit.absolute(hit.at) - kind < 40);
            memory.secret_document &= near;
            memory.api_version = (rest.trim_ascii() == b"v1").then(|| hit.absolute(hit.line.len()));
        }
        Start::Data if alone && rest.trim_ascii().is_empty() => {
            let line_start = hit.absolute(0);
            let follows = memory.api_version.is_some_and(|end| line_start.saturating_sub(end) <= 2);
            if memory.secret_document || follows {
                let sure = memory.secret_document;
                return Begun::Block(Block::Data { indent: hit.at, sure });
            }
        }
        _ => {}
    }
    Begun::Nothing
}

/// Armour on one line, with `\n` written out, is found at once; over several lines it begins a block.
fn armour(hit: &Hit<'_>, length: usize, found: &mut Found<'_>) -> Begun {
    let label_at = hit.at + length;
    let label = hit.line.get(label_at..).unwrap_or_default();
    let Some(label_length) = label.iter().take(64).position(|byte| *byte == b'-') else {
        return Begun::Nothing;
    };
    let label = label.get(..label_length).unwrap_or_default();
    let has =
        |text: &[u8], needle: &[u8]| text.windows(needle.len()).any(|window| window == needle);
    if !has(label, b"PRIVATE KEY") && !has(label, b"Static key") {
        return Begun::Nothing;
    }
    let dashes =
        hit.line.iter().skip(label_at + label_length).take_while(|byte| **byte == b'-').count();
    let body_at = label_at + label_length + dashes;
    let rest = hit.line.get(body_at..).unwrap_or_default();
    let end = rest.windows(7).position(|window| window == b"---END " || window == b"-- END ");
    if let Some(end) = end {
        let body = rest.get(..end).unwrap_or_default();
        let tail = rest.get(end + 7..).unwrap_or_default();
        let close = tail.iter().take(80).position(|byte| *byte == b'-').unwrap_or(0);
        let dashes = tail.iter().skip(close).take_while(|byte| **byte == b'-').count();
        if is_material(body) {
            found.add_token(hit.at, body_at + end + 7 + close + dashes, "private-key");
        }
        return Begun::Nothing;
    }
    let run = rest
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || b"+/=\\ ".contains(byte))
        .count();
    if is_material(rest.get(..run).unwrap_or_default()) {
        // Cut off on its own line; or the first line of the body is on the line of the label.
        found.add_token(hit.at, body_at + run, "private-key");
        return Begun::Nothing;
    }
    if core(rest).is_empty() {
        let begins = hit.absolute(hit.at);
        return Begun::Block(Block::Armour(Armour { begins, ..Armour::default() }));
    }
    Begun::Nothing
}

/// More than an ellipsis between the two lines.
fn is_material(body: &[u8]) -> bool {
    let runs = body.split(|byte| !(byte.is_ascii_alphanumeric() || b"+/=".contains(byte)));
    runs.map(<[u8]>::len).max().unwrap_or(0) >= 16 && !vocabulary::is_placeholder(body)
}

/// A line without indentation, quotes and what joins strings in code.
fn core(line: &[u8]) -> &[u8] {
    let mut text = line.trim_ascii();
    loop {
        let before = text.len();
        for mark in [&b"\\n"[..], b"\\r", b"\"", b"'", b"`", b",", b"\\", b"+", b";", b" ."] {
            text = text.strip_suffix(mark).unwrap_or(text).trim_ascii_end();
        }
        if text.len() == before {
            break;
        }
    }
    let lead = text.iter().take_while(|byte| b"\"'`>|#* \t".contains(byte)).count();
    let lead = if lead == 0 {
        usize::from(matches!(text.first(), Some(b'+' | b'-')) && text.get(1) != Some(&b'-'))
    } else {
        lead
    };
    text.get(lead..).unwrap_or_default()
}

fn is_base(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

impl Block {
    /// What is only perhaps there leaves the next lines to whatever else the line has.
    pub fn gives_way(&self) -> bool {
        matches!(self, Block::Expected(Expected::WalletKey { .. }) | Block::Digests { .. })
    }

    /// Its lines may hold other secrets, and begin another block.
    pub fn shares_lines(&self) -> bool {
        matches!(self, Block::Data { .. } | Block::Expected(_))
    }

    pub fn kind(&self) -> &'static str {
        match self {
            Block::Armour(_) | Block::Counted { .. } => "private-key",
            Block::Vault { .. } => "ansible-vault",
            Block::Data { .. } => "kubernetes-secret",
            Block::Digests { .. } => "digest",
            Block::Expected(expected) => expected.kind(),
        }
    }

    /// What the next line is to this block.
    pub fn line(&mut self, line: &[u8]) -> Part {
        match self {
            Block::Armour(armour) => armour.line(line),
            Block::Vault { seen } => {
                let text = core(line);
                if text.len() < 2 || !text.iter().all(u8::is_ascii_hexdigit) {
                    return Part::Over;
                }
                Self::first(seen, line)
            }
            Block::Counted { left: 0, .. } => Part::Over,
            Block::Counted { .. } if line.trim_ascii() == super::REDACTED.as_bytes() => Part::Over,
            Block::Counted { left, seen } => {
                *left -= 1;
                Self::first(seen, line)
            }
            Block::Data { indent, sure } => data(line, *indent, *sure),
            Block::Digests { indent } => digests::line(line, *indent),
            Block::Expected(expected) => expected.line(line),
        }
    }

    /// The first line begins the secret, the others go on.
    fn first(seen: &mut bool, line: &[u8]) -> Part {
        if line.trim_ascii().is_empty() {
            return Part::Nothing;
        }
        if std::mem::replace(seen, true) {
            return Part::Whole;
        }
        Part::Piece(after_spaces(line, 0), line.trim_ascii_end().len())
    }
}

impl Armour {
    fn line(&mut self, line: &[u8]) -> Part {
        let end = line.windows(7).position(|window| window == b"---END " || window == b"-- END ");
        if let Some(end) = end.filter(|_| self.body) {
            let tail = line.get(end + 7..).unwrap_or_default();
            let close = tail.iter().take(80).position(|byte| *byte == b'-').unwrap_or(tail.len());
            let dashes = tail.iter().skip(close).take_while(|byte| **byte == b'-').count();
            return Part::Until(end + 7 + close + dashes);
        }
        let text = core(line);
        let header = !self.body
            && [&b"Proc-Type:"[..], b"DEK-Info:", b"Version:", b"Comment:", b"Subject:", b"X-"]
                .iter()
                .any(|one| text.starts_with(one));
        if header || text.is_empty() && !self.last {
            return if self.body { Part::Over } else { Part::Nothing };
        }
        if self.last || line.len() > 4096 {
            return Part::Over;
        }
        if text.iter().all(|byte| is_base(*byte)) {
            let word = text.iter().all(u8::is_ascii_lowercase) || vocabulary::is_placeholder(text);
            if text.len() < 16 {
                self.last = true;
                return if self.body && !word { Part::Whole } else { Part::Over };
            }
            if word {
                return Part::Over;
            }
            self.body = true;
            return Part::Whole;
        }
        // Each line with a date or a name in front, as logs have it.
        let start =
            line.trim_ascii_end().iter().rposition(|byte| !is_base(*byte)).map_or(0, |at| at + 1);
        let word = line.get(start..).unwrap_or_default().trim_ascii_end();
        if word.len() >= 40 {
            self.body = true;
            return Part::Piece(start, start + word.len());
        }
        Part::Over
    }
}

/// `name: value` of a secret.
fn data(line: &[u8], indent: usize, sure: bool) -> Part {
    let start = after_spaces(line, 0);
    if line.trim_ascii().is_empty() {
        return Part::Nothing;
    }
    if start <= indent {
        return Part::Over;
    }
    let Some(colon) = line.iter().position(|byte| *byte == b':') else { return Part::Nothing };
    let value = after_spaces(line, colon + 1);
    let (from, to) = match opening_quote(line, value) {
        Some(quote) => {
            let from = value + quote.length();
            (from, closing_quote(line, from, quote).unwrap_or(line.len()))
        }
        None => (value, line.trim_ascii_end().len()),
    };
    let text = line.get(from..to.max(from)).unwrap_or_default();
    let odd = text.iter().any(u8::is_ascii_digit)
        || text.iter().any(u8::is_ascii_uppercase)
        || text.ends_with(b"=");
    let encoded = text.len() % 4 == 0 && text.len() >= 8 && odd && from_base64(text).is_some();
    let marked = matches!(at(text, 0), b'|' | b'>' | b'$' | b'{' | b'<' | b'&' | b'*');
    let shown = sure
        && text.len() >= 4
        && !marked
        && !vocabulary::is_placeholder(text)
        && !text.contains(&b' ');
    if shown || encoded { Part::Piece(from, to) } else { Part::Nothing }
}
