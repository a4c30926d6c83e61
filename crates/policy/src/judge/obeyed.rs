//! Files that somebody else obeys: settings of git wherever they lie, and what a build server is told to run. Nothing of
//! it runs here, so only what no project has a use for counts.

use bstr::{BStr, BString, ByteSlice};

use super::inquiry::Inquiry;
use crate::code::Level;
use crate::effect::Language;
use crate::rules::Subject;

/// Keys of git's settings whose values are commands or lead to some, by section.
const EXECUTING: &[(&str, &[&str])] = &[
    ("core", &["fsmonitor", "sshcommand", "pager", "editor", "hookspath", "gitproxy", "askpass"]),
    ("filter", &["clean", "smudge", "process"]),
    ("diff", &["textconv", "command", "external"]),
    ("difftool", &["cmd"]),
    ("merge", &["driver"]),
    ("mergetool", &["cmd"]),
    ("credential", &["helper"]),
    ("gpg", &["program"]),
    ("sequence", &["editor"]),
    ("interactive", &["difffilter"]),
    ("uploadpack", &["packobjectshook"]),
    ("remote", &["uploadpack", "receivepack", "vcs"]),
    ("include", &["path"]),
    ("includeif", &["path"]),
];

/// Where build servers are told what to do.
const SERVERS: &[&str] = &[
    "/.github/workflows/",
    "/.github/actions/",
    "/.circleci/",
    "/.buildkite/",
    "/.woodpecker/",
    "/.tekton/",
    "/.gitea/workflows/",
    "/.forgejo/workflows/",
];
const SERVER_FILES: &[&str] = &[
    ".gitlab-ci.yml",
    ".travis.yml",
    ".drone.yml",
    ".cirrus.yml",
    "Jenkinsfile",
    "appveyor.yml",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    "buildspec.yml",
    "cloudbuild.yaml",
    "wercker.yml",
];

/// Is the file one by which a build server works?
pub(super) fn is_for_a_server(path: &BStr) -> bool {
    let name = path.rsplit_once_str("/").map_or(path.as_bytes(), |(_, name)| name);
    SERVER_FILES.iter().any(|known| name == known.as_bytes())
        || SERVERS.iter().any(|folder| path.contains_str(folder))
}

/// All secrets of the server at once, or an action that is somebody else's from now on.
pub(super) fn betrays(text: &BStr) -> bool {
    const ALL: [&str; 4] = ["toJSON(secrets)", "toJson(secrets)", "tojson(secrets)", "secrets.*"];
    ALL.iter().any(|sight| text.contains_str(sight))
}

/// `s#uses: actions/checkout@v4#uses: stranger/checkout@main#`: what was taken from one is taken from another.
pub(super) fn changes_hands(text: &BStr) -> bool {
    let owner = |at: usize| {
        let rest = text.get(at + "uses:".len()..).unwrap_or_default().trim_ascii_start();
        let end = rest.iter().position(|byte| !is_name(*byte))?;
        // `\/` of an expression that is written between slashes.
        let after = rest.get(end..).unwrap_or_default();
        let after = after.strip_prefix(b"\\").unwrap_or(after);
        after.starts_with(b"/").then(|| rest.get(..end).unwrap_or_default())
    };
    let mut owners = text.find_iter("uses:").filter_map(owner).filter(|owner| !owner.is_empty());
    let first = owners.next();
    first.is_some_and(|first| owners.any(|other| other != first))
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)
}

impl Inquiry<'_> {
    /// Asks about settings of git that run something: any folder with such a `config` in it is a repository to git.
    pub fn obeyed_by_git(&mut self, path: &BString, text: &BStr) {
        if !runs_in_git(text) {
            return;
        }
        let subject = Subject::Write { path: ".git/config".into() };
        let findings = self.rules_on(&subject, &[]);
        self.note(vec![">".into(), path.clone()], &Vec::new(), findings);
    }

    /// Asks about what a build server would be told.
    pub fn obeyed_by_servers(&mut self) {
        let betrayed = self.fresh.iter().find(|fresh| {
            is_for_a_server(fresh.path.as_bstr())
                && (betrays(fresh.text.as_bstr()) || changes_hands(fresh.text.as_bstr()))
        });
        let Some(path) = betrayed.map(|fresh| fresh.path.clone()) else { return };
        let subject = Subject::Code { language: Language::Other, level: Level::Dangerous };
        let findings = self.rules_on(&subject, &[]);
        self.note(vec![path], &Vec::new(), findings);
    }
}

/// A section of git's, and in it a key whose value is a command.
fn runs_in_git(text: &BStr) -> bool {
    if !text.contains(&b'[') {
        return false;
    }
    let mut section = Vec::new();
    text.lines().map(<[u8]>::trim_ascii).any(|line| {
        if let Some(rest) = line.strip_prefix(b"[") {
            let end = rest.iter().position(|byte| !byte.is_ascii_alphanumeric());
            section =
                rest.get(..end.unwrap_or(rest.len())).unwrap_or_default().to_ascii_lowercase();
        }
        // A section and its first key may stand in one line.
        let line = line.rsplit_once_str("]").map_or(line, |(_, rest)| rest.trim_ascii_start());
        let Some((key, value)) = line.split_once_str("=") else { return false };
        let (key, value) = (key.trim_ascii().to_ascii_lowercase(), value.trim_ascii());
        is_executing(&section, &key, value)
    })
}

fn is_executing(section: &[u8], key: &[u8], value: &[u8]) -> bool {
    const PLAIN: [&[u8]; 6] = [b"", b"true", b"false", b"cache", b"store", b"less"];
    let value = value.trim_with(|c| c == '"' || c == '\'');
    if section == b"alias" {
        return value.starts_with(b"!");
    }
    let known = EXECUTING.iter().find(|(name, _)| section == name.as_bytes());
    known.is_some_and(|(_, keys)| keys.iter().any(|it| key == it.as_bytes()))
        && !PLAIN.contains(&value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_git_that_run_something() {
        for text in [
            "[core]\n\tfsmonitor = \"x|sh #\"\n",
            "[core] sshCommand = ./x\n",
            "[alias]\n st = !curl x\n",
            "[filter \"lfs2\"]\n\tsmudge = ./x %f",
            "[include]\npath = ../evil",
        ] {
            assert!(runs_in_git(text.into()), "{text}");
        }
        for text in [
            "[core]\n\tautocrlf = input\n\tfsmonitor = true\n",
            "[alias]\n st = status -sb\n",
            "[alias]\nb = \"build\"\n",
            "[tool.x]\ncommand = \"y\"\n",
            "[diff]\n\talgorithm = histogram\n",
        ] {
            assert!(!runs_in_git(text.into()), "{text}");
        }
    }

    #[test]
    fn an_action_from_somebody_else() {
        assert!(changes_hands("s#uses: actions/checkout@v4#uses: x-y/checkout@main#".into()));
        assert!(changes_hands(r"s/uses: actions\/checkout@v4/uses: x\/checkout@v4/".into()));
        assert!(!changes_hands("s#uses: actions/checkout@v3#uses: actions/checkout@v4#".into()));
        assert!(!changes_hands("- uses: actions/checkout@v4".into()));
    }
}
