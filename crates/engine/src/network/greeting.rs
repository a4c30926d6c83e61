//! The name that a client asks for when it begins to encrypt: one address serves many names, and only one was granted.
//!
//! What does not begin like TLS is not looked at.

use exacta_policy::rules::host::Host;

/// A client says no more than this before it is answered.
const LONGEST: usize = 32 << 10;
const HANDSHAKE: u8 = 22;
const CLIENT_HELLO: u8 = 1;
const SERVER_NAME: u16 = 0;

/// Tells a client that the name is not the one: `unrecognized_name`, fatal.
pub const ALERT: [u8; 7] = [21, 3, 3, 0, 2, 2, 112];

/// What the beginning of a connection says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Greeting {
    /// There is not enough of it.
    Incomplete,
    /// It names this machine, or none, or is no greeting.
    Fitting,
    /// It names another machine, or nobody can say which.
    Other,
}

/// Does it fit a connection to this machine?
pub fn look(bytes: &[u8], host: &Host) -> Greeting {
    let Host::Name(_) = host else { return Greeting::Fitting };
    match bytes.first() {
        None => return Greeting::Incomplete,
        Some(&HANDSHAKE) => {}
        Some(_) => return Greeting::Fitting,
    }
    let fits = |name: &&[u8]| Host::read(name).as_ref() == Ok(host);
    match message(bytes) {
        Err(Greeting::Incomplete) if bytes.len() >= LONGEST => Greeting::Other,
        Err(unread) => unread,
        Ok(message) => match names(&message) {
            Some(names) if names.len() <= 1 && names.iter().all(fits) => Greeting::Fitting,
            _ => Greeting::Other,
        },
    }
}

/// The first message of the handshake, whole, from as many records as it takes.
fn message(bytes: &[u8]) -> Result<Vec<u8>, Greeting> {
    let mut input = Input(bytes);
    let mut text = Vec::new();
    loop {
        if let Some([kind, a, b, c]) = text.first_chunk::<4>() {
            let length = u32::from_be_bytes([0, *a, *b, *c]) as usize;
            if *kind != CLIENT_HELLO {
                return Err(Greeting::Other);
            }
            if let Some(message) = text.get(4..4 + length) {
                return Ok(message.to_vec());
            }
        }
        let header = input.take(5).ok_or(Greeting::Incomplete)?;
        let [HANDSHAKE, 3, _, a, b] = header else { return Err(Greeting::Other) };
        let length = u16::from_be_bytes([*a, *b]);
        if length == 0 {
            return Err(Greeting::Other);
        }
        text.extend_from_slice(input.take(length.into()).ok_or(Greeting::Incomplete)?);
    }
}

/// The names in a greeting; `None`: it is none.
fn names(hello: &[u8]) -> Option<Vec<&[u8]>> {
    let mut input = Input(hello);
    input.take(2 + 32)?;
    input.short()?;
    input.long()?;
    input.short()?;
    let mut names = Vec::new();
    if input.0.is_empty() {
        return Some(names);
    }
    let mut extensions = Input(input.long()?);
    while !extensions.0.is_empty() {
        let kind = extensions.number()?;
        let content = extensions.long()?;
        if kind == SERVER_NAME {
            let mut list = Input(Input(content).long()?);
            while !list.0.is_empty() {
                list.take(1)?;
                names.push(list.long()?);
            }
        }
    }
    Some(names)
}

struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u16> {
        self.take(2)?.first_chunk().map(|bytes| u16::from_be_bytes(*bytes))
    }

    /// So many bytes as the byte before them says.
    fn short(&mut self) -> Option<&'a [u8]> {
        let length = *self.take(1)?.first()?;
        self.take(length.into())
    }

    /// So many bytes as the two bytes before them say.
    fn long(&mut self) -> Option<&'a [u8]> {
        let length = self.number()?;
        self.take(length.into())
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    fn long(bytes: &[u8]) -> Vec<u8> {
        [&(bytes.len() as u16).to_be_bytes()[..], bytes].concat()
    }

    /// A greeting with these names, in records of at most so many bytes.
    pub fn greeting(names: &[&[u8]], record: usize) -> Vec<u8> {
        let list: Vec<u8> =
            names.iter().flat_map(|name| [&[0][..], &long(name)].concat()).collect();
        let mut extensions = [&[0, 23][..], &long(&[])].concat();
        if !names.is_empty() {
            extensions.extend([&[0, 0][..], &long(&long(&list))].concat());
        }
        let mut hello = vec![3, 3];
        hello.extend([7; 32]);
        hello.extend([1, 9]);
        hello.extend(long(&[0x13, 0x01]));
        hello.extend([1, 0]);
        hello.extend(long(&extensions));
        let length = (hello.len() as u32).to_be_bytes();
        let message = [&[CLIENT_HELLO][..], &length[1..], &hello].concat();
        let records = message.chunks(record);
        records.flat_map(|chunk| [&[HANDSHAKE, 3, 1][..], &long(chunk)].concat()).collect()
    }

    fn host(name: &str) -> Host {
        Host::read(name.as_bytes()).expect(name)
    }

    #[test]
    fn the_name_must_be_the_one_that_was_granted() {
        let granted = host("a.example");
        for (names, expected) in [
            (&[b"a.example".as_slice()][..], Greeting::Fitting),
            (&[b"A.Example"], Greeting::Fitting),
            (&[], Greeting::Fitting),
            (&[b"evil.example"], Greeting::Other),
            (&[b"a.example.evil.example"], Greeting::Other),
            (&[b"a.example\0"], Greeting::Other),
            (&[b""], Greeting::Other),
            (&[b"a.example", b"evil.example"], Greeting::Other),
            (&[b"a.example", b"a.example"], Greeting::Other),
        ] {
            for record in [1, 7, 16_384] {
                let bytes = greeting(names, record);
                assert_eq!(look(&bytes, &granted), expected, "{names:?} {record}");
                for end in 0..bytes.len() {
                    let early = look(&bytes[..end], &granted);
                    assert_eq!(early, Greeting::Incomplete, "{names:?} {record} {end}");
                }
            }
        }
        assert_eq!(look(&greeting(&[b"x.example"], 99), &host("192.0.2.1")), Greeting::Fitting);
    }

    #[test]
    fn what_is_no_greeting() {
        let granted = host("a.example");
        for other in [&b"SSH-2.0-x"[..], b"GET / HTTP/1.1", b"\x17\x03\x03\0\x01x", b"\0"] {
            assert_eq!(look(other, &granted), Greeting::Fitting, "{other:?}");
        }
        for broken in [
            &b"\x16\x02\0\0\x01x"[..],
            b"\x16\x03\x01\0\0",
            b"\x16\x03\x01\0\x04\x02\0\0\0",
            b"\x16\x03\x01\0\x04\x01\0\0\0",
            b"\x16\x03\x01\0\x01\x01\x17\x03\x01\0\x01x",
        ] {
            assert_eq!(look(broken, &granted), Greeting::Other, "{broken:?}");
        }
        let endless = [&b"\x16\x03\x01\x40\0\x01\xff\xff\xff"[..], &vec![0; LONGEST]].concat();
        assert_eq!(look(&endless, &granted), Greeting::Other);
        // Nothing that is changed somewhere makes it fall.
        let bytes = greeting(&[b"a.example"], 40);
        for at in 0..bytes.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut changed = bytes.clone();
                changed[at] = value;
                let _any = look(&changed, &granted);
            }
        }
    }
}
