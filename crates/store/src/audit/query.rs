//! From what is wanted of the history to what is asked of the database, and of which part of it.

use rusqlite::Connection;
use rusqlite::types::Value;

use super::blocks::Possible;
use super::entry::Verdict;
use super::outline::Wanted;
use super::reading::{Filter, Order};
use super::retention;

/// No record has a greater number.
const LAST: u64 = i64::MAX.unsigned_abs();

/// From which record to which a search goes.
pub(super) enum Places<'a> {
    Everywhere(Option<(u64, u64)>),
    Blocks(Box<Possible<'a>>),
}

impl<'a> Places<'a> {
    pub(super) fn new(
        connection: &'a Connection,
        filter: &Filter,
        query: &Query,
        order: Order,
        outlined: bool,
    ) -> rusqlite::Result<Self> {
        let text = filter.grep.as_deref().unwrap_or_default();
        match Wanted::new(text, filter.until) {
            None => Ok(Places::Everywhere(Some((query.from, LAST)))),
            Some(wanted) => Possible::new(connection, wanted, query.from, order, outlined)
                .map(|it| Places::Blocks(Box::new(it))),
        }
    }

    pub(super) fn next(&mut self) -> rusqlite::Result<Option<(u64, u64)>> {
        match self {
            Places::Everywhere(all) => Ok(all.take()),
            Places::Blocks(possible) => possible.next(),
        }
    }
}

/// The statement for a filter. Its last three values are from where, to where, and how many.
pub(super) struct Query {
    pub sql: String,
    values: Vec<Value>,
    /// Nothing before this record matches.
    from: u64,
}

impl Query {
    pub(super) fn new(
        connection: &Connection,
        filter: &Filter,
        order: Order,
    ) -> rusqlite::Result<Self> {
        let mut conditions: Vec<&str> = Vec::new();
        let mut values: Vec<Value> = Vec::new();
        let mut index = "";
        let mut from = filter.after.map_or(0, |after| after.saturating_add(1));
        if filter.failed {
            conditions.push("exit IS NOT 0");
            index = "INDEXED BY requests_failed";
        }
        if let Some(verdict) = filter.verdict {
            conditions.push("verdict = ?");
            values.push(Value::Integer(verdict as i64));
            if verdict > Verdict::Allow {
                conditions.push("verdict > 0");
                index = "INDEXED BY requests_verdict";
            }
        }
        if let Some(session) = &filter.session {
            conditions.push("session = ?");
            values.push(Value::Text(session.clone()));
            index = "INDEXED BY requests_session";
        }
        if let Some(since) = filter.since {
            from = from.max(retention::before(connection, since)?.map_or(0, |before| before + 1));
            // One that began earlier may have been written later.
            conditions.push("started >= ?");
            values.push(Value::Integer(since));
        }
        if let Some(until) = filter.until {
            conditions.push("started < ?");
            values.push(Value::Integer(until));
        }
        if let Some(text) = &filter.grep {
            conditions.push("CAST(command AS TEXT) LIKE ? ESCAPE '\\'");
            values.push(Value::Text(pattern(text)));
        }
        conditions.push("first BETWEEN ? AND ?");
        let direction = if order == Order::NewestFirst { "DESC" } else { "ASC" };
        let sql = format!(
            "SELECT first, last FROM requests {index} WHERE {} ORDER BY first {direction} LIMIT ?",
            conditions.join(" AND ")
        );
        Ok(Query { sql, values, from: from.min(LAST) })
    }

    /// From one record to another, at most so many.
    pub(super) fn values(&self, (low, high): (u64, u64), most: usize) -> Vec<Value> {
        let number = |number: u64| Value::Integer(i64::try_from(number).unwrap_or(i64::MAX));
        let more = [number(low.max(self.from)), number(high), number(most as u64)];
        self.values.iter().cloned().chain(more).collect()
    }
}

/// A text that stands for itself, anywhere.
fn pattern(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
    format!("%{escaped}%")
}
