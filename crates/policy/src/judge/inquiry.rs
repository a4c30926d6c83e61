//! The state of one verdict: what has been found so far, and how much may still be looked at.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use bstr::BString;

use super::implied::Fresh;
use super::{Policy, Profile};
use crate::event::{Directory, Event, Invocation, Via};
use crate::rules::grant::Grant;
use crate::rules::{Rule, Subject, TaskList, Tier};
use crate::surroundings::Surroundings;
use crate::verdict::{Decision, Finding, JudgedCommand, NOTHING, Step, Verdict};
use crate::walk::Inherited;
use crate::word::{Dynamic, Word};

/// Texts within texts (`sh -c "sh -c …"`): beyond this the answer is no.
const MAX_NESTING: usize = 24;
/// Commands judged for one verdict, counting every value of every word: beyond this the answer is no.
const MAX_COMMANDS: usize = 2_000_000;
/// Words of commands inside commands held at a time: beyond this the answer is no.
const MAX_HELD: usize = 200_000;
/// Commands listed in the verdict; all are judged, those beyond are only counted.
const MAX_LISTED: usize = 1_000;

pub(super) struct Inquiry<'a> {
    pub policy: &'a Policy,
    pub world: &'a dyn Surroundings,
    /// What commands of a task must be on, if it is one.
    pub tasks: Option<&'a TaskList>,
    /// A text is only asked about: it stands in something that was written.
    pub apart: bool,
    /// The words of a list are being judged.
    pub listing: bool,
    /// What the commands looked at run in turn is judged when it happens: not now.
    pub comes_back: bool,
    /// Files that the text itself writes, with what it writes.
    pub written: HashMap<BString, BString>,
    /// Files that the text writes without saying what.
    pub filled: HashSet<BString>,
    /// Pipes that the text makes (`mkfifo p`), and files that it fills with what nobody can follow.
    pub pipes: HashSet<BString>,
    /// Links that the text makes, and where they lead.
    pub links: Vec<(BString, BString)>,
    /// Variables that the text exports, with what they had last.
    pub exported: Vec<Inherited>,
    /// … of both, those that nothing has run since, for tools that run what is there.
    pub fresh: Vec<Fresh>,
    /// The words of the commands that have made texts since a file was written: what they print may go into the next.
    pub maker: Vec<Word>,
    /// What the last command says, where it puts together files that this text has written.
    pub joined: Option<BString>,
    /// The folder of the written file whose code is being read: what it imports is seen from there.
    pub origin: Option<Directory>,
    /// … and it is part of a program that is built or checked: what it connects to it connects to when it runs.
    pub only_built: bool,
    /// The last command that lists files lists all of them; its name.
    pub lists_all: Option<BString>,
    /// What the last command that lists names can list of what is guarded.
    pub lists_guarded: Vec<BString>,
    /// The last command that tells of processes.
    pub tells_processes: Option<BString>,
    /// Variables that are each of all files in turn.
    pub each_of_all: Vec<BString>,
    /// Variables that are each of what a pattern matches.
    pub each_of_pattern: Vec<(BString, BString)>,
    /// Directories of the project or beside it in which the text has names of programs looked up.
    pub program_directories: Vec<BString>,
    /// The shell is where `~` leads.
    pub at_home: bool,
    /// What looks for files looks for scripts.
    pub finds_scripts: bool,
    /// The last command that lists files lists scripts.
    pub lists_scripts: bool,
    /// Variables that have what a command says: the substitution, as it is written.
    pub computed: Vec<(BString, BString)>,
    /// … and it makes it of a text that the line itself has.
    pub remade: bool,
    /// Variables that have the number of a process: `pid=$!`.
    pub numbers: Vec<BString>,
    /// Something in the text makes unreadable text readable.
    pub decodes: bool,
    /// … and something has been unpacked since.
    pub unpacks_decoded: bool,
    /// A rule has one of the commands write directly.
    pub direct: bool,
    /// Hosts that rules grant, and those that commands name.
    reached: RefCell<Vec<Grant>>,
    commands: Vec<JudgedCommand>,
    strictest: Option<Finding>,
    judged: usize,
    depth: usize,
    /// Words of commands inside commands that are looked at now.
    held: usize,
}

impl<'a> Inquiry<'a> {
    pub fn new(policy: &'a Policy, world: &'a dyn Surroundings) -> Self {
        Inquiry {
            policy,
            world,
            tasks: policy.tasks.as_deref(),
            comes_back: false,
            apart: false,
            listing: false,
            written: HashMap::new(),
            filled: HashSet::new(),
            pipes: HashSet::new(),
            links: Vec::new(),
            exported: Vec::new(),
            fresh: Vec::new(),
            maker: Vec::new(),
            joined: None,
            origin: None,
            only_built: false,
            lists_all: None,
            tells_processes: None,
            lists_guarded: Vec::new(),
            each_of_all: Vec::new(),
            each_of_pattern: Vec::new(),
            program_directories: Vec::new(),
            at_home: false,
            finds_scripts: true,
            lists_scripts: true,
            computed: Vec::new(),
            numbers: Vec::new(),
            remade: false,
            decodes: false,
            unpacks_decoded: false,
            direct: false,
            reached: RefCell::default(),
            commands: Vec::new(),
            strictest: None,
            judged: 0,
            depth: 0,
            held: 0,
        }
    }

