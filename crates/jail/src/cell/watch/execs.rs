//! What was executed, for the record.

use std::collections::HashMap;
use std::io;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use bstr::{BString, ByteSlice};

use super::processes::{Identity, Memory, Standing, Visible};
use super::{Record, Seen};
use crate::outcome::{Exec, LimitHit};
use crate::plan::Program;
use crate::system::seccomp::{self, Question};

/// What is kept of one execution, and of all between two times they are asked for.
const LONGEST_PATH: usize = 4096;
const MOST_WORDS: usize = 4096;
const LONGEST_ARGV: usize = 64 << 10;
const MOST_BYTES: usize = 8 << 20;
const MOST_EXECS: usize = 10_000;
/// Descriptions of executions that have not been seen to happen, at one time.
const MOST_PENDING: usize = 256;
/// Shells run the same few programs over and over.
const LOOKUP_LASTS: Duration = Duration::from_millis(50);
const MOST_LOOKUPS: usize = 64;
/// About as long as it takes to execute something.
const FIRST_WAIT: Duration = Duration::from_micros(300);
/// What is not seen to run by then stays unconfirmed.
const LONGEST_WAIT: Duration = Duration::from_secs(2);
/// A script's interpreter may be a script.
const MOST_INTERPRETERS: usize = 5;

/// Seen so far. Shared with the engine.
#[derive(Default)]
pub struct Notes {
    record: Record,
    /// For each execution its number: what is confirmed later may have been handed over by then.
    numbers: Vec<u64>,
    next: u64,
    bytes: usize,
    /// How often it was handed over.
    pub taken: u64,
    /// For processes at one time, and for tasks.
    pub limits: (Option<u32>, Option<u32>),
    /// The limits that the kernel was told. `None`: it may have been told something else since, for threads.
    pub in_force: Option<(Option<u32>, Option<u32>)>,
    /// Programs the engine has started and that have not been seen to execute, by their number inside.
    expected: HashMap<u32, (BString, Vec<BString>)>,
    /// The execution of one that was ordered, of which it is not known yet which number it has inside.
    unnumbered: Option<u64>,
}

impl Notes {
    pub fn take(&mut self) -> Record {
        self.numbers.clear();
        self.bytes = 0;
        self.taken += 1;
        std::mem::take(&mut self.record)
    }

    /// The kernel was told these limits.
    pub fn put_in_force(&mut self, processes: Option<u32>, tasks: Option<u32>) {
        (self.limits, self.in_force) = ((processes, tasks), Some((processes, tasks)));
    }

    pub fn note_hit(&mut self, hit: LimitHit) {
        if !self.record.limits_hit.contains(&hit) {
            self.record.limits_hit.push(hit);
        }
    }

    pub fn note_peak(&mut self, peak: u32) {
        self.record.processes_peak = self.record.processes_peak.max(peak);
    }

    pub fn started(&mut self, process: u32, program: &Program) {
        if let Some(number) = self.unnumbered.take() {
            let place = self.place(number);
            if let Some(exec) = place.and_then(|place| self.record.execs.get_mut(place)) {
                exec.process = process;
            }
            return;
        }
        let of_it = |exec: &&mut Exec| exec.process == process && exec.parent == 1;
        match self.record.execs.iter_mut().find(of_it) {
            Some(exec) if exec.path.is_empty() => {
                exec.path = program.path.clone();
                exec.argv.clone_from(&program.argv);
            }
            Some(_) => {}
            None => {
                // Those that never came to execute anything.
                if self.expected.len() >= MOST_PENDING {
                    self.expected.clear();
                }
                let known = (program.path.clone(), program.argv.clone());
                self.expected.insert(process, known);
            }
        }
    }

