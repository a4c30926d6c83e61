//! Texts in a file that may be commands: what stands in quotes, what stands in quotes one after the other, lines.
//!
//! Nothing here understands the file. It only finds candidates, for files that a tool is about to run and that
//! nobody can read otherwise; who asks judges each as if it had been typed.

use bstr::{BStr, BString, ByteSlice};

use super::sights::may_hold_a_command;
use crate::programs;
use crate::word::Word;

/// Longer files are not looked through.
const LONGEST: usize = 64 << 10;
/// So many candidates of one file are looked at.
const MOST: usize = 256;

/// Texts beside something, in files that are read otherwise.
pub(super) fn beside(text: &BStr, wanted: fn(&[u8]) -> bool) -> Vec<BString> {
    let mut near = BString::default();
    if text.len() > LONGEST {
        return Vec::new();
    }
    let mut more = 0;
    for line in text.lines() {
        // The words of a call may stand in the lines that follow.
        more = if wanted(line) { 4 } else { more - i32::from(more > 0) };
        if more > 0 {
            near.extend_from_slice(line);
            near.push(b'\n');
        }
    }
    if near.is_empty() { Vec::new() } else { commands(near.as_bstr()) }
}

pub(super) fn commands(text: &BStr) -> Vec<BString> {
    let mut found: Vec<BString> = Vec::new();
    if text.len() > LONGEST {
        return found;
    }
    let mut together: Vec<BString> = Vec::new();
    for line in text.lines() {
        let quoted = quoted(line);
        let ends = line.trim_ascii_end().last().is_none_or(|byte| b";{}".contains(byte));
        if may_hold_a_command(line) {
            within(line, &quoted, &mut found);
        }
        found.extend(quoted.iter().cloned());
        together.extend(quoted);
        if ends {
            add_joined(&mut found, &mut together);
        }
        found.push(bare(line).into());
        if found.len() > MOST {
            break;
        }
    }
    add_joined(&mut found, &mut together);
    found.retain(|candidate| {
        let candidate = candidate.as_bstr();
        looks_like_a_command(candidate) && !only_sets_the_shell(candidate)
    });
    // Each is judged, which takes longer than finding it.
    found.sort_unstable();
    found.dedup();
    found
}

/// Quotes within quotes, brackets of all kinds (`%q(…)`, `m4_esyscmd([…])`), the texts of elements.
fn within(line: &[u8], quoted: &[BString], found: &mut Vec<BString>) {
    const MOST: usize = 32;
    let mut inner: Vec<BString> = Vec::new();
    for text in quoted.iter().filter(|text| may_hold_a_command(text)) {
        inner.extend(self::quoted(text));
        inner.push(plain(text).into());
    }
    let mut elements: Vec<&[u8]> = Vec::new();
    for part in line.split(|byte| *byte == b'>').take(MOST) {
        elements.extend(part.split_once_str("</").map(|(text, _)| text));
    }
    inner.extend(elements.iter().map(|text| BString::from(*text)));
    if elements.len() > 1 {
        inner.push(bstr::join(" ", &elements).into());
    }
    for (open, close) in [(b'(', ")"), (b'[', "]"), (b'{', "}")] {
        let starts = line.iter().enumerate().filter(|(_, byte)| **byte == open).take(MOST);
        for (start, _) in starts {
            let rest = line.get(start + 1..).unwrap_or_default();
            if let Some(end) = matching(rest, open, close.as_bytes()) {
                inner.push(plain(rest.get(..end).unwrap_or_default()).into());
            }
        }
    }
    found.extend(inner);
}

/// Where the bracket ends that is open.
fn matching(text: &[u8], open: u8, close: &[u8]) -> Option<usize> {
    let mut depth = 0usize;
    text.iter().position(|byte| {
        if *byte == open {
            depth += 1;
        } else if close.contains(byte) {
            if depth == 0 {
                return true;
            }
            depth -= 1;
        }
        false
    })
}

/// Without what a notebook or a template puts before a command.
fn plain(text: &[u8]) -> &[u8] {
    text.trim_ascii()
        .trim_start_with(|c| matches!(c, '!' | '[' | '"' | '\'' | ' '))
        .trim_end_with(|c| matches!(c, ']' | '"' | '\'' | ' '))
}

/// `Command::new("rm").args(["-rf", "/"])`: the words of one command, from the first that is a program.
fn add_joined(found: &mut Vec<BString>, together: &mut Vec<BString>) {
    if together.len() > 1 && together.len() < 32 {
        // Keys of settings are called like some programs.
        let key = |word: &BString| {
            ["build", "command", "env", "exec", "host", "script", "task", "test", "time", "type"]
                .iter()
                .any(|key| word == key)
        };
        // `import "github.com/x/sh"`: a package, not a path.
        let package = |word: &BString| {
            word.split_once_str("/").is_some_and(|(first, _)| {
                first.contains_str(".") && first != b"." && first != b".."
            })
        };
        let program = |word: &BString| {
            !key(word) && !package(word) && programs::read(&[Word::Literal(word.clone())]).known
        };
        let start = together.iter().take(8).position(program).unwrap_or(0);
        if start + 1 < together.len() && (start > 0 || together.first().is_some_and(program)) {
            found.push(bstr::join(" ", together.iter().skip(start)).into());
        }
    }
    together.clear();
}

/// What stands in quotes on the line, escapes taken away. One that nothing closes is none: `'symbol`, `don't`.
fn quoted(line: &[u8]) -> Vec<BString> {
    let mut found = Vec::new();
    let mut place = 0;
    // Each of those costs a look at the rest of the line.
    let mut unclosed = 8;
    while let Some(offset) = line.get(place..).and_then(|rest| rest.find_byteset(b"\"'`")) {
        let start = place + offset + 1;
        place = match in_quotes(line, start) {
            Some((text, end)) => {
                found.push(text);
                end
            }
            None if unclosed > 0 => {
                unclosed -= 1;
                start
            }
            None => break,
        };
    }
    found
}

