//! The strict grammar of S1: one command of plain and quoted words. Whatever a shell would do more than that is refused.
//!
//! Quotes and backslashes mean what they mean in bash, so that a person who reads the command knows what runs.

/// One word of a command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Word {
    pub text: String,
    /// Where the text has a backslash and an `n` that were written between double quotes.
    breaks: Vec<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Problem {
    /// A quote without end, a backslash before nothing.
    Syntax,
    Operators,
    Empty,
}

/// Words that begin a compound command, or negate one.
const RESERVED: &[&str] = &[
    "!", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for",
    "function", "if", "select", "then", "until", "while", "{", "}",
];

/// Takes a command apart; the first word is its name.
pub(super) fn split(command: &str) -> Result<Vec<Word>, Problem> {
    let mut scanner = Scanner { rest: command, words: Vec::new(), draft: None, operators: false };
    scanner.run()?;
    // Only now: a quote without end is the graver mistake.
    if scanner.operators {
        return Err(Problem::Operators);
    }
    match scanner.words.first() {
        Some(name) if !name.text.is_empty() => Ok(scanner.words),
        _ => Err(Problem::Empty),
    }
}

impl Word {
    /// A real line break wherever `\n` was written between double quotes: what `"line 1\nline 2"` is meant to be
    /// when the command came in without its line breaks.
    pub(super) fn with_line_breaks(&self) -> String {
        self.broken_where(|_| true)
    }

    /// The same, but only outside single quotes within the text, where code has strings of its own.
    pub(super) fn with_line_breaks_between_strings(&self) -> String {
        self.broken_where(|before| before.matches('\'').count() % 2 == 0)
    }

    fn broken_where(&self, accept: impl Fn(&str) -> bool) -> String {
        let mut text = String::new();
        let mut copied = 0;
        for &at in &self.breaks {
            let before = self.text.get(..at).unwrap_or_default();
            if accept(before) {
                text.push_str(self.text.get(copied..at).unwrap_or_default());
                text.push('\n');
                copied = at + 2;
            }
        }
        text.push_str(self.text.get(copied..).unwrap_or_default());
        text
    }
}

/// A word that is being read.
#[derive(Default)]
struct Draft {
    word: Word,
    /// The same without what was quoted: a quoted character stands here as NUL, which no text has.
    shape: String,
}

impl Draft {
    fn push_plain(&mut self, character: char) {
        self.word.text.push(character);
        self.shape.push(character);
    }

    fn push_quoted(&mut self, character: char) {
        self.word.text.push(character);
        self.shape.push('\0');
    }
}

struct Scanner<'a> {
    rest: &'a str,
    words: Vec<Word>,
    draft: Option<Draft>,
    operators: bool,
}

impl Scanner<'_> {
    fn next(&mut self) -> Option<char> {
        let mut characters = self.rest.chars();
        let character = characters.next()?;
        self.rest = characters.as_str();
        Some(character)
    }

    fn draft(&mut self) -> &mut Draft {
        self.draft.get_or_insert_default()
    }

    fn run(&mut self) -> Result<(), Problem> {
        while let Some(character) = self.next() {
            match character {
                '\'' => self.single_quotes()?,
                '"' => self.double_quotes()?,
                '\\' => self.backslash()?,
                ' ' | '\t' => self.end_word(),
                '\n' => self.end_line(),
                '\r' if self.rest.is_empty() || self.rest.starts_with('\n') => {}
                '|' | '&' | ';' | '<' | '>' | '(' | ')' | '$' | '`' | '*' | '?' | '[' => {
                    self.operators = true;
                    self.draft().push_plain(character);
                }
                _ if character.is_control() => return Err(Problem::Syntax),
                _ => self.draft().push_plain(character),
            }
        }
        self.end_word();
        Ok(())
    }

    /// A line may end, but nothing may follow it; before the command it is nothing.
    fn end_line(&mut self) {
        self.end_word();
        if !self.words.is_empty() && !self.rest.trim().is_empty() {
            self.operators = true;
        }
    }

    fn single_quotes(&mut self) -> Result<(), Problem> {
        self.draft().shape.push('\0');
        loop {
            match self.next() {
                None | Some('\0') => return Err(Problem::Syntax),
                Some('\'') => return Ok(()),
                Some(character) => self.draft().push_quoted(character),
            }
        }
    }

    fn double_quotes(&mut self) -> Result<(), Problem> {
        self.draft().shape.push('\0');
        loop {
            match self.next() {
                None | Some('\0') => return Err(Problem::Syntax),
                Some('"') => return Ok(()),
                Some(character @ ('$' | '`')) => {
                    self.operators = true;
                    self.draft().push_quoted(character);
                }
                Some('\\') => self.backslash_in_quotes()?,
                Some(character) => self.draft().push_quoted(character),
            }
        }
    }

    fn backslash_in_quotes(&mut self) -> Result<(), Problem> {
        match self.next() {
            None | Some('\0') => Err(Problem::Syntax),
            Some('\n') => Ok(()),
            Some(character @ ('$' | '`' | '"' | '\\')) => {
                self.draft().push_quoted(character);
                Ok(())
            }
            Some(character) => {
                let draft = self.draft();
                if character == 'n' {
                    draft.word.breaks.push(draft.word.text.len());
                }
                draft.push_quoted('\\');
                draft.push_quoted(character);
                Ok(())
            }
        }
    }

    fn backslash(&mut self) -> Result<(), Problem> {
        match self.next() {
            None | Some('\0') => Err(Problem::Syntax),
            // The command goes on in the next line.
            Some('\n') => Ok(()),
            Some(character) => {
                self.draft().push_quoted(character);
                Ok(())
            }
        }
    }

    fn end_word(&mut self) {
        let Some(draft) = self.draft.take() else { return };
        let first = self.words.is_empty();
        if is_expansion(&draft.shape) || (first && is_syntax(&draft.shape)) {
            self.operators = true;
        }
        self.words.push(draft.word);
    }
}

