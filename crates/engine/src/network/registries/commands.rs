//! Which commands fetch packages.

use bstr::{BString, ByteSlice};

/// A family of tools with one configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    Npm,
    Pip,
    Cargo,
    Go,
    Gem,
    Composer,
}

impl Tool {
    pub const ALL: [Tool; 6] =
        [Tool::Npm, Tool::Pip, Tool::Cargo, Tool::Go, Tool::Gem, Tool::Composer];

    /// What the tool asks when nobody has told it anything.
    pub fn usual_hosts(self) -> &'static [&'static str] {
        match self {
            Tool::Npm => &["registry.npmjs.org", "registry.yarnpkg.com"],
            Tool::Pip => &["pypi.org", "files.pythonhosted.org"],
            Tool::Cargo => &["index.crates.io", "static.crates.io", "crates.io"],
            Tool::Go => &["proxy.golang.org", "sum.golang.org"],
            Tool::Gem => &["rubygems.org", "index.rubygems.org"],
            Tool::Composer => &["repo.packagist.org", "packagist.org"],
        }
    }
}

/// A program, and the subcommands with which it fetches something.
struct Fetcher {
    names: &'static [&'static str],
    tool: Tool,
    /// Empty: all.
    subcommands: &'static [&'static str],
    /// Without a subcommand it installs.
    bare: bool,
}

const FETCHERS: [Fetcher; 16] = [
    Fetcher {
        names: &["npm", "cnpm"],
        tool: Tool::Npm,
        subcommands: &[
            "install",
            "i",
            "in",
            "ins",
            "inst",
            "add",
            "ci",
            "clean-install",
            "install-clean",
            "install-test",
            "install-ci-test",
            "it",
            "cit",
            "update",
            "up",
            "upgrade",
            "exec",
            "x",
            "init",
            "create",
            "innit",
            "audit",
            "view",
            "info",
            "show",
            "v",
            "outdated",
            "search",
            "s",
            "se",
            "find",
            "ping",
            "dedupe",
            "ddp",
            "uninstall",
            "remove",
            "rm",
            "un",
            "r",
            "unlink",
            "prune",
            "link",
            "ln",
            "diff",
            "doctor",
        ],
        bare: false,
    },
    Fetcher {
        names: &["pnpm"],
        tool: Tool::Npm,
        subcommands: &[
            "install",
            "i",
            "add",
            "ci",
            "update",
            "up",
            "upgrade",
            "dlx",
            "create",
            "fetch",
            "import",
            "audit",
            "outdated",
            "info",
            "view",
            "remove",
            "rm",
            "uninstall",
            "un",
            "dedupe",
            "install-test",
            "it",
            "init",
        ],
        bare: false,
    },
    Fetcher {
        names: &["yarn", "yarnpkg"],
        tool: Tool::Npm,
        subcommands: &[
            "install",
            "add",
            "upgrade",
            "up",
            "upgrade-interactive",
            "dlx",
            "create",
            "import",
            "info",
            "outdated",
            "audit",
            "remove",
            "dedupe",
        ],
        bare: true,
    },
    Fetcher {
        names: &["bun"],
        tool: Tool::Npm,
        subcommands: &[
            "install", "i", "add", "a", "ci", "update", "x", "create", "c", "outdated", "remove",
            "rm", "info", "audit",
        ],
        bare: false,
    },
    Fetcher { names: &["npx", "pnpx", "bunx"], tool: Tool::Npm, subcommands: &[], bare: false },
    Fetcher {
        names: &["pip", "pip2", "pip3"],
        tool: Tool::Pip,
        subcommands: &["install", "download", "wheel", "index", "lock"],
        bare: false,
    },
    Fetcher {
        names: &["uv"],
        tool: Tool::Pip,
        subcommands: &[
            "sync", "lock", "add", "remove", "pip", "run", "venv", "build", "tree", "export",
            "tool",
        ],
        bare: false,
    },
    Fetcher {
        names: &["uvx", "pip-compile", "pip-sync"],
        tool: Tool::Pip,
        subcommands: &[],
        bare: true,
    },
    Fetcher {
        names: &["pipx"],
        tool: Tool::Pip,
        subcommands: &["run", "install", "inject"],
        bare: false,
    },
    Fetcher {
        names: &["poetry", "pdm", "pipenv", "hatch", "rye"],
        tool: Tool::Pip,
        subcommands: &[
            "install", "add", "update", "lock", "sync", "remove", "upgrade", "run", "build",
            "test", "env", "fetch", "outdated", "search", "show",
        ],
        bare: false,
    },
    Fetcher {
        names: &["cargo"],
        tool: Tool::Cargo,
        subcommands: &[
            "fetch",
            "build",
            "b",
            "check",
            "c",
            "test",
            "t",
            "run",
            "r",
            "bench",
            "doc",
            "d",
            "clippy",
            "fix",
            "add",
            "update",
            "install",
            "generate-lockfile",
            "vendor",
            "tree",
            "metadata",
            "rustc",
            "rustdoc",
            "package",
            "search",
            "info",
            "nextest",
            "upgrade",
            "outdated",
            "remove",
            "rm",
            "llvm-cov",
            "tarpaulin",
            "hack",
            "miri",
            "expand",
            "machete",
            "udeps",
            "zigbuild",
            "ndk",
        ],
        bare: false,
    },
    Fetcher {
        names: &["go"],
        tool: Tool::Go,
        subcommands: &[
            "get", "mod", "build", "test", "run", "install", "list", "vet", "generate", "tool",
            "work",
        ],
        bare: false,
    },
    Fetcher {
        names: &["gem"],
        tool: Tool::Gem,
        subcommands: &[
            "install",
            "i",
            "update",
            "fetch",
            "outdated",
            "search",
            "list",
            "info",
            "specification",
        ],
        bare: false,
    },
    Fetcher {
        names: &["bundle", "bundler"],
        tool: Tool::Gem,
        subcommands: &[
            "install", "update", "lock", "add", "remove", "outdated", "package", "cache", "check",
            "info",
        ],
        bare: true,
    },
    Fetcher {
        names: &["composer", "composer.phar"],
        tool: Tool::Composer,
        subcommands: &[
            "install",
            "i",
            "update",
            "u",
            "upgrade",
            "require",
            "r",
            "create-project",
            "outdated",
            "show",
            "remove",
            "audit",
            "search",
            "reinstall",
            "bump",
        ],
        bare: false,
    },
    Fetcher {
        names: &["rush"],
        tool: Tool::Npm,
        subcommands: &["install", "update", "add"],
        bare: false,
    },
];

