//! What fuzzing has found once, and a few inputs to begin with, through the same functions as in `fuzz/`.

#![expect(clippy::expect_used, clippy::panic, reason = "a test may fail")]
#![expect(clippy::disallowed_methods, reason = "the tests look at the real tree from outside")]

use std::panic::catch_unwind;
use std::path::Path;

#[path = "../../../fuzz/shared/confine.rs"]
mod confine;
#[path = "../../../fuzz/shared/expand.rs"]
mod expand;
#[path = "../../../fuzz/shared/judge.rs"]
mod judge;
#[path = "../../../fuzz/shared/parse.rs"]
mod parse;
#[path = "../../../fuzz/shared/redact.rs"]
mod redact;
#[path = "../../policy/tests/scoring/world.rs"]
mod world;

exacta_world::tests! {
    parse_is_as_it_was_found,
    expand_is_as_it_was_found,
    confine_is_as_it_was_found,
    judge_is_as_it_was_found,
    redact_is_as_it_was_found,
}

fn parse_is_as_it_was_found() {
    replay("parse", parse::check);
}

fn expand_is_as_it_was_found() {
    replay("expand", expand::check);
}

fn confine_is_as_it_was_found() {
    replay("confine", confine::check);
}

fn judge_is_as_it_was_found() {
    replay("judge", judge::check);
}

fn redact_is_as_it_was_found() {
    replay("redact", redact::check);
}

fn replay(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/regressions").join(target);
    let mut failed = Vec::new();
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the regressions").flatten() {
        let bytes = std::fs::read(entry.path()).expect("a regression");
        count += 1;
        if catch_unwind(|| check(&bytes)).is_err() {
            failed.push(entry.file_name());
        }
    }
    assert!(count > 0, "nothing in fuzz/regressions/{target}");
    assert!(failed.is_empty(), "{failed:?}");
}
