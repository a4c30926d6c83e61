//! The format of rules: `rules/*.toml` when the crate is built, configuration files when exacta starts.
//!
//! ```toml
//! [[rule]]
//! id = "git-force-push"
//! verdict = "confirm"                    # allow, confirm, deny
//! command = ["git push"]                 # what the rule is about: exactly one of command, variable, write, read,
//!                                        # delete, code, situation, shape
//! with = ["--force", "-f", "+*"]         # … and any of these options or operands is given
//! without = ["--dry-run"]                # … and none of these
//! irreversible = true                    # asks in every profile
//! reason = "rewrites history that others may have"
//! hint = "push without --force, or ask the owner"
//! match = ["git push -f origin main", "git -C sub push --force"]
//! not_match = ["git push --dry-run -f"]
//! ```

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Rule {
    pub id: String,
    pub verdict: String,
    /// Only in these profiles; empty: in all.
    pub profiles: Vec<String>,
    /// Words: a program's name, then options in any order and operands in order, as a prefix. `{a,b}` alternatives,
    /// `*` any text within a word, `?` one letter, `@name` a list, `$` at the end: no operand follows. `builtin:*` is
    /// every command that runs in process.
    pub command: Vec<String>,
    /// Names of variables: `LD_*`.
    pub variable: Vec<String>,
    /// How the value of the variable is to be read: `shell`, `program`, `paths`, `options:NAME`, `text`.
    pub value: String,
    /// Globs of paths, relative to the project, or beginning with `~/` or `/`.
    pub write: Vec<String>,
    /// … only when such a path is made or changed, not when it is removed.
    pub made: bool,
    pub read: Vec<String>,
    /// Paths removed or moved away; such a path counts as written too.
    pub delete: Vec<String>,
    /// Languages: inline code that is not plainly harmless. With `level = "dangerous"` only that.
    pub code: Vec<String>,
    pub level: String,
    /// What the judge itself finds: `unknown-program`, `dynamic-command`, `dynamic-code`, `piped-code`,
    /// `project-program`, `unknown-option`, `unread-option`,
    /// `unread-path`, `whole-project`, `home-path`, `late-text`, `copied-program`, `executing-option`, `network`,
    /// `outside`, `direct-write`, `syntax`, `limit`.
    pub situation: Vec<String>,
    /// `fork-bomb`, `endless`
    pub shape: Vec<String>,

    /// Any of these options or operand patterns must be there.
    pub with: Vec<String>,
    /// None of these.
    pub without: Vec<String>,
    /// All of these.
    pub with_all: Vec<String>,
    /// Not for these commands: patterns as in `command`.
    pub except: Vec<String>,
    /// Nothing is given besides what `command`, `with` and `with_all` name.
    pub alone: bool,
    /// At most so many operands (after those of the pattern).
    pub operands_at_most: Option<usize>,
    /// The input of the command comes from one of these commands.
    pub piped_from: Vec<String>,

    pub irreversible: bool,
    pub reason: String,
    pub hint: String,
    /// Ids of rules that do not count where this one matches: only in an operator's or a trusted file.
    pub overrides: Vec<String>,
    /// Hosts that what this rule allows may reach, with all that it starts: `grant.rs` tells how they are written.
    pub hosts: Vec<String>,
    /// … also where such a name leads into a private network.
    pub private: bool,
    /// What this rule allows writes into the project at once, where it sees what people change meanwhile: servers, watchers.
    /// Nothing of that can be undone.
    pub direct: bool,
    #[serde(rename = "match")]
    pub matches: Vec<String>,
    pub not_match: Vec<String>,
    /// The specification it comes from: `S3 §4`.
    pub from: String,
}
