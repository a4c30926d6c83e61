//! What a command would print, where its words tell: `echo`, `printf` and a few that only repeat what they are given.

use bstr::{BStr, BString, ByteSlice};

use crate::event::{Directory, Input};
use crate::word::Word;

use super::Walker;
use super::formats::{decoded, format_all};
use super::values::{Value, common_prefix};

/// Printed texts longer than this are not kept.
pub(super) const LONGEST: usize = 1 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Output {
    /// Exactly this.
    Text(BString),
    /// Where this program is: `command -v NAME`.
    Program(BString),
    /// Something that begins with this.
    Begins(BString),
}

impl Output {
    pub fn nothing() -> Self {
        Output::Text(BString::default())
    }

    pub fn unknown() -> Self {
        Output::Begins(BString::default())
    }

    /// One after the other.
    pub fn then(self, next: Output) -> Output {
        match (self, next) {
            (Output::Text(one), next) if one.is_empty() => next,
            (one, Output::Text(two)) if two.is_empty() => one,
            (Output::Text(mut one), Output::Text(two)) if one.len() + two.len() <= LONGEST => {
                one.extend_from_slice(&two);
                Output::Text(one)
            }
            (Output::Text(mut one), Output::Begins(two)) if one.len() + two.len() <= LONGEST => {
                one.extend_from_slice(&two);
                Output::Begins(one)
            }
            (Output::Text(one) | Output::Begins(one), _) => Output::Begins(one),
            (Output::Program(_), _) => Output::unknown(),
        }
    }

    /// One after the other, or only the first.
    pub fn then_maybe(self, next: &Output) -> Output {
        match self {
            one if *next == Output::nothing() => one,
            Output::Text(one) | Output::Begins(one) => Output::Begins(one),
            Output::Program(_) => Output::unknown(),
        }
    }

    /// One or the other.
    pub fn or(self, other: Output) -> Output {
        match (self, other) {
            (one, two) if one == two => one,
            (Output::Text(one) | Output::Begins(one), Output::Text(two) | Output::Begins(two)) => {
                Output::Begins(common_prefix(&[one, two]))
            }
            _ => Output::unknown(),
        }
    }
}

