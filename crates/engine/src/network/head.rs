//! The head of a request to the proxy, read strictly: whatever two readers could understand in two ways is refused.

use exacta_policy::rules::host::Host;

/// Longer heads are refused.
pub const LONGEST: usize = 32 << 10;
/// … and so are heads with more lines.
const MOST_HEADERS: usize = 128;
const LONGEST_METHOD: usize = 16;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    pub method: String,
    /// As it was sent: visible ASCII.
    pub target: String,
    version: Version,
    headers: Vec<Header>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    Http10,
    Http11,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Header {
    /// Lowercase.
    name: String,
    /// Without blanks around it.
    value: Vec<u8>,
}

/// What is wrong with it, as it fits after "the request is refused: ".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed {
    pub status: u16,
    pub problem: &'static str,
}

/// A request in plain text, for exactly one machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plain {
    pub host: Host,
    pub port: u16,
    /// With what follows a `?`.
    pub path: String,
    /// Of what follows the head.
    pub length: u64,
}

/// Where the head ends, with the empty line; `None`: not yet.
pub fn end(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4)
}

impl Head {
    /// From all bytes up to and with the empty line.
    pub fn read(bytes: &[u8]) -> Result<Head, Malformed> {
        let text = bytes.strip_suffix(b"\r\n\r\n").ok_or(bad("no empty line at its end"))?;
        if bytes.iter().any(|byte| is_control(*byte)) {
            return Err(bad("control characters"));
        }
        let mut lines = split_lines(text)?.into_iter();
        let first = lines.next().ok_or(bad("no first line"))?;
        let (method, target, version) = read_first(first)?;
        let headers = lines.map(read_header).collect::<Result<Vec<_>, _>>()?;
        if headers.len() > MOST_HEADERS {
            return Err(Malformed { status: 431, problem: "too many header lines" });
        }
        Ok(Head { method, target, version, headers })
    }

    fn all(&self, name: &'static str) -> impl Iterator<Item = &[u8]> {
        let named = self.headers.iter().filter(move |header| header.name == name);
        named.map(|header| header.value.as_slice())
    }

    /// The only value of a header that may not be there twice.
    fn single(&self, name: &'static str) -> Result<Option<&[u8]>, Malformed> {
        let mut all = self.all(name);
        let first = all.next();
        if all.next().is_some() {
            return Err(bad("a header that may be there only once is there twice"));
        }
        Ok(first)
    }

    /// What the client shows to be let through: `Basic …`, without the first word.
    pub fn key(&self) -> Result<Option<&[u8]>, Malformed> {
        let Some(value) = self.single("proxy-authorization")? else { return Ok(None) };
        let (scheme, rest) = value.split_at_checked(6).unwrap_or((value, &[]));
        Ok(scheme.eq_ignore_ascii_case(b"basic ").then_some(rest.trim_ascii()))
    }

    /// For `CONNECT`: the machine and the port.
    pub fn tunnel(&self) -> Result<(Host, u16), Malformed> {
        let (host, port) = read_authority(self.target.as_bytes())?;
        let port = port.ok_or(bad("`CONNECT` needs a port"))?;
        if let Some(named) = self.single("host")?
            && read_authority(named)? != (host.clone(), Some(port))
            && read_authority(named)? != (host.clone(), None)
        {
            return Err(bad("the Host header names another machine"));
        }
        let body = self.all("transfer-encoding").chain(self.all("content-length"));
        if body.into_iter().any(|value| value != b"0") {
            return Err(bad("`CONNECT` has no body"));
        }
        Ok((host, port))
    }

    /// For all other methods: what is asked for, of whom.
    pub fn plain(&self) -> Result<Plain, Malformed> {
        let (scheme, rest) = self.target.split_once("://").ok_or(bad("no absolute address"))?;
        if !scheme.eq_ignore_ascii_case("http") {
            return Err(bad("only http:// can be asked for; all else goes through `CONNECT`"));
        }
        if matches!(self.method.as_str(), "CONNECT" | "TRACE") {
            return Err(bad("this method cannot be used here"));
        }
        let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        if path.contains('#') {
            return Err(bad("a fragment is not sent"));
        }
        let (host, port) = read_authority(authority.as_bytes())?;
        let port = port.unwrap_or(80);
        let named = self.single("host")?.map(read_authority).transpose()?;
        match named {
            Some((named, at)) if named != host || at.unwrap_or(80) != port => {
                return Err(bad("the Host header names another machine"));
            }
            None if self.version == Version::Http11 => return Err(bad("no Host header")),
            _ => {}
        }
        self.check_connection()?;
        let slash = if path.starts_with('/') { "" } else { "/" };
        Ok(Plain { host, port, path: format!("{slash}{path}"), length: self.length()? })
    }

    /// How long the body is: said once, in digits, and in no other way.
    fn length(&self) -> Result<u64, Malformed> {
        if self.all("transfer-encoding").next().is_some() {
            return Err(Malformed { status: 411, problem: "a body needs a Content-Length" });
        }
        let Some(value) = self.single("content-length")? else { return Ok(0) };
        let digits = (1..=18).contains(&value.len()) && value.iter().all(u8::is_ascii_digit);
        let text = std::str::from_utf8(value).ok().filter(|_| digits);
        text.and_then(|text| text.parse().ok()).ok_or(bad("the Content-Length is no number"))
    }

