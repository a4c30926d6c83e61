//! The jail of a session: made when the first program needs it, and kept for the next.

use std::cell::LazyCell;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use exacta_jail::outcome::LimitHit;
use exacta_jail::plan::Limits;
use exacta_jail::{Cell, Failure, First, Plan, Running, Spawner};
use exacta_store::audit::AuditError;
use exacta_store::{Dismissed, LayerAhead, UndoError};
use rustix::io::Errno;

use super::ahead::Worker;
use super::doors::{self, Door, Doors};
use super::kept_parts::InUse;
use super::plan::Prepared;
use super::tally::{Tally, widest};
use crate::network::{self, Proxy, Reach};
use crate::undo::Layering;

#[derive(Default)]
pub struct Jail {
    state: Mutex<State>,
    pub(super) worker: OnceLock<Worker>,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) standing: Option<Standing>,
    /// One that was ended with the last request of a session.
    ended: Option<Standing>,
    /// Of the request so far; `None`: no program has run.
    pub(super) tally: Option<Tally>,
    /// What requests before have used.
    past: Duration,
    doors: Doors,
}

/// What a jail that is made now is for.
#[derive(Clone, Copy, Default)]
struct Coming<'a> {
    /// Started in it next.
    first: Option<First<'a>>,
    /// To be done while it is made.
    meanwhile: Option<&'a dyn Fn()>,
}

/// Why a program was not started.
pub enum NotStarted {
    Unrecorded(AuditError),
    Failed(Failure),
}

impl From<Failure> for NotStarted {
    fn from(failure: Failure) -> Self {
        NotStarted::Failed(failure)
    }
}

/// Fields are dropped in this order.
pub(super) struct Standing {
    /// The way out, which nothing uses until a program is granted something. A jail without a network of its own has
    /// none.
    proxy: Option<Proxy>,
    pub(super) cell: Cell,
    /// A layer of the running request lies over the project in it.
    pub(super) laid: bool,
    /// One that lies over the project for the next request, see `ahead.rs`.
    pub(super) ahead: Option<LayerAhead>,
    /// What it has used is counted anew already, and nothing has run since.
    pub(super) counts_anew: bool,
    /// Sockets of the host that are covered in it.
    closed: Vec<Door>,
    /// Parts of its view.
    in_use: InUse,
    spawner: Spawner,
    /// Hundreds of small pieces: to free them is for when nobody waits for a program any more.
    _made_of: Plan,
}

impl Tally {
    /// The same of a jail that has ended: nothing in it is connected to anything any more.
    fn add_ended(&mut self, standing: &Standing) {
        self.connections.extend(standing.proxy.iter().flat_map(Proxy::close));
        self.add(&standing.cell);
    }
}

