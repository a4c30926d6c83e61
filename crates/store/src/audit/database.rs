//! The ledger of one project in `SQLite`: `.clada/exacta.db`.
//!
//! Several processes write to it; each batch is one transaction that begins with the right to write and looks for the end
//! of the chain then, so the chain never forks. A batch that has to be on the disk is signed as well, and its head anchored
//! outside of the project: cutting a signed record off is found.

use std::cell::OnceCell;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::{CachedStatement, Connection, OptionalExtension as _, Transaction, params};

use super::anchor::Anchor;
use super::chain::{self, Hash};
use super::entry::{Asked, Entry, Moment, Outcome};
use super::error::{AuditError, database};
use super::key::{Signed, Signer, open_folder};
use super::ledger::{Draft, Durability, Head, Ledger, Limits, Manner, Pruned};
use super::outline::complete;
use super::{ahead, blocks, opening, retention, spool};

/// So many records are signed together at least, whatever they are.
const SIGNED_EVERY: u64 = 256;

/// Of a database of an earlier version, so many blocks are described each time that another one is full.
const OUTLINED_AT_ONCE: usize = 8;

/// More than there ever are: a number that somebody has put in does not keep us busy for ever.
const MOST_BLOCKS: usize = 1 << 16;

const LONGEST_LOG: u64 = 512 << 10;

/// A command is found by so much of its text.
pub(crate) const SEARCHED: usize = 8 << 10;

/// Who signs what is written, and where its head is anchored.
#[derive(Debug, Clone, Default)]
pub struct Signing {
    /// A folder of the user's own, outside of every project. Absent: nothing is signed.
    pub folder: Option<PathBuf>,
    /// What the project is called there: its root.
    pub project: Vec<u8>,
}

