//! Languages that nobody has written a reader for: only statements that are known word by word are harmless, and
//! those that print what they compute of numbers and texts, with names that mean nothing else in any language.

use super::findings::Findings;

/// What people ask a package manager of the project, and versions. Sorted.
const KNOWN: &[&[u8]] = &[
    b"Pkg.build()",
    b"Pkg.instantiate()",
    b"Pkg.precompile()",
    b"Pkg.resolve()",
    b"Pkg.status()",
    b"Pkg.test()",
    b"exit",
    b"exit()",
    b"halt",
    b"import LinearAlgebra",
    b"import Pkg",
    b"import Statistics",
    b"print(VERSION)",
    b"println(VERSION)",
    b"println(scala.util.Properties.versionString)",
    b"println(util.Properties.versionString)",
    b"puts Crystal::VERSION",
    b"run_tests",
    b"using Dates",
    b"using LinearAlgebra",
    b"using Pkg",
    b"using Printf",
    b"using Random",
    b"using Statistics",
    b"versioninfo()",
];

pub(super) fn read(text: &[u8], findings: &mut Findings) {
    let mut statements = text
        .split(|byte| matches!(byte, b';' | b'\n'))
        .map(<[u8]>::trim_ascii)
        .filter(|statement| !statement.is_empty())
        .peekable();
    let something = statements.peek().is_some();
    let included = text.starts_with(b"include(\"") || text.windows(7).any(|it| it == b"using .");
    let known = statements
        .all(|it| KNOWN.binary_search(&it).is_ok() || prints(it) || project(it, included));
    if !something || (!known && !prints(text) && !project(text, included)) {
        findings.unclear("a language that cannot be read");
    }
}

/// Names that print, compute, end, or tell which version this is. Sorted.
const PLAIN: &[&[u8]] = &[
    b"Bool",
    b"Char",
    b"Date",
    b"DateTime",
    b"Double",
    b"Enum",
    b"Float",
    b"IO",
    b"Int",
    b"Int64",
    b"Integer",
    b"Keyword",
    b"List",
    b"Map",
    b"MapSet",
    b"Math",
    b"Range",
    b"Regex",
    b"Set",
    b"String",
    b"System",
    b"Tuple",
    b"UTC",
    b"VERSION",
    b"Vector",
    b"abs",
    b"all",
    b"any",
    b"append",
    b"asc",
    b"at",
    b"average",
    b"avg",
    b"capitalize",
    b"ceil",
    b"chars",
    b"chunk",
    b"chunk_every",
    b"concat",
    b"cons",
    b"contains",
    b"cos",
    b"count",
    b"cumsum",
    b"cycle",
    b"dec",
    b"dedup",
    b"desc",
    b"diff",
    b"digits",
    b"disp",
    b"display",
    b"distinct",
    b"div",
    b"divrem",
    b"do",
    b"downcase",
    b"drop",
    b"dropWhile",
    b"each",
    b"elem",
    b"else",
    b"empty",
    b"end",
    b"enumFrom",
    b"erlang",
    b"even",
    b"exit",
    b"exp",
    b"false",
    b"filter",
    b"first",
    b"flatMap",
    b"flat_map",
    b"flatten",
    b"float",
    b"floor",
    b"fn",
    b"foldl",
    b"foldr",
    b"for",
    b"forEach",
    b"format",
    b"frequencies",
    b"fromIntegral",
    b"fst",
    b"fun",
    b"fwrite",
    b"gcd",
    b"gcdx",
    b"groupBy",
    b"group_by",
    b"halt",
    b"hcat",
    b"head",
    b"hypot",
    b"if",
    b"in",
    b"inc",
    b"indexOf",
    b"info",
    b"init",
    b"insert",
    b"inspect",
    b"int",
    b"intersperse",
    b"io",
    b"isEmpty",
    b"iseven",
    b"isodd",
    b"isprime",
    b"iterate",
    b"join",
    b"joinToString",
    b"keys",
    b"last",
    b"lcm",
    b"length",
    b"let",
    b"lines",
    b"linspace",
    b"listOf",
    b"lists",
    b"log",
    b"lower",
    b"lowercase",
    b"magic",
    b"map",
    b"mapM_",
    b"max",
    b"maximum",
    b"mean",
    b"median",
    b"member",
    b"min",
    b"minimum",
    b"minmax",
    b"mkString",
    b"mod",
    b"negate",
    b"new",
    b"newline",
    b"nil",
    b"not",
    b"now",
    b"nub",
    b"null",
    b"odd",
    b"of",
    b"ones",
    b"or",
    b"otherwise",
    b"otp_release",
    b"partition",
    b"pi",
    b"pow",
    b"print",
    b"printf",
    b"println",
    b"prod",
    b"product",
    b"putStr",
    b"putStrLn",
    b"puts",
    b"quit",
    b"quot",
    b"rand",
    b"range",
    b"rationalize",
    b"reduce",
    b"rem",
    b"repeat",
    b"replicate",
    b"rev",
    b"reverse",
    b"rjust",
    b"round",
    b"say",
    b"scan",
    b"scanl",
    b"seq",
    b"show",
    b"shuffle",
    b"sin",
    b"size",
    b"snd",
    b"sort",
    b"sortBy",
    b"sort_by",
    b"sorted",
    b"split",
    b"splitAt",
    b"sqr",
    b"sqrt",
    b"std",
    b"stop",
    b"string",
    b"strip",
    b"sum",
    b"sumBy",
    b"sumOf",
    b"swap",
    b"system_info",
    b"tail",
    b"take",
    b"takeWhile",
    b"tan",
    b"then",
    b"to",
    b"toInt",
    b"toList",
    b"toLower",
    b"toString",
    b"toUpper",
    b"to_charlist",
    b"to_integer",
    b"to_list",
    b"to_string",
    b"today",
    b"transpose",
    b"trim",
    b"true",
    b"trunc",
    b"tuple",
    b"typeof",
    b"uniq",
    b"uniq_by",
    b"unique",
    b"unlines",
    b"until",
    b"unwords",
    b"unzip",
    b"upcase",
    b"upper",
    b"uppercase",
    b"utc_now",
    b"val",
    b"values",
    b"var",
    b"vcat",
    b"version",
    b"when",
    b"where",
    b"with_index",
    b"words",
    b"write",
    b"writeln",
    b"yes",
    b"zeros",
    b"zip",
    b"zipWith",
    b"zip_with",
];