impl Jail {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a program. The limits are those of the whole request: they only ever grow while it lasts. Nothing of it runs
    /// before it is recorded; while the disk takes that, a jail is made.
    pub fn start(
        &self,
        (program, reach): (First<'_>, &Reach),
        limits: &Limits,
        (prepared, layering): (&Prepared, Option<&Layering>),
        recorded: impl FnOnce() -> Result<(), AuditError>,
    ) -> Result<Running, NotStarted> {
        let recorded = LazyCell::new(recorded);
        // Nobody waits for the disk with a jail that others use.
        if self.lock().standing.is_some() {
            LazyCell::force(&recorded);
        }
        let mut state = self.lock();
        // A jail that has to be made is made for it, unless more has to be known of the jail first.
        let first = Some(program).filter(|_| reach.is_empty());
        let meanwhile = || _ = LazyCell::force(&recorded);
        let coming = Coming { first, meanwhile: Some(&meanwhile) };
        let mut standing = state.ready_and_laid(limits, prepared, layering, coming)?;
        if let Err(error) = LazyCell::force(&recorded) {
            // With what may wait in it to be started.
            standing.cell.kill();
            state.standing = Some(standing);
            return Err(NotStarted::Unrecorded(error.clone()));
        }
        let mut started = standing.start(program, reach);
        // It has ended just now, for a limit: what ran in it is gone, but not what comes next.
        if started.as_ref().is_err_and(is_gone) {
            standing.cell.kill();
            state.standing = Some(standing);
            standing = state.renewed(prepared, layering, Coming::default())?;
            standing.lay(layering)?;
            started = standing.start(program, reach);
        }
        let reaches_out = standing.proxy.is_some() && !reach.is_empty();
        if let Some(tally) = &mut state.tally {
            tally.reached_out |= reaches_out;
        }
        state.standing = Some(standing);
        started.map_err(NotStarted::Failed)
    }

    /// Ends everything inside, for a process that ends now: its spawner does the rest when that is gone.
    pub fn leave(&self) {
        let mut state = self.lock();
        if let Some(mut standing) = state.standing.take() {
            standing.cell.kill();
            standing.drop_ahead();
            std::mem::forget(standing);
        }
        std::mem::forget(state.ended.take());
    }

    /// The session is over: all that runs ends at once. What is left of the jail then is put away beside whatever comes next.
    pub fn end(&self) {
        let mut state = self.lock();
        for mut standing in state.standing.take().into_iter().chain(state.ended.take()) {
            standing.cell.kill();
            standing.drop_ahead();
            // Without a thread it is dropped here.
            let _here_or_there =
                thread::Builder::new().name("jail-end".into()).spawn(|| drop(standing));
        }
    }

    /// Removes what is left of a layer. The spawner does, if there is one: to remove a directory may wait for the disk.
    pub fn put_away(&self, dismissed: Dismissed) -> Result<(), UndoError> {
        let state = self.lock();
        match state.standing.as_ref().or(state.ended.as_ref()) {
            Some(standing) => standing.put_away(dismissed),
            None => dismissed.remove(),
        }
    }

    /// A jail with the request's layer in it, for what comes. `false`: there is no layer.
    pub fn prepare(
        &self,
        limits: &Limits,
        prepared: &Prepared,
        layering: Option<&Layering>,
    ) -> Result<bool, Failure> {
        let mut state = self.lock();
        let standing = state.ready_and_laid(limits, prepared, layering, Coming::default())?;
        let laid = standing.laid;
        state.standing = Some(standing);
        Ok(laid)
    }

    /// Whether a layer can be had at all. Makes the jail that would have it.
    pub fn has_layers(
        &self,
        limits: &Limits,
        prepared: &Prepared,
        layering: Option<&Layering>,
    ) -> Result<bool, Failure> {
        let mut state = self.lock();
        let mut standing = state.ready(limits, prepared, layering, Coming::default())?;
        // The one that was made for this is dropped with it.
        standing.cell.lift_unclaimed()?;
        let namespaces = standing.cell.walls().namespaces;
        state.standing = Some(standing);
        // Nothing has run yet.
        state.tally = None;
        Ok(namespaces)
    }

    /// The time of the request is used up: a new jail would only give it more.
    pub fn is_spent(&self) -> bool {
        let spent = |tally: &Tally| tally.limits_hit.contains(&LimitHit::ProcessorTime);
        self.lock().tally.as_ref().is_some_and(spent)
    }

    /// What programs have used of the processors since the session began.
    pub fn processor_time(&self) -> Duration {
        let state = self.lock();
        let Some(tally) = &state.tally else { return state.past };
        let now = state.standing.as_ref().map(|standing| standing.cell.usage().processor_time);
        state.past + tally.processor_time + now.unwrap_or_default()
    }

    /// Sends a signal to a program that runs.
    pub fn signal(&self, running: &Running, signal: u8) -> Result<(), Failure> {
        let mut state = self.lock();
        state.standing.as_mut().map_or(Ok(()), |standing| standing.cell.signal(running, signal))
    }

    /// Limits that were reached since somebody last asked, and what they are.
    pub fn reached(&self) -> (Vec<LimitHit>, Limits) {
        let mut state = self.lock();
        let State { standing, tally, .. } = &mut *state;
        let (Some(Standing { cell, .. }), Some(tally)) = (standing, tally) else {
            return Default::default();
        };
        let record = cell.take_record();
        tally.execs.extend(record.execs);
        tally.processes_peak = tally.processes_peak.max(record.processes_peak);
        let hits = cell.usage().limits_hit.into_iter().chain(record.limits_hit);
        (hits.filter(|hit| tally.hit(*hit)).collect(), tally.limits.clone())
    }

    /// Ends all that runs inside. What has been used, if anything has run since the last time.
    ///
    /// After the `last` request of a session the jail is not used again, and ends with its layer: to take that off first would
    /// be for whoever comes next.
    pub fn sweep(&self, layering: Option<&Layering>, last: bool) -> Option<Tally> {
        let mut state = self.lock();
        let mut tally = state.tally.take()?;
        if let Some(mut standing) = state.standing.take_if(|_| last) {
            // While something runs it can write: it must be gone. What is left then is init, which ends when we do.
            let swept = standing.cell.sweep().is_ok();
            tally.add_ended(&standing);
            if !swept {
                standing.cell.kill();
            }
            state.ended = Some(standing);
        } else if let Some(mut standing) = state.standing.take() {
            // A jail that cannot be swept is not used again; dropping it ends everything in it.
            let swept = standing.cell.sweep().is_ok() && standing.lift(layering).is_ok();
            tally.add_ended(&standing);
            state.standing = (swept && standing.cell.is_alive()).then_some(standing);
        }
        state.past += tally.processor_time;
        Some(tally)
    }
}

impl Standing {
    /// Lays the request's layer over the project, unless that was done.
    fn lay(&mut self, layering: Option<&Layering>) -> Result<(), Failure> {
        let layering = layering.filter(|layering| !self.laid && !layering.is_direct());
        let Some(layering) = layering else { return Ok(()) };
        if !self.cell.walls().namespaces {
            // Where nothing can be kept, whoever allows jails without a view has allowed this too, and is told.
            self.laid = layering.lay_mirrored()?;
            return Ok(());
        }
        layering.lay(&mut self.cell)?;
        self.laid = true;
        Ok(())
    }

