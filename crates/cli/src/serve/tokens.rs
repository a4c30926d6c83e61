//! The two tokens of the daemon: a person's, and an agent's, which decides nothing.

#![expect(
    clippy::disallowed_methods,
    reason = "the operator's own state, outside of every project"
)]

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::rand::GetRandomFlags;

/// What whoever has a token may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Person,
    Agent,
}

pub struct Tokens {
    person: String,
    agent: String,
}

impl Tokens {
    /// Reads them, or makes them at the first start.
    pub fn open(folder: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        Ok(Tokens {
            person: token(folder.join("token"))?,
            agent: token(folder.join("agent-token"))?,
        })
    }

    /// Whose it is, if anybody's.
    pub fn role(&self, given: &str) -> Option<Role> {
        // Both are compared, and all of each: how long it takes says nothing.
        let (person, agent) = (same(&self.person, given), same(&self.agent, given));
        match (person, agent) {
            (true, _) => Some(Role::Person),
            (_, true) => Some(Role::Agent),
            _ => None,
        }
    }

    pub fn of_person(&self) -> &str {
        &self.person
    }
}

fn same(ours: &str, given: &str) -> bool {
    let differing =
        ours.bytes().zip(given.bytes()).fold(0, |all, (one, other)| all | (one ^ other));
    ours.len() == given.len() && std::hint::black_box(differing) == 0
}

/// Nobody else may have read it.
fn token(path: PathBuf) -> io::Result<String> {
    let mut made = OpenOptions::new();
    match made.write(true).create_new(true).mode(0o600).open(&path) {
        Ok(mut file) => file.write_all(fresh()?.as_bytes())?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    let file = fs::File::open(&path)?;
    let about = file.metadata()?;
    let others = about.mode() & 0o077;
    let ours = about.uid() == rustix::process::geteuid().as_raw() && others == 0;
    let mut text = String::new();
    file.take(1_024).read_to_string(&mut text)?;
    let text = text.trim().to_owned();
    if !ours || text.len() < 32 {
        let why = format!("{} can be read by others, or is broken: remove it", path.display());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    Ok(text)
}

fn fresh() -> io::Result<String> {
    let mut bytes = [0_u8; 32];
    rustix::rand::getrandom(&mut bytes, GetRandomFlags::empty())?;
    Ok(bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}")))
}
