//! Long names, deep trees, large directories, and what the user may not read.

use std::path::Path;

use bstr::{BStr, ByteSlice};
use exacta::filesystem::Memory;
use exacta_shell::filesystem::{FileSystem, Follow};

use crate::operations::run;
use crate::scratch::{Scratch, backends};

pub fn names_and_paths_of_every_length() {
    for backend in backends() {
        let files = &*backend.files;
        let longest = "n".repeat(255);
        let check = |line: String, wanted: &str| {
            let result = run(files, &line);
            assert_eq!(
                result,
                wanted,
                "{}: {}",
                backend.name,
                line.chars().take(80).collect::<String>()
            );
        };
        check(format!("write {longest} x"), "ok");
        check(format!("write {longest}n x"), "ENAMETOOLONG");
        check(format!("mkdir {longest}n"), "ENAMETOOLONG");
        check(format!("stat {longest}n"), "ENAMETOOLONG");
        check(format!("stat /etc/{longest}n"), "ENOENT");
        check(format!("stat /{}", "x/".repeat(5000)), "ENOENT");
        // Deeper than one call to the kernel can name.
        let mut path = String::from("deep");
        check("mkdir deep".into(), "ok");
        while path.len() < 6000 {
            path += "/";
            path += &"d".repeat(200);
            check(format!("mkdir {path}"), "ok");
        }
        check(format!("write {path}/f text"), "ok");
        check(format!("read {path}/f"), "text");
        check(format!("stat {path}/f"), "File 644 4");
        check(format!("read {}f", "./".repeat(4000)), "ENOENT");
        check(format!("read {}{longest}", "./".repeat(4000)), "x");
        check("rm deep".into(), "ok");
    }
}

pub fn a_chain_of_links_is_followed_forty_times() {
    for backend in backends() {
        let files = &*backend.files;
        run(files, "write l0 end");
        for number in 1..=41 {
            assert_eq!(run(files, &format!("symlink l{number} l{}", number - 1)), "ok");
        }
        assert_eq!(run(files, "read l40"), "end", "{}", backend.name);
        assert_eq!(run(files, "read l41"), "ELOOP", "{}", backend.name);
    }
}

pub fn a_hundred_thousand_entries() {
    let memory = Path::new("/dev/shm");
    let scratch = if memory.is_dir() { Scratch::beneath(memory) } else { Scratch::new() };
    let many = scratch.root().join("many");
    std::fs::create_dir(&many).unwrap();
    for number in 0..100_000 {
        std::os::unix::fs::symlink("x", many.join(format!("entry-{number}"))).unwrap();
    }
    let files = scratch.confined();
    let root = format!("{}/many", files.root());
    let directory = files.open_directory(BStr::new(&root), Follow::Yes).unwrap();
    for _ in 0..2 {
        let mut names: Vec<_> =
            directory.entries().unwrap().into_iter().map(|entry| entry.name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 100_000);
    }
    assert_eq!(run(&files, "rm many"), "ok");
    assert_eq!(run(&files, "list many"), "ENOENT");
}

pub fn a_very_deep_tree_in_memory_goes_quietly() {
    let files = Memory::new("/project");
    let mut path = String::from("/tmp");
    // The paths grow with the depth, so the tree is built by moving what is there one level down.
    for _ in 0..20_000 {
        assert_eq!(run(&files, "mkdir /tmp/new"), "ok");
        if path == "/tmp" {
            path = "/tmp/top".into();
        } else {
            assert_eq!(run(&files, "mv /tmp/top /tmp/new/d"), "ok");
        }
        assert_eq!(run(&files, "mv /tmp/new /tmp/top"), "ok");
    }
    assert_eq!(run(&files, "rm /tmp/top"), "ok");
    drop(files);
}

pub fn memory_is_not_endless() {
    let files = Memory::with_capacity("/project", 1000);
    assert_eq!(run(&files, "write a short"), "ok");
    assert_eq!(run(&files, &format!("write a {}", "x".repeat(2000))), "ENOSPC");
    assert_eq!(run(&files, "read a"), "short");
    assert_eq!(run(&files, &format!("append a {}", "x".repeat(2000))), "ENOSPC");
    assert_eq!(run(&files, "read a"), "short");
    assert_eq!(run(&files, &format!("write b {}", "x".repeat(2000))), "ENOSPC");
    assert_eq!(run(&files, "stat b"), "ENOENT");
    assert_eq!(run(&files, &format!("write b {}", "x".repeat(900))), "ok");
    assert_eq!(run(&files, "rm b"), "ok");
}

/// As another user, who may not read everything: it runs itself again.
pub fn what_may_not_be_read() {
    const CHILD: &str = "EXACTA_TEST_UNPRIVILEGED";
    if let Some(root) = std::env::var_os(CHILD) {
        return unprivileged(Path::new(&root));
    }
    let world = exacta_world::around().unwrap();
    let scratch = Scratch::beneath(&std::env::temp_dir());
    let program = scratch.outside().join("tests");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let user = world.other_user().map(rustix::fs::Uid::from_raw);
    rustix::fs::chown(scratch.root(), user, None).unwrap();
    let status = world
        .unprivileged(&program)
        .args(["--exact", "limits::what_may_not_be_read"])
        .env(CHILD, scratch.root())
        .current_dir("/")
        .status();
    assert!(status.unwrap().success());
}

fn unprivileged(root: &Path) {
    let memory = Memory::new(root.to_str().unwrap());
    let real =
        exacta::filesystem::Confined::open(&exacta::filesystem::Places::in_project(root)).unwrap();
    for files in [&real as &dyn FileSystem, &memory] {
        for (line, wanted) in [
            ("write f x", "ok"),
            ("chmod f 0", "ok"),
            ("read f", "EACCES"),
            ("append f y", "EACCES"),
            ("write f y", "EACCES"),
            ("stat f", "File 0 1"),
            ("access f", "EACCES"),
            ("chmod f 200", "ok"),
            ("append f y", "ok"),
            ("write f z", "ok"),
            ("read f", "EACCES"),
            ("chmod f 600", "ok"),
            ("read f", "z"),
            ("mkdir d", "ok"),
            ("write d/f x", "ok"),
            ("chmod d 0", "ok"),
            ("read d/f", "EACCES"),
            ("list d", "EACCES"),
            ("write d/g x", "EACCES"),
            ("stat d/f", "EACCES"),
            ("stat d", "Directory 0"),
            ("chmod d 500", "ok"),
            ("read d/f", "x"),
            ("write d/g x", "EACCES"),
            ("rm d/f", "EACCES"),
            ("mv d/f g", "EACCES"),
            ("mkdir d/e", "EACCES"),
            ("list d", "f"),
            ("chmod d 300", "ok"),
            ("list d", "EACCES"),
            ("read d/f", "x"),
            ("chmod d 700", "ok"),
            ("read /etc/shadow", "ENOENT"),
            ("list /root", "ENOENT"),
            ("rm d", "ok"),
        ] {
            assert_eq!(run(files, line), wanted, "{line}");
        }
    }
    let own = real.metadata(real.root(), Follow::Yes).unwrap();
    assert_eq!(own.user, rustix::process::geteuid().as_raw());
    assert!(!real.root().as_bytes().is_empty());
}
