//! Soft deletion, seen from outside.

use std::os::unix::fs::PermissionsExt;

use crate::operations::run;
use crate::scratch::Scratch;

fn only_entry(directory: &std::path::Path) -> std::path::PathBuf {
    let mut found: Vec<_> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    found.pop().unwrap()
}

pub fn a_deleted_file_is_in_the_trash_with_its_record() {
    let scratch = Scratch::new();
    let files = scratch.confined();
    std::fs::create_dir_all(scratch.root().join("a/b")).unwrap();
    std::fs::write(scratch.root().join("a/b/file.txt"), "text").unwrap();
    assert_eq!(run(&files, "rm a/b/file.txt"), "ok");
    let kept = only_entry(&scratch.root().join(".trash"));
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), "text");
    let name = kept.file_name().unwrap().to_str().unwrap();
    let (time, rest) = name.split_once('_').unwrap();
    assert_eq!(rest, "file.txt");
    assert_eq!(time.len(), "20260101T000000.000000000Z".len());
    let record = only_entry(&scratch.root().join(".clada/trash"));
    assert_eq!(record.file_name().unwrap().to_str().unwrap(), format!("{name}.json"));
    let wanted = format!("{{\"path\":\"/a/b/file.txt\",\"deleted_at\":\"{time}\"}}\n");
    assert_eq!(std::fs::read_to_string(record).unwrap(), wanted);
    let mode = |path: &str| {
        std::fs::metadata(scratch.root().join(path)).unwrap().permissions().mode() & 0o777
    };
    assert_eq!((mode(".trash"), mode(".clada"), mode(".clada/trash")), (0o700, 0o700, 0o700));
    assert_eq!(std::fs::read_to_string(scratch.root().join(".clada/.gitignore")).unwrap(), "*\n");
}

pub fn a_name_deleted_often_never_collides() {
    let scratch = Scratch::new();
    let files = scratch.confined();
    for _ in 0..200 {
        assert_eq!(run(&files, "write f x"), "ok");
        assert_eq!(run(&files, "rm f"), "ok");
    }
    assert_eq!(std::fs::read_dir(scratch.root().join(".trash")).unwrap().count(), 200);
    assert_eq!(std::fs::read_dir(scratch.root().join(".clada/trash")).unwrap().count(), 200);
}

pub fn long_names_fit() {
    let scratch = Scratch::new();
    let files = scratch.confined();
    for name in ["x".repeat(255), "ä".repeat(127), format!("{}😀", "y".repeat(251))] {
        assert_eq!(run(&files, &format!("write {name} text")), "ok");
        assert_eq!(run(&files, &format!("rm {name}")), "ok");
    }
    for entry in std::fs::read_dir(scratch.root().join(".trash")).unwrap() {
        let name = entry.unwrap().file_name();
        assert!(name.len() <= 255 && name.to_str().is_some(), "{}", name.display());
    }
}

pub fn git_does_not_see_the_trash() {
    let scratch = Scratch::new();
    let files = scratch.confined();
    let exclude = scratch.root().join(".git/info/exclude");
    assert_eq!(run(&files, "write f x"), "ok");
    assert_eq!(run(&files, "rm f"), "ok");
    assert!(!scratch.root().join(".git").exists(), "no repository is made");
    std::fs::remove_dir_all(scratch.root().join(".trash")).unwrap();
    std::fs::create_dir_all(exclude.parent().unwrap()).unwrap();
    std::fs::write(&exclude, "*.o").unwrap();
    for _ in 0..2 {
        assert_eq!(run(&files, "write f x"), "ok");
        assert_eq!(run(&files, "rm f"), "ok");
        std::fs::remove_dir_all(scratch.root().join(".trash")).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&exclude).unwrap(), "*.o\n/.trash/\n");
}

pub fn the_private_tmp_is_deleted_for_good() {
    let scratch = Scratch::new();
    let files = scratch.confined();
    assert_eq!(run(&files, "mkdir /tmp/d"), "ok");
    let private = scratch.root().join(".clada/tmp");
    let mut deep = private.join("d");
    // Deeper than one may hold descriptors for, with a link out at every level.
    for level in 0..300 {
        deep.push("d");
        std::fs::create_dir(&deep).unwrap();
        if level % 10 == 0 {
            std::os::unix::fs::symlink(scratch.outside(), deep.join("out")).unwrap();
            std::fs::write(deep.join("file"), "x").unwrap();
        }
    }
    let before = scratch.canary();
    assert_eq!(run(&files, "rm /tmp/d"), "ok");
    assert_eq!(std::fs::read_dir(&private).unwrap().count(), 0);
    assert_eq!(scratch.canary(), before);
}

