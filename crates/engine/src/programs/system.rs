//! The read-only system that programs see: what a distribution installs, and an `/etc` of our own.

#![expect(
    clippy::disallowed_methods,
    reason = "the operator's own system is looked at, which programs see read-only"
)]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use bstr::BString;
use exacta_jail::plan::{Access, SyntheticFile, SyntheticLink, Tree, View};
use exacta_policy::Policy;
use exacta_shell::host::Identity;

use super::hidden::hidden_in;
use super::remembered::Remembered;
use super::seen::{Kind, Seen};
use crate::operator_file;

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

/// Adds the system to a view, without the programs that are denied whatever their words are.
pub fn add(view: &mut View, policy: &Policy, identity: &Identity, remembered: &mut Remembered) {
    for path in SYSTEM {
        add_directory(view, Path::new(path), policy, remembered);
    }
    add_settings(view, remembered);
    if let Ok(zone) = operator_file::followed(Path::new("/etc/localtime")) {
        view.links.push(SyntheticLink { target: "/etc/localtime".into(), text: zone });
    }
    view.files.extend(own_settings(identity));
}

/// What there is of [`SETTINGS`] and [`SETTING_FILES`].
fn add_settings(view: &mut View, remembered: &mut Remembered) {
    let present = remembered.ask(b"settings", |seen| present(seen, Path::new("/etc")));
    let is = |name: &str, kind: u8| {
        present.iter().any(|it| it.split_first() == Some((&kind, name.as_bytes())))
    };
    for name in SETTINGS {
        let path = Path::new("/etc").join(name);
        let leads_to_one = || fs::metadata(&path).is_ok_and(|found| found.is_dir());
        if is(name, DIRECTORY) || (is(name, OTHER) && leads_to_one()) {
            let secrets = SECRETS.iter().filter(|(folder, _)| *folder == name);
            let hidden = secrets.map(|(_, secret)| PathBuf::from(secret));
            let hidden =
                hidden.filter(|secret| fs::symlink_metadata(path.join(secret)).is_ok()).collect();
            view.trees.push(read_only(path, hidden));
        }
    }
    let copies = SETTING_FILES.iter().filter(|name| is(name, OTHER));
    view.copies.extend(copies.map(|name| Path::new("/etc").join(name)));
}

const DIRECTORY: u8 = b'd';
/// What has to be looked at: its size may change, or what a link leads to.
const OTHER: u8 = b'o';

/// Which of the settings are there, each after what it is.
fn present(seen: &mut Seen, folder: &Path) -> Vec<BString> {
    let wanted = || SETTINGS.iter().chain(&SETTING_FILES);
    let kept = |kind: u8, name: &[u8]| BString::from([&[kind], name].concat());
    let Some(names) = seen.names(folder) else {
        // Each of them may be there all the same.
        return wanted().map(|name| kept(OTHER, name.as_bytes())).collect();
    };
    let names = names.into_iter().filter(|it| wanted().any(|name| it.name == *name));
    let kind = |kind| if kind == Kind::Directory { DIRECTORY } else { OTHER };
    names.map(|it| kept(kind(it.kind), &it.name)).collect()
}

/// A directory of programs or libraries, or the link that stands in its place.
fn add_directory(view: &mut View, path: &Path, policy: &Policy, remembered: &mut Remembered) {
    match fs::read_link(path) {
        Ok(text) => view.links.push(SyntheticLink { target: path.to_owned(), text }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(_) if fs::metadata(path).is_ok_and(|found| found.is_dir()) => {
            let hidden = hidden_in(path, policy, remembered);
            view.trees.push(read_only(path.to_owned(), hidden));
        }
        Err(_) => {}
    }
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
