//! The settings of a repository of git: whether any of them makes git run something, or read more settings elsewhere.
//! Only what is known to be harmless is; whatever is not understood is not.

use bstr::{BStr, BString, ByteSlice};

/// By section, and whether the section has a name of its own (`[remote "origin"]`).
const HARMLESS: &[(&str, bool, &[&str])] = &[
    (
        "core",
        false,
        &[
            "abbrev",
            "autocrlf",
            "bare",
            "bigfilethreshold",
            "commitgraph",
            "compression",
            "eol",
            "filemode",
            "ignorecase",
            "logallrefupdates",
            "longpaths",
            "multipackindex",
            "precomposeunicode",
            "preloadindex",
            "protecthfs",
            "protectntfs",
            "quotepath",
            "repositoryformatversion",
            "safecrlf",
            "sharedrepository",
            "sparsecheckout",
            "sparsecheckoutcone",
            "splitindex",
            "symlinks",
            "untrackedcache",
            "worktree",
        ],
    ),
    (
        "extensions",
        false,
        &[
            "compatobjectformat",
            "noop",
            "objectformat",
            "partialclone",
            "preciousobjects",
            "refstorage",
            "relativeworktrees",
            "worktreeconfig",
        ],
    ),
    (
        "remote",
        true,
        &[
            "fetch",
            "mirror",
            "partialclonefilter",
            "promisor",
            "prune",
            "push",
            "pushurl",
            "tagopt",
            "url",
        ],
    ),
    ("branch", true, &["description", "merge", "pushremote", "rebase", "remote"]),
    ("submodule", true, &["active", "branch", "ignore", "shallow", "url"]),
    ("submodule", false, &["active", "recurse"]),
    ("user", false, &["email", "name", "useconfigonly"]),
    ("author", false, &["email", "name"]),
    ("committer", false, &["email", "name"]),
    ("init", false, &["defaultbranch"]),
    ("pull", false, &["ff", "rebase"]),
    ("push", false, &["autosetupremote", "default", "followtags"]),
    ("fetch", false, &["prune", "prunetags"]),
    ("merge", false, &["conflictstyle", "ff"]),
    ("gc", false, &["auto", "autodetach", "autopacklimit"]),
    ("index", false, &["threads", "version"]),
    ("lfs", false, &["repositoryformatversion"]),
];

/// No setting makes anything run.
pub(super) fn are_harmless(content: &[u8]) -> bool {
    entries(content).is_some_and(|entries| entries.iter().all(is_harmless))
}

/// Where a repository has its hooks, if not in its own directory. As it is written.
pub(super) fn place_of_hooks(content: &[u8]) -> Option<BString> {
    // What is not understood is looked for line by line.
    let found = content.lines().rev().find_map(|line| {
        let (key, value) = line.split_once_str("=")?;
        let key = key.trim_ascii();
        let key = key.rsplit_once_str("]").map_or(key, |(_, key)| key.trim_ascii());
        key.eq_ignore_ascii_case(b"hookspath").then(|| value.trim_ascii())
    })?;
    Some(found.trim_with(|letter| letter == '"').into())
}

struct Entry<'a> {
    section: BString,
    named: bool,
    key: BString,
    value: &'a BStr,
}

fn is_harmless(entry: &Entry<'_>) -> bool {
    let known = HARMLESS.iter().any(|(section, named, keys)| {
        entry.section == section.as_bytes()
            && entry.named == *named
            && keys.iter().any(|key| entry.key == key.as_bytes())
    });
    // `url = ext::sh -c …` is a program, and so is whatever else has a helper of its own.
    let helper = entry.value.contains_str("::") || entry.value.starts_with(b"-");
    let command = entry.value.starts_with(b"!") || entry.value.starts_with(b"\"!");
    known && !helper && !command
}

