//! The tables, and how those of an earlier version become those of this one.
//!
//! `records` is the chain. `requests` is what is searched: all of it is taken from the chain and verified with it. `outputs`
//! are the contents that records hold by their digests. `outlines` say which blocks a search can pass over; they can be made
//! again at any time. `tasks` with their moves and logs are beside the chain; each move is in it as well.

use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, TransactionBehavior};

use super::error::{AuditError, database};

/// `exac`
const APPLICATION: i64 = 0x6578_6163;

/// One step each, from version 0 on. Never changed once released: a new version is a new step.
const STEPS: &[&str] = &[
    "
    CREATE TABLE meta (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
    INSERT INTO meta VALUES ('database', randomblob(16));
    CREATE TABLE records (
        seq INTEGER PRIMARY KEY,
        stamp INTEGER NOT NULL,
        kind INTEGER NOT NULL,
        hash BLOB NOT NULL,
        body BLOB NOT NULL
    );
    CREATE INDEX records_rare ON records (kind, seq) WHERE kind > 3;
    CREATE TABLE requests (
        first INTEGER PRIMARY KEY,
        last INTEGER,
        id BLOB NOT NULL,
        session TEXT NOT NULL,
        verdict INTEGER NOT NULL,
        exit INTEGER,
        started INTEGER NOT NULL,
        command BLOB NOT NULL
    );
    CREATE UNIQUE INDEX requests_id ON requests (id);
    CREATE INDEX requests_session ON requests (session);
    CREATE INDEX requests_verdict ON requests (verdict) WHERE verdict > 0;
    CREATE INDEX requests_failed ON requests (first) WHERE exit IS NOT 0;
    CREATE TABLE outputs (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
    CREATE TABLE checkpoints (
        seq INTEGER PRIMARY KEY,
        stamp INTEGER NOT NULL,
        hash BLOB NOT NULL,
        key BLOB NOT NULL,
        signature BLOB NOT NULL
    );
",
    "
    CREATE TABLE outlines (block INTEGER PRIMARY KEY, bits BLOB NOT NULL);
",
    "
    CREATE TABLE tasks (
        id TEXT PRIMARY KEY,
        agent TEXT NOT NULL,
        state TEXT NOT NULL,
        fence INTEGER NOT NULL,
        created INTEGER NOT NULL,
        changed INTEGER NOT NULL,
        cancelled_by TEXT,
        body TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE task_moves (
        task TEXT NOT NULL,
        seq INTEGER NOT NULL,
        stamp INTEGER NOT NULL,
        source TEXT NOT NULL,
        target TEXT NOT NULL,
        why TEXT NOT NULL,
        PRIMARY KEY (task, seq)
    ) WITHOUT ROWID;
    CREATE TABLE task_log (
        task TEXT NOT NULL,
        seq INTEGER NOT NULL,
        stamp INTEGER NOT NULL,
        kind TEXT NOT NULL,
        content TEXT NOT NULL,
        PRIMARY KEY (task, seq)
    ) WITHOUT ROWID;
",
];

/// From here on there are outlines.
pub(crate) const OUTLINED: i64 = 2;

const CURRENT: i64 = STEPS.len() as i64;

/// Switching to the log waits for nobody by itself.
const PATIENCE: Duration = Duration::from_secs(20);

/// Brings the tables to this version. Of several processes that find an empty file one makes them.
pub(crate) fn prepare(connection: &Connection) -> Result<(), AuditError> {
    // What is not ours is not brought up to date either.
    if version(connection)? != 0 && check(connection)? == CURRENT {
        return Ok(());
    }
    let started = Instant::now();
    loop {
        match migrate(connection) {
            Err(error) if is_busy(&error) && started.elapsed() < PATIENCE => {
                thread::sleep(Duration::from_millis(2));
            }
            migrated => {
                migrated.map_err(database("be made"))?;
                return check(connection).map(|_current| ());
            }
        }
    }
}

/// The version of the database if this one can read it. An earlier one it can: who only reads brings nothing up to date.
pub(crate) fn check(connection: &Connection) -> Result<i64, AuditError> {
    let found = version(connection)?;
    if found == 0 {
        return Err(AuditError::Nothing);
    }
    let application: i64 = connection
        .pragma_query_value(None, "application_id", |row| row.get(0))
        .map_err(database("be read"))?;
    if application != APPLICATION {
        return Err(AuditError::Foreign);
    }
    if found > CURRENT {
        return Err(AuditError::Newer { found, known: CURRENT });
    }
    Ok(found)
}

fn version(connection: &Connection) -> Result<i64, AuditError> {
    let version = connection.pragma_query_value(None, "user_version", |row| row.get(0));
    version.map_err(|error| match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => AuditError::Foreign,
        _ => database("be read")(error),
    })
}

fn migrate(connection: &Connection) -> rusqlite::Result<()> {
    // Both only have a meaning before there are tables.
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    let behavior = TransactionBehavior::Immediate;
    let transaction = rusqlite::Transaction::new_unchecked(connection, behavior)?;
    let found: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    for step in STEPS.iter().skip(usize::try_from(found).unwrap_or(usize::MAX)) {
        transaction.execute_batch(step)?;
    }
    if found < CURRENT {
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        transaction.pragma_update(None, "user_version", CURRENT)?;
    }
    transaction.commit()
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}
