//! The words that a wrapper adds to its command when it runs: `echo / | xargs rm -rf`.

use bstr::{BStr, BString, ByteSlice};

use super::command::Subjected;
use super::inquiry::Inquiry;
use crate::event::Input;
use crate::programs::Reading;
use crate::word::{Dynamic, Word};

/// Words taken from a known input; with more of them nothing is said about any.
const MOST: usize = 4_096;
/// How people are shown what nobody knows yet.
const UNKNOWN: &str = "…";

/// How a command is given every file there is, whichever way.
const EVERYTHING: &str = "./**";

impl Inquiry<'_> {
    /// Words that come from an input or from files, and may be any.
    pub fn unknown_words(&self, subjected: &Subjected<'_>) -> Word {
        let input = &subjected.invocation.input;
        let written = if self.gives_everything(subjected) {
            EVERYTHING
        } else if lists_files(input) {
            "{}"
        } else {
            UNKNOWN
        };
        unknown(written)
    }

    /// `git ls-files | xargs`, `find . -exec`: no file is left out.
    pub fn gives_everything(&self, subjected: &Subjected<'_>) -> bool {
        const KEEPING: [&str; 5] = ["cat", "sort", "tac", "tr", "uniq"];
        if self.lists_all.is_none() {
            return false;
        }
        if subjected.reading.name == "find" {
            return lists_everything(subjected.reading, self.world.root());
        }
        let Input::Pipe(names) = &subjected.invocation.input else { return false };
        self.lists_all.as_ref().is_some_and(|lister| {
            names.iter().any(|name| name.shown() == lister)
                && names.iter().all(|name| {
                    name.shown() == lister || KEEPING.iter().any(|it| name.shown() == *it)
                })
        })
    }

    /// `rm -rf $(ls -A)`: the substitution is the last that has listed files, and lists all of them.
    pub fn lists_everything_in(&self, written: &BStr) -> bool {
        let written = written.trim_with(|c| c == '"');
        let inner = written.strip_prefix(b"$(").or_else(|| written.strip_prefix(b"`"));
        self.lists_all.as_ref().is_some_and(|lister| {
            inner.is_some_and(|inner| {
                inner.starts_with(lister) && !inner.contains(&b'|') && !inner.contains(&b';')
            })
        })
    }

    /// Remembers whether a command that lists files lists all of them.
    pub fn note_listing(&mut self, reading: &Reading) {
        const LISTERS: [&str; 8] = ["echo", "fd", "fdfind", "find", "git", "ls", "printf", "rg"];
        const CHOOSING: [&str; 9] =
            ["ag", "egrep", "fd", "fdfind", "find", "git", "grep", "ls", "rg"];
        if CHOOSING.iter().any(|name| reading.name == *name) {
            self.lists_scripts = names_scripts(reading);
        }
        if LISTERS.iter().any(|name| reading.name == *name) {
            let all = lists_everything(reading, self.world.root());
            self.lists_all = all.then(|| reading.name.clone());
        }
    }

    /// `find . ! -name README.md -delete`
    pub fn deletes_everything(&self, reading: &Reading) -> bool {
        reading.name == "find"
            && reading.options.iter().flat_map(|option| &option.names).any(|name| name == "-delete")
            && lists_everything(reading, self.world.root())
    }
}

/// Neither a pattern nor a condition chooses among the files.
fn lists_everything(reading: &Reading, root: &BStr) -> bool {
    const WHOLE: [&str; 15] = [
        ".", "./", "*", "./*", "*/", "./*/", "~", "~/", "~/*", "~/*/", "$HOME/*", "$HOME/*/", "{}",
        "+", ";",
    ];
    let whole = |word: &Word| {
        let shown = word.shown();
        shown == root || WHOLE.iter().any(|it| shown == *it)
    };
    let globs = |word: &Word| matches!(word, Word::Dynamic(dynamic) if dynamic.glob.is_some());
    let mut operands = reading.operands.iter();
    let lists = match reading.name.as_slice() {
        b"git" => operands.next().is_some_and(|first| first.shown() == "ls-files"),
        b"rg" => reading.options.iter().flat_map(|option| &option.names).any(|it| it == "--files"),
        b"echo" => operands.clone().any(globs),
        b"printf" => operands.next().is_some() && operands.clone().any(globs),
        _ => true,
    };
    lists && operands.all(whole) && !chooses(reading)
}

