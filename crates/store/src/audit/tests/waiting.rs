//! Records that wait in the user's own state for whoever opens the database next.

use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::Arc;

use super::ground::*;
use crate::audit::{
    Ahead, Archive as _, Captured, Cleanser, Database, Draft, Entry, Filter, Ledger, Limits, Order,
    Signing, Start, Writer, is_waiting, leave,
};

/// A project with a database and a file for what comes before one is open.
fn prepared() -> Ground {
    let ground = Ground::new();
    Ahead::make(&ground.signing(), &ground.open());
    assert!(!waits(&ground));
    ground
}

fn ahead(ground: &Ground) -> Ahead {
    Ahead::open_beside(ground.state().as_fd(), &ground.signing()).expect("a file")
}

fn waits(ground: &Ground) -> bool {
    is_waiting(ground.state().as_fd(), &ground.signing())
}

fn started(number: u64) -> Draft {
    let (id, argv) = (asked(number).id, vec!["true".into()]);
    Entry::Start(Box::new(Start { id, argv, ..Start::default() })).into()
}

/// A whole request: intent, start, outcome.
fn add(ahead: &Ahead, number: u64) -> bool {
    [intent(number), started(number), ended(number, 0)]
        .iter()
        .all(|draft| ahead.add(draft).expect("added"))
}

/// Opens the database, which takes everything over. How many records there are then; all of it must hold.
fn taken_over(ground: &Ground) -> u64 {
    drop(ground.open());
    assert!(!waits(ground));
    let report = ground.verified();
    assert!(report.is_good(), "{:?}", report.problems);
    assert_eq!((report.signed, report.anchored), (report.last, report.last));
    ground.reader().head().expect("a head").sequence
}

/// Where the file is.
fn file(ground: &Ground) -> PathBuf {
    let named = |entry: std::io::Result<std::fs::DirEntry>| entry.expect("an entry").path();
    let mut all = std::fs::read_dir(ground.keys()).expect("a folder").map(named);
    all.find(|path| path.extension().is_some_and(|it| it == "ahead")).expect("a file")
}

#[test]
fn what_waits_comes_into_the_chain_once_and_is_signed() {
    let ground = prepared();
    assert!(add(&ahead(&ground), 1) && add(&ahead(&ground), 2));
    ahead(&ground).sync().expect("on the disk");
    assert!(waits(&ground));
    let before = std::fs::read(file(&ground)).expect("the file");
    assert_eq!(taken_over(&ground), 6);
    // Somebody was killed after he had taken them over, and before the file could begin anew; then another came.
    std::fs::write(file(&ground), before).expect("written");
    assert!(add(&ahead(&ground), 3));
    assert_eq!(taken_over(&ground), 9);
    assert!(add(&ahead(&ground), 4));
    assert_eq!(taken_over(&ground), 12);
}

#[test]
fn what_an_earlier_generation_left_behind_is_no_record() {
    let ground = prepared();
    for number in 1..=5 {
        assert!(add(&ahead(&ground), number));
    }
    assert_eq!(taken_over(&ground), 15);
    // Exactly where the second of those five requests began.
    assert!(add(&ahead(&ground), 6));
    assert_eq!(taken_over(&ground), 18);
}

#[test]
fn a_full_file_says_so_and_is_whole() {
    let ground = prepared();
    let added = |number: &u64| add(&ahead(&ground), *number);
    let requests = (1..10_000).take_while(added).count() as u64;
    assert!(requests > 50, "{requests}");
    let records = taken_over(&ground);
    assert!(records >= requests * 3 && records < requests * 3 + 3, "{records} of {requests}");
    assert!(add(&ahead(&ground), 10_000));
}

/// They wait in the same place, and when that is full nothing is lost and nothing out of order.
#[test]
fn what_changed_nothing_waits_with_what_did() {
    const COUNT: u64 = 700;
    let ground = prepared();
    let (limits, plain): (_, Arc<dyn Cleanser>) = (Limits::default(), Arc::new(()));
    for number in 1..=COUNT {
        let nothing = [Captured::default(), Captured::default()];
        let (state, signing, entry) = (ground.state(), ground.signing(), read_only(number).entry);
        leave(state.as_fd(), (&signing, &limits), entry, nothing, &plain).expect("left");
    }
    assert!(ground.reader().head().expect("a head").sequence > 0, "never full");
    drop(ground.open());
    assert!(ground.verified().is_good() && !waits(&ground));
    let numbers = listed(&ground, &Filter::default(), Order::OldestFirst);
    assert_eq!(numbers, (1..=COUNT).collect::<Vec<_>>());
}

