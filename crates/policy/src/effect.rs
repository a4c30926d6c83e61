//! What a program does with its words, as its table says.

use bstr::BString;

use crate::event::Access;
use crate::word::Word;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Words that are a command of their own: `env X=1 nice make`.
    Run { words: Vec<Word>, assignments: Vec<(BString, Word)>, more: More },
    /// A text that a shell will read: `sh -c TEXT`, `watch TEXT`.
    Shell(Word),
    /// A text that is split into words and run: `env -S TEXT`, `tar -I TEXT`.
    Split(Word),
    /// Code in another language.
    Code { language: Language, text: Word },
    /// Standard input is read as code.
    CodeFromInput(Language),
    /// A file is read as code and run: `python f.py`, `sh f`, `make -f f`. `-` is standard input.
    ScriptFile { language: Language, path: Word },
    /// A file is opened, changed, removed.
    Open { path: Word, access: Access },
    /// A name on the network: a host, an URL, `user@host:path`.
    Connect(Word),
    /// A variable that the program's children see.
    Assign { name: BString, value: Word },
    /// The whole of it runs in another directory.
    Directory(Word),
    /// The option executes something or turns a harmless command into another one: why.
    Executes { option: BString, reason: String },
    /// An option that the table of a wrapper does not know: what follows it may be its value or the command.
    UnknownOption(Word),
}

/// Words that a wrapper adds to its command when it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum More {
    #[default]
    None,
    /// From its input, or from the files it finds: `xargs`, `find -exec`.
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Language {
    Shell,
    Python,
    Perl,
    Ruby,
    Node,
    Php,
    Lua,
    Awk,
    Sed,
    Vim,
    Ed,
    Make,
    Sql,
    PowerShell,
    R,
    Tcl,
    Emacs,
    Gdb,
    Jq,
    /// Some language nobody here can read.
    Other,
}
