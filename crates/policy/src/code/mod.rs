//! What a piece of code in another language would do, as far as a careful reader can tell without running it.
//!
//! One reader per language, each a proof by enumeration: whatever could do harm must enter the code by a name that
//! it writes, so every name is looked up, and what is not known to be harmless is not called harmless. What can be
//! named, a file, a command, a host, is handed on as an [`Effect`] and judged like any other.

mod awk;
mod ed;
mod emacs;
mod findings;
mod gdb;
mod interpolation;
mod jq;
mod lua;
mod make;
mod node;
mod other;
mod perl;
mod php;
mod powershell;
mod python;
mod r;
mod ruby;
mod sed;
mod sql;
mod sqlclient;
mod tcl;
mod tokens;
mod values;
mod vim;

use bstr::{BStr, BString, ByteSlice};

use crate::effect::{Effect, Language};
use findings::Findings;

/// Harmless is a proof, not a guess: whatever is not understood is [`Level::Unclear`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Computes and prints, reads and writes files that it names; nothing else.
    Harmless,
    Unclear,
    /// Starts programs, opens sockets, deletes trees, decodes and runs text.
    Dangerous,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    pub level: Level,
    /// What was seen, for the reason shown: `os.system`, `s///e`.
    pub seen: BString,
    /// What can be named: shell commands in literals, files opened, hosts.
    pub effects: Vec<Effect>,
}

/// Longer code than this is a program, not a line: nobody reads it to the end, so nothing is claimed about it.
const LONGEST: usize = 256 * 1024;

#[must_use]
pub fn read(language: Language, text: &BStr) -> Reading {
    let text = text.as_bytes();
    let mut findings = Findings::default();
    if text.len() > LONGEST {
        findings.unclear("code of more than 256 KB");
        return findings.finish();
    }
    match language {
        Language::Awk => awk::read(text, &mut findings),
        Language::Ed => ed::read(text, &mut findings),
        Language::Emacs => emacs::read(text, &mut findings),
        Language::Gdb => gdb::read(text, &mut findings),
        Language::Jq => jq::read(text, &mut findings),
        Language::Lua => lua::read(text, &mut findings),
        Language::Make => make::read(text, &mut findings),
        Language::Node => node::read(text, &mut findings),
        Language::Perl => perl::read(text, &mut findings),
        Language::Php => php::read(text, &mut findings),
        Language::PowerShell => powershell::read(text, &mut findings),
        Language::Python => python::read(text, &mut findings),
        Language::R => r::read(text, &mut findings),
        Language::Ruby => ruby::read(text, &mut findings),
        Language::Sed => sed::read(text, &mut findings),
        Language::Sql => sql::read(text, &mut findings),
        Language::Tcl => tcl::read(text, &mut findings),
        Language::Vim => vim::read(text, &mut findings),
        Language::Other => other::read(text, &mut findings),
        // For the parser, not for a reader.
        Language::Shell => findings.unclear("a text for a shell"),
    }
    findings.finish()
}

/// A command that only looks at the project's history, every word of it known: `git rev-parse HEAD`.
fn only_looks(command: &[u8]) -> bool {
    const LOOKING: [&[u8]; 11] = [
        b"blame",
        b"describe",
        b"diff",
        b"log",
        b"ls-files",
        b"rev-list",
        b"rev-parse",
        b"shortlog",
        b"show",
        b"status",
        b"tag",
    ];
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b" ._/=:%@^-,".contains(byte);
    let mut words = command.split(|byte| *byte == b' ');
    command.iter().all(plain)
        && words.next() == Some(b"git")
        && words.next().is_some_and(|word| LOOKING.contains(&word))
}
