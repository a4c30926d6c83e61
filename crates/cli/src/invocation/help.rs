//! Which help is asked for: `exacta help VERB [WORD]`, `exacta VERB … --help`.

use std::ffi::OsString;

use bstr::{BString, ByteSlice};

use super::bytes;
use super::definition::{self, GLOBAL_VALUES, Operands, Verb};

/// What is to be explained.
#[derive(Debug)]
pub struct Topic {
    /// `None`: all of it.
    pub verb: Option<&'static Verb>,
    /// `test` of `shell test`.
    pub word: Option<&'static str>,
}

/// Help instead of what the verb does, if one of its options asks for it. The words of a command are not the verb's options.
pub fn wanted(verb: &'static Verb, rest: &[OsString]) -> Result<Option<Topic>, String> {
    let mut words: Vec<BString> = Vec::new();
    let mut rest = rest.iter().map(|word| bytes(word));
    while let Some(word) = rest.next() {
        let is_command = words.len() > 1 && words.first().is_some_and(|first| first == "test");
        if word == "--" || is_command {
            break;
        }
        if word == "--help" || word == "-h" {
            let word = words.first().and_then(|word| of_verb(verb, word));
            return Ok(Some(Topic { verb: Some(verb), word }));
        }
        match word.strip_prefix(b"--") {
            Some(name) if takes_value(verb, &name.to_str_lossy()) => {
                rest.next();
            }
            Some(_) => {}
            None if matches!(verb.operands, Operands::Command) => break,
            None => words.push(word),
        }
    }
    if verb.name == "help" { named(&words).map(Some) } else { Ok(None) }
}

/// The topic of these words.
pub fn named(words: &[BString]) -> Result<Topic, String> {
    let (name, word) = match words {
        [] => return Ok(Topic { verb: None, word: None }),
        [name] => (name, None),
        [name, word] => (name, Some(word)),
        [_, _, more, ..] => return Err(format!("help takes a verb, and no {more}")),
    };
    let verb = definition::find(name).ok_or_else(|| format!("there is no verb {name}"))?;
    let word = match word {
        None => None,
        Some(word) => Some(of_verb(verb, word).ok_or_else(|| format!("unknown: {name} {word}"))?),
    };
    Ok(Topic { verb: Some(verb), word })
}

fn of_verb(verb: &Verb, word: &BString) -> Option<&'static str> {
    let Operands::Words(words) = verb.operands else { return None };
    words.iter().map(|(known, _)| *known).find(|known| word == known)
}

fn takes_value(verb: &Verb, name: &str) -> bool {
    verb.takes_value(name) || GLOBAL_VALUES.iter().any(|valued| valued.name == name)
}

#[cfg(test)]
mod tests {
    use crate::invocation::{Invocation, What, parse};

    fn topic(words: &[&str]) -> Option<(Option<&'static str>, Option<&'static str>)> {
        let words: Vec<_> = words.iter().map(std::ffi::OsString::from).collect();
        match parse(&words) {
            Ok(Invocation { what: What::Explain(topic), .. }) => {
                Some((topic.verb.map(|verb| verb.name), topic.word))
            }
            _ => None,
        }
    }

    #[test]
    fn help_of_a_verb_is_no_word_of_a_command() {
        assert_eq!(topic(&["run", "--help"]), Some((Some("run"), None)));
        assert_eq!(topic(&["run", "--cwd", "x", "-h"]), Some((Some("run"), None)));
        assert_eq!(topic(&["help", "run"]), Some((Some("run"), None)));
        assert_eq!(topic(&["help"]), Some((None, None)));
        assert_eq!(topic(&["shell", "test", "--help"]), Some((Some("shell"), Some("test"))));
        assert_eq!(topic(&["help", "shell", "test"]), Some((Some("shell"), Some("test"))));
        assert_eq!(topic(&["undo", "--last", "--help"]), None);
        assert_eq!(topic(&["run", "--", "ls", "--help"]), None);
        assert_eq!(topic(&["run", "ls", "--help"]), None);
        assert_eq!(topic(&["run", "--goal", "--help", "--", "ls"]), None);
        assert_eq!(topic(&["shell", "test", "ls", "--help"]), None);
        assert_eq!(topic(&["help", "nonsense"]), None);
    }
}
