//! The words of a tier 1 command by its table: every flag known, every number a number, nothing missing.

use super::table::{self, Command, Needs, Operands, Value};

/// What a command would open, as it is written.
pub(super) type Paths = Vec<String>;

/// Checks the words of a tier 1 command. `None`: it is not one. An error is S1's text.
pub(super) fn check(words: &[String]) -> Option<Result<Paths, String>> {
    let (name, rest) = words.split_first()?;
    if name == "git" {
        return Some(check_git(rest));
    }
    let command = table::find(name)?;
    Some(Reader::new(command, rest).read())
}

fn check_git(mut words: &[String]) -> Result<Paths, String> {
    while let Some((word, rest)) = words.split_first() {
        words = rest;
        if table::GIT_GLOBAL.contains(&word.as_str()) {
            continue;
        }
        if word.starts_with('-') {
            return Err(unknown(word.split('=').next().unwrap_or(word)));
        }
        let command =
            table::find_git(word).ok_or_else(|| format!("Git subcommand not allowed: {word}"))?;
        return Reader::new(command, words).read();
    }
    Err("git requires subcommand".to_owned())
}

fn unknown(flag: &str) -> String {
    format!("Unknown flag: {flag}")
}

struct Reader<'a> {
    command: &'static Command,
    rest: &'a [String],
    operands: Vec<String>,
    /// Values of flags that are paths.
    paths: Paths,
    /// A flag has given the pattern.
    pattern: bool,
}

impl<'a> Reader<'a> {
    fn new(command: &'static Command, rest: &'a [String]) -> Self {
        Reader { command, rest, operands: Vec::new(), paths: Vec::new(), pattern: false }
    }

    fn next(&mut self) -> Option<&'a String> {
        let (word, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(word)
    }

    fn read(mut self) -> Result<Paths, String> {
        if self.command.operands == Operands::Anything {
            return Ok(Vec::new());
        }
        while let Some(word) = self.next() {
            if word == "--" && self.command.operands != Operands::Expression {
                self.operands.extend(self.rest.iter().cloned());
                break;
            }
            if self.command.operands == Operands::Expression {
                self.expression(word)?;
            } else if word.starts_with("--") {
                self.long(word)?;
            } else if word.len() > 1 && word.starts_with('-') {
                self.cluster(word)?;
            } else {
                self.operands.push(word.clone());
            }
        }
        self.finish()
    }

    /// `find`: a flag is a whole word.
    fn expression(&mut self, word: &str) -> Result<(), String> {
        if matches!(word, "!" | "(" | ")" | ",") {
            return Ok(());
        }
        if !word.starts_with('-') || word == "-" {
            self.operands.push(word.to_owned());
            return Ok(());
        }
        let value = self.value_of(word).ok_or_else(|| unknown(word))?;
        self.take_value(word, value, None)
    }

    /// `--name`, `--name=value`
    fn long(&mut self, word: &str) -> Result<(), String> {
        let (name, attached) =
            word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        let value = self.value_of(name).ok_or_else(|| unknown(name))?;
        if value == Value::None && attached.is_some() {
            return Err(unknown(word));
        }
        self.take_value(name, value, attached)
    }

    /// `-la`, `-n5`, `-5`
    fn cluster(&mut self, word: &str) -> Result<(), String> {
        let letters = word.get(1..).unwrap_or_default();
        if self.command.numbers && letters.bytes().all(|digit| digit.is_ascii_digit()) {
            return Ok(());
        }
        for (at, letter) in letters.char_indices() {
            let name = format!("-{letter}");
            let value = self.value_of(&name).ok_or_else(|| unknown(&name))?;
            if value == Value::None {
                continue;
            }
            let after = letters.get(at + letter.len_utf8()..).unwrap_or_default();
            return self.take_value(&name, value, (!after.is_empty()).then_some(after));
        }
        Ok(())
    }

    fn value_of(&self, name: &str) -> Option<Value> {
        let known = |names: &str| names.split_ascii_whitespace().any(|known| known == name);
        let flags = self.command.flags.iter().find(|flags| known(flags.names))?;
        Some(flags.value)
    }

    fn take_value(
        &mut self,
        name: &str,
        value: Value,
        attached: Option<&str>,
    ) -> Result<(), String> {
        if matches!(value, Value::None | Value::Attached) {
            return Ok(());
        }
        let bare = name.trim_start_matches('-');
        let given = attached.or_else(|| self.next().map(String::as_str));
        let problem = match value {
            Value::Number | Value::Measure => "Invalid number for flag",
            _ => "Missing value for flag",
        };
        let given = given.ok_or_else(|| format!("{problem}: {bare}"))?;
        let valid = match value {
            Value::Number => is_number(given),
            Value::Measure => is_measure(given),
            _ => true,
        };
        if !valid {
            return Err(format!("{problem}: {bare}"));
        }
        if value == Value::Path {
            self.paths.push(given.to_owned());
        }
        self.pattern |= matches!(name, "-e" | "-f" | "--regexp" | "--file");
        Ok(())
    }

    fn finish(self) -> Result<Paths, String> {
        let Reader { command, mut operands, mut paths, pattern, .. } = self;
        let (name, count) = (command.name, operands.len());
        match command.needs {
            Needs::Pattern if count == 0 && !pattern => {
                return Err(format!("{name} requires pattern"));
            }
            Needs::Path if count == 0 => return Err(format!("{name} requires path")),
            Needs::TwoPaths if count != 2 => {
                return Err(format!("{name} requires exactly 2 paths"));
            }
            _ => {}
        }
        match command.operands {
            Operands::Text | Operands::Anything => {}
            Operands::PatternThenPaths if !pattern => paths.extend(operands.drain(1..)),
            _ => paths.append(&mut operands),
        }
        // Standard input.
        paths.retain(|path| path != "-");
        Ok(paths)
    }
}

