//! Toolchains that a person has installed outside the system's directories, recognised by their layout on `PATH`.
//!
//! Other directories on `PATH` are not searched: a home directory is not a place for an agent.

#![expect(
    clippy::disallowed_methods,
    reason = "the operator's own system is looked at, which programs see read-only"
)]

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use exacta_jail::plan::{Access, Tree};

use super::versions;

/// A manager of toolchains.
struct Layout {
    /// How its directories on `PATH` end.
    path: &'static str,
    /// The tree that belongs to it: this many components above.
    above: usize,
    /// What must be in that tree: a name alone proves little.
    proof: &'static str,
    /// Relative to the tree: credentials, and what runs on the host later.
    hidden: &'static [&'static str],
    /// Programs of it write into it: they get a private layer of this name.
    layer: Option<&'static str>,
    /// The variable by which its programs find it.
    variable: Option<&'static str>,
    /// Another tree beside it, by name.
    beside: Option<(&'static str, &'static str)>,
    /// Its directory on `PATH` holds scripts that look for the version to run: this file of a project names it.
    chosen_by: Option<&'static str>,
}

const PLAIN: Layout = Layout {
    path: "",
    above: 1,
    proof: "",
    hidden: &[],
    layer: None,
    variable: None,
    beside: None,
    chosen_by: None,
};

const LAYOUTS: [Layout; 17] = [
    Layout {
        path: ".cargo/bin",
        proof: "bin",
        hidden: &["credentials", "credentials.toml", "env", "config", "config.toml"],
        layer: Some("cargo"),
        variable: Some("CARGO_HOME"),
        beside: Some((".rustup", "RUSTUP_HOME")),
        ..PLAIN
    },
    Layout {
        path: ".pyenv/shims",
        proof: "versions",
        variable: Some("PYENV_ROOT"),
        chosen_by: Some(".python-version"),
        ..PLAIN
    },
    Layout { path: ".pyenv/bin", proof: "versions", variable: Some("PYENV_ROOT"), ..PLAIN },
    Layout {
        path: ".rbenv/shims",
        proof: "versions",
        variable: Some("RBENV_ROOT"),
        chosen_by: Some(".ruby-version"),
        ..PLAIN
    },
    Layout { path: ".rbenv/bin", proof: "versions", variable: Some("RBENV_ROOT"), ..PLAIN },
    Layout { path: ".volta/bin", proof: "tools", variable: Some("VOLTA_HOME"), ..PLAIN },
    Layout { path: ".bun/bin", proof: "bin/bun", ..PLAIN },
    Layout { path: ".deno/bin", proof: "bin/deno", ..PLAIN },
    Layout { path: ".asdf/shims", proof: "installs", variable: Some("ASDF_DATA_DIR"), ..PLAIN },
    Layout {
        path: ".local/share/mise/shims",
        proof: "installs",
        variable: Some("MISE_DATA_DIR"),
        ..PLAIN
    },
    Layout { path: ".ghcup/bin", proof: "ghc", ..PLAIN },
    Layout { path: ".opam/default/bin", proof: "lib/ocaml", ..PLAIN },
    Layout { path: ".dotnet", above: 0, proof: "sdk", variable: Some("DOTNET_ROOT"), ..PLAIN },
    // A version of node that nvm, fnm or an archive has unpacked.
    Layout { path: "bin", proof: "lib/node_modules/npm", ..PLAIN },
    // Go, wherever it was unpacked.
    Layout { path: "bin", proof: "pkg/tool", variable: Some("GOROOT"), ..PLAIN },
    // A Java development kit.
    Layout { path: "bin", proof: "lib/modules", variable: Some("JAVA_HOME"), ..PLAIN },
    // conda and its environments.
    Layout { path: "bin", proof: "conda-meta", hidden: &[".condarc"], ..PLAIN },
];

/// What was found on a caller's `PATH`.
#[derive(Debug, Default)]
pub struct Toolchains {
    pub trees: Vec<Tree>,
    /// In the order of the caller's `PATH`.
    pub path: Vec<PathBuf>,
    pub environment: Vec<(String, PathBuf)>,
}

