//! What the operator wants, from the files where it can be written (DESIGN §8): who wrote it decides what it can do.
//!
//! | tier | file | may loosen |
//! |---|---|---|
//! | system | `/etc/exacta/config.toml` | yes; nothing below can weaken what it says |
//! | user | `$XDG_CONFIG_HOME/exacta/config.toml`, or `--config FILE` | yes |
//! | project | `.exacta.toml` | only after `exacta trust`; else it may only tighten |

mod planner;
mod settings;
mod starter;
mod tasks;
mod trust;

pub use planner::{Endpoint, PlannerKind, PlannerSettings};
pub use starter::{Imported, import_claude_code, starter};
pub use tasks::TaskSettings;
pub use trust::{TrustError, TrustStore, TrustedCommands};

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bstr::BString;
use exacta_jail::Level;
use exacta_policy::rules::{Notice, RuleFile, RuleSet, Tier};
use exacta_policy::{Policy, Profile};

use crate::approvals::{Approver, Asker, Digest, When};
use crate::audit::{MOST_OUTPUT, USUAL_OUTPUT};
use crate::error::EngineError;
use crate::gate::{Face, Judgement, Refusals};
use crate::programs::limits::Chosen;
use crate::redaction::{Redaction, Results};
use crate::surroundings::Grants;
use crate::undo::Retention;
use exacta_store::Budget;
pub use settings::Telegram;
use settings::{Auditing, Remembering, Settings};

/// The project's file.
pub const PROJECT_FILE: &str = ".exacta.toml";

/// Where to look, as the command line knows it.
#[derive(Debug, Clone)]
pub struct Sources {
    pub root: PathBuf,
    pub system: PathBuf,
    pub user: Option<PathBuf>,
    /// The user's file was named on the command line: it must exist.
    pub user_required: bool,
    /// Where it is kept what is trusted; absent: nothing is.
    pub state: Option<PathBuf>,
    /// From flags and the environment.
    pub profile: Option<Profile>,
    pub refusals: Option<Refusals>,
    pub min_isolation: Option<Level>,
}

/// Everything the files say, put together.
#[derive(Clone)]
pub struct Configuration {
    pub policy: Arc<Policy>,
    /// Changes with every rule and setting.
    pub version: Digest,
    pub refusals: Refusals,
    pub grants: Grants,
    /// Limits of programs that somebody has set.
    pub limits: Chosen,
    /// The rung of the jail's ladder below which programs do not run.
    pub min_isolation: Level,
    /// How much is remembered for undo.
    pub retention: Retention,
    /// How long the record of commands is kept.
    pub audit: exacta_store::audit::Limits,
    /// So much of each stream of output is in it.
    pub recorded_output: usize,
    /// What is redacted beside the built-in rules, and whether results are.
    pub redaction: Redaction,
    /// When a person is asked.
    pub asked: When,
    /// Where questions are sent, if anywhere.
    pub telegram: Option<Telegram>,
    /// What tasks may run beside the safe list, and their limits.
    pub tasks: TaskSettings,
    /// Who makes a plan of a goal, if anybody.
    pub planner: Option<PlannerSettings>,
    /// Variables whose values are secret, whatever they are called.
    pub secret_variables: Vec<String>,
    /// What files say in vain.
    pub notices: Vec<Notice>,
    /// The files read, the highest tier first.
    pub files: Vec<(PathBuf, Tier)>,
    pub trust: Arc<TrustStore>,
}

