//! Searches find the same with outlines and without, and nobody can hide something with a forged one.

use std::ops::ControlFlow;
use std::os::fd::AsFd;
use std::sync::LazyLock;

use super::ground::*;
use crate::audit::verify::ProblemKind::{Changed, Inserted};
use crate::audit::{Database, Draft, Entry, Filter, Ledger as _, Order, Recorded};

/// Two complete blocks and a part of a third.
const RECORDS: u64 = 2 * 4096 + 500;

/// Commands that are hard to search, by their numbers.
static SPECIAL: LazyLock<Vec<(u64, Vec<u8>)>> = LazyLock::new(|| {
    let texts: [(u64, &[u8]); 7] = [
        (3, b"Needle in the FIRST block"),
        (100, "gr\u{f6}\u{df}e \u{1f600} \u{fffd}x".as_bytes()),
        (200, b"echo \xa0\xe0\x83\xb6 \xc0x"),
        (5_000, b"needle_100%\\ in the second"),
        (5_001, b"before\0behind"),
        (8_191, b"the last of its block"),
        (8_400, b"needle in what is not complete"),
    ];
    texts.into_iter().map(|(number, text)| (number, text.to_vec())).collect()
});

fn request(number: u64) -> Draft {
    let mut draft = read_only(number);
    let special = SPECIAL.iter().find(|(special, _)| *special == number);
    if let (Entry::Outcome(outcome), Some((_, text))) = (&mut draft.entry, special) {
        outcome.asked.command = text.clone().into();
    }
    draft
}

fn searchable() -> Ground {
    let ground = Ground::new();
    let mut database = ground.open();
    let all: Vec<Draft> = (1..=RECORDS).map(request).collect();
    for batch in all.chunks(1_000) {
        database.append(batch, SOON).expect("written");
    }
    ground
}

fn found(ground: &Ground, filter: &Filter, order: Order) -> Vec<u64> {
    let mut numbers = Vec::new();
    let each = &mut |recorded: Recorded| {
        numbers.push(recorded.number);
        ControlFlow::Continue(())
    };
    let reader = ground.reader();
    reader.requests(filter, order, each).expect("listed");
    assert_eq!(reader.count(filter), Ok(numbers.len()), "{filter:?}");
    numbers
}

fn outlines(ground: &Ground) -> u64 {
    let connection = rusqlite::Connection::open(ground.database_path()).expect("opens");
    let count = connection.query_row("SELECT count(*) FROM outlines", [], |row| row.get(0));
    count.expect("counted")
}

#[test]
fn a_search_finds_the_same_without_outlines() {
    let ground = searchable();
    assert_eq!(outlines(&ground), 2);
    let texts = [
        "needle",
        "NEEDLE",
        "needle_",
        "100%",
        "%\\ in",
        "größe",
        "GRÖSSE",
        "\u{1f600}",
        "\u{fffd}x",
        "\u{fffd}",
        "\u{a0}\u{f6}",
        "behind",
        "before",
        "nowhere",
        "echo 42",
        "e",
        "",
        "ec",
        "last of its",
        "\u{fffe}x ",
        "o \u{a0}",
    ];
    let mut filters: Vec<Filter> = Vec::new();
    for text in texts {
        let grep = Some(text.to_owned());
        filters.push(Filter { grep: grep.clone(), ..Filter::default() });
        let (limit, session) = (Some(3), Some("session-2".to_owned()));
        filters.push(Filter { grep: grep.clone(), limit, ..Filter::default() });
        filters.push(Filter { grep: grep.clone(), session, ..Filter::default() });
        filters.push(Filter { grep, after: Some(4_999), ..Filter::default() });
    }
    for until in [0, 1, 5, 4_500, 8_300, 9_999_999] {
        let until = Some(1_700_000_000_000_000 + until);
        filters.push(Filter { until, limit: Some(7), ..Filter::default() });
        filters.push(Filter { until, grep: Some("echo 5".into()), ..Filter::default() });
    }
    let all = |ground: &Ground| -> Vec<Vec<u64>> {
        let orders = [Order::NewestFirst, Order::OldestFirst];
        let each = |filter| orders.map(|order| found(ground, filter, order));
        filters.iter().flat_map(each).collect()
    };
    let with = all(&ground);
    assert_eq!(with[0], [8_400, 5_000, 3]);
    ground.tamper("DELETE FROM outlines");
    for (index, (with, without)) in with.iter().zip(all(&ground)).enumerate() {
        assert_eq!(*with, without, "{:?}", filters[index / 2]);
    }
    assert!(ground.verified().is_good());
}

