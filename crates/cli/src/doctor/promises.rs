//! The promises of the jail, and which attempts tell whether each is kept.

use exacta_jail::Level;
use exacta_jail::ladder::{Missing, Wall};
use exacta_jail::outcome::{Tier, Walls};
use exacta_jail::probe::Attempt;
use rustix::io::Errno;

use super::remedies;
use crate::verbs::isolation;

/// What an attempt must meet.
#[derive(Clone, Copy)]
enum Expected {
    /// There is no such thing. That it is refused is less.
    Absent,
    /// There is no such name. That there is one is less, as long as there is nothing behind it.
    Nameless,
    /// Some error, whichever.
    Refused,
    /// As if the kernel did not know it, or did not permit it.
    Unknown,
    Works,
    /// What was seen, in words.
    Seen(fn(&str) -> bool),
    /// An error, or nothing to be seen.
    RefusedOrEmpty,
    /// An error after no more than these. That there is one later is less.
    RefusedAfter(u32),
}

struct Promise {
    name: &'static str,
    text: &'static str,
    /// The lowest rung that makes it.
    since: Level,
    /// A wall that may be missing on its own, and this promise with it.
    needs: Option<Wall>,
    /// What keeps it, the first wall first.
    by: &'static [By],
    attempts: &'static [(&'static str, Expected)],
}

/// Who keeps a promise.
#[derive(Clone, Copy)]
enum By {
    Namespaces,
    View,
    Landlock,
    Seccomp,
    /// Whatever the limits of the tree are held by.
    Groups,
    /// Whoever counts processes.
    Count,
    Engine,
    Kernel(&'static str),
}

/// How it stands with a promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    Holds,
    /// Something keeps it, but not all of it.
    Weaker,
    /// It is not made at this rung, or what it needs is missing.
    Missing,
    /// It is made at this rung, and was not kept.
    Broken,
}

impl State {
    pub fn name(self) -> &'static str {
        match self {
            State::Holds => "holds",
            State::Weaker => "weaker",
            State::Missing => "missing",
            State::Broken => "broken",
        }
    }
}

pub struct Examined {
    pub name: &'static str,
    pub text: &'static str,
    pub state: State,
    pub by: Vec<String>,
    pub attempts: Vec<Attempt>,
    pub missing: Option<String>,
    pub remedy: Option<String>,
}

/// The limits under which the probe runs.
pub const PROCESSES: u32 = 5;
pub const FILES: u32 = 64;

const ENDED: Expected = Expected::Seen(|seen| seen.starts_with("ended"));
const EMPTY: Expected = Expected::Seen(str::is_empty);

