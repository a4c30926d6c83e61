//! `a.b?.c["d"]`: names with dots between them, forwards and backwards.

use crate::code::tokens::{Kind, Tokens};

/// The dotted name that begins at `start`, and where it ends: `a.b?.c` is `a.b.c`.
pub(in crate::code) fn dotted(tokens: &Tokens<'_>, start: usize) -> (Vec<u8>, usize) {
    let mut path = tokens.text(start).to_vec();
    let mut at = start + 1;
    loop {
        let separated = tokens.is(at, b".")
            || tokens.is(at, b"?.")
            || tokens.is(at, b"::")
            || tokens.is(at, b"&.");
        if separated && let Some(name) = tokens.name(at + 1) {
            path.push(b'.');
            path.extend_from_slice(name);
            at += 2;
        } else if tokens.is(at, b"[")
            && let Some(name) = tokens.literal(at + 1)
            && tokens.is(at + 2, b"]")
        {
            path.push(b'.');
            path.extend_from_slice(name);
            at += 3;
        } else {
            return (path, at);
        }
    }
}

/// Where the expression before a dot begins: `f(x).y` of `f(x).y.z`.
pub(in crate::code) fn receiver_start(tokens: &Tokens<'_>, dot: usize) -> usize {
    let mut start = dot;
    // Long chains are nobody's path.
    for _ in 0..16 {
        let Some(before) = start.checked_sub(1) else { break };
        if tokens.is(before, b")") || tokens.is(before, b"]") {
            start = tokens.partner(before);
            let called = start.checked_sub(1).is_some_and(|at| {
                tokens.kind(at) == Some(Kind::Name)
                    && !matches!(tokens.text(at), b"in" | b"return" | b"of")
            });
            if called {
                continue;
            }
            break;
        }
        start = before;
        if !(tokens.follows(start, &[b"."]) || tokens.follows(start, &[b"?."])) {
            break;
        }
        start -= 1;
    }
    start
}
