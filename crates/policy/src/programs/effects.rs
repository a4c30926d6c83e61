//! What options and operands do, by their roles.

use bstr::{BStr, BString, ByteSlice};

use super::names::matches;
use super::options::tail;
use super::reader::{Given, Reader};
use super::roles::Role;
use super::schema::MoreWords;
use super::table::{OptionRow, ShapeRow, Table};
use super::{run, settings};
use crate::effect::{Effect, Language};
use crate::event::Access;
use crate::word::{Dynamic, Word};

/// Gathers what a command does.
#[derive(Debug)]
pub struct Sink<'r> {
    pub effects: Vec<Effect>,
    /// For the environment of the command that is run.
    pub assignments: Vec<(BString, Word)>,
    /// The program of the command in the operands, if an option names it.
    pub heads: Vec<Word>,
    pub placeholders: Vec<BString>,
    pub more: MoreWords,
    pub reader: &'r Reader<'r, 'r>,
}

/// Everything that the words do.
pub fn effects(reader: &Reader<'_, '_>) -> Vec<Effect> {
    let Some(table) = reader.table() else {
        return Vec::new();
    };
    let mut sink = Sink {
        effects: Vec::new(),
        assignments: Vec::new(),
        heads: Vec::new(),
        placeholders: table.placeholders.iter().map(|text| text.as_str().into()).collect(),
        more: table.more,
        reader,
    };
    if let Some(reason) = &table.executes {
        let chosen = reader.chosen.checked_sub(1).and_then(|last| reader.operands.get(last));
        let name = chosen.copied().or(reader.words.first()).map_or(BStr::new(b""), |it| it.shown());
        sink.executes(name, reason);
    }
    for word in &reader.unknown {
        sink.effects.push(Effect::UnknownOption((*word).clone()));
    }
    for given in &reader.given {
        sink.option(given);
    }
    for word in &reader.assignments {
        sink.assign(word);
    }
    sink.operands(table);
    sink.rest();
    sink.finish(table);
    sink.effects
}