    /// The verdict.
    pub fn end(mut self) -> Verdict {
        if self.policy.profile == Profile::Safe {
            self.strictest = Some(execution_is_off());
        }
        let finding = self.strictest.unwrap_or_else(nothing_to_do);
        let refused = finding.decision == Decision::Deny;
        let hosts = if refused { Vec::new() } else { self.reached.into_inner() };
        let direct = self.direct && !refused;
        Verdict { decision: finding.decision, finding, commands: self.commands, hosts, direct }
    }

    pub fn event(&mut self, event: &Event) {
        if let Event::Assign(assign) = event {
            self.looks_up(&assign.name, &assign.value);
            self.computes(assign);
            if assign.exported {
                self.export(&assign.name, &assign.value);
            }
        }
        match event {
            Event::Command(invocation) => self.command(invocation),
            Event::Open(open) => self.open(open),
            Event::Assign(assign) if assign.exported || is_read_by_shells(&assign.name) => {
                let mut findings = Vec::new();
                self.variable(&assign.name, &assign.value, &mut findings);
                let shown = [assign.name.as_slice(), b"=", assign.value.shown()].concat();
                self.note(vec![shown.into()], &assign.via, findings);
            }
            Event::Assign(assign) => self.runs_over(assign),
            Event::Shape(shape) => {
                let findings = self.rules_on(&Subject::Shape(shape), &[]);
                self.note(vec![format!("{shape:?}").into()], &Vec::new(), findings);
            }
        }
    }

    /// Shells that are started later find it.
    fn export(&mut self, name: &BString, value: &Word) {
        const MOST: usize = 256;
        let full = self.exported.len() >= MOST;
        let known = self.exported.iter_mut().find(|known| known.name == *name);
        match known {
            // One or the other: branches come one after the other, too.
            Some(known) if known.value != *value => {
                let unknown = Dynamic { written: name.clone(), ..Dynamic::default() };
                known.value = Word::Dynamic(Box::new(unknown));
            }
            None if !full => {
                let (name, value) = (name.clone(), value.clone());
                self.exported.push(Inherited { name, value, certain: false });
            }
            Some(_) | None => {}
        }
    }

    /// One level deeper, unless that is too deep.
    pub fn nested(&mut self, body: impl FnOnce(&mut Self)) {
        if self.depth >= MAX_NESTING {
            let findings = self.situation("limit", "nesting");
            self.note(vec!["…".into()], &Vec::new(), findings);
            return;
        }
        self.depth += 1;
        body(self);
        self.depth -= 1;
    }

    /// Looks at a command of so many words inside another one, unless all of them together are too many to hold:
    /// wrappers inside wrappers each have the words of the next.
    pub fn holding(&mut self, words: usize, body: impl FnOnce(&mut Self)) {
        if self.held + words > MAX_HELD {
            let findings = self.situation("limit", "words");
            self.note(vec!["…".into()], &Vec::new(), findings);
            return;
        }
        self.held += words;
        body(self);
        self.held -= words;
    }