/// `5`, `+5`, `-5`, `10K`, `1MiB`
fn is_number(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    let digits = text.trim_end_matches(|character: char| !character.is_ascii_digit());
    let suffix = text.get(digits.len()..).unwrap_or_default();
    let multiple = |suffix: &str| {
        let mut letters = suffix.chars();
        let unit = letters.next().is_some_and(|unit| "bcwkKmMGTPEZYRQ".contains(unit));
        unit && matches!(letters.as_str(), "" | "B" | "iB")
    };
    !digits.is_empty()
        && digits.bytes().all(|digit| digit.is_ascii_digit())
        && (suffix.is_empty() || multiple(suffix))
}

fn is_measure(text: &str) -> bool {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let whole = if whole.trim_start_matches(['+', '-']).is_empty() { "0" } else { whole };
    is_number(whole) && fraction.bytes().all(|digit| digit.is_ascii_digit()) && text != "."
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(line: &str) -> Option<Result<Paths, String>> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        check(&words)
    }

    #[test]
    fn the_paths_of_a_command() {
        let cases: [(&str, &[&str]); 28] = [
            ("ls", &[]),
            ("ls -la src", &["src"]),
            ("ls -laI x --color=auto --sort size a", &["a"]),
            ("ls -- -la", &["-la"]),
            ("cat a - b", &["a", "b"]),
            ("head -5 a", &["a"]),
            ("head -n5 a", &["a"]),
            ("head -n 1K a", &["a"]),
            ("head --lines=-5 a", &["a"]),
            ("tail -n +5 a", &["a"]),
            ("grep TODO", &[]),
            ("grep -n /x src", &["src"]),
            ("grep -rn -e /x src", &["src"]),
            ("grep -f patterns src", &["patterns", "src"]),
            ("grep -A3 -m 1 x a b", &["a", "b"]),
            ("find . -name /x -type f -maxdepth 2", &["."]),
            ("find a b ! ( -newer c -o -mtime +0.5 ) -size +10k", &["c", "a", "b"]),
            ("echo -x --y /etc", &[]),
            ("date -u +%F", &[]),
            ("date -r f", &["f"]),
            ("touch -r f g", &["f", "g"]),
            ("cp -r a b", &["a", "b"]),
            ("git status", &[]),
            ("git --no-pager log -5 --oneline -- a", &["a"]),
            ("git log -n 5 --oneline", &[]),
            ("git show HEAD:package.json", &["HEAD:package.json"]),
            ("git diff HEAD~1..main -U3 --stat=80 a", &["HEAD~1..main", "a"]),
            ("git branch -a --contains HEAD", &["HEAD"]),
        ];
        for (line, expected) in cases {
            let paths = checked(line).expect(line).expect(line);
            assert_eq!(paths, expected, "{line}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_command() {
        let cases = [
            ("ls --invalid-flag", "Unknown flag: --invalid-flag"),
            ("ls --invalid=x", "Unknown flag: --invalid"),
            ("ls -lj", "Unknown flag: -j"),
            ("ls --all=x", "Unknown flag: --all=x"),
            ("head -n notanumber f", "Invalid number for flag: n"),
            ("head -nx f", "Invalid number for flag: n"),
            ("head --lines=x f", "Invalid number for flag: lines"),
            ("head -n", "Invalid number for flag: n"),
            ("head -5x f", "Unknown flag: -5"),
            ("cat -5 f", "Unknown flag: -5"),
            ("grep", "grep requires pattern"),
            ("grep -n", "grep requires pattern"),
            ("grep -e", "Missing value for flag: e"),
            ("mv file1", "mv requires exactly 2 paths"),
            ("mv a b c", "mv requires exactly 2 paths"),
            ("cp a", "cp requires exactly 2 paths"),
            ("mkdir -p", "mkdir requires path"),
            ("touch", "touch requires path"),
            ("find . -exec rm {} ;", "Unknown flag: -exec"),
            ("find . -delete", "Unknown flag: -delete"),
            ("find . -fprint x", "Unknown flag: -fprint"),
            ("find . -maxdepth x", "Invalid number for flag: maxdepth"),
            ("find . -mtime x", "Invalid number for flag: mtime"),
            ("find . -name", "Missing value for flag: name"),
            ("find --help", "Unknown flag: --help"),
            ("git", "git requires subcommand"),
            ("git invalid-subcommand", "Git subcommand not allowed: invalid-subcommand"),
            ("git push -f", "Git subcommand not allowed: push"),
            ("git -c core.pager=x log", "Unknown flag: -c"),
            ("git -C /etc status", "Unknown flag: -C"),
            ("git --exec-path=/x status", "Unknown flag: --exec-path"),
            ("git diff --output=x", "Unknown flag: --output"),
            ("git log --ext-diff", "Unknown flag: --ext-diff"),
            ("git branch -D main", "Unknown flag: -D"),
            ("git log -n x", "Invalid number for flag: n"),
            ("date -s now", "Unknown flag: -s"),
        ];
        for (line, expected) in cases {
            assert_eq!(checked(line).expect(line).expect_err(line), expected, "{line}");
        }
    }

    #[test]
    fn everything_else_is_not_tier_one() {
        for line in ["rm -rf x", "npm test", "/bin/ls", "LS", "gitk", "yes"] {
            assert!(checked(line).is_none(), "{line}");
        }
    }
}