/// What is written in the same transaction. False: it cannot be, and nothing is.
pub(crate) type Also<'a> = &'a mut dyn FnMut(&Transaction<'_>) -> rusqlite::Result<bool>;

/// What came of a batch.
enum Written {
    /// What is to be written with it could not be.
    Nothing,
    /// What was signed, if something was.
    Signed(Option<Signed>),
}

pub struct Database {
    pub(crate) connection: Connection,
    state: OwnedFd,
    /// Whose chain it is.
    identity: [u8; 16],
    signing: Signing,
    /// Opened for the first signature: many a process ends without one. Within: nothing is signed here.
    signer: OnceCell<Option<(Signer, Anchor)>>,
    durability: Durability,
    /// Up to here everything is signed.
    signed: u64,
    /// This process has written what it waited for: whatever follows from it is signed at the end.
    waited: bool,
}

impl Database {
    /// That of the project whose state directory is open here; made if there is none.
    pub fn open(state: BorrowedFd<'_>, signing: &Signing) -> Result<Self, AuditError> {
        let connection = opening::for_writing(state)?;
        // What is not asked to be on the disk is not waited for.
        connection.pragma_update(None, "synchronous", "NORMAL").map_err(database("be opened"))?;
        let identity = identity(&connection)?;
        let durability = Durability::Process;
        let signed = last_signed(&connection)?;
        let state = opening::keep(state)?;
        let (signing, signer, waited) = (signing.clone(), OnceCell::new(), false);
        let mut opened =
            Database { connection, state, identity, signing, signer, durability, signed, waited };
        let state = opening::keep(opened.state.as_fd())?;
        spool::take_over(state.as_fd(), &mut opened)?;
        let signing = opened.signing.clone();
        ahead::take_over(&mut opened, &signing)?;
        Ok(opened)
    }

    /// Whose chain it is.
    pub(super) fn identity(&self) -> [u8; 16] {
        self.identity
    }

    /// Whether a request is in the chain.
    pub(super) fn has_request(&self, id: &[u8]) -> Result<bool, AuditError> {
        let sql = "SELECT 1 FROM requests WHERE id = ?";
        let found = self.connection.prepare_cached(sql).and_then(|mut it| it.exists([id]));
        found.map_err(database("be read"))
    }

    pub(crate) fn set_durability(&mut self, wanted: Durability) -> Result<(), AuditError> {
        if self.durability != wanted {
            let level = if wanted == Durability::Disk { "FULL" } else { "NORMAL" };
            self.connection
                .pragma_update(None, "synchronous", level)
                .map_err(database("be written"))?;
            self.durability = wanted;
        }
        Ok(())
    }

    /// Writes within one transaction, and signs what should be.
    fn write(
        &mut self,
        batch: &[Draft],
        manner: Manner,
        also: Also<'_>,
    ) -> rusqlite::Result<Written> {
        let transaction = begin(&self.connection)?;
        if !also(&transaction)? {
            return Ok(Written::Nothing);
        }
        let before = head(&transaction, self.identity)?;
        let head = append(&transaction, before, batch)?;
        if complete(head.sequence) > complete(before.sequence) {
            blocks::outline_missing(&transaction, head.sequence, OUTLINED_AT_ONCE)?;
        }
        self.waited |= manner.durability == Durability::Disk;
        let due = manner.durability == Durability::Disk
            || (manner.last && self.waited)
            || head.sequence - self.signed.min(head.sequence) >= SIGNED_EVERY;
        let signer = if due && head.sequence > self.signed { self.signer()? } else { None };
        let signed = signer.map(|(signer, _)| signer.sign(head));
        if let Some(signed) = &signed {
            keep_checkpoint(&transaction, signed)?;
        }
        transaction.commit()?;
        Ok(Written::Signed(signed))
    }

    /// Appends, and writes something else with it: both or neither. False: that did not want to be written.
    pub(crate) fn append_with(
        &mut self,
        batch: &[Draft],
        manner: Manner,
        also: Also<'_>,
    ) -> Result<bool, AuditError> {
        // An anchor may only say what is on the disk.
        let (mut durability, signs) = (manner.durability, self.signing.folder.is_some());
        let head = self.head_sequence()?;
        if signs && head + batch.len() as u64 - self.signed.min(head) >= SIGNED_EVERY {
            durability = Durability::Disk;
        }
        self.set_durability(durability)?;
        let written = self.write(batch, manner, also).map_err(database("be written"))?;
        let Written::Signed(signed) = written else { return Ok(false) };
        if durability == Durability::Disk {
            self.anchor(signed.as_ref())?;
        }
        if manner.last {
            self.shorten_log().map_err(database("be put in order"))?;
        }
        Ok(true)
    }

    /// Describes all blocks that are not yet, so that a search passes over those that cannot have what it looks for.
    pub fn outline_all(&mut self) -> Result<usize, AuditError> {
        let outline = || -> rusqlite::Result<usize> {
            let transaction = begin(&self.connection)?;
            let head = head(&transaction, self.identity)?;
            let made = blocks::outline_missing(&transaction, head.sequence, MOST_BLOCKS)?;
            transaction.commit()?;
            Ok(made)
        };
        outline().map_err(database("be prepared for a search"))
    }

    /// Removes the oldest records up to one, and says so in the chain.
    pub(super) fn cut(&mut self, upto: u64) -> Result<Pruned, AuditError> {
        self.set_durability(Durability::Disk)?;
        let connection = &self.connection;
        let cut = || -> rusqlite::Result<(Option<Signed>, Pruned)> {
            let transaction = begin(connection)?;
            let Some(cut) = retention::plan(&transaction, upto, now())? else {
                return Ok((None, Pruned::default()));
            };
            let used = retention::used(&transaction)?;
            let pruned = retention::weigh(&transaction, &cut)?;
            let before = head(&transaction, self.identity)?;
            let head = append(&transaction, before, &[Entry::Cut(cut).into()])?;
            retention::remove(&transaction, &cut)?;
            let signed = self.signer()?.map(|(signer, _)| signer.sign(head));
            if let Some(signed) = &signed {
                keep_checkpoint(&transaction, signed)?;
            }
            let bytes = used.saturating_sub(retention::used(&transaction)?);
            transaction.commit()?;
            Ok((signed, Pruned { bytes, ..pruned }))
        };
        let (signed, pruned) = cut().map_err(database("be shortened"))?;
        self.anchor(signed.as_ref())?;
        retention::give_back(&self.connection).map_err(database("be shortened"))?;
        Ok(pruned)
    }

    /// Removes all that is older or more than the operator wants to keep.
    pub fn prune(&mut self, limits: &Limits) -> Result<Pruned, AuditError> {
        match retention::due(&self.connection, limits, now()).map_err(database("be looked at"))? {
            Some(upto) => self.cut(upto),
            None => Ok(Pruned::default()),
        }
    }

    fn anchor(&mut self, signed: Option<&Signed>) -> Result<(), AuditError> {
        let (Some(Some((_, anchor))), Some(signed)) = (self.signer.get(), signed) else {
            return Ok(());
        };
        self.signed = signed.head.sequence;
        anchor.set(signed)
    }

    fn signer(&self) -> rusqlite::Result<Option<&(Signer, Anchor)>> {
        if let Some(signer) = self.signer.get() {
            return Ok(signer.as_ref());
        }
        let opened = open_signer(&self.signing).map_err(in_transaction)?;
        if let Some((_, anchor)) = &opened {
            self.hold_against(anchor)?;
        }
        Ok(self.signer.get_or_init(|| opened).as_ref())
    }

    /// What is anchored was in the database when it was written there. If it is not any more, an older copy or another
    /// database has taken its place; that must not be forgotten because records are added to it.
    fn hold_against(&self, anchor: &Anchor) -> rusqlite::Result<()> {
        let Some(anchored) = anchor.read().map_err(in_transaction)? else { return Ok(()) };
        let first = cut_from(&self.connection)?.unwrap_or(0);
        let borne_out = anchored.head.database == self.identity
            && (anchored.head.sequence < first
                || hash_of(&self.connection, anchored.head.sequence)? == Some(anchored.head.hash));
        if borne_out { Ok(()) } else { anchor.displace(&anchored).map_err(in_transaction) }
    }
}

impl Ledger for Database {
    fn append(&mut self, batch: &[Draft], manner: Manner) -> Result<(), AuditError> {
        self.append_with(batch, manner, &mut |_| Ok(true)).map(|_nothing_else| ())
    }

    fn retain(&mut self, limits: &Limits) -> Result<u64, AuditError> {
        let upto = retention::overdue(&self.connection, limits, now());
        match upto.map_err(database("be looked at"))? {
            Some(upto) => self.cut(upto).map(|pruned| pruned.records),
            None => Ok(0),
        }
    }
}

impl Database {
    /// Whoever opens the database as the only one reads the whole log: processes that end soon must not leave a long one.
    fn shorten_log(&self) -> rusqlite::Result<()> {
        if opening::length_of_log(self.state.as_fd()) <= LONGEST_LOG {
            return Ok(());
        }
        // Who is in the way will do it himself.
        self.connection.busy_timeout(Duration::ZERO)?;
        let truncate = "PRAGMA wal_checkpoint(TRUNCATE)";
        let shortened = self.connection.query_row(truncate, [], |_| Ok(()));
        self.connection.busy_timeout(opening::PATIENCE)?;
        shortened
    }

    fn head_sequence(&self) -> Result<u64, AuditError> {
        let sequence = head(&self.connection, self.identity).map(|head| head.sequence);
        sequence.map_err(database("be read"))
    }
}

/// A user without a place for a key has records that are not signed; one whose key is not in order has none.
fn open_signer(signing: &Signing) -> Result<Option<(Signer, Anchor)>, AuditError> {
    let Some(folder) = signing.folder.as_deref().filter(|folder| open_folder(folder).is_ok())
    else {
        return Ok(None);
    };
    Ok(Some((Signer::of_user(folder)?, Anchor::open(folder, &signing.project)?)))
}

/// What goes wrong within a transaction ends it, whoever says so.
fn in_transaction(error: AuditError) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(Box::new(error))
}

