//! Aliases are text in front of the input.

use std::collections::HashMap;

use bstr::{BStr, BString};
use exacta_syntax::ast::List;
use exacta_syntax::{Aliases, Limits, ParseOptions, Parser, SyntaxError, parse};

struct Table(HashMap<&'static str, &'static str>);

impl Aliases for Table {
    fn alias(&self, name: &BStr) -> Option<BString> {
        let name = std::str::from_utf8(name).ok()?;
        self.0.get(name).map(|value| BString::from(*value))
    }
}

fn table() -> Table {
    Table(HashMap::from([
        ("ll", "ls -l"),
        ("ls", "ls --color"),
        ("a", "b x"),
        ("b", "c y"),
        ("c", "a z"),
        ("sudo", "sudo "),
        ("empty", ""),
        ("open", "if true; then"),
        ("close", "fi"),
        ("brace", "{"),
        ("pipe", "cat | cat |"),
        ("two", "echo 1; echo 2;"),
        ("quote", "echo 'begins"),
        ("document", "cat <<E"),
        ("lines", "echo 1\necho 2"),
        ("loop", "loop"),
        ("assign", "x=1 "),
        ("while", "until"),
        ("sub", "echo $((echo 1); echo"),
    ]))
}

fn with_aliases(source: &str) -> Result<List, SyntaxError> {
    let mut parser = Parser::new(source.as_bytes(), Limits::default());
    let mut all = List::default();
    while let Some(list) = parser.next_command(ParseOptions::default(), &table())? {
        all.items.extend(list.items);
    }
    Ok(all)
}

fn expect(source: &str, expanded: &str) {
    let plain = parse(expanded.as_bytes(), ParseOptions::default(), Limits::default()).unwrap();
    assert_eq!(with_aliases(source).unwrap(), plain, "{source}");
}

#[test]
fn the_command_word_is_replaced() {
    expect("ll", "ls --color -l");
    expect("ll x; ll", "ls --color -l x; ls --color -l");
    expect("x=1 ll", "x=1 ls --color -l");
    expect(">f ll", ">f ls --color -l");
    expect("if ll; then ll; fi", "if ls --color -l; then ls --color -l; fi");
    expect("a && ll | ll", "a z y x && ls --color -l | ls --color -l");
    expect("! ll", "! ls --color -l");
    expect("$(ll) `ll` <(ll)", "$(ls --color -l) `ls --color -l` <(ls --color -l)");
}

#[test]
fn only_where_bash_looks() {
    expect("echo ll", "echo ll");
    expect("'ll' \"ll\"", "'ll' \"ll\"");
    expect("\\ll", "\\ll");
    expect("$ll", "$ll");
    expect("ll=1", "ll=1");
    expect("case ll in ll) ll;; esac", "case ll in ll) ls --color -l;; esac");
    expect("for ll in ll; do ll; done", "for ll in ll; do ls --color -l; done");
}

#[test]
fn no_alias_expands_inside_itself() {
    expect("ls", "ls --color");
    expect("loop; loop", "loop; loop");
    expect("a", "a z y x");
}

#[test]
fn a_trailing_blank_makes_the_next_word_eligible() {
    expect("sudo ll", "sudo ls --color -l");
    expect("sudo sudo ll ll", "sudo sudo ls --color -l ll");
    expect("sudo x ll", "sudo x ll");
    expect("assign ll", "x=1 ls --color -l");
}

#[test]
fn values_may_hold_anything() {
    expect("open echo; close", "if true; then echo; fi");
    expect("brace echo; }", "{ echo; }");
    expect("pipe ll", "cat | cat | ls --color -l");
    expect("two echo 3", "echo 1; echo 2; echo 3");
    expect("quote ends'", "echo 'begins  ends'");
    expect("document\nbody\nE\nll", "cat <<E\nbody\nE\nls --color -l");
    expect("lines x", "echo 1\necho 2 x");
    expect("empty ll", "ls --color -l");
    expect("while a; do ll; done", "until a z y x; do ls --color -l; done");
    expect("sub 2)", "echo $((echo 1); echo 2)");
}

#[test]
fn spans_point_at_the_word_that_was_replaced() {
    let list = with_aliases("\n\n  ll $x\n").unwrap();
    let span = list.items[0].chain.first.span;
    assert_eq!((span.line, span.start), (3, 4));
    let source = format!("{}\nll\nll $y", "#".repeat(100_000));
    let list = with_aliases(&source).unwrap();
    assert_eq!(list.items[1].chain.first.span.line, 3);
    assert_eq!(list.items[1].chain.first.span.start, 100_004);
}
