//! Hosts of package managers: those that the operator's own configuration of a tool names, or else those that the tool
//! comes with. Never what a project says, and never what a script sets.
//!
//! Credentials stay outside: an address goes into the jail without what stands before its `@`, and files with tokens do
//! not go in at all. What runs inside could read them, and a proxy that sees only encrypted bytes cannot add them.
//!
//! - [`commands`]: which tool a command is, and whether it would fetch something.
//! - [`operator`]: whose configuration it is; [`link`]: the address of a registry.
//! - [`npm`], [`pip`], [`cargo`], [`others`]: where each tool keeps it; [`trust`]: whom they trust on the network.

mod cargo;
mod commands;
mod link;
mod npm;
mod operator;
mod others;
mod pip;
mod trust;

use std::path::Path;

use bstr::BString;
use exacta_jail::plan::SyntheticFile;
use exacta_policy::rules::grant::Grant;

use commands::Tool;
use link::Link;
pub use operator::Operator;
use operator::Reader;

/// What is known of the operator's package managers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Registries {
    tools: Vec<(Tool, Vec<Grant>)>,
    /// Configuration for inside: which registries there are, and nothing else.
    pub files: Vec<SyntheticFile>,
    /// The same for tools that look into their environment.
    pub variables: Vec<(BString, BString)>,
}

/// What one tool's configuration says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Found {
    links: Vec<Link>,
    /// The registry that the tool comes with is in use.
    usual: bool,
    files: Vec<(&'static str, String)>,
    variables: Vec<(String, String)>,
}

impl Registries {
    /// Files beneath `root` are the project's, whoever has put them there.
    pub fn read(operator: &Operator, root: &Path) -> Self {
        let reader = Reader::new(operator, root);
        let mut all = Registries::default();
        for tool in Tool::ALL {
            let found = match tool {
                Tool::Npm => npm::read(&reader),
                Tool::Pip => pip::read(&reader),
                Tool::Cargo => cargo::read(&reader),
                Tool::Go => others::go(&reader),
                Tool::Gem => others::gem(&reader),
                Tool::Composer => others::composer(&reader),
            };
            all.add(tool, found);
        }
        all.variables.extend(trust::variables(&reader));
        all
    }

    fn add(&mut self, tool: Tool, found: Found) {
        let usual = tool.usual_hosts();
        let mut grants: Vec<Grant> = found.links.into_iter().map(|link| link.grant).collect();
        // Whoever names the usual one means the usual one, with all that belongs to it.
        let names_usual = |grant: &Grant| {
            usual.iter().any(|it| Grant::read(it).is_ok_and(|it| it.host == grant.host))
        };
        let any_usual = found.usual || grants.iter().any(names_usual);
        grants.retain(|grant| !names_usual(grant));
        if any_usual {
            // Where the machine finds another one under its name (a mirror), that is the operator's doing.
            let usual =
                usual.iter().filter_map(|host| Grant::read(&format!("https://{host}")).ok());
            grants.extend(usual.map(|grant| Grant { private: true, ..grant }));
        }
        self.tools.push((tool, grants));
        let file = |(target, text): (&str, String)| SyntheticFile {
            target: target.into(),
            content: text.into(),
        };
        self.files.extend(found.files.into_iter().map(file));
        self.variables
            .extend(found.variables.into_iter().map(|(name, value)| (name.into(), value.into())));
    }

    /// What those of these commands that fetch packages may reach.
    pub fn grants(&self, commands: &[Vec<BString>]) -> Vec<Grant> {
        let mut grants: Vec<Grant> = Vec::new();
        for tool in commands.iter().filter_map(|words| commands::fetching(words)) {
            let known = self.tools.iter().filter(|(known, _)| *known == tool);
            for grant in known.flat_map(|(_, grants)| grants) {
                if !grants.contains(grant) {
                    grants.push(grant.clone());
                }
            }
        }
        grants
    }
}

#[cfg(test)]
mod tests;