impl Configuration {
    pub fn load(sources: &Sources) -> Result<Self, EngineError> {
        let trust = Arc::new(TrustStore::open(sources.state.clone()));
        let files = read_files(sources, &trust)?;
        let rules = files.iter().map(|file| file.rules.clone()).collect::<Vec<_>>();
        let set = RuleSet::load_beside(&rules, settings::KEYS)?;
        let mut parsed = Vec::new();
        for file in &files {
            parsed.push((file.rules.tier, settings::parse(&file.rules)?));
        }
        let profile = profile(sources.profile, &parsed);
        let refusals = refusals(sources.refusals, &parsed);
        let (grants, limits) = (grants(&parsed), limits(&parsed));
        let notices = set.notices().iter().cloned().chain(said_in_vain(&parsed)).collect();
        Ok(Configuration {
            version: version(&files, profile),
            policy: Arc::new(Policy::new(set, profile)),
            refusals,
            grants,
            limits,
            min_isolation: min_isolation(sources.min_isolation, &parsed),
            retention: retention(&parsed),
            audit: audit(&parsed),
            recorded_output: recorded_output(&parsed),
            redaction: redaction(&parsed),
            asked: asked(&parsed),
            telegram: telegram(&parsed),
            tasks: tasks::chosen(&parsed),
            planner: planner::chosen(&parsed),
            secret_variables: secret_variables(&parsed),
            notices,
            files: files.into_iter().map(|file| (file.path, file.rules.tier)).collect(),
            trust,
        })
    }

    /// An approval given under these variables of the operator's holds only under them.
    pub fn bind_to(&mut self, environment: &[(BString, BString)]) {
        if !environment.is_empty() {
            self.version = Digest::of(b"".into(), b"".into(), environment, &self.version);
        }
    }

    /// What a session with this face is judged by.
    pub fn judgement(&self, face: Face, approver: Arc<dyn Approver>) -> Judgement {
        Judgement {
            policy: Arc::clone(&self.policy),
            version: self.version,
            face,
            refusals: self.refusals,
            grants: self.grants.clone(),
            approver,
            asker: Asker::default(),
            when: self.asked,
        }
    }

    /// What the commands of a task are judged by: the same rules, and S4's. An approval given to a task holds for nothing
    /// else, hence the version of its own.
    pub fn task_judgement(&self, approver: Arc<dyn Approver>) -> Judgement {
        Judgement {
            policy: Arc::new(self.policy.for_tasks(self.tasks.list())),
            version: Digest::of(b"task".into(), b"".into(), &[], &self.version),
            ..self.judgement(Face::Run, approver)
        }
    }
}

struct File {
    path: PathBuf,
    rules: RuleFile,
}

fn read_files(sources: &Sources, trust: &TrustStore) -> Result<Vec<File>, EngineError> {
    let mut files = Vec::new();
    let mut add = |path: &Path, text: Option<String>, tier: Tier| {
        let Some(text) = text else { return };
        let name: Arc<str> = path.display().to_string().into();
        files.push(File { path: path.to_owned(), rules: RuleFile { name, text, tier } });
    };
    add(&sources.system, read(&sources.system, false)?, Tier::System);
    if let Some(user) = &sources.user {
        add(user, read(user, sources.user_required)?, Tier::User);
    }
    let project = sources.root.join(PROJECT_FILE);
    let content = crate::project::read_project_file(&sources.root, PROJECT_FILE)
        .map_err(|error| unreadable(&project, &exacta_shell::errno::text(&error)))?;
    let text = content.map(|content| as_text(&project, content)).transpose()?;
    let trusted = text.as_ref().is_some_and(|text| trust.is_trusted(&project, text.as_bytes()));
    add(&project, text, if trusted { Tier::TrustedProject } else { Tier::Project });
    Ok(files)
}

fn read(path: &Path, required: bool) -> Result<Option<String>, EngineError> {
    match crate::project::read_operator_file(path) {
        Ok(bytes) => as_text(path, bytes).map(Some),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !required => Ok(None),
        Err(error) => Err(unreadable(path, &exacta_shell::errno::text(&error))),
    }
}

fn as_text(path: &Path, content: BString) -> Result<String, EngineError> {
    String::from_utf8(content.into()).map_err(|_| unreadable(path, "not UTF-8"))
}

fn unreadable(path: &Path, problem: &str) -> EngineError {
    EngineError::Configuration { path: path.to_owned(), problem: problem.to_owned() }
}

