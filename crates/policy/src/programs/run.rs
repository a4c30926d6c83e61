//! Commands inside commands: which words they are.

use bstr::{BString, ByteSlice, ByteVec};

use super::effects::Sink;
use super::schema::MoreWords;
use super::table;
use crate::effect::{Effect, Language, More};
use crate::word::{Dynamic, Word};

/// Whose own table says what their modules do.
const PYTHONS: [&str; 2] = ["python", "ipython"];

/// A word and those after it.
pub fn all(first: &Word, rest: &[Word]) -> Vec<Word> {
    std::iter::once(first).chain(rest).cloned().collect()
}

/// A command of its own, after what an option put before it.
pub fn command(sink: &mut Sink<'_>, words: &[Word]) {
    let mut words = words;
    while let [first, rest @ ..] = words
        && first.as_literal().is_some_and(|text| text == "--")
    {
        words = rest;
    }
    if sink.more == MoreWords::Found
        && let [rest @ .., last] = words
        && last.as_literal().is_some_and(|text| text == ";" || text == "+")
    {
        words = rest;
    }
    let place = found_beneath(sink);
    let mut all: Vec<Word> = sink.heads.clone();
    all.extend(words.iter().map(|word| fill(word, &sink.placeholders, &place)));
    // Words that have a place are put there, and nowhere else.
    let placed = words.iter().any(|word| has_place(word, &sink.placeholders));
    let more = if sink.more == MoreWords::None || placed { More::None } else { More::Unknown };
    let assignments = std::mem::take(&mut sink.assignments);
    if all.is_empty() {
        sink.assignments = assignments;
        return;
    }
    let behind = behind_dynamic(&all);
    sink.effects.push(Effect::Run { words: all, assignments, more });
    if let Some(words) = behind {
        sink.effects.push(Effect::Run { words, assignments: Vec::new(), more });
    }
}

/// An unquoted variable in the place of the command may be empty, or options: then what follows is the command.
fn behind_dynamic(words: &[Word]) -> Option<Vec<Word>> {
    let Some(Word::Dynamic(dynamic)) = words.first() else {
        return None;
    };
    if !dynamic.splits {
        return None;
    }
    let at = words.iter().position(|word| {
        word.as_literal().is_some_and(|text| !text.is_empty() && !text.starts_with(b"-"))
    })?;
    words.get(at..).map(<[Word]>::to_vec)
}

pub fn program(sink: &mut Sink<'_>, word: &Word) {
    if !word.shown().is_empty() {
        let words = vec![word.clone()];
        sink.effects.push(Effect::Run { words, assignments: Vec::new(), more: More::Unknown });
    }
}

/// `npx eslint@8 .`: the package's name is the program's.
pub fn package(sink: &mut Sink<'_>, word: &Word, rest: &[Word]) {
    let (mut word, mut rest) = (word, rest);
    while let (true, Some((next, follow))) =
        (word.as_literal().is_some_and(|text| text == "--"), rest.split_first())
    {
        (word, rest) = (next, follow);
    }
    let Some(text) = word.as_literal() else {
        command(sink, &all(word, rest));
        return;
    };
    let scoped = text.starts_with(b"@");
    let foreign = text.contains(&b':')
        || (text.contains(&b'/') && !scoped && !text.starts_with(b".") && !text.starts_with(b"/"));
    if foreign {
        sink.connect(word);
        sink.executes(text, "runs code fetched from elsewhere");
        return;
    }
    let skip = usize::from(scoped);
    let length = text
        .get(skip..)
        .and_then(|rest| rest.find_byteset(b"@=<>[~!"))
        .map_or(text.len(), |at| at + skip);
    let name = Word::literal(text.get(..length).unwrap_or_default());
    command(sink, &all(&name, rest));
    // `mise exec node@20 -- node x.js`: a tool to have, then the command.
    if let [dashes, next, ..] = rest
        && length < text.len()
        && dashes.as_literal().is_some_and(|text| text == "--")
        && !next.prefix().starts_with(b"-")
    {
        command(sink, rest);
    }
}

/// `hatch run test:unit`, `hatch run +py=3.12 test`.
pub fn task(sink: &mut Sink<'_>, word: &Word, rest: &[Word]) {
    let all = all(word, rest);
    let chooses = |word: &&Word| {
        let text = word.prefix();
        (text.starts_with(b"+") || text.starts_with(b"-")) && text.contains(&b'=')
    };
    let skipped = all.iter().take_while(chooses).count();
    let mut words = all.get(skipped..).unwrap_or_default().to_vec();
    if let Some(Word::Literal(name)) = words.first_mut()
        && let Some((_, task)) = name.split_once_str(":")
    {
        *name = task.into();
    }
    command(sink, &words);
}

