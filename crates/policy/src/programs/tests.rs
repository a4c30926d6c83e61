//! The examples of every table, and what no table should be able to break.

use bstr::{BString, ByteSlice};
use exacta_syntax::ast::{Argument, AssignedValue, Command, SimpleCommand, WordPart};

use super::schema::Example;
use super::{Reading, read};
use crate::effect::Effect;
use crate::event::Access;
use crate::word::{Dynamic, Word};

static EXAMPLES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/program_examples.bin"));

/// The words of a line's only command; `$x` is dynamic.
fn words(line: &str) -> Vec<Word> {
    let list = exacta_syntax::parse(
        line.as_bytes(),
        exacta_syntax::ParseOptions::default(),
        exacta_syntax::Limits::default(),
    )
    .unwrap_or_else(|error| panic!("{line}: {error:?}"));
    let stage = list.items.first().and_then(|item| item.chain.first.stages.first()).expect(line);
    let Command::Simple(SimpleCommand { words, .. }) = &stage.command else {
        panic!("{line}: not a simple command");
    };
    words.iter().map(argument).collect()
}

fn argument(argument: &Argument) -> Word {
    match argument {
        Argument::Word(word) => fold(&word.parts, BString::default()),
        Argument::Assignment(assignment) => {
            let mut text = assignment.name.clone();
            text.push(b'=');
            match &assignment.value {
                AssignedValue::Scalar(word) => fold(&word.parts, text),
                AssignedValue::Array(_) => Word::Literal(text),
            }
        }
    }
}

fn fold(parts: &[WordPart], start: BString) -> Word {
    let mut text = start;
    let mut dynamic: Option<Dynamic> = None;
    append(parts, false, &mut text, &mut dynamic);
    match dynamic {
        Some(mut dynamic) => {
            dynamic.written = text;
            Word::Dynamic(Box::new(dynamic))
        }
        None => Word::Literal(text),
    }
}

fn append(parts: &[WordPart], quoted: bool, text: &mut BString, dynamic: &mut Option<Dynamic>) {
    for part in parts {
        match part {
            WordPart::Literal(part)
            | WordPart::Escaped(part)
            | WordPart::SingleQuoted(part)
            | WordPart::AnsiQuoted(part) => text.extend_from_slice(part),
            WordPart::DoubleQuoted(parts) => append(parts, true, text, dynamic),
            WordPart::Tilde(name) => {
                text.push(b'~');
                text.extend_from_slice(name);
            }
            _ => {
                let prefix = text.clone();
                dynamic.get_or_insert(Dynamic { prefix, splits: !quoted, ..Dynamic::default() });
                text.extend_from_slice(b"$x");
            }
        }
    }
}

fn shown(words: &[Word]) -> String {
    words.iter().map(|word| word.shown().to_string()).collect::<Vec<_>>().join(" ")
}

/// What an example can say of a reading.
fn seen(reading: &Reading) -> Example {
    let mut seen = Example::default();
    for effect in &reading.effects {
        match effect {
            Effect::Run { words, assignments, .. } => {
                let mut text = String::new();
                for (name, value) in assignments {
                    text += &format!("{name}={} ", value.shown());
                }
                seen.runs.push(text + &shown(words));
            }
            Effect::Shell(word) => seen.shell.push(word.shown().to_string()),
            Effect::Split(word) => seen.splits.push(word.shown().to_string()),
            Effect::Code { text, .. } => seen.code.push(text.shown().to_string()),
            Effect::CodeFromInput(language) => {
                seen.input.push(format!("{language:?}").to_lowercase());
            }
            Effect::ScriptFile { path, .. } => seen.scripts.push(path.shown().to_string()),
            Effect::Open { path, access } => match access {
                Access::Read | Access::Execute => &mut seen.reads,
                Access::Write => &mut seen.writes,
                Access::Delete => &mut seen.deletes,
                Access::Enter => &mut seen.enters,
            }
            .push(path.shown().to_string()),
            Effect::Connect(word) => seen.connects.push(word.shown().to_string()),
            Effect::Assign { name, value } => {
                seen.assigns.push(format!("{name}={}", value.shown()));
            }
            Effect::Directory(word) => seen.enters.push(word.shown().to_string()),
            Effect::Executes { option, .. } => seen.executes.push(option.to_string()),
            Effect::UnknownOption(word) => seen.unknown.push(word.shown().to_string()),
        }
    }
    seen.operands = reading.operands.iter().map(|word| word.shown().to_string()).collect();
    seen
}

