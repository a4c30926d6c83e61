//! Where it is decided what a session may do: the policy in force, who can be asked, what was decided before.

mod trying;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use bstr::{BStr, BString, ByteSlice};
use exacta_policy::rules::{LoadError, RuleSet};
use exacta_policy::{Decision, Finding, JudgedCommand, Policy, Profile};
use exacta_shell::filesystem::FileSystem;
use exacta_shell::host::Refusal;

use crate::approvals::{
    Answer, Approver, Asker, Digest, Grant, PendingStore, Question, Scope, Standing, State,
    Unattended, When, storable,
};
use crate::audit::Audit;
use crate::commands_file::Entered;
use crate::decisions::ProjectDecisions;
use crate::proposal::Proposed;
use crate::surroundings::{Grants, World};

/// How a session shows itself to whoever uses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Face {
    /// S0: what lies outside does not exist; nothing is looked at before it runs.
    #[default]
    Shell,
    /// S3: what leaves the root is a deny, and the whole request is looked at before anything runs.
    Run,
}

/// What an agent is told when something is denied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Refusals {
    #[default]
    Explain,
    /// A blocked program is simply not there.
    Conceal,
}

/// What a session is judged by.
#[derive(Clone)]
pub struct Judgement {
    pub policy: Arc<Policy>,
    /// Changes with every rule and setting.
    pub version: Digest,
    pub face: Face,
    pub refusals: Refusals,
    pub grants: Grants,
    pub approver: Arc<dyn Approver>,
    /// Who asks, and what for.
    pub asker: Asker,
    /// When a person is asked.
    pub when: When,
}

impl Judgement {
    /// The built-in rules under `dev`, in the face of S0, with nobody to ask.
    pub fn standard() -> Result<Self, LoadError> {
        static POLICY: LazyLock<Result<Arc<Policy>, LoadError>> =
            LazyLock::new(|| Policy::builtin(Profile::Dev).map(Arc::new));
        static VERSION: LazyLock<Digest> =
            LazyLock::new(|| Digest::of_parts([env!("CARGO_PKG_VERSION").as_bytes()]));
        Ok(Judgement {
            policy: POLICY.clone()?,
            version: *VERSION,
            face: Face::Shell,
            refusals: Refusals::Explain,
            grants: Grants::default(),
            approver: Arc::new(Unattended),
            asker: Asker::default(),
            when: When::Before,
        })
    }

    /// Nothing is asked or denied: what is left are the walls beneath, which must hold by themselves.
    pub fn none() -> Self {
        Judgement {
            policy: Arc::new(Policy::new(RuleSet::none(), Profile::FullAuto)),
            version: Digest::of_parts([]),
            face: Face::Shell,
            refusals: Refusals::Explain,
            grants: Grants::default(),
            approver: Arc::new(Unattended),
            asker: Asker::default(),
            when: When::Before,
        }
    }
}

pub struct Gate {
    pub judgement: Judgement,
    pub files: Arc<dyn FileSystem>,
    pub audit: Arc<Audit>,
    /// The environment that the session began with.
    environment: OnceLock<Vec<(BString, BString)>>,
    /// Absent for a session without a real directory: nothing can be kept there.
    project: Option<Project>,
    state: Mutex<GateState>,
    /// For every name asked about, whether rules only ever allow it: loops ask again and again.
    plain: RwLock<HashMap<BString, bool>>,
}

/// The directory where decisions are kept.
pub struct Project {
    pub root: PathBuf,
    pub decisions: ProjectDecisions,
}

#[derive(Default)]
struct GateState {
    standing: Standing,
    /// Who asks now, where that is not what holds for the session.
    asker: Option<Asker>,
    /// What was approved for the request that runs.
    grant: Option<Grant>,
    /// The strictest finding of the request so far.
    strictest: Option<Finding>,
    trial: trying::Trial,
}

