//! What words become, as a table: source, and its parts in short form.

use exacta_syntax::ast::{
    Argument, AssignedValue, BraceExpansion, Command, Operation, Word, WordPart,
};
use exacta_syntax::{Limits, ParseOptions, parse};

fn show(word: &Word) -> String {
    word.parts.iter().map(show_part).collect::<Vec<_>>().join(" ")
}

fn show_all(parts: &[WordPart]) -> String {
    parts.iter().map(show_part).collect::<Vec<_>>().join(" ")
}

fn show_part(part: &WordPart) -> String {
    match part {
        WordPart::Literal(text) => format!("{text}"),
        WordPart::Escaped(text) => format!("esc({text})"),
        WordPart::SingleQuoted(text) => format!("sq({text})"),
        WordPart::AnsiQuoted(text) => format!("ansi({text:?})"),
        WordPart::DoubleQuoted(parts) => format!("dq({})", show_all(parts)),
        WordPart::LocaleQuoted(parts) => format!("locale({})", show_all(parts)),
        WordPart::Tilde(name) => format!("tilde({name})"),
        WordPart::Parameter(expansion) => match &expansion.operation {
            Operation::Plain => format!("par({:?})", expansion.parameter),
            Operation::Default { word, .. } => format!("default({})", show(word)),
            Operation::RemovePrefix { pattern, .. } => format!("prefix({})", show(pattern)),
            Operation::Replace { pattern, replacement, .. } => {
                let replacement = replacement.as_ref().map(show);
                format!("replace({};{replacement:?})", show(pattern))
            }
            Operation::Bad(text) => format!("bad({text})"),
            other => format!("{other:?}"),
        },
        WordPart::Command(command) => {
            format!(
                "{}({})",
                if command.backquoted { "bq" } else { "cmd" },
                command.body.items.len()
            )
        }
        WordPart::Arithmetic(arithmetic) => {
            format!("arith({};{})", show(&arithmetic.text), arithmetic.expression.is_some())
        }
        WordPart::Process(_) => "process".into(),
        WordPart::Brace(BraceExpansion::Alternatives(words)) => {
            format!("brace({})", words.iter().map(show).collect::<Vec<_>>().join("|"))
        }
        WordPart::Brace(BraceExpansion::Numbers { first, last, step, width }) => {
            format!("numbers({first},{last},{step},{width})")
        }
        WordPart::Brace(BraceExpansion::Letters { first, last, step }) => {
            format!("letters({},{},{step})", char::from(*first), char::from(*last))
        }
    }
}

/// The arguments and assigned values of a simple command.
fn words(source: &str) -> Vec<String> {
    let options = ParseOptions { extglob: true, posix: false };
    let list = parse(source.as_bytes(), options, Limits::default()).unwrap();
    let Command::Simple(command) = &list.items[0].chain.first.stages[0].command else { panic!() };
    let value = |value: &AssignedValue| match value {
        AssignedValue::Scalar(word) => show(word),
        AssignedValue::Array(elements) => {
            elements.iter().map(|element| show(&element.value)).collect::<Vec<_>>().join(", ")
        }
    };
    let mut shown: Vec<_> =
        command.assignments.iter().map(|assignment| value(&assignment.value)).collect();
    shown.extend(command.words.iter().map(|argument| match argument {
        Argument::Word(word) => show(word),
        Argument::Assignment(assignment) => value(&assignment.value),
    }));
    shown
}

