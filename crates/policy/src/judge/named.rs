//! Secrets of a home, named in any word of any command: `git blame --contents "$HOME/.netrc"`, `tool @"$HOME/.netrc"`.
//! What the tables say of an option is judged as such; but nobody hands such a path to a tool that does not read it,
//! so it is asked about whether somebody has written down the option or not.

use bstr::{BStr, BString, ByteSlice};

use super::command::Subjected;
use super::home::MARK;
use super::inquiry::Inquiry;
use super::paths::Opening;
use crate::effect::Effect;
use crate::event::Access;
use crate::verdict::Finding;

/// Commands that look at names and never into files.
const NAMING: &[&str] = &[
    "[", "[[", "alias", "basename", "cd", "compgen", "declare", "dirname", "echo", "export",
    "local", "ls", "popd", "printf", "pushd", "readlink", "readonly", "realpath", "stat", "test",
    "touch", "typeset",
];

impl Inquiry<'_> {
    pub fn names_secrets(&self, subjected: &Subjected<'_>, findings: &mut Vec<Finding>) {
        if NAMING.iter().any(|name| subjected.reading.name == *name) {
            return;
        }
        let root = self.world.root();
        for word in subjected.invocation.words.iter().skip(1) {
            let Some(path) = hidden_in(word.prefix(), root) else { continue };
            let known =
                |effect: &Effect| matches!(effect, Effect::Open { path, .. } if path == word);
            if subjected.reading.effects.iter().any(known) {
                continue;
            }
            let opening = Opening {
                access: Access::Read,
                directory: &subjected.directory,
                by: Some(subjected),
            };
            self.by_path_rules(path.as_bstr(), opening, findings);
        }
    }
}

/// The path of something hidden in the root, in a word that is a path or has one at its end: `--file=…`, `@…`, `-F…`,
/// `name=path`, `a:b`.
fn hidden_in(word: &BStr, root: &BStr) -> Option<BString> {
    if !word.contains(&b'/') {
        return None;
    }
    let marked = word.find(MARK).map(|at| (at, at + MARK.len()));
    let (at, start) = marked.or_else(|| word.find(root).map(|at| (at, at)))?;
    let before = word.get(..at)?;
    let opens = match before.last() {
        None | Some(b'=' | b'@' | b':' | b',' | b'<') => true,
        Some(_) => before.len() == 2 && before.starts_with(b"-"),
    };
    let rest = word.get(start..)?;
    let below = rest.strip_prefix(root.as_bytes())?;
    let ends = |byte: &u8| byte.is_ascii_whitespace() || b":,;\"'".contains(byte);
    let end = rest.iter().position(ends).unwrap_or(rest.len());
    (opens && below.starts_with(b"/.")).then(|| rest.get(..end).unwrap_or(rest).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_words_name_something_hidden() {
        let of = |word: &str| hidden_in(word.into(), "/p".into()).map(|path| path.to_string());
        for word in
            ["/p/.netrc", "--file=/.//./p/.netrc", "@/p/.netrc", "-F/p/.netrc", "a:/p/.netrc:ro"]
        {
            assert_eq!(of(word).as_deref(), Some("/p/.netrc"), "{word}");
        }
        for word in ["/p/src/x", ".netrc", "/q/.netrc", "see /p/.netrc", "/p"] {
            assert_eq!(of(word), None, "{word}");
        }
    }
}
