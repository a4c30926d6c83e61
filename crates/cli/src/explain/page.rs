//! `exacta VERB --help`: a page for the terminal.

use std::fmt::Write as _;

use super::{Shown, options, shared};
use crate::invocation::Topic;
use crate::invocation::definition::{Operands, Verb};
use crate::invocation::explained;
use crate::usage;

/// As `exacta --help` is written.
const WIDTH: usize = 110;

pub fn help(topic: &Topic) -> String {
    match topic.verb {
        None => usage::HELP.to_owned(),
        Some(verb) => of_verb(verb, topic.word),
    }
}

fn of_verb(verb: &'static Verb, word: Option<&'static str>) -> String {
    let explained = explained::find(verb.name);
    let name = [verb.name].into_iter().chain(word).collect::<Vec<_>>().join(" ");
    let mut text = format!("exacta {name}: {}\n\nUsage:\n", about(verb, word));
    let usage = explained.map_or(&[][..], |explained| explained.usage);
    let of_word: Vec<_> = usage.iter().filter(|(line, _)| concerns(line, word)).collect();
    // A word without a line of its own is in one with others.
    let lines = if of_word.is_empty() { usage.iter().collect() } else { of_word };
    for (line, about) in lines {
        entry(&mut text, &format!("exacta {line}"), about, 50);
    }
    if let Some(explained) = explained.filter(|_| word.is_none()) {
        for paragraph in explained.text.split("\n\n") {
            text.push('\n');
            wrapped(&mut text, paragraph, 0);
        }
    }
    if let (Operands::Words(words), None) = (verb.operands, word) {
        text.push_str("\nWords:\n");
        for (word, about) in words {
            entry(&mut text, word, about, 22);
        }
    }
    section(&mut text, "Options", &options(verb, word));
    section(&mut text, "Options of every verb", &shared());
    if let Some(explained) = explained {
        if !explained.examples.is_empty() && word.is_none() {
            text.push_str("\nExamples:\n");
            for (line, about) in explained.examples {
                entry(&mut text, line, about, 50);
            }
        }
        text.push_str("\nExit status:\n");
        for (status, about) in explained.exits {
            entry(&mut text, status, about, 8);
        }
    }
    text
}

fn about(verb: &Verb, word: Option<&str>) -> &'static str {
    let Operands::Words(words) = verb.operands else { return verb.about };
    let found = words.iter().find(|(known, _)| Some(*known) == word);
    found.map_or(verb.about, |(_, about)| *about)
}

fn concerns(line: &str, word: Option<&str>) -> bool {
    word.is_none_or(|word| line.split(' ').any(|part| part == word))
}

fn section(text: &mut String, heading: &str, options: &[Shown]) {
    if options.is_empty() {
        return;
    }
    // Writing to a String cannot fail.
    let _ = writeln!(text, "\n{heading}:");
    for option in options {
        entry(text, &option.written, option.about, 22);
    }
}

/// What it is called at the left, what it is about in a column; below it where it is too long.
fn entry(text: &mut String, name: &str, about: &str, column: usize) {
    let _ = match (about.is_empty(), name.chars().count() < column) {
        (true, _) => writeln!(text, "  {name}"),
        (false, true) => writeln!(text, "  {name:<column$} {about}"),
        (false, false) => writeln!(text, "  {name}\n  {:<column$} {about}", ""),
    };
}

fn wrapped(text: &mut String, paragraph: &str, indent: usize) {
    let mut length = 0;
    for word in paragraph.split_whitespace() {
        let wanted = word.chars().count();
        if length == 0 {
            text.extend(std::iter::repeat_n(' ', indent));
        } else if length + 1 + wanted > WIDTH - indent {
            text.push('\n');
            text.extend(std::iter::repeat_n(' ', indent));
            length = 0;
        } else {
            text.push(' ');
            length += 1;
        }
        text.push_str(word);
        length += wanted;
    }
    text.push('\n');
}
