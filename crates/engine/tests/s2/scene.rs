//! A project of its own for each test, and a look at the machine's processes.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use exacta::gate::Judgement;
use exacta::primitives::PrimitiveContext;

static SERIAL: AtomicUsize = AtomicUsize::new(0);

pub struct Scene {
    place: PathBuf,
    pub context: PrimitiveContext,
}

impl Scene {
    pub fn new() -> Self {
        // Not in the machine's /tmp, which is another one inside.
        let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(unique("exacta-s2"));
        let project = place.join("project");
        fs::create_dir_all(&project).expect("a directory for the test");
        let project = fs::canonicalize(project).expect("the directory of the test");
        Scene { place, context: PrimitiveContext::new(project) }
    }

    /// With programs of all kinds: they are the question, not what the judge would say of them.
    pub fn unjudged() -> Self {
        let mut scene = Self::new();
        scene.context.judgement = Some(Judgement::none());
        scene
    }

    pub fn project(&self) -> &Path {
        &self.context.working_dir
    }

    /// Outside of the project.
    pub fn outside(&self) -> &Path {
        &self.place
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _it_is_in_the_build_directory = fs::remove_dir_all(&self.place);
    }
}

/// A text that no other process has.
pub fn unique(name: &str) -> String {
    let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
    format!("{name}-{}-{serial}", std::process::id())
}

/// How many processes of the machine have this word, the one that looks not counted.
pub fn count(word: &str) -> usize {
    let own = std::process::id().to_string();
    let processes = fs::read_dir("/proc").expect("/proc").filter_map(Result::ok);
    let others = processes.filter(|entry| entry.file_name() != own.as_str());
    let lines = others.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| line.windows(word.len()).any(|part| part == word.as_bytes())).count()
}

/// Waits until so many processes have this word. Returns how long that took.
pub fn await_count(word: &str, wanted: usize) -> Duration {
    let started = Instant::now();
    while count(word) != wanted {
        let waited = started.elapsed();
        assert!(waited < Duration::from_secs(20), "{} processes, not {wanted}", count(word));
        std::thread::sleep(Duration::from_millis(2));
    }
    started.elapsed()
}
