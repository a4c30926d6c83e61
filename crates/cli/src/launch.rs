//! From the command line to a session: which project, which variables, which directory.

#![expect(
    clippy::disallowed_methods,
    reason = "the command line is where the caller's directory and environment are read; an allowlist passes on"
)]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bstr::BString;
use exacta::approvals::{Approver, Desk};
use exacta::audit::{AuditOptions, Trail};
use exacta::caller::{self, Inherit};
use exacta::configuration::{Configuration, Sources, TrustedCommands};
use exacta::gate::Face;
use exacta::policy::Profile;
use exacta::policy::limits::Allowance;
use exacta::programs::ProgramOptions;
use exacta::redaction::Redaction;
use exacta::tasks::Grounds;
use exacta::{EngineError, SessionOptions};
use exacta_jail::Level;

use crate::invocation::Global;
use crate::traces::Said;

/// A session as the operator asked for it, and the configuration that it is judged by.
pub struct Launch {
    pub options: SessionOptions,
    pub configuration: Configuration,
}

impl Launch {
    pub fn new(global: &Global) -> Result<Self, EngineError> {
        let caller = std::env::current_dir().ok();
        let root = root(global)?;
        let sources = sources(global, &root)?;
        let state = sources.state.clone();
        let mut configuration = Configuration::load(&sources)?;
        configuration.bind_to(&global.environment);
        let mut options = SessionOptions::new(&root);
        options.environment = environment(global, &root);
        options.directory = caller;
        options.programs = Some(ProgramOptions {
            path: caller::path(),
            tools: tools(global)?,
            limits: configuration.limits,
            min_isolation: Some(configuration.min_isolation),
            network: caller::network(),
            direct: false,
            state,
        });
        options.retention = configuration.retention;
        options.audit = Some(audit(&configuration));
        options.redaction = redaction(&configuration);
        options.trust = Arc::new(TrustedCommands {
            store: Arc::clone(&configuration.trust),
            path: root.join(exacta::commands_file::NAME),
        });
        Ok(Launch { options, configuration })
    }

    /// Of the output of one request, as much is shown.
    pub fn output_bytes(&self) -> u64 {
        let usual = Allowance::of(self.configuration.policy.profile());
        self.configuration.limits.applied_to(usual).output_bytes
    }

    /// Where the project's questions are decided.
    pub fn desk(&self) -> Desk {
        let trail = Trail::of(&self.options.root, keys(), self.configuration.audit);
        Desk::of(&self.options.root, trail, Arc::clone(&self.options.trust))
    }

    /// The options with a face and somebody to ask.
    pub fn session(self, face: Face, approver: Arc<dyn Approver>) -> SessionOptions {
        let mut judgement = self.configuration.judgement(face, approver);
        judgement.asker.agent = agent();
        SessionOptions { judgement: Some(judgement), ..self.options }
    }
}

/// What tasks of the project stand on. The configuration is read anew for every session: what the operator has changed
/// meanwhile counts for what has not run yet.
pub fn task_grounds(global: &Global) -> Result<Grounds, EngineError> {
    let Launch { options, configuration } = Launch::new(global)?;
    // Whatever directory this process goes to later, it stays with this project.
    let global = Global { root: Some(options.root.clone()), ..global.clone() };
    let launch = move |approver: Arc<dyn Approver>| {
        let Launch { mut options, configuration } = Launch::new(&global)?;
        let mut judgement = configuration.task_judgement(approver);
        judgement.asker.agent = agent();
        options.judgement = Some(judgement);
        // S4: at the root of the project.
        options.directory = None;
        Ok(options)
    };
    let settings = configuration.tasks;
    Ok(Grounds { root: options.root, state: state(), launch: Arc::new(launch), settings })
}

/// What the configuration says, and the secrets in this process's environment.
pub fn redaction(configuration: &Configuration) -> Redaction {
    let named = &configuration.secret_variables;
    let secrets = caller::secrets(named);
    let redaction = configuration.redaction.clone().with_environment(&secrets);
    let named = secrets.into_iter().filter(|(name, _)| named.iter().any(|one| name == one));
    named.fold(redaction, |redaction, (_, value)| redaction.with_secret("environment", value))
}

/// The configuration alone, where nothing runs.
pub fn configuration(global: &Global) -> Result<Configuration, EngineError> {
    let root = root(global)?;
    Configuration::load(&sources(global, &root)?)
}

/// Directories of the operator's own programs, by their real paths.
fn tools(global: &Global) -> Result<Vec<PathBuf>, EngineError> {
    global.tools.iter().map(|tools| exacta::project::canonical_root(tools)).collect()
}

