//! `exacta init`: a commented `.exacta.toml` to begin with.

use std::path::{Path, PathBuf};

use exacta::configuration::{Imported, PROJECT_FILE, import_claude_code, starter};
use exacta::project::{read_operator_file, write_project_file};

use super::failed;
use crate::exit::Exit;
use crate::invocation::Global;
use crate::launch;
use crate::output;

pub fn perform(global: &Global, import: Option<&Path>, force: bool) -> Exit {
    let root = match launch::root(global) {
        Ok(root) => root,
        Err(problem) => return failed(&problem),
    };
    let imported = match import.map(|path| read(&root, path)).transpose() {
        Ok(imported) => imported.unwrap_or_default(),
        Err(problem) => return failed(&problem),
    };
    let text = starter(&imported);
    match write_project_file(&root, PROJECT_FILE, text.as_bytes(), force) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            return failed(&format!(
                "{PROJECT_FILE} exists already\n\nhint: use --force to replace it"
            ));
        }
        Err(error) => return failed(&format!("cannot write {PROJECT_FILE}: {error}")),
    }
    output::print(&format!("wrote {}\n", root.join(PROJECT_FILE).display()));
    if imported.count > 0 {
        output::print(&format!(
            "took over {} rules; those that allow count after `exacta trust`\n",
            imported.count
        ));
    }
    for left_out in &imported.left_out {
        output::print(&format!("not taken over: {left_out}\n"));
    }
    Exit::Success
}

/// `claude-code` stands for the usual places of its settings.
fn read(root: &Path, path: &Path) -> Result<Imported, String> {
    let usual: Vec<PathBuf> = if path == Path::new("claude-code") {
        [".claude/settings.json", ".claude/settings.local.json"].map(|name| root.join(name)).into()
    } else {
        vec![path.to_owned()]
    };
    let mut imported = Imported::default();
    let mut read = 0;
    for path in &usual {
        match read_operator_file(path) {
            Ok(text) => {
                read += 1;
                let text = text.to_string();
                let more = import_claude_code(&text, imported.count)
                    .map_err(|problem| format!("{}: {problem}", path.display()))?;
                imported.rules.push_str(&more.rules);
                imported.count = more.count;
                imported.left_out.extend(more.left_out);
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && usual.len() > 1 => {}
            Err(error) => return Err(format!("{}: {error}", path.display())),
        }
    }
    if read == 0 {
        return Err(
            "there is no .claude/settings.json here\n\nhint: name the file: --import FILE".into()
        );
    }
    Ok(imported)
}
