//! Configuration of an operator, and what comes of it, as data.

#![expect(clippy::disallowed_methods, reason = "a test makes the home of an operator")]

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// A home that goes with the test.
struct Home(PathBuf);

impl Home {
    fn new() -> Self {
        static SERIAL: AtomicUsize = AtomicUsize::new(0);
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let name = format!("exacta-registries-{}-{serial}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("a directory");
        Home(path.canonicalize().expect("its path"))
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, text).expect("a file");
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _it_is_temporary = fs::remove_dir_all(&self.0);
    }
}

struct Case {
    files: &'static [(&'static str, &'static str)],
    variables: &'static [(&'static str, &'static str)],
    command: &'static str,
    hosts: &'static [&'static str],
    /// A file inside, and what is in it; or a variable.
    handed: &'static [(&'static str, &'static str)],
}

const CASES: &[Case] = &[
    Case {
        files: &[],
        variables: &[],
        command: "npm install",
        hosts: &["registry.npmjs.org:443", "registry.yarnpkg.com:443"],
        handed: &[],
    },
    Case {
        files: &[(
            ".npmrc",
            "; ours\nregistry = \"https://me:secret@npm.corp.example/repo/\"\n//npm.corp.example/:_authToken=secret\n\
             @team:registry=https://${WHERE}/team/\nalways-auth=true\n",
        )],
        variables: &[("WHERE", "team.corp.example:8443")],
        command: "npm ci",
        hosts: &["npm.corp.example:443", "team.corp.example:8443"],
        handed: &[
            (
                "/etc/npmrc",
                "registry=https://npm.corp.example/repo/\n@team:registry=https://team.corp.example:8443/team/\n",
            ),
            ("NPM_CONFIG_GLOBALCONFIG", "/etc/npmrc"),
        ],
    },
    Case {
        files: &[(".npmrc", "@team:registry=https://team.corp.example/\n")],
        variables: &[],
        command: "npx x",
        hosts: &["team.corp.example:443", "registry.npmjs.org:443", "registry.yarnpkg.com:443"],
        handed: &[
            ("/etc/npmrc", "@team:registry=https://team.corp.example/\n"),
            ("NPM_CONFIG_GLOBALCONFIG", "/etc/npmrc"),
        ],
    },
    Case {
        files: &[(".npmrc", "registry=https://file.example/\n")],
        variables: &[("npm_config_registry", "https://variable.example/")],
        command: "pnpm add x",
        hosts: &["variable.example:443"],
        handed: &[
            ("/etc/npmrc", "registry=https://variable.example/\n"),
            ("NPM_CONFIG_GLOBALCONFIG", "/etc/npmrc"),
        ],
    },
    // It leads to this machine: nothing, and not the usual ones either.
    Case {
        files: &[(".npmrc", "registry=http://localhost:4873/\n")],
        variables: &[],
        command: "npm install",
        hosts: &[],
        handed: &[],
    },
    Case {
        files: &[
            (".yarnrc.yml", "npmRegistryServer: \"https://yarn.corp.example\"\n"),
            (".npmrc", "registry=https://npm.corp.example\n"),
        ],
        variables: &[],
        command: "yarn",
        hosts: &["npm.corp.example:443", "yarn.corp.example:443"],
        handed: &[
            ("/etc/npmrc", "registry=https://npm.corp.example\n"),
            ("NPM_CONFIG_GLOBALCONFIG", "/etc/npmrc"),
        ],
    },
    Case {
        files: &[],
        variables: &[],
        command: "pip install x",
        hosts: &["pypi.org:443", "files.pythonhosted.org:443"],
        handed: &[],
    },
    Case {
        files: &[(
            ".config/pip/pip.conf",
            "[global]\nindex-url = https://u:p@pip.corp.example/simple\nextra_index_url =\n    http://more.example/simple\n    https://pypi.org/simple\n\
             trusted-host = more.example\n[list]\nindex-url = https://never.example/\n",
        )],
        variables: &[],
        command: "python3 -m pip install x",
        hosts: &[
            "pip.corp.example:443",
            "more.example:80",
            "pypi.org:443",
            "files.pythonhosted.org:443",
        ],
        handed: &[
            (
                "/etc/pip.conf",
                "[global]\nindex-url = https://pip.corp.example/simple\nextra-index-url =\n    http://more.example/simple\n    https://pypi.org/simple\n\
                 trusted-host =\n    more.example\n",
            ),
            (
                "/etc/uv/uv.toml",
                "index-url = \"https://pip.corp.example/simple\"\nextra-index-url = [\"http://more.example/simple\", \"https://pypi.org/simple\"]\n",
            ),
        ],
    },
    Case {
        files: &[
            ("system/etc/npmrc", "registry=https://system.example/\n"),
            (".npmrc", "@x:registry=https://user.example\n"),
        ],
        variables: &[],
        command: "npm update",
        hosts: &["user.example:443", "system.example:443"],
        handed: &[
            ("/etc/npmrc", "@x:registry=https://user.example\nregistry=https://system.example/\n"),
            ("NPM_CONFIG_GLOBALCONFIG", "/etc/npmrc"),
        ],
    },
    Case {
        files: &[(".pip/pip.conf", "[global]\nindex-url = https://file.example/simple\n")],
        variables: &[
            ("PIP_INDEX_URL", "https://variable.example/simple"),
            ("UV_INDEX", "x=https://uv.example/simple"),
        ],
        command: "uv sync",
        hosts: &["variable.example:443", "uv.example:443"],
        handed: &[
            ("/etc/pip.conf", "[global]\nindex-url = https://variable.example/simple\n"),
            ("/etc/uv/uv.toml", "index-url = \"https://variable.example/simple\"\n"),
        ],
    },
    Case {
        files: &[],
        variables: &[],
        command: "cargo build",
        hosts: &["index.crates.io:443", "static.crates.io:443", "crates.io:443"],
        handed: &[],
    },
    Case {
        files: &[(
            ".cargo/config.toml",
            "[source.crates-io]\nreplace-with = 'mirror'\n[source.mirror]\nregistry = 'sparse+https://u:p@crates.corp.example/index/'\n\
             [registries.ours]\nindex = 'sparse+https://ours.corp.example/'\ntoken = 'secret'\n[build]\nrustc-wrapper = '/home/x'\n",
        )],
        variables: &[],
        command: "cargo fetch",
        hosts: &["crates.corp.example:443", "ours.corp.example:443"],
        handed: &[(
            "/.cargo/config.toml",
            "[source.\"crates-io\"]\nreplace-with = \"mirror\"\n[source.\"mirror\"]\nregistry = \"sparse+https://crates.corp.example/index/\"\n\
             [registries.\"ours\"]\nindex = \"sparse+https://ours.corp.example/\"\n",
        )],
    },
    Case {
        files: &[(
            "elsewhere/config",
            "[source.crates-io]\nreplace-with = 'vendored'\n[source.vendored]\ndirectory = '/srv/crates'\n",
        )],
        variables: &[
            ("CARGO_HOME", "HOME/elsewhere"),
            ("CARGO_REGISTRIES_X_INDEX", "https://t:k@x.example/git/index"),
        ],
        command: "cargo check",
        hosts: &["x.example:443"],
        handed: &[("CARGO_REGISTRIES_X_INDEX", "https://x.example/git/index")],
    },
    Case {
        files: &[(
            ".config/go/env",
            "GOPROXY=https://u:p@go.corp.example|https://proxy.golang.org,direct\nGONOSUMDB=corp.example\n",
        )],
        variables: &[],
        command: "go mod download",
        hosts: &["go.corp.example:443", "proxy.golang.org:443", "sum.golang.org:443"],
        handed: &[
            ("GOPROXY", "https://go.corp.example|https://proxy.golang.org,direct"),
            ("GONOSUMDB", "corp.example"),
        ],
    },
    Case {
        files: &[],
        variables: &[("GOPROXY", "off")],
        command: "go build ./...",
        hosts: &[],
        handed: &[("GOPROXY", "off")],
    },
    Case {
        files: &[(
            ".gemrc",
            "---\n:backtrace: false\n:sources:\n- https://u:p@gems.corp.example/\n:update_sources: true\n",
        )],
        variables: &[],
        command: "bundle install",
        hosts: &["gems.corp.example:443"],
        handed: &[("/etc/gemrc", "---\n:sources:\n- https://gems.corp.example/\n")],
    },
    Case {
        files: &[(
            ".config/composer/config.json",
            r#"{"repositories":[{"type":"composer","url":"https://php.corp.example"},{"packagist.org":false}]}"#,
        )],
        variables: &[],
        command: "composer install",
        hosts: &["php.corp.example:443"],
        handed: &[],
    },
    Case {
        files: &[
            (".config/pip/pip.conf", "[global]\ncert = /etc/ssl/certs/ours.pem\n"),
            (".npmrc", "cafile=/etc/ssl/../../home/me/secret\n"),
        ],
        variables: &[("SSL_CERT_FILE", "/usr/share/ours.pem"), ("PIP_CERT", "/home/me/ours.pem")],
        command: "pip install x",
        hosts: &["pypi.org:443", "files.pythonhosted.org:443"],
        handed: &[
            ("/etc/pip.conf", "[global]\ncert = /etc/ssl/certs/ours.pem\n"),
            ("SSL_CERT_FILE", "/usr/share/ours.pem"),
        ],
    },
    // Broken files say nothing, and take nothing down.
    Case {
        files: &[
            (".cargo/config.toml", "[source"),
            (".npmrc", "\0\u{fffd}=\n==\n[x"),
            (".config/pip/pip.conf", "  x\n["),
        ],
        variables: &[],
        command: "gem install x",
        hosts: &["rubygems.org:443", "index.rubygems.org:443"],
        handed: &[],
    },
];

