//! One bad input and what may become of it.

use std::path::Path;
use std::time::Duration;

use exacta::Limits;

/// A whole run of a battery in one case is bounded by this, however many scripts it has. The slowest case works for ten
/// seconds in a build without optimization, and a loaded machine gives it a fraction of one processor.
pub const WALL_TIME: Duration = Duration::from_secs(60);

pub struct Case {
    pub name: String,
    pub scripts: Vec<Vec<u8>>,
    pub stdin: Vec<u8>,
    /// Lays out the project before the scripts run.
    pub prepare: fn(&Path),
    pub limits: Limits,
    /// The script may be ended by a limit; by the clock too if that is given.
    pub ends: Ends,
    pub status: Option<u8>,
    pub stdout: Option<Vec<u8>>,
    /// A part of standard error.
    pub says: Option<&'static str>,
    /// Megabytes.
    pub memory: u64,
    /// How the process of the case is started.
    pub place: Place,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ends {
    ByItself,
    WithinLimits,
    InAnyWay,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    Plain,
    /// On a file system of two megabytes.
    SmallDisk,
    /// As a user who may not read everything.
    Unprivileged,
}

/// A script that must end by itself, whatever its status.
pub fn case(name: impl Into<String>, script: impl Into<Vec<u8>>) -> Case {
    battery(name, vec![script.into()])
}

/// Scripts that are run one after the other in sessions of their own.
pub fn battery(name: impl Into<String>, scripts: Vec<Vec<u8>>) -> Case {
    let limits = Limits {
        wall_time: Some(WALL_TIME),
        expansion_bytes: 32 << 20,
        output_bytes: 64 << 20,
        ..Limits::default()
    };
    Case {
        name: name.into(),
        scripts,
        stdin: Vec::new(),
        prepare: |_| {},
        limits,
        ends: Ends::ByItself,
        status: None,
        stdout: None,
        says: None,
        memory: 220,
        place: Place::Plain,
    }
}

impl Case {
    pub fn status(mut self, status: u8) -> Self {
        self.status = Some(status);
        self
    }

    pub fn stdout(mut self, text: impl Into<Vec<u8>>) -> Self {
        self.stdout = Some(text.into());
        self
    }

    pub fn says(mut self, text: &'static str) -> Self {
        self.says = Some(text);
        self
    }

    pub fn stdin(mut self, text: impl Into<Vec<u8>>) -> Self {
        self.stdin = text.into();
        self
    }

    pub fn prepare(mut self, prepare: fn(&Path)) -> Self {
        self.prepare = prepare;
        self
    }

    pub fn memory(mut self, megabytes: u64) -> Self {
        self.memory = megabytes;
        self
    }

    pub fn may_meet_limit(mut self) -> Self {
        self.ends = Ends::WithinLimits;
        self
    }

    /// However it ends.
    pub fn in_any_way(mut self) -> Self {
        self.ends = Ends::InAnyWay;
        self
    }

    /// It has no end of its own: it is stopped after a short time.
    pub fn endless(self) -> Self {
        self.in_any_way().stopped_early()
    }

    fn stopped_early(mut self) -> Self {
        self.limits.wall_time = Some(Duration::from_millis(500));
        self
    }

    pub fn place(mut self, place: Place) -> Self {
        self.place = place;
        self
    }
}
