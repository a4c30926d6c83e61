//! How the executable is linked. Most of what it does takes less time than its start, so that counts.

#![expect(
    clippy::disallowed_methods,
    reason = "a build script asks the compiler and answers cargo"
)]

use std::path::PathBuf;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // The unwinder becomes a part of the executable: as a library of its own it is one more to be found, mapped and put
    // right each time, and asks the processor what it is, which takes long where that is a virtual one.
    if let Some(folder) = unwinder() {
        println!("cargo::rustc-link-search=native={}", folder.display());
        println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
    }
    // It could start 0.45 ms sooner at a fixed place in memory, where the loader has no pointers to put right. But this is a
    // program that reads what strangers have written: its addresses stay unknown to them.
}

/// Where the C compiler has it. Without, the library is used.
fn unwinder() -> Option<PathBuf> {
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let told = Command::new(compiler).arg("-print-file-name=libgcc_eh.a").output().ok()?;
    let path = PathBuf::from(String::from_utf8(told.stdout).ok()?.trim());
    // What it does not have it only repeats.
    path.is_absolute().then(|| path.parent().map(PathBuf::from)).flatten()
}
