//! What a configuration file says beside its rules.

use std::sync::Arc;

use bstr::BString;
use exacta_jail::Level;
use exacta_policy::rules::{LoadError, RuleFile};
use exacta_policy::{Profile, Source};
use serde::Deserialize;

use super::planner::{self, PlannerSettings};
use super::tasks;
use crate::approvals::When;
use crate::gate::Refusals;
use crate::programs::limits::Chosen;
use crate::redaction::Rules;

/// The keys at the top of a file that are read here; `rule` and `list` belong to the rules.
pub const KEYS: &[&str] = &[
    "profile",
    "agent",
    "paths",
    "limits",
    "min_isolation",
    "undo",
    "audit",
    "redact",
    "telegram",
    "approval",
    "tasks",
    "planner",
];

#[derive(Debug, Clone, Default)]
pub struct Settings {
    pub profile: Option<Profile>,
    pub refusals: Option<Refusals>,
    pub readable: Vec<BString>,
    pub writable: Vec<BString>,
    pub limits: Chosen,
    /// The rung of the jail's ladder below which programs do not run.
    pub min_isolation: Option<Level>,
    pub undo: Remembering,
    pub audit: Auditing,
    pub redact: Redact,
    pub telegram: Option<Telegram>,
    /// `approval.when`
    pub asked: Option<When>,
    pub tasks: tasks::Said,
    pub planner: Option<Placed<PlannerSettings>>,
}

/// What a file says, and on which line: for what it says in vain.
#[derive(Debug, Clone)]
pub struct Placed<T> {
    pub source: Source,
    pub value: T,
}

impl<T> Placed<T> {
    pub fn new(file: &RuleFile, at: usize, value: T) -> Self {
        Placed { source: Source { file: Arc::clone(&file.name), line: line(file, at) }, value }
    }
}

/// `[telegram]`: where questions are sent, and who may answer them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Telegram {
    /// The variable that has the token of the bot.
    #[serde(default = "usual_variable")]
    pub token_env: String,
    /// The chat that they are sent to.
    pub chat: i64,
    /// The numbers of those who may decide.
    pub allow: Vec<i64>,
    /// Where the Bot API is.
    #[serde(default = "usual_address")]
    pub api: String,
}

fn usual_variable() -> String {
    "EXACTA_TELEGRAM_TOKEN".to_owned()
}

fn usual_address() -> String {
    "https://api.telegram.org".to_owned()
}

/// What is redacted beside the built-in rules, where a file says it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Redact {
    pub results: Option<bool>,
    /// Variables whose values are secret, whatever they are called.
    pub variables: Vec<String>,
    /// Kinds and patterns, which are known to be right.
    pub rules: Vec<(String, String)>,
}

/// How much is remembered for undo, where a file says it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Remembering {
    #[serde(rename = "max_age_days")]
    pub days: Option<u64>,
    #[serde(rename = "max_records")]
    pub records: Option<u64>,
    #[serde(rename = "max_bytes")]
    pub bytes: Option<u64>,
    #[serde(rename = "max_copy_entries")]
    pub copied_entries: Option<u64>,
    #[serde(rename = "max_copy_bytes")]
    pub copied_bytes: Option<u64>,
}

