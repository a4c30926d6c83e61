//! The format of `programs/*.toml`, read when the crate is built.
//!
//! ```toml
//! [[program]]
//! names = ["timeout"]
//! summary = "runs a command with a time limit"
//! style = "posix"                       # options end at the first operand
//! operands = ["text", "command"]        # a duration, then a command
//! flags = ["-v --verbose", "--foreground"]
//! takes = { text = ["-k --kill-after", "-s --signal"] }
//! examples = [
//!   { line = "timeout -k5 10 curl x", runs = ["curl x"] },
//! ]
//! ```
//!
//! An option is one text with all its names. `flags` take no value, `takes` gives those of each role, `maybe` those
//! whose value may be left out and must then be attached; `options` is the long form for everything else.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Program {
    /// Names without directory: programs that are read alike, each under its own name. `python*`: any version
    /// (`python3.12`, `gcc-13`). A `*` elsewhere matches any text (`mkfs.*`, `*-gcc`); such a program goes by the
    /// first name. `python:pip`: what `python -m pip` runs is this program.
    pub names: Vec<String>,
    /// Other names of the first one, which it goes by: `nodejs`.
    pub aliases: Vec<String>,
    pub summary: String,
    pub style: Style,
    /// Names and options in either case of letters; options with one dash may be cut short.
    pub any_case: bool,
    /// Names of `[[shared]]` sets of options.
    pub shares: Vec<String>,
    pub flags: Vec<String>,
    pub takes: BTreeMap<String, Vec<String>>,
    pub maybe: BTreeMap<String, Vec<String>>,
    pub options: Vec<OptionSpec>,
    /// Its options count only before the subcommand: git.
    pub options_first: bool,
    /// Roles of the operands in order. The last one repeats if it ends in `*`; see [`ROLES`].
    pub operands: Vec<String>,
    /// What options change. The first that applies does.
    pub when: Vec<When>,
    /// What operands of a certain look do besides.
    pub shapes: Vec<Shape>,
    /// The first operand chooses; each has options and operands of its own besides these.
    pub subcommands: Vec<Program>,
    /// A subcommand that is a program of its own, with all the words that follow: `yarn eslint .`. Its operands are
    /// `["command"]`.
    pub itself: bool,
    /// The language in which it reads code from standard input when nothing else names code (`sh`, `python`).
    pub reads_code: Option<String>,
    /// Whatever its words are, it runs something: why.
    pub executes: Option<String>,
    /// Where words are put into the command it runs: `{}`.
    pub placeholders: Vec<String>,
    /// The command it runs gets more words.
    pub more: MoreWords,
    pub examples: Vec<Example>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OptionSpec {
    /// `-x`, `--long`, and for `style = "dash"` also `-long`. Without a dash: that word exactly (`!` of find).
    pub names: Vec<String>,
    /// The role of its value. Absent: it takes none.
    pub value: Option<String>,
    /// The value may be left out; then it is only taken when attached (`-i.bak`, `--color=auto`).
    pub optional: bool,
    /// The value may follow the name directly although the style has no clusters: `-Idirectory`, `+command`.
    pub joined: bool,
    /// Its value is made of digits: what follows them in a cluster are options again (`perl -0777ne`, `-lane`).
    pub digits: bool,
    /// What follows it and its value are operands: `python -c CODE`.
    pub last: bool,
    /// How many words it takes if more than one; those after the first are texts …
    pub count: usize,
    /// … or have this role: `jq --rawfile NAME FILE`.
    pub then: Option<String>,
    /// The option itself executes or changes the command's nature: why.
    pub executes: Option<String>,
    /// … not with these values.
    pub unless: Vec<String>,
    /// … only with these values, unless empty.
    pub only: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct When {
    /// Any of these is given.
    pub options: Vec<String>,
    /// … and any of these, unless empty.
    pub and: Vec<String>,
    pub operands: Vec<String>,
    /// Options whose values have another role then.
    pub takes: BTreeMap<String, Vec<String>>,
}

/// An operand that does something by its look: `ext::…` as a remote of git, `SHELL=…` for make.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Shape {
    /// `*` matches any text.
    pub pattern: String,
    /// The role of what follows the text before the first `*` of the pattern; instead of the one by its place.
    pub value: Option<String>,
    pub executes: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Example {
    pub line: String,
    /// The inner commands.
    pub runs: Vec<String>,
    /// Shell texts.
    pub shell: Vec<String>,
    /// Texts split into words and run.
    pub splits: Vec<String>,
    pub code: Vec<String>,
    /// Files of code.
    pub scripts: Vec<String>,
    /// Languages of code on standard input.
    pub input: Vec<String>,
    pub reads: Vec<String>,
    pub writes: Vec<String>,
    pub deletes: Vec<String>,
    /// Directories that all of it happens in.
    pub enters: Vec<String>,
    pub connects: Vec<String>,
    pub assigns: Vec<String>,
    /// Options that execute by themselves.
    pub executes: Vec<String>,
    pub unknown: Vec<String>,
    pub operands: Vec<String>,
    /// No effect at all.
    pub nothing: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Style {
    /// Options anywhere, clusters, `--long=value`, abbreviations.
    #[default]
    Gnu,
    /// The same, but the first operand ends the options: wrappers.
    Posix,
    /// `-long` options with one dash, no clusters: find, java, go, terraform.
    Dash,
    /// `name=value` operands: dd.
    Pairs,
    /// The first operand may be a cluster without dash: tar, ar, ps.
    Bundled,
    /// `/x` options: Windows.
    Slash,
    /// Everything is an operand.
    None,
}

/// The words a wrapper adds to its command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MoreWords {
    #[default]
    None,
    /// From its input: xargs.
    Input,
    /// Files beneath its operands: find.
    Found,
}

/// What a `name=value` setting does: `git -c core.pager=…`, `ssh -o ProxyCommand=…`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Setting {
    /// The table's name, as in the role `setting:git`.
    pub table: String,
    /// `core.pager`, `alias.*`; letters in either case.
    pub keys: Vec<String>,
    /// The role of its value.
    pub value: String,
    /// The setting itself executes: why.
    pub executes: Option<String>,
    /// … not with these values.
    pub unless: Vec<String>,
    /// … only with these values, unless empty.
    pub only: Vec<String>,
}

