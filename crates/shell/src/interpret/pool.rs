//! Threads for stages, jobs and process substitutions. A thread that is done waits a while for the next task:
//! waking it costs a fraction of starting one.

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

type Task = Box<dyn FnOnce() + Send>;

/// Address space, not memory: only what is used is ever there. The parser alone may need a megabyte.
const STACK: usize = 8 << 20;
const IDLE: Duration = Duration::from_secs(2);
/// More than these are not kept when they are done.
const KEPT: usize = 32;

struct Pool {
    queue: Mutex<Queue>,
    filled: Condvar,
}

struct Queue {
    tasks: VecDeque<Task>,
    idle: usize,
}

static POOL: Pool =
    Pool { queue: Mutex::new(Queue { tasks: VecDeque::new(), idle: 0 }), filled: Condvar::new() };

/// Runs the task on another thread, at once: it never waits for another task to end. Fails if the system has no
/// thread left.
pub(crate) fn run(task: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let task: Task = Box::new(task);
    {
        let mut queue = POOL.lock();
        if queue.idle > queue.tasks.len() {
            queue.tasks.push_back(task);
            POOL.filled.notify_one();
            return Ok(());
        }
    }
    thread::Builder::new().name("exacta".into()).stack_size(STACK).spawn(move || work(task))?;
    Ok(())
}

fn work(first: Task) {
    let mut task = first;
    loop {
        // A task reports its end by dropping what it holds, so that even a panic inside is seen by who waits.
        let _ = catch_unwind(AssertUnwindSafe(task));
        let Some(next) = POOL.next() else { return };
        task = next;
    }
}

impl Pool {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self) -> Option<Task> {
        let mut queue = self.lock();
        if queue.idle >= KEPT {
            return None;
        }
        queue.idle += 1;
        loop {
            if let Some(task) = queue.tasks.pop_front() {
                queue.idle -= 1;
                return Some(task);
            }
            let (again, waited) =
                self.filled.wait_timeout(queue, IDLE).unwrap_or_else(PoisonError::into_inner);
            queue = again;
            if waited.timed_out() && queue.tasks.is_empty() {
                queue.idle -= 1;
                return None;
            }
        }
    }
}
