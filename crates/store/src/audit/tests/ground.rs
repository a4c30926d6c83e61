//! A project's state directory, and a user's, for a test.

use std::ops::ControlFlow;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::audit::{
    Anchor, Asked, Database, Draft, Durability, Entry, Filter, Intent, Known, Ledger as _, Manner,
    Order, Outcome, Reader, Recorded, Report, Ruling, Signing, Verdict, public_key, verify,
};
use crate::watch::Watch;

pub struct Ground {
    pub folder: PathBuf,
}

pub const ROOT: &[u8] = b"/the/project";

impl Ground {
    pub fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("exacta-audit-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(folder.join("state")).expect("a directory");
        Ground { folder }
    }

    pub fn state(&self) -> OwnedFd {
        std::fs::File::open(self.folder.join("state")).expect("the state").into()
    }

    pub fn database_path(&self) -> PathBuf {
        self.folder.join("state/exacta.db")
    }

    pub fn keys(&self) -> PathBuf {
        self.folder.join("user/audit")
    }

    pub fn signing(&self) -> Signing {
        Signing { folder: Some(self.keys()), project: ROOT.to_vec() }
    }

    pub fn open(&self) -> Database {
        Database::open(self.state().as_fd(), &self.signing()).expect("a database")
    }

    pub fn reader(&self) -> Reader {
        Reader::open(self.state().as_fd()).expect("a reader")
    }

    pub fn known(&self) -> Known {
        let key = public_key(&self.keys()).expect("a key");
        let anchor = Anchor::read_of(&self.keys(), ROOT).expect("an anchor");
        let displaced = Anchor::displaced_of(&self.keys(), ROOT).expect("anchors");
        Known { key, anchors: anchor.into_iter().chain(displaced).collect() }
    }

    pub fn verified(&self) -> Report {
        verify(&self.reader(), &self.known(), &Watch::default()).expect("a report")
    }

    /// Whatever a person with rights to the file can do to it.
    pub fn tamper(&self, sql: &str) {
        let connection = rusqlite::Connection::open(self.database_path()).expect("opens");
        connection.execute_batch(sql).expect("done");
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        let _best_effort = std::fs::remove_dir_all(Path::new(&self.folder));
    }
}

pub const SOON: Manner = Manner { durability: Durability::Process, last: false };
pub const NOW: Manner = Manner { durability: Durability::Disk, last: false };
pub const LAST: Manner = Manner { durability: Durability::Process, last: true };

pub fn asked(number: u64) -> Asked {
    let mut id = [0; 16];
    id[8..].copy_from_slice(&number.to_be_bytes());
    Asked {
        id,
        session: format!("session-{}", number % 3).into(),
        command: format!("echo {number}").into(),
        directory: "/the/project".into(),
        time: 1_700_000_000_000_000 + number as i64,
        ..Asked::default()
    }
}

pub fn intent(number: u64) -> Draft {
    let intent = Intent { asked: asked(number), effect: "change".into(), ..Intent::default() };
    Entry::Intent(Box::new(intent)).into()
}

pub fn outcome(number: u64) -> Outcome {
    Outcome { asked: asked(number), duration: 5, ..Outcome::default() }
}

pub fn read_only(number: u64) -> Draft {
    Entry::Outcome(Box::new(outcome(number))).into()
}

pub fn ended(number: u64, exit: i32) -> Draft {
    Entry::Outcome(Box::new(Outcome { intended: true, exit, ..outcome(number) })).into()
}

pub fn refused(number: u64) -> Draft {
    let ruling = Ruling { verdict: Verdict::Deny, rule: "no-rm".into(), ..Ruling::default() };
    Entry::Outcome(Box::new(Outcome { ruling, exit: 126, ..outcome(number) })).into()
}

/// A database with twenty requests, each with an intent and an outcome: forty records.
pub fn filled() -> Ground {
    let ground = Ground::new();
    let mut database = ground.open();
    for number in 1..=20 {
        database.append(&[intent(number)], NOW).expect("written");
        database.append(&[ended(number, 0)], SOON).expect("written");
    }
    database.append(&[], LAST).expect("written");
    ground
}

/// The numbers of requests, in this order.
pub fn listed(ground: &Ground, filter: &Filter, order: Order) -> Vec<u64> {
    let mut numbers = Vec::new();
    let mut each = |recorded: Recorded| {
        let command = recorded.asked().expect("asked").command.to_string();
        numbers.push(command.trim_start_matches("echo ").parse().expect("a number"));
        ControlFlow::Continue(())
    };
    ground.reader().requests(filter, order, &mut each).expect("listed");
    numbers
}
