//! Whether a script will want a real program, guessed from its text before anything else is done.
//!
//! A jail can be begun beside everything that comes before its first program. The guess decides nothing but that: a wrong
//! one costs a moment of another processor, or what the beginning would have saved.

/// Words before a command that are none themselves.
const BEFORE: [&[u8]; 8] = [b"if", b"then", b"else", b"elif", b"while", b"until", b"do", b"!"];
/// Words that begin something else than a command.
const OTHER: [&[u8]; 10] =
    [b"for", b"case", b"select", b"function", b"coproc", b"time", b"fi", b"done", b"esac", b"in"];

/// Begins to make a jail if the text looks as if it would need one.
pub fn prepare(text: &[u8]) {
    if wants_program(text) {
        exacta::programs::expect();
    }
}

/// Whether some command of it has a plain name that none of our own has.
fn wants_program(text: &[u8]) -> bool {
    let pieces = text.split(|byte| b"\n;&|(){}`".contains(byte));
    pieces.filter_map(name).any(|name| {
        let known = OTHER.contains(&name) || exacta_shell::builtins::find(name).is_some();
        name.contains(&b'/') || !known
    })
}

/// The first word, if it is plain: nothing is expanded in it.
fn name(piece: &[u8]) -> Option<&[u8]> {
    let mut words = piece.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let word = words.find(|word| !BEFORE.contains(word))?;
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"._/+-".contains(byte);
    let starts = word.first().is_some_and(|first| *first != b'-' && plain(first));
    (starts && word.iter().all(plain)).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_foreseen() {
        for text in [
            "./nothing",
            "git status",
            "cd sub && npm test",
            "if make; then echo ok; fi",
            "echo $(python3 -V)",
            "for f in *; do\n gcc \"$f\"\ndone",
        ] {
            assert!(wants_program(text.as_bytes()), "{text}");
        }
        for text in [
            "",
            "true",
            "echo hi | grep h",
            "x=1; echo \"$x\"",
            "for f in a b; do echo $f; done",
            "\"$program\" x",
            "# comment",
            "[ -e x ] && cat x",
        ] {
            assert!(!wants_program(text.as_bytes()), "{text}");
        }
    }
}
