//! What the walk finds in a line: `walk/*.toml`, every event of a line in order.
//!
//! How events are written there:
//!
//! - a command: its words, then `via`, `in` (if not the root), `<` its input, `defined`;
//! - `read PATH`, `write PATH` and what is written, `set NAME=VALUE`, `bomb NAME`.
//!
//! A literal word stands as it is, in `'…'` if there is something odd in it. A dynamic one stands in `⟨…⟩`: as
//! written, then `^` what it begins with, `=` all it can be, `*` the pattern, `…` if it may be several words.

#![expect(clippy::disallowed_methods, reason = "tests read their own data")]

use std::fmt::Write as _;

use bstr::{BString, ByteSlice};
use exacta_policy::event::{Access, Directory, Event, Input, Shape};
use exacta_policy::surroundings::{Nowhere, Place, Surroundings};
use exacta_policy::walk::{Start, walk};
use exacta_policy::word::Word;
use exacta_syntax::{Limits, ParseOptions};

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    case: Vec<Case>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    line: String,
    /// `$0`, `$1`, …
    #[serde(default)]
    positional: Vec<String>,
    events: Vec<String>,
}

/// A session with a few variables and a function.
struct Session(Nowhere);

impl Surroundings for Session {
    fn root(&self) -> &bstr::BStr {
        self.0.root()
    }
    fn directory(&self) -> &bstr::BStr {
        self.0.directory()
    }
    fn variable(&self, name: &bstr::BStr) -> Option<BString> {
        match name.as_bytes() {
            b"PATH" => Some("/usr/bin:/bin".into()),
            b"EDITOR" => Some("vi".into()),
            _ => None,
        }
    }
    fn place(&self, path: &bstr::BStr) -> Place {
        self.0.place(path)
    }
    fn is_builtin(&self, name: &bstr::BStr) -> bool {
        self.0.is_builtin(name)
    }
    fn is_defined(&self, name: &bstr::BStr) -> bool {
        name == "session_function"
    }
    fn glob(&self, pattern: &bstr::BStr, limit: usize) -> Vec<BString> {
        self.0.glob(pattern, limit)
    }
}

fn events_of(line: &str, positional: &[String]) -> Vec<String> {
    let options = ParseOptions::default();
    let list = match exacta_syntax::parse(line.as_bytes(), options, Limits::default()) {
        Ok(list) => list,
        Err(error) => return vec![format!("no syntax: {error:?}")],
    };
    let session = Session(Nowhere { root: "/p".into(), builtins: &[] });
    let start = Start {
        directory: Directory::Known("/p".into()),
        positional: positional.iter().map(|word| Word::literal(word.as_str())).collect(),
        ..Start::default()
    };
    let mut events = Vec::new();
    walk(&list, &start, &session, &mut |event| events.push(shown(&event)));
    events
}

fn shown(event: &Event) -> String {
    match event {
        Event::Command(command) => {
            let mut text = String::new();
            for (name, value) in &command.assignments {
                let _ = write!(text, "{name}={} ", word(value));
            }
            let words: Vec<String> = command.words.iter().map(word).collect();
            text.push_str(&words.join(" "));
            text.push_str(&via(&command.via));
            text.push_str(&within(&command.directory));
            match &command.input {
                Input::Inherited => {}
                Input::Text(input) => text.push_str(&format!(" < text {}", word(input))),
                Input::File(input) => text.push_str(&format!(" < file {}", word(input))),
                Input::Pipe(names) => {
                    let names: Vec<String> = names.iter().map(word).collect();
                    text.push_str(&format!(" < pipe {}", names.join(" ")));
                }
            }
            if command.defined {
                text.push_str(" defined");
            }
            text
        }
        Event::Open(open) => {
            let access = match open.access {
                Access::Read => "read",
                Access::Write => "write",
                _ => "other",
            };
            let content = match &open.content {
                Some(content) => format!(" {:?}", content.to_str_lossy()),
                None => String::new(),
            };
            let path = word(&open.path);
            format!("{access} {path}{content}{}{}", via(&open.via), within(&open.directory))
        }
        Event::Assign(assign) => {
            let exported = if assign.exported { " exported" } else { "" };
            format!("set {}={}{exported}{}", assign.name, word(&assign.value), via(&assign.via))
        }
        Event::Shape(Shape::ForkBomb { function }) => format!("bomb {function}"),
        Event::Shape(Shape::Endless { what }) => format!("endless {what}"),
        Event::Shape(Shape::Climbs) => "climbs".to_owned(),
    }
}

fn via(via: &[BString]) -> String {
    if via.is_empty() { String::new() } else { format!(" via {}", bstr::join(", ", via).as_bstr()) }
}

