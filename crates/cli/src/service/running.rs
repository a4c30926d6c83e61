//! One request, from what was asked to what is reported.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bstr::{BString, ByteSlice};
use exacta::approvals::{Asker, Patience, Pending, Waiting};
use exacta::gate::Face;
use exacta::{Canceller, Listener, OutputLimit, Request, Session, SessionOptions, Stream};
use exacta_shell::filesystem::OpenFile;
use exacta_shell::pipe::Bytes;
use serde_json::Value;

use super::{Code, Problem, Project, limits};
use crate::verbs::report;

/// What a door was asked to run.
#[derive(Debug, Clone, Default)]
pub struct Ask {
    pub command: BString,
    pub directory: Option<PathBuf>,
    pub environment: Vec<(BString, BString)>,
    pub timeout: Option<Duration>,
    pub agent: String,
    pub goal: String,
    /// Nothing of what it changes comes into the project before somebody says so.
    pub hold: bool,
    /// How long it waits for a person; absent: the usual time.
    pub wait: Option<Patience>,
    /// Show no more of its output than this, whatever the profile says.
    pub shown_bytes: Option<u64>,
}

/// What somebody hears while it runs.
#[derive(Debug)]
pub enum Told<'a> {
    Started {
        id: &'a str,
    },
    Output {
        stream: Stream,
        data: &'a [u8],
    },
    /// A question was asked, or decided.
    Approval(&'a Pending),
}

/// Hears it, on the thread that runs the command: as long as it does not return, that waits. An error: nobody listens any more.
pub type Hearer = Arc<dyn Fn(Told<'_>) -> io::Result<()> + Send + Sync>;

struct Ears(Hearer);

impl Listener for Ears {
    fn hear(&self, stream: Stream, data: &[u8]) -> io::Result<()> {
        (self.0)(Told::Output { stream, data })
    }
}

/// A session with somebody to ask.
pub struct Attended {
    session: Session,
    waiting: Arc<Waiting>,
    output_bytes: u64,
}

/// A request that is about to run.
pub struct Ready<'a> {
    attended: &'a mut Attended,
    pub canceller: Canceller,
    id: uuid::Uuid,
}

impl Attended {
    pub fn open(project: &Project, ask: &Ask) -> Result<Self, Problem> {
        let launch = project.launch()?;
        let output_bytes = launch.output_bytes();
        let waiting = Arc::new(Waiting::new(&project.root));
        let mut options = launch.session(Face::Run, Arc::clone(&waiting) as _);
        adjust(&mut options, ask);
        let wanted = options.directory.clone();
        let mut session = Session::new(options).map_err(Problem::failed)?;
        check_directory(&session, wanted)?;
        // After the session has begun, as if it had exported them itself: the judge looks at what an agent brings along.
        for (name, value) in &ask.environment {
            session.shell_mut().variables.export(name.as_bstr(), value.clone());
        }
        Ok(Attended { session, waiting, output_bytes })
    }

    pub fn session(&self) -> &Session {
        &self.session
    }

    pub fn prepare(&mut self, ask: &Ask) -> Ready<'_> {
        let id = uuid::Uuid::now_v7();
        let root = self.session.shell().host.files().root().to_str_lossy().into_owned();
        let bytes = ask.shown_bytes.map_or(self.output_bytes, |most| most.min(self.output_bytes));
        let name = format!("output-{id}");
        self.session.set_output(OutputLimit::new(bytes, Some(root.into()), name));
        self.session.set_wall_time(ask.timeout);
        let canceller = self.session.prepare();
        Ready { attended: self, canceller, id }
    }
}

impl Attended {
    /// One that was prepared before, on another thread.
    pub fn again(&mut self, canceller: Canceller) -> Ready<'_> {
        Ready { attended: self, canceller, id: uuid::Uuid::now_v7() }
    }
}

impl Ready<'_> {
    /// Runs it, and reports on it as `exacta run --json` does.
    pub fn run(self, ask: &Ask, input: Option<Arc<dyn OpenFile>>, hearer: &Hearer) -> Value {
        let Ready { attended: Attended { session, waiting, .. }, canceller, id } = self;
        let id_text = id.to_string();
        let _who_is_gone_is_told_by_the_first_output = hearer(Told::Started { id: &id_text });
        let told = Arc::clone(hearer);
        let mut patience = ask.wait.clone().unwrap_or_else(|| Patience::of(limits::USUAL_WAIT));
        patience.longest = patience.longest.min(limits::LONGEST_WAIT);
        waiting.begin(canceller.clone(), patience, move |pending| {
            let _who_is_gone_has_cancelled_it = told(Told::Approval(pending));
        });
        let input = input.unwrap_or_else(|| Arc::new(Bytes::new(Vec::new())));
        let asker = Asker { agent: ask.agent.clone(), goal: ask.goal.clone(), plan: Vec::new() };
        let request = Request::new(ask.command.clone())
            .heard(input, Arc::new(Ears(Arc::clone(hearer))))
            .known_as(id.into_bytes())
            .asked_by(asker);
        let request = if ask.hold { request.held() } else { request };
        let directory = session.shell().directory.to_string();
        let started = SystemTime::now();
        let outcome = session.run(&request);
        let asked = report::Asked { command: &ask.command, id: &id_text, directory, started };
        report::of(&asked, &outcome, report::status(&outcome))
    }
}

fn adjust(options: &mut SessionOptions, ask: &Ask) {
    options.directory = ask.directory.as_ref().map(|directory| options.root.join(directory));
    if let Some(audit) = &mut options.audit {
        // This process goes on: what is recorded is written in groups.
        audit.eager = false;
        if !ask.agent.is_empty() {
            audit.agent.clone_from(&ask.agent);
        }
    }
    options.record_steps = true;
}

/// A command for another directory must not run in this one.
fn check_directory(session: &Session, wanted: Option<PathBuf>) -> Result<(), Problem> {
    let Some(wanted) = wanted else { return Ok(()) };
    if session.shell().directory == wanted.as_os_str().as_encoded_bytes() {
        return Ok(());
    }
    let message = format!("{}: No such directory in the project", wanted.display());
    Err(Problem::new(Code::NotADirectory, message, "paths begin at the root of the project"))
}
