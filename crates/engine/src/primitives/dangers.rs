//! What S2 calls dangerous, judged on commands and never on their letters: recursive removal of the system, disks read
//! or written as a whole, file systems made, shells handed to the network, decoded text run as code, fork bombs.

use bstr::{BStr, BString, ByteSlice};
use exacta_policy::event::{Access, Directory};
use exacta_policy::word::Word;
use exacta_shell::fnmatch::Pattern;

use super::explore::{Command, Seen, UNKNOWN, base_name};

/// Commands that turn an encoded text into what it says.
const DECODERS: &[&str] =
    &["base64", "gbase64", "base32", "basenc", "uudecode", "xxd", "openssl", "gpg", "gpg2"];

const NETWORK: &[&str] = &["nc", "ncat", "netcat", "nc.traditional", "nc.openbsd"];
const MAKERS: &[&str] = &["mkfs", "mke2fs", "mkdosfs", "mkntfs", "newfs"];

/// Nobody removes these, or anything in them, on purpose.
const SYSTEM: &[&str] =
    &["bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "proc", "sbin", "sys", "usr"];

/// Names of disks in `/dev`.
const DISKS: &[&str] = &[
    "disk/", "disk", "dm-", "fd0", "hd", "loop", "mapper/", "md", "mmcblk", "mtd", "nbd", "nvme",
    "ram", "rdisk", "sd", "sr", "vd", "xvd", "zd",
];

/// The names that are tried where a command's name is only known when it runs.
const TRIED: &[&str] = &["rm", "dd", "nc", "mkfs"];

pub(super) fn is_dangerous(seen: &Seen) -> bool {
    seen.bomb
        || seen.commands.iter().any(is_dangerous_command)
        || seen.opens.iter().any(|(path, access)| *access != Access::Read && is_disk(path))
        || runs_decoded_text(seen)
}

fn is_dangerous_command(command: &Command) -> bool {
    names(command).iter().any(|name| {
        let name = name.as_bstr();
        removes_system(name, command)
            || copies_device(name, command)
            || gives_shell_away(name, command)
            || MAKERS.iter().any(|maker| name == *maker)
            || name.starts_with(b"mkfs.")
    })
}

/// What the command may be.
fn names(command: &Command) -> Vec<BString> {
    let Some(name) = command.words.first() else { return Vec::new() };
    match name {
        Word::Literal(text) if text.contains(&UNKNOWN) => {
            TRIED.iter().map(|name| BString::from(*name)).collect()
        }
        Word::Literal(text) => vec![base_name(text.as_bstr()), command.reading.name.clone()],
        Word::Dynamic(dynamic) => {
            let pattern = dynamic.glob.as_ref().map(|glob| {
                let last = glob.rsplit_str("/").next().unwrap_or_default();
                Pattern::new(last, false)
            });
            let possible = |name: &&&str| {
                pattern.as_ref().is_none_or(|pattern| pattern.matches_hidden(name.as_bytes()))
            };
            TRIED.iter().filter(possible).map(|name| BString::from(*name)).collect()
        }
    }
}

/// `rm -r /`, `find / -delete`, however they are spelled.
fn removes_system(name: &BStr, command: &Command) -> bool {
    let recursive = match name.as_bytes() {
        b"rm" => has_option(command, &["-r", "-R", "--recursive"]),
        b"find" => command.words.iter().any(|word| word.shown() == "-delete"),
        _ => return false,
    };
    let operands = command.words.iter().skip(1);
    recursive && operands.into_iter().any(|word| is_system(word, &command.directory))
}

/// By the table, and by the letters where the table does not know the command.
fn has_option(command: &Command, wanted: &[&str]) -> bool {
    let known = command
        .reading
        .options
        .iter()
        .flat_map(|option| &option.names)
        .any(|name| wanted.iter().any(|wanted| name == wanted));
    let mut words = command.words.iter().skip(1).map(Word::shown);
    known
        || words.any(|word| {
            let cluster = word.starts_with(b"-") && !word.starts_with(b"--");
            wanted.iter().any(|wanted| match wanted.as_bytes() {
                [b'-', letter] if *letter != b'-' => cluster && word.contains(letter),
                // `--rec` is `--recursive`.
                long => word.len() > 3 && word.starts_with(b"--") && long.starts_with(word),
            })
        })
}

/// `/` and what every system needs. An unknown rest behind the root counts as the root: it may be empty.
fn is_system(word: &Word, directory: &Directory) -> bool {
    let text = match word {
        Word::Literal(text) => text.as_bstr(),
        Word::Dynamic(dynamic) => match &dynamic.glob {
            Some(glob) => glob.as_bstr(),
            None if dynamic.prefix == "/" => return true,
            None => dynamic.prefix.as_bstr(),
        },
    };
    if text.starts_with(b"-") || text.is_empty() {
        return false;
    }
    let Some(names) = components(text, directory) else { return false };
    // A pattern for everything in a directory is that directory.
    let all = |name: &&BString| name.iter().all(|byte| b"*?.".contains(byte));
    let names: Vec<&BString> = match names.split_last() {
        Some((last, rest)) if all(&last) => rest.iter().collect(),
        _ => names.iter().collect(),
    };
    match names.as_slice() {
        [] => true,
        [top] => *top != "tmp",
        [top, ..] => SYSTEM.iter().any(|known| *top == known),
    }
}

/// The parts of an absolute path by its text; `None` if nobody knows where it is.
fn components(path: &BStr, directory: &Directory) -> Option<Vec<BString>> {
    let mut names = Vec::new();
    let base: &BStr = match directory.expected() {
        _ if path.starts_with(b"/") => BStr::new(""),
        Some(directory) => directory.as_bstr(),
        None => return None,
    };
    for name in base.split_str("/").chain(path.split_str("/")) {
        match name {
            b"" | b"." => {}
            b".." => {
                names.pop();
            }
            _ => names.push(BString::from(name)),
        }
    }
    Some(names)
}

/// `dd` from or to anything in `/dev` but the bin.
fn copies_device(name: &BStr, command: &Command) -> bool {
    name == "dd"
        && command.words.iter().skip(1).any(|word| {
            let text = word.prefix();
            let target = text.strip_prefix(b"if=").or_else(|| text.strip_prefix(b"of="));
            let source = text.starts_with(b"if=");
            target.is_some_and(|path| {
                path.starts_with(b"/dev/")
                    && (source || !matches!(path, b"/dev/null" | b"/dev/stdout"))
            })
        })
}

/// `nc -e /bin/sh`
fn gives_shell_away(name: &BStr, command: &Command) -> bool {
    NETWORK.iter().any(|known| name == *known)
        && has_option(command, &["-e", "-c", "--exec", "--sh-exec", "--lua-exec"])
}

fn is_disk(path: &Word) -> bool {
    path.prefix()
        .strip_prefix(b"/dev/")
        .is_some_and(|name| DISKS.iter().any(|disk| name.starts_with(disk.as_bytes())))
}

/// `base64 -d … | sh`, `eval "$(base64 -d …)"`, `x=$(base64 -d …); eval "$x"`
fn runs_decoded_text(seen: &Seen) -> bool {
    let decodes = |name: &BString| DECODERS.iter().any(|decoder| name == decoder);
    seen.unknown_code
        && (seen.code_from.iter().any(decodes)
            || seen.commands.iter().any(|command| names(command).iter().any(decodes)))
}
