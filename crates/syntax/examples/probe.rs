//! Parses standard input and shows the tree or the error.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a debugging aid")]
use std::io::Read;
fn main() {
    let mut text = Vec::new();
    let _ = std::io::stdin().read_to_end(&mut text);
    let options =
        exacta_syntax::ParseOptions { extglob: std::env::args().any(|a| a == "-e"), posix: false };
    match exacta_syntax::parse(&text, options, exacta_syntax::Limits::default()) {
        Ok(list) => println!("{list:#?}"),
        Err(error) => println!("error: {error} at {:?}", error.span),
    }
}
