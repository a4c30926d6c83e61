//! Texts that become commands: `eval`, traps, aliases, and expressions that are evaluated late.

use bstr::{BStr, BString, ByteSlice};
use exacta_syntax::ast::{Command, SimpleCommand};
use exacta_syntax::{Aliases, Limits, NoAliases, ParseOptions, Parser, SyntaxError};

use crate::event::{Event, Input, Invocation};
use crate::word::{Dynamic, Word};

use super::Walker;
use super::functions::Deferred;
use super::output::Output;

impl Walker<'_> {
    /// Parses a text and walks it where it stands.
    pub(super) fn walk_text(&mut self, text: &BStr, label: BString) -> Output {
        if text.iter().all(u8::is_ascii_whitespace) {
            return Output::nothing();
        }
        self.via.push(label);
        let output = if self.may_descend() && self.afford(text.len()) {
            match parse(text, &NoAliases) {
                Ok(list) => {
                    self.level += 1;
                    let output = self.list(&list);
                    self.level -= 1;
                    output
                }
                Err(_) => self.unclear(text),
            }
        } else {
            self.unclear(text)
        };
        self.via.pop();
        output
    }

    /// A command that nobody can name: the text is not followed any further.
    fn unclear(&mut self, text: &BStr) -> Output {
        let word = Dynamic { written: text.into(), splits: true, ..Dynamic::default() };
        (self.emit)(Event::Command(Invocation {
            words: vec![Word::Dynamic(Box::new(word))],
            input: self.input.clone(),
            directory: self.state.place.directory(),
            via: self.via.clone(),
            ..Invocation::default()
        }));
        self.state.forget_everything();
        self.state.lose_place();
        Output::unknown()
    }

    /// `eval`: its words with blanks between them.
    pub(super) fn eval(&mut self, words: &[Word], input: &Input) -> Output {
        let words = match words.split_first() {
            Some((Word::Literal(dashes), rest)) if *dashes == "--" => rest,
            _ => words,
        };
        let texts: Option<Vec<&BStr>> = words.iter().map(Word::as_literal).collect();
        let Some(texts) = texts else {
            self.state.forget_everything();
            self.state.lose_place();
            return Output::unknown();
        };
        self.reads_alone = false;
        let text = BString::from(bstr::join(" ", texts));
        let outer = std::mem::replace(&mut self.input, input.clone());
        let output = self.walk_text(text.as_bstr(), BString::from("eval"));
        self.input = outer;
        output
    }

    /// `trap TEXT SIGNAL…`: runs at some time.
    pub(super) fn trap(&mut self, words: &[Word]) {
        let words = match words.split_first() {
            Some((Word::Literal(dashes), rest)) if *dashes == "--" => rest,
            _ => words,
        };
        let [Word::Literal(text), signals @ ..] = words else { return };
        if signals.is_empty() || text == "-" || text.starts_with(b"-") {
            return;
        }
        let at_end = |signal: &Word| {
            signal.as_literal().is_some_and(|name| ["EXIT", "0"].iter().any(|end| *name == *end))
        };
        let ends = signals.iter().any(at_end);
        if !signals.iter().all(at_end) {
            self.interrupted_by(text.as_bstr());
        }
        let mut via = self.via.clone();
        let mut label = BString::from("trap");
        for signal in signals.iter().take(4) {
            label.push(b' ');
            label.extend_from_slice(signal.shown());
        }
        via.push(label);
        self.deferred.push(Deferred::Text { text: text.clone(), via, at_end: ends });
    }

    /// A text that may run between any two commands from here on.
    fn interrupted_by(&mut self, text: &BStr) {
        let list = if self.afford(text.len()) { parse(text, &NoAliases).ok() } else { None };
        let changes = list.map(|list| self.changes(&[&list]));
        match changes {
            Some(changes) if !changes.everything && !changes.moves && !changes.positional => {
                self.state.unsettle(changes.names.into_iter());
            }
            _ => {
                self.state.adrift = true;
                self.state.forget_everything();
                self.state.lose_place();
            }
        }
    }

    /// The same of a text that nobody knows: `read x; echo "${x@P}"`.
    pub(super) fn evaluated_unknown(&mut self) {
        self.via.push(BString::from(super::LATE));
        drop(self.unclear("…".into()));
        self.via.pop();
    }

    /// Text that is expanded when an expression is evaluated: `a[$(id)]`.
    pub(super) fn evaluated_text(&mut self, text: &BStr) {
        if !text.contains(&b'`') && text.find(b"$(").is_none() {
            return;
        }
        self.via.push(BString::from(super::LATE));
        let whole = BString::from([b": $((", text.as_bytes(), b"))"].concat());
        let list = if self.may_descend() && self.afford(text.len()) {
            parse(whole.as_bstr(), &NoAliases).ok()
        } else {
            None
        };
        match list.as_ref().map(|list| list.items.as_slice()) {
            Some([item]) if item.chain.rest.is_empty() => {
                self.level += 1;
                let stages = &item.chain.first.stages;
                for word in stages.iter().flat_map(|stage| arguments(&stage.command)) {
                    self.visit(word);
                }
                self.level -= 1;
            }
            _ => drop(self.unclear(text)),
        }
        self.via.pop();
    }

    /// A command whose name is an alias: what it stands for is walked as well.
    pub(super) fn expand_alias(&mut self, command: &SimpleCommand, input: &Input) {
        if !self.state.has_aliases() {
            return;
        }
        let Some(name) = super::commands::alias_candidate(command) else { return };
        let Some(texts) = self.state.aliases(name).map(<[BString]>::to_vec) else { return };
        let label = BString::from([b"alias ", name.as_bytes()].concat());
        let written = exacta_syntax::print_command(&Command::Simple(command.clone()));
        for text in texts {
            let known = Known { chosen: (name.into(), text), others: self.known_aliases() };
            self.via.push(label.clone());
            let cost = written.len().saturating_add(known.others.len() * 64);
            let list = if self.may_descend() && self.afford(cost) {
                parse(written.as_bstr(), &known).ok()
            } else {
                None
            };
            match list {
                Some(list) => {
                    let mark = self.state.mark();
                    let outer = std::mem::replace(&mut self.input, input.clone());
                    self.level += 1;
                    // Only once: the text begins with the alias's own name more often than not.
                    self.without_alias(name, |walker| drop(walker.list(&list)));
                    self.level -= 1;
                    self.input = outer;
                    let way = self.state.rollback(mark);
                    self.merge(vec![way], true);
                }
                None => drop(self.unclear(written.as_bstr())),
            }
            self.via.pop();
        }
    }

    fn without_alias(&mut self, name: &BStr, act: impl FnOnce(&mut Self)) {
        self.state.unalias(name);
        act(self);
    }

    fn known_aliases(&self) -> Vec<(BString, BString)> {
        self.state
            .all_aliases()
            .filter_map(|(name, texts)| Some((name.clone(), texts.first()?.clone())))
            .collect()
    }
}

