//! Commands that change the shell itself: where it is, what it knows, what it does next.

use std::rc::Rc;

use bstr::{BStr, BString, ByteSlice};
use exacta_syntax::ast::Assignment;

use crate::event::Input;
use crate::word::Word;

use super::Walker;
use super::output::Output;
use super::state::Positional;
use super::values::Value;
use super::variables::Folded;

/// Everything that [`Walker::builtin`] knows.
const CHANGING: &[&str] = &[
    ".",
    "[",
    "alias",
    "break",
    "builtin",
    "cd",
    "command",
    "continue",
    "declare",
    "enable",
    "eval",
    "exec",
    "exit",
    "export",
    "getopts",
    "hash",
    "let",
    "local",
    "mapfile",
    "popd",
    "printf",
    "pushd",
    "read",
    "readarray",
    "readonly",
    "return",
    "set",
    "shift",
    "shopt",
    "source",
    "test",
    "trap",
    "typeset",
    "unalias",
    "unset",
    "wait",
];

/// Options of `set -o` and `shopt` that change what words mean.
const STRANGE: &[&str] = &[
    "braceexpand",
    "cdable_vars",
    "compat31",
    "compat32",
    "compat40",
    "compat41",
    "compat42",
    "compat43",
    "compat44",
    "keyword",
    "posix",
    "xpg_echo",
];

/// Is it a command that changes the shell?
pub(super) fn is_changing(name: &BStr) -> bool {
    CHANGING.iter().any(|known| *name == *known)
}