impl Sink<'_> {
    fn option(&mut self, given: &Given<'_, '_>) {
        let Some(row) = given.row else {
            return;
        };
        let changed = self.reader.when().and_then(|when| {
            when.takes.iter().find(|(name, _)| row.names.contains(name)).map(|(_, role)| role)
        });
        if let Some(reason) = &row.executes
            && may_execute(given.value.as_deref(), &row.unless, &row.only, row.value.as_ref())
        {
            self.executes(given.first_name(), reason);
        }
        let Some(role) = changed.or(row.value.as_ref()) else {
            return;
        };
        // Further words of its own are not part of its value.
        let (rest, further) =
            if row.count < 2 { (given.rest, &[][..]) } else { (&[][..], given.rest) };
        if let Some(then) = &row.then {
            for word in further {
                self.apply(then, word, &[], given.first_name());
            }
        }
        match &given.value {
            Some(value) => {
                if *role == Role::Program && row.executes.is_none() && is_own_program(value, row) {
                    self.executes(
                        given.first_name(),
                        "names a program of the project that it starts",
                    );
                }
                self.apply(role, value, rest, given.first_name());
            }
            None if *role == Role::Placeholder => self.placeholders.push("{}".into()),
            None => {}
        }
    }

    fn operands(&mut self, table: &Table) {
        let reader = self.reader;
        let operands = reader.operands.get(reader.chosen..).unwrap_or_default();
        let Some(layout) = reader.layout() else {
            return;
        };
        let count = operands.len();
        for (place, word) in operands.iter().enumerate() {
            if let Some(shape) = shape_of(word, table) {
                self.shape(shape, word);
                if shape.value.is_some() {
                    continue;
                }
            }
            match layout.role(place, count) {
                Some(Role::Key(settings)) => {
                    if let Some(value) = operands.get(place + 1) {
                        settings::apply(self, settings, word.prefix(), value, word.prefix());
                    }
                }
                Some(role) => self.apply(role, word, &[], BStr::new(b"")),
                None => {}
            }
        }
    }

    fn shape(&mut self, shape: &ShapeRow, word: &Word) {
        let before = shape.pattern.find('*').unwrap_or(shape.pattern.len());
        if let Some(reason) = &shape.executes {
            self.executes(word.shown(), reason);
        }
        if let Some(role) = &shape.value {
            self.apply(role, &tail(word, before), &[], word.prefix());
        }
    }

    /// The words of an operand that takes all that follow.
    fn rest(&mut self) {
        let reader = self.reader;
        let Some((first, follow)) = reader.rest.split_first() else {
            // What an option names runs even if the operands name nothing.
            if !self.heads.is_empty() {
                run::command(self, &[]);
            }
            return;
        };
        let role = reader.layout().and_then(|layout| layout.front.get(layout.rest?));
        if let Some(role) = role {
            self.apply(role, first, follow, BStr::new(b""));
        }
    }

    fn finish(&mut self, table: &Table) {
        for (name, value) in std::mem::take(&mut self.assignments) {
            self.effects.push(Effect::Assign { name, value });
        }
        self.join_code();
        let named = self.effects.iter().any(is_code);
        let asks = ["--version", "--help"].iter().any(|name| self.reader.has_option(name));
        if let (Some(language), false, false) = (table.reads_code, named, asks) {
            self.effects.push(Effect::CodeFromInput(language));
        }
    }

    /// `timeit -s 'import os' 'os.x()'`, `ruby -e … -e …`: pieces of one program, which know each other's names.
    fn join_code(&mut self) {
        let piece = |effect: &Effect| match effect {
            Effect::Code { language, text: Word::Literal(text) } if is_one_program(*language) => {
                Some((*language, text.clone()))
            }
            _ => None,
        };
        let pieces: Vec<(Language, BString)> = self.effects.iter().filter_map(piece).collect();
        let Some((language, _)) = pieces.first().cloned() else { return };
        if pieces.len() < 2 || pieces.iter().any(|(other, _)| *other != language) {
            return;
        }
        let text = BString::from(bstr::join("\n", pieces.iter().map(|(_, text)| text)));
        self.effects.retain(|effect| piece(effect).is_none());
        self.effects.push(Effect::Code { language, text: Word::Literal(text) });
    }

    pub fn executes(&mut self, option: &BStr, reason: &str) {
        let reason = reason.to_owned();
        self.effects.push(Effect::Executes { option: option.to_owned(), reason });
    }

    /// An option that names a program from beside the project: no work of the project, and nobody sees it run.
    fn beside(&mut self, role: &Role, word: &Word, option: &BStr) {
        let starts = matches!(role, Role::Program | Role::Head | Role::Shell | Role::Split);
        let told =
            |effect: &Effect| matches!(effect, Effect::Executes { option: it, .. } if it == option);
        if starts
            && !option.is_empty()
            && word.prefix().trim_ascii_start().starts_with(b"/tmp/")
            && !self.effects.iter().any(told)
        {
            self.executes(option, "starts a program from beside the project");
        }
    }

    /// What one word with this role does; `rest` are the words that belong to it, `option` says whose value it is.
    pub fn apply(&mut self, role: &Role, word: &Word, rest: &[Word], option: &BStr) {
        self.beside(role, word, option);
        match role {
            Role::Text | Role::Key(_) => {}
            Role::Remote(Access::Read) if is_placeholder(word) => {}
            Role::Remote(_) if is_remote(word) => self.connect(word),
            Role::Open(access) | Role::Remote(access) => self.open(word, *access),
            Role::Directory => self.effects.push(Effect::Directory(word.clone())),
            Role::Command | Role::CommandUntil => run::command(self, &run::all(word, rest)),
            Role::Head => self.heads.push(word.clone()),
            // A name with blanks is a command with words of its own: `--pager='less -R'`.
            Role::Program if word.prefix().contains(&b' ') => {
                self.effects.push(Effect::Split(word.clone()));
            }
            Role::Program => run::program(self, word),
            Role::Package => run::package(self, word, rest),
            Role::Task => run::task(self, word, rest),
            Role::Module(language) => run::module(self, *language, word, rest),
            Role::Shell => self.shell(word),
            Role::Joined => self.shell(&run::joined(&run::all(word, rest))),
            Role::JoinedUntil => run::parallel(self, &run::all(word, rest)),
            Role::Bang => match word.as_literal() {
                Some(text) if text.starts_with(b"!") => self.shell(&tail(word, 1)),
                Some(_) => {}
                None => self.shell(word),
            },
            Role::Split | Role::Splice => {
                if !word.shown().is_empty() {
                    self.effects.push(Effect::Split(word.clone()));
                }
            }
            Role::Code(language) => {
                self.effects.push(Effect::Code { language: *language, text: word.clone() });
            }
            Role::Script(language) => self.script(*language, word),
            Role::Link => self.link(word),
            Role::Connect => self.connect(word),
            Role::Listen => self.listen(word),
            Role::Data => self.data(word),
            Role::Mount => self.mount(word),
            Role::Named(access) => {
                let at = word.prefix().find_byte(b'=').map_or(0, |equals| equals + 1);
                self.open(&tail(word, at), *access);
            }
            Role::Assignment => self.assign(word),
            Role::Variable => self.variable(word),
            Role::Definition => {
                if let Some(at) = word.prefix().find_byte(b'=') {
                    self.shell(&tail(word, at + 1));
                }
            }
            Role::Setting(table) => settings::pair(self, table, word, option),
            Role::SettingVariable(table) => settings::from_variable(self, table, word, option),
            Role::Placeholder => self.placeholders.push(word.prefix().to_owned()),
        }
    }

    fn open(&mut self, word: &Word, access: Access) {
        let stream = word.as_literal().is_some_and(|text| text.is_empty() || text == "-");
        if !stream || !matches!(access, Access::Read | Access::Write) {
            self.effects.push(Effect::Open { path: word.clone(), access });
        }
    }

    fn shell(&mut self, word: &Word) {
        // `trap - INT` and `trap '' INT` run nothing. Elsewhere an empty text is a variable that nobody has set yet.
        let nothing = word.as_literal().is_some_and(|text| text.is_empty() || text == "-");
        let traps = |table: &Table| table.names.iter().any(|name| name == "trap");
        if !(nothing && self.reader.table().is_some_and(traps)) {
            self.effects.push(Effect::Shell(word.clone()));
        }
    }

    fn script(&mut self, language: Language, word: &Word) {
        let input = word.as_literal().is_some_and(|text| {
            ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"].iter().any(|name| text == *name)
        });
        if word.prefix().contains_str("://") {
            self.effects.push(Effect::Connect(word.clone()));
        }
        self.effects.push(if input {
            Effect::CodeFromInput(language)
        } else {
            Effect::ScriptFile { language, path: word.clone() }
        });
    }

    pub fn connect(&mut self, word: &Word) {
        if word.prefix().starts_with(b"file://") {
            self.open(&tail(word, b"file://".len()), Access::Read);
        } else {
            self.effects.push(Effect::Connect(word.clone()));
        }
    }

    /// A port alone is one of this machine's.
    fn listen(&mut self, word: &Word) {
        let digits =
            |text: &BStr| text.strip_prefix(b":").unwrap_or(text).iter().all(u8::is_ascii_digit);
        let port = word.as_literal().is_some_and(digits);
        if !port {
            self.effects.push(Effect::Connect(word.clone()));
        }
    }

    /// A relative target begins where the link is.
    fn link(&mut self, target: &Word) {
        let place = self.reader.operands.last().map_or(BStr::new(b""), |word| word.prefix());
        let several = self.reader.operands.len() > self.reader.chosen + 1;
        let parent = place.rfind_byte(b'/').and_then(|at| place.get(..=at)).unwrap_or_default();
        let path = match target {
            Word::Literal(text) if several && !text.starts_with(b"/") => {
                Word::literal([parent, text.as_slice()].concat())
            }
            other => other.clone(),
        };
        self.open(&path, Access::Read);
    }

    /// `@file`, `name=@file`, `name=<file`.
    fn data(&mut self, word: &Word) {
        let text = word.prefix();
        let at = if text.starts_with(b"@") {
            Some(1)
        } else {
            text.find("=@").or_else(|| text.find("=<")).map(|at| at + 2)
        };
        if let Some(at) = at {
            self.open(&tail(word, at), Access::Read);
        }
    }

    /// `host:container:ro`, or `type=bind,source=host,target=container`.
    fn mount(&mut self, word: &Word) {
        let text = word.prefix();
        let named = text
            .split_str(",")
            .find_map(|part| part.strip_prefix(b"source=").or_else(|| part.strip_prefix(b"src=")));
        let host = named.unwrap_or_else(|| text.split_str(":").next().unwrap_or_default());
        // Without a slash it is the name of a volume.
        if host.contains(&b'/') || host.starts_with(b".") || host.starts_with(b"~") {
            self.open(&Word::literal(host), Access::Write);
        } else if host.is_empty() && word.as_literal().is_none() {
            self.open(word, Access::Write);
        }
    }

    fn assign(&mut self, word: &Word) {
        if let Some(at) = word.prefix().find_byte(b'=') {
            let name = word.prefix().get(..at).unwrap_or_default();
            // `+=`, and those of make: `:=`, `::=`, `?=`.
            let name = name.trim_end_with(|c| matches!(c, '+' | ':' | '?'));
            self.assignments.push((name.into(), tail(word, at + 1)));
        }
    }

    fn variable(&mut self, word: &Word) {
        let name = word.prefix();
        let length = name.find_byteset(b"[=").unwrap_or(name.len());
        let name: BString = name.get(..length).unwrap_or_default().into();
        if !name.is_empty() {
            let value = Word::Dynamic(Box::new(Dynamic {
                written: word.shown().to_owned(),
                ..Dynamic::default()
            }));
            self.effects.push(Effect::Assign { name, value });
        }
    }
}

