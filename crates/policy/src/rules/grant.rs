//! Hosts that a rule grants: `hosts = ["registry.example", "*.cdn.example:8443", "GET,HEAD http://mirror.example/pub/"]`.
//!
//! | written | what may be reached |
//! |---|---|
//! | `example.com` | ports 443 and 80 |
//! | `example.com:8443`, `192.0.2.1:5000`, `[2001:db8::1]` | that port; an address only if it is named as one |
//! | `*.example.com` | every name beneath, not `example.com` itself |
//! | `https://example.com` | port 443 |
//! | `http://example.com/pub/` | plain requests on port 80 to paths that begin so |
//! | `GET,HEAD http://example.com/pub/` | … with these methods |
//!
//! Used by the build script as well, hence without anything of the crate.

use super::host::Host;

/// What may be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    pub host: Named,
    pub ports: Vec<u16>,
    /// Only plain requests like these. `None`: whatever the two say to each other.
    pub requests: Option<Requests>,
    /// The name may lead to an address of a private network.
    pub private: bool,
}

/// One machine, or all beneath a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Named {
    Host(Host),
    /// `example.com` for `*.example.com`.
    Beneath(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requests {
    /// Empty: all.
    pub methods: Vec<String>,
    /// Begins with `/`.
    pub path: String,
}

/// Of a name without a port.
const USUAL_PORTS: [u16; 2] = [443, 80];

impl Grant {
    /// As it is written in a rule.
    pub fn read(text: &str) -> Result<Grant, String> {
        let (methods, target) = match text.split_once(' ') {
            Some((methods, target)) => (read_methods(methods)?, target),
            None => (Vec::new(), text),
        };
        if let Some(rest) = target.strip_prefix("http://") {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let path = if path.is_empty() { "/" } else { path };
            check_path(path)?;
            let requests = Some(Requests { methods, path: path.to_owned() });
            return Ok(Grant { requests, ..Self::of(authority, &[80])? });
        }
        if !methods.is_empty() {
            return Err("methods can be seen only in plain requests: `GET http://…`".into());
        }
        if let Some(rest) = target.strip_prefix("https://") {
            let authority = rest.strip_suffix('/').unwrap_or(rest);
            if authority.contains('/') {
                return Err("nobody can see the path of an encrypted request; name the host".into());
            }
            return Self::of(authority, &[443]);
        }
        Self::of(target, &USUAL_PORTS)
    }

    /// Of what a command was asked to connect to: an address of the web, a name, a name and a port.
    pub fn of_target(target: &[u8]) -> Option<Grant> {
        let text = std::str::from_utf8(target).ok()?;
        let (scheme, rest) =
            text.split_once("://").map_or(("", text), |(scheme, rest)| (scheme, rest));
        let ports: &[u16] = match scheme.to_ascii_lowercase().as_str() {
            "" => &USUAL_PORTS,
            "http" | "ws" => &[80],
            "https" | "wss" => &[443],
            _ => return None,
        };
        let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
        Self::of(authority, ports).ok().filter(|grant| matches!(grant.host, Named::Host(_)))
    }

    fn of(authority: &str, usual: &[u16]) -> Result<Grant, String> {
        let beneath = authority.strip_prefix("*.");
        let (host, port) = Host::read_with_port(beneath.unwrap_or(authority).as_bytes())?;
        if host.is_this_machine() {
            return Err("this machine itself cannot be granted".into());
        }
        let host = match (host, beneath) {
            (Host::Name(name), Some(_)) if name.contains('.') => Named::Beneath(name),
            (_, Some(_)) => return Err("`*.` stands before a name with a dot in it".into()),
            (host, None) => Named::Host(host),
        };
        let ports = port.map_or_else(|| usual.to_vec(), |port| vec![port]);
        Ok(Grant { host, ports, requests: None, private: false })
    }

    /// May this be connected to, whatever is said then?
    pub fn covers(&self, host: &Host, port: u16) -> bool {
        self.requests.is_none() && self.names(host, port)
    }

    /// May this be asked for, in plain text? The path as it is sent, with what follows a `?`.
    pub fn covers_request(&self, host: &Host, port: u16, method: &str, path: &str) -> bool {
        let suits = |requests: &Requests| {
            let methods = &requests.methods;
            (methods.is_empty() || methods.iter().any(|it| it == method))
                && begins_with(path, &requests.path)
        };
        self.names(host, port) && self.requests.as_ref().is_none_or(suits)
    }

    /// Whether it is about this machine and port at all.
    pub fn names(&self, host: &Host, port: u16) -> bool {
        let named = match (&self.host, host) {
            (Named::Host(granted), host) => granted == host,
            (Named::Beneath(above), Host::Name(name)) => {
                name.strip_suffix(above.as_str()).is_some_and(|rest| rest.ends_with('.'))
            }
            (Named::Beneath(_), Host::Address(_)) => false,
        };
        named && self.ports.contains(&port)
    }

    /// Does it lead to everything that the other one leads to?
    pub fn includes(&self, other: &Grant) -> bool {
        let Named::Host(host) = &other.host else { return self.host == other.host };
        other.ports.iter().any(|port| self.names(host, *port))
    }
}

impl std::fmt::Display for Grant {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(requests) = &self.requests {
            let methods = requests.methods.join(",");
            write!(out, "{methods}{}http://", if methods.is_empty() { "" } else { " " })?;
        }
        match &self.host {
            Named::Host(host) => write!(out, "{host}")?,
            Named::Beneath(above) => write!(out, "*.{above}")?,
        }
        match (self.ports.as_slice(), &self.requests) {
            ([port], None) => write!(out, ":{port}")?,
            ([port], Some(_)) if *port != 80 => write!(out, ":{port}")?,
            _ => {}
        }
        out.write_str(self.requests.as_ref().map_or("", |requests| &requests.path))
    }
}

