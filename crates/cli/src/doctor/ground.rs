//! What is laid out on the host for the probe to find, if the jail lets it. Taken away afterwards.

#![expect(
    clippy::disallowed_methods,
    reason = "marks on the host itself, in a directory made for them, and listeners nobody may reach"
)]

use std::fs;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::AsFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::PathBuf;

use exacta_jail::probe::Marks;
use rustix::io::{FdFlags, fcntl_setfd};

pub struct Ground {
    pub marks: Marks,
    folder: PathBuf,
    /// Listening while the probe tries to connect.
    _listeners: (Option<TcpListener>, Option<UnixListener>),
    /// Open without the flag that closes it when a program starts: a careless caller has such.
    _left_open: fs::File,
}

impl Ground {
    pub fn lay(project: PathBuf, blocked: Option<PathBuf>) -> io::Result<Self> {
        let name = format!("exacta-doctor-{}", uuid::Uuid::now_v7());
        let folder = std::env::temp_dir().join(&name);
        fs::create_dir(&folder)?;
        let outside = folder.join("mark");
        fs::write(&outside, "outside")?;
        let left_open = fs::File::open(&outside)?;
        fcntl_setfd(left_open.as_fd(), FdFlags::empty())?;
        // A host without these has nothing there to be reached.
        let internet = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).ok();
        let address = internet.as_ref().and_then(|listener| listener.local_addr().ok());
        let nameless = SocketAddr::from_abstract_name(&name)
            .and_then(|address| UnixListener::bind_addr(&address));
        let marks = Marks {
            outside,
            blocked: blocked.unwrap_or_default(),
            project,
            port: address.map_or(9, |address| address.port()),
            nameless: name,
        };
        let listeners = (internet, nameless.ok());
        Ok(Ground { marks, folder, _listeners: listeners, _left_open: left_open })
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        let _it_may_be_gone = fs::remove_dir_all(&self.folder);
    }
}

/// This very program, for a jail in which it is the probe.
pub fn own_program() -> io::Result<PathBuf> {
    fs::canonicalize(std::env::current_exe()?)
}
