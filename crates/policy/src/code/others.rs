//! R, Tcl and PowerShell: small lists of what is harmless, and names that are dangerous wherever they stand.

use super::findings::Findings;
use super::tokens::{Escapes, Kind, Scanner, Tokens, among, is_name, unescape};
use super::values::is_url;
use crate::event::Access;

const ESCAPES: Escapes = Escapes { keep_unknown: false, decimal: false, unicode: true };

/// Sorted.
const R_DANGEROUS: &[&str] = &[
    ".C",
    ".Call",
    ".External",
    ".External2",
    ".Fortran",
    ".Internal",
    ".Primitive",
    "GET",
    "POST",
    "Sys.setenv",
    "as.function",
    "assign",
    "body",
    "browseURL",
    "call",
    "curl",
    "do.call",
    "download.file",
    "dyn.load",
    "environment",
    "eval",
    "eval.parent",
    "evalq",
    "exec",
    "expression",
    "file.remove",
    "file.rename",
    "get",
    "get0",
    "getExportedValue",
    "getFromNamespace",
    "getNamespace",
    "httr",
    "install.packages",
    "install_github",
    "library.dynam",
    "load",
    "make.socket",
    "match.fun",
    "mget",
    "nsl",
    "parse",
    "pipe",
    "processx",
    "readRDS",
    "remotes",
    "request",
    "serverSocket",
    "shell",
    "shell.exec",
    "socketConnection",
    "source",
    "str2expression",
    "str2lang",
    "sys.function",
    "sys.source",
    "system",
    "system2",
    "trace",
    "unlink",
    "unserialize",
    "url",
];

/// Sorted.
const R_HARMLESS: &[&str] = &[
    "Negate",
    "R.Version",
    "R.version.string",
    "Sys.Date",
    "Sys.getenv",
    "Sys.getlocale",
    "Sys.time",
    "abs",
    "aggregate",
    "all",
    "any",
    "anyNA",
    "apply",
    "as.Date",
    "as.character",
    "as.factor",
    "as.integer",
    "as.list",
    "as.logical",
    "as.numeric",
    "attr",
    "attributes",
    "basename",
    "c",
    "cat",
    "cbind",
    "ceiling",
    "character",
    "class",
    "colMeans",
    "colSums",
    "colnames",
    "commandArgs",
    "cor",
    "cumsum",
    "cut",
    "data.frame",
    "date",
    "density",
    "diff",
    "dim",
    "dir.exists",
    "dirname",
    "duplicated",
    "exists",
    "exp",
    "expand.grid",
    "factor",
    "file.exists",
    "file.path",
    "filter",
    "find.package",
    "floor",
    "for",
    "format",
    "formatC",
    "fromJSON",
    "function",
    "getwd",
    "grep",
    "grepl",
    "gsub",
    "head",
    "identical",
    "if",
    "ifelse",
    "inherits",
    "installed.packages",
    "integer",
    "interactive",
    "intersect",
    "invisible",
    "is.character",
    "is.data.frame",
    "is.factor",
    "is.function",
    "is.list",
    "is.na",
    "is.null",
    "is.numeric",
    "isTRUE",
    "jsonlite",
    "lapply",
    "length",
    "letters",
    "levels",
    "library",
    "list",
    "list.files",
    "lm",
    "log",
    "log10",
    "log2",
    "ls",
    "matrix",
    "max",
    "mean",
    "median",
    "merge",
    "message",
    "min",
    "mode",
    "names",
    "nargs",
    "nchar",
    "ncol",
    "nlevels",
    "nrow",
    "numeric",
    "numeric_version",
    "order",
    "packageVersion",
    "paste",
    "paste0",
    "predict",
    "print",
    "prod",
    "q",
    "quantile",
    "quit",
    "range",
    "rbind",
    "regexpr",
    "regmatches",
    "rep",
    "require",
    "requireNamespace",
    "return",
    "rev",
    "rnorm",
    "round",
    "rowMeans",
    "rowSums",
    "rownames",
    "runif",
    "sample",
    "sapply",
    "sd",
    "seq",
    "seq_along",
    "seq_len",
    "sessionInfo",
    "set.seed",
    "setdiff",
    "signif",
    "sort",
    "split",
    "sprintf",
    "sqrt",
    "stop",
    "stopifnot",
    "str",
    "strsplit",
    "sub",
    "subset",
    "substr",
    "sum",
    "summary",
    "suppressMessages",
    "suppressPackageStartupMessages",
    "suppressWarnings",
    "switch",
    "t",
    "table",
    "tail",
    "tapply",
    "toJSON",
    "toString",
    "tolower",
    "toupper",
    "trimws",
    "try",
    "tryCatch",
    "typeof",
    "union",
    "unique",
    "unlist",
    "utils",
    "vapply",
    "var",
    "vector",
    "warning",
    "warnings",
    "which",
    "which.max",
    "which.min",
    "while",
    "with",
    "within",
];

