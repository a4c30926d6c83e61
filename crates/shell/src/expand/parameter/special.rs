//! `$#`, `$?`, `$-`, `$$`, `$!`.

use bstr::BString;
use exacta_syntax::ast::Parameter;

use crate::shell::Shell;

impl Shell {
    /// The letter of a special parameter and its value.
    pub(super) fn special_value(&self, parameter: &Parameter) -> (u8, Option<BString>) {
        match parameter {
            Parameter::Count => (b'#', Some(self.positional.len().to_string().into())),
            Parameter::Status => (b'?', Some(self.status.to_string().into())),
            Parameter::Options => (b'-', Some(self.options.letters().into())),
            Parameter::ProcessId => (b'$', Some(self.shell_process_id().to_string().into())),
            Parameter::BackgroundId => {
                (b'!', self.last_background.map(|number| number.to_string().into()))
            }
            Parameter::All => (b'@', None),
            Parameter::Joined => (b'*', None),
            Parameter::Variable(_) | Parameter::Positional(_) => (b'?', None),
        }
    }
}