/// A comment, a tilde, braces that would become several words.
fn is_expansion(shape: &str) -> bool {
    shape.starts_with(['#', '~'])
        || has_tilde_in_value(shape)
        || matches!(shape, "{" | "}")
        || has_brace_expansion(shape)
}

/// `name=~/x`, `name=a:~/x`: bash expands these for every command.
fn has_tilde_in_value(shape: &str) -> bool {
    let value = shape.split_once('=').map(|(_, value)| value);
    value.is_some_and(|value| value.starts_with('~') || value.contains(":~"))
}

fn has_brace_expansion(shape: &str) -> bool {
    let Some((_, inner)) = shape.split_once('{') else { return false };
    let Some((inner, _)) = inner.rsplit_once('}') else { return false };
    inner.contains(',') || inner.contains("..")
}

/// What is no command where a command must be: a reserved word, an assignment.
fn is_syntax(shape: &str) -> bool {
    if RESERVED.contains(&shape) {
        return true;
    }
    let Some((name, _)) = shape.split_once('=') else { return false };
    let name = name.strip_suffix('+').unwrap_or(name);
    let mut characters = name.chars();
    characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && characters.all(|next| next.is_ascii_alphanumeric() || next == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(command: &str) -> Result<Vec<String>, Problem> {
        Ok(split(command)?.into_iter().map(|word| word.text).collect())
    }

    #[test]
    fn words_are_those_of_bash() {
        let cases: [(&str, &[&str]); 22] = [
            ("ls -la", &["ls", "-la"]),
            ("  ls\t-la  \n", &["ls", "-la"]),
            ("\nls\r\n", &["ls"]),
            ("find . -name \"*.test.js\"", &["find", ".", "-name", "*.test.js"]),
            ("grep '$HOME * `x` | ; &' f", &["grep", "$HOME * `x` | ; &", "f"]),
            (r#"echo a\ b "c\"d" 'e'\''f'"#, &["echo", "a b", "c\"d", "e'f"]),
            (r#"echo "\$HOME \` \\ \x""#, &["echo", r"$HOME ` \ \x"]),
            ("echo '' \"\"", &["echo", "", ""]),
            ("echo a'b'\"c\"d", &["echo", "abcd"]),
            ("echo \"line 1\nline 2\"", &["echo", "line 1\nline 2"]),
            ("git diff HEAD~1 HEAD@{1}", &["git", "diff", "HEAD~1", "HEAD@{1}"]),
            (r"find . -exec rm {} \;", &["find", ".", "-exec", "rm", "{}", ";"]),
            (r"find . \( -name a \)", &["find", ".", "(", "-name", "a", ")"]),
            ("echo a#b a~ x=y a:~ ] }x", &["echo", "a#b", "a~", "x=y", "a:~", "]", "}x"]),
            ("echo '#' \"~\" \\~ \\#", &["echo", "#", "~", "~", "#"]),
            ("echo if", &["echo", "if"]),
            ("'if' x", &["if", "x"]),
            ("'A'=b x", &["A=b", "x"]),
            ("make \\\n  all", &["make", "all"]),
            ("echo \"a \\\nb\"", &["echo", "a b"]),
            ("echo ü ! a!b", &["echo", "ü", "!", "a!b"]),
            ("echo '{a,b}' \"{1..3}\" {a", &["echo", "{a,b}", "{1..3}", "{a"]),
        ];
        for (command, expected) in cases {
            assert_eq!(texts(command).expect(command), expected, "{command}");
        }
    }

    #[test]
    fn everything_else_is_an_operator() {
        let cases = [
            "a|b",
            "a | b",
            "a && b",
            "a || b",
            "a;b",
            "a &",
            "a & b",
            "a > f",
            "a>>f",
            "a < f",
            "a 2>&1",
            "a << EOF",
            "a <<< x",
            "a <(b)",
            "(a)",
            "a (",
            "{ a; }",
            "{ a }",
            "echo {a,b}",
            "echo {1..3}",
            "echo x{a,b}y",
            "$a",
            "echo $HOME",
            "echo ${HOME}",
            "echo $(date)",
            "echo `date`",
            "echo \"$HOME\"",
            "echo \"`date`\"",
            "echo \"$(date)\"",
            "echo $'x'",
            "ls *.txt",
            "ls a?",
            "ls [ab]",
            "echo a\nb",
            "a\nb",
            "ls ~",
            "ls ~/x",
            "ls ~root",
            "echo a=~",
            "echo a=b:~/c",
            "ls # comment",
            "#",
            "A=b ls",
            "A+=b ls",
            "A= ls",
            "A=b",
            "! ls",
            "if x",
            "while true",
            "function f",
            "[[ a ]]",
            "[ -f x ]",
            "((1))",
            "a=(1 2)",
            "coproc x",
        ];
        for command in cases {
            assert_eq!(texts(command), Err(Problem::Operators), "{command}");
        }
    }

    #[test]
    fn what_has_no_end_is_no_syntax() {
        for command in [
            "echo \"x",
            "echo 'x",
            "echo x\\",
            "a | 'b",
            "echo \"x\\",
            "a\0b",
            "'a\0b'",
            "\x1b[0m ls",
        ] {
            assert_eq!(texts(command), Err(Problem::Syntax), "{command:?}");
        }
    }

    #[test]
    fn nothing_is_nothing() {
        for command in ["", "  ", "\n", "''", "\"\" x"] {
            assert_eq!(texts(command), Err(Problem::Empty), "{command:?}");
        }
    }

    #[test]
    fn written_line_breaks_can_become_real_ones() {
        let words = split(r#"x "a\nb" 'a\nb' "a\\nb" "p('a\nb')\nq""#).expect("words");
        let broken: Vec<String> = words.iter().map(Word::with_line_breaks).collect();
        assert_eq!(broken, ["x", "a\nb", r"a\nb", r"a\nb", "p('a\nb')\nq"]);
        let last = words.last().expect("a word").with_line_breaks_between_strings();
        assert_eq!(last, "p('a\\nb')\nq");
    }

    /// Whatever is accepted means in bash exactly the words that were read. The alphabet holds everything that means
    /// something to a shell, and no letters that could name a program.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "bash is the oracle")]
    fn bash_agrees_on_every_accepted_text() {
        const ALPHABET: &[u8] = b"aan  ''\"\"\\\\{},.~#!=[]^%@+-:/$*?|&;<>()`\t\n";
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        let mut random = move |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state % below as u64) as usize
        };
        let (mut script, mut expected, mut accepted) = (String::new(), String::new(), 0);
        for _ in 0..200_000 {
            let length = 1 + random(9);
            let text: String =
                (0..length).map(|_| char::from(ALPHABET[random(ALPHABET.len())])).collect();
            let text = format!("x {text}");
            let Ok(words) = split(&text) else { continue };
            accepted += 1;
            // The name alone is nothing that `printf` could repeat.
            script.push_str(&format!("printf '<%s>' {text}\necho\n"));
            expected.extend(words.iter().map(|word| format!("<{}>", word.text)));
            expected.push('\n');
        }
        assert!(accepted > 5_000, "{accepted}");
        let directory = std::env::temp_dir().join(format!("exacta-words-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a directory");
        let mut bash = std::process::Command::new("bash")
            .args(["--norc", "--noprofile", "-s"])
            .current_dir(&directory)
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("bash");
        let mut input = bash.stdin.take().expect("a pipe");
        let writer = std::thread::spawn(move || {
            std::io::Write::write_all(&mut input, script.as_bytes()).expect("bash reads");
        });
        let output = bash.wait_with_output().expect("bash ends");
        writer.join().expect("all was written");
        std::fs::remove_dir(&directory).expect("still empty");
        let found = String::from_utf8_lossy(&output.stdout);
        for (found, expected) in found.lines().zip(expected.lines()) {
            assert_eq!(found, expected);
        }
        assert_eq!(found.len(), expected.len());
    }
}
