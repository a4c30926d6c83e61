//! The verbs about what was recorded of commands, as data: `shell history` and `audit`.

use bstr::ByteSlice;
use exacta::audit::moment;
use exacta::audit::store::{Filter, Signed, Verdict};

use super::manage::Given;

#[derive(Debug)]
pub enum AuditVerb {
    /// `exacta audit verify [--head LINE]`
    Verify {
        heads: Vec<Signed>,
    },
    Head,
    /// `exacta audit tail [-f]`
    Tail {
        follow: bool,
        filter: Filter,
    },
    Export {
        format: Format,
        filter: Filter,
    },
    /// `exacta audit prune [--dry-run]`
    Prune {
        dry_run: bool,
    },
}

/// `exacta shell history`
#[derive(Debug)]
pub enum History {
    List(Filter),
    Show(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Jsonl,
    Csv,
    Cef,
    Ocsf,
}

/// So many are listed unless somebody wants more.
const USUAL: usize = 50;

pub fn history(given: &Given, words: &[bstr::BString]) -> Result<History, String> {
    match words {
        [] => {
            let filter = filter(given)?;
            Ok(History::List(Filter { limit: filter.limit.or(Some(USUAL)), ..filter }))
        }
        [id] => Ok(History::Show(id.to_str_lossy().into_owned())),
        [_, more, ..] => Err(format!("history takes one id, and no {more}")),
    }
}

pub fn parse(given: &Given) -> Result<AuditVerb, String> {
    let words: Vec<&[u8]> = given.words.iter().map(|word| word.as_slice()).collect();
    Ok(match words.as_slice() {
        [b"verify"] => AuditVerb::Verify { heads: heads(given)? },
        [b"head"] => AuditVerb::Head,
        [b"tail"] => AuditVerb::Tail { follow: given.has("follow"), filter: filter(given)? },
        [b"tail", b"-f"] | [b"-f", b"tail"] => {
            AuditVerb::Tail { follow: true, filter: filter(given)? }
        }
        [b"export"] => AuditVerb::Export { format: format(given)?, filter: filter(given)? },
        [b"prune"] => AuditVerb::Prune { dry_run: given.has("dry-run") },
        _ => return Err("audit needs one of: verify, head, tail, export, prune".into()),
    })
}

fn text(given: &Given, name: &str) -> Option<String> {
    given.value(name).map(|value| value.to_string_lossy().into_owned())
}

fn filter(given: &Given) -> Result<Filter, String> {
    filter_of(&|name| text(given, name), given.has("failed"))
}

/// From whatever says these by their names.
pub fn filter_of(said: &dyn Fn(&str) -> Option<String>, failed: bool) -> Result<Filter, String> {
    let limit = said("limit").map(|limit| match limit.parse() {
        Ok(limit) if limit > 0 => Ok(limit),
        _ => Err(format!("--limit takes a number from 1 on, not {limit}")),
    });
    let time = |name: &str| {
        let read = said(name).map(|said| {
            moment(&said)
                .ok_or_else(|| format!("--{name} takes 10m, 2h, 7d, a day or a time, not {said}"))
        });
        read.transpose()
    };
    let verdict = said("decision").map(|name| {
        Verdict::from_name(&name)
            .ok_or_else(|| format!("--decision takes allow, confirm or deny, not {name}"))
    });
    Ok(Filter {
        limit: limit.transpose()?,
        since: time("since")?,
        until: time("until")?,
        session: said("session"),
        verdict: verdict.transpose()?,
        failed,
        grep: said("grep"),
        after: None,
    })
}

fn heads(given: &Given) -> Result<Vec<Signed>, String> {
    let head = text(given, "head").map(|line| line.parse::<Signed>());
    Ok(head.transpose()?.into_iter().collect())
}

fn format(given: &Given) -> Result<Format, String> {
    match text(given, "format").as_deref() {
        None | Some("jsonl") => Ok(Format::Jsonl),
        Some("csv") => Ok(Format::Csv),
        Some("cef") => Ok(Format::Cef),
        Some("ocsf") => Ok(Format::Ocsf),
        Some(other) => Err(format!("unknown format {other}: jsonl, csv, cef or ocsf")),
    }
}
