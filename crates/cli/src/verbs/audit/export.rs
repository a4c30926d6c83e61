//! `exacta audit export`: requests for other systems, oldest first.

use std::ops::ControlFlow;

use exacta::audit::Trail;
use exacta::audit::store::{AuditError, Filter, Order, Reader, Recorded};

use super::{formats, refused};
use crate::exit::Exit;
use crate::invocation::Format;
use crate::output::{self, Reader as Listener};
use crate::progress::Progress;

/// Written at once.
const PIECE: usize = 64 << 10;

pub fn perform(trail: &Trail, format: Format, filter: &Filter) -> Exit {
    let progress = Progress::new();
    let done = trail.open().and_then(|reader| export(&reader, format, filter, &progress));
    progress.clear();
    match done {
        Ok(()) => Exit::Success,
        Err(error) => refused(&error),
    }
}

fn export(
    reader: &Reader,
    format: Format,
    filter: &Filter,
    progress: &Progress,
) -> Result<(), AuditError> {
    // Nobody looks: then nobody counts.
    let total = if progress.is_seen() { reader.count(filter)? } else { 0 };
    let watch = progress.watch();
    let mut piece = formats::heading(format);
    let mut done = 0;
    reader.requests(filter, Order::OldestFirst, &mut |recorded: Recorded| {
        piece.push_str(&formats::line(format, &recorded));
        done += 1;
        watch.tell(done, total);
        if piece.len() < PIECE {
            return ControlFlow::Continue(());
        }
        let listener = output::print_bytes(piece.as_bytes());
        piece.clear();
        if listener == Listener::Gone { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    output::print_bytes(piece.as_bytes());
    Ok(())
}
