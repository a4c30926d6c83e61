//! PowerShell: every word where a command can stand must be known.

use bstr::ByteSlice;

use super::findings::Findings;
use super::tokens::{among, is_name};
use crate::event::Access;

/// Sorted.
const DANGEROUS: &[&str] = &[
    "add-mppreference",
    "add-type",
    "bitsadmin",
    "certutil",
    "clear-disk",
    "cmd",
    "curl",
    "del",
    "dot-source",
    "downloadstring",
    "encodedcommand",
    "enter-pssession",
    "erase",
    "format-volume",
    "frombase64string",
    "icm",
    "iex",
    "ii",
    "import-module",
    "invoke-expression",
    "invoke-item",
    "invoke-restmethod",
    "invoke-webrequest",
    "irm",
    "iwr",
    "net",
    "new-object",
    "new-psdrive",
    "new-pssession",
    "new-service",
    "powershell",
    "pwsh",
    "rd",
    "register-scheduledtask",
    "remove-item",
    "restart-computer",
    "ri",
    "rm",
    "rmdir",
    "saps",
    "set-alias",
    "set-item",
    "set-itemproperty",
    "shellexecute",
    "start",
    "start-bitstransfer",
    "start-job",
    "start-process",
    "stop-computer",
    "stop-process",
    "webclient",
    "wget",
];

/// Sorted.
const HARMLESS: &[&str] = &[
    "cat",
    "compare-object",
    "convertfrom-json",
    "convertto-json",
    "dir",
    "echo",
    "else",
    "elseif",
    "false",
    "for",
    "foreach",
    "foreach-object",
    "format-list",
    "format-table",
    "function",
    "gc",
    "gci",
    "get-alias",
    "get-childitem",
    "get-command",
    "get-content",
    "get-date",
    "get-filehash",
    "get-help",
    "get-host",
    "get-item",
    "get-itemproperty",
    "get-location",
    "get-member",
    "get-process",
    "get-random",
    "get-service",
    "get-variable",
    "gl",
    "group-object",
    "if",
    "join-path",
    "ls",
    "measure-command",
    "measure-object",
    "null",
    "out-host",
    "out-null",
    "out-string",
    "psversiontable",
    "pwd",
    "resolve-path",
    "return",
    "select",
    "select-object",
    "select-string",
    "sort",
    "sort-object",
    "split-path",
    "test-path",
    "true",
    "where",
    "where-object",
    "while",
    "write-error",
    "write-host",
    "write-output",
    "write-verbose",
    "write-warning",
];

pub(super) fn read(text: &[u8], findings: &mut Findings) {
    const ELSEWHERE: [&str; 9] =
        ["~/", " ~", "$HOME", "$home", "$env:", "/etc/", "/root", "/home/", "://"];
    if ELSEWHERE.iter().any(|place| text.contains_str(place)) {
        findings.unclear("what is not the project's");
    }
    let mut rest = text;
    let mut starts = true;
    while let Some((&byte, after)) = rest.split_first() {
        match byte {
            b'\'' | b'"' => {
                let Some(behind) = quoted(byte, after, starts, findings) else {
                    return findings.unclear("a text without end");
                };
                starts = false;
                rest = behind;
            }
            b'#' => {
                let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
                rest = rest.get(end..).unwrap_or_default();
            }
            b'&' | b'`' => {
                findings.danger(if byte == b'&' { "&" } else { "`" });
                rest = after;
            }
            b'[' if after.first().is_some_and(u8::is_ascii_alphabetic) => {
                findings.unclear("a class of .NET");
                rest = after;
            }
            b'>' => {
                let path = after.strip_prefix(b">").unwrap_or(after).trim_ascii_start();
                let end = path
                    .iter()
                    .position(|byte| byte.is_ascii_whitespace() || matches!(byte, b';' | b'|'))
                    .unwrap_or(path.len());
                findings.open(path.get(..end).unwrap_or_default(), Access::Write);
                rest = path.get(end..).unwrap_or_default();
            }
            b';' | b'|' | b'\n' | b'(' | b'{' | b'=' => {
                starts = true;
                rest = after;
            }
            b'.' if starts && after.first() == Some(&b' ') => {
                findings.danger(". FILE");
                rest = after;
            }
            _ if byte.is_ascii_alphabetic() => {
                let end = rest
                    .iter()
                    .position(|byte| !is_name(*byte) && *byte != b'-')
                    .unwrap_or(rest.len());
                word(rest.get(..end).unwrap_or_default(), starts, findings);
                starts = false;
                rest = rest.get(end..).unwrap_or_default();
            }
            _ => {
                starts &= byte.is_ascii_whitespace();
                rest = after;
            }
        }
    }
}

/// What is behind a text.
fn quoted<'a>(
    quote: u8,
    after: &'a [u8],
    starts: bool,
    findings: &mut Findings,
) -> Option<&'a [u8]> {
    let end = after.iter().position(|byte| *byte == quote)?;
    let inside = after.get(..end)?;
    if quote == b'"' && inside.windows(2).any(|pair| pair == b"$(") || inside.contains(&b'`') {
        findings.unclear("code in a text");
    }
    if starts {
        findings.unclear("a text as a command");
    }
    after.get(end + 1..)
}

fn word(word: &[u8], starts: bool, findings: &mut Findings) {
    let lower = word.to_ascii_lowercase();
    if among(DANGEROUS, &lower)
        || lower.starts_with(b"invoke-")
            && !matches!(lower.as_slice(), b"invoke-pester" | b"invoke-scriptanalyzer")
        || lower.starts_with(b"set-execution")
    {
        findings.danger(word);
    } else if starts && !lower.starts_with(b"invoke-") && !among(HARMLESS, &lower) {
        findings.unclear(word);
    }
}
