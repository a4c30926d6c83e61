//! The order of a listing.

use std::cmp::Ordering;

use super::entry::Entry;
use super::options::{Options, Sort};
use super::quote;
use crate::version;

pub(super) fn sort(entries: &mut Vec<Entry>, options: &Options) {
    if options.sort == Sort::None {
        return;
    }
    if options.sort == Sort::Width {
        // Widths are costly: every name is measured once.
        let mut measured: Vec<(usize, Entry)> = std::mem::take(entries)
            .into_iter()
            .map(|entry| {
                (quote::quote(&entry.name, options.style, options.question_marks).1, entry)
            })
            .collect();
        measured.sort_by(|(one_width, one), (other_width, other)| {
            let order = one_width.cmp(other_width).then_with(|| one.name.cmp(&other.name));
            arrange(order, one, other, options)
        });
        entries.extend(measured.into_iter().map(|(_, entry)| entry));
        return;
    }
    entries.sort_by(|one, other| arrange(compare(one, other, options), one, other, options));
}

/// Turned round with `-r`; directories first in any case.
fn arrange(order: Ordering, one: &Entry, other: &Entry, options: &Options) -> Ordering {
    let order = if options.reverse { order.reverse() } else { order };
    if options.directories_first {
        other.leads_to_directory().cmp(&one.leads_to_directory()).then(order)
    } else {
        order
    }
}

fn compare(one: &Entry, other: &Entry, options: &Options) -> Ordering {
    let by_name = || one.name.cmp(&other.name);
    match options.sort {
        Sort::None | Sort::Width => Ordering::Equal,
        Sort::Name => by_name(),
        Sort::Extension => extension(&one.name).cmp(extension(&other.name)).then_with(by_name),
        Sort::Size => other.size().cmp(&one.size()).then_with(by_name),
        Sort::Version => version::compare(&one.name, &other.name).then_with(by_name),
        Sort::Time => other.time(options.time).cmp(&one.time(options.time)).then_with(by_name),
    }
}

/// From the last dot on; nothing if there is none.
fn extension(name: &[u8]) -> &[u8] {
    match name.iter().rposition(|byte| *byte == b'.') {
        Some(dot) => name.get(dot..).unwrap_or_default(),
        None => b"",
    }
}
