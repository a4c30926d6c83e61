//! Any bytes as a script: random ones, odd ones, very long ones, and every construct inside itself.

use crate::case::{Case, battery, case};

const LONG: usize = 1 << 20;
const DEEP: usize = 10_000;

pub fn cases() -> Vec<Case> {
    let mut cases = vec![
        battery("texts::random bytes", random(400, Chance::byte)),
        battery("texts::random shell", random_words(1500)),
        battery("texts::every byte", (0..=255).map(|byte| vec![byte]).collect()),
        battery("texts::every byte in a word", (0..=255).map(|byte| vec![b'e', byte, b'o', byte]).collect()),
        battery("texts::every byte in quotes", quoted_bytes()),
        battery("texts::pairs of bytes", pairs()),
        case("texts::all bytes", (0..=255).collect::<Vec<u8>>()),
        case("texts::all bytes backwards", (0..=255).rev().collect::<Vec<u8>>()),
        case("texts::invalid UTF-8", b"\xff=1; echo '\xc3\x28' \"\xf0\x9f\" $'\xed\xa0\x80' \xfe; x=\xe2\x82; echo ${#x} ${x:0:1} ${x^^}; cat <<\xff\n\xff\xfe\n\xff\n".to_vec()),
        case("texts::NUL", b"echo a\0b; e\0cho c; x='\0'; echo ${#x}\0".to_vec()),
        case("texts::NUL in output", "x=$(printf 'a\\0b'); echo ${#x}; printf 'a\\0b' | wc -c; read -d '' y < <(printf 'a\\0b'); echo $y").stdout("2\n3\na\n"),
        case("texts::empty", "").status(0),
        case("texts::only newlines", "\n".repeat(LONG)).status(0),
        case("texts::carriage returns", "echo a\r\necho b\r\n").status(0),
        case("texts::byte order mark", "\u{feff}echo a"),
        case("texts::a line of a megabyte", format!("echo {}", "word ".repeat(LONG / 5))).status(0),
        case("texts::a word of a megabyte", format!("echo {} | wc -c", "w".repeat(LONG))).stdout(format!("{}\n", LONG + 1)),
        case("texts::a comment of a megabyte", format!("#{}\necho end", "x".repeat(LONG))).stdout("end\n"),
        case("texts::a string of a megabyte", format!("x='{}'; echo ${{#x}}", "x".repeat(LONG))).stdout(format!("{LONG}\n")),
        case("texts::a name of a megabyte", format!("{0}=1; echo ${0}", "x".repeat(LONG))).stdout("1\n"),
        case("texts::a command name of a megabyte", "x".repeat(LONG)).status(127),
        case("texts::a hundred thousand commands", "true;".repeat(100_000)).status(0),
        case("texts::a hundred thousand lines", "x=1\n".repeat(100_000)).status(0),
        case("texts::a hundred thousand ands", format!("true{}", " && true".repeat(100_000))).status(0),
        case("texts::a hundred thousand stages", format!("true{}", " | true".repeat(100_000))).may_meet_limit(),
        case("texts::a hundred thousand redirects", format!("true{}", " </dev/null".repeat(100_000))).status(0),
        case("texts::a hundred thousand arguments", format!("set -- {}; echo $#", "a ".repeat(100_000))).stdout("100000\n"),
        case("texts::a hundred thousand assignments", format!("{} true", "a=1 ".repeat(100_000))).status(0),
        case("texts::a hundred thousand elements", format!("a=({}); echo ${{#a[@]}}", "x ".repeat(100_000))).stdout("100000\n"),
        case("texts::a here-document of nearly 16 MB", format!("wc -c <<X\n{}X\n", "0123456789abcde\n".repeat(LONG - 100))).stdout("16775616\n"),
        case("texts::a thousand here-documents", format!("{}\n{}", "cat <<X;".repeat(1000), "text\nX\n".repeat(1000))).status(0),
        case("texts::here-documents without end", "cat <<A <<B <<C\n"),
        case("texts::a function of a megabyte", format!("f() {{ {} }}; f; declare -f f | wc -l", "true;".repeat(LONG / 5))).status(0),
        case("texts::a case of ten thousand", format!("case x in {} *) echo end;; esac", "a) ;;".repeat(10_000))).stdout("end\n"),
        case("texts::elif ten thousand times", format!("if false; then :; {} fi", "elif false; then :;".repeat(10_000))).status(0),
        case("texts::backslashes", "\\".repeat(LONG)),
        case("texts::backslashes and newlines", "\\\n".repeat(LONG / 2)).status(0),
        case("texts::an alias that is itself", "shopt -s expand_aliases; alias a='a a'; alias b=c c=b\na\nb\n").status(127),
        case("texts::aliases that grow", grow_aliases()).may_meet_limit(),
    ];
    cases.extend(UNCLOSED.iter().map(|text| {
        case(
            format!("texts::unclosed {}", text.trim().escape_default()),
            text.repeat(LONG / text.len()),
        )
    }));
    cases.extend(NESTED.iter().map(|(open, inner, close)| {
        // Commands that run their arguments copy them each time: beyond the limit of recursion is deep enough.
        let copies = ["eval", "env", "xargs", "bash", "command", "builtin"]
            .iter()
            .any(|name| open.starts_with(name));
        let depth = if copies { DEEP / 10 + 50 } else { DEEP };
        let text = format!("{}{inner}{}", open.repeat(depth), close.repeat(depth));
        case(format!("texts::nested {}", open.trim().escape_default()), text).may_meet_limit()
    }));
    // A tree is larger than its text.
    cases.into_iter().map(|case| case.memory(320)).collect()
}

