//! Names of machines: which one an address leads to, and whether that is this one.

use bstr::{BStr, ByteSlice};

/// The host in `https://user@host:1/x`, `user@host:path`, `host:port`.
pub(crate) fn host_of(target: &BStr) -> &BStr {
    let rest = target.split_once_str("://").map_or(target.as_bytes(), |(_, rest)| rest);
    let authority = rest.split(|byte| matches!(byte, b'/' | b'?' | b'#')).next().unwrap_or(rest);
    let host = authority.rsplit_once_str("@").map_or(authority, |(_, host)| host);
    if let Some(rest) = host.strip_prefix(b"[") {
        return rest.split_once_str("]").map_or(rest, |(host, _)| host).as_bstr();
    }
    host.split_once_str(":").map_or(host, |(host, _)| host).as_bstr()
}

pub(crate) fn is_loopback(host: &BStr) -> bool {
    host == "localhost"
        || host == "::1"
        || host.ends_with(b".localhost")
        || is_loopback_number(host)
}

/// An address of this machine, written so that no reader of addresses takes it for another one's: `http:x://localhost`
/// and `http://x\@localhost` lead to `x` in a browser's eyes.
pub(crate) fn is_plain_loopback(address: &BStr) -> bool {
    let plain = |byte: &u8| byte.is_ascii_graphic() && !matches!(byte, b'\\' | b'@');
    ["http://", "https://", "ws://"].iter().any(|scheme| address.starts_with(scheme.as_bytes()))
        && address.iter().all(plain)
        && is_loopback(host_of(address))
}

/// `127.x.y.z`, nothing else that begins so.
fn is_loopback_number(host: &BStr) -> bool {
    let parts: Vec<&[u8]> = host.split_str(".").collect();
    let number = |part: &&[u8]| {
        (1..=3).contains(&part.len())
            && part.iter().all(u8::is_ascii_digit)
            && part.to_str().ok().and_then(|part| part.parse::<u16>().ok()).is_some_and(|n| n < 256)
    };
    parts.len() == 4 && parts.first() == Some(&b"127".as_slice()) && parts.iter().all(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_addresses_are_surely_this_machine() {
        for address in ["http://localhost:3000/x", "https://127.0.0.1", "http://[::1]:80/"] {
            assert!(is_plain_loopback(address.into()), "{address}");
        }
        for address in [
            "http://localhost.example/",
            "http://localhost@x.example/",
            "http://x.example\\@localhost/",
            "http:x.example://localhost/",
            "http://127.0.0.1.example",
            "localhost",
            "http://x.example/\t://localhost",
        ] {
            assert!(!is_plain_loopback(address.into()), "{address}");
        }
    }
}