/// "No", and to what.
#[derive(Debug, Clone)]
pub struct Refused {
    pub finding: Box<Finding>,
    pub argv: Vec<BString>,
    /// A person may still allow it, under this id.
    pub approval: Option<String>,
}

/// What became of the judgement of a request.
#[derive(Debug, Clone, Default)]
pub struct Judged {
    pub finding: Option<Finding>,
    pub grant: Option<Grant>,
}

impl Judged {
    /// The rule that decided. Where none is about anything in the request, what holds everything that runs here.
    pub fn rule(&self) -> &str {
        self.finding.as_ref().map_or("in-process", |finding| &finding.rule)
    }

    pub fn reason(&self) -> &str {
        self.finding.as_ref().map_or("nothing speaks against it", |finding| &finding.reason)
    }
}

impl Gate {
    pub fn new(
        judgement: Judgement,
        files: Arc<dyn FileSystem>,
        project: Option<Project>,
        audit: Arc<Audit>,
    ) -> Self {
        Gate {
            judgement,
            files,
            audit,
            environment: OnceLock::new(),
            project,
            state: Mutex::default(),
            plain: RwLock::default(),
        }
    }

    /// What the session begins with, its own variables included. Said once.
    pub fn begin_session(&self, environment: Vec<(BString, BString)>) {
        let _already_said = self.environment.set(environment);
    }

    /// What a program would see that the session did not begin with.
    pub fn not_initial(
        &self,
        environment: impl Iterator<Item = (BString, BString)>,
    ) -> Vec<(BString, BString)> {
        let initial = self.environment.get().map(Vec::as_slice).unwrap_or_default();
        environment.filter(|pair| !initial.contains(pair)).collect()
    }

    /// What earlier requests of the session have exported.
    pub fn changed(&self, world: &World<'_>) -> Vec<(BString, BString)> {
        let exported = world.shell.map(|shell| shell.variables.environment());
        self.not_initial(exported.unwrap_or_default().into_iter())
    }

    /// A new request: what was approved for the last one holds no longer.
    pub fn begin(&self, asker: Option<Asker>) {
        let mut state = self.state();
        state.asker = asker;
        state.grant = None;
        state.strictest = None;
        state.trial = trying::Trial::default();
    }

    /// What the judge has said of the request so far.
    pub fn judged(&self) -> Judged {
        let state = self.state();
        Judged { finding: state.strictest.clone(), grant: state.grant.clone() }
    }

    /// Remembers the strictest finding of the request. That there was nothing to judge, as for a redirect into a file that no
    /// rule is about, is no reason: the next command's may be one.
    pub fn remember(&self, finding: &Finding) {
        if finding.is_empty() {
            return;
        }
        let mut state = self.state();
        if state.strictest.as_ref().is_none_or(|before| finding.decision > before.decision) {
            state.strictest = Some(finding.clone());
        }
    }

    /// Was exactly this said never to run?
    pub fn is_blocked(&self, text: &BStr) -> bool {
        self.project.as_ref().is_some_and(|project| project.decisions.is_blocked(text))
    }

    /// Do rules only ever allow commands of this name?
    pub fn is_plain(&self, name: &BStr) -> bool {
        let known = self.plain.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(plain) = known.get::<[u8]>(name.as_ref()) {
            return *plain;
        }
        drop(known);
        let plain = self.judgement.policy.is_plain(name);
        let mut known = self.plain.write().unwrap_or_else(PoisonError::into_inner);
        // Names are the script's to choose: only so many are kept.
        if known.len() < 512 {
            known.insert(name.into(), plain);
        }
        plain
    }

    /// Nothing was ever said never to run.
    pub fn blocks_nothing(&self) -> bool {
        self.project.as_ref().is_none_or(|project| project.decisions.blocks_nothing())
    }

