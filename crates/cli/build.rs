//! How the executable is linked. Most of what it does takes less time than its start, so that counts.

#![expect(
    clippy::disallowed_methods,
    reason = "a build script asks the compiler and answers cargo"
)]

use std::fs::File;
use std::io::{self, Read};
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

/// `EXACTA_LINKED=libraries` builds an executable that uses those of the machine, for what cannot be built otherwise;
/// `EXACTA_LINKED=anywhere` one that is loaded to another place each time. Tests are told in the same way what was chosen.
const CHOICE: &str = "EXACTA_LINKED";

/// Without a loader names of hosts are looked up by what the C library has itself, and old ones have nothing.
const LOOKS_UP_HOSTS: &[u8] = b"_nss_dns_gethostbyname4_r";

/// What is before the number of its release in the C library.
const RELEASE: &[u8] = b"stable release version 2.";

/// The first release that puts packed pointers right. Older ones pass them over, and the executable crashes at its start.
const UNPACKS_POINTERS: u32 = 36;

/// The order of the code, see `bench/order`.
const ORDER: &str = "start.ld";

/// Writes what the linker has made anew, in large pieces. Mapped, as linkers write it, it would lie in the page cache page by page
/// until it is read from the disk again, and what each start maps of it would take half a millisecond more.
const REWRITING: &str = "rewritten.sh";

/// The parts of which an executable can be linked as a whole.
struct Archives {
    folder: PathBuf,
    /// Of the C library: 36 is 2.36. Nothing if it does not say.
    release: Option<u32>,
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={ORDER}");
    println!("cargo::rerun-if-changed={REWRITING}");
    println!("cargo::rerun-if-env-changed=CC");
    println!("cargo::rerun-if-env-changed={CHOICE}");
    // The whole of it goes into the executable: as libraries the C library and the unwinder are to be found, mapped and put right
    // each time, in the engine and in every part of a jail; and it then runs whatever C library a system has.
    let archives = archives();
    let ordered = is_ordered();
    let place = archives.as_ref().and_then(|_| place(ordered));
    let how = match (&archives, &place) {
        (None, _) => "libraries",
        (Some(_), None) => "anywhere",
        (Some(_), Some(_)) => "whole",
    };
    println!("cargo::rustc-env={CHOICE}={how}");
    if let Some(archives) = archives {
        link_whole(&archives, place, ordered);
    } else if let Some(unwinder) = found("libgcc_eh.a").as_deref().and_then(Path::parent) {
        println!("cargo::rustc-link-search=native={}", unwinder.display());
        println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
    }
}

/// Where in memory the executable lies, if that is decided when it is linked: at random, for this executable alone.
///
/// At a place that is decided at each start, 45,000 pointers on 200 pages are to be put right before anything else, in memory of
/// its own, which every part of a jail copies: 0.4 ms of a builtin and of a cold program. This is a program that reads what
/// strangers have written, so its addresses are unknown to them here too. Who gives the same executable to many people lets
/// each start decide (`EXACTA_LINKED=anywhere`).
struct Place {
    begin: u64,
    /// What is free before the code and before the constants.
    before_code: u64,
    before_constants: u64,
}

const PAGE: u64 = 4 << 10;
const LARGE_PAGE: u64 = 2 << 20;

fn place(ordered: bool) -> Option<Place> {
    // Other processors have other limits, and other linkers another name for it. The one that is there unless somebody has
    // chosen another is known.
    let is_known = std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|it| it == "x86_64");
    if !is_known || is("anywhere") || has_chosen_linker() || !has_own_linker() {
        return None;
    }
    // In that order code begins with a large page, in memory as in the file: only so can the kernel map it by these. There are 767
    // of them, and 16,384 places in each, for code and constants are aligned to 16 bytes. Without it there are 393,000 pages.
    let page = if ordered { LARGE_PAGE } else { PAGE };
    let room = |most: u64| if ordered { Some(random(most / 16)? * 16) } else { Some(0) };
    // The C library's own parts reach no further than 31 bits; some room is left for what is linked.
    let begin = LARGE_PAGE + random(((3 << 29) - LARGE_PAGE) / page)? * page;
    Some(Place { begin, before_code: room(256 << 10)?, before_constants: room(64 << 10)? })
}

/// A number below this one.
fn random(below: u64) -> Option<u64> {
    let mut random = [0; 8];
    File::open("/dev/urandom").and_then(|mut it| it.read_exact(&mut random)).ok()?;
    Some(u64::from_ne_bytes(random) % below)
}

