//! One change as the text of a diff, as git writes it; what git has no words for is a line of its own, which `git apply`
//! passes over.

use bstr::BString;
use exacta_store::{Facts, Kind};

use super::quote::quoted;
use super::{Body, ChangeKind, FileDiff, Hunk, LARGEST, Mark};

/// One line, without its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchLine {
    pub kind: PatchKind,
    pub text: BString,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatchKind {
    Header,
    Place,
    Same,
    Removed,
    Added,
    Note,
}

pub fn lines(diff: &FileDiff) -> Vec<PatchLine> {
    let mut patch = Patch { lines: Vec::new() };
    if diff.changed_since {
        let name = quoted(&diff.path);
        patch.note(format!("note: {name} was changed since; this is how it is now"));
    }
    match (&diff.before, &diff.after) {
        (Some(before), Some(after)) if before.kind != after.kind => {
            patch.replaced(diff, before, after);
        }
        (before, after) => {
            let kind = after.as_ref().or(before.as_ref()).map(|facts| facts.kind);
            match kind {
                Some(Kind::File | Kind::Symlink) => patch.file(diff),
                Some(kind) => patch.other(diff, kind),
                None => {}
            }
        }
    }
    patch.lines
}

struct Patch {
    lines: Vec<PatchLine>,
}

impl Patch {
    fn add(&mut self, kind: PatchKind, text: impl Into<BString>) {
        self.lines.push(PatchLine { kind, text: text.into() });
    }

    fn header(&mut self, text: impl Into<BString>) {
        self.add(PatchKind::Header, text);
    }

    fn note(&mut self, text: impl Into<BString>) {
        self.add(PatchKind::Note, text);
    }

    /// Another kind of object: git deletes one and makes the other.
    fn replaced(&mut self, diff: &FileDiff, before: &Facts, after: &Facts) {
        let half = |before: Option<&Facts>, after: Option<&Facts>| FileDiff {
            kind: if before.is_some() { ChangeKind::Deleted } else { ChangeKind::Created },
            before: before.cloned(),
            after: after.cloned(),
            from: None,
            changed_since: false,
            body: halved(&diff.body, if before.is_some() { Mark::Removed } else { Mark::Added }),
            ..diff.clone()
        };
        let gone = half(Some(before), None);
        let made = half(None, Some(after));
        self.lines.extend(lines(&gone));
        self.lines.extend(lines(&made));
    }

    /// Files and symbolic links.
    fn file(&mut self, diff: &FileDiff) {
        if is_only_other_metadata(diff) {
            self.metadata(diff);
            return;
        }
        let from = diff.from.as_ref().unwrap_or(&diff.path);
        let (old, new) = (side_name(b"a/", from), side_name(b"b/", &diff.path));
        self.header(joined(&[b"diff --git ", &old, b" ", &new]));
        match (&diff.before, &diff.after) {
            (None, Some(after)) => self.header(format!("new file mode {:06o}", mode(after))),
            (Some(before), None) => self.header(format!("deleted file mode {:06o}", mode(before))),
            (Some(before), Some(after)) if before.mode != after.mode => {
                self.header(format!("old mode {:06o}", mode(before)));
                self.header(format!("new mode {:06o}", mode(after)));
            }
            _ => {}
        }
        if let Some(from) = &diff.from {
            if let Some(similarity) = diff.similarity {
                self.header(format!("similarity index {similarity}%"));
            }
            self.header(joined(&[b"rename from ", &quoted(from)]));
            self.header(joined(&[b"rename to ", &quoted(&diff.path)]));
        }
        let nothing = BString::from("/dev/null");
        let old = if diff.before.is_some() { &old } else { &nothing };
        let new = if diff.after.is_some() { &new } else { &nothing };
        self.body(diff, old, new);
    }

    fn body(&mut self, diff: &FileDiff, old: &BString, new: &BString) {
        let size = |facts: &Option<Facts>| facts.as_ref().map_or(0, |facts| facts.size);
        let (before, after) = (size(&diff.before), size(&diff.after));
        match &diff.body {
            Body::Same => {}
            Body::Binary => self.header(joined(&[
                b"Binary files ",
                old,
                b" and ",
                new,
                format!(" differ ({before} and {after} bytes)").as_bytes(),
            ])),
            Body::TooLarge => self.header(joined(&[
                b"Files ",
                old,
                b" and ",
                new,
                format!(
                    " are too large to compare by lines ({before} and {after} bytes, at most {LARGEST})"
                )
                .as_bytes(),
            ])),
            Body::Text(text) => {
                // A name with blanks ends with a tab, so that a date behind it could be told apart.
                let tab = |name: &BString| -> &[u8] {
                    if name.contains(&b' ') && !name.starts_with(b"\"") { b"\t" } else { b"" }
                };
                self.header(joined(&[b"--- ", old, tab(old)]));
                self.header(joined(&[b"+++ ", new, tab(new)]));
                for hunk in &text.hunks {
                    self.hunk(hunk);
                }
            }
        }
    }