impl Walker<'_> {
    /// What a command with these words prints; the name is its first word.
    pub(super) fn printed(&mut self, words: &[Word], input: &Input) -> Output {
        let Some((name, operands)) = words.split_first() else { return Output::nothing() };
        let Some(name) = name.as_literal() else { return Output::unknown() };
        let name: &[u8] = name.as_ref();
        match name {
            b":" | b"true" | b"false" | b"export" | b"set" | b"shift" | b"unset" | b"read"
            | b"local" | b"exit" | b"return" | b"sleep" | b"mkdir" | b"touch" | b"rm" | b"test"
            | b"[" => {
                let lists = operands.is_empty() && matches!(name, b"export" | b"set" | b"local");
                if lists || (!is_test(name) && operands.iter().any(|word| may_talk(name, word))) {
                    Output::unknown()
                } else {
                    Output::nothing()
                }
            }
            b"cd" => match operands {
                [Word::Literal(path)] if *path != "-" && self.is_exact(path.as_bstr()) => {
                    Output::nothing()
                }
                _ => Output::unknown(),
            },
            b"echo" | b"/bin/echo" | b"/usr/bin/echo" => self.echoed(operands),
            b"printf" | b"/usr/bin/printf" => self.formatted(operands),
            b"cat" | b"/bin/cat" | b"/usr/bin/cat" if self.reads_alone => copied(operands, input),
            b"pwd" => match (self.state.place.directory(), operands) {
                (Directory::Known(path), []) => Output::Text(line(path.as_bstr())),
                _ => Output::unknown(),
            },
            b"which" | b"command" | b"type" => found(name, operands),
            b"basename" | b"dirname" => part_of_path(name, operands),
            b"git" => self.top_level(operands),
            b"realpath" | b"readlink" => self.resolved(operands),
            b"mktemp" | b"/usr/bin/mktemp" | b"/bin/mktemp" => self.made_up(operands),
            _ => Output::unknown(),
        }
    }

    /// `realpath x`, `readlink -f x`: the same file, by a path from the root of all. Links are not known here.
    fn resolved(&self, operands: &[Word]) -> Output {
        let path = match operands {
            [Word::Literal(path)] => path,
            [Word::Literal(option), Word::Literal(path)]
                if ["-f", "-m", "-e", "-s", "--"].iter().any(|known| option == known) =>
            {
                path
            }
            _ => return Output::unknown(),
        };
        if path.starts_with(b"-") || path.is_empty() {
            return Output::unknown();
        }
        let directory = match self.state.place.directory() {
            Directory::Known(directory) => Some(directory),
            Directory::Likely { .. } | Directory::Unknown => None,
        };
        match super::paths::resolve(directory.as_ref(), path.as_bstr()) {
            Some(path) if path == self.surroundings.root() => Output::Text(line(path.as_bstr())),
            _ => Output::unknown(),
        }
    }

    /// `git rev-parse --show-toplevel`: where the project begins, or its repository.
    fn top_level(&self, operands: &[Word]) -> Output {
        let root = self.surroundings.root();
        let Some(answer) =
            asked_of_git(operands).map(|below| BString::from([root.as_bytes(), &below].concat()))
        else {
            return Output::unknown();
        };
        let inside = |path: &BString| path.starts_with(root.as_bytes());
        match self.state.place.directory() {
            Directory::Known(path) if inside(&path) => Output::Text(line(answer.as_bstr())),
            Directory::Likely { expected, others }
                if !others.is_empty() && others.iter().chain([&expected]).all(inside) =>
            {
                Output::Text(line(answer.as_bstr()))
            }
            _ => Output::unknown(),
        }
    }

    /// `mktemp` without a template: some new name in `/tmp`. Its letters are made up, and no two are the same, so that
    /// what is written into one is not taken for what is in another.
    fn made_up(&mut self, operands: &[Word]) -> Output {
        let fine = |word: &Word| {
            matches!(
                word.as_literal().map(|word| word.as_bytes()),
                Some(
                    b"-d" | b"-q" | b"-u" | b"-dq" | b"-qd" | b"-du" | b"--directory" | b"--quiet"
                )
            )
        };
        let elsewhere = self.lookup(b"TMPDIR".as_bstr()) != Value::Unset;
        if elsewhere || !operands.iter().all(fine) {
            return Output::unknown();
        }
        self.made_up += 1;
        Output::Text(BString::from(format!("/tmp/tmp.{:010}\n", self.made_up)))
    }

    fn echoed(&mut self, operands: &[Word]) -> Output {
        let mut newline = true;
        let mut escapes = false;
        let mut rest = operands;
        while let Some((Word::Literal(option), more)) = rest.split_first() {
            let Some(letters) = option.strip_prefix(b"-").filter(|letters| !letters.is_empty())
            else {
                break;
            };
            if !letters.iter().all(|letter| b"neE".contains(letter)) {
                break;
            }
            for letter in letters {
                match letter {
                    b'n' => newline = false,
                    b'e' => escapes = true,
                    _ => escapes = false,
                }
            }
            rest = more;
        }
        let mut text = BString::default();
        for (index, word) in rest.iter().enumerate() {
            if index > 0 {
                text.push(b' ');
            }
            match word {
                Word::Literal(word) => text.extend_from_slice(word),
                Word::Dynamic(dynamic) => {
                    if rest.first().is_some_and(|first| first.prefix().is_empty()) || escapes {
                        return Output::unknown();
                    }
                    text.extend_from_slice(&dynamic.prefix);
                    return Output::Begins(text);
                }
            }
        }
        if !self.afford(text.len()) {
            return Output::unknown();
        }
        if escapes {
            match decoded(text.as_bstr()) {
                Some(decoded) => text = decoded,
                None => return Output::unknown(),
            }
        }
        if newline {
            text.push(b'\n');
        }
        Output::Text(text)
    }

    /// `printf` with nothing but text, `%s`, `%b`, `%d` and `%%`.
    pub(super) fn formatted(&mut self, operands: &[Word]) -> Output {
        let operands = match operands.split_first() {
            Some((Word::Literal(dashes), rest)) if *dashes == "--" => rest,
            _ => operands,
        };
        let Some((Word::Literal(format), arguments)) = operands.split_first() else {
            return Output::unknown();
        };
        if format.starts_with(b"-") {
            return Output::unknown();
        }
        let arguments: Option<Vec<&BStr>> = arguments.iter().map(Word::as_literal).collect();
        let text = arguments.and_then(|arguments| format_all(format.as_bstr(), &arguments));
        match text {
            Some(text) if self.afford(text.len()) => Output::Text(text),
            _ => Output::unknown(),
        }
    }
}

