//! `dirs`

use bstr::{BStr, BString, ByteSlice};

use super::{Command, Run};
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow};

pub static COMMAND: Command = Command {
    name: "dirs",
    synopsis: "dirs",
    summary: "",
    options: &[],
    run: Run::Builtin { special: false, run },
};

fn run(_shell: &mut Shell, _words: &[BString]) -> Flow {
    Ok(ExitStatus::SUCCESS)
}

impl Shell {
    /// The current directory and those beneath it, as `dirs` shows them: with `~` unless `long`.
    pub(crate) fn shown_directory_stack(&self, long: bool) -> Vec<BString> {
        let home = self.scalar_of("HOME".into()).unwrap_or_default();
        std::iter::once(&self.directory)
            .chain(self.directory_stack.iter().rev())
            .map(|path| if long { path.clone() } else { with_tilde(path.as_bstr(), &home) })
            .collect()
    }
}

fn with_tilde(path: &BStr, home: &BStr) -> BString {
    match path.strip_prefix(home.as_bytes()) {
        Some(rest) if home.len() > 1 && (rest.is_empty() || rest.starts_with(b"/")) => {
            [b"~", rest].concat().into()
        }
        _ => path.into(),
    }
}