/// What several programs have in common that is not a matter of their words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Kind {
    /// One of [`KINDS`].
    pub name: String,
    pub meaning: String,
    pub programs: Vec<String>,
}

pub const KINDS: &[&str] = &[
    "applies-patches",
    "compiles",
    "hides",
    "loads-nothing",
    "runs-project",
    "takes-in",
    "words-from-file",
];

/// The roles a value or an operand can have, as written in the tables:
///
/// - `text`: nothing happens with it
/// - `read`, `write`, `delete`, `enter`, `execute`: a path, and how it is used; `link`: what a symbolic link points
///   to, as seen from where the link is, which is the last operand
/// - `command`: this word and all that follow are a command; `command;`: up to `;`, or `+` after `{}` (find)
/// - `head`: the program of the command in the operands: `docker run --entrypoint`
/// - `shell`: a text for a shell; `joined`: this word and all that follow are, joined; `joined:::`: up to `:::`
/// - `bang`: a text for a shell if it begins with `!`
/// - `split`: a text split into words and run; `splice`: its words take its place: `env -S`
/// - `task`: a task of the project or a command, perhaps with the environment for it (`test:unit`), and then its words
/// - `program`: one program's name; `package`: the name of a package that is run, and then its words
/// - `code:LANGUAGE`: inline code; `script:LANGUAGE`: a file of code that is run
/// - `module:LANGUAGE`: `python -m`: a subcommand of that name, a program, or a file of the project
/// - `connect`: a host, an URL, `user@host:path`; `remote`, `remote-write`: that, or else a path
/// - `listen`: where it listens; this machine alone is no network
/// - `data`: text, or a file to read after `@`: `curl -d @file`
/// - `mount`: `host:container`, or `type=bind,source=host`
/// - `assignment`: `NAME=VALUE` for the environment of what is run; as an operand: as long as it looks like one
/// - `variable`: the name of a variable that gets a value nobody knows: `read x`
/// - `definition`: `NAME=TEXT`, the text for a shell: `alias`
/// - `setting:TABLE`: `name=value`, looked up in the settings of that table; `setting-variable:TABLE`: the value is
///   in a variable; `key:TABLE`: the name alone, its value is the next operand
/// - `placeholder`: where words are put into the command: `xargs -I`
/// - `directory`: all of the command happens in there (`git -C`, `make -C`)
///
/// An operand role with `*` at its end repeats; roles after it are taken from the end (`["read*", "write"]`: cp).
pub const ROLES: &[&str] = &[
    "text",
    "read",
    "write",
    "delete",
    "enter",
    "execute",
    "link",
    "command",
    "command;",
    "head",
    "shell",
    "joined",
    "joined:::",
    "bang",
    "split",
    "splice",
    "program",
    "package",
    "task",
    "connect",
    "listen",
    "remote",
    "remote-write",
    "data",
    "mount",
    "named-read",
    "named-write",
    "assignment",
    "variable",
    "definition",
    "placeholder",
    "directory",
];

/// Roles with a language after the colon.
pub const CODE_ROLES: &[&str] = &["code", "script", "module"];

/// Roles with the name of a table of settings after the colon.
pub const SETTING_ROLES: &[&str] = &["setting", "setting-variable", "key"];

pub const LANGUAGES: &[&str] = &[
    "shell",
    "python",
    "perl",
    "ruby",
    "node",
    "php",
    "lua",
    "awk",
    "sed",
    "vim",
    "ed",
    "make",
    "sql",
    "powershell",
    "r",
    "tcl",
    "emacs",
    "gdb",
    "jq",
    "other",
];
