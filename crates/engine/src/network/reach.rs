//! What a program may reach, and what it is told when it may not.

use std::net::IpAddr;

use exacta_policy::rules::grant::Grant;
use exacta_policy::rules::host::Host;

use super::address;
use super::record::Fate;

/// Hosts that a program and all that it starts may reach.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reach(pub Vec<Grant>);

/// What a program asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    pub host: Host,
    pub port: u16,
    /// The method and the path, where they can be seen.
    pub request: Option<(String, String)>,
}

/// A yes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// An address of a private network will do.
    private: bool,
}

/// A no: what, why and what to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Of HTTP.
    pub status: u16,
    /// Of SOCKS5.
    pub code: u8,
    pub fate: Fate,
    pub hint: String,
}

impl Reach {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// May this program have this?
    pub fn decide(&self, wanted: &Wanted) -> Result<Terms, Refusal> {
        let Wanted { host, port, request } = wanted;
        let covers = |grant: &&Grant| match request {
            Some((method, path)) => grant.covers_request(host, *port, method, path),
            None => grant.covers(host, *port),
        };
        let covering: Vec<&Grant> = self.0.iter().filter(covers).collect();
        if covering.is_empty() {
            return Err(self.refusal(wanted));
        }
        Ok(Terms { private: covering.iter().any(|grant| grant.private) })
    }

    fn refusal(&self, wanted: &Wanted) -> Refusal {
        let named = self.0.iter().any(|grant| grant.names(&wanted.host, wanted.port));
        let reason = match (&wanted.request, &wanted.host) {
            (Some((method, _)), _) if named => {
                format!("no rule grants {method} requests for this path of it")
            }
            (None, _) if named => "only plain requests to it are granted".to_owned(),
            (_, Host::Address(_)) => {
                "it is an address, and no rule grants it as one; names are looked up outside".into()
            }
            _ => "no rule grants it to this command".into(),
        };
        Refusal::denied(reason, self.shown())
    }

    /// What is granted, for whoever was refused something else.
    fn shown(&self) -> String {
        const MOST: usize = 8;
        let shown: Vec<String> = self.0.iter().take(MOST).map(ToString::to_string).collect();
        let more = if self.0.len() > MOST { ", …" } else { "" };
        let granted = shown.join(", ");
        format!(
            "granted are: {granted}{more}; the operator can add a host to `hosts` of the rule that allows the command"
        )
    }
}

impl Terms {
    /// May a connection be made to this address?
    pub fn admit(self, address: IpAddr) -> Result<(), Refusal> {
        let Some(kind) = address::kind(address) else { return Ok(()) };
        if self.private && kind == address::Kind::Private {
            return Ok(());
        }
        let reason = format!("it leads to {address}, a {}", kind.name());
        let hint = if kind == address::Kind::Private {
            "the operator can grant it with `private = true` in the rule"
        } else {
            "such an address cannot be granted"
        };
        Err(Refusal::denied(reason, hint.into()))
    }
}

impl Refusal {
    pub fn denied(reason: String, hint: String) -> Self {
        Refusal { status: 403, code: 2, fate: Fate::Refused(reason), hint }
    }

    /// Allowed, but nobody was there.
    pub fn failed(status: u16, code: u8, reason: String) -> Self {
        let hint = "the host is granted; try again later, or check its name".into();
        Refusal { status, code, fate: Fate::Failed(reason), hint }
    }

    /// For people.
    pub fn text(&self, what: &str) -> String {
        let reason = self.fate.reason().unwrap_or_default();
        format!("exacta: no connection to {what}: {reason}\nhint: {}\n", self.hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reach(written: &[&str], private: bool) -> Reach {
        let read = |written: &&str| Grant { private, ..Grant::read(written).expect(written) };
        Reach(written.iter().map(read).collect())
    }

    fn wanted(host: &str, port: u16, request: Option<(&str, &str)>) -> Wanted {
        let request = request.map(|(method, path)| (method.into(), path.into()));
        Wanted { host: Host::read(host.as_bytes()).expect(host), port, request }
    }

    #[test]
    fn a_refusal_says_what_why_and_what_next() {
        let reach = reach(&["a.example", "GET http://b.example/pub/"], false);
        let cases = [
            (wanted("evil.example", 443, None), "no rule grants it to this command"),
            (wanted("a.example", 22, None), "no rule grants it to this command"),
            (
                wanted("93.184.216.34", 443, None),
                "it is an address, and no rule grants it as one; names are looked up outside",
            ),
            (wanted("b.example", 80, None), "only plain requests to it are granted"),
            (
                wanted("b.example", 80, Some(("PUT", "/pub/x"))),
                "no rule grants PUT requests for this path of it",
            ),
            (
                wanted("b.example", 80, Some(("GET", "/x"))),
                "no rule grants GET requests for this path of it",
            ),
        ];
        for (wanted, reason) in cases {
            let refusal = reach.decide(&wanted).expect_err(reason);
            assert_eq!(refusal.fate, Fate::Refused(reason.into()), "{wanted:?}");
            let text = refusal.text("x");
            assert!(
                text.contains(reason)
                    && text.contains(
                        "granted are: a.example, GET http://b.example/pub/; the operator"
                    ),
                "{text}"
            );
        }
        assert!(reach.decide(&wanted("b.example", 80, Some(("GET", "/pub/x")))).is_ok());
        assert!(reach.decide(&wanted("a.example", 80, Some(("PUT", "/")))).is_ok());
    }

    #[test]
    fn what_a_private_grant_opens_and_what_it_does_not() {
        let open = reach(&["a.example"], true).decide(&wanted("a.example", 443, None));
        let closed = reach(&["a.example"], false).decide(&wanted("a.example", 443, None));
        for (address, with, without) in [
            ("93.184.216.34", true, true),
            ("10.1.2.3", true, false),
            ("fd12::1", true, false),
            ("127.0.0.1", false, false),
            ("169.254.169.254", false, false),
            ("fd00:ec2::254", false, false),
            ("::ffff:10.1.2.3", false, false),
            ("0.0.0.0", false, false),
        ] {
            let address: IpAddr = address.parse().expect(address);
            assert_eq!(open.clone().expect("granted").admit(address).is_ok(), with, "{address}");
            assert_eq!(
                closed.clone().expect("granted").admit(address).is_ok(),
                without,
                "{address}"
            );
        }
    }
}
