//! What the judge says about a call, in the words of the agent's permissions.

use std::path::Path;
use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};
use exacta::Session;
use exacta::approvals::Unattended;
use exacta::commands_file::{self, CommandsFile, Decisions};
use exacta::gate::Face;
use exacta::policy::event::Access;
use exacta::policy::{Action, Decision, Finding, Place, Policy, Surroundings as _, Verdict};

use super::unconfined::{Question, Unconfined};
use crate::invocation::Global;
use crate::launch::{self, Launch};
use crate::terminal::visible;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permission {
    Allow,
    Ask,
    Deny,
}

impl Permission {
    pub fn name(self) -> &'static str {
        match self {
            Permission::Allow => "allow",
            Permission::Ask => "ask",
            Permission::Deny => "deny",
        }
    }
}

pub struct Decided {
    pub permission: Permission,
    pub reason: String,
}

/// The project's rules, for one call in one directory.
pub struct Judge {
    session: Session,
    policy: Arc<Policy>,
    /// What people have answered for good.
    answered: Decisions,
}

impl Judge {
    pub fn new(global: &Global, directory: &Path) -> Result<Self, String> {
        let said = |problem: &dyn std::fmt::Display| problem.to_string();
        let directory = exacta::project::canonical_root(directory).map_err(|it| said(&it))?;
        let mut launch =
            Launch::new(&launch::asked_in(global, &directory)).map_err(|it| said(&it))?;
        let root = launch.options.root.clone();
        if !directory.starts_with(&root) {
            return Err(format!(
                "{} is not in the project {}",
                directory.display(),
                root.display()
            ));
        }
        launch.options.directory = Some(directory.clone());
        let answered = CommandsFile::of(&root).read(&*launch.options.trust);
        let answered = answered.map_err(|it| said(&it))?;
        let policy = Arc::clone(&launch.configuration.policy);
        let session = Session::new(launch.session(Face::Run, Arc::new(Unattended)));
        let session = session.map_err(|it| said(&it))?;
        // What is judged in another directory than where it runs is not judged.
        if session.shell().directory != directory.as_os_str().as_encoded_bytes().as_bstr() {
            return Err(format!("{} cannot be entered", directory.display()));
        }
        Ok(Judge { session, policy, answered })
    }

    /// A command that exacta will run. Only what is denied anyway is refused here: what needs a person is asked about by exacta
    /// itself, when its words are known. Asked here as well, the person would be asked twice, about a guess first; and the
    /// agent's yes would have to reach exacta as `--yes`, which answers also what nobody has seen. While the agent only
    /// plans, a yes of ours would take away what keeps it from acting: then the person is asked about all that may change
    /// something.
    pub fn command_in_exacta(&self, text: &str, only_plans: bool) -> Decided {
        let verdict = self.session.test(text.into());
        if let Some(denied) = self.denied(&verdict, text) {
            return denied;
        }
        if only_plans && !self.is_harmless(text) {
            let reason = "it may change something, and this is the time for a plan".to_owned();
            return Decided { permission: Permission::Ask, reason };
        }
        let reason = match verdict.decision {
            Decision::Confirm => format!(
                "exacta asks before it runs this, `exacta approvals` decides: {}",
                said(&verdict.finding)
            ),
            _ => "runs in exacta, which holds it and can take it back".to_owned(),
        };
        Decided { permission: Permission::Allow, reason }
    }

    /// A command that runs in the agent's own shell. What the rules allow they allow in a jail and with undo, and there is
    /// neither: a yes is for what changes nothing, and the rest is left to the agent's own settings.
    pub fn command_on_the_host(&self, text: &str) -> Option<Decided> {
        let verdict = self.unconfined(text, Question::Rules);
        if let Some(denied) = self.denied(&verdict, text) {
            return Some(denied);
        }
        let always = self.answer(text) == commands_file::Decision::Allowed;
        if verdict.decision == Decision::Confirm && !always {
            let reason = said(&verdict.finding);
            return Some(Decided { permission: Permission::Ask, reason });
        }
        self.is_harmless(text).then(|| Decided {
            permission: Permission::Allow,
            reason: format!("changes nothing: {}", verdict.finding.reason),
        })
    }

    /// It changes nothing, wherever it runs.
    fn is_harmless(&self, text: &str) -> bool {
        let verdict = self.unconfined(text, Question::Harmless);
        verdict.decision == Decision::Allow && !may_write_or_set(text)
    }

