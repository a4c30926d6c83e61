//! `~`, `~+`, `~-`, `~2`. Other users do not exist here: `~name` stays as it is written.

use bstr::{BStr, BString, ByteSlice};

use crate::shell::Shell;

impl Shell {
    /// What `~name` stands for; the name comes without the tilde.
    pub(crate) fn expand_tilde(&self, name: &BStr) -> BString {
        self.directory_by_tilde(name).unwrap_or_else(|| {
            let mut written = BString::from("~");
            written.extend_from_slice(name);
            written
        })
    }

    /// `None`: the tilde is a character like any other.
    pub(super) fn directory_by_tilde(&self, name: &BStr) -> Option<BString> {
        match name.as_bytes() {
            b"" => Some(self.home()),
            b"+" => self.plain_value("PWD").map(|value| BString::from(value.as_bytes())),
            b"-" => self.plain_value("OLDPWD").map(|value| BString::from(value.as_bytes())),
            _ => self.stacked_directory(name),
        }
    }

    fn home(&self) -> BString {
        match self.plain_value("HOME") {
            Some(home) => home.into_owned(),
            None => self.host.files().root().into(),
        }
    }

    /// `~2` and `~+2` count from the top of the stack that `dirs` shows, `~-2` from its end.
    fn stacked_directory(&self, name: &BStr) -> Option<BString> {
        let (from_end, digits) = match name.first()? {
            b'-' => (true, name.get(1..)?),
            b'+' => (false, name.get(1..)?),
            _ => (false, name.as_bytes()),
        };
        let number: usize = std::str::from_utf8(digits).ok()?.parse().ok()?;
        let size = self.directory_stack.len() + 1;
        let index = if from_end { size.checked_sub(number + 1)? } else { number };
        match self.directory_stack.len().checked_sub(index) {
            // The last that was pushed is the next below.
            Some(below) if index > 0 => self.directory_stack.get(below).cloned(),
            Some(_) => Some(self.directory.clone()),
            None => None,
        }
    }
}
