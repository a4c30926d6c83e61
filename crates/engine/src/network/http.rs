//! The proxy as HTTP clients know it: `CONNECT`, and plain requests, one for each connection.

use super::client::{Client, NoHead};
use super::head::{Head, Malformed, Plain, Through};
use super::leading_out::lead_out;
use super::proxy::Visit;
use super::reach::{Reach, Refusal, Wanted};
use super::record::{Fate, Protocol};
use super::relay::{Amount, fate, relay};
use super::upstream::Upstream;

/// What a request is about, as far as it can be read.
struct Asked {
    host: String,
    port: u16,
    protocol: Protocol,
}

pub fn serve(visit: &Visit<'_>, client: &mut Client) {
    let mut unanswered: Option<Asked> = None;
    // Some clients show their key only when they are asked for it, on the same connection.
    for attempt in 0..2 {
        let head = match client.head() {
            Ok(head) => head,
            Err(NoHead::TooLong) => {
                let malformed = Malformed { status: 431, problem: "its head is too long" };
                return refuse_malformed(visit, client, None, malformed);
            }
            Err(NoHead::Gone) => {
                if let Some(asked) = unanswered {
                    record_refused(visit, &asked, without_key().fate);
                }
                return;
            }
        };
        let head = match Head::read(&head) {
            Ok(head) => head,
            Err(malformed) => return refuse_malformed(visit, client, None, malformed),
        };
        match head.key() {
            Err(malformed) => return refuse_malformed(visit, client, Some(&head), malformed),
            Ok(Some(key)) => match visit.reach_of_encoded(key) {
                Some(reach) => return serve_known(visit, client, &head, &reach),
                None => return refuse(visit, client, &asked_by(&head), &without_key()),
            },
            Ok(None) => {
                let asked = asked_by(&head);
                let bodiless =
                    head.method == "CONNECT" || head.plain().is_ok_and(|it| it.length == 0);
                if attempt > 0 || !bodiless {
                    return refuse(visit, client, &asked, &without_key());
                }
                let text = without_key().text(&shown(&asked));
                if client.answer(&answer(407, &text, "keep-alive")).is_err() {
                    return record_refused(visit, &asked, without_key().fate);
                }
                unanswered = Some(asked);
            }
        }
    }
}

fn serve_known(visit: &Visit<'_>, client: &mut Client, head: &Head, reach: &Reach) {
    if head.method == "CONNECT" {
        match head.tunnel() {
            Ok((host, port)) => tunnel(visit, client, &Wanted { host, port, request: None }, reach),
            Err(malformed) => refuse_malformed(visit, client, Some(head), malformed),
        }
    } else {
        match head.plain() {
            Ok(asked) => request(visit, client, head, &asked, reach),
            Err(malformed) => refuse_malformed(visit, client, Some(head), malformed),
        }
    }
}

fn tunnel(visit: &Visit<'_>, client: &mut Client, wanted: &Wanted, reach: &Reach) {
    let asked =
        Asked { host: wanted.host.to_string(), port: wanted.port, protocol: Protocol::Connect };
    let Some(record) = visit.record(&asked.host, asked.port, asked.protocol) else { return };
    let led =
        reach.decide(wanted).and_then(|terms| lead_out(visit.outlook(), wanted, terms, &record));
    match led {
        Ok(stood) => {
            let established = b"HTTP/1.1 200 Connection established\r\n\r\n";
            if visit.attach(&stood.stream) && client.answer(established).is_ok() {
                let rest = client.take_rest();
                let amount = Amount::All(&wanted.host);
                let ended = relay(&client.stream, &stood.stream, rest, amount, &record);
                return record.end(fate(&ended));
            }
            record.end(None);
        }
        Err(refusal) => {
            record.end(Some(refusal.fate.clone()));
            say(client, &asked, &refusal);
        }
    }
}

