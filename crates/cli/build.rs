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

/// `EXACTA_LINKED=libraries` builds an executable that uses those of the machine, for what cannot be built otherwise. Tests are told
/// in the same way what was chosen.
const CHOICE: &str = "EXACTA_LINKED";

/// Without a loader names of hosts are looked up by what the C library has itself, and old ones have nothing.
const LOOKS_UP_HOSTS: &[u8] = b"_nss_dns_gethostbyname4_r";

/// What is before the number of its release in the C library.
const RELEASE: &[u8] = b"stable release version 2.";

/// The first release that puts packed pointers right. Older ones pass them over, and the executable crashes at its start.
const UNPACKS_POINTERS: u32 = 36;

/// The order of the code, see `bench/order`.
const ORDER: &str = "start.ld";

/// The parts of which an executable can be linked as a whole.
struct Archives {
    folder: PathBuf,
    /// Of the C library: 36 is 2.36. Nothing if it does not say.
    release: Option<u32>,
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={ORDER}");
    println!("cargo::rerun-if-env-changed=CC");
    println!("cargo::rerun-if-env-changed={CHOICE}");
    // The whole of it goes into the executable: as libraries the C library and the unwinder are to be found, mapped and put right
    // each time, in the engine and in every part of a jail; and it then runs whatever C library a system has.
    //
    // It could start another 0.4 ms sooner at a fixed place in memory, where no pointers are to be put right. But this is a
    // program that reads what strangers have written: its addresses stay unknown to them.
    let archives = archives();
    let how = if archives.is_some() { "whole" } else { "libraries" };
    println!("cargo::rustc-env={CHOICE}={how}");
    if let Some(archives) = archives {
        link_whole(&archives);
    } else if let Some(unwinder) = found("libgcc_eh.a").as_deref().and_then(Path::parent) {
        println!("cargo::rustc-link-search=native={}", unwinder.display());
        println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
    }
}

fn link_whole(archives: &Archives) {
    println!("cargo::rustc-link-arg-bins=-L{}", archives.folder.display());
    println!("cargo::rustc-link-arg-bins=-static-pie");
    // Linkers that read archives once, in order, have passed what these need of one another.
    println!("cargo::rustc-link-arg-bins=-Wl,--start-group,-lgcc_eh,-lgcc,-lc,--end-group");
    // A list of the pointers that are to be put right is 1 MB, to be read at each start. Packed it is 13 KB.
    if archives.release.is_some_and(|release| release >= UNPACKS_POINTERS) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
    // A start needs a tenth of the code. Where the linker puts it by itself it is all over the executable, and each window of
    // pages that is touched costs a page fault, in the engine and in every part of a jail. Folding functions that are the same
    // would take them out of that order again. What is built in a hurry is not made to wait for it: the linker looks
    // through all code for each name, which takes seconds.
    let is_in_a_hurry = std::env::var("OPT_LEVEL").is_ok_and(|level| level == "0" || level == "1");
    if !is_in_a_hurry
        && takes_orders()
        && let Some(package) = std::env::var_os("CARGO_MANIFEST_DIR")
    {
        let order = PathBuf::from(package).join(ORDER);
        println!("cargo::rustc-link-arg-bins=-Wl,-T,{}", order.display());
    }
}

/// Whether the linker is one that reads scripts: unless somebody has chosen another, it is.
fn takes_orders() -> bool {
    println!("cargo::rerun-if-env-changed=CARGO_ENCODED_RUSTFLAGS");
    let flags = std::env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    !["mold", "gold", "wild"].iter().any(|other| flags.contains(other))
}

/// A directory in which the linker finds archives and nothing else, if there are all that it needs. It takes a library from the first
/// directory that has one of its forms, so that this one decides.
fn archives() -> Option<Archives> {
    let folder = PathBuf::from(std::env::var_os("OUT_DIR")?).join("archives");
    // The loader that would otherwise be asked for is that of glibc.
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|it| it == value);
    let is_native = std::env::var("TARGET") == std::env::var("HOST");
    let is_known = is("CARGO_CFG_TARGET_ENV", "gnu") && is_native && !is(CHOICE, "libraries");
    if is_known { gathered(folder).ok() } else { None }
}

/// Links to all of them, or why there are not all.
fn gathered(folder: PathBuf) -> io::Result<Archives> {
    let found = |name: &str| {
        let path = found(name).ok_or(io::ErrorKind::NotFound)?;
        // Another version of the compiler has it elsewhere.
        println!("cargo::rerun-if-changed={}", path.display());
        Ok::<_, io::Error>(path)
    };
    std::fs::create_dir_all(&folder)?;
    found("rcrt1.o")?;
    let library = std::fs::read(found("libc.a")?)?;
    if !library.windows(LOOKS_UP_HOSTS.len()).any(|it| it == LOOKS_UP_HOSTS) {
        return Err(io::ErrorKind::Unsupported.into());
    }
    for (name, archive) in LIBRARIES {
        let place = folder.join(name);
        let _it_may_not_be_there = std::fs::remove_file(&place);
        symlink(found(archive)?, place)?;
    }
    Ok(Archives { folder, release: release(&library) })
}

fn release(library: &[u8]) -> Option<u32> {
    let at = library.windows(RELEASE.len()).position(|it| it == RELEASE)?;
    let digits = library.get(at + RELEASE.len()..)?.split(|it| !it.is_ascii_digit()).next()?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Where the C compiler has a file.
fn found(name: &str) -> Option<PathBuf> {
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let told = Command::new(compiler).arg(format!("-print-file-name={name}")).output().ok()?;
    let path = PathBuf::from(String::from_utf8(told.stdout).ok()?.trim());
    // What it does not have it only repeats.
    path.is_absolute().then_some(path).filter(|path| path.exists())
}
