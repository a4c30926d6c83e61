//! The host of a session: its files, its clock, its chance, and who the script is told it is.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use bstr::{BStr, BString};
use exacta_shell::control::Control;
use exacta_shell::filesystem::FileSystem;
use exacta_shell::filesystem::OpenFile;
use exacta_shell::host::{Action, Clearance, Ended, Host, Identity, Program, Refusal, Step};
use exacta_store::UndoError;
use rustix::rand::GetRandomFlags;
use rustix::time::ClockId;

use crate::audit::MOST_STEPS;
use crate::filesystem::CurrentRequest;
use crate::gate::Gate;
use crate::judging;
use crate::programs::{Programs, Tally};
use crate::undo::{Held, Keep};

/// One of the process's own descriptors 0, 1 and 2.
pub use crate::filesystem::Stream as StandardStream;

/// Everything a script can reach when no program may run.
pub struct EngineHost {
    files: Arc<dyn FileSystem>,
    gate: Arc<Gate>,
    identity: Identity,
    /// Commands of the current request, if they are recorded.
    steps: Option<Steps>,
    /// Real programs, if any may run.
    programs: Option<Programs>,
}

/// Of the words of one request, if nobody wants all of them.
const MOST_BYTES: usize = 2 << 20;

/// The commands of a request.
struct Steps {
    /// So many are kept.
    most: usize,
    timed: bool,
    count: AtomicUsize,
    left_out: AtomicUsize,
    /// Of the words that are kept.
    bytes: AtomicUsize,
    kept: Mutex<Vec<Step>>,
}

impl Steps {
    fn kept(&self) -> MutexGuard<'_, Vec<Step>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EngineHost {
    pub fn new(gate: Arc<Gate>, identity: Identity) -> Self {
        EngineHost { files: Arc::clone(&gate.files), gate, identity, steps: None, programs: None }
    }

    /// Keeps a record of every command; or of the first ones, if nobody wants `all` of them.
    /// With `timed`, what the processors work for each request is asked for.
    pub fn recording(mut self, all: bool, timed: bool) -> Self {
        let most = if all { usize::MAX } else { MOST_STEPS };
        self.steps = Some(Steps {
            most,
            timed,
            count: AtomicUsize::new(0),
            left_out: AtomicUsize::new(0),
            bytes: AtomicUsize::new(0),
            kept: Mutex::default(),
        });
        self
    }

    /// Runs real programs, in their jail.
    pub fn with_programs(mut self, programs: Programs) -> Self {
        self.programs = Some(programs);
        self
    }

    /// This process ends, and so does everything in the jail.
    pub fn leave(&self) {
        if let Some(programs) = &self.programs {
            programs.leave();
        }
    }

    /// Nothing that a request has started outlives it. What its programs have used, if there were any.
    pub fn end_request(&self, last: bool) -> Option<Tally> {
        self.programs.as_ref()?.end_request(last)
    }

    /// A request has ended, and the session goes on: what the next one may need is made beside it.
    pub(crate) fn lay_ahead(&self) {
        if let Some(programs) = &self.programs {
            programs.lay_ahead();
        }
    }

    /// Where the running request says what it has to say.
    pub(crate) fn say_to(&self, errors: Option<Arc<dyn OpenFile>>) {
        if let Some(programs) = &self.programs {
            programs.say_to(errors);
        }
    }

    /// What the request writes goes into the project while it runs, and is taken back when it has ended.
    pub(crate) fn is_mirrored(&self) -> bool {
        self.programs.as_ref().is_some_and(Programs::is_mirrored)
    }

    /// All that the request writes from now on goes into a layer.
    pub(crate) fn lay(&self) -> Result<(), String> {
        let programs = self.programs.as_ref();
        let programs = programs.ok_or_else(|| "programs cannot run here".to_owned())?;
        match programs.lay() {
            Ok(true) => Ok(()),
            Ok(false) => Err("there are no layers here".to_owned()),
            Err(failure) => Err(failure.to_string()),
        }
    }

    /// What becomes of what it has written.
    pub(crate) fn settle(&self, keep: Keep, exit: i32) -> Result<Option<Held>, UndoError> {
        self.programs.as_ref().map_or(Ok(None), |programs| programs.settle(keep, exit))
    }

