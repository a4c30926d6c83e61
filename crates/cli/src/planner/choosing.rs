//! Which planner it is: by the operator's configuration, else by which key there is.

use std::path::Path;
use std::time::Duration;

use exacta::configuration::{self, Configuration, PlannerKind, PlannerSettings};
use exacta::policy::rules::TaskList;
use exacta::tasks::PlanningFailed;

use super::anthropic::Anthropic;
use super::command::Program;
use super::endpoint::Key;
use super::openai::OpenAi;
use super::{Backend, ChosenPlanner, Told, failure};
use crate::launch;

/// Where nothing is configured. Names of models do not last: `[planner]` names another.
const ANTHROPIC: (&str, &str, &str) =
    ("https://api.anthropic.com", "claude-sonnet-4-5", "ANTHROPIC_API_KEY");
const OPENAI: (&str, &str, &str) = ("https://api.openai.com/v1", "gpt-5-mini", "OPENAI_API_KEY");
const USUAL_TIMEOUT: Duration = Duration::from_secs(120);

/// The planner of this project. `told` hears how far it is.
pub fn choose(
    configuration: &Configuration,
    root: &Path,
    allowed: Vec<String>,
    told: Told,
) -> Result<ChosenPlanner, PlanningFailed> {
    let settings = match &configuration.planner {
        Some(settings) => settings.clone(),
        None => by_key().ok_or_else(failure::no_planner)?,
    };
    let mut rules = launch::redaction(configuration).rules().clone();
    let (backend, key) = backend(&settings.kind, root)?;
    if let Some(key) = &key {
        rules = rules.with_secret("planner key", key.as_bytes());
    }
    let (root, limit) = (root.to_owned(), settings.timeout);
    Ok(ChosenPlanner { backend, root, allowed, rules, key, limit, told })
}

/// The commands that run in a task without a question, as whoever plans is told: S4's list and the operator's. What is on it
/// and blocked by S3 (`curl`, `wget`) is not offered.
pub fn allowed(configuration: &Configuration) -> Vec<String> {
    TaskList::safe().into_iter().chain(configuration.tasks.allow.iter().cloned()).collect()
}

fn by_key() -> Option<PlannerSettings> {
    let kinds = [
        (ANTHROPIC, PlannerKind::Anthropic as fn(configuration::Endpoint) -> PlannerKind),
        (OPENAI, PlannerKind::OpenAi),
    ];
    let ((url, model, variable), kind) =
        kinds.into_iter().find(|((.., variable), _)| launch::text(variable).is_some())?;
    let [url, model, key_env] = [url, model, variable].map(str::to_owned);
    Some(PlannerSettings {
        kind: kind(configuration::Endpoint { url, model, key_env }),
        timeout: USUAL_TIMEOUT,
    })
}

/// And the key that it uses.
fn backend(
    kind: &PlannerKind,
    root: &Path,
) -> Result<(Box<dyn Backend>, Option<String>), PlanningFailed> {
    match kind {
        PlannerKind::OpenAi(endpoint) => {
            let key = key(endpoint, OPENAI.0)?;
            let value = key.value.clone();
            Ok((Box::new(OpenAi::new(&endpoint.url, &endpoint.model, key)?), value))
        }
        PlannerKind::Anthropic(endpoint) => {
            let key = key(endpoint, ANTHROPIC.0)?;
            let value = key.value.clone();
            Ok((Box::new(Anthropic::new(&endpoint.url, &endpoint.model, key)?), value))
        }
        PlannerKind::Command(words) => Ok((Box::new(Program::new(words, root)?), None)),
    }
}

/// From the environment, and from nowhere else. Servers of one's own often want none; those at the usual address do.
fn key(endpoint: &configuration::Endpoint, usual: &str) -> Result<Key, PlanningFailed> {
    let variable = endpoint.key_env.trim().to_owned();
    let named = Some(variable.as_str()).filter(|variable| !variable.is_empty());
    let value = named.and_then(launch::text).map(|value| value.trim().to_owned());
    let value = value.filter(|value| !value.is_empty());
    if value.is_none() && endpoint.url == usual {
        let host = usual.trim_start_matches("https://").trim_end_matches("/v1");
        return Err(failure::no_key(named.unwrap_or("planner.key_env"), host));
    }
    if value.as_ref().is_some_and(|value| !value.bytes().all(|byte| byte.is_ascii_graphic())) {
        return Err(failure::because(
            format!("what is in {variable} is no key: there are characters in it that no key has"),
            "was it copied whole, and nothing else?",
        ));
    }
    Ok(Key { variable, value })
}