    /// Removes what is left of a layer, or has the spawner do it.
    pub(super) fn put_away(&self, dismissed: Dismissed) -> Result<(), UndoError> {
        let (parent, name, folder) = dismissed.whereabouts()?;
        let reuse = dismissed.reuse()?.map(|reuse| {
            let exacta_store::Reuse { emptied, directory, name } = reuse;
            exacta_jail::Reuse { emptied, directory, name }
        });
        match self.spawner.put_away(parent, name, folder, reuse) {
            Ok(()) => Ok(()),
            Err(_) => dismissed.remove(),
        }
    }

    fn lift(&mut self, layering: Option<&Layering>) -> Result<(), Failure> {
        let Some(layering) = layering.filter(|_| self.laid) else { return Ok(()) };
        self.laid = false;
        layering.lift(&mut self.cell)
    }

    /// A program that was granted something finds the way out in its environment, and no other one does.
    fn start(&mut self, first: First<'_>, reach: &Reach) -> Result<Running, Failure> {
        let First { program, descriptors, manner } = first;
        let Some(proxy) = self.proxy.as_ref().filter(|_| !reach.is_empty()) else {
            return self.cell.start_for_now(program, descriptors, manner);
        };
        let address = proxy.admit(reach.clone());
        let address = address.map_err(|error| Failure::new("open the way out", error))?;
        let mut program = program.clone();
        network::add_variables(&mut program.environment, &address);
        self.cell.start_for_now(&program, descriptors, manner)
    }
}

impl Drop for Standing {
    fn drop(&mut self) {
        self.drop_ahead();
    }
}

impl Drop for Jail {
    fn drop(&mut self) {
        self.end();
    }
}

impl State {
    fn ready_and_laid(
        &mut self,
        limits: &Limits,
        prepared: &Prepared,
        layering: Option<&Layering>,
        coming: Coming<'_>,
    ) -> Result<Standing, Failure> {
        let laid = match layering {
            Some(layering) => self.laid(limits, prepared, layering, coming),
            None => self.ready(limits, prepared, None, coming),
        };
        if let (Ok(standing), Some(tally), Some(layering)) = (&laid, &mut self.tally, layering) {
            tally.direct |= layering.is_direct();
            tally.unprotected |= !standing.laid && !layering.is_direct();
        }
        if laid.is_err() {
            // Nothing has run yet, and so nothing has held it: there is nothing to report.
            self.tally.take_if(|tally| tally.execs.is_empty());
        }
        laid
    }

    /// A jail in which the request's layer lies over the project, unless it writes directly.
    fn laid(
        &mut self,
        limits: &Limits,
        prepared: &Prepared,
        layering: &Layering,
        coming: Coming<'_>,
    ) -> Result<Standing, Failure> {
        let mut standing = match self.still_standing(limits, prepared)? {
            Some(standing) => standing,
            // Before the jail, which then comes with it.
            None => {
                layering.make().and_then(|()| self.renewed(prepared, Some(layering), coming))?
            }
        };
        let claimed = standing.claim_ahead(layering);
        if let Err(failure) = layering.make() {
            self.standing = Some(standing);
            return Err(failure);
        }
        if claimed.and_then(|()| standing.lay(Some(layering))).is_err() {
            // What it was made from may be gone: `git clean -fdx`.
            standing.cell.kill();
            self.standing = Some(standing);
            standing = self.renewed(prepared, Some(layering), Coming::default())?;
            standing.lay(Some(layering))?;
        }
        Ok(standing)
    }

