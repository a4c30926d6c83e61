//! Words and their parts. What has to be escaped depends on the surroundings.

use super::layout::Printer;
use crate::ast::{
    Arithmetic, BraceExpansion, CommandSubstitution, HereDocument, List, Parameter,
    ProcessDirection, ProcessSubstitution, Word, WordPart,
};

/// Where a part stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Surroundings {
    Unquoted,
    DoubleQuoted,
    /// Behind `:-` and the like inside double quotes: a `}` would end it. Single quotes come in pairs there,
    /// unless a backslash precedes them; `paired` if such quotes have to be pairs as well.
    QuotedParameterWord {
        paired: bool,
    },
    /// The body of a here-document with a quoted delimiter.
    QuotedDocument,
    Document,
    /// The body of `<<-`, where tabs in front of a line would vanish.
    StrippedDocument,
    Arithmetic,
}

impl Surroundings {
    /// Bytes that a backslash takes the meaning of here.
    fn escapable(self) -> &'static [u8] {
        match self {
            Surroundings::Unquoted | Surroundings::QuotedDocument => b"",
            Surroundings::DoubleQuoted | Surroundings::Arithmetic => b"$`\"\\\n",
            Surroundings::QuotedParameterWord { .. } => b"$`\"\\\n}",
            Surroundings::Document | Surroundings::StrippedDocument => b"$`\\\n",
        }
    }

    /// Of those, the ones that cannot stand for themselves.
    fn special(self) -> &'static [u8] {
        match self {
            Surroundings::Unquoted | Surroundings::QuotedDocument => b"",
            Surroundings::DoubleQuoted | Surroundings::Arithmetic => b"`\"",
            Surroundings::QuotedParameterWord { .. } => b"`\"}",
            Surroundings::Document | Surroundings::StrippedDocument => b"`",
        }
    }

    pub fn of_document(document: &HereDocument) -> Self {
        match (document.quoted, document.strip_tabs) {
            (true, _) => Surroundings::QuotedDocument,
            (false, true) => Surroundings::StrippedDocument,
            (false, false) => Surroundings::Document,
        }
    }

    /// How a word behind `:-` reads here.
    pub fn parameter_word(self, word: &Word) -> Self {
        match self {
            Surroundings::Unquoted => Surroundings::Unquoted,
            _ => Surroundings::QuotedParameterWord { paired: !closes_its_quotes(word) },
        }
    }
}

/// What would end arithmetic text too early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ArithmeticPlace {
    Parentheses,
    Loop,
    SliceOffset,
    SliceLength,
}

impl<'tree> Printer<'tree> {
    pub fn word(&mut self, word: &'tree Word, surroundings: Surroundings) {
        self.parts(&word.parts, surroundings);
    }

    fn parts(&mut self, parts: &'tree [WordPart], surroundings: Surroundings) {
        for (index, part) in parts.iter().enumerate() {
            let last = index + 1 == parts.len();
            self.part(part, last, surroundings);
        }
    }

    fn part(&mut self, part: &'tree WordPart, last: bool, surroundings: Surroundings) {
        match part {
            WordPart::Literal(text) => self.literal(text, last, surroundings),
            WordPart::Escaped(text) => {
                self.text(b"\\");
                self.text(text);
            }
            WordPart::SingleQuoted(text) => {
                self.text(b"'");
                self.text(text);
                self.text(b"'");
            }
            WordPart::AnsiQuoted(text) => self.ansi_quoted(text),
            WordPart::DoubleQuoted(parts) => self.double_quoted(b"\"", parts),
            WordPart::LocaleQuoted(parts) => self.double_quoted(b"$\"", parts),
            WordPart::Tilde(name) => {
                self.text(b"~");
                self.text(name);
            }
            WordPart::Parameter(expansion) => self.parameter(expansion, surroundings),
            WordPart::Command(command) => self.command_substitution(command),
            WordPart::Arithmetic(arithmetic) => {
                self.text(b"$((");
                self.arithmetic(arithmetic, ArithmeticPlace::Parentheses);
                self.text(b"))");
            }
            WordPart::Process(process) => self.process_substitution(process),
            WordPart::Brace(brace) => self.brace(brace),
        }
    }

