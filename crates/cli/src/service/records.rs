//! What was done, and taking it back: the undo records and the history of a project.

use std::collections::HashMap;
use std::ops::ControlFlow;

use bstr::BString;
use exacta::audit::store::{AuditError, Filter, Order, Reader, Recorded};
use exacta::audit::{Done, PERSON, Person};
use exacta::records::{Listed, Options, RecordId, Records, State, Turn, UndoError, Watch, Which};
use serde_json::{Value, json};

use super::{Code, Problem, Project};
use crate::exit::Exit;
use crate::verbs::audit::json as audit_json;
use crate::verbs::records::{diff, held, log, refusal, turn};

/// Whose records somebody may see, and take back.
#[derive(Debug, Clone)]
pub enum Seen {
    /// A person: everybody's.
    All,
    /// An agent: what was run for it.
    Of(String),
}

/// What is to be turned, and by whom.
#[derive(Debug, Clone)]
pub struct Turning {
    pub turn: Turn,
    /// `None`: the newest that can be, of those that are seen.
    pub id: Option<u64>,
    pub options: Options,
    pub by: Person,
}

impl Project {
    /// The undo records, newest first.
    pub fn log(&self, seen: &Seen, limit: usize) -> Result<Value, Problem> {
        let records = self.records()?;
        let mut owners = self.owners()?;
        let listed = records.list(None).map_err(|error| refused(&error))?;
        let seen = listed.iter().filter(|one| owners.sees(seen, one)).take(limit);
        Ok(seen.map(log::in_json).collect())
    }

    /// One of them with its changes; the newest that is applied or held if none is named.
    pub fn diff(&self, seen: &Seen, id: Option<u64>) -> Result<Value, Problem> {
        let records = self.records()?;
        let shown = [State::Applied, State::Held];
        let id = self.chosen(&records, seen, id, &shown)?;
        diff::in_json(&records, id).map_err(|error| refused(&error))
    }

    /// Takes one back, or makes it again. It is recorded before it is done, with who does it.
    pub fn turn(&self, seen: &Seen, turning: &Turning) -> Result<Value, Problem> {
        let records = self.records()?;
        let wanted = match turning.turn {
            Turn::Undo => State::Applied,
            Turn::Redo => State::Undone,
        };
        let id = self.chosen(&records, seen, turning.id, &[wanted])?;
        let (which, options) = (Which::These(vec![id]), turning.options);
        let perform = || turn::done(&records, turning.turn, &which, options);
        if options.dry_run {
            return perform().map(|told| told.in_json()).map_err(|error| refused(&error));
        }
        let verb = turn::verb(turning.turn);
        let flag = options.force.then_some("--force");
        self.recorded(&turning.by, verb, id, flag, || {
            perform().map(|told| (told.in_json(), told.text()))
        })
    }

    /// What was held comes into the project, or is dropped.
    pub fn settle(&self, id: u64, commit: bool, by: &Person) -> Result<Value, Problem> {
        let records = self.records()?;
        let (id, verb) = (RecordId(id), if commit { "commit" } else { "discard" });
        self.recorded(by, verb, id, None, || {
            let done =
                if commit { held::committed(&records, id) } else { held::discarded(&records, id) };
            done.map(|value| (value, format!("{verb} {id}\n")))
        })
    }

    /// Recorded before it is done, with who does it, and how it has ended.
    fn recorded(
        &self,
        by: &Person,
        verb: &str,
        id: RecordId,
        flag: Option<&str>,
        perform: impl FnOnce() -> Result<(Value, String), UndoError>,
    ) -> Result<Value, Problem> {
        let mut typed: Vec<BString> = vec!["exacta".into(), verb.into(), id.0.to_string().into()];
        typed.extend(flag.map(BString::from));
        let unrecorded = |error: AuditError| {
            let message = format!("it cannot be recorded, so it is not done: {error}");
            Problem::new(Code::Failed, message, error.next().unwrap_or_default())
        };
        let deed = self.trail()?.begin(by, verb, &typed).map_err(unrecorded)?;
        let (done, exit, told) = match perform() {
            Ok((value, told)) => (Ok(value), Exit::Success, told),
            Err(error) => (Err(refused(&error)), refusal::exit(&error), error.to_string()),
        };
        let records = if done.is_ok() { vec![id.0] } else { Vec::new() };
        deed.end(Done { exit: exit.code(), told: told.into_bytes(), records })
            .map_err(|error| Problem::failed(format!("what was done was not recorded: {error}")))?;
        done
    }