fn request(visit: &Visit<'_>, client: &mut Client, head: &Head, plain: &Plain, reach: &Reach) {
    let asked = Asked { host: plain.host.to_string(), port: plain.port, protocol: Protocol::Http };
    let Some(record) = visit.record(&asked.host, asked.port, asked.protocol) else { return };
    let request = Some((head.method.clone(), plain.path.clone()));
    let wanted = Wanted { host: plain.host.clone(), port: plain.port, request };
    let led =
        reach.decide(&wanted).and_then(|terms| lead_out(visit.outlook(), &wanted, terms, &record));
    match led {
        Ok(stood) => {
            let through = stood.through.map(|upstream| Through {
                credentials: match upstream {
                    Upstream::Proxy { credentials, .. } => credentials.as_deref(),
                    Upstream::Unusable(_) => None,
                },
            });
            // What follows the head is passed on as far as the request goes, and not a byte further.
            let mut first = head.forwarded(plain, through.as_ref());
            let head_length = first.len() as u64;
            let body = client.take_rest();
            let body_length = usize::try_from(plain.length).unwrap_or(usize::MAX).min(body.len());
            first.extend_from_slice(body.get(..body_length).unwrap_or_default());
            let amount = Amount::Bytes(head_length.saturating_add(plain.length));
            if visit.attach(&stood.stream) {
                let _its_end = relay(&client.stream, &stood.stream, first, amount, &record);
            }
            record.end(None);
        }
        Err(refusal) => {
            record.end(Some(refusal.fate.clone()));
            say(client, &asked, &refusal);
        }
    }
}

/// For the record, and for whoever reads the answer: what the head asks for.
fn asked_by(head: &Head) -> Asked {
    let protocol = if head.method == "CONNECT" { Protocol::Connect } else { Protocol::Http };
    let read = if protocol == Protocol::Connect {
        head.tunnel()
    } else {
        head.plain().map(|plain| (plain.host, plain.port))
    };
    match read {
        Ok((host, port)) => Asked { host: host.to_string(), port, protocol },
        Err(_) => Asked { host: head.target.clone(), port: 0, protocol },
    }
}

fn shown(asked: &Asked) -> String {
    let what = match asked.port {
        0 => asked.host.clone(),
        port => format!("{}:{port}", asked.host),
    };
    what.chars().take(255).collect()
}

fn without_key() -> Refusal {
    let hint = "the operator can allow the command with `hosts` in a rule; package managers have the hosts of their own \
                configuration outside the project";
    let reason = "this program was granted no host";
    Refusal { status: 407, ..Refusal::denied(reason.into(), hint.into()) }
}

fn record_refused(visit: &Visit<'_>, asked: &Asked, fate: Fate) {
    if let Some(record) = visit.record(&asked.host, asked.port, asked.protocol) {
        record.end(Some(fate));
    }
}

fn refuse(visit: &Visit<'_>, client: &mut Client, asked: &Asked, refusal: &Refusal) {
    record_refused(visit, asked, refusal.fate.clone());
    say(client, asked, refusal);
}

fn refuse_malformed(
    visit: &Visit<'_>,
    client: &mut Client,
    head: Option<&Head>,
    malformed: Malformed,
) {
    let nobody = Asked { host: String::new(), port: 0, protocol: Protocol::Http };
    let asked = head.map_or(nobody, asked_by);
    let reason = format!("the request is not as the proxy wants it: {}", malformed.problem);
    let hint = "one request for each connection, with its length, and the same name everywhere";
    let refusal = Refusal { status: malformed.status, ..Refusal::denied(reason, hint.to_owned()) };
    refuse(visit, client, &asked, &refusal);
}

fn say(client: &mut Client, asked: &Asked, refusal: &Refusal) {
    let text = refusal.text(&shown(asked));
    client.answer_and_end(&answer(refusal.status, &text, "close"));
}

fn answer(status: u16, text: &str, connection: &str) -> Vec<u8> {
    let words = match status {
        400 => "Bad Request",
        403 => "Forbidden",
        407 => "Proxy Authentication Required",
        411 => "Length Required",
        431 => "Request Header Fields Too Large",
        502 => "Bad Gateway",
        504 => "Gateway Timeout",
        505 => "HTTP Version Not Supported",
        _ => "Refused",
    };
    let key = if status == 407 { "Proxy-Authenticate: Basic realm=\"exacta\"\r\n" } else { "" };
    let length = text.len();
    format!(
        "HTTP/1.1 {status} {words}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\n\
         {key}Connection: {connection}\r\nProxy-Connection: {connection}\r\n\r\n{text}"
    )
    .into_bytes()
}
