//! What a tree would do, in the order of the text: commands, files opened, variables set.

use bstr::BString;

use crate::word::Word;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    Command(Invocation),
    /// A redirect. Not `/dev/null` and the like; those are left out.
    Open(Open),
    /// A variable set by the shell itself: `X=1`, `export X=1`, `declare -x X=1`.
    Assign(Assign),
    Shape(Shape),
}

/// One command that would run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Invocation {
    /// The command word and its arguments; never empty.
    pub words: Vec<Word>,
    /// In force for this command alone: `X=1 command`, `env X=1 command`.
    pub assignments: Vec<(BString, Word)>,
    pub input: Input,
    pub directory: Directory,
    pub via: Via,
    /// The name is a function or an alias of this script; what it stands for is judged by itself.
    pub defined: bool,
    /// `eval` or `trap` of a known text: what it runs follows as events of its own.
    pub followed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Open {
    pub path: Word,
    pub access: Access,
    pub directory: Directory,
    /// What is written, if all of it is known (`cat > f <<EOF`, `echo x > f`).
    pub content: Option<BString>,
    pub via: Via,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assign {
    pub name: BString,
    pub value: Word,
    /// Programs started later see it.
    pub exported: bool,
    pub via: Via,
}

/// What standard input would be.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Input {
    /// Whatever the script itself has.
    #[default]
    Inherited,
    /// A here-document, a here-string, or `echo text |`; dynamic if only its being text is known.
    Text(Word),
    /// `< file`
    File(Word),
    /// The output of these commands, nearest last: the names of all stages before this one, and of the commands
    /// in a process substitution.
    Pipe(Vec<Word>),
}

/// The directory a command would run in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Directory {
    /// Absolute, without `.` and `..`.
    Known(BString),
    /// As expected if every `cd` before went well, else one of the others; if there are none of them, anywhere.
    Likely { expected: BString, others: Vec<BString> },
    #[default]
    Unknown,
}

impl Directory {
    /// Where it is if all went well.
    pub fn expected(&self) -> Option<&BString> {
        match self {
            Directory::Known(path) | Directory::Likely { expected: path, .. } => Some(path),
            Directory::Unknown => None,
        }
    }

    /// Where it is if something did not, as far as that is known.
    pub fn others(&self) -> &[BString] {
        match self {
            Directory::Likely { others, .. } => others,
            Directory::Known(_) | Directory::Unknown => &[],
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    Read,
    Write,
    /// Removed or moved away.
    Delete,
    /// Becomes the working directory of what follows.
    Enter,
    /// Run as a program or read as a script.
    Execute,
}

/// How it came to this command: `["xargs", "sh -c", "$(…)"]`; empty: written as such.
pub type Via = Vec<BString>;

/// What is dangerous as a whole and not by any of its commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// A function that starts itself more than once, or in the background.
    ForkBomb { function: BString },
    /// Runs or fills a file until somebody stops it.
    Endless { what: BString },
    /// A loop that goes further up with every round.
    Climbs,
}