/// Does an option or a setting execute with this value? What is not known may; of a text that is partly known, only
/// what is written of it counts, and the rest when it runs: `-ldflags "-X main.version=$(git describe)"`. So with the
/// name of a file that is only read or written.
pub fn may_execute(
    value: Option<&Word>,
    unless: &[String],
    only: &[String],
    role: Option<&Role>,
) -> bool {
    match value {
        Some(value) if is_one_of(value, unless) => false,
        Some(Word::Dynamic(dynamic)) if !only.is_empty() && is_data(role) => {
            is_one_of(&Word::Literal(dynamic.written.clone()), only)
        }
        Some(value) if value.as_literal().is_some() && !only.is_empty() => is_one_of(value, only),
        _ => true,
    }
}

/// Several options with code make one program. Those of an editor, of sed and of perl, where a name means the same
/// everywhere, are judged one by one all the same.
fn is_one_program(language: Language) -> bool {
    use Language::{Lua, Node, Other, Php, Python, R, Ruby};
    matches!(language, Lua | Node | Other | Php | Python | R | Ruby)
}

fn is_data(role: Option<&Role>) -> bool {
    matches!(role, Some(Role::Text | Role::Open(Access::Read | Access::Write)))
}

/// A path that is none of the system's: `--pager=./x`.
fn is_own_program(value: &Word, row: &OptionRow) -> bool {
    const SYSTEM: [&str; 3] = ["/usr/", "/bin/", "/sbin/"];
    let text = value.prefix();
    text.contains(&b'/')
        && !SYSTEM.iter().any(|place| text.starts_with(place.as_bytes()))
        && !is_one_of(value, &row.unless)
}