/// Numbers, texts without anything inside them that is evaluated, signs, and plain names.
fn prints(text: &[u8]) -> bool {
    reads_plainly(text, |name| PLAIN.binary_search(&name).is_ok())
}

fn reads_plainly(text: &[u8], plain: impl Fn(&[u8]) -> bool) -> bool {
    let mut rest = text;
    while let Some((first, more)) = rest.split_first() {
        match first {
            b'"' | b'\'' => {
                let Some(end) = more.iter().position(|byte| byte == first) else { return false };
                let (inner, after) = more.split_at(end);
                if inner.iter().any(|byte| b"$`{\\|!@%/".contains(byte)) && !is_format(inner) {
                    return false;
                }
                rest = after.get(1..).unwrap_or_default();
            }
            // `~w(a b c)`: words of Elixir.
            b'~' if more.starts_with(b"w(") => {
                let Some(end) = more.iter().position(|byte| *byte == b')') else { return false };
                let (inner, after) = more.split_at(end);
                let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b" _-".contains(byte);
                if !inner.iter().skip(2).all(plain) {
                    return false;
                }
                rest = after.get(1..).unwrap_or_default();
            }
            _ if first.is_ascii_alphabetic() || *first == b'_' => {
                let named = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
                let end = rest.iter().position(|byte| !named(byte)).unwrap_or(rest.len());
                let (name, after) = rest.split_at(end);
                // A letter is a variable, unless it is called.
                let variable = name.len() == 1 && !after.starts_with(b"(");
                if !variable && !plain(name) {
                    return false;
                }
                rest = after;
            }
            _ if first.is_ascii_digit() || first.is_ascii_whitespace() => rest = more,
            b'+' | b'-' | b'*' | b'/' | b'(' | b')' | b'[' | b']' | b',' | b';' | b'.' | b':'
            | b'^' | b'=' | b'<' | b'>' | b'|' | b'&' | b'{' | b'}' => rest = more,
            // `%x{…}` runs a command in some of them.
            b'%' if !more.first().is_some_and(u8::is_ascii_alphabetic) => rest = more,
            _ => return false,
        }
    }
    true
}

