//! What code in a file of the project may do without a question, and what tells that it is no such code.
//!
//! All of it runs in a jail: offline, without the home and the system, and every change to the project can be undone.
//! So a program of the project may start others (what it names is judged by itself), remove what it made and talk to
//! this machine. What it has little reason to do is to run text that it makes, or to remove what is not the project's.

use bstr::{BStr, ByteSlice};

use super::scripts::is_dangerous;
use super::sights;
use crate::code::{Level, Reading};
use crate::effect::Language;

/// Which readings of a file that some tool loads are asked about.
pub(super) fn of_loaded(language: Language, text: &BStr) -> impl Fn(&Reading) -> bool + use<> {
    let elsewhere = sights::names_elsewhere(text) && !sights::has_place_of_its_own(text);
    move |reading| {
        reading.level == Level::Dangerous
            && (runs_text(language, reading) || elsewhere && removes(reading))
    }
}

/// … and of one that is named to be run: what talks to other machines does so now.
pub(super) fn of_named(language: Language, text: &BStr) -> impl Fn(&Reading) -> bool + use<> {
    // In these nobody writes programs: what they start is a trick.
    let small = matches!(
        language,
        Language::Awk | Language::Ed | Language::Gdb | Language::Jq | Language::Sed | Language::Vim
    );
    let strict = small || sights::talks_to_others(text) || sights::starts_hidden(text);
    let loaded = of_loaded(language, text);
    move |reading| if strict { is_dangerous(reading) } else { loaded(reading) }
}

fn runs_text(language: Language, reading: &Reading) -> bool {
    const SIGHTS: [&str; 15] = [
        "$(guile",
        "DownloadString",
        "Function",
        "Invoke-Expression",
        "SHELL",
        "__import__",
        "b64",
        "base64",
        "ctypes",
        "eval",
        "iex",
        "include",
        "loadstring",
        "marshal",
        "pty",
    ];
    // In other languages that is a program.
    let runs = language == Language::Python && reading.seen == "exec";
    runs || SIGHTS.iter().any(|it| reading.seen.contains_str(it))
}

fn removes(reading: &Reading) -> bool {
    const REMOVING: [&str; 7] = ["rmtree", "rmSync", "rmdir", "unlink", "remove", "rm", "delete"];
    REMOVING.iter().any(|it| reading.seen.contains_str(it))
}
