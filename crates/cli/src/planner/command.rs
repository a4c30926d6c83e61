//! A program of the operator's own that prints a plan. It gets the question as JSON on standard input: `schema_version`, `goal`,
//! `agent`, `root`, `context`, `schema`, and `repairs` when an answer was no plan.
//!
//! It runs outside of the jail, as the operator, because it is the operator's: no file of a project can name it. So nothing
//! of the project must be able to become it either. Its directory is `/`, and no word of it leads into the project.

#![expect(
    clippy::disallowed_methods,
    reason = "the operator's own program, named in the operator's own configuration, is run as the operator would run it"
)]

use std::io::{Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use bstr::ByteSlice as _;
use exacta::tasks::schema::schema;
use exacta::tasks::{Format, PlanningFailed};
use rustix::process::{Pid, Signal};
use serde_json::json;

use super::failure::{self, because, quoted};
use super::{Asking, Backend, LONGEST_ANSWER, Question};

const PAUSE: Duration = Duration::from_millis(5);
/// Of what it complains about, so much from the end.
const LONGEST_COMPLAINT: usize = 400;
/// It has ended; whoever has inherited its output may still hold it open.
const LINGERING: Duration = Duration::from_secs(2);

pub struct Program {
    words: Vec<String>,
    root: PathBuf,
}

impl Program {
    pub fn new(words: &[String], root: &Path) -> Result<Self, PlanningFailed> {
        let first = words.first().map(String::as_str).unwrap_or_default();
        if first.is_empty() {
            return Err(because("planner.command is empty", "name a program and its arguments"));
        }
        if first.contains('/') && !first.starts_with('/') {
            return Err(because(
                format!("planner.command is a relative path: {first}"),
                "write it from the root, or only its name",
            ));
        }
        if let Some(word) = words.iter().find(|word| leads_into(word, root)) {
            return Err(because(
                format!("planner.command names a file of the project: {word}"),
                "it runs outside of the jail: keep it where no agent can change it",
            ));
        }
        let mut words = words.to_vec();
        if let Some(program) = words.first_mut() {
            *program = found(program, root)?;
        }
        Ok(Program { words, root: root.to_owned() })
    }

    fn spawn(&self) -> Result<Child, PlanningFailed> {
        let (program, arguments) =
            self.words.split_first().unwrap_or((const { &String::new() }, &[]));
        Command::new(program)
            .args(arguments)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // So that all it has started can be ended with it.
            .process_group(0)
            .spawn()
            .map_err(|error| {
                because(
                    format!("the planner {program} cannot be started: {error}"),
                    "look at planner.command",
                )
            })
    }
}

/// A link to a file of the project is one of it.
fn leads_into(word: &str, root: &Path) -> bool {
    // `--file=/project/x` too.
    let path = word.find('/').and_then(|at| word.get(at..)).map(Path::new);
    let real = path.map(|path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()));
    real.is_some_and(|real| real.starts_with(root))
}

/// By its whole path: what the search for a name finds must not depend on a directory.
fn found(program: &str, root: &Path) -> Result<String, PlanningFailed> {
    if program.starts_with('/') {
        return Ok(program.to_owned());
    }
    let directories = exacta::caller::path().into_iter().filter(|it| it.is_absolute());
    let mut candidates = directories.map(|directory| directory.join(program));
    let usable = |path: &PathBuf| {
        path.to_str().is_some_and(|path| !leads_into(path, root))
            && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
    };
    let path = candidates.find(usable).and_then(|path| path.to_str().map(str::to_owned));
    path.ok_or_else(|| {
        because(format!("the planner {program} is not on the PATH"), "look at planner.command")
    })
}

impl Backend for Program {
    fn whom(&self) -> String {
        self.words.first().cloned().unwrap_or_default()
    }

    fn format(&self, answer: &str) -> Format {
        Format::of_text(answer)
    }

