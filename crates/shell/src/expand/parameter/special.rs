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
            Parameter::Options => (b'-', Some(self.option_letters())),
            Parameter::ProcessId => {
                (b'$', Some(self.host.identity().process_id.to_string().into()))
            }
            Parameter::BackgroundId => {
                (b'!', self.last_background.map(|number| number.to_string().into()))
            }
            Parameter::All => (b'@', None),
            Parameter::Joined => (b'*', None),
            Parameter::Variable(_) | Parameter::Positional(_) => (b'?', None),
        }
    }

    /// `$-`, in the order of bash's own table.
    pub(crate) fn option_letters(&self) -> BString {
        let options = &self.options;
        let letters = [
            (b'a', options.allexport),
            (b'e', options.errexit),
            (b'f', options.noglob),
            (b'h', options.hashall),
            (b'i', options.interactive),
            (b'm', options.monitor),
            (b'n', options.noexec),
            (b'p', options.privileged),
            (b'u', options.nounset),
            (b'v', options.verbose),
            (b'x', options.xtrace),
            (b'B', options.braceexpand),
            (b'C', options.noclobber),
            (b'E', options.errtrace),
            (b'P', options.physical),
            (b'T', options.functrace),
            (b'c', options.command_string),
            (b's', options.from_stdin),
        ];
        letters
            .into_iter()
            .filter(|(_, on)| *on)
            .map(|(letter, _)| letter)
            .collect::<Vec<u8>>()
            .into()
    }
}
