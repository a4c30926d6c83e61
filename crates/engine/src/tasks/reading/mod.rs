//! A plan as people and planners write it, in JSON or TOML. What is wrong is pointed at: line, column and field.
//!
//! ```text
//! text --from_json, from_toml--> tree --decode, fields--> Plan
//! ```
//!
//! Nothing is skipped: a field that means nothing is an error, because an expectation that nobody looks at is worse than none.

mod decode;
mod fields;
mod from_json;
mod from_toml;
#[cfg(test)]
mod tests;
mod tree;

use std::fmt;

use exacta_policy::rules::LoadError;

use super::Plan;
#[cfg(test)]
pub(super) use decode::{
    EXPECT as FIELDS_OF_EXPECT, PLAN as FIELDS_OF_PLAN, RETRY as FIELDS_OF_RETRY,
    STEP as FIELDS_OF_STEP,
};
pub use decode::{LARGEST_CODE, MOST_ATTEMPTS};
use tree::Wrong;

/// A longer text is no plan.
pub const LARGEST: usize = 1 << 20;
/// Nobody reads a plan of more steps before saying yes to it.
pub const MOST_STEPS: usize = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Json,
    Toml,
}

impl Format {
    /// By the end of a file's name.
    pub fn of_name(name: &str) -> Option<Format> {
        let (_, end) = name.rsplit_once('.')?;
        match end.to_ascii_lowercase().as_str() {
            "json" => Some(Format::Json),
            "toml" => Some(Format::Toml),
            _ => None,
        }
    }

    /// By its first letter: what begins with a brace can be no TOML.
    pub fn of_text(text: &str) -> Format {
        if unmarked(text).trim_start().starts_with('{') { Format::Json } else { Format::Toml }
    }
}

/// Why a text is no plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanError {
    /// `steps[2].expect.stdout_matches`; empty: the plan as a whole.
    pub field: String,
    /// Where, what, and what to do. Its message has the field too.
    pub place: LoadError,
}

impl PlanError {
    /// Says which file it is about.
    pub fn named(mut self, name: &str) -> Self {
        self.place.file = name.into();
        self
    }
}

impl fmt::Display for PlanError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.place.fmt(formatter)
    }
}

impl std::error::Error for PlanError {}

impl Plan {
    pub fn read(text: &str, format: Format) -> Result<Plan, PlanError> {
        let text = unmarked(text);
        read(text, format).map_err(|wrong| placed(text, wrong))
    }
}

/// Some editors begin a file with a byte order mark, which nobody sees.
fn unmarked(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

fn read(text: &str, format: Format) -> Result<Plan, Wrong> {
    if text.len() > LARGEST {
        let message = format!("a plan of {} bytes is too long", text.len());
        return Err(Wrong::new(0, message, "at most 1 MB: put data into files of the project"));
    }
    let tree = match format {
        Format::Json => from_json::tree(text)?,
        Format::Toml => from_toml::tree(text)?,
    };
    decode::plan(&tree)
}

fn placed(text: &str, wrong: Wrong) -> PlanError {
    let at = (0..=wrong.at.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    let (before, after) = text.split_at(at.unwrap_or_default());
    let start = before.rsplit_once('\n').map_or(before, |(_, start)| start);
    let end = after.lines().next().unwrap_or_default();
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX).saturating_add(1);
    let message = match wrong.field.as_str() {
        "" => wrong.message,
        field => format!("{field}: {}", wrong.message),
    };
    let place = LoadError {
        file: "plan".into(),
        line: count(before.matches('\n').count()),
        column: count(start.chars().count()),
        text: format!("{start}{end}"),
        message,
        hint: wrong.hint,
    };
    PlanError { field: wrong.field, place }
}
