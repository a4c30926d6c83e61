//! What is written in C, compiled once for all attempts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// In memory, and only in this world.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("pieces")
}

pub fn compile_all() {
    let folder = folder();
    fs::create_dir_all(&folder).expect("a directory for the pieces");
    let sources = fs::read_dir(crate::folder()).expect("the folder of attacks");
    let sources = sources.map(|entry| entry.expect("an entry").path());
    let sources: Vec<PathBuf> =
        sources.filter(|path| path.extension().is_some_and(|it| it == "c")).collect();
    std::thread::scope(|scope| {
        for half in sources.chunks(sources.len().div_ceil(2)) {
            scope.spawn(|| half.iter().for_each(|source| compile(source, &folder)));
        }
    });
}

fn compile(source: &Path, folder: &Path) {
    let piece = folder.join(source.file_stem().unwrap_or_default());
    let mut command = Command::new("cc");
    command.args(["-Wall", "-Werror", "-pthread", "-o"]).arg(&piece).arg(source);
    let compiled = command.output().expect("a C compiler");
    let errors = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{}: {errors}", source.display());
}
