//! Makefiles: recipe lines are for a shell, and some functions run commands while the file is read.

use bstr::ByteSlice;

use super::findings::Findings;
use crate::event::Access;

pub(super) fn read(text: &[u8], findings: &mut Findings) {
    let joined = with_environment(&join_lines(text));
    let mut defining = false;
    for line in joined.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if defining {
            defining = !line.trim_ascii().starts_with(b"endef");
            continue;
        }
        if let Some(recipe) = line.strip_prefix(b"\t") {
            command(recipe, findings);
        } else if line.trim_ascii().starts_with(b"define ") {
            findings.unclear("define");
            defining = true;
        } else {
            definition(line.trim_ascii(), findings);
        }
    }
}

/// A backslash at the end of a line takes the next one with it.
fn join_lines(text: &[u8]) -> Vec<u8> {
    let mut joined = Vec::with_capacity(text.len());
    let mut bytes = text.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if byte == b'\\' && bytes.peek() == Some(&b'\n') {
            bytes.next();
            // The tab of a continued recipe is no part of it.
            while bytes.next_if(|byte| matches!(byte, b' ' | b'\t')).is_some() {}
            joined.push(b' ');
        } else {
            joined.push(byte);
        }
    }
    joined
}

/// `$(HOME)` is what the shell calls `$HOME`; `$$` stays what it is.
fn with_environment(text: &[u8]) -> Vec<u8> {
    const NAMES: [(&str, &str); 5] = [
        ("HOME", "HOME"),
        ("PWD", "PWD"),
        ("CURDIR", "PWD"),
        ("OLDPWD", "OLDPWD"),
        ("USER", "USER"),
    ];
    let mut result = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find_byte(b'$') {
        let (before, from) = rest.split_at(at);
        result.extend_from_slice(before);
        let known = NAMES.iter().find_map(|(name, shell)| {
            let inner = from.get(2..)?.strip_prefix(name.as_bytes())?;
            let closed = match from.get(1)? {
                b'(' => inner.strip_prefix(b")"),
                b'{' => inner.strip_prefix(b"}"),
                _ => None,
            }?;
            Some((shell, closed))
        });
        if let Some((shell, after)) = known {
            result.extend_from_slice(format!("$${{{shell}}}").as_bytes());
            rest = after;
        } else {
            // Two at a time: what follows `$$` is the shell's.
            let (sign, after) = from.split_at(from.len().min(2));
            result.extend_from_slice(sign);
            rest = after;
        }
    }
    result.extend_from_slice(rest);
    result
}

fn command(recipe: &[u8], findings: &mut Findings) {
    let start = recipe
        .iter()
        .position(|byte| !matches!(byte, b'@' | b'-' | b'+' | b' ' | b'\t'))
        .unwrap_or(recipe.len());
    let recipe = recipe.get(start..).unwrap_or_default();
    if recipe.is_empty() || recipe.starts_with(b"#") {
        return;
    }
    match expanded(recipe, findings) {
        Some(line) => findings.shell(&line),
        None => findings.unclear("a recipe with make's variables"),
    }
}

/// The line as the shell sees it, if make puts nothing in.
fn expanded(recipe: &[u8], findings: &mut Findings) -> Option<Vec<u8>> {
    functions(recipe, findings);
    let mut line = Vec::with_capacity(recipe.len());
    let mut bytes = recipe.iter().copied();
    while let Some(byte) = bytes.next() {
        if byte == b'$' && bytes.next()? != b'$' {
            return None;
        }
        line.push(byte);
    }
    Some(line)
}