const PROMISES: &[Promise] = &[
    Promise {
        name: "filesystem",
        text: "a file outside what was granted does not exist",
        since: Level::Landlock,
        needs: None,
        by: &[By::View, By::Landlock],
        attempts: &[
            ("open-outside", Expected::Absent),
            ("write-outside", Expected::Absent),
            ("delete-outside", Expected::Absent),
        ],
    },
    Promise {
        name: "names",
        text: "nor does its name, nor the directory it lies in",
        since: Level::Namespaces,
        needs: None,
        by: &[By::View],
        attempts: &[("stat-outside", Expected::Absent), ("list-outside", Expected::Absent)],
    },
    Promise {
        name: "blocked programs",
        text: "a program that is denied outright is not there",
        since: Level::Landlock,
        needs: None,
        by: &[By::View, By::Landlock],
        attempts: &[("stat-blocked", Expected::Nameless), ("read-blocked", Expected::Absent)],
    },
    Promise {
        name: "writes",
        text: "what is granted can be written",
        since: Level::Limits,
        needs: None,
        by: &[By::View, By::Kernel("permissions of files")],
        attempts: &[("write-project", Expected::Works), ("write-temporary", Expected::Works)],
    },
    Promise {
        name: "network",
        text: "nothing outside can be reached",
        since: Level::Seccomp,
        needs: None,
        by: &[By::Namespaces, By::Seccomp],
        attempts: &[
            ("connect-host", Expected::Refused),
            ("connect-internet", Expected::Refused),
            ("connect-nameless", Expected::Refused),
            ("socket-vsock", Expected::Refused),
        ],
    },
    Promise {
        name: "environment",
        text: "no variable of the caller's but those passed on",
        since: Level::Limits,
        needs: None,
        by: &[By::Engine],
        attempts: &[("environment", EMPTY)],
    },
    Promise {
        name: "descriptors",
        text: "nothing that the caller has open",
        since: Level::Limits,
        needs: None,
        by: &[By::Engine],
        attempts: &[("descriptors", EMPTY)],
    },
    Promise {
        name: "processes",
        text: "no process of the host is seen, and no setting of it can be changed",
        since: Level::Namespaces,
        needs: None,
        by: &[By::Namespaces],
        attempts: &[
            ("processes", Expected::Seen(|seen| seen.parse::<u32>().is_ok_and(|count| count <= 3))),
            ("environment-of-first", Expected::RefusedOrEmpty),
            ("write-settings", Expected::Refused),
        ],
    },
    Promise {
        name: "namespaces",
        text: "no mounts and no namespaces can be made",
        since: Level::Seccomp,
        needs: None,
        by: &[By::Seccomp],
        attempts: &[
            ("mount", Expected::Unknown),
            ("fsopen", Expected::Unknown),
            ("umount", Expected::Unknown),
            ("pivot_root", Expected::Unknown),
            ("chroot", Expected::Unknown),
            ("setns", Expected::Unknown),
            ("unshare", Expected::Unknown),
        ],
    },
    Promise {
        name: "kernel calls",
        text: "io_uring, bpf, keys, tracing and the like are not there",
        since: Level::Seccomp,
        needs: None,
        by: &[By::Seccomp],
        attempts: &[
            ("io_uring", Expected::Unknown),
            ("bpf", Expected::Unknown),
            ("keyctl", Expected::Unknown),
            ("perf_event_open", Expected::Unknown),
            ("userfaultfd", Expected::Unknown),
            ("ptrace", Expected::Unknown),
        ],
    },
    Promise {
        name: "privileges",
        text: "no capabilities, and no way to new privileges",
        since: Level::Limits,
        needs: None,
        by: &[By::Kernel("no_new_privs"), By::Kernel("empty capability sets")],
        attempts: &[
            ("no-new-privileges", Expected::Seen(|seen| seen == "set")),
            ("capabilities", Expected::Seen(|seen| seen == "none")),
        ],
    },
    Promise {
        name: "power in files",
        text: "no file can be made that has power on the host later",
        since: Level::Seccomp,
        needs: None,
        by: &[By::Seccomp],
        attempts: &[
            ("set-user-bit", Expected::Refused),
            ("set-group-bit", Expected::Refused),
            ("device-node", Expected::Refused),
        ],
    },
    Promise {
        name: "terminal",
        text: "nothing can be typed into a terminal",
        since: Level::Seccomp,
        needs: None,
        by: &[By::Seccomp],
        attempts: &[("type-into-terminal", Expected::Unknown)],
    },
    Promise {
        name: "memory",
        text: "what takes more memory than it may is ended",
        since: Level::Limits,
        needs: None,
        by: &[By::Groups],
        attempts: &[("limit-memory", ENDED)],
    },
    Promise {
        name: "processor time",
        text: "what takes more time of the processor than it may is ended",
        since: Level::Limits,
        needs: None,
        by: &[By::Groups],
        attempts: &[("limit-processor", ENDED)],
    },
    Promise {
        name: "process count",
        text: "a process more than there may be is refused",
        since: Level::Namespaces,
        needs: Some(Wall::Notification),
        by: &[By::Count],
        attempts: &[("limit-processes", Expected::RefusedAfter(PROCESSES))],
    },
    Promise {
        name: "open files",
        text: "a file more than there may be is refused",
        since: Level::Limits,
        needs: None,
        by: &[By::Kernel("RLIMIT_NOFILE")],
        attempts: &[("limit-files", Expected::RefusedAfter(FILES))],
    },
    Promise {
        name: "output",
        text: "output beyond its limit is cut",
        since: Level::Limits,
        needs: None,
        by: &[By::Engine],
        attempts: &[("limit-output", Expected::Seen(|seen| seen.starts_with("cut")))],
    },
    Promise {
        name: "time",
        text: "a request that takes too long is ended",
        since: Level::Limits,
        needs: None,
        by: &[By::Engine],
        attempts: &[("limit-time", ENDED)],
    },
    Promise {
        name: "end",
        text: "all that a program left behind is gone within 100 ms",
        since: Level::Limits,
        needs: None,
        by: &[By::Namespaces, By::Engine],
        attempts: &[("kill", Expected::Seen(|seen| seen.starts_with("gone")))],
    },
    Promise {
        name: "record",
        text: "every program that is executed is recorded",
        since: Level::Seccomp,
        needs: Some(Wall::Notification),
        by: &[By::Kernel("seccomp notification")],
        attempts: &[("record", Expected::Seen(|seen| seen == "recorded"))],
    },
];

/// How it stands with each.
pub fn examine(walls: &Walls, attempts: &[Attempt]) -> Vec<Examined> {
    PROMISES.iter().map(|promise| promise.examine(walls, attempts)).collect()
}

