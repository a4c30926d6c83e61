//! One complete command at a time, with the lines it stands on.

use exacta_syntax::ast::{Command, WordPart};
use exacta_syntax::{Limits, NoAliases, ParseOptions, Parser, SyntaxErrorKind, parse};

fn items_per_command(source: &str) -> Vec<usize> {
    let mut parser = Parser::new(source.as_bytes(), Limits::default());
    let mut counts = Vec::new();
    while let Some(list) = parser.next_command(ParseOptions::default(), &NoAliases).unwrap() {
        counts.push(list.items.len());
    }
    counts
}

#[test]
fn a_command_ends_with_its_line() {
    assert_eq!(items_per_command("a; b; c\nd\n\n# x\ne & f"), [3, 1, 2]);
    assert_eq!(items_per_command("if a\nthen b\nfi\nc"), [1, 1]);
    assert_eq!(items_per_command("a;\nb &\nc"), [1, 1, 1]);
    assert_eq!(items_per_command("cat <<E; b\nx\nE\nc"), [2, 1]);
    assert!(items_per_command("").is_empty());
    assert!(items_per_command(" \n\t# x").is_empty());
}

#[test]
fn an_error_surfaces_when_its_line_is_reached() {
    let mut parser = Parser::new(b"a\nb )\nc", Limits::default());
    let options = ParseOptions::default();
    assert!(parser.next_command(options, &NoAliases).unwrap().is_some());
    let error = parser.next_command(options, &NoAliases).unwrap_err();
    assert_eq!((error.span.line, error.span.start, error.span.end), (2, 4, 5));
    assert!(parser.next_command(options, &NoAliases).unwrap().is_none());
}

#[test]
fn options_apply_from_the_next_command_on() {
    let mut parser = Parser::new(b"a\necho @(x|y)", Limits::default());
    assert!(parser.next_command(ParseOptions::default(), &NoAliases).unwrap().is_some());
    let options = ParseOptions { extglob: true, posix: false };
    assert!(parser.next_command(options, &NoAliases).unwrap().is_some());
}

fn line_of_every_pipeline(source: &str) -> Vec<u32> {
    let list = parse(source.as_bytes(), ParseOptions::default(), Limits::default()).unwrap();
    list.items.iter().map(|item| item.chain.first.span.line).collect()
}

#[test]
fn lines_are_counted_through_everything() {
    assert_eq!(line_of_every_pipeline("a\n\nb; c\n'x\ny'\nd"), [1, 3, 3, 4, 6]);
    assert_eq!(line_of_every_pipeline("cat <<E\nx\nE\nb"), [1, 4]);
    assert_eq!(line_of_every_pipeline("a \\\n b\nc"), [1, 3]);
    assert_eq!(line_of_every_pipeline("$((echo\n) \n)\nb"), [1, 4]);
    let parser = Parser::new(b"a\nb", Limits::default());
    let mut parser = parser.at_line(10);
    let list = parser.next_command(ParseOptions::default(), &NoAliases).unwrap().unwrap();
    assert_eq!(list.items[0].chain.first.span.line, 10);
}

#[test]
fn spans_cover_what_was_written() {
    let source = "x=1 echo \"a $(date +%s)\" > out; next";
    let list = parse(source.as_bytes(), ParseOptions::default(), Limits::default()).unwrap();
    let Command::Simple(command) = &list.items[0].chain.first.stages[0].command else { panic!() };
    let text = |span: exacta_syntax::Span| &source[span.start as usize..span.end as usize];
    assert_eq!(text(command.span).trim_end(), "x=1 echo \"a $(date +%s)\" > out");
    assert_eq!(text(command.assignments[0].span), "x=1");
    assert_eq!(text(command.redirects[0].span), "> out");
    let exacta_syntax::ast::Argument::Word(word) = &command.words[1] else { panic!() };
    assert_eq!(text(word.span), "\"a $(date +%s)\"");
    let WordPart::DoubleQuoted(parts) = &word.parts[0] else { panic!() };
    let WordPart::Command(substitution) = &parts[1] else { panic!() };
    assert_eq!(text(substitution.span), "$(date +%s)");
    assert_eq!(text(substitution.body.items[0].chain.first.span), "date +%s");
}

#[test]
fn spans_reach_through_backquotes_tabs_and_nul() {
    let source = "echo `echo \\`date\\``";
    let list = parse(source.as_bytes(), ParseOptions::default(), Limits::default()).unwrap();
    let printed = format!("{list:?}");
    assert!(printed.contains("start: 13, end: 17"), "{printed}");
    let source = "cat <<-E\n\t\t$x\n\tE\n";
    let list = parse(source.as_bytes(), ParseOptions::default(), Limits::default()).unwrap();
    assert!(format!("{list:?}").contains("start: 11, end: 13, line: 2"));
    let list = parse(b"a\0b \0$x", ParseOptions::default(), Limits::default()).unwrap();
    assert!(format!("{list:?}").contains("Literal(\"ab\")"));
    assert!(format!("{list:?}").contains("start: 5, end: 7"));
}

#[test]
fn a_text_may_be_too_long() {
    let limits = Limits { bytes: 3, ..Limits::default() };
    let error = parse(b"echo", ParseOptions::default(), limits).unwrap_err();
    assert_eq!(error.kind, SyntaxErrorKind::TooLong(3));
}

#[test]
fn incomplete_is_not_wrong() {
    for source in
        ["if a", "echo 'a", "echo \"a", "$(a", "${a", "a &&", "a |", "{", "(", "f()", "`a", "a=("]
    {
        let error =
            parse(source.as_bytes(), ParseOptions::default(), Limits::default()).unwrap_err();
        assert!(error.is_incomplete(), "{source}: {error}");
    }
    for source in [")", "echo >", "a;;", "fi", "echo (", "for"] {
        let error =
            parse(source.as_bytes(), ParseOptions::default(), Limits::default()).unwrap_err();
        assert!(!error.is_incomplete(), "{source}: {error}");
    }
}
