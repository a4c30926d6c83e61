//! What uses more than it may, so that a limit must end or refuse it. Each stops by itself where none does.
#![expect(
    clippy::disallowed_methods,
    reason = "runs inside, and opens a device that everybody may have"
)]

use std::fs;
use std::io::Write;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, setsid};

use super::attempts::Attempt;
use crate::system::process;

/// Where no limit is met.
const MOST_MEMORY: usize = 1 << 30;
const MOST_TIME: Duration = Duration::from_secs(8);
const MOST_PROCESSES: usize = 64;
const MOST_FILES: usize = 4096;

const PIECE: usize = 4 << 20;

pub fn take_memory() {
    let mut taken = Vec::new();
    while taken.len() * PIECE < MOST_MEMORY {
        // What is never written to is never there.
        taken.push(vec![1_u8; PIECE]);
        std::hint::black_box(&taken);
    }
}

pub fn use_processor() {
    let begun = Instant::now();
    while begun.elapsed() < MOST_TIME {
        std::hint::spin_loop();
    }
}

/// How many there were, this one not counted, and what the next one met.
pub fn make_processes() -> Attempt {
    let mut made: Vec<Pid> = Vec::new();
    let mut errno = 0;
    while made.len() < MOST_PROCESSES {
        match process::copy() {
            Ok(Some(child)) => made.push(child),
            Ok(None) => {
                std::thread::sleep(MOST_TIME);
                process::exit(0);
            }
            Err(error) => {
                errno = error.raw_os_error().unwrap_or(libc::EIO);
                break;
            }
        }
    }
    let count = made.len();
    // As long as they are all there, whoever counts can see them.
    std::thread::sleep(Duration::from_millis(100));
    for child in made {
        let _it_is_ours = kill_process(child, Signal::KILL);
        process::wait_for(child);
    }
    Attempt::new("processes", errno, count.to_string())
}

pub fn open_files() -> Attempt {
    let mut open = Vec::new();
    let mut errno = 0;
    while open.len() < MOST_FILES {
        match fs::File::open("/dev/null") {
            Ok(file) => open.push(file),
            Err(error) => {
                errno = error.raw_os_error().unwrap_or(libc::EIO);
                break;
            }
        }
    }
    Attempt::new("files", errno, open.len().to_string())
}

/// Two generations away from whoever started it, in a session of its own. It holds standard output open.
pub fn leave_daemon() {
    match process::copy() {
        Ok(None) => {}
        _ => std::thread::sleep(MOST_TIME),
    }
    let _new = setsid();
    if matches!(process::copy(), Ok(None)) {
        let _nobody_may_listen = writeln!(std::io::stdout(), "ready");
        std::thread::sleep(MOST_TIME);
    }
    process::exit(0);
}
