//! The chain: every record's hash covers its place, its time, its bytes and the hash before it.
//!
//! What is hashed is what is stored, to the byte; nothing is encoded again to be verified.

use sha2::{Digest, Sha256};

use super::entry::{Entry, Kind, Moment};
use super::error::AuditError;

pub type Hash = [u8; 32];

/// The first byte of what is stored: which version of the words it is in.
const VERSION: u8 = 1;

const DOMAIN: &[u8] = b"exacta-audit-1";

/// A record as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    pub sequence: u64,
    /// When it was written. Never before the one in front of it.
    pub stamp: Moment,
    pub kind: Kind,
    pub body: Vec<u8>,
    pub hash: Hash,
}

/// Where the chain begins: no two databases begin alike.
pub fn genesis(database: &[u8; 16]) -> Hash {
    Sha256::new().chain_update(DOMAIN).chain_update(database).finalize().into()
}

/// The hash of a record behind another.
pub fn hash(previous: &Hash, sequence: u64, stamp: Moment, kind: Kind, body: &[u8]) -> Hash {
    Sha256::new()
        .chain_update(DOMAIN)
        .chain_update(previous)
        .chain_update(sequence.to_be_bytes())
        .chain_update(stamp.to_be_bytes())
        .chain_update([kind as u8])
        .chain_update(body)
        .finalize()
        .into()
}

impl Link {
    /// Does it follow the record with this hash?
    pub fn follows(&self, previous: &Hash) -> bool {
        self.follows_as(previous, self.sequence)
    }

    /// The same if it had another number.
    pub fn follows_as(&self, previous: &Hash, sequence: u64) -> bool {
        hash(previous, sequence, self.stamp, self.kind, &self.body) == self.hash
    }

    pub fn entry(&self) -> Result<Entry, AuditError> {
        decode(&self.body).ok_or(AuditError::Unreadable(self.sequence))
    }
}

pub fn encode(entry: &Entry) -> Result<Vec<u8>, AuditError> {
    let mut bytes = Vec::with_capacity(256);
    bytes.push(VERSION);
    postcard::to_extend(entry, bytes).map_err(|error| AuditError::Encoding(error.to_string()))
}

/// `None`: a version that is not known here, or none at all.
pub fn decode(body: &[u8]) -> Option<Entry> {
    match body.split_first()? {
        (&VERSION, rest) => postcard::from_bytes(rest).ok(),
        _ => None,
    }
}

pub fn sha256(bytes: &[u8]) -> Hash {
    Sha256::digest(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::entry::{Asked, Intent, Outcome};

    #[test]
    fn what_is_written_is_read() {
        let asked = Asked { id: [7; 16], command: "ls \u{fc}".into(), ..Asked::default() };
        let intent = Intent { asked: asked.clone(), effect: "change".into(), ..Intent::default() };
        let outcome = Outcome { asked, exit: 3, signal: Some(9), ..Outcome::default() };
        for entry in [Entry::Intent(Box::new(intent)), Entry::Outcome(Box::new(outcome))] {
            assert_eq!(decode(&encode(&entry).expect("bytes")), Some(entry));
        }
        assert_eq!((decode(b""), decode(b"\x02\x00")), (None, None));
    }

    /// These bytes are in databases: they must never mean something else.
    #[test]
    fn the_encoding_stays() {
        let cut = super::super::entry::Cut { upto: 300, hash: [1; 32], from: 1, time: -5 };
        let bytes = encode(&Entry::Cut(cut)).expect("bytes");
        let mut expected = vec![1, 4, 0xac, 2];
        expected.extend([1; 32]);
        expected.extend([1, 9]);
        assert_eq!(bytes, expected);
        let digest = hash(&genesis(&[0; 16]), 1, 2, Kind::Cut, &bytes);
        let hex = crate::audit::hex(&digest);
        assert_eq!(hex, "cc442e40f297a2176ca42dc41ad9de6d7dbe14f45503d84925a1c5980391a00e");
    }

    #[test]
    fn a_hash_covers_place_time_kind_and_content() {
        let before = genesis(&[1; 16]);
        let hashes = [
            hash(&before, 1, 1, Kind::Intent, b"x"),
            hash(&before, 2, 1, Kind::Intent, b"x"),
            hash(&before, 1, 2, Kind::Intent, b"x"),
            hash(&before, 1, 1, Kind::Outcome, b"x"),
            hash(&before, 1, 1, Kind::Intent, b"y"),
            hash(&genesis(&[2; 16]), 1, 1, Kind::Intent, b"x"),
        ];
        for (index, one) in hashes.iter().enumerate() {
            assert!(hashes.iter().skip(index + 1).all(|other| other != one));
        }
    }
}
