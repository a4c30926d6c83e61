//! What the programs of a request have used.

use std::time::Duration;

use exacta_jail::outcome::{Exec, LimitHit};
use exacta_jail::plan::Limits;
use exacta_jail::timeline::Part;
use exacta_jail::{Cell, Ending, Walls};

use crate::network::Connection;

/// What the programs of a request have used, and what held them.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    pub processor_time: Duration,
    pub memory_peak: u64,
    pub processes_peak: u32,
    pub limits_hit: Vec<LimitHit>,
    /// Every program that was started, by whomever.
    pub execs: Vec<Exec>,
    /// Every connection that was asked for, allowed or not.
    pub connections: Vec<Connection>,
    /// A rule had them write directly.
    pub direct: bool,
    /// There was no layer to write to, although there should have been one.
    pub unprotected: bool,
    /// Something was granted to one of them.
    pub reached_out: bool,
    pub walls: Walls,
    /// The widest that were in force.
    pub limits: Limits,
    /// How long each part of the way into the jail has taken, if one was made for this request.
    pub parts: Vec<Part>,
}

impl Tally {
    pub(super) fn add(&mut self, cell: &Cell) {
        // How it has ended is not asked here.
        let more = cell.finished(Ending::Exited(0));
        self.processor_time += more.processor_time;
        self.memory_peak = self.memory_peak.max(more.memory_peak);
        self.processes_peak = self.processes_peak.max(more.processes_peak);
        for hit in more.limits_hit {
            self.hit(hit);
        }
        self.execs.extend(more.execs);
    }

    /// `true`: for the first time.
    pub(super) fn hit(&mut self, hit: LimitHit) -> bool {
        let new = !self.limits_hit.contains(&hit);
        if new {
            self.limits_hit.push(hit);
        }
        new
    }
}

/// The larger of each; none at all is the largest.
pub(super) fn widest(one: &Limits, other: &Limits) -> Limits {
    fn larger<T: Ord + Copy>(one: Option<T>, other: Option<T>) -> Option<T> {
        Some(one?.max(other?))
    }
    Limits {
        processor_time: larger(one.processor_time, other.processor_time),
        memory: larger(one.memory, other.memory),
        processes: larger(one.processes, other.processes),
        tasks: larger(one.tasks, other.tasks),
        open_files: larger(one.open_files, other.open_files),
        file_size: larger(one.file_size, other.file_size),
    }
}
