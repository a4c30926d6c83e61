//! Inline code as data: every `tests/code/*.toml` says how pieces of code in one language are to be read.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    reason = "tests read their own cases and fail aloud"
)]

use std::fs;
use std::path::Path;

use bstr::ByteSlice;
use exacta_policy::code::{Level, read};
use exacta_policy::effect::{Effect, Language};
use exacta_policy::event::Access;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    language: String,
    /// Proved to be harmless.
    #[serde(default)]
    harmless: Vec<String>,
    /// Not claimed to be harmless: dangerous or unclear.
    #[serde(default)]
    caught: Vec<String>,
    /// Dangerous.
    #[serde(default)]
    dangerous: Vec<String>,
    #[serde(default)]
    case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    code: String,
    level: String,
    /// All of them, in order: `shell TEXT`, `run WORD WORD`, `read PATH`, `write PATH`, `delete PATH`, `enter PATH`,
    /// `connect HOST`, `assign NAME=VALUE`, `code LANGUAGE TEXT`.
    #[serde(default)]
    effects: Vec<String>,
    seen: Option<String>,
}

#[test]
fn code_is_read_as_its_cases_say() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for (name, file) in files() {
        let language = language(&file.language);
        for (wanted, list) in
            [("harmless", &file.harmless), ("caught", &file.caught), ("dangerous", &file.dangerous)]
        {
            for code in list {
                count += 1;
                let reading = read(language, code.as_bytes().as_bstr());
                let fits = match wanted {
                    "harmless" => reading.level == Level::Harmless,
                    "caught" => reading.level != Level::Harmless,
                    _ => reading.level == Level::Dangerous,
                };
                if !fits {
                    wrong.push(format!(
                        "{name}: {wanted}? {:?} ({}) in {code}",
                        reading.level, reading.seen
                    ));
                }
            }
        }
        for case in &file.case {
            count += 1;
            let reading = read(language, case.code.as_bytes().as_bstr());
            let level = format!("{:?}", reading.level).to_lowercase();
            let effects: Vec<String> = reading.effects.iter().map(shown).collect();
            let seen = case.seen.as_ref().is_none_or(|seen| reading.seen == *seen);
            if level != case.level || effects != case.effects || !seen {
                wrong.push(format!(
                    "{name}: {level} ({}) {effects:?} in {}",
                    reading.seen, case.code
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 500, "only {count} cases were found");
}

/// Code that goes on for long or nests deeply ends in a reading, and soon.
#[test]
fn long_code_is_read_in_linear_time() {
    let pieces: &[&str] = &[
        "(",
        "[",
        "{",
        "a.",
        "a.b(",
        "f'{",
        "x=",
        "open(",
        "os.path.join(",
        "\"",
        "'",
        "/",
        "`",
        "$",
        "#",
        "\\",
        "[[",
        "print ",
        "s/[/",
        "a|",
        "<<",
        "q{",
        "%x{",
        "import a\n",
        "for x in ",
        "lambda x:",
        "${",
        "\"$x[",
        "@{",
        "=~ ",
        "if ",
        "\n",
        "-- ",
        "/*",
        "!",
        "$(",
        "x = 'a' + ",
        "sub a{",
        "a=>",
        "a:",
        ".unlink(",
        "require(",
        "x['a'+b](",
        "getline < ",
        "begin ",
    ];
    for language in ALL {
        for piece in pieces {
            let text = piece.repeat(200_000 / piece.len());
            let start = std::time::Instant::now();
            let _ = read(*language, text.as_bytes().as_bstr());
            let elapsed = start.elapsed();
            assert!(elapsed.as_secs() < 5, "{language:?} took {elapsed:?} for {piece:?}");
        }
    }
}

#[test]
fn too_much_code_is_unclear() {
    let text = "1 + ".repeat(200_000);
    for language in ALL {
        assert_eq!(read(*language, text.as_bytes().as_bstr()).level, Level::Unclear);
    }
}

const ALL: &[Language] = &[
    Language::Python,
    Language::Perl,
    Language::Ruby,
    Language::Node,
    Language::Php,
    Language::Lua,
    Language::Awk,
    Language::Sed,
    Language::Vim,
    Language::Ed,
    Language::Make,
    Language::Sql,
    Language::PowerShell,
    Language::R,
    Language::Tcl,
    Language::Emacs,
    Language::Gdb,
    Language::Jq,
    Language::Other,
];

fn files() -> Vec<(String, File)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/code");
    let mut found: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let text = fs::read_to_string(&path).unwrap();
            let file = toml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
            (name, file)
        })
        .collect();
    found.sort_by(|left: &(String, File), right| left.0.cmp(&right.0));
    found
}

fn language(name: &str) -> Language {
    let found = ALL.iter().find(|language| format!("{language:?}").eq_ignore_ascii_case(name));
    *found.unwrap_or_else(|| panic!("no language {name}"))
}

fn shown(effect: &Effect) -> String {
    match effect {
        Effect::Shell(text) => format!("shell {}", text.shown()),
        Effect::Run { words, .. } => {
            let words: Vec<String> = words.iter().map(|word| word.shown().to_string()).collect();
            format!("run {}", words.join(" "))
        }
        Effect::Open { path, access } => {
            let verb = match access {
                Access::Read => "read",
                Access::Write => "write",
                Access::Delete => "delete",
                Access::Enter => "enter",
                Access::Execute => "execute",
            };
            format!("{verb} {}", path.shown())
        }
        Effect::Connect(host) => format!("connect {}", host.shown()),
        Effect::Assign { name, value } => format!("assign {name}={}", value.shown()),
        Effect::Code { language, text } => {
            format!("code {} {}", format!("{language:?}").to_lowercase(), text.shown())
        }
        Effect::ScriptFile { path, .. } => format!("script {}", path.shown()),
        other => format!("{other:?}"),
    }
}
