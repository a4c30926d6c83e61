//! Ruby: methods are called without brackets and by symbols, so a word that could start something is suspect
//! wherever it stands, and constants are looked up.

mod scan;

use std::ops::Range;

use super::findings::Findings;
use super::tokens::{Kind, Tokens, among};
use super::values::{Dialect, Evaluator, Scope, Value, dotted, is_url};
use crate::event::Access;

/// Sorted.
const DANGEROUS: &[&str] = &[
    "DL",
    "DRb",
    "Faraday",
    "Fiddle",
    "HTTParty",
    "IRB",
    "Kernel",
    "Marshal",
    "Mechanize",
    "Net",
    "ObjectSpace",
    "Open3",
    "PTY",
    "Process",
    "RestClient",
    "RubyVM",
    "Socket",
    "TCPServer",
    "TCPSocket",
    "TOPLEVEL_BINDING",
    "TracePoint",
    "UDPSocket",
    "UNIXSocket",
    "WEBrick",
    "Win32API",
    "__send__",
    "binding",
    "callcc",
    "class_eval",
    "class_exec",
    "const_get",
    "const_missing",
    "define_method",
    "eval",
    "exec",
    "fork",
    "instance_eval",
    "instance_exec",
    "instance_method",
    "instance_variable_get",
    "load",
    "method",
    "method_missing",
    "module_eval",
    "module_exec",
    "popen",
    "popen2",
    "popen2e",
    "popen3",
    "public_method",
    "public_send",
    "send",
    "spawn",
    "syscall",
    "sysopen",
    "system",
    "trap",
];

/// Sorted.
const UNCLEAR: &[&str] = &[
    "Bundler",
    "DATA",
    "ERB",
    "Gem",
    "Rake",
    "Readline",
    "Ripper",
    "__method__",
    "autoload",
    "chown",
    "chroot",
    "const_set",
    "debugger",
    "fcntl",
    "ioctl",
    "lchown",
    "link",
    "set_trace_func",
    "symlink",
    "unsafe_load",
];

/// Words of `File`, `Dir`, `IO` and `FileUtils` that only look. Sorted.
const LOOKING: &[&str] = &[
    "absolute_path",
    "basename",
    "children",
    "directory?",
    "dirname",
    "each_child",
    "empty?",
    "entries",
    "executable?",
    "exist?",
    "expand_path",
    "extname",
    "file?",
    "fnmatch",
    "ftype",
    "getwd",
    "glob",
    "home",
    "join",
    "mtime",
    "path",
    "pwd",
    "readable?",
    "readlink",
    "size",
    "size?",
    "split",
    "stat",
    "symlink?",
    "tmpdir",
    "writable?",
    "zero?",
];

pub(super) fn read(text: &[u8], findings: &mut Findings) {
    let Some(tokens) = scan::scan(text) else {
        findings.unclear("Ruby code that cannot be read");
        return;
    };
    let mut scope = Scope::default();
    gather(&tokens, &mut scope);
    let evaluator = Evaluator { tokens: &tokens, scope: &scope, dialect: &Ruby };
    Reader { tokens: &tokens, evaluator, findings }.run();
}

struct Ruby;

impl Dialect for Ruby {
    fn is_concatenation(&self, sign: &[u8]) -> bool {
        sign == b"+"
    }

    fn full_name(&self, _name: &[u8]) -> Option<Vec<u8>> {
        None
    }

    fn call(&self, path: &[u8], arguments: &[Value]) -> Value {
        match path {
            b"File.join" => arguments
                .iter()
                .cloned()
                .reduce(|left, right| left.concat(&right, b"/"))
                .unwrap_or(Value::Unknown),
            b"Dir.glob" if arguments.first().is_some_and(Value::is_inside) => Value::Inside,
            _ => Value::Unknown,
        }
    }
}

/// Names that are given texts.
fn gather<'t>(tokens: &'t Tokens<'_>, scope: &mut Scope<'t>) {
    for index in 0..tokens.len() {
        let Some(name) = tokens.name(index) else { continue };
        if tokens.is(index + 1, b"=") && !tokens.follows(index, &[b".", b",", b"|", b"("]) {
            match tokens.near_statement_end(index + 2) {
                Some(end) => scope.assigned(name, index + 2..end),
                None => scope.lost(name),
            }
        } else if tokens.follows(index, &[b"|", b",", b"*"])
            || ["+=", "<<", ",", "||="].iter().any(|sign| tokens.is(index + 1, sign.as_bytes()))
            || matches!(index.checked_sub(1).and_then(|at| tokens.name(at)), Some(b"for" | b"def"))
        {
            scope.lost(name);
        }
    }
}