    /// Asks about a text without adding to this verdict, and without what holds for tasks: nobody says that it is run.
    pub fn aside(&self, body: impl FnOnce(&mut Inquiry<'a>)) -> Verdict {
        let mut inquiry = Inquiry::new(self.policy, self.world);
        inquiry.depth = self.depth + 1;
        inquiry.apart = true;
        inquiry.tasks = None;
        body(&mut inquiry);
        inquiry.end()
    }

    /// What is allowed may reach this. Beyond a number that nobody would read it may not.
    pub fn reach(&self, grant: &Grant) {
        const MOST: usize = 256;
        let mut reached = self.reached.borrow_mut();
        if reached.len() < MOST && !reached.contains(grant) {
            reached.push(grant.clone());
        }
    }

    /// May another command be looked at?
    pub fn count(&mut self) -> bool {
        self.judged += 1;
        if self.judged == MAX_COMMANDS {
            let findings = self.situation("limit", "commands");
            self.note(vec!["…".into()], &Vec::new(), findings);
        }
        self.judged < MAX_COMMANDS && self.depth <= MAX_NESTING
    }

    /// Adds what was found about something.
    pub fn note(&mut self, argv: Vec<BString>, via: &Via, findings: Vec<Finding>) {
        self.add(argv, true, via, findings);
    }

    /// Adds what was found about a command.
    pub fn note_command(&mut self, invocation: &Invocation, findings: Vec<Finding>) {
        let argv = invocation.words.iter().map(|word| word.shown().into()).collect();
        let literal = invocation.words.iter().all(|word| word.as_literal().is_some());
        self.add(argv, literal, &invocation.via, findings);
    }

    fn add(&mut self, argv: Vec<BString>, literal: bool, via: &Via, mut findings: Vec<Finding>) {
        findings.iter_mut().for_each(super::home::tell_plainly);
        // Stable: of equally strict ones the first found stays first.
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.decision));
        let Some(finding) = findings.first().cloned() else { return };
        if self.strictest.as_ref().is_none_or(|strictest| finding.decision > strictest.decision) {
            self.strictest = Some(finding.clone());
        }
        if self.commands.len() < MAX_LISTED {
            let via = via.clone();
            let argv = argv.into_iter().map(super::home::plain).collect();
            self.commands.push(JudgedCommand { argv, literal, via, finding, findings });
        }
    }

    /// What the rules say of something; `lifted` are rules that do not count here.
    pub fn rules_on(&self, subject: &Subject<'_>, lifted: &[Lifted]) -> Vec<Finding> {
        let matching = self.policy.rules.matching(subject, self.policy.profile);
        matching
            .into_iter()
            .filter(|rule| !lifted.iter().any(|lifted| lifted.lifts(rule)))
            .map(|rule| self.finding(rule, BString::default()))
            .collect()
    }

    /// What the rules say of a situation that the judge itself has found.
    pub fn situation(&self, name: &str, about: &str) -> Vec<Finding> {
        self.situation_unless(name, about, &[])
    }

    pub fn situation_unless(&self, name: &str, about: &str, lifted: &[Lifted]) -> Vec<Finding> {
        let subject = Subject::Situation(name);
        let matching = self.policy.rules.matching(&subject, self.policy.profile);
        if matching.is_empty() {
            // A rule that is missing must not turn into a permission.
            return vec![self.weigh(built_in(Decision::Confirm, name, about), Tier::BuiltIn)];
        }
        matching
            .into_iter()
            .filter(|rule| !lifted.iter().any(|lifted| lifted.lifts(rule)))
            .map(|rule| self.finding(rule, about.into()))
            .collect()
    }

    pub fn finding(&self, rule: &Rule, about: BString) -> Finding {
        let step = match rule.decision {
            Decision::Deny => Step::Blocklist,
            Decision::Allow => Step::Allowlist,
            Decision::Confirm => Step::Policy,
        };
        let finding = Finding {
            decision: rule.decision,
            rule: Arc::clone(&rule.id),
            source: Some(rule.source.clone()),
            step,
            reason: Arc::clone(&rule.reason),
            hint: Arc::clone(&rule.hint),
            irreversible: rule.irreversible,
            about,
        };
        self.weigh(finding, rule.tier)
    }

    /// `full-auto` asks only about what cannot be taken back, what cannot be judged, and what the operator's own rules
    /// ask about.
    pub fn weigh(&self, mut finding: Finding, tier: Tier) -> Finding {
        let judged = !matches!(&*finding.rule, "syntax" | "limit");
        let asked_by_default =
            finding.decision == Decision::Confirm && tier == Tier::BuiltIn && judged;
        if self.policy.profile == Profile::FullAuto && asked_by_default && !finding.irreversible {
            finding.decision = Decision::Allow;
        }
        finding
    }
}

/// A rule taken out of force by another one that matches the same command.
#[derive(Debug, Clone)]
pub(super) struct Lifted {
    pub rule: String,
    pub by: Tier,
}

impl Lifted {
    fn lifts(&self, rule: &Rule) -> bool {
        rule.id.as_bytes() == self.rule.as_bytes() && self.by >= rule.tier
    }
}

/// A finding that no rule file makes.
pub(super) fn built_in(decision: Decision, rule: &str, reason: &str) -> Finding {
    Finding {
        decision,
        rule: rule.into(),
        source: None,
        step: Step::Policy,
        reason: reason.into(),
        hint: "".into(),
        irreversible: false,
        about: BString::default(),
    }
}

/// Variables that a shell itself obeys, exported or not.
fn is_read_by_shells(name: &BString) -> bool {
    const NAMES: [&str; 11] = [
        "BASH_ALIASES",
        "BASH_CMDS",
        "BASH_ENV",
        "BASH_LOADABLES_PATH",
        "CDPATH",
        "ENV",
        "PATH",
        "PROMPT_COMMAND",
        "PS0",
        "PS1",
        "PS4",
    ];
    NAMES.iter().any(|known| name == known)
}

fn execution_is_off() -> Finding {
    Finding {
        hint: "start exacta with --profile dev to run commands".into(),
        ..built_in(Decision::Deny, "profile-safe", "the profile `safe` runs nothing")
    }
}

fn nothing_to_do() -> Finding {
    built_in(Decision::Allow, NOTHING, "there is nothing to run")
}