    /// What this process has worked so far, where that is recorded: asking takes as long as many a command.
    pub fn recorded_time(&self) -> Duration {
        let wanted = self.steps.as_ref().is_some_and(|steps| steps.timed);
        if wanted { own_time() } else { Duration::ZERO }
    }

    /// The commands recorded since the last time, and how many more there were.
    pub fn take_steps(&self) -> (Vec<Step>, u64) {
        let Some(steps) = &self.steps else { return Default::default() };
        let kept = std::mem::take(&mut *steps.kept());
        steps.count.store(0, Ordering::Relaxed);
        steps.bytes.store(0, Ordering::Relaxed);
        (kept, steps.left_out.swap(0, Ordering::Relaxed) as u64)
    }

    /// Whatever blocks from now on (a FIFO, standard input) ends when this request does.
    pub fn begin_request(&self, control: &Arc<Control>) {
        self.files.begin_request(control);
        CurrentRequest::of_standard_streams().set(control);
        if let Some(programs) = &self.programs {
            programs.begin_request(control);
        }
    }
}

impl Host for EngineHost {
    fn files(&self) -> &dyn FileSystem {
        &*self.files
    }

    fn judge(&self, action: &Action<'_>) -> Result<Clearance, Refusal> {
        judging::judge(&self.gate, action)
    }

    fn records(&self) -> bool {
        // Beyond what is kept they are only counted: a loop is not to pay for a list that nobody reads.
        self.steps.as_ref().is_some_and(|steps| {
            let count = steps.count.fetch_add(1, Ordering::Relaxed);
            let full = steps.bytes.load(Ordering::Relaxed) > MOST_BYTES;
            let kept = count < steps.most && (!full || steps.most == usize::MAX);
            steps.left_out.fetch_add(usize::from(!kept), Ordering::Relaxed);
            kept
        })
    }

    fn record(&self, step: Step) {
        if let Some(steps) = &self.steps {
            let bytes: usize = step.argv.iter().map(|word| word.len() + size_of::<BString>()).sum();
            let before = steps.bytes.fetch_add(bytes, Ordering::Relaxed);
            // Commands that run others end after them: all of them were begun when there was room.
            if before > MOST_BYTES && steps.most != usize::MAX {
                steps.left_out.fetch_add(1, Ordering::Relaxed);
                return;
            }
            steps.kept().push(step);
        }
    }

    fn run_program(&self, program: &Program<'_>, clearance: Clearance) -> Option<Ended> {
        self.programs.as_ref()?.run(program, clearance.restrictions())
    }

    fn expect_program(&self, argv: &[BString], directory: &BStr) {
        if let Some(programs) = &self.programs
            && !judging::is_direct(&self.gate, argv, directory)
        {
            // When it is to run it will be tried again, and said why.
            let _tried_again = programs.lay();
        }
    }

    fn find_program(&self, name: &BStr) -> Option<BString> {
        self.programs.as_ref()?.find(name)
    }

    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    /// Of all threads: a pipeline's stages are threads. And of programs.
    fn processor_time(&self) -> Duration {
        own_time() + self.programs.as_ref().map(Programs::processor_time).unwrap_or_default()
    }

    fn random(&self) -> u64 {
        let mut bytes = [0_u8; 8];
        match rustix::rand::getrandom(&mut bytes, GetRandomFlags::empty()) {
            Ok(8) => u64::from_ne_bytes(bytes),
            _ => clock_noise(),
        }
    }

    fn identity(&self) -> &Identity {
        &self.identity
    }
}

/// Of all threads of this process.
fn own_time() -> Duration {
    let used = rustix::time::clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(used.tv_sec.max(0) as u64, used.tv_nsec.clamp(0, 999_999_999) as u32)
}

/// The machine's own names stay with the machine; the ids are real, because the files show them anyway.
pub fn default_identity() -> Identity {
    Identity {
        user_id: rustix::process::geteuid().as_raw(),
        group_id: rustix::process::getegid().as_raw(),
        user_name: "agent".into(),
        group_name: "agent".into(),
        host_name: "exacta".into(),
        process_id: rustix::process::getpid().as_raw_nonzero().get().unsigned_abs(),
        parent_id: 1,
        time_zone: String::new(),
    }
}

/// Only where the kernel has no getrandom(2): names stay distinct, nothing secret depends on it.
fn clock_noise() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    since.as_nanos() as u64 ^ u64::from(since.subsec_nanos()).rotate_left(32)
}
