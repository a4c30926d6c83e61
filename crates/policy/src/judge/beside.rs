//! Settings, plugins and the like that a tool takes from beside the project (`--config /tmp/x.js`): they can load code
//! that is no work of the project. What the tables say of an option is judged as such; this looks at the names of
//! options that mean the same in most tools, whether somebody has written a table for the tool or not.

use bstr::{BStr, ByteSlice};

use super::command::Subjected;
use super::inquiry::Inquiry;
use crate::surroundings::Place;
use crate::verdict::Finding;
use crate::word::Word;

/// Names of options whose value is code, or settings that can name code.
const LOADING: &[&str] = &[
    "addon",
    "agent",
    "append-config",
    "autoload",
    "autoload-file",
    "bazelrc",
    "bootstrap",
    "build-file",
    "buildfile",
    "cfg",
    "conf",
    "conf-dir",
    "conf-file",
    "conf-path",
    "config",
    "config-dir",
    "config-file",
    "config-path",
    "configfile",
    "configuration",
    "cov-config",
    "custom-formatter",
    "custom-reporter",
    "defaults",
    "defaults-file",
    "extension",
    "extension-dir",
    "extensions-dir",
    "formatter",
    "gemfile",
    "global-pnpmfile",
    "global-setup",
    "globalconfig",
    "globalsetup",
    "globalteardown",
    "gruntfile",
    "gulpfile",
    "homedir",
    "hooks-path",
    "include-dir",
    "include-path",
    "init-file",
    "init-script",
    "initfile",
    "jakefile",
    "javaagent",
    "justfile",
    "kubeconfig",
    "lib",
    "library-path",
    "load",
    "load-extension",
    "load-path",
    "load-plugin",
    "load-plugins",
    "loader",
    "lua-filter",
    "makefile",
    "module-path",
    "options-file",
    "optlib-dir",
    "overlay-ports",
    "overlay-triplets",
    "parser",
    "plugin",
    "plugin-dir",
    "plugin-path",
    "plugins",
    "plugins-dir",
    "pnpmfile",
    "preload",
    "prepend",
    "preset",
    "presets",
    "profile",
    "project-file",
    "rakefile",
    "rakelibdir",
    "rc",
    "rc-file",
    "rcfile",
    "reporter",
    "require",
    "resolve-plugins-relative-to",
    "resolver",
    "rules-dir",
    "rulesdir",
    "runner",
    "settings",
    "settings-file",
    "settings-path",
    "setup-file",
    "setupfiles",
    "site-dir",
    "startup",
    "startup-file",
    "taskfile",
    "template",
    "test-adapter-path",
    "testrunner",
    "tool-config-file",
    "toolchain",
    "toolchain-file",
    "transform",
    "use",
    "user-data-dir",
    "userconfig",
    "vimrc",
];

impl Inquiry<'_> {
    pub fn settings_from_beside(&self, subjected: &Subjected<'_>, findings: &mut Vec<Finding>) {
        let words = &subjected.invocation.words;
        for (place, word) in words.iter().enumerate().skip(1) {
            let Some(text) = word.as_literal() else { continue };
            let Some((name, attached)) = loading(text) else { continue };
            let next = words.get(place + 1).and_then(Word::as_literal);
            let Some(value) = attached.or(next) else { continue };
            // `--plugin=protoc-gen-x=/tmp/x`, `name=path`: the part that is a path.
            let path = value.rsplit_once_str("=").map_or(value.as_bytes(), |(_, path)| path);
            let path = path.strip_prefix(b"file://").unwrap_or(path);
            let path = Word::literal(path);
            if self.place_of(&path, &subjected.directory) == Some(Place::Scratch) {
                let about = format!("{name} {value}");
                findings.extend(self.situation_unless(
                    "executing-option",
                    &about,
                    &subjected.lifted,
                ));
            }
        }
    }
}

/// The name of an option that loads something, and its value if it is attached.
fn loading(text: &BStr) -> Option<(&BStr, Option<&BStr>)> {
    let (name, value) = match text.split_once_str("=") {
        Some((name, value)) => (name.as_bstr(), Some(value.as_bstr())),
        None => (text, None),
    };
    let word = name.strip_prefix(b"--").or(name.strip_prefix(b"-"))?;
    let known = LOADING.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes()));
    known.then_some((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_load_something() {
        for (text, value) in [
            ("--config=/tmp/x", Some("/tmp/x")),
            ("--config", None),
            ("-plugin=x", Some("x")),
            ("--globalSetup=a", Some("a")),
        ] {
            let found = loading(text.into()).map(|(_, value)| value);
            assert_eq!(found, Some(value.map(BStr::new)), "{text}");
        }
        for text in ["config", "--configure", "-c", "--", "--output=/tmp/x", "config=/tmp/x"] {
            assert_eq!(loading(text.into()), None, "{text}");
        }
    }
}
