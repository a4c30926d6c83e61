//! The format of `programs/*.toml`, read when the crate is built.
//!
//! ```toml
//! [[program]]
//! names = ["timeout", "gtimeout"]
//! summary = "runs a command with a time limit"
//! style = "posix"                       # options end at the first operand
//! operands = ["text", "command"]        # a duration, then a command
//! options = [
//!   { names = ["-k", "--kill-after"], value = "text" },
//!   { names = ["-s", "--signal"], value = "text" },
//!   { names = ["-v", "--verbose"] },
//! ]
//! examples = [
//!   { line = "timeout -k5 10 curl x", runs = ["curl x"] },
//! ]
//! ```

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Program {
    /// Names without directory; `*` matches digits and dots: `python*` is `python3.12` too.
    pub names: Vec<String>,
    pub summary: String,
    pub style: Style,
    pub options: Vec<OptionSpec>,
    /// Roles of the operands in order. The last one repeats if it ends in `*`; see [`Role`].
    pub operands: Vec<String>,
    /// Other operands when one of these options is given.
    pub when: Vec<When>,
    /// The first operand chooses; each has options and operands of its own besides these.
    pub subcommands: Vec<Program>,
    /// The language in which it reads code from standard input when no operand names a script (`sh`, `python`).
    pub reads_code: Option<String>,
    pub examples: Vec<Example>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OptionSpec {
    /// `-x`, `--long`, and for `style = "dash"` also `-long`.
    pub names: Vec<String>,
    /// The role of its value. Absent: it takes none.
    pub value: Option<String>,
    /// The value may be left out; then it is only taken when attached (`-i.bak`, `--color=auto`).
    pub optional: bool,
    /// How many words it takes if more than one.
    pub count: usize,
    /// The option itself executes or changes the command's nature: why.
    pub executes: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct When {
    /// Any of these.
    pub options: Vec<String>,
    pub operands: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Example {
    pub line: String,
    /// The inner commands.
    pub runs: Vec<String>,
    /// Shell texts.
    pub shell: Vec<String>,
    pub code: Vec<String>,
    pub reads: Vec<String>,
    pub writes: Vec<String>,
    pub deletes: Vec<String>,
    pub connects: Vec<String>,
    pub executes: Vec<String>,
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
}

/// The roles a value or an operand can have, as written in the tables:
///
/// - `text`: nothing happens with it
/// - `read`, `write`, `delete`, `enter`, `execute`: a path, and how it is used
/// - `command`: this word and all that follow are a command; `command;`: up to `;` or `+` (find)
/// - `shell`: a text for a shell; `split`: a text split into words and run; `program`: one program's name
/// - `code:LANGUAGE`: inline code; `script:LANGUAGE`: a file of code that is run
/// - `connect`: a host, an URL, `user@host:path`
/// - `assignment`: `NAME=VALUE` for the environment of what is run; as an operand: as long as it looks like one
/// - `setting:TABLE`: `name=value`, looked up in the settings of that table
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
    "command",
    "command;",
    "shell",
    "split",
    "program",
    "connect",
    "assignment",
    "directory",
];