/// `None`: there is something that a reader of ours and git could take differently.
fn entries(content: &[u8]) -> Option<Vec<Entry<'_>>> {
    let mut section: Option<(BString, bool)> = None;
    let mut found = Vec::new();
    for line in content.lines() {
        let line = line.trim_ascii();
        if line.is_empty() || line.starts_with(b"#") || line.starts_with(b";") {
            continue;
        }
        if line.iter().any(|byte| *byte == 0 || *byte == b'\\' || *byte == b'\r') {
            return None;
        }
        if let Some(head) = line.strip_prefix(b"[") {
            section = Some(heading(head.strip_suffix(b"]")?)?);
            continue;
        }
        let (key, value) = match line.split_once_str("=") {
            Some((key, value)) => (key.trim_ascii(), value.trim_ascii()),
            None => (line, &b""[..]),
        };
        if key.is_empty() || !key.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-') {
            return None;
        }
        let (section, named) = section.clone()?;
        let key = key.to_ascii_lowercase().into();
        found.push(Entry { section, named, key, value: value.as_bstr() });
    }
    Some(found)
}

/// `core`, or `remote "origin"`.
fn heading(text: &[u8]) -> Option<(BString, bool)> {
    let (word, name) = match text.split_once_str(" ") {
        Some((word, name)) => (word, Some(name.trim_ascii())),
        None => (text, None),
    };
    let plain = !word.is_empty() && word.iter().all(u8::is_ascii_alphanumeric);
    let quoted = name.is_none_or(|name| {
        let inner = name.strip_prefix(b"\"").and_then(|name| name.strip_suffix(b"\""));
        inner.is_some_and(|inner| !inner.contains(&b'"') && !inner.contains(&b']'))
    });
    (plain && quoted).then(|| (word.to_ascii_lowercase().into(), name.is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_itself_writes_is_harmless() {
        let cloned = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n\
            [remote \"origin\"]\n\turl = https://example.com/x.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\
            [branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n[user]\n\tname = A B\n\temail = a@example.com\n";
        let others = ["", "# nothing\n", "[core]\n\tworktree = ../../../sub\r\n", "[core]\nbare\n"];
        for content in others.into_iter().chain([cloned]) {
            assert!(are_harmless(content.as_bytes()), "{content}");
        }
    }

    #[test]
    fn what_runs_something_is_not() {
        for content in [
            "[core]\n\tfsmonitor = ./x\n",
            "[core]\n\tFSMonitor=./x",
            "[core] fsmonitor = ./x\n",
            "[core]\n\tbare = false \\\n\tfsmonitor = ./x\n",
            "\u{feff}[core]\nfsmonitor = ./x\n",
            "[core]\n\thooksPath = hooks\n[user]\n\tname = x\n",
            "[core]\n\tsshCommand = x\n",
            "[core]\n\tpager = x\n",
            "[core]\n\teditor = x\n",
            "[include]\n\tpath = ../x\n",
            "[includeIf \"gitdir:.\"]\n\tpath = ../x\n",
            "[alias]\n\tst = !x\n",
            "[filter \"x\"]\n\tclean = x\n",
            "[diff]\n\texternal = x\n",
            "[remote \"x\"]\n\turl = ext::sh -c x\n",
            "[remote \"x\"]\n\tuploadpack = x\n",
            "[remote \"x\"]\n\turl = --upload-pack=x\n",
            "[submodule \"x\"]\n\tupdate = !x\n",
            "[core.x]\n\tbare = true\n",
            "[remote \"x\"]y\"]\n\turl = z\n",
            "bare = true\n",
            "[core]\n\tbare = true\n\0",
        ] {
            assert!(!are_harmless(content.as_bytes()), "{content}");
        }
    }

    #[test]
    fn hooks_that_lie_elsewhere_are_found() {
        let place = |content: &str| place_of_hooks(content.as_bytes()).map(|it| it.to_string());
        assert_eq!(place("[core]\n\thooksPath = .hooks\n").as_deref(), Some(".hooks"));
        assert_eq!(place("[core] HooksPath=\"a b/c\"\n").as_deref(), Some("a b/c"));
        assert_eq!(place("[core]\n\tbare = true\n"), None);
    }
}