/// The project by its real path.
pub fn root(global: &Global) -> Result<PathBuf, EngineError> {
    let named = global.root.clone().or_else(|| directory("EXACTA_ROOT"));
    let root = named.unwrap_or_else(|| {
        let caller = std::env::current_dir().ok();
        exacta::project::find_root(caller.as_deref().unwrap_or(Path::new(".")))
    });
    exacta::project::canonical_root(&root)
}

/// The same options, as if exacta had been started in this directory.
pub fn asked_in(global: &Global, place: &Path) -> Global {
    let named = global.root.clone().or_else(|| directory("EXACTA_ROOT"));
    let root = named.unwrap_or_else(|| exacta::project::find_root(place));
    Global { root: Some(root), ..global.clone() }
}

/// The operator's own directory, where agents keep their settings.
pub fn home() -> Option<PathBuf> {
    directory("HOME")
}

/// Where the operator's programs keep theirs.
pub fn configuration_home() -> Option<PathBuf> {
    directory("XDG_CONFIG_HOME").or_else(|| Some(home()?.join(".config")))
}

/// Does the operator want no colours?
pub fn no_colour() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// Where the configuration is.
fn sources(global: &Global, root: &Path) -> Result<Sources, EngineError> {
    let named = global.config.clone().or_else(|| directory("EXACTA_CONFIG"));
    let usual = directory("XDG_CONFIG_HOME").or_else(|| Some(directory("HOME")?.join(".config")));
    Ok(Sources {
        root: root.to_owned(),
        system: PathBuf::from("/etc/exacta/config.toml"),
        user_required: named.is_some(),
        user: named.or_else(|| Some(usual?.join("exacta/config.toml"))),
        state: state(),
        profile: profile(global)?,
        refusals: None,
        min_isolation: min_isolation(global)?,
    })
}

/// How it is recorded.
fn audit(configuration: &Configuration) -> AuditOptions {
    AuditOptions {
        agent: agent(),
        keys: keys(),
        limits: configuration.audit,
        output_bytes: configuration.recorded_output,
        eager: true,
        // What is wrong with it is said by `exacta shell status`, not by every command.
        traces: Said(&text).collector().unwrap_or_default(),
        session: None,
    }
}

/// Why traces are not sent to where the operator wants them.
pub fn traces_problem() -> Option<String> {
    Said(&text).collector().err()
}

/// Who asks, as the operator calls him; may be empty.
pub fn agent() -> String {
    text("EXACTA_AGENT").unwrap_or_default()
}

pub fn text(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|text| !text.is_empty())
}

/// The operator's own state.
pub fn state() -> Option<PathBuf> {
    let home = || Some(directory("HOME")?.join(".local/state"));
    directory("XDG_STATE_HOME").or_else(home).map(|state| state.join("exacta"))
}

/// Where the key is that signs records, and the heads that are anchored outside of projects.
pub fn keys() -> Option<PathBuf> {
    state().map(|state| state.join("audit"))
}

/// The flag, else `EXACTA_PROFILE`.
fn profile(global: &Global) -> Result<Option<Profile>, EngineError> {
    let text = match &global.profile {
        Some(profile) => profile.clone(),
        None => match std::env::var("EXACTA_PROFILE") {
            Ok(profile) => profile,
            Err(std::env::VarError::NotPresent) => return Ok(None),
            Err(std::env::VarError::NotUnicode(_)) => String::new(),
        },
    };
    match Profile::from_name(&text) {
        Some(profile) => Ok(Some(profile)),
        None => Err(EngineError::Configuration {
            path: "EXACTA_PROFILE".into(),
            problem: format!("unknown profile {text:?}: safe, dev or full-auto"),
        }),
    }
}

/// The flag, else `EXACTA_MIN_ISOLATION`.
fn min_isolation(global: &Global) -> Result<Option<Level>, EngineError> {
    if global.min_isolation.is_some() {
        return Ok(global.min_isolation);
    }
    let Some(text) = std::env::var_os("EXACTA_MIN_ISOLATION") else { return Ok(None) };
    match text.to_str().and_then(Level::from_name) {
        Some(level) => Ok(Some(level)),
        None => Err(EngineError::Configuration {
            path: "EXACTA_MIN_ISOLATION".into(),
            problem: format!("unknown isolation {}: {}", text.display(), crate::invocation::LEVELS),
        }),
    }
}

/// An absolute directory from the environment; anything else is as good as not set.
fn directory(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

fn environment(global: &Global, root: &Path) -> Vec<(BString, BString)> {
    let inherit = if global.inherit_environment { Inherit::Everything } else { Inherit::Harmless };
    let mut variables = caller::environment(inherit, root);
    for (name, value) in &global.environment {
        variables.retain(|(other, _)| other != name);
        variables.push((name.clone(), value.clone()));
    }
    variables
}
