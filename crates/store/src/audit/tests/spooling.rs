//! Records that are left beside the database, and taken over.

use std::os::fd::AsFd;

use super::ground::*;
use crate::audit::spool::{self, is_waiting, leave};
use crate::audit::{Archive as _, AuditError, Draft, Limits};

fn left(ground: &Ground, draft: &Draft) {
    leave(ground.state().as_fd(), &ground.signing(), &Limits::default(), draft).expect("left");
}

fn count(ground: &Ground) -> u64 {
    drop(ground.open());
    assert!(!is_waiting(ground.state().as_fd()));
    assert!(ground.verified().problems.is_empty());
    ground.reader().head().expect("a head").sequence
}

#[test]
fn what_was_left_comes_into_the_chain_once() {
    let ground = Ground::new();
    left(&ground, &read_only(1));
    left(&ground, &read_only(2));
    assert!(is_waiting(ground.state().as_fd()));
    let file = ground.folder.join("state").join(spool::NAME);
    let again = std::fs::read(&file).expect("the file");
    assert_eq!(count(&ground), 2);
    // Somebody was killed after he had taken them over, and before he could say so.
    std::fs::write(&file, again).expect("written");
    assert_eq!(count(&ground), 2);
    left(&ground, &read_only(3));
    assert_eq!(count(&ground), 3);
}

#[test]
fn half_a_record_is_none() {
    let ground = Ground::new();
    left(&ground, &read_only(1));
    let file = ground.folder.join("state").join(spool::NAME);
    let mut bytes = std::fs::read(&file).expect("the file");
    let whole = bytes.clone();
    bytes.extend_from_slice(&whole[..whole.len() - 3]);
    std::fs::write(&file, bytes).expect("written");
    assert_eq!(count(&ground), 1);
}

#[test]
fn much_of_it_is_taken_over_at_once() {
    let ground = Ground::new();
    for number in 0..3_000 {
        left(&ground, &read_only(number));
    }
    let file = ground.folder.join("state").join(spool::NAME);
    assert!(std::fs::metadata(file).expect("the file").len() < 300 << 10);
    assert_eq!(count(&ground), 3_000);
}

#[test]
fn a_file_of_somebody_else_is_not_used() {
    let ground = Ground::new();
    let elsewhere = ground.folder.join("elsewhere");
    std::fs::write(&elsewhere, "").expect("a file");
    let file = ground.folder.join("state").join(spool::NAME);
    std::os::unix::fs::symlink(&elsewhere, &file).expect("a link");
    let (signing, limits) = (ground.signing(), Limits::default());
    let refused = leave(ground.state().as_fd(), &signing, &limits, &read_only(1));
    assert!(matches!(refused, Err(AuditError::NotOurs { .. })), "{refused:?}");
    assert_eq!(std::fs::read(&elsewhere).expect("the file"), b"");
}
