//! Writing and reading back.

use std::ops::ControlFlow;
use std::os::fd::AsFd;
use std::sync::Arc;

use super::ground::*;
use crate::audit::{
    Archive as _, Captured, Cleanser, Database, Entry, Filter, Ledger as _, Limits, Order, Verdict,
    Writer,
};

#[test]
fn requests_are_listed_as_asked_for() {
    let ground = Ground::new();
    let mut database = ground.open();
    let batch = [read_only(1), intent(2), read_only(3), ended(2, 7), refused(4), intent(5)];
    database.append(&batch, NOW).expect("written");
    let all = Filter::default();
    assert_eq!(listed(&ground, &all, Order::NewestFirst), [5, 4, 3, 2, 1]);
    assert_eq!(listed(&ground, &all, Order::OldestFirst), [1, 2, 3, 4, 5]);
    let of = |filter: Filter| listed(&ground, &filter, Order::NewestFirst);
    assert_eq!(of(Filter { limit: Some(2), ..Filter::default() }), [5, 4]);
    assert_eq!(of(Filter { failed: true, ..Filter::default() }), [5, 4, 2]);
    assert_eq!(of(Filter { verdict: Some(Verdict::Deny), ..Filter::default() }), [4]);
    assert_eq!(of(Filter { verdict: Some(Verdict::Allow), ..Filter::default() }), [5, 3, 2, 1]);
    assert_eq!(of(Filter { session: Some("session-2".into()), ..Filter::default() }), [5, 2]);
    assert_eq!(of(Filter { grep: Some("O 3".into()), ..Filter::default() }), [3]);
    assert_eq!(of(Filter { grep: Some("%".into()), ..Filter::default() }), [0_u64; 0]);
    let since = Some(1_700_000_000_000_004);
    assert_eq!(of(Filter { since, ..Filter::default() }), [5, 4]);
    let (failed, session) = (true, Some("session-1".into()));
    assert_eq!(of(Filter { failed, session, limit: Some(9), ..Filter::default() }), [4]);
}

#[test]
fn a_request_by_its_number_and_by_its_id() {
    let ground = Ground::new();
    let mut database = ground.open();
    database.append(&[read_only(1), intent(2), ended(2, 7)], NOW).expect("written");
    let reader = ground.reader();
    let by_number = reader.find("2").expect("found");
    assert_eq!(by_number.outcome.expect("an outcome").exit, 7);
    assert!(by_number.intent.is_some());
    let by_id = reader.find("00000000-0000-0000-0000-000000000002").expect("found");
    assert_eq!((by_id.number, by_id.last), (2, Some(3)));
    // Two begin like this, nothing has that number, and nothing that id.
    for wrong in ["00000000", "9", "ffffffff", "", "#x"] {
        assert!(reader.find(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_writer_writes_everything_in_order() {
    let ground = Ground::new();
    let (state, signing) = (ground.state(), ground.signing());
    let open = move || {
        Database::open(state.as_fd(), &signing)
            .map(|it| Box::new(it) as Box<dyn crate::audit::Ledger>)
    };
    let writer = Writer::new(Box::new(open), Limits::default());
    assert!(!ground.database_path().exists());
    for number in 1..=10_000 {
        writer.submit(read_only(number).entry, None, &plain()).expect("taken");
    }
    writer.commit(intent(10_001).entry, &plain()).expect("written");
    let long = Captured::whole(b"0123456789abcdef".repeat(1_000));
    let streams = Box::new([long.clone(), Captured::whole(b"oh\n".to_vec())]);
    writer.submit(ended(10_001, 0).entry, Some(streams), &plain()).expect("taken");
    writer.close().expect("written");
    let report = ground.verified();
    assert!(report.is_good(), "{:?}", report.problems);
    assert_eq!((report.records, report.signed), (10_002, 10_002));
    assert_eq!(report.anchored, 10_001);
    let reader = ground.reader();
    let request = reader.find("10001").expect("found");
    assert_eq!(reader.output(&request, 0), Ok(Some(long.bytes)));
    assert_eq!(reader.output(&request, 1), Ok(Some(b"oh\n".to_vec())));
}

#[test]
fn after_a_failure_nothing_is_taken() {
    let open = || Err(crate::audit::AuditError::Foreign);
    let writer = Writer::new(Box::new(open), Limits::default());
    assert!(writer.commit(intent(1).entry, &plain()).is_err());
    assert!(writer.check().is_err());
    assert!(writer.submit(read_only(2).entry, None, &plain()).is_err());
    assert!(writer.flush().is_err() && writer.close().is_err());
}

#[test]
fn threads_and_connections_share_one_chain() {
    let ground = Ground::new();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let ground = &ground;
            scope.spawn(move || {
                let mut database = ground.open();
                for number in 0..50 {
                    let number = writer * 1_000 + number;
                    database.append(&[intent(number), ended(number, 0)], SOON).expect("written");
                }
            });
        }
    });
    let report = ground.verified();
    assert!(report.is_good(), "{:?}", report.problems);
    assert_eq!(report.records, 400);
    let mut stamps = Vec::new();
    let each = &mut |link: crate::audit::Link| {
        stamps.push(link.stamp);
        assert!(matches!(link.entry(), Ok(Entry::Intent(_) | Entry::Outcome(_))));
        ControlFlow::Continue(())
    };
    ground.reader().links(0, each).expect("read");
    assert!(stamps.is_sorted());
}

fn plain() -> Arc<dyn Cleanser> {
    Arc::new(())
}
