//! Words, folded as far as they are decidable, in bash's order of expansion: braces, then tildes, parameters,
//! substitutions and arithmetic from left to right, then splitting and patterns, then quotes.

use std::collections::HashMap;

use bstr::{BStr, BString, ByteSlice};
use exacta_syntax::ast::{self, BraceExpansion, WordPart};

use crate::event::Directory;
use crate::word::{Dynamic, Word};

use super::Walker;
use super::draft::{Draft, Splitting, first_active};
use super::output::Output;

/// A word that braces make into more than this is not taken apart.
const MOST_WORDS: usize = 4096;

/// Nor are any more when a whole text has made so many.
const MOST_WORDS_IN_ALL: usize = 65536;

/// A part of a word after brace expansion.
#[derive(Debug, Clone)]
enum Piece<'tree> {
    Part(&'tree WordPart),
    Text(BString),
}

impl Walker<'_> {
    /// All words that a word becomes.
    pub(super) fn fields(&mut self, word: &ast::Word, out: &mut Vec<Word>) {
        if let [WordPart::Literal(text)] = word.parts.as_slice()
            && first_active(text).is_none()
            && !(self.state.strange && text.contains(&b'='))
        {
            out.push(Word::Literal(text.clone()));
            return;
        }
        if self.state.strange || begins_oddly(word) {
            self.visit(word);
            out.push(dynamic(word, BString::default()));
            return;
        }
        if word.parts.iter().any(|part| matches!(part, WordPart::Brace(_))) {
            self.braced_fields(word, out);
            return;
        }
        let splitting = self.splitting();
        let mut draft = Draft::new(word, out, splitting);
        for part in &word.parts {
            self.part(part, false, &mut draft);
        }
        draft.finish_field();
    }

    /// A word that stays one: an assigned value, a here-string, a subject of `case`.
    pub(super) fn single(&mut self, word: &ast::Word) -> Word {
        match word.parts.as_slice() {
            [WordPart::Literal(text)] => return Word::Literal(text.clone()),
            [] => return Word::Literal(BString::default()),
            _ => {}
        }
        if self.state.strange || begins_oddly(word) {
            self.visit(word);
            return dynamic(word, BString::default());
        }
        self.single_parts(word, false)
    }

    /// As inside double quotes: here-documents.
    pub(super) fn document(&mut self, word: &ast::Word) -> Word {
        self.single_parts(word, true)
    }

    fn single_parts(&mut self, word: &ast::Word, quoted: bool) -> Word {
        let mut out = Vec::new();
        let mut draft = Draft::new(word, &mut out, Splitting::Never);
        draft.begin();
        for part in &word.parts {
            self.part(part, quoted, &mut draft);
        }
        draft.finish_field();
        out.pop().unwrap_or_else(|| Word::Literal(BString::default()))
    }

    /// A pattern, quoted characters with a backslash; `None`: not known.
    pub(super) fn pattern(&mut self, word: &ast::Word) -> Option<BString> {
        let mut out = Vec::new();
        let mut draft = Draft::pattern(word, &mut out);
        draft.begin();
        for part in &word.parts {
            self.part(part, false, &mut draft);
        }
        draft.finish_field();
        match out.pop() {
            Some(Word::Literal(text)) => Some(text),
            _ => None,
        }
    }

    /// The word of `${x:-word}` in the place of the expansion: unlike other text of the script it is split.
    pub(super) fn operand_parts(
        &mut self,
        parts: &[WordPart],
        quoted: bool,
        draft: &mut Draft<'_, '_>,
    ) {
        for part in parts {
            match part {
                WordPart::Literal(text) => draft.value(text, quoted),
                part => self.part(part, quoted, draft),
            }
        }
    }

    fn parts(&mut self, parts: &[WordPart], quoted: bool, draft: &mut Draft<'_, '_>) {
        for part in parts {
            self.part(part, quoted, draft);
        }
    }

    fn part(&mut self, part: &WordPart, quoted: bool, draft: &mut Draft<'_, '_>) {
        match part {
            WordPart::Literal(text) if quoted => draft.quoted(text),
            WordPart::Literal(text) => draft.literal(text),
            WordPart::Escaped(text) | WordPart::SingleQuoted(text) | WordPart::AnsiQuoted(text) => {
                draft.quoted(text);
            }
            WordPart::DoubleQuoted(parts) | WordPart::LocaleQuoted(parts) => {
                if !is_all_parameters(parts) {
                    draft.begin();
                }
                self.parts(parts, true, draft);
            }
            WordPart::Tilde(name) => match self.tilde(name.as_ref()) {
                Some(path) => draft.quoted(&path),
                None => draft.unknown(b"", true),
            },
            WordPart::Parameter(expansion) => self.parameter(expansion, quoted, draft),
            WordPart::Command(substitution) => {
                let output = self
                    .reused(&substitution.body, |walker| walker.command_substitution(substitution));
                match output {
                    Output::Text(text) => draft.value(trimmed(&text), quoted),
                    Output::Program(name) => draft.value(&name, quoted),
                    Output::Begins(prefix) => draft.unknown(&prefix, quoted),
                }
            }
            WordPart::Arithmetic(arithmetic) => match self.arithmetic(arithmetic) {
                Some(number) => draft.value(number.to_string().as_bytes(), quoted),
                None => draft.unknown(b"", true),
            },
            WordPart::Process(process) => {
                self.reused(&process.body, |walker| {
                    walker.process_substitution(process);
                    Output::unknown()
                });
                let nothing = process.body.items.is_empty();
                draft.unknown(if nothing { b"" } else { b"/dev/fd/" }, true);
            }
            WordPart::Brace(brace) => {
                self.visit_brace(brace);
                draft.unknown(b"", false);
            }
        }
    }

    /// Walks a substitution once, however often braces repeat it.
    fn reused(
        &mut self,
        body: &std::sync::Arc<ast::List>,
        walk: impl FnOnce(&mut Self) -> Output,
    ) -> Output {
        let Some(mut known) = self.reuse.take() else { return walk(self) };
        let key = std::sync::Arc::as_ptr(body);
        let output = match known.get(&key) {
            Some(output) => output.clone(),
            None => {
                let output = walk(self);
                known.insert(key, output.clone());
                output
            }
        };
        self.reuse = Some(known);
        output
    }

    fn tilde(&mut self, name: &BStr) -> Option<BString> {
        let place = match name.as_bytes() {
            b"" => {
                let home = self.lookup(BStr::new("HOME")).possibilities()?;
                return match home.as_slice() {
                    [Some(home)] => Some(home.clone()),
                    [None] => Some(self.surroundings.root().into()),
                    _ => None,
                };
            }
            // It is what the variable has, which the script may have set.
            b"+" if self.state.value(BStr::new("PWD")).is_some() => return None,
            b"-" if self.state.value(BStr::new("OLDPWD")).is_some() => return None,
            b"+" => self.state.place.directory(),
            b"-" => self.state.place.previous(),
            user => {
                let digits = user.strip_prefix(b"+").or(user.strip_prefix(b"-")).unwrap_or(user);
                if digits.iter().all(u8::is_ascii_digit) {
                    return None;
                }
                let mut path =
                    BString::from(if user == b"root" { &b"/"[..] } else { &b"/home/"[..] });
                path.extend_from_slice(user);
                return Some(path);
            }
        };
        match place {
            Directory::Known(path) => Some(path),
            Directory::Likely { .. } | Directory::Unknown => None,
        }
    }

    fn braced_fields(&mut self, word: &ast::Word, out: &mut Vec<Word>) {
        let count = count(&word.parts);
        self.braced = self.braced.saturating_add(count);
        if count > MOST_WORDS || self.braced > MOST_WORDS_IN_ALL {
            self.visit_parts(&word.parts);
            out.push(dynamic(word, leading(&word.parts)));
            return;
        }
        let outer = self.reuse.replace(HashMap::new());
        let splitting = self.splitting();
        for pieces in spread(&word.parts) {
            if pieces.windows(2).any(lengthens_name) {
                self.visit_parts(&word.parts);
                out.push(dynamic(word, BString::default()));
                continue;
            }
            let mut draft = Draft::new(word, out, splitting.clone());
            for piece in &pieces {
                match piece {
                    Piece::Part(part) => self.part(part, false, &mut draft),
                    Piece::Text(text) => draft.literal(text),
                }
            }
            draft.finish_field();
        }
        self.reuse = outer;
    }

    /// For the commands inside alone.
    pub(super) fn visit(&mut self, word: &ast::Word) {
        if let [WordPart::Literal(_)] = word.parts.as_slice() {
            return;
        }
        self.visit_parts(&word.parts);
    }

    fn visit_parts(&mut self, parts: &[WordPart]) {
        let word = ast::Word::default();
        let mut out = Vec::new();
        let mut draft = Draft::new(&word, &mut out, Splitting::Never);
        for part in parts {
            match part {
                WordPart::Brace(brace) => self.visit_brace(brace),
                part => self.part(part, false, &mut draft),
            }
        }
    }

    fn visit_brace(&mut self, brace: &BraceExpansion) {
        if let BraceExpansion::Alternatives(words) = brace {
            for word in words {
                self.visit_parts(&word.parts);
            }
        }
    }
}