/// Sorted.
const TCL_DANGEROUS: &[&str] = &[
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
const TCL_HARMLESS: &[&str] = &[
    "append", "array", "binary", "break", "catch", "clock", "concat", "continue", "dict", "else",
    "elseif", "encoding", "error", "exit", "expr", "for", "foreach", "format", "gets", "global",
    "if", "incr", "info", "join", "lappend", "lindex", "linsert", "list", "llength", "lmap",
    "lrange", "lrepeat", "lreplace", "lreverse", "lsearch", "lsort", "proc", "puts", "pwd", "read",
    "regexp", "regsub", "return", "scan", "set", "split", "string", "switch", "time", "unset",
    "variable", "while",
];

/// Sorted.
const POWERSHELL_DANGEROUS: &[&str] = &[
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
const POWERSHELL_HARMLESS: &[&str] = &[
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

pub(super) fn read_r(text: &[u8], findings: &mut Findings) {
    match scan_r(text) {
        Some(tokens) => r(&tokens, findings),
        None => findings.unclear("R code that cannot be read"),
    }
}

fn scan_r(text: &[u8]) -> Option<Tokens<'_>> {
    let mut scanner = Scanner::new(text);
    while let Some(byte) = scanner.peek() {
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => scanner.skip_space(),
            b'#' => {
                scanner.take(|byte| byte != b'\n');
            }
            b'"' | b'\'' => {
                // A raw text has quotes of its own.
                let raw = scanner.last().is_some_and(|last| {
                    !scanner.spaced && matches!(last.text.as_ref(), b"r" | b"R")
                });
                scanner.at += 1;
                let inside = scanner.quoted(byte)?;
                if raw {
                    return None;
                }
                scanner.push(Kind::Text, unescape(inside, ESCAPES)?);
            }
            b'0'..=b'9' => scanner.number(),
            _ if is_name(byte) || byte == b'.' && scanner.peek_at(1).is_some_and(is_name) => {
                scanner.name(b".");
            }
            _ if !byte.is_ascii_punctuation() || byte == b'`' => return None,
            _ => scanner.sign(),
        }
    }
    scanner.finish()
}

fn r(tokens: &Tokens<'_>, findings: &mut Findings) {
    for index in 0..tokens.len() {
        // Functions are also named by texts: `sapply(x, "system")`.
        if let Some(name) = tokens.name(index).or_else(|| tokens.literal(index))
            && among(R_DANGEROUS, name)
        {
            r_danger(tokens, index, name, findings);
        } else if let Some(name) = tokens.name(index).filter(|_| tokens.is(index + 1, b"(")) {
            r_call(tokens, index, name, findings);
        }
    }
}

fn r_danger(tokens: &Tokens<'_>, index: usize, name: &[u8], findings: &mut Findings) {
    findings.danger(name);
    let Some(text) = tokens.literal(index + 2).filter(|_| tokens.is(index + 1, b"(")) else {
        return;
    };
    match name {
        b"system" | b"shell" => findings.shell(text),
        b"system2" => findings.run(&[text.to_vec()]),
        b"unlink" | b"file.remove" => findings.open(text, Access::Delete),
        _ if is_url(text) => findings.connect(text),
        _ => {}
    }
}

fn r_call(tokens: &Tokens<'_>, index: usize, name: &[u8], findings: &mut Findings) {
    match name {
        b"readLines" | b"read.csv" | b"read.table" | b"scan" | b"file" => {
            r_read(tokens, index, name, findings);
        }
        b"writeLines" if tokens.arguments(index + 1).len() < 2 => {}
        b"write.csv" | b"saveRDS" | b"write.table" | b"sink" | b"png" | b"pdf" => {
            let near = index + 2..(index + 12).min(tokens.len());
            match near.filter_map(|at| tokens.literal(at)).next_back() {
                Some(path) => findings.open(path, Access::Write),
                None => findings.unclear(name),
            }
        }
        b"sapply" | b"lapply" | b"vapply" | b"Map" | b"mapply" | b"Reduce" | b"Filter"
        | b"apply" | b"tapply" | b"outer" => {
            let builders: &[&[u8]] =
                &[b"paste", b"paste0", b"sprintf", b"rawToChar", b"intToUtf8", b"chartr"];
            let built = tokens
                .arguments(index + 1)
                .into_iter()
                .any(|range| tokens.name(range.start).is_some_and(|name| builders.contains(&name)));
            if built {
                findings.unclear([name, b" with a computed function"].concat());
            }
        }
        _ if among(R_HARMLESS, name) => {}
        // A function of the code, or of a library that it loads.
        _ if defined(tokens, name) || tokens.follows(index, &[b"::", b"$"]) => {}
        _ => findings.unclear(name),
    }
}

fn r_read(tokens: &Tokens<'_>, index: usize, name: &[u8], findings: &mut Findings) {
    match tokens.literal(index + 2) {
        Some(url) if is_url(url) => {
            findings.danger(name);
            findings.connect(url);
        }
        Some(path) => findings.open(path, Access::Read),
        None => findings.unclear([name, b" of a computed path"].concat()),
    }
}

fn defined(tokens: &Tokens<'_>, name: &[u8]) -> bool {
    (0..tokens.len().min(1024)).any(|at| {
        tokens.is_name(at, name)
            && (tokens.is(at + 1, b"<-") || tokens.is(at + 1, b"="))
            && tokens.is_name(at + 2, b"function")
    })
}

/// Tcl: whatever stands where a command can stand must be known.
pub(super) fn read_tcl(text: &[u8], findings: &mut Findings) {
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
                tcl_command(name, rest.get(end.max(1)..).unwrap_or_default(), findings);
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

fn tcl_command(name: &[u8], rest: &[u8], findings: &mut Findings) {
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
        _ if among(TCL_DANGEROUS, name) => findings.danger(name),
        _ if among(TCL_HARMLESS, name) => {}
        // An operand of an expression in braces: `{$x > 3}`.
        _ if name.starts_with(b"$")
            && line.iter().take(3).any(|byte| b"<>=!+-*/&|".contains(byte)) => {}
        _ if name.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.') => {}
        _ => findings.unclear(name),
    }
}

/// PowerShell: every word must be known.
pub(super) fn read_powershell(text: &[u8], findings: &mut Findings) {
    let mut rest = text;
    let mut starts = true;
    while let Some((&byte, after)) = rest.split_first() {
        match byte {
            b'\'' | b'"' => {
                let Some(behind) = powershell_text(byte, after, starts, findings) else {
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
                powershell_word(rest.get(..end).unwrap_or_default(), starts, findings);
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
fn powershell_text<'a>(
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

fn powershell_word(word: &[u8], starts: bool, findings: &mut Findings) {
    let lower = word.to_ascii_lowercase();
    if among(POWERSHELL_DANGEROUS, &lower)
        || lower.starts_with(b"invoke-")
        || lower.starts_with(b"set-execution")
    {
        findings.danger(word);
    } else if starts && !among(POWERSHELL_HARMLESS, &lower) {
        findings.unclear(word);
    }
}
