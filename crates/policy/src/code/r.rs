//! R: names that are dangerous wherever they stand, texts included, and a list of functions that are harmless.

use super::findings::Findings;
use super::tokens::{Escapes, Kind, Scanner, Tokens, among, is_name, unescape};
use super::values::is_url;
use crate::event::Access;

const ESCAPES: Escapes = Escapes { keep_unknown: false, decimal: false, unicode: true };

/// Sorted.
const DANGEROUS: &[&str] = &[
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
const HARMLESS: &[&str] = &[
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

pub(super) fn read(text: &[u8], findings: &mut Findings) {
    match scan(text) {
        Some(tokens) => walk(&tokens, findings),
        None => findings.unclear("R code that cannot be read"),
    }
}

fn scan(text: &[u8]) -> Option<Tokens<'_>> {
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

fn walk(tokens: &Tokens<'_>, findings: &mut Findings) {
    for index in 0..tokens.len() {
        // Functions are also named by texts: `sapply(x, "system")`.
        if let Some(name) = tokens.name(index).or_else(|| tokens.literal(index))
            && among(DANGEROUS, name)
        {
            danger(tokens, index, name, findings);
        } else if let Some(name) = tokens.name(index).filter(|_| tokens.is(index + 1, b"(")) {
            call(tokens, index, name, findings);
        }
    }
}

fn danger(tokens: &Tokens<'_>, index: usize, name: &[u8], findings: &mut Findings) {
    let text = tokens.literal(index + 2).filter(|_| tokens.is(index + 1, b"("));
    // A file of the project is run as if it were named.
    if name == b"source"
        && let Some(path) = text.filter(|path| super::values::is_inside(path))
    {
        return findings.open(path, Access::Read);
    }
    findings.danger(name);
    let Some(text) = text else { return };
    match name {
        b"system" | b"shell" => findings.shell(text),
        b"system2" => findings.run(&[text.to_vec()]),
        b"unlink" | b"file.remove" => findings.open(text, Access::Delete),
        _ if is_url(text) => findings.connect(text),
        _ => {}
    }
}

fn call(tokens: &Tokens<'_>, index: usize, name: &[u8], findings: &mut Findings) {
    match name {
        b"readLines" | b"read.csv" | b"read.table" | b"scan" | b"file" => {
            file(tokens, index, name, findings);
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
        _ if among(HARMLESS, name) => {}
        // A function of the code, or of a library that it loads.
        _ if defined(tokens, name)
            || sources_project(tokens)
            || tokens.follows(index, &[b"::", b"$"]) => {}
        _ => findings.unclear(name),
    }
}

fn file(tokens: &Tokens<'_>, index: usize, name: &[u8], findings: &mut Findings) {
    match tokens.literal(index + 2) {
        Some(url) if is_url(url) => {
            findings.danger(name);
            findings.connect(url);
        }
        Some(path) => findings.open(path, Access::Read),
        None => findings.unclear([name, b" of a computed path"].concat()),
    }
}

/// `source("R/f.R")`: functions that are not known are the project's.
fn sources_project(tokens: &Tokens<'_>) -> bool {
    (0..tokens.len().min(1024)).any(|at| {
        tokens.is_name(at, b"source")
            && tokens.literal(at + 2).is_some_and(super::values::is_inside)
    })
}

fn defined(tokens: &Tokens<'_>, name: &[u8]) -> bool {
    (0..tokens.len().min(1024)).any(|at| {
        tokens.is_name(at, name)
            && (tokens.is(at + 1, b"<-") || tokens.is(at + 1, b"="))
            && tokens.is_name(at + 2, b"function")
    })
}
