//! Names that are guarded, found behind a pattern: `.g?t/h*s` can be `.git/hooks`, and is judged as if it were.
//!
//! A pattern that nearly every hidden name matches (`.*`) says nothing about what is wanted: whoever reads with it is
//! not taken for one who looks for secrets; whoever removes or changes with it means these too.

use bstr::{BStr, BString, ByteSlice};

use crate::event::Access;
use crate::glob;

/// Files and whole directories at the top of a project that run on the host later, or decide what agents may do. The rules
/// ask about writing each of them; what a program has written there is held until somebody has looked.
pub const RUN_LATER: &[&str] = &[
    ".aider.conf.yml",
    ".amazonq",
    ".bash_profile",
    ".bashrc",
    ".claude",
    ".cline",
    ".codex",
    ".continue",
    ".cursor",
    ".devcontainer",
    ".devcontainer.json",
    ".envrc",
    ".exacta.toml",
    ".gemini",
    ".gitconfig",
    ".goose",
    ".husky",
    ".kiro",
    ".mcp",
    ".mcp.json",
    ".opencode",
    ".pre-commit-config.yaml",
    ".profile",
    ".roo",
    ".tmux.conf",
    ".windsurf",
    ".zed",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    "mcp.json",
    "opencode.json",
    "opencode.jsonc",
];

/// What agents, editors and git obey besides, at the top of a project or a home.
const OBEYED: &[&str] = &[
    ".clada",
    ".git",
    ".cursorrules",
    ".gitmodules",
    ".githooks",
    ".vscode",
    "AGENTS.md",
    "CLAUDE.md",
];

/// What holds secrets.
const SECRET: &[&str] = &[
    ".clada",
    ".ssh",
    ".aws",
    ".azure",
    ".bash_history",
    ".git-credentials",
    ".gnupg",
    ".kube",
    ".netrc",
    ".password-store",
    ".pgpass",
    ".pypirc",
];

/// What is in a repository of git.
const IN_GIT: &[&str] = &["hooks", "config", "HEAD", "info", "objects", "refs", "modules"];

/// Is this the first name of a path in the project that runs on the host later? Of `.git` and `.vscode` only parts do,
/// which is for the caller to tell.
pub fn runs_later(name: &[u8]) -> bool {
    RUN_LATER.iter().any(|known| name == known.as_bytes())
}

/// The paths that a pattern with guarded names in it can be; empty: none of these.
pub(crate) fn paths(pattern: &BStr, access: Access) -> Vec<BString> {
    if !pattern.contains(&b'.') && !pattern.contains(&b'[') && !pattern.contains(&b'?') {
        return Vec::new();
    }
    let mut whole: Vec<BString> = vec![BString::default()];
    let mut found = false;
    let mut parts = pattern.split_str("/").enumerate().peekable();
    while let Some((place, part)) = parts.next() {
        let sought = parts.peek().is_some_and(|(_, next)| may_be_key(next));
        let names = if is_pattern(part) { names(part, &whole, access, sought) } else { Vec::new() };
        found |= !names.is_empty();
        if place > 0 {
            for path in &mut whole {
                path.push(b'/');
            }
        }
        whole = match names.as_slice() {
            [] => extended(&whole, &[part]),
            names => extended(&whole, names),
        };
    }
    if found { whole } else { Vec::new() }
}

/// The names that one part of a pattern matches.
fn names<'n>(part: &[u8], before: &[BString], access: Access, sought: bool) -> Vec<&'n [u8]> {
    let matching = |names: &'n [&'n str]| -> Vec<&'n [u8]> {
        names.iter().map(|name| name.as_bytes()).filter(|name| glob::matches(part, name)).collect()
    };
    if before.iter().any(|path| path.ends_with(b".git/") || path == ".git") {
        return matching(IN_GIT);
    }
    // A leading dot is matched by a dot alone.
    if part.starts_with(b"*") || part.starts_with(b"?") {
        return Vec::new();
    }
    let mut secret = matching(SECRET);
    match access {
        Access::Read => {
            // As long as the name, letter by letter: nobody writes that who does not mean it.
            let exact = !part.contains(&b'*');
            secret.retain(|name| exact || sought || is_aimed(part, name));
            secret
        }
        Access::Write | Access::Delete | Access::Enter | Access::Execute => {
            let mut all = matching(OBEYED);
            // `.env*` means the settings that a project keeps for itself.
            all.extend(matching(RUN_LATER).into_iter().filter(|name| *name != b".envrc"));
            all.extend(secret);
            all
        }
    }
}

