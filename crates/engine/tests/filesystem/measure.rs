//! Not a test: how long things take. `cargo test --profile quick -p exacta --test filesystem -- --ignored --nocapture measure`

use std::time::Instant;

use bstr::{BStr, ByteSlice};
use exacta_shell::filesystem::{Directory, FileKind, FileSystem, Follow, OpenOptions};

use crate::operations::{absolute, run};
use crate::scratch::Scratch;

fn time(name: &str, times: u32, mut work: impl FnMut()) {
    work();
    let start = Instant::now();
    for _ in 0..times {
        work();
    }
    eprintln!("{name:40} {:>10.2?}", start.elapsed() / times);
}

fn descend(directory: &dyn Directory, stat: bool, count: &mut usize) {
    for entry in directory.entries().unwrap() {
        *count += 1;
        if stat {
            directory.metadata(entry.name.as_bstr(), Follow::No).unwrap();
        }
        if entry.kind == FileKind::Directory {
            descend(
                &*directory.open_directory(entry.name.as_bstr(), Follow::No).unwrap(),
                stat,
                count,
            );
        }
    }
}

fn read_all(directory: &dyn Directory, buffer: &mut [u8]) {
    for entry in directory.entries().unwrap() {
        if entry.kind == FileKind::Directory {
            read_all(&*directory.open_directory(entry.name.as_bstr(), Follow::No).unwrap(), buffer);
        } else {
            let file = directory.open_file(entry.name.as_bstr(), Follow::No).unwrap();
            while file.read(buffer).unwrap() > 0 {}
        }
    }
}

#[test]
#[ignore = "measures, proves nothing"]
fn measure() {
    let scratch = Scratch::new();
    let files = scratch.confined();
    for directory in 0..100 {
        let place = scratch.root().join(format!("d{directory}"));
        std::fs::create_dir(&place).unwrap();
        for file in 0..20 {
            std::fs::write(place.join(format!("f{file}")), "x".repeat(10_000)).unwrap();
        }
    }
    let shallow = absolute(&files, "d0");
    let deep = absolute(&files, "d0/f0");
    time("new session", 2000, || drop(scratch.confined()));
    time("stat, one component", 20_000, || drop(files.metadata(shallow.as_bstr(), Follow::Yes)));
    time("stat, two components", 20_000, || drop(files.metadata(deep.as_bstr(), Follow::Yes)));
    time("stat, outside", 20_000, || drop(files.metadata(BStr::new("/etc/passwd"), Follow::Yes)));
    time("open for reading", 20_000, || drop(files.open(deep.as_bstr(), OpenOptions::reading())));
    time("std: open for reading", 20_000, || drop(std::fs::File::open(deep.to_path().unwrap())));
    run(&files, "write small x");
    time("write over a small file", 5000, || drop(run(&files, "write small xy")));
    let small = scratch.root().join("small");
    time("std: write over a small file", 5000, || std::fs::write(&small, "xy").unwrap());
    time("write to /dev/null", 20_000, || drop(run(&files, "write /dev/null xy")));
    time("append", 5000, || drop(run(&files, "append small xy")));
    time("create and trash", 500, || {
        run(&files, "write new x");
        run(&files, "rm new");
    });
    let mut count = 0;
    let root = files.root();
    time("find, 2,100 entries", 50, || {
        descend(&*files.open_directory(root, Follow::Yes).unwrap(), false, &mut count);
    });
    time("find with stat", 50, || {
        descend(&*files.open_directory(root, Follow::Yes).unwrap(), true, &mut count);
    });
    let mut buffer = vec![0; 64 << 10];
    time("read 2,000 files", 20, || {
        read_all(&*files.open_directory(root, Follow::Yes).unwrap(), &mut buffer);
    });
    for program in [vec!["find", "-name", "zz"], vec!["grep", "-r", "zz"]] {
        time(&program.join(" "), 20, || {
            std::process::Command::new(program[0])
                .args(&program[1..])
                .current_dir(scratch.root())
                .output()
                .unwrap();
        });
    }
    time("true", 20, || drop(std::process::Command::new("true").output().unwrap()));
}
