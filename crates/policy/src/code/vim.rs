//! Commands of vim and ex, as given to `-c`: few are known to be harmless.

use super::findings::Findings;
use super::tokens::among;
use crate::event::Access;

/// Sorted.
const HARMLESS: &[&str] = &[
    "",
    "%p",
    "<",
    "=",
    ">",
    "bd",
    "bn",
    "bp",
    "buffers",
    "close",
    "d",
    "delete",
    "filetype",
    "help",
    "j",
    "join",
    "ls",
    "m",
    "move",
    "noh",
    "nohlsearch",
    "number",
    "only",
    "p",
    "print",
    "q",
    "q!",
    "qa",
    "qa!",
    "qall",
    "qall!",
    "quit",
    "redo",
    "retab",
    "scriptnames",
    "sort",
    "syntax",
    "t",
    "u",
    "undo",
    "ve",
    "version",
    "w",
    "w!",
    "wa",
    "wall",
    "wq",
    "wq!",
    "wqa",
    "x",
    "xa",
    "y",
    "yank",
];

/// Sorted.
const DANGEROUS: &[&str] = &[
    "autocmd",
    "call",
    "cexpr",
    "exe",
    "execute",
    "feedkeys",
    "grep",
    "grepadd",
    "helptags",
    "job_start",
    "let",
    "lgrep",
    "lmake",
    "lua",
    "luado",
    "luafile",
    "lvimgrep",
    "make",
    "mz",
    "mzscheme",
    "perl",
    "perldo",
    "py",
    "py3",
    "py3file",
    "pydo",
    "pyf",
    "pyfile",
    "python",
    "python3",
    "pyx",
    "pyxfile",
    "ru",
    "rub",
    "ruby",
    "rubydo",
    "rubyfile",
    "runtime",
    "sh",
    "shell",
    "so",
    "source",
    "suspend",
    "tcl",
    "tcldo",
    "tclfile",
    "ter",
    "term",
    "terminal",
];

pub(super) fn read(text: &[u8], findings: &mut Findings) {
    for line in text.split(|byte| *byte == b'\n') {
        one(line, findings, 0);
    }
}

fn one(line: &[u8], findings: &mut Findings, depth: usize) {
    if depth > 8 {
        findings.unclear("many commands in one");
        return;
    }
    let line = line.trim_ascii_start();
    let line =
        line.get(line.iter().take_while(|byte| **byte == b':').count()..).unwrap_or_default();
    if line.starts_with(b"\"") {
        return;
    }
    let Some(line) = after_range(line.trim_ascii_start()) else {
        findings.unclear("a range that cannot be read");
        return;
    };
    let length = line.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(line.len());
    // `s/…` and `g/…` are letters before a delimiter, `py3` has a digit in it.
    let mut name = line.get(..length).unwrap_or_default();
    let mut rest = line.get(length..).unwrap_or_default();
    if rest.starts_with(b"!") && !name.is_empty() && !matches!(name, b"r" | b"read") {
        name = line.get(..=length).unwrap_or_default();
        rest = line.get(length + 1..).unwrap_or_default();
    }
    command(name, rest, findings, depth);
}

fn command(name: &[u8], rest: &[u8], findings: &mut Findings, depth: usize) {
    let argument = rest.trim_ascii();
    match name {
        b"" if rest.starts_with(b"!") => {
            findings.danger(":!");
            findings.shell(rest.get(1..).unwrap_or_default().trim_ascii());
            return;
        }
        b"r" | b"read" | b"w" | b"write" | b"w!" | b"write!" | b"e" | b"edit" | b"e!" | b"sav"
        | b"saveas" | b"tabe" | b"sp" | b"vs" | b"up" | b"update" | b"wq" | b"x" => {
            file(name, argument, findings);
            return;
        }
        b"s" | b"substitute" | b"smagic" | b"snomagic" => {
            substitute(rest, findings);
        }
        b"g" | b"global" | b"v" | b"vglobal" | b"g!" => {
            global(rest, findings, depth);
            return;
        }
        b"set" | b"setlocal" | b"se" => set(argument, findings),
        b"echo" | b"ec" | b"echom" | b"echon" => {
            if rest.iter().any(|byte| matches!(byte, b'(' | b'`' | b'|' | b'#')) {
                findings.danger("echo of an expression");
            }
        }
        b"normal" | b"norm" | b"normal!" | b"norm!" => {
            if rest.iter().any(|byte| {
                matches!(byte, b':' | b'!' | b'@' | b'=' | b'Q' | b'K') || byte.is_ascii_control()
            }) {
                findings.danger("normal");
            } else {
                findings.unclear("normal");
            }
        }
        _ if among(DANGEROUS, name.strip_suffix(b"!").unwrap_or(name)) => findings.danger(name),
        _ if among(HARMLESS, name) => {}
        _ if name.iter().all(u8::is_ascii_digit) => {}
        _ => findings.unclear(if name.is_empty() { rest } else { name }),
    }
    // What follows a bar is a command of its own.
    if let Some(bar) = rest.iter().position(|byte| *byte == b'|') {
        one(rest.get(bar + 1..).unwrap_or_default(), findings, depth + 1);
    }
}