const WORDS: [(&str, &[&str]); 74] = [
    ("a'b'\"c\"\\d$'e\\n'$\"f\"", &["a sq(b) dq(c) esc(d) ansi(\"e\\n\") locale(f)"]),
    ("\"a\\nb\\$c\\\\d\\\"e\\`f\"", &["dq(a\\nb$c\\d\"e`f)"]),
    ("\"a $x b\"", &["dq(a  par(Variable(\"x\"))  b)"]),
    ("$'\\x41\\101\\u263a\\cA\\e\\'\\q'", &["ansi(\"AA\u{263a}\\x01\\x1b\\'\\\\q\")"]),
    ("$'a\\0b'", &["ansi(\"a\")"]),
    ("$'\\x00b' $'\\000'c", &["ansi(\"\")", "ansi(\"\") c"]),
    ("$a$1$@", &["par(Variable(\"a\")) par(Positional(1)) par(All)"]),
    ("$ $. a$ \"$\"", &["$", "$.", "a$", "dq($)"]),
    ("$10 ${10}", &["par(Positional(1)) 0", "par(Positional(10))"]),
    (
        "~ ~/x ~user/x ~+ ~- ~\"x\" \\~ ~$x",
        &[
            "tilde()",
            "tilde() /x",
            "tilde(user) /x",
            "tilde(+)",
            "tilde(-)",
            "~ dq(x)",
            "esc(~)",
            "~ par(Variable(\"x\"))",
        ],
    ),
    ("a~ a/~ a:~", &["a~", "a/~", "a:~"]),
    ("x=~ y=~/a:~b z=a:~ w=a~", &["tilde()", "tilde() /a: tilde(b)", "a: tilde()", "a~"]),
    ("echo x=~ x=a:~ --x=~", &["echo", "x= tilde()", "x=a: tilde()", "--x=~"]),
    ("declare x=~:~", &["declare", "tilde() : tilde()"]),
    ("{a,b}", &["brace(a|b)"]),
    ("x{a,b}y{1..3}", &["x brace(a|b) y numbers(1,3,1,0)"]),
    ("{a,{b,c}}", &["brace(a|brace(b|c))"]),
    ("{a,b}{c,d}", &["brace(a|b) brace(c|d)"]),
    ("{,a}", &["brace(|a)"]),
    ("{a},b}", &["brace(a}|b)"]),
    ("{a..{b,c}}", &["brace(a.. brace(b|c))"]),
    ("{01..10..3}", &["numbers(1,10,3,2)"]),
    ("{10..1..3}", &["numbers(10,1,-3,0)"]),
    ("{-1..1}", &["numbers(-1,1,1,0)"]),
    ("{-01..5}", &["numbers(-1,5,1,3)"]),
    ("{e..a..2}", &["letters(e,a,-2)"]),
    ("{a} {} {a..} {1..a} {a,b", &["{a}", "{}", "{a..}", "{1..a}", "{a,b"]),
    ("{\"a,b\",c}", &["brace(dq(a,b)|c)"]),
    ("{$x,$(y)}", &["brace(par(Variable(\"x\"))|cmd(1))"]),
    ("${x}{a,b}", &["par(Variable(\"x\")) brace(a|b)"]),
    ("\\{a,b} {a\\,b} '{a,b}'", &["esc({) a,b}", "{a esc(,) b}", "sq({a,b})"]),
    ("{~,a}/x", &["brace(tilde()|a) /x"]),
    ("x={a,b}", &["{a,b}"]),
    ("x=({a,b} {1..2})", &["brace(a|b), numbers(1,2,1,0)"]),
    ("${x:-a b}", &["default(a b)"]),
    ("${x:-'a'\"b\"\\c}", &["default(sq(a) dq(b) esc(c))"]),
    ("\"${x:-'a'\"b\"\\c\\}}\"", &["dq(default('a' dq(b) \\c}))"]),
    ("\"${x:-'}'}\"", &["dq(default('}'))"]),
    ("\"${x:-it\\'s}\"", &["dq(default(it\\'s))"]),
    ("\"${x:-$'a'}\"", &["dq(default(ansi(\"a\")))"]),
    ("\"${x#'a'}\"", &["dq(prefix(sq(a)))"]),
    ("\"${x#$'a'*\\*}\"", &["dq(prefix(ansi(\"a\") * esc(*)))"]),
    ("${x/a\\/b/c/d}", &["replace(a esc(/) b;Some(\"c/d\"))"]),
    ("${x//\"/\"/'/'}", &["replace(dq(/);Some(\"sq(/)\"))"]),
    ("${x////z}", &["replace(/;Some(\"z\"))"]),
    ("${x/a}", &["replace(a;None)"]),
    ("${x/#/p}", &["replace(;Some(\"p\"))"]),
    ("${x:-~} \"${x:-~}\" ${x#~/}", &["default(tilde())", "dq(default(~))", "prefix(tilde() /)"]),
    ("${x:-{a,b}}", &["default({a,b) }"]),
    ("${x!} ${} ${x y}", &["bad(${x!})", "bad(${})", "bad(${x y})"]),
    ("`echo a; b`", &["bq(2)"]),
    ("`)`", &["bad(`)`)"]),
    ("$((1+2))", &["arith(1+2;true)"]),
    ("$((1 + $x))", &["arith(1 +  par(Variable(\"x\"));true)"]),
    (
        "$(($x$y)) $((1$x)) $((a$x))",
        &[
            "arith(par(Variable(\"x\")) par(Variable(\"y\"));false)",
            "arith(1 par(Variable(\"x\"));false)",
            "arith(a par(Variable(\"x\"));false)",
        ],
    ),
    (
        "$((${#x})) $(($(y))) $((1 +))",
        &["arith(Length;false)", "arith(cmd(1);false)", "arith(1 +;false)"],
    ),
    ("$(( \"1\" + 2 ))", &["arith( 1 + 2 ;true)"]),
    ("$((a[$i]+a[i+1]))", &["arith(a[ par(Variable(\"i\")) ]+a[i+1];true)"]),
    ("$[1+2]", &["arith(1+2;true)"]),
    ("$((echo a); echo b)", &["cmd(2)"]),
    ("$( (a) )", &["cmd(1)"]),
    ("<(a) >(b)x", &["process", "process x"]),
    ("@(a|b) x!(c d)", &["@(a|b)", "x!(c d)"]),
    ("@(a|'b c'|$x)", &["@(a| sq(b c) | par(Variable(\"x\")) )"]),
    ("a\\\nb \"c\\\nd\" 'e\\\nf'", &["ab", "dq(cd)", "sq(e\\\nf)"]),
    ("a#b", &["a#b"]),
    ("x= y", &["", "y"]),
    ("x=(a [1]=b)", &["a, b"]),
    ("declare x=(a b) y", &["declare", "a, b", "y"]),
    ("eval x=(a b)", &["eval", "x=(a b)"]),
    ("a[1 2] b", &["a[1 2]", "b"]),
    ("echo \\", &["echo", "esc(\\)"]),
    ("\\é", &["esc(é)"]),
    ("'' \"\"", &["sq()", "dq()"]),
];

#[test]
fn words_have_the_parts_bash_sees() {
    for (source, expected) in WORDS {
        assert_eq!(words(source), expected, "{source}");
    }
}