/// Openings, a megabyte of each.
const UNCLOSED: &[&str] = &[
    "(",
    "((",
    "{ ",
    "[[ ",
    "[[ ( ",
    "$(",
    "${",
    "$((",
    "$[",
    "\"",
    "'",
    "`",
    "$'",
    "$\"",
    "<(",
    ">(",
    "a=(",
    "a[",
    "if ",
    "while ",
    "until ",
    "for x in ",
    "for ((",
    "case x in ",
    "case ",
    "select ",
    "function f ",
    "f() ",
    "f(){ ",
    "!",
    "! ",
    "|",
    "||",
    "&&",
    ";",
    "&",
    "<<X ",
    "<<<",
    "<",
    ">",
    "&>",
    "{a,",
    "{",
    "}",
    ")",
    "))",
    "]]",
    "esac ",
    "done ",
    "fi ",
    "then ",
    "@(",
    "+(",
    "!(",
    "*(",
    "${a[",
    "${!",
    "${#",
    "${x:-",
    "${x/",
    "\"$(",
    "\"${",
    "`\"",
    "\\`",
    "#",
    "~",
    "*",
    "?",
    "[",
    "$",
    "time ",
    "coproc ",
    "2>&",
    "{x}>",
    "=~",
    "[[ a =~ (",
];

/// What opens, what is inside, what closes: ten thousand inside each other.
const NESTED: &[(&str, &str, &str)] = &[
    ("(", "true", ")"),
    ("{ ", "true; ", "}; "),
    ("echo $(", "true", ")"),
    ("echo \"$(", "true", ")\""),
    ("echo ${x:-", "y", "}"),
    ("echo \"${x:-", "y", "}\""),
    ("echo $((", "1", "))"),
    ("((", "1", "))"),
    ("x=$((1+(", "1", ")))"),
    ("[[ ( ", "a", " ) ]]"),
    ("if true; then ", "true; ", "fi; "),
    ("if ", "true", "; then true; fi"),
    ("while false; do ", "true; ", "done; "),
    ("for x in a; do ", "true; ", "done; "),
    ("case x in x) ", "true", ";; esac"),
    ("f() { ", "true; ", "}; "),
    ("cat <(", "true", ")"),
    ("! ", "true", ""),
    ("time ", "true", ""),
    ("echo {a,", "b", "}"),
    ("echo @(a|", "b", ")"),
    ("a[", "0", "]=1"),
    ("echo ${a[", "0", "]}"),
    ("until true; do ", "true; ", "done; "),
    ("true && (", "true", ")"),
    ("(true) | (", "true", ")"),
    ("eval ", "true", ""),
    ("command ", "true", ""),
    ("builtin ", "true", ""),
    ("env ", "true", ""),
    ("exec ", "true", ""),
    ("xargs ", "true", ""),
    ("bash -c bash ", "true", ""),
];

