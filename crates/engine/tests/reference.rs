//! `docs/commands.md` says what the table of commands says.

#![expect(
    clippy::disallowed_methods,
    reason = "the test reads and, when asked, writes the document"
)]

use std::path::Path;

#[test]
fn the_reference_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/commands.md");
    let expected = exacta::reference::markdown();
    if std::env::var_os("ACCEPT").is_some() {
        std::fs::write(&path, &expected).expect("docs/commands.md can be written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == expected,
        "docs/commands.md is stale: ACCEPT=1 cargo test -p exacta --test reference"
    );
}

#[test]
fn every_command_says_what_it_is() {
    for command in exacta_shell::builtins::TABLE {
        assert!(!command.summary.is_empty(), "{} has no summary", command.name);
        assert!(
            command.synopsis.starts_with(command.name),
            "{}: {}",
            command.name,
            command.synopsis
        );
        assert!(command.options.iter().all(|option| !option.help.is_empty()), "{}", command.name);
    }
}
