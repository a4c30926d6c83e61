//! What the database notes about itself, beside the chain. It lies in the project: whoever believes it looks at the rest as well.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::database::Database;
use super::error::{AuditError, database};
use super::ledger::{Draft, Manner};

/// The root of the project when it was last opened.
const ROOT: &str = "root";
/// Up to where the records that waited outside were taken over: generation, offset.
const AHEAD: &str = "ahead";

impl Database {
    /// Where the project was when the database was last opened.
    pub(super) fn noted_root(&self) -> Result<Option<Vec<u8>>, AuditError> {
        get(&self.connection, ROOT).map_err(database("be read"))
    }

    pub(super) fn note_root(&self, root: &[u8]) -> Result<(), AuditError> {
        set(&self.connection, ROOT, root).map_err(database("be written"))
    }

    /// Up to where the records of this generation are in the chain.
    pub(super) fn taken_ahead(&self, generation: u64) -> Result<u64, AuditError> {
        let noted = get(&self.connection, AHEAD).map_err(database("be read"))?;
        let upto = noted.as_deref().and_then(|bytes| {
            let (of, rest) = bytes.split_first_chunk()?;
            let (upto, _) = rest.split_first_chunk()?;
            (u64::from_le_bytes(*of) == generation).then(|| u64::from_le_bytes(*upto))
        });
        Ok(upto.unwrap_or(0))
    }

    /// Appends what waited outside, and notes up to where that was: both or neither.
    pub(super) fn append_ahead(
        &mut self,
        drafts: &[Draft],
        manner: Manner,
        (generation, upto): (u64, u64),
    ) -> Result<(), AuditError> {
        let noted = [generation.to_le_bytes(), upto.to_le_bytes()].concat();
        let mut note = |transaction: &rusqlite::Transaction<'_>| {
            set(transaction, AHEAD, &noted)?;
            Ok(true)
        };
        self.append_with(drafts, manner, &mut note).map(|_written| ())
    }
}

fn get(connection: &Connection, name: &str) -> rusqlite::Result<Option<Vec<u8>>> {
    let sql = "SELECT value FROM meta WHERE name = ?";
    connection.query_row(sql, [name], |row| row.get(0)).optional()
}

fn set(connection: &Connection, name: &str, value: &[u8]) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO meta VALUES (?, ?)";
    connection.execute(sql, params![name, value]).map(|_one| ())
}
