//! Opening what is not ours, or not there.

use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt as _, symlink};

use super::ground::*;
use crate::audit::{Archive as _, AuditError, Database, Ledger as _, Reader, Signing};

fn opened(ground: &Ground) -> Result<(), AuditError> {
    Database::open(ground.state().as_fd(), &Signing::default()).map(|_| ())
}

#[test]
fn what_is_made_is_private() {
    let ground = Ground::new();
    ground.open().append(&[intent(1)], NOW).expect("written");
    for name in ["exacta.db", "exacta.db-wal", "exacta.db-shm"] {
        let mode = std::fs::metadata(ground.folder.join("state").join(name)).expect(name).mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    let key = std::fs::metadata(ground.keys().join("key")).expect("a key").mode();
    assert_eq!(key & 0o777, 0o600);
}

#[test]
fn reading_makes_nothing() {
    let ground = Ground::new();
    let read = Reader::open(ground.state().as_fd()).err();
    assert_eq!(read, Some(AuditError::Nothing));
    assert!(!ground.database_path().exists());
}

#[test]
fn links_that_came_with_a_repository_are_refused() {
    for name in ["exacta.db", "exacta.db-wal", "exacta.db-shm"] {
        let ground = Ground::new();
        let elsewhere = ground.folder.join("elsewhere");
        std::fs::write(&elsewhere, "").expect("a file");
        symlink(&elsewhere, ground.folder.join("state").join(name)).expect("a link");
        let refused = AuditError::NotOurs { name: name.to_owned() };
        assert_eq!(opened(&ground), Err(refused.clone()), "{name}");
        assert_eq!(Reader::open(ground.state().as_fd()).err(), Some(refused));
        assert_eq!(std::fs::read(&elsewhere).expect("there"), b"");
    }
    let ground = Ground::new();
    let elsewhere = ground.folder.join("elsewhere");
    std::fs::write(&elsewhere, "").expect("a file");
    std::fs::hard_link(&elsewhere, ground.database_path()).expect("a link");
    assert!(matches!(opened(&ground), Err(AuditError::NotOurs { .. })));
}

#[test]
fn what_is_no_database_of_ours_is_left_alone() {
    let ground = Ground::new();
    std::fs::write(
        ground.database_path(),
        "this is no database, and longer than its header".repeat(9),
    )
    .expect("a file");
    assert_eq!(opened(&ground), Err(AuditError::Foreign));
    let other = Ground::new();
    other.tamper("CREATE TABLE x (y); PRAGMA user_version = 1;");
    assert_eq!(opened(&other), Err(AuditError::Foreign));
    let newer = filled();
    newer.tamper("PRAGMA user_version = 99;");
    assert_eq!(opened(&newer), Err(AuditError::Newer { found: 99, known: 3 }));
}

#[test]
fn a_key_that_others_can_read_signs_nothing() {
    use std::os::unix::fs::PermissionsExt as _;
    let ground = filled();
    let readable = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(ground.keys().join("key"), readable).expect("set");
    let mut database = ground.open();
    assert!(database.append(&[read_only(90)], SOON).is_ok());
    let refused = database.append(&[intent(91)], NOW);
    assert!(refused.is_err_and(|error| error.to_string().contains("0600")));
    assert_eq!(ground.reader().head().map(|head| head.sequence), Ok(41));
}
