//! Which hosts a verdict lets its programs reach.

#![expect(clippy::expect_used, reason = "a test may fail")]

#[path = "scoring/world.rs"]
mod world;

use exacta_policy::rules::{RuleFile, RuleSet, Tier};
use exacta_policy::{Action, Decision, Policy, Profile, Surroundings};

use world::Project;

const RULES: &str = r#"
[[rule]]
id = "our-mirror"
verdict = "allow"
command = ["curl"]
with = ["https://mirror.example/*"]
hosts = ["mirror.example", "*.cdn.example:8443"]
overrides = ["block-curl"]
reason = "our own mirror"

[[rule]]
id = "our-fetch"
verdict = "allow"
command = ["fetch"]
hosts = ["mirror.example"]
overrides = ["network"]
reason = "knows where to ask"
"#;

fn policy(tier: Tier) -> Policy {
    let file = RuleFile { name: "rules.toml".into(), text: RULES.into(), tier };
    Policy::new(RuleSet::load(&[file]).expect("rules"), Profile::Dev)
}

fn judge(policy: &Policy, line: &str) -> (Decision, Vec<String>) {
    let argv: Vec<_> = line.split(' ').map(Into::into).collect();
    let directory = Project.directory();
    let action = Action::Run { argv: &argv, in_process: false, environment: &[], directory };
    let verdict = policy.judge(&action, &Project);
    (verdict.decision, verdict.hosts.iter().map(ToString::to_string).collect())
}

#[test]
fn hosts_of_a_rule_go_to_what_it_allows_and_to_nothing_else() {
    use Decision::{Allow, Confirm, Deny};
    let mirror: &[&str] = &["mirror.example", "*.cdn.example:8443"];
    let cases: &[(&str, Decision, &[&str])] = &[
        ("curl https://mirror.example/x", Allow, mirror),
        ("timeout 9 curl https://mirror.example/x", Allow, mirror),
        ("curl https://evil.example/x", Deny, &[]),
        // It would send there as well, so it asks; if somebody says yes, that is what it is about.
        (
            "curl https://mirror.example/x https://evil.example/",
            Confirm,
            &["mirror.example", "*.cdn.example:8443", "evil.example:443"],
        ),
        ("curl https://mirror.example@evil.example/x https://mirror.example/", Confirm, mirror),
        ("./curl https://mirror.example/x", Confirm, &["mirror.example:443"]),
        ("git clone https://code.example/x.git", Confirm, &["code.example:443"]),
        // A rule that takes the question away grants what it names, and no more.
        ("fetch https://evil.example/ https://mirror.example/", Allow, &["mirror.example"]),
        ("git status", Allow, &[]),
        ("npm install", Allow, &[]),
    ];
    let policy = policy(Tier::User);
    for (line, decision, hosts) in cases {
        let (found, reached) = judge(&policy, line);
        assert_eq!(
            (found, reached.as_slice()),
            (*decision, hosts.map_owned().as_slice()),
            "{line}"
        );
    }
}

#[test]
fn a_project_grants_nothing_until_somebody_trusts_it() {
    let (decision, hosts) = judge(&policy(Tier::Project), "curl https://mirror.example/x");
    assert_eq!((decision, hosts.len()), (Decision::Deny, 0));
    let (decision, hosts) = judge(&policy(Tier::TrustedProject), "curl https://mirror.example/x");
    assert_eq!((decision, hosts.len()), (Decision::Allow, 2));
}

#[test]
fn hosts_that_mean_nothing_are_errors() {
    for (hosts, message) in [
        (r#"hosts = ["127.1"]"#, "an address is written as four decimal numbers"),
        (r#"hosts = ["a.example", "localhost"]"#, "this machine itself cannot be granted"),
        ("private = true", "`private` means nothing in this rule"),
    ] {
        let text = format!(
            "[[rule]]\nid = 'x'\nverdict = 'allow'\ncommand = ['zap']\nreason = 'x'\n{hosts}\n"
        );
        let file = RuleFile { name: "rules.toml".into(), text, tier: Tier::User };
        let error = RuleSet::load(&[file]).expect_err(hosts);
        assert_eq!(error.message, message);
        assert_eq!(error.line, 6);
    }
}

trait MapOwned {
    fn map_owned(&self) -> Vec<String>;
}

impl MapOwned for &[&str] {
    fn map_owned(&self) -> Vec<String> {
        self.iter().map(|text| (*text).to_owned()).collect()
    }
}
