//! The command line as data. Invoked as bash is (`-c`, `-lc`, `-euo pipefail`, FILE, `-s`), with exacta's own
//! long options in front, or with a verb.

mod audit;
pub mod definition;
pub mod explained;
mod help;
mod manage;
mod records;
mod tasks;

pub use audit::{AuditVerb, Format, History, filter_of};
pub use help::Topic;
pub use manage::{ApprovalsVerb, Manage, Scale, SetupInvocation, ShellVerb};
pub use records::RecordVerb;
pub use tasks::{AtGate, From as TaskSource, Onward, TaskRun, TaskVerb};

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

use bstr::{BString, ByteSlice};
use exacta_jail::Level;

#[derive(Debug, Default)]
pub struct Invocation {
    pub global: Global,
    pub what: What,
}

/// Options of the operator; nothing inside can set them.
#[derive(Debug, Default, Clone)]
pub struct Global {
    pub root: Option<PathBuf>,
    pub profile: Option<String>,
    pub json: bool,
    pub config: Option<PathBuf>,
    pub environment: Vec<(BString, BString)>,
    pub inherit_environment: bool,
    pub tools: Vec<PathBuf>,
    pub min_isolation: Option<Level>,
}

#[derive(Debug, Default)]
pub enum What {
    #[default]
    Help,
    /// `exacta VERB --help`, `exacta help VERB`
    Explain(Topic),
    Version,
    Script(ScriptInvocation),
    Run(RunInvocation),
    Manage(Manage),
}

/// A script as bash would be given it.
#[derive(Debug, Default)]
pub struct ScriptInvocation {
    pub source: Source,
    /// `$0`, if given.
    pub name: Option<BString>,
    pub arguments: Vec<BString>,
    /// Words for `set`: `-e`, `-o`, `pipefail`.
    pub set: Vec<BString>,
    /// `-O name`, `+O name`
    pub shopt: Vec<(bool, BString)>,
    pub interactive: bool,
    /// `--rcfile`
    pub startup: Option<BString>,
    pub login: bool,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// `-c`
    Text(BString),
    File(PathBuf),
    #[default]
    Stdin,
}

