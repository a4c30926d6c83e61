//! The default rules do what they say of themselves.

use exacta_policy::rules::RuleSet;

#[test]
fn every_example_of_a_default_rule_holds() {
    let failing = RuleSet::default().failing_examples();
    let shown: Vec<String> = failing
        .iter()
        .map(|error| format!("{}:{} {}: {}", error.file, error.line, error.text, error.message))
        .collect();
    assert!(shown.is_empty(), "{} examples fail:\n{}", shown.len(), shown.join("\n"));
}

#[test]
fn every_default_rule_can_be_understood() {
    let rules = RuleSet::default();
    assert!(rules.all().len() > 90, "{}", rules.all().len());
    for rule in rules.all() {
        assert!(!rule.reason.is_empty() && !rule.hint.is_empty(), "{}: reason and hint", rule.id);
        // What only the judge can bring about has no line that shows it.
        let shown = matches!(
            &*rule.id,
            "limit"
                | "answered"
                | "copied-program"
                | "direct-write"
                | "found-process"
                | "home-path"
                | "late-text"
                | "production"
                | "project-program"
                | "unread-option"
                | "unread-path"
                | "whole-project"
        ) || !(rule.written.matches.is_empty() || rule.written.not_match.is_empty());
        assert!(shown, "{}: examples", rule.id);
    }
}