    /// Returns its number, if there was room for it.
    fn add(&mut self, mut exec: Exec) -> Option<u64> {
        let expected = self.expected.remove(&exec.process);
        if exec.path.is_empty()
            && let Some((path, argv)) = expected
        {
            (exec.path, exec.argv) = (path, argv);
        }
        let bytes = exec.path.len() + exec.argv.iter().map(|word| word.len() + 24).sum::<usize>();
        if self.bytes.saturating_add(bytes) > MOST_BYTES || self.numbers.len() >= MOST_EXECS {
            self.record.execs_lost += 1;
            return None;
        }
        self.bytes += bytes;
        self.next += 1;
        self.numbers.push(self.next);
        self.record.execs.push(exec);
        Some(self.next)
    }

    fn place(&self, number: u64) -> Option<usize> {
        self.numbers.binary_search(&number).ok()
    }

    fn path(&self, number: u64) -> Option<BString> {
        Some(self.record.execs.get(self.place(number)?)?.path.clone())
    }

    fn confirm(&mut self, number: u64) {
        let place = self.place(number);
        if let Some(exec) = place.and_then(|place| self.record.execs.get_mut(place)) {
            exec.confirmed = true;
        }
    }

    fn forget(&mut self, number: u64) {
        if let Some(place) = self.place(number) {
            self.numbers.remove(place);
            self.record.execs.remove(place);
        }
    }
}

/// What was seen of an execution while it waited.
struct Look {
    process: Option<Visible>,
    standing: Option<Standing>,
    /// The number inside of its parent.
    parent: u32,
    path: BString,
    argv: Vec<BString>,
    before: Option<Identity>,
}

/// An execution that was let through and may or may not have happened.
struct Pending {
    number: u64,
    thread: u32,
    process: Visible,
    /// What was running before.
    before: Option<Identity>,
    begun: Instant,
    due: Instant,
}

/// What became of it.
enum Outcome {
    Confirmed,
    /// What ran before is still running.
    Unchanged,
    /// Something else is running, or nothing any more.
    Unconfirmed,
}

/// The last one that was asked about: most of its children come one after the other.
struct Parent {
    host: u32,
    process: Visible,
    inside: u32,
}

/// Paths that were looked up a moment ago, with what they, or the interpreters they name, were found to be.
#[derive(Default)]
struct Lookups(HashMap<BString, (Identity, Instant)>);

impl Lookups {
    fn is(&self, path: &BString, running: Identity) -> bool {
        let fresh = |(_, since): &&(Identity, Instant)| since.elapsed() < LOOKUP_LASTS;
        self.0.get(path).filter(fresh).is_some_and(|(found, _)| *found == running)
    }

    fn remember(&mut self, path: BString, running: Identity) {
        if self.0.len() >= MOST_LOOKUPS {
            self.0.clear();
        }
        self.0.insert(path, (running, Instant::now()));
    }
}

pub struct Recorder {
    /// As it is seen from here.
    init: u32,
    seen: Seen,
    lookups: Lookups,
    parent: Option<Parent>,
    pending: Vec<Pending>,
}

impl Recorder {
    pub fn new(init: u32, seen: Seen) -> Self {
        Recorder { init, seen, lookups: Lookups::default(), parent: None, pending: Vec::new() }
    }

    /// Reads what is to be executed, while it waits. Whatever cannot be read is empty.
    fn look(&mut self, listener: BorrowedFd<'_>, question: &Question) -> Look {
        let mut look = Look {
            process: None,
            standing: None,
            parent: 0,
            path: BString::default(),
            argv: Vec::new(),
            before: None,
        };
        self.settle(question.thread);
        let Ok(process) = Visible::new(question.thread) else { return look };
        let words = arguments(question);
        let memory = Memory(question.thread);
        let path = memory.string(words.path, LONGEST_PATH).unwrap_or_default();
        let argv = memory.strings(words.argv, MOST_WORDS, LONGEST_ARGV);
        let (standing, before) = (process.standing().ok(), process.executed().ok());
        let path = absolute(&process, &words, path);
        // All of that was whoever asks, if that one still waits.
        if !seccomp::still_asked(listener, question.id) {
            return look;
        }
        look.parent = standing.as_ref().map_or(0, |it| self.number_inside(it.parent));
        (look.path, look.argv, look.standing, look.before) = (path, argv, standing, before);
        look.process = Some(process);
        look
    }

