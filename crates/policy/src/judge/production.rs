//! What is done to the database that others use: `RAILS_ENV=production rails db:migrate`. Building for production is
//! everyday work; only what changes a database is asked about.

use bstr::{BStr, ByteSlice};

use super::command::Subjected;
use super::inquiry::Inquiry;
use crate::verdict::Finding;
use crate::word::Word;

/// Variables that say which of a project's environments is meant.
const VARIABLES: &[&str] = &[
    "ALEMBIC_ENV",
    "APP_ENV",
    "ASPNETCORE_ENVIRONMENT",
    "DB_ENV",
    "DJANGO_CONFIGURATION",
    "DJANGO_SETTINGS_MODULE",
    "DOTNET_ENVIRONMENT",
    "ENV",
    "ENVIRONMENT",
    "FLASK_CONFIG",
    "FLASK_ENV",
    "HANAMI_ENV",
    "KNEX_ENV",
    "LARAVEL_ENV",
    "MIX_ENV",
    "NODE_ENV",
    "RACK_ENV",
    "RAILS_ENV",
    "SPRING_PROFILES_ACTIVE",
    "STAGE",
];

/// Options that say the same.
const OPTIONS: &[&str] =
    &["--env", "--environment", "--context", "--settings", "--stage", "-e", "--database", "--db"];

/// What tasks are called that change a database.
const CHANGING: &[&str] = &[
    "db:migrate*",
    "db:seed*",
    "db:rollback*",
    "db:setup*",
    "db:schema:*",
    "db:fixtures:*",
    "db:up*",
    "ecto.migrate",
    "ecto.rollback",
    "ecto.setup",
    "migrate",
    "migrate:*",
    "migration:*",
    "migrations:*",
    "doctrine:migrations:*",
    "doctrine:schema:update",
    "doctrine:fixtures:*",
    "loaddata",
    "seed",
];

/// Tools whose word for it means something else elsewhere: `flask db upgrade`.
const UPGRADING: &[&str] = &["alembic", "flask"];

/// Tools that ask by themselves before they touch what others use, unless told not to.
const ASKING: &[&str] = &["artisan"];

impl Inquiry<'_> {
    pub fn changes_production(&self, subjected: &Subjected<'_>, findings: &mut Vec<Finding>) {
        let words = subjected.invocation.words.as_slice();
        // Nearly no command names an environment.
        let names = |word: &Word| {
            let shown = word.shown();
            shown == "--force" || is_production(shown)
        };
        if subjected.invocation.assignments.is_empty() && !words.iter().skip(1).any(names) {
            return;
        }
        if changes_database(words) && (is_meant(subjected) || forces(words)) {
            let about = bstr::join(" ", words.iter().map(Word::shown));
            findings.extend(self.situation("production", &about.to_str_lossy()));
        }
    }
}

/// `RAILS_ENV=test rails db:drop`: the database of the tests, which they make again.
pub(super) fn spare_tests(subjected: &Subjected<'_>, findings: &mut Vec<Finding>) {
    let tests = subjected.invocation.assignments.iter().any(|(name, value)| {
        let value = value.shown();
        VARIABLES.iter().any(|known| name == known)
            && [&b"test"[..], b"testing", b"ci"].iter().any(|it| value == *it)
    });
    if tests {
        findings.retain(|finding| &*finding.rule != "ask-database-drop");
    }
}

fn changes_database(words: &[Word]) -> bool {
    let is = |word: &BStr| CHANGING.iter().any(|task| matches(task, word));
    let upgrades = || {
        words.first().is_some_and(|name| UPGRADING.iter().any(|known| name.shown() == *known))
            && words.iter().any(|word| word.shown() == "upgrade")
    };
    words.iter().skip(1).any(|word| is(word.shown())) || upgrades()
}

/// A task, or all that begin so.
fn matches(task: &str, word: &BStr) -> bool {
    match task.strip_suffix('*') {
        Some(start) => word.starts_with(start.as_bytes()),
        None => word == task,
    }
}

fn is_meant(subjected: &Subjected<'_>) -> bool {
    let variables = subjected.invocation.assignments.iter().any(|(name, value)| {
        VARIABLES.iter().any(|known| name == known) && is_production(value.shown())
    });
    let given = subjected.reading.options.iter().any(|option| {
        option.names.iter().any(|name| OPTIONS.iter().any(|known| name == known))
            && option.value.as_ref().is_some_and(|value| is_production(value.shown()))
    });
    let words = &subjected.invocation.words;
    let follows = words.iter().zip(words.iter().skip(1)).any(|(option, value)| {
        OPTIONS.iter().any(|known| option.shown() == *known) && is_production(value.shown())
    });
    let attached =
        words.iter().filter_map(|word| word.shown().split_once_str("=")).any(|(option, value)| {
            let known = |names: &[&str]| names.iter().any(|known| option == known.as_bytes());
            (known(OPTIONS) || known(VARIABLES)) && is_production(value.as_bstr())
        });
    variables || given || follows || attached
}

/// `php artisan migrate --force`: without the question that it would ask of production alone.
fn forces(words: &[Word]) -> bool {
    let asks = |word: &Word| {
        let shown = word.shown();
        let name = shown.rsplit_once_str("/").map_or(shown.as_bytes(), |(_, name)| name);
        ASKING.iter().any(|known| name == known.as_bytes())
    };
    words.iter().take(2).any(asks) && words.iter().any(|word| word.shown() == "--force")
}

/// `production`, `prod`, `app.settings.production`.
fn is_production(value: &BStr) -> bool {
    let last = value.rsplit(|byte| b"._-/:=".contains(byte)).next().unwrap_or_default();
    [&b"prod"[..], b"production", b"live", b"prd"].iter().any(|it| last.eq_ignore_ascii_case(it))
}