    /// Asks whoever can be asked about the commands that need a yes.
    pub fn ask(&self, proposed: Proposed<'_>) -> Result<(), Refused> {
        let asks = proposed.asking();
        if asks.is_empty() || self.decided(&asks) {
            return Ok(());
        }
        let may_be_tried = self.may_be_tried(&proposed, &asks);
        let Proposed { text, directory, environment, commands, .. } = proposed;
        let digest = Digest::of(text.as_bstr(), directory, environment, &self.judgement.version);
        let always = storable(&text, &asks);
        let allowed = commands.len() - asks.len();
        let asker = self.state().asker.clone();
        let asker = asker.unwrap_or_else(|| self.judgement.asker.clone());
        let directory = directory.into();
        let (tried, task) = (None, None);
        let question =
            Question { text, directory, asks, allowed, always, digest, asker, tried, task };
        if self.stands(&question) || self.was_approved(&question)? {
            return Ok(());
        }
        if may_be_tried {
            return self.try_first(question);
        }
        let answer = self.judgement.approver.ask(&question);
        self.settle(answer, question)
    }

    /// Was all of it shown to the person who approved the request?
    fn decided(&self, asks: &[JudgedCommand]) -> bool {
        let state = self.state();
        let Some(grant) = &state.grant else { return false };
        asks.iter().all(|command| grant.covers(command))
    }

    /// Allowed for the session or for good.
    fn stands(&self, question: &Question) -> bool {
        let scope = if self.state().standing.session.contains(&question.text) {
            Scope::Session
        } else if self
            .project
            .as_ref()
            .is_some_and(|project| project.decisions.is_allowed(question.text.as_bstr()))
        {
            Scope::Always
        } else {
            return false;
        };
        self.grant(question, None, "an earlier decision", scope);
        true
    }

    /// Approved while nobody waited for it.
    fn was_approved(&self, question: &Question) -> Result<bool, Refused> {
        let Some(project) = &self.project else { return Ok(false) };
        let store = PendingStore::of(&project.root);
        match store.take(&question.digest) {
            Ok(None) => Ok(false),
            Ok(Some(pending)) => {
                let by = pending.by.clone().unwrap_or_default();
                let scope = match pending.scope.as_deref() {
                    Some("session") => {
                        self.state().standing.session.insert(question.text.clone());
                        Scope::Session
                    }
                    Some("always") => Scope::Always,
                    _ => Scope::Once,
                };
                self.grant(question, Some(pending.id), &by, scope);
                self.state().trial.result = pending.tried;
                Ok(true)
            }
            Err(problem) => Err(Self::broken(question, &problem.to_string())),
        }
    }

    fn settle(&self, answer: Answer, question: Question) -> Result<(), Refused> {
        let by = self.judgement.approver.name().to_owned();
        match answer {
            Answer::Once => self.grant(&question, None, &by, Scope::Once),
            Answer::Session => {
                self.state().standing.session.insert(question.text.clone());
                self.grant(&question, None, &by, Scope::Session);
            }
            Answer::Always => {
                self.keep(&question, true)?;
                self.grant(&question, None, &by, Scope::Always);
            }
            Answer::Never => {
                self.keep(&question, false)?;
                return Err(refusal(&question, "not approved, now and from now on", None));
            }
            Answer::No => return Err(refusal(&question, "not approved", None)),
            Answer::Nobody => return Err(self.file(&question)),
            Answer::Filed => return self.filed(&question),
        }
        Ok(())
    }

    /// The question was filed, and whoever asks has waited.
    fn filed(&self, question: &Question) -> Result<(), Refused> {
        if self.was_approved(question)? {
            return Ok(());
        }
        // One that waits still is found again; one that was decided would be another question now.
        let Some(project) = &self.project else { return Err(self.file(question)) };
        let decided = PendingStore::of(&project.root).last(&question.digest);
        match decided.map_err(|problem| Self::broken(question, &problem.to_string()))? {
            Some(pending) if pending.state == State::Denied => {
                let by = pending.by.unwrap_or_default();
                Err(refusal(question, &format!("denied by {by}"), None))
            }
            Some(pending) if pending.state == State::Expired => {
                Err(refusal(question, "nobody has answered in time", None))
            }
            _ => Err(self.file(question)),
        }
    }

