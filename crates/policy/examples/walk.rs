//! What the walk finds in scripts, for checks against another shell: scripts on standard input, each ended by a NUL;
//! one line for every command that would run.
//!
//! `SCRIPT` begins a script, `BAD` says that it has no syntax. A command is a line of fields: the directory in hex or
//! `?`, what it reads (`-`, or `L` or `P` and a text in hex: all of it, or what it begins with), then its words: `L`
//! and the text in hex, or `D` and `prefix:splits:glob:values`. `ANY` stands for a text that only running it tells.

#![expect(clippy::print_stdout, reason = "it is a command")]

use std::fmt::Write as _;
use std::io::Read as _;

use bstr::ByteSlice;
use exacta_policy::event::{Directory, Event, Input, Invocation};
use exacta_policy::surroundings::Nowhere;
use exacta_policy::walk::{Start, walk};
use exacta_policy::word::Word;
use exacta_syntax::{Limits, ParseOptions};

/// Words that run the rest of the words.
const WRAPPERS: &[&str] = &["command", "builtin", "exec"];

/// Commands that run a text.
const READERS: &[&str] = &["eval", "trap", "source", "."];

fn main() -> std::io::Result<()> {
    let root = std::env::args().nth(1).unwrap_or_else(|| "/p".to_owned());
    let mut scripts = Vec::new();
    std::io::stdin().read_to_end(&mut scripts)?;
    let mut out = String::new();
    for script in scripts.split(|byte| *byte == 0) {
        out.push_str("SCRIPT\n");
        describe(script, &root, &mut out);
    }
    print!("{out}");
    Ok(())
}

fn describe(script: &[u8], root: &str, out: &mut String) {
    let Ok(list) = exacta_syntax::parse(script, ParseOptions::default(), Limits::default()) else {
        out.push_str("BAD\n");
        return;
    };
    let surroundings = Nowhere { root: root.into(), builtins: &[] };
    let start = Start {
        directory: Directory::Known(root.into()),
        positional: vec![Word::literal("bash")],
        ..Start::default()
    };
    walk(&list, &start, &surroundings, &mut |event| {
        if let Event::Command(invocation) = event {
            command(&invocation, out);
        }
    });
}

fn command(invocation: &Invocation, out: &mut String) {
    let literal = |word: &Word, among: &[&str]| {
        word.as_literal().is_some_and(|word| among.iter().any(|name| *word == *name))
    };
    let mut words = invocation.words.as_slice();
    while words.len() > 1 && words.first().is_some_and(|word| literal(word, WRAPPERS)) {
        words = words.get(1..).unwrap_or_default();
        while words.first().is_some_and(|word| literal(word, &["--", "-p"])) {
            words = words.get(1..).unwrap_or_default();
        }
    }
    if words.first().is_some_and(|word| literal(word, READERS)) && !invocation.followed {
        out.push_str("ANY\n");
        return;
    }
    match &invocation.directory {
        Directory::Known(path) => {
            let _ = write!(out, "{}", hex(path));
        }
        Directory::Unknown => out.push('?'),
    }
    match &invocation.input {
        Input::Text(Word::Literal(text)) => {
            let _ = write!(out, " L{}", hex(text));
        }
        Input::Text(word) => {
            let _ = write!(out, " P{}", hex(word.prefix().as_bytes()));
        }
        _ => out.push_str(" -"),
    }
    for word in words {
        out.push(' ');
        describe_word(word, out);
    }
    out.push('\n');
}

fn describe_word(word: &Word, out: &mut String) {
    match word {
        Word::Literal(text) => {
            let _ = write!(out, "L{}", hex(text));
        }
        Word::Dynamic(dynamic) => {
            let glob = dynamic.glob.as_ref().map_or("-".to_owned(), |glob| hex(glob));
            let prefix = hex(&dynamic.prefix);
            let _ = write!(out, "D{prefix}:{}:{glob}:", u8::from(dynamic.splits));
            for value in &dynamic.values {
                let _ = write!(out, "_{},", hex(value));
            }
        }
    }
}

fn hex(text: &[u8]) -> String {
    text.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
