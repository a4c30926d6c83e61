//! The ladder, rung by rung: what a jail needs is really taken away, in a disposable world, and what is left is tried
//! from inside.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "the tests make the places where something is missing, and panic where they cannot"
)]

mod case;
mod filter;
#[path = "../support/mod.rs"]
mod support;

use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Failed, Trial};

/// What is taken away, how, and what must come of it.
struct Situation {
    name: &'static str,
    /// System calls that are refused, by [`filter::install`].
    calls: &'static [&'static str],
    /// Run before, by the root of a user and mount namespace below the world's.
    before: &'static str,
    least: &'static str,
    /// The level, or the beginning of the step that failed; one of several where the world itself may lack something.
    expected: &'static str,
    /// Walls that must be said to be missing, among others that the world itself lacks.
    missing: &'static [&'static str],
    /// What the program inside must find (see [`case::SCRIPT`]).
    found: &'static [(&'static str, &'static str)],
}

const IN_VIEW: &[(&str, &str)] = &[
    ("outside", "No such file or directory"),
    ("blocked", "not found"),
    ("write", "done"),
    ("write outside", "Directory nonexistent"),
];
const REFUSED: &[(&str, &str)] = &[
    ("outside", "Permission denied"),
    ("blocked", "Permission denied"),
    ("write", "done"),
    ("write outside", "Permission denied"),
    ("home", "done"),
];
const NO_NAMESPACES: &str = "echo 0 >/proc/sys/user/max_user_namespaces";

const SITUATIONS: &[Situation] = &[
    Situation {
        name: "nothing is taken away",
        calls: &[],
        before: ":",
        least: "namespaces",
        expected: "full|namespaces",
        missing: &[],
        found: IN_VIEW,
    },
    Situation {
        name: "no user namespaces, and nothing less is allowed",
        calls: &[],
        before: NO_NAMESPACES,
        least: "namespaces",
        expected: "could not make namespaces: No space left on device",
        missing: &[],
        found: &[],
    },
    Situation {
        name: "no user namespaces",
        calls: &[],
        before: NO_NAMESPACES,
        least: "landlock",
        expected: "landlock",
        missing: &["namespaces", "hidden-state"],
        found: REFUSED,
    },
    Situation {
        name: "the filter of a container",
        calls: &["clone3", "namespaces", "mounts", "keyctl"],
        before: ":",
        least: "limits",
        expected: "landlock",
        missing: &["namespaces", "keyring"],
        found: REFUSED,
    },
    Situation {
        name: "mounts are refused in new namespaces",
        calls: &["mounts"],
        before: ":",
        least: "landlock",
        expected: "landlock",
        missing: &["namespaces"],
        found: REFUSED,
    },
    Situation {
        name: "the newer clone is unknown",
        calls: &["clone3"],
        before: ":",
        least: "namespaces",
        expected: "full|namespaces",
        missing: &[],
        found: IN_VIEW,
    },
    Situation {
        name: "no keys",
        calls: &["keyctl"],
        before: ":",
        least: "namespaces",
        expected: "namespaces",
        missing: &["keyring"],
        found: IN_VIEW,
    },
    Situation {
        name: "no Landlock behind the view",
        calls: &["landlock"],
        before: ":",
        least: "namespaces",
        expected: "namespaces",
        missing: &["landlock"],
        found: IN_VIEW,
    },
    Situation {
        name: "neither namespaces nor Landlock, and nothing less is allowed",
        calls: &["landlock"],
        before: NO_NAMESPACES,
        least: "landlock",
        expected: "could not make namespaces: No space left on device",
        missing: &[],
        found: &[],
    },
    Situation {
        name: "neither namespaces nor Landlock",
        calls: &["landlock"],
        before: NO_NAMESPACES,
        least: "seccomp",
        expected: "seccomp",
        missing: &["namespaces", "landlock"],
        found: &[("outside", "secret"), ("write", "done"), ("socket", "refused")],
    },
    Situation {
        name: "nobody can be asked",
        calls: &["notification"],
        before: ":",
        least: "namespaces",
        expected: "namespaces",
        missing: &["notification"],
        found: IN_VIEW,
    },
    Situation {
        name: "no filter behind the view",
        calls: &["seccomp"],
        before: ":",
        least: "namespaces",
        expected: "could not put up the system call filter: Operation not permitted",
        missing: &[],
        found: &[],
    },
    Situation {
        name: "nothing at all",
        calls: &["seccomp", "landlock"],
        before: NO_NAMESPACES,
        least: "limits",
        expected: "limits",
        missing: &["namespaces", "landlock", "seccomp"],
        found: &[("outside", "secret"), ("write", "done")],
    },
    Situation {
        name: "a masked /proc",
        calls: &[],
        before: "mount -t tmpfs none /proc/sys/fs",
        least: "namespaces",
        expected: "namespaces",
        missing: &["proc"],
        found: &[
            ("outside", "No such file or directory"),
            ("write", "done"),
            ("processors", "known"),
            ("processes", "none"),
        ],
    },
    Situation {
        name: "no overlay",
        calls: &[],
        // The kernel stacks them twice, and the world is one.
        before: "mkdir /tmp/u /tmp/w && mount -t overlay -o \
                 lowerdir=/usr,upperdir=/tmp/u,workdir=/tmp/w,userxattr none /usr",
        least: "namespaces",
        expected: "namespaces",
        missing: &["overlay"],
        found: &[
            ("outside", "No such file or directory"),
            ("blocked", "Permission denied"),
            ("write", "done"),
        ],
    },
    Situation {
        name: "no control groups",
        calls: &[],
        before: "mount -t tmpfs none /sys/fs/cgroup",
        least: "namespaces",
        expected: "namespaces",
        missing: &["cgroups"],
        found: IN_VIEW,
    },
    Situation {
        name: "neither namespaces nor control groups",
        calls: &[],
        before: "mount -t tmpfs none /sys/fs/cgroup; echo 0 >/proc/sys/user/max_user_namespaces",
        least: "landlock",
        expected: "landlock",
        missing: &["namespaces", "cgroups"],
        found: &[
            ("outside", "Permission denied"),
            ("tasks", "Signalled(9) Tasks"),
            ("memory", "Signalled(9) Memory"),
            ("time", "Signalled(9) ProcessorTime"),
        ],
    },
    Situation {
        name: "limits in a view without control groups",
        calls: &[],
        before: "mount -t tmpfs none /sys/fs/cgroup",
        least: "namespaces",
        expected: "namespaces",
        missing: &["cgroups"],
        found: &[("memory", "Signalled(9) Memory"), ("time", "Signalled(9) ProcessorTime")],
    },
    Situation {
        name: "no control groups, and nothing may be missing",
        calls: &[],
        before: "mount -t tmpfs none /sys/fs/cgroup",
        least: "full",
        expected: "could not make a control group: No such file or directory",
        missing: &[],
        found: &[],
    },
];

