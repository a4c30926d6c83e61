//! `a && b || c`: what stands behind an operator runs or not, and what is known later must hold in both cases.

use exacta_syntax::ast::{AndOr, AndOrOperator, Command, Pipeline};

use super::Walker;
use super::environment::initial;
use super::output::Output;
use super::paths::{Crossing, Place};
use super::reliable::is_reliable;
use super::state::Mark;

/// How far a chain has come.
struct Progress {
    output: Output,
    /// From where on something may have failed and skipped what follows.
    doubtful: Option<Mark>,
    /// Where the shell is if that happened.
    stopped: Vec<Place>,
    /// The last pipeline was a `cd`.
    crossing: Option<Crossing>,
}

impl Walker<'_> {
    pub(super) fn chain(&mut self, chain: &AndOr) -> Output {
        if chain.rest.is_empty() {
            return self.pipeline(&chain.first);
        }
        let (output, crossing) = self.link(&chain.first);
        let doubtful = self.doubt(None, &chain.first);
        let mut progress = Progress { output, doubtful, stopped: Vec::new(), crossing };
        for (operator, pipeline) in &chain.rest {
            progress = match operator {
                AndOrOperator::And => self.after_success(progress, pipeline),
                AndOrOperator::Or => self.after_failure(progress, pipeline),
            };
        }
        self.blur(progress.doubtful.as_ref(), &progress.stopped);
        progress.output
    }

    /// One pipeline; and where it leads if it is a `cd` and nothing else.
    fn link(&mut self, pipeline: &Pipeline) -> (Output, Option<Crossing>) {
        self.crossing = None;
        let output = self.pipeline(pipeline);
        let crossing = self.crossing.take();
        let alone = match pipeline.stages.as_slice() {
            [stage] => !pipeline.negated && self.is_move(&stage.command),
            _ => false,
        };
        (output, crossing.filter(|_| alone))
    }

    /// Is it surely the builtin?
    fn is_move(&self, command: &Command) -> bool {
        let Command::Simple(command) = command else { return false };
        let Some(name) = super::commands::alias_candidate(command) else { return false };
        ["cd", "pushd", "popd"].iter().any(|known| *name == *known)
            && self.state.function(name).is_none()
            && self.state.aliases(name).is_none()
    }

    fn after_success(&mut self, before: Progress, pipeline: &Pipeline) -> Progress {
        let Progress { output, mut doubtful, mut stopped, crossing } = before;
        match crossing {
            Some(Crossing { success, failure: Some(failure) }) => {
                doubtful = doubtful.or_else(|| Some(self.state.mark()));
                stopped.push(failure);
                self.state.place = success;
            }
            None if doubtful.is_some() => stopped.push(self.state.place.clone()),
            _ => {}
        }
        let mark = self.state.mark();
        let reachable = !self.state.ended;
        let (printed, crossing) = self.link(pipeline);
        let certain = doubtful.is_none();
        if reachable && self.state.ended && !certain {
            // It ended only if all before it went well.
            let way = self.state.rollback(mark);
            self.merge(vec![way], true);
            self.state.leaked = true;
        }
        let output = if certain { output.then(printed) } else { output.then_maybe(&printed) };
        Progress { output, doubtful: self.doubt(doubtful, pipeline), stopped, crossing }
    }

    fn after_failure(&mut self, before: Progress, pipeline: &Pipeline) -> Progress {
        // If all went well, nothing of what follows here runs.
        if let Some(crossing) = &before.crossing {
            self.state.place = crossing.success.clone();
        }
        let mark = self.state.mark();
        if let Some(Crossing { failure: Some(failure), .. }) = before.crossing {
            // `cd x || …`: if it failed, it went nowhere.
            self.state.place = failure;
        }
        self.blur(before.doubtful.as_ref(), &before.stopped);
        let printed = self.pipeline(pipeline);
        let way = self.state.rollback(mark);
        self.state.leaked |= way.has_ended();
        self.merge(vec![way], true);
        Progress {
            output: before.output.then_maybe(&printed),
            doubtful: self.doubt(None, pipeline),
            stopped: Vec::new(),
            crossing: None,
        }
    }

    fn blur(&mut self, doubtful: Option<&Mark>, stopped: &[Place]) {
        let surroundings = self.surroundings;
        if let Some(from) = doubtful {
            self.state.blur(from, &|name| initial(surroundings, name));
        }
        for place in stopped {
            self.state.place.or_else(place);
        }
    }

    fn doubt(&self, doubtful: Option<Mark>, pipeline: &Pipeline) -> Option<Mark> {
        match doubtful {
            None if !is_reliable(pipeline, &self.state) => Some(self.state.mark()),
            doubtful => doubtful,
        }
    }
}
