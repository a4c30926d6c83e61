//! Running a command, awaited (S2). There is no executor here: it becomes a request like any other.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use bstr::{BString, ByteSlice};
use exacta_shell::filesystem::{Follow, OpenFile};
use exacta_shell::pipe::Bytes;
use exacta_shell::status::Stop;

use super::context::PrimitiveContext;
use super::error::{PrimitiveError, PrimitiveResult};
use super::options::BashOptions;
use super::output::Head;
use super::result::{BashResult, ExecutionMetadata};
use super::validator::CommandValidator;
use crate::background::{self, Cancellation};
use crate::caller::{self, Inherit};
use crate::error::EngineError;
use crate::programs::ProgramOptions;
use crate::session::{Outcome, Request, Session, SessionOptions};

/// What a command is that was ended before it could say.
const NO_CODE: i32 = -1;

/// Runs a command: validates it, runs it confined to the context's directory, and gives what it printed.
///
/// A command that fails is a result, not an error; see [`bash_success`]. One that takes too long is a result with
/// `timed_out`. Dropping the future ends the command and everything that it has started.
///
/// Works on any async runtime, or none ([`background::block_on`]): the command runs on a thread of its own.
///
/// ```
/// use exacta::background::block_on;
/// use exacta::primitives::{BashOptions, PrimitiveContext, bash};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let project = std::env::temp_dir().join(format!("exacta-doc-bash-{}", std::process::id()));
/// # std::fs::create_dir_all(&project)?;
/// # std::fs::write(project.join("Cargo.toml"), "[package]\n")?;
/// let context = PrimitiveContext::new(project.clone());
/// let result = block_on(bash(&context, "ls *.toml | wc -l", None))?;
/// assert_eq!((result.exit_code, result.stdout.trim()), (0, "1"));
///
/// let options = BashOptions::new().working_dir("/tmp").env("MY_VAR", "value");
/// let result = block_on(bash(&context, "pwd; echo $MY_VAR; exit 3", Some(options)))?;
/// assert_eq!((result.exit_code, result.stdout.as_str()), (3, "/tmp\nvalue\n"));
///
/// // What is outside does not exist.
/// let result = block_on(bash(&context, "cat /etc/passwd", None))?;
/// assert_eq!(result.stderr, "cat: /etc/passwd: No such file or directory\n");
/// # std::fs::remove_dir_all(&project)?;
/// # Ok(())
/// # }
/// ```
pub async fn bash(
    ctx: &PrimitiveContext,
    command: &str,
    options: Option<BashOptions>,
) -> PrimitiveResult<BashResult> {
    let started = Instant::now();
    let (context, text) = (ctx.clone(), command.to_owned());
    let options = options.unwrap_or_default();
    let ran = background::run(move |cancellation| run(&context, &text, &options, cancellation));
    let ran = ran.await.map_err(|lost| io::Error::other(lost.to_string()))?;
    let metadata = ExecutionMetadata {
        duration: started.elapsed(),
        operation_id: ctx.operation_id.clone(),
        primitive: "bash".to_owned(),
    };
    ran.map(|Ran { exit_code, output: (stdout, cut), errors: (stderr, also_cut), timed_out }| {
        BashResult { exit_code, stdout, stderr, timed_out, truncated: cut || also_cut, metadata }
    })
}

/// The same for a command that is expected to succeed: any other status is
/// [`CommandFailed`](PrimitiveError::CommandFailed).
///
/// ```
/// use exacta::background::block_on;
/// use exacta::primitives::{PrimitiveContext, PrimitiveError, bash_success};
///
/// let context = PrimitiveContext::new(std::env::current_dir().unwrap_or_default());
/// let failed = block_on(bash_success(&context, "echo why >&2; exit 7", None));
/// let Err(PrimitiveError::CommandFailed { exit_code, message }) = failed else {
///     panic!("{failed:?}")
/// };
/// assert_eq!((exit_code, message.as_str()), (7, "why\n"));
/// ```
pub async fn bash_success(
    ctx: &PrimitiveContext,
    command: &str,
    options: Option<BashOptions>,
) -> PrimitiveResult<BashResult> {
    let result = bash(ctx, command, options).await?;
    if result.success() {
        return Ok(result);
    }
    Err(PrimitiveError::CommandFailed { exit_code: result.exit_code, message: result.stderr })
}

/// Runs commands one after the other, up to the first that fails: its result is the last one. Each begins anew, in the
/// same directory and with the same variables.
///
/// ```
/// use exacta::background::block_on;
/// use exacta::primitives::{PrimitiveContext, bash_sequence};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let context = PrimitiveContext::new(std::env::current_dir()?);
/// let results = block_on(bash_sequence(&context, &["echo one", "false", "echo three"], None))?;
/// let codes: Vec<i32> = results.iter().map(|result| result.exit_code).collect();
/// assert_eq!(codes, [0, 1]);
/// # Ok(())
/// # }
/// ```
pub async fn bash_sequence(
    ctx: &PrimitiveContext,
    commands: &[&str],
    options: Option<BashOptions>,
) -> PrimitiveResult<Vec<BashResult>> {
    let mut results = Vec::new();
    for command in commands {
        let result = bash(ctx, command, options.clone()).await?;
        let failed = !result.success();
        results.push(result);
        if failed {
            break;
        }
    }
    Ok(results)
}

