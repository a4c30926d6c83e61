//! The verbs about tasks, as data: `task run`, `list`, `show`, `log`, `approve`, `reject`, `cancel`, `retry`, `plan`, `schema`.

use std::path::PathBuf;
use std::time::Duration;

use bstr::{BString, ByteSlice};
use exacta::tasks::State;

use super::manage::Given;

#[derive(Debug, PartialEq, Eq)]
pub enum TaskVerb {
    /// `exacta task plan DESCRIPTION [-o FILE]`
    Plan {
        goal: String,
        output: Option<PathBuf>,
    },
    /// `exacta task schema [-o FILE]`
    Schema {
        output: Option<PathBuf>,
    },
    /// `exacta task run FILE|-|ID`, `exacta task run --goal GOAL`
    Run(TaskRun),
    /// `exacta task list [--state STATE] [--agent NAME] [--limit N]`
    List {
        state: Option<State>,
        agent: Option<String>,
        limit: Option<usize>,
    },
    /// `exacta task list --ids`, for completions.
    Ids,
    Show(String),
    /// `exacta task log ID [-f]`
    Log {
        id: String,
        follow: bool,
    },
    /// `exacta task approve ID [--step N] [--no-run]`; steps are counted from 1 on.
    Approve {
        id: String,
        step: Option<usize>,
        onward: Onward,
    },
    Reject(String),
    Cancel(String),
    /// `exacta task retry ID [--force] [--no-run]`
    Retry {
        id: String,
        force: bool,
        onward: Onward,
    },
}

#[derive(Debug, PartialEq, Eq)]
pub struct TaskRun {
    pub from: From,
    /// Who it is done for, whatever the plan says.
    pub agent: Option<String>,
    pub rollback_on_failure: bool,
    pub step_by_step: bool,
    pub gate: AtGate,
}

#[derive(Debug, PartialEq, Eq)]
pub enum From {
    /// A planner makes the plan.
    Goal(String),
    Stdin,
    /// A plan's file, or the id of a task if there is no such file.
    Named(BString),
}

/// What becomes of a question at the approval gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AtGate {
    /// It is asked on the terminal; without one it stays on file.
    #[default]
    Ask,
    /// Any door answers it, within this time.
    Wait(Duration),
    /// It stays on file.
    File,
    Yes,
    No,
}

/// Whether this process goes on with the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Onward {
    Run(AtGate),
    Leave,
}

/// Which options each of them takes: an option that would do nothing is a mistake of whoever gives it.
pub const TAKEN: &[(&str, &[&str])] = &[
    ("plan", &["output"]),
    ("schema", &["output"]),
    (
        "run",
        &[
            "goal",
            "agent",
            "rollback-on-failure",
            "step-by-step",
            "wait",
            "no-wait",
            "yes",
            "no-input",
        ],
    ),
    ("list", &["state", "agent", "limit", "ids"]),
    ("show", &[]),
    ("log", &["follow"]),
    ("approve", &["step", "no-run", "wait", "no-wait", "yes", "no-input"]),
    ("reject", &[]),
    ("cancel", &[]),
    ("retry", &["force", "no-run", "wait", "no-wait", "yes", "no-input"]),
];

pub fn parse(given: &Given) -> Result<TaskVerb, String> {
    let (words, short) = without_output(&given.words)?;
    let Some((verb, rest)) = words.split_first() else {
        return Err(format!("task needs one of: {}", names()));
    };
    let verb = verb.to_str_lossy();
    let Some((_, taken)) = TAKEN.iter().find(|(name, _)| *name == verb) else {
        return Err(format!("unknown: task {verb} (there are {})", names()));
    };
    let output = short.or_else(|| given.value("output").map(PathBuf::from));
    if output.is_some() && !taken.contains(&"output") {
        return Err(format!("task {verb} takes no --output"));
    }
    if let Some(option) = given.options().find(|option| !taken.contains(option)) {
        return Err(format!("task {verb} takes no --{option}"));
    }
    match &*verb {
        "plan" => Ok(TaskVerb::Plan { goal: goal(rest)?, output }),
        "schema" => no_more("schema", rest).map(|()| TaskVerb::Schema { output }),
        "run" => run(given, rest).map(TaskVerb::Run),
        "list" => no_more("list", rest).and_then(|()| list(given)),
        name => about_one(name, given, rest),
    }
}