/// `exacta run`
#[derive(Debug, Default)]
pub struct RunInvocation {
    /// The text as asked; several words stand for themselves.
    pub command: BString,
    pub words: Vec<BString>,
    pub directory: Option<PathBuf>,
    pub clear_environment: bool,
    pub timeout: Option<Duration>,
    pub max_output: Option<u64>,
    /// One command in the grammar of S1.
    pub strict: bool,
    /// Every confirmation is answered yes.
    pub yes: bool,
    /// What would need a confirmation is refused.
    pub no_input: bool,
    /// Wait so long until somebody has decided.
    pub wait: Option<Duration>,
    /// What it is for, as whoever decides is told.
    pub goal: String,
    /// The session that it goes on with.
    pub session: Option<String>,
    /// Nothing of what it changes comes into the project.
    pub trial: Option<Trial>,
    /// What its programs write comes into the project at once, and cannot be taken back.
    pub direct: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trial {
    /// It is shown and dropped.
    DryRun,
    /// It waits until a person decides.
    Hold,
}

/// `exacta serve`
#[derive(Debug, Default)]
pub struct ServeInvocation {
    pub listen: Option<String>,
    pub socket: Option<PathBuf>,
    /// None: the one that the command line is about.
    pub projects: Vec<PathBuf>,
    pub print_token: bool,
}

/// `exacta mcp`
#[derive(Debug, Default)]
pub struct McpInvocation {
    /// None: standard streams.
    pub listen: Option<String>,
    pub projects: Vec<PathBuf>,
}

/// How the rungs of the jail's ladder are called.
pub const LEVELS: &str = "full, namespaces, landlock, seccomp or limits";

pub fn parse(arguments: &[OsString]) -> Result<Invocation, String> {
    let mut reader = Reader { rest: arguments, global: Global::default() };
    let mut script = ScriptInvocation::default();
    let mut command_string = false;
    let mut from_stdin = false;
    let mut plain = true;
    while let Some(word) = reader.peek() {
        if word == "--" || word == "-" {
            reader.advance();
            break;
        }
        if let Some(name) = word.strip_prefix(b"--") {
            let name = name.to_str_lossy().into_owned();
            reader.advance();
            match name.as_str() {
                "help" => return Ok(Invocation { global: reader.global, what: What::Help }),
                "version" => return Ok(Invocation { global: reader.global, what: What::Version }),
                "login" => script.login = true,
                // Files that bash would read at its start do not exist here.
                "norc" | "noprofile" | "noediting" => {}
                "rcfile" | "init-file" => {
                    let file = reader.value(&name, None)?;
                    script.startup = Some(bytes(&file));
                }
                "posix" => script.set.extend(["-o".into(), "posix".into()]),
                "verbose" => script.set.push("-v".into()),
                _ => reader.global_option(&name)?,
            }
        } else if word.len() > 1 && (word.starts_with(b"-") || word.starts_with(b"+")) {
            plain = false;
            reader.advance();
            let letters =
                ClusterFlags { command_string: &mut command_string, from_stdin: &mut from_stdin };
            parse_cluster(&word, letters, &mut script, &mut reader)?;
        } else {
            break;
        }
    }
    let verb = reader.peek().filter(|_| plain).and_then(|word| definition::find(&word));
    if let Some(verb) = verb {
        reader.advance();
        let what = if let Some(topic) = help::wanted(verb, reader.rest)? {
            What::Explain(topic)
        } else if verb.name == "run" {
            What::Run(parse_run(&mut reader)?)
        } else {
            What::Manage(manage::parse(verb, &mut reader)?)
        };
        return Ok(Invocation { global: reader.global, what });
    }
    take_operands(&mut script, &mut reader, command_string, from_stdin)?;
    Ok(Invocation { global: reader.global, what: What::Script(script) })
}

struct Reader<'a> {
    rest: &'a [OsString],
    global: Global,
}

impl Reader<'_> {
    fn peek(&self) -> Option<BString> {
        self.rest.first().map(|word| bytes(word))
    }

    fn advance(&mut self) {
        self.rest = self.rest.get(1..).unwrap_or_default();
    }

    fn next(&mut self) -> Option<OsString> {
        let first = self.rest.first().cloned();
        self.advance();
        first
    }

    /// The value of `--name=value` or of `--name value`.
    fn value(&mut self, name: &str, inline: Option<&str>) -> Result<OsString, String> {
        if let Some(inline) = inline {
            return Ok(inline.into());
        }
        self.next().ok_or_else(|| format!("option --{name} needs a value"))
    }

    fn global_option(&mut self, text: &str) -> Result<(), String> {
        let (name, inline) = split_option(text);
        match name {
            "root" => self.global.root = Some(self.value(name, inline)?.into()),
            "config" => self.global.config = Some(self.value(name, inline)?.into()),
            "tools" => {
                let directory = self.value(name, inline)?.into();
                self.global.tools.push(directory);
            }
            "profile" => {
                let profile = self.value(name, inline)?.to_string_lossy().into_owned();
                if !["safe", "dev", "full-auto"].contains(&profile.as_str()) {
                    return Err(format!("unknown profile {profile:?}: safe, dev or full-auto"));
                }
                self.global.profile = Some(profile);
            }
            "min-isolation" => {
                let text = self.value(name, inline)?.to_string_lossy().into_owned();
                let level = Level::from_name(&text);
                let level = level.ok_or_else(|| format!("unknown isolation {text:?}: {LEVELS}"))?;
                self.global.min_isolation = Some(level);
            }
            "env" => {
                let pair = bytes(&self.value(name, inline)?);
                let Some((key, value)) = pair.split_once_str("=") else {
                    return Err(format!("--env takes NAME=VALUE, not {pair:?}"));
                };
                self.global.environment.push((key.into(), value.into()));
            }
            "json" => self.global.json = true,
            "inherit-env" => self.global.inherit_environment = true,
            _ => return Err(format!("unknown option --{name}")),
        }
        Ok(())
    }
}