/// What `git rev-parse` is asked for, as seen from the top of the project.
fn asked_of_git(operands: &[Word]) -> Option<BString> {
    const REPOSITORY: [&str; 3] = ["--absolute-git-dir", "--git-common-dir", "--git-dir"];
    let (subcommand, rest) = operands.split_first()?;
    let words: Vec<&BStr> = rest.iter().map(Word::as_literal).collect::<Option<_>>()?;
    match words.as_slice() {
        _ if subcommand.as_literal()? != "rev-parse" => None,
        [option] if *option == "--show-toplevel" => Some(BString::default()),
        [option] if REPOSITORY.iter().any(|known| option == known) => Some("/.git".into()),
        [option, path] if *option == "--git-path" => {
            Some([b"/.git/", path.as_bytes()].concat().into())
        }
        _ => None,
    }
}

fn is_test(name: &[u8]) -> bool {
    matches!(name, b"test" | b"[" | b":" | b"true" | b"false")
}

/// `-v`, `-p`, `-o`, `--help`: of a command that prints nothing without.
fn may_talk(name: &[u8], word: &Word) -> bool {
    match word.as_literal().map(|word| word.as_bytes()) {
        Some(b"-rf" | b"-fr" | b"-r" | b"-f" | b"--") => false,
        Some(b"-p") => name != b"mkdir",
        Some(word) => word.starts_with(b"-"),
        None => word.prefix().first().is_none_or(|byte| *byte == b'-'),
    }
}

fn line(text: &BStr) -> BString {
    let mut line = BString::from(text);
    line.push(b'\n');
    line
}

/// `cat` of nothing but its input.
fn copied(operands: &[Word], input: &Input) -> Output {
    let alone = operands.iter().all(|word| word.as_literal().is_some_and(|word| *word == "-"));
    match input {
        Input::Text(Word::Literal(text)) if alone && operands.len() < 2 => {
            Output::Text(text.clone())
        }
        Input::Text(word) if alone => Output::Begins(word.prefix().into()),
        _ => Output::unknown(),
    }
}

fn found(name: &[u8], operands: &[Word]) -> Output {
    let (option, program) = match operands {
        [Word::Literal(program)] if name == b"which" => (None, program),
        [Word::Literal(option), Word::Literal(program)] => (Some(option.as_slice()), program),
        _ => return Output::unknown(),
    };
    let fits = match name {
        b"which" => matches!(option, None | Some(b"-a" | b"--")),
        b"command" => option == Some(b"-v"),
        _ => matches!(option, Some(b"-p" | b"-P")),
    };
    if fits && !program.starts_with(b"-") {
        // Somewhere in the system: where exactly does not matter.
        let mut path = BString::from(if program.contains(&b'/') { "" } else { "/usr/bin/" });
        path.extend_from_slice(program);
        Output::Program(path)
    } else {
        Output::unknown()
    }
}

fn part_of_path(name: &[u8], operands: &[Word]) -> Output {
    let (path, suffix) = match operands {
        [Word::Literal(path)] => (path, None),
        [Word::Literal(path), Word::Literal(suffix)] if name == b"basename" => (path, Some(suffix)),
        _ => return Output::unknown(),
    };
    if path.starts_with(b"-") || path.is_empty() {
        return Output::unknown();
    }
    let end = path.iter().rposition(|byte| *byte != b'/').map_or(0, |last| last + 1);
    let Some(path) = path.get(..end).filter(|path| !path.is_empty()) else {
        return Output::Text(BString::from("/\n"));
    };
    let slash = path.iter().rposition(|byte| *byte == b'/');
    let part: &[u8] = if name == b"basename" {
        let base = path.get(slash.map_or(0, |slash| slash + 1)..).unwrap_or_default();
        let cut = suffix.and_then(|suffix| base.strip_suffix(suffix.as_slice()));
        cut.filter(|cut| !cut.is_empty()).unwrap_or(base)
    } else {
        let parent = slash.and_then(|slash| path.get(..slash));
        match parent.map(|parent| parent.trim_end_with(|byte| byte == '/')) {
            None => b".",
            Some(b"") => b"/",
            Some(parent) => parent,
        }
    };
    Output::Text(line(part.as_bstr()))
}