fn file(name: &[u8], argument: &[u8], findings: &mut Findings) {
    let argument = argument.strip_prefix(b">>").unwrap_or(argument).trim_ascii();
    if let Some(command) = argument.strip_prefix(b"!") {
        findings.danger([name, b" !"].concat());
        findings.shell(command.trim_ascii());
        return;
    }
    if argument.is_empty() {
        return;
    }
    if argument.contains(&b'`') || argument.contains(&b'|') || argument.starts_with(b"+") {
        findings.danger(name);
        return;
    }
    let reads = matches!(name, b"r" | b"read" | b"e" | b"edit" | b"e!" | b"tabe" | b"sp" | b"vs");
    findings.open(argument, if reads { Access::Read } else { Access::Write });
}

/// The replacement may be an expression.
fn substitute(rest: &[u8], findings: &mut Findings) {
    let delimiter = rest.first().copied().unwrap_or(b'/');
    if delimiter == b'|' || delimiter == b'"' || rest.windows(2).any(|pair| pair == b"\\=") {
        findings.danger("a substitution with an expression");
    }
}

fn global(rest: &[u8], findings: &mut Findings, depth: usize) {
    let Some((&delimiter, body)) = rest.split_first() else { return };
    let mut escaped = false;
    let end = body.iter().position(|byte| {
        let here = *byte == delimiter && !escaped;
        escaped = *byte == b'\\' && !escaped;
        here
    });
    match end {
        Some(end) => one(body.get(end + 1..).unwrap_or_default(), findings, depth + 1),
        None => findings.unclear("global"),
    }
}

/// Options that say how to print; those that name programs, expressions and files are not among them.
fn set(argument: &[u8], findings: &mut Findings) {
    for option in argument
        .split(|byte| byte.is_ascii_whitespace() || *byte == b'|')
        .filter(|option| !option.is_empty())
    {
        let (name, value) = match option.iter().position(|byte| matches!(byte, b'=' | b':')) {
            Some(at) => (option.get(..at).unwrap_or_default(), option.get(at + 1..)),
            None => (option, None),
        };
        let plain = matches!(
            name,
            b"ft"
                | b"filetype"
                | b"syntax"
                | b"ff"
                | b"fileformat"
                | b"fenc"
                | b"fileencoding"
                | b"enc"
                | b"encoding"
                | b"bg"
                | b"background"
        );
        let number = value.is_none_or(|value| value.iter().all(u8::is_ascii_digit));
        if matches!(name, b"exrc" | b"modeline" | b"modelineexpr" | b"secure") || !plain && !number
        {
            findings.danger([b"set ", name].concat());
        }
    }
}

/// `1,5`, `%`, `'<,'>`, `/x/`: what is before the command.
fn after_range(line: &[u8]) -> Option<&[u8]> {
    let mut rest = line;
    loop {
        match rest.first() {
            Some(b'0'..=b'9' | b'%' | b'$' | b'.' | b',' | b';' | b'+' | b'-' | b' ') => {
                rest = rest.get(1..)?;
            }
            Some(b'\'') => rest = rest.get(2..)?,
            Some(&delimiter @ (b'/' | b'?')) => {
                let body = rest.get(1..)?;
                let end = body.iter().position(|byte| *byte == delimiter)?;
                if body.get(..end)?.contains(&b'\\') {
                    return None;
                }
                rest = body.get(end + 1..)?;
            }
            _ => return Some(rest),
        }
    }
}
