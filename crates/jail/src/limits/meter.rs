//! What a jail has used, as its control group tells it, or as its processes do.

use std::fs::File;
use std::io;
use std::time::Duration;

use bstr::BString;
use rustix::io::Errno;

use super::files::{self, number, number_of};
use super::group::Places;
use super::sample::Sampler;

/// What was used since the jail was made; peaks, since they were last forgotten.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Figures {
    pub processor_time: Duration,
    pub memory: u64,
    pub memory_peak: u64,
    /// Ours included, like the limit.
    pub tasks: u64,
    pub tasks_peak: u64,
    /// Processes that the kernel ended because memory was used up.
    pub killed: u64,
    /// Tasks that were not made because there were too many.
    pub refused: u64,
}

pub enum Meter {
    /// A group that nobody has looked at yet.
    Unopened {
        places: Places,
        init: u32,
    },
    Second(Second),
    First(First),
    Sampled(Sampler),
}

/// The files of a group of the second version. What older kernels do not have is `None`.
pub struct Second {
    processor: File,
    memory: File,
    memory_peak: Option<File>,
    memory_events: File,
    memory_statistics: File,
    tasks: File,
    tasks_peak: Option<File>,
    tasks_events: File,
    peaks: Peaks,
    forgets: bool,
}

/// Those of groups of the first version.
pub struct First {
    processor: Processor,
    memory: File,
    memory_peak: File,
    memory_events: File,
    memory_statistics: File,
    tasks: File,
    tasks_peak: Option<File>,
    tasks_events: File,
    peaks: Peaks,
}

/// Where the first version has the time of the processor.
enum Processor {
    Counted(File),
    Sampled(Sampler),
}

#[derive(Default)]
struct Peaks {
    memory: Peak,
    tasks: Peak,
    /// What files left in memory by earlier requests take: it counts as used, but not by this one.
    left: u64,
}

/// The largest value since it was last forgotten, from one that the kernel never forgets and from looking.
#[derive(Debug, Default)]
struct Peak {
    ever_before: u64,
    seen: u64,
}

impl Peak {
    fn update(&mut self, ever: Option<u64>, now: u64) -> u64 {
        self.seen = self.seen.max(now);
        match ever {
            Some(ever) if ever > self.ever_before => ever,
            _ => self.seen,
        }
    }

    fn forget(&mut self, ever: u64) {
        *self = Peak { ever_before: ever, seen: 0 };
    }
}

impl Meter {
    /// Before the first program runs, and what was used up to then. Of a group that was just made, only the time of those who
    /// have made it is not known: nothing was refused, and nobody ended.
    pub fn begin(places: Option<&Places>, init: u32) -> io::Result<(Self, Figures)> {
        let processor_time = match places {
            Some(Places::Second { directory }) => {
                used_by(&files::read(directory.join("cpu.stat"))?)?
            }
            Some(Places::First { processor: Some(group), .. }) => {
                Duration::from_nanos(wanted(number(&files::read(group.join("cpuacct.usage"))?))?)
            }
            Some(Places::First { processor: None, .. }) => {
                Sampler::new(init).look()?.processor_time
            }
            None => {
                let mut sampler = Sampler::new(init);
                let before = sampler.look()?;
                return Ok((Meter::Sampled(sampler), before));
            }
        };
        let places = places.ok_or(Errno::INVAL)?.clone();
        let before = Figures { processor_time, ..Figures::default() };
        Ok((Meter::Unopened { places, init }, before))
    }

    /// Opens what is looked at from now on, if that was not done yet.
    pub fn open(&mut self) -> io::Result<()> {
        if let Meter::Unopened { places, init } = self {
            *self = Self::opened(places, *init)?;
        }
        Ok(())
    }

    fn opened(places: &Places, init: u32) -> io::Result<Self> {
        Ok(match places {
            Places::Second { directory } => {
                let open = |name: &str| files::open(directory.join(name));
                Meter::Second(Second {
                    processor: open("cpu.stat")?,
                    memory: open("memory.current")?,
                    memory_peak: open("memory.peak").ok(),
                    memory_events: open("memory.events")?,
                    memory_statistics: open("memory.stat")?,
                    tasks: open("pids.current")?,
                    tasks_peak: open("pids.peak").ok(),
                    tasks_events: open("pids.events")?,
                    peaks: Peaks::default(),
                    forgets: false,
                })
            }
            Places::First { memory, tasks, processor } => Meter::First(First {
                processor: match processor {
                    Some(group) => Processor::Counted(files::open(group.join("cpuacct.usage"))?),
                    None => Processor::Sampled(Sampler::new(init)),
                },
                memory: files::open(memory.join("memory.usage_in_bytes"))?,
                memory_peak: files::open(memory.join("memory.max_usage_in_bytes"))?,
                memory_events: files::open(memory.join("memory.oom_control"))?,
                memory_statistics: files::open(memory.join("memory.stat"))?,
                tasks: files::open(tasks.join("pids.current"))?,
                tasks_peak: files::open(tasks.join("pids.peak")).ok(),
                tasks_events: files::open(tasks.join("pids.events"))?,
                peaks: Peaks::default(),
            }),
        })
    }

    /// Groups keep what they have counted; a process that has ended may have left its number to another.
    pub fn look(&mut self, alive: bool) -> io::Result<Figures> {
        self.open()?;
        match self {
            Meter::Unopened { .. } => Err(Errno::BADF.into()),
            Meter::Second(files) => files.look(),
            Meter::First(files) => files.look(alive),
            Meter::Sampled(sampler) if alive => sampler.look(),
            Meter::Sampled(sampler) => Ok(sampler.latest()),
        }
    }

