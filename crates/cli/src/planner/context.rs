//! What a planner is told of a project, within a budget: which commands run in a task, the scripts it has, the beginning of its
//! README, and the names of its files. Nothing else of any file.
//!
//! Everything is read through the confined file system, so that a link leads nowhere else, and without secrets before
//! anything is cut: the half of a secret would not be recognised.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use bstr::ByteSlice;
use exacta::redaction::Rules;
use exacta_shell::filesystem::{Directory, FileKind, FileSystem, Follow};

use super::ignored::Ignored;
use super::{failure, scripts};

/// In bytes.
pub const BUDGET: usize = 12 << 10;
/// Of each of the parts but the list of files, which gets what is left.
const OF_COMMANDS: usize = 2 << 10;
const OF_SCRIPTS: usize = 2 << 10;
const OF_README: usize = 3 << 10;
/// Of a file that is looked at; its end is not of interest.
const LONGEST_FILE: usize = 64 << 10;
/// How deep the list goes, and how many names are looked at for it.
const DEPTH: usize = 6;
const MOST_NAMES: usize = 20_000;

/// The text; empty if the project cannot be read, which whoever plans can live with.
pub fn gather(root: &Path, allowed: &[String], rules: &Rules) -> String {
    let Ok(files) = exacta::filesystem::over_directory(root) else { return String::new() };
    let Ok(top) = files.open_directory(files.root(), Follow::No) else { return String::new() };
    let mut text = String::new();
    let mut add = |title: &str, body: &str, most: usize| {
        let body = cut(&without_secrets(rules, body), most);
        if !body.is_empty() {
            text.push_str(&format!("## {title}\n{body}\n\n"));
        }
        text.len()
    };
    add("Commands that run in a task without a question", &allowed.join(", "), OF_COMMANDS);
    add("Scripts and names", &scripts::of(&top), OF_SCRIPTS);
    if let Some((name, readme)) = readme(&top) {
        add(&format!("The beginning of {name}"), &readme, OF_README);
    }
    let used = add("", "", 0);
    let title = "Files, without those that git ignores";
    let room = BUDGET.saturating_sub(used + title.len() + 8);
    add(title, &listed(&top, room), room);
    text
}

/// The beginning of a file of this directory; itself, and not what a link makes of it.
pub fn read(directory: &Arc<dyn Directory>, name: &str) -> Option<String> {
    let file = directory.open_file(name.into(), Follow::No).ok()?;
    let (mut all, mut piece) = (Vec::new(), vec![0; 8 << 10]);
    while all.len() < LONGEST_FILE {
        match file.read(&mut piece) {
            Ok(0) => break,
            Ok(length) => all.extend_from_slice(piece.get(..length).unwrap_or_default()),
            Err(_) => return None,
        }
    }
    Some(all.to_str_lossy().into_owned())
}

fn readme(top: &Arc<dyn Directory>) -> Option<(String, String)> {
    let names = top.entries().ok()?.into_iter().filter(|entry| entry.kind == FileKind::File);
    let names = names.filter_map(|entry| entry.name.to_str().ok().map(str::to_owned));
    let mut readmes: Vec<String> =
        names.filter(|name| name.to_lowercase().starts_with("readme")).collect();
    // `README.md` before `README.de.md`.
    readmes.sort_by_key(|name| (name.len(), name.clone()));
    let name = readmes.into_iter().next()?;
    let text = read(top, &name)?;
    Some((name, text))
}

/// Those nearest to the root first, until there is no more room; then in order.
fn listed(top: &Arc<dyn Directory>, room: usize) -> String {
    let mut waiting = VecDeque::from([(String::new(), Arc::clone(top), Ignored::default(), 0)]);
    let (mut paths, mut length, mut seen) = (Vec::new(), 0, 0);
    let mut left_out = 0_usize;
    // For the line that says that there are more.
    let room = room.saturating_sub(64);
    while let Some((base, directory, ignored, depth)) = waiting.pop_front() {
        let Ok(mut entries) = directory.entries() else { continue };
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        let own = read(&directory, ".gitignore").unwrap_or_default();
        let ignored = ignored.with(&base, &own);
        for entry in entries {
            seen += 1;
            let path = format!("{base}{}", entry.name.to_str_lossy().escape_debug());
            let is_directory = entry.kind == FileKind::Directory;
            if seen > MOST_NAMES || ignored.covers(&path, is_directory) {
                continue;
            }
            if is_directory && depth + 1 < DEPTH {
                if let Ok(below) = directory.open_directory(entry.name.as_bstr(), Follow::No) {
                    waiting.push_back((format!("{path}/"), below, ignored.clone(), depth + 1));
                }
                continue;
            }
            let path = if is_directory { format!("{path}/…") } else { path };
            if length + path.len() < room {
                length += path.len() + 1;
                paths.push(path);
            } else {
                left_out += 1;
            }
        }
    }
    paths.sort();
    if left_out > 0 || seen > MOST_NAMES {
        paths.push(format!("(and more: at least {} are not listed)", left_out.max(1)));
    }
    paths.join("\n")
}

fn without_secrets(rules: &Rules, text: &str) -> String {
    rules.redact_text(text).0
}

fn cut(text: &str, most: usize) -> String {
    const NOTE: &str = "\n(cut)";
    let text = text.trim();
    if text.len() <= most {
        return text.to_owned();
    }
    let room = most.saturating_sub(NOTE.len());
    format!("{}{NOTE}", failure::beginning(text, room).trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_is_cut_at_a_character() {
        assert_eq!(cut(" abc \n", 10), "abc");
        let cut = cut(&"ü".repeat(100), 20);
        assert_eq!(cut, format!("{}\n(cut)", "ü".repeat(7)));
    }
}
