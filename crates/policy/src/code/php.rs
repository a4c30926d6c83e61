//! PHP: functions are called by name, by variable and by text, so only functions known to be harmless are.

use std::ops::Range;

use super::findings::Findings;
use super::tokens::{Escapes, Kind, Scanner, Tokens, among, is_name, unescape};
use super::values::is_url;
use crate::event::Access;

const ESCAPES: Escapes = Escapes { keep_unknown: true, decimal: false, unicode: true };

/// Words that look like functions. Sorted.
const KEYWORDS: &[&str] = &[
    "and", "array", "catch", "declare", "die", "echo", "else", "elseif", "empty", "exit", "fn",
    "for", "foreach", "function", "if", "isset", "list", "match", "or", "print", "return",
    "static", "switch", "throw", "unset", "use", "while", "xor",
];

/// Functions that start programs, connect, load or run what they are given. Sorted.
const DANGEROUS: &[&str] = &[
    "assert_options",
    "call_user_func",
    "call_user_func_array",
    "call_user_method",
    "create_function",
    "curl_exec",
    "curl_init",
    "curl_multi_exec",
    "dl",
    "dns_get_record",
    "exec",
    "ffi",
    "forward_static_call",
    "forward_static_call_array",
    "fsockopen",
    "ftp_connect",
    "func_overload",
    "gethostbyname",
    "imap_open",
    "ldap_connect",
    "mail",
    "mb_send_mail",
    "mysql_connect",
    "mysqli_connect",
    "ob_start",
    "passthru",
    "pcntl_exec",
    "pcntl_fork",
    "pfsockopen",
    "pg_connect",
    "popen",
    "posix_kill",
    "posix_setuid",
    "proc_open",
    "putenv",
    "register_shutdown_function",
    "register_tick_function",
    "set_error_handler",
    "shell_exec",
    "socket_connect",
    "socket_create",
    "ssh2_connect",
    "stream_socket_client",
    "stream_socket_server",
    "syslog",
    "system",
    "unserialize",
    "virtual",
];

/// Classes that do. Sorted.
const CLASSES: &[&str] = &[
    "amqpconnection",
    "com",
    "ffi",
    "memcached",
    "mysqli",
    "pdo",
    "phar",
    "phardata",
    "redis",
    "soapclient",
    "splfileobject",
    "spltempfileobject",
];

/// Functions that call what they are given. Sorted.
const CALLBACKS: &[&str] = &[
    "array_all",
    "array_any",
    "array_filter",
    "array_find",
    "array_map",
    "array_reduce",
    "array_udiff",
    "array_uintersect",
    "array_walk",
    "array_walk_recursive",
    "iterator_apply",
    "preg_replace_callback",
    "uasort",
    "uksort",
    "usort",
];

