//! The path of a command (S3 §7), in a straight line.
//!
//! ```text
//! text --1 parse--> tree --interpret--> Action
//! Action --2 blocklist--> --3 allowlist--> --4 paths--> --5 policy--> Cleared --6 execute--> --7 record-->
//! ```
//!
//! Step 1 runs once per request, steps 2 to 7 for every command about to run and every file about to be opened. Each
//! step takes the value of the one before; only step 5 makes a [`Cleared`], and whatever executes takes one.

use bstr::{BStr, BString};
use exacta_policy::rules::grant::Grant;
use exacta_policy::{Action, Finding, Step};

use crate::gate::{Face, Gate, Refused};
use crate::proposal::{Proposed, blocked_by_name, normalised, written_of};
use crate::surroundings::World;

/// A yes, and the rule that says so. Nothing else can make one.
#[derive(Debug, Clone)]
pub struct Cleared {
    finding: Finding,
    commands: Vec<Vec<BString>>,
    hosts: Vec<Grant>,
    direct: bool,
}

impl Cleared {
    pub fn finding(&self) -> &Finding {
        &self.finding
    }

    /// The effective commands whose words are all known, the one that runs first.
    pub fn commands(&self) -> &[Vec<BString>] {
        &self.commands
    }

    /// What its programs may reach: what rules grant, and what was asked about by name.
    pub fn hosts(&self) -> &[Grant] {
        &self.hosts
    }

    /// What it writes goes into the project at once: a rule says so.
    pub fn is_direct(&self) -> bool {
        self.direct
    }

    /// A yes that leads nowhere outside.
    fn without_hosts(finding: Finding) -> Self {
        Cleared { finding, commands: Vec::new(), hosts: Vec::new(), direct: false }
    }
}

struct Unblocked<'a>(Proposed<'a>);
struct Listed<'a>(Proposed<'a>);
struct Located<'a>(Proposed<'a>);

/// The whole text before anything of it runs: it may refuse, and asks once for all of it. It never permits.
pub fn screen(gate: &Gate, text: &BStr, world: &World<'_>) -> Result<(), Refused> {
    let verdict = gate.judgement.policy.screen(text, world);
    let environment = gate.changed(world);
    let proposed = Proposed::new(normalised(text), world.directory, &environment, verdict);
    clear(gate, proposed).map(|_never_a_permission| ())
}

/// Steps 2 to 5 for one action.
pub fn judge(gate: &Gate, action: &Action<'_>, world: &World<'_>) -> Result<Cleared, Refused> {
    let verdict = gate.judgement.policy.judge(action, world);
    let environment = match action {
        Action::Run { environment, .. } => *environment,
        Action::Open { .. } => &[],
    };
    let text = written_of(action, &verdict);
    clear(gate, Proposed::new(text, world.directory, environment, verdict))
}

/// Steps 2 to 4 alone: for what needs no yes by itself. A command that is not there, or one that changes nothing but
/// the shell, whose effects come back as actions of their own.
pub fn judge_unasked(
    gate: &Gate,
    action: &Action<'_>,
    world: &World<'_>,
) -> Result<Cleared, Refused> {
    let verdict = gate.judgement.policy.judge(action, world);
    let text = written_of(action, &verdict);
    let proposed = Proposed::new(text, world.directory, &[], verdict);
    let located = blocklist(gate, proposed).and_then(|it| paths(gate, allowlist(it)));
    recorded(gate, located.map(|it| Cleared::without_hosts(it.0.permission())))
}

fn clear(gate: &Gate, proposed: Proposed<'_>) -> Result<Cleared, Refused> {
    let located = blocklist(gate, proposed).and_then(|it| paths(gate, allowlist(it)));
    recorded(gate, located.and_then(|located| policy(gate, located)))
}

fn recorded(gate: &Gate, cleared: Result<Cleared, Refused>) -> Result<Cleared, Refused> {
    match &cleared {
        Ok(cleared) => gate.remember(&cleared.finding),
        Err(refused) => record(gate, &refused.argv, &refused.finding),
    }
    cleared
}

/// 2. What is blocked is denied.
fn blocklist<'a>(gate: &Gate, proposed: Proposed<'a>) -> Result<Unblocked<'a>, Refused> {
    if gate.is_blocked(proposed.text.as_ref()) {
        return Err(blocked_by_name(proposed.text.as_ref()));
    }
    proposed.deny(|finding| finding.step != Step::Paths)?;
    Ok(Unblocked(proposed))
}

/// 3. What is allowed needs no further rule; its paths are still looked at.
fn allowlist(unblocked: Unblocked<'_>) -> Listed<'_> {
    Listed(unblocked.0)
}

/// 4. What leads out of the root is denied; in the face of S0 it does not exist, and the command will say so.
fn paths<'a>(gate: &Gate, listed: Listed<'a>) -> Result<Located<'a>, Refused> {
    if gate.judgement.face == Face::Run {
        listed.0.deny(|finding| finding.step == Step::Paths)?;
    }
    Ok(Located(listed.0))
}

/// 5. What needs a yes asks for it.
fn policy(gate: &Gate, located: Located<'_>) -> Result<Cleared, Refused> {
    let finding = located.0.strictest();
    gate.remember(&finding);
    let known = located.0.commands.iter().filter(|command| command.literal);
    let commands = known.map(|command| command.argv.clone()).collect();
    let (hosts, direct) = (located.0.hosts.clone(), located.0.direct);
    gate.ask(located.0)?;
    Ok(Cleared { finding, commands, hosts, direct })
}

/// 7. Every refusal is recorded here, on its way out of the pipeline.
///
/// What is allowed is recorded by whoever does it: its intent before the first effect (`undo/transactions.rs`), each
/// program before it starts (`programs/mod.rs`), and how all of it has ended (`session/recording.rs`).
fn record(gate: &Gate, argv: &[BString], finding: &Finding) {
    gate.remember(finding);
    gate.audit.refused(argv, finding);
}