struct ClusterFlags<'a> {
    command_string: &'a mut bool,
    from_stdin: &'a mut bool,
}

/// `-lc`, `-euxo pipefail`, `+e`: bash's letters.
fn parse_cluster(
    word: &BString,
    flags: ClusterFlags<'_>,
    script: &mut ScriptInvocation,
    reader: &mut Reader<'_>,
) -> Result<(), String> {
    let on = word.starts_with(b"-");
    for letter in word.chars().skip(1) {
        match letter {
            'c' if on => *flags.command_string = true,
            's' if on => *flags.from_stdin = true,
            'i' if on => script.interactive = true,
            'l' if on => script.login = true,
            'o' | 'O' => {
                let Some(name) = reader.next() else {
                    return Err(format!("option -{letter} needs a name"));
                };
                let name = bytes(&name);
                if letter == 'O' {
                    script.shopt.push((on, name));
                } else {
                    script.set.extend([if on { "-o" } else { "+o" }.into(), name]);
                }
            }
            'a' | 'b' | 'e' | 'f' | 'h' | 'k' | 'm' | 'n' | 'p' | 't' | 'u' | 'v' | 'x' | 'B'
            | 'C' | 'E' | 'H' | 'P' | 'T' => {
                script.set.push(format!("{}{letter}", if on { '-' } else { '+' }).into());
            }
            _ => return Err(format!("unknown option -{letter}")),
        }
    }
    Ok(())
}

/// What follows the options: the script and its arguments.
fn take_operands(
    script: &mut ScriptInvocation,
    reader: &mut Reader<'_>,
    command_string: bool,
    from_stdin: bool,
) -> Result<(), String> {
    if command_string {
        let text = reader.next().ok_or("-c: option requires an argument")?;
        script.source = Source::Text(bytes(&text));
        script.name = reader.next().map(|name| bytes(&name));
    } else if !from_stdin && let Some(file) = reader.next() {
        script.name = Some(bytes(&file));
        script.source = Source::File(file.into());
    }
    script.arguments = reader.rest.iter().map(|word| bytes(word)).collect();
    Ok(())
}

fn parse_run(reader: &mut Reader<'_>) -> Result<RunInvocation, String> {
    let mut run = RunInvocation::default();
    while let Some(word) = reader.peek() {
        if !word.starts_with(b"-") {
            break;
        }
        reader.advance();
        if word == "--" {
            break;
        }
        let Some(text) = word.strip_prefix(b"--") else {
            return Err(format!("unknown option {word} of run"));
        };
        let text = text.to_str_lossy().into_owned();
        let (name, inline) = split_option(&text);
        match name {
            "cwd" => run.directory = Some(reader.value(name, inline)?.into()),
            "clear-env" => run.clear_environment = true,
            "timeout" => run.timeout = Some(duration(&reader.value(name, inline)?)?),
            "max-output" => run.max_output = Some(size(&reader.value(name, inline)?)?),
            "strict" => run.strict = true,
            "yes" => run.yes = true,
            "no-input" => run.no_input = true,
            "wait" => run.wait = Some(duration(&reader.value(name, inline)?)?),
            "session" => {
                run.session = Some(reader.value(name, inline)?.to_string_lossy().into_owned());
            }
            "goal" => run.goal = reader.value(name, inline)?.to_string_lossy().into_owned(),
            "dry-run" => run.trial = Some(Trial::DryRun),
            "hold" => run.trial = Some(Trial::Hold),
            "direct" => run.direct = true,
            _ => reader.global_option(&text)?,
        }
    }
    run.words = reader.rest.iter().map(|word| bytes(word)).collect();
    run.command = one_text(&run.words).ok_or("run needs a command: exacta run -- COMMAND")?;
    Ok(run)
}

