//! Word splitting: what expansions gave is cut at the characters of `IFS`.

use std::borrow::Cow;
use std::sync::LazyLock;

use bstr::{BStr, ByteSlice};

use super::field::{Expansion, Field, Mark, Origin};
use crate::control::Control;
use crate::long::Pace;
use crate::release::Heavy;
use crate::shell::Shell;
use crate::status::Stop;

/// The characters of `IFS` by what they do.
#[derive(Debug, Clone)]
pub(crate) struct Separators {
    kinds: [Kind; 256],
    /// Characters of more than one byte.
    wide: Vec<char>,
    /// What joins `"$*"`.
    joiner: Vec<u8>,
    none: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    /// Space, tab, newline: any number of them separates.
    White,
    /// Each one separates, so that two in a row have an empty field between them.
    Hard,
}

impl Separators {
    /// `None`: `IFS` is unset, which means space, tab, newline.
    pub fn new(ifs: Option<&BStr>) -> Self {
        let characters = ifs.unwrap_or_else(|| BStr::new(b" \t\n"));
        let mut separators = Separators {
            kinds: [Kind::Text; 256],
            wide: Vec::new(),
            joiner: Vec::new(),
            none: characters.is_empty(),
        };
        for (start, end, character) in characters.char_indices() {
            let bytes = characters.get(start..end).unwrap_or_default();
            if start == 0 {
                separators.joiner = bytes.to_vec();
            }
            match bytes {
                [byte] => separators.kinds[usize::from(*byte)] = kind_of(*byte),
                _ => separators.wide.push(character),
            }
        }
        separators
    }

    /// Nothing is split: `IFS` is empty.
    pub fn none(&self) -> bool {
        self.none
    }

    /// The first character of `IFS`.
    pub fn joiner(&self) -> &[u8] {
        &self.joiner
    }

    pub fn is_white(&self, byte: u8) -> bool {
        self.kinds[usize::from(byte)] == Kind::White
    }

    /// What the text begins with, and how many bytes that takes.
    pub fn next(&self, text: &[u8]) -> (Kind, usize) {
        let Some(&first) = text.first() else { return (Kind::Text, 0) };
        let kind = self.kinds[usize::from(first)];
        if kind != Kind::Text || first < 0x80 || self.wide.is_empty() {
            return (kind, 1);
        }
        match bstr::decode_utf8(text) {
            (Some(character), length) if self.wide.contains(&character) => (Kind::Hard, length),
            (_, length) => (Kind::Text, length.max(1)),
        }
    }

    /// Would this text stay one piece?
    pub fn leaves_whole(&self, text: &[u8]) -> bool {
        self.none
            || (self.wide.is_empty()
                && text.iter().all(|&byte| self.kinds[usize::from(byte)] == Kind::Text))
    }
}

fn kind_of(byte: u8) -> Kind {
    if matches!(byte, b' ' | b'\t' | b'\n') { Kind::White } else { Kind::Hard }
}

impl Shell {
    pub(crate) fn separators(&self) -> Cow<'static, Separators> {
        static USUAL: LazyLock<Separators> = LazyLock::new(|| Separators::new(None));
        match self.scalar_of(BStr::new(b"IFS")) {
            None => Cow::Borrowed(&*USUAL),
            Some(ifs) if *ifs == *b" \t\n" => Cow::Borrowed(&*USUAL),
            ifs => Cow::Owned(Separators::new(ifs.as_deref())),
        }
    }
}

/// The fields of an expansion.
pub(super) fn split(
    expansion: Expansion,
    separators: &Separators,
    control: &Control,
) -> Result<Heavy<Vec<Field>>, Stop> {
    let mut splitter = Splitter { fields: Heavy::default(), field: None, after_white: false };
    let mut pace = Pace::default();
    for (mark, text) in expansion.stretches() {
        pace.walked(text.len())?;
        match mark {
            Mark::Break => splitter.end_field(),
            Mark::Text(Origin::Quoted) => splitter.append(text, true),
            Mark::Text(Origin::Literal) => splitter.append(text, false),
            Mark::Text(Origin::Expanded) => splitter.cut(text, separators, control)?,
        }
    }
    splitter.end_field();
    Ok(splitter.fields)
}

