//! Paths that a command says: `"$(npm root -g)/npm"`, also through a variable. Where tools keep what they have installed
//! is no place of the project, and what lies there runs later.

use bstr::{BStr, BString, ByteSlice};

use super::inquiry::Inquiry;
use crate::event::Assign;
use crate::word::Word;

/// So many variables are remembered.
const MOST: usize = 64;

/// Commands that say where programs and their libraries are, and words of which one must be there, unless empty.
const PLACES: &[(&str, &[&str])] = &[
    ("brew", &["--prefix", "--cellar", "--repository"]),
    ("bundle", &["show", "info", "config"]),
    ("cargo", &["locate-project", "metadata"]),
    ("command", &["-v", "-V"]),
    ("composer", &["config", "global"]),
    ("conda", &["info"]),
    ("dotnet", &["--info", "--list-sdks"]),
    ("gem", &["env", "environment", "which", "contents"]),
    ("getent", &[]),
    ("git", &["--exec-path", "--html-path", "--man-path", "config", "var"]),
    ("go", &["env"]),
    ("java", &[]),
    ("luarocks", &[]),
    ("mise", &["where", "which"]),
    ("node", &["-p", "-e", "--print"]),
    ("npm", &["-g", "--global", "config"]),
    ("nvm", &["which"]),
    ("opam", &["var"]),
    ("perl", &["-e", "-E", "-V:sitelib", "-MConfig"]),
    ("pg_config", &[]),
    ("php", &["-r", "--ini", "-i"]),
    ("php-config", &[]),
    ("pip", &["show", "config", "cache"]),
    ("pip3", &["show", "config", "cache"]),
    ("pipx", &["environment"]),
    ("pkg-config", &["--variable"]),
    ("pnpm", &["-g", "--global", "store", "config"]),
    ("poetry", &["env", "config"]),
    ("pyenv", &["prefix", "root", "which"]),
    ("python", &["-c", "-m"]),
    ("python3", &["-c", "-m"]),
    ("rbenv", &["prefix", "root", "which"]),
    ("ruby", &["-e", "-r"]),
    ("rustc", &["--print"]),
    ("rustup", &["which", "show"]),
    ("systemd-path", &[]),
    ("type", &["-p", "-P"]),
    ("which", &[]),
    ("whereis", &[]),
    ("xdg-user-dir", &[]),
    ("xdg-settings", &[]),
    ("yarn", &["global", "config"]),
];

impl Inquiry<'_> {
    /// Remembers which command said what a variable has.
    pub fn computes(&mut self, assign: &Assign) {
        self.numbers.retain(|name| *name != assign.name);
        if matches!(assign.value.shown().trim_with(|c| c == '"'), b"$!" | b"$$")
            && self.numbers.len() < MOST
        {
            self.numbers.push(assign.name.clone());
        }
        let Word::Dynamic(dynamic) = &assign.value else { return };
        let written = dynamic.written.trim_with(|c| c == '"');
        if substitution(written.as_bstr()).is_some() && self.computed.len() < MOST {
            self.computed.push((assign.name.clone(), written.into()));
        }
    }

    /// `trap "kill $pid" EXIT`: a text of which nothing is open but numbers, with the job in their place.
    pub fn with_jobs(&self, text: &Word) -> Option<BString> {
        let mut rest = text.shown().trim_with(|c| c == '"').as_bstr();
        let mut whole = BString::default();
        while let Some(at) = rest.find_byte(b'$') {
            let (before, from) = rest.split_at(at);
            let (name, tail) = variable_of(from.as_bstr())?;
            if !self.numbers.iter().any(|known| name == known.as_bytes()) {
                return None;
            }
            whole.extend_from_slice(before);
            whole.extend_from_slice(b"%1");
            let braced = from.starts_with(b"${");
            rest = if braced { tail.strip_prefix(b"}")?.as_bstr() } else { tail };
        }
        whole.extend_from_slice(rest);
        (!whole.contains(&b'`') && !whole.contains(&b'\\')).then_some(whole)
    }

    /// Does the path begin where something is installed?
    pub fn leads_elsewhere(&self, written: &BStr) -> bool {
        let written = written.trim_start_with(|c| c == '"').as_bstr();
        substitution(written).is_some_and(says_places)
            || self.computed_by(written).is_some_and(|(inner, _)| says_places(inner))
    }

    /// `d=$(dirname "$d"); rm -rf "$d"`: so far up as nobody knows.
    pub fn has_climbed(&self, written: &BStr) -> bool {
        let written = written.trim_with(|c| c == '"').as_bstr();
        self.computed_by(written)
            .is_some_and(|(inner, whole)| whole && inner.starts_with(b"dirname "))
    }

    /// `p=$(printf '../%.0s' {1..8}); cd "$p"`: nothing but ups, as many as somebody likes.
    pub fn prints_ups(&self, written: &BStr) -> bool {
        const PRINTERS: [&str; 4] = ["printf ", "echo ", "yes ", "seq "];
        let written = written.trim_with(|c| c == '"').as_bstr();
        let inner = self.computed_by(written).map(|(inner, _)| inner);
        inner.or_else(|| substitution(written)).is_some_and(|inner| {
            inner.contains_str("../")
                && PRINTERS.iter().any(|printer| inner.starts_with(printer.as_bytes()))
        })
    }

    /// The command that said what the variable has with which the word begins; and is it all of the word?
    fn computed_by(&self, written: &BStr) -> Option<(&BStr, bool)> {
        let (name, tail) = variable_of(written)?;
        let (_, by) = self.computed.iter().rev().find(|(known, _)| known == name)?;
        Some((substitution(by.as_bstr())?, tail.iter().all(|byte| b"}/*\"".contains(byte))))
    }
}

