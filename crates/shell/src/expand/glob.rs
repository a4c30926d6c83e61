//! Path names: `*.c`, `src/**/*.rs`. Directories are read through the file system's own handles.

use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};

use super::field::{self, Field};
use super::pattern::{Pattern, PatternOptions};
use crate::filesystem::{Directory, FileKind, Follow};
use crate::shell::Shell;
use crate::status::{Interrupt, Running};

/// One stretch of a pattern between slashes.
enum Component {
    Literal(BString),
    Pattern(Pattern),
    /// `**`: any number of directories.
    AnyDepth,
}

/// A pattern taken apart.
struct PathPattern {
    /// What stands before the first active component, with its slashes.
    prefix: BString,
    components: Vec<Component>,
    /// A slash at the end: only directories.
    directories_only: bool,
}

impl Shell {
    /// The files a field stands for; the field itself if there are none, unless an option says otherwise.
    pub(super) fn expand_path_names(
        &mut self,
        field: Field,
        pattern: BString,
        into: &mut Vec<BString>,
    ) -> Running<()> {
        let Some(pattern) = self.parse_path_pattern(pattern.as_bstr()) else {
            into.push(field.text.into());
            return Ok(());
        };
        let mut found = self.path_names(&pattern)?;
        if !found.is_empty() {
            into.append(&mut found);
        } else if self.options.failglob {
            return Err(self.refuse([b"no match: ", field.text.as_slice()].concat()));
        } else if !self.options.nullglob {
            into.push(field.text.into());
        }
        Ok(())
    }

    /// `None`: nothing in it is active.
    fn parse_path_pattern(&self, pattern: &BStr) -> Option<PathPattern> {
        let options = PatternOptions {
            extglob: self.options.extglob,
            ignore_case: self.options.nocaseglob,
            leading_dot: !self.options.dotglob,
            encoding: self.encoding(),
        };
        let mut parsed = PathPattern {
            prefix: BString::default(),
            components: Vec::new(),
            directories_only: pattern.ends_with(b"/"),
        };
        let mut rest = pattern.as_bytes();
        while !rest.is_empty() {
            let slash = component_end(rest, options.extglob);
            let (text, after) = rest.split_at(slash);
            let slashes = after.iter().take_while(|byte| **byte == b'/').count();
            rest = after.get(slashes..).unwrap_or_default();
            let component = self.component(text, options);
            match component {
                Component::Literal(name) if parsed.components.is_empty() => {
                    parsed.prefix.extend_from_slice(&name);
                    parsed.prefix.extend_from_slice(after.get(..slashes).unwrap_or_default());
                }
                Component::AnyDepth
                    if matches!(parsed.components.last(), Some(Component::AnyDepth)) => {}
                other => parsed.components.push(other),
            }
        }
        (!parsed.components.is_empty()).then_some(parsed)
    }

    fn component(&self, text: &[u8], options: PatternOptions) -> Component {
        if text == b"**" && self.options.globstar {
            return Component::AnyDepth;
        }
        let pattern = Pattern::new(text.as_bstr(), options);
        match pattern.as_literal() {
            Some(literal) => Component::Literal(literal.into()),
            None => Component::Pattern(pattern),
        }
    }

    /// Every path that matches, in the order of its bytes.
    fn path_names(&self, pattern: &PathPattern) -> Running<Vec<BString>> {
        let mut walk = Walk {
            shell: self,
            directories_only: pattern.directories_only,
            with_dots: !self.options.globskipdots,
            shows_dot_files: self.options.dotglob,
            found: Vec::new(),
            bytes: 0,
        };
        walk.visit(&pattern.components, pattern.prefix.clone(), Base::Literal)?;
        let mut found = walk.found;
        found.sort_unstable();
        found.dedup();
        if let Some(ignored) = self.plain_value("GLOBIGNORE").filter(|list| !list.is_empty()) {
            let options = PatternOptions {
                extglob: self.options.extglob,
                ignore_case: self.options.nocaseglob,
                leading_dot: false,
                encoding: self.encoding(),
            };
            let ignored = Ignored::new(&ignored, options);
            found.retain(|path| !ignored.contains(path.as_bstr()));
        }
        Ok(found)
    }
}

