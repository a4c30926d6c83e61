//! Retention: what goes, and that the rest can still be verified.

use super::ground::*;
use crate::audit::verify::ProblemKind;
use crate::audit::{AuditError, Ledger as _, Limits};

#[test]
fn what_is_removed_by_the_limits_is_accounted_for() {
    let ground = filled();
    let mut database = ground.open();
    assert_eq!(database.retain(&Limits::default()), Ok(0));
    assert_eq!(database.cut(10).map(|it| it.records), Ok(10));
    let report = ground.verified();
    assert!(report.is_good(), "{:?}", report.problems);
    assert_eq!((report.first, report.last, report.cut, report.records), (11, 41, 10, 31));
    database.append(&[intent(50), ended(50, 0)], NOW).expect("written");
    // Never through the middle of a request: 21 and 22 are one.
    assert_eq!(database.cut(21).map(|it| it.records), Ok(10));
    let report = ground.verified();
    assert!(report.is_good(), "{:?}", report.problems);
    assert_eq!((report.first, report.cut), (21, 20));
    assert_eq!(ground.reader().find("5").err(), Some(AuditError::NoSuchRequest("5".into())));
}

#[test]
fn age_and_size() {
    let ground = Ground::new();
    let mut database = ground.open();
    for number in 1..=3_000 {
        database.append(&[read_only(number)], SOON).expect("written");
    }
    let size = |ground: &Ground| std::fs::metadata(ground.database_path()).expect("there").len();
    let limits = Limits { days: 10, bytes: 200_000 };
    let removed = database.retain(&limits).expect("shortened");
    assert!(removed > 1_000, "{removed}");
    assert!(size(&ground) < 400_000, "{}", size(&ground));
    assert!(ground.verified().is_good());
    // All of them are older than no days at all; the last one stays, or the chain would begin anew.
    let all = Limits { days: 0, bytes: u64::MAX };
    // Not for whoever only comes by: they have just been written.
    assert_eq!(database.retain(&all), Ok(0));
    let wanted = ground.reader().prunable(&all).expect("looked at");
    let pruned = database.prune(&all).expect("shortened");
    assert_eq!((pruned.records, pruned.requests), (wanted.records, wanted.requests));
    let removed = pruned.records;
    assert!(removed > 100, "{removed}");
    let report = ground.verified();
    assert!(report.is_good(), "{:?}", report.problems);
    assert!(report.records >= 1);
}

/// Whoever removes the beginning himself cannot sign it.
#[test]
fn a_cut_that_nobody_has_signed() {
    let ground = filled();
    let unsigned = crate::audit::Signing::default();
    let state = ground.state();
    let mut database =
        crate::audit::Database::open(std::os::fd::AsFd::as_fd(&state), &unsigned).expect("opens");
    assert_eq!(database.cut(40).map(|it| it.records), Ok(40));
    let problems = ground.verified().problems;
    let removed = problems.iter().find(|it| it.kind == ProblemKind::Removed);
    assert_eq!(removed.map(|it| it.sequence), Some(40), "{problems:?}");
}

/// A process that writes one record and ends removes what is overdue as well, a part of it each time.
#[test]
fn whoever_comes_by_removes_what_is_overdue() {
    let ground = Ground::new();
    let mut database = ground.open();
    let all: Vec<_> = (1..=50).map(read_only).collect();
    database.append(&all, NOW).expect("written");
    drop(database);
    // As if they had been written long ago: the chain does not hold then, but nobody has looked yet.
    ground.tamper("UPDATE records SET stamp = stamp - 400 * 86400000000");
    let (state, signing) = (ground.state(), ground.signing());
    let open = move || {
        let database = crate::audit::Database::open(std::os::fd::AsFd::as_fd(&state), &signing)?;
        Ok(Box::new(database) as Box<dyn crate::audit::Ledger>)
    };
    let writer = crate::audit::Writer::new(Box::new(open), Limits::default());
    let plain: std::sync::Arc<dyn crate::audit::Cleanser> = std::sync::Arc::new(());
    writer.commit(intent(51).entry, &plain).expect("written");
    writer.close().expect("written");
    let report = ground.verified();
    assert_eq!((report.first, report.cut), (51, 50), "{:?}", report.problems);
}
