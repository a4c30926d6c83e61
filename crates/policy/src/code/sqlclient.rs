//! Commands of the clients of databases: `\!` of psql and mysql, `.shell` of sqlite3.

use super::sql::Script;
use super::tokens::among;
use crate::event::Access;

impl Script<'_, '_> {
    /// `\command` of psql and mysql: to the end of the line.
    pub(super) fn client_command(&mut self) {
        let line = self.line();
        let name_length = line
            .iter()
            .skip(1)
            .position(|byte| !byte.is_ascii_alphabetic() && *byte != b'?')
            .map_or(line.len(), |at| at + 1);
        let name = line.get(1..name_length).unwrap_or_default();
        let rest = line.get(name_length..).unwrap_or_default().trim_ascii();
        if line.starts_with(b"\\!") {
            self.findings.danger("\\!");
            self.findings.shell(line.get(2..).unwrap_or_default().trim_ascii());
        } else if line.contains(&b'`') || rest.contains(&b'|') && !name.starts_with(b"d") {
            self.findings.danger("a client command that starts programs");
        } else if !(name.starts_with(b"d")
            || matches!(
                name,
                b"l" | b"x"
                    | b"q"
                    | b"timing"
                    | b"echo"
                    | b"pset"
                    | b"conninfo"
                    | b"z"
                    | b"h"
                    | b"t"
                    | b"a"
                    | b"g"
                    | b"G"
                    | b"gx"
                    | b"encoding"
                    | b"c"
                    | b"connect"
                    | b"u"
                    | b"s"
                    | b"sf"
                    | b"sv"
                    | b"set"
                    | b"unset"
                    | b"qecho"
                    | b"warn"
                    | b"if"
                    | b"endif"
                    | b"else"
                    | b"p"
                    | b"r"
            ))
            || matches!(name, b"c" | b"connect" | b"g") && !rest.is_empty()
        {
            self.findings.unclear([b"\\", name].concat());
        }
    }

    /// `.command` of sqlite3; names may be shortened.
    pub(super) fn dot_command(&mut self) {
        let line = self.line();
        let mut words = line.get(1..).unwrap_or_default().splitn(2, u8::is_ascii_whitespace);
        let name = words.next().unwrap_or_default();
        let rest = words.next().unwrap_or_default().trim_ascii();
        let file = rest.split(u8::is_ascii_whitespace).next_back().unwrap_or_default();
        let file = file.strip_prefix(b"'").or_else(|| file.strip_prefix(b"\"")).unwrap_or(file);
        let file = file.strip_suffix(b"'").or_else(|| file.strip_suffix(b"\"")).unwrap_or(file);
        let short = |full: &[u8]| name.len() >= 2 && full.starts_with(name);
        if short(b"shell") || short(b"system") {
            self.findings.danger([b".", name].concat());
            self.findings.shell(rest);
        } else if among(DOTS, name) {
        } else if rest.contains(&b'|')
            || short(b"load")
            || short(b"excel")
            || short(b"www")
            || short(b"edit")
        {
            self.findings.danger([b".", name].concat());
        } else if matches!(
            name,
            b"output" | b"once" | b"backup" | b"save" | b"clone" | b"open" | b"log"
        ) {
            if !file.is_empty() && !matches!(file, b"stdout" | b"stderr" | b"off" | b":memory:") {
                self.findings.open(file, Access::Write);
            }
        } else if name == b"cd" {
            self.findings.open(file, Access::Enter);
        } else if name == b"import" {
            let source = rest
                .split(u8::is_ascii_whitespace)
                .find(|word| !word.starts_with(b"-"))
                .unwrap_or_default();
            self.findings.open(source, Access::Read);
        } else {
            self.findings.unclear([b".", name].concat());
        }
    }
}

/// Commands of sqlite3 that look or set how it prints. Sorted.
const DOTS: &[&str] = &[
    "bail",
    "changes",
    "databases",
    "dbinfo",
    "dump",
    "echo",
    "eqp",
    "exit",
    "explain",
    "fullschema",
    "header",
    "headers",
    "help",
    "indexes",
    "indices",
    "limit",
    "lint",
    "mode",
    "nullvalue",
    "print",
    "quit",
    "schema",
    "separator",
    "sha3sum",
    "show",
    "stats",
    "tables",
    "timeout",
    "timer",
    "version",
    "width",
];
