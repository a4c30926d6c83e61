//! `echo`

use bstr::BString;

use super::escape::{self, Outcome, Style};
use super::{Command, Run};
use crate::arguments::{OptionSpec, flag};
use crate::long::{self, Pace};
use crate::release::Heavy;
use crate::shell::Shell;
use crate::status::Flow;

static OPTIONS: [OptionSpec; 3] = [
    flag('n', "n", "no newline at the end"),
    flag('e', "e", "backslash escapes are replaced"),
    flag('E', "E", "backslash escapes are left as they are (the default)"),
];

pub static COMMAND: Command = Command {
    name: "echo",
    synopsis: "echo [-neE] [arg ...]",
    summary: "Write the arguments, separated by spaces",
    options: &OPTIONS,
    run: Run::Builtin { special: false, run },
};

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    let mut newline = true;
    let mut escapes = shell.options.xpg_echo;
    let mut rest = words;
    // A word that is not made of these letters alone is text, and so is all that follows.
    while !(shell.options.posix && shell.options.xpg_echo)
        && let Some((word, after)) = rest.split_first()
        && let Some((b'-', letters)) = word.split_first()
        && !letters.is_empty()
        && letters.iter().all(|letter| matches!(letter, b'n' | b'e' | b'E'))
    {
        for letter in letters {
            match letter {
                b'n' => newline = false,
                b'e' => escapes = true,
                _ => escapes = false,
            }
        }
        rest = after;
    }
    let size = rest.iter().map(|word| word.len() + 1).sum();
    let mut out = Heavy::new(Vec::with_capacity(size));
    let mut pace = Pace::default();
    for (place, word) in rest.iter().enumerate() {
        pace.walked(word.len())?;
        if place > 0 {
            out.push(b' ');
        }
        if !escapes {
            long::extend(&mut out, word)?;
        } else if escape::expand(word, Style::Echo, &mut out, &mut |_| {}) == Outcome::Stop {
            newline = false;
            break;
        }
    }
    if newline {
        out.push(b'\n');
    }
    shell.print("echo", &out)
}
