//! `umask`

use bstr::{BStr, BString, ByteSlice};

use super::{Command, Run, usage};
use crate::arguments::{OptionSpec, flag};
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow};

static OPTIONS: [OptionSpec; 2] = [
    flag('p', "p", "print as a command that sets it again"),
    flag('S', "S", "print what is permitted, as letters"),
];

pub static COMMAND: Command = Command {
    name: "umask",
    synopsis: "umask [-p] [-S] [mode]",
    summary: "Show or set which permissions new files do not get",
    options: &OPTIONS,
    run: Run::Builtin { special: false, run },
};

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    let arguments = match usage::parse(shell, &COMMAND, words) {
        Ok(arguments) => arguments,
        Err(status) => return Ok(status),
    };
    let symbolic = arguments.has("S");
    if let Some(mode) = arguments.operands.first() {
        match parse(mode.as_bstr(), shell.umask) {
            Ok(umask) => shell.umask = umask,
            Err(reason) => {
                shell.complain([b"umask: ", reason.as_bytes()].concat());
                return Ok(ExitStatus::FAILURE);
            }
        }
        if !symbolic {
            return Ok(ExitStatus::SUCCESS);
        }
    }
    let prefix = match (arguments.has("p") && arguments.operands.is_empty(), symbolic) {
        (true, true) => "umask -S ",
        (true, false) => "umask ",
        (false, _) => "",
    };
    let text = if symbolic { letters(shell.umask) } else { format!("{:04o}", shell.umask) };
    shell.print("umask", format!("{prefix}{text}\n").as_bytes())
}

/// `u=rwx,g=rx,o=rx`
fn letters(umask: u32) -> String {
    let permitted = !umask;
    let class = |name: char, shift: u32| {
        let mut text = format!("{name}=");
        for (bit, letter) in [(4, 'r'), (2, 'w'), (1, 'x')] {
            if permitted >> shift & bit != 0 {
                text.push(letter);
            }
        }
        text
    };
    format!("{},{},{}", class('u', 6), class('g', 3), class('o', 0))
}

fn parse(mode: &BStr, umask: u32) -> Result<u32, BString> {
    if mode.first().is_some_and(u8::is_ascii_digit) {
        let octal = mode.to_str().ok().and_then(|text| u32::from_str_radix(text, 8).ok());
        return match octal.filter(|octal| *octal <= 0o7777) {
            Some(octal) => Ok(octal & 0o777),
            None => Err([mode.as_bytes(), b": octal number out of range"].concat().into()),
        };
    }
    let mut permitted = !umask & 0o777;
    for clause in mode.split(|byte| *byte == b',') {
        permitted = apply(clause, permitted)?;
    }
    Ok(!permitted & 0o777)
}

/// One of `u=rwx`, `go-w`, `+x`.
fn apply(clause: &[u8], permitted: u32) -> Result<u32, BString> {
    let who = clause.iter().take_while(|byte| matches!(byte, b'u' | b'g' | b'o' | b'a'));
    let mut count = 0;
    let mut classes = 0;
    for letter in who {
        count += 1;
        classes |= match letter {
            b'u' => 0o700,
            b'g' => 0o070,
            b'o' => 0o007,
            _ => 0o777,
        };
    }
    if classes == 0 {
        classes = 0o777;
    }
    let operator = clause.get(count).copied().unwrap_or(b' ');
    if !matches!(operator, b'+' | b'-' | b'=') {
        return Err(refusal(operator, "operator"));
    }
    let mut bits = 0;
    for letter in clause.get(count + 1..).unwrap_or_default() {
        bits |= match letter {
            b'r' => 0o444,
            b'w' => 0o222,
            b'x' => 0o111,
            other => return Err(refusal(*other, "character")),
        };
    }
    Ok(match operator {
        b'+' => permitted | bits & classes,
        b'-' => permitted & !(bits & classes),
        _ => permitted & !classes | bits & classes,
    })
}

fn refusal(byte: u8, what: &str) -> BString {
    let end = format!("': invalid symbolic mode {what}");
    [b"`", &[byte][..], end.as_bytes()].concat().into()
}
