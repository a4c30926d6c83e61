//! From a yes to a connection: the name is looked up here, once, and what is connected to is what was looked at.

use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use exacta_policy::rules::host::Host;

use super::Outlook;
use super::reach::{Refusal, Terms, Wanted};
use super::record::Record;
use super::upstream::Upstream;

/// For one address, and for all of a name together.
const PATIENCE: Duration = Duration::from_secs(10);
const WHOLE_PATIENCE: Duration = Duration::from_secs(25);
/// More addresses of a name are not tried.
const MOST_ADDRESSES: usize = 4;
/// What another proxy may answer before the connection stands.
const LONGEST_ANSWER: usize = 16 << 10;

/// A connection that stands.
pub struct Stood<'a> {
    pub stream: TcpStream,
    /// The other proxy that it leads to, if requests have to name the machine.
    pub through: Option<&'a Upstream>,
}

/// Connects.
pub fn lead_out<'a>(
    outlook: &'a Outlook,
    wanted: &Wanted,
    terms: Terms,
    record: &Record,
) -> Result<Stood<'a>, Refusal> {
    let plain = wanted.request.is_some();
    if let Host::Address(address) = &wanted.host {
        record.lead_to(*address);
        terms.admit(*address)?;
    }
    if let Some(upstream) = outlook.upstreams.of(&wanted.host.to_string(), plain) {
        let stream = through(outlook, upstream, wanted)?;
        record.reach(None);
        return Ok(Stood { stream, through: plain.then_some(upstream) });
    }
    let addresses = match &wanted.host {
        Host::Address(address) => vec![*address],
        Host::Name(name) => {
            let found = outlook.outside.resolve(name);
            let found = found
                .map_err(|_| unknown_name())
                .and_then(|found| if found.is_empty() { Err(unknown_name()) } else { Ok(found) })?;
            admitted(&found, terms, record)?
        }
    };
    let (stream, address) = dial_any(outlook, &addresses, wanted.port)?;
    record.reach(Some(address));
    Ok(Stood { stream, through: None })
}

/// Those that may be connected to; if there are none, why.
fn admitted(found: &[IpAddr], terms: Terms, record: &Record) -> Result<Vec<IpAddr>, Refusal> {
    let mut good = Vec::new();
    let mut refused = None;
    for address in found {
        match terms.admit(*address) {
            Ok(()) => good.push(*address),
            Err(refusal) => {
                if refused.is_none() {
                    record.lead_to(*address);
                }
                refused.get_or_insert(refusal);
            }
        }
    }
    match refused {
        Some(refusal) if good.is_empty() => Err(refusal),
        _ => Ok(good),
    }
}

fn dial_any(
    outlook: &Outlook,
    addresses: &[IpAddr],
    port: u16,
) -> Result<(TcpStream, IpAddr), Refusal> {
    let end = Instant::now() + WHOLE_PATIENCE;
    let mut last = unknown_name();
    for address in addresses.iter().take(MOST_ADDRESSES) {
        let patience = PATIENCE.min(end.saturating_duration_since(Instant::now()));
        if patience.is_zero() {
            break;
        }
        match outlook.outside.dial(SocketAddr::new(*address, port), patience) {
            Ok(stream) => return Ok((stream, *address)),
            Err(error) => last = not_there(&error),
        }
    }
    Err(last)
}

/// To another proxy; for what cannot be read, through it.
fn through(outlook: &Outlook, upstream: &Upstream, wanted: &Wanted) -> Result<TcpStream, Refusal> {
    let (host, port, credentials) = match upstream {
        Upstream::Proxy { host, port, credentials } => (host, *port, credentials),
        Upstream::Unusable(why) => {
            let hint = "the operator can set HTTPS_PROXY to an http:// address".into();
            return Err(Refusal { hint, ..Refusal::failed(502, 1, (*why).to_owned()) });
        }
    };
    let literal = host.parse().ok().map(|address| vec![address]);
    let addresses = literal.map_or_else(|| outlook.outside.resolve(host), Ok);
    let addresses = addresses.map_err(|_| no_proxy("its name is not known"))?;
    let (mut stream, _) = dial_any(outlook, &addresses, port)?;
    if wanted.request.is_some() {
        return Ok(stream);
    }
    let authority = format!("{}:{}", wanted.host, wanted.port);
    let mut head = format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n");
    if let Some(credentials) = credentials {
        head += &format!("Proxy-Authorization: Basic {credentials}\r\n");
    }
    head += "\r\n";
    let answered = ask(&mut stream, head.as_bytes());
    match answered.map_err(|error| no_proxy(&exacta_shell::errno::text(&error)))? {
        200..=299 => Ok(stream),
        status => Err(no_proxy(&format!("it answered {status}"))),
    }
}

/// Sends a head and reads one, and not a byte beyond it.
fn ask(stream: &mut TcpStream, head: &[u8]) -> io::Result<u16> {
    let end = Instant::now() + PATIENCE;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(head)?;
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() || answer.len() >= LONGEST_ANSWER {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        answer.extend(byte);
    }
    let first = answer.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let status =
        first.split(|byte| *byte == b' ').nth(1).and_then(|it| std::str::from_utf8(it).ok());
    let begins = first.starts_with(b"HTTP/1.");
    status
        .filter(|_| begins)
        .and_then(|it| it.parse().ok())
        .ok_or(io::ErrorKind::InvalidData.into())
}

fn unknown_name() -> Refusal {
    Refusal::failed(502, 4, "there is no such host".into())
}

fn no_proxy(why: &str) -> Refusal {
    Refusal::failed(502, 1, format!("the operator's own proxy does not lead there: {why}"))
}

fn not_there(error: &io::Error) -> Refusal {
    match error.kind() {
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => {
            Refusal::failed(504, 4, "nobody has answered in time".into())
        }
        io::ErrorKind::ConnectionRefused => Refusal::failed(502, 5, "connection refused".into()),
        _ => Refusal::failed(502, 4, exacta_shell::errno::text(error)),
    }
}
