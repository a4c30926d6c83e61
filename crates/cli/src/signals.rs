//! Signals from outside: an interrupt stops the request, not the process.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use exacta::Canceller;
use exacta::tasks::Stopper;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;
use signal_hook::iterator::Signals;

/// Whom a signal stops: the request being run.
#[derive(Clone, Default)]
pub struct Interrupts {
    current: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    canceller: Option<Canceller>,
    received: Option<i32>,
    /// As long as nobody listens: the one that has come meanwhile, or 0.
    marked: Arc<AtomicUsize>,
}

impl Interrupts {
    /// Starts to listen.
    pub fn listen() -> io::Result<Self> {
        let interrupts = Interrupts::default();
        // A file that grows too large is an error of the write, not the end of the process.
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP, SIGXFSZ])?;
        let state = Arc::clone(&interrupts.current);
        thread::Builder::new().name("signals".into()).spawn(move || {
            signals.forever().filter(|it| *it != SIGXFSZ).for_each(|it| note(&state, it));
        })?;
        Ok(interrupts)
    }

    /// For one request. Nobody listens before something waits: to start a thread takes longer than most scripts, and until then
    /// a mark does.
    pub fn of_script(canceller: Canceller) -> io::Result<Self> {
        let (interrupts, mark) = (Interrupts::default(), Arc::new(AtomicBool::new(false)));
        let mut state = interrupts.current.lock().unwrap_or_else(PoisonError::into_inner);
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            let number = usize::try_from(signal).unwrap_or_default();
            flag::register_usize(signal, Arc::clone(&state.marked), number)?;
            flag::register(signal, Arc::clone(&mark))?;
        }
        state.canceller = Some(canceller.clone());
        drop(state);
        // After the mark, so that there is none whom only a listener would hear.
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP, SIGXFSZ])?;
        let current = Arc::clone(&interrupts.current);
        canceller.interrupted_by(mark, move || {
            let listen = move || {
                signals.forever().filter(|it| *it != SIGXFSZ).for_each(|it| note(&current, it));
            };
            // Without it the mark still does, wherever somebody looks.
            let _later = thread::Builder::new().name("signals".into()).spawn(listen);
        });
        Ok(interrupts)
    }

    /// Starts to listen for the sake of a task: the first signal ends it in order, the next one ends this process at once.
    pub fn of_task(stopper: Stopper) -> io::Result<Self> {
        let interrupts = Interrupts::default();
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP, SIGXFSZ])?;
        let state = Arc::clone(&interrupts.current);
        thread::Builder::new().name("signals".into()).spawn(move || {
            for signal in signals.forever().filter(|signal| *signal != SIGXFSZ) {
                let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
                if state.received.replace(signal).is_some() {
                    // Whatever is left then is what a crash leaves: the next one finds out how far it had come.
                    let _it_ends = signal_hook::low_level::emulate_default_handler(signal);
                }
                stopper.stop(name(signal));
            }
        })?;
        Ok(interrupts)
    }

    /// From now on a signal stops this request.
    pub fn watch(&self, canceller: Canceller) {
        let mut state = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        state.received = None;
        state.canceller = Some(canceller);
    }

    /// The signal that stopped it, if one did.
    pub fn received(&self) -> Option<i32> {
        let state = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let marked = i32::try_from(state.marked.load(Ordering::Relaxed)).ok();
        state.received.or(marked.filter(|signal| *signal != 0))
    }
}

/// It was received: the request that runs ends.
fn note(state: &Mutex<State>, signal: i32) {
    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
    state.received = Some(signal);
    if let Some(canceller) = &state.canceller {
        canceller.cancel();
    }
}

fn name(signal: i32) -> &'static str {
    signal_hook::low_level::signal_name(signal).unwrap_or("a signal")
}
