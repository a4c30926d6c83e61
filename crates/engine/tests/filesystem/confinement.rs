//! Every operation by every way out. The answer is always the same, and nothing outside changes.

use exacta_shell::filesystem::FileSystem;

use crate::operations::{BY_NAME, OPERATIONS, run};
use crate::scratch::Scratch;

/// Paths that are outside by their text, whatever is there. `OUT` is the canary beside the root, `BASE` their parent.
const OUTSIDE: &[&str] = &[
    "/",
    "//",
    "/.",
    "/..",
    "/etc",
    "/etc/passwd",
    "//etc/passwd",
    "/./etc/passwd",
    "/root",
    "/home",
    "/usr/bin/env",
    "/proc",
    "/proc/self",
    "/proc/self/root",
    "/proc/self/cwd",
    "/proc/self/root/etc/passwd",
    "/proc/1/root",
    "/proc/self/fd/0",
    "/proc/self/environ",
    "/sys",
    "/run",
    "/var/tmp/x",
    "/dev",
    "/dev/",
    "/dev/..",
    "/dev/../etc/passwd",
    "/dev/tty",
    "/dev/sda",
    "/dev/mem",
    "/dev/shm/x",
    "/dev/tcp/127.0.0.1/80",
    "/dev/udp/127.0.0.1/53",
    "/dev/pts/0",
    "/tmp/..",
    "/tmp/../etc/passwd",
    "/tmp/../tmp",
    "/tmp/./../tmp/x",
    "/tmp/d/../../etc/passwd",
    "OUT",
    "OUT/",
    "OUT/secret",
    "OUT/missing",
    "OUT/directory/secret",
    "BASE",
    "BASE/root2",
    "BASE/missing",
    "..",
    "../",
    "../outside",
    "../outside/secret",
    "../missing",
    "../root",
    "../root/inside",
    "./../outside/secret",
    "d/../../outside/secret",
    "d/../../root/inside",
    "d/../../../../../../../../etc/passwd",
    "../../../../../../etc/passwd",
    "d/../..",
    "%0",
    "inside%0",
    "~%0/inside",
    "d%0/../inside",
];

/// Through a directory that is a link out: outside for operations of every kind.
const THROUGH: &[&str] = &[
    "out-absolute/secret",
    "out-relative/secret",
    "out-up/outside/secret",
    "out-root/etc/passwd",
    "out-chain/secret",
    "d/out-deep/secret",
    "out-proc/etc/passwd",
    "out-cwd/x",
    "out-absolute/.",
    "out-relative/directory/secret",
    "out-absolute/missing",
    "out-tmp/../etc/passwd",
    "back-in/inside",
    "out-dev/sda",
    "out-absolute/..",
    "out-relative/../root/inside",
    "out-etc/../root/inside",
    "hidden/tmp",
    "d/hidden-up/tmp",
    "out-dot/x",
];

/// The last component itself is a link out: outside for operations that follow it.
const AT_END: &[&str] = &[
    "out-absolute",
    "out-relative",
    "out-up",
    "out-root",
    "out-chain",
    "d/out-deep",
    "out-proc",
    "out-cwd",
    "to-secret",
    "to-secret-relative",
    "to-missing",
    "back-in",
    "hidden",
    "d/hidden-up",
    "to-etc",
    "chain-to-secret",
];

fn prepare(scratch: &Scratch) {
    let root = scratch.root();
    let out = scratch.outside();
    std::fs::write(root.join("inside"), "inside").unwrap();
    std::fs::create_dir(root.join("d")).unwrap();
    let link = |name: &str, target: &str| {
        let target = target.replace("OUT", out.to_str().unwrap());
        let target = target.replace("ROOT", root.to_str().unwrap());
        std::os::unix::fs::symlink(target, root.join(name)).unwrap();
    };
    for (name, target) in [
        ("out-absolute", "OUT"),
        ("out-relative", "../outside"),
        ("out-up", ".."),
        ("out-root", "/"),
        ("out-chain", "out-first"),
        ("out-first", "d/out-deep"),
        ("d/out-deep", "../../outside"),
        ("out-proc", "/proc/self/root"),
        ("out-cwd", "/proc/self/cwd"),
        ("out-tmp", "/tmp/.."),
        ("out-etc", "/etc"),
        ("back-in", "../root"),
        ("out-dev", "/dev"),
        ("to-secret", "OUT/secret"),
        ("out-dot", "d/../.."),
        ("to-secret-relative", "../outside/secret"),
        ("to-missing", "OUT/missing"),
        ("to-etc", "/etc/passwd"),
        ("chain-to-secret", "to-secret"),
        ("hidden", "ROOT/.clada"),
        ("d/hidden-up", "../.clada"),
    ] {
        link(name, target);
    }
}

