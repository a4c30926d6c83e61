//! Scripts that are chosen by a pattern or by another command: `bash /tmp/x.s*`, `sh "$(ls *.sh)"`, `for f in *.sh`. What
//! this very text has written may be one of them, and is read as if it were named.

use bstr::{BStr, BString, ByteSlice};

use super::command::Subjected;
use super::computed::variable_of;
use super::filekinds::{FileKind, kind_of};
use super::inquiry::Inquiry;
use super::scripts::is_dangerous;
use crate::effect::Language;
use crate::event::{Directory, Via};
use crate::glob;
use crate::word::{Dynamic, Word};

/// So many of the files that were written are read as the script that is meant.
const MOST: usize = 16;

impl Inquiry<'_> {
    /// Reads the files that a word can mean of which only a pattern is known, or nothing.
    pub fn chosen_scripts(
        &mut self,
        subjected: &Subjected<'_>,
        language: Language,
        path: &Word,
        via: &Via,
    ) {
        let Word::Dynamic(dynamic) = path else { return };
        if !dynamic.values.is_empty() || self.written.is_empty() {
            return;
        }
        let mut meant: Vec<(BString, BString)> = self
            .written
            .iter()
            .filter(|(path, text)| self.can_be(dynamic, path.as_bstr(), text, &subjected.directory))
            .map(|(path, text)| (path.clone(), text.clone()))
            .collect();
        meant.sort();
        for (path, text) in meant.into_iter().take(MOST) {
            // A script that means itself is read once.
            self.written.remove(&path);
            if language == Language::Shell {
                self.shell(subjected, &Word::Literal(text.clone()), via.clone());
            } else {
                self.known_code(subjected, language, text.as_bstr(), via, is_dangerous);
            }
            self.written.entry(path).or_insert(text);
        }
    }

    fn can_be(&self, word: &Dynamic, path: &BStr, text: &BString, directory: &Directory) -> bool {
        let written = word.written.as_bstr();
        let matches = |pattern: &BString| {
            super::paths::absolute(pattern.as_bstr(), directory)
                .is_some_and(|pattern| parts_match(pattern.as_bstr(), path))
        };
        if let Some(pattern) = &word.glob {
            return matches(pattern);
        }
        let variable = variable_of(written).map(|(name, _)| name);
        let mut patterns = self
            .each_of_pattern
            .iter()
            .filter(|(name, _)| variable.is_some_and(|variable| name == variable))
            .map(|(_, pattern)| pattern)
            .peekable();
        if patterns.peek().is_some() {
            return patterns.any(matches);
        }
        // Another command says which: any script, or what its own words name.
        let name = path.rsplit_once_str("/").map_or(path.as_bytes(), |(_, name)| name);
        let shell = matches!(kind_of(path), Some(FileKind::Code(Language::Shell)));
        path.starts_with(&word.prefix)
            && written.contains(&b'$')
            && ends_in(written, name)
            && (shell || text.starts_with(b"#!") || mentions(written, name))
    }
}

/// `"$dir/lib.sh"` is no other file.
fn ends_in(written: &BStr, name: &[u8]) -> bool {
    let written = written.trim_with(|c| c == '"');
    match written.rsplit_once_str("/") {
        Some((_, last)) if !last.iter().any(|byte| b"$`)}*?[".contains(byte)) => last == name,
        _ => true,
    }
}

/// `$(ls x.*)` can say `x.sh`.
fn mentions(written: &BStr, name: &[u8]) -> bool {
    let between = |byte: &u8| byte.is_ascii_whitespace() || b"$()\"'`;|/".contains(byte);
    written.split(between).any(|word| word.contains(&b'*') && glob::matches(word, name))
}

/// A pattern stays in its part of the path, but for `**`.
fn parts_match(pattern: &BStr, path: &BStr) -> bool {
    if pattern.contains_str("**") {
        return glob::matches(pattern, path);
    }
    let mut parts = path.split_str("/");
    pattern.split_str("/").all(|wanted| parts.next().is_some_and(|it| glob::matches(wanted, it)))
        && parts.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_stay_in_their_part() {
        assert!(parts_match("/p/x.s*".into(), "/p/x.sh".into()));
        assert!(parts_match("/p/**/*.sh".into(), "/p/a/b/x.sh".into()));
        assert!(!parts_match("/p/*.sh".into(), "/p/a/x.sh".into()));
        assert!(!parts_match("/p/*".into(), "/p".into()));
        assert!(mentions("\"$(ls x.*)\"".into(), b"x.sh"));
        assert!(!mentions("$(ls y.*)".into(), b"x.sh"));
        assert!(ends_in("\"$d/x.sh\"".into(), b"x.sh") && ends_in("$(ls)".into(), b"x.sh"));
        assert!(!ends_in("\"$d/lib.sh\"".into(), b"x.sh"));
    }
}
