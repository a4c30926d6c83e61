//! Limits of programs: from an allowance to what the jail enforces, and in words when one was reached.

use std::time::Duration;

use exacta_jail::outcome::LimitHit;
use exacta_jail::plan::Limits;
use exacta_policy::limits::Allowance;

/// What the operator has set; it holds for every program, also for those that would get more.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Chosen {
    pub processor_seconds: Option<u64>,
    pub memory_megabytes: Option<u64>,
    pub processes: Option<u32>,
    pub open_files: Option<u64>,
    pub output_bytes: Option<u64>,
}

impl Chosen {
    pub fn applied_to(&self, allowance: Allowance) -> Allowance {
        let bytes = self.memory_megabytes.map(|megabytes| megabytes.saturating_mul(1 << 20));
        Allowance {
            processor_seconds: self.processor_seconds.unwrap_or(allowance.processor_seconds),
            memory_bytes: bytes.unwrap_or(allowance.memory_bytes),
            processes: self.processes.unwrap_or(allowance.processes),
            tasks: allowance.tasks.max(self.processes.unwrap_or(0)),
            open_files: self.open_files.unwrap_or(allowance.open_files),
            output_bytes: self.output_bytes.unwrap_or(allowance.output_bytes),
        }
    }

    /// These, and where they say nothing, the others.
    pub fn or(self, other: Chosen) -> Chosen {
        Chosen {
            processor_seconds: self.processor_seconds.or(other.processor_seconds),
            memory_megabytes: self.memory_megabytes.or(other.memory_megabytes),
            processes: self.processes.or(other.processes),
            open_files: self.open_files.or(other.open_files),
            output_bytes: self.output_bytes.or(other.output_bytes),
        }
    }

    /// The smaller of each; `None` is no limit.
    pub fn at_most(self, other: Chosen) -> Chosen {
        fn smaller<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
            match (one, other) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            }
        }
        Chosen {
            processor_seconds: smaller(self.processor_seconds, other.processor_seconds),
            memory_megabytes: smaller(self.memory_megabytes, other.memory_megabytes),
            processes: smaller(self.processes, other.processes),
            open_files: smaller(self.open_files, other.open_files),
            output_bytes: smaller(self.output_bytes, other.output_bytes),
        }
    }
}

pub fn of_jail(allowance: &Allowance) -> Limits {
    Limits {
        processor_time: Some(Duration::from_secs(allowance.processor_seconds)),
        memory: Some(allowance.memory_bytes),
        processes: Some(allowance.processes),
        tasks: Some(allowance.tasks),
        open_files: Some(allowance.open_files),
        file_size: None,
    }
}

/// Which limit was reached, what it is, and what raises it.
pub fn reached(hit: LimitHit, limits: &Limits) -> String {
    let megabytes = limits.memory.unwrap_or(0) >> 20;
    let seconds = limits.processor_time.unwrap_or_default().as_secs();
    let (what, setting) = match hit {
        LimitHit::ProcessorTime => {
            (format!("processor time limit exceeded ({seconds} s for all it runs)"), "cpu_seconds")
        }
        LimitHit::Memory => {
            (format!("memory limit exceeded ({megabytes} MB for all it runs)"), "memory_mb")
        }
        LimitHit::Processes => {
            let most = limits.processes.unwrap_or(0);
            (format!("process limit reached ({most} at one time)"), "processes")
        }
        LimitHit::Tasks => {
            let most = limits.tasks.unwrap_or(0);
            (format!("task limit reached ({most} at one time, threads counted)"), "processes")
        }
    };
    format!("exacta: {what}; `{setting}` under [limits] in the configuration raises it\n")
}
