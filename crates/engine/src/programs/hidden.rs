//! Which programs of the system do not exist inside: those that are denied whatever their words are.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use bstr::{BString, ByteSlice};
use exacta_policy::Policy;
use sha2::{Digest as _, Sha256};

use super::remembered::Remembered;
use super::seen::{Kind, Seen};

/// Where programs lie in a directory of the system.
const PLACES: [&str; 7] = ["", "bin", "sbin", "games", "local/bin", "local/sbin", "local/games"];

/// Where the hidden programs are in a directory of the system.
pub fn hidden_in(path: &Path, policy: &Policy, remembered: &mut Remembered) -> Vec<PathBuf> {
    // Which programs are denied is part of the question.
    let mut denied = Vec::new();
    policy.each_denied_outright(|program| {
        denied.extend_from_slice(program.as_bytes());
        denied.push(0);
    });
    let denied = exacta_store::audit::hex(&Sha256::digest(&denied));
    let question = [b"hidden ", denied.as_bytes(), b" ", path.as_os_str().as_bytes()].concat();
    let hidden = remembered.ask(&question, |seen| find(path, policy, seen));
    hidden.into_iter().map(|hidden| OsString::from_vec(hidden.into()).into()).collect()
}

fn find(path: &Path, policy: &Policy, seen: &mut Seen) -> Vec<BString> {
    let mut hidden: Vec<PathBuf> = Vec::new();
    let mut links = Vec::new();
    for place in PLACES.iter().map(Path::new) {
        // A link leads to a directory that is looked at by itself.
        let folder: PathBuf = path.components().chain(place.components()).collect();
        for found in seen.names(&folder).unwrap_or_default() {
            if policy.denies_outright(found.name.as_bstr()) {
                let name = OsStr::from_bytes(&found.name);
                // What is no link is called what it is called.
                links.extend((found.kind == Kind::Link).then(|| folder.join(name)));
                hidden.push(place.join(name));
            }
        }
    }
    // When all directories are known: most links lead from one to another of them.
    for link in links {
        let variant = variant_of(&link, seen);
        let variant = variant.as_deref().and_then(|it| it.strip_prefix(path).ok());
        hidden.extend(variant.map(Path::to_owned));
    }
    hidden.sort();
    hidden.dedup();
    hidden.into_iter().map(|path| path.into_os_string().into_encoded_bytes().into()).collect()
}

/// What a program of several makers is really called: `nc` is a link to `nc.openbsd`. Where a link leads to something of
/// another name, that is a program for many purposes, most of which nobody has denied.
fn variant_of(program: &Path, seen: &mut Seen) -> Option<PathBuf> {
    let real = seen.real(program)?;
    let (name, variant) = (program.file_name()?.as_encoded_bytes(), real.file_name()?);
    let rest = variant.as_encoded_bytes().strip_prefix(name)?;
    matches!(rest.first(), Some(b'.' | b'-')).then_some(real)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a system is made to be looked at")]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::super::seen;
    use super::*;
    use exacta_policy::Profile;

    #[test]
    fn programs_of_several_makers_are_hidden_under_every_name() {
        let folder = std::env::temp_dir().join(format!("exacta-hidden-{}", std::process::id()));
        let bin = folder.join("bin");
        fs::create_dir_all(&bin).expect("a directory");
        for name in ["nc.maker", "nc.other", "tool", "ls"] {
            fs::write(bin.join(name), "").expect("a file");
        }
        for (name, to) in [("nc", "nc.maker"), ("curl", "tool"), ("wget", "missing")] {
            symlink(to, bin.join(name)).expect("a link");
        }
        let folder = fs::canonicalize(folder).expect("its path");
        let state = folder.join("state");
        let policy = Policy::builtin(Profile::Dev).expect("the built-in rules");
        let hidden = |policy: &Policy| {
            let mut remembered = Remembered::open(Some(&state));
            let hidden = hidden_in(&folder, policy, &mut remembered);
            remembered.remember();
            hidden
        };
        let expected = ["bin/curl", "bin/nc", "bin/nc.maker", "bin/wget"].map(PathBuf::from);
        assert_eq!(hidden(&policy), expected);
        fs::create_dir_all(&state).expect("a directory");
        seen::settle();
        assert_eq!(hidden(&policy), expected, "found");
        assert!(state.join("system").exists(), "and remembered");
        assert_eq!(hidden(&policy), expected, "remembered");
        let nothing = Policy::new(exacta_policy::rules::RuleSet::none(), Profile::Dev);
        assert_eq!(hidden(&nothing), [""; 0].map(PathBuf::from), "for another policy");
        fs::remove_file(bin.join("nc")).expect("it is removed");
        symlink("nc.other", bin.join("nc")).expect("a link");
        let expected = ["bin/curl", "bin/nc", "bin/nc.other", "bin/wget"].map(PathBuf::from);
        assert_eq!(hidden(&policy), expected, "the link leads elsewhere");
        fs::remove_dir_all(&folder).expect("it can be removed");
    }
}
