//! Reading the database: for the history, for exports, and for whoever verifies it.

use std::ops::ControlFlow;
use std::os::fd::BorrowedFd;

use rusqlite::{Connection, OptionalExtension as _, Row as SqlRow, params_from_iter};

use super::chain::Link;
use super::database::{head, identity, now};
use super::entry::{Entry, Intent, Kind, Moment, Outcome, Start, Verdict};
use super::error::{AuditError, database};
use super::key::Signed;
use super::ledger::{Archive, Beside, Each, Head, Limits, Pruned, Row};
use super::outline::{BLOCK, complete};
use super::output::unpacked;
use super::query::{Places, Query};
use super::schema::OUTLINED;
use super::{opening, retention};

/// To look into so many more blocks takes no time worth a word.
const FEW: u64 = 16;

/// The database of one project, to read from. Writers are not in its way, nor it in theirs.
pub struct Reader {
    connection: Connection,
    database: [u8; 16],
    /// It is of a version that has outlines.
    outlined: bool,
}

/// Which requests are wanted. All that is said must hold.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// At most so many.
    pub limit: Option<usize>,
    pub since: Option<Moment>,
    pub until: Option<Moment>,
    pub session: Option<String>,
    pub verdict: Option<Verdict>,
    /// Those that have not ended well, or not at all.
    pub failed: bool,
    /// Within the text of the command, in either case.
    pub grep: Option<String>,
    /// Later than this one.
    pub after: Option<u64>,
}

/// Which way requests are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    NewestFirst,
    OldestFirst,
}

/// A request with all that was recorded of it.
#[derive(Debug, Clone, Default)]
pub struct Recorded {
    /// Its first record; what people call it by.
    pub number: u64,
    pub intent: Option<Intent>,
    pub starts: Vec<Start>,
    /// Absent: it runs still, or its exacta was killed.
    pub outcome: Option<Outcome>,
    /// The record of the outcome.
    pub last: Option<u64>,
}

impl Recorded {
    /// Who asked for what.
    pub fn asked(&self) -> Option<&super::entry::Asked> {
        let outcome = self.outcome.as_ref().map(|outcome| &outcome.asked);
        outcome.or(self.intent.as_ref().map(|intent| &intent.asked))
    }

    pub fn ruling(&self) -> Option<&super::entry::Ruling> {
        let outcome = self.outcome.as_ref().map(|outcome| &outcome.ruling);
        outcome.or(self.intent.as_ref().map(|intent| &intent.ruling))
    }
}

impl Reader {
    pub fn open(state: BorrowedFd<'_>) -> Result<Self, AuditError> {
        let (connection, version) = opening::for_reading(state)?;
        let database = identity(&connection)?;
        Ok(Reader { connection, database, outlined: version >= OUTLINED })
    }

    /// Requests, one after the other.
    pub fn requests(
        &self,
        filter: &Filter,
        order: Order,
        each: Each<'_, Recorded>,
    ) -> Result<(), AuditError> {
        let failed = database("be read");
        // All of it as it is now.
        let _moment = self.connection.unchecked_transaction().map_err(&failed)?;
        let query = Query::new(&self.connection, filter, order).map_err(&failed)?;
        let mut statement = self.connection.prepare(&query.sql).map_err(&failed)?;
        let mut left = filter.limit.unwrap_or(usize::MAX);
        let mut places = self.places(filter, &query, order).map_err(&failed)?;
        while let Some(place) = places.next().map_err(&failed)? {
            let values = query.values(place, left);
            let mut rows = statement.query(params_from_iter(values)).map_err(&failed)?;
            while let Some(row) = rows.next().map_err(&failed)? {
                let (first, last) = ends(row).map_err(&failed)?;
                left -= 1;
                if each(self.recorded(first, last)?).is_break() {
                    return Ok(());
                }
            }
            if left == 0 {
                break;
            }
        }
        Ok(())
    }

