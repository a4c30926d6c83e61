//! A model behind an address: where a key may go, how often it is asked, and how its answer comes in.
//!
//! What is in the answer is not its matter: see [`Transcript`].

use std::io::Read as _;
use std::net::IpAddr;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use exacta::tasks::PlanningFailed;
use serde_json::Value;
use ureq::http::Uri;

use super::events::Events;
use super::failure::{self, because};
use super::trouble::{self, Said};
use super::{Asking, LONGEST_ANSWER, LOOK, Stage};

/// Every few characters of an answer come with a few hundred bytes around them.
const LONGEST_STREAM: usize = 16 * LONGEST_ANSWER;
/// An error message is never longer.
const LONGEST_ERROR: u64 = 64 << 10;
/// The first time, and when it was busy.
const TRIES: u32 = 3;
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const PIECE: usize = 8 << 10;

pub struct Endpoint {
    agent: ureq::Agent,
    address: String,
    pub host: String,
    /// With the key in them: never shown.
    headers: Vec<(&'static str, String)>,
}

/// What has been understood of an answer so far.
pub trait Transcript {
    /// The data of one event.
    fn event(&mut self, data: &str) -> Result<Flow, PlanningFailed>;
    /// An answer that came at once.
    fn whole(&mut self, answer: &Value) -> Result<(), PlanningFailed>;
    /// How much of it there is, in bytes.
    fn length(&self) -> usize;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    More,
    Ended,
}

/// It was answered, or it is refused for good.
pub enum Answered {
    Well(ureq::Body, Kind),
    Badly { status: u16, said: Said },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Stream,
    Whole,
}

/// A key, and the name of the variable that it comes from.
pub struct Key {
    pub variable: String,
    pub value: Option<String>,
}

impl Endpoint {
    /// The key is looked at, and goes into no header yet.
    pub fn new(address: String, key: &Key) -> Result<Self, PlanningFailed> {
        let place = Place::of(&address)?;
        if !place.is_private() && key.value.is_some() {
            return Err(because(
                format!("the key of {} would go to {} in the clear", key.variable, place.host),
                "use https:// in planner.url, or planner.key_env = \"\" to send no key",
            ));
        }
        exacta_jail::host_names::look_up_plainly();
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            // A key is for whom it was given to, and for nobody to whom that one points.
            .max_redirects(0)
            .user_agent(concat!("exacta/", env!("CARGO_PKG_VERSION")));
        // What goes to this machine goes through no proxy, and neither does what anybody there could read.
        let config = if place.secure { config } else { config.proxy(None) };
        let agent = config.build().new_agent();
        Ok(Endpoint { agent, address, host: place.host, headers: Vec::new() })
    }

    pub fn with_header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Asks, and asks again after a pause if it was only busy.
    pub fn post(&self, body: &Value, asking: &Asking<'_>) -> Result<Answered, PlanningFailed> {
        let mut pause = FIRST_PAUSE;
        for tried in 1.. {
            let mut answer = self.send(body, asking)?;
            let status = answer.status().as_u16();
            if status == 200 {
                let kind = kind(&answer);
                return Ok(Answered::Well(answer.into_body(), kind));
            }
            if (300..400).contains(&status) {
                return Err(trouble::redirected(&self.host, &answer));
            }
            let wanted = trouble::wanted_pause(&answer);
            // Without a word of it the status says enough.
            let text = answer.body_mut().with_config().limit(LONGEST_ERROR).lossy_utf8(true);
            let said = Said::of(&text.read_to_string().unwrap_or_default());
            if tried >= TRIES || !trouble::passes(status, &said) {
                return Ok(Answered::Badly { status, said });
            }
            let wait = wanted.unwrap_or(pause);
            if asking.remaining()? <= wait {
                return Err(trouble::busy(&self.host, status, &said, Some(wait)));
            }
            (asking.told)(Stage::Pausing { host: &self.host, wait });
            asking.pause(wait)?;
            pause *= 2;
        }
        Err(failure::broken_off(&self.host))
    }

