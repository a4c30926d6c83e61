//! A command as one for exacta: quoted to the letter, under the options that the hook itself was given.

#![expect(
    clippy::disallowed_methods,
    reason = "relative paths of the hook's own options mean where it was started"
)]

use std::ffi::OsString;
use std::path::Path;

use bstr::{BString, ByteSlice};
use exacta::report::typed;

use crate::invocation::Global;

/// `exacta -c 'TEXT'`
pub fn in_exacta(global: &Global, text: &str) -> Result<String, String> {
    let mut words = vec![own_name()?];
    words.extend(options(global)?);
    words.push("-c".into());
    let mut line = BString::from(bstr::join(" ", words.iter().map(|word| typed(word))));
    // In quotes even where it needs none: one look tells what is exacta's line and what the agent's.
    line.extend_from_slice(b" ");
    line.extend_from_slice(&quoted(text));
    line.to_str().map(str::to_owned).map_err(|_| "an option of the hook is not UTF-8".to_owned())
}

/// `-- 'text'` where `-c` would take the text for an option.
fn quoted(text: &str) -> BString {
    let word = [b"'", text.replace('\'', r"'\''").as_bytes(), b"'"].concat();
    let dashed = text.starts_with(['-', '+']);
    if dashed { [b"-- ".as_slice(), &word].concat().into() } else { word.into() }
}

/// Who was called by a path is called by it again: the name alone could be another program.
fn own_name() -> Result<BString, String> {
    let called: Option<OsString> = std::env::args_os().next();
    let called = called.unwrap_or_else(|| "exacta".into());
    if !called.as_encoded_bytes().contains(&b'/') {
        return Ok(called.as_encoded_bytes().into());
    }
    let own = std::env::current_exe()
        .map_err(|error| format!("exacta does not know its own path: {error}"))?;
    Ok(own.as_os_str().as_encoded_bytes().into())
}

/// What was judged under these has to run under them.
fn options(global: &Global) -> Result<Vec<BString>, String> {
    let mut words: Vec<BString> = Vec::new();
    let mut option = |name: &str, value: &[u8]| {
        words.push(BString::from(format!("--{name}")));
        words.push(value.into());
    };
    let paths = global.root.iter().map(|path| ("root", path));
    let paths = paths.chain(global.config.iter().map(|path| ("config", path)));
    for (name, path) in paths.chain(global.tools.iter().map(|path| ("tools", path))) {
        option(name, absolute(path)?.as_ref());
    }
    if let Some(profile) = &global.profile {
        option("profile", profile.as_bytes());
    }
    if let Some(level) = global.min_isolation {
        option("min-isolation", level.name().as_bytes());
    }
    for (name, value) in &global.environment {
        option("env", &[name.as_slice(), b"=", value.as_slice()].concat());
    }
    if global.inherit_environment {
        words.push("--inherit-env".into());
    }
    Ok(words)
}

fn absolute(path: &Path) -> Result<BString, String> {
    let here = std::env::current_dir().map_err(|error| format!("no current directory: {error}"))?;
    Ok(here.join(path).as_os_str().as_encoded_bytes().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_quoted_to_the_letter() {
        let line = |text: &str| in_exacta(&Global::default(), text).expect("a line");
        assert!(line("echo 'a b'").ends_with(r" -c 'echo '\''a b'\'''"));
        assert!(line("ls").ends_with(" -c 'ls'"));
        assert!(line("-x").ends_with(" -c -- '-x'"));
        assert!(line("a\nb $x `y`").ends_with(" -c 'a\nb $x `y`'"));
    }

    #[test]
    fn options_of_the_hook_go_along() {
        let global = Global {
            profile: Some("safe".to_owned()),
            root: Some("/a b".into()),
            environment: vec![("K".into(), "it's".into())],
            ..Global::default()
        };
        let line = in_exacta(&global, "ls").expect("a line");
        assert!(
            line.ends_with(r"--root '/a b' --profile safe --env 'K=it'\''s' -c 'ls'"),
            "{line}"
        );
    }
}
