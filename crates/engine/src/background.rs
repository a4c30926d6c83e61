//! Synchronous work on a thread of its own, awaited without any particular async runtime.
//!
//! Dropping the future cancels the work: whatever request it has announced is stopped.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;

use crate::session::Canceller;

/// Work under way.
pub struct Background<T> {
    shared: Arc<Shared<T>>,
    cancellation: Cancellation,
}

/// How the work learns that nobody waits for it any more.
#[derive(Clone, Default)]
pub struct Cancellation(Arc<Mutex<Cancelled>>);

#[derive(Default)]
struct Cancelled {
    cancelled: bool,
    canceller: Option<Canceller>,
}

/// The work ended without a result: it panicked, or no thread could be started.
#[derive(Debug)]
pub struct Lost(io::Error);

struct Shared<T>(Mutex<State<T>>);

enum State<T> {
    Running(Option<Waker>),
    Ended(Result<T, Lost>),
    Taken,
}

/// Starts the work at once.
pub fn run<T: Send + 'static>(
    work: impl FnOnce(&Cancellation) -> T + Send + 'static,
) -> Background<T> {
    let shared = Arc::new(Shared(Mutex::new(State::Running(None))));
    let cancellation = Cancellation::default();
    let (sender, seen) = (Sender(Some(Arc::clone(&shared))), cancellation.clone());
    let started = thread::Builder::new().name("request".into()).spawn(move || {
        let result = work(&seen);
        sender.send(Ok(result));
    });
    if let Err(error) = started {
        // The sender was dropped with the closure and has said so already; this is the better reason.
        shared.end(Err(Lost(error)));
    }
    Background { shared, cancellation }
}

impl Cancellation {
    /// Stops this request when the work is cancelled, or at once if it already is.
    pub fn watch(&self, canceller: Canceller) {
        let mut state = self.lock();
        if state.cancelled {
            canceller.cancel();
        }
        state.canceller = Some(canceller);
    }

    pub fn is_cancelled(&self) -> bool {
        self.lock().cancelled
    }

    fn cancel(&self) {
        let mut state = self.lock();
        state.cancelled = true;
        if let Some(canceller) = &state.canceller {
            canceller.cancel();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Cancelled> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Future for Background<T> {
    type Output = Result<T, Lost>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.shared.lock();
        match std::mem::replace(&mut *state, State::Taken) {
            State::Running(_) => {
                *state = State::Running(Some(context.waker().clone()));
                Poll::Pending
            }
            State::Ended(result) => Poll::Ready(result),
            State::Taken => Poll::Ready(Err(Lost(io::ErrorKind::Other.into()))),
        }
    }
}

impl<T> Drop for Background<T> {
    fn drop(&mut self) {
        self.cancellation.cancel();
    }
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self, result: Result<T, Lost>) {
        let mut state = self.lock();
        let before = std::mem::replace(&mut *state, State::Ended(result));
        drop(state);
        // Outside the lock: a waker may poll at once.
        if let State::Running(Some(waker)) = before {
            waker.wake();
        }
    }
}

/// Says that the work is lost if it ends without a result.
struct Sender<T>(Option<Arc<Shared<T>>>);

impl<T> Sender<T> {
    fn send(mut self, result: Result<T, Lost>) {
        if let Some(shared) = self.0.take() {
            shared.end(result);
        }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        if let Some(shared) = self.0.take() {
            shared.end(Err(Lost(io::Error::other("the thread of the request ended early"))));
        }
    }
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the request was lost: {}", exacta_shell::errno::text(&self.0))
    }
}

impl std::error::Error for Lost {}

/// Waits on this thread: for callers without an async runtime.
pub fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(thread::Thread);

    impl std::task::Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = std::pin::pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_result_arrives() {
        let value = block_on(run(|_| {
            thread::sleep(Duration::from_millis(20));
            42
        }));
        assert_eq!(value.expect("a result"), 42);
    }

    #[test]
    fn what_panics_is_lost_and_does_not_hang() {
        let result = block_on(run::<()>(|_| panic!("on purpose")));
        assert!(result.is_err());
    }

    #[test]
    fn dropping_the_future_cancels() {
        let (sender, receiver) = std::sync::mpsc::channel();
        drop(run(move |cancellation| {
            while !cancellation.is_cancelled() {
                thread::yield_now();
            }
            sender.send(()).expect("a receiver");
        }));
        receiver.recv_timeout(Duration::from_secs(10)).expect("cancelled");
    }
}
