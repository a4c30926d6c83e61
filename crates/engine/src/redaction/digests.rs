//! Lists of checksums, as lock files have them: `SPEC CHECKSUMS:` and then names with a digest each, whatever the names promise.

use super::blocks::{Begun, Block, Part};
use super::found::Hit;
use super::reading::{after_spaces, at};

/// How headings of such lists end.
#[rustfmt::skip]
pub const HEADINGS: &[&str] = &[
    "CHECKSUMS", "checksums", "Checksums", "hashes:", "hashes\":", "sha256:", "sha256\":", "sha512:", "sha1:", "digests:",
    "digests\":", "checksum:", "checksum\":", "sha256sums", "integrity:", "integrity\":", "fingerprints:",
];

/// A word of a heading begins here. Nothing else but words may stand on its line.
pub fn look(hit: &Hit<'_>, length: usize) -> Begun {
    let front = hit.line.get(..hit.at).unwrap_or_default();
    let rest = hit.line.get(hit.at + length..).unwrap_or_default().trim_ascii_end();
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || b" _-\"'".contains(byte);
    let signs = rest.len() < 5 && rest.iter().all(|byte| b"\"':{[( ".contains(byte));
    if hit.begins && front.len() < 64 && front.iter().all(word) && signs {
        return Begun::Block(Block::Digests { indent: after_spaces(hit.line, 0) });
    }
    Begun::Nothing
}

/// The next line of the list: `name: digest`, `name (1.2) sha256=digest`, deeper than the heading.
pub fn line(line: &[u8], indent: usize) -> Part {
    let start = after_spaces(line, 0);
    let text = line.get(start..).unwrap_or_default().trim_ascii_end();
    let is_sign = |byte: &u8| b"\"',;".contains(byte);
    let signs = text.iter().rev().take_while(|byte| is_sign(byte)).count();
    let text = text.get(..text.len() - signs).unwrap_or_default();
    let digits = text.iter().rev().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let front = text.get(..text.len() - digits).unwrap_or_default();
    // As long as what a digest has, and nothing but a sign before it.
    let whole = matches!(digits, 32 | 40 | 56 | 64 | 96 | 128)
        && matches!(front.last(), Some(b' ' | b'\t' | b'"' | b'\'' | b'=' | b':' | b'-'));
    if start > indent && whole && !front.contains(&b'@') && at(front, 0) != b'#' {
        Part::Harmless
    } else {
        Part::Over
    }
}