    /// A file that a tool of the agent would touch. `None`: in the project, and as good as any.
    pub fn file(&self, path: &BString, access: Access) -> Option<Decided> {
        let world = self.session.world();
        let path = exacta::places::absolute(world.directory, path.as_ref());
        let place = world.place(path.as_ref());
        let shown = visible(&path.to_str_lossy());
        if matches!(place, Place::Outside | Place::Hidden | Place::Scratch) {
            let root = world.root().to_str_lossy();
            let reason = match place {
                Place::Hidden => format!("{shown} is exacta's own state"),
                _ => format!("{shown} leads out of the project {root}"),
            };
            let hint =
                "hint: work in the project, or let the operator's configuration open the path";
            return Some(Decided {
                permission: Permission::Deny,
                reason: format!("{reason}\n{hint}"),
            });
        }
        let action = Action::Open { path: path.as_ref(), access };
        let verdict = self.policy.judge(&action, &world);
        let permission = match verdict.decision {
            Decision::Allow => return None,
            Decision::Confirm => Permission::Ask,
            Decision::Deny => Permission::Deny,
        };
        Some(Decided { permission, reason: said(&verdict.finding) })
    }

    fn unconfined(&self, text: &str, question: Question) -> Verdict {
        self.policy.screen(text.into(), &Unconfined { world: self.session.world(), question })
    }

    /// By a rule, or because a person has said never.
    fn denied(&self, verdict: &Verdict, text: &str) -> Option<Decided> {
        let deny = |reason: String| Some(Decided { permission: Permission::Deny, reason });
        if verdict.decision == Decision::Deny {
            return deny(said(&verdict.finding));
        }
        let blocked = |text: &str| self.answer(text) == commands_file::Decision::Blocked;
        let written = |argv: &[BString]| {
            let words = bstr::join(" ", argv.iter().map(|word| exacta::report::typed(word)));
            words.to_str_lossy().into_owned()
        };
        let one =
            verdict.commands.iter().map(|command| written(&command.argv)).find(|it| blocked(it));
        let blocked = blocked(text).then(|| text.to_owned()).or(one)?;
        deny(format!("somebody has said that this never runs here: {}", visible(&blocked)))
    }

    /// Of the text as the engine writes it.
    fn answer(&self, text: &str) -> commands_file::Decision {
        let (options, limits) =
            (exacta_syntax::ParseOptions::default(), exacta_syntax::Limits::default());
        let written = match exacta_syntax::parse(BStr::new(text), options, limits) {
            Ok(tree) => BString::from(exacta_syntax::print_list(&tree).trim_ascii()),
            Err(_) => text.into(),
        };
        self.answered.about(&written.to_str_lossy())
    }
}

/// Is there a redirect that could write, or a variable that is set, as `PATH` would be? Only ever takes a yes away, so a look at
/// the text is enough.
fn may_write_or_set(text: &str) -> bool {
    let mut rest = text.to_owned();
    for harmless in ["2>&1", ">&2", ">/dev/null", "> /dev/null"] {
        rest = rest.replace(harmless, " ");
    }
    let sets = |(place, _): (usize, &str)| {
        let before = rest.get(..place).unwrap_or_default().trim_end_matches('+');
        let name_begins =
            before.trim_end_matches(|it: char| it.is_ascii_alphanumeric() || "_[]".contains(it));
        let has_name = name_begins.len() < before.len();
        has_name && !name_begins.ends_with(['-', '/', '.', '"', '\'', '$', '=', ':'])
    };
    rest.contains('>') || rest.match_indices('=').any(sets)
}

/// A finding in one paragraph: why, about what, by which rule, and what to do instead.
fn said(finding: &Finding) -> String {
    let mut text = finding.reason.to_string();
    if !finding.about.is_empty() {
        text.push_str(&format!(" ({})", visible(&finding.about.to_str_lossy())));
    }
    match &finding.source {
        Some(source) => {
            text.push_str(&format!(" [{}, {}:{}]", finding.rule, source.file, source.line));
        }
        None => text.push_str(&format!(" [{}]", finding.rule)),
    }
    if !finding.hint.is_empty() {
        text.push_str(&format!("\nhint: {}", finding.hint));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::may_write_or_set;

    #[test]
    fn a_look_at_the_text() {
        for text in
            ["ls > a", "PATH=. ls", "x=1; ls", "ls;A+=b cat", "(B=1)", "a[1]=2 ls", "ls 2>e"]
        {
            assert!(may_write_or_set(text), "{text}");
        }
        for text in
            ["ls 2>&1", "ls --color=auto", "grep -c a=b/ 'x==' >/dev/null", "test \"$a\" = b"]
        {
            let expected = text.contains("a=b");
            assert_eq!(may_write_or_set(text), expected, "{text}");
        }
    }
}