    fn send(
        &self,
        body: &Value,
        asking: &Asking<'_>,
    ) -> Result<ureq::http::Response<ureq::Body>, PlanningFailed> {
        let request = self.agent.post(&self.address);
        let request = request.config().timeout_global(Some(asking.remaining()?)).build();
        let request = self
            .headers
            .iter()
            .fold(request, |request, (name, value)| request.header(*name, value))
            .header("content-type", "application/json")
            .header("accept", "text/event-stream, application/json");
        let (sender, receiver) = mpsc::channel();
        let body = body.to_string();
        // Nothing ends the search for a host or a connection that is being made: whoever waits for them is left alone, and
        // finds afterwards that nobody wants the connection any more.
        let asked = std::thread::Builder::new().name("planner".into());
        let ask = move || {
            let _nobody_may_wait = sender.send(request.send(body));
        };
        asked.spawn(ask).map_err(|error| {
            because(format!("cannot start a thread to ask {}: {error}", self.host), "try again")
        })?;
        loop {
            match receiver.recv_timeout(LOOK) {
                Ok(answer) => {
                    return answer
                        .map_err(|error| trouble::unreachable(&self.host, error, asking.limit));
                }
                Err(RecvTimeoutError::Timeout) if asking.stopper.is_stopped() => {
                    return Err(failure::stopped());
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(failure::broken_off(&self.host));
                }
            }
        }
    }

    /// Drops whatever is under way. Nothing is asked any more.
    pub fn end(&self) {
        self.agent.clone().shutdown();
    }

    /// Reads an answer as it comes, until it says itself that it is complete.
    pub fn listen(
        &self,
        body: ureq::Body,
        kind: Kind,
        asking: &Asking<'_>,
        transcript: &mut dyn Transcript,
    ) -> Result<(), PlanningFailed> {
        let mut reader = body.into_with_config().limit(u64::MAX).reader();
        let (mut events, mut all) = (Events::default(), Vec::new());
        let (mut piece, mut heard) = (vec![0; PIECE], 0);
        loop {
            let length = reader.read(&mut piece).map_err(|error| {
                trouble::unreachable(&self.host, ureq::Error::from(error), asking.limit)
            })?;
            let bytes = piece.get(..length).unwrap_or_default();
            heard += length;
            if heard > LONGEST_STREAM || transcript.length().max(all.len()) > LONGEST_ANSWER {
                return Err(failure::too_long(LONGEST_ANSWER));
            }
            if kind == Kind::Whole && length > 0 {
                all.extend_from_slice(bytes);
                continue;
            }
            if kind == Kind::Whole {
                return self.take_whole(&all, transcript);
            }
            let mut complete = Vec::new();
            events.push(bytes, &mut complete);
            if length == 0 {
                std::mem::take(&mut events).finish(&mut complete);
            }
            for data in complete {
                if transcript.event(&data)? == Flow::Ended {
                    return Ok(());
                }
            }
            if length == 0 {
                return Ok(());
            }
            if events.held() > LONGEST_ANSWER {
                return Err(failure::too_long(LONGEST_ANSWER));
            }
            (asking.told)(Stage::Heard(transcript.length()));
        }
    }

    fn take_whole(
        &self,
        bytes: &[u8],
        transcript: &mut dyn Transcript,
    ) -> Result<(), PlanningFailed> {
        if let Ok(answer) = serde_json::from_slice::<Value>(bytes) {
            return transcript.whole(&answer);
        }
        // Some say nothing of what they send, or the wrong thing.
        let starts = |word: &str| bytes.trim_ascii_start().starts_with(word.as_bytes());
        if !["data:", "event:", ":"].into_iter().any(starts) {
            return Err(because(
                format!("{} answers with something that is not its wire format", self.host),
                "is planner.url the address of the API?",
            ));
        }
        let (mut events, mut complete) = (Events::default(), Vec::new());
        events.push(bytes, &mut complete);
        events.finish(&mut complete);
        for data in complete {
            if transcript.event(&data)? == Flow::Ended {
                break;
            }
        }
        Ok(())
    }
}

fn kind(answer: &ureq::http::Response<ureq::Body>) -> Kind {
    let named = answer.headers().get("content-type").and_then(|it| it.to_str().ok());
    if named.is_some_and(|it| it.starts_with("text/event-stream")) {
        Kind::Stream
    } else {
        Kind::Whole
    }
}

/// Where an address leads.
struct Place {
    host: String,
    secure: bool,
    loopback: bool,
}

impl Place {
    fn of(address: &str) -> Result<Self, PlanningFailed> {
        // The address is not repeated: there may be a password in it.
        let wrong = |why: &str| because(format!("planner.url {why}"), "https://HOST/PATH");
        let uri: Uri = address.parse().map_err(|_| wrong("is no address"))?;
        let authority = uri.authority().ok_or_else(|| wrong("has no host"))?;
        if authority.as_str().contains('@') {
            return Err(wrong(
                "has a name or a password in it, and a key is taken from the environment only",
            ));
        }
        let secure = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(wrong("begins neither with https:// nor with http://")),
        };
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        let loopback = host.eq_ignore_ascii_case("localhost")
            || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        Ok(Place { host, secure, loopback })
    }

