//! Pipelines: each stage in a shell of its own, reading what the ones before it print.

use exacta_syntax::ast::{Command, Pipeline, Stage};

use crate::event::Input;
use crate::word::{Dynamic, Word};

use super::Walker;
use super::output::Output;

/// So many names of earlier commands are told; of more, the first and the last of them.
const MOST_NAMES: usize = 64;

impl Walker<'_> {
    pub(super) fn pipeline(&mut self, pipeline: &Pipeline) -> Output {
        match pipeline.stages.as_slice() {
            [] => Output::nothing(),
            [only] => {
                let output = self.command(&only.command);
                if pipeline.timed.is_some() { Output::unknown() } else { output }
            }
            stages => self.stages(stages),
        }
    }

    fn stages(&mut self, stages: &[Stage]) -> Output {
        let start = self.names.len();
        let outer = self.input.clone();
        self.collecting += 1;
        // What the first stage reads comes through to the others.
        let mut earlier: Vec<Word> = match &outer {
            Input::Pipe(names) => names.clone(),
            _ => Vec::new(),
        };
        let mut output = Output::nothing();
        for (index, stage) in stages.iter().enumerate() {
            if index > 0 {
                self.input = match output {
                    Output::Text(text) => Input::Text(Word::Literal(text)),
                    _ => Input::Pipe(earlier.clone()),
                };
            } else {
                self.input = self.inherited();
            }
            let seen = self.names.len();
            output = self.stage(stage, index + 1 == stages.len());
            for name in self.names.get(seen..).unwrap_or_default() {
                add(&mut earlier, name);
            }
        }
        self.collecting -= 1;
        if self.collecting == 0 {
            self.names.truncate(start);
        }
        self.input = outer;
        output
    }

    fn stage(&mut self, stage: &Stage, last: bool) -> Output {
        let mark = self.state.mark();
        let frames = std::mem::take(&mut self.frames);
        self.reads_alone = matches!(stage.command, Command::Simple(_));
        let mut output = self.command(&stage.command);
        self.reads_alone = false;
        if stage.pipes_errors {
            // Messages come too; what they are is not known.
            output = output.then(Output::unknown());
        }
        self.frames = frames;
        let way = self.state.rollback(mark);
        if last && self.state.last_in_shell {
            self.merge(vec![way], true);
        }
        output
    }

    /// The input at hand for one more command. A long text is not copied for ever.
    pub(super) fn inherited(&mut self) -> Input {
        match &self.input {
            Input::Text(Word::Literal(text)) if text.len() > 1024 => {
                let length = text.len();
                if self.afford(length) {
                    return self.input.clone();
                }
                let dynamic = Dynamic { written: "…".into(), ..Dynamic::default() };
                Input::Text(Word::Dynamic(Box::new(dynamic)))
            }
            input => input.clone(),
        }
    }

    /// Runs something and tells the names of the commands in it.
    pub(super) fn naming(&mut self, act: impl FnOnce(&mut Self) -> Output) -> (Output, Vec<Word>) {
        let start = self.names.len();
        self.collecting += 1;
        let output = act(self);
        self.collecting -= 1;
        let mut names = Vec::new();
        for name in self.names.get(start..).unwrap_or_default() {
            add(&mut names, name);
        }
        if self.collecting == 0 {
            self.names.truncate(start);
        }
        (output, names)
    }
}

/// Each name once, the nearest last.
fn add(names: &mut Vec<Word>, name: &Word) {
    if let Some(known) = names.iter().position(|known| known == name) {
        let known = names.remove(known);
        names.push(known);
        return;
    }
    if names.len() >= MOST_NAMES {
        let middle = MOST_NAMES / 2;
        names.remove(middle);
        if let Some(gap) = names.get_mut(middle) {
            *gap = Word::Dynamic(Box::new(Dynamic { written: "…".into(), ..Dynamic::default() }));
        }
    }
    names.push(name.clone());
}
