//! A project of its own for each test, with programs.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use exacta::programs::ProgramOptions;
use exacta::{Session, SessionOptions};

static SERIAL: AtomicUsize = AtomicUsize::new(0);

pub struct Scene {
    place: PathBuf,
    pub project: PathBuf,
}

impl Scene {
    pub fn new() -> Self {
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let name = format!("exacta-programs-{}-{serial}", std::process::id());
        // Not in the machine's /tmp, which is another one inside.
        let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let project = place.join("project");
        fs::create_dir_all(&project).expect("a directory for the test");
        let project = fs::canonicalize(project).expect("the directory of the test");
        Scene { place, project }
    }

    pub fn write(&self, name: &str, content: &str) {
        let path = self.project.join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, content).expect("a file");
    }

    /// As the oracle has it, and nothing of whoever runs the tests.
    pub fn options(&self) -> SessionOptions {
        let mut options = SessionOptions::new(&self.project);
        // The commands are the question, not what the judge would say of them.
        options.judgement = Some(exacta::gate::Judgement::none());
        options.environment = [("LC_ALL", "C.UTF-8"), ("TZ", "UTC"), ("PATH", "/usr/bin:/bin")]
            .map(|(name, value)| (name.into(), value.into()))
            .to_vec();
        options.limits.wall_time = Some(Duration::from_secs(20));
        options.programs = Some(ProgramOptions::default());
        options
    }

    pub fn session(options: SessionOptions) -> Session {
        let mut session = Session::new(options).expect("a session");
        // As the oracle is started: `bash -c`.
        session.shell_mut().options.command_string = true;
        session
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _it_is_in_the_build_directory = fs::remove_dir_all(&self.place);
    }
}