/// The same as texts that are evaluated while the script runs.
fn grow_aliases() -> String {
    let mut text = String::from("shopt -s expand_aliases\nalias a0='echo x '\n");
    for number in 1..30 {
        text += &format!("alias a{number}='a{0} a{0} '\n", number - 1);
    }
    text + "a29\n"
}

fn quoted_bytes() -> Vec<Vec<u8>> {
    let mut scripts = Vec::new();
    for byte in 0..=255_u8 {
        for (open, close) in [
            (&b"echo '"[..], &b"'"[..]),
            (b"echo \"", b"\""),
            (b"echo $'\\", b"'"),
            (b"echo ${x", b"}"),
            (b"echo $((", b"))"),
        ] {
            scripts.push([open, &[byte], close].concat());
        }
    }
    scripts
}

fn pairs() -> Vec<Vec<u8>> {
    let special = b" \t\n\"#$%&'()*+,-./0:;<=>?@A[\\]^_`a{|}~!\0\xff";
    let mut scripts = Vec::new();
    for &one in special {
        for &other in special {
            scripts.push(vec![one, other]);
            scripts.push(vec![b'a', one, other, b'b']);
        }
    }
    scripts
}

/// xorshift64*: the same every time.
pub struct Chance(pub u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33
    }

    fn below(&mut self, bound: usize) -> usize {
        self.next() as usize % bound
    }

    fn byte(&mut self) -> u8 {
        self.next() as u8
    }
}

fn random(count: u64, mut byte: impl FnMut(&mut Chance) -> u8) -> Vec<Vec<u8>> {
    (1..=count)
        .map(|seed| {
            let mut chance = Chance(seed);
            let length = chance.below(300);
            (0..length).map(|_| byte(&mut chance)).collect()
        })
        .collect()
}

/// Pieces of shell in any order: closer to what a parser half understands.
fn random_words(count: u64) -> Vec<Vec<u8>> {
    const PIECES: &[&str] = &[
        "echo",
        " ",
        " ",
        " ",
        "x",
        "$x",
        "${x}",
        "${x",
        "}",
        "{",
        "(",
        ")",
        "((",
        "))",
        "[[",
        "]]",
        " ]] ",
        "if ",
        "then ",
        "fi",
        ";",
        "\n",
        "|",
        "&&",
        "||",
        "&",
        "\"",
        "'",
        "`",
        "\\",
        "$(",
        "$((",
        "<",
        ">",
        ">>",
        "<<X\n",
        "X\n",
        "<<<",
        "<(",
        "=",
        "+=",
        "a=(",
        "a[1]=",
        "*",
        "?",
        "[a-z]",
        "~",
        "#",
        "!",
        "case x in",
        "esac",
        ";;",
        "for ",
        "in ",
        "do ",
        "done",
        "while ",
        "f()",
        "function ",
        "1",
        "0x",
        "9223372036854775807",
        "-",
        "--",
        "+",
        "/",
        "%",
        "^",
        ",",
        ":",
        "@",
        "${#x}",
        "${x:1}",
        "${x//a/b}",
        "${!x}",
        "$@",
        "$*",
        "$?",
        "$'\\n'",
        "{a,b}",
        "{1..3}",
        "time ",
        "coproc ",
        "select ",
        "until ",
        "local ",
        "declare -A ",
        "unset ",
        "eval ",
        "test ",
        "[ ",
        " ]",
        "printf ",
        "read ",
        "\u{e9}",
        "=~",
        "@(",
        "!(",
        "2>&1",
        ">&",
        "<&-",
        "&>",
    ];
    (1..=count)
        .map(|seed| {
            let mut chance = Chance(seed * 7919);
            let length = chance.below(25);
            (0..length)
                .flat_map(|_| {
                    PIECES.get(chance.below(PIECES.len())).copied().unwrap_or_default().bytes()
                })
                .collect()
        })
        .collect()
}