    fn hunk(&mut self, hunk: &Hunk) {
        let range = |(start, count): (usize, usize)| match count {
            1 => start.to_string(),
            count => format!("{start},{count}"),
        };
        let place = format!("@@ -{} +{} @@", range(hunk.before), range(hunk.after));
        self.add(PatchKind::Place, place);
        for line in &hunk.lines {
            let (kind, mark) = match line.mark {
                Mark::Same => (PatchKind::Same, b" "),
                Mark::Removed => (PatchKind::Removed, b"-"),
                Mark::Added => (PatchKind::Added, b"+"),
            };
            self.add(kind, joined(&[mark, &line.text]));
            if !line.ends {
                self.add(PatchKind::Same, "\\ No newline at end of file");
            }
        }
    }

    /// Directories, FIFOs and the like.
    fn other(&mut self, diff: &FileDiff, kind: Kind) {
        let name = kind.name();
        let path = if diff.path.is_empty() { BString::from(".") } else { quoted(&diff.path) };
        match (&diff.before, &diff.after, &diff.from) {
            (_, _, Some(from)) => {
                self.note(joined(&[name.as_bytes(), b" moved: ", &quoted(from), b" to ", &path]));
            }
            (None, _, _) | (_, None, _) if diff.implied => {}
            (None, Some(after), _) => {
                let mode = format!(" (mode {:04o})", after.mode);
                self.note(joined(&[name.as_bytes(), b" created: ", &path, mode.as_bytes()]));
            }
            (Some(_), None, _) => {
                self.note(joined(&[name.as_bytes(), b" deleted: ", &path]));
            }
            _ => self.metadata(diff),
        }
    }

    /// Same content, same kind.
    fn metadata(&mut self, diff: &FileDiff) {
        let (Some(before), Some(after)) = (&diff.before, &diff.after) else { return };
        let path = if diff.path.is_empty() { BString::from(".") } else { quoted(&diff.path) };
        let what = if before.mode != after.mode {
            format!(": mode {:04o} to {:04o}", before.mode, after.mode)
        } else if (before.user, before.group) != (after.user, after.group) {
            let (user, group) = (before.user, before.group);
            format!(": owner {user}:{group} to {}:{}", after.user, after.group)
        } else if before.modified != after.modified {
            ": time of last change".to_owned()
        } else {
            ": attributes".to_owned()
        };
        if before.kind == Kind::Directory && before.mode == after.mode && before.user == after.user
        {
            // That names in it changed is told by those names.
            return;
        }
        self.note(joined(&[b"metadata of ", &path, what.as_bytes()]));
    }
}

fn is_only_other_metadata(diff: &FileDiff) -> bool {
    let (Some(before), Some(after)) = (&diff.before, &diff.after) else { return false };
    diff.from.is_none() && diff.body == Body::Same && before.mode == after.mode
}

/// Only what is removed, or only what is added.
fn halved(body: &Body, mark: Mark) -> Body {
    let Body::Text(text) = body else { return body.clone() };
    let mut text = text.clone();
    let lines: Vec<_> = text
        .hunks
        .iter()
        .flat_map(|hunk| &hunk.lines)
        .filter(|line| line.mark == mark)
        .cloned()
        .collect();
    let count = lines.len();
    let (place, nothing) = ((usize::from(count > 0), count), (0, 0));
    let (before, after) = if mark == Mark::Removed { (place, nothing) } else { (nothing, place) };
    text.hunks = if count > 0 { vec![Hunk { before, after, lines }] } else { Vec::new() };
    if count > 0 { Body::Text(text) } else { Body::Same }
}

/// With the kind of object, as git has it.
fn mode(facts: &Facts) -> u32 {
    match facts.kind {
        Kind::Symlink => 0o120_000,
        _ => 0o100_000 | facts.mode,
    }
}

fn side_name(side: &[u8], path: &BString) -> BString {
    quoted(&[side, path].concat())
}

fn joined(parts: &[&[u8]]) -> BString {
    parts.concat().into()
}
