//! Each way to tamper with what was recorded, and that it is found and named.

use super::ground::*;
use crate::audit::verify::ProblemKind::{self, Changed, CutOff, Inserted, Removed, Unsigned};
use crate::audit::{Known, Ledger as _, verify};
use crate::watch::Watch;

/// What is found first after this was done to forty records: every odd one an intent, every even one its outcome.
fn found(sql: &str) -> Vec<(ProblemKind, u64)> {
    let ground = filled();
    assert!(ground.verified().is_good());
    ground.tamper(sql);
    ground.verified().problems.iter().map(|it| (it.kind, it.sequence)).collect()
}

#[test]
fn a_record_that_was_changed() {
    let flipped =
        "UPDATE records SET body = substr(body, 1, 30) || x'ff' || substr(body, 32) WHERE seq = 11";
    assert!(found(flipped).contains(&(Changed, 11)));
    assert_eq!(found("UPDATE records SET stamp = stamp + 1 WHERE seq = 11"), [(Changed, 11)]);
    assert!(found("UPDATE records SET kind = 2 WHERE seq = 11").contains(&(Changed, 11)));
    assert!(found("UPDATE records SET kind = 99 WHERE seq = 11").contains(&(Changed, 11)));
    assert!(found("UPDATE records SET body = 'x' WHERE seq = 11").contains(&(Changed, 11)));
    assert!(found("UPDATE records SET hash = 7 WHERE seq = 11").contains(&(Changed, 11)));
    // The last one has nobody behind it, but it is signed.
    assert_eq!(found("UPDATE records SET stamp = stamp + 1 WHERE seq = 40"), [(Changed, 40)]);
}

#[test]
fn a_record_that_was_removed() {
    let found = found;
    let removed = found("DELETE FROM records WHERE seq = 12");
    assert!(removed.contains(&(Removed, 12)), "{removed:?}");
    let several = found("DELETE FROM records WHERE seq BETWEEN 5 AND 8");
    assert!(several.contains(&(Removed, 5)));
    let first = found("DELETE FROM records WHERE seq = 1");
    assert!(first.contains(&(Removed, 1)));
    let renumbered = "DELETE FROM records WHERE seq IN (11, 12);
        UPDATE records SET seq = -(seq - 2) WHERE seq > 12; UPDATE records SET seq = -seq WHERE seq < 0;";
    assert_eq!(found(renumbered), [(Changed, 11), (Removed, 11), (CutOff, 39)]);
    // All of it gone from the list, and nothing from the chain.
    assert_eq!(found("DELETE FROM requests WHERE first = 11"), [(Removed, 11)]);
}

#[test]
fn a_record_that_was_put_in() {
    let inserted = "UPDATE records SET seq = -(seq + 1) WHERE seq >= 11;
        UPDATE records SET seq = -seq WHERE seq < 0;
        INSERT INTO records SELECT 11, stamp, kind, zeroblob(32), body FROM records WHERE seq = 10;";
    assert_eq!(found(inserted), [(Changed, 11), (Inserted, 11)]);
    // With the hash that its neighbour has: one of the two is too many.
    assert_eq!(found(&inserted.replace("zeroblob(32)", "hash")), [(Inserted, 10)]);
    let row =
        "INSERT INTO requests SELECT 12, NULL, x'00', session, verdict, exit, started, command
        FROM requests WHERE first = 11";
    assert_eq!(found(row), [(Inserted, 12)]);
    assert_eq!(found("INSERT INTO outputs VALUES (24, x'00')"), [(Inserted, 12)]);
}

#[test]
fn records_that_were_cut_off() {
    let with_checkpoints =
        "DELETE FROM records WHERE seq > 30; DELETE FROM checkpoints WHERE seq > 30;
        DELETE FROM requests WHERE first > 30";
    assert_eq!(found(with_checkpoints), [(CutOff, 31)]);
    assert!(found("DELETE FROM records WHERE seq > 38").contains(&(CutOff, 39)));
    let all = "DELETE FROM records; DELETE FROM checkpoints; DELETE FROM requests";
    assert_eq!(found(all), [(CutOff, 1)]);
}

type Stored = (u64, i64, i64, [u8; 32], Vec<u8>);

