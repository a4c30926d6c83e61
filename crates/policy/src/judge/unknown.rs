//! Paths of which only a part is known: what a variable, a command or a list says. What can be told by how they are
//! written is told here; the rest is judged when they are opened.

use bstr::{BStr, BString, ByteSlice};

use super::command::Subjected;
use super::inquiry::Inquiry;
use super::paths::Opening;
use crate::event::{Access, Input};
use crate::surroundings::Place;
use crate::verdict::Finding;
use crate::word::{Dynamic, Word};

impl Inquiry<'_> {
    /// A path of which only the end is written, or nothing but that it begins at the root of all.
    pub fn unknown_path(
        &self,
        dynamic: &Dynamic,
        opening: Opening<'_>,
        findings: &mut Vec<Finding>,
    ) {
        let Opening { access, by, .. } = opening;
        let written = dynamic.written.as_bstr();
        if access == Access::Delete
            && let Some(by) = by
        {
            self.removed_from_input(dynamic, by, findings);
        }
        let changes = matches!(access, Access::Write | Access::Delete);
        let from_root = dynamic.prefix == "/" && dynamic.glob.is_none();
        let up = dynamic.prefix.is_empty() && self.prints_ups(written);
        if from_root
            || up
            || (dynamic.prefix.is_empty() && ends_as_the_root_begins(written))
            || self.climbs_past(dynamic, opening)
            || (changes && self.leads_elsewhere(written))
        {
            findings.extend(self.situation("unread-path", &written.to_str_lossy()));
        }
        if (changes || access == Access::Read) && dynamic.prefix.is_empty() {
            let end = written.trim_end_with(|c| c == '"');
            let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-/".contains(byte);
            let start = end.iter().rposition(|byte| !plain(byte)).map_or(0, |at| at + 1);
            let tail = end.get(start..).unwrap_or_default().as_bstr();
            // A name of a variable is no name of a file.
            if tail.contains(&b'/') || (!tail.is_empty() && written.contains(&b'}')) {
                let tail = tail.trim_start_with(|c| c == '/').as_bstr();
                self.by_path_rules(tail, opening, findings);
            }
        }
    }

    /// `/tmp/x-$$/../../etc/y`: what a variable has is one name, and there are more steps up than names.
    fn climbs_past(&self, dynamic: &Dynamic, opening: Opening<'_>) -> bool {
        let written = dynamic.written.as_bstr();
        if !dynamic.prefix.starts_with(b"/") || !written.contains_str("/../") {
            return false;
        }
        let Some(rest) = after_variable(written) else { return false };
        let whole = BString::from([dynamic.prefix.as_slice(), b"x", rest.as_slice()].concat());
        super::paths::absolute(whole.as_bstr(), opening.directory).is_some_and(|path| {
            matches!(self.world.place(path.as_bstr()), Place::Outside | Place::System)
        })
    }

    /// `while read -r x; do rm -rf "$x"; done`, `rm -rf "$(…)"`: what goes is what another command says.
    fn removed_from_input(
        &self,
        dynamic: &Dynamic,
        by: &Subjected<'_>,
        findings: &mut Vec<Finding>,
    ) {
        const MOST_LINES: usize = 32;
        let opening = Opening { access: Access::Delete, directory: &by.directory, by: Some(by) };
        if let Input::Text(Word::Literal(text)) = &by.invocation.input {
            for line in text.lines().take(MOST_LINES) {
                let line = line.trim_ascii().as_bstr();
                self.known_path(line, opening, findings);
            }
        }
        let about = dynamic.written.to_str_lossy();
        if self.gives_everything(by) || self.lists_everything_in(dynamic.written.as_bstr()) {
            findings.extend(self.situation("whole-project", &about));
        } else if self.has_climbed(dynamic.written.as_bstr())
            || dynamic.prefix.is_empty() && computes_path(dynamic.written.as_bstr())
        {
            findings.extend(self.situation("unread-path", &about));
        }
    }
}

/// `${slash}etc`: whatever is missing before such a name is the root of all.
fn ends_as_the_root_begins(written: &BStr) -> bool {
    const FIRST: [&str; 6] = ["boot", "etc", "home", "proc", "root", "usr"];
    let Some(rest) = after_variable(written) else { return false };
    let name = rest.split_str("/").next().unwrap_or_default();
    FIRST.iter().any(|first| name == first.as_bytes())
}

/// What stands behind the last `$name` of a word, quotes taken away; `None` if commands are in it.
fn after_variable(written: &BStr) -> Option<BString> {
    if written.contains_str("$(") || written.contains(&b'`') {
        return None;
    }
    let (_, rest) = written.rsplit_once_str("$")?;
    let rest = match rest.strip_prefix(b"{") {
        Some(rest) => rest.split_once_str("}")?.1,
        None => {
            let special =
                rest.first().is_some_and(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
            let name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
            let end = rest.iter().position(|byte| !name(byte)).unwrap_or(rest.len());
            rest.get(if special { 0 } else { end }..)?
        }
    };
    Some(rest.iter().copied().filter(|byte| !b"\"'".contains(byte)).collect())
}

/// `"$(getent passwd me | cut -d: -f6)"`: a path that some command computes, and not one that lists files.
fn computes_path(written: &BStr) -> bool {
    const LISTERS: [&str; 12] =
        ["find", "git", "ls", "fd", "rg", "grep", "cat", "mktemp", "basename", "go", "npm", "echo"];
    let written = written.trim_with(|c| c == '"');
    let inner = written.strip_prefix(b"$(").or_else(|| written.strip_prefix(b"`"));
    let closed = written.ends_with(b")") || written.ends_with(b"`");
    inner.is_some_and(|inner| {
        let first = inner.split(u8::is_ascii_whitespace).next().unwrap_or_default();
        closed && !LISTERS.iter().any(|lister| first == lister.as_bytes())
    })
}
