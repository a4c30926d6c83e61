//! Values of options that are one of a few words, unambiguously abbreviated if the user likes.

use bstr::{BStr, ByteSlice};

use super::super::{Context, ToolError};

/// Each row is one meaning with all its names. Gives the number of the row.
pub(in crate::builtins) fn choose(
    context: &Context<'_>,
    option: &str,
    value: &BStr,
    rows: &[&[&str]],
) -> Result<usize, ToolError> {
    if let Some(exact) = rows.iter().position(|row| row.iter().any(|name| value == *name)) {
        return Ok(exact);
    }
    let starts = |row: &[&str]| {
        !value.is_empty() && row.iter().any(|name| name.as_bytes().starts_with(value))
    };
    let mut candidates = rows.iter().enumerate().filter(|(_, row)| starts(row));
    let kind = match (candidates.next(), candidates.next()) {
        (Some((only, _)), None) => return Ok(only),
        (Some(_), Some(_)) => "ambiguous",
        (None, _) => "invalid",
    };
    let mut message =
        format!("{kind} argument '{}' for '{option}'\nValid arguments are:", value.to_str_lossy());
    for row in rows {
        let names: Vec<String> = row.iter().map(|name| format!("'{name}'")).collect();
        message.push_str("\n  - ");
        message.push_str(&names.join(", "));
    }
    Err(super::misuse(context, message))
}
