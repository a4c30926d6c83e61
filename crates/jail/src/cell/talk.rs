//! What spawner, warden and init say to one another until a jail stands.

use std::borrow::Cow;
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::masks::Mask;
use crate::ladder::Missing;
use crate::outcome::{AtStep, Failure, Walls};
use crate::plan::Plan;
use crate::timeline::Part;
use crate::wire;

/// Spawner to warden: the kernel knows who you are.
#[derive(Debug, Serialize, Deserialize)]
pub struct Mapped;

/// Spawner to warden: what the jail is to be. With it come the sockets for orders and for changes, and that many mounts, some
/// of them with as many of [`More`] as it takes.
#[derive(Debug, Serialize, Deserialize)]
pub struct Furnish<'a> {
    pub plan: Cow<'a, Plan>,
    pub mounts: usize,
}

/// Mounts come with it.
#[derive(Debug, Serialize, Deserialize)]
pub struct More;

/// Warden to init: what it does of the view. With it come the socket for orders, the root, unless it is known, where masks are to
/// be made, if there are some.
#[derive(Debug, Serialize, Deserialize)]
pub struct Begin {
    pub plan: Plan,
    /// The warden waits for them.
    pub masks: Vec<Mask>,
}

/// Warden to init: the view is complete, but for this. With it come the rules of Landlock, if there are some.
#[derive(Debug, Serialize, Deserialize)]
pub struct Complete {
    pub missing: Vec<Missing>,
}

/// Warden to init: the old root is gone, and something may be started.
#[derive(Debug, Serialize, Deserialize)]
pub struct LetGo;

/// To the spawner. With it come init's handle, the listeners in the order of the fields, and the first layer.
#[derive(Debug, Serialize, Deserialize)]
pub enum Answer {
    /// Init to warden only: the masks are made, unless the kernel has refused them.
    Masked {
        refused: Option<i32>,
    },
    /// Init to warden only: the view is the root, and the old one may go.
    Inside,
    Entered(Entered),
    Failed(Failure),
}

#[derive(Debug, Serialize, Deserialize)]
pub struct Entered {
    pub walls: Walls,
    pub notifier: bool,
    pub proxy: bool,
    pub laid: bool,
    /// Init, as it is seen from outside, if the warden has said so.
    pub init: Option<u32>,
    pub parts: Vec<Part>,
}

/// The next thing that somebody says. Nothing is an error: whoever should say it is gone.
pub fn next<T: DeserializeOwned>(from: &OwnedFd, step: &str) -> Result<(T, Vec<OwnedFd>), Failure> {
    wire::receive::<T>(from).at(step)?.ok_or(Errno::PIPE).at(step)
}

/// The same where it is about to be said.
pub fn next_soon<T: DeserializeOwned>(
    from: &OwnedFd,
    step: &str,
) -> Result<(T, Vec<OwnedFd>), Failure> {
    wire::receive_soon::<T>(from).at(step)?.ok_or(Errno::PIPE).at(step)
}