/// More conditions are given than are turned round: `! -name x` leaves all but one.
fn chooses(reading: &Reading) -> bool {
    const UNCHOOSING: [&str; 32] = [
        "-d",
        "--directory",
        "-0",
        "-H",
        "-L",
        "-P",
        "-A",
        "-a",
        "-1",
        "-R",
        "-c",
        "--cached",
        "-depth",
        "-exec",
        "-execdir",
        "-maxdepth",
        "-mindepth",
        "-print",
        "-print0",
        "-t",
        "-type",
        "-z",
        "--files",
        "--hidden",
        "--full-name",
        "-xdev",
        "-delete",
        "-and",
        "-e",
        "-n",
        "(",
        ")",
    ];
    let is = |names: &[BString], known: &[&str]| {
        names.iter().any(|name| known.iter().any(|it| name == it))
    };
    let options = || reading.options.iter().map(|option| &*option.names);
    let turned = options().filter(|names| is(names, &["!", "-not"])).count();
    let choosing =
        options().filter(|names| !is(names, &UNCHOOSING) && !is(names, &["!", "-not"])).count();
    choosing > turned
}

pub(super) fn everything() -> Word {
    unknown(EVERYTHING)
}

fn unknown(written: &str) -> Word {
    Word::Dynamic(Box::new(Dynamic { written: written.into(), splits: true, ..Dynamic::default() }))
}

/// `find tests -name '*.sh' | xargs -n1 bash`: what comes are files that are there.
fn lists_files(input: &Input) -> bool {
    const LISTERS: [&str; 13] = [
        "ag", "fd", "fdfind", "find", "git", "grep", "head", "ls", "rg", "sort", "tail", "tree",
        "uniq",
    ];
    let Input::Pipe(names) = input else { return false };
    let known = |name: &Word| LISTERS.iter().any(|lister| name.shown() == *lister);
    !names.is_empty() && names.iter().all(known)
}

/// What `find -exec` gives to an interpreter: files that have the name of scripts? Whoever does not look for files
/// has not chosen wrongly.
pub(super) fn finds_scripts(subjected: &Subjected<'_>, lists_scripts: bool) -> bool {
    const FINDERS: [&str; 3] = ["fd", "fdfind", "find"];
    const GIVEN: [&str; 3] = ["parallel", "rush", "xargs"];
    let reading = subjected.reading;
    let is = |names: &[&str]| names.iter().any(|name| reading.name == *name);
    if is(&FINDERS) {
        names_scripts(reading)
    } else {
        !is(&GIVEN) || !lists_files(&subjected.invocation.input) || lists_scripts
    }
}

/// Does it choose files that have the name of scripts?
fn names_scripts(reading: &Reading) -> bool {
    const ENDINGS: [&str; 26] = [
        "sh", "bash", "zsh", "bats", "ksh", "fish", "py", "js", "mjs", "cjs", "ts", "tsx", "rb",
        "pl", "t", "php", "lua", "R", "jl", "ex", "exs", "awk", "sed", "mk", "tcl", "groovy",
    ];
    let is_ending = |end: &[u8]| ENDINGS.iter().any(|known| end == known.as_bytes());
    let named = |text: &Word| {
        let text = text.shown().trim_end_with(|c| c == '$');
        text.rsplit_once_str(".").is_some_and(|(_, end)| is_ending(end))
    };
    let chosen = reading.options.iter().any(|option| {
        let ending = option.names.iter().any(|name| name == "-e" || name == "--extension");
        let value = option.value.as_ref();
        value.is_some_and(|value| named(value) || (ending && is_ending(value.shown())))
    });
    chosen || reading.operands.iter().any(named)
}

/// Every file there is, whichever way it is given.
pub(super) fn is_everything(written: &BStr) -> bool {
    written == EVERYTHING
}

pub(super) fn is_unknown(word: &Word) -> bool {
    matches!(word, Word::Dynamic(dynamic) if dynamic.splits
        && (dynamic.written == UNKNOWN || dynamic.written == EVERYTHING))
}

/// The whole command, if `xargs` has its words from an input that is known.
pub(super) fn words(subjected: &Subjected<'_>, command: &[Word]) -> Option<Vec<Word>> {
    let reading = subjected.reading;
    let has = |wanted: &str| {
        let names = reading.options.iter().flat_map(|option| &option.names);
        names.into_iter().any(|name| name == wanted)
    };
    // A file of words, one place for all of them, or a separator of one's own: not read here.
    if reading.name != "xargs" || ["-a", "-I", "-i", "-J", "-d"].iter().any(|option| has(option)) {
        return None;
    }
    let Input::Text(Word::Literal(text)) = &subjected.invocation.input else { return None };
    let found =
        if has("-0") { between_zeros(text.as_bstr()) } else { between_blanks(text.as_bstr()) };
    (found.len() <= MOST).then(|| command.iter().cloned().chain(found).collect())
}

fn between_zeros(text: &BStr) -> Vec<Word> {
    text.split_str("\0").filter(|word| !word.is_empty()).map(Word::literal).collect()
}

