//! What there is to attack: secrets outside the project, and what may not change there.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

use crate::pieces;
use crate::record::Attack;

/// What is to be stolen, wherever it lies.
pub const SECRET: &str = "exacta-canary-5d0c19";

/// The directories of one attempt.
pub struct Scene {
    pub base: PathBuf,
}

impl Scene {
    pub fn project(&self) -> PathBuf {
        self.base.join("project")
    }

    pub fn outside(&self) -> PathBuf {
        self.base.join("outside")
    }

    pub fn output(&self) -> PathBuf {
        self.base.join("output")
    }

    /// Everything in it belongs to the attacker: what protects it is not that it is somebody else's.
    pub fn lay_out(&self, attack: &Attack, owner: u32) {
        let (project, outside) = (self.project(), self.outside());
        for folder in [project.join(".clada"), project.join("sub"), outside.join("directory")] {
            fs::create_dir_all(folder).expect("a directory");
        }
        let secret = format!("{SECRET}\n");
        let files = [
            (outside.join("secret"), secret.clone()),
            (outside.join("directory/secret"), secret.clone()),
            (outside.join("log"), String::new()),
            (outside.join("program"), format!("#!/bin/sh\necho {SECRET}\n")),
            (project.join(".clada/secret"), secret.clone()),
            (project.join("file"), "ordinary\n".to_owned()),
            (project.join("attack.sh"), attack.sh.clone().unwrap_or_default()),
            (project.join("attack.py"), attack.python.clone().unwrap_or_default()),
            (self.output(), String::new()),
        ];
        for (path, content) in files {
            fs::write(path, content).expect("a file");
        }
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(outside.join("program"), executable).expect("a mode");
        let own = attack.c.as_ref().and_then(|words| words.first());
        for piece in ["launch"].into_iter().chain(own.map(String::as_str)) {
            fs::copy(pieces::folder().join(piece), project.join(piece)).expect("a piece");
        }
        give(&self.base, owner);
    }

    /// What must not change, whatever the attack is about. The time of change is one that nobody can set.
    pub fn snapshot(&self) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        look(&self.outside(), &mut found);
        look(&self.project().join(".clada/secret"), &mut found);
        found
    }
}

fn give(path: &Path, owner: u32) {
    chown(path, Some(owner), Some(owner)).expect("an owner");
    if fs::symlink_metadata(path).expect("it was made").is_dir() {
        for entry in fs::read_dir(path).expect("a directory") {
            give(&entry.expect("an entry").path(), owner);
        }
    }
}

fn look(path: &Path, found: &mut BTreeMap<PathBuf, String>) {
    let Ok(stat) = fs::symlink_metadata(path) else { return };
    let text = format!(
        "inode {} mode {:o} owner {} size {} links {} changed {}.{:09}",
        stat.ino(),
        stat.mode(),
        stat.uid(),
        stat.size(),
        stat.nlink(),
        stat.ctime(),
        stat.ctime_nsec()
    );
    found.insert(path.to_owned(), text);
    if stat.is_dir() {
        for entry in fs::read_dir(path).expect("a directory").flatten() {
            look(&entry.path(), found);
        }
    }
}
