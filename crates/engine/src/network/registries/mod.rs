//! Hosts of package managers.

use std::path::PathBuf;

use bstr::BString;
use exacta_policy::rules::grant::Grant;

/// Whoever has started exacta, as far as configuration of tools goes. Nothing of it comes from a script or a project.
#[derive(Clone, Default)]
pub struct Operator {
    pub home: Option<PathBuf>,
    /// The environment that exacta was started with.
    pub variables: Vec<(String, String)>,
}

impl Operator {
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

pub fn grants(_commands: &[Vec<BString>], _operator: &Operator) -> Vec<Grant> {
    Vec::new()
}
