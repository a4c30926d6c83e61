//! `exacta undo | redo | log | diff | commit | discard`: what was recorded, and what becomes of it.

mod diff;
mod held;
mod log;
mod refusal;
pub mod trial;
mod turn;

pub use log::shortened;

use exacta::records::{Records, UndoError};
use serde_json::{Value, json};

use super::failed;
use crate::exit::Exit;
use crate::invocation::{Global, RecordVerb};
use crate::launch;
use crate::progress::Progress;
use crate::table::Look;

pub fn perform(global: &Global, verb: &RecordVerb) -> Exit {
    let (asked, records) = match opened(global) {
        Ok(opened) => opened,
        Err(exit) => return exit,
    };
    match verb {
        RecordVerb::Turn { turn, which, options } => {
            turn::perform(&asked, &records, *turn, which, *options)
        }
        RecordVerb::Log { limit } => log::perform(&asked, &records, *limit),
        RecordVerb::Ids => log::ids(&records),
        RecordVerb::Diff(id) => diff::perform(&asked, &records, *id),
        RecordVerb::Commit(id) => held::commit(&asked, &records, *id),
        RecordVerb::Discard(id) => held::discard(&asked, &records, *id),
    }
}

/// The records of the project; what stands in the way is said.
fn opened(global: &Global) -> Result<(Asked, Records), Exit> {
    let root = launch::root(global).map_err(|problem| failed(&problem))?;
    let progress = Progress::new();
    let asked = Asked { json: global.json, look: Look::of_output(launch::no_colour()), progress };
    match Records::open(&root, asked.progress.watch()) {
        Ok(records) => Ok((asked, records)),
        Err(error) => Err(asked.refused("open the records", &error)),
    }
}

/// How the answer is wanted.
struct Asked {
    json: bool,
    look: Look,
    progress: Progress,
}

impl Asked {
    /// Says why not, and how that ends.
    fn refused(&self, what: &str, error: &UndoError) -> Exit {
        self.progress.clear();
        refusal::tell(self.json, what, error);
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