/// Parts of names that reach out of the code, in whatever language. Sorted.
const REACHING: &[&[u8]] = &[
    b"accept",
    b"addprocs",
    b"application",
    b"apply",
    b"asm",
    b"base",
    b"bash",
    b"bind",
    b"call",
    b"ccall",
    b"chdir",
    b"chmod",
    b"chown",
    b"cmd",
    b"code",
    b"command",
    b"compile",
    b"connect",
    b"consult",
    b"copy",
    b"copyfile",
    b"core",
    b"cp",
    b"create",
    b"curl",
    b"delete",
    b"deletefile",
    b"dir",
    b"directory",
    b"distributed",
    b"dl",
    b"dlopen",
    b"dos",
    b"download",
    b"downloads",
    b"dynamic",
    b"env",
    b"erl",
    b"eval",
    b"evalc",
    b"evalin",
    b"exec",
    b"execl",
    b"execlp",
    b"execute",
    b"execv",
    b"execve",
    b"execvp",
    b"export",
    b"extern",
    b"feval",
    b"ffi",
    b"file",
    b"fopen",
    b"foreign",
    b"fork",
    b"ftp",
    b"gen",
    b"get",
    b"getenv",
    b"home",
    b"homedir",
    b"http",
    b"httpc",
    b"https",
    b"import",
    b"include",
    b"inet",
    b"inets",
    b"install",
    b"java",
    b"jvm",
    b"kill",
    b"libc",
    b"libdl",
    b"link",
    b"listen",
    b"load",
    b"mail",
    b"meta",
    b"mex",
    b"mkdir",
    b"module",
    b"move",
    b"movefile",
    b"mv",
    b"native",
    b"needs",
    b"net",
    b"node",
    b"open",
    b"os",
    b"path",
    b"perform",
    b"perl",
    b"pipe",
    b"pipeline",
    b"pkg",
    b"pointer",
    b"popen",
    b"popen2",
    b"port",
    b"posix",
    b"process",
    b"program",
    b"ptr",
    b"python",
    b"ql",
    b"qqx",
    b"quicklisp",
    b"qx",
    b"read",
    b"readfile",
    b"reflect",
    b"remote",
    b"remove",
    b"rename",
    b"require",
    b"rm",
    b"rmdir",
    b"rmtree",
    b"rpc",
    b"runprogram",
    b"runtime",
    b"sh",
    b"shell",
    b"slave",
    b"slurp",
    b"smtp",
    b"sock",
    b"socket",
    b"sockets",
    b"source",
    b"spawn",
    b"spurt",
    b"ssh",
    b"ssl",
    b"start",
    b"symlink",
    b"sys",
    b"system",
    b"tcp",
    b"telnet",
    b"temp",
    b"touch",
    b"truncate",
    b"udp",
    b"uiop",
    b"unix",
    b"unlink",
    b"unsafe",
    b"uri",
    b"url",
    b"urlread",
    b"urlwrite",
    b"use",
    b"webread",
    b"websave",
    b"wget",
    b"write",
    b"writefile",
];

/// `include("src/Poly.jl")`, `using .Poly`, `Parser.kv "a"`: functions of the project's own modules, by names of which
/// no part reaches out in any language.
fn project(text: &[u8], included: bool) -> bool {
    let inside = text
        .strip_prefix(b"include(\"")
        .and_then(|rest| rest.strip_suffix(b"\")"))
        .is_some_and(|path| !path.contains(&b'"') && super::values::is_inside(path));
    let own = text.strip_prefix(b"using .").or_else(|| text.strip_prefix(b"import ."));
    if own.is_some_and(|name| name.iter().all(u8::is_ascii_alphanumeric)) {
        return true;
    }
    let text = ["@assert ", "@test ", "@show "]
        .iter()
        .find_map(|sign| text.strip_prefix(sign.as_bytes()))
        .unwrap_or(text);
    // A name alone may be that of anything.
    let of_module = |part: &[u8]| matches!(part, [before, b'.' | b':', after] if before.is_ascii_alphanumeric() && after.is_ascii_alphabetic());
    let called = included || text.windows(3).any(of_module);
    inside
        || called
            && reads_plainly(text, |name| {
                let reaching = |part: &[u8]| REACHING.binary_search(&part).is_ok();
                let small = name.to_ascii_lowercase();
                small != b"run"
                    && !reaching(&small)
                    && !parts(name).iter().any(|part| reaching(part))
            })
}

