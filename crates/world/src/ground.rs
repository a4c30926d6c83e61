//! The step that only root takes, in a mount namespace of its own: it lays out the layers while it can read everything,
//! and lets go of all its powers in the next step.

use std::process::{ExitCode, Stdio};

use crate::Here;
use crate::launch::{self, FIRST, Identity};
use crate::layers;
use crate::namespaces;
use crate::passport::Passport;
use crate::refusal::Refusal;

pub fn lay(passport: &Passport, here: &Here) -> Result<ExitCode, Refusal> {
    // Whoever starts us by hand with the right variables is in the mount namespace of their shell.
    let parent = rustix::process::getppid().map(|parent| parent.as_raw_nonzero().to_string());
    let theirs = namespaces::of(parent.as_deref().unwrap_or("1"), "mnt")?;
    if theirs == namespaces::of("self", "mnt")? || passport.outside.is_empty() {
        return Err(Refusal::new("this step was not started by a test; unset EXACTA_WORLD"));
    }
    layers::lay(passport, here, Some(FIRST))?;
    let program = passport.program.strip_prefix("/").unwrap_or(&passport.program);
    // The one in the new tree: who runs it may not reach it on the machine.
    let program = passport.tree().join(program);
    launch::init(passport, &program, Stdio::inherit(), Identity::Nobody)
}
