//! `ls -l`

use bstr::{BString, ByteSlice};

use super::Listing;
use super::entry::Entry;
use super::name::{Frills, Name};
use crate::dates::{self, Dialect};
use crate::filesystem::{FileKind, Metadata};
use crate::mode;

/// About half a year: older times show the year instead of the hour.
const RECENT: i64 = 31_556_952 / 2;

/// The columns of one line as texts.
struct Row {
    mode: String,
    links: String,
    /// Owner, group, author: `true` for names, which stand at the left.
    owners: Vec<(BString, bool)>,
    size: Size,
    time: Vec<u8>,
}

enum Size {
    Bytes(String),
    /// Of a device.
    Numbers(String, String),
}

#[derive(Default)]
struct Widths {
    links: usize,
    owners: Vec<usize>,
    size: usize,
    major: usize,
    minor: usize,
    time: usize,
}

impl Listing<'_, '_> {
    pub(super) fn print_long(
        &mut self,
        entries: &[Entry],
        names: &[Name],
        others: &[Entry],
        frills: Frills,
    ) {
        let rows: Vec<Row> = entries.iter().chain(others).map(|entry| self.row(entry)).collect();
        let widths = measure(&rows);
        for ((row, entry), name) in rows.iter().zip(entries).zip(names) {
            let text = self.frills(entry, frills);
            self.out.extend_from_slice(text.as_bytes());
            self.print_row(row, &widths);
            self.push(&name.text, name.color_at);
            self.print_target(entry);
            self.out.push(self.options.end);
        }
    }

    fn row(&self, entry: &Entry) -> Row {
        let Some(metadata) = &entry.metadata else { return self.unknown(entry.kind) };
        let permissions = mode::permission_text(metadata.kind, metadata.permissions);
        Row {
            mode: permissions,
            links: metadata.links.to_string(),
            owners: self.owners(metadata),
            size: self.size(metadata),
            time: self.time(entry),
        }
    }

    fn unknown(&self, kind: FileKind) -> Row {
        let letter = mode::permission_text(kind, 0).chars().next().unwrap_or('?');
        let options = &self.options;
        let count = [options.owner, options.group, options.author];
        let owners = count.into_iter().filter(|shown| *shown).map(|_| (BString::from("?"), true));
        Row {
            mode: format!("{letter}?????????"),
            links: "?".to_owned(),
            owners: owners.collect(),
            size: Size::Bytes("?".to_owned()),
            time: b"?".to_vec(),
        }
    }

    fn owners(&self, metadata: &Metadata) -> Vec<(BString, bool)> {
        let host = self.context.host();
        let identity = host.identity();
        let numeric = self.options.numeric;
        let name = |id: u32, own: u32, own_name: &BString| match id {
            id if numeric => (id.to_string().into(), false),
            0 => ("root".into(), true),
            id if id == own => (own_name.clone(), true),
            id => (id.to_string().into(), false),
        };
        let user = name(metadata.user, identity.user_id, &identity.user_name);
        let group = name(metadata.group, identity.group_id, &identity.group_name);
        let mut owners = Vec::new();
        if self.options.owner {
            owners.push(user.clone());
        }
        if self.options.group {
            owners.push(group);
        }
        if self.options.author {
            owners.push(user);
        }
        owners
    }

    fn size(&self, metadata: &Metadata) -> Size {
        match metadata.kind {
            FileKind::BlockDevice | FileKind::CharacterDevice => {
                let number = metadata.device_number;
                let major = ((number >> 8) & 0xfff) | ((number >> 32) & !0xfff);
                let minor = (number & 0xff) | ((number >> 12) & !0xff);
                Size::Numbers(major.to_string(), minor.to_string())
            }
            _ => Size::Bytes(self.options.size_scale.show(metadata.size)),
        }
    }

    fn time(&self, entry: &Entry) -> Vec<u8> {
        let options = &self.options;
        let Some(moment) = entry.time(options.time) else { return b"?".to_vec() };
        let half_a_year_ago = options.now.seconds - RECENT;
        let recent = moment.seconds > half_a_year_ago && moment <= options.now;
        let format = if recent { &options.formats.recent } else { &options.formats.old };
        let mut out = Vec::new();
        match options.zone.local(moment) {
            Some(local) => dates::format(&mut out, format.as_bstr(), &local, Dialect::Gnu),
            None => out.extend_from_slice(moment.seconds.to_string().as_bytes()),
        }
        out
    }

    fn print_row(&mut self, row: &Row, widths: &Widths) {
        let links = widths.links;
        self.out.extend_from_slice(format!("{} {:>links$} ", row.mode, row.links).as_bytes());
        for ((owner, is_name), width) in row.owners.iter().zip(&widths.owners) {
            let missing = width.saturating_sub(super::quote::display_width(owner));
            let blanks = " ".repeat(missing);
            if *is_name {
                self.out.extend_from_slice(owner);
                self.out.extend_from_slice(blanks.as_bytes());
            } else {
                self.out.extend_from_slice(blanks.as_bytes());
                self.out.extend_from_slice(owner);
            }
            self.out.push(b' ');
        }
        let size = match &row.size {
            Size::Bytes(text) => format!("{text:>width$} ", width = widths.size),
            Size::Numbers(major, minor) => {
                let blank = widths.size.saturating_sub(widths.major + 2 + widths.minor);
                let major_width = widths.major + blank;
                format!("{major:>major_width$}, {minor:>width$} ", width = widths.minor)
            }
        };
        self.out.extend_from_slice(size.as_bytes());
        let missing = if row.time == b"?" { widths.time.saturating_sub(1) } else { 0 };
        self.out.extend(std::iter::repeat_n(b' ', missing));
        self.out.extend_from_slice(&row.time);
        self.out.push(b' ');
    }
}

fn measure(rows: &[Row]) -> Widths {
    let mut widths = Widths::default();
    for row in rows {
        widths.links = widths.links.max(row.links.len());
        widths.time = widths.time.max(row.time.len());
        widths.owners.resize(row.owners.len().max(widths.owners.len()), 0);
        for (width, (owner, _)) in widths.owners.iter_mut().zip(&row.owners) {
            *width = (*width).max(super::quote::display_width(owner));
        }
        match &row.size {
            Size::Bytes(text) => widths.size = widths.size.max(text.len()),
            Size::Numbers(major, minor) => {
                widths.major = widths.major.max(major.len());
                widths.minor = widths.minor.max(minor.len());
                widths.size = widths.size.max(widths.major + 2 + widths.minor);
            }
        }
    }
    widths
}
