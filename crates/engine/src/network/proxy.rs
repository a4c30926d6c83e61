//! The one way out of a jail: listens on the jail's own network for as long as somebody in it was granted something.

use std::collections::HashMap;
use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::net::{listen, shutdown, sockopt};

use super::client::Client;
use super::key::Key;
use super::reach::Reach;
use super::record::{Connection, Fate, Protocol, Record};
use super::{Outlook, http, socks};

/// Connections at one time; the next ones wait.
const MOST_AT_ONE_TIME: usize = 128;
/// Connections that can be recorded in one request. What cannot be recorded does not happen.
const MOST_RECORDED: usize = 10_000;
/// Those that the kernel accepts before we do.
const BACKLOG: i32 = 128;
/// Looking up a name uses some.
const STACK: usize = 512 << 10;
/// For connections that were just ended to notice it, so that what is recorded is all.
const LAST_PATIENCE: Duration = Duration::from_millis(50);

pub struct Proxy {
    socket: OwnedFd,
    port: u16,
    shared: Arc<Shared>,
    accepting: Mutex<Option<JoinHandle<()>>>,
}

struct Shared {
    outlook: Outlook,
    state: Mutex<State>,
    /// A connection has ended, or all of them.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Somebody accepts.
    open: bool,
    passes: Vec<(Key, Arc<Reach>)>,
    live: HashMap<u64, Vec<TcpStream>>,
    records: Vec<Arc<Record>>,
    next: u64,
}

/// One connection from inside, as those that serve it see it.
pub struct Visit<'a> {
    shared: &'a Shared,
    number: u64,
}

impl Proxy {
    /// On a socket of the jail that holds this port.
    pub fn new(socket: BorrowedFd<'_>, port: u16, outlook: Outlook) -> io::Result<Self> {
        let shared = Shared { outlook, state: Mutex::default(), changed: Condvar::new() };
        let (socket, shared) = (socket.try_clone_to_owned()?, Arc::new(shared));
        Ok(Proxy { socket, port, shared, accepting: Mutex::default() })
    }

    /// Lets whoever shows the key that is in the address reach these hosts, until all is closed. The address is for the
    /// variables of the program.
    pub fn admit(&self, reach: Reach) -> io::Result<String> {
        let key = Key::new()?;
        let address = key.address(self.port);
        let mut state = self.shared.lock();
        if !state.open {
            self.listen()?;
            let listener = TcpListener::from(self.socket.try_clone()?);
            let shared = Arc::clone(&self.shared);
            let accepting = thread::Builder::new().name("proxy".into()).stack_size(STACK);
            let accepting = accepting.spawn(move || shared.accept(&listener))?;
            *self.accepting() = Some(accepting);
            state.open = true;
        }
        state.passes.push((key, Arc::new(reach)));
        Ok(address)
    }

    /// Ends all connections and forgets all keys. From now on nobody listens. What became of all connections.
    pub fn close(&self) -> Vec<Connection> {
        let mut state = self.shared.lock();
        if state.open {
            state.open = false;
            self.stop_listening();
            self.shared.changed.notify_all();
            drop(state);
            // At once, and before somebody may listen again.
            let _it_cannot_panic = self.accepting().take().map(JoinHandle::join);
            state = self.shared.lock();
        }
        state.passes.clear();
        for stream in state.live.values().flatten() {
            let _it_may_have_ended = stream.shutdown(Shutdown::Both);
        }
        self.shared.changed.notify_all();
        let end = Instant::now() + LAST_PATIENCE;
        while !state.live.is_empty() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let waited = self.shared.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        // Whoever still looks up a name finds that nobody waits for it.
        state.live.clear();
        std::mem::take(&mut state.records).iter().map(|record| record.connection()).collect()
    }

    /// Connections of before may linger on the port, which must not keep us from it. Only now: nobody else gets a port
    /// that is held by somebody who does not share.
    fn listen(&self) -> io::Result<()> {
        sockopt::set_socket_reuseaddr(&self.socket, true)?;
        let listening = listen(&self.socket, BACKLOG);
        if listening.is_err() {
            sockopt::set_socket_reuseaddr(&self.socket, false)?;
        }
        Ok(listening?)
    }

