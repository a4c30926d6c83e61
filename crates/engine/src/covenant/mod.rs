//! The face of S1: one strict command, two tiers, a person who answers yes, no, always or never.
//!
//! Commands of tier 1 run at once; everything else asks first. The order of the checks:
//!
//! 1. the strict grammar: `Invalid shell syntax`, `Shell operators not allowed`
//! 2. the working directory
//! 3. tier 1: subcommand, flags, numbers, how many operands
//! 4. paths: `Invalid path: …`
//! 5. `.clada/commands.json`: blocked, allowed
//! 6. the policy: what it denies is blocked, what it would ask about is tier 2
//! 7. tier 2: the question
//!
//! There is no executor here: what passes becomes a line of quoted words for an ordinary [`Session`].
//!
//! [`Session`]: crate::Session

mod answer;
mod check;
mod flags;
mod output;
mod paths;
mod prompt;
mod run;
mod table;
mod words;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bstr::BString;

pub use answer::{RunError, RunErrorKind, RunResult, RunValue, to_json};
pub use prompt::{Answer, Prompter, question};

use crate::background;
use crate::commands_file::{Trust, TrustNothing};
use crate::gate::Judgement;
use check::{Checked, Permission};

/// S1 does not say how long; a test run takes seconds, and nobody waits longer for an answer.
pub const TIME_LIMIT: Duration = Duration::from_secs(30);

/// 10 MB, as in S2 and S3: the 20,000,000 bytes of S1's example are too many.
pub const OUTPUT_LIMIT: u64 = 10 << 20;

/// The payload of a RUN block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunCommand {
    pub command: String,
    /// Instead of that of the context. As the command itself, it comes from the agent: nothing outside the project
    /// exists for it.
    pub cwd: Option<PathBuf>,
}

impl RunCommand {
    pub fn new(command: impl Into<String>) -> Self {
        RunCommand { command: command.into(), cwd: None }
    }

    pub fn in_directory(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }
}

/// Where commands run. It comes from the operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecutionContext {
    pub cwd: PathBuf,
    /// The project; if not given, the nearest parent of `cwd` that is marked as one, else `cwd` itself.
    pub root: Option<PathBuf>,
}

impl ExecutionContext {
    pub fn new(cwd: impl Into<PathBuf>) -> Self {
        ExecutionContext { cwd: cwd.into(), root: None }
    }

    pub fn with_root(mut self, root: impl Into<PathBuf>) -> Self {
        self.root = Some(root.into());
        self
    }
}

#[derive(Clone)]
pub struct ExecuteOptions {
    /// Nobody there: the answer is no.
    pub prompter: Option<Arc<dyn Prompter>>,
    pub time_limit: Duration,
    pub output_limit: u64,
    /// Exported variables.
    pub environment: Vec<(BString, BString)>,
    /// Whether a `commands.json` that came with the repository may allow anything.
    pub trust: Arc<dyn Trust>,
    /// What else it is judged by; absent: the built-in rules under `dev`. A deny holds whatever a person answers.
    pub judgement: Option<Judgement>,
}

impl Default for ExecuteOptions {
    fn default() -> Self {
        ExecuteOptions {
            prompter: None,
            time_limit: TIME_LIMIT,
            output_limit: OUTPUT_LIMIT,
            environment: Vec::new(),
            trust: Arc::new(TrustNothing),
            judgement: None,
        }
    }
}

impl ExecuteOptions {
    pub fn prompter(mut self, prompter: impl Prompter + 'static) -> Self {
        self.prompter = Some(Arc::new(prompter));
        self
    }
}

/// Checks a command, asks if it must, and runs it. Works on any async runtime, or none
/// ([`background::block_on`](crate::background::block_on)); dropping the future stops the command.
pub async fn execute_run(
    command: &RunCommand,
    context: &ExecutionContext,
    options: ExecuteOptions,
) -> RunResult {
    let (request, place, rules) = (command.clone(), context.clone(), options.clone());
    let checked = in_background(move || check::check(&request, &place, &rules)).await??;
    let answer = match (&checked.permission, &options.prompter) {
        (Permission::Given | Permission::Unneeded, _) => Answer::Yes,
        (Permission::Needed, None) => Answer::No,
        (Permission::Needed, Some(prompter)) => {
            Answer::of(&prompter.ask(&question(&checked.command)).await)
        }
    };
    settle(checked, answer, options).await
}

/// What was answered, done.
async fn settle(checked: Checked, answer: Answer, options: ExecuteOptions) -> RunResult {
    let command = checked.command.clone();
    if answer == Answer::No {
        let text = format!("Command not approved: {command}");
        return Err(RunError::new(RunErrorKind::NotApproved, text));
    }
    let ran = background::run(move |cancellation| {
        if let Some(refused) = check::remember(&checked, answer, &*options.trust) {
            return Err(refused);
        }
        run::run(&checked, &options, cancellation)
    });
    let mut value = ran.await.map_err(|lost| RunError::internal(&lost))??;
    if answer == Answer::Always {
        value.output.insert_str(0, check::ADDED);
    }
    Ok(value)
}

/// Looks at files, so not on the caller's thread.
async fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, RunError> {
    background::run(move |_| work()).await.map_err(|lost| RunError::internal(&lost))
}
