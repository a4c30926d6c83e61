//! `a && b || c`: what stands behind an operator runs or not, and what is known later must hold in both cases.

use exacta_syntax::ast::{
    AndOr, AndOrOperator, Argument, AssignedValue, Command, Operation, Pipeline, WordPart,
};

use super::Walker;
use super::output::Output;
use super::paths::Place;
use super::state::Mark;
use super::variables::{initial, plain};

/// What does not fail in practice, so that `&&` after it always goes on.
const RELIABLE: &[&str] = &[
    ":", "true", "cd", "echo", "printf", "export", "set", "declare", "typeset", "local", "alias",
    "trap", "pushd", "popd", "pwd", "unset", "shopt", "readonly", "umask",
];

/// How far a chain has come.
struct Progress {
    output: Output,
    /// From where on something may have failed and skipped what follows.
    doubtful: Option<Mark>,
    /// Where the last pipeline began.
    place: Place,
}

impl Walker<'_> {
    pub(super) fn chain(&mut self, chain: &AndOr) -> Output {
        if chain.rest.is_empty() {
            return self.pipeline(&chain.first);
        }
        let place = self.state.place.clone();
        let output = self.pipeline(&chain.first);
        let doubtful = self.doubt(None, &chain.first);
        let mut progress = Progress { output, doubtful, place };
        for (operator, pipeline) in &chain.rest {
            progress = match operator {
                AndOrOperator::And => self.after_success(progress, pipeline),
                AndOrOperator::Or => self.after_failure(progress, pipeline),
            };
        }
        self.blur(progress.doubtful.as_ref());
        progress.output
    }

    fn after_success(&mut self, before: Progress, pipeline: &Pipeline) -> Progress {
        let place = self.state.place.clone();
        let mark = self.state.mark();
        let reachable = !self.state.ended;
        let printed = self.pipeline(pipeline);
        let certain = before.doubtful.is_none();
        if reachable && self.state.ended && !certain {
            // It ended only if all before it went well.
            let way = self.state.rollback(mark);
            self.merge(vec![way], true);
            self.state.leaked = true;
        }
        let output =
            if certain { before.output.then(printed) } else { before.output.then_maybe(&printed) };
        Progress { output, doubtful: self.doubt(before.doubtful, pipeline), place }
    }

    fn after_failure(&mut self, before: Progress, pipeline: &Pipeline) -> Progress {
        let mark = self.state.mark();
        if before.doubtful.is_some() {
            self.blur(before.doubtful.as_ref());
        } else {
            // `cd x || …`: if it failed, it went nowhere.
            self.state.place.clone_from(&before.place);
        }
        let printed = self.pipeline(pipeline);
        let way = self.state.rollback(mark);
        self.state.leaked |= way.has_ended();
        self.merge(vec![way], true);
        Progress {
            output: before.output.then_maybe(&printed),
            doubtful: self.doubt(None, pipeline),
            place: self.state.place.clone(),
        }
    }

    fn blur(&mut self, doubtful: Option<&Mark>) {
        let surroundings = self.surroundings;
        if let Some(from) = doubtful {
            self.state.blur(from, &|name| initial(surroundings, name));
        }
    }

    fn doubt(&self, doubtful: Option<Mark>, pipeline: &Pipeline) -> Option<Mark> {
        match doubtful {
            None if !is_reliable(pipeline) => Some(self.state.mark()),
            doubtful => doubtful,
        }
    }
}

fn is_reliable(pipeline: &Pipeline) -> bool {
    let [stage] = pipeline.stages.as_slice() else { return false };
    let Command::Simple(command) = &stage.command else { return false };
    if pipeline.negated {
        return false;
    }
    match command.words.first() {
        Some(Argument::Word(word)) => {
            plain(word).is_some_and(|name| RELIABLE.iter().any(|known| *name == *known))
                || makes_parents(&command.words)
        }
        Some(Argument::Assignment(_)) => false,
        // The status of an assignment is that of its last substitution.
        None => command.assignments.iter().all(|assignment| match &assignment.value {
            AssignedValue::Scalar(word) => word.parts.iter().all(is_quiet),
            AssignedValue::Array(_) => true,
        }),
    }
}

/// No command runs in it.
pub(super) fn is_quiet(part: &WordPart) -> bool {
    match part {
        WordPart::Command(_) | WordPart::Process(_) => false,
        WordPart::Parameter(expansion) => expansion.operation == Operation::Plain,
        WordPart::Arithmetic(arithmetic) => arithmetic.expression.is_some(),
        WordPart::DoubleQuoted(parts) | WordPart::LocaleQuoted(parts) => parts.iter().all(is_quiet),
        _ => true,
    }
}

/// `mkdir -p`
fn makes_parents(words: &[Argument]) -> bool {
    let mut texts = words.iter().map(|argument| match argument {
        Argument::Word(word) => plain(word),
        Argument::Assignment(_) => None,
    });
    texts.next().flatten().is_some_and(|name| *name == "mkdir")
        && texts.flatten().any(|word| *word == "-p" || *word == "--parents")
}
