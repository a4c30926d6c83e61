//! What an approval is bound to: change any of it, and the approval is for something else.

use std::fmt;

use bstr::{BStr, BString};
use sha2::{Digest as _, Sha256};

/// Of the words, the directory, the changed variables and the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    pub fn of(
        text: &BStr,
        directory: &BStr,
        environment: &[(BString, BString)],
        policy: &Digest,
    ) -> Self {
        let mut hash = Sha256::new();
        add(&mut hash, text);
        add(&mut hash, directory);
        let mut sorted: Vec<_> = environment.iter().collect();
        sorted.sort();
        for (name, value) in sorted {
            add(&mut hash, name);
            add(&mut hash, value);
        }
        hash.update(policy.0);
        Digest(hash.finalize().into())
    }

    /// Of some texts, in order.
    pub fn of_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            add(&mut hash, part);
        }
        Digest(hash.finalize().into())
    }
}

/// With its length in front, so that no two lists of parts look alike.
fn add(hash: &mut Sha256, part: &[u8]) {
    hash.update((part.len() as u64).to_le_bytes());
    hash.update(part);
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
