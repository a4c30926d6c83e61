//! What calls in Python do to files, and the commands and hosts that dangerous ones name.

use std::ops::Range;

use super::Reader;
use crate::code::only_looks;
use crate::code::values::{Value, dotted, is_url};
use crate::event::Access;

/// What a function does with the paths it is given.
#[derive(Debug, Clone, Copy)]
enum Call {
    /// The mode is the second argument.
    Open,
    Read,
    List,
    Write,
    Delete,
    /// A whole tree.
    DeleteTree,
    /// From the first to the second.
    Copy,
    Move,
    /// Into the first, of the third and the fourth.
    Pack,
    Enter,
    Fine,
}

fn known(path: &[u8]) -> Option<Call> {
    Some(match path {
        b"io.open" | b"codecs.open" | b"gzip.open" | b"bz2.open" | b"lzma.open"
        | b"tarfile.open" | b"zipfile.ZipFile" | b"gzip.GzipFile" | b"bz2.BZ2File"
        | b"lzma.LZMAFile" | b"tokenize.open" | b"tarfile.TarFile" | b"io.FileIO"
        | b"wave.open" | b"dbm.open" | b"PIL.Image.open" => Call::Open,
        b"os.listdir" | b"os.scandir" | b"os.walk" | b"glob.glob" | b"glob.iglob" => Call::List,
        b"os.makedirs"
        | b"os.mkdir"
        | b"os.utime"
        | b"os.truncate"
        | b"os.chmod"
        | b"sqlite3.connect"
        | b"logging.FileHandler"
        | b"os.mkfifo"
        | b"fileinput.input"
        | b"fileinput.FileInput" => Call::Write,
        b"os.remove" | b"os.unlink" | b"os.rmdir" => Call::Delete,
        b"shutil.rmtree" | b"os.removedirs" => Call::DeleteTree,
        b"shutil.copy" | b"shutil.copy2" | b"shutil.copyfile" | b"shutil.copytree"
        | b"shutil.copymode" | b"shutil.copystat" => Call::Copy,
        b"shutil.move" | b"os.rename" | b"os.replace" | b"os.renames" => Call::Move,
        b"shutil.make_archive" => Call::Pack,
        b"os.chdir" => Call::Enter,
        b"linecache.getline" | b"linecache.getlines" => Call::Read,
        b"shutil.which" | b"shutil.disk_usage" | b"os.path" | b"asyncio.run" => Call::Fine,
        _ => return None,
    })
}

