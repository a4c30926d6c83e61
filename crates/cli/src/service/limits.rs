//! How much one daemon holds open: whoever asks for more is told.

use std::time::Duration;

/// Sessions at once; each is small, but each may have a jail.
pub const SESSIONS: usize = 256;
/// Commands that somebody waits for, at once. Each has a thread, and there are 512: some are left for whoever decides.
pub const RUNNING: usize = 384;
/// Tasks that run or wait for their turn, at once: each has a thread of its own.
pub const TASKS: usize = 64;
/// Background processes at once, ended ones that can still be read included.
pub const PROCESSES: usize = 256;
/// A session that nobody has used for so long ends.
pub const IDLE_SESSION: Duration = Duration::from_secs(2 * 60 * 60);
/// What a background process has written is kept up to this; of more, the end.
pub const KEPT_OUTPUT: usize = 4 << 20;
/// How long what has ended can be read.
pub const ENDED_PROCESS: Duration = Duration::from_secs(30 * 60);
/// Longer than this nobody waits in one call.
pub const LONGEST_WAIT: Duration = Duration::from_secs(60 * 60);
/// How long a run waits for a decision unless it says otherwise.
pub const USUAL_WAIT: Duration = Duration::from_secs(10 * 60);