    /// Peaks begin anew.
    pub fn forget_peaks(&mut self) -> io::Result<()> {
        self.open()?;
        match self {
            Meter::Unopened { .. } => Err(Errno::BADF.into()),
            Meter::Second(files) => files.forget_peaks(),
            Meter::First(files) => files.forget_peaks(),
            Meter::Sampled(sampler) => {
                sampler.forget_peaks();
                Ok(())
            }
        }
    }
}

impl Second {
    fn look(&mut self) -> io::Result<Figures> {
        let memory = read_number(&self.memory)?;
        let tasks = read_number(&self.tasks)?;
        let memory_ever = read_if_there(self.memory_peak.as_ref())?;
        let tasks_ever = read_if_there(self.tasks_peak.as_ref())?;
        let memory_peak = match memory_ever {
            Some(peak) if self.forgets => peak,
            ever => self.peaks.memory.update(ever, memory),
        };
        Ok(Figures {
            processor_time: used_by(&files::read_open(&self.processor)?)?,
            memory,
            memory_peak: memory_peak.saturating_sub(self.peaks.left),
            tasks,
            tasks_peak: self.peaks.tasks.update(tasks_ever, tasks),
            killed: wanted(number_of(&files::read_open(&self.memory_events)?, "oom_kill"))?,
            refused: wanted(number_of(&files::read_open(&self.tasks_events)?, "max"))?,
        })
    }

    fn forget_peaks(&mut self) -> io::Result<()> {
        self.peaks.left = files_in_memory(&self.memory_statistics, "")?;
        // Newer kernels begin a peak anew for whoever writes to it.
        self.forgets =
            self.memory_peak.as_ref().is_some_and(|peak| files::write_open(peak, "0").is_ok());
        let memory_ever = read_if_there(self.memory_peak.as_ref())?;
        self.peaks.memory.forget(memory_ever.unwrap_or(0));
        self.peaks.tasks.forget(read_if_there(self.tasks_peak.as_ref())?.unwrap_or(0));
        Ok(())
    }
}

impl First {
    fn look(&mut self, alive: bool) -> io::Result<Figures> {
        let processor_time = match &mut self.processor {
            Processor::Counted(file) => Duration::from_nanos(read_number(file)?),
            Processor::Sampled(sampler) if alive => sampler.look()?.processor_time,
            Processor::Sampled(sampler) => sampler.latest().processor_time,
        };
        let tasks = read_number(&self.tasks)?;
        let tasks_ever = read_if_there(self.tasks_peak.as_ref())?;
        Ok(Figures {
            processor_time,
            memory: read_number(&self.memory)?,
            memory_peak: read_number(&self.memory_peak)?.saturating_sub(self.peaks.left),
            tasks,
            tasks_peak: self.peaks.tasks.update(tasks_ever, tasks),
            killed: wanted(number_of(&files::read_open(&self.memory_events)?, "oom_kill"))?,
            refused: wanted(number_of(&files::read_open(&self.tasks_events)?, "max"))?,
        })
    }

    fn forget_peaks(&mut self) -> io::Result<()> {
        self.peaks.left = files_in_memory(&self.memory_statistics, "total_")?;
        files::write_open(&self.memory_peak, "0")?;
        self.peaks.tasks.forget(read_if_there(self.tasks_peak.as_ref())?.unwrap_or(0));
        Ok(())
    }
}

/// The contents of files that the kernel keeps because there is room.
fn files_in_memory(statistics: &File, prefix: &str) -> io::Result<u64> {
    let content = files::read_open(statistics)?;
    let of = |name: &str| wanted(number_of(&content, &format!("{prefix}{name}")));
    Ok(of("active_file")?.saturating_add(of("inactive_file")?))
}

/// The time of the processor that a group of the second version has used.
fn used_by(content: &BString) -> io::Result<Duration> {
    Ok(Duration::from_micros(wanted(number_of(content, "usage_usec"))?))
}

fn read_number(file: &File) -> io::Result<u64> {
    wanted(number(&files::read_open(file)?))
}

fn read_if_there(file: Option<&File>) -> io::Result<Option<u64>> {
    file.map(read_number).transpose()
}

fn wanted(number: Option<u64>) -> io::Result<u64> {
    number.ok_or_else(|| Errno::PROTO.into())
}

/// The number of the process that a handle is for, as this process sees it.
pub fn process_of(handle: std::os::fd::BorrowedFd<'_>) -> io::Result<u32> {
    let number = std::os::fd::AsRawFd::as_raw_fd(&handle);
    let content: BString = files::read(format!("/proc/self/fdinfo/{number}"))?;
    let process = number_of(&content, "Pid").and_then(|it| u32::try_from(it).ok());
    process.ok_or_else(|| Errno::SRCH.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peak_that_the_kernel_remembers_for_ever_is_told_apart() {
        let mut peak = Peak::default();
        assert_eq!(peak.update(Some(70), 40), 70);
        peak.forget(70);
        // Nothing new for the kernel: what was seen is the best there is.
        assert_eq!(peak.update(Some(70), 20), 20);
        assert_eq!(peak.update(Some(70), 10), 20);
        assert_eq!(peak.update(Some(90), 10), 90);
        peak.forget(90);
        assert_eq!(peak.update(None, 5), 5);
    }
}
