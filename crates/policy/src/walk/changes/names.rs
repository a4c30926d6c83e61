//! Names of commands: functions, builtins that set, and names that are only known when they run.

use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};
use exacta_syntax::ast::{Argument, Operation, Parameter, Word, WordPart};

use super::Search;
use crate::walk::builtins::{is_changing, is_strange};
use crate::walk::{environment, variables};

/// What a computed name is made of.
pub(super) enum Piece {
    Text(BString),
    Variable(BString),
    Positional(usize),
}

impl Search<'_> {
    pub(super) fn is_harmless(&self, pieces: &[Piece]) -> bool {
        let mut names = vec![BString::default()];
        for piece in pieces {
            let values = match piece {
                Piece::Text(text) => Some(vec![Some(text.clone())]),
                Piece::Variable(name) if self.found.names.contains(name) => None,
                Piece::Variable(name) => {
                    let value = self.state.value(name.as_bstr());
                    let initial = || environment::initial(self.surroundings, name.as_bstr());
                    value.unwrap_or_else(initial).possibilities()
                }
                Piece::Positional(_) if self.found.positional => None,
                Piece::Positional(number) => {
                    variables::positional(&self.state.positional, *number).possibilities()
                }
            };
            let Some(values) = values.filter(|values| values.len() * names.len() <= 64) else {
                return false;
            };
            let longer = |name: &BString| {
                let name = name.clone();
                values.clone().into_iter().map(move |value| {
                    BString::from([name.as_slice(), &value.unwrap_or_default()].concat())
                })
            };
            names = names.iter().flat_map(longer).collect();
        }
        names.iter().all(|name| {
            let first = name
                .split(|byte| b" \t\n".contains(byte))
                .find(|word| !word.is_empty())
                .unwrap_or_default();
            !is_changing(first.as_bstr()) && self.state.function(first.as_bstr()).is_none()
        })
    }

    pub(super) fn named(&mut self, word: &Word, operands: &[Argument]) {
        let mut text = BString::default();
        for part in &word.parts {
            match part {
                WordPart::Literal(piece)
                | WordPart::Escaped(piece)
                | WordPart::SingleQuoted(piece)
                | WordPart::AnsiQuoted(piece) => text.extend_from_slice(piece),
                _ => return self.computed(word),
            }
        }
        if self.state.aliases(text.as_bstr()).is_some() {
            self.anything();
        }
        if let Some(function) = self.state.function(text.as_bstr()) {
            for body in &function.bodies {
                if self.bodies.insert(Arc::as_ptr(body)) {
                    self.compound(body);
                }
            }
        }
        let operands: Vec<Option<&BStr>> = operands
            .iter()
            .map(|argument| match argument {
                Argument::Word(word) => literal(word),
                Argument::Assignment(assignment) => Some(assignment.name.as_bstr()),
            })
            .collect();
        self.builtin(text.as_bstr(), &operands);
    }

    /// A name that is only known when it runs.
    fn computed(&mut self, word: &Word) {
        let mut pieces = Vec::new();
        let known = word.parts.iter().all(|part| match part {
            WordPart::DoubleQuoted(parts) => parts.iter().all(|part| add_piece(part, &mut pieces)),
            part => add_piece(part, &mut pieces),
        });
        if known {
            self.names_of_commands.push(pieces);
        } else if !matches!(word.parts.last(), Some(WordPart::Literal(end)) if end.contains(&b'/'))
        {
            // Inside a path there is no builtin; everything else it may be.
            self.anything();
        }
    }

    fn builtin(&mut self, name: &BStr, operands: &[Option<&BStr>]) {
        match name.as_bytes() {
            b"eval" | b"." | b"source" => self.anything(),
            b"cd" | b"pushd" | b"popd" => self.found.moves = true,
            b"set" | b"shift" => {
                self.found.positional = true;
                self.found.strange |= operands.iter().any(|word| word.is_none_or(is_strange));
            }
            b"enable" => self.found.strange = true,
            b"shopt" => {
                self.found.strange |= operands.iter().any(|word| word.is_none_or(is_strange));
            }
            b"trap" => {
                let at_end =
                    |word: Option<&BStr>| word.is_some_and(|word| *word == "EXIT" || *word == "0");
                if !operands.iter().skip(1).all(|word| at_end(*word)) {
                    self.anything();
                    self.found.adrift = true;
                }
            }
            b"unset" => {
                self.found.undefines = true;
                self.operands(name, operands);
            }
            b"declare" | b"typeset" | b"local" | b"export" | b"readonly" | b"read" | b"mapfile"
            | b"readarray" | b"getopts" | b"printf" | b"wait" | b"let" => {
                for own in [&b"REPLY"[..], b"MAPFILE", b"OPTARG", b"OPTIND"] {
                    self.found.names.insert(BString::from(own));
                }
                self.operands(name, operands);
            }
            _ => {}
        }
    }

    fn operands(&mut self, name: &BStr, operands: &[Option<&BStr>]) {
        let declares = matches!(name.as_bytes(), b"declare" | b"typeset" | b"local");
        let option = |letters: &[u8]| {
            let given = |operand: &BStr| {
                operand.starts_with(b"-") && operand.iter().any(|letter| letters.contains(letter))
            };
            declares && operands.iter().flatten().any(|operand| given(operand))
        };
        let opaque = option(b"iluc");
        self.found.adrift |= option(b"n");
        for operand in operands {
            let Some(operand) = operand else {
                // `printf` only sets with `-v`, which has to be the first.
                let harmless = *name == "printf"
                    && operands
                        .first()
                        .is_some_and(|first| first.is_some_and(|word| *word != "-v"));
                if !harmless && *name != "wait" {
                    self.found.everything = true;
                }
                continue;
            };
            let name: &[u8] = operand;
            for piece in name.split(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_')) {
                if variables::is_name(piece) {
                    self.found.names.insert(BString::from(piece));
                    if opaque {
                        self.found.unsettled.insert(BString::from(piece));
                    }
                }
            }
        }
    }
}

/// Takes a part of a computed name apart; not if it is none of the simple ones.
fn add_piece(part: &WordPart, pieces: &mut Vec<Piece>) -> bool {
    let piece = match part {
        WordPart::Literal(text)
        | WordPart::Escaped(text)
        | WordPart::SingleQuoted(text)
        | WordPart::AnsiQuoted(text) => Piece::Text(text.clone()),
        WordPart::Parameter(expansion)
            if expansion.operation == Operation::Plain && !expansion.indirect =>
        {
            match &expansion.parameter {
                Parameter::Variable(name) => Piece::Variable(name.clone()),
                Parameter::All | Parameter::Joined => Piece::Positional(1),
                Parameter::Positional(number @ 1..) => Piece::Positional(*number as usize),
                _ => return false,
            }
        }
        _ => return false,
    };
    pieces.push(piece);
    true
}

/// The text of a word if nothing in it is expanded.
fn literal(word: &Word) -> Option<&BStr> {
    match word.parts.as_slice() {
        [WordPart::Literal(text) | WordPart::SingleQuoted(text) | WordPart::AnsiQuoted(text)] => {
            Some(text.as_bstr())
        }
        [WordPart::DoubleQuoted(parts)] => match parts.as_slice() {
            [WordPart::Literal(text)] => Some(text.as_bstr()),
            [] => Some(BStr::new("")),
            _ => None,
        },
        _ => None,
    }
}