    /// How many there are, for whoever shows how far it is.
    pub fn count(&self, filter: &Filter) -> Result<usize, AuditError> {
        let failed = database("be read");
        let order = Order::OldestFirst;
        let _moment = self.connection.unchecked_transaction().map_err(&failed)?;
        let query = Query::new(&self.connection, filter, order).map_err(&failed)?;
        let sql = format!("SELECT count(*) FROM ({})", query.sql);
        let mut statement = self.connection.prepare(&sql).map_err(&failed)?;
        let most = filter.limit.unwrap_or(usize::MAX);
        let mut found = 0;
        let mut places = self.places(filter, &query, order).map_err(&failed)?;
        while let Some(place) = places.next().map_err(&failed)? {
            let values = query.values(place, most - found);
            let counted =
                statement.query_row(params_from_iter(values), |row| row.get::<_, usize>(0));
            found += counted.map_err(&failed)?;
            if found >= most {
                break;
            }
        }
        Ok(found)
    }

    /// Where to look.
    fn places(&self, filter: &Filter, query: &Query, order: Order) -> rusqlite::Result<Places<'_>> {
        Places::new(&self.connection, filter, query, order, self.outlined)
    }

    /// Few blocks are searched without an outline of theirs.
    pub fn is_outlined(&self) -> Result<bool, AuditError> {
        let head = self.head()?.sequence;
        if !self.outlined {
            return Ok(complete(head) == 0);
        }
        let sql = "SELECT count(*) FROM outlines";
        let there = self.connection.query_row(sql, [], |row| row.get::<_, u64>(0));
        let first = "SELECT ifnull(min(seq), 0) FROM records";
        let first = self.connection.query_row(first, [], |row| row.get::<_, u64>(0));
        let failed = database("be read");
        let blocks = complete(head).saturating_sub(first.map_err(&failed)? / BLOCK);
        Ok(blocks.saturating_sub(there.map_err(&failed)?) < FEW)
    }

    /// What [`super::Database::prune`] would remove.
    pub fn prunable(&self, limits: &Limits) -> Result<Pruned, AuditError> {
        let look = || -> rusqlite::Result<Pruned> {
            let now = now();
            let Some(upto) = retention::due(&self.connection, limits, now)? else {
                return Ok(Pruned::default());
            };
            let cut = retention::plan(&self.connection, upto, now)?;
            cut.map_or(Ok(Pruned::default()), |cut| retention::weigh(&self.connection, &cut))
        };
        look().map_err(database("be looked at"))
    }

    /// By its number, its correlation id, or the beginning of that.
    pub fn find(&self, wanted: &str) -> Result<Recorded, AuditError> {
        let number = wanted.trim_start_matches('#').parse::<u64>().ok();
        let digits: String = wanted.chars().filter(|character| *character != '-').collect();
        let plausible = (8..=32).contains(&digits.len());
        let hex = plausible && digits.chars().all(|digit| digit.is_ascii_hexdigit());
        let by_number = "SELECT first, last FROM requests WHERE first = ?";
        let by_id = "SELECT first, last FROM requests WHERE id >= ?1 AND id <= ?2 LIMIT 2";
        let mut found = Vec::new();
        let failed = database("be read");
        if let Some(number) = number.filter(|_| !wanted.contains('-')) {
            let row = self.connection.query_row(by_number, [number], ends).optional();
            found.extend(row.map_err(&failed)?);
        }
        if found.is_empty() && hex {
            let (low, high) = (blob(&format!("{digits:0<32}")), blob(&format!("{digits:f<32}")));
            let mut statement = self.connection.prepare(by_id).map_err(&failed)?;
            let rows = statement.query_map([low, high], ends).map_err(&failed)?;
            found = rows.collect::<Result<_, _>>().map_err(&failed)?;
        }
        match found.as_slice() {
            [(first, last)] => self.recorded(*first, *last),
            _ => Err(AuditError::NoSuchRequest(wanted.to_owned())),
        }
    }

    /// What was kept beside the record of a stream, or in it.
    pub fn output(&self, recorded: &Recorded, stream: u8) -> Result<Option<Vec<u8>>, AuditError> {
        let (Some(outcome), Some(last)) = (&recorded.outcome, recorded.last) else {
            return Ok(None);
        };
        let output = if stream == 0 { &outcome.stdout } else { &outcome.stderr };
        let Some(kept) = &output.kept else { return Ok(Some(output.head.to_vec())) };
        let sql = "SELECT data FROM outputs WHERE id = ?";
        let id = last * 2 + u64::from(stream);
        let found = self.connection.query_row(sql, [id], |row| row.get::<_, Vec<u8>>(0)).optional();
        let found = found.map_err(database("be read"))?;
        Ok(found.and_then(|data| unpacked(&data, kept)))
    }

    /// Entries from a record on, whatever they are.
    pub fn entries(&self, from: u64, each: Each<'_, (Link, Entry)>) -> Result<(), AuditError> {
        let mut unreadable = None;
        self.links(from, &mut |link| match link.entry() {
            Ok(entry) => each((link, entry)),
            Err(error) => {
                unreadable = Some(error);
                ControlFlow::Break(())
            }
        })?;
        unreadable.map_or(Ok(()), Err)
    }

    fn recorded(&self, first: u64, last: Option<u64>) -> Result<Recorded, AuditError> {
        let mut recorded = Recorded { number: first, last, ..Recorded::default() };
        match self.entry(first)? {
            Entry::Intent(intent) => recorded.intent = Some(*intent),
            Entry::Outcome(outcome) => recorded.outcome = Some(*outcome),
            _ => return Err(AuditError::Unreadable(first)),
        }
        if let Some(last) = last.filter(|last| *last != first) {
            match self.entry(last)? {
                Entry::Outcome(outcome) => recorded.outcome = Some(*outcome),
                _ => return Err(AuditError::Unreadable(last)),
            }
        }
        Ok(recorded)
    }

    /// The programs that were to be started in a request, each as it was written down before.
    pub fn with_starts(&self, mut recorded: Recorded) -> Result<Recorded, AuditError> {
        let Some(id) = recorded.asked().map(|asked| asked.id) else { return Ok(recorded) };
        let until = recorded.last.unwrap_or(u64::MAX);
        let mut starts = Vec::new();
        self.links(recorded.number, &mut |link| {
            if link.sequence > until {
                return ControlFlow::Break(());
            }
            if link.kind == Kind::Start
                && let Ok(Entry::Start(start)) = link.entry()
                && start.id == id
            {
                starts.push(*start);
            }
            ControlFlow::Continue(())
        })?;
        recorded.starts = starts;
        Ok(recorded)
    }

    fn entry(&self, sequence: u64) -> Result<Entry, AuditError> {
        let sql = "SELECT body FROM records WHERE seq = ?";
        let mut statement = self.connection.prepare_cached(sql).map_err(database("be read"))?;
        let body: Option<Vec<u8>> = statement
            .query_row([sequence], |row| row.get(0))
            .optional()
            .map_err(database("be read"))?;
        let entry = body.and_then(|body| super::chain::decode(&body));
        entry.ok_or(AuditError::Unreadable(sequence))
    }
}