    /// Writes a decision down for good. One that cannot be written does not count.
    fn keep(&self, question: &Question, allow: bool) -> Result<(), Refused> {
        let text = if allow { question.always.as_ref() } else { Some(&question.text) };
        let (Some(project), Some(text)) = (&self.project, text) else {
            return Err(Self::broken(question, "there is nothing to keep it in"));
        };
        // A name that is no text cannot stand in the file.
        let Ok(text) = text.to_str() else {
            return Err(Self::broken(question, "the command is not UTF-8"));
        };
        let kept = if allow {
            project.decisions.allow(text)
        } else {
            project.decisions.block(text).map(|()| Entered::Allowed)
        };
        match kept {
            Ok(Entered::Allowed) => Ok(()),
            Ok(Entered::Blocked) => {
                Err(Self::broken(question, "somebody has blocked it meanwhile"))
            }
            Err(problem) => Err(Self::broken(question, &problem.to_string())),
        }
    }

    /// Keeps the question for whoever comes.
    fn file(&self, question: &Question) -> Refused {
        let Some(Project { root, .. }) = &self.project else {
            return refusal(question, "needs an approval, and nobody can be asked", None);
        };
        match PendingStore::of(root).file(question) {
            Ok(pending) => refusal(question, "needs an approval", Some(pending.id)),
            Err(problem) => Self::broken(question, &problem.to_string()),
        }
    }

    fn grant(&self, question: &Question, id: Option<String>, by: &str, scope: Scope) {
        let commands = question.asks.clone();
        let mut state = self.state();
        match &mut state.grant {
            // A second question within the same request adds to the first yes.
            Some(grant) => grant.commands.extend(commands),
            None => state.grant = Some(Grant { id, by: by.to_owned(), scope, commands }),
        }
    }

    /// A store that cannot be read or written never ends in a yes.
    fn broken(question: &Question, problem: &str) -> Refused {
        refusal(question, &format!("the decision cannot be kept: {problem}"), None)
    }

    fn state(&self) -> MutexGuard<'_, GateState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The refusal as the shell passes it on.
    pub fn as_refusal(&self, refused: &Refused) -> Refusal {
        let Refused { finding, argv, approval } = refused;
        let name = argv.first().map(|name| name.to_str_lossy()).unwrap_or_default();
        let concealed = self.judgement.refusals == Refusals::Conceal
            && finding.decision == Decision::Deny
            && finding.step != exacta_policy::Step::Paths;
        let reason = if concealed {
            name.into_owned()
        } else {
            format!("{}: {}", shortened(argv), finding.reason)
        };
        let hint = match approval {
            Some(id) => format!(
                "a person can allow it: `exacta approvals approve {id}`, then run the same command again"
            ),
            None => finding.hint.to_string(),
        };
        Refusal {
            rule: finding.rule.to_string(),
            reason,
            hint,
            concealed,
            approval: approval.clone(),
        }
    }
}

fn refusal(question: &Question, outcome: &str, approval: Option<String>) -> Refused {
    let first = question.asks.first();
    let mut finding = first.map_or_else(unexplained, |command| command.finding.clone());
    finding.reason = format!("{outcome}: {}", finding.reason).into();
    let argv = first.map(|command| command.argv.clone()).unwrap_or_default();
    Refused { finding: Box::new(finding), argv, approval }
}

fn unexplained() -> Finding {
    Finding {
        decision: Decision::Confirm,
        rule: "approval".into(),
        source: None,
        step: exacta_policy::Step::Policy,
        reason: "".into(),
        hint: "".into(),
        irreversible: false,
        about: BString::default(),
    }
}

/// A long command by its beginning: the message is one line.
fn shortened(argv: &[BString]) -> String {
    const LONGEST: usize = 80;
    let text = bstr::join(" ", argv).to_str_lossy().into_owned();
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().count() <= LONGEST {
        return text;
    }
    text.chars().take(LONGEST).chain(['…']).collect()
}