/// Fields cut between two looks at the control.
pub(super) const STRETCH: usize = 1 << 10;

struct Splitter {
    fields: Heavy<Vec<Field>>,
    field: Option<Field>,
    /// The last field was ended by white space: a hard separator that follows belongs to the same cut.
    after_white: bool,
}

impl Splitter {
    fn append(&mut self, text: &[u8], quoted: bool) {
        self.after_white = false;
        self.field.get_or_insert_default().push(text, quoted);
    }

    fn end_field(&mut self) {
        self.after_white = false;
        self.fields.extend(self.field.take());
    }

    fn cut(&mut self, text: &[u8], separators: &Separators, control: &Control) -> Result<(), Stop> {
        if separators.none() {
            self.append(text, false);
            return Ok(());
        }
        let (mut start, mut at, mut pieces) = (0, 0, 0_usize);
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            let (kind, length) = separators.next(rest);
            if kind != Kind::Text {
                if at > start {
                    self.append(text.get(start..at).unwrap_or_default(), false);
                }
                self.separate(kind);
                start = at + length;
                pieces += 1;
                if pieces.is_multiple_of(STRETCH) {
                    control.check()?;
                }
            }
            at += length;
        }
        if at > start {
            self.append(text.get(start..).unwrap_or_default(), false);
        }
        Ok(())
    }

    fn separate(&mut self, kind: Kind) {
        if kind == Kind::White {
            if self.field.is_some() {
                self.end_field();
                self.after_white = true;
            }
        } else if self.after_white {
            self.after_white = false;
        } else {
            self.field.get_or_insert_default();
            self.end_field();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Control, Expansion, Origin, Separators, split};
    use crate::control::Limits;

    fn fields(ifs: &str, parts: &[(Origin, &str)]) -> Vec<String> {
        let mut expansion = Expansion::new(1_000);
        for (origin, text) in parts {
            expansion.push(*origin, text.as_bytes()).unwrap();
            if *origin == Origin::Quoted {
                expansion.exist();
            }
        }
        let control = Control::new(Limits::default());
        split(expansion, &Separators::new(Some(ifs.into())), &control)
            .unwrap()
            .into_inner()
            .into_iter()
            .map(|field| String::from_utf8(field.text).unwrap())
            .collect()
    }

    #[test]
    fn as_bash_splits() {
        use Origin::{Expanded, Literal, Quoted};
        assert_eq!(fields(" ", &[(Expanded, "  a  b ")]), ["a", "b"]);
        assert_eq!(fields(":", &[(Expanded, "a::b:")]), ["a", "", "b"]);
        assert_eq!(fields(":", &[(Expanded, ":")]), [""]);
        assert_eq!(fields(" :", &[(Expanded, "a : b")]), ["a", "b"]);
        assert_eq!(fields(" :", &[(Expanded, "a "), (Expanded, ":b")]), ["a", "b"]);
        assert_eq!(fields(":", &[(Expanded, ":"), (Quoted, "b")]), ["", "b"]);
        assert_eq!(fields(":", &[(Expanded, ":"), (Quoted, "")]), ["", ""]);
        assert_eq!(fields(" ", &[(Quoted, ""), (Expanded, " "), (Quoted, "")]), ["", ""]);
        assert_eq!(fields(" ", &[(Expanded, "a b"), (Literal, "c d")]), ["a", "bc d"]);
        assert_eq!(fields(" ", &[(Expanded, "  ")]), Vec::<String>::new());
        assert_eq!(fields("", &[(Expanded, "a b")]), ["a b"]);
        assert_eq!(fields("é", &[(Expanded, "aébéc")]), ["a", "b", "c"]);
    }
}