    /// Writes down what is about to be let through. Returns its number, if there was room for it.
    pub fn note(&mut self, listener: BorrowedFd<'_>, question: &Question) -> Option<u64> {
        let look = self.look(listener, question);
        let standing = look.standing.as_ref();
        let exec = Exec {
            path: look.path,
            argv: look.argv,
            process: standing.map_or(0, |it| it.inside),
            parent: look.parent,
            confirmed: false,
        };
        let number = self.seen.lock().add(exec);
        self.follow(number, look.process, question.thread, look.before);
        number
    }

    /// Sees later whether it was executed.
    fn follow(
        &mut self,
        number: Option<u64>,
        process: Option<Visible>,
        thread: u32,
        before: Option<Identity>,
    ) {
        if let (Some(number), Some(process)) = (number, process)
            && self.pending.len() < MOST_PENDING
        {
            let begun = Instant::now();
            let due = begun + FIRST_WAIT;
            self.pending.push(Pending { number, thread, process, before, begun, due });
        }
    }

    /// The same for the one program that was ordered for a jail in which nothing else has run: all but its number is known, and while it
    /// waits nobody has to look for that.
    pub fn note_ordered(&mut self, question: &Question, program: &Program) -> Option<u64> {
        let path = joined(program.directory.clone(), program.path.clone());
        let argv = program.argv.clone();
        let exec = Exec { path, argv, process: 0, parent: 1, confirmed: false };
        let process = Visible::new(question.thread).ok();
        let before = process.as_ref().and_then(|process| process.executed().ok());
        let mut notes = self.seen.lock();
        let number = notes.add(exec);
        notes.unnumbered = number;
        drop(notes);
        self.follow(number, process, question.thread, before);
        number
    }

    /// Whoever wanted it was gone before it could be let through.
    pub fn forget(&mut self, noted: Option<u64>) {
        if let Some(number) = noted {
            self.pending.retain(|pending| pending.number != number);
            self.seen.lock().forget(number);
        }
        self.seen.lock().unnumbered = None;
    }

    /// Another program was ordered.
    pub fn begin(&mut self) {
        self.seen.lock().unnumbered = None;
    }

    /// The number inside of a parent. One that is gone has left its children to init.
    fn number_inside(&mut self, host: u32) -> u32 {
        if host == self.init {
            return 1;
        }
        if let Some(parent) = self.parent.as_ref().filter(|it| it.host == host) {
            return parent.inside;
        }
        let Ok(process) = Visible::new(host) else { return 1 };
        let inside = process.standing().map_or(1, |it| it.inside);
        self.parent = Some(Parent { host, process, inside });
        inside
    }

    /// When to look next whether something was executed.
    pub fn due(&self) -> Option<Instant> {
        self.pending.iter().map(|pending| pending.due).min()
    }

    /// Looks at everything, for something is known to have been executed just now.
    pub fn confirm_now(&mut self) {
        let now = Instant::now();
        self.pending.iter_mut().for_each(|pending| pending.due = now);
        self.confirm(now);
    }

    /// Looks at what is due.
    pub fn confirm(&mut self, now: Instant) {
        // Long before its number can be another's.
        if self.due().is_some_and(|due| due <= now) {
            self.parent = self.parent.take().filter(|it| it.process.is_there());
        }
        let (seen, lookups) = (self.seen.clone(), &mut self.lookups);
        self.pending.retain_mut(|pending| {
            if pending.due > now {
                return true;
            }
            match pending.outcome(&seen, lookups) {
                Outcome::Confirmed => seen.lock().confirm(pending.number),
                Outcome::Unconfirmed => {}
                Outcome::Unchanged => {
                    let waited = now.saturating_duration_since(pending.begun);
                    pending.due = now + waited.max(FIRST_WAIT);
                    return waited < LONGEST_WAIT;
                }
            }
            false
        });
    }

