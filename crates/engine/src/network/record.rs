//! What became of each connection, for whoever asks afterwards.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// A connection that a program has asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    /// As it was decided about; what could not be read, as it was sent, as far as it can be shown. May be empty.
    pub host: String,
    pub port: u16,
    /// The one that it was connected to. `None`: to none, or by another proxy.
    pub address: Option<IpAddr>,
    pub protocol: Protocol,
    pub fate: Fate,
    pub began: SystemTime,
    pub duration: Duration,
    /// Bytes to the machine, and from it.
    pub sent: u64,
    pub received: u64,
}

/// How it was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    Connect,
    Http,
    Socks5,
    /// Nothing that the proxy understands.
    Unknown,
}

impl Protocol {
    pub fn name(self) -> &'static str {
        match self {
            Protocol::Connect => "connect",
            Protocol::Http => "http",
            Protocol::Socks5 => "socks5",
            Protocol::Unknown => "unknown",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// Allowed, and connected.
    Reached,
    /// For this reason.
    Refused(String),
    /// Allowed, but nobody was there.
    Failed(String),
}

impl Fate {
    pub fn name(&self) -> &'static str {
        match self {
            Fate::Reached => "reached",
            Fate::Refused(_) => "refused",
            Fate::Failed(_) => "failed",
        }
    }

    pub fn reason(&self) -> Option<&str> {
        match self {
            Fate::Reached => None,
            Fate::Refused(reason) | Fate::Failed(reason) => Some(reason),
        }
    }
}

/// A connection while it lasts.
#[derive(Debug)]
pub struct Record {
    host: String,
    port: u16,
    protocol: Protocol,
    began: SystemTime,
    start: Instant,
    sent: AtomicU64,
    received: AtomicU64,
    rest: Mutex<Rest>,
}

#[derive(Debug)]
struct Rest {
    address: Option<IpAddr>,
    fate: Fate,
    /// `None`: it lasts.
    duration: Option<Duration>,
}

/// Longer names are cut.
const LONGEST_SHOWN: usize = 255;

impl Record {
    pub fn new(host: &str, port: u16, protocol: Protocol) -> Self {
        let plain = |c: char| if c.is_control() { '\u{fffd}' } else { c };
        Record {
            host: host.chars().take(LONGEST_SHOWN).map(plain).collect(),
            port,
            protocol,
            began: SystemTime::now(),
            start: Instant::now(),
            sent: AtomicU64::new(0),
            received: AtomicU64::new(0),
            rest: Mutex::new(Rest {
                address: None,
                fate: Fate::Failed("the request ended first".into()),
                duration: None,
            }),
        }
    }

    pub fn reach(&self, address: Option<IpAddr>) {
        let mut rest = self.rest();
        rest.address = address;
        rest.fate = Fate::Reached;
    }

    /// Where it leads, although nobody connects to it.
    pub fn lead_to(&self, address: IpAddr) {
        self.rest().address = Some(address);
    }

    pub fn end(&self, fate: Option<Fate>) {
        let mut rest = self.rest();
        if let Some(fate) = fate {
            rest.fate = fate;
        }
        rest.duration = Some(self.start.elapsed());
    }

    pub fn add_sent(&self, bytes: usize) {
        self.sent.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub fn add_received(&self, bytes: usize) {
        self.received.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// As it is now.
    pub fn connection(&self) -> Connection {
        let rest = self.rest();
        Connection {
            host: self.host.clone(),
            port: self.port,
            address: rest.address,
            protocol: self.protocol,
            fate: rest.fate.clone(),
            began: self.began,
            duration: rest.duration.unwrap_or_else(|| self.start.elapsed()),
            sent: self.sent.load(Ordering::Relaxed),
            received: self.received.load(Ordering::Relaxed),
        }
    }

    fn rest(&self) -> MutexGuard<'_, Rest> {
        self.rest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
