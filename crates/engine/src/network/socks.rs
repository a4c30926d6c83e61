//! The proxy as clients of SOCKS5 know it: only `CONNECT`, only with a key, names looked up here.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use exacta_policy::rules::host::Host;

use super::client::Client;
use super::leading_out::lead_out;
use super::proxy::Visit;
use super::reach::{Reach, Refusal, Wanted};
use super::record::{Fate, Protocol};
use super::relay::{Amount, fate, relay};

pub const VERSION: u8 = 5;

const BY_PASSWORD: u8 = 2;
const NO_METHOD: u8 = 0xff;
const CONNECT: u8 = 1;
const REFUSED_COMMAND: u8 = 7;
const REFUSED_ADDRESS: u8 = 8;

pub fn serve(visit: &Visit<'_>, client: &mut Client) {
    let reach = match greet(visit, client) {
        Ok(Ok(reach)) => reach,
        Ok(Err(reason)) => return record_refused(visit, "", 0, reason),
        Err(_gone) => return,
    };
    let Ok(asked) = read_request(client) else { return };
    match asked {
        Ok(wanted) => tunnel(visit, client, &wanted, &reach),
        Err((code, shown)) => {
            record_refused(visit, &shown, 0, "the request is not as the proxy wants it");
            client.answer_and_end(&reply(code));
        }
    }
}

/// Whoever shows a key that is known may go on; else why not.
fn greet(visit: &Visit<'_>, client: &mut Client) -> io::Result<Result<Arc<Reach>, &'static str>> {
    let (_version, count) = (client.byte()?, client.byte()?);
    let methods = client.bytes(count.into())?;
    if !methods.contains(&BY_PASSWORD) {
        client.answer_and_end(&[VERSION, NO_METHOD]);
        return Ok(Err("this program was granted no host"));
    }
    client.answer(&[VERSION, BY_PASSWORD])?;
    let (version, name_length) = (client.byte()?, client.byte()?);
    let name = client.bytes(name_length.into())?;
    let password_length = client.byte()?;
    let password = client.bytes(password_length.into())?;
    let known = if version == 1 { visit.reach_of_plain(&name, &password) } else { None };
    match known {
        Some(reach) => {
            client.answer(&[1, 0])?;
            Ok(Ok(reach))
        }
        None => {
            client.answer_and_end(&[1, 1]);
            Ok(Err("this program was granted no host"))
        }
    }
}

type Asked = Result<Wanted, (u8, String)>;

fn read_request(client: &mut Client) -> io::Result<Asked> {
    let (version, command) = (client.byte()?, client.byte()?);
    let (_reserved, kind) = (client.byte()?, client.byte()?);
    if version != VERSION {
        return Ok(Err((REFUSED_COMMAND, String::new())));
    }
    let host = match kind {
        1 => {
            let bytes: Result<[u8; 4], _> = client.bytes(4)?.try_into();
            bytes.map(|it| Host::Address(IpAddr::V4(Ipv4Addr::from(it)))).map_err(|_| String::new())
        }
        3 => {
            let length = client.byte()?;
            let name = client.bytes(length.into())?;
            Host::read(&name).map_err(|_| String::from_utf8_lossy(&name).into_owned())
        }
        4 => {
            let bytes: Result<[u8; 16], _> = client.bytes(16)?.try_into();
            bytes.map(|it| Host::Address(IpAddr::V6(Ipv6Addr::from(it)))).map_err(|_| String::new())
        }
        _ => return Ok(Err((REFUSED_ADDRESS, String::new()))),
    };
    let port = u16::from_be_bytes([client.byte()?, client.byte()?]);
    Ok(match host {
        Err(shown) => Err((REFUSED_ADDRESS, shown)),
        Ok(host) if command != CONNECT || port == 0 => Err((REFUSED_COMMAND, host.to_string())),
        Ok(host) => Ok(Wanted { host, port, request: None }),
    })
}

fn tunnel(visit: &Visit<'_>, client: &mut Client, wanted: &Wanted, reach: &Reach) {
    let host = wanted.host.to_string();
    let Some(record) = visit.record(&host, wanted.port, Protocol::Socks5) else { return };
    let led =
        reach.decide(wanted).and_then(|terms| lead_out(visit.outlook(), wanted, terms, &record));
    match led {
        Ok(stood) => {
            if visit.attach(&stood.stream) && client.answer(&reply(0)).is_ok() {
                let rest = client.take_rest();
                let amount = Amount::All(&wanted.host);
                let ended = relay(&client.stream, &stood.stream, rest, amount, &record);
                return record.end(fate(&ended));
            }
            record.end(None);
        }
        Err(Refusal { code, fate, .. }) => {
            record.end(Some(fate));
            client.answer_and_end(&reply(code));
        }
    }
}

fn record_refused(visit: &Visit<'_>, host: &str, port: u16, reason: &str) {
    if let Some(record) = visit.record(host, port, Protocol::Socks5) {
        record.end(Some(Fate::Refused(reason.to_owned())));
    }
}

/// From nowhere in particular: where the connection comes from outside is nobody's business inside.
fn reply(code: u8) -> [u8; 10] {
    [VERSION, code, 0, 1, 0, 0, 0, 0, 0, 0]
}
