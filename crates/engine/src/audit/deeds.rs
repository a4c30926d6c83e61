//! What a person does to a project with exacta itself: undo, redo, commit, discard, trust, answers to questions. It is recorded
//! like a request, in the same chain and the same history: an intent before it is done, an outcome when it is.
//!
//! Such a request is of the session [`PERSON`], so that all of them are found by that. What does it is not a program in a jail:
//! it has no steps but the records that it is about.

use std::fmt;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use bstr::{BString, ByteSlice};
use exacta_store::audit::{
    Asked, AuditError, Captured, Cleanser, Database, Entry, Intent, Isolation, Ledger, Outcome,
    Ruling, Step, Undo, Writer, now,
};
use rustix::io::Errno;

use super::cleansing::Usual;
use super::trail::Trail;
use super::words::Ids;
use crate::filesystem::state::open_path;
use crate::project;

/// The session of everything that people do themselves.
pub const PERSON: &str = "person";
/// That of what agents do with exacta itself: they take back what they have done.
pub const AGENT: &str = "agent";

/// Who does something, and how he comes in.
#[derive(Debug, Clone, Default)]
pub struct Person {
    pub user: u32,
    /// As the system calls that user; empty if it does not know him.
    pub name: String,
    /// Somebody sits there.
    pub terminal: bool,
    /// As `EXACTA_AGENT` calls whoever asks; may be empty.
    pub agent: String,
    /// The door through which an agent does it by itself: `mcp`.
    pub door: Option<&'static str>,
}

impl Person {
    /// Whoever runs this process.
    pub fn of_process(terminal: bool, agent: String) -> Self {
        let user = rustix::process::getuid().as_raw();
        Person { user, name: name_of(user).unwrap_or_default(), terminal, agent, door: None }
    }

    /// An agent that came in through this door, on behalf of whoever runs this process.
    pub fn agent(agent: String, door: &'static str) -> Self {
        Person { door: Some(door), ..Person::of_process(false, agent) }
    }

    fn session(&self) -> &'static str {
        if self.door.is_some() { AGENT } else { PERSON }
    }

    fn ruling(&self) -> Ruling {
        let reason = match (self.door, self.terminal) {
            (Some(door), _) => format!("done by an agent of {self} through {door}"),
            (None, true) => format!("done by {self} at a terminal"),
            (None, false) => format!("done by {self} without a terminal"),
        };
        Ruling { rule: self.session().into(), reason, ..Ruling::default() }
    }
}

/// `anna (uid 1000)`
impl fmt::Display for Person {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Person { user, name, .. } = self;
        if name.is_empty() { write!(f, "uid {user}") } else { write!(f, "{name} (uid {user})") }
    }
}

/// Something that is recorded as begun. What is not [ended](Self::end) is in the record without an outcome.
pub struct Deed {
    writer: Writer,
    asked: Asked,
    ruling: Ruling,
    effect: String,
    begun: Instant,
    cleanser: Arc<dyn Cleanser>,
}

/// How it went.
#[derive(Debug, Clone, Default)]
pub struct Done {
    pub exit: u8,
    /// What was said about it.
    pub told: Vec<u8>,
    /// The undo records that it was about.
    pub records: Vec<u64>,
}

impl Trail {
    /// On the disk when this returns; an error means: do not do it. `effect` is the verb, `words` all of it as typed.
    pub fn begin(
        &self,
        person: &Person,
        effect: &str,
        words: &[BString],
    ) -> Result<Deed, AuditError> {
        let (state, signing) = (self.writable_state()?, self.signing());
        let open = move || {
            let database = Database::open(state.as_fd(), &signing)?;
            Ok(Box::new(database) as Box<dyn Ledger>)
        };
        let writer = Writer::new(Box::new(open), self.limits());
        let typed = words.iter().map(|word| crate::report::typed(word.as_bstr()));
        let (time, shown) = (now(), person.to_string());
        let asked = Asked {
            id: Ids::new().next(time),
            session: person.session().into(),
            agent: if person.agent.is_empty() {
                shown.into()
            } else {
                person.agent.as_str().into()
            },
            command: bstr::join(" ", typed).into(),
            directory: self.root().as_os_str().as_bytes().into(),
            time,
            profile: "".into(),
        };
        let (ruling, effect) = (person.ruling(), effect.to_owned());
        let cleanser: Arc<dyn Cleanser> = Arc::new(Usual);
        let intent =
            Intent { asked: asked.clone(), ruling: ruling.clone(), effect: effect.clone() };
        writer.commit(Entry::Intent(Box::new(intent)), &cleanser)?;
        Ok(Deed { writer, asked, ruling, effect, begun: Instant::now(), cleanser })
    }

    /// The state, made if there is none; of a project that this user cannot write to, that in the user's own.
    fn writable_state(&self) -> Result<OwnedFd, AuditError> {
        match self.state() {
            Err(AuditError::Nothing) => {}
            state => return state,
        }
        let made = project::state_directory(self.root()).map(|_path| ());
        let elsewhere =
            || open_path(&project::record_elsewhere(self.root().as_os_str().as_bytes())?);
        match made {
            Ok(()) => self.state(),
            Err(error) if super::writers::is_read_only(&error) => elsewhere().map_err(failed),
            Err(error) => Err(failed(error)),
        }
    }
}

impl Deed {
    /// It has been done, or was declined.
    pub fn end(self, done: Done) -> Result<(), AuditError> {
        let Done { exit, told, records } = done;
        let step = |record: &u64| Step {
            argv: vec![self.effect.as_str().into(), record.to_string().into()],
            rule: Some(self.ruling.rule.as_str().into()),
            builtin: true,
            exit: i32::from(exit),
            duration: 0,
        };
        // Of several there is no one id that stands for all of them; they are in the steps.
        let undo = match records.as_slice() {
            [id] => Some(Undo { id: *id, strategy: self.effect.clone() }),
            _ => None,
        };
        let outcome = Outcome {
            intended: true,
            exit: i32::from(exit),
            duration: u64::try_from(self.begun.elapsed().as_micros()).unwrap_or(u64::MAX),
            isolation: Isolation { level: "in-process".to_owned(), ..Isolation::default() },
            steps: records.iter().map(step).collect(),
            undo,
            asked: self.asked,
            ruling: self.ruling,
            ..Outcome::default()
        };
        let streams = Box::new([Captured::whole(told), Captured::default()]);
        self.writer.submit(Entry::Outcome(Box::new(outcome)), Some(streams), &self.cleanser)?;
        self.writer.close()
    }
}

/// As `/etc/passwd` has it: a name for people, the number is what counts.
fn name_of(user: u32) -> Option<String> {
    let all = project::read_operator_file(Path::new("/etc/passwd")).ok()?;
    let line = all.lines().find_map(|line| {
        let mut fields = line.split(|byte| *byte == b':');
        let name = fields.next()?;
        let number = fields.nth(1)?.to_str().ok()?.parse::<u32>().ok()?;
        (number == user).then(|| name.to_str_lossy().into_owned())
    });
    line.filter(|name| !name.is_empty())
}

fn failed(error: std::io::Error) -> AuditError {
    let errno = Errno::from_io_error(&error).unwrap_or(Errno::IO);
    AuditError::System { doing: "open the state", path: ".clada".into(), errno }
}
