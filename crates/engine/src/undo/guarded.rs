//! Files of a project that run on the host later, or decide what agents may do. What is typed is judged before it runs;
//! what a program writes is seen only in its layer, and then a person decides.
//!
//! Which names these are the judge knows; of what lies in `.git` and `.vscode` the parts are told here.
//! Only what lies in the project's root counts: nobody reads the settings of a package among the dependencies.

use bstr::{BStr, BString, ByteSlice};
use exacta_store::LayerPlan;

/// Editors run these when they open the project.
const OF_EDITORS: [&str; 4] =
    [".vscode/tasks.json", ".vscode/settings.json", ".vscode/launch.json", ".vscode"];

/// The paths of a layer that somebody should have a look at.
pub(super) fn among(plan: &LayerPlan) -> Vec<BString> {
    let new_repository = plan.made().any(|path| path == ".git");
    let mut found: Vec<BString> =
        plan.paths().filter(|path| is_guarded(path.as_bstr(), new_repository)).collect();
    found.sort();
    found.dedup();
    found
}

fn is_guarded(path: &BStr, new_repository: bool) -> bool {
    let first = path.split_str("/").next().unwrap_or_default();
    match first {
        b".git" => is_guarded_in_git(path, new_repository),
        b".vscode" => OF_EDITORS.iter().any(|known| path == known.as_bytes()),
        first => exacta_policy::runs_later(first),
    }
}

/// Settings that come with a new repository are git's own; so are the examples of hooks.
fn is_guarded_in_git(path: &BStr, new_repository: bool) -> bool {
    if let Some(hook) = path.strip_prefix(b".git/hooks/") {
        return !hook.ends_with(b".sample");
    }
    let settings = [&b".git/config"[..], b".git/config.worktree", b".git/info/attributes"];
    !new_repository && settings.contains(&path.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_later_is_guarded() {
        let guarded = |path: &str, new| is_guarded(path.into(), new);
        for path in
            [".git/hooks/pre-commit", ".claude/settings.json", ".envrc", ".vscode/tasks.json"]
        {
            assert!(guarded(path, false) && guarded(path, true), "{path}");
        }
        assert!(guarded(".git/config", false) && !guarded(".git/config", true));
        for path in [
            ".git/index",
            ".git/hooks/pre-commit.sample",
            ".git/refs/heads/main",
            "src/.envrc",
            "node_modules/x/.vscode/tasks.json",
            ".vscode/extensions.json",
            ".gitignore",
        ] {
            assert!(!guarded(path, false), "{path}");
        }
    }
}