/// `[audit]`
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Auditing {
    #[serde(rename = "max_age_days")]
    pub days: Option<u64>,
    #[serde(rename = "max_bytes")]
    pub bytes: Option<u64>,
    /// So much of each stream of output.
    #[serde(rename = "output_bytes")]
    pub output: Option<u64>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Written {
    profile: Option<toml::Spanned<String>>,
    agent: Agent,
    paths: Paths,
    limits: WrittenLimits,
    min_isolation: Option<toml::Spanned<String>>,
    undo: Remembering,
    audit: Auditing,
    redact: WrittenRedact,
    telegram: Option<Telegram>,
    approval: WrittenApproval,
    tasks: tasks::WrittenTasks,
    planner: Option<toml::Spanned<planner::WrittenPlanner>>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct WrittenApproval {
    when: Option<toml::Spanned<String>>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct WrittenRedact {
    results: Option<bool>,
    secrets_env: Vec<String>,
    rules: Vec<WrittenPattern>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenPattern {
    kind: String,
    pattern: toml::Spanned<String>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct Agent {
    refusals: Option<toml::Spanned<String>>,
}

/// How much of the machine programs may use.
#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct WrittenLimits {
    cpu_seconds: Option<u64>,
    memory_mb: Option<u64>,
    processes: Option<u32>,
    open_files: Option<u64>,
    output_bytes: Option<u64>,
}

/// Directories outside the project.
#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct Paths {
    read: Vec<toml::Spanned<String>>,
    write: Vec<toml::Spanned<String>>,
}

pub fn parse(file: &RuleFile) -> Result<Settings, LoadError> {
    let written: Written = toml::from_str(&file.text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        problem(file, at, error.message().to_owned(), "")
    })?;
    let mut settings = Settings::default();
    if let Some(name) = written.profile {
        let profile = Profile::from_name(name.get_ref()).ok_or_else(|| {
            let message = format!("unknown profile {:?}", name.get_ref());
            problem(file, name.span().start, message, "safe, dev or full-auto")
        })?;
        settings.profile = Some(profile);
    }
    if let Some(name) = written.agent.refusals {
        settings.refusals = Some(match name.get_ref().as_str() {
            "explain" => Refusals::Explain,
            "404" => Refusals::Conceal,
            other => {
                let message = format!("unknown kind of refusals {other:?}");
                return Err(problem(file, name.span().start, message, "explain or 404"));
            }
        });
    }
    if let Some(name) = written.min_isolation {
        let level = Level::from_name(name.get_ref()).ok_or_else(|| {
            let message = format!("unknown isolation {:?}", name.get_ref());
            problem(
                file,
                name.span().start,
                message,
                "full, namespaces, landlock, seccomp or limits",
            )
        })?;
        settings.min_isolation = Some(level);
    }
    settings.readable = directories(file, written.paths.read)?;
    settings.writable = directories(file, written.paths.write)?;
    settings.limits = Chosen {
        processor_seconds: written.limits.cpu_seconds,
        memory_megabytes: written.limits.memory_mb,
        processes: written.limits.processes,
        open_files: written.limits.open_files,
        output_bytes: written.limits.output_bytes,
    };
    settings.undo = written.undo;
    settings.audit = written.audit;
    settings.redact = redact(file, written.redact)?;
    settings.telegram = written.telegram;
    settings.asked = written.approval.when.map(|name| when(file, &name)).transpose()?;
    settings.tasks = tasks::read(file, written.tasks)?;
    if let Some(planner) = written.planner {
        let at = planner.span().start;
        settings.planner = Some(Placed::new(file, at, planner::read(file, planner)?));
    }
    Ok(settings)
}

fn when(file: &RuleFile, name: &toml::Spanned<String>) -> Result<When, LoadError> {
    match name.get_ref().as_str() {
        "before" => Ok(When::Before),
        "after" => Ok(When::After),
        other => {
            let message = format!("unknown time of approval {other:?}");
            Err(problem(file, name.span().start, message, "before or after"))
        }
    }
}

fn redact(file: &RuleFile, written: WrittenRedact) -> Result<Redact, LoadError> {
    let mut rules = Vec::new();
    for rule in written.rules {
        let pattern = rule.pattern.get_ref();
        if let Err(error) = Rules::new().with_pattern(&rule.kind, pattern) {
            let message = format!("the pattern {pattern:?} cannot be used: {error}");
            let hint = "a regular expression for one line; its first group is the secret";
            return Err(problem(file, rule.pattern.span().start, message, hint));
        }
        rules.push((rule.kind, rule.pattern.into_inner()));
    }
    Ok(Redact { results: written.results, variables: written.secrets_env, rules })
}

/// Absolute, and never everything.
fn directories(
    file: &RuleFile,
    written: Vec<toml::Spanned<String>>,
) -> Result<Vec<BString>, LoadError> {
    let mut directories = Vec::new();
    for path in written {
        let trimmed = path.get_ref().trim_end_matches('/');
        let plain = trimmed.split('/').all(|part| part != "." && part != "..");
        if !trimmed.starts_with('/') || !plain {
            let message = format!("{:?} is no absolute directory", path.get_ref());
            return Err(problem(
                file,
                path.span().start,
                message,
                "write it from the root: /opt/data",
            ));
        }
        directories.push(trimmed.into());
    }
    Ok(directories)
}

fn line(file: &RuleFile, at: usize) -> u32 {
    file.text.get(..at).unwrap_or_default().matches('\n').count() as u32 + 1
}

pub(super) fn problem(file: &RuleFile, at: usize, message: String, hint: &str) -> LoadError {
    let before = file.text.get(..at).unwrap_or_default();
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let text = file.text.get(start..).unwrap_or_default().lines().next().unwrap_or_default();
    LoadError {
        file: file.name.clone(),
        line: line(file, at),
        column: before.get(start..).unwrap_or_default().chars().count() as u32 + 1,
        text: text.to_owned(),
        message,
        hint: hint.to_owned(),
    }
}
