//! A jail's own network: a loopback device, and where the plan asks for it, a place on it that leads out.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::OwnedFd;

use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, socket_with};

use crate::system;

/// Test suites need a localhost.
pub fn raise_loopback() -> io::Result<()> {
    system::loopback::raise()
}

/// A socket inside, for somebody outside to accept from: a socket stays in the network it was made in. It holds its
/// port, but nobody listens on it: until its owner does, connections are refused as if there was nothing.
pub fn reserve(port: u16) -> io::Result<OwnedFd> {
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, port))?;
    Ok(socket)
}
