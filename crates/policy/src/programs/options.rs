//! The one option reader: clusters, attached values, long names and their abbreviations, by the style of the program.

use std::borrow::Cow;

use bstr::{BStr, ByteSlice};

use super::reader::{Given, Reader};
use super::roles::Role;
use super::schema::Style;
use super::table::{OptionRow, Table};
use crate::word::{Dynamic, Word};

impl<'t, 'w> Reader<'t, 'w> {
    /// Reads one word as an option, with its value. False: it is an operand.
    pub fn option(&mut self, word: &'w Word) -> bool {
        let text = word.prefix();
        if word.as_literal().is_some_and(|text| text == "--") && self.style != Style::Slash {
            self.ended = true;
            return true;
        }
        if self.has_bare_option(word) {
            return true;
        }
        let style = self.style;
        if style == Style::Slash {
            return self.slash(word);
        }
        if style == Style::Pairs && self.pair(word) {
            return true;
        }
        if text.len() < 2 || !text.starts_with(b"-") {
            return false;
        }
        if self.choose(word) {
            return true;
        }
        match style {
            Style::Dash => self.dash(word),
            _ if text.starts_with(b"--") => self.long(word),
            _ => self.short(word),
        }
    }

    fn find(&self, name: &[u8]) -> Option<&'t OptionRow> {
        self.option_tables().find_map(|table| table.option(name))
    }

    fn find_abbreviated(&self, name: &[u8]) -> Option<&'t OptionRow> {
        self.option_tables().find_map(|table| table.abbreviated(name))
    }

    /// A word that is an option although it has no dash: `!` of find, `+c` of vim.
    fn has_bare_option(&mut self, word: &'w Word) -> bool {
        let text = word.prefix();
        if text.is_empty()
            || (text.starts_with(b"-") && text.len() > 1)
            || !self.option_tables().any(|table| table.bare_options)
            || matches!(self.style, Style::Pairs | Style::Bundled)
        {
            return false;
        }
        if let Some(row) = word.as_literal().and_then(|text| self.find(text)) {
            self.value(row, text, None);
            return true;
        }
        self.attached(word)
    }

    /// An option whose value follows its name in the same word: `-Idirectory`, `+command`.
    fn attached(&mut self, word: &'w Word) -> bool {
        let found = self.option_tables().find_map(|table| table.joined(word.prefix()));
        let Some((row, length)) = found else {
            return false;
        };
        let name = word.prefix().get(..length).unwrap_or_default();
        let equals = self.style == Style::Dash
            && word.prefix().get(length).is_some_and(|byte| matches!(byte, b'=' | b':'));
        let value = tail(word, length + usize::from(equals));
        self.value(row, name, (!value.prefix().is_empty() || !is_known(word)).then_some(value));
        true
    }

    /// Records an option whose value, if it has one, may be attached.
    fn value(&mut self, row: &'t OptionRow, name: &[u8], attached: Option<Word>) {
        match attached {
            Some(value) => self.finish(row, name, Some(Cow::Owned(value))),
            None if row.value.is_some() && !row.optional => self.take(row, name),
            None => self.finish(row, name, None),
        }
    }

    fn long(&mut self, word: &'w Word) -> bool {
        let text = word.prefix();
        let (name, length) = match text.find_byte(b'=') {
            Some(at) => (text.get(..at).unwrap_or_default(), Some(at + 1)),
            None => (text.as_bytes(), None),
        };
        let attached = length.map(|length| tail(word, length));
        match self.find(name).or_else(|| self.find_abbreviated(name)) {
            Some(row) => self.value(row, name, attached),
            None => {
                if attached.is_none() {
                    self.unknown_option(word);
                }
                self.push(None, name, attached.map(Cow::Owned));
            }
        }
        true
    }

    fn short(&mut self, word: &'w Word) -> bool {
        let text = word.prefix();
        // A name of several letters wins over a cluster: `zip -TT`.
        if let Some(row) = word.as_literal().and_then(|text| self.find(text))
            && text.len() > 2
        {
            self.value(row, text, None);
            return true;
        }
        if self.attached(word) {
            return true;
        }
        if text.get(1..).is_some_and(|rest| rest.iter().all(u8::is_ascii_digit)) {
            self.push(None, text, None);
            return true;
        }
        self.cluster(word);
        true
    }

    fn cluster(&mut self, word: &'w Word) {
        let text = word.prefix();
        let known = !self.levels.is_empty();
        if !known && text.len() > 2 {
            self.push(None, text, None);
            if let Some(given) = self.given.last_mut() {
                given.whole = true;
            }
        }
        let mut unknown = false;
        let mut digits = false;
        for (place, byte) in text.bytes().enumerate().skip(1) {
            if digits && byte.is_ascii_digit() {
                continue;
            }
            let name = [b'-', byte];
            // `zip -rTTsh`: a name of two letters that runs something also counts within a cluster.
            if let Some(next) = text.get(place + 1)
                && let Some(row) = self.find(&[b'-', byte, *next])
                && row.value.as_ref().is_some_and(Role::runs_something)
            {
                let attached = place + 2 < text.len() || !is_known(word);
                self.value(row, &[b'-', byte, *next], attached.then(|| tail(word, place + 2)));
                break;
            }
            let Some(row) = self.find(&name) else {
                unknown = true;
                self.push(None, &name, None);
                continue;
            };
            let rest = place + 1;
            digits = row.digits;
            if row.value.is_none() || row.digits {
                self.finish(row, &name, None);
                continue;
            }
            let attached = rest < text.len() || !is_known(word);
            let mut value = attached.then(|| tail(word, rest));
            // `-i=x` is `-i x` for some and `-i =x` for others; the first is what people write.
            if rest + 1 < text.len() && text.get(rest) == Some(&b'=') && row.joined {
                value = Some(tail(word, rest + 1));
            }
            self.value(row, &name, value);
            break;
        }
        if unknown {
            self.unknown_option(word);
        }
    }

    fn dash(&mut self, word: &'w Word) -> bool {
        let text = word.prefix();
        let single = text.strip_prefix(b"-").filter(|rest| rest.starts_with(b"-"));
        for name in [Some(text.as_bytes()), single].into_iter().flatten() {
            if is_known(word)
                && let Some(row) = self.find(name)
            {
                self.value(row, text, None);
                return true;
            }
            let shift = text.len() - name.len();
            if let Some(at) = name.find_byteset(b"=:")
                && let Some(row) = self.find(name.get(..at).unwrap_or_default())
            {
                let name = name.get(..at).unwrap_or_default();
                self.value(row, name, Some(tail(word, shift + at + 1)));
                return true;
            }
        }
        if self.attached(word) {
            return true;
        }
        let any_case = self.table().is_some_and(|table| table.any_case);
        if let Some(row) = self.find_abbreviated(text).filter(|_| any_case) {
            self.value(row, text, None);
            return true;
        }
        self.unknown_option(word);
        match text.find_byte(b'=') {
            Some(at) => {
                let name = text.get(..at).unwrap_or_default();
                self.push(None, name, Some(Cow::Owned(tail(word, at + 1))));
            }
            None => self.push(None, text, None),
        }
        true
    }

    /// `if=file`: an option, and an operand as it stands.
    fn pair(&mut self, word: &'w Word) -> bool {
        let text = word.prefix();
        let Some(at) = text.find_byte(b'=') else {
            return false;
        };
        let name = text.get(..at).unwrap_or_default();
        let Some(row) = self.find(name) else {
            return false;
        };
        self.push(Some(row), name, Some(Cow::Owned(tail(word, at + 1))));
        self.operands.push(word);
        true
    }

    /// `/x`, `/x:value`, and `-x` as some take it too.
    fn slash(&mut self, word: &'w Word) -> bool {
        let text = word.prefix();
        let Some(rest) = text.strip_prefix(b"/").or(text.strip_prefix(b"-")) else {
            return false;
        };
        let length = rest.find_byte(b':').unwrap_or(rest.len());
        let mut name = vec![b'/'];
        name.extend(rest.get(..length).unwrap_or_default().to_ascii_lowercase());
        let attached = (length < rest.len()).then(|| tail(word, length + 2));
        match self.find(&name) {
            Some(row) => self.value(row, &name, attached),
            // A path such as `/etc/passwd`, not a switch.
            None if rest.contains(&b'/') || rest.is_empty() => return false,
            None => self.push(None, &name, attached.map(Cow::Owned)),
        }
        true
    }

    /// `tar xzf archive`: a cluster without a dash whose values follow in order.
    pub fn bundle(&mut self) {
        let Some(text) = self.words.get(self.at).and_then(Word::as_literal) else {
            return;
        };
        if text.is_empty() || text.starts_with(b"-") {
            return;
        }
        self.at += 1;
        for byte in text.bytes() {
            let name = [b'-', byte];
            match self.find(&name) {
                Some(row) if row.value.is_some() && !row.optional => self.take(row, &name),
                row => self.push(row, &name, None),
            }
        }
    }

    /// Of a wrapper: what follows may be the option's value or the command.
    fn unknown_option(&mut self, word: &'w Word) {
        if self.levels.last().is_some_and(|table: &&Table| table.wraps) {
            self.unknown.push(word);
        }
    }
}

