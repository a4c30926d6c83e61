//! The program that `exacta doctor` runs in a jail: it tries what must not work, and says what the system answered.
//!
//! It is exacta's own executable under another name, so that nothing has to be installed for it. Whatever it tries is
//! harmless where it works: it changes nothing but itself and what it has made.

mod attempts;
mod burdens;

use std::io::Write;

pub use attempts::{Attempt, Marks};

/// What the program is called, which tells it from the shell.
pub const NAME: &str = "exacta-probe";

/// What it is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// All attempts at the walls, with [`Marks`] as its further words.
    Walls,
    /// Takes memory until it is ended.
    Memory,
    /// Uses the processor until it is ended.
    Processor,
    /// Makes processes until that is refused.
    Processes,
    /// Opens files until that is refused.
    Files,
    /// Leaves a process behind that has left everything behind.
    Daemon,
}

impl Task {
    const ALL: [Task; 6] =
        [Task::Walls, Task::Memory, Task::Processor, Task::Processes, Task::Files, Task::Daemon];

    pub fn name(self) -> &'static str {
        match self {
            Task::Walls => "walls",
            Task::Memory => "memory",
            Task::Processor => "processor",
            Task::Processes => "processes",
            Task::Files => "files",
            Task::Daemon => "daemon",
        }
    }
}

/// Does what its words say. To be called first of all, when the process was started as [`NAME`]. What it ends with.
pub fn run(words: &[String]) -> u8 {
    let task = words.first().and_then(|word| Task::ALL.into_iter().find(|it| it.name() == word));
    match task {
        Some(Task::Walls) => attempts::all(&Marks::from_words(words.get(1..).unwrap_or_default()))
            .iter()
            .for_each(say),
        Some(Task::Memory) => burdens::take_memory(),
        Some(Task::Processor) => burdens::use_processor(),
        Some(Task::Processes) => say(&burdens::make_processes()),
        Some(Task::Files) => say(&burdens::open_files()),
        Some(Task::Daemon) => burdens::leave_daemon(),
        None => return 2,
    }
    0
}

fn say(attempt: &Attempt) {
    let _nobody_may_listen = writeln!(std::io::stdout(), "{attempt}");
}
