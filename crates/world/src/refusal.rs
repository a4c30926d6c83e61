//! Why there is no world, and what a person can do about it.

use std::fs;
use std::process::ExitCode;

use crate::NO_WORLD;

#[derive(Debug)]
pub struct Refusal {
    problems: Vec<String>,
}

impl Refusal {
    pub fn new(problem: impl Into<String>) -> Self {
        Refusal { problems: vec![problem.into()] }
    }

    pub fn many(problems: Vec<String>) -> Self {
        Refusal { problems }
    }

    pub fn say(self) -> ExitCode {
        eprintln!(
            "exacta-world: these tests run hostile commands and start only in a disposable world"
        );
        for problem in &self.problems {
            eprintln!("  {problem}");
        }
        for advice in advice() {
            eprintln!("  what to do: {advice}");
        }
        ExitCode::from(NO_WORLD)
    }
}

/// What was tried, for an error of the system.
pub trait While<T> {
    fn when(self, doing: impl FnOnce() -> String) -> Result<T, Refusal>;
}

impl<T, E: std::fmt::Display> While<T> for Result<T, E> {
    fn when(self, doing: impl FnOnce() -> String) -> Result<T, Refusal> {
        self.map_err(|error| Refusal::new(format!("{}: {error}", doing())))
    }
}

/// The usual reasons, where the machine itself shows them.
fn advice() -> Vec<String> {
    let setting = |name: &str| {
        fs::read_to_string(format!("/proc/sys/{name}")).unwrap_or_default().trim().to_owned()
    };
    let mut advice = Vec::new();
    for (file, wrong, name, right) in [
        ("kernel/unprivileged_userns_clone", "0", "kernel.unprivileged_userns_clone", "1"),
        (
            "kernel/apparmor_restrict_unprivileged_userns",
            "1",
            "kernel.apparmor_restrict_unprivileged_userns",
            "0",
        ),
        ("user/max_user_namespaces", "0", "user.max_user_namespaces", "10000"),
    ] {
        if setting(file) == wrong {
            advice.push(format!("sysctl -w {name}={right}, which allows user namespaces"));
        }
    }
    advice.push(
        "Linux 5.11 or later with util-linux and bash; in a container, one that may make namespaces and mounts \
         (docker run --privileged)"
            .into(),
    );
    advice
}
