//! When there is no room: the old content is back, a new file is gone, an appended one has its old length.
//!
//! The tests run themselves again as a child: on a small tmpfs in a mount namespace of its own, and with a limited
//! file size.

use std::path::Path;
use std::process::Command;

use bstr::{BStr, ByteSlice};
use exacta::filesystem::{Confined, Places};
use exacta_shell::filesystem::{FileSystem, OpenOptions};

use crate::operations::{absolute, error_name, run};
use crate::scratch::Scratch;

const CHILD: &str = "EXACTA_TEST_FULL_DISK";

pub fn a_full_disk_costs_nothing_that_was_there() {
    if let Some(root) = std::env::var_os(CHILD) {
        return on_full_disk(Path::new(&root), "ENOSPC");
    }
    let scratch = Scratch::new();
    let script = "mount -t tmpfs -o size=2m tmpfs \"$1\" && exec \"$2\" --exact full_disk::a_full_disk_costs_nothing_that_was_there --nocapture";
    child("unshare", &["-rm", "sh", "-c", script, "sh"], &scratch);
}

pub fn a_file_that_may_not_grow_keeps_its_content() {
    if let Some(root) = std::env::var_os(CHILD) {
        return on_full_disk(Path::new(&root), "EFBIG");
    }
    let scratch = Scratch::new();
    let script = "trap '' XFSZ; exec prlimit --fsize=1048576 \"$2\" --exact full_disk::a_file_that_may_not_grow_keeps_its_content --nocapture";
    child("sh", &["-c", script, "sh"], &scratch);
}

fn child(program: &str, arguments: &[&str], scratch: &Scratch) {
    let mut command = Command::new(program);
    command.args(arguments).arg(scratch.root()).arg(std::env::current_exe().unwrap());
    let output = command.env(CHILD, scratch.root()).output().unwrap();
    let text = output.stdout.to_str_lossy() + output.stderr.to_str_lossy();
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

fn on_full_disk(root: &Path, wanted: &str) {
    for avoid_openat2 in [false, true] {
        let places = Places { avoid_openat2, ..Places::in_project(root) };
        let files = Confined::open(&places).unwrap();
        small_files(&files, wanted);
        large_files(&files, root, wanted);
        let (files, transactions) = Confined::open(&places).unwrap().recorded();
        let transactions = transactions.unwrap();
        transactions.begin(BStr::new("full disk"), files.root());
        small_files(&files, wanted);
        large_files(&files, root, wanted);
        transactions.finish(0).unwrap();
        let kept = root.join(".clada/undo");
        std::fs::remove_dir_all(kept).unwrap();
        std::fs::remove_dir_all(root.join(".trash")).unwrap();
    }
}

/// Writes until it fails, in pieces; gives the error.
fn fill(files: &dyn FileSystem, path: &str, options: OpenOptions) -> String {
    let file = match files.open(absolute(files, path).as_bstr(), options) {
        Ok(file) => file,
        Err(error) => return format!("open: {}", error_name(&error)),
    };
    for _ in 0..400 {
        if let Err(error) = file.write_all(&[b'x'; 16384]) {
            // What was put back must not be written over by what comes after the failure.
            assert_eq!(error_name(&file.write(b"more").unwrap_err()), error_name(&error));
            return error_name(&error);
        }
    }
    "ok".into()
}

fn small_files(files: &dyn FileSystem, wanted: &str) {
    assert_eq!(run(files, "write small precious"), "ok");
    assert_eq!(run(files, "chmod small 640"), "ok");
    assert_eq!(run(files, "utime small 1000000000"), "ok");
    assert_eq!(run(files, "link small hard"), "ok");
    assert_eq!(run(files, "symlink soft small"), "ok");
    for path in ["small", "hard", "soft"] {
        assert_eq!(fill(files, path, OpenOptions::writing(0o644)), wanted);
        assert_eq!(run(files, "read small"), "precious", "{path}");
        assert_eq!(run(files, "stat hard"), "File 640 8");
        assert_eq!(run(files, "mtime small"), "1000000000");
        assert_eq!(fill(files, path, OpenOptions::appending(0o644)), wanted);
        assert_eq!(run(files, "read hard"), "precious", "{path}");
    }
    assert_eq!(run(files, "same small hard"), "true");
    assert_eq!(fill(files, "new", OpenOptions::writing(0o644)), wanted);
    assert_eq!(run(files, "stat new"), "ENOENT");
    assert_eq!(fill(files, "new", OpenOptions::appending(0o644)), wanted);
    assert_eq!(run(files, "stat new"), "ENOENT");
    assert_eq!(run(files, "symlink dangling made"), "ok");
    assert_eq!(fill(files, "dangling", OpenOptions::writing(0o644)), wanted);
    assert_eq!(run(files, "stat made"), "ENOENT");
    assert_eq!(run(files, "write empty"), "ok");
    assert_eq!(fill(files, "empty", OpenOptions::writing(0o644)), wanted);
    assert_eq!(run(files, "stat empty"), "File 644 0");
    // There is room again, and everything works.
    assert_eq!(run(files, "write small other"), "ok");
    assert_eq!(run(files, "read hard"), "other");
    for name in ["small", "hard", "soft", "dangling", "empty"] {
        assert_eq!(run(files, &format!("rm {name}")), "ok");
    }
}

fn large_files(files: &dyn FileSystem, root: &Path, wanted: &str) {
    let content = "0123456789".repeat(60_000);
    for hard_linked in [false, true] {
        std::fs::write(root.join("large"), &content).unwrap();
        assert_eq!(run(files, "chmod large 751"), "ok");
        if hard_linked {
            assert_eq!(run(files, "link large hard"), "ok");
        }
        assert_eq!(fill(files, "large", OpenOptions::writing(0o644)), wanted);
        assert_eq!(std::fs::read_to_string(root.join("large")).unwrap(), content);
        assert_eq!(run(files, "stat large"), format!("File 751 {}", content.len()));
        assert_eq!(run(files, "write large new"), "ok");
        assert_eq!(run(files, "read large"), "new");
        assert_eq!(run(files, "stat large"), "File 751 3");
        if hard_linked {
            assert_eq!(run(files, "read hard"), "new");
            std::fs::remove_file(root.join("hard")).unwrap();
        }
        std::fs::remove_file(root.join("large")).unwrap();
        assert_eq!(preimages(root), 0, "nothing is left behind");
    }
}

/// Files kept in directories of the store.
fn preimages(root: &Path) -> usize {
    let store = std::fs::read_dir(root.join(".clada/preimages")).unwrap().flatten();
    store.map(|own| std::fs::read_dir(own.path()).unwrap().count()).sum()
}

pub fn what_a_crash_left_is_cleared_when_a_session_begins() {
    let scratch = Scratch::new();
    let store = scratch.root().join(".clada/preimages");
    std::fs::create_dir_all(store.join("crashed")).unwrap();
    std::fs::write(store.join("crashed/0"), "old content").unwrap();
    // Whoever puts a link there leads nobody out.
    let outside = scratch.root().join("kept");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("file"), "kept").unwrap();
    std::os::unix::fs::symlink(&outside, store.join("link")).unwrap();
    let files = scratch.confined();
    assert!(!store.join("crashed").exists());
    assert_eq!(std::fs::read_to_string(outside.join("file")).unwrap(), "kept");
    drop(files);
}

