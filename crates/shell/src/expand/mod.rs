//! Words to arguments. The order is bash's: braces, tilde, parameters, arithmetic, commands; splitting; globs; quotes.

use bstr::{BStr, BString};
use exacta_syntax::ast::{Arithmetic, HereDocument, Word};

use crate::shell::Shell;
use crate::status::Running;

impl Shell {
    /// Arguments of a command, words of `for` and elements of an array: everything applies.
    pub fn expand_words(&mut self, words: &[Word]) -> Running<Vec<BString>> {
        let mut all = Vec::with_capacity(words.len());
        for word in words {
            self.expand_word_into(word, &mut all)?;
        }
        Ok(all)
    }

    /// One word to any number of arguments.
    pub fn expand_word_into(&mut self, word: &Word, into: &mut Vec<BString>) -> Running<()> {
        let _ = (word, into);
        Ok(())
    }

    /// One word to one string, without splitting and globs: values of assignments, `case`, here-strings, `[[`.
    pub fn expand_to_string(&mut self, word: &Word) -> Running<BString> {
        let _ = word;
        Ok(BString::default())
    }

    /// A word as a pattern: quoted characters stand for themselves (they are escaped in the result).
    pub fn expand_pattern(&mut self, word: &Word) -> Running<BString> {
        let _ = word;
        Ok(BString::default())
    }

    /// A word as a regular expression for `=~`: quoted characters stand for themselves.
    pub fn expand_regex(&mut self, word: &Word) -> Running<BString> {
        let _ = word;
        Ok(BString::default())
    }

    /// The file name of a redirect; more than one word is "ambiguous redirect".
    pub fn expand_redirect_target(&mut self, word: &Word) -> Running<BString> {
        let _ = word;
        Ok(BString::default())
    }

    pub fn expand_here_document(&mut self, document: &HereDocument) -> Running<BString> {
        let _ = document;
        Ok(BString::default())
    }

    /// `$((…))`, `((…))`, offsets, numeric subscripts.
    pub fn evaluate(&mut self, arithmetic: &Arithmetic) -> Running<i64> {
        let _ = arithmetic;
        Ok(0)
    }

    /// Late arithmetic: text that is already expanded (`let`, `declare -i`, `[[ a -eq b ]]`, values of variables).
    pub fn evaluate_text(&mut self, text: &BStr) -> Running<i64> {
        let _ = text;
        Ok(0)
    }
}