    /// What was asked, newest first.
    pub fn history(&self, seen: &Seen, mut filter: Filter) -> Result<Value, Problem> {
        let trail = self.trail()?;
        let reader = match trail.open() {
            Ok(reader) => reader,
            Err(AuditError::Nothing) => return Ok(json!([])),
            Err(error) => return Err(lost(error)),
        };
        if filter.grep.is_some() {
            trail.prepare_search(&reader);
        }
        // Counted here: those of others do not count.
        let limit = filter.limit.take().unwrap_or(usize::MAX);
        let mut all = Vec::new();
        let each = &mut |recorded: Recorded| {
            if of_whom(&recorded).is_some_and(|agent| seen.covers(agent)) {
                all.push(audit_json::request(&recorded));
            }
            if all.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        reader.requests(&filter, Order::NewestFirst, each).map_err(lost)?;
        Ok(Value::Array(all))
    }

    /// One of them as a whole, with its output.
    pub fn request(&self, seen: &Seen, id: &str) -> Result<Value, Problem> {
        let unknown = || Problem::new(Code::UnknownRecord, format!("there is no request {id}"), "");
        let reader = match self.trail()?.open() {
            Ok(reader) => reader,
            Err(AuditError::Nothing) => return Err(unknown()),
            Err(error) => return Err(lost(error)),
        };
        let recorded = match reader.find(id).and_then(|found| reader.with_starts(found)) {
            Ok(recorded) => recorded,
            Err(AuditError::NoSuchRequest(_)) => return Err(unknown()),
            Err(error) => return Err(lost(error)),
        };
        match of_whom(&recorded) {
            Some(agent) if seen.covers(agent) => Ok(audit_json::whole(&reader, &recorded)),
            _ => Err(unknown()),
        }
    }

    fn records(&self) -> Result<Records, Problem> {
        Records::open(&self.root, Watch::default()).map_err(|error| refused(&error))
    }

    fn owners(&self) -> Result<Owners, Problem> {
        match self.trail()?.open() {
            Ok(reader) => Ok(Owners { reader: Some(reader), known: HashMap::new() }),
            Err(AuditError::Nothing) => Ok(Owners { reader: None, known: HashMap::new() }),
            Err(error) => Err(lost(error)),
        }
    }

    /// The named one, or the newest in one of these states. That there is one of somebody else is not said.
    fn chosen(
        &self,
        records: &Records,
        seen: &Seen,
        id: Option<u64>,
        states: &[State],
    ) -> Result<RecordId, Problem> {
        let mut owners = self.owners()?;
        let hint = "`log` lists those that there are";
        if let Some(id) = id {
            let listed = records.get(RecordId(id)).ok().filter(|one| owners.sees(seen, one));
            return listed.map(|listed| listed.id).ok_or_else(|| {
                Problem::new(Code::UnknownRecord, format!("there is no record {id}"), hint)
            });
        }
        let all = records.list(None).map_err(|error| refused(&error))?;
        let mut fitting = all.iter().filter(|one| states.contains(&one.state));
        let newest = fitting.find(|one| owners.sees(seen, one)).map(|listed| listed.id);
        newest.ok_or_else(|| Problem::new(Code::UnknownRecord, "there is no such record", hint))
    }
}

/// For whom sessions ran: records have the session that made them, and the history knows whose that was.
struct Owners {
    reader: Option<Reader>,
    known: HashMap<String, Option<String>>,
}

impl Owners {
    fn sees(&mut self, seen: &Seen, listed: &Listed) -> bool {
        if matches!(seen, Seen::All) {
            return true;
        }
        let Owners { reader, known } = self;
        let owner = known.entry(listed.session.clone()).or_insert_with(|| {
            let session = Some(listed.session.clone()).filter(|session| !session.is_empty())?;
            let filter = Filter { session: Some(session), limit: Some(1), ..Filter::default() };
            let mut owner = None;
            let each = &mut |recorded: Recorded| {
                owner = of_whom(&recorded).map(str::to_owned);
                ControlFlow::Break(())
            };
            reader.as_ref()?.requests(&filter, Order::NewestFirst, each).ok()?;
            owner
        });
        // What cannot be found out is somebody else's.
        owner.as_deref().is_some_and(|owner| seen.covers(owner))
    }
}

impl Seen {
    fn covers(&self, agent: &str) -> bool {
        match self {
            Seen::All => true,
            Seen::Of(name) => !name.is_empty() && name == agent,
        }
    }
}

/// The agent that it was run for. What people do under an agent's name is not its own.
fn of_whom(recorded: &Recorded) -> Option<&str> {
    let asked = recorded.asked()?;
    Some(if &*asked.session == PERSON { "" } else { &*asked.agent })
}

fn refused(error: &UndoError) -> Problem {
    let code = match refusal::exit(error) {
        Exit::Declined => Code::NotUndone,
        _ => Code::Failed,
    };
    Problem::new(code, error.to_string(), error.next().unwrap_or_default())
}

fn lost(error: AuditError) -> Problem {
    let hint = error.next().unwrap_or_default();
    Problem::new(Code::Failed, error.to_string(), hint)
}
