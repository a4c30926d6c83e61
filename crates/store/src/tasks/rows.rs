//! The statements.

use rusqlite::{Connection, OptionalExtension as _, Row as SqlRow, Transaction, params};

use super::{Change, Line, Move, Row};

const COLUMNS: &str = "id, agent, state, fence, created, changed, cancelled_by, body";

pub(super) fn insert(connection: &Connection, row: &Row) -> rusqlite::Result<()> {
    let sql = "INSERT INTO tasks VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
    let Row { id, agent, state, fence, created, changed, cancelled_by, body } = row;
    connection
        .execute(sql, params![id, agent, state, fence, created, changed, cancelled_by, body])
        .map(|_one| ())
}

/// Whether it was as it was seen.
pub(super) fn update(connection: &Connection, change: &Change<'_>) -> rusqlite::Result<bool> {
    let Change { id, from, fence, to, body, begins_anew, .. } = change;
    let sql = "UPDATE tasks SET state = ?, fence = fence + 1, changed = ?, body = ?,
               cancelled_by = CASE WHEN ? THEN NULL ELSE cancelled_by END
               WHERE id = ? AND state = ? AND fence = ?";
    let changed =
        connection.execute(sql, params![to, millis(), body, begins_anew, id, from, fence])?;
    Ok(changed == 1)
}

pub(super) fn insert_move(connection: &Connection, change: &Change<'_>) -> rusqlite::Result<()> {
    let Change { id, from, to, why, .. } = change;
    let sql = "INSERT INTO task_moves SELECT ?1, ifnull(max(seq), 0) + 1, ?2, ?3, ?4, ?5
               FROM task_moves WHERE task = ?1";
    connection.execute(sql, params![id, millis(), from, to, why]).map(|_one| ())
}

pub(super) fn cancelled_by(connection: &Connection, id: &str) -> rusqlite::Result<Option<String>> {
    let sql = "SELECT cancelled_by FROM tasks WHERE id = ?";
    let found = connection.prepare_cached(sql)?.query_row([id], |row| row.get(0)).optional()?;
    Ok(found.flatten())
}

pub(super) fn get(connection: &Connection, id: &str) -> rusqlite::Result<Option<Row>> {
    let sql = format!("SELECT {COLUMNS} FROM tasks WHERE id = ?");
    connection.prepare_cached(&sql)?.query_row([id], row).optional()
}

pub(super) fn beginning_with(
    connection: &Connection,
    beginning: &str,
) -> rusqlite::Result<Vec<Row>> {
    let sql = format!("SELECT {COLUMNS} FROM tasks WHERE substr(id, 1, length(?1)) = ?1 LIMIT 2");
    connection.prepare(&sql)?.query_map([beginning], row)?.collect()
}

/// The ids begin with the time.
pub(super) fn list(connection: &Connection) -> rusqlite::Result<Vec<Row>> {
    let sql = format!("SELECT {COLUMNS} FROM tasks ORDER BY id DESC");
    connection.prepare(&sql)?.query_map([], row)?.collect()
}

pub(super) fn unfinished(connection: &Connection) -> rusqlite::Result<Vec<Row>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM tasks WHERE state NOT IN ('completed', 'failed', 'cancelled')
         ORDER BY id"
    );
    connection.prepare_cached(&sql)?.query_map([], row)?.collect()
}

pub(super) fn moves(connection: &Connection, id: &str) -> rusqlite::Result<Vec<Move>> {
    let sql = "SELECT seq, stamp, source, target, why FROM task_moves WHERE task = ? ORDER BY seq";
    let read = |row: &SqlRow<'_>| {
        let (number, stamp, from) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(Move { number, stamp, from, to: row.get(3)?, why: row.get(4)? })
    };
    connection.prepare(sql)?.query_map([id], read)?.collect()
}

pub(super) fn write_log(
    connection: &Connection,
    id: &str,
    lines: &[(u64, &str, &str)],
    most: u64,
) -> rusqlite::Result<()> {
    let behavior = rusqlite::TransactionBehavior::Immediate;
    let transaction = Transaction::new_unchecked(connection, behavior)?;
    let last = "SELECT ifnull(max(seq), 0) FROM task_log WHERE task = ?";
    let mut last: u64 = transaction.query_row(last, [id], |row| row.get(0))?;
    // Of more than are kept, the first need not be written.
    let passed = lines.len().saturating_sub(usize::try_from(most).unwrap_or(usize::MAX));
    last += passed as u64;
    {
        let mut insert =
            transaction.prepare_cached("INSERT INTO task_log VALUES (?, ?, ?, ?, ?)")?;
        for (stamp, kind, content) in lines.iter().skip(passed) {
            last += 1;
            insert.execute(params![id, last, stamp, kind, content])?;
        }
    }
    let old = "DELETE FROM task_log WHERE task = ? AND seq <= ?";
    transaction.execute(old, params![id, last.saturating_sub(most)])?;
    transaction.commit()
}

pub(super) fn log(connection: &Connection, id: &str, after: u64) -> rusqlite::Result<Vec<Line>> {
    let sql = "SELECT seq, stamp, kind, content FROM task_log WHERE task = ? AND seq > ?
               ORDER BY seq";
    let read = |row: &SqlRow<'_>| {
        let (number, stamp) = (row.get(0)?, row.get(1)?);
        Ok(Line { number, stamp, kind: row.get(2)?, content: row.get(3)? })
    };
    connection.prepare(sql)?.query_map(params![id, after], read)?.collect()
}

/// Of those that have ended, the oldest go.
pub(super) fn forget_old(connection: &Connection, most: u64) -> rusqlite::Result<()> {
    let old = "SELECT id FROM tasks WHERE state IN ('completed', 'failed', 'cancelled')
               ORDER BY id DESC LIMIT -1 OFFSET ?";
    let old: Vec<String> = connection
        .prepare_cached(old)?
        .query_map([most], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for id in old {
        for table in ["task_log", "task_moves"] {
            connection.execute(&format!("DELETE FROM {table} WHERE task = ?"), [&id])?;
        }
        connection.execute("DELETE FROM tasks WHERE id = ?", [&id])?;
    }
    Ok(())
}

fn row(row: &SqlRow<'_>) -> rusqlite::Result<Row> {
    Ok(Row {
        id: row.get(0)?,
        agent: row.get(1)?,
        state: row.get(2)?,
        fence: row.get(3)?,
        created: row.get(4)?,
        changed: row.get(5)?,
        cancelled_by: row.get(6)?,
        body: row.get(7)?,
    })
}

fn millis() -> i64 {
    crate::audit::now() / 1_000
}