/// One word is a text; several stand for themselves.
fn one_text(words: &[BString]) -> Option<BString> {
    match words {
        [] => None,
        [text] => Some(text.clone()),
        words => Some(BString::from(bstr::join(
            " ",
            words.iter().map(|word| exacta::report::typed(word)),
        ))),
    }
}

fn split_option(text: &str) -> (&str, Option<&str>) {
    text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)))
}

/// `30s`, `500ms`, `2m`, `1h`; a plain number is seconds.
fn duration(text: &OsStr) -> Result<Duration, String> {
    let text = text.to_string_lossy();
    let end = text
        .find(|character: char| !character.is_ascii_digit() && character != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let seconds = match unit {
        "" | "s" => 1.0,
        "ms" => 0.001,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err(format!("not a duration: {text} (try 30s, 500ms, 2m)")),
    };
    let number: f64 =
        number.parse().map_err(|_| format!("not a duration: {text} (try 30s, 500ms, 2m)"))?;
    Duration::try_from_secs_f64(number * seconds).map_err(|_| format!("not a duration: {text}"))
}

/// `1M`, `64K`, `1G`; a plain number is bytes.
fn size(text: &OsStr) -> Result<u64, String> {
    let text = text.to_string_lossy();
    let end = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let shift = match unit.trim_end_matches(['B', 'b']).trim_end_matches('i') {
        "" => 0,
        "K" | "k" => 10,
        "M" | "m" => 20,
        "G" | "g" => 30,
        _ => return Err(format!("not a size: {text} (try 64K, 1M)")),
    };
    let number: u64 = number.parse().map_err(|_| format!("not a size: {text} (try 64K, 1M)"))?;
    number.checked_mul(1 << shift).ok_or_else(|| format!("not a size: {text}"))
}

fn bytes(word: &OsStr) -> BString {
    BString::from(word.as_encoded_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Invocation {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        parse(&words).expect("a valid command line")
    }

    #[test]
    fn clusters_are_read_as_bash_reads_them() {
        let invocation = parsed(&["-lc", "echo hi", "name", "one"]);
        let What::Script(script) = invocation.what else { panic!("a script") };
        assert_eq!(script.source, Source::Text("echo hi".into()));
        assert_eq!(script.name, Some("name".into()));
        assert_eq!(script.arguments, ["one"]);
        assert!(script.login);
    }

    #[test]
    fn the_option_name_follows_the_cluster() {
        let What::Script(script) = parsed(&["-euo", "pipefail", "-c", "-x", "true"]).what else {
            panic!("a script")
        };
        assert_eq!(script.set, ["-e", "-u", "-o", "pipefail", "-x"]);
        assert_eq!(script.source, Source::Text("true".into()));
    }

    #[test]
    fn words_of_run_stand_for_themselves() {
        let What::Run(run) = parsed(&["run", "--timeout", "2m", "--", "echo", "a b", "it's"]).what
        else {
            panic!("run")
        };
        assert_eq!(run.command, r"echo 'a b' 'it'\''s'");
        assert_eq!(run.timeout, Some(Duration::from_secs(120)));
    }

    #[test]
    fn one_word_of_run_is_a_script() {
        let What::Run(run) = parsed(&["run", "--json", "--", "ls | wc -l"]).what else {
            panic!("run")
        };
        assert_eq!(run.command, "ls | wc -l");
    }

    #[test]
    fn what_is_not_there_is_said() {
        let words: Vec<OsString> =
            ["run", "--sessions", "x", "--", "ls"].iter().map(OsString::from).collect();
        assert!(parse(&words).is_err_and(|problem| problem.contains("--sessions")));
        let What::Run(run) = parsed(&["run", "--session", "x", "--", "ls"]).what else {
            panic!("run")
        };
        assert_eq!(run.session.as_deref(), Some("x"));
    }
}