/// The variable with which a word begins, and what follows its name.
pub(super) fn variable_of(written: &BStr) -> Option<(&BStr, &BStr)> {
    let written = written.strip_prefix(b"\"").unwrap_or(written);
    let rest = written.strip_prefix(b"$")?;
    let rest = rest.strip_prefix(b"{").unwrap_or(rest);
    let named = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let end = rest.iter().position(|byte| !named(byte)).unwrap_or(rest.len());
    let (name, tail) = rest.split_at(end);
    Some((name.as_bstr(), tail.as_bstr()))
}

/// What stands in `$(…)` or backquotes at the beginning.
pub(super) fn substitution(written: &BStr) -> Option<&BStr> {
    written.strip_prefix(b"$(").or_else(|| written.strip_prefix(b"`")).map(ByteSlice::as_bstr)
}

/// … or in those inside: `$(dirname "$(command -v node)")`.
fn says_places(inner: &BStr) -> bool {
    let blank = |byte: &u8| byte.is_ascii_whitespace() || b"\"'();|&`".contains(byte);
    let words: Vec<&[u8]> = inner.split(blank).filter(|word| !word.is_empty()).collect();
    let asks = |name: &[u8], words: &[&str]| {
        words.is_empty()
            || inner.contains_str(name) && words.iter().any(|word| contains_word(inner, word))
    };
    let named = |first: &[u8]| {
        PLACES.iter().any(|(name, words)| first == name.as_bytes() && asks(first, words))
    };
    let first = words.first().copied().unwrap_or_default();
    let inside = |part: &[u8]| part.split(blank).find(|word| !word.is_empty()).is_some_and(&named);
    named(first) || inner.split_str("$(").skip(1).any(inside)
}

fn contains_word(text: &BStr, word: &str) -> bool {
    text.split(|byte| byte.is_ascii_whitespace() || b"\"')".contains(byte))
        .any(|part| part == word.as_bytes() || part.starts_with(&[word.as_bytes(), b"="].concat()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_commands_say_where_things_are() {
        let says = |text: &str| substitution(text.into()).is_some_and(says_places);
        for text in [
            "$(npm root -g)/x",
            "$(dirname \"$(command -v node)\")/npx",
            "`go env GOPATH`/bin/x",
            "$(pkg-config --variable=prefix x)/y",
        ] {
            assert!(says(text), "{text}");
        }
        for text in
            ["$(mktemp -d)/x", "$(dirname \"$0\")/out", "$(go list)/x", "$npm/x", "$(date).log"]
        {
            assert!(!says(text), "{text}");
        }
    }
}