/// A word of which no more is known than its beginning.
pub(super) fn dynamic(word: &ast::Word, prefix: BString) -> Word {
    Word::Dynamic(Box::new(Dynamic {
        written: exacta_syntax::print_word(word),
        prefix,
        splits: true,
        ..Dynamic::default()
    }))
}

/// Without the newlines at its end, as substitutions are.
pub(super) fn trimmed(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|byte| *byte != b'\n').map_or(0, |last| last + 1);
    text.get(..end).unwrap_or_default()
}

/// `~<(…)`: bash takes the tilde for text.
fn begins_oddly(word: &ast::Word) -> bool {
    matches!(word.parts.as_slice(), [WordPart::Tilde(_), WordPart::Process(_), ..])
}

/// `"$@"` makes no field if there are none.
fn is_all_parameters(parts: &[WordPart]) -> bool {
    let is_all = |part: &WordPart| {
        let WordPart::Parameter(expansion) = part else { return false };
        let all = matches!(expansion.selector, Some(ast::Selector::All));
        all || matches!(expansion.parameter, ast::Parameter::All)
    };
    !parts.is_empty() && parts.iter().all(is_all)
}

/// How many words braces make of these parts.
fn count(parts: &[WordPart]) -> usize {
    parts.iter().fold(1, |product: usize, part| match part {
        WordPart::Brace(brace) => product.saturating_mul(match brace {
            BraceExpansion::Alternatives(words) => {
                words.iter().fold(0, |sum: usize, word| sum.saturating_add(count(&word.parts)))
            }
            BraceExpansion::Numbers { first, last, step, .. } => steps(*first, *last, *step),
            BraceExpansion::Letters { first, last, step } => {
                steps(i64::from(*first), i64::from(*last), *step)
            }
        }),
        _ => product,
    })
}

