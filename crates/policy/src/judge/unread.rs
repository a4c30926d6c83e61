//! Programs without a table: nobody has said what their words mean. Words that look like an address, like a path
//! out of the project, or like an option that executes are asked about, whatever rule allows the program. Where a
//! table says that an operand is only text, it is asked about if it can hardly be anything but a path out.

use bstr::{BStr, BString, ByteSlice};

use super::command::Subjected;
use super::inquiry::Inquiry;
use crate::surroundings::Place;
use crate::verdict::Finding;
use crate::word::Word;

/// Names of options that start something, in the tools that have them.
///
/// Whoever uses one of these all day finds it in the table of the program, and then what it starts is judged.
const EXECUTING: &[&str] = &[
    "agentlib",
    "agentpath",
    "askpass",
    "auth-hook",
    "browser",
    "cmd",
    "command",
    "compiler-launcher",
    "credential-helper",
    "deploy-hook",
    "diff-cmd",
    "diff-program",
    "diff3-cmd",
    "editor",
    "editor-cmd",
    "eval",
    "evaluate",
    "exec",
    "exec-command",
    "exec-path",
    "executable",
    "execute",
    "extcmd",
    "external-diff",
    "extract-with",
    "gdb-path",
    "gpu-launcher",
    "init-script",
    "interpreter",
    "javaagent",
    "launcher",
    "ld-path",
    "load-extension",
    "load-plugin-executable",
    "load-plugin-library",
    "manual-auth-hook",
    "manual-cleanup-hook",
    "new-volume-script",
    "on-download-complete",
    "pager",
    "pdf-engine",
    "photo-viewer",
    "post-command",
    "post-hook",
    "post-invoke",
    "post-renderer",
    "pre-command",
    "pre-hook",
    "pre-invoke",
    "preload",
    "proxy-command",
    "renderer-cmd-prefix",
    "rmt-command",
    "rsh",
    "rsh-command",
    "run-command",
    "run-under",
    "run_under",
    "runtool",
    "script-shell",
    "shell",
    "shell-command",
    "shell-escape",
    "shell-executable",
    "strip-program",
    "test-command",
    "test-runtool",
    "to-command",
    "toolexec",
    "unzip-command",
    "upload-pack",
    "use-askpass",
    "use-compress-program",
    "viewer",
    "with-compiler",
    "with-ghc",
    "with-ghc-pkg",
    "with-hc-pkg",
    "with-ld",
    "workspace_status_command",
    "wrapper",
];

/// … and values of them that start nothing of somebody's choice.
const HARMLESS: &[&str] = &[
    "",
    "always",
    "auto",
    "bash",
    "cat",
    "elvish",
    "false",
    "fish",
    "less",
    "less -r",
    "more",
    "nano",
    "never",
    "no",
    "none",
    "nu",
    "nushell",
    "nvim",
    "off",
    "powershell",
    "pwsh",
    "sh",
    "true",
    "vi",
    "vim",
    "zsh",
];

/// Programs whose operands are patterns, expressions or anything else that may look like a path.
const FREE_TEXT: &[&str] = &[
    "ack",
    "ag",
    "apropos",
    "ast-grep",
    "awk",
    "basename",
    "bzgrep",
    "cowsay",
    "date",
    "dirname",
    "docker",
    "echo",
    "egrep",
    "expr",
    "fd",
    "fdfind",
    "fgrep",
    "figlet",
    "find",
    "gawk",
    "grep",
    "jq",
    "kubectl",
    "locate",
    "logger",
    "mawk",
    "nawk",
    "notify-send",
    "perl",
    "pgrep",
    "pkill",
    "plocate",
    "podman",
    "printf",
    "ps",
    "rg",
    "ripgrep",
    "ruby",
    "sed",
    "seq",
    "sqlite3",
    "test",
    "tr",
    "ugrep",
    "whereis",
    "which",
    "xmlstarlet",
    "xzgrep",
    "yes",
    "yq",
    "zgrep",
];

/// Directories of a system, where a word that begins with them is a path and no route of a web server.
const TOPS: &[&str] = &[
    "Users", "boot", "dev", "etc", "home", "media", "mnt", "opt", "private", "proc", "root", "run",
    "srv", "sys", "var",
];

/// … and those that no route is called by alone.
const WHOLE: &[&str] = &["boot", "etc", "opt", "proc", "root", "srv", "sys", "var"];

