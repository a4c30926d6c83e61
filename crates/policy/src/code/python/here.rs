//! Python on the command line that plainly stays here: a free port, a server of this machine, tools of the project,
//! what a pattern finds below the working directory.

use bstr::{BStr, ByteSlice};

use super::Reader;
use crate::code::values::is_inside;
use crate::hosts::is_plain_loopback;

impl Reader<'_, '_, '_> {
    /// A call of a module that could reach out, and does not. What it runs instead is handed on.
    pub(super) fn stays_here(&mut self, path: &[u8], open: usize) -> bool {
        match path {
            b"subprocess.run"
            | b"subprocess.call"
            | b"subprocess.check_call"
            | b"subprocess.check_output" => self.runs_itself(open),
            b"urllib.request.urlopen"
            | b"requests.get"
            | b"requests.head"
            | b"requests.post"
            | b"httpx.get"
            | b"httpx.head" => {
                self.tokens.is(open, b"(")
                    && self
                        .argument(open, 0)
                        .single()
                        .is_some_and(|address| is_plain_loopback(BStr::new(address)))
            }
            b"socket.socket" | b"socket.AF_INET" | b"socket.SOCK_STREAM" => self.only_binds(),
            _ => false,
        }
    }

    /// `subprocess.run([sys.executable, "-m", "pytest"])`: judged as if it were typed.
    fn runs_itself(&mut self, open: usize) -> bool {
        if !self.tokens.is(open, b"(") {
            return false;
        }
        let arguments = self.tokens.arguments(open);
        let Some(list) = arguments.first().map(|range| range.start) else { return false };
        let itself = self.tokens.is(list, b"[")
            && self.tokens.is_name(list + 1, b"sys")
            && self.tokens.is_name(list + 3, b"executable")
            && self.tokens.is(list + 4, b",");
        let fed = arguments.iter().any(|range| {
            ["input", "env", "shell", "executable", "preexec_fn"]
                .iter()
                .any(|name| self.tokens.is_name(range.start, name.as_bytes()))
        });
        if !itself || fed {
            return false;
        }
        let words: Option<Vec<Vec<u8>>> = self
            .tokens
            .arguments(list)
            .into_iter()
            .skip(1)
            .map(|word| self.evaluator.value(word).single().map(<[u8]>::to_vec))
            .collect();
        let Some(words) = words.filter(|words| !words.is_empty()) else { return false };
        let mut all = vec![b"python3".to_vec()];
        all.extend(words);
        self.findings.run(&all);
        true
    }

    /// A socket that asks for a port of this machine and sends nothing.
    fn only_binds(&self) -> bool {
        const SENDING: [&str; 9] = [
            "accept",
            "connect",
            "connect_ex",
            "create_connection",
            "dup2",
            "fileno",
            "send",
            "sendall",
            "sendto",
        ];
        let mut binds = false;
        for at in 0..self.tokens.len() {
            let Some(name) = self.tokens.name(at) else { continue };
            if SENDING.iter().any(|sending| name == sending.as_bytes()) {
                return false;
            }
            if name == b"bind" {
                let host = self.tokens.literal(at + 3);
                binds = matches!(host, Some(b"127.0.0.1" | b"localhost" | b"::1" | b""));
                if !binds {
                    return false;
                }
            }
        }
        binds
    }

    /// `for p in Path('.').glob('*.egg-info')`, then `rmtree(p)`: a part of the project that its name tells.
    pub(super) fn is_found_inside(&self, open: usize) -> bool {
        const PATHS: [&str; 6] = ["pathlib", "Path", "glob", "rglob", "iglob", "sorted"];
        let Some(wanted) = self.tokens.name(open + 1) else { return false };
        let alone = self.tokens.is(open + 2, b")") || self.tokens.is(open + 2, b",");
        let is_loop = |at: &usize| {
            self.tokens.is_name(*at, b"for")
                && self.tokens.is_name(at + 1, wanted)
                && self.tokens.is_name(at + 2, b"in")
        };
        let mut loops = (0..self.tokens.len()).filter(is_loop).peekable();
        let some = loops.peek().is_some();
        alone
            && some
            && loops.all(|at| {
                let mut pattern = None;
                for place in at + 3..at + 16 {
                    if let Some(text) = self.tokens.literal(place) {
                        if !is_inside(text) && text != b"." {
                            return false;
                        }
                        pattern = Some(text);
                    } else if let Some(name) = self.tokens.name(place) {
                        if !PATHS.iter().any(|known| name == known.as_bytes()) {
                            return false;
                        }
                    } else if !["(", ")", "."].iter().any(|it| self.tokens.is(place, it.as_bytes()))
                    {
                        break;
                    }
                }
                pattern.is_some_and(|text| {
                    let letters = text.iter().filter(|byte| byte.is_ascii_alphanumeric()).count();
                    letters > 2 && !text.contains_str(".git")
                })
            })
    }
}
