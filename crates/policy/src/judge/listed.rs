//! Words that a program reads from a file as if they were typed: `tar -T list`, `javac @arguments`. If this very text
//! has written them they are judged with the command; if the file lies beside the project, nobody knows them.

use bstr::{BStr, BString, ByteSlice};

use super::command::Subjected;
use super::inquiry::Inquiry;
use crate::effect::{Effect, More};
use crate::event::{Access, Input};
use crate::programs::Kind;
use crate::surroundings::Place;
use crate::verdict::Finding;
use crate::word::Word;

/// So many words of a list are judged; a longer one is asked about.
const MOST: usize = 1_024;

impl Inquiry<'_> {
    /// The words of lists whose contents are known, judged as if they were typed.
    pub fn listed(&mut self, subjected: &Subjected<'_>) {
        // A list is not read again for the words that it gave.
        if self.comes_back || self.listing {
            return;
        }
        self.packed_names(subjected);
        for list in lists(subjected) {
            let Some(text) = self.content(&list, subjected) else { continue };
            let mut words: Vec<Word> = subjected.invocation.words.clone();
            let found = words_of(text.as_bstr(), list.lines);
            let found: Vec<Word> =
                found.filter(|word| !word.is_empty()).map(Word::literal).collect();
            if found.is_empty() || found.len() > MOST {
                continue;
            }
            words.extend(found);
            let effect = Effect::Run { words, assignments: Vec::new(), more: More::None };
            self.listing = true;
            self.nested_effect(subjected, &effect);
            self.listing = false;
        }
    }

    /// `cpio -o <<< /etc/x`: names of files to pack, if they are known.
    fn packed_names(&mut self, subjected: &Subjected<'_>) {
        let Input::Text(Word::Literal(text)) = &subjected.invocation.input else { return };
        if !packs_names_of_input(subjected) {
            return;
        }
        let mut findings = Vec::new();
        for name in words_of(text.as_bstr(), true).filter(|name| !name.is_empty()).take(MOST) {
            self.path(&Word::literal(name), Access::Read, subjected, &mut findings);
        }
        self.note(vec![subjected.reading.name.clone()], &subjected.invocation.via, findings);
    }

    /// A list from beside the project.
    pub fn lists_from_beside(&self, subjected: &Subjected<'_>, findings: &mut Vec<Finding>) {
        for list in lists(subjected).into_iter().filter(|list| !list.lines) {
            let path = Word::Literal(list.path.clone());
            if self.place_of(&path, &subjected.directory) == Some(Place::Scratch) {
                let about = list.path.to_str_lossy();
                let found = self.situation_unless("executing-option", &about, &subjected.lifted);
                findings.extend(found);
            }
        }
    }

    fn content(&self, list: &List, subjected: &Subjected<'_>) -> Option<BString> {
        if matches!(list.path.as_slice(), b"-" | b"/dev/stdin") {
            return match &subjected.invocation.input {
                Input::Text(Word::Literal(text)) => Some(text.clone()),
                _ => None,
            };
        }
        let path = super::paths::absolute(list.path.as_bstr(), &subjected.directory)?;
        self.written.get(&path).cloned()
    }
}

fn packs_names_of_input(subjected: &Subjected<'_>) -> bool {
    const PACKERS: [(&str, &[&str]); 4] = [
        ("cpio", &["-o", "-p", "--create", "--pass-through"]),
        ("bsdcpio", &["-o", "-p"]),
        ("pax", &["-w"]),
        ("zip", &["-@", "--names-stdin"]),
    ];
    let reading = subjected.reading;
    let mut names = reading.options.iter().flat_map(|option| &option.names);
    PACKERS.iter().any(|(packer, options)| {
        reading.name == *packer && names.any(|name| options.iter().any(|it| name == it))
    })
}

struct List {
    path: BString,
    /// One word in each line; else they are separated by blanks.
    lines: bool,
}

fn lists(subjected: &Subjected<'_>) -> Vec<List> {
    let reading = subjected.reading;
    let mut found = Vec::new();
    if matches!(reading.name.as_slice(), b"tar" | b"gtar") {
        let named = reading.options.iter().filter(|option| {
            option.names.iter().any(|name| name == "-T" || name == "--files-from")
        });
        let paths = named.filter_map(|option| option.value.as_ref()?.as_literal());
        found.extend(paths.map(|path| List { path: path.into(), lines: true }));
    }
    if Kind::WordsFromFile.includes(reading.name.as_bstr()) {
        let words = subjected.invocation.words.iter().skip(1).filter_map(Word::as_literal);
        let paths = words.filter_map(|word| word.strip_prefix(b"@"));
        found.extend(paths.map(|path| List { path: path.into(), lines: false }));
    }
    found
}

fn words_of(text: &BStr, lines: bool) -> impl Iterator<Item = &[u8]> {
    text.split(move |byte| if lines { *byte == b'\n' } else { byte.is_ascii_whitespace() })
        .map(|word| word.trim_ascii().trim_with(|c| matches!(c, '"' | '\'')))
}
