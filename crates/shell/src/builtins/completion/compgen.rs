//! `compgen`

use bstr::{BStr, BString, ByteSlice};
use exacta_syntax::ast::{Argument, Command as Tree};

use super::actions::{Action, ORDER};
use super::specification::{self, Specification};
use crate::arguments::{OptionSpec, flag};
use crate::builtins::{Command, Run};
use crate::expand::pattern::{Pattern, PatternOptions};
use crate::expand::quote;
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow, Running};

pub(super) static OPTIONS: [OptionSpec; 21] = [
    flag('a', "a", "names of aliases"),
    flag('b', "b", "names of builtins"),
    flag('c', "c", "names of commands"),
    flag('d', "d", "names of directories"),
    flag('e', "e", "names of exported variables"),
    flag('f', "f", "names of files"),
    flag('g', "g", "names of groups"),
    flag('j', "j", "names of jobs"),
    flag('k', "k", "words of the grammar"),
    flag('s', "s", "names of services"),
    flag('u', "u", "names of users"),
    flag('v', "v", "names of variables"),
    flag('o', "o", "what to do besides").takes("option"),
    flag('A', "A", "names of this kind").takes("action"),
    flag('G', "G", "file names this pattern matches").takes("globpat"),
    flag('W', "W", "the words of this text").takes("wordlist"),
    flag('F', "F", "what this function leaves in COMPREPLY").takes("function"),
    flag('C', "C", "the lines this command prints").takes("command"),
    flag('X', "X", "without those this pattern matches").takes("filterpat"),
    flag('P', "P", "put in front of each").takes("prefix"),
    flag('S', "S", "put behind each").takes("suffix"),
];

pub static COMMAND: Command = Command {
    name: "compgen",
    synopsis: "compgen [-abcdefgjksuv] [-o option] [-A action] [-G globpat] [-W wordlist] [-F function] [-C command] [-X filterpat] [-P prefix] [-S suffix] [word]",
    summary: "Print what a word could be completed to.",
    options: &OPTIONS,
    run: Run::Builtin { special: false, run },
};

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    let parsed = match specification::parse(shell, &COMMAND, words, b"") {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    if parsed.is_empty && parsed.operands.is_empty() {
        return Ok(ExitStatus::SUCCESS);
    }
    let word = parsed.operands.first().cloned().unwrap_or_default();
    for (letter, given) in
        [('F', &parsed.specification.function), ('C', &parsed.specification.command)]
    {
        if given.is_some() {
            shell
                .complain(format!("compgen: warning: -{letter} option may not work as you expect"));
        }
    }
    let found = parsed.specification.generate(shell, word.as_bstr())?;
    let mut text = Vec::new();
    for one in &found {
        text.extend_from_slice(one);
        text.push(b'\n');
    }
    shell.print("compgen", &text)?;
    Ok(ExitStatus::from_bool(!found.is_empty()))
}

impl Specification {
    /// Everything the word could be completed to.
    fn generate(&self, shell: &mut Shell, word: &BStr) -> Running<Vec<BString>> {
        let mut found = Vec::new();
        for action in ORDER.iter().filter(|action| self.actions.contains(action)) {
            found.extend(action.names(shell, word));
        }
        if let Some(glob) = &self.glob {
            found.extend(expand_text(shell, glob)?);
        }
        if let Some(words) = &self.words {
            let expanded = expand_words(shell, words)?;
            found.extend(expanded.into_iter().filter(|one| one.starts_with(word)));
        }
        if let Some(function) = &self.function {
            found.extend(call(shell, function, word)?);
        }
        if let Some(command) = &self.command {
            let call = [command.as_slice(), b" compgen ", &quote::single(word), b" ''"].concat();
            let output = shell.capture_text(call.as_bstr())?;
            found.extend(output.lines().map(BString::from));
        }
        self.filter(shell, word, &mut found);
        if !self.prefix.is_empty() || !self.suffix.is_empty() {
            for one in &mut found {
                *one = [&*self.prefix, one.as_slice(), &*self.suffix].concat().into();
            }
        }
        self.add_by_option(shell, word, &mut found);
        Ok(found)
    }

    /// `-X`: what matches goes; with `!` in front, what does not. `&` is the word itself.
    fn filter(&self, shell: &Shell, word: &BStr, found: &mut Vec<BString>) {
        let Some(filter) = &self.filter else { return };
        let extended = shell.options.extglob && filter.starts_with(b"!(");
        let (keeps, pattern) = match filter.strip_prefix(b"!").filter(|_| !extended) {
            Some(pattern) => (true, pattern),
            None => (false, filter.as_slice()),
        };
        let pattern = with_word(pattern, word);
        let options = PatternOptions { extglob: shell.options.extglob, ..shell.pattern_options() };
        let pattern = Pattern::new(pattern.as_bstr(), options);
        found.retain(|one| pattern.matches(one) == keeps);
    }

    fn add_by_option(&self, shell: &Shell, word: &BStr, found: &mut Vec<BString>) {
        let has = |name: &str| self.options.contains(&name);
        if has("plusdirs") || (found.is_empty() && has("dirnames")) {
            found.extend(Action::Directory.names(shell, word));
        }
        if found.is_empty() && has("default") {
            found.extend(Action::File.names(shell, word));
        }
    }
}