/// Whether somebody wants another linker than the one that comes with the compiler.
fn has_chosen_linker() -> bool {
    println!("cargo::rerun-if-env-changed=RUSTC_LINKER");
    std::env::var_os("RUSTC_LINKER").is_some()
        || ["fuse-ld", "linker"].iter().any(|it| flags().contains(it))
}

/// Whether the compiler comes with a linker of its own, which it then uses. Those of some distributions do not.
fn has_own_linker() -> bool {
    let Some(compiler) = std::env::var_os("RUSTC") else { return false };
    let told = Command::new(compiler).args(["--print", "sysroot"]).output();
    let sysroot = told.ok().and_then(|told| String::from_utf8(told.stdout).ok());
    let target = std::env::var("TARGET").unwrap_or_default();
    sysroot.is_some_and(|sysroot| {
        let tools = Path::new(sysroot.trim()).join("lib/rustlib").join(target).join("bin");
        tools.join("gcc-ld/ld.lld").exists()
    })
}

fn flags() -> String {
    println!("cargo::rerun-if-env-changed=CARGO_ENCODED_RUSTFLAGS");
    std::env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default()
}

fn is(choice: &str) -> bool {
    std::env::var(CHOICE).is_ok_and(|it| it == choice)
}

fn link_whole(archives: &Archives, place: Option<Place>, ordered: bool) {
    println!("cargo::rustc-link-arg-bins=-L{}", archives.folder.display());
    if let Some(place) = place {
        println!("cargo::rustc-link-arg-bins=-static");
        println!("cargo::rustc-link-arg-bins=-no-pie");
        println!("cargo::rustc-link-arg-bins=-Wl,--image-base={:#x}", place.begin);
        for (name, room) in [("code", place.before_code), ("constants", place.before_constants)] {
            println!("cargo::rustc-link-arg-bins=-Wl,--defsym=room_before_{name}={room:#x}");
        }
    } else {
        println!("cargo::rustc-link-arg-bins=-static-pie");
    }
    // Linkers that read archives once, in order, have passed what these need of one another.
    println!("cargo::rustc-link-arg-bins=-Wl,--start-group,-lgcc_eh,-lgcc,-lc,--end-group");
    // A list of the pointers that are to be put right is 1 MB, to be read at each start. Packed it is 13 KB.
    if archives.release.is_some_and(|release| release >= UNPACKS_POINTERS) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
    let package = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let Some(package) = package.filter(|_| !is_in_a_hurry()) else { return };
    if ordered {
        println!("cargo::rustc-link-arg-bins=-Wl,-T,{}", package.join(ORDER).display());
    }
    let rewriting = package.join(REWRITING);
    if takes_wrapper(&rewriting) {
        println!("cargo::rustc-link-arg-bins=-wrapper");
        println!("cargo::rustc-link-arg-bins={}", rewriting.display());
    }
}

/// Whether the linker is told in which order code and constants lie.
///
/// A start needs a tenth of the code. Where the linker puts it by itself it is all over the executable, and each window of pages
/// that is touched costs a page fault, in the engine and in every part of a jail. Folding functions that are the same would take
/// them out of that order again.
fn is_ordered() -> bool {
    !is_in_a_hurry() && takes_orders()
}

/// What is built so is not made to wait for that: the linker looks through all code for each name, which takes seconds.
fn is_in_a_hurry() -> bool {
    std::env::var("OPT_LEVEL").is_ok_and(|level| level == "0" || level == "1")
}

/// Whether whoever calls the linker lets this script call it instead. Not every compiler knows of that.
fn takes_wrapper(script: &Path) -> bool {
    // As it is called for linking, unless somebody has chosen otherwise; here it only copies nothing to nowhere.
    let mut compiler = Command::new("cc");
    compiler.arg("-wrapper").arg(script).args(["-E", "-x", "c", "/dev/null", "-o", "/dev/null"]);
    !has_chosen_linker() && compiler.output().is_ok_and(|asked| asked.status.success())
}

/// Whether the linker is one that reads scripts: unless somebody has chosen another, it is.
fn takes_orders() -> bool {
    let flags = flags();
    !["mold", "gold", "wild"].iter().any(|other| flags.contains(other))
}

/// A directory in which the linker finds archives and nothing else, if there are all that it needs. It takes a library from the first
/// directory that has one of its forms, so that this one decides.
fn archives() -> Option<Archives> {
    let folder = PathBuf::from(std::env::var_os("OUT_DIR")?).join("archives");
    // The loader that would otherwise be asked for is that of glibc.
    let is_glibc = std::env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|it| it == "gnu");
    let is_native = std::env::var("TARGET") == std::env::var("HOST");
    let is_known = is_glibc && is_native && !is("libraries");
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
