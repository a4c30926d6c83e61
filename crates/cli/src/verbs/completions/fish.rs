//! For fish: one `complete` for each word.

use std::fmt::Write as _;

use super::{Offered, global_options, options};
use crate::invocation::definition::{Operands, VERBS, Value};

const HEAD: &str = r"# Completion of exacta for fish: exacta completions fish | source
function __exacta_ids
    set -l what (string split ' ' -- $argv[1])
    set -l states $argv[2..-1]
    exacta $what --ids 2>/dev/null | while read -d \t -l id state command
        if test (count $states) -eq 0; or contains -- $state $states
            printf '%s\t%s\n' $id $command
        end
    end
end

";

pub(super) fn script() -> String {
    let mut text = String::from(HEAD);
    for option in global_options() {
        write_option(&mut text, None, &option);
    }
    for verb in VERBS {
        let (name, about) = (verb.name, quoted(verb.about));
        // Writing to a String cannot fail.
        let _ =
            writeln!(text, "complete -c exacta -n __fish_use_subcommand -k -a {name} -d {about}");
        for option in options(verb) {
            write_option(&mut text, Some(name), &option);
        }
        let seen = format!("complete -c exacta -n '__fish_seen_subcommand_from {name}'");
        for (word, states) in verb.of_tasks {
            let _ = writeln!(
                text,
                "complete -c exacta -n '__fish_seen_subcommand_from {name}; and \
                 __fish_seen_subcommand_from {word}' -k -a '(__exacta_ids \"task list\" {})'",
                states.join(" ")
            );
        }
        let _ = match verb.operands {
            Operands::Nothing => writeln!(text, "{seen} -f"),
            Operands::Command => Ok(()),
            Operands::Words(words) => words.iter().try_for_each(|(word, about)| {
                writeln!(text, "{seen} -f -a {word} -d {}", quoted(about))
            }),
            Operands::Verb => VERBS.iter().try_for_each(|verb| {
                writeln!(text, "{seen} -f -a {} -d {}", verb.name, quoted(verb.about))
            }),
            Operands::Record(states) => {
                writeln!(text, "{seen} -f -k -a '(__exacta_ids log {})'", states.join(" "))
            }
        };
    }
    text
}

fn write_option(text: &mut String, verb: Option<&str>, option: &Offered) {
    let _ = write!(text, "complete -c exacta");
    if let Some(verb) = verb {
        let _ = write!(text, " -n '__fish_seen_subcommand_from {verb}'");
    }
    let _ = write!(text, " -l {} -d {}", option.name, quoted(option.about));
    let _ = match option.value {
        None => writeln!(text),
        Some(Value::Directory) => writeln!(text, " -x -a '(__fish_complete_directories)'"),
        Some(Value::File) => writeln!(text, " -r -F"),
        Some(Value::Text) => writeln!(text, " -x"),
        Some(Value::OneOf(words)) => writeln!(text, " -x -a {}", quoted(&words.join(" "))),
    };
}

/// fish knows two escapes in single quotes.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}