fn begin(connection: &Connection) -> rusqlite::Result<Transaction<'_>> {
    Transaction::new_unchecked(connection, rusqlite::TransactionBehavior::Immediate)
}

pub(super) fn identity(connection: &Connection) -> Result<[u8; 16], AuditError> {
    let sql = "SELECT value FROM meta WHERE name = 'database'";
    connection.query_row(sql, [], |row| row.get(0)).map_err(database("be read"))
}

fn last_signed(connection: &Connection) -> Result<u64, AuditError> {
    let sql = "SELECT ifnull(max(seq), 0) FROM checkpoints";
    connection.query_row(sql, [], |row| row.get(0)).map_err(database("be read"))
}

/// The end of the chain as it is now.
pub(super) fn head(connection: &Connection, database: [u8; 16]) -> rusqlite::Result<Head> {
    let sql = "SELECT seq, stamp, hash FROM records ORDER BY seq DESC LIMIT 1";
    let found = connection.prepare_cached(sql)?.query_row([], |row| {
        Ok(Head { database, sequence: row.get(0)?, stamp: row.get(1)?, hash: row.get(2)? })
    });
    let first = Head { database, sequence: 0, stamp: 0, hash: chain::genesis(&database) };
    Ok(found.optional()?.unwrap_or(first))
}