fn shown(all: &Registries) -> Vec<(String, String)> {
    let file = |it: &SyntheticFile| (it.target.display().to_string(), it.content.to_string());
    let variables = all.variables.iter().map(|(name, value)| (name.to_string(), value.to_string()));
    all.files.iter().map(file).chain(variables).collect()
}

#[test]
fn what_an_operator_has_configured() {
    for case in CASES {
        let home = Home::new();
        case.files.iter().for_each(|(name, text)| home.write(name, text));
        let place = home.0.display().to_string();
        let variables = case.variables.iter();
        let variables =
            variables.map(|(name, value)| ((*name).to_owned(), value.replace("HOME", &place)));
        let operator = Operator {
            home: Some(home.0.clone()),
            variables: variables.collect(),
            system: Some(home.0.join("system")),
        };
        let all = Registries::read(&operator, Path::new("/nowhere/project"));
        let words: Vec<BString> = case.command.split(' ').map(Into::into).collect();
        let grants = all.grants(&[words]);
        let hosts: Vec<String> = grants.iter().map(ToString::to_string).collect();
        assert_eq!(hosts, case.hosts, "{} {:?}", case.command, case.files);
        let expected: Vec<(String, String)> =
            case.handed.iter().map(|(name, text)| ((*name).into(), (*text).into())).collect();
        assert_eq!(shown(&all), expected, "{} {:?}", case.command, case.files);
        let told = format!("{:?}", shown(&all));
        assert!(!told.contains("secret") && !told.contains("u:p"), "{told}");
        assert!(grants.iter().all(|grant| grant.private));
    }
}

#[test]
fn what_lies_in_the_project_is_not_the_operators() {
    let home = Home::new();
    home.write("project/.npmrc", "registry=https://evil.example/\n");
    home.write("project/home/.npmrc", "registry=https://evil.example/\n");
    std::os::unix::fs::symlink(home.0.join("project/.npmrc"), home.0.join(".npmrc"))
        .expect("a link");
    let words: Vec<BString> = ["npm", "install"].map(Into::into).to_vec();
    let project = home.0.join("project");
    for (operators, root) in [
        // A home in the project, a link into it, and a project that is the home.
        (project.join("home"), project.clone()),
        (home.0.clone(), project.clone()),
        (project.clone(), project.clone()),
    ] {
        let system = Some(home.0.join("system"));
        let operator = Operator { home: Some(operators), system, ..Operator::default() };
        let all = Registries::read(&operator, &root);
        let hosts: Vec<String> =
            all.grants(std::slice::from_ref(&words)).iter().map(ToString::to_string).collect();
        assert_eq!(hosts, ["registry.npmjs.org:443", "registry.yarnpkg.com:443"]);
        assert!(all.files.is_empty());
    }
}
