//! The real bash with the GNU tools, as the case's second opinion.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use libtest_mimic::Failed;

use super::{Observed, tree};
use crate::case::Case;

pub fn run(case: &Case, project: &Path) -> Result<Observed, Failed> {
    let mut child = Command::new("timeout")
        .args(["20", "bash", "-c", &case.script, "bash"])
        .current_dir(project)
        .env_clear()
        .envs([("PATH", "/usr/bin:/bin"), ("LC_ALL", "C.UTF-8"), ("TZ", "UTC")])
        .env("HOME", project)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A script that does not read its input closes it early; that is no failure of the oracle.
        let _ = stdin.write_all(case.stdin.as_bytes());
    }
    let output = child.wait_with_output()?;
    Ok(Observed {
        stdout: output.stdout,
        stderr: output.stderr,
        status: status_of(output.status),
        tree: tree::read(project),
    })
}

/// A process that a signal ended has 128 and its number, as a shell would show it.
fn status_of(status: std::process::ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(-1)
}
