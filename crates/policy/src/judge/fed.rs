//! Texts that a program is fed with and that name files: the headers of a patch, what a source includes. Whether they
//! come as a here-document, through a pipe or in a file that this very text has written, the names are judged as if
//! they stood among the words.

use bstr::{BStr, BString, ByteSlice};

use super::command::Subjected;
use super::inquiry::Inquiry;
use super::paths::Opening;
use crate::effect::Effect;
use crate::event::{Access, Directory, Input};
use crate::programs::Kind;
use crate::verdict::Finding;
use crate::word::Word;

/// Longer texts are looked through this far; what names files in them stands at the beginning more often than not.
const LONGEST: usize = 256 << 10;

/// What stands before the name of a file in a patch, or in a text that is unpacked (`begin 644 x`).
const HEADERS: &[&str] = &[
    "+++ ",
    "--- ",
    "*** ",
    "rename to ",
    "rename from ",
    "copy to ",
    "copy from ",
    "Index: ",
    "diff --git ",
    "begin ",
];

/// What takes a file in, in sources and documents: in small letters, somewhere in the line.
const TAKING_IN: &[&str] = &[
    "include", "incbin", "embed", "input", "import", "load", "system", "undivert", ".so ", "read(",
    "as text", "file ", "openin", "url(", ":file:",
];

/// … of these, what nothing else in a file of a project is written like.
const SURELY_TAKING_IN: &[&str] = &[
    "#include",
    "#embed",
    "include_str!",
    "include_bytes!",
    "incbin",
    "include::",
    "\\input",
    "verbatiminput",
    "lstinputlisting",
];

/// A text, and where the names in it are seen from.
struct Fed {
    text: BString,
    directory: Directory,
}

impl Inquiry<'_> {
    /// Judges the names in what the command is fed with.
    pub fn names_in_input(&mut self, subjected: &Subjected<'_>) {
        let patches = applies_patches(subjected);
        if !patches && !Kind::TakesIn.includes(subjected.reading.name.as_bstr()) {
            return;
        }
        let mut findings = Vec::new();
        for fed in self.texts_for(subjected) {
            let text = fed.text.get(..LONGEST).unwrap_or(&fed.text).as_bstr();
            if text.len() < fed.text.len() {
                // What was not read may say anything.
                findings
                    .extend(self.situation("unread-path", &subjected.reading.name.to_str_lossy()));
            }
            if patches {
                self.patched(text, subjected, &mut findings);
            } else {
                self.taken_in(text, &fed.directory, TAKING_IN, &mut findings);
            }
        }
        self.note(vec![subjected.reading.name.clone()], &subjected.invocation.via, findings);
    }

    /// What a file of the project includes that this text has written and a tool now builds.
    pub fn built_in_files(&self, path: &BString, text: &BStr, findings: &mut Vec<Finding>) {
        if let Some(directory) = folder_of(path) {
            self.taken_in(text, &directory, SURELY_TAKING_IN, findings);
        }
    }

    /// Its input, and the files among its words that this text has written.
    fn texts_for(&self, subjected: &Subjected<'_>) -> Vec<Fed> {
        let here = || subjected.directory.clone();
        let written = |path: &Word| {
            let path = super::paths::key(path, &subjected.directory)?;
            let text = self.written.get(&path)?.clone();
            Some(Fed { text, directory: folder_of(&path).unwrap_or_else(here) })
        };
        let mut found = Vec::new();
        match &subjected.invocation.input {
            Input::Text(text) => {
                found.push(Fed { text: text.shown().into(), directory: here() });
            }
            Input::File(path) => {
                found.extend(written(path).map(|fed| Fed { directory: here(), ..fed }));
            }
            Input::Inherited | Input::Pipe(_) => {}
        }
        if !self.written.is_empty() {
            let words = subjected.reading.effects.iter().filter_map(|effect| match effect {
                Effect::Open { path, .. } | Effect::ScriptFile { path, .. } => Some(path),
                _ => None,
            });
            found.extend(words.chain(&subjected.reading.operands).filter_map(written));
        }
        found
    }

    /// The files that a patch changes. How much of their paths is taken away depends on options and on what is there,
    /// so every end of a path is judged.
    fn patched(&mut self, text: &BStr, subjected: &Subjected<'_>, findings: &mut Vec<Finding>) {
        let mut target: Option<BString> = None;
        let mut added = BString::default();
        for line in text.lines() {
            if let Some(names) = header(line) {
                self.filled_by_patch(target.take(), &mut added, subjected);
                for name in names {
                    self.patched_path(name.as_bstr(), subjected, findings);
                    target = Some(name);
                }
            } else if let Some(line) = line.strip_prefix(b"+") {
                added.extend_from_slice(line);
                added.push(b'\n');
            }
        }
        self.filled_by_patch(target, &mut added, subjected);
    }

    /// What a patch adds to a file may run with it later.
    fn filled_by_patch(
        &mut self,
        target: Option<BString>,
        added: &mut BString,
        subjected: &Subjected<'_>,
    ) {
        let Some(target) = target.filter(|_| !added.is_empty()) else { return };
        let added = Word::Literal(std::mem::take(added));
        let sides = [&b"a/"[..], b"b/"];
        let stripped = sides.iter().find_map(|side| target.strip_prefix(*side));
        let path = stripped.unwrap_or(&target).as_bstr();
        if let Some(path) = super::paths::absolute(path, &subjected.directory) {
            self.freshly_filled(&path, &[added]);
        }
    }

    fn patched_path(&self, path: &BStr, subjected: &Subjected<'_>, findings: &mut Vec<Finding>) {
        if path.contains(&b'\\') {
            // A name in another spelling: nobody writes one by hand.
            findings.extend(self.situation("unread-path", &path.to_str_lossy()));
        }
        let mut rest = path;
        loop {
            self.path(&Word::literal(rest), Access::Write, subjected, findings);
            match rest.split_once_str("/") {
                Some((_, end)) if !end.is_empty() => {
                    rest = end.trim_start_with(|c| c == '/').into();
                }
                _ => return,
            }
        }
    }

    /// Files that are taken in from where a project has nothing.
    fn taken_in(
        &self,
        text: &BStr,
        directory: &Directory,
        signs: &[&str],
        findings: &mut Vec<Finding>,
    ) {
        let opening = Opening { access: Access::Read, directory, by: None };
        let computed = includes_a_name(text);
        for line in text.lines() {
            let small = line.to_ascii_lowercase();
            let takes_in = signs.iter().any(|sign| small.contains_str(sign))
                || computed && small.trim_ascii_start().starts_with(b"#define");
            if takes_in {
                for path in paths_in(line) {
                    self.opened(&Word::literal(path), opening, findings);
                }
            }
        }
    }
}