    fn double_quoted(&mut self, opening: &[u8], parts: &'tree [WordPart]) {
        self.text(opening);
        self.parts(parts, Surroundings::DoubleQuoted);
        self.text(b"\"");
    }

    /// Plain text, with as few backslashes as possible: bash prints what was written.
    fn literal(&mut self, text: &[u8], last: bool, surroundings: Surroundings) {
        if matches!(surroundings, Surroundings::Unquoted | Surroundings::QuotedDocument) {
            self.text(text);
            return;
        }
        let quoted_parameter = matches!(surroundings, Surroundings::QuotedParameterWord { .. });
        let paired = surroundings == Surroundings::QuotedParameterWord { paired: true };
        let document =
            matches!(surroundings, Surroundings::Document | Surroundings::StrippedDocument);
        for (index, byte) in text.iter().enumerate() {
            let next = text.get(index + 1).copied();
            let escape = match byte {
                b'$' if quoted_parameter && next == Some(b'\'') => true,
                // The line could be the delimiter.
                b'$' if document && next == Some(b'\n') => true,
                b'\\' if paired && next == Some(b'\'') => true,
                b'$' => next.map_or(!last, begins_expansion),
                b'\\' => next.is_none_or(|next| surroundings.escapable().contains(&next)),
                other => surroundings.special().contains(other),
            };
            if escape {
                self.text(b"\\");
            }
            let stripped = surroundings == Surroundings::StrippedDocument && self.ends_with(b"\n");
            if *byte == b'\t' && stripped {
                self.text(b"\\\n");
            }
            self.text(&[*byte]);
        }
    }

    fn ansi_quoted(&mut self, text: &[u8]) {
        self.text(b"$'");
        for byte in text {
            match byte {
                b'\n' => self.text(b"\\n"),
                b'\t' => self.text(b"\\t"),
                b'\r' => self.text(b"\\r"),
                0x1b => self.text(b"\\E"),
                b'\'' => self.text(b"\\'"),
                b'\\' => self.text(b"\\\\"),
                0..=0x1f | 0x7f => self.text(format!("\\{byte:03o}").as_bytes()),
                other => self.text(&[*other]),
            }
        }
        self.text(b"'");
    }

    fn command_substitution(&mut self, command: &'tree CommandSubstitution) {
        if command.backquoted {
            let inside = self.captured(|printer| printer.substituted(&command.body));
            self.text(b"`");
            for byte in inside {
                if matches!(byte, b'\\' | b'`') {
                    self.text(b"\\");
                }
                self.text(&[byte]);
            }
            self.text(b"`");
            return;
        }
        self.text(b"$(");
        self.substituted(&command.body);
        self.text(b")");
    }

    fn process_substitution(&mut self, process: &'tree ProcessSubstitution) {
        self.text(match process.direction {
            ProcessDirection::Read => b"<(",
            ProcessDirection::Write => b">(",
        });
        self.substituted(&process.body);
        self.text(b")");
    }

    /// A space keeps `$( (` from being arithmetic.
    fn substituted(&mut self, list: &'tree List) {
        let inside = self.captured(|printer| printer.separately(|printer| printer.list(list)));
        if inside.starts_with(b"(") {
            self.text(b" ");
        }
        self.text(&inside);
    }

    fn brace(&mut self, brace: &'tree BraceExpansion) {
        self.text(b"{");
        match brace {
            BraceExpansion::Alternatives(words) => {
                for (index, word) in words.iter().enumerate() {
                    if index > 0 {
                        self.text(b",");
                    }
                    self.word(word, Surroundings::Unquoted);
                }
            }
            BraceExpansion::Numbers { first, last, step, width } => {
                self.text(format!("{first:0width$}..{last:0width$}").as_bytes());
                self.step(*step);
            }
            BraceExpansion::Letters { first, last, step } => {
                self.text(&[*first, b'.', b'.', *last]);
                self.step(*step);
            }
        }
        self.text(b"}");
    }

