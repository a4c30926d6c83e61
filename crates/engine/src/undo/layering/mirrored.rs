//! Requests whose programs write into the project itself, because no layer can be laid over it: a copy of the project says what was
//! there before, and the layer is made when they have ended.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use exacta_jail::Failure;
use exacta_shell::filesystem::OpenFile;
use exacta_store::Extent;

use super::{Layering, Made, for_undo, not_made, unable};

impl Layering {
    /// Where the running request says what it has to say.
    pub(crate) fn say_to(&self, errors: Option<Arc<dyn OpenFile>>) {
        *self.errors.lock().unwrap_or_else(PoisonError::into_inner) = errors;
    }

    /// Whether what programs change in a jail that can have no layers is found by comparing. If not, whoever starts one is asked.
    pub(crate) fn can_mirror(&self) -> bool {
        // What cannot be tried is not relied on.
        let can = self.transactions.can_mirror().unwrap_or(false);
        self.unlayered.store(!can, Ordering::Release);
        can
    }

    /// What the running request writes goes into the project, and is taken back when it has ended.
    pub(crate) fn is_mirrored(&self) -> bool {
        self.lock().as_ref().is_some_and(|made| made.mirror.is_some())
    }

    /// For a jail that can have no layers. `false`: nothing is kept, and somebody has been asked about that.
    pub(crate) fn lay_mirrored(&self) -> Result<bool, Failure> {
        if self.unlayered.load(Ordering::Acquire) {
            return Ok(false);
        }
        let mut made = self.lock();
        let made = made.as_mut().ok_or_else(not_made)?;
        if made.mirror.is_none() {
            self.write_mirrored(made, None)?;
        }
        Ok(true)
    }

    /// From now on what is written goes into the project, whoever writes.
    pub(super) fn write_mirrored(
        &self,
        made: &mut Made,
        refused: Option<&Failure>,
    ) -> Result<(), Failure> {
        let unable = |error: &_| {
            let failure = unable(error);
            match refused {
                None => failure,
                Some(Failure { step, .. }) => {
                    for_undo(Failure { step: format!("{step}, nor {}", failure.step), ..failure })
                }
            }
        };
        let mut told = |extent| self.say(extent);
        let mirror = self.transactions.mirror(&mut told).map_err(|error| unable(&error))?;
        made.layer.write_directly(&mirror).map_err(|error| unable(&error))?;
        made.mirror = Some(mirror);
        made.laid = true;
        self.refused.store(true, Ordering::Release);
        self.put_on(Arc::clone(self.transactions.root()));
        Ok(())
    }

    /// It takes a while, and happens once.
    fn say(&self, extent: Extent) {
        let megabytes = extent.bytes.div_ceil(1_000_000);
        let text = format!(
            "exacta: there is no overlay here: what programs change is found by comparing with a copy of the project, \
             which is made now ({} entries, {megabytes} MB)\n",
            extent.entries
        );
        let errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(errors) = errors {
            let _nobody_listens = errors.write_all(text.as_bytes());
        }
    }
}