struct Reader<'t, 'a, 'f> {
    tokens: &'t Tokens<'a>,
    evaluator: Evaluator<'t, 'a>,
    findings: &'f mut Findings,
}

impl Reader<'_, '_, '_> {
    fn run(&mut self) {
        for index in 0..self.tokens.len() {
            if self.tokens.is(index, b"`") {
                self.findings.danger("`…`");
                if let Some(command) = self.tokens.literal(index + 1) {
                    self.findings.shell(command);
                }
            } else if let Some(name) = self.tokens.name(index) {
                self.word(index, name);
            } else if self.tokens.kind(index) == Some(Kind::Number) {
                self.variable(index);
            }
        }
    }

    fn word(&mut self, index: usize, name: &[u8]) {
        let key = self.tokens.is(index + 1, b":") && !self.tokens.is(index + 1, b"::");
        if key && self.tokens.follows(index, &[b"{", b",", b"("]) {
            return;
        }
        let member = self.tokens.follows(index, &[b".", b"::", b"&."]);
        match name {
            b"system" | b"exec" | b"spawn" | b"popen" | b"capture2" | b"capture2e"
            | b"capture3" => {
                self.findings.danger(name);
                self.command(index);
            }
            b"File" | b"Dir" | b"IO" | b"FileUtils" | b"Pathname" if !member => {
                self.files(index, name);
            }
            b"YAML" | b"Psych" => {
                if matches!(self.tokens.name(index + 2), Some(b"unsafe_load" | b"unsafe_load_file"))
                {
                    self.findings.danger("unsafe_load");
                }
            }
            b"URI" if self.tokens.is_name(index + 2, b"open") => self.findings.danger("URI.open"),
            b"open" if !member => self.open(index),
            b"require" | b"require_relative" => self.require(index),
            b"ENV"
                if self.tokens.is(index + 1, b"[")
                    && self.tokens.is(self.tokens.partner(index + 1) + 1, b"=") =>
            {
                self.findings.unclear("ENV is changed");
            }
            b"Gem" if self.tokens.is(index + 1, b"::") => {}
            _ if among(DANGEROUS, name) => {
                self.findings.danger(name);
                self.connect(index);
            }
            _ if among(UNCLEAR, name) => self.findings.unclear(name),
            _ => {}
        }
    }

    /// The global variables by which loading and splitting can be changed.
    fn variable(&mut self, index: usize) {
        let name = self.tokens.text(index);
        let loading = matches!(name, b"$LOAD_PATH" | b"$:" | b"$LOADED_FEATURES" | b"$\"");
        if loading && !self.tokens.is(index + 1, b")") {
            self.findings.unclear(name);
        }
    }

    /// The arguments of a call, with brackets or without.
    fn arguments(&self, index: usize) -> Vec<Range<usize>> {
        if self.tokens.is(index + 1, b"(") {
            return self.tokens.arguments(index + 1);
        }
        let end = self.tokens.near_statement_end(index + 1).unwrap_or(index + 1);
        self.tokens.split(index + 1..end)
    }

    fn command(&mut self, index: usize) {
        let words: Option<Vec<Vec<u8>>> = self
            .arguments(index)
            .into_iter()
            .map(|range| self.evaluator.value(range).single().map(<[u8]>::to_vec))
            .collect();
        match words.as_deref() {
            Some([text]) => self.findings.shell(text),
            Some(words) if !words.is_empty() => self.findings.run(words),
            _ => {}
        }
    }

    fn connect(&mut self, index: usize) {
        let near = index..(index + 12).min(self.tokens.len());
        let urls: Vec<Vec<u8>> = near
            .filter_map(|at| self.tokens.literal(at))
            .filter(|text| is_url(text))
            .map(<[u8]>::to_vec)
            .collect();
        for url in urls {
            self.findings.connect(&url);
        }
    }

    fn require(&mut self, index: usize) {
        let argument = self.arguments(index).into_iter().next().unwrap_or(0..0);
        let value = self.evaluator.value(argument);
        let Some(name) = value.single() else {
            self.findings.danger("require of a computed name");
            return;
        };
        let bad: &[&[u8]] = &[
            b"open3",
            b"pty",
            b"socket",
            b"net/",
            b"open-uri",
            b"fiddle",
            b"drb",
            b"webrick",
            b"irb",
            b"debug",
            b"pry",
            b"faraday",
            b"httparty",
            b"rest-client",
            b"win32",
        ];
        if bad.iter().any(|prefix| name.starts_with(prefix)) {
            self.findings.danger([b"require ", name].concat());
        } else if name.starts_with(b"/") || name.starts_with(b"../") || name.starts_with(b"~") {
            self.findings.open(name, Access::Execute);
        }
    }

    fn open(&mut self, index: usize) {
        let arguments = self.arguments(index);
        let value =
            arguments.first().map_or(Value::Unknown, |range| self.evaluator.value(range.clone()));
        let mode = arguments.get(1).map(|range| self.evaluator.value(range.clone()));
        let writes = mode.is_some_and(|mode| {
            mode.single().is_none_or(|mode| mode.iter().any(|byte| b"wa+".contains(byte)))
        });
        self.touch(value, if writes { Access::Write } else { Access::Read }, b"open");
    }

    /// A text that begins with a bar is a command, to all of them.
    fn touch(&mut self, value: Value, access: Access, seen: &[u8]) {
        match value {
            Value::Texts(texts) => {
                for text in &texts {
                    if let Some(command) = text.trim_ascii_start().strip_prefix(b"|") {
                        self.findings.danger("open of a command");
                        self.findings.shell(command.trim_ascii());
                    } else if is_url(text) {
                        self.findings.danger(seen);
                        self.findings.connect(text);
                    } else {
                        self.findings.open(text, access);
                    }
                }
            }
            _ => self.findings.unclear([seen, b" of a computed path"].concat()),
        }
    }

    fn files(&mut self, index: usize, class: &[u8]) {
        let (path, end) = dotted(self.tokens, index);
        let member = self.tokens.text(index + 2).to_vec();
        if end == index + 1 {
            if class == b"Pathname" || class == b"Dir" && self.tokens.is(end, b"[") {
                return;
            }
            self.findings.unclear([class, b" handed on"].concat());
            return;
        }
        if among(LOOKING, &member)
            || class == b"File" && member.first().is_some_and(u8::is_ascii_uppercase)
        {
            return;
        }
        let arguments = self.arguments(index + 2);
        let first =
            arguments.first().map_or(Value::Unknown, |range| self.evaluator.value(range.clone()));
        let second =
            arguments.get(1).map_or(Value::Unknown, |range| self.evaluator.value(range.clone()));
        match member.as_slice() {
            b"read" | b"readlines" | b"foreach" | b"binread" | b"each_line" => {
                self.touch(first, Access::Read, &path);
            }
            b"write" | b"binwrite" | b"mkdir" | b"mkdir_p" | b"touch" | b"truncate"
            | b"makedirs" => self.touch(first, Access::Write, &path),
            b"delete" | b"unlink" | b"rm" | b"rm_f" | b"rmdir" => {
                self.touch(first, Access::Delete, &path);
            }
            b"rm_rf" | b"rm_r" | b"remove_dir" | b"remove_entry" | b"rmtree" => {
                let contained = first.is_a_part();
                if !contained {
                    self.findings.danger(&path);
                }
                self.touch(first, Access::Delete, &path);
            }
            b"rename" | b"mv" | b"move" => {
                self.touch(first, Access::Delete, &path);
                self.touch(second, Access::Write, &path);
            }
            b"cp" | b"copy" | b"cp_r" | b"copy_file" => {
                self.touch(first, Access::Read, &path);
                self.touch(second, Access::Write, &path);
            }
            b"open" | b"new" if class == b"File" || class == b"IO" => self.open(index + 2),
            b"chdir" => self.touch(first, Access::Enter, &path),
            b"popen" => {}
            _ if class == b"Pathname" => {}
            _ => self.findings.unclear(&path),
        }
    }
}
