//! The translation of expressions, compared with what GNU `grep` and PCRE give.