/// Appends to the chain. Where it ends then.
fn append(
    transaction: &Transaction<'_>,
    mut head: Head,
    batch: &[Draft],
) -> rusqlite::Result<Head> {
    let mut statements = Statements::new(transaction)?;
    for draft in batch {
        let body = chain::encode(&draft.entry).map_err(in_transaction)?;
        head.sequence += 1;
        head.stamp = head.stamp.max(now());
        let kind = draft.entry.kind();
        head.hash = chain::hash(&head.hash, head.sequence, head.stamp, kind, &body);
        statements.record.execute(params![
            head.sequence,
            head.stamp,
            kind as i64,
            head.hash,
            body
        ])?;
        statements.derive(head.sequence, &draft.entry)?;
        for (stream, data) in (0_u64..).zip(&draft.beside) {
            if let Some(data) = data {
                statements.output.execute(params![head.sequence * 2 + stream, data])?;
            }
        }
    }
    Ok(head)
}

struct Statements<'a> {
    record: CachedStatement<'a>,
    request: CachedStatement<'a>,
    ended: CachedStatement<'a>,
    output: CachedStatement<'a>,
}

impl<'a> Statements<'a> {
    fn new(connection: &'a Connection) -> rusqlite::Result<Self> {
        Ok(Statements {
            record: connection.prepare_cached("INSERT INTO records VALUES (?, ?, ?, ?, ?)")?,
            request: connection
                .prepare_cached("INSERT INTO requests VALUES (?, ?, ?, ?, ?, ?, ?, ?)")?,
            ended: connection.prepare_cached(
                "UPDATE requests SET last = ?, verdict = ?, exit = ? WHERE id = ?",
            )?,
            output: connection.prepare_cached("INSERT INTO outputs VALUES (?, ?)")?,
        })
    }

    /// What the record is found by.
    fn derive(&mut self, sequence: u64, entry: &Entry) -> rusqlite::Result<()> {
        match entry {
            Entry::Intent(intent) => {
                let verdict = intent.ruling.verdict as i64;
                self.insert(sequence, None, &intent.asked, verdict, None)
            }
            Entry::Outcome(outcome) => self.end(sequence, outcome),
            Entry::Start(_) | Entry::Answer(_) | Entry::Cut(_) | Entry::Moved(_) => Ok(()),
        }
    }

    fn end(&mut self, sequence: u64, outcome: &Outcome) -> rusqlite::Result<()> {
        let (verdict, exit) = (outcome.ruling.verdict as i64, outcome.exit);
        if outcome.intended {
            let id = outcome.asked.id.as_slice();
            if self.ended.execute(params![sequence, verdict, exit, id])? > 0 {
                return Ok(());
            }
        }
        self.insert(sequence, Some(sequence), &outcome.asked, verdict, Some(exit))
    }

    fn insert(
        &mut self,
        first: u64,
        last: Option<u64>,
        asked: &Asked,
        verdict: i64,
        exit: Option<i32>,
    ) -> rusqlite::Result<()> {
        let command = searched(&asked.command);
        let (id, session) = (asked.id.as_slice(), &*asked.session);
        self.request
            .execute(params![first, last, id, session, verdict, exit, asked.time, command])
            .map(|_one| ())
    }
}

/// As much of a command as it can be found by.
pub(super) fn searched(command: &[u8]) -> &[u8] {
    command.get(..SEARCHED).unwrap_or(command)
}

fn keep_checkpoint(transaction: &Transaction<'_>, signed: &Signed) -> rusqlite::Result<()> {
    let Head { sequence, stamp, hash, .. } = signed.head;
    transaction
        .prepare_cached("INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?, ?, ?)")?
        .execute(params![sequence, stamp, hash, signed.key, signed.signature])
        .map(|_one| ())
}

pub fn now() -> Moment {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_micros() as i64
}

/// The hash of a record, for a cut behind it.
pub(super) fn hash_of(connection: &Connection, sequence: u64) -> rusqlite::Result<Option<Hash>> {
    let sql = "SELECT hash FROM records WHERE seq = ?";
    connection.query_row(sql, [sequence], |row| row.get(0)).optional()
}

/// Only for the words of a cut.
pub(super) fn cut_from(connection: &Connection) -> rusqlite::Result<Option<u64>> {
    connection.query_row("SELECT min(seq) FROM records", [], |row| row.get(0))
}