/// Options that are followed by a word of their own, before a subcommand.
const WITH_VALUES: [&str; 19] = [
    "--prefix",
    "-C",
    "--dir",
    "--cwd",
    "--filter",
    "-F",
    "-w",
    "--workspace",
    "--manifest-path",
    "--color",
    "--directory",
    "--project",
    "--working-dir",
    "-d",
    "--config",
    "-Z",
    "--userconfig",
    "--loglevel",
    "--python",
];

/// The tool, if this command fetches something.
pub fn fetching(words: &[BString]) -> Option<Tool> {
    let (name, rest) = words.split_first()?;
    let name = name.rsplit_str("/").next().unwrap_or_default();
    let rest: Vec<&[u8]> = rest.iter().map(|word| word.as_slice()).collect();
    if is_python(name) {
        // `python -m pip install x`
        let at = rest.iter().position(|word| *word == b"-m")?;
        let module = rest.get(at + 1)?;
        return by_name(module, rest.get(at + 2..).unwrap_or_default());
    }
    by_name(name, &rest)
}

fn by_name(name: &[u8], rest: &[&[u8]]) -> Option<Tool> {
    // `pip3.11`
    let name = name.strip_suffix(b".exe").unwrap_or(name);
    let name = if name.starts_with(b"pip3.") { b"pip3".as_slice() } else { name };
    let fetcher =
        FETCHERS.iter().find(|it| it.names.iter().any(|known| known.as_bytes() == name))?;
    let fetches = match subcommand(rest) {
        Some(subcommand) => {
            fetcher.subcommands.is_empty()
                || fetcher.subcommands.iter().any(|it| it.as_bytes() == subcommand)
        }
        None => fetcher.bare,
    };
    fetches.then_some(fetcher.tool)
}

fn is_python(name: &[u8]) -> bool {
    let version = name.strip_prefix(b"python").or_else(|| name.strip_prefix(b"pypy"));
    version.is_some_and(|it| it.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.'))
}

/// The first word that is neither an option, nor what belongs to one, nor a toolchain.
fn subcommand<'a>(words: &[&'a [u8]]) -> Option<&'a [u8]> {
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        if WITH_VALUES.iter().any(|it| it.as_bytes() == word) {
            words.next();
        } else if !word.starts_with(b"-") && !word.starts_with(b"+") {
            return Some(word);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fetches_and_what_does_not() {
        for (line, expected) in [
            ("npm install", Some(Tool::Npm)),
            ("npm --prefix web ci", Some(Tool::Npm)),
            ("/usr/bin/npm i -D x", Some(Tool::Npm)),
            ("npm run install", None),
            ("npm test", None),
            ("npm", None),
            ("npx eslint .", Some(Tool::Npm)),
            ("pnpm -C web add x", Some(Tool::Npm)),
            ("pnpm run build", None),
            ("yarn", Some(Tool::Npm)),
            ("yarn --frozen-lockfile", Some(Tool::Npm)),
            ("yarn build", None),
            ("pip install -r requirements.txt", Some(Tool::Pip)),
            ("pip3.11 download x", Some(Tool::Pip)),
            ("pip list", None),
            ("python3 -m pip install x", Some(Tool::Pip)),
            ("python3.12 -I -m pip install x", Some(Tool::Pip)),
            ("python3 -m pip list", None),
            ("python3 pip install", None),
            ("python3 -m http.server", None),
            ("uv pip install x", Some(Tool::Pip)),
            ("cargo build", Some(Tool::Cargo)),
            ("cargo +nightly fetch", Some(Tool::Cargo)),
            ("cargo fmt", None),
            ("cargo publish", None),
            ("go mod download", Some(Tool::Go)),
            ("go fmt ./...", None),
            ("bundle", Some(Tool::Gem)),
            ("bundle exec rake", None),
            ("gem install x", Some(Tool::Gem)),
            ("gem push x", None),
            ("composer require x/y", Some(Tool::Composer)),
            ("make install", None),
            ("", None),
        ] {
            let words: Vec<BString> = line.split_whitespace().map(Into::into).collect();
            assert_eq!(fetching(&words), expected, "{line}");
        }
    }
}
