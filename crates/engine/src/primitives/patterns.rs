//! A pattern of commands to block: itself a piece of shell, matched with what a command would do.
//!
//! `git push` matches every command that begins with these words, wherever it is run from; options count in any order
//! and cluster. The last word may be the beginning of one if it says so by its end (`dd if=/dev/`) or is a path
//! (`> /dev/sd`). What cannot be parsed is searched for as it stands: a pattern is never silently dead.

use bstr::{BStr, BString, ByteSlice};
use exacta_policy::event::Access;
use exacta_policy::programs::GivenOption;
use exacta_policy::word::Word;

use super::explore::{Command, Seen, base_name, explore};

pub(super) struct Pattern {
    pub text: String,
    kind: Kind,
}

enum Kind {
    /// Found anywhere in the text.
    Letters,
    Bomb,
    /// All of these.
    Shape {
        commands: Vec<Command>,
        opens: Vec<(Word, Access)>,
    },
}

impl Pattern {
    pub(super) fn new(text: &str) -> Self {
        let kind = match explore(text.as_bytes().as_bstr()) {
            Ok(seen) if seen.bomb => Kind::Bomb,
            Ok(mut seen) => {
                seen.commands.retain(|command| command.outermost);
                if seen.commands.is_empty() && seen.redirects.is_empty() {
                    Kind::Letters
                } else {
                    Kind::Shape { commands: seen.commands, opens: seen.redirects }
                }
            }
            Err(_) => Kind::Letters,
        };
        Pattern { text: text.to_owned(), kind }
    }

    pub(super) fn matches(&self, command: &str, seen: &Seen) -> bool {
        match &self.kind {
            Kind::Letters => command.contains(&self.text),
            Kind::Bomb => seen.bomb,
            Kind::Shape { commands, opens } => {
                commands.iter().all(|wanted| {
                    seen.commands.iter().any(|command| matches_command(wanted, command))
                }) && opens.iter().all(|(wanted, access)| {
                    seen.opens.iter().any(|(path, how)| {
                        (*how == Access::Read) == (*access == Access::Read)
                            && begins(wanted.shown(), path.prefix())
                    })
                })
            }
        }
    }
}

fn matches_command(wanted: &Command, command: &Command) -> bool {
    let alone = wanted.words.len() == 1;
    matches_name(wanted, command, alone)
        && (alone || by_position(wanted, command) || by_meaning(wanted, command))
}

/// `mkfs` is `mkfs.ext4` too.
fn matches_name(wanted: &Command, command: &Command, alone: bool) -> bool {
    let (Some(wanted), Some(first)) = (wanted.words.first(), command.words.first()) else {
        return false;
    };
    let wanted = wanted.shown();
    let mut names: Vec<BString> =
        first.values().unwrap_or_default().iter().map(|name| base_name(name.as_bstr())).collect();
    names.push(command.reading.name.clone());
    names.push(first.shown().into());
    names.iter().any(|name| {
        name == wanted
            || (alone
                && name.strip_prefix(wanted.as_bytes()).is_some_and(|rest| rest.starts_with(b".")))
    })
}

/// Word by word.
fn by_position(wanted: &Command, command: &Command) -> bool {
    let last = wanted.words.len().saturating_sub(1);
    wanted.words.iter().enumerate().skip(1).all(|(index, pattern)| {
        let Some(word) = command.words.get(index) else { return false };
        if index == last { is_begun(pattern, word) } else { is_same(pattern, word) }
    })
}

/// Options in any order, operands in theirs.
fn by_meaning(wanted: &Command, command: &Command) -> bool {
    let options =
        wanted.reading.options.iter().all(|option| {
            command.reading.options.iter().any(|given| is_same_option(option, given))
        });
    // `name=value` stands anywhere.
    let (pairs, operands): (Vec<&Word>, Vec<&Word>) =
        wanted.reading.operands.iter().partition(|word| word.shown().contains(&b'='));
    let pairs = pairs.iter().all(|pair| command.words.iter().any(|word| is_begun(pair, word)));
    let last = operands.len().saturating_sub(1);
    options
        && pairs
        && operands.iter().enumerate().all(|(index, pattern)| {
            let Some(word) = command.reading.operands.get(index) else { return false };
            if index == last { is_begun(pattern, word) } else { is_same(pattern, word) }
        })
}

fn is_same_option(wanted: &GivenOption, given: &GivenOption) -> bool {
    let named = wanted.names.iter().any(|name| given.names.contains(name));
    let value = match (&wanted.value, &given.value) {
        (Some(wanted), Some(given)) => is_begun(wanted, given),
        (Some(_), None) => false,
        (None, _) => true,
    };
    named && value
}

fn is_same(pattern: &Word, word: &Word) -> bool {
    pattern.shown() == word.shown()
        || word.values().unwrap_or_default().iter().any(|value| value == pattern.shown())
}

fn is_begun(pattern: &Word, word: &Word) -> bool {
    let pattern = pattern.shown();
    if begins(pattern, word.prefix()) || begins(pattern, word.shown()) {
        return true;
    }
    word.values().unwrap_or_default().iter().any(|value| begins(pattern, value.as_bstr()))
}

/// The word is what the pattern says, or begins with it where the pattern is plainly a beginning. The root is only
/// itself, in all its spellings.
fn begins(pattern: &BStr, word: &BStr) -> bool {
    if pattern == word {
        return true;
    }
    if pattern == "/" {
        let parts = word.split_str("/").filter(|part| !part.is_empty() && *part != b".");
        let above = |part: &[u8]| part == b".." || part.iter().all(|byte| *byte == b'*');
        return word.starts_with(b"/") && parts.into_iter().all(above);
    }
    let beginning = pattern.contains(&b'/') || pattern.ends_with(b"=") || pattern.ends_with(b":");
    beginning && word.starts_with(pattern)
}
