//! What calls in Python do to files, and the commands and hosts that dangerous ones name.

use std::ops::Range;

use super::Reader;
use crate::code::tokens::Kind;
use crate::code::values::{Value, dotted, is_url, receiver_start};
use crate::effect::Language;
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
        | b"shutil.make_archive"
        | b"os.mkfifo"
        | b"fileinput.input"
        | b"fileinput.FileInput" => Call::Write,
        b"os.remove" | b"os.unlink" | b"os.rmdir" => Call::Delete,
        b"shutil.rmtree" | b"os.removedirs" => Call::DeleteTree,
        b"shutil.copy" | b"shutil.copy2" | b"shutil.copyfile" | b"shutil.copytree"
        | b"shutil.copymode" | b"shutil.copystat" => Call::Copy,
        b"shutil.move" | b"os.rename" | b"os.replace" | b"os.renames" => Call::Move,
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
            Call::DeleteTree => self.delete_tree(first, path),
            Call::Enter => self.touch(first, Access::Enter, path),
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
    fn argument(&self, open: usize, place: usize) -> Value {
        match self.tokens.arguments(open).get(place) {
            Some(range) => self.evaluator.value(self.after_keyword(range.clone())),
            None => Value::Unknown,
        }
    }

    /// `name=value` without its name.
    fn after_keyword(&self, range: Range<usize>) -> Range<usize> {
        let named =
            self.tokens.name(range.start).is_some() && self.tokens.is(range.start + 1, b"=");
        if named { range.start + 2..range.end } else { range }
    }

    fn touch(&mut self, value: Value, access: Access, seen: &[u8]) {
        self.findings.open_any(&value, access, seen);
    }

    fn delete_tree(&mut self, value: Value, seen: &[u8]) {
        let contained = value.is_a_part();
        if !contained {
            self.findings.danger(seen);
        }
        self.touch(value, Access::Delete, seen);
    }

    /// `open(path, mode)`, whatever module it is of.
    pub(super) fn open_call(&mut self, open: usize, seen: &[u8]) {
        if !self.tokens.is(open, b"(") {
            self.findings.unclear([seen, b" handed on"].concat());
            return;
        }
        let arguments = self.tokens.arguments(open);
        let named = |name: &[u8]| {
            arguments.iter().find(|range| {
                self.tokens.is_name(range.start, name) && self.tokens.is(range.start + 1, b"=")
            })
        };
        let positional = |place: usize| {
            arguments.get(place).filter(|range| !self.tokens.is(range.start + 1, b"="))
        };
        let Some(path) = positional(0).or_else(|| named(b"file")) else {
            self.findings.unclear(seen);
            return;
        };
        let mode = positional(1).or_else(|| named(b"mode")).cloned();
        let path = self.after_keyword(path.clone());
        let access = self.mode(mode);
        // Descriptors 0 to 2, or a stream that is already open.
        let number = path.len() == 1 && self.tokens.kind(path.start) == Some(Kind::Number);
        if number && matches!(self.tokens.text(path.start), b"0" | b"1" | b"2") {
            return;
        }
        self.touch(self.evaluator.value(path), access, seen);
    }

    fn mode(&self, mode: Option<Range<usize>>) -> Access {
        let Some(mode) = mode else { return Access::Read };
        let value = self.evaluator.value(self.after_keyword(mode));
        let reads = value.texts().is_some_and(|modes| {
            modes.iter().all(|mode| !mode.iter().any(|byte| b"wax+cn".contains(byte)))
        });
        if reads { Access::Read } else { Access::Write }
    }

    /// A method that works on the path it belongs to, or on the one it is given.
    pub(super) fn method(&mut self, index: usize, name: &[u8]) {
        let open = index + 1;
        if !self.tokens.is(open, b"(") {
            return;
        }
        match name {
            b"read_text" | b"read_bytes" => self.touch(self.receiver(index), Access::Read, name),
            b"write_text" | b"write_bytes" | b"touch" | b"mkdir" | b"chmod" => {
                self.touch(self.receiver(index), Access::Write, name);
            }
            b"unlink" | b"rmdir" => self.touch(self.receiver(index), Access::Delete, name),
            b"rmtree" => self.delete_tree(self.receiver(index), name),
            b"rename" | b"replace" => self.rename(index, open),
            b"open" => self.open_method(index, open),
            b"extractall" | b"extract" => {
                let arguments = self.tokens.arguments(open);
                let place = usize::from(name == b"extract");
                let value = arguments
                    .get(place)
                    .map(|range| self.evaluator.value(self.after_keyword(range.clone())));
                self.touch(value.unwrap_or_else(|| Value::text(b".")), Access::Write, name);
            }
            b"to_csv" | b"to_json" | b"to_excel" | b"to_parquet" | b"to_feather" | b"to_hdf"
            | b"to_html" | b"savefig" | b"save" | b"savetxt" | b"savez" | b"imsave"
            | b"imwrite" | b"write_image" | b"write_html" | b"to_file" | b"save_pretrained" => {
                self.given_path(open, Access::Write, name);
            }
            b"read_csv" | b"read_json" | b"read_excel" | b"read_parquet" | b"read_html"
            | b"imread" | b"read_table" | b"loadtxt" | b"genfromtxt" | b"fromfile" => {
                self.given_path(open, Access::Read, name);
            }
            b"execute" | b"executescript"
                if self.bindings.aliases.contains_key(&b"sqlite3"[..]) =>
            {
                if let Some(text) = self.argument(open, 0).single() {
                    self.findings.code(Language::Sql, text);
                }
            }
            b"timeit" | b"repeat" => {
                let text = self.tokens.literal(open + 1);
                if text.is_some() || self.tokens.kind(open + 1) == Some(Kind::Mixed) {
                    self.findings.unclear(name);
                }
            }
            b"load" | b"read" | b"parse" | b"load_file" | b"read_file" | b"from_file"
            | b"parse_file" | b"main" => self.reads_elsewhere(open, name),
            _ => {}
        }
    }

    /// Many libraries read the file they are given. Inside the project that is nothing; elsewhere it is worth a
    /// question, and no more, since texts that look like paths are often none.
    fn reads_elsewhere(&mut self, open: usize, name: &[u8]) {
        let elsewhere = self.argument(open, 0).texts().is_some_and(|texts| {
            texts.iter().any(|text| {
                text.starts_with(b"/")
                    || text.starts_with(b"~/")
                    || text.starts_with(b"../")
                    || is_url(text)
            })
        });
        // `timeit.main` runs the code it is given.
        let told = name == b"main" && self.bindings.aliases.contains_key(&b"timeit"[..]);
        if elsewhere || told {
            self.findings.unclear(name);
        }
    }

    /// The value before the dot.
    fn receiver(&self, index: usize) -> Value {
        let end = index.saturating_sub(1);
        self.evaluator.value(receiver_start(self.tokens, end)..end)
    }

    /// Texts and tables have methods of these names too: only a path is renamed by one plain argument.
    fn rename(&mut self, index: usize, open: usize) {
        let arguments = self.tokens.arguments(open);
        let [argument] = arguments.as_slice() else { return };
        if self.tokens.is(argument.start + 1, b"=") || self.tokens.is(argument.start, b"{") {
            return;
        }
        let target = self.evaluator.value(argument.clone());
        let name = self.tokens.text(index).to_vec();
        self.touch(self.receiver(index), Access::Delete, &name);
        self.touch(target, Access::Write, &name);
    }

    /// `path.open(mode)` or `module.open(path, mode)`
    fn open_method(&mut self, index: usize, open: usize) {
        let receiver = self.receiver(index);
        if receiver == Value::Unknown {
            self.open_call(open, b"open");
            return;
        }
        let mode = self.tokens.arguments(open).into_iter().next();
        let access = self.mode(mode);
        self.touch(receiver, access, b"open");
    }

    fn given_path(&mut self, open: usize, access: Access, name: &[u8]) {
        let Some(argument) = self.tokens.arguments(open).into_iter().next() else { return };
        match self.evaluator.value(self.after_keyword(argument.clone())) {
            Value::Texts(texts) => {
                for text in &texts {
                    if is_url(text) {
                        self.findings.danger(name);
                        self.findings.connect(text);
                    } else {
                        self.findings.open(text, access);
                    }
                }
            }
            Value::Inside => {}
            Value::Unknown => {
                let built = argument
                    .clone()
                    .any(|at| matches!(self.tokens.kind(at), Some(Kind::Text | Kind::Mixed)));
                if built || access == Access::Write && argument.len() == 1 {
                    self.findings.unclear([name, b" of a computed path"].concat());
                }
            }
        }
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