fn read_methods(text: &str) -> Result<Vec<String>, String> {
    let plain = |method: &str| {
        (1..=16).contains(&method.len()) && method.bytes().all(|byte| byte.is_ascii_uppercase())
    };
    text.split(',')
        .map(|method| plain(method).then(|| method.to_owned()))
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| "methods are written as `GET,HEAD`, and a blank before the address".into())
}

fn check_path(path: &str) -> Result<(), String> {
    let plain = path.bytes().all(|byte| byte.is_ascii_graphic() && !b"?#\\\"<>".contains(&byte));
    if plain && !is_indirect(path) {
        return Ok(());
    }
    Err("a path is written as it is sent, without `?`, `#`, `.` and `..`".into())
}

/// By whole parts of the path; what a server would resolve to something else does not begin with anything.
fn begins_with(path: &str, prefix: &str) -> bool {
    if prefix == "/" {
        return true;
    }
    let rest = path.strip_prefix(prefix);
    let whole =
        |rest: &str| prefix.ends_with('/') || rest.is_empty() || rest.starts_with(['/', '?']);
    rest.is_some_and(whole) && !is_indirect(path)
}

/// Has parts that lead elsewhere, plain or encoded, or encoded separators.
fn is_indirect(path: &str) -> bool {
    let path = path.split('?').next().unwrap_or(path).to_ascii_lowercase();
    let hidden = ["%2f", "%5c", "%00", "\\", "%25"].iter().any(|it| path.contains(it));
    let path = path.replace("%2e", ".");
    let dots = |part: &str| {
        // Some servers take what follows a `;` for a parameter of the part.
        matches!(part.split(';').next(), Some("." | ".."))
    };
    hidden || path.split('/').any(dots)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(text: &str) -> Host {
        Host::read(text.as_bytes()).expect("a host")
    }

    #[test]
    fn what_a_grant_covers() {
        for (written, machine, port, expected) in [
            ("example.com", "example.com", 443, true),
            ("example.com", "EXAMPLE.com.", 80, true),
            ("example.com", "example.com", 8443, false),
            ("example.com", "www.example.com", 443, false),
            ("example.com", "badexample.com", 443, false),
            ("example.com", "example.com.evil.example", 443, false),
            ("Example.COM:8443", "example.com", 8443, true),
            ("example.com:8443", "example.com", 443, false),
            ("*.example.com", "www.example.com", 443, true),
            ("*.example.com", "a.b.example.com", 443, true),
            ("*.example.com", "example.com", 443, false),
            ("*.example.com", "badexample.com", 443, false),
            ("https://example.com", "example.com", 443, true),
            ("https://example.com/", "example.com", 80, false),
            ("http://example.com/pub/", "example.com", 80, false),
            ("192.0.2.1:5000", "192.0.2.1", 5000, true),
            ("[2001:db8::1]:5000", "[2001:db8:0:0::1]", 5000, true),
            ("*.2.example", "192.0.2.1", 443, false),
        ] {
            let grant = Grant::read(written).expect(written);
            assert_eq!(grant.covers(&host(machine), port), expected, "{written} {machine}:{port}");
        }
    }

    #[test]
    fn which_plain_requests_a_grant_covers() {
        for (written, method, path, expected) in [
            ("example.com", "POST", "/any?thing", true),
            ("http://example.com", "PUT", "/any", true),
            ("http://example.com/pub/", "GET", "/pub/x?y=../z", true),
            ("http://example.com/pub/", "GET", "/pub", false),
            ("http://example.com/pub", "GET", "/pub", true),
            ("http://example.com/pub", "GET", "/pub?x", true),
            ("http://example.com/pub", "GET", "/public", false),
            ("http://example.com/pub/", "GET", "/pub/../secret", false),
            ("http://example.com/pub/", "GET", "/pub/%2e%2E/secret", false),
            ("http://example.com/pub/", "GET", "/pub/..%2fsecret", false),
            ("http://example.com/pub/", "GET", "/pub/..;x/secret", false),
            ("http://example.com/pub/", "GET", "/pub/%252e%252e/secret", false),
            ("http://example.com/pub/", "GET", "/pub/..\\secret", false),
            ("GET,HEAD http://example.com/pub/", "HEAD", "/pub/x", true),
            ("GET,HEAD http://example.com/pub/", "POST", "/pub/x", false),
            ("GET,HEAD http://example.com/pub/", "get", "/pub/x", false),
            ("GET http://example.com:8080/", "GET", "/", false),
        ] {
            let grant = Grant::read(written).expect(written);
            let found = grant.covers_request(&host("example.com"), 80, method, path);
            assert_eq!(found, expected, "{written} {method} {path}");
        }
    }

    #[test]
    fn what_cannot_be_granted() {
        for written in [
            "",
            "*",
            "*.com",
            "*.",
            "a.*.com",
            "*.192.0.2.1",
            "localhost",
            "x.localhost:80",
            "127.0.0.1",
            "[::1]",
            "0.0.0.0",
            "127.1",
            "user@example.com",
            "example.com/path",
            "https://example.com/path",
            "ftp://example.com",
            "HTTP://example.com",
            "GET example.com",
            "get http://example.com/",
            "GET, HEAD http://example.com/",
            "http://example.com/a/../b",
            "http://example.com/a?b",
            "bücher.example",
            "example.com:0",
            "example.com ",
        ] {
            assert!(Grant::read(written).is_err(), "{written:?}");
        }
    }

    #[test]
    fn what_a_command_names_can_be_granted() {
        for (target, expected) in [
            ("https://example.com/x.git", Some("example.com:443")),
            ("HTTP://Example.com:8080/", Some("example.com:8080")),
            ("example.com", Some("example.com")),
            ("example.com:9", Some("example.com:9")),
            ("git@example.com:x/y.git", None),
            ("ssh://example.com/x", None),
            ("https://granted.example@evil.example/", None),
            ("https://*.example.com/", None),
            ("http://localhost/", None),
        ] {
            let found = Grant::of_target(target.as_bytes()).map(|it| it.to_string());
            assert_eq!(found.as_deref(), expected, "{target}");
        }
    }
}
