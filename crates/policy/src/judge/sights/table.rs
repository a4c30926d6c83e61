//! Finds which kinds of sights a text has, in one pass over it.

use std::sync::OnceLock;

use bstr::BStr;

use super::lists;

/// Kinds of sights, one bit each.
pub(super) type Kinds = u32;

pub(super) const HOME: Kinds = 1;
pub(super) const HOME_TEXT: Kinds = 1 << 1;
pub(super) const SECRET: Kinds = 1 << 2;
pub(super) const STARTUP: Kinds = 1 << 3;
pub(super) const SYSTEM_STARTUP: Kinds = 1 << 4;
pub(super) const REMOVING: Kinds = 1 << 5;
pub(super) const WRITING: Kinds = 1 << 6;
pub(super) const READING: Kinds = 1 << 7;
pub(super) const CONNECTING: Kinds = 1 << 8;
pub(super) const RAW: Kinds = 1 << 9;
pub(super) const DECODING: Kinds = 1 << 10;
pub(super) const EVALUATING: Kinds = 1 << 11;
pub(super) const ENVIRONMENT: Kinds = 1 << 12;
pub(super) const SHELLS: Kinds = 1 << 13;
pub(super) const HANDING_OVER: Kinds = 1 << 14;
pub(super) const PRETENDING: Kinds = 1 << 15;
pub(super) const STARTING: Kinds = 1 << 16;
pub(super) const COMMAND: Kinds = 1 << 17;
pub(super) const REMOVING_TEXT: Kinds = 1 << 18;

const ALL: [(&[&str], Kinds); 19] = [
    (lists::HOME, HOME),
    (lists::HOME_TEXT, HOME_TEXT),
    (lists::SECRET, SECRET),
    (lists::STARTUP, STARTUP),
    (lists::SYSTEM_STARTUP, SYSTEM_STARTUP),
    (lists::REMOVING, REMOVING),
    (lists::WRITING, WRITING),
    (lists::READING, READING),
    (lists::CONNECTING, CONNECTING),
    (lists::RAW, RAW),
    (lists::DECODING, DECODING),
    (lists::EVALUATING, EVALUATING),
    (lists::ENVIRONMENT, ENVIRONMENT),
    (lists::SHELLS, SHELLS),
    (lists::HANDING_OVER, HANDING_OVER),
    (lists::PRETENDING, PRETENDING),
    (lists::STARTING, STARTING),
    (lists::COMMANDS, COMMAND),
    (lists::REMOVING_TEXT, REMOVING_TEXT),
];

const BUCKETS: usize = 1024;

/// The sights by their first two letters.
struct Table(Vec<Vec<(&'static [u8], Kinds)>>);

fn bucket(first: u8, second: u8) -> usize {
    (usize::from(first) * 67 + usize::from(second) * 3) % BUCKETS
}

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut buckets = vec![Vec::new(); BUCKETS];
        for (sights, kind) in ALL {
            for sight in sights {
                if let [first, second, ..] = sight.as_bytes()
                    && let Some(bucket) = buckets.get_mut(bucket(*first, *second))
                {
                    bucket.push((sight.as_bytes(), kind));
                }
            }
        }
        Table(buckets)
    })
}

/// The kinds of all sights in the text.
pub(super) fn kinds(text: &BStr) -> Kinds {
    let table = table();
    let mut found = 0;
    for (at, pair) in text.windows(2).enumerate() {
        let &[first, second] = pair else { continue };
        let Some(bucket) = table.0.get(bucket(first, second)) else { continue };
        for (sight, kind) in bucket {
            if found & kind == 0 && text.get(at..).is_some_and(|rest| rest.starts_with(sight)) {
                let counts = stands_alone(text, at, sight)
                    && (*sight != b"HOME" || !super::is_set(text, at, at + sight.len()));
                found |= if counts { *kind } else { 0 };
            }
        }
    }
    found
}

/// The sight stands as a name or a path of its own: `.profile` does not in `user.profile`.
pub(super) fn stands_alone(text: &BStr, at: usize, sight: &[u8]) -> bool {
    let before = at.checked_sub(1).and_then(|at| text.get(at)).copied();
    let after = text.get(at + sight.len()).copied();
    let (first, last) = (sight.first().copied(), sight.last().copied());
    let begins = match first {
        // A file, not a property: `/.x`, `".x`, ` .x`. Calls aside: `.delete()`.
        Some(b'.') if !sight.ends_with(b"(") && !sight.ends_with(b")") => {
            before.is_none_or(|byte| b"/\"'`~ (=:>,;[{*\\|@\n\t".contains(&byte))
        }
        Some(byte) if is_part(byte) => before.is_none_or(|byte| !is_part(byte)),
        _ => true,
    };
    begins && (!last.is_some_and(is_part) || after.is_none_or(|byte| !is_part(byte)))
}

pub(super) fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