    fn ask(&self, question: &Question, asking: &Asking<'_>) -> Result<String, PlanningFailed> {
        let repairs = question.repairs.iter();
        let request = json!({
            "schema_version": 1,
            "goal": question.goal,
            "agent": question.agent,
            "root": self.root.to_string_lossy(),
            "context": question.context,
            "schema": schema(),
            "repairs": repairs
                .map(|repair| json!({ "answer": repair.answer, "problem": repair.problem }))
                .collect::<Vec<_>>(),
        });
        let mut child = self.spawn()?;
        let stdout = child.stdout.take().map(|stdout| reading(stdout, LONGEST_ANSWER + 1));
        let stderr = child.stderr.take().map(|stderr| reading(stderr, LONGEST_ANSWER));
        if let Some(mut stdin) = child.stdin.take() {
            // It may end without reading.
            std::thread::spawn(move || stdin.write_all(request.to_string().as_bytes()));
        }
        let ended = wait(&mut child, asking);
        let gathered = ended.map(|status| (status, said(stdout), said(stderr)));
        if gathered.is_err() {
            // While it is there, so are those whose parent it is.
            started_by(child.id()).into_iter().for_each(kill);
        }
        end(&mut child);
        let (status, answer, complaint) = gathered?;
        judge(status, answer, &complaint)
    }
}

fn judge(status: ExitStatus, answer: Vec<u8>, complaint: &[u8]) -> Result<String, PlanningFailed> {
    if !status.success() {
        let start = complaint.len().saturating_sub(LONGEST_COMPLAINT);
        let words = quoted(&String::from_utf8_lossy(complaint.get(start..).unwrap_or_default()));
        let words = if words.is_empty() { "it did not say why".to_owned() } else { words };
        return Err(because(
            format!("the planner failed ({status}): {words}"),
            "look at planner.command",
        ));
    }
    if answer.len() > LONGEST_ANSWER {
        return Err(failure::too_long(LONGEST_ANSWER));
    }
    // What is no text is no plan, and the reader says so.
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// All of a stream, on a thread of its own: who waits for a full pipe waits for ever. What is over the limit is read and dropped.
fn reading(mut stream: impl Read + Send + 'static, limit: usize) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let (mut all, mut piece) = (Vec::new(), vec![0; 8 << 10]);
        while let Ok(length @ 1..) = stream.read(&mut piece) {
            let room = limit.saturating_sub(all.len());
            all.extend_from_slice(piece.get(..length.min(room)).unwrap_or_default());
        }
        // Nobody may be interested any more.
        let _ = sender.send(all);
    });
    receiver
}

fn said(stream: Option<Receiver<Vec<u8>>>) -> Vec<u8> {
    stream.and_then(|stream| stream.recv_timeout(LINGERING).ok()).unwrap_or_default()
}

/// An error: the time is over, or nobody wants a plan any more.
fn wait(child: &mut Child, asking: &Asking<'_>) -> Result<ExitStatus, PlanningFailed> {
    loop {
        asking.remaining()?;
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) => std::thread::sleep(PAUSE),
            Err(error) => {
                let message = format!("nobody can say what became of the planner: {error}");
                return Err(because(message, "try again"));
            }
        }
    }
}

/// With all that it has started and left in its group.
fn end(child: &mut Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // There may be nobody left.
        let _ = rustix::process::kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
}

fn kill(process: u32) {
    if let Some(process) = i32::try_from(process).ok().and_then(Pid::from_raw) {
        let _it_may_have_ended = rustix::process::kill_process(process, Signal::KILL);
    }
}

/// The process and its descendants, whichever groups they have made for themselves: `timeout` makes one.
fn started_by(process: u32) -> Vec<u32> {
    let parents: Vec<(u32, u32)> = std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(|number| Some((number, parent_of(number)?)))
        .collect();
    let mut found = vec![process];
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        found.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(child, _)| *child));
        next += 1;
    }
    found
}

fn parent_of(process: u32) -> Option<u32> {
    let status = std::fs::read(format!("/proc/{process}/stat")).ok()?;
    // The name of the program is in parentheses, and may itself hold any of them.
    let (_, after) = status.rsplit_once_str(b")")?;
    after.to_str().ok()?.split_whitespace().nth(1)?.parse().ok()
}
