//! Options as GNU programs take them: clusters (`-la`), values (`-n5`, `-n 5`, `--lines=5`), unique
//! abbreviations of long names, operands between options, `--`.
//!
//! An option that a command does not have is never ignored: it is [`ToolError::Unsupported`], found before the
//! command has done anything, so that the real program can take over.

use bstr::{BStr, BString, ByteSlice};

use crate::builtins::ToolError;

/// One option of a command. Help, documentation and completions are drawn from it.
#[derive(Debug)]
pub struct OptionSpec {
    /// How the command's code calls it: the short letter if there is one, else the long name.
    pub id: &'static str,
    pub short: Option<char>,
    /// Further letters with the same meaning (`-R` for `-r`).
    pub also: &'static [char],
    pub long: Option<&'static str>,
    pub value: ValueSpec,
    pub help: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueSpec {
    None,
    /// The name of the value in the help text.
    Required(&'static str),
    /// Only in the same word: `--color=never`, `-w80`.
    Optional(&'static str),
}

/// `-r`
pub const fn flag(short: char, id: &'static str, help: &'static str) -> OptionSpec {
    OptionSpec { id, short: Some(short), also: &[], long: None, value: ValueSpec::None, help }
}

/// `-r`, `--recursive`
pub const fn both(
    short: char,
    id: &'static str,
    long: &'static str,
    help: &'static str,
) -> OptionSpec {
    OptionSpec { id, short: Some(short), also: &[], long: Some(long), value: ValueSpec::None, help }
}

/// `--recursive`
pub const fn long(long: &'static str, help: &'static str) -> OptionSpec {
    OptionSpec { id: long, short: None, also: &[], long: Some(long), value: ValueSpec::None, help }
}

impl OptionSpec {
    pub const fn takes(mut self, name: &'static str) -> Self {
        self.value = ValueSpec::Required(name);
        self
    }

    pub const fn may_take(mut self, name: &'static str) -> Self {
        self.value = ValueSpec::Optional(name);
        self
    }

    pub const fn also(mut self, letters: &'static [char]) -> Self {
        self.also = letters;
        self
    }

    fn has_letter(&self, letter: char) -> bool {
        self.short == Some(letter) || self.also.contains(&letter)
    }
}

/// How far options reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Options anywhere, as GNU programs allow.
    Anywhere,
    /// Up to the first operand, as in bash builtins, `env` and `xargs`.
    OptionsFirst,
}

#[derive(Debug, Default)]
pub struct Arguments {
    /// In the order given; a later option usually wins.
    pub options: Vec<GivenOption>,
    pub operands: Vec<BString>,
}

#[derive(Debug)]
pub struct GivenOption {
    pub id: &'static str,
    /// The letter or name it was given as.
    pub letter: Option<char>,
    pub value: Option<BString>,
}

impl Arguments {
    pub fn has(&self, id: &str) -> bool {
        self.options.iter().any(|option| option.id == id)
    }

    /// The value of the last option with this id.
    pub fn value(&self, id: &str) -> Option<&BStr> {
        let option = self.options.iter().rev().find(|option| option.id == id)?;
        option.value.as_ref().map(|value| value.as_bstr())
    }

    /// Every value of this option, in order.
    pub fn values<'a>(&'a self, id: &'a str) -> impl Iterator<Item = &'a BStr> {
        self.options
            .iter()
            .filter(move |option| option.id == id)
            .filter_map(|option| option.value.as_ref().map(|value| value.as_bstr()))
    }

    /// The id of the last option given out of several that exclude each other.
    pub fn last_of(&self, ids: &[&str]) -> Option<&'static str> {
        self.options.iter().rev().map(|option| option.id).find(|id| ids.contains(id))
    }
}

/// Splits the words after the command's name into options and operands.
pub fn parse(
    specs: &'static [OptionSpec],
    words: &[BString],
    order: Order,
) -> Result<Arguments, ToolError> {
    let mut arguments = Arguments::default();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if word == "--" {
            arguments.operands.extend(rest.cloned());
            break;
        }
        if let Some(name) = word.strip_prefix(b"--") {
            parse_long(specs, name.as_bstr(), &mut rest, &mut arguments)?;
        } else if word.len() > 1 && word.starts_with(b"-") {
            parse_cluster(specs, word, &mut rest, &mut arguments)?;
        } else {
            arguments.operands.push(word.clone());
            if order == Order::OptionsFirst {
                arguments.operands.extend(rest.cloned());
                break;
            }
        }
    }
    Ok(arguments)
}

type Rest<'a> = std::slice::Iter<'a, BString>;

fn parse_long(
    specs: &'static [OptionSpec],
    text: &BStr,
    rest: &mut Rest<'_>,
    arguments: &mut Arguments,
) -> Result<(), ToolError> {
    let (name, inline) = match text.find_byte(b'=') {
        Some(at) => (text[..at].as_bytes(), Some(BString::from(&text[at + 1..]))),
        None => (text.as_bytes(), None),
    };
    let name = name.to_str_lossy();
    let spec = find_long(specs, &name)?;
    let value = match (spec.value, inline) {
        (ValueSpec::None, Some(_)) => {
            return Err(ToolError::usage(format!("option '--{name}' doesn't allow an argument")));
        }
        (ValueSpec::None | ValueSpec::Optional(_), None) => None,
        (_, Some(value)) => Some(value),
        (ValueSpec::Required(_), None) => match rest.next() {
            Some(value) => Some(value.clone()),
            None => {
                return Err(ToolError::usage(format!("option '--{name}' requires an argument")));
            }
        },
    };
    arguments.options.push(GivenOption { id: spec.id, letter: None, value });
    Ok(())
}

fn find_long(specs: &'static [OptionSpec], name: &str) -> Result<&'static OptionSpec, ToolError> {
    if let Some(exact) = specs.iter().find(|spec| spec.long == Some(name)) {
        return Ok(exact);
    }
    let mut candidates =
        specs.iter().filter(|spec| spec.long.is_some_and(|long| long.starts_with(name)));
    match (candidates.next(), candidates.next()) {
        (Some(only), None) => Ok(only),
        (Some(one), Some(other)) if one.id == other.id => Ok(one),
        (Some(_), Some(_)) => Err(ToolError::usage(format!("option '--{name}' is ambiguous"))),
        (None, _) => Err(ToolError::Unsupported(format!("--{name}"))),
    }
}

fn parse_cluster(
    specs: &'static [OptionSpec],
    word: &BString,
    rest: &mut Rest<'_>,
    arguments: &mut Arguments,
) -> Result<(), ToolError> {
    for (start, end, letter) in word.char_indices().skip(1) {
        let Some(spec) = specs.iter().find(|spec| spec.has_letter(letter)) else {
            return Err(ToolError::Unsupported(word[start..end].to_str_lossy().into_owned()));
        };
        let attached = &word[end..];
        let mut given = GivenOption { id: spec.id, letter: Some(letter), value: None };
        match spec.value {
            ValueSpec::None => {
                arguments.options.push(given);
                continue;
            }
            ValueSpec::Optional(_) if attached.is_empty() => {}
            ValueSpec::Required(_) if attached.is_empty() => match rest.next() {
                Some(value) => given.value = Some(value.clone()),
                None => {
                    return Err(ToolError::usage(format!(
                        "option requires an argument -- '{letter}'"
                    )));
                }
            },
            _ => given.value = Some(attached.into()),
        }
        arguments.options.push(given);
        break;
    }
    Ok(())
}
