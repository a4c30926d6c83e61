//! `--include`, `--exclude`, `--exclude-dir`: which files and directories are searched.

use bstr::{BStr, BString, ByteSlice};

use super::options::read_file;
use super::{Context, ToolError};
use crate::arguments::Arguments;
use crate::fnmatch::Pattern;

#[derive(Debug, Default)]
pub(super) struct Selection {
    files: Rules,
    directories: Rules,
}

/// The last rule that matches decides. If none does, the opposite of the first rule holds.
#[derive(Debug, Default)]
struct Rules {
    rules: Vec<Rule>,
}

#[derive(Debug)]
struct Rule {
    pattern: Pattern,
    include: bool,
}

impl Selection {
    pub(super) fn read(
        context: &mut Context<'_>,
        arguments: &Arguments,
    ) -> Result<Selection, ToolError> {
        let mut selection = Selection::default();
        for option in &arguments.options {
            let Some(value) = &option.value else { continue };
            match option.id {
                "include" => selection.files.add(value, true),
                "exclude" => selection.files.add(value, false),
                "exclude-dir" => {
                    let trimmed = value.trim_end_with(|letter| letter == '/');
                    let name = if trimmed.is_empty() { value.as_bytes() } else { trimmed };
                    selection.directories.add(name, false);
                }
                "exclude-from" => {
                    let text = read_file(context, value.as_bstr())?;
                    let lines = text.split(|byte| *byte == b'\n');
                    for line in lines.map(<[u8]>::trim_ascii_end) {
                        if !line.is_empty() {
                            selection.files.add(line, false);
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(selection)
    }

    /// Is a file skipped that the walk has found? Only its own name counts.
    pub(super) fn skips_file(&self, name: &BStr) -> bool {
        self.files.exclude(|pattern| pattern.matches(name))
    }

    pub(super) fn skips_directory(&self, name: &BStr) -> bool {
        self.directories.exclude(|pattern| pattern.matches(name))
    }

    /// Is an operand skipped? Every end of its path counts.
    pub(super) fn skips_operand(&self, path: &BStr, is_directory: bool) -> bool {
        let rules = if is_directory { &self.directories } else { &self.files };
        rules.exclude(|pattern| matches_any_end(pattern, path))
    }
}

impl Rules {
    fn add(&mut self, text: &[u8], include: bool) {
        self.rules.push(Rule { pattern: Pattern::new(text, false), include });
    }

    fn exclude(&self, matches: impl Fn(&Pattern) -> bool) -> bool {
        let Some(first) = self.rules.first() else { return false };
        match self.rules.iter().rev().find(|rule| matches(&rule.pattern)) {
            Some(rule) => !rule.include,
            None => first.include,
        }
    }
}

fn matches_any_end(pattern: &Pattern, path: &BStr) -> bool {
    let path: &[u8] = path;
    let ends = memchr::memchr_iter(b'/', path).filter_map(|slash| path.get(slash + 1..));
    pattern.matches(path)
        || ends.filter(|end| end.first() != Some(&b'/')).any(|end| pattern.matches(end))
}

/// The name of a file in a walk that began at `.` without being asked to.
pub(super) fn without_dot_slash(path: &BStr) -> BString {
    path.strip_prefix(b"./").unwrap_or(path).into()
}