/// `id_*`, `cred*`: what keys are called in such a directory.
fn may_be_key(part: &[u8]) -> bool {
    const KEYS: &[&str] = &[
        "id_rsa",
        "id_ed25519",
        "id_ecdsa",
        "id_dsa",
        "credentials",
        "authorized_keys",
        "accessTokens.json",
        "private-keys-v1.d",
        "secring.gpg",
    ];
    let written = part.iter().filter(|byte| !b"*?[]".contains(byte)).count();
    written > 1 && KEYS.iter().any(|key| glob::matches(part, key.as_bytes()))
}

/// Is half of the name written?
fn is_aimed(pattern: &[u8], name: &[u8]) -> bool {
    let mut written = 0;
    let mut rest = pattern;
    while let Some((first, more)) = rest.split_first() {
        rest = more;
        match first {
            b'*' | b'?' => {}
            b'[' => {
                let end = more.iter().position(|byte| *byte == b']').unwrap_or(more.len());
                // `[g]` is a `g`.
                written += usize::from(end == 1);
                rest = more.get(end + 1..).unwrap_or_default();
            }
            _ => written += 1,
        }
    }
    written > 2 && written * 2 >= name.len()
}

fn extended(paths: &[BString], names: &[&[u8]]) -> Vec<BString> {
    const MOST: usize = 64;
    let each = |path: &BString| {
        let path = path.clone();
        names.iter().map(move |name| BString::from([path.as_slice(), name].concat()))
    };
    paths.iter().flat_map(each).take(MOST).collect()
}

pub(crate) fn is_pattern(text: &[u8]) -> bool {
    text.iter().any(|byte| b"*?[".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::Profile;
    use crate::rules::{RuleSet, Subject};

    #[test]
    fn what_patterns_can_be() {
        let of = |pattern: &str, access| -> Vec<String> {
            paths(pattern.into(), access).iter().map(ToString::to_string).collect()
        };
        assert_eq!(of(".g?t/h*s", Access::Write), [".git/hooks"]);
        assert_eq!(of("./.gi[t]/config", Access::Write), ["./.git/config"]);
        assert_eq!(of(".git/hook?/x", Access::Write), [".git/hooks/x"]);
        assert_eq!(of(".ex*.toml", Access::Write), [".exacta.toml"]);
        assert_eq!(of(".ss?/id*", Access::Read), [".ssh/id*"]);
        assert!(of(".*", Access::Delete).contains(&".git".to_owned()));
        for pattern in ["*.toml", "src/*", "*", ".env*", ".*.swp", ".c*che", "[a-z]*.md"] {
            assert!(of(pattern, Access::Delete).is_empty(), "{pattern}");
        }
        for pattern in [".*", ".git*", ".??*", ".[a-z]*"] {
            assert!(of(pattern, Access::Read).is_empty(), "{pattern}");
        }
    }

    #[test]
    fn rules_ask_about_what_runs_later() {
        let rules = RuleSet::default();
        let asked = |path: &str| {
            !rules.matching(&Subject::Write { path: path.into() }, Profile::Dev).is_empty()
        };
        // What is typed into this one is read.
        let read = ".pre-commit-config.yaml";
        for name in RUN_LATER.iter().filter(|name| **name != read) {
            assert!(asked(name) || asked(&format!("{name}/x")), "{name}");
        }
    }
}
