//! Arithmetic: trees, and bash's own complaints.

use bstr::{BStr, BString};
use exacta_syntax::ast::{ArithmeticVariable, BinaryOperator, Expression, UnaryOperator};
use exacta_syntax::{Limits, parse_arithmetic};

use crate::corpus::bash_output;

fn tree(text: &str) -> Expression {
    parse_arithmetic(BStr::new(text), Limits::default()).unwrap()
}

fn chain(first: Expression, links: impl Into<Vec<(BinaryOperator, Expression)>>) -> Expression {
    Expression::Chain(Box::new(first), links.into())
}

fn number(value: i64) -> Expression {
    Expression::Number(value)
}

fn variable(name: &str) -> ArithmeticVariable {
    ArithmeticVariable { name: BString::from(name), subscript: None }
}

#[test]
fn numbers_have_all_bases() {
    for (text, value) in [
        ("0", 0),
        ("42", 42),
        ("010", 8),
        ("0x1F", 31),
        ("2#101", 5),
        ("16#fF", 255),
        ("36#zZ", 35 * 36 + 35),
        ("37#aA", 10 * 37 + 36),
        ("64#@_", 62 * 64 + 63),
        ("9223372036854775807", i64::MAX),
        ("9223372036854775808", i64::MIN),
        ("18446744073709551617", 1),
        ("", 0),
        ("  ", 0),
    ] {
        assert_eq!(tree(text), Expression::Number(value), "{text}");
    }
}

#[test]
fn operators_bind_as_in_bash() {
    use BinaryOperator::{Add, Multiply, Power, Subtract};
    assert_eq!(tree("2**3**4"), chain(number(2), [(Power, number(3)), (Power, number(4))]));
    let minus_two = Expression::Unary(UnaryOperator::Minus, Box::new(number(2)));
    assert_eq!(tree("-2**3"), chain(minus_two, [(Power, number(3))]));
    let product = || chain(number(2), [(Multiply, number(3))]);
    assert_eq!(tree("1+2*3"), chain(number(1), [(Add, product())]));
    assert_eq!(tree("2*3+1"), chain(product(), [(Add, number(1))]));
    assert_eq!(tree("1-2+3"), chain(number(1), [(Subtract, number(2)), (Add, number(3))]));
    let right = chain(number(2), [(Subtract, number(3))]);
    assert_eq!(tree("1-(2-3)"), chain(number(1), [(Subtract, right)]));
}

#[test]
fn a_long_chain_is_not_deep() {
    for operator in ["+", "*", "**", "&&", "||", "<<", "==", "|", ","] {
        let text = vec!["1"; 100_000].join(operator);
        assert!(parse_arithmetic(BStr::new(&text), Limits::default()).is_ok(), "{operator}");
    }
}

#[test]
fn steps_and_signs_are_told_apart() {
    let step = |increment, prefix| Expression::Step { target: variable("x"), increment, prefix };
    assert_eq!(tree("x++"), step(true, false));
    assert_eq!(tree("-- x"), step(false, true));
    let plus = |inner| Expression::Unary(UnaryOperator::Plus, Box::new(inner));
    assert_eq!(tree("++5"), plus(plus(Expression::Number(5))));
    let assign = Expression::Assign {
        target: variable("x"),
        operator: Some(BinaryOperator::ShiftLeft),
        value: Box::new(number(1)),
    };
    assert_eq!(tree("x <<= 1"), assign);
}

#[test]
fn subscripts_are_words() {
    for text in ["a[1]", "a[i+1]", "a[b[c]]", "a[\"k k\"]", "a['k']", "a[$x]", "a[k k]"] {
        let Expression::Variable(variable) = tree(text) else { panic!("{text}") };
        assert!(variable.subscript.is_some(), "{text}");
    }
}

/// Expressions without any effect, so that bash may evaluate them.
const COMPLAINTS: [&str; 58] = [
    "1 +", "1 + ", "+", "1 2", "a b c", "a b", "1 = 2", "1=2", "a+b=1", "(a)=1", "-a=1", "(1",
    "(1+2", "1)", ")", "()", "08", "09 + 1", "1#1", "65#1", "2#2", "2#", "36#!", "0x#1", "1 ? 2",
    "1 ? : 2", "1 ? 2 :", "? 1", "1 :", "a++ ++", "++a++", "--a--", "a++=1", "++a=1", "1++", "1--",
    "@", "1 @ 2", "a @", "1 . 2", "1.5", "$", "a $", "'1'", "\"", "1,", ",1", "1,,2", "* 2",
    "1 * * 2", "1 ** ", "! ", "~", "a[", "a[1", "1 &&", "|| 1", "# 1",
];

#[test]
fn complaints_are_those_of_bash() {
    let mut failures = Vec::new();
    for text in COMPLAINTS {
        let script = format!("exec 2>&1\nx='{}'\n(: \"$((x))\")\n", text.replace('\'', "'\\''"));
        let theirs = String::from_utf8_lossy(&bash_output(script.as_bytes())).into_owned();
        let theirs = theirs.trim_end_matches('\n');
        let theirs = theirs.split_once(": ").map_or("", |(_, rest)| rest);
        let theirs = theirs.split_once(": ").map_or("", |(_, rest)| rest);
        let ours = match parse_arithmetic(BStr::new(text), Limits::default()) {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        };
        if ours != theirs {
            failures.push(format!("{text}\n  we:   {ours}\n  bash: {theirs}"));
        }
    }
    assert!(failures.is_empty(), "{} differences:\n{}", failures.len(), failures.join("\n"));
}