fn main() -> ExitCode {
    if std::env::args().nth(1).is_some_and(|word| word == case::WORD) {
        return case::run();
    }
    exacta_world::within(&exacta_world::here!(), |_| {
        let trials = SITUATIONS.iter().map(|it| Trial::test(it.name, move || check(it)));
        libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
    })
}

fn check(situation: &Situation) -> Result<(), Failed> {
    let Situation { calls, before, least, expected, missing, found, .. } = situation;
    let script =
        format!("set -e; mount -t tmpfs none /tmp; mkdir -p $TMPDIR; {before}; exec \"$@\"");
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "--fork", "--kill-child", "sh", "-c"])
        .args([script.as_str(), "sh"])
        .arg(std::env::current_exe()?)
        .args([case::WORD, least, &calls.join(",")])
        // In the memory that was just mounted.
        .env("TMPDIR", "/tmp")
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let all = format!("{text}{}", String::from_utf8_lossy(&output.stderr));
    let lines: Vec<(&str, &str)> = text.lines().filter_map(|line| line.split_once(": ")).collect();
    let of = |name: &str| lines.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
    let level = of("level").unwrap_or_default();
    if !expected.split('|').any(|expected| level.starts_with(expected)) {
        return Err(format!("not {expected:?}:\n{all}").into());
    }
    for wall in *missing {
        let named = of("missing").is_some_and(|walls| walls.split(' ').any(|it| it == *wall));
        if !named {
            return Err(format!("{wall} is not said to be missing:\n{all}").into());
        }
    }
    for (what, value) in *found {
        if !of(what).is_some_and(|text| text.contains(value)) {
            return Err(format!("{what} is not {value:?}:\n{all}").into());
        }
    }
    let runs = !found.is_empty();
    if runs && (of("tree"), of("left")) != (Some("gone"), Some("nothing")) {
        return Err(format!("something is left:\n{all}").into());
    }
    Ok(())
}
