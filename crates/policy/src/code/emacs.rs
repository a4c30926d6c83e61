//! Emacs Lisp, as given to `--eval`: only symbols known to compute, print or save the buffer.

use super::findings::Findings;
use super::tokens::among;
use crate::event::Access;

/// Sorted.
const HARMLESS: &[&str] = &[
    "%",
    "*",
    "+",
    "-",
    "/",
    "/=",
    "1+",
    "1-",
    "<",
    "<=",
    "=",
    ">",
    ">=",
    "and",
    "append",
    "batch-byte-compile",
    "beginning-of-buffer",
    "buffer-file-name",
    "buffer-name",
    "buffer-size",
    "buffer-string",
    "car",
    "cdr",
    "check-parens",
    "concat",
    "cond",
    "cons",
    "delete-trailing-whitespace",
    "dolist",
    "dotimes",
    "downcase",
    "emacs-build-time",
    "emacs-major-version",
    "emacs-version",
    "end-of-buffer",
    "eq",
    "equal",
    "error",
    "format",
    "forward-line",
    "goto-char",
    "if",
    "indent-region",
    "insert",
    "kill-emacs",
    "lambda",
    "length",
    "let",
    "let*",
    "list",
    "mapcar",
    "mapconcat",
    "mark-whole-buffer",
    "message",
    "nil",
    "noninteractive",
    "not",
    "nth",
    "null",
    "number-to-string",
    "or",
    "org-version",
    "point",
    "point-max",
    "point-min",
    "prin1",
    "prin1-to-string",
    "princ",
    "print",
    "progn",
    "re-search-forward",
    "replace-match",
    "replace-regexp-in-string",
    "reverse",
    "save-buffer",
    "save-excursion",
    "search-forward",
    "setq",
    "sort-lines",
    "split-string",
    "string-join",
    "string-match",
    "string-to-number",
    "substring",
    "system-name",
    "t",
    "tabify",
    "terpri",
    "unless",
    "untabify",
    "upcase",
    "user-login-name",
    "when",
    "while",
];

/// Sorted.
const DANGEROUS: &[&str] = &[
    "apply",
    "async-shell-command",
    "browse-url",
    "call-process",
    "call-process-region",
    "call-process-shell-command",
    "compile",
    "delete-directory",
    "eval",
    "eval-buffer",
    "eval-expression",
    "eval-region",
    "eval-string",
    "executable-find",
    "funcall",
    "intern",
    "kill-process",
    "load",
    "load-file",
    "load-library",
    "make-network-process",
    "make-process",
    "make-symbol",
    "module-load",
    "open-network-stream",
    "package-install",
    "process-file",
    "process-lines",
    "read",
    "read-from-string",
    "require",
    "setenv",
    "shell",
    "shell-command",
    "shell-command-on-region",
    "shell-command-to-string",
    "signal-process",
    "start-file-process",
    "start-process",
    "start-process-shell-command",
    "symbol-function",
    "term",
    "url-copy-file",
    "url-insert-file-contents",
    "url-retrieve",
    "url-retrieve-synchronously",
];

pub(super) fn read(text: &[u8], findings: &mut Findings) {
    let mut rest = text;
    let mut before: Vec<u8> = Vec::new();
    while let Some((&byte, after)) = rest.split_first() {
        match byte {
            b';' => {
                let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
                rest = rest.get(end..).unwrap_or_default();
            }
            b'"' => {
                let Some(end) = end_of_text(after) else {
                    return findings.unclear("a text without end");
                };
                string(&before, after.get(..end).unwrap_or_default(), findings);
                rest = after.get(end + 1..).unwrap_or_default();
            }
            b'?' => {
                rest =
                    after.get(usize::from(after.first() == Some(&b'\\')) + 1..).unwrap_or_default();
            }
            b'#' | b'\\' | b'|' => return findings.unclear("Lisp that cannot be read"),
            _ if byte.is_ascii_whitespace()
                || matches!(
                    byte,
                    b'(' | b')' | b'\'' | b'`' | b',' | b'.' | b'[' | b']' | b'@'
                ) =>
            {
                rest = after;
            }
            _ => {
                let end = rest
                    .iter()
                    .position(|byte| {
                        byte.is_ascii_whitespace()
                            || matches!(
                                byte,
                                b'(' | b')' | b'"' | b'\'' | b';' | b'[' | b']' | b'`' | b','
                            )
                    })
                    .unwrap_or(rest.len());
                let name = rest.get(..end).unwrap_or_default();
                symbol(name, findings);
                before = name.to_vec();
                rest = rest.get(end..).unwrap_or_default();
            }
        }
    }
}

fn end_of_text(text: &[u8]) -> Option<usize> {
    let mut escaped = false;
    text.iter().position(|byte| {
        let here = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        here
    })
}

fn symbol(name: &[u8], findings: &mut Findings) {
    let number =
        name.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'.' | b'+'));
    let file = matches!(
        name,
        b"find-file" | b"insert-file-contents" | b"write-file" | b"write-region" | b"delete-file"
    );
    if number
        || file
        || among(HARMLESS, name)
        || name.len() == 1 && name.first().is_some_and(u8::is_ascii_lowercase)
    {
        return;
    }
    if among(DANGEROUS, name) {
        findings.danger(name);
    } else {
        findings.unclear(name);
    }
}

/// A text right behind a function on files, or a command right behind one that runs it.
fn string(before: &[u8], text: &[u8], findings: &mut Findings) {
    match before {
        b"find-file" | b"insert-file-contents" => findings.open(text, Access::Read),
        b"write-file" => findings.open(text, Access::Write),
        b"write-region" => findings.unclear("write-region"),
        b"delete-file" => findings.open(text, Access::Delete),
        b"shell-command" | b"shell-command-to-string" | b"async-shell-command" => {
            findings.shell(text);
        }
        _ => {}
    }
}
