//! Languages that nobody has written a reader for: only statements that are known word by word are harmless, and
//! those that print what they compute of numbers and texts, with names that mean nothing else in any language.

use super::findings::Findings;

/// What people ask a package manager of the project, and versions. Sorted.
const KNOWN: &[&[u8]] = &[
    b"Pkg.build()",
    b"Pkg.instantiate()",
    b"Pkg.precompile()",
    b"Pkg.resolve()",
    b"Pkg.status()",
    b"Pkg.test()",
    b"exit",
    b"exit()",
    b"import Pkg",
    b"print(VERSION)",
    b"println(VERSION)",
    b"println(scala.util.Properties.versionString)",
    b"println(util.Properties.versionString)",
    b"puts Crystal::VERSION",
    b"using Pkg",
    b"versioninfo()",
];

pub(super) fn read(text: &[u8], findings: &mut Findings) {
    let mut statements = text
        .split(|byte| matches!(byte, b';' | b'\n'))
        .map(<[u8]>::trim_ascii)
        .filter(|statement| !statement.is_empty())
        .peekable();
    let something = statements.peek().is_some();
    let known = statements.all(|it| KNOWN.binary_search(&it).is_ok());
    if !something || (!known && !prints(text)) {
        findings.unclear("a language that cannot be read");
    }
}

/// Names that print, compute, end, or tell which version this is. Sorted.
const PLAIN: &[&[u8]] = &[
    b"IO",
    b"Math",
    b"String",
    b"System",
    b"VERSION",
    b"abs",
    b"ceil",
    b"cos",
    b"disp",
    b"display",
    b"erlang",
    b"exit",
    b"exp",
    b"false",
    b"floor",
    b"format",
    b"fwrite",
    b"halt",
    b"info",
    b"inspect",
    b"io",
    b"length",
    b"log",
    b"magic",
    b"max",
    b"mean",
    b"min",
    b"mod",
    b"newline",
    b"otp_release",
    b"pi",
    b"print",
    b"printf",
    b"println",
    b"puts",
    b"quit",
    b"rand",
    b"round",
    b"say",
    b"sin",
    b"size",
    b"sqrt",
    b"stop",
    b"sum",
    b"system_info",
    b"tan",
    b"true",
    b"version",
    b"write",
    b"writeln",
    b"zeros",
];

/// Numbers, texts without anything inside them that is evaluated, signs, and plain names.
fn prints(text: &[u8]) -> bool {
    let mut rest = text;
    while let Some((first, more)) = rest.split_first() {
        match first {
            b'"' | b'\'' => {
                let Some(end) = more.iter().position(|byte| byte == first) else { return false };
                let (inner, after) = more.split_at(end);
                if inner.iter().any(|byte| b"$`{\\|!@%/".contains(byte)) && !is_format(inner) {
                    return false;
                }
                rest = after.get(1..).unwrap_or_default();
            }
            _ if first.is_ascii_alphabetic() || *first == b'_' => {
                let named = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
                let end = rest.iter().position(|byte| !named(byte)).unwrap_or(rest.len());
                let (name, after) = rest.split_at(end);
                // A letter is a variable, unless it is called.
                let variable = name.len() == 1 && !after.starts_with(b"(");
                if !variable && PLAIN.binary_search(&name).is_err() {
                    return false;
                }
                rest = after;
            }
            _ if first.is_ascii_digit() || first.is_ascii_whitespace() => rest = more,
            b'+' | b'-' | b'*' | b'/' | b'(' | b')' | b'[' | b']' | b',' | b';' | b'.' | b':'
            | b'^' | b'=' | b'<' | b'>' => rest = more,
            _ => return false,
        }
    }
    true
}

/// `~s~n`, `%d\n`: where values go in a text that is printed.
fn is_format(text: &[u8]) -> bool {
    let mut rest = text.iter();
    while let Some(byte) = rest.next() {
        let plain = match byte {
            b'~' | b'%' => rest.next().is_some_and(|next| b"spdnwWiefgu%~".contains(next)),
            b'\\' => rest.next().is_some_and(|next| b"nt".contains(next)),
            byte => !b"$`{|!@/".contains(byte),
        };
        if !plain {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Level;

    #[test]
    fn what_is_known_word_by_word() {
        assert!(KNOWN.is_sorted());
        let level = |text: &str| {
            let mut findings = Findings::default();
            read(text.as_bytes(), &mut findings);
            findings.level()
        };
        assert_eq!(level("using Pkg; Pkg.test()"), Level::Harmless);
        assert_eq!(level("using Pkg; Pkg.add(\"x\")"), Level::Unclear);
        assert_eq!(level("run(`x`)"), Level::Unclear);
        assert_eq!(level(""), Level::Unclear);
    }

    #[test]
    fn what_prints_is_plain() {
        assert!(PLAIN.is_sorted());
        for text in [
            "println(sum(1:100))",
            "IO.puts(System.version())",
            "disp(magic(3))",
            "io:format(\"~s~n\",[erlang:system_info(otp_release)]), halt().",
            "2 3 + p",
        ] {
            assert!(prints(text.as_bytes()), "{text}");
        }
        for text in [
            "!id",
            "System.cmd(\"id\", [])",
            "os:cmd(\"id\")",
            "\"id\".execute()",
            "print(\"${run()}\")",
            "puts \"#{`id`}\"",
            "run(`id`)",
            "system(1)",
            "open(\"|id\")",
        ] {
            assert!(!prints(text.as_bytes()), "{text}");
        }
    }
}