/// Hexadecimal digits as bytes.
fn blob(digits: &str) -> Vec<u8> {
    super::anchor::unhex::<16>(digits).unwrap_or_default().to_vec()
}

fn ends(row: &SqlRow<'_>) -> rusqlite::Result<(u64, Option<u64>)> {
    Ok((row.get(0)?, row.get(1)?))
}

impl Archive for Reader {
    fn database(&self) -> [u8; 16] {
        self.database
    }

    fn head(&self) -> Result<Head, AuditError> {
        head(&self.connection, self.database).map_err(database("be read"))
    }

    fn links(&self, from: u64, each: Each<'_, Link>) -> Result<(), AuditError> {
        let sql = "SELECT seq, stamp, kind, hash, body FROM records WHERE seq >= ? ORDER BY seq";
        self.walk(sql, from, &mut |row| link(row), each)
    }

    fn beside(&self, each: Each<'_, Beside>) -> Result<(), AuditError> {
        let sql = "SELECT id, data FROM outputs WHERE id >= ? ORDER BY id";
        let read = &mut |row: &SqlRow<'_>| {
            let id: u64 = row.get(0)?;
            Ok(Beside { sequence: id / 2, stream: (id % 2) as u8, data: bytes(row, 1)? })
        };
        self.walk(sql, 0, read, each)
    }

    fn rows(&self, each: Each<'_, Row>) -> Result<(), AuditError> {
        let sql = "SELECT first, last, id, session, verdict, exit, started, command FROM requests \
                   WHERE first >= ? ORDER BY first";
        let read = &mut |row: &SqlRow<'_>| {
            Ok(Row {
                first: row.get(0)?,
                last: row.get_ref(1)?.as_i64_or_null().ok().flatten().map(|last| last as u64),
                id: bytes(row, 2)?,
                session: String::from_utf8_lossy(&bytes(row, 3)?).into_owned(),
                verdict: number(row, 4)?,
                exit: row.get_ref(5)?.as_i64_or_null().ok().flatten(),
                started: number(row, 6)?,
                command: bytes(row, 7)?,
            })
        };
        self.walk(sql, 0, read, each)
    }

    fn outlines(&self, each: Each<'_, (u64, Vec<u8>)>) -> Result<(), AuditError> {
        if !self.outlined {
            return Ok(());
        }
        let sql = "SELECT block, bits FROM outlines WHERE block >= ? ORDER BY block";
        self.walk(sql, 0, &mut |row| Ok((row.get(0)?, bytes(row, 1)?)), each)
    }

    fn checkpoints(&self) -> Result<Vec<Signed>, AuditError> {
        let sql =
            "SELECT seq, stamp, hash, key, signature FROM checkpoints WHERE seq >= ? ORDER BY seq";
        let mut all = Vec::new();
        let read = &mut |row: &SqlRow<'_>| {
            let head = Head {
                database: self.database,
                sequence: row.get(0)?,
                stamp: number(row, 1)?,
                hash: bytes(row, 2)?.try_into().unwrap_or_default(),
            };
            let key = bytes(row, 3)?.try_into().unwrap_or_default();
            let signature = bytes(row, 4)?.try_into().unwrap_or([0; 64]);
            Ok(Signed { head, key, signature })
        };
        self.walk(sql, 0, read, &mut |signed| {
            all.push(signed);
            ControlFlow::Continue(())
        })?;
        Ok(all)
    }

    fn last_cut(&self) -> Result<Option<Link>, AuditError> {
        let sql = "SELECT seq, stamp, kind, hash, body FROM records INDEXED BY records_rare \
                   WHERE kind = 5 AND kind > 3 ORDER BY seq DESC LIMIT 1";
        self.connection.query_row(sql, [], link).optional().map_err(database("be read"))
    }
}

