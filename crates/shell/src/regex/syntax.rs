//! What distinguishes the dialects of POSIX expressions, under the names of what they do.

/// One dialect.
#[derive(Debug, Clone, Copy)]
pub struct Syntax {
    /// `\(…\)` groups; else `(…)`.
    pub escaped_groups: bool,
    /// `\|`; else `|`.
    pub escaped_bar: bool,
    /// `{…}` or `\{…\}` repeats at all.
    pub intervals: bool,
    /// `\{…\}`; else `{…}`.
    pub escaped_intervals: bool,
    /// `\+` and `\?`; else `+` and `?`.
    pub escaped_plus: bool,
    /// No `+`, `?` and `|` in any form.
    pub limited: bool,
    /// `^` and `$` are anchors everywhere.
    pub anchors_anywhere: bool,
    /// `*` and its kin are operators even where they have nothing to repeat.
    pub operators_anywhere: bool,
    /// Such an operator is an error.
    pub operators_need_operand: bool,
    /// `{1a}` stands for itself.
    pub literal_bad_interval: bool,
    /// `)` without `(` stands for itself.
    pub literal_unmatched_close: bool,
    /// A newline separates alternatives.
    pub newline_is_bar: bool,
    /// `[[:alpha:]]`
    pub classes: bool,
    /// `[\]]`
    pub escapes_in_brackets: bool,
    /// `\1`
    pub backreferences: bool,
    /// `\w`, `\<` and the like.
    pub gnu_operators: bool,
    /// `.` matches a newline.
    pub dot_newline: bool,
    /// `[^x]` does not match a newline.
    pub negation_spares_newline: bool,
}

impl Syntax {
    /// Everything off: what Emacs and `find -regex` use.
    pub const EMACS: Syntax = Syntax {
        escaped_groups: true,
        escaped_bar: true,
        intervals: false,
        escaped_intervals: true,
        escaped_plus: false,
        limited: false,
        anchors_anywhere: false,
        operators_anywhere: false,
        operators_need_operand: false,
        literal_bad_interval: false,
        literal_unmatched_close: false,
        newline_is_bar: false,
        classes: false,
        escapes_in_brackets: false,
        backreferences: true,
        gnu_operators: true,
        dot_newline: false,
        negation_spares_newline: false,
    };

    pub const POSIX_BASIC: Syntax = Syntax {
        intervals: true,
        escaped_plus: true,
        classes: true,
        dot_newline: true,
        ..Syntax::EMACS
    };

    /// `grep`
    pub const GREP: Syntax = Syntax { newline_is_bar: true, ..Syntax::POSIX_BASIC };

    pub const POSIX_MINIMAL_BASIC: Syntax =
        Syntax { limited: true, escaped_plus: false, ..Syntax::POSIX_BASIC };

    pub const POSIX_EXTENDED: Syntax = Syntax {
        escaped_groups: false,
        escaped_bar: false,
        intervals: true,
        escaped_intervals: false,
        anchors_anywhere: true,
        operators_anywhere: true,
        operators_need_operand: true,
        literal_unmatched_close: true,
        classes: true,
        dot_newline: true,
        ..Syntax::EMACS
    };

    /// `grep -E`
    pub const EGREP: Syntax = Syntax {
        operators_need_operand: false,
        literal_bad_interval: true,
        newline_is_bar: true,
        ..Syntax::POSIX_EXTENDED
    };

    pub const AWK: Syntax = Syntax {
        intervals: false,
        operators_need_operand: false,
        escapes_in_brackets: true,
        backreferences: false,
        gnu_operators: false,
        ..Syntax::POSIX_EXTENDED
    };

    pub const GNU_AWK: Syntax = Syntax {
        operators_need_operand: false,
        literal_bad_interval: true,
        escapes_in_brackets: true,
        backreferences: false,
        ..Syntax::POSIX_EXTENDED
    };

    pub const POSIX_AWK: Syntax = Syntax {
        operators_need_operand: false,
        literal_bad_interval: true,
        escapes_in_brackets: true,
        backreferences: false,
        gnu_operators: false,
        ..Syntax::POSIX_EXTENDED
    };

    /// The names `find -regextype` knows.
    pub fn named(name: &[u8]) -> Option<Syntax> {
        Some(match name {
            b"findutils-default" => Syntax { dot_newline: true, ..Syntax::EMACS },
            b"emacs" => Syntax::EMACS,
            b"posix-basic" | b"ed" | b"sed" => Syntax::POSIX_BASIC,
            b"grep" => Syntax::GREP,
            b"posix-minimal-basic" => Syntax::POSIX_MINIMAL_BASIC,
            b"posix-extended" => Syntax::POSIX_EXTENDED,
            b"egrep" | b"posix-egrep" => Syntax::EGREP,
            b"awk" => Syntax::AWK,
            b"gnu-awk" => Syntax::GNU_AWK,
            b"posix-awk" => Syntax::POSIX_AWK,
            _ => return None,
        })
    }
}