/// Does the word have one of these values, letters in either case?
pub fn is_one_of(word: &Word, values: &[String]) -> bool {
    let Some(text) = word.as_literal() else {
        return false;
    };
    let text = text.to_ascii_lowercase();
    values.iter().any(|value| matches(value.to_ascii_lowercase().as_bytes(), &text))
}

fn shape_of<'t>(word: &Word, table: &'t Table) -> Option<&'t ShapeRow> {
    table.shapes.iter().find(|shape| match word.as_literal() {
        Some(text) => matches(shape.pattern.as_bytes(), text),
        None => {
            let before = shape.pattern.split('*').next().unwrap_or_default();
            !before.is_empty() && word.prefix().starts_with(before.as_bytes())
        }
    })
}

/// `xargs -I{} convert {} x`: a file of a list; another thing is judged when it is there.
fn is_placeholder(word: &Word) -> bool {
    matches!(word, Word::Dynamic(dynamic) if dynamic.written == "{}" && !dynamic.splits)
}

/// `host:path` and URLs; a path has a slash before its first colon.
fn is_remote(word: &Word) -> bool {
    // What a pattern matches are files; their names say the rest.
    let pattern = match word {
        Word::Dynamic(dynamic) => dynamic.glob.as_ref(),
        Word::Literal(_) => None,
    };
    let text = pattern.map_or(word.prefix(), |glob| glob.as_bstr());
    if text.is_empty() && word.as_literal().is_none() {
        return true;
    }
    let colon = text.find_byte(b':');
    colon.is_some_and(|at| at > 0 && !text.get(..at).unwrap_or_default().contains(&b'/'))
        || text.contains_str("://")
}

fn is_code(effect: &Effect) -> bool {
    matches!(
        effect,
        Effect::Run { .. }
            | Effect::Shell(_)
            | Effect::Split(_)
            | Effect::Code { .. }
            | Effect::CodeFromInput(_)
            | Effect::ScriptFile { .. }
    )
}
