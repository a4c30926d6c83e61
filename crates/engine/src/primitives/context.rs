//! Where primitives run, and for whom (S2).

use std::fmt;
use std::path::{Component, Path, PathBuf};

use crate::gate::Judgement;
use crate::programs::ProgramOptions;
use crate::project;

/// The project that commands run in, and what they are judged by.
///
/// The working directory is all that exists for a command, beside a private `/tmp`. `/` grants nothing, and `/tmp` is
/// the private one.
///
/// ```
/// use std::path::{Path, PathBuf};
///
/// use exacta::primitives::PrimitiveContext;
///
/// let context = PrimitiveContext::new(PathBuf::from("/srv/project"));
/// assert_eq!(context.resolve_path("src"), Path::new("/srv/project/src"));
/// assert!(context.is_path_allowed("src/../tests"));
/// assert!(context.is_path_allowed("/tmp"));
/// assert!(!context.is_path_allowed("../another"));
/// assert!(!context.is_path_allowed("/etc"));
/// ```
#[derive(Clone)]
pub struct PrimitiveContext {
    pub working_dir: PathBuf,
    /// Tells the work for one purpose from that for another, in what is recorded.
    pub operation_id: String,
    /// Absent: the built-in rules under `dev`, with nobody to ask.
    pub judgement: Option<Judgement>,
    /// Absent: the toolchains on this process's `PATH`, and the limits of the profile.
    pub programs: Option<ProgramOptions>,
}

impl fmt::Debug for PrimitiveContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PrimitiveContext")
            .field("working_dir", &self.working_dir)
            .field("operation_id", &self.operation_id)
            .finish_non_exhaustive()
    }
}

impl PrimitiveContext {
    /// With an operation of its own.
    pub fn new(working_dir: PathBuf) -> Self {
        let operation_id = uuid::Uuid::now_v7().to_string();
        PrimitiveContext { working_dir, operation_id, judgement: None, programs: None }
    }

    pub fn with_operation_id(mut self, operation_id: impl Into<String>) -> Self {
        self.operation_id = operation_id.into();
        self
    }

    /// Other rules than the built-in ones, or somebody who can be asked.
    pub fn with_judgement(mut self, judgement: Judgement) -> Self {
        self.judgement = Some(judgement);
        self
    }

    pub fn with_programs(mut self, programs: ProgramOptions) -> Self {
        self.programs = Some(programs);
        self
    }

    /// A path as seen from the working directory.
    pub fn resolve_path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.working_dir.join(path)
    }

    /// Whether there may be something for commands, by the text of the path: where links lead is not said here. What
    /// they would lead out to does not exist for a command.
    pub fn is_path_allowed(&self, path: impl AsRef<Path>) -> bool {
        let root = crate::operator_file::canonical(&self.working_dir);
        let root = root.unwrap_or_else(|_| normal(&self.working_dir));
        self.inside(&root, path.as_ref()).is_some()
    }

    /// The path as a command sees it whose root, without links, is this one.
    pub(super) fn inside(&self, root: &Path, path: &Path) -> Option<PathBuf> {
        let named = normal(&self.resolve_path(path));
        let below = named.strip_prefix(normal(&self.working_dir)).unwrap_or(&named);
        let path = normal(&root.join(below));
        let granted = path.starts_with(root) && !project::grants_nothing(root);
        (granted || path == root || path.starts_with("/tmp")).then_some(path)
    }
}

/// The same without `.` and `..`, by the text.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if normal.file_name().is_some_and(|last| last != "..") => {
                normal.pop();
            }
            Component::ParentDir if normal.has_root() => {}
            part => normal.push(part),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_normal_by_their_text() {
        let cases = [
            ("/a/./b/../c/", "/a/c"),
            ("/../..", "/"),
            ("a/../../b", "../b"),
            ("../../b", "../../b"),
            (".", ""),
        ];
        for (path, expected) in cases {
            assert_eq!(normal(Path::new(path)), Path::new(expected), "{path}");
        }
    }

    #[test]
    fn what_is_outside_is_not_allowed() {
        let allowed = |root: &str, path: &str| {
            PrimitiveContext::new(PathBuf::from(root)).is_path_allowed(path)
        };
        let cases = [
            ("/nowhere/p", "", true),
            ("/nowhere/p", "/nowhere/p", true),
            ("/nowhere/p", "a/b", true),
            ("/nowhere/p", "/nowhere/p/../p/x", true),
            ("/nowhere/p", "..", false),
            ("/nowhere/p", "a/../../other", false),
            ("/nowhere/p", "/nowhere/pp", false),
            ("/nowhere/p", "/tmp/x", true),
            ("/nowhere/p", "/tmp/../etc", false),
            ("/", "/", true),
            ("/", "/tmp", true),
            ("/", "tmp/x", true),
            ("/", "/etc", false),
            ("/", "home", false),
            ("/tmp", "x", true),
            ("/tmp", "/", false),
            (".", "src", true),
            // Wherever the tests run, also below `/tmp`.
            (".", "../../../../../../../../../../../../etc", false),
            (".", "/etc", false),
        ];
        for (root, path, expected) in cases {
            assert_eq!(allowed(root, path), expected, "{path} in {root}");
        }
    }
}
