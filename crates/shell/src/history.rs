//! The list of earlier commands, as `history` and `fc` see it: what is kept, and how it meets its file.

use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};

use crate::expand::pattern::{Pattern, PatternOptions};
use crate::filesystem::{Follow, OpenOptions};
use crate::shell::Shell;

/// `HISTSIZE` where nothing else is said.
const USUAL_SIZE: usize = 500;

#[derive(Debug, Clone)]
pub struct Entry {
    pub text: BString,
    /// Seconds since 1970.
    pub time: u64,
}

#[derive(Debug, Clone, Default)]
pub struct History {
    pub entries: Vec<Entry>,
    /// How many were dropped from the front: numbers go on where they were.
    pub dropped: usize,
    /// Entries that were added since the file was last told.
    pub unsaved: usize,
    /// Lines that are known to be in the file: `history -n` reads what comes after them.
    pub lines_in_file: usize,
    /// The last entry is the command that is being run.
    pub holds_current: bool,
}

impl History {
    /// The number of the first entry.
    pub fn base(&self) -> usize {
        self.dropped + 1
    }

    pub fn clear(&mut self) {
        self.entries.clear();
        self.unsaved = 0;
        self.holds_current = false;
    }

    /// The command that is being run is not to be there: `history -s`, `history -p`, `fc -s`.
    pub fn forget_current(&mut self) {
        if std::mem::take(&mut self.holds_current) {
            self.entries.pop();
            self.unsaved = self.unsaved.saturating_sub(1);
        }
    }

    fn limit(&mut self, size: usize) {
        let surplus = self.entries.len().saturating_sub(size);
        self.entries.drain(..surplus);
        self.dropped += surplus;
    }
}

impl Shell {
    /// `HISTCMD`: the number of the command that is being run.
    pub(crate) fn history_number(&self) -> usize {
        if self.options.history { self.history.dropped + self.history.entries.len() } else { 0 }
    }

    pub(crate) fn history_mut(&mut self) -> &mut History {
        Arc::make_mut(&mut self.history)
    }

    /// Adds a command unless `HISTCONTROL` or `HISTIGNORE` keep it out.
    pub(crate) fn remember_command(&mut self, text: BString) {
        self.history_mut().holds_current = false;
        if text.is_empty() || !self.is_memorable(text.as_bstr()) {
            return;
        }
        if self.history_control(b"erasedups") {
            self.history_mut().entries.retain(|entry| entry.text != text);
        }
        self.add_to_history(text);
        self.history_mut().holds_current = true;
    }

    /// Adds a line as it is.
    pub(crate) fn add_to_history(&mut self, text: BString) {
        let now = self.host.now().duration_since(std::time::SystemTime::UNIX_EPOCH);
        let entry = Entry { text, time: now.unwrap_or_default().as_secs() };
        let size = self.history_size("HISTSIZE");
        let history = self.history_mut();
        history.entries.push(entry);
        history.unsaved += 1;
        history.limit(size.unwrap_or(usize::MAX));
    }

    fn is_memorable(&self, text: &BStr) -> bool {
        let both = self.history_control(b"ignoreboth");
        if (both || self.history_control(b"ignorespace")) && text.starts_with(b" ") {
            return false;
        }
        let last = self.history.entries.last().map(|entry| entry.text.as_bstr());
        if (both || self.history_control(b"ignoredups")) && last == Some(text) {
            return false;
        }
        let Some(ignored) = self.variables.scalar("HISTIGNORE") else { return true };
        !ignored.split_str(b":").any(|pattern| match pattern {
            b"" => false,
            // The entry before.
            b"&" => last == Some(text),
            pattern => {
                let options = PatternOptions { extglob: true, ..self.pattern_options() };
                Pattern::new(pattern.as_bstr(), options).matches(text)
            }
        })
    }

    fn history_control(&self, word: &[u8]) -> bool {
        let control = self.variables.scalar("HISTCONTROL");
        control.is_some_and(|control| control.split_str(b":").any(|part| part == word))
    }

    /// `HISTSIZE` or `HISTFILESIZE`; `None`: no limit.
    fn history_size(&self, name: &str) -> Option<usize> {
        let Some(text) = self.variables.scalar(name) else {
            return if name == "HISTSIZE" { Some(USUAL_SIZE) } else { None };
        };
        // A negative number, and what is none, is no limit.
        text.to_str().ok()?.trim().parse().ok()
    }

    /// `HISTSIZE` was given a value.
    pub(crate) fn limit_history(&mut self) {
        if let Some(size) = self.history_size("HISTSIZE") {
            self.history_mut().limit(size);
        }
    }

    fn history_file(&self) -> Option<BString> {
        self.variables.scalar("HISTFILE").filter(|path| !path.is_empty()).cloned()
    }

    /// `set -o history`. A shell that begins with it has the usual file, but does not read it.
    pub(crate) fn begin_history(&mut self) {
        if self.runs_script() {
            self.load_history();
        } else {
            self.set_history_file();
        }
    }

    /// Where an interactive shell keeps its commands.
    pub(crate) fn set_history_file(&mut self) {
        if self.variables.get("HISTFILE".into()).is_none() {
            let mut file = self.expand_tilde(BStr::new(b""));
            file.extend_from_slice(b"/.bash_history");
            self.variables.set("HISTFILE", file);
        }
    }

    /// Before the first command that is remembered: what the file holds.
    pub(crate) fn load_history(&mut self) {
        if self.history.unsaved > 0 {
            return;
        }
        if let Some(path) = self.history_file() {
            // A file that is not there holds nothing.
            let _ = self.read_history(path.as_bstr(), 0);
        }
    }