pub fn the_private_tmp_comes_back_when_somebody_deletes_it() {
    let scratch = Scratch::new();
    let files = scratch.confined();
    assert_eq!(run(&files, "write /tmp/f x"), "ok");
    std::fs::remove_dir_all(scratch.root().join(".clada")).unwrap();
    assert_eq!(run(&files, "read /tmp/f"), "ENOENT");
    assert_eq!(run(&files, "write /tmp/f y"), "ok");
    assert_eq!(run(&files, "write g z"), "ok");
    assert_eq!(run(&files, "rm g"), "ok");
}

/// Another file system inside the project: nothing can be renamed across, and nothing is lost. Runs itself again.
pub fn across_file_systems() {
    const CHILD: &str = "EXACTA_TEST_ACROSS";
    if let Some(root) = std::env::var_os(CHILD) {
        return across(std::path::Path::new(&root));
    }
    let scratch = Scratch::new();
    let script = "mkdir \"$1/mnt\" && mount -t tmpfs tmpfs \"$1/mnt\" && exec \"$2\" --exact trash::across_file_systems --nocapture";
    let mut command = std::process::Command::new("unshare");
    command
        .args(["-rm", "sh", "-c", script, "sh"])
        .arg(scratch.root())
        .arg(std::env::current_exe().unwrap());
    match command.env(CHILD, scratch.root()).output() {
        Ok(output) if output.status.success() => {}
        Ok(output) => {
            let text =
                String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
            assert!(!text.contains("running 1 test"), "{text}");
            eprintln!("NOT RUN: {text}");
        }
        Err(error) => eprintln!("NOT RUN: unshare: {error}"),
    }
}

fn across(root: &std::path::Path) {
    let files =
        exacta::filesystem::Confined::open(&exacta::filesystem::Places::in_project(root)).unwrap();
    for line in [
        "mkdir mnt/d",
        "mkdir mnt/d/e",
        "write mnt/d/e/f text",
        "symlink mnt/d/l e/f",
        "chmod mnt/d 750",
        "utime mnt/d/e/f 99",
    ] {
        assert_eq!(run(&files, line), "ok", "{line}");
    }
    assert_eq!(run(&files, "mv mnt/d d"), "EXDEV");
    assert_eq!(run(&files, "rm mnt"), "EBUSY");
    assert_eq!(run(&files, "rm mnt/d"), "ok");
    assert_eq!(run(&files, "list mnt"), "");
    assert_eq!(run(&files, "walk .trash"), "TIME_d/ TIME_d/e/ TIME_d/e/f=text TIME_d/l@e/f");
    let kept = only_entry(&root.join(".trash"));
    assert_eq!(std::fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o750);
    let file = std::fs::metadata(kept.join("e/f")).unwrap();
    assert_eq!(std::os::unix::fs::MetadataExt::mtime(&file), 99);
    // What cannot be copied stays where it is.
    assert_eq!(run(&files, "mkdir mnt/s"), "ok");
    let _socket = std::os::unix::net::UnixListener::bind(root.join("mnt/s/socket")).unwrap();
    assert_eq!(run(&files, "write mnt/s/precious x"), "ok");
    assert_eq!(run(&files, "rm mnt/s"), "EXDEV");
    assert_eq!(run(&files, "read mnt/s/precious"), "x");
    assert_eq!(std::fs::read_dir(root.join(".trash")).unwrap().count(), 1);
    assert_eq!(std::fs::read_dir(root.join(".clada/trash")).unwrap().count(), 1);
}

pub fn nothing_is_made_before_it_is_needed() {
    let scratch = Scratch::new();
    let files = scratch.confined();
    for line in ["write f x", "read f", "write f y", "mkdir d", "list ~", "stat f", "mv f d/f"] {
        assert_ne!(run(&files, line), "ENOENT", "{line}");
    }
    assert!(!scratch.root().join(".clada").exists());
    assert!(!scratch.root().join(".trash").exists());
}
