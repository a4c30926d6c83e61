//! S4's irreversible keywords as words with meaning: what a command does, never what it is told about.
//!
//! A keyword counts as the program itself, as a subcommand of a program that has them, as an option, or as the verb
//! of a database statement. In a text, a file name, a branch or a search pattern it is a word like any other.

use bstr::{BStr, ByteSlice};

use crate::effect::{Effect, Language};
use crate::programs::{GivenOption, Reading};

/// In S4's order.
pub const KEYWORDS: &[&str] = &[
    "rm", "delete", "drop", "truncate", "force", "reset", "purge", "destroy", "sudo", "chmod",
    "chown",
];

/// Programs that are a keyword by another name.
const PROGRAMS: &[(&str, &str)] = &[
    ("dropdb", "drop"),
    ("dropuser", "drop"),
    ("doas", "sudo"),
    ("pkexec", "sudo"),
    ("unlink", "rm"),
    ("del", "delete"),
    ("erase", "delete"),
    ("Remove-Item", "rm"),
    ("chgrp", "chown"),
];

/// Programs whose first operands are verbs, and how many of them can be: `git reset`, `aws s3 rm`.
const VERBS: &[(&str, usize)] = &[
    ("git", 2),
    ("hg", 1),
    ("svn", 1),
    ("jj", 2),
    ("npm", 1),
    ("pnpm", 1),
    ("yarn", 1),
    ("cargo", 1),
    ("docker", 2),
    ("docker-compose", 1),
    ("podman", 2),
    ("nerdctl", 2),
    ("kubectl", 1),
    ("oc", 1),
    ("helm", 2),
    ("terraform", 2),
    ("tofu", 2),
    ("terragrunt", 2),
    ("pulumi", 2),
    ("cdk", 1),
    ("aws", 3),
    ("gcloud", 5),
    ("gsutil", 1),
    ("az", 5),
    ("gh", 2),
    ("glab", 2),
    ("heroku", 1),
    ("fly", 2),
    ("flyctl", 2),
    ("vercel", 2),
    ("netlify", 1),
    ("wrangler", 3),
    ("firebase", 2),
    ("supabase", 2),
    ("doctl", 4),
    ("vagrant", 2),
    ("apt", 1),
    ("apt-get", 1),
    ("aptitude", 1),
    ("dpkg", 1),
    ("systemctl", 1),
    ("rails", 1),
    ("rake", 1),
    ("mix", 1),
    ("artisan", 1),
    ("prisma", 2),
    ("sequelize", 1),
    ("knex", 1),
    ("typeorm", 1),
    ("drizzle-kit", 1),
    ("alembic", 1),
    ("virsh", 1),
    ("zfs", 1),
    ("zpool", 1),
    ("lxc", 1),
    ("ip", 3),
    ("nmcli", 2),
    ("rclone", 1),
    ("mc", 1),
    ("s3cmd", 1),
    ("etcdctl", 1),
    ("consul", 2),
    ("vault", 2),
    ("influx", 1),
    ("mysqladmin", 1),
    ("rabbitmqctl", 1),
    ("kafka-topics", 1),
];

/// Docker's nouns: `docker image rm`, but not `docker run reset`.
const NOUNS: &[&str] = &[
    "builder",
    "buildx",
    "compose",
    "config",
    "container",
    "context",
    "image",
    "machine",
    "manifest",
    "network",
    "node",
    "plugin",
    "pod",
    "secret",
    "service",
    "stack",
    "swarm",
    "system",
    "volume",
];

/// Git's: `git stash drop`, but not `git checkout reset`.
const NOUNS_OF_GIT: &[&str] = &["notes", "reflog", "remote", "stash"];

/// The keyword that makes this command irreversible in the eyes of a task.
pub fn irreversible_keyword(reading: &Reading) -> Option<&'static str> {
    program(reading.name.as_bstr())
        .or_else(|| reading.options.iter().find_map(option))
        .or_else(|| subcommand(reading))
        .or_else(|| reading.effects.iter().find_map(|effect| statement(reading, effect)))
}

fn keyword(text: &[u8]) -> Option<&'static str> {
    KEYWORDS.iter().find(|word| word.as_bytes() == text).copied()
}

fn program(name: &BStr) -> Option<&'static str> {
    keyword(name).or_else(|| {
        let alias = PROGRAMS.iter().find(|(alias, _)| name.eq_ignore_ascii_case(alias.as_bytes()));
        alias.map(|(_, word)| *word)
    })
}

/// `--force`, `--delete-after`, `-delete`; a short option counts by its long name, which the tables know.
fn option(option: &GivenOption) -> Option<&'static str> {
    option.names.iter().find_map(|name| {
        let word = name.strip_prefix(b"--").or_else(|| name.strip_prefix(b"-"))?;
        if word.len() < 2 {
            return None;
        }
        keyword(word).or_else(|| {
            let whole: &[(&str, &[&str])] = &[
                ("force", &["force-with-lease", "force-if-includes", "force-delete", "force-yes"]),
                ("delete", &["delete-after", "delete-before", "delete-during", "delete-delay"]),
                ("delete", &["delete-excluded", "delete-missing-args", "delete-branch"]),
                ("purge", &["auto-purge"]),
            ];
            let found = whole.iter().find(|(_, names)| names.iter().any(|n| n.as_bytes() == word));
            found.map(|(keyword, _)| *keyword)
        })
    })
}

