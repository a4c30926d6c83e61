//! The world outside, as far as the proxy needs it: names and connections. Tests put another one in its place, so that
//! what is refused stays refused there too.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

pub trait Outside: Send + Sync {
    /// Where a name leads now. May take its time: only the connection that asks waits.
    fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>>;

    /// Connects to exactly this address.
    fn dial(&self, address: SocketAddr, patience: Duration) -> io::Result<TcpStream>;
}

/// The machine's own network.
#[derive(Debug, Clone, Copy, Default)]
pub struct Machine;

impl Outside for Machine {
    fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        exacta_jail::host_names::look_up_plainly();
        // With a dot at its end it is a whole name: the machine's search domains would make another of it.
        let whole = format!("{name}.");
        let found = (whole.as_str(), 0_u16).to_socket_addrs();
        // The machine's own files know names without it.
        let found = found.or_else(|_| (name, 0_u16).to_socket_addrs());
        Ok(found?.map(|address| address.ip()).collect())
    }

    fn dial(&self, address: SocketAddr, patience: Duration) -> io::Result<TcpStream> {
        TcpStream::connect_timeout(&address, patience)
    }
}
