//! A jail's own network: a loopback device, and where the plan asks for it, a listener on it.
#![expect(
    clippy::disallowed_methods,
    reason = "the one listener of a jail, in a network of its own"
)]

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener};
use std::os::fd::OwnedFd;

use crate::system;

/// Test suites need a localhost.
pub fn raise_loopback() -> io::Result<()> {
    system::loopback::raise()
}

/// A listener inside, for somebody outside to accept from: a socket stays in the network it was made in.
pub fn listen(port: u16) -> io::Result<OwnedFd> {
    Ok(TcpListener::bind(SocketAddrV4::new(Ipv4Addr::LOCALHOST, port))?.into())
}