fn subcommand(reading: &Reading) -> Option<&'static str> {
    let (_, most) = VERBS.iter().find(|(name, _)| reading.name == *name)?;
    let first = reading.operands.first()?;
    let is_noun = |nouns: &[&str]| {
        nouns.iter().any(|noun| first.as_literal() == Some(noun.as_bytes().as_bstr()))
    };
    let object = match reading.name.as_slice() {
        b"docker" | b"podman" | b"nerdctl" => !is_noun(NOUNS),
        b"git" => !is_noun(NOUNS_OF_GIT),
        _ => false,
    };
    let most = if object { 1 } else { *most };
    reading.operands.iter().take(most).find_map(|word| verb(word.as_literal()?))
}

/// `delete-volume`, `db:drop` and `migrate:reset` are verbs with their objects.
fn verb(word: &BStr) -> Option<&'static str> {
    if word.contains_str("/") || word.contains_str(".") {
        return None;
    }
    word.split(|byte| matches!(byte, b'-' | b':' | b'_')).find_map(keyword)
}

fn statement(reading: &Reading, effect: &Effect) -> Option<&'static str> {
    let Effect::Code { language, text } = effect else { return None };
    let store = matches!(reading.name.as_slice(), b"mongo" | b"mongosh" | b"redis-cli" | b"cqlsh");
    if *language != Language::Sql && !store {
        return None;
    }
    let text = text.as_literal()?;
    match *language {
        Language::Sql => sql(text),
        _ => words(text).find_map(|word| {
            let lower = word.to_ascii_lowercase();
            let verbs = ["drop", "delete", "truncate", "reset", "purge", "destroy"];
            let found = verbs.into_iter().find(|verb| lower.starts_with(verb.as_bytes()));
            found.and_then(|verb| keyword(verb.as_bytes()))
        }),
    }
}

/// The verb of a statement: its first word, or that of an `alter table … drop`.
fn sql(text: &BStr) -> Option<&'static str> {
    statements(text).iter().find_map(|statement| {
        let mut words = words(statement);
        let first = words.next()?.to_ascii_lowercase();
        keyword(&first).or_else(|| {
            let inner = matches!(first.as_slice(), b"alter" | b"with" | b"explain");
            inner.then(|| words.find_map(|word| keyword(&word.to_ascii_lowercase()))).flatten()
        })
    })
}

fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_')
        .filter(|word| !word.is_empty())
}

/// Cut at `;`, with quoted texts and comments taken out.
fn statements(text: &BStr) -> Vec<Vec<u8>> {
    let mut all = vec![Vec::new()];
    let mut bytes = text.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\'' | b'"' | b'`' => {
                for inner in bytes.by_ref() {
                    if inner == byte {
                        break;
                    }
                }
            }
            b'-' if bytes.peek() == Some(&b'-') => {
                for inner in bytes.by_ref() {
                    if inner == b'\n' {
                        break;
                    }
                }
            }
            b';' => all.push(Vec::new()),
            _ => {
                if let Some(last) = all.last_mut() {
                    last.push(byte);
                }
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::word::Word;

    fn reading(line: &str) -> Reading {
        let mut words = line.split(' ');
        let mut reading = Reading { name: words.next().unwrap().into(), ..Reading::default() };
        for word in words {
            if word.starts_with('-') {
                reading.options.push(GivenOption {
                    names: [word.into()].into_iter().collect(),
                    value: None,
                    known: true,
                });
            } else {
                reading.operands.push(Word::literal(word));
            }
        }
        reading
    }

    #[test]
    fn a_keyword_is_what_is_done() {
        for (line, expected) in [
            ("rm x", Some("rm")),
            ("sudo ls", Some("sudo")),
            ("chmod +x f", Some("chmod")),
            ("chown a f", Some("chown")),
            ("truncate -s0 f", Some("truncate")),
            ("git reset", Some("reset")),
            ("git stash drop", Some("drop")),
            ("git remote rm x", Some("rm")),
            ("git add reset", None),
            ("git push --force", Some("force")),
            ("git push origin --delete x", Some("delete")),
            ("docker image rm x", Some("rm")),
            ("docker run reset", None),
            ("kubectl delete pod x", Some("delete")),
            ("terraform destroy", Some("destroy")),
            ("aws ec2 delete-volume", Some("delete")),
            ("apt-get purge vim", Some("purge")),
            ("rails db:drop", Some("drop")),
            ("find . -delete", Some("delete")),
            ("npm run format", None),
            ("npm run reset", None),
            ("git log --grep=reset", None),
            ("git log reset", None),
            ("git checkout force", None),
            ("grep -r sudo docs/", None),
            ("echo rm", None),
            ("cat delete.txt", None),
            ("ls --force-color", None),
        ] {
            assert_eq!(irreversible_keyword(&reading(line)), expected, "{line}");
        }
    }

    #[test]
    fn statements_have_verbs() {
        for (text, expected) in [
            ("DROP TABLE x", Some("drop")),
            ("select 1; delete from x", Some("delete")),
            ("alter table x drop column y", Some("drop")),
            ("select 'drop table x'", None),
            ("select delete_at from x -- drop it", None),
            ("select * from x where a = 'it''s; drop'", None),
        ] {
            let mut one = reading("psql");
            one.effects.push(Effect::Code { language: Language::Sql, text: Word::literal(text) });
            assert_eq!(irreversible_keyword(&one), expected, "{text}");
        }
    }
}
