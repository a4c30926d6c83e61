//! Files that make something run later are guarded by where they are, under whatever name a command reaches them.

use std::os::unix::fs::symlink;

use crate::support::{Project, code, text};

/// A project with a file and links that lead to what is guarded.
fn with_links() -> Project {
    let project = Project::new();
    project.write("file", "true\n");
    project.write(".git/config", "[core]\n");
    project.write(".git/hooks/sample", "");
    project.write("sub/tasks.json", "{}\n");
    project.write(".vscode/readme", "");
    let at = |name: &str| project.root.join(name);
    symlink(".git/hooks", at("hooks")).expect("a link");
    symlink("../.git", at("sub/git")).expect("a link");
    symlink(".git/hooks/pre-commit", at("dangling")).expect("a link");
    project
}

/// Asked about in both faces: with words known beforehand, and with words known only when they run.
const LINES: &[&str] = &[
    "cp file .git/hooks/pre-commit",
    "mv file .git/hooks/pre-commit",
    "ln file .git/hooks/pre-commit",
    "sort -o .git/hooks/pre-commit file",
    "tee .git/hooks/pre-commit < file",
    "find file -fprint .git/hooks/pre-commit",
    "touch .git/hooks/pre-commit",
    "d=$(echo .git/hooks); cp file \"$d/pre-commit\"",
    "d=$(echo .git/hooks); mv file \"$d/pre-commit\"",
    "echo .git/hooks/pre-commit | xargs cp file",
    "find file -exec cp {} .git/hooks/pre-commit ';'",
    "echo true > hooks/pre-commit",
    "cp file hooks/pre-commit",
    "cp file hooks",
    "mv file sub/git/hooks/pre-commit",
    "ln -s ../../file hooks/pre-commit",
    "cd hooks && echo true > pre-commit",
    "cd hooks && echo true >> ../../.git/config",
    "echo true >> hooks/../config",
    "echo true > dangling",
    "tee dangling < file",
    "cp -P hooks other; cp file other/pre-commit",
    "mv sub/tasks.json .vscode",
    "cd .vscode && mv ../sub/tasks.json .",
    "mv -t .vscode sub/tasks.json",
];

#[test]
fn no_name_leads_around_the_question() {
    for line in LINES {
        for arguments in [&["-c", line][..], &["run", "--no-input", "--", line]] {
            let project = with_links();
            let output = project.run(arguments);
            assert_eq!(code(&output), 126, "{arguments:?}: {}", text(&output.stderr));
            assert!(project.read(".git/hooks/pre-commit").is_none(), "{arguments:?}");
            assert!(project.read(".vscode/tasks.json").is_none(), "{arguments:?}");
            assert_eq!(project.read(".git/config").as_deref(), Some("[core]\n"), "{arguments:?}");
        }
    }
}

#[test]
fn a_link_itself_is_only_a_link() {
    for line in ["rm hooks", "mv hooks elsewhere", "rm dangling", "ls hooks", "cp file sub/new"] {
        let project = with_links();
        let output = project.run(&["run", "--no-input", "--", line]);
        assert_eq!(code(&output), 0, "{line}: {}", text(&output.stderr));
    }
}

#[test]
fn a_rule_about_a_path_holds_for_whatever_changes_it() {
    let rule = "[[rule]]\nid = \"no-infra\"\nverdict = \"deny\"\nwrite = [\"infra/**\"]\nreason = \"managed elsewhere\"\n";
    for line in [
        "mkdir infra/new",
        "rmdir infra/empty",
        "touch infra/new",
        "chmod 777 infra/main",
        "rm infra/main",
        "mv infra/main .",
        "mv file infra/new",
        "ln -s ../file infra/new",
        "mktemp infra/newXXXXXX",
        "find infra/main -delete",
        "echo x > infra/main",
        "/usr/bin/mkdir infra/new",
        "d=$(echo infra); mkdir \"$d/new\"",
        "echo infra/new | xargs mkdir",
    ] {
        for arguments in [&["-c", line][..], &["run", "--yes", "--", line]] {
            let project = Project::new();
            project.write("file", "").write("infra/main", "kept").write(".exacta.toml", rule);
            std::fs::create_dir(project.root.join("infra/empty")).expect("a directory");
            let output = project.run(arguments);
            assert_eq!(code(&output), 126, "{arguments:?}: {}", text(&output.stderr));
            assert_eq!(project.read("infra/main").as_deref(), Some("kept"), "{arguments:?}");
            let entries = std::fs::read_dir(project.root.join("infra")).expect("a directory");
            assert_eq!(entries.count(), 2, "{arguments:?}");
        }
    }
}
