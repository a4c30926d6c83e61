//! Who commits: the operator's name and address, and nothing else of the operator's git settings, which name programs
//! to run and where credentials are.

use std::path::{Path, PathBuf};

use bstr::{BStr, BString, ByteSlice};
use exacta_jail::plan::SyntheticFile;

use crate::operator_file;

/// Settings that are passed on: section and name.
const PASSED_ON: [(&str, &str); 3] =
    [("user", "name"), ("user", "email"), ("init", "defaultbranch")];

/// Larger than anybody's.
const LARGEST: u64 = 1 << 20;

/// The system's settings inside. `None`: there is nothing to say.
pub fn settings(home: Option<&Path>) -> Option<SyntheticFile> {
    let mut found: [Option<BString>; PASSED_ON.len()] = Default::default();
    // Later files overrule earlier ones, as they do for git.
    for path in files(home) {
        let Some(text) = operator_file::read(&path, LARGEST) else { continue };
        read(text.as_bstr(), |section, name, value| {
            let at = PASSED_ON.iter().position(|known| *known == (section, name));
            if let Some(place) = at.and_then(|at| found.get_mut(at)) {
                *place = Some(value);
            }
        });
    }
    let mut content = BString::default();
    for ((section, name), value) in PASSED_ON.iter().zip(found) {
        let Some(value) = value else { continue };
        content.extend_from_slice(format!("[{section}]\n\t{name} = ").as_bytes());
        content.extend_from_slice(&quoted(&value));
        content.push(b'\n');
    }
    let target = "/etc/gitconfig".into();
    (!content.is_empty()).then_some(SyntheticFile { target, content })
}

fn files(home: Option<&Path>) -> impl Iterator<Item = PathBuf> {
    let own = home.map(|home| [home.join(".config/git/config"), home.join(".gitconfig")]);
    [PathBuf::from("/etc/gitconfig")].into_iter().chain(own.into_iter().flatten())
}

/// Each setting of a section without a subsection, in lower case. What git would not understand is passed over.
fn read(text: &BStr, mut each: impl FnMut(&str, &str, BString)) {
    let mut section = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let line = line.trim_ascii();
        if let Some(header) = line.strip_prefix(b"[") {
            let name = header.split_once_str("]").map_or(header, |(name, _)| name);
            section = name.to_str_lossy().trim().to_ascii_lowercase();
            continue;
        }
        let Some((name, value)) = line.split_once_str("=") else { continue };
        let mut value = value.to_vec();
        // A backslash at the end of a line takes the next one in.
        while ends_open(&value) {
            value.pop();
            value.extend_from_slice(lines.next().unwrap_or_default());
        }
        let name = name.trim_ascii().to_str_lossy().to_ascii_lowercase();
        each(&section, &name, unquoted(value.trim_ascii()));
    }
}

fn ends_open(value: &[u8]) -> bool {
    value.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

/// Without quotes, escapes and what is a comment.
fn unquoted(value: &[u8]) -> BString {
    let mut text = BString::default();
    let mut quoted = false;
    let mut bytes = value.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => quoted = !quoted,
            b'#' | b';' if !quoted => break,
            b'\\' => match bytes.next() {
                Some(b'n') => text.push(b'\n'),
                Some(b't') => text.push(b'\t'),
                Some(other) => text.push(other),
                None => break,
            },
            other => text.push(other),
        }
    }
    text.trim_ascii_end().into()
}

fn quoted(value: &[u8]) -> BString {
    let mut text = BString::from("\"");
    for byte in value {
        match byte {
            b'\n' => text.extend_from_slice(b"\\n"),
            b'"' | b'\\' => text.extend_from_slice(&[b'\\', *byte]),
            other => text.push(*other),
        }
    }
    text.push(b'"');
    text
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a home is made to be looked at")]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn only_the_identity_is_passed_on() {
        let home = std::env::temp_dir().join(format!("exacta-git-{}", std::process::id()));
        fs::create_dir_all(home.join(".config/git")).expect("a directory");
        let first = "[user]\n\tname = Someone Else\n\temail = first@example.org\n";
        fs::write(home.join(".config/git/config"), first).expect("a file");
        let text = "[core]\n\tpager = evil\n[User]\n\tName = \"A \\\"B\\\" C\" ; comment\n\
                    [credential]\n\thelper = store\n[user \"x\"]\n\temail = no@example.org\n\
                    [init]\n\tdefaultBranch = tru\\\nnk # a comment\n";
        fs::write(home.join(".gitconfig"), text).expect("a file");
        let settings = settings(Some(&home));
        fs::remove_dir_all(&home).expect("it can be removed");
        let content = settings.expect("settings").content;
        assert!(content.contains_str("\tname = \"A \\\"B\\\" C\"\n"), "{content}");
        assert!(content.contains_str("\temail = \"first@example.org\"\n"), "{content}");
        assert!(content.contains_str("\tdefaultbranch = \"trunk\"\n"), "{content}");
        assert!(!content.contains_str("evil") && !content.contains_str("store"), "{content}");
    }
}