/// Where the part of a path so far comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    Literal,
    Matched,
}

struct Walk<'a> {
    shell: &'a Shell,
    directories_only: bool,
    /// `.` and `..` are entries too.
    with_dots: bool,
    shows_dot_files: bool,
    found: Vec<BString>,
    bytes: u64,
}

impl Walk<'_> {
    /// `path` is empty or ends with a slash.
    fn visit(&mut self, components: &[Component], path: BString, base: Base) -> Running<()> {
        let Some((first, rest)) = components.split_first() else { return Ok(()) };
        self.shell.control.check().map_err(Interrupt::Stopped)?;
        match first {
            Component::Literal(name) => {
                let next = joined(path.as_bstr(), name.as_bstr());
                self.proceed(rest, next, FileKind::Symlink)
            }
            Component::Pattern(pattern) => {
                let Some(directory) = self.open(path.as_bstr()) else { return Ok(()) };
                for entry in directory.entries().unwrap_or_default() {
                    if pattern.matches(&entry.name) {
                        let next = joined(path.as_bstr(), entry.name.as_bstr());
                        self.proceed(rest, next, entry.kind)?;
                    }
                }
                self.visit_dots(pattern, rest, path.as_bstr())
            }
            Component::AnyDepth => self.any_depth(rest, path, base),
        }
    }

    /// A path that fits so far, of this kind (`Symlink`: it may be anything).
    fn proceed(&mut self, rest: &[Component], mut path: BString, kind: FileKind) -> Running<()> {
        let may_be_directory = matches!(kind, FileKind::Directory | FileKind::Symlink);
        if !rest.is_empty() {
            if !may_be_directory {
                return Ok(());
            }
            path.push(b'/');
            return stacker::maybe_grow(64 << 10, 1 << 20, || {
                self.visit(rest, path, Base::Matched)
            });
        }
        let absolute = self.shell.absolute(path.as_bstr());
        let files = self.shell.host.files();
        if self.directories_only {
            let is_directory = kind == FileKind::Directory
                || may_be_directory
                    && files
                        .metadata(absolute.as_bstr(), Follow::Yes)
                        .is_ok_and(|metadata| metadata.is_directory());
            if !is_directory {
                return Ok(());
            }
            path.push(b'/');
        } else if kind == FileKind::Symlink
            && files.metadata(absolute.as_bstr(), Follow::No).is_err()
        {
            return Ok(());
        }
        self.add(path)
    }

    fn add(&mut self, path: BString) -> Running<()> {
        self.bytes += path.len() as u64 + field::WORD_BYTES;
        field::check_limit(self.bytes, self.shell.control.limits.expansion_bytes)?;
        self.found.push(path);
        Ok(())
    }

    fn open(&self, path: &BStr) -> Option<Arc<dyn Directory>> {
        let absolute = match path.as_bytes() {
            b"" => self.shell.directory.clone(),
            _ => self.shell.absolute(path),
        };
        self.shell.host.files().open_directory(absolute.as_bstr(), Follow::Yes).ok()
    }

    /// `.` and `..` are entries too, if the shell was told not to skip them.
    fn visit_dots(&mut self, pattern: &Pattern, rest: &[Component], path: &BStr) -> Running<()> {
        if !self.with_dots {
            return Ok(());
        }
        let explicit = pattern.with_explicit_dot();
        for name in [".", ".."] {
            if explicit.matches(name.as_bytes()) {
                self.proceed(rest, joined(path, name.into()), FileKind::Directory)?;
            }
        }
        Ok(())
    }

    /// `**`: nothing, or any directories below that are not links.
    fn any_depth(&mut self, rest: &[Component], path: BString, base: Base) -> Running<()> {
        let Some(directory) = self.open(path.as_bstr()) else { return Ok(()) };
        if rest.is_empty() {
            if !path.is_empty() {
                let mut itself = path.clone();
                if base == Base::Matched && !self.directories_only {
                    itself.pop();
                }
                self.add(itself)?;
            }
        } else {
            self.visit(rest, path.clone(), Base::Matched)?;
        }
        self.descend(rest, &path, &*directory)
    }

    fn descend(
        &mut self,
        rest: &[Component],
        path: &BString,
        directory: &dyn Directory,
    ) -> Running<()> {
        self.shell.control.check().map_err(Interrupt::Stopped)?;
        for entry in directory.entries().unwrap_or_default() {
            if entry.name.starts_with(b".") && !self.shows_dot_files {
                continue;
            }
            let mut next = joined(path.as_bstr(), entry.name.as_bstr());
            if rest.is_empty() {
                self.proceed(rest, next.clone(), entry.kind)?;
            }
            if entry.kind != FileKind::Directory {
                continue;
            }
            next.push(b'/');
            if !rest.is_empty() {
                self.visit(rest, next.clone(), Base::Matched)?;
            }
            if let Ok(below) = directory.open_directory(entry.name.as_bstr(), Follow::No) {
                stacker::maybe_grow(64 << 10, 1 << 20, || self.descend(rest, &next, &*below))?;
            }
        }
        Ok(())
    }
}