impl Inquiry<'_> {
    pub fn unread(&self, subjected: &Subjected<'_>, findings: &mut Vec<Finding>) {
        let reading = subjected.reading;
        let defined = subjected.invocation.defined || self.world.is_defined(reading.name.as_bstr());
        if subjected.builtin || defined {
            return;
        }
        self.settings_from_beside(subjected, findings);
        self.lists_from_beside(subjected, findings);
        // A table need not know every option of every version; what its name says is known anyway.
        for option in reading.options.iter().filter(|option| !option.known) {
            let harmless = is_harmless(option.value.as_ref());
            let executing = |name: &&BString| !harmless && executes(name.as_bstr());
            if let Some(name) = option.names.iter().find(executing) {
                let about = name.to_str_lossy();
                findings.extend(self.situation_unless("unread-option", &about, &subjected.lifted));
            }
        }
        if reading.known {
            return self.text_operands(subjected, findings);
        }
        let values = reading.options.iter().filter_map(|option| option.value.as_ref());
        for word in reading.operands.iter().chain(values) {
            self.unread_word(word, subjected, findings);
        }
    }

    /// `rspec /etc/passwd`: a table need not know every operand of every subcommand.
    fn text_operands(&self, subjected: &Subjected<'_>, findings: &mut Vec<Finding>) {
        let name = subjected.reading.name.as_bstr();
        if FREE_TEXT.iter().any(|known| name == *known) {
            return;
        }
        // What is defined for a compiler or a build is text for the program that is built.
        let options = subjected.reading.options.iter();
        let defining = |names: &[BString]| names.iter().any(|name| name.starts_with(b"-D"));
        // `--tags ~slow`: not the home of somebody called slow.
        let home = |word: &Word| {
            word.prefix().strip_prefix(b"/home/").is_some_and(|rest| !rest.contains(&b'/'))
        };
        let values = options.filter(|option| {
            let somebody = option.known && option.value.as_ref().is_some_and(home);
            !somebody && !defining(&option.names)
        });
        let values = values.filter_map(|option| option.value.as_ref());
        // The words of a module of python are its own: `python -m x --output=/etc/y`.
        let module = |names: &[BString]| names.iter().any(|name| name == "-m");
        let module = name == "python"
            && subjected.reading.options.iter().any(|option| module(&option.names));
        let words: &[Word] = if module { &subjected.invocation.words } else { &[] };
        for word in subjected.reading.operands.iter().chain(values).chain(words.iter().skip(1)) {
            let text = word.prefix();
            let text = text.strip_prefix(b"@").unwrap_or(text).as_bstr();
            let top = text.strip_prefix(b"/").and_then(|rest| rest.split_once_str("/"));
            let whole = text.strip_prefix(b"/").is_some_and(|rest| {
                let rest = rest.strip_suffix(b"/").unwrap_or(rest);
                WHOLE.iter().any(|it| rest == it.as_bytes())
            });
            let system =
                whole || top.is_some_and(|(top, _)| TOPS.iter().any(|it| top == it.as_bytes()));
            if system || !text.starts_with(b"/") {
                self.unread_word(word, subjected, findings);
            }
        }
    }

    fn unread_word(&self, word: &Word, subjected: &Subjected<'_>, findings: &mut Vec<Finding>) {
        // `KEY=/etc/passwd`, `@/etc/passwd`: the part that would be opened.
        let known = word.prefix();
        let text = known.rsplit_once_str("=").map_or(known.as_bytes(), |(_, value)| value);
        let text = text.strip_prefix(b"@").unwrap_or(text).as_bstr();
        let text = after_name(text);
        // A descriptor of its own: `<(…)`.
        if text.starts_with(b"/dev/fd/") {
            return;
        }
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

/// `html:/etc/x`: what follows the name of a format, if it is a path of the system.
fn after_name(text: &BStr) -> &BStr {
    let Some((name, path)) = text.split_once_str(":/") else { return text };
    let plain = !name.is_empty() && name.iter().all(u8::is_ascii_alphanumeric);
    let top = path.split_str("/").next().unwrap_or_default();
    match text.get(name.len() + 1..) {
        Some(path) if plain && TOPS.iter().any(|it| top == it.as_bytes()) => path.as_bstr(),
        _ => text,
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

fn is_harmless(value: Option<&Word>) -> bool {
    value.and_then(Word::as_literal).is_some_and(|value| {
        HARMLESS.iter().any(|known| value.eq_ignore_ascii_case(known.as_bytes()))
    })
}

/// By its name: `--pager`, `-pager`, `--config.pager`.
fn executes(name: &BStr) -> bool {
    let word = name.trim_start_with(|c| c == '-');
    let word = word.rsplit_once_str(".").map_or(word, |(_, last)| last);
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
