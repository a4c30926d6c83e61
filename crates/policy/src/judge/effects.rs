//! What the words of a command do: files, hosts, variables here; commands and code in [`super::scripts`].

use bstr::{BStr, BString, ByteSlice};

use super::command::Subjected;
use super::inquiry::Inquiry;
use super::paths::Opening;
use crate::effect::Effect;
use crate::event::{Access, Input, Open};
use crate::hosts::{host_of, is_loopback};
use crate::rules::grant::Grant;
use crate::verdict::{Decision, Finding, Step};
use crate::word::Word;

impl Inquiry<'_> {
    /// Judges the effects that belong to the command itself; gives back those that are commands or code.
    pub fn effects<'e>(
        &mut self,
        subjected: &mut Subjected<'e>,
        findings: &mut Vec<Finding>,
    ) -> Vec<&'e Effect> {
        let reading = subjected.reading;
        self.enter(subjected, findings);
        self.arriving_names(subjected, findings);
        self.linked(subjected, findings);
        let mut nested = Vec::new();
        for effect in &reading.effects {
            match effect {
                Effect::Directory(_) => {}
                Effect::Open { path, access } => {
                    self.path(path, *access, subjected, findings);
                    self.copied(path, *access, subjected);
                    self.fills(path, *access, subjected);
                    self.arrives(path, *access, subjected);
                }
                Effect::Connect(target) => self.connect(target, subjected, findings),
                Effect::Assign { name, value } => self.variable(name, value, findings),
                Effect::Executes { option, reason } => {
                    let about = format!("{option}: {reason}");
                    findings.extend(self.situation_unless(
                        "executing-option",
                        &about,
                        &subjected.lifted,
                    ));
                }
                Effect::UnknownOption(word) => {
                    let about = word.shown().to_str_lossy();
                    findings.extend(self.situation_unless(
                        "unknown-option",
                        &about,
                        &subjected.lifted,
                    ));
                }
                _ if self.comes_back => {}
                _ => nested.push(effect),
            }
        }
        nested
    }

    /// `ln -s ~/.bashrc x`: whoever writes `x` later writes the other.
    fn linked(&mut self, subjected: &Subjected<'_>, findings: &mut Vec<Finding>) {
        let reading = subjected.reading;
        if reading.name != "ln" {
            return;
        }
        let resolve =
            |word: &Word| super::paths::absolute(word.as_literal()?, &subjected.directory);
        let opened = |written: bool| {
            reading.effects.iter().filter_map(move |effect| match effect {
                Effect::Open { path, access } if (*access == Access::Write) == written => {
                    resolve(path)
                }
                _ => None,
            })
        };
        for target in opened(false) {
            if self.inside(target.as_bstr()) == "." {
                findings.extend(self.situation("unread-path", "a link to the project itself"));
            }
            let name = target.rsplit_once_str("/").map_or(target.as_slice(), |(_, name)| name);
            for link in opened(true) {
                let within = BString::from([link.as_slice(), b"/", name].concat());
                self.links.push((within, target.clone()));
                self.links.push((link, target.clone()));
            }
        }
    }

    /// `mv config.toml .cargo`: what arrives in a directory keeps its name there.
    fn arriving_names(&self, subjected: &Subjected<'_>, findings: &mut Vec<Finding>) {
        const KEEPING_NAMES: [&str; 4] = ["cp", "install", "ln", "mv"];
        let reading = subjected.reading;
        if !KEEPING_NAMES.iter().any(|name| reading.name == *name) {
            return;
        }
        let opened = |written: bool| {
            reading.effects.iter().filter_map(move |effect| match effect {
                Effect::Open { path, access } if (*access == Access::Write) == written => {
                    path.as_literal()
                }
                _ => None,
            })
        };
        for directory in opened(true) {
            for source in opened(false) {
                let source = source.trim_end_with(|c| c == '/');
                let name = source.rsplit_once_str("/").map_or(source, |(_, name)| name);
                let path = Word::literal([directory.as_bytes(), b"/", name].concat());
                self.path(&path, Access::Write, subjected, findings);
            }
        }
    }

    /// `echo TEXT | tee x.sh`: what is then in the file is known.
    fn copied(&mut self, path: &Word, access: Access, subjected: &Subjected<'_>) {
        let reading = subjected.reading;
        let from_input = match reading.name.as_slice() {
            b"tee" | b"sponge" => true,
            b"dd" => !reading.operands.iter().any(|operand| operand.prefix().starts_with(b"if=")),
            b"cp" | b"install" | b"mv" => {
                reading.operands.iter().any(|operand| operand.shown() == "/dev/stdin")
            }
            _ => false,
        };
        if !from_input || access != Access::Write {
            return;
        }
        if let (Input::Text(Word::Literal(text)), Some(path)) =
            (&subjected.invocation.input, path.as_literal())
            && let Some(path) = super::paths::absolute(path, &subjected.directory)
        {
            self.freshly_written(&path, text);
            self.written.insert(path, text.clone());
        }
    }

    /// `cp a b`, `mv a b`: what this text has put into the one is in the other then.
    fn arrives(&mut self, path: &Word, access: Access, subjected: &Subjected<'_>) {
        const COPYING: [&str; 5] = ["cp", "install", "ln", "mv", "rsync"];
        let reading = subjected.reading;
        if access != Access::Write
            || self.fresh.is_empty()
            || !COPYING.iter().any(|name| reading.name == *name)
        {
            return;
        }
        let resolve =
            |word: &Word| super::paths::absolute(word.as_literal()?, &subjected.directory);
        let Some(target) = resolve(path) else { return };
        let sources = reading.effects.iter().filter_map(|effect| match effect {
            Effect::Open { path, access } if *access != Access::Write => resolve(path),
            _ => None,
        });
        for source in sources {
            let name = source.rsplit_once_str("/").map_or(source.as_slice(), |(_, name)| name);
            let within = BString::from([target.as_slice(), b"/", name].concat());
            for target in [target.clone(), within] {
                if let Some(content) = self.written.get(&source).cloned() {
                    self.freshly_written(&target, &content);
                    self.filled.remove(&target);
                    self.written.insert(target, content);
                } else {
                    self.fresh_elsewhere(&source, &target);
                }
            }
        }
    }

    /// `openssl enc -d -out x.sh`, `base64 -d | tee x.sh`: nobody knows what is in the file then.
    fn fills(&mut self, path: &Word, access: Access, subjected: &Subjected<'_>) {
        let path = match path {
            Word::Literal(path) => Some(path.as_bstr()),
            // `perl -pi -e … tests/*.py`: what is put into one of them tells as much.
            Word::Dynamic(dynamic) => dynamic.glob.as_ref().map(|glob| glob.as_bstr()),
        };
        if access == Access::Write
            && let Some(path) =
                path.and_then(|path| super::paths::absolute(path, &subjected.directory))
            && !self.written.contains_key(&path)
        {
            if subjected.reading.name == "mkfifo" {
                self.pipes.insert(path.clone());
            }
            let mut words = subjected.invocation.words.clone();
            if let Input::Text(text) = &subjected.invocation.input {
                words.push(text.clone());
            }
            self.freshly_filled(&path, &words);
            self.filled.insert(path);
        }
    }

    /// `git -C sub`, `make -C sub`: the rest of the command happens there.
    fn enter(&self, subjected: &mut Subjected<'_>, findings: &mut Vec<Finding>) {
        for effect in &subjected.reading.effects {
            if let Effect::Directory(directory) = effect {
                self.path(directory, Access::Enter, subjected, findings);
                subjected.directory = super::paths::entered(&subjected.directory, directory);
            }
        }
    }

    /// A name on the network. This machine itself is no network.
    pub fn connect(&self, target: &Word, subjected: &Subjected<'_>, findings: &mut Vec<Finding>) {
        let host = target.as_literal().map(host_of);
        if host.is_some_and(is_loopback) {
            return;
        }
        let named = target.as_literal().and_then(|target| Grant::of_target(target));
        let granted = |named: &Grant| subjected.hosts.iter().any(|it| it.includes(named));
        if named.as_ref().is_some_and(granted) {
            return;
        }
        let about = target.shown().to_str_lossy();
        let found = self.situation_unless("network", &about, &subjected.lifted);
        // Whoever says yes to this question says yes to the host that it names. Where nobody is asked, only rules
        // grant hosts.
        if let Some(named) = named
            && found.iter().any(|finding| finding.decision == Decision::Confirm)
        {
            self.reach(&named);
        }
        findings.extend(found);
    }

    /// A redirect, or a file opened while a script runs.
    pub fn open(&mut self, open: &Open) {
        let mut findings = Vec::new();
        let opening = Opening { access: open.access, directory: &open.directory, by: None };
        self.opened(&open.path, opening, &mut findings);
        if let Some(path) = super::paths::key(&open.path, &open.directory)
            && open.access != Access::Read
        {
            // What is written over something known is not known any more unless it is known itself.
            if let Some(content) = open.content.clone().or_else(|| self.joined.take()) {
                self.freshly_written(&path, &content);
                self.written.insert(path, content);
            } else {
                let maker = std::mem::take(&mut self.maker);
                self.freshly_filled(&path, &maker);
                if std::mem::take(&mut self.remade) {
                    self.pipes.insert(path.clone());
                }
                self.written.remove(&path);
                self.filled.insert(path);
            }
        }
        let sign = if open.access == Access::Read { "<" } else { ">" };
        self.note(vec![sign.into(), open.path.shown().into()], &open.via, findings);
    }
}

