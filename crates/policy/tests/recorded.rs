//! What bash really ran, against what the walk says: `walk/recorded/*.toml`, made by `walk/record`.
//!
//! Of every command that was started there must be an event which allows it: the same literal words, one of the values
//! that a word can have, or a word that is not known; and the directory and the input as well. A walk that says too
//! little is only vague, one that says something else is wrong.

#![expect(clippy::disallowed_methods, reason = "tests read their own data")]

use std::fmt::Write as _;

use bstr::{BStr, ByteSlice};
use exacta_policy::event::{Directory, Event, Input, Invocation};
use exacta_policy::surroundings::Nowhere;
use exacta_policy::walk::{Start, walk};
use exacta_policy::word::Word;
use exacta_syntax::{Limits, ParseOptions};

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    case: Vec<Case>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    script: String,
    ran: Vec<Ran>,
}

/// A command that was started.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Ran {
    at: String,
    read: Option<String>,
    words: Vec<String>,
}

/// Words that run the rest of the words.
const WRAPPERS: &[&str] = &["command", "builtin", "exec"];

/// Commands that run a text; if it is not followed, only running it tells what it does.
const READERS: &[&str] = &["eval", "trap", "source", "."];

/// `None`: the text has no syntax, or it runs what only running it tells.
fn commands_of(script: &str) -> Option<Vec<Invocation>> {
    let list =
        exacta_syntax::parse(script.as_bytes(), ParseOptions::default(), Limits::default()).ok()?;
    let surroundings = Nowhere { root: "/p".into(), builtins: &[] };
    let start = Start {
        directory: Directory::Known("/p".into()),
        positional: vec![Word::literal("bash")],
        ..Start::default()
    };
    let mut commands = Vec::new();
    walk(&list, &start, &surroundings, &mut |event| {
        if let Event::Command(invocation) = event {
            commands.push(invocation);
        }
    });
    let opaque = |invocation: &Invocation| {
        !invocation.followed
            && unwrapped(&invocation.words).first().is_some_and(|name| is_one_of(name, READERS))
    };
    (!commands.iter().any(opaque)).then_some(commands)
}

fn is_one_of(word: &Word, names: &[&str]) -> bool {
    word.as_literal().is_some_and(|word| names.iter().any(|name| *word == *name))
}

/// The command behind `command` and its like.
fn unwrapped(words: &[Word]) -> &[Word] {
    let mut words = words;
    while words.len() > 1 && is_one_of(&words[0], WRAPPERS) {
        words = &words[1..];
        while words.first().is_some_and(|word| is_one_of(word, &["--", "-p"])) {
            words = &words[1..];
        }
    }
    words
}

fn covers(event: &Invocation, ran: &Ran) -> bool {
    let words: Vec<&BStr> = ran.words.iter().map(|word| word.as_bytes().as_bstr()).collect();
    let somewhere = match &event.directory {
        Directory::Known(path) => *path == *ran.at,
        Directory::Likely { expected, others } => {
            others.is_empty() || others.iter().chain([expected]).any(|path| *path == *ran.at)
        }
        Directory::Unknown => true,
    };
    let input = match (&event.input, &ran.read) {
        // The scripts themselves have nothing to read.
        (Input::Inherited, Some(text)) => text.is_empty(),
        // Others may have read some of it before.
        (Input::Text(Word::Literal(whole)), Some(text)) => whole.ends_with(text.as_bytes()),
        _ => true,
    };
    somewhere && input && words_cover(unwrapped(&event.words), &words)
}

fn words_cover(words: &[Word], ran: &[&BStr]) -> bool {
    let Some((word, rest)) = words.split_first() else { return ran.is_empty() };
    let one = |fits: bool| fits && words_cover(rest, &ran[1..]);
    match word {
        Word::Literal(text) => one(ran.first().is_some_and(|first| *text == **first)),
        Word::Dynamic(dynamic) if !dynamic.splits => one(ran.first().is_some_and(|first| {
            first.starts_with(&dynamic.prefix)
                && (dynamic.values.is_empty()
                    || dynamic.values.iter().any(|value| *value == **first))
        })),
        Word::Dynamic(dynamic) => {
            let least = usize::from(!dynamic.prefix.is_empty() && dynamic.glob.is_none());
            (least..=ran.len()).any(|count| {
                (count == 0 || ran[0].starts_with(&dynamic.prefix))
                    && words_cover(rest, &ran[count..])
            })
        }
    }
}

/// The files to check: those of the repository, or one that was just recorded.
fn files() -> std::io::Result<Vec<std::path::PathBuf>> {
    if let Some(file) = std::env::var_os("EXACTA_RECORDED") {
        return Ok(vec![file.into()]);
    }
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/walk/recorded");
    std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect()
}

#[test]
fn everything_that_ran_is_covered() {
    let mut wrong = String::new();
    let (mut scripts, mut compared, mut commands) = (0, 0, 0);
    for path in files().unwrap() {
        let text = std::fs::read_to_string(&path).unwrap();
        let file: File =
            toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for case in file.case {
            scripts += 1;
            let Some(events) = commands_of(&case.script) else { continue };
            compared += 1;
            for ran in &case.ran {
                commands += 1;
                if !events.iter().any(|event| covers(event, ran)) {
                    let _ = writeln!(wrong, "{}\n  ran {ran:?}\n", case.script);
                    break;
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}\nof {scripts} scripts, {compared} compared");
    assert!(
        scripts >= 300 && commands >= 1000 && compared * 10 >= scripts * 8,
        "only {compared} of {scripts} scripts and {commands} commands were compared"
    );
}
