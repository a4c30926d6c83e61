//! The layer of the next request, laid over the project while nobody waits.
//!
//! To make a folder and mount an overlay of it takes as long as to start a program. So it is done when a request that had a
//! layer has ended: whoever runs one program often runs another. Until a request takes it over nobody looks into the mount,
//! and everything goes on as if it were not there: the shell's own commands write into the project, and a program that is to
//! write directly finds it taken away. If anything about it is not as it should be, it is dropped, and a layer is made as if
//! there had been none. What the jail has used is counted anew at the same time: nothing runs in it until then.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Weak};
use std::thread;

use bstr::ByteSlice;
use exacta_jail::Failure;
use exacta_jail::plan::{Access, View};

use super::Programs;
use super::jail::{Jail, Standing};
use crate::undo::Layering;

impl Programs {
    /// A request has ended, and the session goes on.
    pub fn lay_ahead(&self) {
        let wanted = self.layering.as_ref().filter(|layering| layering.is_wanted_again());
        if let Some(layering) = wanted.filter(|it| !is_looked_into(&self.plan().view, it)) {
            self.jail.lay_ahead(layering);
        }
    }
}

/// Whether something of the jail is in the project: init holds on to the places of what can be read, and looks them up when it
/// has time. What was looked up in a layer is shown as it was then.
fn is_looked_into(view: &View, layering: &Layering) -> bool {
    let trees = view.trees.iter().filter(|tree| matches!(tree.access, Access::Read));
    let places = trees.map(|tree| &tree.target);
    let mut places = places.chain(view.scratch.iter().map(|scratch| &scratch.target));
    places.any(|place| place.starts_with(layering.root()))
}

/// To whom is said that a layer is to be laid ahead; absent: there is no thread for it, and nobody lays any.
pub(super) type Worker = Option<Sender<Arc<Layering>>>;

impl Jail {
    /// Beside whatever the caller does now. The next request waits for it or, if it is faster, does without.
    fn lay_ahead(self: &Arc<Self>, layering: &Arc<Layering>) {
        let worker = self.worker.get_or_init(|| start_worker(Arc::downgrade(self)));
        if let Some(worker) = worker {
            let _nobody_waits = worker.send(Arc::clone(layering));
        }
    }
}

/// Ends with the jail.
fn start_worker(jail: Weak<Jail>) -> Worker {
    let (worker, asked) = channel::<Arc<Layering>>();
    let work = move || {
        for layering in asked {
            let Some(jail) = jail.upgrade() else { return };
            let mut state = jail.lock();
            // Nothing runs in it, and nobody has begun to use it for something else.
            let idle = state.tally.is_none();
            if let Some(standing) = state.standing.as_mut().filter(|_| idle) {
                standing.lay_ahead(&layering);
            }
        }
    };
    let started = thread::Builder::new().name("jail-ahead".into()).stack_size(256 << 10);
    started.spawn(work).ok().map(|_| worker)
}

impl Standing {
    fn lay_ahead(&mut self, layering: &Layering) {
        if self.laid || self.ahead.is_some() || !self.cell.is_alive() {
            return;
        }
        let limits = self.cell.limits().clone();
        self.counts_anew = self.cell.set_limits(&limits).is_ok();
        self.ahead = layering.make_ahead();
        let Some(ahead) = &self.ahead else { return };
        if self.cell.lay_ahead(layering.root(), ahead.name().as_bstr()).is_err() {
            self.drop_ahead();
        }
    }

    /// The running request uses what was laid ahead, if it wants a layer and that is as it should be; else it is taken away. An
    /// error: the view of this jail is not as it should be.
    pub(super) fn claim_ahead(&mut self, layering: &Layering) -> Result<(), Failure> {
        let Some(ahead) = self.ahead.take() else { return Ok(()) };
        let claimed = self.cell.claim(ahead.name().as_bstr());
        let lies_there = matches!(claimed, Ok(Some(_)));
        match claimed {
            Ok(Some(mount)) if !layering.is_direct() && ahead.is_fit() => {
                if layering.take_over(ahead, mount).is_ok() {
                    return Ok(());
                }
            }
            claimed => {
                let _removed_later = self.put_away(ahead.dismiss());
                claimed?;
            }
        }
        if lies_there { self.cell.lift(layering.root()) } else { Ok(()) }
    }

    /// Nobody will use what was laid ahead in this jail.
    pub(super) fn drop_ahead(&mut self) {
        if let Some(ahead) = self.ahead.take() {
            let _removed_later = self.put_away(ahead.dismiss());
        }
    }
}