/// The text behind a quote up to the one that closes it, and the place behind that.
fn in_quotes(line: &[u8], start: usize) -> Option<(BString, usize)> {
    let quote = line.get(start.checked_sub(1)?)?;
    let mut text = BString::default();
    let mut bytes = line.get(start..)?.iter().copied().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            _ if byte == *quote => return Some((text, start + at + 1)),
            b'\\' => text.extend(bytes.next().map(|(_, byte)| unescaped(byte))),
            _ => text.push(byte),
        }
    }
    None
}

fn unescaped(byte: u8) -> u8 {
    match byte {
        b'n' | b'r' => b'\n',
        b't' => b'\t',
        other => other,
    }
}

/// A line of a recipe without what a build file puts before the command: `@`, `- `, `RUN `, `entry: `.
fn bare(line: &[u8]) -> &[u8] {
    let line = line.trim_ascii();
    let line = line.strip_prefix(b"//go:generate ").unwrap_or(line);
    let line = line.trim_start_with(|c| matches!(c, '@' | '-' | '+' | ' ' | ';'));
    for sign in [&b"COMMAND "[..], b": ", b"= ", b" := "] {
        if let Some((_, rest)) = line.split_once_str(sign) {
            let rest = rest.trim_start_with(|c| matches!(c, ';' | '@' | ' '));
            return rest.trim_end_with(|c| matches!(c, ')' | '"' | '\'' | ',')).trim_ascii();
        }
    }
    line
}

/// A word and something that prose has not.
fn looks_like_a_command(text: &BStr) -> bool {
    let mut words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let named = words.next().is_some_and(|word| {
        let word = word.trim_start_with(|c| matches!(c, '(' | '{'));
        let word = word.trim_end_with(|c| matches!(c, ';' | ')'));
        !word.starts_with(b"//")
            && word.iter().all(|byte| byte.is_ascii_alphanumeric() || b"/._-+~:=".contains(byte))
    });
    let telling = |word: &[u8]| {
        let first = word.first().copied().unwrap_or_default();
        b"-/~|>$<".contains(&first)
            || word == b"eval"
            || word.contains_str("://")
            || word.contains_str("=/")
            || word.contains(&b'|')
            || word.contains(&b'@')
            || is_host(word)
    };
    named && words.any(telling) || is_bare_shell(text)
}

/// `set shell := ["bash", "-cu"]`: with what the tool runs its tasks, and no task itself.
fn only_sets_the_shell(text: &BStr) -> bool {
    let mut words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let shell = words.next().is_some_and(|name| {
        ["bash", "sh", "zsh", "dash", "fish", "pwsh"].iter().any(|it| name.ends_with(it.as_bytes()))
    });
    let mut options = words.peekable();
    let takes_text = |word: &[u8]| {
        word.starts_with(b"-") && word.ends_with_str("c")
            || matches!(word, b"-cu" | b"-ceu" | b"-ecu" | b"-Command")
    };
    let mut last = &b""[..];
    let all = options.peek().is_some()
        && options.all(|word| {
            last = word;
            word.starts_with(b"-") || matches!(word, b"pipefail")
        });
    shell && all && takes_text(last)
}

/// `"preinstall": "/bin/sh"`: a shell that takes its commands from somewhere.
fn is_bare_shell(text: &BStr) -> bool {
    const SHELLS: [&str; 6] =
        ["/bin/sh", "/bin/bash", "/bin/dash", "/bin/zsh", "/usr/bin/sh", "/usr/bin/bash"];
    SHELLS.iter().any(|shell| text == *shell)
}

/// `evil.example`: letters, a dot, letters.
fn is_host(word: &[u8]) -> bool {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b".-:/".contains(byte);
    word.iter().all(plain)
        && word.rsplit_once_str(".").is_some_and(|(before, after)| {
            !before.is_empty() && after.first().is_some_and(u8::is_ascii_alphabetic)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<BString> {
        commands(text.into())
    }

    #[test]
    fn texts_that_may_be_commands() {
        let has = |text: &str, wanted: &str| {
            let found = found(text);
            assert!(found.iter().any(|it| it == wanted), "{text}: {found:?}");
        };
        has(r#"{"scripts":{"test":"rm -rf ~"}}"#, "rm -rf ~");
        has(r#"Command::new("rm").args(["-rf", "/"]).status();"#, "rm -rf /");
        has("Command::new(\"rm\")\n    .arg(\"-rf\")\n    .arg(\"/\");", "rm -rf /");
        has("default:\n    rm -rf ~\n", "rm -rf ~");
        has("execute_process(COMMAND rm -rf /home)", "rm -rf /home");
        has("int main() { system(\"cat \\\"a\\\" /x\"); }", "cat \"a\" /x");
    }

    #[test]
    fn the_shell_of_a_task_file_is_no_task() {
        for text in [
            "set shell := [\"bash\", \"-cu\"]",
            "shell = [\"bash\", \"-euo\", \"pipefail\", \"-c\"]",
        ] {
            assert!(found(text).is_empty(), "{text}: {:?}", found(text));
        }
        assert!(!found("x = [\"bash\", \"-c\", \"curl x.example\"]").is_empty());
    }

    #[test]
    fn prose_is_none() {
        for text in ["// format the text\nlet x = \"at least one\";", "name = \"demo\"", ""] {
            assert!(found(text).is_empty(), "{text}: {:?}", found(text));
        }
    }
}