fn applies_patches(subjected: &Subjected<'_>) -> bool {
    let given =
        |wanted: &str| subjected.invocation.words.iter().skip(1).any(|word| word.shown() == wanted);
    match subjected.reading.name.as_slice() {
        b"git" => given("apply") || given("am"),
        name => Kind::AppliesPatches.includes(name.as_bstr()),
    }
}

pub(super) fn folder_of(path: &BString) -> Option<Directory> {
    let (folder, _) = path.rsplit_once_str("/")?;
    Some(Directory::Known(if folder.is_empty() { "/".into() } else { folder.into() }))
}

/// The names in a line that says which file is meant.
fn header(line: &[u8]) -> Option<Vec<BString>> {
    let sign = HEADERS.iter().find(|sign| line.starts_with(sign.as_bytes()))?;
    let rest = line.get(sign.len()..).unwrap_or_default();
    let names: Vec<&[u8]> = match *sign {
        "diff --git " => rest.split(u8::is_ascii_whitespace).collect(),
        "begin " => rest.splitn_str(2, " ").skip(1).collect(),
        // A date may follow.
        _ => rest.split_str("\t").take(1).collect(),
    };
    let plain = names.into_iter().map(|name| name.trim_ascii().trim_with(|c| c == '"'));
    Some(plain.filter(|name| !name.is_empty() && *name != b"/dev/null").map(Into::into).collect())
}

/// `#include NAME`: which file that is stands where the name is defined.
fn includes_a_name(text: &BStr) -> bool {
    text.lines().any(|line| {
        let rest = line.trim_ascii_start().strip_prefix(b"#include");
        rest.and_then(|rest| rest.trim_ascii().first().copied())
            .is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
    })
}

/// Words of a line that lead to the root of all or up.
fn paths_in(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let parts = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`<>(){}[];,=|".contains(byte);
    line.split(parts).filter_map(|word| {
        let word = word.rsplit_once_str("::").map_or(word, |(_, path)| path);
        let word = word.strip_prefix(b"file://").unwrap_or(word);
        let up = word.starts_with(b"../") || word.contains_str("/../");
        // `</a>` is no path, and neither is the beginning of a comment.
        let rooted = word.starts_with(b"/")
            && !word.starts_with(b"//")
            && !word.starts_with(b"/*")
            && word.get(1..).is_some_and(|rest| rest.contains(&b'/'));
        (up || rooted).then_some(word)
    })
}

#[cfg(test)]
mod tests {
    use bstr::{BString, ByteSlice};

    use super::{header, paths_in};

    #[test]
    fn names_in_a_patch() {
        for (line, names) in [
            ("+++ b/src/x.rs\t2026-01-01", &["b/src/x.rs"][..]),
            ("diff --git a/x b/y", &["a/x", "b/y"]),
            ("rename to .git/hooks/x", &[".git/hooks/x"]),
            ("+++ \"b/a b\"", &["b/a b"]),
            ("--- /dev/null", &[]),
            ("begin 755 .git/hooks/x", &[".git/hooks/x"]),
        ] {
            let names: Vec<BString> = names.iter().map(|name| BString::from(*name)).collect();
            assert_eq!(header(line.as_bytes()), Some(names), "{line}");
        }
        assert_eq!(header(b"+ text"), None);
    }

    #[test]
    fn paths_that_are_taken_in() {
        for (line, path) in [
            ("#include \"/etc/x\"", Some("/etc/x")),
            ("#include </etc/x>", Some("/etc/x")),
            ("include::/etc/x[]", Some("/etc/x")),
            ("<!ENTITY x SYSTEM \"file:///etc/x\">", Some("/etc/x")),
            ("include_str!(\"../../x\")", Some("../../x")),
            ("#include <sys/types.h>", None),
            ("<a>include</a>", None),
        ] {
            let found = paths_in(line.as_bytes()).next().map(ByteSlice::as_bstr);
            assert_eq!(found, path.map(Into::into), "{line}");
        }
    }
}
