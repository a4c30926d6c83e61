//! Words to arguments, in bash's order:
//!
//! 1. braces ([`brace`]): one word becomes several;
//! 2. tilde ([`tilde`]), parameters ([`parameter`]), arithmetic ([`arithmetic`]), commands and processes, in one
//!    pass from left to right ([`parts`]) that gives text which remembers what was quoted ([`field`]);
//! 3. splitting of what unquoted expansions gave ([`split`]);
//! 4. path names ([`glob`]) for fields with active `*?[` ([`pattern`]);
//! 5. quotes: they are no part of the tree, so nothing is left to remove.
//!
//! Where bash splits nothing (assignments, `case`, `[[`, here-strings) only step 2 is done.

mod arithmetic;
mod brace;
pub mod characters;
mod field;
mod glob;
mod parameter;
mod parts;
pub mod pattern;
mod prompt;
pub mod quote;
mod regex;
mod simple;
mod split;
mod tilde;

use bstr::{BString, ByteSlice};
use exacta_syntax::ast::{HereDocument, Word, WordPart};

use crate::release::Heavy;
use crate::shell::Shell;
use crate::status::{Interrupt, Running};
use brace::Piece;
use field::{Expansion, Field};
use parts::Mode;

pub(crate) use split::{Kind, Separators};

impl Shell {
    /// Arguments of a command, words of `for` and elements of an array: everything applies.
    pub fn expand_words(&mut self, words: &[Word]) -> Running<Heavy<Vec<BString>>> {
        let mut all = Heavy::new(Vec::with_capacity(words.len()));
        for word in words {
            self.expand_word_into(word, &mut all)?;
        }
        Ok(all)
    }

    /// One word to any number of arguments.
    pub fn expand_word_into(&mut self, word: &Word, into: &mut Vec<BString>) -> Running<()> {
        let before = into.len();
        if self.expand_simple_word(word, into)? {
            return self.check_size(into, before);
        }
        if self.options.braceexpand && brace::has_braces(&word.parts) {
            self.expand_braces(&word.parts, into)?;
        } else {
            let mut expansion = self.new_expansion();
            self.expand_parts(&word.parts, Mode::FIELDS, &mut expansion)?;
            self.finish_fields(expansion, into)?;
        }
        self.note_as_written(word, into.get(before..).unwrap_or_default());
        self.check_size(into, before)
    }

    fn expand_braces(&mut self, parts: &[WordPart], into: &mut Vec<BString>) -> Running<()> {
        let limit = self.control.limits.expansion_bytes;
        let count = brace::count(parts);
        field::check_limit(count.saturating_mul(field::WORD_BYTES), limit)?;
        let (mut words, mut bytes) = (0_u32, 0_u64);
        brace::each_word(parts, &mut |pieces: &[Piece<'_>]| {
            words = words.wrapping_add(1);
            if words.is_multiple_of(1024) {
                self.control.check().map_err(Interrupt::Stopped)?;
            }
            let before = into.len();
            match brace::plain_text(pieces) {
                Some(text) if !pattern::looks_active(&text, self.options.extglob) => {
                    into.push(text);
                }
                _ => {
                    let mut expansion = self.new_expansion();
                    for piece in brace::rejoined(pieces).as_ref() {
                        self.expand_piece(piece, Mode::FIELDS, &mut expansion)?;
                    }
                    self.finish_fields(expansion, into)?;
                }
            }
            bytes += size_of_all(into.get(before..).unwrap_or_default());
            field::check_limit(bytes, limit)
        })
    }

    /// Splitting and path names.
    fn finish_fields(&mut self, expansion: Expansion, into: &mut Vec<BString>) -> Running<()> {
        let expansion = match expansion.into_only_field() {
            Ok(Some(field)) => return self.finish_field(field, into),
            Ok(None) => return Ok(()),
            Err(expansion) => expansion,
        };
        let separators = self.separators();
        let fields = split::split(expansion, &separators, &self.control)?;
        let mut fields = Heavy::new(fields.into_inner().into_iter());
        for (count, field) in fields.by_ref().enumerate() {
            if count.is_multiple_of(split::STRETCH) {
                self.control.check()?;
            }
            self.finish_field(field, into)?;
        }
        Ok(())
    }

