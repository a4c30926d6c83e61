//! The key that signs the chain, in the user's own state directory: whoever can change the project cannot sign.

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use ed25519_dalek::{Signer as _, SigningKey, VerifyingKey};
use rustix::io::Errno;
use rustix::rand::GetRandomFlags;

use super::error::AuditError;
use super::ledger::Head;
use crate::system;

const NAME: &[u8] = b"key";
const DOMAIN: &[u8] = b"exacta-checkpoint-1";

pub type PublicKey = [u8; 32];

/// The state of the chain at one record, and who says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signed {
    pub head: Head,
    pub key: PublicKey,
    pub signature: [u8; 64],
}

pub struct Signer(SigningKey);

impl Signer {
    /// The user's key, made if there is none.
    pub fn of_user(folder: &Path) -> Result<Self, AuditError> {
        let folder = open_folder(folder)?;
        match read(&folder)? {
            Some(seed) => Ok(Signer(SigningKey::from_bytes(&seed))),
            None => make(&folder),
        }
    }

    pub fn sign(&self, head: Head) -> Signed {
        let signature = self.0.sign(&message(&head)).to_bytes();
        Signed { head, key: self.0.verifying_key().to_bytes(), signature }
    }
}

/// Which key is the user's, if there is one.
pub fn public_key(folder: &Path) -> Result<Option<PublicKey>, AuditError> {
    let folder = match system::open_path(folder) {
        Err(Errno::NOENT) => return Ok(None),
        folder => folder.map_err(failed("open its folder"))?,
    };
    let seed = read(&folder)?;
    Ok(seed.map(|seed| SigningKey::from_bytes(&seed).verifying_key().to_bytes()))
}

impl Signed {
    /// Was it this key that signed exactly this?
    pub fn holds(&self) -> bool {
        let signature = ed25519_dalek::Signature::from_bytes(&self.signature);
        VerifyingKey::from_bytes(&self.key)
            .is_ok_and(|key| key.verify_strict(&message(&self.head), &signature).is_ok())
    }
}

fn message(head: &Head) -> Vec<u8> {
    let mut message = Vec::with_capacity(96);
    message.extend(DOMAIN);
    message.extend(head.database);
    message.extend(head.sequence.to_be_bytes());
    message.extend(head.stamp.to_be_bytes());
    message.extend(head.hash);
    message
}

/// The folder of keys and anchors, made with those above it: the operator has named it.
pub(crate) fn open_folder(path: &Path) -> Result<OwnedFd, AuditError> {
    system::make_path(path).map_err(failed("open its folder"))
}

fn read(folder: &OwnedFd) -> Result<Option<[u8; 32]>, AuditError> {
    let file = match system::open_reading(folder.as_fd(), NAME) {
        Err(Errno::NOENT) => return Ok(None),
        file => file.map_err(failed("open it"))?,
    };
    let stat = system::stat_handle(&file).map_err(failed("look at it"))?;
    if stat.st_mode & 0o077 != 0 {
        return Err(AuditError::Key("others can read it: set its mode to 0600".into()));
    }
    let mut seed = [0; 33];
    let count = system::read_at(&file, &mut seed, 0).map_err(failed("read it"))?;
    match seed.first_chunk() {
        Some(seed) if count == 32 => Ok(Some(*seed)),
        _ => Err(AuditError::Key("it is not 32 bytes long".into())),
    }
}

/// Whole or not at all; of two that make one at once, the first one's counts.
fn make(folder: &OwnedFd) -> Result<Signer, AuditError> {
    let mut seed = [0; 32];
    match rustix::rand::getrandom(&mut seed, GetRandomFlags::empty()) {
        Ok(32) => {}
        Ok(_) => return Err(AuditError::Key("the system has no random numbers".into())),
        Err(error) => return Err(failed("draw one")(error)),
    }
    let temporary = format!("key.{}", rustix::process::getpid().as_raw_nonzero());
    let file = system::create_copy(folder, temporary.as_bytes()).map_err(failed("make it"))?;
    system::write_all_at(&file, &seed, 0).map_err(failed("write it"))?;
    system::sync_data(&file).map_err(failed("write it"))?;
    let placed = system::link(folder, temporary.as_bytes(), folder, NAME);
    system::unlink(folder, temporary.as_bytes()).map_err(failed("make it"))?;
    match placed {
        Ok(()) => Ok(Signer(SigningKey::from_bytes(&seed))),
        Err(Errno::EXIST) => {
            let seed = read(folder)?.ok_or_else(|| AuditError::Key("it has gone".into()))?;
            Ok(Signer(SigningKey::from_bytes(&seed)))
        }
        Err(error) => Err(failed("make it")(error)),
    }
}

fn failed(doing: &'static str) -> impl Fn(Errno) -> AuditError {
    move |errno| {
        let error = std::io::Error::from(errno);
        AuditError::Key(format!("cannot {doing}: {error}"))
    }
}
