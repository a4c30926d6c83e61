//! Forgetting: the oldest records go, whole requests at a time, and a signed record says that they have.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _};

use super::database::{cut_from, hash_of};
use super::entry::{Cut, Moment};
use super::ledger::{Limits, Pruned};
use super::opening;
use super::outline::BLOCK;

const DAY: i64 = 24 * 60 * 60 * 1_000_000;

/// When it has grown too large it is made so much smaller that this does not come back soon.
const SPARE: u64 = 10;

/// So many records go at once where nobody has asked for it: whoever comes by has something else to do.
const AT_ONCE: u64 = 20_000;

/// The last record that is too old or too much. `None`: all is within the limits.
pub(super) fn due(
    connection: &Connection,
    limits: &Limits,
    now: Moment,
) -> rusqlite::Result<Option<u64>> {
    let aged = before(connection, oldest(limits, now))?;
    let surplus = surplus(connection, limits.bytes)?;
    Ok(aged.max(surplus).filter(|upto| *upto > 0))
}

/// The same where it should have been done long ago. Else everybody who comes by would remove the one record that has become
/// too old since the last one did, and write down that he has.
pub(super) fn overdue(
    connection: &Connection,
    limits: &Limits,
    now: Moment,
) -> rusqlite::Result<Option<u64>> {
    let first: Option<(u64, Moment)> = connection
        .prepare_cached("SELECT seq, stamp FROM records ORDER BY seq LIMIT 1")?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((first, stamp)) = first else { return Ok(None) };
    let aged = stamp < oldest(limits, now).saturating_sub(DAY);
    if !aged && used(connection)? <= limits.bytes {
        return Ok(None);
    }
    Ok(due(connection, limits, now)?.map(|upto| upto.min(first.saturating_add(AT_ONCE))))
}

/// What was written before this is too old.
fn oldest(limits: &Limits, now: Moment) -> Moment {
    let days = i64::try_from(limits.days).unwrap_or(i64::MAX);
    now.saturating_sub(days.saturating_mul(DAY))
}

/// The last record that was written before a moment. Times only ever grow along the chain, so it is found by halving.
pub(super) fn before(connection: &Connection, moment: Moment) -> rusqlite::Result<Option<u64>> {
    let Some((mut low, mut high)) = ends(connection)? else { return Ok(None) };
    let sql = "SELECT stamp FROM records WHERE seq >= ? ORDER BY seq LIMIT 1";
    let mut look = connection.prepare_cached(sql)?;
    let mut is_old = |sequence: u64| -> rusqlite::Result<bool> {
        look.query_row([sequence], |row| row.get(0)).map(|stamp: i64| stamp < moment)
    };
    if !is_old(low)? {
        return Ok(None);
    }
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if is_old(middle)? {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    Ok(Some(low))
}

/// The first record and the last. Asked for apart: for both at once `SQLite` would look at all of them.
fn ends(connection: &Connection) -> rusqlite::Result<Option<(u64, u64)>> {
    let sql = "SELECT (SELECT min(seq) FROM records), (SELECT max(seq) FROM records)";
    let (low, high): (Option<u64>, Option<u64>) =
        connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(low.zip(high))
}

/// How far the oldest have to go for the rest to fit, if all are of one size.
fn surplus(connection: &Connection, bytes: u64) -> rusqlite::Result<Option<u64>> {
    let used = used(connection)?;
    if used <= bytes {
        return Ok(None);
    }
    let Some((low, high)) = ends(connection)? else { return Ok(None) };
    let wanted = bytes - bytes / SPARE;
    let count = u128::from(high - low + 1) * u128::from(used - wanted) / u128::from(used.max(1));
    let upto = low + u64::try_from(count).unwrap_or(0);
    Ok(Some(upto.min(high.saturating_sub(1))))
}

/// Bytes of the database that are in use.
pub(super) fn used(connection: &Connection) -> rusqlite::Result<u64> {
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, u64>(0));
    let pages = number("page_count")?.saturating_sub(number("freelist_count")?);
    Ok(pages * number("page_size")?)
}

/// What a cut up to a record removes.
pub(super) fn weigh(connection: &Connection, cut: &Cut) -> rusqlite::Result<Pruned> {
    let count = "SELECT count(*) FROM requests WHERE first <= ?";
    let requests = connection.query_row(count, [cut.upto], |row| row.get(0))?;
    let time = "SELECT stamp FROM records WHERE seq = ?";
    let time = connection.query_row(time, [cut.upto], |row| row.get(0))?;
    let records = cut.upto + 1 - cut.from;
    Ok(Pruned { records, requests, upto: cut.upto, time, bytes: 0 })
}

/// What will be said of it. A request is never cut in two.
pub(super) fn plan(
    connection: &Connection,
    upto: u64,
    time: Moment,
) -> rusqlite::Result<Option<Cut>> {
    let Some(from) = cut_from(connection)? else { return Ok(None) };
    let mut upto = upto;
    let sql = "SELECT min(first) FROM requests WHERE first <= ?1 AND last > ?1";
    let mut straddling = connection.prepare(sql)?;
    while let Some(first) = straddling.query_row([upto], |row| row.get::<_, Option<u64>>(0))? {
        upto = first.saturating_sub(1);
    }
    if upto < from {
        return Ok(None);
    }
    Ok(hash_of(connection, upto)?.map(|hash| Cut { upto, hash, from, time }))
}

pub(super) fn remove(connection: &Connection, cut: &Cut) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM records WHERE seq <= ?", [cut.upto])?;
    connection.execute("DELETE FROM requests WHERE first <= ?", [cut.upto])?;
    connection.execute("DELETE FROM outputs WHERE id < ?", [(cut.upto + 1) * 2])?;
    connection.execute("DELETE FROM checkpoints WHERE seq <= ?", [cut.upto])?;
    // Also that of the block which is cut in two: it is made again of what is left.
    connection.execute("DELETE FROM outlines WHERE block <= ?", [cut.upto / BLOCK])?;
    Ok(())
}

/// The room goes back to the disk.
pub(super) fn give_back(connection: &Connection) -> rusqlite::Result<()> {
    let mut statement = connection.prepare("PRAGMA incremental_vacuum")?;
    let mut rows = statement.query([])?;
    while rows.next()?.is_some() {}
    drop(rows);
    // In the main file, not in the log beside it. Who reads is not waited for: the next one does it.
    connection.busy_timeout(Duration::ZERO)?;
    let shortened = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    connection.busy_timeout(opening::PATIENCE)?;
    shortened.optional().map(|_whether| ())
}
