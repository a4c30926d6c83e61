//! Files of a project that run on the host later, or decide what agents may do. What is typed is judged before it runs;
//! what a program writes is seen only in its layer, and then a person decides.
//!
//! Settings of agents, editors and shells count in the project's root only: nobody reads those of a package among the
//! dependencies. Repositories of git count wherever they are, because git enters them by itself.

mod repositories;
mod settings;
mod sight;

use std::os::fd::BorrowedFd;

use bstr::{BStr, BString, ByteSlice};
use exacta_store::{Layer, LayerPlan, UndoError};

use sight::{Layered, Sight};

/// Whole directories and files, by their first names in small letters. What ends in `*` stands for all that begin so,
/// what begins with one for all that end so.
const GUARDED: &[&str] = &[
    "*.code-workspace",
    "*.sublime-project",
    ".aider*",
    ".amazonq",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".claude",
    ".claude.json",
    ".cline",
    ".clinerules",
    ".codex",
    ".continue",
    ".copilot",
    ".cursor",
    ".cursorrules",
    ".devcontainer",
    ".devcontainer.json",
    ".dir-locals.el",
    ".envrc",
    ".exacta",
    ".exacta.toml",
    ".exrc",
    ".fleet",
    ".gdbinit",
    ".gemini",
    ".gitconfig",
    ".githooks",
    ".goose",
    ".helix",
    ".husky",
    ".inputrc",
    ".kiro",
    ".lefthook*",
    ".lldbinit",
    ".mcp",
    ".mcp.json",
    ".mise*",
    ".nova",
    ".npmrc",
    ".nvim.lua",
    ".nvimrc",
    ".opencode",
    ".pdbrc",
    ".pre-commit-config.yaml",
    ".profile",
    ".projectile",
    ".pythonrc*",
    ".roo",
    ".roomodes",
    ".ssh",
    ".tmux.conf",
    ".vim",
    ".vimrc",
    ".windsurf",
    ".windsurfrules",
    ".yarnrc",
    ".yarnrc.yml",
    ".zed",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    "claude.local.md",
    "exacta.toml",
    "lefthook.*",
    "mcp.json",
    "mise.toml",
    "opencode.json",
    "opencode.jsonc",
    "pip.conf",
];

/// Editors and builds run these when the project is opened or built; the rest of their directories is everyday work. With
/// the directory itself, which could be a link.
const PARTLY: &[(&str, &[&str])] = &[
    (".vscode", &["tasks.json", "settings.json", "launch.json", "mcp.json"]),
    (
        ".idea",
        &["workspace.xml", "watchertasks.xml", "externaldependencies.xml", "runconfigurations"],
    ),
    (".cargo", &["config", "config.toml"]),
];

/// The paths of a layer that somebody should have a look at.
pub(super) fn among(
    plan: &LayerPlan,
    layer: &Layer,
    root: BorrowedFd<'_>,
    place: &BStr,
) -> Result<Vec<BString>, UndoError> {
    let sight = Layered { upper: layer.upper()?, root, place };
    let hooks = place_of_hooks(&sight);
    let mut found: Vec<BString> =
        plan.paths().filter(|path| is_guarded(path.as_bstr(), hooks.as_ref(), &sight)).collect();
    found.sort();
    found.dedup();
    Ok(found)
}

/// Where git looks for the project's hooks, if somebody has told it to look in the project itself.
fn place_of_hooks(sight: &impl Sight) -> Option<BString> {
    let settings = sight.content_before(".git/config".into())?;
    let place = settings::place_of_hooks(&settings)?;
    let place = place.strip_prefix(sight.root().as_bytes()).unwrap_or(&place);
    let parts = place.split_str("/").filter(|part| !part.is_empty() && *part != b".");
    let place: BString = bstr::join("/", parts).into();
    (!place.is_empty()).then_some(place)
}

fn is_guarded(path: &BStr, hooks: Option<&BString>, sight: &impl Sight) -> bool {
    let is_hook = hooks.is_some_and(|hooks| {
        path.strip_prefix(hooks.as_bytes())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    });
    is_hook || is_obeyed(path) || repositories::is_guarded(path, sight)
}

/// By its name in the project's root.
fn is_obeyed(path: &BStr) -> bool {
    let path = path.to_ascii_lowercase();
    let mut parts = path.split_str("/");
    let first = parts.next().unwrap_or_default();
    let second = parts.next();
    if let Some((_, names)) = PARTLY.iter().find(|(folder, _)| first == folder.as_bytes()) {
        return second.is_none_or(|second| names.iter().any(|name| second == name.as_bytes()));
    }
    GUARDED.iter().any(|known| match (known.strip_suffix('*'), known.strip_prefix('*')) {
        (Some(beginning), _) => first.starts_with(beginning.as_bytes()),
        (_, Some(ending)) => first.ends_with(ending.as_bytes()),
        _ => first == known.as_bytes(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_later_is_guarded() {
        for path in [
            ".claude/settings.json",
            ".Claude/settings.json",
            ".envrc",
            ".vscode",
            ".vscode/tasks.json",
            ".vscode/mcp.json",
            ".cargo/config.toml",
            ".idea/runConfigurations/x.xml",
            ".aider.conf.yml",
            "x.code-workspace",
            ".githooks/pre-commit",
            ".npmrc",
        ] {
            assert!(is_obeyed(path.into()), "{path}");
        }
        for path in [
            ".git/index",
            "src/.envrc",
            "node_modules/x/.vscode/tasks.json",
            ".vscode/extensions.json",
            ".idea/modules.xml",
            ".gitignore",
            ".github/workflows/x.yml",
            "npmrc",
        ] {
            assert!(!is_obeyed(path.into()), "{path}");
        }
    }
}
