//! The read-only system that programs see: what a distribution installs, and an `/etc` of our own.

#![expect(
    clippy::disallowed_methods,
    reason = "the operator's own system is looked at, which programs see read-only"
)]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use exacta_jail::plan::{Access, SyntheticFile, SyntheticLink, Tree, View};
use exacta_policy::Policy;
use exacta_shell::host::Identity;

use super::listing::{Listings, Name};

/// Directories of a distribution. Some are links into `/usr` nowadays, and are then links inside too.
const SYSTEM: [&str; 7] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/// What programs read of `/etc`, and nothing of it is secret: how the system's own programs find one another, whom to
/// trust on the network, and how languages are set up.
const SETTINGS: [&str; 17] = [
    "alternatives",
    "ca-certificates",
    "crypto-policies",
    "fonts",
    "java",
    "java-8-openjdk",
    "java-11-openjdk",
    "java-17-openjdk",
    "java-21-openjdk",
    "java-25-openjdk",
    "ld.so.conf.d",
    "maven",
    "perl",
    "php",
    "pki",
    "python3",
    "ssl",
];

/// The same, small enough to be copied.
const SETTING_FILES: [&str; 9] = [
    "debian_version",
    "ld.so.cache",
    "ld.so.conf",
    "lsb-release",
    "magic",
    "mime.types",
    "os-release",
    "protocols",
    "services",
];

/// Beneath [`SETTINGS`]: what is secret after all. A caller without power cannot leave its groups, and one of them may
/// be let in.
const SECRETS: [(&str, &str); 6] = [
    ("ssl", "private"),
    ("pki", "private"),
    ("pki", "tls/private"),
    ("pki", "nssdb"),
    ("pki", "consumer"),
    ("pki", "entitlement"),
];

/// Larger than any of them ever is.
const LARGEST_COPY: u64 = 4 << 20;

/// Adds the system to a view, without the programs that are denied whatever their words are.
pub fn add(view: &mut View, policy: &Policy, identity: &Identity, state: Option<&Path>) {
    let mut listings = Listings::open(state);
    for path in SYSTEM {
        add_directory(view, Path::new(path), policy, &mut listings);
    }
    listings.remember();
    for name in SETTINGS {
        let path = Path::new("/etc").join(name);
        if fs::metadata(&path).is_ok_and(|found| found.is_dir()) {
            let secrets = SECRETS.iter().filter(|(folder, _)| *folder == name);
            let hidden = secrets.map(|(_, secret)| PathBuf::from(secret));
            let hidden =
                hidden.filter(|secret| fs::symlink_metadata(path.join(secret)).is_ok()).collect();
            view.trees.push(read_only(path, hidden));
        }
    }
    for name in SETTING_FILES {
        let path = Path::new("/etc").join(name);
        let small =
            fs::metadata(&path).is_ok_and(|found| found.is_file() && found.len() <= LARGEST_COPY);
        if small {
            view.copies.push(path);
        }
    }
    if let Ok(zone) = fs::canonicalize("/etc/localtime") {
        view.links.push(SyntheticLink { target: "/etc/localtime".into(), text: zone });
    }
    view.files.extend(own_settings(identity));
}

/// A directory of programs or libraries, or the link that stands in its place.
fn add_directory(view: &mut View, path: &Path, policy: &Policy, listings: &mut Listings) {
    if let Ok(text) = fs::read_link(path) {
        view.links.push(SyntheticLink { target: path.to_owned(), text });
    } else if fs::metadata(path).is_ok_and(|found| found.is_dir()) {
        let hidden = hidden_in(path, policy, listings);
        view.trees.push(read_only(path.to_owned(), hidden));
    }
}

/// Where programs lie in a directory of the system.
const PLACES: [&str; 7] = ["", "bin", "sbin", "games", "local/bin", "local/sbin", "local/games"];

/// Where the hidden programs are in it.
fn hidden_in(path: &Path, policy: &Policy, listings: &mut Listings) -> Vec<PathBuf> {
    let mut hidden = Vec::new();
    for place in PLACES.iter().map(Path::new) {
        // A link leads to a directory that is looked at by itself.
        let folder = path.join(place);
        for Name { name, is_link } in listings.among(&folder, |name| policy.denies_outright(name)) {
            let name = OsStr::from_bytes(&name);
            // What is no link is called what it is called.
            if is_link {
                let variant = variant_of(&folder.join(name));
                let variant = variant.as_deref().and_then(|it| it.strip_prefix(path).ok());
                hidden.extend(variant.map(Path::to_owned));
            }
            hidden.push(place.join(name));
        }
    }
    hidden.sort();
    hidden.dedup();
    hidden
}

/// What a program of several makers is really called: `nc` is a link to `nc.openbsd`. Where a link leads to something of
/// another name, that is a program for many purposes, most of which nobody has denied.
fn variant_of(program: &Path) -> Option<PathBuf> {
    let real = fs::canonicalize(program).ok()?;
    let (name, variant) = (program.file_name()?.as_encoded_bytes(), real.file_name()?);
    let rest = variant.as_encoded_bytes().strip_prefix(name)?;
    matches!(rest.first(), Some(b'.' | b'-')).then_some(real)
}

pub fn read_only(path: PathBuf, hidden: Vec<PathBuf>) -> Tree {
    Tree { source: path.clone(), target: path, access: Access::Read, hidden }
}

/// Files of `/etc` that would tell of the host, with what is true inside instead.
fn own_settings(identity: &Identity) -> Vec<SyntheticFile> {
    let (user, group) = (&identity.user_name, &identity.group_name);
    let (user_id, group_id) = (identity.user_id, identity.group_id);
    let host = &identity.host_name;
    let texts = [
        (
            "passwd",
            format!(
                "{user}:x:{user_id}:{group_id}::/:/bin/sh\nnobody:x:65534:65534::/:/usr/sbin/nologin\n"
            ),
        ),
        ("group", format!("{group}:x:{group_id}:\nnogroup:x:65534:\n")),
        ("hosts", format!("127.0.0.1 localhost {host}\n::1 localhost\n")),
        ("hostname", format!("{host}\n")),
        ("nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n".to_owned()),
        ("resolv.conf", String::new()),
        ("shells", "/bin/sh\n/bin/bash\n".to_owned()),
        ("machine-id", "00000000000000000000000000000000\n".to_owned()),
    ];
    let file = |(name, text): (&str, String)| SyntheticFile {
        target: Path::new("/etc").join(name),
        content: text.into(),
    };
    texts.into_iter().map(file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use exacta_policy::Profile;

    #[test]
    fn programs_of_several_makers_are_hidden_under_every_name() {
        let folder = std::env::temp_dir().join(format!("exacta-system-{}", std::process::id()));
        let bin = folder.join("bin");
        fs::create_dir_all(&bin).expect("a directory");
        for name in ["nc.maker", "tool", "ls"] {
            fs::write(bin.join(name), "").expect("a file");
        }
        for (name, to) in [("nc", "nc.maker"), ("curl", "tool"), ("wget", "missing")] {
            std::os::unix::fs::symlink(to, bin.join(name)).expect("a link");
        }
        let folder = fs::canonicalize(folder).expect("its path");
        let policy = Policy::builtin(Profile::Dev).expect("the built-in rules");
        let hidden = hidden_in(&folder, &policy, &mut Listings::default());
        fs::remove_dir_all(&folder).expect("it can be removed");
        let expected = ["bin/curl", "bin/nc", "bin/nc.maker", "bin/wget"].map(PathBuf::from);
        assert_eq!(hidden, expected);
    }
}