/// Functions that compute and print. Sorted.
const HARMLESS: &[&str] = &[
    "abs",
    "addslashes",
    "array_chunk",
    "array_column",
    "array_combine",
    "array_count_values",
    "array_diff",
    "array_diff_key",
    "array_fill",
    "array_fill_keys",
    "array_flip",
    "array_intersect",
    "array_intersect_key",
    "array_is_list",
    "array_key_exists",
    "array_key_first",
    "array_key_last",
    "array_keys",
    "array_merge",
    "array_merge_recursive",
    "array_pad",
    "array_pop",
    "array_product",
    "array_push",
    "array_rand",
    "array_replace",
    "array_reverse",
    "array_search",
    "array_shift",
    "array_slice",
    "array_splice",
    "array_sum",
    "array_unique",
    "array_unshift",
    "array_values",
    "arsort",
    "asort",
    "assert",
    "base64_decode",
    "base64_encode",
    "base_convert",
    "basename",
    "bcadd",
    "bin2hex",
    "bindec",
    "boolval",
    "ceil",
    "checkdate",
    "chr",
    "chunk_split",
    "class_exists",
    "closedir",
    "compact",
    "constant",
    "cos",
    "count",
    "crc32",
    "ctype_alnum",
    "ctype_alpha",
    "ctype_digit",
    "ctype_lower",
    "ctype_punct",
    "ctype_space",
    "ctype_upper",
    "current",
    "date",
    "date_default_timezone_get",
    "date_default_timezone_set",
    "decbin",
    "dechex",
    "define",
    "defined",
    "dirname",
    "disk_free_space",
    "end",
    "error_reporting",
    "exp",
    "explode",
    "extension_loaded",
    "fclose",
    "feof",
    "fflush",
    "fgetc",
    "fgetcsv",
    "fgets",
    "file_exists",
    "filemtime",
    "filesize",
    "filter_var",
    "floatval",
    "floor",
    "fmod",
    "fprintf",
    "fputcsv",
    "fputs",
    "fread",
    "fscanf",
    "fseek",
    "fstat",
    "ftell",
    "ftruncate",
    "func_get_args",
    "function_exists",
    "fwrite",
    "gc_collect_cycles",
    "get_class",
    "get_class_methods",
    "get_debug_type",
    "get_loaded_extensions",
    "get_object_vars",
    "get_parent_class",
    "getcwd",
    "getdate",
    "getenv",
    "gethostname",
    "getmypid",
    "gettype",
    "glob",
    "gmdate",
    "hash",
    "hash_algos",
    "hash_hmac",
    "hex2bin",
    "hexdec",
    "hrtime",
    "html_entity_decode",
    "htmlentities",
    "htmlspecialchars",
    "http_build_query",
    "iconv",
    "idate",
    "implode",
    "in_array",
    "ini_get",
    "intdiv",
    "interface_exists",
    "intval",
    "ip2long",
    "is_a",
    "is_array",
    "is_bool",
    "is_callable",
    "is_countable",
    "is_dir",
    "is_file",
    "is_float",
    "is_int",
    "is_iterable",
    "is_link",
    "is_nan",
    "is_null",
    "is_numeric",
    "is_object",
    "is_readable",
    "is_resource",
    "is_string",
    "is_subclass_of",
    "is_writable",
    "iterator_count",
    "iterator_to_array",
    "join",
    "json_decode",
    "json_encode",
    "json_last_error",
    "json_last_error_msg",
    "key",
    "krsort",
    "ksort",
    "lcfirst",
    "levenshtein",
    "log",
    "ltrim",
    "max",
    "mb_convert_case",
    "mb_convert_encoding",
    "mb_internal_encoding",
    "mb_str_split",
    "mb_strlen",
    "mb_strpos",
    "mb_strtolower",
    "mb_strtoupper",
    "mb_substr",
    "md5",
    "memory_get_peak_usage",
    "memory_get_usage",
    "method_exists",
    "microtime",
    "min",
    "mktime",
    "mt_rand",
    "natsort",
    "next",
    "nl2br",
    "number_format",
    "octdec",
    "opcache_get_status",
    "opendir",
    "ord",
    "pathinfo",
    "php_sapi_name",
    "php_uname",
    "phpinfo",
    "phpversion",
    "pi",
    "pow",
    "preg_grep",
    "preg_last_error",
    "preg_match",
    "preg_match_all",
    "preg_quote",
    "preg_split",
    "prev",
    "print_r",
    "printf",
    "property_exists",
    "quotemeta",
    "rand",
    "random_bytes",
    "random_int",
    "range",
    "rawurldecode",
    "rawurlencode",
    "readdir",
    "realpath",
    "reset",
    "rewind",
    "round",
    "rsort",
    "rtrim",
    "serialize",
    "sha1",
    "shuffle",
    "similar_text",
    "sin",
    "sleep",
    "sort",
    "spl_object_id",
    "sprintf",
    "sqrt",
    "str_contains",
    "str_ends_with",
    "str_getcsv",
    "str_ireplace",
    "str_pad",
    "str_repeat",
    "str_replace",
    "str_rot13",
    "str_split",
    "str_starts_with",
    "str_word_count",
    "strcasecmp",
    "strcmp",
    "stream_get_contents",
    "strftime",
    "strip_tags",
    "stripos",
    "stripslashes",
    "strlen",
    "strnatcmp",
    "strncmp",
    "strpbrk",
    "strpos",
    "strrev",
    "strrpos",
    "strstr",
    "strtolower",
    "strtotime",
    "strtoupper",
    "strtr",
    "strval",
    "substr",
    "substr_count",
    "sys_get_temp_dir",
    "tempnam",
    "time",
    "timezone_identifiers_list",
    "token_get_all",
    "trim",
    "ucfirst",
    "ucwords",
    "uniqid",
    "urldecode",
    "urlencode",
    "usleep",
    "utf8_encode",
    "var_dump",
    "var_export",
    "version_compare",
    "vprintf",
    "vsprintf",
    "wordwrap",
    "zend_version",
];