/// Where the part before the next slash ends. A slash inside `@(…)` is part of the group.
fn component_end(pattern: &[u8], extglob: bool) -> usize {
    let (mut open, mut at) = (0_usize, 0);
    while let Some(&byte) = pattern.get(at) {
        let before = at.checked_sub(1).and_then(|at| pattern.get(at));
        match byte {
            b'/' if open == 0 => return at,
            b'\\' => at += 1,
            b'(' if open > 0 || extglob && before.is_some_and(|byte| b"?*+@!".contains(byte)) => {
                open += 1;
            }
            b')' => open = open.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    // A group that never closes is none.
    let slash = if open > 0 { pattern.find_byte(b'/') } else { None };
    slash.unwrap_or(pattern.len())
}

/// `path` already ends with a slash, or is empty.
fn joined(path: &BStr, name: &BStr) -> BString {
    let mut joined = BString::new(Vec::with_capacity(path.len() + name.len() + 1));
    joined.extend_from_slice(path);
    joined.extend_from_slice(name);
    joined
}

/// `GLOBIGNORE`: patterns between colons. A star does not cross a slash, unless it is the end of its pattern.
struct Ignored {
    patterns: Vec<IgnoredPattern>,
}

struct IgnoredPattern {
    components: Vec<Pattern>,
    ends_with_star: bool,
}

impl Ignored {
    fn new(list: &BStr, options: PatternOptions) -> Self {
        let parse = |text: &[u8]| IgnoredPattern {
            components: text
                .split_str(b"/")
                .map(|part| Pattern::new(part.as_bstr(), options))
                .collect(),
            ends_with_star: text.ends_with(b"*") && !text.ends_with(b"\\*"),
        };
        Ignored { patterns: split_at_colons(list).into_iter().map(parse).collect() }
    }

    fn contains(&self, path: &BStr) -> bool {
        let name = path.rsplit_str(b"/").next().unwrap_or_default();
        name == b"." || name == b".." || self.patterns.iter().any(|pattern| pattern.matches(path))
    }
}

impl IgnoredPattern {
    fn matches(&self, path: &BStr) -> bool {
        let count = self.components.len();
        let parts: Vec<&[u8]> = if self.ends_with_star {
            path.splitn_str(count, b"/").collect()
        } else {
            path.split_str(b"/").collect()
        };
        parts.len() == count
            && self.components.iter().zip(&parts).all(|(pattern, part)| pattern.matches(part))
    }
}

/// A colon inside `[…]` belongs to the pattern.
fn split_at_colons(list: &[u8]) -> Vec<&[u8]> {
    let (mut all, mut start, mut inside) = (Vec::new(), 0, false);
    for (at, byte) in list.iter().enumerate() {
        match byte {
            b'[' => inside = true,
            b']' if list.get(at.wrapping_sub(1)) != Some(&b':') => inside = false,
            b':' if !inside => {
                all.push(list.get(start..at).unwrap_or_default());
                start = at + 1;
            }
            _ => {}
        }
    }
    all.push(list.get(start..).unwrap_or_default());
    all.retain(|part| !part.is_empty());
    all
}
