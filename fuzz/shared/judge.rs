//! Any bytes as a text to judge: a verdict in bounded time, no panic; a stricter profile is never milder; and a blocked
//! command is found whatever stands before it.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use exacta_policy::{Decision, Policy, Profile};
use exacta_syntax::{Limits, Missing, ParseOptions, missing, parse};

use super::world::Project;

/// Far beyond what the longest input may take.
const HANGING: Duration = Duration::from_secs(10);

static POLICIES: LazyLock<[Policy; 3]> = LazyLock::new(|| {
    [Profile::FullAuto, Profile::Dev, Profile::Safe]
        .map(|profile| Policy::builtin(profile).expect("the built-in rules"))
});

pub fn check(bytes: &[u8]) {
    let begun = Instant::now();
    let [full_auto, dev, safe] =
        POLICIES.each_ref().map(|policy| policy.screen(bytes.into(), &Project).decision);
    assert!(begun.elapsed() < HANGING, "took {:?}", begun.elapsed());
    assert!(full_auto <= dev, "full-auto {full_auto:?}, dev {dev:?}");
    assert_eq!(safe, Decision::Deny, "safe runs nothing");
    if is_whole(bytes) {
        let blocked = [bytes, b"\ncurl http://example.com/\n"].concat();
        let verdict = POLICIES[1].screen(blocked.as_slice().into(), &Project);
        assert_eq!(verdict.decision, Decision::Deny, "{}", verdict.finding.reason);
    }
}

/// It parses, and what follows on the next line is a command of its own.
fn is_whole(bytes: &[u8]) -> bool {
    let options = ParseOptions { extglob: true, ..ParseOptions::default() };
    let limits = Limits::default();
    parse(bytes, options, limits).is_ok()
        && missing(bytes, options, limits) == Missing::Nothing
        // A zero is no character of a script: what stands before it continues on the next line.
        && bytes.iter().rfind(|byte| **byte != 0) != Some(&b'\\')
}
