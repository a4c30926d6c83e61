//! Built into every harness that runs a case in a real directory: after the case its request is undone, and the tree must
//! be exactly what it was; then it is redone, and the tree must be exactly what the case left.
//!
//! "Exactly" is contents, kinds, modes, owners, times to the nanosecond (of directories too), extended attributes, groups
//! of hard links, holes and targets. A request without a record must have changed nothing.

use std::fs::File;
use std::os::fd::AsFd;
use std::path::Path;

use exacta::undo::UndoReport;
use exacta_store::{Journal, Options, Which};

#[path = "../../../store/tests/tree/mod.rs"]
mod tree;

use tree::{But, Tree};

/// A project before a case.
pub struct Before {
    tree: Tree,
}

impl Before {
    pub fn of(project: &Path) -> Self {
        Before { tree: read(project) }
    }

    /// Undoes and redoes what the case did. The differences, if there are any.
    pub fn there_and_back(&self, project: &Path, undo: Option<&UndoReport>) -> Result<(), String> {
        let after = read(project);
        let Some(undo) = undo else {
            return same("changed without a record", &self.tree, &after);
        };
        let journal = open(project)?;
        let which = Which::These(vec![undo.id]);
        let undone = journal.undo(&which, Options::default());
        undone.map_err(|error| format!("undo: {error}"))?;
        same("after undo", &self.tree, &read(project))?;
        let redone = journal.redo(&which, Options::default());
        redone.map_err(|error| format!("redo: {error}"))?;
        same("after redo", &after, &read(project))
    }
}

fn read(project: &Path) -> Tree {
    tree::read(project, &[".clada"])
}

fn open(project: &Path) -> Result<Journal, String> {
    let directory = |path: &Path| File::open(path).map_err(|error| error.to_string());
    let (root, state) = (directory(project)?, directory(&project.join(".clada"))?);
    Journal::open(root.as_fd(), state.as_fd()).map_err(|error| error.to_string())
}

fn same(when: &str, expected: &Tree, found: &Tree) -> Result<(), String> {
    let differences = expected.differences(found, But::Nothing);
    if differences.is_empty() {
        return Ok(());
    }
    Err(format!("{when}:\n{}", differences.join("\n")))
}