fn within(directory: &Directory) -> String {
    match directory {
        Directory::Known(path) if path == "/p" => String::new(),
        Directory::Known(path) => format!(" in {path}"),
        Directory::Likely { expected, others } if others.is_empty() => format!(" in {expected}?"),
        Directory::Likely { expected, others } => {
            format!(" in {expected} or {}", bstr::join(", ", others).as_bstr())
        }
        Directory::Unknown => " in ?".to_owned(),
    }
}

fn word(word: &Word) -> String {
    match word {
        Word::Literal(text) => {
            let odd = |byte: u8| byte.is_ascii_whitespace() || b"'<>".contains(&byte);
            if text.is_empty() || text.bytes().any(odd) {
                format!("'{}'", text.to_str_lossy().replace('\n', "\\n"))
            } else {
                text.to_string()
            }
        }
        Word::Dynamic(dynamic) => {
            let mut text = format!("⟨{}", dynamic.written);
            if !dynamic.prefix.is_empty() {
                let _ = write!(text, " ^{}", dynamic.prefix);
            }
            if !dynamic.values.is_empty() {
                let values: Vec<String> = dynamic.values.iter().map(ToString::to_string).collect();
                let _ = write!(text, " ={}", values.join("|"));
            }
            if let Some(pattern) = &dynamic.glob {
                let _ = write!(text, " *{pattern}");
            }
            if dynamic.splits {
                text.push_str(" …");
            }
            text.push('⟩');
            text
        }
    }
}

#[test]
fn every_line_gives_its_events() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/walk");
    let mut wrong = String::new();
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let file: File = toml::from_str(&std::fs::read_to_string(&path).unwrap())
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for case in file.case {
            count += 1;
            let events = events_of(&case.line, &case.positional);
            if events != case.events {
                let list: Vec<String> =
                    events.iter().map(|event| format!("  {event:?},\n")).collect();
                let _ = write!(
                    wrong,
                    "\n{}\nline = {:?}\nevents = [\n{}]\n",
                    path.display(),
                    case.line,
                    list.concat()
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count >= 150, "only {count} lines");
}

/// A line in which one thing is said very often or very deep, and how many commands must come out of it at least.
fn long_lines() -> Vec<(String, usize)> {
    let numbered = |template: &str| -> String {
        (0..10_000).map(|number| template.replace('#', &number.to_string())).collect()
    };
    let nested = |open: &str, close: &str, depth: usize| {
        format!("{}a{}", open.repeat(depth), close.repeat(depth))
    };
    vec![
        ("a b; ".repeat(10_000), 10_000),
        (format!("a{}", " && b".repeat(9_999)), 10_000),
        (format!("a{}", " || b".repeat(9_999)), 10_000),
        (format!("a{}", " | b".repeat(9_999)), 10_000),
        (numbered("a# | ") + "b", 10_001),
        (numbered("x#=$(a $x#); "), 10_000),
        (numbered("if a; then x#=1; fi; "), 10_000),
        (format!("case x in {} esac", numbered("#) a;; ")), 10_000),
        (format!("f() {{ {} }}", numbered("a#; ")), 10_000),
        (format!("f() {{ a; }}; {}", "f; ".repeat(10_000)), 20_000),
        (numbered("f#() { a; }; "), 10_000),
        (numbered("trap a# EXIT; "), 20_000),
        (numbered("eval a#; "), 20_000),
        (format!("while a; do {} done", numbered("x#=1; break; ")), 10_000),
        (format!("{{ {} }} <<E\n{}\nE\n", "a; ".repeat(10_000), "x".repeat(100_000)), 10_000),
        (format!("x={}; {}", "y".repeat(10_000), "a $x; ".repeat(10_000)), 10_000),
        (nested("echo $(", ")", 60), 61),
        (nested("echo {a,b}$(", ")", 60), 61),
        (nested("echo $((1+$(", ")))", 40), 41),
        (nested("if ", "; then b; fi", 90), 91),
        (nested("while a; do ", "; x=1; done", 90), 91),
        (nested("( ", " )", 90), 1),
        ("a {1..60}{1..60}{1..60}".to_owned(), 1),
        (doubling(30), 60),
        ("x='eval \"$x\"; eval \"$x\"'; eval \"$x\"".to_owned(), 2),
    ]
}

/// Functions that each call the next one twice.
fn doubling(count: usize) -> String {
    let functions: Vec<String> =
        (0..count).map(|at| format!("f{at}() {{ f{0}; f{0}; }}; ", at + 1)).collect();
    functions.concat()
}

#[test]
fn nothing_is_left_out_of_long_lines() {
    for (line, least) in long_lines() {
        let events = events_of(&line, &[]);
        let commands = events
            .iter()
            .filter(|event| !["set ", "bomb "].iter().any(|other| event.starts_with(other)));
        let count = commands.count();
        let start: String = line.chars().take(60).collect();
        assert!(count >= least, "{start}…: {count} of {least}: {:?}", events.first());
    }
}
