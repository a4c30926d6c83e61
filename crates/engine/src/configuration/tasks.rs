//! `[tasks]`: what tasks may run beside the safe list, and their limits.

use std::time::Duration;

use exacta_policy::rules::{LoadError, RuleFile, TaskList, Tier};
use serde::Deserialize;

use super::settings::{Placed, Settings, problem};
use crate::tasks::duration;
use crate::tasks::plan::{USUAL_OUTPUT, USUAL_TIMEOUT};
use crate::tasks::reading::MOST_ATTEMPTS;

/// What holds for every task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskSettings {
    /// Commands that tasks may run beside the safe list, as rules describe them: `cargo test`, `mkdir`.
    pub allow: Vec<String>,
    /// Of one command, where its step says nothing.
    pub timeout: Duration,
    /// Of the output of one command.
    pub output_bytes: u64,
    /// No step is tried again more often, whatever its plan says. Absent: as often as the plan has it.
    pub retries: Option<u32>,
}

impl TaskSettings {
    /// Every entry was tried when its file was read.
    pub(super) fn list(&self) -> TaskList {
        self.allow
            .iter()
            .fold(TaskList::default(), |list, entry| list.clone().with(entry).unwrap_or(list))
    }
}

impl Default for TaskSettings {
    fn default() -> Self {
        TaskSettings {
            allow: Vec::new(),
            timeout: USUAL_TIMEOUT,
            output_bytes: USUAL_OUTPUT,
            retries: None,
        }
    }
}

/// What one file says.
#[derive(Debug, Clone, Default)]
pub(super) struct Said {
    pub allow: Option<Placed<Vec<String>>>,
    timeout: Option<Duration>,
    output_bytes: Option<u64>,
    retries: Option<u32>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct WrittenTasks {
    allow: Option<toml::Spanned<Vec<toml::Spanned<String>>>>,
    timeout: Option<toml::Spanned<duration::Written>>,
    output_bytes: Option<u64>,
    retries: Option<toml::Spanned<u32>>,
}

pub(super) fn read(file: &RuleFile, written: WrittenTasks) -> Result<Said, LoadError> {
    let mut said = Said { output_bytes: written.output_bytes, ..Said::default() };
    if let Some(length) = written.timeout {
        let read = length.get_ref().read();
        let wrong = |message| problem(file, length.span().start, message, duration::HINT);
        said.timeout = Some(read.map_err(wrong)?);
    }
    if let Some(retries) = written.retries {
        if *retries.get_ref() > MOST_ATTEMPTS {
            let message = format!("{} retries are too many", retries.get_ref());
            let hint = format!("at most {MOST_ATTEMPTS}");
            return Err(problem(file, retries.span().start, message, &hint));
        }
        said.retries = Some(retries.into_inner());
    }
    if let Some(allow) = written.allow {
        let at = allow.span().start;
        let entries = allow.into_inner().into_iter().map(|entry| entry_of(file, entry));
        let entries = entries.collect::<Result<Vec<String>, LoadError>>()?;
        said.allow = Some(Placed::new(file, at, entries));
    }
    Ok(said)
}

fn entry_of(file: &RuleFile, entry: toml::Spanned<String>) -> Result<String, LoadError> {
    match TaskList::default().with(entry.get_ref()) {
        Ok(_) => Ok(entry.into_inner()),
        Err(message) => {
            let hint = "the first words of a command, as in a rule: \"cargo test\", \"mkdir\"";
            Err(problem(file, entry.span().start, message, hint))
        }
    }
}

/// Whoever may loosen extends the list. Of the limits the most specific wins; what the administrator or a project that is
/// not trusted says can only be tightened.
pub(super) fn chosen(files: &[(Tier, Settings)]) -> TaskSettings {
    let usual = TaskSettings::default();
    let allow = files.iter().filter(|(tier, _)| tier.may_loosen());
    let allow = allow.filter_map(|(_, settings)| settings.tasks.allow.as_ref());
    TaskSettings {
        allow: allow.flat_map(|entries| entries.value.iter().cloned()).collect(),
        timeout: tightened(files, |said| said.timeout, Some(usual.timeout))
            .unwrap_or(usual.timeout),
        output_bytes: tightened(files, |said| said.output_bytes, Some(usual.output_bytes))
            .unwrap_or(usual.output_bytes),
        retries: tightened(files, |said| said.retries, None),
    }
}

fn tightened<T: Ord + Copy>(
    files: &[(Tier, Settings)],
    said: fn(&Said) -> Option<T>,
    usual: Option<T>,
) -> Option<T> {
    let of = |tier: Tier| {
        let found = files.iter().find(|(its, _)| *its == tier);
        found.and_then(|(_, settings)| said(&settings.tasks))
    };
    let wanted = of(Tier::TrustedProject).or(of(Tier::User)).or(of(Tier::System)).or(usual);
    [wanted, of(Tier::System), of(Tier::Project)].into_iter().flatten().min()
}

#[cfg(test)]
mod tests {
    use super::super::settings;
    use super::*;

