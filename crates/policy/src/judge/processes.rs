//! Processes that are looked up and ended: `kill $(pgrep x)`, `lsof -ti tcp:5432 | xargs kill`. Whoever ends a job of his
//! own has its number (`$!`, `%1`, a file of it); who has to look for it may end somebody else's. A port on which
//! projects serve themselves is an exception: freeing it is everyday work.

use bstr::{BStr, BString, ByteSlice};

use super::command::Subjected;
use super::computed::{substitution, variable_of};
use super::inquiry::Inquiry;
use crate::effect::Effect;
use crate::event::Input;
use crate::verdict::Finding;
use crate::word::Word;

/// Commands that tell the numbers of processes.
const TELLING: &[&str] =
    &["fuser", "htop", "lsof", "netstat", "pgrep", "pidof", "pids", "ps", "pstree", "ss", "top"];

/// Commands that only hand on what they are given.
const HANDING_ON: &[&str] = &["cat", "head", "jobs", "tail", "tr"];

/// Ports on which the services of a machine listen.
const SERVICES: &[&str] = &[
    "1433", "1521", "2049", "21", "22", "2375", "2376", "2379", "25", "27017", "3306", "3389",
    "389", "443", "445", "465", "53", "5432", "5672", "587", "5900", "631", "636", "6379", "6443",
    "80", "8500", "9042", "9092", "9200", "993", "11211", "15672", "10250",
];

impl Inquiry<'_> {
    /// Remembers what a command that tells of processes is asked.
    pub fn note_processes(&mut self, subjected: &Subjected<'_>) {
        if TELLING.iter().any(|name| subjected.reading.name == *name) {
            let words = subjected.invocation.words.iter().map(Word::shown);
            self.tells_processes = Some(bstr::join(" ", words).into());
        }
        self.reads_processes(subjected);
    }

    /// `pgrep x | while read p`: the variable is the number of a process that was looked up.
    fn reads_processes(&mut self, subjected: &Subjected<'_>) {
        const READING: [&str; 3] = ["mapfile", "read", "readarray"];
        if !READING.iter().any(|name| subjected.reading.name == *name) || !is_told(subjected) {
            return;
        }
        let Some(asked) = &self.tells_processes else { return };
        let said = BString::from([b"$(", asked.as_slice(), b")"].concat());
        let names = subjected.reading.operands.iter().filter_map(Word::as_literal);
        self.computed.extend(names.map(|name| (name.into(), said.clone())));
    }

    pub fn ends_processes(&self, subjected: &Subjected<'_>, findings: &mut Vec<Finding>) {
        let about = match subjected.reading.name.as_slice() {
            b"kill" => self.ended(subjected),
            b"parallel" | b"rush" | b"xargs" if runs_kill(subjected) => self.fed(subjected),
            b"kill-port" | b"fkill" | b"fkill-cli" => served(subjected),
            _ => None,
        };
        if let Some(about) = about {
            findings.extend(self.situation("found-process", &about.to_str_lossy()));
        }
    }

    /// The operand of `kill` that was looked up.
    fn ended(&self, subjected: &Subjected<'_>) -> Option<BString> {
        let words = subjected.invocation.words.iter().skip(1);
        let found = |word: &&Word| {
            let shown = word.shown();
            let inner = shown.trim_with(|c| c == '"').as_bstr();
            let said = substitution(inner).or_else(|| {
                let (name, _) = variable_of(inner)?;
                let (_, by) = self.computed.iter().rev().find(|(known, _)| known == name)?;
                substitution(by.as_bstr())
            });
            said.is_some_and(is_looked_up)
        };
        let everybody = |word: &&Word| word.shown() == "-1";
        let ended = subjected.invocation.words.iter().skip_while(|word| word.shown() != "--");
        ended
            .skip(1)
            .find(everybody)
            .or_else(|| words.clone().find(found))
            .map(|it| it.shown().into())
    }

    /// What `xargs kill` is fed with.
    fn fed(&self, subjected: &Subjected<'_>) -> Option<BString> {
        let own = |path: &Word| path.shown().ends_with(b".pid");
        match &subjected.invocation.input {
            Input::Pipe(_) if is_told(subjected) => {
                self.tells_processes.clone().filter(|asked| is_looked_up(asked.as_bstr()))
            }
            Input::Pipe(names) => {
                let passes = |name: &Word| HANDING_ON.iter().any(|known| name.shown() == *known);
                (!names.iter().all(passes)).then(|| "kill".into())
            }
            Input::File(path) if own(path) => None,
            Input::Text(_) => None,
            Input::File(_) | Input::Inherited => Some("kill".into()),
        }
    }
}

/// Does a command that tells of processes say what this one reads?
fn is_told(subjected: &Subjected<'_>) -> bool {
    let Input::Pipe(names) = &subjected.invocation.input else { return false };
    names.iter().any(|name| TELLING.iter().any(|known| name.shown() == *known))
}

fn runs_kill(subjected: &Subjected<'_>) -> bool {
    let ends = |word: &BStr| word == "kill" || word.starts_with(b"kill ");
    subjected.reading.effects.iter().any(|effect| match effect {
        Effect::Run { words, .. } => words.first().is_some_and(|word| ends(word.shown())),
        Effect::Shell(text) => ends(text.shown()),
        _ => false,
    })
}

/// A port of a service among the operands.
fn served(subjected: &Subjected<'_>) -> Option<BString> {
    let port = |word: &BStr| {
        SERVICES.iter().any(|port| word.trim_start_with(|c| c == ':') == port.as_bytes())
    };
    let named = |word: &BStr| {
        !word.starts_with(b"-")
            && !word.trim_start_with(|c| c == ':').iter().all(u8::is_ascii_digit)
    };
    let mut words = subjected.invocation.words.iter().skip(1).map(Word::shown);
    words.find(|word| port(word) || named(word)).map(BString::from)
}

/// Does this say numbers of processes that are no project's server?
fn is_looked_up(said: &BStr) -> bool {
    let blank = |byte: &u8| byte.is_ascii_whitespace() || b"\"'();|&`".contains(byte);
    let words: Vec<&[u8]> = said.split(blank).filter(|word| !word.is_empty()).collect();
    let names = |known: &str| words.contains(&known.as_bytes());
    if !TELLING.iter().any(|known| names(known)) {
        return false;
    }
    let ports: Vec<&[u8]> = words.iter().filter_map(|word| port_of(word)).collect();
    let service = |port: &&[u8]| SERVICES.iter().any(|known| *port == known.as_bytes());
    !names("lsof") || ports.is_empty() || ports.iter().any(service)
}

/// `-ti:3000`, `tcp:3000`, `:3000`.
fn port_of(word: &[u8]) -> Option<&[u8]> {
    let (_, port) = word.rsplit_once_str(":")?;
    (!port.is_empty() && port.iter().all(u8::is_ascii_digit)).then_some(port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_looked_up() {
        for text in
            ["pgrep node)", "ps aux | awk '/x/'", "lsof -ti tcp:5432", "lsof -t x", "pidof x"]
        {
            assert!(is_looked_up(text.into()), "{text}");
        }
        for text in ["jobs -p)", "cat server.pid)", "lsof -ti:3000", "lsof -t -i :8080 | head -1"] {
            assert!(!is_looked_up(text.into()), "{text}");
        }
    }
}
