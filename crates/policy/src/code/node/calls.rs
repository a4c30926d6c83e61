//! What calls in JavaScript do to files, and the commands and hosts that dangerous ones name.

use std::ops::Range;

use bstr::BStr;

use super::{Reader, names};
use crate::code::only_looks;
use crate::code::tokens::{Kind, among};
use crate::code::values::{Value, is_url};
use crate::event::Access;
use crate::hosts::is_plain_loopback;

impl Reader<'_, '_, '_> {
    /// A module's name with the parts that follow. Returns up to where they need no more looking at.
    pub(super) fn path(&mut self, path: &[u8], index: usize, end: usize) -> usize {
        let module = path.split(|byte| *byte == b'.').next().unwrap_or(path);
        let rest = path.get(module.len() + 1..).unwrap_or_default();
        let member = rest.split(|byte| *byte == b'.').next().unwrap_or(rest);
        match module {
            _ if member.is_empty() => index + 1,
            b"fs" | b"fs/promises" => {
                let name = rest.strip_prefix(b"promises.").unwrap_or(rest);
                self.file(name, path, end);
                end
            }
            b"process" => self.process(path, rest, member, index, end),
            b"os" => {
                if matches!(member, b"setPriority" | b"constructor") {
                    self.findings.unclear(path);
                }
                index + 3
            }
            b"Deno" => self.deno(path, member, index, end),
            b"Bun" => self.bun(path, member, index, end),
            _ if among(names::DANGEROUS_MODULES, module) => {
                if matches!(
                    member,
                    b"STATUS_CODES"
                        | b"METHODS"
                        | b"VERSION"
                        | b"version"
                        | b"builtinModules"
                        | b"isMainThread"
                ) {
                    return index + 3;
                }
                if !self.is_plain_process(module, end.saturating_sub(3)) {
                    self.findings.danger(path);
                }
                self.dangerous(module, member, end);
                end
            }
            _ => index + 1,
        }
    }

    fn argument(&self, open: usize, place: usize) -> Option<Range<usize>> {
        if !self.tokens.is(open, b"(") {
            return None;
        }
        self.tokens.arguments(open).into_iter().nth(place)
    }

    fn value(&self, open: usize, place: usize) -> Value {
        self.argument(open, place).map_or(Value::Unknown, |range| self.evaluator.value(range))
    }

    fn touch(&mut self, open: usize, place: usize, access: Access, seen: &[u8]) {
        if !self.tokens.is(open, b"(") {
            self.findings.unclear([seen, b" handed on"].concat());
            return;
        }
        let range = self.argument(open, place).unwrap_or(0..0);
        // Descriptors of the process's own streams.
        let number = range.len() == 1 && self.tokens.kind(range.start) == Some(Kind::Number);
        if number && matches!(self.tokens.text(range.start), b"0" | b"1" | b"2") {
            return;
        }
        self.findings.open_any(&self.evaluator.value(range), access, seen);
    }

    /// A function of `fs`.
    fn file(&mut self, name: &[u8], path: &[u8], open: usize) {
        let name = name.strip_suffix(b"Sync").unwrap_or(name);
        match name {
            b"readFile" | b"createReadStream" | b"readlink" | b"opendir" => {
                self.touch(open, 0, Access::Read, path);
            }
            b"readdir" | b"stat" | b"lstat" | b"exists" | b"access" | b"realpath" | b"statfs"
            | b"constants" | b"Stats" | b"glob" | b"read" | b"close" | b"fstat" => {
                let value = self.value(open, 0);
                if name == b"readdir" && value != Value::Unknown && !value.is_inside() {
                    self.touch(open, 0, Access::Read, path);
                }
            }
            b"writeFile" | b"appendFile" | b"createWriteStream" | b"mkdir" | b"mkdtemp"
            | b"truncate" | b"utimes" | b"chmod" => self.touch(open, 0, Access::Write, path),
            b"write" => {
                // To a descriptor that was opened before.
            }
            b"open" => {
                let flags = self.value(open, 1);
                let reads = self.argument(open, 1).is_none()
                    || matches!(flags.single(), Some(b"r" | b"rs"));
                self.touch(open, 0, if reads { Access::Read } else { Access::Write }, path);
            }
            b"copyFile" | b"cp" => {
                self.touch(open, 0, Access::Read, path);
                self.touch(open, 1, Access::Write, path);
            }
            b"rename" => {
                self.touch(open, 0, Access::Delete, path);
                self.touch(open, 1, Access::Write, path);
            }
            b"unlink" => self.touch(open, 0, Access::Delete, path),
            b"rm" | b"rmdir" => {
                let contained = self.value(open, 0).is_a_part();
                let tree = self.argument(open, 1).is_some();
                if tree && !contained {
                    self.findings.danger(path);
                }
                self.touch(open, 0, Access::Delete, path);
            }
            _ => self.findings.unclear(path),
        }
    }

    fn process(
        &mut self,
        path: &[u8],
        rest: &[u8],
        member: &[u8],
        index: usize,
        end: usize,
    ) -> usize {
        match member {
            b"env" => {
                let name = rest.strip_prefix(b"env.").unwrap_or_default();
                if self.tokens.is(end, b"=")
                    && !name.is_empty()
                    && let Some(value) = self.tokens.literal(end + 1)
                {
                    self.findings.assign(name, value);
                } else if self.tokens.is(end, b"=")
                    || self.tokens.is(end, b"[")
                        && self.tokens.is(self.tokens.partner(end) + 1, b"=")
                {
                    self.findings.unclear(path);
                }
                end
            }
            b"chdir" => {
                self.touch(end, 0, Access::Enter, path);
                end
            }
            _ if among(names::PROCESS, member) => index + 3,
            _ if among(names::DANGEROUS_PROPERTIES, member) || member == b"kill" => {
                self.findings.danger(path);
                index + 3
            }
            _ => {
                self.findings.unclear(path);
                index + 3
            }
        }
    }

    fn deno(&mut self, path: &[u8], member: &[u8], index: usize, end: usize) -> usize {
        match member.strip_suffix(b"Sync").unwrap_or(member) {
            b"args" | b"version" | b"build" | b"env" | b"cwd" | b"exit" | b"stdin" | b"stdout"
            | b"stderr" | b"pid" | b"inspect" | b"test" | b"stat" | b"lstat" | b"memoryUsage"
            | b"errors" | b"hostname" | b"noColor" | b"mainModule" => index + 3,
            b"readTextFile" | b"readFile" | b"readDir" => {
                self.touch(end, 0, Access::Read, path);
                end
            }
            b"writeTextFile" | b"writeFile" | b"mkdir" => {
                self.touch(end, 0, Access::Write, path);
                end
            }
            b"remove" => {
                self.touch(end, 0, Access::Delete, path);
                if self.argument(end, 1).is_some() {
                    self.findings.danger(path);
                }
                end
            }
            _ => {
                self.findings.danger(path);
                end
            }
        }
    }

    fn bun(&mut self, path: &[u8], member: &[u8], index: usize, end: usize) -> usize {
        match member {
            b"version" | b"revision" | b"env" | b"argv" | b"main" | b"nanoseconds" | b"inspect"
            | b"hash" | b"sleep" | b"stdin" | b"stdout" | b"stderr" | b"semver" | b"which"
            | b"deepEquals" => index + 3,
            b"file" => {
                self.touch(end, 0, Access::Read, path);
                end
            }
            b"write" => {
                self.touch(end, 0, Access::Write, path);
                end
            }
            _ => {
                self.findings.danger(path);
                end
            }
        }
    }

    /// `require('child_process').execSync('git status')`: it only looks. `before` is what stands before the dot and the
    /// function.
    pub(super) fn is_plain_process(&self, module: &[u8], before: usize) -> bool {
        let open = before + 3;
        if module != b"child_process" || !self.tokens.is(open, b"(") {
            return false;
        }
        let arguments = self.tokens.arguments(open);
        let first = arguments.first().map(|range| self.evaluator.value(range.clone()));
        let Some(program) = first.as_ref().and_then(Value::single) else { return false };
        let list = arguments.get(1).and_then(|range| self.evaluator.words(range.clone()));
        let looks = match (self.tokens.name(before + 2), arguments.len(), list) {
            (Some(b"execSync"), 1, _) => only_looks(program),
            (Some(b"execFileSync" | b"spawnSync"), 2, Some(words)) => {
                only_looks(&[program, b" ", &words.join(&b' ')].concat())
            }
            _ => false,
        };
        looks && self.tokens.is(before, b")") && self.tokens.is(before + 1, b".")
    }

    /// The command or the host of a call that is dangerous anyway.
    fn dangerous(&mut self, module: &[u8], member: &[u8], open: usize) {
        if module != b"child_process"
            && module != b"execa"
            && module != b"shelljs"
            && module != b"cross-spawn"
        {
            self.connect(open);
            return;
        }
        let first = self.value(open, 0);
        let Some(text) = first.single() else { return };
        let shell = matches!(member, b"exec" | b"execSync" | b"execaCommand" | b"execaCommandSync");
        let list = self.argument(open, 1).and_then(|range| self.evaluator.words(range));
        match list {
            Some(words) if !shell => {
                let mut all = vec![text.to_vec()];
                all.extend(words);
                self.findings.run(&all);
            }
            _ if shell => self.findings.shell(text),
            _ => self.findings.run(&[text.to_vec()]),
        }
    }

    /// `fetch('http://localhost:3000/health')`: the server under test.
    pub(super) fn asks_this_machine(&mut self, open: usize) -> bool {
        self.tokens.is(open, b"(")
            && self.value(open, 0).texts().is_some_and(|texts| {
                !texts.is_empty() && texts.iter().all(|text| is_plain_loopback(BStr::new(text)))
            })
    }

    pub(super) fn connect(&mut self, open: usize) {
        if let Some(texts) = self.value(open, 0).texts() {
            for text in texts.iter().filter(|text| is_url(text)) {
                self.findings.connect(text);
            }
        }
    }
}
