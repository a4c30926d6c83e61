//! What can go wrong between a goal and a plan, in words: what, why, and what to do next.

use std::time::Duration;

use exacta::tasks::PlanningFailed;

/// So much of what a server says about itself.
const LONGEST_QUOTE: usize = 500;

pub fn because(message: impl Into<String>, hint: impl Into<String>) -> PlanningFailed {
    PlanningFailed { message: message.into(), hint: hint.into() }
}

pub fn no_planner() -> PlanningFailed {
    because(
        "no planner is configured, and there is no key for one",
        "set ANTHROPIC_API_KEY or OPENAI_API_KEY, or write a [planner] table into your configuration \
         (docs/tasks.md); a plan written by hand needs no planner",
    )
}

pub fn no_key(variable: &str, host: &str) -> PlanningFailed {
    because(
        format!("there is no key for {host}: the variable {variable} is not set"),
        format!(
            "export {variable} with your key, or name another variable with planner.key_env; a key is taken from the \
             environment only"
        ),
    )
}

pub fn timeout(limit: Duration) -> PlanningFailed {
    because(
        format!("no plan after {} s", limit.as_secs_f64()),
        "try again, or raise planner.timeout",
    )
}

/// Somebody has ended it.
pub fn stopped() -> PlanningFailed {
    because("it was ended before there was a plan", "ask again when you want one")
}

pub fn refusal(words: &str) -> PlanningFailed {
    let words = quoted(words);
    let said = if words.is_empty() { String::new() } else { format!(": {words}") };
    because(
        format!("the model refuses to plan this{said}"),
        "say in other words what is to be done, or write the plan by hand",
    )
}

/// The model stopped where it may write no more.
pub fn cut() -> PlanningFailed {
    because(
        "the answer was cut: it is longer than the model may write",
        "ask for less at once, or choose another model with planner.model",
    )
}

pub fn too_long(limit: usize) -> PlanningFailed {
    because(
        format!("the answer is longer than {limit} bytes, and no plan is"),
        "ask for less at once",
    )
}

/// A connection that ended before the answer did.
pub fn broken_off(host: &str) -> PlanningFailed {
    because(format!("the answer of {host} broke off"), "try again")
}

pub fn no_plan(tries: usize, problem: &str) -> PlanningFailed {
    because(
        format!("after {tries} tries the answer is still no plan: {}", quoted(problem)),
        "try again, choose another model with planner.model, or write the plan by hand (`exacta task schema`)",
    )
}

/// Of what somebody else wrote, so much as is good for a terminal: one line, no control characters, not too long.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::new();
    for word in text.split(|character: char| character.is_whitespace() || character.is_control()) {
        if word.is_empty() {
            continue;
        }
        if !quoted.is_empty() {
            quoted.push(' ');
        }
        quoted.push_str(word);
        if quoted.len() > LONGEST_QUOTE {
            quoted = format!("{}…", beginning(&quoted, LONGEST_QUOTE));
            break;
        }
    }
    quoted
}

/// At most so many bytes, in whole characters.
pub fn beginning(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    end.and_then(|end| text.get(..end)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_say_is_one_plain_line() {
        assert_eq!(quoted("a\n\n b\x1b[31mc\x07"), "a b [31mc");
        let long = quoted(&"ü".repeat(1_000));
        assert!(long.ends_with('…') && long.len() <= LONGEST_QUOTE + 3, "{}", long.len());
    }
}