pub(super) fn read(text: &[u8], findings: &mut Findings) {
    let Some(tokens) = scan(text) else {
        findings.unclear("PHP code that cannot be read");
        return;
    };
    Reader { tokens: &tokens, findings }.run();
}

fn scan(text: &[u8]) -> Option<Tokens<'_>> {
    let trimmed = text.trim_ascii_start();
    let body =
        trimmed.strip_prefix(b"<?php").or_else(|| trimmed.strip_prefix(b"<?=")).unwrap_or(text);
    // Outside of the tags text is printed, and a comment ends with them: such code is not read.
    if body.windows(2).any(|pair| pair == b"?>" || pair == b"<?") {
        return None;
    }
    let mut scanner = Scanner::new(body);
    while let Some(byte) = scanner.peek() {
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => scanner.skip_space(),
            b'#' if scanner.peek_at(1) != Some(b'[') => scanner.skip_line(),
            b'/' if scanner.peek_at(1) == Some(b'/') => scanner.skip_line(),
            b'/' if scanner.peek_at(1) == Some(b'*') => {
                scanner.at += 2;
                scanner.skip_past(b"*/")?;
            }
            b'\'' => {
                scanner.at += 1;
                let raw = scanner.quoted(b'\'')?;
                if raw.contains(&b'\\') {
                    let text: Vec<u8> = raw.iter().copied().filter(|byte| *byte != b'\\').collect();
                    scanner.push(Kind::Text, text);
                } else {
                    scanner.push(Kind::Text, raw);
                }
            }
            b'"' | b'`' => {
                scanner.at += 1;
                let raw = scanner.quoted(byte)?;
                if byte == b'`' {
                    scanner.push(Kind::Sign, &b"`"[..]);
                }
                double(&mut scanner, raw)?;
            }
            b'$' => {
                let start = scanner.at;
                scanner.take(|byte| byte == b'$');
                scanner.take(is_name);
                let name = scanner.slice(start..scanner.at);
                scanner.push(Kind::Number, name);
            }
            b'<' if scanner.rest().starts_with(b"<<<") => return None,
            b'0'..=b'9' => scanner.number(),
            _ if is_name(byte) => scanner.name(b""),
            _ if !byte.is_ascii_punctuation() => return None,
            _ => scanner.sign(),
        }
    }
    scanner.finish()
}

fn double<'a>(scanner: &mut Scanner<'a>, raw: &'a [u8]) -> Option<()> {
    // `{$…}` and `${…}` hold expressions; only those without a call are let pass.
    let expressions = raw.windows(2).any(|pair| pair == b"{$" || pair == b"${");
    if expressions && raw.contains(&b'(') {
        return None;
    }
    match unescape(raw, ESCAPES) {
        Some(text) if !raw.contains(&b'$') => scanner.push(Kind::Text, text),
        _ => scanner.push(Kind::Mixed, raw),
    }
    Some(())
}

struct Reader<'t, 'a, 'f> {
    tokens: &'t Tokens<'a>,
    findings: &'f mut Findings,
}

