//! What code in a file of the project may do without a question, and what tells that it is no such code.
//!
//! All of it runs in a jail: offline, without the home and the system, and every change to the project can be undone.
//! So a program of the project may start others (what it names is judged by itself), remove what it made and talk to
//! this machine. What it has little reason to do is to run text that it makes, or to remove what is not the project's.

use bstr::{BStr, ByteSlice};

use super::scripts::is_dangerous;
use super::sights;
use crate::code::{Level, Reading};

/// Which readings of a file that some tool loads are asked about.
pub(super) fn of_loaded(text: &BStr) -> fn(&Reading) -> bool {
    if sights::names_elsewhere(text) && !sights::has_place_of_its_own(text) {
        runs_text_or_removes
    } else {
        runs_text
    }
}

/// … and of one that is named to be run: what talks to other machines does so now.
pub(super) fn of_named(text: &BStr) -> fn(&Reading) -> bool {
    if sights::talks_to_others(text) { is_dangerous } else { of_loaded(text) }
}

fn runs_text(reading: &Reading) -> bool {
    const SIGHTS: [&str; 12] = [
        "eval",
        "b64",
        "base64",
        "pty",
        "ctypes",
        "Function",
        "marshal",
        "__import__",
        "$(guile",
        "include",
        "loadstring",
        "SHELL",
    ];
    reading.level == Level::Dangerous
        && (reading.seen == "exec" || SIGHTS.iter().any(|it| reading.seen.contains_str(it)))
}

fn runs_text_or_removes(reading: &Reading) -> bool {
    const REMOVING: [&str; 7] = ["rmtree", "rmSync", "rmdir", "unlink", "remove", "rm", "delete"];
    runs_text(reading)
        || reading.level == Level::Dangerous
            && REMOVING.iter().any(|it| reading.seen.contains_str(it))
}