/// The differences between what an example says and what is so.
fn differences(example: &Example) -> Vec<String> {
    let reading = read(&words(&example.line));
    let seen = seen(&reading);
    let fields = [
        ("runs", &example.runs, &seen.runs),
        ("shell", &example.shell, &seen.shell),
        ("splits", &example.splits, &seen.splits),
        ("code", &example.code, &seen.code),
        ("scripts", &example.scripts, &seen.scripts),
        ("input", &example.input, &seen.input),
        ("reads", &example.reads, &seen.reads),
        ("writes", &example.writes, &seen.writes),
        ("deletes", &example.deletes, &seen.deletes),
        ("enters", &example.enters, &seen.enters),
        ("connects", &example.connects, &seen.connects),
        ("assigns", &example.assigns, &seen.assigns),
        ("executes", &example.executes, &seen.executes),
        ("unknown", &example.unknown, &seen.unknown),
        ("operands", &example.operands, &seen.operands),
    ];
    let mut found = Vec::new();
    for (name, expected, actual) in fields {
        let wrong = if expected.is_empty() {
            example.nothing && name != "operands" && !actual.is_empty()
        } else {
            expected != actual
        };
        if wrong {
            found.push(format!(
                "{}\n    {name}: expected {expected:?}, got {actual:?}",
                example.line
            ));
        }
    }
    let says = fields.iter().any(|(_, expected, _)| !expected.is_empty()) || example.nothing;
    if !says || !reading.known {
        found.push(format!("{}\n    says nothing, or its program has no table", example.line));
    }
    found
}

#[test]
fn examples_hold() {
    let examples: Vec<Example> = postcard::from_bytes(EXAMPLES).unwrap();
    let wrong: Vec<String> = examples.iter().flat_map(differences).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), examples.len(), wrong.join("\n"));
}

/// Whatever the words are, and wherever one of them is not known, a reading comes out.
#[test]
fn any_word_may_be_dynamic_or_missing() {
    let examples: Vec<Example> = postcard::from_bytes(EXAMPLES).unwrap();
    for example in &examples {
        let all = words(&example.line);
        for place in 0..all.len() {
            for (prefix, splits) in [("", true), ("", false), ("-", true), ("--x=", false)] {
                let mut changed = all.clone();
                changed[place] = Word::Dynamic(Box::new(Dynamic {
                    written: "$x".into(),
                    prefix: prefix.into(),
                    splits,
                    ..Dynamic::default()
                }));
                read(&changed);
            }
            read(&all[..place]);
            read(&all[place..]);
        }
    }
}

/// A command behind a variable that may be empty is still seen.
#[test]
fn literal_commands_behind_dynamic_words() {
    for line in ["env $x curl u", "nice $x curl u", "sudo $x -n curl u", "timeout 5 $x curl u"] {
        let reading = read(&words(line));
        let seen = seen(&reading);
        assert!(seen.runs.iter().any(|run| run == "curl u"), "{line}: {:?}", seen.runs);
        assert!(seen.runs.iter().any(|run| run.starts_with("$x")), "{line}: {:?}", seen.runs);
    }
}

#[test]
fn unknown_programs_are_split_generically() {
    let reading = read(&words("./sub/run.sh -rf --out=x --flag a -- -b"));
    let names: Vec<String> =
        reading.options.iter().flat_map(|option| &option.names).map(ToString::to_string).collect();
    assert_eq!(names, ["-rf", "-r", "-f", "--out", "--flag"]);
    assert_eq!(shown(&reading.operands), "a -b");
    assert!(!reading.known);
    assert_eq!(
        reading.path.as_ref().map(|path| path.shown().to_string()),
        Some("./sub/run.sh".into())
    );
    assert_eq!(reading.name.as_bstr(), "run.sh");
}

/// Long lines cost time in proportion, and no stack.
#[test]
fn long_lines() {
    let cases =
        [("sed", "-n", "f"), ("npx", "--", "--"), ("tar", "-v", "x"), ("python", "-mpdb", "-mpdb")];
    for (name, option, operand) in cases {
        let mut all = vec![Word::literal(name)];
        for _ in 0..20_000 {
            all.push(Word::literal(option));
            all.push(Word::literal(operand));
        }
        assert_eq!(read(&all).name.as_bstr(), name);
    }
}