#[test]
fn the_project_cannot_say_that_it_has_them() {
    let ground = prepared();
    assert!(add(&ahead(&ground), 1));
    let upto = "x'0100000000000000ffff000000000000'";
    ground.tamper(&format!("INSERT OR REPLACE INTO meta VALUES ('ahead', {upto})"));
    assert_eq!(taken_over(&ground), 3);
}

#[test]
fn a_project_that_was_moved_takes_them_with_it() {
    let ground = prepared();
    let (old, new) = (ground.signing(), b"/another/place".to_vec());
    assert!(add(&ahead(&ground), 1));
    let moved = Signing { project: new, ..old };
    drop(Database::open(ground.state().as_fd(), &moved).expect("opens"));
    assert_eq!(ground.reader().head().expect("a head").sequence, 3);
    assert!(!waits(&ground));
}

#[test]
fn one_whose_database_is_another_gives_nothing_away() {
    let (ground, stranger) = (prepared(), Ground::new());
    assert!(add(&ahead(&ground), 1));
    let elsewhere = Signing { folder: Some(ground.keys()), project: b"/another/place".to_vec() };
    drop(Database::open(stranger.state().as_fd(), &elsewhere).expect("opens"));
    let root = format!("x'{}'", crate::audit::hex(ROOT));
    stranger.tamper(&format!("UPDATE meta SET value = {root} WHERE name = 'root'"));
    drop(Database::open(stranger.state().as_fd(), &elsewhere).expect("opens"));
    assert_eq!(stranger.reader().head().expect("a head").sequence, 0);
    assert_eq!(taken_over(&ground), 3);
}

#[test]
fn what_cannot_be_read_is_put_aside() {
    let ground = prepared();
    assert!(add(&ahead(&ground), 1));
    let path = file(&ground);
    let mut bytes = std::fs::read(&path).expect("the file");
    let whole = bytes.len();
    let middle = bytes.windows(4).rposition(|four| four == b"echo").expect("the last command");
    bytes[middle] = b'E';
    std::fs::write(&path, bytes).expect("written");
    drop(ground.open());
    assert_eq!(ground.reader().head().expect("a head").sequence, 2);
    let aside = path.with_extension("ahead.damaged");
    assert_eq!(std::fs::read(aside).expect("kept").len(), whole);
    assert!(ground.verified().is_good() && !waits(&ground));
}

#[test]
fn a_writer_opens_no_database_while_there_is_room() {
    let ground = prepared();
    let (state, signing) = (ground.state(), ground.signing());
    let open = move || Ok(Box::new(Database::open(state.as_fd(), &signing)?) as Box<dyn Ledger>);
    let writer = Writer::new(Box::new(open), Limits::default()).with_ahead(Some(ahead(&ground)));
    let plain: Arc<dyn Cleanser> = Arc::new(());
    writer.submit(intent(1).entry, None, &plain).expect("taken");
    let ticket = writer.begin_commit(started(1).entry, &plain).expect("taken");
    writer.wait_for(ticket).expect("on the disk");
    let little = Box::new([Captured::whole(b"hi\n".to_vec()), Captured::default()]);
    writer.submit(ended(1, 0).entry, Some(little), &plain).expect("taken");
    writer.settle().expect("written");
    assert_eq!(ground.reader().head().expect("a head").sequence, 0);
    // What does not fit goes where it belongs, behind the rest.
    let noise: Vec<u8> =
        (0..200_000_u32).flat_map(|it| it.wrapping_mul(0x9e37_79b1).to_be_bytes()).collect();
    let much = Box::new([Captured::whole(noise), Captured::default()]);
    writer.commit(intent(2).entry, &plain).expect("on the disk");
    writer.submit(ended(2, 0).entry, Some(much), &plain).expect("taken");
    writer.close().expect("written");
    let report = ground.verified();
    assert!(report.is_good(), "{:?}", report.problems);
    assert_eq!(report.records, 5);
}