    fn step(&mut self, step: i64) {
        if step.unsigned_abs() != 1 {
            self.text(format!("..{step}").as_bytes());
        }
    }

    pub fn subscript(&mut self, subscript: &'tree Arithmetic) {
        self.text(b"[");
        self.word(&subscript.text, Surroundings::Unquoted);
        self.text(b"]");
    }

    /// Double quotes mean nothing in arithmetic: they hide what would end the text too early.
    pub fn arithmetic(&mut self, arithmetic: &'tree Arithmetic, place: ArithmeticPlace) {
        let parts = &arithmetic.text.parts;
        let safe = stands_alone(parts, place);
        for (index, part) in parts.iter().enumerate() {
            let last = index + 1 == parts.len();
            let merges = index
                .checked_sub(1)
                .and_then(|before| parts.get(before))
                .is_some_and(|before| takes_up(before, part));
            if let (WordPart::Literal(text), true) = (part, merges || !safe) {
                self.text(b"\"");
                self.literal(text, true, Surroundings::DoubleQuoted);
                self.text(b"\"");
            } else {
                self.part(part, last, Surroundings::Arithmetic);
            }
        }
        if parts.is_empty() && place == ArithmeticPlace::SliceOffset {
            self.text(b"\"\"");
        }
    }
}

/// Whether `$` in front of this byte would begin an expansion.
fn begins_expansion(next: u8) -> bool {
    next.is_ascii_alphanumeric() || b"_{([@*#?-$!".contains(&next)
}

/// Whether the single quotes come in pairs if those behind a backslash outside a pair count for nothing.
fn closes_its_quotes(word: &Word) -> bool {
    let mut open = false;
    for part in &word.parts {
        let WordPart::Literal(text) = part else { continue };
        let mut bytes = text.iter().peekable();
        while let Some(byte) = bytes.next() {
            if *byte == b'\'' {
                open = !open;
            } else if *byte == b'\\' && !open {
                bytes.next_if_eq(&&b'\'');
            }
        }
    }
    !open
}

/// Whether `$name` would go on in the text behind it, which quotes once kept apart.
fn takes_up(before: &WordPart, part: &WordPart) -> bool {
    let (WordPart::Parameter(expansion), WordPart::Literal(text)) = (before, part) else {
        return false;
    };
    !expansion.braced
        && matches!(expansion.parameter, Parameter::Variable(_))
        && text.first().is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

/// Whether arithmetic text is read back whole without quotes around it.
fn stands_alone(parts: &[WordPart], place: ArithmeticPlace) -> bool {
    let mut level = 0_usize;
    let mut questions = 0_usize;
    let mut quoted = false;
    for (index, part) in parts.iter().enumerate() {
        let WordPart::Literal(text) = part else {
            if quoted {
                return false;
            }
            continue;
        };
        for (offset, byte) in text.iter().enumerate() {
            let first = index == 0 && offset == 0;
            match (byte, place) {
                // Behind a backslash it would count for nothing.
                (b'\\', _) if text.get(offset + 1) == Some(&b'\'') => return false,
                (b'\'', _) => quoted = !quoted,
                _ if quoted => {}
                (b'(', _) => level += 1,
                (b')', _) if level == 0 => return false,
                (b')', _) => level -= 1,
                (b'?', _) if !first => questions += 1,
                (b':', _) if questions > 0 => questions -= 1,
                (b':', ArithmeticPlace::SliceOffset) if level == 0 => return false,
                (b';', ArithmeticPlace::Loop) => return false,
                (b'}', ArithmeticPlace::SliceOffset | ArithmeticPlace::SliceLength) => {
                    return false;
                }
                (b'-' | b'=' | b'?' | b'+', ArithmeticPlace::SliceOffset)
                | (b' ' | b'\t' | b'\n', ArithmeticPlace::Loop)
                    if first =>
                {
                    return false;
                }
                _ => {}
            }
        }
    }
    level == 0 && !quoted && (questions == 0 || place != ArithmeticPlace::SliceOffset)
}