/// Whoever can write everything anew, hashes and all, has no key.
#[test]
fn a_chain_that_was_written_anew() {
    let rewrite = |ground: &Ground, keep_checkpoints: bool| {
        let connection = rusqlite::Connection::open(ground.database_path()).expect("opens");
        let read = "SELECT seq, stamp, kind, hash, body FROM records WHERE seq >= 10 ORDER BY seq";
        let mut statement = connection.prepare(read).expect("prepared");
        let rows: Vec<Stored> = statement
            .query_map([], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
            })
            .expect("queried")
            .collect::<Result<_, _>>()
            .expect("read");
        let mut before = rows[0].3;
        for (seq, stamp, kind, _, body) in rows.iter().skip(1) {
            let stamp = stamp + i64::from(*seq == 11);
            let kind = crate::audit::Kind::from_number(*kind);
            before = crate::audit::chain::hash(&before, *seq, stamp, kind, body);
            let write = "UPDATE records SET stamp = ?, hash = ? WHERE seq = ?";
            connection.execute(write, rusqlite::params![stamp, before, seq]).expect("written");
        }
        if !keep_checkpoints {
            connection.execute_batch("DELETE FROM checkpoints WHERE seq > 10").expect("gone");
        }
    };
    for keep_checkpoints in [true, false] {
        let ground = filled();
        rewrite(&ground, keep_checkpoints);
        let report = ground.verified();
        assert_eq!(report.problems.len(), 1, "{:?}", report.problems);
        let named = if keep_checkpoints { 11 } else { 39 };
        assert_eq!((report.problems[0].kind, report.problems[0].sequence), (Changed, named));
        // Without anything from outside, and without checkpoints, nobody could tell.
        let blind = verify(&ground.reader(), &Known::default(), &Watch::default());
        assert_eq!(blind.expect("a report").is_good(), !keep_checkpoints);
    }
}

#[test]
fn signatures_of_others() {
    let forged = found("UPDATE checkpoints SET signature = zeroblob(64) WHERE seq = 21");
    assert_eq!(forged, [(Unsigned, 21)]);
    // A whole database of somebody else's, in the place of this one.
    let (ours, theirs) = (filled(), filled());
    drop(ours.open());
    for name in ["exacta.db", "exacta.db-wal"] {
        let from = theirs.folder.join("state").join(name);
        std::fs::copy(from, ours.folder.join("state").join(name)).expect("copied");
    }
    let _may_be_there = std::fs::remove_file(ours.folder.join("state/exacta.db-shm"));
    let problems = ours.verified().problems;
    assert!(problems.iter().any(|it| it.kind == CutOff), "{problems:?}");
    assert!(problems.iter().any(|it| it.kind == Unsigned), "{problems:?}");
}

#[test]
fn what_the_history_says_is_verified_too() {
    for change in [
        "command = 'echo nothing'",
        "exit = 0, verdict = 2",
        "session = 'x'",
        "started = 1",
        "last = NULL",
        "id = x'00112233445566778899aabbccddeeff'",
    ] {
        let sql = format!("UPDATE requests SET {change} WHERE first = 11");
        assert_eq!(found(&sql), [(Changed, 11)], "{change}");
    }
}

#[test]
fn outputs_are_held_by_the_chain() {
    let ground = Ground::new();
    let mut draft = read_only(1);
    let long = crate::audit::Captured::whole(vec![b'x'; 10_000]);
    let (output, beside) = crate::audit::output::split(long);
    if let crate::audit::Entry::Outcome(outcome) = &mut draft.entry {
        outcome.stdout = output;
    }
    draft.beside[0] = beside;
    ground.open().append(&[draft], NOW).expect("written");
    assert!(ground.verified().is_good());
    let kinds = |sql: &str| {
        ground.tamper(sql);
        ground.verified().problems.iter().map(|it| it.kind).collect::<Vec<_>>()
    };
    assert_eq!(kinds("UPDATE outputs SET data = data || x'00'"), [Changed]);
    assert_eq!(kinds("DELETE FROM outputs"), [Removed]);
}

#[test]
fn records_that_changed_places() {
    let swapped =
        "UPDATE records SET seq = -11 WHERE seq = 11; UPDATE records SET seq = 11 WHERE seq = 13;
        UPDATE records SET seq = 13 WHERE seq = -11;";
    let places = found(swapped);
    assert!(places.contains(&(Changed, 11)) && places.contains(&(Changed, 13)), "{places:?}");
    let contents = "CREATE TEMP TABLE x AS SELECT seq, body FROM records WHERE seq IN (11, 13);
        UPDATE records SET body = (SELECT body FROM x WHERE x.seq = 24 - records.seq) WHERE seq IN (11, 13);";
    let contents = found(contents);
    assert!(contents.contains(&(Changed, 11)) && contents.contains(&(Changed, 13)), "{contents:?}");
}

#[test]
fn another_identity_is_another_chain() {
    let problems = found("UPDATE meta SET value = randomblob(16) WHERE name = 'database'");
    assert!(problems.contains(&(Changed, 1)), "{problems:?}");
    assert!(problems.iter().any(|(kind, _)| *kind == CutOff), "{problems:?}");
    assert!(problems.iter().any(|(kind, _)| *kind == Unsigned), "{problems:?}");
}

