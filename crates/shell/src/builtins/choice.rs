//! Options whose value is one of a few words: `--total=never`.

use bstr::BStr;

use super::{ToolError, input};
use crate::status::ExitStatus;

/// The meaning of a word, which may be abbreviated as long as that is clear. Words with the same meaning stand
/// beside each other.
pub fn choose<T: Copy + PartialEq>(
    tool: &str,
    option: &str,
    value: &BStr,
    words: &[(&str, T)],
) -> Result<T, ToolError> {
    if let Some((_, meaning)) = words.iter().find(|(word, _)| word.as_bytes() == value) {
        return Ok(*meaning);
    }
    let mut fitting = words.iter().filter(|(word, _)| word.as_bytes().starts_with(value));
    let problem = match fitting.next() {
        None => "invalid",
        Some((_, meaning)) if fitting.all(|(_, other)| other == meaning) => return Ok(*meaning),
        Some(_) => "ambiguous",
    };
    let mut message = format!("{problem} argument {} for '--{option}'", input::shown(value));
    message.push_str("\nValid arguments are:");
    let mut before = None;
    for (word, meaning) in words {
        message.push_str(if before == Some(meaning) { ", '" } else { "\n  - '" });
        message.push_str(word);
        message.push('\'');
        before = Some(meaning);
    }
    Err(ToolError::hinted(tool, message, ExitStatus::FAILURE))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: [(&str, u8); 4] = [("quiet", 1), ("silent", 1), ("first", 2), ("fifth", 3)];

    #[test]
    fn abbreviations() {
        let choose = |value: &str| choose("sort", "check", value.into(), &WORDS);
        assert!(matches!(choose("silent"), Ok(1)));
        assert!(matches!(choose("fir"), Ok(2)));
        let Err(ToolError::Usage(message, _)) = choose("fi") else { panic!() };
        assert_eq!(
            message,
            "ambiguous argument 'fi' for '--check'\nValid arguments are:\n  - 'quiet', 'silent'\n  \
             - 'first'\n  - 'fifth'\nTry 'sort --help' for more information."
        );
    }
}