impl Promise {
    fn examine(&self, walls: &Walls, attempts: &[Attempt]) -> Examined {
        let mut worst = State::Holds;
        let mut made = Vec::new();
        for (name, expected) in self.attempts {
            let found = attempts.iter().find(|attempt| attempt.name == *name);
            // What could not be tried is not known to hold; where there is nothing to hide, there is nothing to try.
            let nothing_to_hide = self.name == "blocked programs" && found.is_none();
            worst = worst.max(match found {
                Some(attempt) => expected.judge(attempt),
                None if nothing_to_hide => State::Holds,
                None => State::Broken,
            });
            made.extend(found.cloned());
        }
        let cause = self.cause(walls);
        let excused =
            walls.level < self.since || cause.is_some_and(|cause| Some(cause.wall) == self.needs);
        let state = if worst == State::Broken && excused { State::Missing } else { worst };
        let cause = cause.filter(|_| state != State::Holds);
        Examined {
            name: self.name,
            text: self.text,
            state,
            by: self.by.iter().filter_map(|by| by.named(walls)).collect(),
            attempts: made,
            missing: cause.map(|cause| format!("{}: {}", cause.wall.name(), cause.failure)),
            remedy: cause.and_then(|cause| remedies::of(cause, &walls.missing)),
        }
    }

    /// The missing wall that would keep it.
    fn cause<'a>(&self, walls: &'a Walls) -> Option<&'a Missing> {
        let missing = |wall: Wall| walls.missing.iter().find(|missing| missing.wall == wall);
        let own = self.needs.and_then(missing).or_else(|| missing(Wall::Namespaces));
        let hiding = || (self.name == "blocked programs").then(|| missing(Wall::Overlay)).flatten();
        own.or_else(hiding)
    }
}

impl Expected {
    fn judge(self, attempt: &Attempt) -> State {
        let met =
            |errors: &[Errno]| errors.iter().any(|errno| errno.raw_os_error() == attempt.errno);
        let kept = match self {
            Expected::Absent | Expected::Nameless if met(&[Errno::NOENT]) => true,
            Expected::Absent if attempt.errno != 0 => return State::Weaker,
            Expected::Absent => false,
            Expected::Nameless => return State::Weaker,
            Expected::Refused => attempt.errno != 0,
            Expected::Unknown => met(&[Errno::NOSYS, Errno::PERM]),
            Expected::Works => attempt.errno == 0,
            Expected::Seen(wanted) => wanted(&attempt.seen),
            Expected::RefusedAfter(most) => {
                let count = attempt.seen.parse::<u32>().unwrap_or(u32::MAX);
                if attempt.errno != 0 && count > most {
                    return State::Weaker;
                }
                attempt.errno != 0
            }
            Expected::RefusedOrEmpty => attempt.errno != 0 || attempt.seen == "0",
        };
        if kept { State::Holds } else { State::Broken }
    }
}

impl By {
    /// `None`: it does not stand here.
    fn named(self, walls: &Walls) -> Option<String> {
        match self {
            By::Namespaces => walls.namespaces.then(|| "namespaces".to_owned()),
            By::View => walls.absence.then(|| "a view built from nothing".to_owned()),
            By::Landlock => (walls.landlock > 0).then(|| format!("Landlock {}", walls.landlock)),
            By::Seccomp => walls.system_calls.then(|| "seccomp".to_owned()),
            By::Groups => Some(isolation::tier(walls.limits).to_owned()),
            By::Count if walls.counted => {
                Some("RLIMIT_NPROC of its own user namespace, moved with its threads".to_owned())
            }
            By::Count if walls.limits == Tier::Sampled => None,
            By::Count => Some(format!("{}, threads counted", isolation::tier(walls.limits))),
            By::Engine => Some("exacta".to_owned()),
            By::Kernel(what) => Some(what.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_tried_does_not_hold() {
        let walls = Walls { level: Level::Full, ..Walls::default() };
        for examined in examine(&walls, &[]) {
            let nothing_to_hide = examined.name == "blocked programs";
            let expected = if nothing_to_hide { State::Holds } else { State::Broken };
            assert_eq!(examined.state, expected, "{}", examined.name);
        }
    }

    #[test]
    fn what_works_and_should_not_is_broken() {
        let walls = Walls { level: Level::Full, absence: true, ..Walls::default() };
        let open = Attempt::new("open-outside", 0, "");
        let refused = ["write-outside", "delete-outside"].map(|name| Attempt::new(name, 2, ""));
        let state = |open: Attempt| {
            let attempts: Vec<Attempt> = [open].into_iter().chain(refused.clone()).collect();
            let all = examine(&walls, &attempts);
            all.iter().find(|it| it.name == "filesystem").map(|it| it.state)
        };
        assert_eq!(state(open.clone()), Some(State::Broken));
        assert_eq!(state(Attempt { errno: 13, ..open.clone() }), Some(State::Weaker));
        assert_eq!(state(Attempt { errno: 2, ..open }), Some(State::Holds));
    }
}
