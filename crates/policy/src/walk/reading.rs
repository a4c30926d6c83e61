//! Builtins that set variables to what they read: `read`, `mapfile`.

use std::rc::Rc;

use bstr::{BStr, BString, ByteSlice};

use crate::event::Input;
use crate::word::Word;

use super::Walker;
use super::draft::Splitting;
use super::values::Value;
use super::variables::is_name;

impl Walker<'_> {
    /// `read a b <<< "x y"`: known only for the simplest.
    pub(super) fn read(&mut self, operands: &[Word], input: &Input) {
        let mut names: Vec<BString> = Vec::new();
        let mut simple = true;
        let mut rest = operands.iter();
        while let Some(word) = rest.next() {
            let Some(text) = word.as_literal() else { return self.state.forget_everything() };
            match text.as_bytes() {
                b"-r" | b"-s" | b"--" => {}
                b"-d" | b"-i" | b"-n" | b"-N" | b"-p" | b"-t" | b"-u" => {
                    simple = false;
                    rest.next();
                }
                b"-a" | b"-ra" | b"-ar" => {
                    let Some(name) = rest.next().and_then(Word::as_literal) else { continue };
                    if simple && rest.len() == 0 && self.read_array(name, input) {
                        return;
                    }
                    simple = false;
                    names.push(name.into());
                }
                option if option.starts_with(b"-") => {
                    simple = false;
                    // Its last letter may take the next word as its value; that is then a name too many.
                }
                _ => names.push(text.into()),
            }
        }
        if let (Input::Text(Word::Literal(text)), true) = (input, simple && self.reads_alone)
            && let Some(values) = self.read_fields(text.as_bstr(), &names)
        {
            for (name, value) in names.iter().zip(values) {
                let shown = Word::Literal(value.clone());
                self.assign(name.as_bstr(), Value::Text(value), shown, false);
            }
            return;
        }
        if names.is_empty() {
            names.push(BString::from("REPLY"));
        }
        for name in names {
            self.set_named(name.as_bstr(), "read");
        }
    }

    /// `IFS=: read -ra parts <<< "a:b"`: is it known what the array has?
    fn read_array(&mut self, name: &BStr, input: &Input) -> bool {
        let Input::Text(Word::Literal(text)) = input else { return false };
        let line = text.lines().next().unwrap_or_default();
        let Some(separators) = self.separators() else { return false };
        let ends = line.last().is_none_or(|byte| separators.contains(byte));
        if !self.reads_alone || !is_name(name) || line.contains(&b'\\') || ends {
            return false;
        }
        let blank = separators == " \t";
        let fields = line.split(|byte| separators.contains(byte));
        let fields = fields.filter(|field| !blank || !field.is_empty()).map(Word::literal);
        let value = Value::Array(Rc::new(fields.collect()));
        let shown = Word::literal(line);
        self.assign(name, value, shown, false);
        true
    }

    /// What stands between words that are read; `None`: not known.
    fn separators(&mut self) -> Option<BString> {
        match self.splitting() {
            Splitting::Blanks => Some(BString::from(" \t")),
            // Blanks are taken together, others are not: mixtures are not followed.
            Splitting::At(separators) if separators.iter().all(|byte| !b" \t".contains(byte)) => {
                Some(separators)
            }
            _ => None,
        }
    }

    /// What each name gets of the first line; `None`: not known.
    fn read_fields(&mut self, text: &BStr, names: &[BString]) -> Option<Vec<BString>> {
        let line = text.lines().next().unwrap_or_default();
        if line.contains(&b'\\') || names.is_empty() || !names.iter().all(|name| is_name(name)) {
            return None;
        }
        let separators = self.separators()?;
        let blank = |byte: char| separators.contains_str(byte.to_string()) && " \t".contains(byte);
        let mut rest = line.trim_with(blank);
        let mut values = Vec::with_capacity(names.len());
        for _ in 1..names.len() {
            let end = rest.iter().position(|byte| separators.contains(byte)).unwrap_or(rest.len());
            let (field, tail) = rest.split_at(end);
            values.push(BString::from(field));
            rest = tail.get(1..).unwrap_or_default().trim_start_with(blank);
        }
        // A separator at the very end belongs to the last field or not.
        let doubtful = rest.last().is_some_and(|byte| separators.contains(byte));
        values.push(BString::from(rest));
        (!doubtful).then_some(values)
    }

    /// A variable named by a word, perhaps with a subscript that is evaluated.
    pub(super) fn set_named(&mut self, text: &BStr, by: &str) {
        let end = text.find_byte(b'[').unwrap_or(text.len());
        if end < text.len() {
            self.evaluated_text(text);
        }
        let name = BString::from(text.get(..end).unwrap_or_default());
        if is_name(&name) {
            self.assign_unknown(name.as_bstr(), by);
        }
    }

    pub(super) fn mapfile(&mut self, operands: &[Word], input: &Input) {
        let mut name = None;
        let mut whole = true;
        let mut trims = false;
        let mut rest = operands.iter();
        while let Some(word) = rest.next() {
            let Some(text) = word.as_literal() else { return self.state.forget_everything() };
            match text.as_bytes() {
                b"-t" => trims = true,
                option if option.starts_with(b"-") => {
                    whole = false;
                    let taking = option.iter().position(|letter| b"dnOsuCc".contains(letter));
                    let Some(taking) = taking else { continue };
                    let attached = option.get(taking + 1..).unwrap_or_default();
                    let value = match attached {
                        b"" => rest.next().cloned(),
                        attached => Some(Word::literal(attached)),
                    };
                    if option.get(taking) == Some(&b'C') {
                        self.called_back(value.as_ref());
                    }
                }
                _ => name = Some(BString::from(text)),
            }
        }
        let name = name.unwrap_or_else(|| BString::from("MAPFILE"));
        if let (Input::Text(Word::Literal(text)), true, true) =
            (input, whole && self.reads_alone, is_name(&name))
        {
            let shown = Word::Literal(text.clone());
            let value = Value::Array(Rc::new(lines_of(text.as_bstr(), trims)));
            return self.assign(name.as_bstr(), value, shown, false);
        }
        self.set_named(name.as_bstr(), "mapfile");
    }

    /// `mapfile -C TEXT`: run with the place and the line that was read behind it.
    fn called_back(&mut self, callback: Option<&Word>) {
        match callback {
            Some(Word::Literal(callback)) => {
                let text = [callback.as_slice(), b" 0 \"$RANDOM\""].concat();
                self.walk_text(text.as_bstr(), BString::from("mapfile -C"));
            }
            _ => self.state.forget_everything(),
        }
    }
}

fn lines_of(text: &BStr, trims: bool) -> Vec<Word> {
    let word = |line: &[u8]| {
        let end = if trims { line.strip_suffix(b"\n") } else { None };
        Word::Literal(BString::from(end.unwrap_or(line)))
    };
    text.lines_with_terminator().map(word).collect()
}