fn link(row: &SqlRow<'_>) -> rusqlite::Result<Link> {
    let number = row.get_ref(2)?.as_i64().unwrap_or(0);
    Ok(Link {
        sequence: row.get(0)?,
        stamp: row.get_ref(1)?.as_i64().unwrap_or(0),
        kind: Kind::from_number(number),
        hash: bytes(row, 3)?.try_into().unwrap_or_default(),
        body: bytes(row, 4)?,
    })
}

/// Whatever is there, as bytes: what somebody has put in another's place is to be found, not stumbled over.
fn bytes(row: &SqlRow<'_>, column: usize) -> rusqlite::Result<Vec<u8>> {
    use rusqlite::types::ValueRef;
    Ok(match row.get_ref(column)? {
        ValueRef::Blob(bytes) | ValueRef::Text(bytes) => bytes.to_vec(),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => Vec::new(),
    })
}

fn number(row: &SqlRow<'_>, column: usize) -> rusqlite::Result<i64> {
    Ok(row.get_ref(column)?.as_i64().unwrap_or(i64::MIN))
}

impl Reader {
    fn walk<T>(
        &self,
        sql: &str,
        from: u64,
        read: &mut dyn FnMut(&SqlRow<'_>) -> rusqlite::Result<T>,
        each: Each<'_, T>,
    ) -> Result<(), AuditError> {
        let failed = database("be read");
        let mut statement = self.connection.prepare(sql).map_err(&failed)?;
        let mut rows = statement.query([from]).map_err(&failed)?;
        while let Some(row) = rows.next().map_err(&failed)? {
            if each(read(row).map_err(&failed)?).is_break() {
                break;
            }
        }
        Ok(())
    }
}
