//! A project as the judge meets it, made up: nothing is looked at on the disk.

use bstr::{BStr, BString, ByteSlice};
use exacta_policy::surroundings::is_system;
use exacta_policy::{Place, Surroundings};

/// `/home/dev/project`, where `~` is too, with the commands of the shell in process.
#[derive(Debug, Clone, Copy, Default)]
pub struct Project;

const ROOT: &str = "/home/dev/project";
const VARIABLES: &[(&str, &str)] =
    &[("HOME", ROOT), ("PWD", ROOT), ("PATH", "/usr/local/bin:/usr/bin:/bin"), ("SHLVL", "1")];
const DEVICES: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
];

impl Surroundings for Project {
    fn root(&self) -> &BStr {
        ROOT.into()
    }

    fn directory(&self) -> &BStr {
        ROOT.into()
    }

    fn variable(&self, name: &BStr) -> Option<BString> {
        VARIABLES.iter().find(|(known, _)| name == *known).map(|(_, value)| (*value).into())
    }

    fn place(&self, path: &BStr) -> Place {
        let beneath = |folder: &str| {
            path.strip_prefix(folder.as_bytes())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
        };
        if beneath("/home/dev/project/.clada") {
            Place::Hidden
        } else if beneath(ROOT) {
            Place::Project
        } else if beneath("/tmp") {
            Place::Scratch
        } else if DEVICES.iter().any(|device| path == *device) || is_descriptor(path) {
            Place::Device
        } else if is_system(path) {
            Place::System
        } else {
            Place::Outside
        }
    }

    fn is_builtin(&self, name: &BStr) -> bool {
        exacta_shell::builtins::find(name.as_bytes().as_bstr()).is_some()
    }

    fn is_defined(&self, _name: &BStr) -> bool {
        false
    }

    fn glob(&self, _pattern: &BStr, _limit: usize) -> Vec<BString> {
        Vec::new()
    }
}

fn is_descriptor(path: &BStr) -> bool {
    path.strip_prefix(b"/dev/fd/")
        .is_some_and(|number| !number.is_empty() && number.iter().all(u8::is_ascii_digit))
}
