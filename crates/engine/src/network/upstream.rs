//! Another proxy that the operator's own machine goes through: then names are looked up there, and only the checks of
//! names are ours.

use super::key::base64;

/// Which connections go through which proxy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Upstreams {
    secure: Option<Upstream>,
    plain: Option<Upstream>,
    /// Names that are reached directly, and all beneath them. Lowercase, without a dot at the beginning.
    direct: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Upstream {
    Proxy {
        host: String,
        port: u16,
        /// As they stand after `Basic`.
        credentials: Option<String>,
    },
    /// One that cannot be used, and why. Nothing goes around it.
    Unusable(&'static str),
}

impl Upstreams {
    /// From the operator's variables.
    pub fn read<'a>(variable: impl Fn(&str) -> Option<&'a str>) -> Self {
        let either = |lower: &str, upper: &str| {
            let found = variable(lower).or_else(|| variable(upper));
            found.or_else(|| variable("all_proxy")).or_else(|| variable("ALL_PROXY"))
        };
        let read = |text: Option<&str>| text.filter(|text| !text.is_empty()).map(Upstream::read);
        let direct = variable("no_proxy").or_else(|| variable("NO_PROXY")).unwrap_or_default();
        let names = direct.split([',', ' ']).map(|name| name.trim().trim_start_matches("*."));
        let names = names.map(|name| name.trim_start_matches('.').to_ascii_lowercase());
        Upstreams {
            secure: read(either("https_proxy", "HTTPS_PROXY")),
            plain: read(either("http_proxy", "HTTP_PROXY")),
            direct: names.filter(|name| !name.is_empty()).collect(),
        }
    }

    /// For a connection to this name; `plain`: a request that can be read.
    pub fn of(&self, host: &str, plain: bool) -> Option<&Upstream> {
        let beneath = |above: &str| {
            host.strip_suffix(above).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        if self.direct.iter().any(|name| name == "*" || beneath(name)) {
            return None;
        }
        if plain { self.plain.as_ref() } else { self.secure.as_ref() }
    }
}

impl Upstream {
    fn read(text: &str) -> Self {
        let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
        if !scheme.eq_ignore_ascii_case("http") {
            return Upstream::Unusable("the operator's own proxy is not of the kind http://");
        }
        let rest = rest.split(['/', '?', '#']).next().unwrap_or(rest);
        let (credentials, authority) =
            rest.rsplit_once('@').map_or((None, rest), |(before, after)| (Some(before), after));
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (host, port.parse().ok()),
            _ => (authority, Some(80)),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let (Some(port), false) = (port, host.is_empty()) else {
            return Upstream::Unusable("the address of the operator's own proxy cannot be read");
        };
        let credentials = credentials.map(|text| base64(&decoded(text)));
        Upstream::Proxy { host: host.to_owned(), port, credentials }
    }
}

/// `%40` is `@`.
fn decoded(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let byte = digits.and_then(|two| u8::from_str_radix(two, 16).ok());
        match (first, byte) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &'static str)]) -> Upstreams {
        let find = |name: &str| variables.iter().find(|(known, _)| *known == name);
        Upstreams::read(|name| find(name).map(|(_, value)| *value))
    }

    #[test]
    fn which_proxy_leads_where() {
        let all = read(&[
            ("HTTPS_PROXY", "http://us%40er:p:w@proxy.corp.example:3128/"),
            ("http_proxy", "10.0.0.1:8080"),
            ("NO_PROXY", "localhost, .direct.example,*.other.example"),
        ]);
        let secure = Upstream::Proxy {
            host: "proxy.corp.example".into(),
            port: 3128,
            credentials: Some(base64(b"us@er:p:w")),
        };
        assert_eq!(all.of("a.example", false), Some(&secure));
        let plain = Upstream::Proxy { host: "10.0.0.1".into(), port: 8080, credentials: None };
        assert_eq!(all.of("a.example", true), Some(&plain));
        for host in ["direct.example", "x.direct.example", "x.other.example"] {
            assert_eq!(all.of(host, false), None, "{host}");
        }
        assert!(all.of("indirect.example", false).is_some());
        assert_eq!(read(&[]).of("a.example", false), None);
        let star = read(&[("ALL_PROXY", "http://p.example"), ("NO_PROXY", "*")]);
        assert_eq!(star.of("a.example", true), None);
    }

    #[test]
    fn a_proxy_that_cannot_be_used_is_not_gone_around() {
        for value in
            ["socks5://p.example:1080", "https://p.example", "http://:80", "http://p.example:x"]
        {
            let found = read(&[("HTTPS_PROXY", value)]);
            assert!(matches!(found.of("a.example", false), Some(Upstream::Unusable(_))), "{value}");
        }
    }
}
