//! Tilde, parameters, arithmetic, commands and processes: one pass over the parts of a word, left to right.

use bstr::{BStr, ByteSlice};
use exacta_syntax::ast::WordPart;

use super::brace::{self, Piece};
use super::field::{Expansion, Origin};
use crate::shell::Shell;
use crate::status::Running;

/// Where a part stands, as far as its expansion depends on it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mode {
    /// Inside double quotes.
    pub quoted: bool,
    /// Inside `${x:-…}`: what is written there is split like the rest of the expansion.
    pub nested: bool,
    pub lists: Lists,
}

/// What becomes of `$@` and `$*`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lists {
    /// Each element is an argument.
    Fields,
    /// One string: `$@` joined by spaces, `$*` by the first character of `IFS`.
    Joined,
    /// One string, all joined by the first character of `IFS`.
    JoinedAll,
    /// One string, all joined by spaces: here-documents.
    Spaced,
}

impl Mode {
    pub const FIELDS: Mode = Mode { quoted: false, nested: false, lists: Lists::Fields };
    pub const STRING: Mode = Mode { quoted: false, nested: false, lists: Lists::Joined };
    pub const HERE_DOCUMENT: Mode = Mode { quoted: true, nested: false, lists: Lists::Spaced };
    pub const QUOTED_STRING: Mode = Mode { quoted: true, nested: false, lists: Lists::Joined };

    /// In an assignment bash joins what is left of `$@` after an operation by `IFS`, as if it were `$*`: always
    /// inside quotes, else after some operations.
    pub fn after_operation(self, joins: bool) -> Mode {
        match self.lists {
            Lists::Joined if joins || self.quoted => Mode { lists: Lists::JoinedAll, ..self },
            Lists::Joined | Lists::Fields | Lists::JoinedAll | Lists::Spaced => self,
        }
    }

    /// Where the value of an expansion comes from.
    pub fn origin(self) -> Origin {
        if self.quoted { Origin::Quoted } else { Origin::Expanded }
    }

    fn literal_origin(self) -> Origin {
        match (self.quoted, self.nested) {
            (true, _) => Origin::Quoted,
            (false, true) => Origin::Expanded,
            (false, false) => Origin::Literal,
        }
    }
}

impl Shell {
    pub(super) fn expand_parts(
        &mut self,
        parts: &[WordPart],
        mode: Mode,
        out: &mut Expansion,
    ) -> Running<()> {
        parts.iter().try_for_each(|part| self.expand_part(part, mode, out))
    }

    pub(super) fn expand_part(
        &mut self,
        part: &WordPart,
        mode: Mode,
        out: &mut Expansion,
    ) -> Running<()> {
        match part {
            WordPart::Literal(text) => out.push(mode.literal_origin(), text),
            WordPart::Escaped(text) | WordPart::SingleQuoted(text) | WordPart::AnsiQuoted(text) => {
                out.push_quoted(text)
            }
            WordPart::DoubleQuoted(parts) | WordPart::LocaleQuoted(parts) => {
                self.expand_quoted_parts(parts, mode, out)
            }
            WordPart::Tilde(name) => match self.directory_by_tilde(name.as_bstr()) {
                Some(directory) => out.push_quoted(&directory),
                None => {
                    let written = [b"~", name.as_slice()].concat();
                    out.push(mode.literal_origin(), &written)
                }
            },
            WordPart::Parameter(parameter) => self.expand_parameter(parameter, mode, out),
            WordPart::Command(substitution) => {
                let output = self.run_substitution(substitution)?;
                out.push(mode.origin(), &output)
            }
            WordPart::Arithmetic(arithmetic) => {
                let number = self.evaluate_in_word(arithmetic)?;
                out.push(mode.origin(), number.to_string().as_bytes())
            }
            WordPart::Process(substitution) => {
                let name = self.start_process_substitution(substitution)?;
                out.push(Origin::Quoted, &name)
            }
            // Braces are gone before this; what is left of them stands in a word that does not expand them.
            WordPart::Brace(brace) => brace::as_written(brace)
                .iter()
                .try_for_each(|piece| self.expand_piece(piece, mode, out)),
        }
    }

    pub(super) fn expand_piece(
        &mut self,
        piece: &Piece<'_>,
        mode: Mode,
        out: &mut Expansion,
    ) -> Running<()> {
        match piece {
            Piece::Part(part) => self.expand_part(part, mode, out),
            Piece::Text(text) => out.push(mode.literal_origin(), text),
            Piece::Made(part) => self.expand_part(part, mode, out),
        }
    }

    /// `"…"`: an argument even if it is empty, unless it held only lists without elements.
    fn expand_quoted_parts(
        &mut self,
        parts: &[WordPart],
        mode: Mode,
        out: &mut Expansion,
    ) -> Running<()> {
        let outer = std::mem::replace(&mut out.vanished, false);
        let before = out.text.len();
        self.expand_parts(parts, Mode { quoted: true, ..mode }, out)?;
        if out.text.len() > before || !out.vanished {
            out.exist();
        }
        out.vanished = outer;
        Ok(())
    }

    pub(super) fn new_expansion(&self) -> Expansion {
        Expansion::new(self.control.limits.expansion_bytes)
    }

    /// Expands a word that is one string whatever it holds: without splitting and path names.
    pub(super) fn expand_joined(&mut self, parts: &[WordPart], mode: Mode) -> Running<Expansion> {
        let mut out = self.new_expansion();
        self.expand_parts(parts, mode, &mut out)?;
        Ok(out)
    }

    /// The value of `name`, as text.
    pub(super) fn plain_value(&self, name: &str) -> Option<std::borrow::Cow<'_, BStr>> {
        self.scalar_of(BStr::new(name))
    }
}