/// `readFile`, `read_file`: `read` and `file`.
fn parts(name: &[u8]) -> Vec<Vec<u8>> {
    let mut parts = vec![Vec::new()];
    let mut small = false;
    for byte in name {
        if *byte == b'_' || (byte.is_ascii_uppercase() && small) {
            parts.push(Vec::new());
        }
        small = byte.is_ascii_lowercase();
        if *byte != b'_'
            && let Some(last) = parts.last_mut()
        {
            last.push(byte.to_ascii_lowercase());
        }
    }
    parts
}

/// `~s~n`, `%d\n`: where values go in a text that is printed.
fn is_format(text: &[u8]) -> bool {
    let mut rest = text.iter();
    while let Some(byte) = rest.next() {
        let plain = match byte {
            b'~' | b'%' => rest.next().is_some_and(|next| b"spdnwWiefgu%~".contains(next)),
            b'\\' => rest.next().is_some_and(|next| b"nt".contains(next)),
            byte => !b"$`{|!@/".contains(byte),
        };
        if !plain {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Level;

    #[test]
    fn what_is_known_word_by_word() {
        assert!(KNOWN.is_sorted());
        let level = |text: &str| {
            let mut findings = Findings::default();
            read(text.as_bytes(), &mut findings);
            findings.level()
        };
        assert_eq!(level("using Pkg; Pkg.test()"), Level::Harmless);
        assert_eq!(level("using Pkg; Pkg.add(\"x\")"), Level::Unclear);
        assert_eq!(level("run(`x`)"), Level::Unclear);
        assert_eq!(level(""), Level::Unclear);
    }

    #[test]
    fn what_is_the_project_s() {
        assert!(REACHING.is_sorted());
        for text in [
            "include(\"src/Poly.jl\")",
            "using .Poly",
            "@assert horner([1,2,3], 2) == 17",
            "Parser.kv \"a = b\"",
            "eunit:test(fib), init:stop().",
        ] {
            assert!(project(text.as_bytes(), true), "{text}");
        }
        for text in [
            "include(\"/tmp/x.jl\")",
            "id",
            "Run[x]",
            "readFile x",
            "os:cmd(x)",
            "Sys.command x",
            "Unix.execv x y",
            "Mix.install([a])",
            "run(`x`)",
            "urlread(x)",
        ] {
            assert!(!project(text.as_bytes(), false), "{text}");
        }
    }

    #[test]
    fn what_prints_is_plain() {
        assert!(PLAIN.is_sorted());
        for text in [
            "println(sum(1:100))",
            "IO.puts(System.version())",
            "disp(magic(3))",
            "io:format(\"~s~n\",[erlang:system_info(otp_release)]), halt().",
            "2 3 + p",
            "IO.inspect(Enum.frequencies(~w(a b a)))",
            "sum (map fromIntegral [1..100 :: Int]) :: Integer",
            "1..10 |> Enum.map(&(&1 * 2)) |> Enum.sum() |> IO.puts()",
            "println((1 to 10).map(x => x * x).sum)",
        ] {
            assert!(prints(text.as_bytes()), "{text}");
        }
        for text in [
            "!id",
            "System.cmd(\"id\", [])",
            "os:cmd(\"id\")",
            "\"id\".execute()",
            "print(\"${run()}\")",
            "puts \"#{`id`}\"",
            "run(`id`)",
            "system(1)",
            "open(\"|id\")",
            "Enum.map([1], &System.cmd/2)",
            "readFile x",
            "~w(a #{x})",
            "~s(id)",
            "Code.eval_string(x)",
            "puts %x{ls}",
        ] {
            assert!(!prints(text.as_bytes()), "{text}");
        }
    }
}