    /// A jail with at least these limits.
    fn ready(
        &mut self,
        limits: &Limits,
        prepared: &Prepared,
        layering: Option<&Layering>,
        coming: Coming<'_>,
    ) -> Result<Standing, Failure> {
        match self.still_standing(limits, prepared)? {
            Some(standing) => Ok(standing),
            None => self.renewed(prepared, layering, coming),
        }
    }

    /// The jail that was used before, if it can be used again.
    fn still_standing(
        &mut self,
        limits: &Limits,
        prepared: &Prepared,
    ) -> Result<Option<Standing>, Failure> {
        let first = self.tally.is_none();
        let tally = self.tally.get_or_insert_default();
        tally.limits = if first { limits.clone() } else { widest(&tally.limits, limits) };
        // A service may have opened its door since the last request, or the operator have cleared away what shows through the view.
        if first && self.standing.is_some() {
            let doors = self.doors.in_view(&prepared.plan().view);
            let fits = |it: &Standing| it.closed == doors && it.in_use.is_there();
            self.standing = self.standing.take().filter(fits);
        }
        if let Some(mut standing) = self.standing.take() {
            let changes = *standing.cell.limits() != tally.limits;
            let alive = standing.cell.is_alive();
            if !first && !alive {
                tally.add_ended(&standing);
            } else if !first && changes {
                tally.add(&standing.cell);
            }
            if alive {
                // Counts anew: for a new request, or after what was counted is in the tally.
                let counts_anew = std::mem::take(&mut standing.counts_anew);
                if changes || first && !counts_anew {
                    standing.cell.set_limits(&tally.limits)?;
                }
                tally.walls = standing.cell.walls().clone();
                return Ok(Some(standing));
            }
        }
        Ok(None)
    }

    /// A new jail, in place of one that has ended.
    fn renewed(
        &mut self,
        prepared: &Prepared,
        layering: Option<&Layering>,
        Coming { first, meanwhile }: Coming<'_>,
    ) -> Result<Standing, Failure> {
        let tally = self.tally.get_or_insert_default();
        if let Some(ended) = self.standing.take() {
            tally.add_ended(&ended);
        }
        // First: while it comes up, the plan is made.
        let spawner = Spawner::start_expecting(&prepared.person())?;
        let places = prepared.make_places();
        places.map_err(|error| Failure::new("make a place for what programs keep", error))?;
        let mut plan = Plan { limits: tally.limits.clone(), ..prepared.plan().clone() };
        let closed = self.doors.in_view(&plan.view);
        doors::close(&mut plan.view, &closed);
        let in_use = prepared.use_kept(&mut plan.view);
        plan.view.layers = layering.map(Layering::layers);
        // What it finds must not change any more: a layer comes with the jail, or there is none.
        let comes_later = |layering: &Layering| {
            let layers = plan.view.layers.as_ref();
            !layering.is_direct() && layers.is_none_or(|layers| layers.first.is_none())
        };
        let first = first.filter(|_| !layering.is_some_and(comes_later));
        let meanwhile = || meanwhile.into_iter().for_each(|it| it());
        let cell = spawner.build_for(&plan, prepared.least, first, meanwhile);
        let cell = cell.map_err(|failure| Failure {
            step: format!("{}, which `exacta doctor` says more about", failure.step),
            ..failure
        })?;
        tally.walls = cell.walls().clone();
        tally.parts = cell.parts().to_vec();
        let way_out = |socket| Proxy::new(socket, network::PORT, prepared.outlook.clone());
        let proxy = cell.proxy().map(way_out).transpose();
        let proxy = proxy.map_err(|error| Failure::new("make a way out of the jail", error))?;
        let (laid, ahead, counts_anew) = (false, None, false);
        Ok(Standing {
            proxy,
            cell,
            laid,
            ahead,
            counts_anew,
            closed,
            in_use,
            spawner,
            _made_of: plan,
        })
    }
}

/// Nobody takes orders any more.
fn is_gone(failure: &Failure) -> bool {
    let gone = [Errno::PIPE, Errno::CONNRESET];
    gone.iter().any(|errno| errno.raw_os_error() == failure.errno)
}
