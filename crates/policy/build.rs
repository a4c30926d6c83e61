//! Turns the tables of `programs/` and `rules/` into a compact form that costs nothing to load, and refuses to
//! build with a table that is not right.

#![allow(dead_code, reason = "the schemas are shared with the crate, which uses all of them")]
#![expect(clippy::disallowed_methods, reason = "a build script reads its own sources")]

use std::error::Error;
use std::path::Path;
use std::{env, fs};

#[path = "build/programs.rs"]
mod build_programs;
#[path = "src/programs/schema.rs"]
mod programs;
#[path = "build/rules.rs"]
mod rule_tables;
#[path = "build/texts.rs"]
mod texts;
mod rules {
    #[path = "../src/rules/braces.rs"]
    pub mod braces;
    #[path = "../src/rules/compile.rs"]
    pub mod compile;
    #[path = "../src/rules/grant.rs"]
    pub mod grant;
    #[path = "../src/rules/host.rs"]
    pub mod host;
    #[path = "../src/rules/pattern.rs"]
    pub mod pattern;
    #[path = "../src/rules/schema.rs"]
    pub mod schema;
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=programs");
    println!("cargo::rerun-if-changed=rules");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=src/rules");
    let out = env::var("OUT_DIR")?;
    let out = Path::new(&out);
    build_programs::write(tables("programs")?, out)?;
    rule_tables::generate(&tables("rules")?, out)?;
    Ok(())
}

/// The files of a folder in the order of their names.
fn tables(folder: &str) -> Result<Vec<(String, String)>, Box<dyn Error>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            found.push((name, fs::read_to_string(&path)?));
        }
    }
    found.sort();
    Ok(found)
}
