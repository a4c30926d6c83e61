//! What is asked of a session.

use std::sync::Arc;

use bstr::BString;
use exacta_shell::filesystem::OpenFile;

use crate::approvals::Asker;
use crate::heard_output::Listener;
use crate::undo::Keep;

/// One text to run, with what it reads and where its output goes.
pub struct Request {
    pub text: BString,
    pub streams: Streams,
    /// Descriptors among 0, 1 and 2 that the request finds closed.
    pub closed: Vec<u32>,
    /// What becomes of what it changes.
    pub keep: Keep,
    /// Its correlation id; absent: one is made.
    pub id: Option<[u8; 16]>,
    /// Who asks and what for, where that is not what holds for the session.
    pub asker: Option<Asker>,
}

/// Standard input, output and error of a request.
pub enum Streams {
    /// Input that is already there; output is collected in the [`Outcome`].
    Captured { input: Vec<u8> },
    /// The same, and somebody hears the output as it comes.
    Heard { input: Arc<dyn OpenFile>, listener: Arc<dyn Listener> },
    /// The caller's own.
    Given { input: Arc<dyn OpenFile>, output: Arc<dyn OpenFile>, errors: Arc<dyn OpenFile> },
}

impl Request {
    pub fn new(text: impl Into<BString>) -> Self {
        let streams = Streams::Captured { input: Vec::new() };
        Request {
            text: text.into(),
            streams,
            closed: Vec::new(),
            keep: Keep::Apply,
            id: None,
            asker: None,
        }
    }

    pub fn with_stdin(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.streams = Streams::Captured { input: input.into() };
        self
    }

    pub fn with_streams(
        mut self,
        input: Arc<dyn OpenFile>,
        output: Arc<dyn OpenFile>,
        errors: Arc<dyn OpenFile>,
    ) -> Self {
        self.streams = Streams::Given { input, output, errors };
        self
    }

    pub fn heard(mut self, input: Arc<dyn OpenFile>, listener: Arc<dyn Listener>) -> Self {
        self.streams = Streams::Heard { input, listener };
        self
    }

    pub fn asked_by(mut self, asker: Asker) -> Self {
        self.asker = Some(asker);
        self
    }

    /// The id by which its record is found, and by which the caller knows it.
    pub fn known_as(mut self, id: [u8; 16]) -> Self {
        self.id = Some(id);
        self
    }

    /// Nothing of what it changes comes into the project: it waits until somebody decides, by `exacta commit` or
    /// `exacta discard`.
    pub fn held(mut self) -> Self {
        self.keep = Keep::Hold;
        self
    }

    /// The request finds these of its standard descriptors closed, as after `>&-`.
    pub fn without(mut self, closed: impl IntoIterator<Item = u32>) -> Self {
        self.closed = closed.into_iter().collect();
        self
    }
}