    /// Nobody on the way can read what is sent.
    fn is_private(&self) -> bool {
        self.secure || self.loopback
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test is the server that is asked")]
mod tests {
    use std::io::Write as _;
    use std::net::TcpListener;
    use std::time::Instant;

    use exacta::tasks::Stopper;

    use super::*;

    /// Understands nothing.
    struct Deaf;

    impl Transcript for Deaf {
        fn event(&mut self, _data: &str) -> Result<Flow, PlanningFailed> {
            Ok(Flow::More)
        }

        fn whole(&mut self, _answer: &Value) -> Result<(), PlanningFailed> {
            Ok(())
        }

        fn length(&self) -> usize {
            0
        }
    }

    /// One that says nothing, and one that falls silent.
    #[test]
    fn nobody_waits_for_a_call_that_was_ended() {
        let head = "HTTP/1.1 200 x\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        for said in ["", head] {
            let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
            let address = format!("http://{}", listener.local_addr().expect("an address"));
            let server = std::thread::spawn(move || {
                let (mut stream, _) = listener.accept().expect("a call");
                stream.write_all(said.as_bytes()).expect("it listens");
                // Until the other side is gone.
                stream.read_to_end(&mut Vec::new())
            });
            let (stopper, begun) = (Stopper::default(), Instant::now());
            let (limit, ends) = (Duration::from_secs(60), begun + Duration::from_secs(60));
            let asking = Asking { ends, limit, stopper: &stopper, told: &|_| {} };
            let endpoint = made(&address, None).expect("an endpoint");
            let ask = || match endpoint.post(&Value::Null, &asking)? {
                Answered::Well(body, kind) => endpoint.listen(body, kind, &asking, &mut Deaf),
                Answered::Badly { .. } => Ok(()),
            };
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    std::thread::sleep(Duration::from_millis(200));
                    stopper.stop("anna");
                });
                let _broken_off = asking.unless_stopped(|| endpoint.end(), ask);
            });
            server.join().expect("no panic").expect("it is dropped");
            assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
            assert!(endpoint.post(&Value::Null, &asking).is_err());
        }
    }

    fn made(address: &str, key: Option<&str>) -> Result<Endpoint, PlanningFailed> {
        let key = Key { variable: "K".to_owned(), value: key.map(str::to_owned) };
        Endpoint::new(address.to_owned(), &key)
    }

    #[test]
    fn a_key_never_goes_over_a_wire_in_the_clear() {
        for address in [
            "https://api.example/v1",
            "http://127.0.0.1:1/v1",
            "http://127.8.8.8",
            "http://[::1]:80/v1",
            "http://localhost:11434/v1",
        ] {
            assert!(made(address, Some("k")).is_ok(), "{address}");
        }
        for address in [
            "http://api.example/v1",
            "http://10.0.0.1",
            "http://localhost.evil.example",
            "http://127.0.0.1.evil.example",
            "http://[::2]",
        ] {
            let problem = made(address, Some("k")).err().expect("refused");
            assert!(problem.message.contains("in the clear"), "{problem}");
            assert!(made(address, None).is_ok(), "{address}");
        }
        for address in ["ftp://x", "x", "", "https://", "https://me:secret@x.example/v1"] {
            let problem = made(address, None).err().expect("refused");
            assert!(!problem.message.contains("secret"), "{problem}");
        }
    }
}
