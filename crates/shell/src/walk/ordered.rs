//! Work on several threads whose results come out in the order of the work.
//!
//! The calling thread makes the jobs, works on them as well, and alone hands over results. Threads start only
//! when there is enough to do. What waits to be handed over is bounded: a thread that is ahead waits.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::builtins::ToolError;
use crate::control::PATIENCE;

/// Jobs that wait before threads are started: fewer are done sooner by one alone.
const WORTH_THREADS: usize = 2;

/// Jobs that may wait for each thread.
const AHEAD: usize = 4;

/// Bytes of results that may wait for their turn.
const WAITING: usize = 4 << 20;

/// Threads at most, the caller included.
const MOST_THREADS: usize = 8;

/// A part of the result of a job.
pub(crate) trait Piece: Send {
    fn size(&self) -> usize;
}

/// Where a job puts its results, piece by piece.
pub(crate) trait Sink<P> {
    /// `Err(())`: nobody wants them any more.
    fn put(&mut self, piece: P) -> Result<(), ()>;
}

struct Shared<J, P> {
    state: Mutex<State<J, P>>,
    /// A job is there, or there will be none.
    work: Condvar,
    /// A piece is there, or room for more.
    progress: Condvar,
}

struct State<J, P> {
    jobs: VecDeque<(u64, J)>,
    finished: BTreeMap<u64, Finished<P>>,
    /// The job whose pieces are handed over now.
    turn: u64,
    waiting: usize,
    no_more: bool,
    stopped: bool,
}

struct Finished<P> {
    pieces: VecDeque<P>,
    complete: bool,
}

impl<J, P: Piece> Shared<J, P> {
    fn lock(&self) -> MutexGuard<'_, State<J, P>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, sequence: u64, piece: Option<P>, complete: bool) -> Result<(), ()> {
        let mut state = self.lock();
        while !state.stopped && state.turn != sequence && state.waiting > WAITING {
            state = wait(&self.progress, state);
        }
        if state.stopped {
            return Err(());
        }
        state.waiting += piece.as_ref().map_or(0, Piece::size);
        let result = state
            .finished
            .entry(sequence)
            .or_insert_with(|| Finished { pieces: VecDeque::new(), complete: false });
        result.pieces.extend(piece);
        result.complete |= complete;
        let wanted = state.turn == sequence;
        drop(state);
        if wanted {
            self.progress.notify_all();
        }
        Ok(())
    }

    /// Lets every thread end.
    fn stop(&self) {
        self.lock().stopped = true;
        self.work.notify_all();
        self.progress.notify_all();
    }

    fn next_job(&self) -> Option<(u64, J)> {
        let mut state = self.lock();
        loop {
            if state.stopped {
                return None;
            }
            if let Some(job) = state.jobs.pop_front() {
                return Some(job);
            }
            if state.no_more {
                return None;
            }
            state = wait(&self.work, state);
        }
    }
}

/// Until something changes, or long enough to look whether the request is over.
fn wait<'a, T>(on: &Condvar, state: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    match on.wait_timeout(state, PATIENCE) {
        Ok((state, _)) => state,
        Err(poisoned) => poisoned.into_inner().0,
    }
}

struct WorkerSink<'a, J, P> {
    shared: &'a Shared<J, P>,
    sequence: u64,
}

impl<J, P: Piece> Sink<P> for WorkerSink<'_, J, P> {
    fn put(&mut self, piece: P) -> Result<(), ()> {
        self.shared.put(self.sequence, Some(piece), false)
    }
}

/// The calling thread's sink: hands over at once when it is its turn, and lets others finish meanwhile.
struct OwnSink<'a, J, P, E> {
    shared: &'a Shared<J, P>,
    sequence: u64,
    emit: &'a mut E,
    failure: Option<ToolError>,
    held: VecDeque<P>,
    held_size: usize,
}

impl<J, P: Piece, E: FnMut(P) -> Result<(), ToolError>> Sink<P> for OwnSink<'_, J, P, E> {
    fn put(&mut self, piece: P) -> Result<(), ()> {
        self.held_size += piece.size();
        self.held.push_back(piece);
        loop {
            let turn = self.hand_over().map_err(|error| self.failure = Some(error))?;
            if turn || self.held_size <= WAITING {
                return Ok(());
            }
            let state = self.shared.lock();
            if state.stopped {
                return Err(());
            }
            drop(wait(&self.shared.progress, state));
        }
    }
}

