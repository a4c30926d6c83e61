//! What the words of a command tell about the code that it is given, before anybody reads that: whether it only
//! checks it, what its positional words are, whether it can be a script at all.

use bstr::{BStr, ByteSlice};

use super::command::Subjected;
use crate::effect::Language;
use crate::word::Word;

/// `man -P id ls`, `man -P "sh -c id" ls`: nobody has use for this but who wants to see whether it runs.
pub(super) fn only_shows_that_it_runs(text: &Word) -> bool {
    const NAMES: [&str; 8] =
        ["env", "groups", "hostname", "id", "printenv", "touch", "uname", "whoami"];
    let mut words = text.shown().split(u8::is_ascii_whitespace);
    words.any(|word| NAMES.iter().any(|name| word == name.as_bytes()))
}

/// `parallel < list`, `bash < notes.txt`: no script, and nobody knows what is in it.
pub(super) fn reads_lines_as_commands(subjected: &Subjected<'_>, path: &Word) -> bool {
    subjected.reading.name == "parallel" || is_data(path.shown())
}

/// No shell script, by its name.
pub(super) fn is_data(path: &BStr) -> bool {
    const ENDINGS: [&str; 16] = [
        ".csv", ".gif", ".html", ".jpeg", ".jpg", ".json", ".log", ".md", ".pdf", ".png", ".rst",
        ".svg", ".txt", ".xml", ".yaml", ".yml",
    ];
    ENDINGS.iter().any(|end| path.ends_with(end.as_bytes()))
}

/// `$0`, `$1`, … of `sh -c TEXT NAME ARGUMENT…`; nothing is known of those of other texts, and of those that a
/// wrapper or a splitting word may add.
pub(super) fn positional(subjected: &Subjected<'_>) -> Vec<Word> {
    const SHELLS: [&str; 7] = ["ash", "bash", "dash", "ksh", "mksh", "sh", "zsh"];
    let reading = subjected.reading;
    let is_shell = SHELLS.iter().any(|shell| reading.name == *shell);
    let splits = |word: &Word| matches!(word, Word::Dynamic(dynamic) if dynamic.splits);
    let words = &subjected.invocation.words;
    // What may be several words, or none, tells nothing of those before it: `find -exec sh -c TEXT a +`.
    let open = words.iter().position(splits).map_or(0, |first| words.len() - first);
    if !is_shell || open + 1 >= reading.operands.len() && open > 0 {
        return Vec::new();
    }
    let given = |wanted: &str| {
        reading.options.iter().any(|option| option.names.iter().any(|name| name == wanted))
    };
    let name = || Word::Literal(reading.name.clone());
    if given("-c") {
        // The first operand is the text itself.
        let rest = reading.operands.get(1..).unwrap_or_default();
        return if rest.is_empty() { vec![name()] } else { rest.to_vec() };
    }
    if given("-s") || reading.operands.is_empty() {
        return std::iter::once(name()).chain(reading.operands.iter().cloned()).collect();
    }
    reading.operands.clone()
}

/// `sh -n`, `ruby -c`: looks at code before anything else.
pub(super) fn checks(subjected: &Subjected<'_>) -> bool {
    given(subjected, &["-n", "-c", "--check", "-l", "--syntax-check"])
}

/// … and runs nothing of it: perl and ruby run some while they read.
pub(super) fn only_checks(subjected: &Subjected<'_>) -> bool {
    match subjected.reading.name.as_slice() {
        b"sh" | b"bash" | b"dash" | b"ksh" | b"mksh" | b"zsh" => {
            given(subjected, &["-n"]) && !given(subjected, &["-c", "-s"])
        }
        b"node" => given(subjected, &["--check"]),
        b"php" => given(subjected, &["-l", "--syntax-check"]),
        _ => false,
    }
}

fn given(subjected: &Subjected<'_>, wanted: &[&str]) -> bool {
    let mut names = subjected.reading.options.iter().flat_map(|option| &option.names);
    names.any(|name| wanted.iter().any(|it| name == it))
}

/// A tool of developers that does nothing without words.
pub(super) fn is_bare_tool(words: &[Word]) -> bool {
    const TOOLS: [&str; 12] = [
        "bun", "bundle", "cargo", "composer", "deno", "dotnet", "git", "go", "npm", "pip", "pnpm",
        "yarn",
    ];
    matches!(words, [only] if TOOLS.iter().any(|tool| only.shown() == *tool))
}

/// `node -e "require('./$f')"`: a file of the project, whichever it is.
pub(super) fn loads_one_file(language: Language, text: &Word) -> bool {
    let written = text.shown().trim_with(|c| c == '"');
    let inner = ["require('./", "import('./"]
        .iter()
        .find_map(|begin| written.strip_prefix(begin.as_bytes()))
        .and_then(|rest| rest.strip_suffix(b"')"));
    language == Language::Node
        && inner.is_some_and(|inner| {
            let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"$_./-{}".contains(byte);
            inner.iter().all(plain) && !inner.contains_str("..")
        })
}

/// Text tools whose programs often contain a variable: with a known beginning they are judged when they run.
pub(super) fn beginning_suffices(language: Language, text: &Word) -> bool {
    matches!(language, Language::Sed | Language::Awk | Language::Jq) && !text.prefix().is_empty()
}
