//! The head of a chain where nobody who can change the project can change it: a line that is signed, in the user's own
//! state directory, or wherever `exacta audit head` was copied to.
//!
//! Only what is on the disk is anchored: after a power cut an anchor that is ahead of its chain would accuse nobody.
//!
//! An anchor that the database does not bear out, because an older copy of it or another one has taken its place, is not lost with the
//! next record: it stays behind the new one in the same file, as evidence, until a person removes that.

use std::fmt;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::chain::sha256;
use super::error::AuditError;
use super::key::{Signed, open_folder};
use super::ledger::Head;
use crate::system;

const WORD: &str = "exacta-audit-1";

/// Longer than any line, so that a shorter one never leaves the rest of a longer one behind.
const LENGTH: usize = 512;

/// More heads that were displaced are not kept: one is enough.
const MOST_DISPLACED: u64 = 64;

/// A signed head as one line of text.
impl fmt::Display for Signed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Head { database, sequence, stamp, hash } = &self.head;
        write!(f, "{WORD} {} {sequence} {stamp} ", hex(database))?;
        write!(f, "{} {} {}", hex(hash), hex(&self.key), hex(&self.signature))
    }
}

impl std::str::FromStr for Signed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        parse(text).ok_or_else(|| format!("not a head: it begins with {WORD} and has 7 words"))
    }
}

/// Where the head of one project is kept.
pub struct Anchor {
    file: OwnedFd,
}

impl Anchor {
    /// That of the project with this root, made if there is none.
    pub fn open(folder: &Path, root: &[u8]) -> Result<Self, AuditError> {
        let folder = open_folder(folder)?;
        let file = system::open_keeping(&folder, name(root).as_bytes());
        Ok(Anchor { file: file.map_err(failed("open it"))? })
    }

    /// What the user's state says of this project.
    pub fn read_of(folder: &Path, root: &[u8]) -> Result<Option<Signed>, AuditError> {
        let folder = match system::open_path(folder) {
            Err(Errno::NOENT) => return Ok(None),
            folder => folder.map_err(failed("open its folder"))?,
        };
        match system::open_reading(&folder, name(root).as_bytes()) {
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(failed("open it")(error)),
            Ok(file) => {
                let anchor = Anchor { file };
                anchor.read()
            }
        }
    }

    /// Heads of this project that its database did not bear out later.
    pub fn displaced_of(folder: &Path, root: &[u8]) -> Result<Vec<Signed>, AuditError> {
        let folder = match system::open_path(folder) {
            Err(Errno::NOENT) => return Ok(Vec::new()),
            folder => folder.map_err(failed("open its folder"))?,
        };
        match system::open_reading(&folder, name(root).as_bytes()) {
            Err(Errno::NOENT) => Ok(Vec::new()),
            Err(error) => Err(failed("open it")(error)),
            Ok(file) => Anchor { file }.displaced(),
        }
    }

    /// The file of a project.
    pub fn path(folder: &Path, root: &[u8]) -> PathBuf {
        folder.join(name(root))
    }

    pub fn read(&self) -> Result<Option<Signed>, AuditError> {
        self.line(0)
    }

    fn displaced(&self) -> Result<Vec<Signed>, AuditError> {
        let mut all = Vec::new();
        for number in 1..=MOST_DISPLACED {
            let Some(signed) = self.line(number)? else { break };
            all.push(signed);
        }
        Ok(all)
    }

    /// `None`: the file ends before it, or it is no head.
    fn line(&self, number: u64) -> Result<Option<Signed>, AuditError> {
        let mut buffer = [0; LENGTH];
        let at = number * LENGTH as u64;
        let count = system::read_at(&self.file, &mut buffer, at).map_err(failed("read it"))?;
        let text = String::from_utf8_lossy(buffer.get(..count).unwrap_or_default());
        Ok(parse(text.trim_end()))
    }