/// The words for the paths of an operation: the attack at one place, something harmless at the other.
fn lines(operation: &str, paths: usize, attack: &str) -> Vec<String> {
    match (operation, paths) {
        ("write" | "append" | "overwrite" | "create", _) => {
            vec![format!("{operation} {attack} PWNED")]
        }
        ("symlink", _) => vec![format!("symlink {attack} inside")],
        (_, 2) => {
            vec![format!("{operation} {attack} taken"), format!("{operation} inside {attack}")]
        }
        _ => vec![format!("{operation} {attack}")],
    }
}

fn attack(scratch: &Scratch, files: &dyn FileSystem, how: &str) {
    let (out, base) = (scratch.outside(), scratch.root());
    let base = base.parent().unwrap().to_str().unwrap();
    let before = scratch.canary();
    let fill = |path: &str| path.replace("OUT", out.to_str().unwrap()).replace("BASE", base);
    let mut wrong = String::new();
    for (operation, paths) in OPERATIONS {
        let at_end: &[&str] = if BY_NAME.contains(operation) { &[] } else { AT_END };
        for path in OUTSIDE.iter().chain(THROUGH).chain(at_end) {
            for line in lines(operation, *paths, &fill(path)) {
                let result = run(files, &line);
                if result != "ENOENT" {
                    wrong += &format!("{how}: {line}: {result}\n");
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    assert_eq!(scratch.canary(), before, "{how}: something outside has changed");
    assert_eq!(run(files, "read inside"), "inside");
}

pub fn no_operation_leaves_by_any_way() {
    let scratch = Scratch::new();
    prepare(&scratch);
    attack(&scratch, &scratch.confined(), "openat2");
    attack(&scratch, &scratch.confined_by_walking(), "walk");
    attack(&scratch, &exacta::filesystem::over_directory(&scratch.root()).unwrap(), "overlay");
}

pub fn links_out_can_be_made_moved_and_removed_but_not_followed() {
    let scratch = Scratch::new();
    for files in [scratch.confined(), scratch.confined_by_walking()] {
        let secret = scratch.outside().join("secret");
        let secret = secret.to_str().unwrap();
        assert_eq!(run(&files, &format!("symlink l {secret}")), "ok");
        assert_eq!(run(&files, "readlink l"), secret);
        assert_eq!(run(&files, "read l"), "ENOENT");
        assert_eq!(run(&files, "write l PWNED"), "ENOENT");
        assert_eq!(run(&files, "link l hard"), "ok");
        assert_eq!(run(&files, "read hard"), "ENOENT");
        assert_eq!(run(&files, "rm hard"), "ok");
        assert_eq!(run(&files, "mv l m"), "ok");
        assert_eq!(run(&files, "chmod m 777"), "ENOENT");
        assert_eq!(run(&files, "rm m"), "ok");
        assert_eq!(std::fs::read_to_string(secret).unwrap(), "OUTSIDE");
    }
}

pub fn directory_handles_stay_inside() {
    use exacta_shell::filesystem::Follow;
    let scratch = Scratch::new();
    prepare(&scratch);
    for files in [scratch.confined(), scratch.confined_by_walking()] {
        let directory = files.open_directory(files.root(), Follow::Yes).unwrap();
        let names = [
            "..",
            "",
            "../outside",
            "/etc",
            "d/../..",
            ".clada",
            "out-absolute",
            "to-secret",
            "back-in",
            "x\0",
            "hidden",
        ];
        for name in names {
            for follow in [Follow::Yes, Follow::No] {
                let name = bstr::BStr::new(name);
                let link = follow == Follow::No
                    && matches!(&**name, b"out-absolute" | b"to-secret" | b"back-in" | b"hidden");
                assert!(directory.open_directory(name, follow).is_err(), "{name}");
                assert!(directory.open_file(name, follow).is_err(), "{name}");
                assert_eq!(directory.metadata(name, follow).is_ok(), link, "{name}");
            }
        }
        let below = directory.open_directory(bstr::BStr::new("d"), Follow::No).unwrap();
        assert!(below.metadata(bstr::BStr::new("out-deep"), Follow::Yes).is_err());
        assert!(below.open_directory(bstr::BStr::new("out-deep"), Follow::Yes).is_err());
    }
}

pub fn a_root_that_is_everything_grants_nothing() {
    let scratch = Scratch::new();
    let places = exacta::filesystem::Places {
        root: "/".into(),
        state: scratch.root().join("state"),
        temporary: scratch.root().join("state/tmp"),
        avoid_openat2: false,
        make_temporary: true,
    };
    let files = exacta::filesystem::Confined::open(&places).unwrap();
    assert_eq!(files.root(), "/tmp");
    for line in ["stat /", "list /etc", "read /etc/passwd", "stat /tmp/..", "rm /tmp/../etc"] {
        assert_eq!(run(&files, line), "ENOENT", "{line}");
    }
    assert_eq!(run(&files, "write /tmp/x y"), "ok");
    assert_eq!(run(&files, "read ~/x"), "y");
    assert_eq!(run(&files, "rm x"), "ok");
    assert_eq!(run(&files, "list ~"), "");
    assert_eq!(std::fs::read_dir(scratch.root().join("state/tmp")).unwrap().count(), 0);
}

/// A repository can bring a state directory of its own making.
pub fn planted_state_leads_nowhere() {
    for (planted, target) in
        [(".clada", "../outside"), (".trash", "../outside"), (".clada/tmp", "../../outside")]
    {
        let scratch = Scratch::new();
        if planted.contains('/') {
            std::fs::create_dir(scratch.root().join(".clada")).unwrap();
        }
        std::os::unix::fs::symlink(target, scratch.root().join(planted)).unwrap();
        std::fs::write(scratch.root().join("f"), "x").unwrap();
        let before = scratch.canary();
        let files = scratch.confined();
        for line in ["write /tmp/x PWNED", "list /tmp", "rm f", "write f other", "rm f"] {
            let _whatever = run(&files, line);
        }
        assert_eq!(scratch.canary(), before, "{planted}");
    }
}

pub fn what_is_hard_linked_from_outside_is_the_operators_doing() {
    // The kernel knows no path for an inode: a hard link that is inside is inside. Only making one is refused.
    let scratch = Scratch::new();
    let files = scratch.confined();
    assert_eq!(run(&files, "link ../outside/secret mine"), "ENOENT");
    assert_eq!(run(&files, &format!("link {}/secret mine", scratch.outside().display())), "ENOENT");
    assert_eq!(run(&files, "stat mine"), "ENOENT");
}

/// The project may lie under the real `/tmp`: what is beside it there is not what the script sees there.
pub fn a_root_under_tmp() {
    let scratch = Scratch::beneath(std::path::Path::new("/tmp"));
    let before = scratch.canary();
    for files in [scratch.confined(), scratch.confined_by_walking()] {
        let (root, outside) = (scratch.root(), scratch.outside());
        let (root, outside) = (root.display(), outside.display());
        assert_eq!(run(&files, "write f project"), "ok");
        assert_eq!(run(&files, "write /tmp/f temporary"), "ok");
        assert_eq!(run(&files, &format!("read {root}/f")), "project");
        assert_eq!(run(&files, "read /tmp/f"), "temporary");
        for line in [
            format!("list {root}/.."),
            format!("read {outside}/secret"),
            "read ../f".into(),
            "list ..".into(),
        ] {
            assert_eq!(run(&files, &line), "ENOENT", "{line}");
        }
        assert_eq!(run(&files, "list /tmp"), "f");
        assert_eq!(run(&files, "rm /tmp"), "EBUSY");
        assert_eq!(run(&files, &format!("symlink /tmp/l {root}/f")), "ok");
        assert_eq!(run(&files, "read /tmp/l"), "project");
        assert_eq!(run(&files, "rm /tmp/l"), "ok");
    }
    assert_eq!(scratch.canary(), before);
}