/// The most specific wins, but no file weakens one that is above it unless it may.
fn profile(given: Option<Profile>, files: &[(Tier, Settings)]) -> Profile {
    let of = |tier: Tier| files.iter().find(|(its, _)| *its == tier).and_then(|(_, s)| s.profile);
    let mut profile = of(Tier::User).or(of(Tier::System)).unwrap_or_default();
    profile = of(Tier::TrustedProject).unwrap_or(profile);
    profile = given.unwrap_or(profile);
    if let Some(tighter) = of(Tier::Project) {
        profile = profile.min(tighter);
    }
    of(Tier::System).map_or(profile, |floor| profile.min(floor))
}

fn refusals(given: Option<Refusals>, files: &[(Tier, Settings)]) -> Refusals {
    let of = |tier: Tier| files.iter().find(|(its, _)| *its == tier).and_then(|(_, s)| s.refusals);
    let trusted = of(Tier::System).or(given).or(of(Tier::TrustedProject)).or(of(Tier::User));
    // Who may only tighten can have less said, not more.
    let tighter = of(Tier::Project).filter(|refusals| *refusals == Refusals::Conceal);
    tighter.or(trusted).unwrap_or_default()
}

/// The most specific wins, but what the administrator or a project that is not trusted asks for is asked for.
fn min_isolation(given: Option<Level>, files: &[(Tier, Settings)]) -> Level {
    let of =
        |tier: Tier| files.iter().find(|(its, _)| *its == tier).and_then(|(_, s)| s.min_isolation);
    let wanted = given.or(of(Tier::TrustedProject)).or(of(Tier::User)).or(of(Tier::System));
    let floors = of(Tier::System).into_iter().chain(of(Tier::Project));
    floors.fold(wanted.unwrap_or(Level::Namespaces), Level::max)
}

/// The most specific wins; what the administrator or a project that is not trusted says can only be tightened.
fn limits(files: &[(Tier, Settings)]) -> Chosen {
    let of = |tier: Tier| {
        let found = files.iter().find(|(its, _)| *its == tier);
        found.map(|(_, settings)| settings.limits).unwrap_or_default()
    };
    let wanted = of(Tier::TrustedProject).or(of(Tier::User));
    wanted.at_most(of(Tier::System)).at_most(of(Tier::Project))
}

/// What the administrator says holds; then the most specific wins. A project that is not trusted says nothing: to
/// remember less would be to lose what can be undone, and to remember more takes the operator's room.
fn retention(files: &[(Tier, Settings)]) -> Retention {
    let order = [Tier::System, Tier::TrustedProject, Tier::User];
    let said = |of: fn(&Remembering) -> Option<u64>| {
        let file = |tier| files.iter().find(|(its, _)| *its == tier);
        order.into_iter().find_map(|tier| of(&file(tier)?.1.undo))
    };
    let usual = Retention::default();
    Retention {
        days: said(|undo| undo.days).unwrap_or(usual.days),
        records: said(|undo| undo.records).unwrap_or(usual.records),
        bytes: said(|undo| undo.bytes).unwrap_or(usual.bytes),
        copied: Budget {
            entries: said(|undo| undo.copied_entries).unwrap_or(usual.copied.entries),
            bytes: said(|undo| undo.copied_bytes).unwrap_or(usual.copied.bytes),
        },
    }
}

fn of_audit(files: &[(Tier, Settings)], of: fn(&Auditing) -> Option<u64>) -> Option<u64> {
    let order = [Tier::System, Tier::TrustedProject, Tier::User];
    let file = |tier| files.iter().find(|(its, _)| *its == tier);
    order.into_iter().find_map(|tier| of(&file(tier)?.1.audit))
}

/// The same for the record of commands: a project cannot have it forgotten.
fn audit(files: &[(Tier, Settings)]) -> exacta_store::audit::Limits {
    let said = |of| of_audit(files, of);
    let usual = exacta_store::audit::Limits::default();
    exacta_store::audit::Limits {
        days: said(|audit| audit.days).unwrap_or(usual.days),
        bytes: said(|audit| audit.bytes).unwrap_or(usual.bytes),
    }
}

