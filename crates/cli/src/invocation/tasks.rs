//! The verbs about tasks, as data: `task plan`, `task schema`.

use std::path::PathBuf;

use bstr::{BString, ByteSlice};

use super::manage::Given;

#[derive(Debug)]
pub enum TaskVerb {
    /// `exacta task plan DESCRIPTION [-o FILE]`
    Plan { goal: String, output: Option<PathBuf> },
    /// `exacta task schema [-o FILE]`
    Schema { output: Option<PathBuf> },
}

pub fn parse(given: &Given) -> Result<TaskVerb, String> {
    let (words, short) = without_output(&given.words)?;
    let output = short.or_else(|| given.value("output").map(PathBuf::from));
    match words.split_first() {
        Some((verb, rest)) if verb == "plan" => {
            let goal = bstr::join(" ", rest).to_str_lossy().trim().to_owned();
            if goal.is_empty() {
                return Err(
                    "plan needs a description: exacta task plan \"what is to be done\"".into()
                );
            }
            Ok(TaskVerb::Plan { goal, output })
        }
        Some((verb, rest)) if verb == "schema" => match rest.first() {
            None => Ok(TaskVerb::Schema { output }),
            Some(word) => Err(format!("task schema takes no {word}")),
        },
        Some((verb, _)) => Err(format!("unknown: task {verb}")),
        None => Err("task needs one of: plan, schema".into()),
    }
}

/// `-o FILE` wherever it stands.
fn without_output(words: &[BString]) -> Result<(Vec<BString>, Option<PathBuf>), String> {
    let mut words = words.to_vec();
    let Some(at) = words.iter().position(|word| word == "-o") else { return Ok((words, None)) };
    words.remove(at);
    if at >= words.len() {
        return Err("-o needs a file".into());
    }
    let file = words.remove(at);
    Ok((words, Some(file.to_path_lossy().into_owned())))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;
    use crate::invocation::{Manage, What, parse};

    fn parsed(words: &[&str]) -> Result<TaskVerb, String> {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        match parse(&words)?.what {
            What::Manage(Manage::Task(verb)) => Ok(verb),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_description_is_all_words() {
        for words in [
            &["task", "plan", "make it green", "-o", "p.toml"][..],
            &["task", "plan", "-o", "p.toml", "make", "it", "green"],
            &["task", "--output", "p.toml", "plan", "make", "it green", "--json"],
        ] {
            let Ok(TaskVerb::Plan { goal, output }) = parsed(words) else { panic!("{words:?}") };
            assert_eq!((goal.as_str(), output), ("make it green", Some("p.toml".into())));
        }
        assert!(matches!(parsed(&["task", "schema"]), Ok(TaskVerb::Schema { output: None })));
        for wrong in [
            &["task"][..],
            &["task", "plan"],
            &["task", "plan", " "],
            &["task", "plan", "x", "-o"],
            &["task", "schema", "x"],
            &["task", "nonsense"],
        ] {
            assert!(parsed(wrong).is_err(), "{wrong:?}");
        }
    }
}