    fn said(tier: Tier, text: &str) -> (Tier, Settings) {
        let file = RuleFile { name: "x.toml".into(), text: text.into(), tier };
        (tier, settings::parse(&file).unwrap())
    }

    fn wrong(text: &str) -> String {
        let file = RuleFile { name: "x.toml".into(), text: text.into(), tier: Tier::User };
        settings::parse(&file).unwrap_err().to_string()
    }

    #[test]
    fn s4_holds_where_nobody_says_otherwise() {
        let settings = chosen(&[]);
        assert_eq!(settings.timeout, Duration::from_secs(60));
        assert_eq!(settings.output_bytes, 10 * 1024);
        assert_eq!(settings.retries, None);
        assert!(settings.allow.is_empty());
    }

    #[test]
    fn who_may_loosen_extends_the_list() {
        let files = [
            said(Tier::System, "[tasks]\nallow = [\"make\"]\n"),
            said(Tier::User, "[tasks]\nallow = [\"cargo test\"]\n"),
            said(Tier::Project, "\n[tasks]\nallow = [\"rm\"]\n"),
        ];
        assert_eq!(chosen(&files).allow, ["make", "cargo test"]);
        let notices = super::super::said_in_vain(&files);
        assert_eq!(notices.len(), 1);
        assert_eq!(notices[0].source.line, 3);
        let trusted = [said(Tier::TrustedProject, "[tasks]\nallow = [\"just\"]\n")];
        assert_eq!(chosen(&trusted).allow, ["just"]);
        assert!(super::super::said_in_vain(&trusted).is_empty());
    }

    #[test]
    fn what_stands_above_or_is_not_trusted_can_only_tighten() {
        for (files, expected) in [
            (vec![(Tier::User, 90)], 90),
            (vec![(Tier::System, 30), (Tier::User, 90)], 30),
            (vec![(Tier::System, 90), (Tier::User, 30)], 30),
            (vec![(Tier::User, 30), (Tier::Project, 90)], 30),
            (vec![(Tier::Project, 10)], 10),
            (vec![(Tier::User, 30), (Tier::TrustedProject, 90)], 90),
        ] {
            let files = files.into_iter();
            let files: Vec<_> = files
                .map(|(tier, seconds)| said(tier, &format!("[tasks]\ntimeout = {seconds}\n")))
                .collect();
            assert_eq!(chosen(&files).timeout, Duration::from_secs(expected));
        }
    }

    #[test]
    fn what_is_wrong_is_pointed_at() {
        for (text, place, message) in [
            ("[tasks]\nalow = []\n", "x.toml:2:1:", "unknown field `alow`"),
            ("[tasks]\nallow = [\"ls\", \" \"]\n", "x.toml:2:16:", "an empty pattern"),
            ("[tasks]\ntimeout = \"soon\"\n", "x.toml:2:11:", "no length of time"),
            ("[tasks]\nretries = 101\n", "x.toml:2:11:", "101 retries are too many"),
        ] {
            let error = wrong(text);
            assert!(error.starts_with(place) && error.contains(message), "{text}\n{error}");
        }
    }
}
