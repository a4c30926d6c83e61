//! Which message is about which question, and what was heard already: kept in the operator's state, so that a restart neither
//! asks twice nor forgets.

#![expect(
    clippy::disallowed_methods,
    reason = "the operator's own state, outside of every project"
)]

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use exacta::approvals::Pending;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Message {
    pub number: i64,
    /// It says what became of it.
    pub settled: bool,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Kept {
    offset: i64,
    messages: BTreeMap<String, Message>,
}

pub struct Memory {
    path: PathBuf,
    kept: Kept,
}

impl Memory {
    pub fn open(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let path = folder.join("telegram.json");
        let kept = match fs::read(&path) {
            // What is broken is as good as forgotten: some questions are asked again.
            Ok(text) => serde_json::from_slice(&text).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Kept::default(),
            Err(error) => return Err(error),
        };
        Ok(Memory { path, kept })
    }

    pub fn find(&self, id: &str) -> Option<Message> {
        self.kept.messages.get(id).copied()
    }

    pub fn remember(&mut self, id: &str, message: Message) {
        self.kept.messages.insert(id.to_owned(), message);
        self.write();
    }

    /// What nobody has on file any more.
    pub fn forget_but(&mut self, all: &[Pending]) {
        let before = self.kept.messages.len();
        // Of other projects nothing is known here: only what was said about these goes, once it is settled.
        self.kept
            .messages
            .retain(|id, message| !message.settled || all.iter().any(|pending| pending.id == *id));
        if self.kept.messages.len() != before {
            self.write();
        }
    }

    pub fn offset(&self) -> i64 {
        self.kept.offset
    }

    pub fn seen(&mut self, update: i64) {
        self.kept.offset = self.kept.offset.max(update + 1);
        self.write();
    }

    /// What cannot be written is asked again after a restart, and nothing worse.
    fn write(&self) {
        let text = serde_json::to_vec(&self.kept).unwrap_or_default();
        let new = self.path.with_extension("new");
        let _at_worst_twice = fs::write(&new, text).and_then(|()| fs::rename(&new, &self.path));
    }
}
