//! Scripts for ed: one command a line, and text up to a line with a dot.

use super::findings::Findings;
use crate::event::Access;

pub(super) fn read(text: &[u8], findings: &mut Findings) {
    let mut typing = false;
    for line in text.split(|byte| *byte == b'\n') {
        if typing {
            typing = line != b".";
            continue;
        }
        typing = command(line.trim_ascii_start(), findings, 0);
    }
}

/// Returns whether text follows.
fn command(line: &[u8], findings: &mut Findings, depth: usize) -> bool {
    let Some(rest) = after_addresses(line) else {
        findings.unclear("an address that cannot be read");
        return false;
    };
    let Some((&letter, argument)) = rest.split_first() else { return false };
    match letter {
        b'a' | b'i' | b'c' => return true,
        b'p' | b'n' | b'l' | b'd' | b'j' | b'm' | b't' | b'k' | b'=' | b'q' | b'Q' | b'u'
        | b'H' | b'h' | b'P' | b'z' | b'y' | b'x' | b'#' => {
            if argument.contains(&b'!') {
                findings.unclear(line);
            }
        }
        b'!' => {
            findings.danger("!");
            findings.shell(argument.trim_ascii());
        }
        b'w' | b'W' | b'r' | b'e' | b'E' | b'f' => file(letter, argument, findings),
        b's' => {
            // Only an address and flags can follow; a newline in the replacement continues it in the next line.
            if argument.ends_with(b"\\") {
                findings.unclear("s over several lines");
            }
        }
        b'g' | b'v' if depth < 4 => return global(argument, findings, depth),
        _ => findings.unclear(rest),
    }
    false
}

fn file(letter: u8, argument: &[u8], findings: &mut Findings) {
    let argument = argument.strip_prefix(b"q").unwrap_or(argument).trim_ascii();
    if let Some(command) = argument.strip_prefix(b"!") {
        findings.danger([letter, b' ', b'!']);
        findings.shell(command.trim_ascii());
    } else if !argument.is_empty() {
        findings.open(
            argument,
            if matches!(letter, b'w' | b'W' | b'f') { Access::Write } else { Access::Read },
        );
    }
}

/// `g/re/commands`
fn global(argument: &[u8], findings: &mut Findings, depth: usize) -> bool {
    let Some((&delimiter, body)) = argument.split_first() else { return false };
    match end_of_pattern(body, delimiter) {
        Some(end) => {
            let rest = body.get(end + 1..).unwrap_or_default();
            if rest.ends_with(b"\\") {
                findings.unclear("g over several lines");
            }
            command(rest.trim_ascii_start(), findings, depth + 1)
        }
        None => false,
    }
}

fn end_of_pattern(body: &[u8], delimiter: u8) -> Option<usize> {
    let mut escaped = false;
    body.iter().position(|byte| {
        let here = *byte == delimiter && !escaped;
        escaped = *byte == b'\\' && !escaped;
        here
    })
}

fn after_addresses(line: &[u8]) -> Option<&[u8]> {
    let mut rest = line;
    loop {
        match rest.first() {
            Some(b'0'..=b'9' | b'$' | b'.' | b',' | b';' | b'%' | b'+' | b'-' | b' ' | b'^') => {
                rest = rest.get(1..)?;
            }
            Some(b'\'') => rest = rest.get(2..)?,
            Some(&delimiter @ (b'/' | b'?')) => {
                let body = rest.get(1..)?;
                let end = end_of_pattern(body, delimiter)?;
                rest = body.get(end + 1..)?;
            }
            _ => return Some(rest),
        }
    }
}
