//! Which version of a language a project has chosen, where a manager keeps several.
//!
//! The managers' own scripts find that out with half a dozen processes, more than a profile may allow, and in a tenth
//! of a second. Their programs are the same as those in the version's own directory.

#![expect(
    clippy::disallowed_methods,
    reason = "the operator's own system is looked at, which programs see read-only"
)]

use std::fs::{self, OpenOptions};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

/// More than a name of a version ever takes.
const LONGEST: u64 = 4 << 10;

/// The directories with the programs of the chosen versions, in order: what the project says, or else everybody's
/// choice. None, if the system's own was chosen or the version is not installed: then the manager says so itself.
pub fn chosen(manager: &Path, project: &Path, file: &str) -> Vec<PathBuf> {
    let text = read(&project.join(file)).or_else(|| read(&manager.join("version")));
    let text = text.unwrap_or_default();
    let lines = text.lines().map(|line| line.split_once('#').map_or(line, |(name, _)| name));
    let names: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
    let found: Vec<PathBuf> =
        names.iter().filter_map(|name| installed(&manager.join("versions"), name)).collect();
    if found.len() == names.len() { found } else { Vec::new() }
}

/// The project's file is anybody's: it may be a link to elsewhere, or something that blocks.
fn read(path: &Path) -> Option<String> {
    let flags = (rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits();
    let file = OpenOptions::new().read(true).custom_flags(flags.cast_signed()).open(path).ok()?;
    let mut text = String::new();
    file.metadata().ok().filter(fs::Metadata::is_file)?;
    file.take(LONGEST).read_to_string(&mut text).ok()?;
    Some(text)
}

/// `3.11.7`, or the latest of `3.11`.
fn installed(versions: &Path, name: &str) -> Option<PathBuf> {
    let mut components = Path::new(name).components();
    let (Some(Component::Normal(_)), None) = (components.next(), components.next()) else {
        return None;
    };
    let programs =
        |version: &str| Some(versions.join(version).join("bin")).filter(|it| it.is_dir());
    if let Some(exact) = programs(name) {
        return Some(exact);
    }
    let entries = fs::read_dir(versions).ok()?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let numbered = names.filter_map(|version| {
        let rest = version.strip_prefix(name)?.strip_prefix('.')?;
        let numbers: Vec<u32> = rest.split('.').map(str::parse).collect::<Result<_, _>>().ok()?;
        Some((numbers, version.clone()))
    });
    programs(&numbered.max()?.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_project_chooses_and_else_everybody() {
        let place = std::env::temp_dir().join(format!("exacta-versions-{}", std::process::id()));
        let (manager, project) = (place.join("manager"), place.join("project"));
        fs::create_dir_all(&project).expect("a directory");
        for version in ["3.9.18", "3.11.7", "3.11.10", "3.11-dev", "mine"] {
            fs::create_dir_all(manager.join("versions").join(version).join("bin"))
                .expect("a version");
        }
        fs::write(manager.join("version"), "3.9.18 # old\n").expect("a file");
        let cases: [(Option<&str>, &[&str]); 8] = [
            (None, &["3.9.18"]),
            (Some("3.11.7\n"), &["3.11.7"]),
            (Some("3.11\n"), &["3.11.10"]),
            (Some("mine\n3.9.18\n"), &["mine", "3.9.18"]),
            (Some("system\n"), &[]),
            (Some("../../project\n"), &[]),
            (Some("3.12\n"), &[]),
            (Some(""), &[]),
        ];
        for (text, expected) in cases {
            if let Some(text) = text {
                fs::write(project.join(".python-version"), text).expect("a file");
            }
            let expected: Vec<PathBuf> = expected
                .iter()
                .map(|name| manager.join("versions").join(name).join("bin"))
                .collect();
            assert_eq!(chosen(&manager, &project, ".python-version"), expected, "{text:?}");
        }
        fs::remove_dir_all(&place).expect("it can be removed");
    }
}
