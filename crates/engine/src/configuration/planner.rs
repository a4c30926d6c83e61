//! `[planner]`: who makes a plan of a goal. Only the operator's files say it: whoever plans is sent parts of the project.

use std::time::Duration;

use exacta_policy::rules::{LoadError, RuleFile, Tier};
use serde::Deserialize;

use super::settings::{Settings, problem};
use crate::tasks::duration;

/// How long a planner may think where nobody says otherwise.
const USUAL_TIMEOUT: Duration = Duration::from_secs(120);

/// Who plans, everything filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannerSettings {
    pub kind: PlannerKind,
    /// How long it may take from the goal to the plan, with all that is asked again.
    pub timeout: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlannerKind {
    /// Anything that speaks like `OpenAI`'s `chat/completions`.
    OpenAi(Endpoint),
    /// Anthropic's `messages`.
    Anthropic(Endpoint),
    /// A program that prints a plan: its words.
    Command(Vec<String>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Without a slash at its end: `https://api.openai.com/v1`.
    pub url: String,
    pub model: String,
    /// The variable that has the key.
    pub key_env: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct WrittenPlanner {
    kind: Option<toml::Spanned<String>>,
    url: Option<toml::Spanned<String>>,
    model: Option<String>,
    key_env: Option<String>,
    command: Option<toml::Spanned<Vec<String>>>,
    timeout: Option<toml::Spanned<duration::Written>>,
}

pub(super) fn read(
    file: &RuleFile,
    written: toml::Spanned<WrittenPlanner>,
) -> Result<PlannerSettings, LoadError> {
    let at = written.span().start;
    let written = written.into_inner();
    let timeout = match &written.timeout {
        Some(length) => length
            .get_ref()
            .read()
            .map_err(|message| problem(file, length.span().start, message, duration::HINT))?,
        None => USUAL_TIMEOUT,
    };
    Ok(PlannerSettings { kind: kind(file, at, written)?, timeout })
}

fn kind(file: &RuleFile, at: usize, written: WrittenPlanner) -> Result<PlannerKind, LoadError> {
    let named = written.kind.as_ref();
    let place = named.map_or(at, |kind| kind.span().start);
    let name = match (named, &written.command) {
        (Some(kind), _) => kind.get_ref().as_str(),
        (None, Some(_)) => "command",
        (None, None) => {
            return Err(problem(file, at, "the planner has no `kind`".into(), KINDS));
        }
    };
    match name {
        "openai" => endpoint(file, at, written, "https://api.openai.com/v1", "OPENAI_API_KEY")
            .map(PlannerKind::OpenAi),
        "anthropic" => {
            endpoint(file, at, written, "https://api.anthropic.com", "ANTHROPIC_API_KEY")
                .map(PlannerKind::Anthropic)
        }
        "command" => command(file, place, written).map(PlannerKind::Command),
        other => {
            let message = format!("unknown kind of planner {other:?}");
            Err(problem(file, place, message, KINDS))
        }
    }
}

const KINDS: &str = "openai, anthropic or command";

/// A model has no usual value: whichever were written here would soon be gone.
fn endpoint(
    file: &RuleFile,
    at: usize,
    written: WrittenPlanner,
    url: &str,
    key: &str,
) -> Result<Endpoint, LoadError> {
    if let Some(command) = written.command {
        let message = "`command` means nothing for this kind of planner".to_owned();
        return Err(problem(file, command.span().start, message, "kind = \"command\" runs it"));
    }
    let Some(model) = written.model.filter(|model| !model.trim().is_empty()) else {
        let message = "the planner has no `model`".to_owned();
        return Err(problem(file, at, message, "the name by which the endpoint knows it"));
    };
    let url = match written.url {
        Some(given) if is_address(given.get_ref()) => given.into_inner(),
        Some(given) => {
            let message = format!("{:?} is no address", given.get_ref());
            let hint = "it begins with https://, or http:// for this machine";
            return Err(problem(file, given.span().start, message, hint));
        }
        None => url.to_owned(),
    };
    let key_env = written.key_env.unwrap_or_else(|| key.to_owned());
    Ok(Endpoint { url: url.trim_end_matches('/').to_owned(), model, key_env })
}

fn is_address(url: &str) -> bool {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'))
        && !url.contains(char::is_whitespace)
}

fn command(file: &RuleFile, at: usize, written: WrittenPlanner) -> Result<Vec<String>, LoadError> {
    let hint = "its words: command = [\"my-planner\", \"--json\"]";
    let Some(command) = written.command else {
        return Err(problem(file, at, "the planner has no `command`".into(), hint));
    };
    if command.get_ref().first().is_none_or(String::is_empty) {
        let message = "the command of the planner is empty".to_owned();
        return Err(problem(file, command.span().start, message, hint));
    }
    Ok(command.into_inner())
}

/// The user's own goes first, as with everything that nobody has to be protected from.
pub(super) fn chosen(files: &[(Tier, Settings)]) -> Option<PlannerSettings> {
    let of = |tier: Tier| {
        let found = files.iter().find(|(its, _)| *its == tier);
        found.and_then(|(_, settings)| settings.planner.clone())
    };
    of(Tier::User).or_else(|| of(Tier::System)).map(|planner| planner.value)
}

#[cfg(test)]
mod tests {
    use super::super::settings;
    use super::*;

    fn read(text: &str) -> Result<PlannerSettings, String> {
        let file = RuleFile { name: "x.toml".into(), text: text.into(), tier: Tier::User };
        let settings = settings::parse(&file).map_err(|error| error.to_string())?;
        Ok(chosen(&[(Tier::User, settings)]).unwrap())
    }

    #[test]
    fn what_is_not_said_is_as_usual() {
        let planner = read("[planner]\nkind = \"openai\"\nmodel = \"m\"\n").unwrap();
        let endpoint = Endpoint {
            url: "https://api.openai.com/v1".into(),
            model: "m".into(),
            key_env: "OPENAI_API_KEY".into(),
        };
        assert_eq!(planner.kind, PlannerKind::OpenAi(endpoint));
        assert_eq!(planner.timeout, USUAL_TIMEOUT);
        let planner = read("[planner]\ncommand = [\"x\", \"y\"]\ntimeout = \"2m\"\n").unwrap();
        assert_eq!(planner.kind, PlannerKind::Command(vec!["x".into(), "y".into()]));
        assert_eq!(planner.timeout, Duration::from_secs(120));
    }

    #[test]
    fn what_is_wrong_is_pointed_at() {
        for (text, place, message) in [
            ("[planner]\n", "x.toml:1:", "the planner has no `kind`"),
            ("[planner]\nkind = \"x\"\n", "x.toml:2:8:", "unknown kind of planner \"x\""),
            ("[planner]\nkind = \"openai\"\n", "x.toml:1:", "the planner has no `model`"),
            ("[planner]\nkind = \"command\"\n", "x.toml:2:", "the planner has no `command`"),
            ("[planner]\ncommand = []\n", "x.toml:2:", "the command of the planner is empty"),
            ("[planner]\nkey = \"x\"\n", "x.toml:2:", "unknown field `key`"),
            (
                "[planner]\nkind = \"openai\"\nmodel = \"m\"\nurl = \"ftp://x\"\n",
                "x.toml:4:",
                "no address",
            ),
            ("[planner]\ncommand = [\"x\"]\ntimeout = 0\n", "x.toml:3:", "no time at all"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.starts_with(place) && error.contains(message), "{text}\n{error}");
        }
    }

    #[test]
    fn no_project_says_who_plans() {
        let text = "[planner]\ncommand = [\"x\"]\n";
        for tier in [Tier::Project, Tier::TrustedProject] {
            let file = RuleFile { name: "x.toml".into(), text: text.into(), tier };
            let settings = settings::parse(&file).unwrap();
            let files = [(tier, settings)];
            assert_eq!(chosen(&files), None);
            let notices = super::super::said_in_vain(&files);
            assert_eq!(notices.len(), 1);
            assert_eq!(notices[0].source.line, 1);
        }
    }
}