/// `curl http://localhost:3000/health`: a server that somebody has started here. It is asked about, not refused.
pub(super) fn talks_to_itself(subjected: &Subjected<'_>, findings: &mut [Finding]) {
    const RULES: [&str; 3] = ["block-curl", "block-fetch-siblings", "block-netcat"];
    let denied = |finding: &Finding| {
        finding.decision == Decision::Deny && RULES.iter().any(|rule| *finding.rule == **rule)
    };
    if !findings.iter().any(denied) || !is_local(&subjected.reading.effects) {
        return;
    }
    for finding in findings.iter_mut().filter(|finding| denied(finding)) {
        finding.decision = Decision::Confirm;
        finding.step = Step::Policy;
    }
}

/// All that it connects to is this machine, and it starts nothing.
fn is_local(effects: &[Effect]) -> bool {
    let plain = |byte: &u8| byte.is_ascii_graphic() && !matches!(byte, b'\\' | b'@');
    let mut connects = false;
    let local = effects.iter().all(|effect| match effect {
        Effect::Connect(target) => {
            connects = true;
            let local = |target: &BStr| target.iter().all(plain) && is_loopback(host_of(target));
            // A port that is known later leads to no other machine that anybody would not be asked about.
            local(target.prefix())
        }
        Effect::Open { .. } | Effect::Directory(_) => true,
        _ => false,
    });
    local && connects
}
