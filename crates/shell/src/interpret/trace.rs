//! `set -x`: what is about to run, as bash prints it.

use std::sync::Arc;

use bstr::{BString, ByteSlice, ByteVec};
use exacta_syntax::ast::{Arithmetic, Assignment, Command, ForLoop, HereDocument, RedirectKind};
use exacta_syntax::{NoAliases, ParseOptions, Parser};

use crate::shell::Shell;

/// `PS4` with its expansions parsed.
#[derive(Clone)]
pub(super) struct Prompt {
    text: BString,
    document: Option<Arc<HereDocument>>,
}

impl Shell {
    pub(super) fn trace_words(&mut self, words: &[BString]) {
        let mut line = BString::default();
        for word in words {
            if !line.is_empty() {
                line.push(b' ');
            }
            line.extend_from_slice(&quote_for_trace(word));
        }
        self.trace(&line);
    }

    /// `value` is that of a scalar, already expanded.
    pub(super) fn trace_assignment(&mut self, assignment: &Assignment, value: Option<&BString>) {
        let mut line = assignment.name.clone();
        if let Some(subscript) = &assignment.subscript {
            line.push(b'[');
            line.extend_from_slice(&exacta_syntax::print_word(&subscript.text));
            line.push(b']');
        }
        line.extend_from_slice(if assignment.append { b"+=" } else { b"=" });
        match value {
            Some(value) if value.is_empty() => {}
            Some(value) => line.extend_from_slice(&quote_for_trace(value)),
            None => line.extend_from_slice(b"()"),
        }
        self.trace(&line);
    }

    pub(super) fn trace_for(&mut self, command: &ForLoop, words: &[BString]) {
        let mut line = BString::from("for ");
        line.extend_from_slice(&command.variable);
        line.extend_from_slice(b" in");
        match &command.words {
            Some(written) => {
                for word in written {
                    line.push(b' ');
                    line.extend_from_slice(&exacta_syntax::print_word(word));
                }
            }
            None => line.extend_from_slice(b" \"$@\""),
        }
        let _ = words;
        self.trace(&line);
    }

    pub(super) fn trace_case(&mut self, subject: &BString) {
        let mut line = BString::from("case ");
        line.extend_from_slice(subject);
        line.extend_from_slice(b" in");
        self.trace(&line);
    }

    pub(super) fn trace_arithmetic(&mut self, expression: &Arithmetic) {
        let mut line = BString::from("(( ");
        line.extend_from_slice(&exacta_syntax::print_word(&expression.text));
        line.extend_from_slice(b" ))");
        self.trace(&line);
    }

    /// One test of `[[ … ]]`, expanded.
    pub(super) fn trace_test(&mut self, words: &[&[u8]]) {
        let mut line = BString::from("[[");
        for word in words {
            line.push(b' ');
            line.extend_from_slice(if word.is_empty() { b"''" } else { word });
        }
        line.extend_from_slice(b" ]]");
        self.trace(&line);
    }

    /// One line behind the prompt, to `BASH_XTRACEFD` or standard error.
    pub(super) fn trace(&mut self, line: &[u8]) {
        let mut text = self.trace_prompt();
        text.extend_from_slice(line);
        text.push(b'\n');
        let descriptor = self.variables.scalar("BASH_XTRACEFD");
        let descriptor = descriptor.and_then(|number| number.to_str().ok()?.parse::<u32>().ok());
        match descriptor.and_then(|number| self.file(number)) {
            Some(file) => {
                let _ = file.write_all(&text);
            }
            None => self.write_error(&text),
        }
    }

    /// `PS4`, its first character once for every level of indirection.
    fn trace_prompt(&mut self) -> BString {
        let Some(prompt) = self.scalar_of("PS4".into()).map(|prompt| prompt.into_owned()) else {
            return BString::default();
        };
        let expanded = self.expand_trace_prompt(prompt);
        let Some(first) = expanded.chars().next() else { return expanded };
        let mut text = BString::default();
        for _ in 0..self.transient.trace_depth {
            text.push_char(first);
        }
        text.extend_from_slice(&expanded);
        text
    }

    fn expand_trace_prompt(&mut self, prompt: BString) -> BString {
        if !prompt.contains(&b'$') && !prompt.contains(&b'`') {
            return prompt;
        }
        let known = self.transient.prompt.as_ref().is_some_and(|known| known.text == prompt);
        if !known {
            let document = parse_prompt(&prompt).map(Arc::new);
            self.transient.prompt = Some(Prompt { text: prompt.clone(), document });
        }
        let document = self.transient.prompt.as_ref().and_then(|known| known.document.clone());
        let Some(document) = document else { return prompt };
        // What the prompt runs is not traced, and `$?` stays as it is.
        self.options.xtrace = false;
        let (status, substitution_status) = (self.status, self.substitution_status);
        let expanded = self.expand_here_document(&document);
        self.status = status;
        self.substitution_status = substitution_status;
        self.options.xtrace = true;
        expanded.unwrap_or(prompt)
    }
}

/// The prompt as the body of a here-document: expansions apply, quotes mean nothing.
fn parse_prompt(prompt: &BString) -> Option<HereDocument> {
    let mut text = BString::from(":<<_END_OF_PROMPT_\n");
    text.extend_from_slice(prompt);
    text.extend_from_slice(b"\n_END_OF_PROMPT_\n");
    let mut parser = Parser::new(&text, exacta_syntax::Limits::default());
    let list = parser.next_command(ParseOptions::default(), &NoAliases).ok()??;
    let item = list.items.into_iter().next()?;
    let stage = item.chain.first.stages.into_iter().next()?;
    let Command::Simple(command) = stage.command else { return None };
    match command.redirects.into_iter().next()?.kind {
        RedirectKind::HereDocument(mut document) => {
            trim_newline(&mut document);
            Some(document)
        }
        _ => None,
    }
}

/// The newline before the delimiter is not part of the prompt.
fn trim_newline(document: &mut HereDocument) {
    if let Some(exacta_syntax::ast::WordPart::Literal(text)) = document.body.parts.last_mut()
        && text.last() == Some(&b'\n')
    {
        text.pop();
    }
}

/// As bash quotes words for `set -x`: only where it must, in single quotes.
pub(super) fn quote_for_trace(word: &BString) -> BString {
    super::shim::traced(word)
}