/// Recognises toolchains among the directories of a `PATH`. `layers` is where private layers may be made.
pub fn find<'a>(path: impl Iterator<Item = &'a Path>, layers: &Path, project: &Path) -> Toolchains {
    let mut found = Toolchains::default();
    for directory in path.filter(|directory| directory.is_absolute()) {
        if found.path.iter().any(|known| known == directory) {
            continue;
        }
        // Without what says nothing, such as a slash at its end.
        let plain: PathBuf = directory.components().collect();
        let known = LAYOUTS.iter().find_map(|layout| Some((layout, root_of(layout, &plain)?)));
        if let Some((layout, root)) = known {
            if let Some(file) = layout.chosen_by {
                found.path.extend(versions::chosen(&root, project, file));
            }
            found.path.push(directory.to_owned());
            found.add(layout, root, layers);
        }
    }
    found
}

/// The tree of a directory on `PATH`, whose path is plain, if the layout is this one.
fn root_of(layout: &Layout, directory: &Path) -> Option<PathBuf> {
    // Byte by byte: each directory is compared with each layout, before each first program.
    let above = directory.as_os_str().as_bytes().strip_suffix(layout.path.as_bytes())?;
    if !above.ends_with(b"/") {
        return None;
    }
    let root = directory.ancestors().nth(layout.above)?;
    let is_there = |name: &str| fs::symlink_metadata(root.join(name)).is_ok();
    // Nothing of the system's own, which is there anyway.
    let own = !["/", "/usr", "/usr/local"].iter().any(|system| root == Path::new(system));
    // Tools can be installed right into a home. That is not given away for them.
    let home = || PERSONAL.into_iter().any(is_there) || root.ends_with(".local");
    (own && is_there(layout.proof) && !home()).then(|| root.to_owned())
}

/// What a person's home has in it, and no toolchain.
const PERSONAL: [&str; 8] =
    [".ssh", ".config", ".cache", ".local", ".gnupg", ".profile", ".bashrc", ".bash_history"];

impl Toolchains {
    fn add(&mut self, layout: &Layout, root: PathBuf, layers: &Path) {
        if self.trees.iter().any(|tree| tree.target == root) {
            return;
        }
        if let Some((name, variable)) = layout.beside
            && let Some(beside) = root.parent().map(|above| above.join(name))
            && fs::metadata(&beside).is_ok_and(|found| found.is_dir())
        {
            self.environment.push((variable.to_owned(), beside.clone()));
            self.trees.push(super::system::read_only(beside, Vec::new()));
        }
        if let Some(variable) = layout.variable {
            self.environment.push((variable.to_owned(), root.clone()));
        }
        let hidden = layout.hidden.iter().map(PathBuf::from).collect();
        let access = layout.layer.map_or(Access::Read, |name| Access::Layer(layers.join(name)));
        self.trees.push(Tree { source: root.clone(), target: root, access, hidden });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn homes_are_no_toolchains() {
        let place = std::env::temp_dir().join(format!("exacta-toolchains-{}", std::process::id()));
        let make = |path: &str| fs::create_dir_all(place.join(path)).expect("a directory");
        // Each with npm installed in it.
        for prefix in ["node-v22", "person", "person/.local"] {
            make(&format!("{prefix}/bin"));
            make(&format!("{prefix}/lib/node_modules/npm"));
        }
        make("person/.ssh");
        let path: Vec<PathBuf> = ["node-v22/bin", "person/bin", "person/.local/bin"]
            .map(|directory| place.join(directory))
            .into();
        let found = find(path.iter().map(PathBuf::as_path), &place, Path::new("/project"));
        fs::remove_dir_all(&place).expect("it can be removed");
        assert_eq!(found.path, [place.join("node-v22/bin")]);
        let trees: Vec<&Path> = found.trees.iter().map(|tree| tree.source.as_path()).collect();
        assert_eq!(trees, [place.join("node-v22")]);
    }
}