/// `&` is the word; `\&` is itself.
fn with_word(pattern: &[u8], word: &BStr) -> Vec<u8> {
    let mut text = Vec::with_capacity(pattern.len());
    let mut bytes = pattern.iter();
    while let Some(&byte) = bytes.next() {
        match byte {
            b'&' => text.extend_from_slice(word),
            b'\\' => match bytes.next() {
                Some(b'&') => text.push(b'&'),
                Some(&next) => text.extend_from_slice(&[b'\\', next]),
                None => text.push(b'\\'),
            },
            _ => text.push(byte),
        }
    }
    text
}

/// `-W`: split at `IFS` outside of quotes, then every piece expanded.
fn expand_words(shell: &mut Shell, text: &BString) -> Running<Vec<BString>> {
    let separators = shell
        .scalar_of("IFS".into())
        .map_or_else(|| BString::from(" \t\n"), std::borrow::Cow::into_owned);
    let mut words = Vec::new();
    let noglob = std::mem::replace(&mut shell.options.noglob, true);
    for piece in split(text, &separators) {
        if piece.find_byteset(b"$`\\\"'~{").is_none() {
            words.push(piece);
            continue;
        }
        match expand_text(shell, &piece) {
            Ok(expanded) => words.extend(expanded),
            Err(interrupt) => {
                shell.options.noglob = noglob;
                return Err(interrupt);
            }
        }
    }
    shell.options.noglob = noglob;
    Ok(words)
}

fn split(text: &[u8], separators: &[u8]) -> Vec<BString> {
    let mut pieces = Vec::new();
    let mut piece = BString::default();
    let (mut quote, mut escaped, mut depth) = (0, false, 0_u32);
    for &byte in text {
        let inside = escaped || quote != 0 || depth > 0;
        if !inside && separators.contains(&byte) {
            if !piece.is_empty() {
                pieces.push(std::mem::take(&mut piece));
            }
            continue;
        }
        if !inside && byte.is_ascii_whitespace() {
            piece.push(b'\\');
        }
        piece.push(byte);
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quote != b'\'' => escaped = true,
            b'\'' | b'"' | b'`' if quote == 0 => quote = byte,
            _ if byte == quote => quote = 0,
            b'(' | b'{' if quote != b'\'' => depth += 1,
            b')' | b'}' if quote != b'\'' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    if !piece.is_empty() {
        pieces.push(piece);
    }
    pieces
}

/// A text as words of a command; if it is none, it stands for itself.
fn expand_text(shell: &mut Shell, text: &BString) -> Running<Vec<BString>> {
    let mut script = BString::from(": ");
    script.extend_from_slice(text);
    let options = shell.parse_options();
    let Ok(list) = exacta_syntax::parse(&script, options, exacta_syntax::Limits::default()) else {
        if text.contains_str("${") {
            shell.complain([text.as_slice(), b": bad substitution"].concat());
            return Ok(Vec::new());
        }
        return Ok(vec![text.clone()]);
    };
    let mut words = Vec::new();
    let first = list.items.first().and_then(|item| item.chain.first.stages.first());
    if let Some(Tree::Simple(simple)) = first.map(|stage| &stage.command) {
        for argument in simple.words.iter().skip(1) {
            if let Argument::Word(word) = argument {
                shell.expand_word_into(word, &mut words)?;
            }
        }
    }
    // A pattern that matches nothing is no completion.
    if words.len() == 1 && words.first() == Some(text) && text.find_byteset(b"*?[").is_some() {
        words.clear();
    }
    Ok(words)
}

/// `-F`: the function is called with the command, the word and the word before; its answer is `COMPREPLY`.
fn call(shell: &mut Shell, function: &BString, word: &BStr) -> Running<Vec<BString>> {
    let Some(known) = shell.functions.get(function).cloned() else {
        shell.complain(format!("compgen: {}: command not found", function.to_str_lossy()));
        return Ok(Vec::new());
    };
    shell.variables.remove("COMPREPLY".into());
    let given = [
        ("COMP_CWORD", "-1"),
        ("COMP_LINE", ""),
        ("COMP_POINT", "0"),
        ("COMP_KEY", "0"),
        ("COMP_TYPE", "0"),
    ];
    for (name, value) in given {
        shell.variables.set(name, value);
    }
    let call = [function.clone(), "compgen".into(), word.into(), BString::default()];
    shell.call_function(&known, &call)?;
    let reply = shell.value_of("COMPREPLY".into()).map(std::borrow::Cow::into_owned);
    for name in given.map(|(name, _)| name).into_iter().chain(["COMPREPLY"]) {
        shell.variables.remove(name.into());
    }
    Ok(match reply {
        Some(crate::variables::Value::Scalar(text)) => vec![text],
        Some(crate::variables::Value::Indexed(array)) => {
            array.iter().map(|(_, value)| value.clone()).collect()
        }
        Some(crate::variables::Value::Associative(array)) => {
            array.iter().map(|(_, value)| value.clone()).collect()
        }
        None => Vec::new(),
    })
}