    /// Appends the lines of a file from the given one on.
    pub(crate) fn read_history(&mut self, path: &BStr, from: usize) -> std::io::Result<()> {
        let mut text = Vec::new();
        let file = self.open(path, OpenOptions::reading())?;
        file.read_within(&self.control, &mut text)?;
        let unsaved = self.history.unsaved;
        let lines: Vec<&[u8]> = text.lines().filter(|line| !is_time(line)).collect();
        let count = lines.len();
        for line in lines.into_iter().skip(from) {
            self.add_to_history(line.into());
        }
        let history = self.history_mut();
        history.unsaved = unsaved;
        history.lines_in_file = count;
        Ok(())
    }

    /// Writes the last entries, as many as are asked for.
    pub(crate) fn write_history(
        &mut self,
        path: &BStr,
        count: usize,
        options: OpenOptions,
    ) -> std::io::Result<()> {
        let skipped = self.history.entries.len().saturating_sub(count);
        let mut text = Vec::new();
        for entry in self.history.entries.iter().skip(skipped) {
            text.extend_from_slice(&entry.text);
            text.push(b'\n');
        }
        let appended = options.append;
        let file = self.open(path, options)?;
        file.write_all(&text)?;
        let lines = text.lines().count();
        let history = self.history_mut();
        if appended {
            history.unsaved = 0;
        }
        history.lines_in_file = if appended { history.lines_in_file + lines } else { lines };
        Ok(())
    }

    /// `HISTFILESIZE` was given a value, or the file has grown: only the last lines of it stay.
    pub(crate) fn truncate_history_file(&mut self) {
        let (Some(path), Some(size)) = (self.history_file(), self.history_size("HISTFILESIZE"))
        else {
            return;
        };
        let mut text = Vec::new();
        let read = self
            .open(path.as_bstr(), OpenOptions::reading())
            .and_then(|file| file.read_within(&self.control, &mut text));
        let surplus = text.lines().count().saturating_sub(size);
        if read.is_err() || surplus == 0 {
            return;
        }
        let kept: Vec<u8> =
            text.lines_with_terminator().skip(surplus).flat_map(<[u8]>::to_vec).collect();
        let mode = 0o600 & !self.umask;
        // What cannot be shortened stays as it is.
        let _ = self
            .open(path.as_bstr(), OpenOptions::writing(mode))
            .and_then(|file| file.write_all(&kept));
    }

    /// The end of a shell that remembers its commands.
    pub(crate) fn save_history(&mut self) {
        if !self.options.history || self.history.unsaved == 0 {
            return;
        }
        let Some(path) = self.history_file() else { return };
        let mode = 0o600 & !self.umask;
        let (unsaved, total) = (self.history.unsaved, self.history.entries.len());
        let exists = self
            .host
            .files()
            .metadata(self.absolute(path.as_bstr()).as_bstr(), Follow::Yes)
            .is_ok();
        let saved = if exists && (unsaved <= total || self.options.histappend) {
            self.write_history(path.as_bstr(), unsaved, OpenOptions::appending(mode))
        } else {
            self.write_history(path.as_bstr(), total, OpenOptions::writing(mode))
        };
        if saved.is_ok() {
            self.truncate_history_file();
        }
    }
}

/// `#1700000000` in front of an entry says when it was typed.
fn is_time(line: &[u8]) -> bool {
    matches!(line, [b'#', digits @ ..] if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit))
}

/// The lines of a command as one entry, as `cmdhist` joins them.
pub(crate) fn as_entry(text: &[u8]) -> BString {
    let text = text.trim_end_with(|character| character == '\n');
    let text = text.trim_start_with(|character| character == '\n');
    if !text.contains(&b'\n') {
        return text.into();
    }
    let mut entry = BString::default();
    for line in text.lines() {
        if !entry.is_empty() {
            let join: &[u8] = if entry.contains_str("<<") || is_quote_open(&entry) {
                b"\n"
            } else if line.trim_ascii().is_empty() {
                continue;
            } else if goes_on(&entry) {
                b" "
            } else {
                b"; "
            };
            entry.extend_from_slice(join);
        }
        entry.extend_from_slice(line);
    }
    entry
}

/// After these no semicolon can stand.
fn goes_on(entry: &[u8]) -> bool {
    let entry = entry.trim_ascii_end();
    let word = entry.rsplit(u8::is_ascii_whitespace).next().unwrap_or_default();
    matches!(entry.last(), Some(b'{' | b'(' | b')' | b';' | b'&' | b'|'))
        || matches!(
            word,
            b"do" | b"then" | b"else" | b"elif" | b"if" | b"while" | b"until" | b"in" | b"case"
        )
}

fn is_quote_open(entry: &[u8]) -> bool {
    let mut open = None;
    let mut bytes = entry.iter();
    while let Some(&byte) = bytes.next() {
        match (open, byte) {
            (None | Some(b'"'), b'\\') => {
                bytes.next();
            }
            (None, b'\'' | b'"') => open = Some(byte),
            (Some(quote), byte) if quote == byte => open = None,
            _ => {}
        }
    }
    open.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_one_command_are_one_entry() {
        assert_eq!(as_entry(b"echo a\n"), "echo a");
        assert_eq!(
            as_entry(b"for i in 1 2\ndo\n  echo $i\ndone\n"),
            "for i in 1 2; do   echo $i; done"
        );
        assert_eq!(as_entry(b"echo 'a\n  b'\n"), "echo 'a\n  b'");
        assert_eq!(as_entry(b"f() {\n  :\n}\n"), "f() {   :; }");
    }
}
