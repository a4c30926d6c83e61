//! The outlines of blocks in the database: made by whoever writes, asked by whoever searches.
//!
//! A block without an outline is looked into. So nothing is lost if there is none yet, as in a database of an earlier version.

use rusqlite::{CachedStatement, Connection, OptionalExtension as _};

use super::outline::{BLOCK, Sketch, Wanted, complete};
use super::reading::Order;

/// Makes outlines of complete blocks that have none, the newest first, so many at most. How many there were.
pub(super) fn outline_missing(
    connection: &Connection,
    head: u64,
    most: usize,
) -> rusqlite::Result<usize> {
    let first: Option<u64> =
        connection.query_row("SELECT min(seq) FROM records", [], |row| row.get(0))?;
    let Some(first) = first else { return Ok(0) };
    let mut there = connection.prepare_cached("SELECT 1 FROM outlines WHERE block = ?")?;
    let mut keep = connection.prepare_cached("INSERT INTO outlines VALUES (?, ?)")?;
    let mut made = 0;
    let mut sketch = None;
    for block in (first / BLOCK..complete(head)).rev() {
        if made == most {
            break;
        }
        if !there.exists([block])? {
            let outline = outline(connection, block, sketch.get_or_insert_with(Sketch::new))?;
            keep.execute((block, outline))?;
            made += 1;
        }
    }
    Ok(made)
}

fn outline(connection: &Connection, block: u64, sketch: &mut Sketch) -> rusqlite::Result<Vec<u8>> {
    let sql = "SELECT command, started FROM requests WHERE first BETWEEN ? AND ?";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(ends_of(block))?;
    while let Some(row) = rows.next()? {
        let command = row.get_ref(0)?.as_bytes().unwrap_or_default();
        sketch.add(command, row.get_ref(1)?.as_i64().unwrap_or(i64::MIN));
    }
    Ok(sketch.take())
}

/// The first and the last record of a block.
pub(super) fn ends_of(block: u64) -> (u64, u64) {
    (block * BLOCK, block * BLOCK + (BLOCK - 1))
}

/// The blocks in which something may be, one after the other.
pub(super) struct Possible<'a> {
    wanted: Wanted,
    /// Absent: the database is of a version that has none.
    outlines: Option<CachedStatement<'a>>,
    /// The next request: gaps are passed over, however wide somebody has made them.
    following: CachedStatement<'a>,
    /// Blocks from here on are not complete: an outline of one would be none of ours.
    complete: u64,
    /// What was not looked at yet.
    low: u64,
    high: u64,
    order: Order,
}

impl<'a> Possible<'a> {
    /// From a record on, up to the last.
    pub(super) fn new(
        connection: &'a Connection,
        wanted: Wanted,
        from: u64,
        order: Order,
        outlined: bool,
    ) -> rusqlite::Result<Self> {
        let head: Option<u64> =
            connection.query_row("SELECT max(seq) FROM records", [], |row| row.get(0))?;
        let sql = "SELECT bits FROM outlines WHERE block = ?";
        let outlines = outlined.then(|| connection.prepare_cached(sql)).transpose()?;
        let following = connection.prepare_cached(match order {
            Order::NewestFirst => "SELECT max(first) FROM requests WHERE first BETWEEN ? AND ?",
            Order::OldestFirst => "SELECT min(first) FROM requests WHERE first BETWEEN ? AND ?",
        })?;
        let complete = complete(head.unwrap_or(0));
        let high = i64::MAX.unsigned_abs();
        Ok(Possible { wanted, outlines, following, complete, low: from, high, order })
    }

    /// The first and the last record of the next one.
    pub(super) fn next(&mut self) -> rusqlite::Result<Option<(u64, u64)>> {
        while self.low <= self.high {
            let ends = (self.low, self.high);
            let request: Option<u64> = self.following.query_row(ends, |row| row.get(0))?;
            let Some(request) = request else { break };
            let block = request / BLOCK;
            let (first, last) = ends_of(block);
            match self.order {
                Order::NewestFirst if first == 0 => self.low = u64::MAX,
                Order::NewestFirst => self.high = first - 1,
                Order::OldestFirst => self.low = last.saturating_add(1),
            }
            if self.may_have(block)? {
                return Ok(Some((first, last.min(i64::MAX.unsigned_abs()))));
            }
        }
        Ok(None)
    }

    fn may_have(&mut self, block: u64) -> rusqlite::Result<bool> {
        let Some(outlines) = self.outlines.as_mut().filter(|_| block < self.complete) else {
            return Ok(true);
        };
        let wanted = &self.wanted;
        let may = outlines.query_row([block], |row| {
            Ok(row.get_ref(0)?.as_blob().map_or(true, |outline| wanted.may_be_in(outline)))
        });
        Ok(may.optional()?.unwrap_or(true))
    }
}
