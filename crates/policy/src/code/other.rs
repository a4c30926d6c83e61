//! Languages that nobody has written a reader for: only statements that are known word by word are harmless.

use super::findings::Findings;

/// What people ask a package manager of the project, and versions. Sorted.
const KNOWN: &[&[u8]] = &[
    b"Pkg.build()",
    b"Pkg.instantiate()",
    b"Pkg.precompile()",
    b"Pkg.resolve()",
    b"Pkg.status()",
    b"Pkg.test()",
    b"exit",
    b"exit()",
    b"import Pkg",
    b"print(VERSION)",
    b"println(VERSION)",
    b"println(scala.util.Properties.versionString)",
    b"println(util.Properties.versionString)",
    b"puts Crystal::VERSION",
    b"using Pkg",
    b"versioninfo()",
];

pub(super) fn read(text: &[u8], findings: &mut Findings) {
    let mut statements = text
        .split(|byte| matches!(byte, b';' | b'\n'))
        .map(<[u8]>::trim_ascii)
        .filter(|statement| !statement.is_empty())
        .peekable();
    let something = statements.peek().is_some();
    if !something || !statements.all(|it| KNOWN.binary_search(&it).is_ok()) {
        findings.unclear("a language that cannot be read");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Level;

    #[test]
    fn what_is_known_word_by_word() {
        assert!(KNOWN.is_sorted());
        let level = |text: &str| {
            let mut findings = Findings::default();
            read(text.as_bytes(), &mut findings);
            findings.level()
        };
        assert_eq!(level("using Pkg; Pkg.test()"), Level::Harmless);
        assert_eq!(level("using Pkg; Pkg.add(\"x\")"), Level::Unclear);
        assert_eq!(level("run(`x`)"), Level::Unclear);
        assert_eq!(level(""), Level::Unclear);
    }
}
