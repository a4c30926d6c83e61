//! Retention: what goes, and that the rest can still be verified.

use super::ground::*;
use crate::audit::verify::ProblemKind;
use crate::audit::{AuditError, Ledger as _, Limits};

#[test]
fn what_is_removed_by_the_limits_is_accounted_for() {
    let ground = filled();
    let mut database = ground.open();
    assert_eq!(database.retain(&Limits::default()), Ok(0));
    assert_eq!(database.cut(10), Ok(10));
    let report = ground.verified();
    assert!(report.is_good(), "{:?}", report.problems);
    assert_eq!((report.first, report.last, report.cut, report.records), (11, 41, 10, 31));
    database.append(&[intent(50), ended(50, 0)], NOW).expect("written");
    // Never through the middle of a request: 21 and 22 are one.
    assert_eq!(database.cut(21), Ok(10));
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
    let removed = database.retain(&Limits { days: 0, bytes: u64::MAX }).expect("shortened");
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
    assert_eq!(database.cut(40), Ok(40));
    let problems = ground.verified().problems;
    let removed = problems.iter().find(|it| it.kind == ProblemKind::Removed);
    assert_eq!(removed.map(|it| it.sequence), Some(40), "{problems:?}");
}
