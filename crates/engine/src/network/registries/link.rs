//! The address of a registry, as tools are told it.

use exacta_policy::rules::grant::Grant;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    pub grant: Grant,
    /// Without credentials.
    pub text: String,
}

impl Link {
    /// `https://user:password@host/path`, with `sparse+` before it for some. `None`: it leads to no host.
    pub fn read(text: &str) -> Option<Link> {
        let text = text.trim();
        let plain = |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '\'' | '\\' | '<' | '>');
        if !text.chars().all(plain) {
            return None;
        }
        let (kind, address) = match text.split_once('+') {
            Some((kind @ ("sparse" | "registry"), address)) => (Some(kind), address),
            _ => (None, text),
        };
        let (scheme, rest) = address.split_once("://")?;
        let scheme = scheme.to_ascii_lowercase();
        if !matches!(scheme.as_str(), "http" | "https") {
            return None;
        }
        let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let address = format!("{scheme}://{authority}{path}");
        // The operator has named it, and may have it at home.
        let grant = Grant { private: true, ..Grant::of_target(address.as_bytes())? };
        let kind = kind.map(|kind| format!("{kind}+")).unwrap_or_default();
        Some(Link { grant, text: format!("{kind}{address}") })
    }
}
