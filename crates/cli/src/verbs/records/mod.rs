//! `exacta undo | redo | log | diff | commit | discard`: what was recorded, and what becomes of it.

pub mod diff;
pub mod held;
pub mod log;
pub mod refusal;
pub mod trial;
pub mod turn;

pub use log::shortened;

use std::cell::RefCell;

use exacta::records::{RecordId, Records, UndoError, Which};
use serde_json::{Value, json};

use super::deeds::{self, Told};
use super::failed;
use crate::exit::Exit;
use crate::invocation::{Global, RecordVerb};
use crate::progress::Progress;
use crate::table::Look;
use crate::{launch, output};

pub fn perform(global: &Global, verb: &RecordVerb) -> Exit {
    let (asked, records) = match opened(global) {
        Ok(opened) => opened,
        Err(exit) => return exit,
    };
    let Some(words) = changing(verb) else { return act(&asked, &records, verb) };
    // That there is nothing to do anything to is said without a record, which would be the first thing in the project's state.
    if !records.exist() {
        return act(&asked, &Records::none(), verb);
    }
    let effect = words.first().cloned().unwrap_or_default();
    deeds::recorded(global, &effect, &words, || {
        let exit = act(&asked, &records, verb);
        (exit, asked.told.take())
    })
}

fn act(asked: &Asked, records: &Records, verb: &RecordVerb) -> Exit {
    match verb {
        RecordVerb::Turn { turn, which, options } => {
            turn::perform(asked, records, *turn, which, *options)
        }
        RecordVerb::Log { limit } => log::perform(asked, records, *limit),
        RecordVerb::Ids => log::ids(records),
        RecordVerb::Diff(id) => diff::perform(asked, records, *id),
        RecordVerb::Commit(id) => held::commit(asked, records, *id),
        RecordVerb::Discard(id) => held::discard(asked, records, *id),
    }
}

/// The words of a verb that changes something: it is recorded.
fn changing(verb: &RecordVerb) -> Option<Vec<String>> {
    match verb {
        RecordVerb::Turn { options, .. } if options.dry_run => None,
        RecordVerb::Turn { turn, which, options } => {
            let mut words = vec![turn::verb(*turn).to_owned()];
            match which {
                Which::These(ids) => words.extend(ids.iter().map(|id| id.0.to_string())),
                Which::Last(1) => {}
                Which::Last(count) => words.extend(["--last".to_owned(), count.to_string()]),
            }
            words.extend(options.force.then(|| "--force".to_owned()));
            Some(words)
        }
        RecordVerb::Commit(id) => Some(vec!["commit".to_owned(), id.0.to_string()]),
        RecordVerb::Discard(id) => Some(vec!["discard".to_owned(), id.0.to_string()]),
        RecordVerb::Log { .. } | RecordVerb::Ids | RecordVerb::Diff(_) => None,
    }
}

/// The records of the project; what stands in the way is said.
fn opened(global: &Global) -> Result<(Asked, Records), Exit> {
    let root = launch::root(global).map_err(|problem| failed(&problem))?;
    let progress = Progress::new();
    let (look, told) = (Look::of_output(launch::no_colour()), RefCell::default());
    let asked = Asked { json: global.json, look, progress, told };
    match Records::open(&root, asked.progress.watch()) {
        Ok(records) => Ok((asked, records)),
        Err(error) => Err(asked.refused("open the records", &error)),
    }
}

/// How the answer is wanted.
pub struct Asked {
    json: bool,
    look: Look,
    progress: Progress,
    /// For the record.
    told: RefCell<Told>,
}

impl Asked {
    /// Says what was done, and to which records.
    fn tell(&self, text: &str, ids: &[RecordId]) {
        output::print(text);
        let mut told = self.told.borrow_mut();
        told.text.push_str(text);
        told.records.extend(ids.iter().map(|id| id.0));
    }

    /// Says why not, and how that ends.
    fn refused(&self, what: &str, error: &UndoError) -> Exit {
        self.progress.clear();
        refusal::tell(self.json, what, error);
        self.told.borrow_mut().text.push_str(&format!("{what}: {error}\n"));
        refusal::exit(error)
    }
}

/// A name for programs: text, and its bytes where it is none.
fn name(key: &str, path: &[u8]) -> serde_json::Map<String, Value> {
    let mut named = serde_json::Map::new();
    named.insert(key.to_owned(), json!(String::from_utf8_lossy(path)));
    if std::str::from_utf8(path).is_err() {
        let hex = path.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
        named.insert(format!("{key}_hex"), json!(hex));
    }
    named
}

/// A name for people.
fn shown(path: &[u8]) -> String {
    let quoted = exacta::records::diff::quoted(if path.is_empty() { b"." } else { path });
    crate::terminal::visible(&quoted.to_string())
}