    /// The thread asks again, so what it wanted to execute before has been executed, or has failed. What failed was
    /// nothing: so are programs searched for along a path.
    fn settle(&mut self, thread: u32) {
        let (seen, lookups) = (self.seen.clone(), &mut self.lookups);
        self.pending.retain(|pending| {
            if pending.thread != thread {
                return true;
            }
            match pending.outcome(&seen, lookups) {
                Outcome::Confirmed => seen.lock().confirm(pending.number),
                Outcome::Unchanged => seen.lock().forget(pending.number),
                Outcome::Unconfirmed => {}
            }
            false
        });
    }
}

impl Pending {
    fn outcome(&self, seen: &Seen, lookups: &mut Lookups) -> Outcome {
        let Ok(running) = self.process.executed() else {
            // Unreadable both times is a copy of init that has not executed anything yet.
            let dead = !self.process.lives().unwrap_or(false);
            let unreadable = self.before.is_none() && !dead;
            return if unreadable { Outcome::Unchanged } else { Outcome::Unconfirmed };
        };
        // The engine may have told the path meanwhile.
        let path = seen.lock().path(self.number).unwrap_or_default();
        if lookups.is(&path, running) {
            Outcome::Confirmed
        } else if self.runs(&path, running).unwrap_or(false) {
            lookups.remember(path, running);
            Outcome::Confirmed
        } else if self.before == Some(running) {
            Outcome::Unchanged
        } else {
            Outcome::Unconfirmed
        }
    }

    /// Whether this path, or the interpreter that it names, is what is running.
    fn runs(&self, path: &BString, running: Identity) -> io::Result<bool> {
        let mut path = path.clone();
        for _ in 0..MOST_INTERPRETERS {
            let found = self.process.find(&path)?;
            if found.identity()? == running {
                return Ok(true);
            }
            match interpreter(&found.beginning()?) {
                Some(interpreter) => path = interpreter,
                None => return Ok(false),
            }
        }
        Ok(false)
    }
}

/// The interpreter that the first line of a script names.
fn interpreter(beginning: &[u8]) -> Option<BString> {
    let line = beginning.strip_prefix(b"#!")?.lines().next()?;
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let word = line.split(blank).find(|word| !word.is_empty())?;
    Some(word.into())
}

/// Where the words of an execution are.
struct Words {
    path: u64,
    argv: u64,
    /// The descriptor of the directory that the path is relative to.
    directory: Option<u32>,
}

fn arguments(question: &Question) -> Words {
    let [first, second, third, ..] = question.arguments;
    if question.call == libc::SYS_execveat {
        // The kernel reads the lower half, and the directory one is in is a negative number.
        let directory = u32::try_from(first & u64::from(u32::MAX)).ok();
        let directory = directory.filter(|number| number.cast_signed() >= 0);
        Words { path: second, argv: third, directory }
    } else {
        Words { path: first, argv: second, directory: None }
    }
}

/// The path from the root, so far as it can be told.
fn absolute(process: &Visible, words: &Words, path: BString) -> BString {
    if path.starts_with(b"/") || path.is_empty() && words.directory.is_none() {
        return path;
    }
    let base = match words.directory {
        Some(number) => process.link(&format!("fd/{number}")),
        None => process.link("cwd"),
    };
    let Ok(base) = base else { return path };
    joined(base, path)
}

/// A path as seen from a directory.
fn joined(mut base: BString, path: BString) -> BString {
    if path.starts_with(b"/") {
        return path;
    }
    if !path.is_empty() {
        if !base.ends_with(b"/") {
            base.push(b'/');
        }
        base.extend_from_slice(path.strip_prefix(b"./").unwrap_or(&path));
    }
    base
}