/// `$(shell …)` and its kin, wherever they stand.
fn functions(text: &[u8], findings: &mut Findings) {
    for (at, pair) in text.windows(2).enumerate() {
        if pair != b"$(" && pair != b"${" {
            continue;
        }
        let inside = text.get(at + 2..).unwrap_or_default();
        let length =
            inside.iter().take(32).position(|byte| !byte.is_ascii_alphabetic()).unwrap_or(0);
        let name = inside.get(..length).unwrap_or_default();
        let called = matches!(inside.get(length), Some(b' ' | b'\t'));
        match name {
            b"shell" if called => {
                let body = inside.get(length + 1..).unwrap_or_default();
                let close = if pair == b"$(" { b')' } else { b'}' };
                // The first bracket ends it unless the command has some of its own.
                let end = body
                    .iter()
                    .take(4096)
                    .position(|byte| *byte == close || *byte == b'$' || *byte == b'(');
                let end = end.filter(|end| body.get(*end) == Some(&close));
                let line = end.and_then(|end| body.get(..end)).unwrap_or_default().trim_ascii();
                if !super::only_looks(line) {
                    findings.danger("$(shell)");
                }
                if !line.is_empty() {
                    findings.shell(line);
                }
            }
            b"file" | b"eval" | b"guile" | b"call" | b"foreach" if called => {
                findings.danger([b"$(", name, b")"].concat());
                let path = inside.get(length + 1..).unwrap_or_default().trim_ascii_start();
                let path = path.strip_prefix(b">>").or_else(|| path.strip_prefix(b">"));
                if let Some(path) = path.filter(|_| name == b"file") {
                    let path = path.trim_ascii_start();
                    let end = path
                        .iter()
                        .position(|byte| matches!(byte, b',' | b')' | b'}' | b' '))
                        .unwrap_or(path.len());
                    findings.open(path.get(..end).unwrap_or_default(), Access::Write);
                }
            }
            _ => {}
        }
        if inside.first() == Some(&b'$') {
            findings.unclear("a computed variable");
        }
    }
}

fn definition(line: &[u8], findings: &mut Findings) {
    let line = line.split(|byte| *byte == b'#').next().unwrap_or_default().trim_ascii();
    functions(line, findings);
    let word = line
        .split(|byte| byte.is_ascii_whitespace() || *byte == b'=' || *byte == b':')
        .next()
        .unwrap_or_default();
    match word {
        b"include" | b"-include" | b"sinclude" => {
            findings.unclear(word);
            for path in line
                .get(word.len()..)
                .unwrap_or_default()
                .split(u8::is_ascii_whitespace)
                .filter(|path| !path.is_empty())
            {
                findings.open(path, Access::Read);
                if path.starts_with(b"/dev/") {
                    findings.danger("include of what is piped in");
                }
            }
            return;
        }
        b"load" | b"-load" => return findings.danger("load"),
        b"SHELL" | b".SHELLFLAGS" | b"MAKEFLAGS" | b"GNUMAKEFLAGS" | b".RECIPEPREFIX"
        | b"MAKEFILES" => return findings.danger(word),
        b"override" | b"private" | b"unexport" => {
            // What follows is a definition as any other, but nobody writes two of these words.
            findings.unclear(word);
            return;
        }
        b"export" => {
            let rest = line.get(word.len()..).unwrap_or_default().trim_ascii();
            let mut parts = rest.splitn(2, |byte| *byte == b'=');
            if let (Some(name), Some(value)) = (parts.next(), parts.next()) {
                let name = name.trim_ascii_end().strip_suffix(b":").unwrap_or(name).trim_ascii();
                findings.assign(name, value.trim_ascii());
            }
            return;
        }
        _ => {}
    }
    if let Some(at) = line.windows(2).position(|pair| pair == b"!=") {
        findings.danger("!=");
        findings.shell(line.get(at + 2..).unwrap_or_default().trim_ascii());
        return;
    }
    // `target: prerequisites ; command`
    let rule =
        line.iter().position(|byte| *byte == b':').filter(|at| line.get(at + 1) != Some(&b'='));
    let assigned = line.iter().position(|byte| *byte == b'=');
    if let Some(colon) = rule
        && assigned.is_none_or(|equals| colon < equals)
    {
        let after = line.get(colon..).unwrap_or_default();
        if let Some(at) = after.iter().position(|byte| *byte == b';') {
            command(after.get(at + 1..).unwrap_or_default(), findings);
        }
    }
}