    /// Never back: of two processes the later record counts.
    pub fn set(&self, signed: &Signed) -> Result<(), AuditError> {
        self.locked(|| {
            let before = self.read()?;
            let later = before.is_none_or(|before| before.head.sequence < signed.head.sequence);
            if later { self.write(0, signed) } else { Ok(()) }
        })
    }

    /// The database does not bear out what is anchored: that is kept apart, and the next head takes its place.
    pub fn displace(&self, contradicted: &Signed) -> Result<(), AuditError> {
        self.locked(|| {
            if self.read()? != Some(*contradicted) {
                return Ok(());
            }
            let displaced = self.displaced()?;
            let number = displaced.len() as u64 + 1;
            if number <= MOST_DISPLACED && !displaced.contains(contradicted) {
                self.write(number, contradicted)?;
            }
            self.write_line(0, b"")
        })
    }

    fn locked(&self, body: impl FnOnce() -> Result<(), AuditError>) -> Result<(), AuditError> {
        system::lock(&self.file).map_err(failed("lock it"))?;
        let done = body();
        system::unlock(&self.file).map_err(failed("unlock it"))?;
        done
    }

    fn write(&self, number: u64, signed: &Signed) -> Result<(), AuditError> {
        self.write_line(number, signed.to_string().as_bytes())
    }

    fn write_line(&self, number: u64, text: &[u8]) -> Result<(), AuditError> {
        let mut line = text.to_vec();
        line.resize(LENGTH - 1, b' ');
        line.push(b'\n');
        let at = number * LENGTH as u64;
        system::write_all_at(&self.file, &line, at).map_err(failed("write it"))
    }
}

fn name(root: &[u8]) -> String {
    name_of(root, "head")
}

/// What a file about the project with this root is called.
pub(super) fn name_of(root: &[u8], kind: &str) -> String {
    format!("{}.{kind}", hex(sha256(root).get(..16).unwrap_or_default()))
}

fn parse(text: &str) -> Option<Signed> {
    let mut words = text.split_ascii_whitespace();
    if words.next()? != WORD {
        return None;
    }
    let database = unhex(words.next()?)?;
    let (sequence, stamp) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let hash = unhex(words.next()?)?;
    let (key, signature) = (unhex(words.next()?)?, unhex(words.next()?)?);
    let head = Head { database, sequence, stamp, hash };
    words.next().is_none().then_some(Signed { head, key, signature })
}

pub fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or_default();
    let mut hex = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        hex.extend([digit(byte >> 4), digit(byte & 0xf)]);
    }
    hex
}

/// Bytes of exactly this length.
pub fn unhex<const LENGTH: usize>(text: &str) -> Option<[u8; LENGTH]> {
    let mut bytes = [0; LENGTH];
    if text.len() != LENGTH * 2 || !text.is_ascii() {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        let digit = |at: usize| char::from(*pair.get(at)?).to_digit(16);
        *byte = u8::try_from(digit(0)? * 16 + digit(1)?).ok()?;
    }
    Some(bytes)
}

fn failed(doing: &'static str) -> impl Fn(Errno) -> AuditError {
    move |errno| AuditError::System { doing, path: "the anchored head".into(), errno }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_a_line() {
        let head = Head { database: [1; 16], sequence: 7, stamp: -3, hash: [255; 32] };
        let signed = Signed { head, key: [2; 32], signature: [3; 64] };
        let line = signed.to_string();
        assert!(line.len() < LENGTH && !line.contains('\n'));
        assert_eq!(line.parse(), Ok(signed));
        for wrong in ["", "exacta-audit-1 00", &format!("{line} x"), &line.replace('7', "x")] {
            assert!(wrong.parse::<Signed>().is_err(), "{wrong}");
        }
        assert_eq!(unhex::<2>("00fg"), None);
        assert_eq!(unhex::<2>("0aF1"), Some([10, 0xf1]));
    }
}
