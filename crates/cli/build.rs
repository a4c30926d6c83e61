//! How the executable is linked. Most of what it does takes less time than its start, so that counts.

#![expect(
    clippy::disallowed_methods,
    reason = "a build script asks the compiler and answers cargo"
)]

use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the standard library asks the linker for, and the archive that has it: the unwinder of the C compiler has another
/// name as an archive.
const LIBRARIES: [(&str, &str); 7] = [
    ("libc.a", "libc.a"),
    ("libm.a", "libm.a"),
    ("librt.a", "librt.a"),
    ("libdl.a", "libdl.a"),
    ("libutil.a", "libutil.a"),
    ("libpthread.a", "libpthread.a"),
    ("libgcc_s.a", "libgcc_eh.a"),
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=CC");
    // The whole of it goes into the executable: as libraries the C library and the unwinder are to be found, mapped and put right
    // each time, in the engine and in every part of a jail; and it then runs whatever C library a system has.
    //
    // It could start another 0.45 ms sooner at a fixed place in memory, where no pointers are to be put right. But this is a
    // program that reads what strangers have written: its addresses stay unknown to them.
    if let Some(folder) = archives() {
        println!("cargo::rustc-link-arg-bins=-L{}", folder.display());
        println!("cargo::rustc-link-arg-bins=-static-pie");
    } else if let Some(unwinder) = found("libgcc_eh.a").as_deref().and_then(Path::parent) {
        println!("cargo::rustc-link-search=native={}", unwinder.display());
        println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
    }
}

/// A directory in which the linker finds archives and nothing else, if there are all that it needs. It takes a library from the first
/// directory that has one of its forms, so that this one decides.
fn archives() -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("OUT_DIR")?).join("archives");
    // The loader that would otherwise be asked for is that of glibc.
    let is_known = std::env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|it| it == "gnu")
        && std::env::var("TARGET") == std::env::var("HOST");
    let linked = || {
        std::fs::create_dir_all(&folder)?;
        found("rcrt1.o").ok_or(io::ErrorKind::NotFound)?;
        for (name, archive) in LIBRARIES {
            let (place, archive) = (folder.join(name), found(archive));
            let _it_may_not_be_there = std::fs::remove_file(&place);
            symlink(archive.ok_or(io::ErrorKind::NotFound)?, place)?;
        }
        Ok::<_, io::Error>(())
    };
    (is_known && linked().is_ok()).then_some(folder)
}

/// Where the C compiler has a file.
fn found(name: &str) -> Option<PathBuf> {
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let told = Command::new(compiler).arg(format!("-print-file-name={name}")).output().ok()?;
    let path = PathBuf::from(String::from_utf8(told.stdout).ok()?.trim());
    // What it does not have it only repeats.
    path.is_absolute().then_some(path).filter(|path| path.exists())
}
