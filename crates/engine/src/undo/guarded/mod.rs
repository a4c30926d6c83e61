//! Files of a project that run on the host later, or decide what agents may do. What is typed is judged before it runs;
//! what a program writes is seen only in its layer, and then a person decides.
//!
//! Which names these are the judge knows, and [`BESIDES`]. Settings of agents, editors and shells count in the project's
//! root only: nobody reads those of a package among the dependencies. Repositories of git count wherever they are, because
//! git enters them by itself.

mod repositories;
mod settings;
mod sight;

use std::os::fd::BorrowedFd;

use bstr::{BStr, BString, ByteSlice};
use exacta_store::{Layer, LayerPlan, UndoError};

use sight::{Layered, Sight};

/// More of them than the judge asks about: it sees what somebody means to write, a layer shows only that it was written. In
/// small letters; what ends in `*` stands for all that begin so, what begins with one for all that end so.
const BESIDES: &[&str] = &[
    "*.code-workspace",
    "*.sublime-project",
    ".aider*",
    ".bash_login",
    ".bash_logout",
    ".claude.json",
    ".clinerules",
    ".copilot",
    ".cursorrules",
    ".dir-locals.el",
    ".exacta",
    ".exrc",
    ".fleet",
    ".gdbinit",
    ".githooks",
    ".helix",
    ".inputrc",
    ".lefthook*",
    ".lldbinit",
    ".mise*",
    ".nova",
    ".npmrc",
    ".nvim.lua",
    ".nvimrc",
    ".pdbrc",
    ".projectile",
    ".pythonrc*",
    ".roomodes",
    ".ssh",
    ".vim",
    ".vimrc",
    ".windsurfrules",
    ".yarnrc",
    ".yarnrc.yml",
    ".zlogin",
    ".zlogout",
    "claude.local.md",
    "exacta.toml",
    "lefthook.*",
    "mise.toml",
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
    let besides =
        BESIDES.iter().any(|known| match (known.strip_suffix('*'), known.strip_prefix('*')) {
            (Some(beginning), _) => first.starts_with(beginning.as_bytes()),
            (_, Some(ending)) => first.ends_with(ending.as_bytes()),
            _ => first == known.as_bytes(),
        });
    besides || exacta_policy::runs_later(first)
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
