//! `exacta audit tail`: the last requests, and with `-f` those that come.

use std::ops::ControlFlow;
use std::thread;
use std::time::Duration;

use exacta::audit::Trail;
use exacta::audit::store::{AuditError, Filter, Order, Reader, Recorded};
use exacta::records::Zone;

use super::{history, json, refused};
use crate::exit::Exit;
use crate::invocation::Global;
use crate::launch;
use crate::output::{self, Reader as Listener};
use crate::table::Look;

const USUAL: usize = 10;
const PAUSE: Duration = Duration::from_millis(200);

pub fn perform(global: &Global, trail: &Trail, filter: Filter, follow: bool) -> Exit {
    let shown = Shown {
        json: global.json,
        look: Look::of_output(launch::no_colour()),
        zone: Zone::of_operator(),
    };
    let reader = match (trail.open(), follow) {
        (Err(AuditError::Nothing), true) => None,
        (Ok(reader), _) => Some(reader),
        (Err(error), _) => return refused(&error),
    };
    let mut last = 0;
    if let Some(reader) = &reader {
        match latest(reader, &filter) {
            Ok(all) => {
                for recorded in all.iter().rev() {
                    last = last.max(recorded.number);
                    if shown.print(recorded) == Listener::Gone {
                        return Exit::Success;
                    }
                }
            }
            Err(error) => return refused(&error),
        }
    }
    if follow { go_on(trail, reader, &filter, last, &shown) } else { Exit::Success }
}

/// Until nobody reads any more.
fn go_on(
    trail: &Trail,
    mut reader: Option<Reader>,
    filter: &Filter,
    mut last: u64,
    shown: &Shown,
) -> Exit {
    loop {
        thread::sleep(PAUSE);
        reader = reader.or_else(|| trail.open().ok());
        let Some(reader) = &reader else { continue };
        if let Err(error) = trail.refresh() {
            return refused(&error);
        }
        match newer(reader, filter, &mut last, shown) {
            Ok(Listener::There) => {}
            Ok(Listener::Gone) => return Exit::Success,
            Err(error) => return refused(&error),
        }
    }
}

fn latest(reader: &Reader, filter: &Filter) -> Result<Vec<Recorded>, AuditError> {
    let filter = Filter { limit: filter.limit.or(Some(USUAL)), ..filter.clone() };
    let mut all = Vec::new();
    reader.requests(&filter, Order::NewestFirst, &mut |recorded| {
        all.push(recorded);
        ControlFlow::Continue(())
    })?;
    Ok(all)
}

/// What has come since; a request that has not ended yet is waited for, and so are those behind it.
fn newer(
    reader: &Reader,
    filter: &Filter,
    last: &mut u64,
    shown: &Shown,
) -> Result<Listener, AuditError> {
    let filter = Filter { after: Some(*last), limit: None, ..filter.clone() };
    let mut listener = Listener::There;
    reader.requests(&filter, Order::OldestFirst, &mut |recorded| {
        *last = recorded.number;
        listener = shown.print(&recorded);
        if listener == Listener::Gone { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok(listener)
}

struct Shown {
    json: bool,
    look: Look,
    zone: Zone,
}

impl Shown {
    fn print(&self, recorded: &Recorded) -> Listener {
        let line = if self.json {
            json::request(recorded).to_string()
        } else {
            let cells = history::row(recorded, &self.zone);
            let painted = cells.iter().enumerate().map(|(column, cell)| {
                let cell = crate::terminal::visible(cell);
                match history::colour(column, &cell) {
                    Some(colour) => self.look.painted(&cell, colour),
                    None => cell,
                }
            });
            painted.collect::<Vec<_>>().join(if self.look.width.is_some() { "  " } else { "\t" })
        };
        output::print_bytes(format!("{line}\n").as_bytes())
    }
}