fn arguments(command: &Command) -> impl Iterator<Item = &exacta_syntax::ast::Word> {
    let words = match command {
        Command::Simple(simple) => simple.words.as_slice(),
        _ => &[],
    };
    words.iter().filter_map(|argument| match argument {
        exacta_syntax::ast::Argument::Word(word) => Some(word),
        exacta_syntax::ast::Argument::Assignment(_) => None,
    })
}

/// Aliases as the parser asks for them.
struct Known {
    chosen: (BString, BString),
    others: Vec<(BString, BString)>,
}

impl Aliases for Known {
    fn alias(&self, name: &BStr) -> Option<BString> {
        if self.chosen.0 == *name {
            return Some(self.chosen.1.clone());
        }
        self.others.iter().find(|(other, _)| *other == *name).map(|(_, text)| text.clone())
    }
}

/// `eval` and `trap` of a known text, also behind `command` and `builtin`: [`Walker`] walks it.
pub(super) fn is_followed(words: &[Word]) -> bool {
    let plain = |word: &&Word| {
        word.as_literal().is_some_and(|word| {
            [&b"command"[..], b"builtin", b"-p", b"--"].contains(&word.as_ref())
        })
    };
    let skipped = words.iter().take_while(plain).count();
    match words.get(skipped..).and_then(<[Word]>::split_first) {
        Some((name, operands)) => {
            let known = operands.iter().all(|operand| operand.as_literal().is_some());
            // Without a signal or with an option `trap` sets nothing.
            let sets = operands.len() > 1
                && operands.first().is_some_and(|first| !first.prefix().starts_with(b"-"));
            name.as_literal().is_some_and(|name| name == "eval" || name == "trap" && sets) && known
        }
        None => false,
    }
}

fn parse(text: &BStr, aliases: &dyn Aliases) -> Result<exacta_syntax::ast::List, SyntaxError> {
    let parse = |extglob| {
        let mut parser = Parser::new(text, Limits::default());
        let mut all = exacta_syntax::ast::List::default();
        while let Some(list) =
            parser.next_command(ParseOptions { extglob, posix: false }, aliases)?
        {
            all.items.extend(list.items);
        }
        Ok(all)
    };
    parse(false).or_else(|_: SyntaxError| parse(true))
}