    fn finish_field(&mut self, field: Field, into: &mut Vec<BString>) -> Running<()> {
        if !self.options.noglob
            && let Some(pattern) = field.pattern(self.options.extglob)
        {
            return self.expand_path_names(field, pattern.into(), into);
        }
        into.push(field.text.into());
        Ok(())
    }

    /// One word to one string, without splitting and globs: values of assignments, `case`, here-strings, `[[`.
    pub fn expand_to_string(&mut self, word: &Word) -> Running<BString> {
        match word.parts.as_slice() {
            [] => return Ok(BString::default()),
            [WordPart::Literal(text) | WordPart::SingleQuoted(text) | WordPart::Escaped(text)] => {
                return Ok(text.clone());
            }
            _ => {}
        }
        Ok(self.expand_joined(&word.parts, Mode::STRING)?.text_joined_by(b' '))
    }

    /// A word as a pattern: quoted characters stand for themselves (they are escaped in the result).
    pub fn expand_pattern(&mut self, word: &Word) -> Running<BString> {
        if let [WordPart::Literal(text)] = word.parts.as_slice() {
            return Ok(text.clone());
        }
        Ok(self.expand_joined(&word.parts, Mode::STRING)?.into_pattern(b' '))
    }

    /// A word as a regular expression for `=~`: quoted characters stand for themselves.
    pub fn expand_regex(&mut self, word: &Word) -> Running<BString> {
        let expansion = self.expand_joined(&word.parts, Mode::STRING)?;
        Ok(regex::quoted_as_literal(&expansion))
    }

    /// The file name of a redirect. `None`: it is not one word ("ambiguous redirect" is printed); the command
    /// fails with status 1, and the script goes on.
    pub fn expand_redirect_target(&mut self, word: &Word) -> Running<Option<BString>> {
        let mut words = Vec::with_capacity(1);
        self.expand_word_into(word, &mut words)?;
        if let (Some(only), true) = (words.pop(), words.is_empty()) {
            return Ok(Some(only));
        }
        let mut message = exacta_syntax::print_word(word);
        message.extend_from_slice(b": ambiguous redirect");
        self.complain(&message);
        Ok(None)
    }

    pub fn expand_here_document(&mut self, document: &HereDocument) -> Running<BString> {
        if document.quoted {
            return self.expand_to_string(&document.body);
        }
        let expansion = self.expand_joined(&document.body.parts, Mode::HERE_DOCUMENT)?;
        Ok(expansion.text_joined_by(b' '))
    }

    /// Remembers how a word with a tilde was written, for messages: `cd: ~/x: No such file or directory`.
    fn note_as_written(&mut self, word: &Word, words: &[BString]) {
        let ([WordPart::Tilde(name), rest @ ..], [expanded]) = (word.parts.as_slice(), words)
        else {
            return;
        };
        let mut written = BString::from("~");
        written.extend_from_slice(name);
        match rest {
            [] => {}
            [WordPart::Literal(text)] => written.extend_from_slice(text),
            _ => return,
        }
        if self.as_written(expanded.as_bstr()) != written {
            self.written.push((expanded.clone(), written));
        }
    }

    /// Counts what a command has been given so far. Small words are not worth counting.
    fn check_size(&self, all: &[BString], before: usize) -> Running<()> {
        const WORTH_COUNTING: u64 = 4 << 10;
        if size_of_all(all.get(before..).unwrap_or_default()) < WORTH_COUNTING {
            return Ok(());
        }
        field::check_limit(size_of_all(all), self.control.limits.expansion_bytes)
    }
}

fn size_of_all(words: &[BString]) -> u64 {
    words.iter().map(|word| word.len() as u64 + field::WORD_BYTES).sum()
}
