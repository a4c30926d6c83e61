//! Roles as values, and which operand has which.

use crate::effect::Language;
use crate::event::Access;

/// See [`super::schema::ROLES`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Role {
    Text,
    Open(Access),
    Command,
    CommandUntil,
    Head,
    Shell,
    Joined,
    JoinedUntil,
    Bang,
    Split,
    Splice,
    Program,
    Package,
    Task,
    Code(Language),
    Script(Language),
    Module(Language),
    Link,
    Connect,
    Listen,
    Remote(Access),
    Data,
    Mount,
    /// `name=path`
    Named(Access),
    Assignment,
    Variable,
    Definition,
    Setting(String),
    SettingVariable(String),
    Key(String),
    Placeholder,
    Directory,
}

impl Role {
    /// The build has checked that there is such a role.
    pub fn new(text: &str) -> Role {
        match text {
            "read" => Role::Open(Access::Read),
            "write" => Role::Open(Access::Write),
            "delete" => Role::Open(Access::Delete),
            "enter" => Role::Open(Access::Enter),
            "execute" => Role::Open(Access::Execute),
            "command" => Role::Command,
            "command;" => Role::CommandUntil,
            "head" => Role::Head,
            "shell" => Role::Shell,
            "joined" => Role::Joined,
            "joined:::" => Role::JoinedUntil,
            "bang" => Role::Bang,
            "split" => Role::Split,
            "splice" => Role::Splice,
            "program" => Role::Program,
            "package" => Role::Package,
            "task" => Role::Task,
            "link" => Role::Link,
            "connect" => Role::Connect,
            "listen" => Role::Listen,
            "remote" => Role::Remote(Access::Read),
            "remote-write" => Role::Remote(Access::Write),
            "data" => Role::Data,
            "mount" => Role::Mount,
            "named-read" => Role::Named(Access::Read),
            "named-write" => Role::Named(Access::Write),
            "assignment" => Role::Assignment,
            "variable" => Role::Variable,
            "definition" => Role::Definition,
            "placeholder" => Role::Placeholder,
            "directory" => Role::Directory,
            _ => Role::with_argument(text),
        }
    }

    fn with_argument(text: &str) -> Role {
        match text.split_once(':') {
            Some(("code", name)) => Role::Code(language(name)),
            Some(("script", name)) => Role::Script(language(name)),
            Some(("module", name)) => Role::Module(language(name)),
            Some(("setting", table)) => Role::Setting(table.to_owned()),
            Some(("setting-variable", table)) => Role::SettingVariable(table.to_owned()),
            Some(("key", table)) => Role::Key(table.to_owned()),
            _ => Role::Text,
        }
    }

    /// Makes a value a command or code.
    pub fn runs_something(&self) -> bool {
        self.takes_rest()
            || matches!(
                self,
                Role::Head
                    | Role::Shell
                    | Role::Bang
                    | Role::Split
                    | Role::Splice
                    | Role::Program
                    | Role::Code(_)
                    | Role::Script(_)
                    | Role::Setting(_)
            )
    }

    /// Takes all the words that follow.
    pub fn takes_rest(&self) -> bool {
        matches!(
            self,
            Role::Command
                | Role::CommandUntil
                | Role::Joined
                | Role::JoinedUntil
                | Role::Package
                | Role::Task
                | Role::Module(_)
        )
    }
}

pub fn language(name: &str) -> Language {
    match name {
        "shell" => Language::Shell,
        "python" => Language::Python,
        "perl" => Language::Perl,
        "ruby" => Language::Ruby,
        "node" => Language::Node,
        "php" => Language::Php,
        "lua" => Language::Lua,
        "awk" => Language::Awk,
        "sed" => Language::Sed,
        "vim" => Language::Vim,
        "ed" => Language::Ed,
        "make" => Language::Make,
        "sql" => Language::Sql,
        "powershell" => Language::PowerShell,
        "r" => Language::R,
        "tcl" => Language::Tcl,
        "emacs" => Language::Emacs,
        "gdb" => Language::Gdb,
        "jq" => Language::Jq,
        _ => Language::Other,
    }
}

/// The roles of operands: some from the front, one that repeats, some from the end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Layout {
    /// Leading `NAME=VALUE` operands are assignments and do not count.
    pub assignments: bool,
    pub front: Vec<Role>,
    pub repeated: Option<Role>,
    pub back: Vec<Role>,
    /// The place in `front` of a role that takes all the words that follow.
    pub rest: Option<usize>,
}

impl Layout {
    pub fn new(texts: &[String]) -> Layout {
        let mut layout = Layout::default();
        for text in texts {
            let repeats = text.strip_suffix('*');
            let role = Role::new(repeats.unwrap_or(text));
            if repeats.is_some() && role == Role::Assignment && layout.front.is_empty() {
                layout.assignments = true;
            } else if repeats.is_some() {
                layout.repeated = Some(role);
            } else if layout.repeated.is_some() {
                layout.back.push(role);
            } else {
                if role.takes_rest() && layout.rest.is_none() {
                    layout.rest = Some(layout.front.len());
                }
                layout.front.push(role);
            }
        }
        layout
    }

    /// The role of operand `place` of `count`. With too few operands those at the end keep theirs: `cp -t` aside,
    /// the last word is where a copy goes.
    pub fn role(&self, place: usize, count: usize) -> Option<&Role> {
        let from_end = count.saturating_sub(place);
        if from_end >= 1 && from_end <= self.back.len() && place >= self.front.len() {
            return self.back.get(self.back.len() - from_end);
        }
        self.front.get(place).or(self.repeated.as_ref())
    }
}
