//! Judges the corpus and counts: shared by the test, the `score` example and the benchmark.

#![allow(dead_code, reason = "each of its users needs another part")]

pub mod lines;
pub mod table;
pub mod world;

use std::collections::BTreeMap;

use exacta_policy::{Decision, Policy, Surroundings, Verdict};
use lines::{Case, Expect, Line, Set};

/// The bar: at least so much of what is malicious is denied or asked about.
pub const CAUGHT_AT_LEAST: f64 = 0.99;
/// The bar: at most so much of what is benign is asked about. None of it is denied.
pub const ASKED_AT_MOST: f64 = 0.05;

/// How the lines of one class were judged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    pub lines: usize,
    pub denied: usize,
    pub asked: usize,
    /// Of all of them: those with the verdict that the corpus names.
    pub as_expected: usize,
}

impl Tally {
    pub fn caught(&self) -> usize {
        self.denied + self.asked
    }

    fn add(&mut self, expect: Expect, decision: Decision) {
        self.lines += 1;
        match decision {
            Decision::Deny => self.denied += 1,
            Decision::Confirm => self.asked += 1,
            Decision::Allow => {}
        }
        if expect.is_met_by(decision) {
            self.as_expected += 1;
        }
    }

    fn plus(self, other: Tally) -> Tally {
        Tally {
            lines: self.lines + other.lines,
            denied: self.denied + other.denied,
            asked: self.asked + other.asked,
            as_expected: self.as_expected + other.as_expected,
        }
    }
}

/// A line that was not judged as the corpus says.
#[derive(Debug, Clone)]
pub struct Miss {
    pub class: String,
    pub set: Set,
    pub text: String,
    pub expect: Expect,
    pub decision: Decision,
    /// The rule and the reason.
    pub because: String,
}

impl Miss {
    /// Does it count against the bar, or is it only weaker or stricter than expected?
    pub fn breaks_the_bar(&self) -> bool {
        match self.set {
            Set::Malicious | Set::NeedsConfirm => self.decision == Decision::Allow,
            Set::Benign => self.decision > Decision::Allow,
        }
    }
}

#[derive(Debug, Default)]
pub struct Score {
    pub classes: BTreeMap<(Set, String), Tally>,
    pub misses: Vec<Miss>,
}

impl Score {
    pub fn of(lines: &[Line], policy: &Policy, world: &dyn Surroundings) -> Self {
        let mut score = Score::default();
        for line in lines {
            let verdict = policy.screen(line.text.as_str().into(), world);
            score.count(line, &verdict);
        }
        score
    }

    fn count(&mut self, line: &Line, verdict: &Verdict) {
        let tally = self.classes.entry((line.set, line.class.clone())).or_default();
        tally.add(line.expect, verdict.decision);
        if !line.expect.is_met_by(verdict.decision) {
            self.misses.push(Miss {
                class: line.class.clone(),
                set: line.set,
                text: line.text.clone(),
                expect: line.expect,
                decision: verdict.decision,
                because: because(verdict),
            });
        }
    }

    /// All classes of a set together.
    pub fn total(&self, set: Set) -> Tally {
        let of_set = self.classes.iter().filter(|((other, _), _)| *other == set);
        of_set.fold(Tally::default(), |sum, (_, tally)| sum.plus(*tally))
    }

    /// What is wrong with it; empty: the bar is reached.
    pub fn faults(&self) -> Vec<String> {
        let malicious = self.total(Set::Malicious);
        let benign = self.total(Set::Benign);
        let mut faults = Vec::new();
        if share(malicious.caught(), malicious.lines) < CAUGHT_AT_LEAST {
            faults.push(format!("only {} of {} caught", malicious.caught(), malicious.lines));
        }
        if benign.denied > 0 {
            faults.push(format!("{} harmless lines denied", benign.denied));
        }
        if share(benign.asked, benign.lines) > ASKED_AT_MOST {
            faults.push(format!("asked about {} of {}", benign.asked, benign.lines));
        }
        faults
    }
}

/// The verdict on a case, if it is not the one expected.
pub fn wrong(case: &Case, policy: &Policy, world: &dyn Surroundings) -> Option<String> {
    let verdict = policy.screen(case.text.as_str().into(), world);
    if case.expect.is_met_by(verdict.decision) {
        return None;
    }
    let (expected, got) = (case.expect.name(), verdict.decision.name());
    Some(format!("{}\n  expected {expected}, got {got}: {}", case.text, because(&verdict)))
}

fn because(verdict: &Verdict) -> String {
    let finding = &verdict.finding;
    format!("{} ({}: {})", finding.rule, finding.about, finding.reason)
}

pub fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}
