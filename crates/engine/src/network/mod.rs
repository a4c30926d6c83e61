//! The network of programs: none, but for the hosts that were granted to them, through a proxy of ours.
//!
//! ```text
//! program --127.0.0.1--> proxy: who are you? --> may you? --> where does the name lead? --> may that be? --> machine
//! ```
//!
//! - [`proxy`]: accepts and keeps count; [`client`], [`head`], [`http`], [`socks`]: what a program says to it.
//! - [`reach`]: what a program may reach, and its refusals; [`key`]: how it is known.
//! - [`address`]: where no name may lead; [`leading_out`]: from a yes to a connection; [`relay`]: what follows;
//!   [`greeting`]: the name in it, if it is encrypted.
//! - [`outside`], [`upstream`]: the world, directly or through the operator's own proxy.
//! - [`registries`]: hosts of package managers, from the operator's own configuration of them.
//! - [`record`]: what became of it.

pub mod address;
mod client;
mod greeting;
mod head;
mod http;
mod key;
mod leading_out;
pub mod outside;
mod proxy;
mod reach;
pub mod record;
mod registries;
mod relay;
mod socks;
mod upstream;
mod variables;

use std::fmt;
use std::sync::Arc;

pub use outside::Outside;
pub use record::{Connection, Fate, Protocol};
pub use registries::Operator;

pub(crate) use proxy::Proxy;
pub(crate) use reach::Reach;
pub(crate) use registries::Registries;
use upstream::Upstreams;
pub(crate) use variables::add as add_variables;

/// The port inside on which the proxy listens: above those that the kernel gives away by itself.
pub(crate) const PORT: u16 = 61_113;

/// What the operator's machine has of a network, for the programs of a session.
#[derive(Clone)]
pub struct NetworkOptions {
    pub outside: Arc<dyn Outside>,
    pub operator: Operator,
}

impl Default for NetworkOptions {
    fn default() -> Self {
        NetworkOptions { outside: Arc::new(outside::Machine), operator: Operator::default() }
    }
}

impl fmt::Debug for NetworkOptions {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("NetworkOptions").finish_non_exhaustive()
    }
}

impl NetworkOptions {
    pub(crate) fn outlook(&self) -> Outlook {
        let upstreams = Upstreams::read(|name| self.operator.variable(name));
        Outlook { outside: Arc::clone(&self.outside), upstreams }
    }
}

/// How the proxy sees the world.
#[derive(Clone)]
pub(crate) struct Outlook {
    pub outside: Arc<dyn Outside>,
    pub upstreams: Upstreams,
}