/// Without checkpoints the chain would still hold against the anchor, but nobody could tell how far it was signed.
#[test]
fn checkpoints_that_are_gone() {
    assert_eq!(found("DELETE FROM checkpoints"), [(Unsigned, 39)]);
    assert_eq!(found("DELETE FROM checkpoints WHERE seq >= 39"), [(Unsigned, 39)]);
}

/// What somebody appends in the right form behind the last signature cannot be told from a record: it is only not signed.
#[test]
fn a_record_behind_the_last_signature() {
    let ground = filled();
    let unsigned = crate::audit::Signing::default();
    let state = ground.state();
    let mut forger =
        crate::audit::Database::open(std::os::fd::AsFd::as_fd(&state), &unsigned).expect("opens");
    forger.append(&[read_only(66)], SOON).expect("written");
    let report = ground.verified();
    assert_eq!((report.is_good(), report.signed, report.last), (true, 40, 41));
    let wrong =
        "INSERT INTO records SELECT 42, stamp, kind, hash, body FROM records WHERE seq = 41";
    ground.tamper(wrong);
    let problems = ground.verified().problems;
    assert!(problems.iter().any(|it| it.kind == Inserted), "{problems:?}");
}

/// The state as it was, and later put back.
struct Copy(Vec<(&'static str, Option<Vec<u8>>)>);

impl Copy {
    const NAMES: [&'static str; 3] = ["exacta.db", "exacta.db-wal", "exacta.db-shm"];

    fn of(ground: &Ground) -> Self {
        let read = |name| (name, std::fs::read(ground.folder.join("state").join(name)).ok());
        Copy(Self::NAMES.map(read).into())
    }

    fn put_back(&self, ground: &Ground) {
        for (name, content) in &self.0 {
            let path = ground.folder.join("state").join(name);
            let _may_be_missing = std::fs::remove_file(&path);
            if let Some(content) = content.as_ref().filter(|_| !name.ends_with("shm")) {
                std::fs::write(path, content).expect("put back");
            }
        }
    }
}

fn kinds(ground: &Ground) -> Vec<(ProblemKind, u64)> {
    let report = verify(&ground.reader(), &ground.known(), &Watch::default()).expect("a report");
    report.problems.iter().map(|it| (it.kind, it.sequence)).collect()
}

#[test]
fn an_older_copy_in_its_place() {
    let ground = filled();
    let copy = Copy::of(&ground);
    let mut database = ground.open();
    for number in 21..=23 {
        database.append(&[intent(number), ended(number, 0)], NOW).expect("written");
    }
    drop(database);
    copy.put_back(&ground);
    assert_eq!(kinds(&ground), [(CutOff, 41)]);
    // It goes on from there, past where it was: what was anchored is not forgotten.
    let mut database = ground.open();
    for number in 31..=36 {
        database.append(&[intent(number), ended(number, 0)], NOW).expect("written");
    }
    drop(database);
    let problems = kinds(&ground);
    assert!(problems.contains(&(Changed, 46)), "{problems:?}");
}

#[test]
fn a_new_database_in_its_place() {
    let ground = filled();
    for name in Copy::NAMES {
        let _may_be_missing = std::fs::remove_file(ground.folder.join("state").join(name));
    }
    ground.open().append(&[intent(1), ended(1, 0)], NOW).expect("written");
    let problems = kinds(&ground);
    assert!(problems.iter().any(|(kind, _)| *kind == CutOff), "{problems:?}");
    // Once is enough.
    ground.open().append(&[intent(2), ended(2, 0)], NOW).expect("written");
    assert_eq!(kinds(&ground).len(), problems.len());
}

#[test]
fn a_log_that_was_cut_off() {
    let ground = filled();
    let mut database = ground.open();
    for number in 21..=23 {
        database.append(&[intent(number), ended(number, 0)], NOW).expect("written");
    }
    drop(database);
    let log = ground.folder.join("state/exacta.db-wal");
    let length = std::fs::metadata(&log).expect("a log").len();
    let file = std::fs::OpenOptions::new().write(true).open(&log).expect("opens");
    file.set_len(length * 3 / 4).expect("cut off");
    let _may_be_missing = std::fs::remove_file(ground.folder.join("state/exacta.db-shm"));
    let problems = kinds(&ground);
    assert!(problems.iter().any(|(kind, _)| *kind == CutOff), "{problems:?}");
}

#[test]
fn requests_without_their_rows() {
    let rows = found("DELETE FROM requests");
    assert_eq!(rows.len(), 20);
    assert!(rows.iter().all(|(kind, _)| *kind == Removed), "{rows:?}");
    let moved = found("UPDATE requests SET first = 12 WHERE first = 11");
    assert!(moved.contains(&(Removed, 11)) && moved.contains(&(Inserted, 12)), "{moved:?}");
}