    /// Nothing but what is taken out anyway may be declared to be for this connection only: `Connection: Host` would
    /// take away what was checked.
    fn check_connection(&self) -> Result<(), Malformed> {
        const KNOWN: [&str; 6] =
            ["close", "keep-alive", "te", "upgrade", "http2-settings", "proxy-connection"];
        for value in self.all("connection").chain(self.all("proxy-connection")) {
            let mut words = value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
            let known =
                |word: &[u8]| KNOWN.iter().any(|it| it.as_bytes().eq_ignore_ascii_case(word));
            if !words.all(|word| word.is_empty() || known(word)) {
                return Err(bad("the Connection header names other headers"));
            }
        }
        Ok(())
    }

    /// The request as it is passed on: to the machine itself, or to another proxy by its whole address. Everything that
    /// says how long it is and for whom is written anew.
    pub fn forwarded(&self, plain: &Plain, through: Option<&Through<'_>>) -> Vec<u8> {
        const DROPPED: [&str; 12] = [
            "host",
            "content-length",
            "connection",
            "proxy-connection",
            "keep-alive",
            "proxy-authorization",
            "proxy-authenticate",
            "te",
            "trailer",
            "upgrade",
            "http2-settings",
            "transfer-encoding",
        ];
        let authority = authority(&plain.host, plain.port);
        let whole = through.map(|_| format!("http://{authority}")).unwrap_or_default();
        let version = match self.version {
            Version::Http10 => "HTTP/1.0",
            Version::Http11 => "HTTP/1.1",
        };
        let mut text = format!("{} {whole}{} {version}\r\n", self.method, plain.path);
        text += &format!("Host: {authority}\r\nConnection: close\r\n");
        if plain.length > 0 || self.all("content-length").next().is_some() {
            text += &format!("Content-Length: {}\r\n", plain.length);
        }
        if let Some(credentials) = through.and_then(|through| through.credentials) {
            text += &format!("Proxy-Authorization: Basic {credentials}\r\n");
        }
        let mut bytes = text.into_bytes();
        for header in self.headers.iter().filter(|it| !DROPPED.contains(&it.name.as_str())) {
            bytes.extend([header.name.as_bytes(), b": ", &header.value, b"\r\n"].concat());
        }
        bytes.extend(b"\r\n");
        bytes
    }
}

/// Another proxy that the request goes to.
#[derive(Debug, Clone, Copy)]
pub struct Through<'a> {
    /// As they stand after `Basic`.
    pub credentials: Option<&'a str>,
}

/// The machine, and the port if it is not that of plain requests.
pub fn authority(host: &Host, port: u16) -> String {
    if port == 80 { host.to_string() } else { format!("{host}:{port}") }
}

const fn bad(problem: &'static str) -> Malformed {
    Malformed { status: 400, problem }
}

fn is_control(byte: u8) -> bool {
    byte.is_ascii_control() && !matches!(byte, b'\r' | b'\n' | b'\t')
}

/// Lines end with both characters, and neither stands anywhere else.
fn split_lines(text: &[u8]) -> Result<Vec<&[u8]>, Malformed> {
    let mut lines = Vec::new();
    for line in text.split(|byte| *byte == b'\n') {
        lines.push(line);
    }
    let last = lines.len().saturating_sub(1);
    let mut whole = Vec::new();
    for (number, line) in lines.into_iter().enumerate() {
        let line = if number == last { Some(line) } else { line.strip_suffix(b"\r") };
        whole
            .push(line.filter(|line| !line.contains(&b'\r')).ok_or(bad("a line without its end"))?);
    }
    Ok(whole)
}

fn read_first(line: &[u8]) -> Result<(String, String, Version), Malformed> {
    let text = std::str::from_utf8(line).ok().filter(|text| text.is_ascii());
    let text = text.ok_or(bad("letters that are not ASCII in the first line"))?;
    let words: Vec<&str> = text.split(' ').collect();
    let [method, target, version] = words.as_slice() else {
        return Err(bad("the first line has not three words"));
    };
    let plain = |byte: u8| byte.is_ascii_uppercase();
    if method.is_empty() || method.len() > LONGEST_METHOD || !method.bytes().all(plain) {
        return Err(bad("this is no method"));
    }
    let visible = |byte: u8| byte.is_ascii_graphic() && byte != b'\\';
    if target.is_empty() || !target.bytes().all(visible) {
        return Err(bad("this is no address"));
    }
    let version = match *version {
        "HTTP/1.1" => Version::Http11,
        "HTTP/1.0" => Version::Http10,
        _ => return Err(Malformed { status: 505, problem: "only HTTP/1.1 and HTTP/1.0" }),
    };
    Ok(((*method).to_owned(), (*target).to_owned(), version))
}

fn read_header(line: &[u8]) -> Result<Header, Malformed> {
    let colon = line.iter().position(|byte| *byte == b':').ok_or(bad("a header without `:`"))?;
    let (name, rest) = line.split_at_checked(colon).unwrap_or((line, &[]));
    let token = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    if name.is_empty() || !name.iter().all(token) {
        return Err(bad("a header name that is none"));
    }
    let value = rest.strip_prefix(b":").unwrap_or(rest).trim_ascii();
    let name = String::from_utf8_lossy(name).to_ascii_lowercase();
    Ok(Header { name, value: value.to_owned() })
}

fn read_authority(text: &[u8]) -> Result<(Host, Option<u16>), Malformed> {
    if text.contains(&b'@') {
        return Err(bad("a name before `@` is not sent to a machine"));
    }
    Host::read_with_port(text).map_err(|_| bad("this is no name of a machine"))
}

#[cfg(test)]
mod tests;
