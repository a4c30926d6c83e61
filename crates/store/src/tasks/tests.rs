//! Changes that only count if nothing else has changed.

#![expect(clippy::disallowed_methods, reason = "a directory for the test")]

use std::fs::File;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use crate::audit::{Known, Reader, verify};
use crate::watch::Watch;

struct Place(PathBuf);

impl Place {
    fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let name = format!(
            "exacta-tasks-{}-{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Place(path)
    }

    fn store(&self) -> TaskStore {
        TaskStore::open(File::open(&self.0).unwrap().as_fd(), &Signing::default()).unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _left_for_the_system = std::fs::remove_dir_all(Path::new(&self.0));
    }
}

fn row(id: &str) -> Row {
    let (agent, state, body) = ("agent".into(), "pending".into(), "{}".into());
    Row { id: id.into(), agent, state, fence: 0, created: 1, changed: 1, cancelled_by: None, body }
}

fn change<'a>(id: &'a str, from: &'a str, fence: u64, to: &'a str) -> Change<'a> {
    Change { id, agent: "agent", from, fence, to, why: "why", body: "{}", begins_anew: false }
}

#[test]
fn only_what_is_as_it_was_seen_is_changed() {
    let place = Place::new();
    let (mut one, mut other) = (place.store(), place.store());
    one.insert(&row("a"), "asked for", &()).unwrap();
    assert_eq!(one.change(&change("a", "pending", 0, "running"), &()).unwrap(), Some(1));
    assert_eq!(other.change(&change("a", "pending", 0, "cancelled"), &()).unwrap(), None);
    assert_eq!(other.change(&change("a", "running", 0, "cancelled"), &()).unwrap(), None);
    assert_eq!(other.change(&change("a", "running", 1, "running"), &()).unwrap(), Some(2));
    assert_eq!(one.change(&change("a", "running", 1, "failed"), &()).unwrap(), None);
    let found = one.get("a").unwrap().unwrap();
    assert_eq!((found.state.as_str(), found.fence), ("running", 2));
}

#[test]
fn moves_are_in_the_chain_and_those_that_did_not_happen_are_not() {
    let place = Place::new();
    let mut store = place.store();
    store.insert(&row("a"), "asked for", &()).unwrap();
    store.change(&change("a", "pending", 0, "running"), &()).unwrap();
    store.change(&change("a", "pending", 0, "failed"), &()).unwrap();
    let moves = store.moves("a").unwrap();
    let way: Vec<_> = moves.iter().map(|it| (it.from.as_str(), it.to.as_str())).collect();
    assert_eq!(way, [("", "pending"), ("pending", "running")]);
    let reader = Reader::open(File::open(&place.0).unwrap().as_fd()).unwrap();
    let mut chained = Vec::new();
    reader
        .entries(0, &mut |(_, entry)| {
            if let Entry::Moved(moved) = entry {
                chained.push((moved.from.clone(), moved.to.clone()));
            }
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(chained, [(String::new(), "pending".into()), ("pending".into(), "running".into())]);
    let report = verify(&reader, &Known::default(), &Watch::default()).unwrap();
    assert_eq!(report.problems, []);
}

#[test]
fn the_log_is_a_ring() {
    let place = Place::new();
    let mut store = place.store();
    let texts: Vec<String> = (1..=2_500).map(|number| number.to_string()).collect();
    for piece in texts.chunks(300) {
        let lines: Vec<_> = piece.iter().map(|text| (7, "output", text.as_str())).collect();
        store.write_log("a", &lines).unwrap();
    }
    let log = store.log("a", 0).unwrap();
    assert_eq!(log.len(), 1_000);
    assert!(log.iter().all(|line| line.content == line.number.to_string()));
    assert_eq!(log.last().map(|line| line.number), Some(2_500));
    assert_eq!(store.log("a", 2_498).unwrap().len(), 2);
    let lines: Vec<_> = texts.iter().map(|text| (7, "output", text.as_str())).collect();
    store.write_log("a", &lines).unwrap();
    let log = store.log("a", 0).unwrap();
    assert_eq!((log.len(), log.last().map(|line| line.number)), (1_000, Some(5_000)));
}

#[test]
fn who_cancelled_first_is_remembered_until_it_begins_anew() {
    let place = Place::new();
    let mut store = place.store();
    store.insert(&row("a"), "asked for", &()).unwrap();
    assert!(store.ask_to_cancel("a", "anna").unwrap() && store.ask_to_cancel("a", "bob").unwrap());
    assert!(!store.ask_to_cancel("b", "anna").unwrap());
    store.change(&change("a", "pending", 0, "cancelled"), &()).unwrap();
    assert_eq!(store.cancelled_by("a").unwrap().as_deref(), Some("anna"));
    let anew = Change { begins_anew: true, ..change("a", "cancelled", 1, "pending") };
    store.change(&anew, &()).unwrap();
    assert_eq!(store.cancelled_by("a").unwrap(), None);
}