fn recorded_output(files: &[(Tier, Settings)]) -> usize {
    let said = of_audit(files, |audit| audit.output).map(usize::try_from);
    said.map_or(USUAL_OUTPUT, |said| said.map_or(MOST_OUTPUT, |said| said.min(MOST_OUTPUT)))
}

/// To ask first is the stricter way, and anybody may ask for that.
fn asked(files: &[(Tier, Settings)]) -> When {
    let of = |tier: Tier| files.iter().find(|(its, _)| *its == tier)?.1.asked;
    let strict = [of(Tier::System), of(Tier::Project)].contains(&Some(When::Before));
    let wanted = of(Tier::TrustedProject).or(of(Tier::User)).or(of(Tier::System));
    if strict { When::Before } else { wanted.unwrap_or_default() }
}

/// Who decides is for the operator to say, and for no project.
fn telegram(files: &[(Tier, Settings)]) -> Option<Telegram> {
    let of = |tier: Tier| files.iter().find(|(its, _)| *its == tier)?.1.telegram.clone();
    of(Tier::User).or_else(|| of(Tier::System))
}

/// Anybody may ask for results without secrets. Patterns and variables of a project that is not trusted do not count: with
/// them it could blot out what it does in the records.
fn redaction(files: &[(Tier, Settings)]) -> Redaction {
    let of = |tier: Tier| {
        files.iter().find(|(its, _)| *its == tier).and_then(|(_, settings)| settings.redact.results)
    };
    let wanted = of(Tier::TrustedProject).or(of(Tier::User)).or(of(Tier::System));
    let asked = [wanted, of(Tier::System), of(Tier::Project)].contains(&Some(true));
    let results = if asked { Results::Redacted } else { Results::Whole };
    let rules = trusted(files).flat_map(|settings| &settings.redact.rules);
    rules.fold(Redaction::new(results), |redaction, (kind, pattern)| {
        // Every pattern was tried when its file was read.
        redaction.clone().with_pattern(kind, pattern).unwrap_or(redaction)
    })
}

fn secret_variables(files: &[(Tier, Settings)]) -> Vec<String> {
    trusted(files).flat_map(|settings| settings.redact.variables.iter().cloned()).collect()
}

/// What a project says that is not for it to say.
fn said_in_vain(files: &[(Tier, Settings)]) -> Vec<Notice> {
    let mut notices = Vec::new();
    for (tier, settings) in files {
        if let Some(allow) = settings.tasks.allow.as_ref().filter(|_| !tier.may_loosen()) {
            let message = "`tasks.allow` of a project that is not trusted does not count; `exacta trust` after reading it";
            notices.push(Notice { source: allow.source.clone(), message: message.to_owned() });
        }
        let project = matches!(tier, Tier::Project | Tier::TrustedProject);
        if let Some(planner) = settings.planner.as_ref().filter(|_| project) {
            let message = "`planner` of a project does not count: who is sent parts of it is for the operator to say";
            notices.push(Notice { source: planner.source.clone(), message: message.to_owned() });
        }
    }
    notices
}

/// What was written by somebody who may loosen.
fn trusted(files: &[(Tier, Settings)]) -> impl Iterator<Item = &Settings> {
    files.iter().filter(|(tier, _)| *tier != Tier::Project).map(|(_, settings)| settings)
}

/// Only who may loosen can open paths outside the project.
fn grants(files: &[(Tier, Settings)]) -> Grants {
    let mut grants = Grants::default();
    for (tier, settings) in files {
        if *tier != Tier::Project {
            grants.readable.extend(settings.readable.iter().cloned());
            grants.writable.extend(settings.writable.iter().cloned());
        }
    }
    grants
}

fn version(files: &[File], profile: Profile) -> Digest {
    let own = [env!("CARGO_PKG_VERSION").as_bytes(), profile.name().as_bytes()];
    let texts = files.iter().flat_map(|file| {
        [file.rules.name.as_bytes(), file.rules.tier.name().as_bytes(), file.rules.text.as_bytes()]
    });
    Digest::of_parts(own.into_iter().chain(texts))
}
