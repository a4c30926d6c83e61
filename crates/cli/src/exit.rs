//! Every way the process can end, in one place (DESIGN: exit codes).

use exacta::policy::Decision;
use exacta_jail::Level;
use exacta_shell::status::ExitStatus;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The script's own status.
    Script(ExitStatus),
    Success,
    /// `undo` and its kin: not as things are, and nothing was done.
    Declined,
    /// Wrong use of the command line.
    Usage,
    TimedOut,
    /// exacta could not do it.
    Failed,
    /// Refused by policy, or by a person.
    Refused,
    /// `shell test`.
    Verdict(Decision),
    /// The script's file is not there.
    NotFound,
    /// `doctor`: the rung of the jail's ladder.
    Rung(Level),
    /// `doctor`: something does not hold that should.
    Broken,
    /// A task has not done what it should.
    TaskFailed,
    /// A task waits for a person.
    TaskWaits,
    /// A rule or a person said no to a task.
    TaskDenied,
}

impl Exit {
    /// The status of the process.
    pub fn code(self) -> u8 {
        match self {
            Exit::Script(status) => status.0,
            Exit::Success | Exit::Verdict(Decision::Allow) | Exit::Rung(Level::Full) => 0,
            Exit::Broken | Exit::Declined | Exit::TaskFailed => 1,
            Exit::Usage => 2,
            Exit::TimedOut => 124,
            Exit::Verdict(Decision::Confirm) | Exit::TaskWaits => 3,
            Exit::Verdict(Decision::Deny) | Exit::TaskDenied => 4,
            Exit::Rung(Level::Namespaces) => 10,
            Exit::Rung(Level::Landlock) => 11,
            Exit::Rung(Level::Seccomp) => 12,
            Exit::Rung(Level::Limits) => 13,
            Exit::Failed => 125,
            Exit::Refused => 126,
            Exit::NotFound => 127,
        }
    }
}