/// A database of the version before: read as it is, and brought up to date by the next who writes.
#[test]
fn an_earlier_database_is_searched_and_brought_up_to_date() {
    let ground = searchable();
    let tasks = "DROP TABLE tasks; DROP TABLE task_moves; DROP TABLE task_log;";
    ground.tamper(&format!("{tasks} DROP TABLE outlines; PRAGMA user_version = 1;"));
    let needle = Filter { grep: Some("needle".into()), ..Filter::default() };
    assert_eq!(found(&ground, &needle, Order::NewestFirst), [8_400, 5_000, 3]);
    assert!(ground.verified().is_good());
    let mut database = ground.open();
    assert_eq!((outlines(&ground), database.outline_all()), (0, Ok(2)));
    assert_eq!(found(&ground, &needle, Order::NewestFirst), [8_400, 5_000, 3]);
    assert!(ground.verified().is_good());
}

#[test]
fn a_forged_outline_is_found() {
    let ground = searchable();
    let problems = |sql: &str| -> Vec<_> {
        ground.tamper(sql);
        ground.verified().problems.iter().map(|it| (it.kind, it.sequence)).collect()
    };
    // One that says nothing is there hides a block from a search, until somebody looks.
    let empty = "UPDATE outlines SET bits = substr(bits, 1, 10) || zeroblob(99) WHERE block = 1";
    assert_eq!(problems(empty), [(Changed, 4096)]);
    let later = "UPDATE outlines SET bits = x'01007fffffffffffffff' || substr(bits, 11)";
    assert_eq!(problems(later), [(Changed, 0), (Changed, 4096)]);
    assert_eq!(problems("UPDATE outlines SET bits = 7 WHERE block = 0").len(), 2);
    // Of what is not complete nobody believes one, and it is named.
    let ahead = "DELETE FROM outlines; INSERT INTO outlines VALUES (2, x'01000000000000000000' || zeroblob(8))";
    assert_eq!(problems(ahead), [(Inserted, 8192)]);
    let needle = Filter { grep: Some("needle".into()), ..Filter::default() };
    assert_eq!(found(&ground, &needle, Order::NewestFirst), [8_400, 5_000, 3]);
}

#[test]
fn outlines_go_with_what_they_describe() {
    let ground = searchable();
    let mut database = ground.open();
    assert_eq!(database.cut(4_200).map(|it| it.requests), Ok(4_200));
    assert_eq!(outlines(&ground), 0);
    let needle = Filter { grep: Some("needle".into()), ..Filter::default() };
    assert_eq!(found(&ground, &needle, Order::NewestFirst), [8_400, 5_000]);
    assert!(ground.verified().is_good());
    // What is left of the block that was cut in two is described anew.
    assert_eq!(database.outline_all(), Ok(1));
    assert_eq!(found(&ground, &needle, Order::NewestFirst), [8_400, 5_000]);
    let report = ground.verified();
    assert!(report.is_good(), "{:?}", report.problems);
}

/// A request with an intent is found by its first record, whenever it ends.
#[test]
fn requests_that_end_in_another_block() {
    let ground = Ground::new();
    let mut database = ground.open();
    database.append(&[intent(77_777)], NOW).expect("written");
    let all: Vec<Draft> = (1..=5_000).map(read_only).collect();
    database.append(&all, SOON).expect("written");
    database.append(&[ended(77_777, 0)], SOON).expect("written");
    assert_eq!(outlines(&ground), 1);
    let grep = Filter { grep: Some("77777".into()), ..Filter::default() };
    assert_eq!(found(&ground, &grep, Order::NewestFirst), [1]);
    assert!(ground.verified().is_good());
    let state = ground.state();
    drop(Database::open(state.as_fd(), &ground.signing()).expect("opens"));
}