impl Reader<'_, '_, '_> {
    /// A function of a module that does something with paths. Returns how many parts of the path are understood by
    /// it, or `None` if it is no such function.
    pub(super) fn known_call(&mut self, path: &[u8], at: Option<(usize, usize)>) -> Option<usize> {
        let parts = path.split(|byte| *byte == b'.').count();
        match path {
            b"yaml.load" | b"yaml.load_all" | b"torch.load" => {
                if let Some((_, end)) = at {
                    self.loader(path, end);
                }
                return Some(parts);
            }
            b"importlib.import_module" => {
                if let Some((_, end)) = at {
                    self.import_module(end);
                }
                return Some(parts);
            }
            _ if path.starts_with(b"os.environ") => {
                if let Some((index, _)) = at {
                    self.environment(index, path);
                }
                return Some(2);
            }
            _ => {}
        }
        let Some(call) = known(path) else {
            if let Some((_, end)) = at {
                self.fetches(path, end);
            }
            return None;
        };
        // Only imported: what it is used for is seen where it is used.
        if let Some((_, open)) = at {
            if self.tokens.is(open, b"(") {
                self.file_call(call, path, open);
            } else if !matches!(call, Call::Fine | Call::List) {
                self.findings.unclear([path, b" handed on"].concat());
            }
        }
        Some(parts)
    }

    fn file_call(&mut self, call: Call, path: &[u8], open: usize) {
        let first = self.argument(open, 0);
        match call {
            Call::Fine => {}
            Call::Write if path == b"sqlite3.connect" && first.single() == Some(b":memory:") => {}
            Call::Open => self.open_call(open, path),
            Call::List if first == Value::Unknown || first.is_inside() => {}
            Call::Read | Call::List => self.touch(first, Access::Read, path),
            Call::Write => self.touch(first, Access::Write, path),
            Call::Delete => self.touch(first, Access::Delete, path),
            Call::DeleteTree if self.is_found_inside(open) => {}
            Call::DeleteTree => self.delete_tree(first, path),
            Call::Enter => self.touch(first, Access::Enter, path),
            Call::Pack => {
                self.touch(first, Access::Write, path);
                let taken = self.tokens.arguments(open).len();
                for place in (2..taken).take(2) {
                    self.touch(self.argument(open, place), Access::Read, path);
                }
            }
            Call::Copy | Call::Move => {
                let taken = if matches!(call, Call::Copy) { Access::Read } else { Access::Delete };
                self.touch(first, taken, path);
                self.touch(self.argument(open, 1), Access::Write, path);
            }
        }
    }

    /// The command of `os.system` and its kin.
    pub(super) fn process_call(&mut self, name: &[u8], open: usize) {
        if !self.tokens.is(open, b"(") {
            return;
        }
        let arguments = self.tokens.arguments(open);
        let first = self.argument(open, 0);
        match name {
            b"system" | b"popen" => {
                if let Some(text) = first.single() {
                    self.findings.shell(text);
                }
            }
            b"execv" | b"execve" | b"execvp" | b"execvpe" | b"posix_spawn" | b"posix_spawnp" => {
                let words = arguments.get(1).and_then(|list| self.evaluator.words(list.clone()));
                if let (Some(program), Some(words)) = (first.single(), words) {
                    let mut all = vec![program.to_vec()];
                    all.extend(words.into_iter().skip(1));
                    self.findings.run(&all);
                }
            }
            b"execl" | b"execlp" => {
                let words: Option<Vec<Vec<u8>>> = arguments
                    .iter()
                    .map(|part| self.evaluator.value(part.clone()).single().map(<[u8]>::to_vec))
                    .collect();
                if let Some(mut words) = words.filter(|words| words.len() > 1) {
                    words.remove(1);
                    self.findings.run(&words);
                }
            }
            _ => {}
        }
    }

    /// The value of an argument by its place; keyword arguments are looked up by what they give.
    pub(super) fn argument(&self, open: usize, place: usize) -> Value {
        match self.tokens.arguments(open).get(place) {
            Some(range) => self.evaluator.value(self.after_keyword(range.clone())),
            None => Value::Unknown,
        }
    }

    /// `name=value` without its name.
    pub(super) fn after_keyword(&self, range: Range<usize>) -> Range<usize> {
        let named =
            self.tokens.name(range.start).is_some() && self.tokens.is(range.start + 1, b"=");
        if named { range.start + 2..range.end } else { range }
    }

    pub(super) fn touch(&mut self, value: Value, access: Access, seen: &[u8]) {
        self.findings.open_any(&value, access, seen);
    }

    pub(super) fn delete_tree(&mut self, value: Value, seen: &[u8]) {
        let contained = value.is_a_part_or_scratch();
        if !contained {
            self.findings.danger(seen);
        }
        self.touch(value, Access::Delete, seen);
    }

    /// A library given an address will most likely go there.
    fn fetches(&mut self, path: &[u8], open: usize) {
        let computes: &[&[u8]] =
            &[b"re.", b"json.", b"html.", b"textwrap.", b"urllib.parse", b"string.", b"logging."];
        if !self.tokens.is(open, b"(") || computes.iter().any(|prefix| path.starts_with(prefix)) {
            return;
        }
        if let Some(text) = self.tokens.literal(open + 1)
            && is_url(text)
            && !crate::hosts::is_plain_loopback(bstr::BStr::new(text))
        {
            let text = text.to_vec();
            self.findings.unclear(path);
            self.findings.connect(&text);
        }
    }

    /// Loading is harmless only with a loader that makes nothing but data.
    fn loader(&mut self, path: &[u8], open: usize) {
        let end = if self.tokens.is(open, b"(") { self.tokens.partner(open) } else { open };
        let names: Vec<&[u8]> = (open..end).filter_map(|at| self.tokens.name(at)).collect();
        let safe = names.iter().any(|name| {
            matches!(
                *name,
                b"SafeLoader"
                    | b"CSafeLoader"
                    | b"BaseLoader"
                    | b"FullLoader"
                    | b"CBaseLoader"
                    | b"weights_only"
            )
        }) && !names.contains(&b"False".as_slice());
        if names
            .iter()
            .any(|name| matches!(*name, b"UnsafeLoader" | b"Loader" | b"CLoader") && !safe)
        {
            self.findings.danger(path);
        } else if !safe {
            self.findings.unclear(path);
        }
    }

    fn import_module(&mut self, open: usize) {
        let named =
            if self.tokens.is(open, b"(") { self.argument(open, 0) } else { Value::Unknown };
        match named.single() {
            Some(name) => {
                let module = name.to_vec();
                let module = super::first(&module);
                let bad = super::is_listed(module)
                    || crate::code::tokens::among(super::names::DANGEROUS_MODULES, module)
                    || module.starts_with(b"_");
                if bad {
                    self.findings.danger([b"import_module of ", module].concat());
                }
            }
            None => self.findings.danger("importlib.import_module"),
        }
    }

    /// Reading the environment is harmless; what is set there is seen by what starts later.
    fn environment(&mut self, index: usize, path: &[u8]) {
        let (_, end) = dotted(self.tokens, index);
        if let Some(name) = path.strip_prefix(b"os.environ.")
            && self.tokens.is(end, b"=")
            && let Some(value) = self.tokens.literal(end + 1)
        {
            self.findings.assign(name, value);
            return;
        }
        let changed = match path {
            b"os.environ.update"
            | b"os.environ.setdefault"
            | b"os.environ.pop"
            | b"os.environ.clear"
            | b"os.environ.popitem" => true,
            b"os.environ" => {
                self.tokens.is(end, b"[") && self.tokens.is(self.tokens.partner(end) + 1, b"=")
                    || self.tokens.is(end, b"=")
                    || self.tokens.is(end, b"|=")
            }
            _ => self.tokens.is(end, b"=") || self.tokens.is(end, b"+="),
        };
        if !changed {
            return;
        }
        let arguments =
            if self.tokens.is(end, b"(") { self.tokens.arguments(end) } else { Vec::new() };
        match (path, arguments.as_slice()) {
            (b"os.environ.setdefault", [name, value]) => {
                let name = self.evaluator.value(name.clone());
                let value = self.evaluator.value(value.clone());
                match (name.single(), value.single()) {
                    (Some(name), Some(value)) => self.findings.assign(name, value),
                    _ => self.findings.unclear(path),
                }
            }
            (b"os.environ.pop", _) => {}
            _ => self.findings.unclear(path),
        }
    }

    /// `subprocess.run(["git", "status"], text=True)`: it only looks. What feeds it, or changes where and as what it
    /// runs, is not looked at, so that it must not be there.
    pub(super) fn is_plain_process(&self, path: &[u8], open: usize) -> bool {
        const FINE: [&[u8]; 10] = [
            b"capture_output",
            b"check",
            b"encoding",
            b"errors",
            b"shell",
            b"stderr",
            b"stdout",
            b"text",
            b"timeout",
            b"universal_newlines",
        ];
        let calls: [&[u8]; 4] = [
            b"subprocess.run",
            b"subprocess.call",
            b"subprocess.check_call",
            b"subprocess.check_output",
        ];
        if !calls.contains(&path) || !self.tokens.is(open, b"(") {
            return false;
        }
        let arguments = self.tokens.arguments(open);
        let Some((command, rest)) = arguments.split_first() else { return false };
        let keyword = |range: &Range<usize>| {
            self.tokens.is(range.start + 1, b"=")
                && self.tokens.name(range.start).is_some_and(|name| FINE.contains(&name))
        };
        let shell = rest.iter().any(|range| self.tokens.is_name(range.start, b"shell"));
        let looks = match self.evaluator.words(command.clone()) {
            Some(words) => !shell && only_looks(&words.join(&b' ')),
            None => shell && self.evaluator.value(command.clone()).single().is_some_and(only_looks),
        };
        looks && rest.iter().all(keyword)
    }

    /// The command or the host of a call that is dangerous anyway.
    pub(super) fn dangerous_call(&mut self, path: &[u8], open: usize) {
        if !self.tokens.is(open, b"(") {
            return;
        }
        let arguments = self.tokens.arguments(open);
        let Some(argument) = arguments.first() else { return };
        let value = self.evaluator.value(argument.clone());
        if path.starts_with(b"subprocess.")
            || path.starts_with(b"pty.")
            || path.starts_with(b"pexpect.")
        {
            let shell = arguments.iter().any(|range| self.tokens.is_name(range.start, b"shell"))
                || path.ends_with(b"output") && path.contains(&b'g')
                || path.starts_with(b"pexpect.");
            if let Some(words) = self.evaluator.words(argument.clone()) {
                self.findings.run(&words);
            } else if let Some(text) = value.single() {
                if shell { self.findings.shell(text) } else { self.findings.run(&[text.to_vec()]) }
            }
        } else if let Some(text) = value.texts() {
            for text in text.iter().filter(|text| is_url(text)) {
                self.findings.connect(text);
            }
        } else if let Some(words) = self.evaluator.words(argument.clone())
            && let Some(host) = words.first()
        {
            self.findings.connect(host);
        }
    }
}