impl Walker<'_> {
    /// May the command with these words change the shell?
    pub(super) fn changes_shell(&self, words: &[Word]) -> bool {
        match words.first() {
            None => false,
            Some(Word::Literal(name)) => is_changing(name.as_bstr()),
            Some(Word::Dynamic(dynamic)) => {
                dynamic.values.is_empty()
                    || dynamic.splits
                    || dynamic.values.iter().any(|name| {
                        is_changing(name.as_bstr()) || self.state.function(name.as_bstr()).is_some()
                    })
            }
        }
    }

    /// The effect of a command on the shell; what it prints if that is found out here.
    pub(super) fn builtin(
        &mut self,
        words: &[Word],
        declared: Vec<(&Assignment, Folded)>,
        input: &Input,
    ) -> Option<Output> {
        let (name, operands) = words.split_first()?;
        let Some(name) = name.as_literal() else {
            if self.changes_shell(words) {
                // It may be anything, `eval` and `cd` too.
                self.state.forget_everything();
                self.state.lose_place();
            }
            return None;
        };
        let name: &[u8] = name.as_ref();
        match name {
            b"command" | b"builtin" => return self.inner(operands, declared, input),
            b"eval" => return Some(self.eval(operands, input)),
            b"trap" => self.trap(operands),
            b"cd" => self.change_directory(operands),
            b"pushd" => self.push_directory(operands),
            b"popd" => self.pop_directory(operands),
            b"source" | b"." => self.source(operands),
            b"exec" => self.execute(operands, input),
            b"exit" => self.end(operands, true),
            b"return" => {
                self.escape(true);
                let ends = self.is_in_call();
                self.end(operands, ends);
            }
            b"break" | b"continue" => self.escape(false),
            b"set" => self.set_options(operands),
            b"shift" => self.shift(operands),
            b"shopt" => self.shopt(operands),
            // What has the name of a builtin may not be one.
            b"enable" => self.state.strange = true,
            b"alias" => self.alias(operands),
            b"unalias" => self.unalias(operands),
            b"hash" => self.hash(operands),
            b"unset" => self.unset(operands),
            _ => self.declaring(name, operands, declared, input),
        }
        None
    }

    /// `command NAME …`: the same builtin, never the function.
    fn inner(
        &mut self,
        operands: &[Word],
        declared: Vec<(&Assignment, Folded)>,
        input: &Input,
    ) -> Option<Output> {
        let mut rest = operands;
        while let Some((Word::Literal(option), more)) = rest.split_first() {
            match option.as_slice() {
                b"-p" | b"--" => rest = more,
                option if option.starts_with(b"-") => return None,
                _ => break,
            }
        }
        if rest.is_empty() || !self.changes_shell(rest) {
            return None;
        }
        self.builtin(rest, declared, input)
    }

    /// What follows does not run, or, if this is not `sure`, may not: `return` fails outside functions, and both
    /// with too many words.
    fn end(&mut self, operands: &[Word], sure: bool) {
        let fits = operands.len() <= 1 && !operands.iter().any(super::variables::is_several);
        if sure && fits {
            self.state.ended = true;
        } else {
            self.state.leaked = true;
        }
    }

    /// A file of the project is taken to stay where it is; what it sets is not known.
    fn source(&mut self, operands: &[Word]) {
        let literal = operands.first().and_then(Word::as_literal);
        self.state.forget_everything();
        if literal.is_none_or(|path| path.starts_with(b"/dev/") || path.starts_with(b"/proc/")) {
            self.state.lose_place();
        }
    }

    /// With a command the shell ends here; without one its redirects stay.
    fn execute(&mut self, operands: &[Word], input: &Input) {
        if operands.is_empty() {
            self.input = input.clone();
        } else {
            self.state.ended = true;
        }
    }

    fn set_options(&mut self, operands: &[Word]) {
        self.set_each_option(operands);
        if self.state.adrift {
            self.state.positional = Positional::Unknown;
        }
    }

    fn set_each_option(&mut self, operands: &[Word]) {
        for (index, word) in operands.iter().enumerate() {
            let Some(text) = word.as_literal() else {
                self.state.positional = Positional::Unknown;
                self.state.exports_all = true;
                self.state.strange |= may_be_option(word);
                return;
            };
            let rest = operands.get(index + 1..).unwrap_or_default();
            match text.as_bytes() {
                b"--" => {
                    self.state.positional = Positional::Known(Rc::new(rest.to_vec()));
                    return;
                }
                b"-" => {
                    if !rest.is_empty() {
                        self.state.positional = Positional::Known(Rc::new(rest.to_vec()));
                    }
                    return;
                }
                option if option.starts_with(b"-") || option.starts_with(b"+") => {
                    let on = option.starts_with(b"-");
                    if option.contains(&b'a') {
                        self.state.exports_all = on;
                    }
                    // Braces are text, assignments may stand behind the command.
                    self.state.strange |= is_strange(option.as_bstr());
                }
                option => {
                    let names = |word: &Word| word.as_literal().is_some_and(ends_in_o);
                    let named = index.checked_sub(1).and_then(|index| operands.get(index));
                    if named.is_some_and(names) {
                        self.state.exports_all |= option == b"allexport";
                        self.state.strange |= is_strange(option.as_bstr());
                        continue;
                    }
                    let all = operands.get(index..).unwrap_or_default();
                    self.state.positional = Positional::Known(Rc::new(all.to_vec()));
                    return;
                }
            }
        }
    }

    fn shopt(&mut self, operands: &[Word]) {
        for word in operands {
            let word = word.as_literal();
            self.state.last_in_shell |= word.is_none_or(|word| *word == "lastpipe");
            self.state.any_case |= word.is_none_or(|word| *word == "nocasematch");
            self.state.strange |= word.is_none_or(is_strange);
        }
    }

    fn shift(&mut self, operands: &[Word]) {
        let count = match operands {
            [] => Some(1),
            [Word::Literal(count)] => count.to_str().ok().and_then(|count| count.parse().ok()),
            _ => None,
        };
        let shifted = match (&self.state.positional, count) {
            (Positional::Known(words), Some(count)) => {
                let several = words.iter().take(count).any(super::variables::is_several);
                (!several).then(|| match words.get(count..) {
                    Some(rest) => rest.to_vec(),
                    None => words.to_vec(),
                })
            }
            _ => None,
        };
        self.state.positional = match shifted {
            Some(words) => Positional::Known(Rc::new(words)),
            None => Positional::Unknown,
        };
    }

    fn alias(&mut self, operands: &[Word]) {
        for word in operands {
            let Some((name, text)) = word.as_literal().and_then(|text| text.split_once_str("="))
            else {
                continue;
            };
            self.state.alias(name.as_bstr(), BString::from(text));
        }
    }

    fn unalias(&mut self, operands: &[Word]) {
        for name in operands.iter().filter_map(Word::as_literal) {
            self.state.unalias(name);
        }
    }

    /// `hash -p FILE NAME`: the name stands for the file from now on.
    fn hash(&mut self, operands: &[Word]) {
        if let [Word::Literal(option), Word::Literal(file), names @ ..] = operands
            && option == "-p"
        {
            for name in names.iter().filter_map(Word::as_literal) {
                self.state.alias(name, file.clone());
            }
        }
    }

    fn unset(&mut self, operands: &[Word]) {
        let functions = operands
            .iter()
            .filter_map(Word::as_literal)
            .take_while(|word| word.starts_with(b"-"))
            .any(|word| word.contains(&b'f'));
        let references = operands
            .iter()
            .filter_map(Word::as_literal)
            .any(|word| word.starts_with(b"-") && word.contains(&b'n'));
        for word in operands {
            match word.as_literal() {
                Some(name) if references && !name.starts_with(b"-") => {
                    self.set(name, Value::unknown(), false);
                }
                None => {
                    self.state.forget_everything();
                    self.state.doubt_functions();
                }
                Some(name) if name.starts_with(b"-") => {}
                Some(name) if functions => self.state.undefine(name),
                Some(name) => {
                    self.evaluated_text(name);
                    match name.find_byte(b'[') {
                        Some(end) => {
                            let name = BString::from(name.get(..end).unwrap_or_default());
                            self.set(name.as_bstr(), Value::unknown(), false);
                        }
                        None => self.unset_name(name),
                    }
                }
            }
        }
    }

    /// Without an option it is the variable, or the function if there is none.
    fn unset_name(&mut self, name: &BStr) {
        let value = self.lookup(name);
        if self.state.function(name).is_some() && value != Value::Unset {
            self.state.doubt_functions();
        }
        if value == Value::Unset && self.state.function(name).is_some() {
            self.state.undefine(name);
        } else if self.state.was_ever_local(name) && !self.is_own_local(name) {
            // What it has in the calls further out comes to light.
            self.set(name, Value::unknown(), false);
        } else {
            self.state.set(name, Value::Unset, false);
        }
    }
}

/// An option, of whatever command, that changes what words mean.
pub(super) fn is_strange(option: &BStr) -> bool {
    let letter = match option.first() {
        Some(b'-') => b'k',
        Some(b'+') => b'B',
        _ => return STRANGE.iter().any(|name| *option == *name),
    };
    option.contains(&letter)
}

fn may_be_option(word: &Word) -> bool {
    word.prefix().first().is_none_or(|byte| matches!(byte, b'-' | b'+'))
}

fn ends_in_o(option: &BStr) -> bool {
    option.ends_with(b"o") && (option.starts_with(b"-") || option.starts_with(b"+"))
}