fn steps(first: i64, last: i64, step: i64) -> usize {
    let step = step.unsigned_abs().max(1);
    usize::try_from(first.abs_diff(last) / step).unwrap_or(usize::MAX).saturating_add(1)
}

fn leading(parts: &[WordPart]) -> BString {
    match parts.first() {
        Some(WordPart::Literal(text)) => text.clone(),
        _ => BString::default(),
    }
}

/// The words that braces make, each as its pieces. The caller has counted them.
fn spread(parts: &[WordPart]) -> Vec<Vec<Piece<'_>>> {
    let mut all = vec![Vec::new()];
    for part in parts {
        let WordPart::Brace(brace) = part else {
            for pieces in &mut all {
                pieces.push(Piece::Part(part));
            }
            continue;
        };
        let alternatives = alternatives(brace);
        let mut next = Vec::with_capacity(all.len().saturating_mul(alternatives.len()));
        for pieces in &all {
            for alternative in &alternatives {
                let mut longer: Vec<Piece<'_>> = pieces.clone();
                longer.extend(alternative.iter().cloned());
                next.push(longer);
            }
        }
        all = next;
    }
    all
}

/// `$x{1,2}` is `$x1 $x2`, unlike `${x}{1,2}`.
fn lengthens_name(pair: &[Piece<'_>]) -> bool {
    let [Piece::Part(WordPart::Parameter(expansion)), next] = pair else { return false };
    let text: &[u8] = match next {
        Piece::Part(WordPart::Literal(text)) | Piece::Text(text) => text,
        Piece::Part(_) => return false,
    };
    let continues = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    expansion.operation == ast::Operation::Plain
        && matches!(expansion.parameter, ast::Parameter::Variable(_))
        && text.first().is_none_or(continues)
}

fn alternatives(brace: &BraceExpansion) -> Vec<Vec<Piece<'_>>> {
    match brace {
        BraceExpansion::Alternatives(words) => {
            words.iter().flat_map(|word| spread(&word.parts)).collect()
        }
        BraceExpansion::Numbers { first, last, step, width } => sequence(*first, *last, *step)
            .map(|number| vec![Piece::Text(padded(number, *width))])
            .collect(),
        BraceExpansion::Letters { first, last, step } => {
            sequence(i64::from(*first), i64::from(*last), *step)
                .filter_map(|letter| u8::try_from(letter).ok())
                .map(|letter| vec![Piece::Text(BString::from(vec![letter]))])
                .collect()
        }
    }
}

fn sequence(first: i64, last: i64, step: i64) -> impl Iterator<Item = i64> {
    let size = i64::try_from(step.unsigned_abs().max(1)).unwrap_or(i64::MAX);
    let step = if first <= last { size } else { -size };
    std::iter::successors(Some(first), move |number| number.checked_add(step))
        .take(steps(first, last, size))
}

fn padded(number: i64, width: usize) -> BString {
    BString::from(format!("{number:0width$}"))
}
