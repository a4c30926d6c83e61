//! `run --session NAME`: directory, variables, functions and aliases are those that the last call of that name has left.

use bstr::ByteSlice;
use exacta::kept_session::{KeepError, KeptSession};
use exacta::{Session, SessionOptions};
use exacta_shell::keeping::Kept;
use exacta_shell::shell::Shell;
use std::cell::OnceCell;

use crate::invocation::RunInvocation;
use crate::output;
use crate::terminal::visible;

pub struct Going {
    kept: KeptSession,
    before: Option<Kept>,
    /// The shell as it was before it took anything up.
    begun: OnceCell<Shell>,
}

impl Going {
    pub fn on(
        options: &mut SessionOptions,
        run: &RunInvocation,
    ) -> Result<Option<Self>, KeepError> {
        let Some(name) = &run.session else { return Ok(None) };
        let kept = KeptSession::open(&options.root, name)?;
        let before = kept.read()?;
        kept.temporary().clone_into(&mut options.temporary);
        if let Some(output) = &mut options.output {
            output.temporary.clone_from(&options.temporary);
        }
        Ok(Some(Going { kept, before, begun: OnceCell::new() }))
    }

    pub fn take_up(&self, session: &mut Session, its_directory: bool) {
        let _set_once = self.begun.set(session.shell().clone());
        let Some(before) = &self.before else { return };
        session.shell_mut().take_up(before);
        if its_directory {
            session.start_in(before.directory.as_bstr());
        }
    }

    pub fn leave(&self, session: &Session) -> Result<(), KeepError> {
        let Some(begun) = self.begun.get() else { return Ok(()) };
        let left_out = self.kept.write(session.shell(), begun, session.redaction().rules())?;
        for name in left_out {
            let name = visible(&name.to_str_lossy());
            output::error(&format!(
                "exacta: {name} has a secret: it is not kept for the next call\n"
            ));
        }
        Ok(())
    }
}
