//! What is known of Python's names: keywords, builtins, modules, attributes.

mod attributes;
mod modules;

pub(super) use attributes::*;
pub(super) use modules::*;

/// Words that are no names. Sorted.
pub(super) const KEYWORDS: &[&str] = &[
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield",
];

/// Builtins that run text or reach what has no name in the code. Sorted.
pub(super) const DANGEROUS_BUILTINS: &[&str] = &[
    "__build_class__",
    "__builtins__",
    "__import__",
    "__loader__",
    "__spec__",
    "breakpoint",
    "delattr",
    "eval",
    "exec",
    "execfile",
    "globals",
    "locals",
    "reload",
    "vars",
];
