//! Colours of names, as `LS_COLORS` or the usual defaults have them.

use bstr::{BString, ByteSlice};

use super::entry::Entry;
use super::options::Options;
use super::{Context, ToolError};
use crate::filesystem::{FileKind, Metadata};
use crate::fnmatch::Pattern;
use crate::mode::{SET_GROUP, SET_USER, STICKY};

/// Whether and how names are painted.
#[derive(Debug)]
pub(super) struct Paint {
    on: bool,
    codes: Vec<([u8; 2], BString)>,
    /// `*.ext`, the last given first.
    endings: Vec<(BString, BString)>,
    /// A colour was used: the first is preceded by a reset.
    used: bool,
    /// What symbolic links lead to has a colour too.
    looks_behind_links: bool,
}

const DEFAULTS: [(&[u8; 2], &str); 15] = [
    (b"lc", "\x1b["),
    (b"rc", "m"),
    (b"rs", "0"),
    (b"di", "01;34"),
    (b"ln", "01;36"),
    (b"pi", "33"),
    (b"so", "01;35"),
    (b"bd", "01;33"),
    (b"cd", "01;33"),
    (b"ex", "01;32"),
    (b"su", "37;41"),
    (b"sg", "30;43"),
    (b"st", "37;44"),
    (b"ow", "34;42"),
    (b"tw", "30;42"),
];

impl Paint {
    pub(super) fn new(context: &Context<'_>, options: &Options) -> Result<Paint, ToolError> {
        let codes = DEFAULTS.iter().map(|(name, code)| (**name, BString::from(*code))).collect();
        let mut paint = Paint {
            on: options.color,
            codes,
            endings: Vec::new(),
            used: false,
            looks_behind_links: options.looks_behind_links(),
        };
        match context.variable("LS_COLORS").filter(|text| !text.is_empty()) {
            Some(text) => paint.read(&text),
            None => paint.on &= knows_colors(context),
        }
        paint.looks_behind_links |= paint.code(*b"or").is_some() || paint.code(*b"mi").is_some();
        Ok(paint)
    }

    pub(super) fn is_on(&self) -> bool {
        self.on
    }

    /// `di=01;34:*.tar=01;31`
    fn read(&mut self, text: &[u8]) {
        for part in text.split(|byte| *byte == b':') {
            let Some(equals) = part.find_byte(b'=') else { continue };
            let (name, value) = part.split_at(equals);
            let value = unescape(value.get(1..).unwrap_or_default());
            if let Some(ending) = name.strip_prefix(b"*") {
                self.endings.insert(0, (ending.into(), value));
            } else if let &[first, second] = name {
                self.codes.insert(0, ([first, second], value));
            }
        }
    }

    fn code(&self, name: [u8; 2]) -> Option<&BString> {
        let (_, code) = self.codes.iter().find(|(known, _)| *known == name)?;
        let none = code.is_empty() || code == "0" || code == "00";
        if none && !matches!(&name, b"lc" | b"rc" | b"rs") { None } else { Some(code) }
    }

    /// Gives whether the name has a colour.
    pub(super) fn name(&self, out: &mut Vec<u8>, entry: &Entry, text: &[u8]) -> bool {
        let dangling = entry.kind == FileKind::Symlink && entry.target_metadata.is_none();
        let color = if self.on {
            self.of(entry.kind, entry.metadata.as_ref(), &entry.name, dangling)
        } else {
            None
        };
        match color {
            Some(color) => {
                self.painted(out, &color, text);
                true
            }
            None => {
                out.extend_from_slice(text);
                false
            }
        }
    }