fn names() -> String {
    TAKEN.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

fn goal(words: &[BString]) -> Result<String, String> {
    let goal = bstr::join(" ", words).to_str_lossy().trim().to_owned();
    if goal.is_empty() {
        return Err("plan needs a description: exacta task plan \"what is to be done\"".into());
    }
    Ok(goal)
}

fn no_more(name: &str, words: &[BString]) -> Result<(), String> {
    match words.first() {
        None => Ok(()),
        Some(word) => Err(format!("task {name} takes no {word}")),
    }
}

fn run(given: &Given, words: &[BString]) -> Result<TaskRun, String> {
    let usage = "task run needs a plan: exacta task run FILE, - for standard input, --goal \"…\", \
                 or the id of a task";
    let from = match (text(given, "goal"), words) {
        (Some(goal), []) if !goal.trim().is_empty() => From::Goal(goal.trim().to_owned()),
        (None, [word]) if word == "-" => From::Stdin,
        (None, [word]) if word.starts_with(b"-") => {
            return Err(format!("unknown option {word} of task run"));
        }
        (None, [word]) if !word.is_empty() => From::Named(word.clone()),
        (Some(_), [word, ..]) => {
            return Err(format!("task run takes a goal or {word}, not both"));
        }
        (None, [_, more, ..]) => return Err(format!("task run takes one plan, and no {more}")),
        _ => return Err(usage.into()),
    };
    Ok(TaskRun {
        from,
        agent: text(given, "agent"),
        rollback_on_failure: given.has("rollback-on-failure"),
        step_by_step: given.has("step-by-step"),
        gate: gate(given)?,
    })
}

fn gate(given: &Given) -> Result<AtGate, String> {
    let wait = given.value("wait").map(|text| super::duration(&text)).transpose()?;
    let mut said = vec![];
    said.extend(wait.map(|time| ("--wait", AtGate::Wait(time))));
    for (name, option, gate) in [
        ("no-wait", "--no-wait", AtGate::File),
        ("yes", "--yes", AtGate::Yes),
        ("no-input", "--no-input", AtGate::No),
    ] {
        said.extend(given.has(name).then_some((option, gate)));
    }
    match said.as_slice() {
        [] => Ok(AtGate::Ask),
        [(_, gate)] => Ok(*gate),
        [(one, _), (other, _), ..] => Err(format!("{one} and {other} contradict each other")),
    }
}

fn onward(given: &Given) -> Result<Onward, String> {
    match (given.has("no-run"), gate(given)?) {
        (true, AtGate::Ask) => Ok(Onward::Leave),
        (true, _) => Err("with --no-run nothing goes on that could be asked about".into()),
        (false, gate) => Ok(Onward::Run(gate)),
    }
}

fn list(given: &Given) -> Result<TaskVerb, String> {
    if given.has("ids") {
        return Ok(TaskVerb::Ids);
    }
    let state = text(given, "state").map(|name| {
        let all = State::ALL.map(State::name).join(", ");
        State::from_name(&name).ok_or_else(|| format!("unknown state {name:?}: {all}"))
    });
    let limit = given.value("limit").map(|text| super::records::count("limit", &text));
    Ok(TaskVerb::List {
        state: state.transpose()?,
        agent: text(given, "agent"),
        limit: limit.transpose()?,
    })
}

fn about_one(name: &str, given: &Given, words: &[BString]) -> Result<TaskVerb, String> {
    let (words, follow) = match words.iter().position(|word| word == "-f") {
        Some(at) if name == "log" => {
            let mut words = words.to_vec();
            words.remove(at);
            (words, true)
        }
        _ => (words.to_vec(), given.has("follow")),
    };
    let id = match words.as_slice() {
        [id] if !id.is_empty() => id.to_str_lossy().into_owned(),
        [_, more, ..] => return Err(format!("task {name} takes one id, and no {more}")),
        _ => return Err(format!("task {name} needs an id: exacta task list shows them")),
    };
    Ok(match name {
        "show" => TaskVerb::Show(id),
        "log" => TaskVerb::Log { id, follow },
        "approve" => {
            let step = given.value("step").map(|text| super::records::count("step", &text));
            TaskVerb::Approve { id, step: step.transpose()?, onward: onward(given)? }
        }
        "reject" => TaskVerb::Reject(id),
        "cancel" => TaskVerb::Cancel(id),
        _ => TaskVerb::Retry { id, force: given.has("force"), onward: onward(given)? },
    })
}

fn text(given: &Given, name: &str) -> Option<String> {
    given.value(name).map(|text| text.to_string_lossy().into_owned())
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
    }

    #[test]
    fn what_is_run_and_how_it_asks() {
        let run = |words: &[&str]| match parsed(words) {
            Ok(TaskVerb::Run(run)) => (run.from, run.gate),
            other => panic!("{words:?}: {other:?}"),
        };
        let named = || From::Named("p.toml".into());
        assert_eq!(run(&["task", "run", "p.toml"]), (named(), AtGate::Ask));
        assert_eq!(run(&["task", "run", "--yes", "p.toml"]), (named(), AtGate::Yes));
        assert_eq!(run(&["task", "run", "p.toml", "--no-wait"]), (named(), AtGate::File));
        let wait = AtGate::Wait(Duration::from_secs(120));
        assert_eq!(run(&["task", "run", "-", "--wait", "2m"]), (From::Stdin, wait));
        let goal = From::Goal("be done".into());
        assert_eq!(run(&["task", "run", "--goal", " be done ", "--no-input"]), (goal, AtGate::No));
        assert_eq!(
            parsed(&["task", "approve", "01", "--step", "2", "--no-run"]),
            Ok(TaskVerb::Approve { id: "01".into(), step: Some(2), onward: Onward::Leave })
        );
        for words in [&["task", "log", "-f", "01"][..], &["task", "log", "01", "--follow"]] {
            assert_eq!(parsed(words), Ok(TaskVerb::Log { id: "01".into(), follow: true }));
        }
    }

    #[test]
    fn what_means_nothing_is_a_mistake() {
        for wrong in [
            &["task"][..],
            &["task", "plan"],
            &["task", "plan", " "],
            &["task", "plan", "x", "-o"],
            &["task", "schema", "x"],
            &["task", "nonsense"],
            &["task", "run"],
            &["task", "run", "--goal", " "],
            &["task", "run", "a", "b"],
            &["task", "run", "--goal", "x", "p.toml"],
            &["task", "run", "p.toml", "--yes", "--no-input"],
            &["task", "run", "p.toml", "--wait", "soon"],
            &["task", "run", "p.toml", "--output", "x"],
            &["task", "run", "p.toml", "-o", "x"],
            &["task", "run", "-x"],
            &["task", "list", "x"],
            &["task", "list", "--state", "tired"],
            &["task", "list", "--limit", "0"],
            &["task", "list", "--yes"],
            &["task", "show"],
            &["task", "show", "1", "2"],
            &["task", "show", "-f", "1"],
            &["task", "approve", "1", "--step", "0"],
            &["task", "approve", "1", "--no-run", "--yes"],
            &["task", "cancel", "1", "--force"],
        ] {
            assert!(parsed(wrong).is_err(), "{wrong:?}");
        }
    }
}
