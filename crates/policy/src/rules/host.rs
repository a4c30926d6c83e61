//! One way to read the name of a machine: whoever decides about names, and whoever connects, must mean the same.
//!
//! Used by the build script as well, hence without anything of the crate.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A machine, in the one form in which it is compared.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Host {
    /// Lowercase, without a dot at its end.
    Name(String),
    Address(IpAddr),
}

/// The longest name that the domain name system knows.
const LONGEST_NAME: usize = 253;
const LONGEST_LABEL: usize = 63;

impl Host {
    /// From a name, `192.0.2.1` or `[2001:db8::1]`. What one reader takes for a name and another for an address
    /// (`127.1`, `0x7f.1`, `2130706433`, `010.0.0.1`) is neither.
    pub fn read(text: &[u8]) -> Result<Host, String> {
        let text = std::str::from_utf8(text).ok().filter(|text| text.is_ascii());
        let text = text.ok_or("a name is written in ASCII: `xn--…` for other letters")?;
        if let Some(rest) = text.strip_prefix('[') {
            let inner = rest.strip_suffix(']').ok_or("`[` without `]`")?;
            let address: Ipv6Addr = inner.parse().map_err(|_| "this is no IPv6 address")?;
            return Ok(Host::Address(IpAddr::V6(address)));
        }
        let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        let last = name.rsplit('.').next().unwrap_or_default();
        if is_number(last) {
            // As strict as it gets: four decimal numbers without leading zeros, and no dot behind them.
            let address: Result<Ipv4Addr, _> = text.parse();
            let message = "an address is written as four decimal numbers";
            return address.map(|it| Host::Address(IpAddr::V4(it))).map_err(|_| message.into());
        }
        check_name(&name)?;
        Ok(Host::Name(name))
    }

    /// The same, followed by `:` and a port.
    pub fn read_with_port(text: &[u8]) -> Result<(Host, Option<u16>), String> {
        let end = match text.iter().rposition(|byte| *byte == b']') {
            Some(bracket) => bracket + 1,
            None => text.iter().position(|byte| *byte == b':').unwrap_or(text.len()),
        };
        let (host, rest) = text.split_at_checked(end).unwrap_or((text, &[]));
        let port = match rest.split_first() {
            None => None,
            Some((b':', digits)) => Some(read_port(digits)?),
            Some(_) => return Err("only `:` and a port can follow a name".into()),
        };
        Ok((Host::read(host)?, port))
    }

    /// This machine itself, by its name.
    pub fn is_this_machine(&self) -> bool {
        match self {
            Host::Name(name) => name == "localhost" || name.ends_with(".localhost"),
            Host::Address(address) => address.is_loopback() || address.is_unspecified(),
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Host::Name(name) => out.write_str(name),
            Host::Address(IpAddr::V4(address)) => address.fmt(out),
            Host::Address(IpAddr::V6(address)) => write!(out, "[{address}]"),
        }
    }
}

/// Decimal, from 1 to 65535, without anything around it.
pub fn read_port(digits: &[u8]) -> Result<u16, String> {
    let plain = (1..=5).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
    let number = std::str::from_utf8(digits).ok().filter(|_| plain).and_then(|it| it.parse().ok());
    number.filter(|port| *port != 0).ok_or_else(|| "a port is a number from 1 to 65535".into())
}

/// Some readers take a name for an address when its last part looks like this.
fn is_number(last: &str) -> bool {
    let hexadecimal = last.strip_prefix("0x");
    let is_hexadecimal =
        hexadecimal.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    is_hexadecimal || (!last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit()))
}

fn check_name(name: &str) -> Result<(), String> {
    if name.is_empty() || name.len() > LONGEST_NAME {
        return Err("a name has 1 to 253 letters".into());
    }
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    for label in name.split('.') {
        if label.is_empty() || label.len() > LONGEST_LABEL {
            return Err("each part of a name has 1 to 63 letters".into());
        }
        if !label.bytes().all(letter) || label.starts_with('-') || label.ends_with('-') {
            return Err("a name has letters, digits and `-` only".into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_machine_has_one_form() {
        for (text, expected) in [
            ("example.com", "example.com"),
            ("EXAMPLE.Com.", "example.com"),
            ("a_b.example", "a_b.example"),
            ("xn--bcher-kva.example", "xn--bcher-kva.example"),
            ("1e100.net", "1e100.net"),
            ("192.0.2.1", "192.0.2.1"),
            ("[2001:DB8:0::1]", "[2001:db8::1]"),
            ("[::ffff:127.0.0.1]", "[::ffff:127.0.0.1]"),
        ] {
            assert_eq!(Host::read(text.as_bytes()).map(|it| it.to_string()), Ok(expected.into()));
        }
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_not_read() {
        for text in [
            "",
            ".",
            "..",
            ".example.com",
            "example..com",
            "example.com..",
            "127.1",
            "2130706433",
            "0x7f000001",
            "0x7f.0.0.1",
            "0X7F.1",
            "0177.0.0.1",
            "010.0.0.1",
            "127.0.0.1.",
            "256.0.0.1",
            "1.2.3.4.5",
            "example.0x",
            "example.1",
            "bücher.example",
            "example。com",
            "ex ample.com",
            "example.com\0.evil",
            "example.com\r\nHost: x",
            "user@example.com",
            "example.com:80",
            "example.com/x",
            "example.com%2eevil",
            "-example.com",
            "example-.com",
            "[::1",
            "::1",
            "[fe80::1%eth0]",
            "[127.0.0.1]",
            "*.example.com",
        ] {
            assert!(Host::read(text.as_bytes()).is_err(), "{text:?}");
        }
        let long = format!("{}.example", "a".repeat(64));
        assert!(Host::read(long.as_bytes()).is_err());
        assert!(Host::read("a.".repeat(127).as_bytes()).is_ok());
        assert!(Host::read("a.".repeat(128).as_bytes()).is_err());
        assert!(Host::read(&[0xff, 0xfe]).is_err());
    }

    #[test]
    fn ports_are_plain_numbers() {
        for (text, port) in
            [("x.example:443", Some(443)), ("[::1]:1", Some(1)), ("x.example", None)]
        {
            assert_eq!(Host::read_with_port(text.as_bytes()).map(|(_, it)| it), Ok(port), "{text}");
        }
        for text in [
            "x.example:",
            "x.example:0",
            "x.example:65536",
            "x.example:+1",
            "x.example: 1",
            "x.example:1:2",
            "[::1]1",
            "[::1]:",
            "x.example:0x50",
            "x.example:443a",
            "::1:443",
        ] {
            assert!(Host::read_with_port(text.as_bytes()).is_err(), "{text}");
        }
    }
}