/// `python -m NAME`.
pub fn module(sink: &mut Sink<'_>, language: Language, word: &Word, rest: &[Word]) {
    let root = sink.reader.levels.first().copied();
    let Some((text, root)) = word.as_literal().zip(root) else {
        sink.effects.push(Effect::ScriptFile { language, path: word.clone() });
        return;
    };
    if language == Language::Python
        && root.names.first().is_none_or(|name| !PYTHONS.iter().any(|it| name.starts_with(it)))
    {
        // `coverage run -m x` runs what `python -m x` does.
        let start = [Word::literal("python"), Word::literal("-m")];
        let words = start.into_iter().chain(all(word, rest)).collect();
        sink.effects.push(Effect::Run { words, assignments: Vec::new(), more: More::None });
        return;
    }
    if let Some(inner) = root.subcommand(text) {
        sink.effects.extend(super::read_by(&all(word, rest), inner).effects);
        // It does not read code by itself, whatever it does.
        sink.effects.push(script(language, text));
        return;
    }
    let first = root.names.first().map_or("", |name| name.trim_end_matches('*'));
    let mut key = BString::from(first);
    key.push(b':');
    key.push_str(text);
    match table::plain(&key) {
        Some(_) => command(sink, &all(word, rest)),
        None => sink.effects.push(script(language, text)),
    }
}

fn script(language: Language, module: &[u8]) -> Effect {
    let mut path = BString::from(module.replace(".", "/"));
    if language == Language::Python {
        path.push_str(".py");
    }
    Effect::ScriptFile { language, path: Word::Literal(path) }
}

/// The words as one text, as a shell is given it.
pub fn joined(words: &[Word]) -> Word {
    if let [word] = words {
        return word.clone();
    }
    let mut written = BString::default();
    let mut prefix = BString::default();
    let mut known = true;
    for (place, word) in words.iter().enumerate() {
        if place > 0 {
            written.push(b' ');
        }
        written.push_str(word.shown());
        if known {
            if place > 0 {
                prefix.push(b' ');
            }
            prefix.push_str(word.prefix());
            known = word.as_literal().is_some();
        }
    }
    if known {
        return Word::Literal(written);
    }
    Word::Dynamic(Box::new(Dynamic { written, prefix, ..Dynamic::default() }))
}

/// `parallel COMMAND ::: ARGUMENT…`; without a command every argument is one.
pub fn parallel(sink: &mut Sink<'_>, words: &[Word]) {
    let ends = words.iter().position(|word| {
        word.as_literal()
            .is_some_and(|text| [":::", "::::", ":::+", "::::+"].iter().any(|it| text == *it))
    });
    let (before, after) = words.split_at(ends.unwrap_or(words.len()));
    let arguments = after.iter().filter(|word| !word.shown().starts_with(b":::"));
    if before.is_empty() {
        sink.effects.extend(arguments.cloned().map(Effect::Shell));
        return;
    }
    let text = joined(before);
    let from_files = after.first().is_some_and(|word| word.shown().starts_with(b"::::"));
    let filled: Option<Vec<Word>> = if from_files || sink.reader.has_option("--pipe") {
        None
    } else {
        arguments.map(|argument| filled(&text, argument, &sink.placeholders)).collect()
    };
    match filled {
        Some(filled) if !filled.is_empty() => {
            sink.effects.extend(filled.into_iter().map(Effect::Shell));
        }
        _ => sink.effects.push(Effect::Shell(text)),
    }
}

/// A shell text with an argument, quoted, in its place, or at its end.
fn filled(text: &Word, argument: &Word, placeholders: &[BString]) -> Option<Word> {
    let quoted = [b"'", argument.as_literal()?.replace("'", "'\\''").as_slice(), b"'"].concat();
    let text = text.as_literal()?;
    let mut whole = text.to_vec();
    for placeholder in placeholders.iter().filter(|it| !it.is_empty()) {
        whole = whole.replace(placeholder, &quoted);
    }
    if whole == text.as_bytes() {
        whole.push(b' ');
        whole.extend_from_slice(&quoted);
    }
    Some(Word::literal(whole))
}

/// What the files that a command finds begin with: its one starting point.
fn found_beneath(sink: &Sink<'_>) -> BString {
    let operands = sink.reader.operands.get(sink.reader.chosen..).unwrap_or_default();
    match (sink.more, operands) {
        (MoreWords::Found, []) => "./".into(),
        (MoreWords::Found, [one]) => {
            let mut place = one.prefix().to_owned();
            if one.as_literal().is_some() && !place.ends_with(b"/") {
                place.push(b'/');
            }
            place
        }
        _ => BString::default(),
    }
}

fn has_place(word: &Word, placeholders: &[BString]) -> bool {
    placeholders.iter().any(|it| !it.is_empty() && word.shown().contains_str(it))
}

/// A word that is filled in when the command runs. A text with blanks stays as it is: it is code, and reading it
/// with the placeholder in it says more than not reading it.
fn fill(word: &Word, placeholders: &[BString], place: &BString) -> Word {
    let Some(text) = word.as_literal() else {
        return word.clone();
    };
    let found = placeholders.iter().filter(|it| !it.is_empty()).find_map(|it| text.find(it));
    let Some(at) = found.filter(|_| !text.contains(&b' ')) else {
        return word.clone();
    };
    let prefix = if at == 0 { place.clone() } else { text.get(..at).unwrap_or_default().into() };
    Word::Dynamic(Box::new(Dynamic { written: text.to_owned(), prefix, ..Dynamic::default() }))
}