impl Given<'_, '_> {
    /// The name that the table gives it first.
    pub fn first_name(&self) -> &BStr {
        match self.row.and_then(|row| row.names.first()) {
            Some(name) => BStr::new(name.as_bytes()),
            None => self.name.as_bstr(),
        }
    }
}

fn is_known(word: &Word) -> bool {
    matches!(word, Word::Literal(_))
}

/// A word without the first bytes of what is known of it.
pub fn tail(word: &Word, length: usize) -> Word {
    let cut = |text: &BStr| text.get(length..).unwrap_or_default().into();
    match word {
        Word::Literal(text) => Word::Literal(cut(text.as_bstr())),
        Word::Dynamic(dynamic) => {
            let same =
                dynamic.written.starts_with(dynamic.prefix.get(..length).unwrap_or_default());
            Word::Dynamic(Box::new(Dynamic {
                written: if same {
                    cut(dynamic.written.as_bstr())
                } else {
                    dynamic.written.clone()
                },
                prefix: cut(dynamic.prefix.as_bstr()),
                values: dynamic.values.iter().map(|value| cut(value.as_bstr())).collect(),
                splits: dynamic.splits,
                glob: dynamic.glob.as_ref().map(|glob| cut(glob.as_bstr())),
            }))
        }
    }
}