impl<J, P: Piece, E: FnMut(P) -> Result<(), ToolError>> OwnSink<'_, J, P, E> {
    /// Everything that is before this job, and this job's own if nothing is missing. `true`: it was its turn.
    fn hand_over(&mut self) -> Result<bool, ToolError> {
        if hand_over(self.shared, self.emit)? != self.sequence {
            return Ok(false);
        }
        self.held_size = 0;
        self.held.drain(..).try_for_each(|piece| (self.emit)(piece))?;
        Ok(true)
    }
}

/// Hands over what is complete or has its turn; gives the job whose turn it is now.
fn hand_over<J, P: Piece>(
    shared: &Shared<J, P>,
    emit: &mut impl FnMut(P) -> Result<(), ToolError>,
) -> Result<u64, ToolError> {
    loop {
        let mut state = shared.lock();
        let turn = state.turn;
        let Some(result) = state.finished.get_mut(&turn) else { return Ok(turn) };
        let pieces = std::mem::take(&mut result.pieces);
        if result.complete {
            state.finished.remove(&turn);
            state.turn += 1;
        } else if pieces.is_empty() {
            return Ok(turn);
        }
        state.waiting -= pieces.iter().map(Piece::size).sum::<usize>().min(state.waiting);
        drop(state);
        shared.progress.notify_all();
        pieces.into_iter().try_for_each(&mut *emit)?;
    }
}

/// Runs jobs until `produce` has no more. `start` makes what a thread keeps between its jobs, `work` does one
/// job, `emit` gets the pieces in order, on the calling thread. A job that fails ends everything; the caller
/// knows why.
pub(crate) fn run<J, P, W>(
    mut produce: impl FnMut() -> Result<Option<J>, ToolError>,
    start: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, J, &mut dyn Sink<P>) -> Result<(), ()> + Sync,
    mut emit: impl FnMut(P) -> Result<(), ToolError>,
) -> Result<(), ToolError>
where
    J: Send,
    P: Piece,
{
    let state = State {
        jobs: VecDeque::new(),
        finished: BTreeMap::new(),
        turn: 0,
        waiting: 0,
        no_more: false,
        stopped: false,
    };
    let shared =
        Shared { state: Mutex::new(state), work: Condvar::new(), progress: Condvar::new() };
    let (shared, start, work) = (&shared, &start, &work);
    std::thread::scope(|scope| {
        let spawn = || {
            for _ in 1..threads() {
                let worker = move || {
                    let mut kept = start();
                    while let Some((sequence, job)) = shared.next_job() {
                        let done = work(&mut kept, job, &mut WorkerSink { shared, sequence });
                        if done.is_err() || shared.put(sequence, None, true).is_err() {
                            shared.stop();
                            return;
                        }
                    }
                };
                // Without another thread the caller does everything.
                let builder = std::thread::Builder::new().name("search".to_owned());
                let _ = builder.spawn_scoped(scope, worker);
            }
        };
        let result = lead(shared, &mut produce, start, work, &mut emit, spawn);
        shared.stop();
        result
    })
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS)
}

/// What the calling thread does: keep the queue filled, work when it is full, hand over, wait for the rest.
fn lead<J, P, W>(
    shared: &Shared<J, P>,
    produce: &mut impl FnMut() -> Result<Option<J>, ToolError>,
    start: &impl Fn() -> W,
    work: &impl Fn(&mut W, J, &mut dyn Sink<P>) -> Result<(), ()>,
    emit: &mut impl FnMut(P) -> Result<(), ToolError>,
    spawn: impl FnOnce(),
) -> Result<(), ToolError>
where
    P: Piece,
{
    let mut spawn = Some(spawn);
    let mut kept = None;
    let mut sequence = 0;
    let mut no_more = false;
    loop {
        let turn = hand_over(shared, emit)?;
        let state = shared.lock();
        if state.stopped {
            return Ok(());
        }
        let waiting = state.jobs.len();
        drop(state);
        if waiting > WORTH_THREADS
            && let Some(spawn) = spawn.take()
        {
            spawn();
        }
        if !no_more && waiting < AHEAD * MOST_THREADS {
            match produce()? {
                None => {
                    no_more = true;
                    shared.lock().no_more = true;
                    shared.work.notify_all();
                }
                Some(job) => {
                    shared.lock().jobs.push_back((sequence, job));
                    sequence += 1;
                    shared.work.notify_one();
                }
            }
            continue;
        }
        let job = shared.lock().jobs.pop_front();
        match job {
            Some((own, job)) => {
                let kept = kept.get_or_insert_with(start);
                work_alone(shared, own, job, kept, work, emit)?;
            }
            None if no_more && turn == sequence => return Ok(()),
            None => {
                let state = shared.lock();
                let ready = state.finished.get(&state.turn);
                if !ready.is_some_and(|result| result.complete || !result.pieces.is_empty())
                    && state.turn != sequence
                {
                    drop(wait(&shared.progress, state));
                }
            }
        }
    }
}

