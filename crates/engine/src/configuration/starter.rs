//! `exacta init`: a commented file to begin with, and rules taken over from a list that somebody has already.

use std::fmt::Write as _;

use serde_json::Value;

/// Rules taken over, and what could not be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Imported {
    pub rules: String,
    pub count: usize,
    /// Each with the reason.
    pub left_out: Vec<String>,
}

/// The text of a new `.exacta.toml`.
pub fn starter(imported: &Imported) -> String {
    let mut text = String::from(STARTER);
    if imported.count > 0 {
        text.push_str("\n# Taken over from an existing list of permissions.\n");
        text.push_str(&imported.rules);
    }
    for left_out in &imported.left_out {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "# Not taken over: {left_out}");
    }
    text
}

const STARTER: &str = r#"# What exacta lets commands do in this project.
#
# This file came with the project, so it may only tighten until you run `exacta trust`: rules that deny or ask
# count at once, rules that allow count after you have read them and trusted this very content.
# Try a line with `exacta shell test 'LINE'`; see all rules with `exacta shell allowlist` and `blocklist`.

# safe runs nothing; dev asks about what it does not know; full-auto asks only about what cannot be undone.
profile = "dev"

[agent]
# "explain" tells the agent which rule refused and what to do instead; "404" says only "command not found".
refusals = "explain"

# Directories outside the project that commands may use.
# [paths]
# read = ["/opt/data"]
# write = []

# What can change nothing but the project runs apart first, and the result is what is asked about: docs/policy.md.
# [approval]
# when = "after"

# What is redacted beside tokens and passwords of known forms: docs/redaction.md.
# [redact]
# results = true                                  # also in what the caller gets back
# secrets_env = ["ACME_LICENCE"]
# rules = [{ kind = "acme-token", pattern = "acme_[0-9a-f]{32}" }]

# A rule has an id, a verdict (allow, confirm, deny), what it is about, a reason, and examples that are checked
# whenever this file is read.
#
# [[rule]]
# id = "no-migrations"
# verdict = "confirm"
# command = ["python manage.py migrate"]
# reason = "changes the database"
# hint = "run it with --plan first"
# match = ["python manage.py migrate app"]
# not_match = ["python manage.py test"]
"#;

/// Reads the `permissions` of a Claude Code settings file: `Bash(npm run test:*)` and the like. Rules are numbered
/// on from `count`.
pub fn import_claude_code(text: &str, count: usize) -> Result<Imported, String> {
    let settings: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let permissions = settings.get("permissions").ok_or("it has no \"permissions\"")?;
    let mut imported = Imported { count, ..Imported::default() };
    for (key, verdict) in [("deny", "deny"), ("ask", "confirm"), ("allow", "allow")] {
        let entries = permissions.get(key).and_then(Value::as_array);
        for entry in entries.into_iter().flatten() {
            let Some(entry) = entry.as_str() else { continue };
            match command_of(entry) {
                Ok(command) => add(&mut imported, verdict, &command),
                Err(reason) => imported.left_out.push(format!("{key} {entry:?}: {reason}")),
            }
        }
    }
    Ok(imported)
}

/// The words of `Bash(words:*)`.
fn command_of(entry: &str) -> Result<String, &'static str> {
    let inner = entry
        .strip_prefix("Bash(")
        .and_then(|rest| rest.strip_suffix(')'))
        .ok_or("it is not about commands")?;
    let words =
        inner.strip_suffix(":*").or_else(|| inner.strip_suffix(" *")).unwrap_or(inner).trim();
    let plain = |c: char| c.is_alphanumeric() || " _-./=@+,:".contains(c);
    if words.is_empty() || words.starts_with('*') {
        return Err("it would match everything");
    }
    if !words.chars().all(plain) {
        return Err("it is more than words; write it as a rule by hand");
    }
    Ok(words.to_owned())
}

fn add(imported: &mut Imported, verdict: &str, command: &str) {
    imported.count += 1;
    // Only plain characters have come so far.
    let quoted = |text: &str| format!("\"{text}\"");
    // Writing to a String cannot fail.
    let _ = write!(
        imported.rules,
        "\n[[rule]]\nid = \"imported-{}\"\nverdict = \"{verdict}\"\ncommand = [{}]\nreason = \"taken over from an existing list\"\nmatch = [{}]\n",
        imported.count,
        quoted(command),
        quoted(command),
    );
}
