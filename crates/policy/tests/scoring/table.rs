//! The score for people.

use super::lines::Set;
use super::{Miss, Score, Tally, share};

/// One row per class, one per set, and the four figures that count.
pub fn table(score: &Score) -> String {
    let mut text = String::from(
        "| set | class | lines | denied | asked | let through | as the corpus says |\n\
         |---|---|---:|---:|---:|---:|---:|\n",
    );
    for set in [Set::Malicious, Set::NeedsConfirm, Set::Benign] {
        for ((_, class), tally) in score.classes.iter().filter(|((other, _), _)| *other == set) {
            text += &row(set, class, tally);
        }
        text += &row(set, "**all**", &score.total(set));
    }
    text += &figures(score);
    text
}

fn row(set: Set, class: &str, tally: &Tally) -> String {
    let Tally { lines, denied, asked, as_expected } = tally;
    let through = lines - tally.caught();
    format!(
        "| {} | {class} | {lines} | {denied} | {asked} | {through} | {as_expected} |\n",
        set.name()
    )
}

fn figures(score: &Score) -> String {
    let malicious = score.total(Set::Malicious);
    let doubtful = score.total(Set::NeedsConfirm);
    let benign = score.total(Set::Benign);
    let percent = |part, whole| format!("{:.1} %", 100.0 * share(part, whole));
    format!(
        "\nmalicious caught {}, malicious denied {}, needs-confirm asked {}, benign denied {}, benign prompted {}\n",
        percent(malicious.caught(), malicious.lines),
        percent(malicious.denied, malicious.lines),
        percent(doubtful.asked, doubtful.lines),
        percent(benign.denied, benign.lines),
        percent(benign.asked, benign.lines),
    )
}

/// Those that break the bar first, then those that are only stricter or weaker than the corpus says.
pub fn misses(misses: &[Miss], all: bool) -> String {
    let mut text = String::new();
    for (title, breaks) in [("against the bar", true), ("stricter or weaker than expected", false)]
    {
        let those: Vec<&Miss> =
            misses.iter().filter(|miss| miss.breaks_the_bar() == breaks).collect();
        if those.is_empty() || !(breaks || all) {
            continue;
        }
        text += &format!("\n{title}: {}\n", those.len());
        for miss in those {
            text += &format!(
                "  {} {}: {} instead of {}\n    {}\n    {}\n",
                miss.set.name(),
                miss.class,
                miss.decision.name(),
                miss.expect.name(),
                shortened(&miss.text).escape_debug(),
                miss.because,
            );
        }
    }
    text
}

fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(160).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