fn work_alone<J, P: Piece, W>(
    shared: &Shared<J, P>,
    sequence: u64,
    job: J,
    kept: &mut W,
    work: &impl Fn(&mut W, J, &mut dyn Sink<P>) -> Result<(), ()>,
    emit: &mut impl FnMut(P) -> Result<(), ToolError>,
) -> Result<(), ToolError> {
    let mut sink =
        OwnSink { shared, sequence, emit, failure: None, held: VecDeque::new(), held_size: 0 };
    let done = work(kept, job, &mut sink);
    if let Some(failure) = sink.failure {
        return Err(failure);
    }
    let held = std::mem::take(&mut sink.held);
    let mut state = shared.lock();
    if done.is_err() {
        state.stopped = true;
    }
    state.waiting += held.iter().map(Piece::size).sum::<usize>();
    state.finished.insert(sequence, Finished { pieces: held, complete: true });
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::status::ExitStatus;

    struct Bytes(usize, Vec<u8>);

    impl Piece for Bytes {
        fn size(&self) -> usize {
            self.1.len()
        }
    }

    fn jobs(count: usize) -> impl FnMut() -> Result<Option<usize>, ToolError> {
        let mut next = 0;
        move || {
            next += 1;
            Ok((next <= count).then_some(next - 1))
        }
    }

    #[test]
    fn results_come_in_the_order_of_the_jobs() {
        let mut seen = Vec::new();
        let work = |(): &mut (), job: usize, sink: &mut dyn Sink<Bytes>| {
            if job.is_multiple_of(7) {
                std::thread::sleep(std::time::Duration::from_micros(300));
            }
            sink.put(Bytes(job, vec![0; 10]))?;
            sink.put(Bytes(job, vec![1; 10]))
        };
        let emit = |piece: Bytes| {
            seen.push((piece.0, piece.1[0]));
            Ok(())
        };
        run(jobs(500), || (), work, emit).expect("all jobs");
        let expected: Vec<(usize, u8)> = (0..500).flat_map(|job| [(job, 0), (job, 1)]).collect();
        assert_eq!(seen, expected);
    }

    #[test]
    fn large_results_wait_for_their_turn() {
        let mut total = 0;
        let work = |(): &mut (), job: usize, sink: &mut dyn Sink<Bytes>| {
            (0..8).try_for_each(|_| sink.put(Bytes(job, vec![0; 1 << 20])))
        };
        let emit = |piece: Bytes| {
            total += piece.1.len();
            Ok(())
        };
        run(jobs(20), || (), work, emit).expect("all jobs");
        assert_eq!(total, 160 << 20);
    }

    #[test]
    fn an_error_ends_everything() {
        let worked = AtomicUsize::new(0);
        let work = |(): &mut (), job: usize, sink: &mut dyn Sink<Bytes>| {
            worked.fetch_add(1, Ordering::Relaxed);
            sink.put(Bytes(job, vec![0]))
        };
        let emit = |piece: Bytes| {
            if piece.0 == 10 {
                return Err(ToolError::Usage("stop".to_owned(), ExitStatus::FAILURE));
            }
            Ok(())
        };
        let ended = run(jobs(1_000_000), || (), work, emit);
        assert!(matches!(ended, Err(ToolError::Usage(..))));
        assert!(worked.load(Ordering::Relaxed) < 100_000);
    }

    #[test]
    fn a_job_that_fails_ends_everything() {
        let work = |(): &mut (), job: usize, sink: &mut dyn Sink<Bytes>| {
            if job == 50 { Err(()) } else { sink.put(Bytes(job, vec![0])) }
        };
        run(jobs(1_000_000), || (), work, |_| Ok(())).expect("no error of its own");
    }
}