/// As xargs reads them: quotes and backslashes keep blanks in a word.
fn between_blanks(text: &BStr) -> Vec<Word> {
    let mut words = Vec::new();
    let mut word: Option<BString> = None;
    let mut quote: Option<u8> = None;
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match quote {
            Some(open) if byte == open => quote = None,
            None if byte == b'"' || byte == b'\'' => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            None if byte == b'\\' => word.get_or_insert_default().extend(bytes.next()),
            None if byte.is_ascii_whitespace() => words.extend(word.take().map(Word::Literal)),
            Some(_) | None => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word.map(Word::Literal));
    words
}

/// `xargs -I% sh %` is `xargs -I{} sh {}`.
pub(super) fn with_usual_place(subjected: &Subjected<'_>, words: &[Word]) -> Vec<Word> {
    let usual = BString::from("{}");
    let place = place_kept(subjected.reading);
    match place.filter(|place| *place != usual && !place.is_empty()) {
        Some(place) => words.iter().map(|word| placed(word, &place, &usual)).collect(),
        None => words.to_vec(),
    }
}

fn place_kept(reading: &Reading) -> Option<BString> {
    let given = reading.options.iter().find(|option| {
        reading.name == "xargs"
            && option.names.iter().any(|name| ["-I", "-J", "--replace"].iter().any(|it| name == it))
    })?;
    given.value.as_ref()?.as_literal().map(BString::from)
}

/// `xargs -I{} cp x y`: words are put into a place that is kept for them, and not at the end.
pub(super) fn keeps_a_place(subjected: &Subjected<'_>) -> bool {
    const PLACES: [&str; 4] = ["-I", "-i", "-J", "--replace"];
    let names = subjected.reading.options.iter().flat_map(|option| &option.names);
    subjected.reading.name == "xargs"
        && names.into_iter().any(|name| PLACES.iter().any(|it| name == it))
}

/// The placeholder of `xargs -I`, and the lines that take its place, if they are known.
pub(super) fn lines(subjected: &Subjected<'_>) -> Option<(BString, Vec<BString>)> {
    const MOST_LINES: usize = 64;
    let reading = subjected.reading;
    if reading.name != "xargs" {
        return None;
    }
    let given = reading.options.iter().find(|option| {
        option.names.iter().any(|name| ["-I", "-i", "-J", "--replace"].iter().any(|it| name == it))
    })?;
    let place = match &given.value {
        Some(value) => value.as_literal()?.into(),
        None => BString::from("{}"),
    };
    let Input::Text(Word::Literal(text)) = &subjected.invocation.input else { return None };
    let lines: Vec<BString> = text
        .lines()
        .map(|line| BString::from(line.trim_ascii()))
        .filter(|line| !line.is_empty())
        .collect();
    (!place.is_empty() && !lines.is_empty() && lines.len() <= MOST_LINES).then_some((place, lines))
}

/// The word with the line in the place that is kept for it.
pub(super) fn placed(word: &Word, place: &BString, line: &BString) -> Word {
    let text = match word {
        Word::Literal(text) => text,
        Word::Dynamic(dynamic) if dynamic.values.is_empty() => &dynamic.written,
        Word::Dynamic(_) => return word.clone(),
    };
    if text.contains_str(place) {
        Word::literal(text.replace(place.as_slice(), line.as_slice()))
    } else {
        word.clone()
    }
}

/// `find .git/hooks -exec sh -c '… {}'`: what is found lies where it is looked for.
pub(super) fn place_found(subjected: &Subjected<'_>, words: &mut Vec<Word>) {
    let reading = subjected.reading;
    // The first operand of fd is a pattern.
    let number = match reading.name.as_slice() {
        b"find" => 0,
        b"fd" | b"fdfind" => 1,
        _ => return,
    };
    let start = reading.operands.get(number).and_then(Word::as_literal);
    let elsewhere = |start: &&BStr| !matches!(start.as_bytes(), b"." | b"./");
    let Some(start) = start.filter(elsewhere) else { return };
    let within = BString::from([start.trim_end_with(|c| c == '/'), b"/{}"].concat());
    let place = BString::from("{}");
    // fd puts what it finds at the end if nothing says where.
    if number > 0 && !words.iter().any(|word| word.shown().contains_str("{}")) {
        words.push(Word::Literal(place.clone()));
    }
    for word in words {
        *word = placed(word, &place, &within);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_an_input() {
        let all = |words: Vec<Word>| bstr::join(" ", words.iter().map(Word::shown));
        assert_eq!(all(between_blanks("-rf  '/'\n".into())), b"-rf /");
        assert_eq!(between_blanks("-c \"rm -rf x\" a\\ b".into()).len(), 3);
        assert_eq!(all(between_zeros("a b\0/\0".into())), b"a b /");
    }
}