    /// Makes the port what it was before somebody listened on it, and wakes whoever accepts.
    fn stop_listening(&self) {
        let _first = sockopt::set_socket_reuseaddr(&self.socket, false);
        let _nobody_listens = shutdown(&self.socket, rustix::net::Shutdown::Read);
    }

    fn accepting(&self) -> MutexGuard<'_, Option<JoinHandle<()>>> {
        self.accepting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _nobody_asks = self.close();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Until nobody listens any more.
    fn accept(self: Arc<Self>, listener: &TcpListener) {
        loop {
            let mut state = self.lock();
            while state.open && state.live.len() >= MOST_AT_ONE_TIME {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if !state.open {
                return;
            }
            drop(state);
            match listener.accept() {
                Ok((stream, _)) => self.welcome(stream),
                Err(error) if is_passing(&error) => {}
                // Out of descriptors or memory: those that have some will give them back.
                Err(error) if is_shortage(&error) => thread::sleep(Duration::from_millis(20)),
                Err(_) => return,
            }
        }
    }

    /// Serves a connection in a thread of its own.
    fn welcome(self: &Arc<Self>, stream: TcpStream) {
        let Ok(kept) = stream.try_clone() else { return };
        let number = {
            let mut state = self.lock();
            if !state.open {
                return;
            }
            state.next += 1;
            let number = state.next;
            state.live.insert(number, vec![kept]);
            number
        };
        let shared = Arc::clone(self);
        let serving = thread::Builder::new().name("connection".into()).stack_size(STACK);
        let started = serving.spawn(move || {
            let visit = Visit { shared: &shared, number };
            serve(&visit, Client::new(stream));
        });
        if started.is_err() {
            self.forget(number);
        }
    }

    fn forget(&self, number: u64) {
        self.lock().live.remove(&number);
        self.changed.notify_all();
    }
}

impl Visit<'_> {
    pub fn outlook(&self) -> &Outlook {
        &self.shared.outlook
    }

    /// What the owner of this key may reach.
    pub fn reach_of_encoded(&self, shown: &[u8]) -> Option<Arc<Reach>> {
        let state = self.shared.lock();
        let pass = state.passes.iter().find(|(key, _)| key.is_encoded(shown));
        pass.map(|(_, reach)| Arc::clone(reach))
    }

    pub fn reach_of_plain(&self, name: &[u8], password: &[u8]) -> Option<Arc<Reach>> {
        let state = self.shared.lock();
        let pass = state.passes.iter().find(|(key, _)| key.is_plain(name, password));
        pass.map(|(_, reach)| Arc::clone(reach))
    }

    /// Writes it down. `None`: it is over, or there is no room, and nothing may happen.
    pub fn record(&self, host: &str, port: u16, protocol: Protocol) -> Option<Arc<Record>> {
        let mut state = self.shared.lock();
        if !state.live.contains_key(&self.number) || state.records.len() >= MOST_RECORDED {
            return None;
        }
        let record = Arc::new(Record::new(host, port, protocol));
        state.records.push(Arc::clone(&record));
        Some(record)
    }

    /// The connection outside ends with the one inside. `false`: that has ended.
    pub fn attach(&self, stream: &TcpStream) -> bool {
        let Ok(kept) = stream.try_clone() else { return false };
        let mut state = self.shared.lock();
        let Some(streams) = state.live.get_mut(&self.number) else { return false };
        streams.push(kept);
        true
    }
}

impl Drop for Visit<'_> {
    fn drop(&mut self) {
        self.shared.forget(self.number);
    }
}

fn serve(visit: &Visit<'_>, mut client: Client) {
    match client.first() {
        None => {}
        Some(socks::VERSION) => socks::serve(visit, &mut client),
        Some(letter) if letter.is_ascii_uppercase() => http::serve(visit, &mut client),
        Some(_) => {
            if let Some(record) = visit.record("", 0, Protocol::Unknown) {
                let reason = "neither HTTP nor SOCKS5";
                record.end(Some(Fate::Refused(reason.to_owned())));
            }
        }
    }
}

/// The client has gone before it was accepted.
fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted)
}

fn is_shortage(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let shortages = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM];
    shortages.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

#[cfg(test)]
mod tests;
