//! Tcl: whatever stands where a command can stand must be known.

use super::findings::Findings;
use super::tokens::{among, is_name};

/// Sorted.
const DANGEROUS: &[&str] = &[
    "after",
    "apply",
    "chan",
    "eval",
    "exec",
    "exp_send",
    "expect",
    "fconfigure",
    "fileevent",
    "interact",
    "interp",
    "kill",
    "load",
    "log_user",
    "namespace",
    "rename",
    "send",
    "send_user",
    "socket",
    "source",
    "spawn",
    "subst",
    "system",
    "tailcall",
    "thread",
    "trace",
    "unknown",
    "uplevel",
    "upvar",
    "vwait",
];

/// Sorted.
const HARMLESS: &[&str] = &[
    "append", "array", "binary", "break", "catch", "clock", "concat", "continue", "dict", "else",
    "elseif", "encoding", "error", "exit", "expr", "for", "foreach", "format", "gets", "global",
    "if", "incr", "info", "join", "lappend", "lindex", "linsert", "list", "llength", "lmap",
    "lrange", "lrepeat", "lreplace", "lreverse", "lsearch", "lsort", "proc", "puts", "pwd", "read",
    "regexp", "regsub", "return", "scan", "set", "split", "string", "switch", "time", "unset",
    "variable", "while",
];

pub(super) fn read(text: &[u8], findings: &mut Findings) {
    let mut expected = true;
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        match byte {
            b'\n' | b';' | b'[' | b'{' => {
                expected = true;
                rest = after;
            }
            b'#' if expected => {
                let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
                let comment = rest.get(..end).unwrap_or_default();
                // Braces count even in comments, and a backslash takes the next line with it.
                if comment.iter().any(|byte| matches!(byte, b'{' | b'}' | b'\\')) {
                    findings.unclear("a comment with braces");
                }
                rest = rest.get(end..).unwrap_or_default();
            }
            b'\\' => {
                if after.first() != Some(&b'n')
                    && after.first() != Some(&b't')
                    && after.first() != Some(&b'"')
                {
                    findings.unclear("\\");
                }
                rest = after.get(1..).unwrap_or_default();
            }
            _ if byte.is_ascii_whitespace() => rest = after,
            _ if expected && !matches!(byte, b'}' | b']' | b'"') => {
                let end = rest
                    .iter()
                    .position(|byte| {
                        byte.is_ascii_whitespace()
                            || matches!(byte, b';' | b']' | b'}' | b'[' | b'{' | b'"')
                    })
                    .unwrap_or(rest.len());
                let name = rest.get(..end.max(1)).unwrap_or_default();
                command(name, rest.get(end.max(1)..).unwrap_or_default(), findings);
                expected = false;
                rest = rest.get(end.max(1)..).unwrap_or_default();
            }
            _ => {
                expected = false;
                rest = after;
            }
        }
    }
}

fn command(name: &[u8], rest: &[u8], findings: &mut Findings) {
    let name = name.strip_prefix(b"::").unwrap_or(name);
    // A command that matters is short; long ones are not searched again and again.
    let near = rest.get(..rest.len().min(512)).unwrap_or_default();
    let line = near.split(|byte| matches!(byte, b'\n' | b';' | b']')).next().unwrap_or_default();
    let line = line.trim_ascii();
    match name {
        b"exec" | b"spawn" => {
            findings.danger(name);
            findings.shell(line);
        }
        b"open"
            if line.starts_with(b"|") || line.starts_with(b"\"|") || line.starts_with(b"{|") =>
        {
            findings.danger("open of a command");
        }
        _ if name.starts_with(b"$")
            && !name.get(1..).unwrap_or_default().iter().all(|byte| is_name(*byte)) =>
        {
            findings.danger("a computed command");
        }
        _ if among(DANGEROUS, name) => findings.danger(name),
        _ if among(HARMLESS, name) => {}
        // An operand of an expression in braces: `{$x > 3}`.
        _ if name.starts_with(b"$")
            && line.iter().take(3).any(|byte| b"<>=!+-*/&|".contains(byte)) => {}
        _ if name.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.') => {}
        _ => findings.unclear(name),
    }
}
