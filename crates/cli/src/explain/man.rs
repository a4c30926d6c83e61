//! `exacta man [VERB]`: a manual page in roff.

use std::fmt::Write as _;

use super::{Shown, options, shared, shown};
use crate::invocation::definition::{GLOBAL_FLAGS, GLOBAL_VALUES, Operands, VERBS, Verb};
use crate::invocation::explained::{self, RUN_EXITS};

/// How exacta is started without a verb.
const SYNOPSIS: &[&str] = &[
    "[OPTIONS] -c SCRIPT [NAME [ARGUMENT]...]",
    "[OPTIONS] FILE [ARGUMENT]...",
    "[OPTIONS] -s [ARGUMENT]...",
    "[OPTIONS] VERB [ARGUMENT]...",
    "",
];

const DESCRIPTION: &str = "exacta is the shell you can hand to an AI agent. It runs bash in its own interpreter, judges every \
    command after expansion, runs programs in a jail where what is not allowed does not exist, records what was done, and can \
    take it back. It is invoked as bash is, or with a verb; alone on a terminal it is an interactive shell.";

const VARIABLES: &[(&str, &str)] = &[
    ("EXACTA_ROOT", "the project, as --root"),
    ("EXACTA_PROFILE", "how much is asked, as --profile"),
    ("EXACTA_CONFIG", "the operator's rules, as --config"),
    ("EXACTA_MIN_ISOLATION", "what programs need around them, as --min-isolation"),
    ("EXACTA_AGENT", "who asks, as the record calls it"),
    ("NO_COLOR", "no colours"),
];

const FILES: &[(&str, &str)] = &[
    (".exacta.toml", "rules of the project; they only tighten until `exacta trust`"),
    ("$XDG_CONFIG_HOME/exacta/config.toml", "the operator's rules"),
    ("/etc/exacta/config.toml", "an administrator's floor that nothing below can weaken"),
    (".clada/", "state: record, undo journal, private /tmp; no command can see it"),
    (".trash/", "what rm has removed"),
];

pub fn man(verb: Option<&'static Verb>) -> String {
    match verb {
        None => whole(),
        Some(verb) => of_verb(verb),
    }
}

fn whole() -> String {
    let mut page = Page::new("exacta", "the shell you can hand to an AI agent");
    page.section("SYNOPSIS");
    page.synopsis(SYNOPSIS.iter().copied());
    page.section("DESCRIPTION");
    page.paragraphs(DESCRIPTION);
    page.section("VERBS");
    for verb in VERBS {
        page.entry(verb.name, verb.about);
    }
    page.options("OPTIONS", &shown(GLOBAL_FLAGS, GLOBAL_VALUES));
    page.section("EXIT STATUS");
    page.paragraphs("That of the script; beside it:");
    page.entry("2", "wrong use");
    page.entries(RUN_EXITS);
    page.section("ENVIRONMENT");
    page.entries(VARIABLES);
    page.section("FILES");
    page.entries(FILES);
    page.section("SEE ALSO");
    let pages: Vec<String> = VERBS.iter().map(|verb| format!("exacta-{}(1)", verb.name)).collect();
    page.paragraphs(&pages.join(", "));
    page.text
}

fn of_verb(verb: &'static Verb) -> String {
    let mut page = Page::new(&format!("exacta-{}", verb.name), verb.about);
    let explained = explained::find(verb.name);
    page.section("SYNOPSIS");
    match explained {
        Some(explained) => page.synopsis(explained.usage.iter().map(|(usage, _)| *usage)),
        None => page.synopsis([verb.name]),
    }
    if let Some(explained) = explained {
        page.section("DESCRIPTION");
        page.paragraphs(explained.text);
    }
    if let Operands::Words(words) = verb.operands {
        page.section("WORDS");
        page.entries(words);
    }
    page.options("OPTIONS", &options(verb, None));
    page.options("OPTIONS OF EVERY VERB", &shared());
    if let Some(explained) = explained {
        if !explained.examples.is_empty() {
            page.section("EXAMPLES");
            page.entries(explained.examples);
        }
        page.section("EXIT STATUS");
        page.entries(explained.exits);
    }
    page.section("SEE ALSO");
    page.paragraphs("exacta(1)");
    page.text
}

/// A page as it grows. Writing to a String cannot fail.
struct Page {
    text: String,
}

impl Page {
    fn new(name: &str, about: &str) -> Self {
        let version = env!("CARGO_PKG_VERSION");
        let title = name.to_uppercase();
        let text = format!(
            ".TH \"{}\" 1 \"\" \"exacta {version}\" \"User Commands\"\n.nh\n.ad l\n.SH NAME\n{} \\- {}\n",
            escaped(&title),
            escaped(name),
            escaped(about)
        );
        Page { text }
    }

    fn section(&mut self, heading: &str) {
        let _ = writeln!(self.text, ".SH {heading}");
    }

    fn synopsis<'a>(&mut self, lines: impl IntoIterator<Item = &'a str>) {
        for (number, line) in lines.into_iter().enumerate() {
            if number > 0 {
                self.text.push_str(".br\n");
            }
            let _ = writeln!(self.text, "\\fBexacta\\fR {}", escaped(line).trim_end());
        }
    }

    fn paragraphs(&mut self, text: &str) {
        for (number, paragraph) in text.split("\n\n").enumerate() {
            if number > 0 {
                self.text.push_str(".PP\n");
            }
            let _ = writeln!(self.text, "{}", escaped(paragraph));
        }
    }

    fn entries(&mut self, entries: &[(&str, &str)]) {
        for (name, about) in entries {
            self.entry(name, about);
        }
    }

    fn entry(&mut self, name: &str, about: &str) {
        let about = if about.is_empty() { "\\&".to_owned() } else { escaped(about) };
        let _ = writeln!(self.text, ".TP\n\\fB{}\\fR\n{about}", escaped(name));
    }

    fn options(&mut self, heading: &str, options: &[Shown]) {
        if options.is_empty() {
            return;
        }
        self.section(heading);
        for option in options {
            self.entry(&option.written, option.about);
        }
    }
}

/// Text that stands for itself: nothing in it is a request or an escape, and a dash can be searched for and copied.
fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    if text.starts_with(['.', '\'']) {
        shown.push_str("\\&");
    }
    for character in text.chars() {
        match character {
            '\\' => shown.push_str("\\e"),
            '-' => shown.push_str("\\-"),
            '\'' => shown.push_str("\\(aq"),
            '`' => shown.push_str("\\(ga"),
            '^' => shown.push_str("\\(ha"),
            '~' => shown.push_str("\\(ti"),
            '"' => shown.push_str("\\(dq"),
            _ if character.is_ascii() => shown.push(character),
            _ => {
                let _ = write!(shown, "\\[u{:04X}]", u32::from(character));
            }
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_a_request() {
        assert_eq!(escaped(".exacta.toml"), "\\&.exacta.toml");
        assert_eq!(escaped("a\\b 'c' --d …"), "a\\eb \\(aqc\\(aq \\-\\-d \\[u2026]");
    }
}