impl Reader<'_, '_, '_> {
    fn run(&mut self) {
        for index in 0..self.tokens.len() {
            match self.tokens.get(index).map(|token| (token.kind, token.text.as_ref())) {
                Some((Kind::Sign, b"`")) => {
                    self.findings.danger("`…`");
                    if let Some(command) = self.tokens.literal(index + 1) {
                        self.findings.shell(command);
                    }
                }
                Some((Kind::Name, _)) => self.name(index),
                // A function named by a text: `array_map("system", …)`
                Some((Kind::Text, text)) => {
                    let name = text.trim_ascii().to_ascii_lowercase();
                    let name = name.strip_prefix(b"\\").unwrap_or(&name);
                    if among(DANGEROUS, name) {
                        self.findings.danger(name);
                    }
                    if self.tokens.is(index + 1, b"(") {
                        self.findings.danger("a function with a computed name");
                    }
                }
                Some((Kind::Number, name))
                    if name.starts_with(b"$")
                        && self.tokens.is(index + 1, b"(")
                        && !self.is_closure(index) =>
                {
                    self.findings.unclear([name, b"()"].concat());
                }
                Some((Kind::Sign, b")" | b"]" | b"}")) if self.tokens.is(index + 1, b"(") => {
                    self.findings.unclear("a computed function");
                }
                _ => {}
            }
        }
    }

    /// `$f = fn(…) => …; $f(…)`
    fn is_closure(&self, index: usize) -> bool {
        let name = self.tokens.text(index);
        let near = (0..self.tokens.len().min(512)).filter(|at| {
            self.tokens.kind(*at) == Some(Kind::Number)
                && self.tokens.text(*at) == name
                && self.tokens.is(at + 1, b"=")
        });
        let mut any = false;
        for at in near {
            any = true;
            if !matches!(self.tokens.name(at + 2), Some(b"fn" | b"function" | b"static")) {
                return false;
            }
        }
        any && self.tokens.len() <= 512
    }

    fn name(&mut self, index: usize) {
        let lower = self.tokens.text(index).to_ascii_lowercase();
        let name = lower.as_slice();
        let open = index + 1;
        if self.tokens.follows(index, &[b"->", b"?"]) && !self.tokens.follows(index, &[b"?"]) {
            return;
        }
        let after_word = index.checked_sub(1).and_then(|before| self.tokens.name(before));
        if matches!(after_word, Some(b"function" | b"fn" | b"class" | b"namespace" | b"const")) {
            return;
        }
        if among(CLASSES, name) || name.starts_with(b"reflection") {
            self.findings.danger(name);
            return;
        }
        match name {
            b"include" | b"require" | b"include_once" | b"require_once" => self.include(index),
            b"eval" => self.findings.danger("eval"),
            _ if after_word == Some(b"new") || self.tokens.follows(index, &[b"::"]) => {}
            _ if !self.tokens.is(open, b"(") => {}
            _ if among(KEYWORDS, name) => {}
            _ if among(DANGEROUS, name) => {
                self.findings.danger(name);
                self.command(name, open);
            }
            _ if among(CALLBACKS, name) => self.callbacks(name, open),
            b"preg_replace" => self.preg_replace(open),
            b"assert" if matches!(self.tokens.kind(open + 1), Some(Kind::Text | Kind::Mixed)) => {
                self.findings.danger("assert");
            }
            _ if self.file(name, open) => {}
            _ if among(HARMLESS, name) || self.defined(name) => {}
            _ => self.findings.unclear(name),
        }
    }

    /// A function of the code itself, looked for near its beginning.
    fn defined(&self, name: &[u8]) -> bool {
        (0..self.tokens.len().min(1024)).any(|at| {
            self.tokens.is_name(at, b"function")
                && self.tokens.name(at + 1).is_some_and(|own| own.eq_ignore_ascii_case(name))
        })
    }

    fn lone(&self, range: Option<&Range<usize>>) -> Option<Vec<u8>> {
        let range = range?;
        // Literals put together with dots.
        let mut text = Vec::new();
        for (place, at) in range.clone().enumerate() {
            if place % 2 == 0 {
                text.extend_from_slice(self.tokens.literal(at)?);
            } else if !self.tokens.is(at, b".") {
                return None;
            }
        }
        Some(text)
    }

    fn include(&mut self, index: usize) {
        let at = if self.tokens.is(index + 1, b"(") { index + 2 } else { index + 1 };
        let here = self.tokens.is_name(at, b"__DIR__") && self.tokens.is(at + 1, b".");
        let at = if here { at + 2 } else { at };
        match self.tokens.literal(at).map(<[u8]>::to_vec) {
            Some(path) if path.contains(&b':') || self.tokens.is(at + 1, b".") => {
                self.findings.danger("include");
            }
            Some(path) if here => {
                let path = path.strip_prefix(b"/").unwrap_or(&path).to_vec();
                self.findings.open(&path, Access::Read);
            }
            Some(path) => self.findings.open(&path, Access::Read),
            None => self.findings.danger("include of a computed path"),
        }
    }

    fn command(&mut self, name: &[u8], open: usize) {
        let arguments = self.tokens.arguments(open);
        let Some(text) = self.lone(arguments.first()) else { return };
        if matches!(
            name,
            b"system" | b"exec" | b"shell_exec" | b"passthru" | b"popen" | b"proc_open"
        ) {
            self.findings.shell(&text);
        } else if is_url(&text) || name == b"fsockopen" {
            self.findings.connect(&text);
        }
    }

    /// What is handed to them is called: only closures and texts, which are looked at by themselves, are plain.
    fn callbacks(&mut self, name: &[u8], open: usize) {
        let arguments = self.tokens.arguments(open);
        let place = match name {
            b"array_map" => 0,
            _ => 1,
        };
        let Some(argument) = arguments.get(place) else { return };
        let closure =
            matches!(self.tokens.name(argument.start), Some(b"fn" | b"function" | b"static"));
        let text = self
            .lone(Some(argument))
            .is_some_and(|text| among(HARMLESS, &text.to_ascii_lowercase()));
        if !closure && !text {
            self.findings.unclear([name, b" with a computed function"].concat());
        }
    }

    /// Old PHP runs the replacement of `/…/e`.
    fn preg_replace(&mut self, open: usize) {
        let arguments = self.tokens.arguments(open);
        match self.lone(arguments.first()) {
            Some(pattern) => {
                let flags = pattern.iter().rev().take_while(|byte| byte.is_ascii_alphabetic());
                if flags.copied().any(|flag| flag == b'e') {
                    self.findings.danger("preg_replace with /e");
                }
            }
            None => self.findings.unclear("preg_replace with a computed pattern"),
        }
    }

    /// A function on files. Returns whether it was one.
    fn file(&mut self, name: &[u8], open: usize) -> bool {
        let arguments = self.tokens.arguments(open);
        let places: &[(usize, Access)] = match name {
            b"file_get_contents"
            | b"file"
            | b"readfile"
            | b"parse_ini_file"
            | b"scandir"
            | b"simplexml_load_file"
            | b"highlight_file"
            | b"show_source"
            | b"php_strip_whitespace"
            | b"hash_file"
            | b"md5_file"
            | b"sha1_file" => &[(0, Access::Read)],
            b"file_put_contents" | b"mkdir" | b"touch" | b"chmod" => &[(0, Access::Write)],
            b"unlink" | b"rmdir" => &[(0, Access::Delete)],
            b"rename" => &[(0, Access::Delete), (1, Access::Write)],
            b"copy" => &[(0, Access::Read), (1, Access::Write)],
            b"chdir" => &[(0, Access::Enter)],
            b"fopen" => {
                let mode = self.lone(arguments.get(1));
                if mode.is_some_and(|mode| mode.starts_with(b"r") && !mode.contains(&b'+')) {
                    &[(0, Access::Read)]
                } else {
                    &[(0, Access::Write)]
                }
            }
            _ => return false,
        };
        for (place, access) in places {
            let argument = arguments.get(*place);
            let constant = argument.is_some_and(|range| {
                range.len() == 1
                    && matches!(self.tokens.name(range.start), Some(b"STDIN" | b"__FILE__"))
            });
            match self.lone(argument) {
                _ if constant => {}
                Some(path)
                    if path.starts_with(b"php://")
                        && matches!(
                            path.get(6..),
                            Some(
                                b"stdin"
                                    | b"stdout"
                                    | b"stderr"
                                    | b"memory"
                                    | b"temp"
                                    | b"output"
                                    | b"input"
                            )
                        ) => {}
                Some(path) if path.windows(3).any(|part| part == b"://") => {
                    self.findings.danger(name);
                    self.findings.connect(&path);
                }
                Some(path) => self.findings.open(&path, *access),
                None => self.findings.unclear([name, b" of a computed path"].concat()),
            }
        }
        true
    }
}
