//! Programs that write into the project at once, and what is said of that.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use exacta_jail::Level;
use exacta_policy::limits::Allowance;
use exacta_shell::filesystem::OpenFile;
use exacta_shell::host::Program;

use super::{ProgramOptions, Programs, limits};
use crate::pipeline::Cleared;
use crate::undo::Keep;

const DIRECT: &str = "exacta: what programs of this request write goes into the project at once and cannot be undone\n";

const LAYERED: &str = "exacta: programs before this one write to a layer, and so does it: what people change meanwhile is not seen\n\
                       hint: start it in a request of its own\n";

/// Where the program says what it has to say.
pub(super) fn say(program: &Program<'_>, text: &str) {
    if let Some((_, errors)) = program.descriptors.iter().find(|(number, _)| *number == 2) {
        let _nobody_may_read = errors.write_all(text.as_bytes());
    }
}

impl Programs {
    /// Whether what it writes goes into a layer. If not, that is said before it starts: a server may never end.
    pub(super) fn choose_layer(&self, program: &Program<'_>, cleared: Option<&Cleared>) {
        let by_rule = cleared.is_some_and(Cleared::is_direct);
        let text = match &self.layering {
            None if self.direct => DIRECT,
            Some(layering) if by_rule && !layering.is_direct() => {
                if layering.write_directly() {
                    DIRECT
                } else {
                    LAYERED
                }
            }
            _ => return,
        };
        if !self.told.swap(true, Ordering::Relaxed) {
            say(program, text);
        }
    }

    /// Where the running request says what it has to say.
    pub(crate) fn say_to(&self, errors: Option<Arc<dyn OpenFile>>) {
        if let Some(layering) = &self.layering {
            layering.say_to(errors);
        }
    }

    /// What the running request writes goes into the project, and is taken back when it has ended.
    pub(crate) fn is_mirrored(&self) -> bool {
        self.layering.as_ref().is_some_and(|layering| layering.is_mirrored())
    }

    /// Whether what programs write can go into layers here, or is found by comparing. Only a machine where less than usual is enough is asked.
    pub(crate) fn can_have_layers(&self, options: &ProgramOptions) -> bool {
        if options.min_isolation.is_none_or(|least| least >= Level::Namespaces) {
            return true;
        }
        let limits = limits::of_jail(&self.chosen.applied_to(Allowance::of(self.policy.profile())));
        let Some(layering) = &self.layering else { return true };
        // What cannot be tried is not relied on.
        let made = layering.make();
        let layers =
            made.and_then(|()| self.jail.has_layers(&limits, &self.prepared, Some(layering)));
        let _dropped = self.settle(Keep::Apply, 0);
        layers.unwrap_or(false) || layering.can_mirror()
    }
}
