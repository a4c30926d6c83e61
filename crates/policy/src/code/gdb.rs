//! Commands of gdb, as given to `-ex`: looking at the program is harmless, calling into it and out of it is not.

use super::findings::Findings;
use super::tokens::among;
use crate::effect::Language;
use crate::event::Access;

/// Sorted.
const HARMLESS: &[&str] = &[
    "advance",
    "b",
    "backtrace",
    "br",
    "break",
    "bt",
    "c",
    "clear",
    "continue",
    "d",
    "delete",
    "disable",
    "disas",
    "disassemble",
    "display",
    "down",
    "echo",
    "enable",
    "f",
    "finish",
    "frame",
    "h",
    "help",
    "i",
    "info",
    "inspect",
    "kill",
    "l",
    "list",
    "n",
    "next",
    "nexti",
    "ni",
    "output",
    "p",
    "print",
    "printf",
    "ptype",
    "q",
    "quit",
    "r",
    "return",
    "run",
    "s",
    "select-frame",
    "show",
    "si",
    "start",
    "step",
    "stepi",
    "tbreak",
    "thread",
    "u",
    "undisplay",
    "until",
    "up",
    "watch",
    "whatis",
    "where",
    "x",
];

pub(super) fn read(text: &[u8], findings: &mut Findings) {
    for line in text.split(|byte| *byte == b'\n') {
        one(line.trim_ascii(), findings);
    }
}

fn one(line: &[u8], findings: &mut Findings) {
    if line.is_empty() || line.starts_with(b"#") {
        return;
    }
    let length = line
        .iter()
        .position(|byte| !byte.is_ascii_alphanumeric() && !matches!(byte, b'-' | b'_'))
        .unwrap_or(line.len());
    let name = line.get(..length).unwrap_or_default();
    let rest = line.get(length..).unwrap_or_default().trim_ascii();
    if let Some(command) = line.strip_prefix(b"!").or_else(|| line.strip_prefix(b"|")) {
        findings.danger("shell");
        findings.shell(command.trim_ascii());
        return;
    }
    match name {
        b"shell" | b"make" => {
            findings.danger(name);
            findings.shell(if name == b"make" { line } else { rest });
        }
        b"pipe" | b"attach" | b"target" | b"call" | b"compile" | b"signal" | b"guile" | b"gu"
        | b"jump" | b"detach" | b"add-symbol-file" => findings.danger(name),
        b"python" | b"py" | b"python-interactive" | b"pi" => {
            findings.danger(name);
            findings.code(Language::Python, rest);
        }
        b"file" | b"symbol-file" | b"core-file" | b"core" | b"exec-file" => {
            findings.open(rest, Access::Read);
        }
        b"set" => set(rest, findings),
        b"run" | b"r" | b"start" if !rest.is_empty() => findings.unclear("run with arguments"),
        b"thread" if rest.starts_with(b"apply") => {
            let command = rest.split(|byte| *byte == b' ').next_back().unwrap_or_default();
            if !matches!(command, b"bt" | b"backtrace" | b"where" | b"full") {
                findings.unclear(line);
            }
        }
        _ if !among(HARMLESS, name) => findings.unclear(if name.is_empty() { line } else { name }),
        // An expression may call functions of the program, and may write into it.
        _ if matches!(
            name,
            b"echo" | b"help" | b"h" | b"info" | b"i" | b"show" | b"list" | b"l"
        ) => {}
        _ if rest.contains(&b'(') => {
            let bad: &[&[u8]] = &[b"system", b"exec", b"popen", b"dlopen", b"fork", b"spawn"];
            if bad.iter().any(|word| rest.windows(word.len()).any(|window| window == *word)) {
                findings.danger("a call of the program's functions");
            } else {
                findings.unclear("a call of the program's functions");
            }
        }
        _ => {}
    }
}

fn set(rest: &[u8], findings: &mut Findings) {
    let name = rest.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    let plain = matches!(
        name,
        b"pagination"
            | b"confirm"
            | b"print"
            | b"width"
            | b"height"
            | b"listsize"
            | b"disassembly-flavor"
            | b"breakpoint"
            | b"verbose"
            | b"style"
            | b"max-value-size"
            | b"follow-fork-mode"
            | b"detach-on-fork"
    );
    if matches!(
        name,
        b"exec-wrapper"
            | b"startup-with-shell"
            | b"auto-load"
            | b"debuginfod"
            | b"environment"
            | b"sysroot"
            | b"logging"
            | b"history"
    ) {
        findings.danger([b"set ", name].concat());
    } else if !plain {
        findings.unclear([b"set ", name].concat());
    }
}
