//! Programs without a table: nobody has said what their words mean. Words that look like an address, like a path
//! out of the project, or like an option that executes are asked about, whatever rule allows the program.

use bstr::{BStr, ByteSlice};

use super::command::Subjected;
use super::inquiry::Inquiry;
use crate::surroundings::Place;
use crate::verdict::Finding;
use crate::word::Word;

/// Names of options that start something, in the tools that have them.
const EXECUTING: &[&str] = &[
    "agentlib",
    "agentpath",
    "cmd",
    "command",
    "compiler-launcher",
    "editor",
    "eval",
    "evaluate",
    "exec",
    "exec-command",
    "execute",
    "init-script",
    "interpreter",
    "javaagent",
    "launcher",
    "load-extension",
    "pager",
    "post-command",
    "pre-command",
    "preload",
    "rsh",
    "run-command",
    "script-shell",
    "shell-command",
    "shell-escape",
    "to-command",
    "toolexec",
    "upload-pack",
    "wrapper",
];

impl Inquiry<'_> {
    pub fn unread(&self, subjected: &Subjected<'_>, findings: &mut Vec<Finding>) {
        let reading = subjected.reading;
        let defined = subjected.invocation.defined || self.world.is_defined(reading.name.as_bstr());
        if reading.known || subjected.builtin || defined {
            return;
        }
        for option in &reading.options {
            if let Some(name) = option.names.iter().find(|name| executes(name.as_bstr())) {
                let about = name.to_str_lossy();
                findings.extend(self.situation_unless("unread-option", &about, &subjected.lifted));
            }
        }
        let values = reading.options.iter().filter_map(|option| option.value.as_ref());
        for word in reading.operands.iter().chain(values) {
            self.unread_word(word, subjected, findings);
        }
    }

    fn unread_word(&self, word: &Word, subjected: &Subjected<'_>, findings: &mut Vec<Finding>) {
        // `KEY=/etc/passwd`, `@/etc/passwd`: the part that would be opened.
        let known = word.prefix();
        let text = known.rsplit_once_str("=").map_or(known.as_bytes(), |(_, value)| value);
        let text = text.strip_prefix(b"@").unwrap_or(text).as_bstr();
        if is_address(text) {
            return self.connect(word, subjected, findings);
        }
        if !is_path_out(text) {
            return;
        }
        let path = Word::literal(text);
        if matches!(
            self.place_of(&path, &subjected.directory),
            Some(Place::Outside | Place::Hidden)
        ) {
            let about = word.shown().to_str_lossy();
            findings.extend(self.situation_unless("unread-path", &about, &subjected.lifted));
        }
    }
}

/// `https://x`, `git@x:y`; a file is none.
fn is_address(text: &BStr) -> bool {
    match text.split_once_str("://") {
        Some((scheme, _)) => {
            let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
            !scheme.is_empty() && scheme.iter().all(plain) && scheme != b"file"
        }
        None => text.starts_with(b"git@") && text.contains(&b':'),
    }
}

/// Could lead out, as it is written; a sentence or a pattern is no path.
fn is_path_out(text: &BStr) -> bool {
    let begins = text.starts_with(b"/") || text.starts_with(b"../") || text == "..";
    let climbs = begins || text.contains_str("/../") || text.contains_str(".clada");
    climbs && !text.iter().any(|byte| byte.is_ascii_whitespace() || b"*?[](){}|^$\\".contains(byte))
}

fn executes(name: &BStr) -> bool {
    let word = name.trim_start_with(|c| c == '-');
    word.len() > 2 && EXECUTING.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_an_address() {
        for text in ["https://x/y", "git+ssh://git@x/y", "git@x:y.git", "s3://b/k"] {
            assert!(is_address(text.into()), "{text}");
        }
        for text in ["file:///x", "a b://x", "@types/node", "src/a.rs:10", "://", ""] {
            assert!(!is_address(text.into()), "{text}");
        }
    }

    #[test]
    fn what_looks_like_a_path_out() {
        for text in ["/etc/passwd", "../x", "a/../../x", "..", "x/.clada/db"] {
            assert!(is_path_out(text.into()), "{text}");
        }
        for text in ["src/a", "./x", "/^a.*b$/", "/api/{id}", "s/a/b/", "say / nothing", "..x"] {
            assert!(!is_path_out(text.into()), "{text}");
        }
    }
}
