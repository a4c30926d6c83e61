//! The variables a new shell has before its first command.

use bstr::{BString, ByteSlice};

use crate::shell::Shell;
use crate::variables::{Attributes, IndexedArray, Value, Variable};

/// The bash whose behaviour is followed.
const VERSION: [&str; 6] = ["5", "2", "15", "1", "release", "x86_64-pc-linux-gnu"];

const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

impl Shell {
    pub(crate) fn set_initial_variables(&mut self, environment: &[(BString, BString)]) {
        for (name, value) in environment.iter().filter(|(name, _)| is_name(name)) {
            self.export_initially(name.as_bstr().to_string(), value.clone());
        }
        self.set_constants();
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
        let level = level.filter(|level: &u32| *level < 999).unwrap_or(0) + 1;
        self.export_initially("SHLVL", level.to_string().into());
        self.variables.remove("OLDPWD".into());
        self.variables.get_or_create("OLDPWD".into()).attributes.exported = true;
        if self.variables.get("POSIXLY_CORRECT".into()).is_some() {
            self.options.posix = true;
        }
    }

    fn set_constants(&mut self) {
        let [major, minor, patch, build, release, machine] = VERSION;
        let version = format!("{major}.{minor}.{patch}({build})-{release}");
        self.variables.set("BASH", "/bin/bash");
        self.variables.set("BASH_VERSION", version);
        self.variables.set("HOSTTYPE", "x86_64");
        self.variables.set("MACHTYPE", machine);
        self.variables.set("OSTYPE", "linux-gnu");
        self.variables.set("IFS", " \t\n");
        self.variables.set("OPTERR", "1");
        let defaults = [("PS4", "+ "), ("SHELL", "/bin/bash"), ("TERM", "dumb")];
        for (name, value) in defaults {
            if self.variables.get(name.into()).is_none() {
                self.variables.set(name, value);
            }
        }
        let info = IndexedArray::from_iter(VERSION.map(BString::from));
        *self.variables.get_or_create("BASH_VERSINFO".into()) = Variable {
            value: Some(Value::Indexed(info)),
            attributes: Attributes { readonly: true, ..Attributes::default() },
        };
        *self.variables.get_or_create("OPTIND".into()) = Variable {
            value: Some(Value::Scalar("1".into())),
            attributes: Attributes { integer: true, ..Attributes::default() },
        };
    }

    fn set_identity(&mut self) {
        let identity = self.host.identity();
        let host_name = identity.host_name.clone();
        let (user, parent) = (identity.user_id, identity.parent_id);
        self.variables.set("HOSTNAME", host_name);
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