/// A command that has come to its end, or was brought to it.
struct Ran {
    exit_code: i32,
    /// What was kept, and whether there was more.
    output: (String, bool),
    errors: (String, bool),
    timed_out: bool,
}

fn run(
    context: &PrimitiveContext,
    command: &str,
    options: &BashOptions,
    cancellation: &Cancellation,
) -> PrimitiveResult<Ran> {
    CommandValidator::new(&options.blocked_commands).validate(command)?;
    let mut session = session(context, options)?;
    let (output, errors) = (
        Arc::new(Head::new(options.max_output_size)),
        Arc::new(Head::new(options.max_output_size)),
    );
    let request = Request::new(command).with_streams(
        Arc::new(Bytes::new(Vec::new())),
        Arc::clone(&output) as Arc<dyn OpenFile>,
        Arc::clone(&errors) as Arc<dyn OpenFile>,
    );
    cancellation.watch(session.prepare());
    let outcome = session.run_script(&request);
    let timed_out = outcome.stopped == Some(Stop::TimedOut);
    let exit_code = exit_code(&outcome)?;
    Ok(Ran { exit_code, output: output.take(), errors: errors.take(), timed_out })
}

/// As the command has it, unless it was ended from outside.
fn exit_code(outcome: &Outcome) -> PrimitiveResult<i32> {
    match &outcome.stopped {
        Some(Stop::TimedOut) => Ok(NO_CODE),
        Some(Stop::Cancelled) => Err(io::Error::from(io::ErrorKind::Interrupted).into()),
        // Where refusals are concealed, there is no such command, and that was said.
        Some(Stop::Refused(refusal)) if !refusal.concealed => Err(PrimitiveError::Refused {
            message: refusal.reason.clone(),
            hint: Some(refusal.hint.clone()).filter(|hint| !hint.is_empty()),
            approval: refusal.approval.clone(),
        }),
        Some(_) | None => Ok(i32::from(outcome.status.0)),
    }
}

/// A session of its own, in the directory that is asked for.
fn session(context: &PrimitiveContext, options: &BashOptions) -> PrimitiveResult<Session> {
    let root = crate::operator_file::canonical(&context.working_dir)?;
    let wanted = options.working_dir.as_deref().map_or(Path::new(""), Path::new);
    let Some(directory) = context.inside(&root, wanted) else {
        return Err(PrimitiveError::PathNotAllowed { path: context.resolve_path(wanted) });
    };
    let mut settings = SessionOptions::new(&root);
    settings.environment = environment(options, &root)?;
    settings.limits.wall_time = options.timeout;
    settings.judgement.clone_from(&context.judgement);
    settings.programs = Some(context.programs.clone().unwrap_or_else(|| ProgramOptions {
        path: caller::path(),
        network: caller::network(),
        ..ProgramOptions::default()
    }));
    let mut session = Session::new(settings).map_err(unusable)?;
    session.shell_mut().options.command_string = true;
    if directory != root {
        enter(&mut session, &directory)?;
    }
    Ok(session)
}

/// A command for another directory must not run in this one.
fn enter(session: &mut Session, directory: &Path) -> PrimitiveResult<()> {
    let path = directory.as_os_str().as_encoded_bytes().as_bstr();
    session.start_in(path);
    if session.shell().directory == path {
        return Ok(());
    }
    let files = session.shell().host.files();
    match files.metadata(path, Follow::No) {
        Err(error) => Err(error.into()),
        Ok(found) if found.is_symlink() => {
            Err(PrimitiveError::PathNotAllowed { path: directory.to_owned() })
        }
        Ok(_) => Err(io::Error::from(io::ErrorKind::NotADirectory).into()),
    }
}

fn environment(options: &BashOptions, root: &Path) -> PrimitiveResult<Vec<(BString, BString)>> {
    let mut variables =
        if options.clear_env { Vec::new() } else { caller::environment(Inherit::Harmless, root) };
    for (name, value) in &options.env_vars {
        if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
            let problem = format!("no variable can be called {name:?} or hold what it is given");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem).into());
        }
        variables.retain(|(known, _)| known != name);
        variables.push((name.as_str().into(), value.as_str().into()));
    }
    Ok(variables)
}

fn unusable(error: EngineError) -> PrimitiveError {
    PrimitiveError::Io(match error {
        EngineError::Root { error, .. } => error,
        other => io::Error::other(other),
    })
}
