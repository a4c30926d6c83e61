//! The variables a new shell has before its first command.

use bstr::{BString, ByteSlice};

use crate::shell::Shell;
use crate::variables::{Attributes, IndexedArray, Value, Variable};

/// The bash whose behaviour is followed.
const VERSION: [&str; 6] = ["5", "2", "15", "1", "release", "x86_64-pc-linux-gnu"];

const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// What the environment has no say in.
const CONSTANT: [&[u8]; 6] =
    [b"BASH", b"BASH_VERSION", b"BASH_VERSINFO", b"IFS", b"OPTERR", b"OPTIND"];

/// The variables that are the same in every shell: made once, and shared until a shell sets something.
pub(crate) fn constants() -> Vec<(&'static str, Variable)> {
    let [major, minor, patch, build, release, machine] = VERSION;
    let version = format!("{major}.{minor}.{patch}({build})-{release}");
    let info = Variable {
        value: Some(Value::Indexed(IndexedArray::from_iter(VERSION.map(BString::from)))),
        attributes: Attributes { readonly: true, ..Attributes::default() },
    };
    let option_index = Variable {
        value: Some(Value::Scalar("1".into())),
        attributes: Attributes { integer: true, ..Attributes::default() },
    };
    vec![
        ("BASH", Variable::scalar("/bin/bash")),
        ("BASH_VERSION", Variable::scalar(version)),
        ("BASH_VERSINFO", info),
        ("COMP_WORDBREAKS", Variable::scalar(" \t\n\"'@><=;|&(:")),
        ("HOSTTYPE", Variable::scalar("x86_64")),
        ("IFS", Variable::scalar(" \t\n")),
        ("MACHTYPE", Variable::scalar(machine)),
        ("OPTERR", Variable::scalar("1")),
        ("OPTIND", option_index),
        ("OSTYPE", Variable::scalar("linux-gnu")),
        ("PS4", Variable::scalar("+ ")),
        ("SHELL", Variable::scalar("/bin/bash")),
        ("TERM", Variable::scalar("dumb")),
    ]
}

impl Shell {
    pub(crate) fn set_initial_variables(&mut self, environment: &[(BString, BString)]) {
        for (name, value) in environment.iter().filter(|(name, _)| is_name(name)) {
            if CONSTANT.contains(&name.as_slice()) {
                self.variables.get_or_create(name.as_bstr()).attributes.exported = true;
            } else {
                self.export_initially(name.as_bstr().to_string(), value.clone());
            }
        }
        self.set_identity();
        let root = self.directory.clone();
        for (name, value) in [("HOME", root.clone()), ("PWD", root), ("PATH", DEFAULT_PATH.into())]
        {
            if name == "PWD" || self.variables.get(name.into()).is_none() {
                self.export_initially(name, value);
            }
        }
        let level =
            self.variables.scalar("SHLVL").and_then(|level| level.to_str().ok()?.parse().ok());
        let level = level.unwrap_or(0_i64).saturating_add(1).max(0);
        let level = if level >= 1000 { 1 } else { level };
        self.export_initially("SHLVL", level.to_string().into());
        self.variables.remove("OLDPWD".into());
        self.variables.get_or_create("OLDPWD".into()).attributes.exported = true;
        if self.variables.get("POSIXLY_CORRECT".into()).is_some() {
            self.options.posix = true;
        }
    }

    fn set_identity(&mut self) {
        let identity = self.host.identity();
        let host_name = identity.host_name.clone();
        let (user, parent) = (identity.user_id, identity.parent_id);
        if self.variables.get("HOSTNAME".into()).is_none() {
            self.variables.set("HOSTNAME", host_name);
        }
        for (name, number) in [("UID", user), ("EUID", user), ("PPID", parent)] {
            *self.variables.get_or_create(name.into()) = Variable {
                value: Some(Value::Scalar(number.to_string().into())),
                attributes: Attributes { integer: true, readonly: true, ..Attributes::default() },
            };
        }
    }

    fn export_initially(&mut self, name: impl AsRef<str>, value: BString) {
        let variable = self.variables.get_or_create(name.as_ref().into());
        variable.value = Some(Value::Scalar(value));
        variable.attributes.exported = true;
    }
}

fn is_name(name: &[u8]) -> bool {
    name.first().is_some_and(|first| first.is_ascii_alphabetic() || *first == b'_')
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}