    /// Before the first colour everything is reset.
    pub(super) fn begin(&mut self, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.used, true) {
            out.extend_from_slice(&self.reset());
        }
    }

    fn part(&self, name: [u8; 2]) -> &[u8] {
        self.code(name).map_or(b"", |code| code.as_bytes())
    }

    fn reset(&self) -> Vec<u8> {
        [self.part(*b"lc"), self.part(*b"rs"), self.part(*b"rc")].concat()
    }

    /// What a symbolic link leads to; what is missing has a colour of its own.
    pub(super) fn target(&mut self, out: &mut Vec<u8>, entry: &Entry, text: &[u8]) {
        let color = match &entry.target_metadata {
            _ if !self.on || !self.looks_behind_links => None,
            Some(metadata) => {
                let name = entry.target.as_ref().map_or(b"".as_slice(), |name| name.as_bytes());
                self.of(metadata.kind, Some(metadata), name, false)
            }
            None => self.code(*b"mi").or_else(|| self.code(*b"or")).cloned(),
        };
        match color {
            None => out.extend_from_slice(text),
            Some(color) => {
                self.begin(out);
                self.painted(out, &color, text);
            }
        }
    }

    fn painted(&self, out: &mut Vec<u8>, color: &BString, text: &[u8]) {
        for piece in [self.part(*b"lc"), color, self.part(*b"rc"), text, &self.reset()] {
            out.extend_from_slice(piece);
        }
    }

    fn of(
        &self,
        kind: FileKind,
        metadata: Option<&Metadata>,
        name: &[u8],
        dangling: bool,
    ) -> Option<BString> {
        let permissions = metadata.map_or(0, |metadata| metadata.permissions);
        let has = |bits: u32| permissions & bits == bits;
        let chosen = match kind {
            FileKind::Directory => {
                let special = if has(STICKY | 0o002) {
                    self.code(*b"tw")
                } else if has(0o002) {
                    self.code(*b"ow")
                } else if has(STICKY) {
                    self.code(*b"st")
                } else {
                    None
                };
                special.or_else(|| self.code(*b"di"))
            }
            FileKind::Symlink if dangling => self.code(*b"or").or_else(|| self.code(*b"ln")),
            FileKind::Symlink => self.code(*b"ln"),
            FileKind::Fifo => self.code(*b"pi"),
            FileKind::Socket => self.code(*b"so"),
            FileKind::BlockDevice => self.code(*b"bd"),
            FileKind::CharacterDevice => self.code(*b"cd"),
            FileKind::File => self.of_file(metadata, name),
        };
        chosen.cloned()
    }

    fn of_file(&self, metadata: Option<&Metadata>, name: &[u8]) -> Option<&BString> {
        let permissions = metadata.map_or(0, |metadata| metadata.permissions);
        let special = [
            (permissions & SET_USER != 0, b"su"),
            (permissions & SET_GROUP != 0, b"sg"),
            (permissions & 0o111 != 0, b"ex"),
            (metadata.is_some_and(|metadata| metadata.links > 1), b"mh"),
        ];
        let special =
            special.into_iter().find_map(|(is, code)| if is { self.code(*code) } else { None });
        let by_ending = || {
            let ending = self.endings.iter().find(|(ending, _)| name.ends_with(ending));
            ending.map(|(_, code)| code)
        };
        special.or_else(by_ending).or_else(|| self.code(*b"fi"))
    }
}

/// Terminals with colours, as patterns of `TERM`.
const TERMINALS: [&str; 29] = [
    "Eterm",
    "ansi",
    "*color*",
    "con[0-9]*x[0-9]*",
    "cons25",
    "console",
    "cygwin",
    "*direct*",
    "dtterm",
    "gnome",
    "hurd",
    "jfbterm",
    "konsole",
    "kterm",
    "linux",
    "linux-c",
    "mlterm",
    "putty",
    "rxvt*",
    "screen*",
    "st",
    "terminator",
    "tmux*",
    "vt100",
    "vt220",
    "xterm*",
    "alacritty*",
    "foot*",
    "kitty*",
];

/// Without colours of its own, a terminal must be known to have any.
fn knows_colors(context: &Context<'_>) -> bool {
    let term = context.variable("TERM").unwrap_or_default();
    context.variable("COLORTERM").is_some_and(|value| !value.is_empty())
        || TERMINALS.iter().any(|name| Pattern::new(name.as_bytes(), false).matches(&term))
}

/// `\e`, `\033`, `^[`.
fn unescape(text: &[u8]) -> BString {
    let mut out = BString::default();
    let mut rest = text.iter();
    while let Some(byte) = rest.next() {
        match byte {
            b'\\' => match rest.next() {
                Some(b'e') => out.push(0x1b),
                Some(b'a') => out.push(0x07),
                Some(digit @ b'0'..=b'7') => {
                    let mut value = u32::from(digit - b'0');
                    for digit in rest.clone().take(2).take_while(|byte| matches!(byte, b'0'..=b'7'))
                    {
                        value = value * 8 + u32::from(digit - b'0');
                        rest.next();
                    }
                    out.push(value as u8);
                }
                Some(other) => out.push(*other),
                None => {}
            },
            b'^' => match rest.next() {
                Some(b'?') => out.push(0x7f),
                Some(letter) => out.push(letter & 0x1f),
                None => {}
            },
            other => out.push(*other),
        }
    }
    out
}
