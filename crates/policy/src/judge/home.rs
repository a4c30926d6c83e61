//! `~` and `$HOME`: for commands they are the project's root. Whoever writes them means another place, the home of the
//! person at this machine; what would be removed or changed there is asked about.
//!
//! So that a value is known for what it is, through variables, functions and texts for other shells, the home has
//! another spelling before a text runs: `/.//./project` leads where `/project` does, and nobody types it.

use bstr::{BStr, BString, ByteSlice};

use super::command::Subjected;
use super::inquiry::Inquiry;
use super::paths::Opening;
use crate::event::Access;
use crate::programs::Reading;
use crate::surroundings::{Place, Surroundings};
use crate::verdict::Finding;

/// What the spelling of the home begins with. In front, so that `${HOME%/*}` leads up as it should.
pub(super) const MARK: &str = "/.//.";

/// The world as a text finds it that has not run yet.
pub(super) struct Before<'a>(pub &'a dyn Surroundings);

impl Surroundings for Before<'_> {
    fn root(&self) -> &BStr {
        self.0.root()
    }

    fn directory(&self) -> &BStr {
        self.0.directory()
    }

    fn variable(&self, name: &BStr) -> Option<BString> {
        let value = self.0.variable(name);
        if name != "HOME" {
            return value;
        }
        let home = value.unwrap_or_else(|| self.0.root().into());
        Some(if home == self.0.root() { [MARK.as_bytes(), &home].concat().into() } else { home })
    }

    fn place(&self, path: &BStr) -> Place {
        self.0.place(path)
    }

    fn real_path(&self, path: &BStr) -> Option<BString> {
        self.0.real_path(path)
    }

    fn is_builtin(&self, name: &BStr) -> bool {
        self.0.is_builtin(name)
    }

    fn is_defined(&self, name: &BStr) -> bool {
        self.0.is_defined(name)
    }

    fn glob(&self, pattern: &BStr, limit: usize) -> Vec<BString> {
        self.0.glob(pattern, limit)
    }
}

impl Inquiry<'_> {
    /// A path that is written as one of the home directory.
    pub fn in_home(&self, path: &BStr, opening: Opening<'_>, findings: &mut Vec<Finding>) {
        let below = match path.strip_prefix(MARK.as_bytes()) {
            Some(path) => self.inside(path.as_bstr()),
            // Where no shell has looked at it: in code, in quotes.
            None if path == "~" || path.starts_with(b"~/") => path.as_bstr(),
            None if self.at_home && !path.starts_with(b"/") => path,
            None => return,
        };
        let asks = match opening.access {
            Access::Delete | Access::Write => true,
            // What people's tools put there belongs to a toolchain: `. ~/.cargo/env`.
            Access::Execute => !below.starts_with(b"."),
            Access::Read => is_gathered(below, opening.by),
            // What comes after `cd ~` is judged where it is.
            Access::Enter if matches!(below.as_bytes(), b"." | b"~" | b"~/") => {
                opening.by.is_some_and(|by| works_where_it_is(by) && !goes(by.reading))
            }
            // `make -C ~`, `patch -d ~`: whatever stands there is run or changed.
            Access::Enter => opening.by.is_some_and(works_where_it_is),
        };
        if asks {
            findings.extend(self.situation("home-path", &format!("~/{below}")));
        }
    }
}

/// What git does to a repository has rules of its own, and what runs behind `env -C` is judged where it runs.
fn works_where_it_is(by: &Subjected<'_>) -> bool {
    !matches!(by.reading.name.as_bytes(), b"git" | b"env")
}

/// `tar czf x ~`, `grep -r password ~`, `cat ~/Documents/x`: what people keep there is packed, searched or shown. One
/// file of settings may be looked at.
fn is_gathered(below: &BStr, by: Option<&Subjected<'_>>) -> bool {
    const PACKING: [&str; 12] = [
        "7z", "7za", "bsdtar", "cp", "cpio", "dd", "gtar", "install", "pax", "rsync", "tar", "zip",
    ];
    const SEARCHING: [&str; 12] = [
        "ack", "ag", "egrep", "fd", "fdfind", "fgrep", "find", "grep", "rg", "strings", "ugrep",
        "zgrep",
    ];
    const PERSONAL: [&str; 16] = [
        "Desktop",
        "Documents",
        "Downloads",
        "Dropbox",
        "Library",
        "Mail",
        "Maildir",
        "Movies",
        "Music",
        "OneDrive",
        "Photos",
        "Pictures",
        "Public",
        "Videos",
        "Wallets",
        "mail",
    ];
    let is = |names: &[&str]| by.is_some_and(|by| names.iter().any(|it| by.reading.name == *it));
    let below = below.strip_prefix(b"~").unwrap_or(below);
    let below = below.strip_prefix(b"/").unwrap_or(below);
    let whole = matches!(below, b"" | b"." | b"*");
    let first = below.split_str("/").next().unwrap_or_default();
    // Caches and toolchains are no secret.
    (is(&PACKING) && (whole || !first.starts_with(b".")))
        || (is(&SEARCHING) && whole)
        || PERSONAL.iter().any(|name| first == name.as_bytes())
}

fn goes(reading: &Reading) -> bool {
    matches!(reading.name.as_slice(), b"cd" | b"pushd" | b"popd")
}

/// `cd`, `cd ~`: is the shell where `~` leads then? `None`: it stays where it is.
pub(super) fn goes_home(reading: &Reading, root: &BStr) -> Option<bool> {
    if !goes(reading) {
        return None;
    }
    let Some(to) = reading.operands.first() else { return Some(reading.name == "cd") };
    let home = to.as_literal().and_then(|to| to.strip_prefix(MARK.as_bytes()));
    Some(home.is_some_and(|home| home.trim_end_with(|c| c == '/') == root.as_bytes()))
}

/// What is said of a path names it as a person knows it.
pub(super) fn tell_plainly(finding: &mut Finding) {
    if finding.about.contains_str(MARK) {
        finding.about = plain(std::mem::take(&mut finding.about));
    }
    if finding.reason.contains(MARK) {
        finding.reason = finding.reason.replace(MARK, "").into();
    }
}

/// As a person knows it.
pub(super) fn plain(text: BString) -> BString {
    if text.contains(&b'/') && text.contains_str(MARK) {
        text.replace(MARK, "").into()
    } else {
        text
    }
}
