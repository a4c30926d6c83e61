//! `$(…)`, `` `…` ``, `<(…)` and `>(…)`: their commands run in a shell of their own.

use bstr::BString;
use exacta_syntax::ast::{
    Command, CommandSubstitution, List, ProcessDirection, ProcessSubstitution, RedirectKind,
};

use crate::event::Input;
use crate::word::{Dynamic, Word};

use super::Walker;
use super::output::Output;

impl Walker<'_> {
    /// Walks the commands and says what they print.
    pub(super) fn command_substitution(&mut self, substitution: &CommandSubstitution) -> Output {
        let via: &[u8] =
            if substitution.backquoted { b"`\xe2\x80\xa6`" } else { "$(…)".as_bytes() };
        self.enclosed(via, None, &substitution.body)
    }

    pub(super) fn process_substitution(&mut self, process: &ProcessSubstitution) -> Output {
        match process.direction {
            ProcessDirection::Read => self.enclosed("<(…)".as_bytes(), None, &process.body),
            ProcessDirection::Write => {
                // The command that writes into it, and whatever that one reads.
                let mut names = match &self.input {
                    Input::Pipe(names) => names.clone(),
                    _ => Vec::new(),
                };
                names.push(self.writer.clone().unwrap_or_else(unknown_text));
                let input = Input::Pipe(names);
                self.enclosed(">(…)".as_bytes(), Some(input), &process.body)
            }
        }
    }

    fn enclosed(&mut self, via: &[u8], input: Option<Input>, body: &List) -> Output {
        self.via.push(BString::from(via));
        let reuse = self.reuse.take();
        let outer = input.map(|input| std::mem::replace(&mut self.input, input));
        let output = if is_file_read(body) {
            self.list_in_subshell(body);
            Output::unknown()
        } else {
            self.list_in_subshell(body)
        };
        if let Some(outer) = outer {
            self.input = outer;
        }
        self.reuse = reuse;
        self.via.pop();
        output
    }

    /// A list whose effects on the shell end with it.
    pub(super) fn list_in_subshell(&mut self, list: &List) -> Output {
        let mark = self.state.mark();
        let frames = std::mem::take(&mut self.frames);
        let output = self.list(list);
        self.frames = frames;
        self.state.rollback(mark);
        output
    }
}

/// `$(< file)` prints the file.
fn is_file_read(body: &List) -> bool {
    let [item] = body.items.as_slice() else { return false };
    let [stage] = item.chain.first.stages.as_slice() else { return false };
    let Command::Simple(command) = &stage.command else { return false };
    let reads = |kind: &RedirectKind| !matches!(kind, RedirectKind::Duplicate { .. });
    command.words.is_empty()
        && command.assignments.is_empty()
        && command.redirects.iter().any(|redirect| reads(&redirect.kind))
}

fn unknown_text() -> Word {
    Word::Dynamic(Box::new(Dynamic { written: BString::from("…"), ..Dynamic::default() }))
}
