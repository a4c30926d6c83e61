//! Whoever has started exacta, as far as the configuration of tools goes.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use crate::operator_file;

/// Nothing of it comes from a script or a project.
#[derive(Clone, Default)]
pub struct Operator {
    pub home: Option<PathBuf>,
    /// The environment that exacta was started with.
    pub variables: Vec<(String, String)>,
    /// Where the files of the system are; absent: where they always are.
    pub system: Option<PathBuf>,
}

impl Operator {
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Reads what the operator has written.
pub struct Reader<'a> {
    pub operator: &'a Operator,
    /// What lies beneath is not the operator's.
    root: &'a Path,
    /// The same without links, once somebody has asked.
    real_root: OnceCell<PathBuf>,
}

/// Longer files are not what people write.
const LARGEST: u64 = 1 << 20;

impl<'a> Reader<'a> {
    pub fn new(operator: &'a Operator, root: &'a Path) -> Self {
        Reader { operator, root, real_root: OnceCell::new() }
    }

    /// A variable that is set and not empty.
    pub fn variable(&self, name: &str) -> Option<&'a str> {
        self.operator.variable(name).filter(|value| !value.is_empty())
    }

    /// Of these names, the first that is set.
    pub fn any_variable(&self, names: &[&str]) -> Option<&'a str> {
        names.iter().find_map(|name| self.variable(name))
    }

    /// A path in the operator's home.
    pub fn home(&self, path: &str) -> Option<PathBuf> {
        self.operator.home.as_ref().map(|home| home.join(path))
    }

    /// A path of the system, from its root.
    pub fn system(&self, path: &str) -> PathBuf {
        self.operator.system.as_deref().unwrap_or(Path::new("/")).join(path)
    }

    /// A path where configuration is kept.
    pub fn settings(&self, path: &str) -> Option<PathBuf> {
        let named =
            self.variable("XDG_CONFIG_HOME").map(PathBuf::from).filter(|it| it.is_absolute());
        named.or_else(|| self.home(".config")).map(|folder| folder.join(path))
    }

    /// The text of a file that is the operator's, wherever links lead to.
    pub fn text(&self, path: &Path) -> Option<String> {
        let real_root = || {
            let real = || operator_file::canonical(self.root).unwrap_or(self.root.to_owned());
            self.real_root.get_or_init(real).as_path()
        };
        String::from_utf8(operator_file::read_outside(real_root, path, LARGEST)?).ok()
    }
}