pub fn what_another_session_keeps_is_not_cleared() {
    let scratch = Scratch::new();
    let files = scratch.confined();
    std::fs::write(scratch.root().join("f"), "x".repeat(1_000_000)).unwrap();
    let path = absolute(&files, "f");
    let writer = files.open(path.as_bstr(), OpenOptions::writing(0o644)).unwrap();
    let kept = preimages(&scratch.root());
    drop(scratch.confined());
    assert_eq!(preimages(&scratch.root()), kept);
    drop(files);
    drop(scratch.confined());
    assert_eq!(preimages(&scratch.root()), kept, "an open file keeps its own after its session");
    drop(writer);
    let store = scratch.root().join(".clada/preimages");
    assert_eq!(std::fs::read_dir(store).unwrap().count(), 0, "and leaves nothing");
}

pub fn a_file_is_truncated_when_it_is_opened() {
    let scratch = Scratch::new();
    let files = scratch.confined();
    for size in [10, 1_000_000] {
        std::fs::write(scratch.root().join("f"), "x".repeat(size)).unwrap();
        let path = absolute(&files, "f");
        let writer = files.open(path.as_bstr(), OpenOptions::writing(0o644)).unwrap();
        assert_eq!(run(&files, "read f"), "", "cat f > f");
        writer.write_all(b"new").unwrap();
        assert_eq!(run(&files, "read f"), "new", "others see it as it is written");
        assert_eq!(std::fs::read_to_string(scratch.root().join("f")).unwrap(), "new");
        drop(writer);
        assert_eq!(run(&files, "read f"), "new");
    }
}

pub fn a_small_file_keeps_its_inode() {
    let scratch = Scratch::new();
    let files = scratch.confined();
    assert_eq!(run(&files, "write f old"), "ok");
    let reader = files.open(absolute(&files, "f").as_bstr(), OpenOptions::reading()).unwrap();
    assert_eq!(run(&files, "write f fresh"), "ok");
    let mut text = Vec::new();
    reader.read_to_end(&mut text).unwrap();
    assert_eq!(text.as_bstr(), "fresh");
}

pub fn a_large_file_keeps_its_attributes() {
    let scratch = Scratch::new();
    let files = scratch.confined();
    let path = scratch.root().join("f");
    std::fs::write(&path, vec![b'x'; 1 << 20]).unwrap();
    rustix::fs::setxattr(&path, "user.note", b"kept", rustix::fs::XattrFlags::empty()).unwrap();
    assert_eq!(run(&files, "write f new"), "ok");
    let mut value = [0; 16];
    let length = rustix::fs::getxattr(&path, "user.note", &mut value[..]).unwrap();
    assert_eq!(value[..length].as_bstr(), "kept");
}
