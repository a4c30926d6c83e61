//! Somebody exchanges a directory for a link out while we open, write, make and delete through it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use exacta_shell::filesystem::FileSystem;

use crate::operations::run;
use crate::scratch::Scratch;

const LONG: Duration = Duration::from_secs(2);

fn race(scratch: &Scratch, files: &dyn FileSystem) {
    let root = scratch.root();
    std::fs::create_dir_all(root.join("swap/directory")).unwrap();
    std::fs::write(root.join("swap/secret"), "inside").unwrap();
    std::fs::write(root.join("swap/directory/secret"), "inside").unwrap();
    std::os::unix::fs::symlink(scratch.outside(), root.join("other")).unwrap();
    let before = scratch.canary();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let handle =
                rustix::fs::open(&root, rustix::fs::OFlags::PATH, rustix::fs::Mode::empty())
                    .unwrap();
            while !stop.load(Ordering::Relaxed) {
                let exchange = rustix::fs::RenameFlags::EXCHANGE;
                rustix::fs::renameat_with(&handle, "swap", &handle, "other", exchange).unwrap();
            }
        });
        let end = Instant::now() + LONG;
        let (mut inside, mut missing) = (0, 0);
        while Instant::now() < end {
            for line in LINES {
                match run(files, line).as_str() {
                    "OUTSIDE" => panic!("{line} has read the file outside"),
                    "inside" => inside += 1,
                    "ENOENT" => missing += 1,
                    _ => {}
                }
            }
        }
        stop.store(true, Ordering::Relaxed);
        assert!(inside > 0 && missing > 0, "the race was none: {inside} inside, {missing} missing");
    });
    assert_eq!(scratch.canary(), before);
}

const LINES: &[&str] = &[
    "read swap/secret",
    "read swap/directory/secret",
    "read swap/directory/../secret",
    "write swap/new x",
    "append swap/new y",
    "rm swap/new",
    "mkdir swap/made",
    "rmdir swap/made",
    "chmod swap/secret 600",
    "utime swap/secret 5",
    "list swap",
    "walk swap",
    "stat swap/secret",
    "symlink swap/link x",
    "mv swap/link swap/link2",
    "rm swap/link2",
    "link swap/secret swap/hard",
    "rm swap/hard",
    "create swap/exclusive z",
    "rm swap/exclusive",
    "real swap/secret",
    "access swap/secret",
];

pub fn a_swapped_link_never_leads_out() {
    let scratch = Scratch::new();
    race(&scratch, &scratch.confined());
}

pub fn a_swapped_link_never_leads_out_by_walking() {
    let scratch = Scratch::new();
    race(&scratch, &scratch.confined_by_walking());
}

/// The last component itself: a file that becomes a link out between looking and opening.
pub fn a_swapped_file_never_leads_out() {
    let scratch = Scratch::new();
    let root = scratch.root();
    std::fs::write(root.join("f"), "inside").unwrap();
    std::os::unix::fs::symlink(scratch.outside().join("secret"), root.join("g")).unwrap();
    let before = scratch.canary();
    let files = scratch.confined();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let handle =
                rustix::fs::open(&root, rustix::fs::OFlags::PATH, rustix::fs::Mode::empty())
                    .unwrap();
            while !stop.load(Ordering::Relaxed) {
                let exchange = rustix::fs::RenameFlags::EXCHANGE;
                let _either = rustix::fs::renameat_with(&handle, "f", &handle, "g", exchange);
            }
        });
        let end = Instant::now() + LONG;
        while Instant::now() < end {
            for line in [
                "read f",
                "write f inside",
                "append f !",
                "chmod f 640",
                "utime f 9",
                "chown f",
                "stat f",
                "access f",
            ] {
                assert_ne!(run(&files, line), "OUTSIDE");
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(scratch.canary(), before);
}
