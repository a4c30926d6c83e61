//! A project whose programs may reach what a rule of the operator grants, in a made-up world.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use exacta::gate::Judgement;
use exacta::network::{NetworkOptions, Operator};
use exacta::policy::rules::{RuleFile, RuleSet, Tier};
use exacta::policy::{Policy, Profile};
use exacta::programs::ProgramOptions;
use exacta::{Outcome, Request, Session, SessionOptions};

use crate::outside::{MadeUp, Pages};

static SERIAL: AtomicUsize = AtomicUsize::new(0);

pub struct Scene {
    place: PathBuf,
    project: PathBuf,
    home: PathBuf,
    pub outside: Arc<MadeUp>,
    rules: &'static str,
}

impl Scene {
    /// With these rules beside the default ones.
    pub fn new(pages: Pages, rules: &'static str) -> Self {
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let name = format!("exacta-network-{}-{serial}", std::process::id());
        let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let (project, home) = (place.join("project"), place.join("home"));
        fs::create_dir_all(&project).expect("a directory for the test");
        fs::create_dir_all(&home).expect("a home for the operator");
        let project = fs::canonicalize(project).expect("the directory of the test");
        let outside = MadeUp::new(pages);
        Scene { place, project, home, outside, rules }
    }

    /// Files of the project, and of the operator.
    pub fn lay_out(&self, project: &[(&str, &str)], home: &[(&str, &str)]) {
        for (folder, files) in [(&self.project, project), (&self.home, home)] {
            for (name, content) in files {
                write(&folder.join(name), content);
            }
        }
    }

    fn session(&self) -> Session {
        let file = RuleFile { name: "test.toml".into(), text: self.rules.into(), tier: Tier::User };
        let rules = RuleSet::load(&[file]).expect("the rules of the test");
        let policy = Arc::new(Policy::new(rules, Profile::FullAuto));
        let mut options = SessionOptions::new(&self.project);
        options.judgement = Some(Judgement { policy, ..Judgement::none() });
        options.limits.wall_time = Some(Duration::from_secs(60));
        let operator = Operator {
            home: Some(self.home.clone()),
            variables: Vec::new(),
            system: Some(self.home.join("system")),
        };
        options.programs = Some(ProgramOptions {
            path: std::env::var_os("PATH").iter().flat_map(std::env::split_paths).collect(),
            network: NetworkOptions { outside: Arc::clone(&self.outside) as _, operator },
            ..ProgramOptions::default()
        });
        Session::new(options).expect("a session")
    }

    pub fn run(&self, script: &str) -> Outcome {
        self.session().run_script(&Request::new(script))
    }
}

fn write(path: &Path, content: &str) {
    fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
    fs::write(path, content).expect("a file");
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _it_is_in_the_build_directory = fs::remove_dir_all(&self.place);
    }
}

/// Output and errors, for messages and comparisons.
pub fn texts(outcome: &Outcome) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    (text(&outcome.stdout), text(&outcome.stderr))
}

/// `host:port verdict`, one for each connection.
pub fn connections(outcome: &Outcome) -> Vec<String> {
    let programs = outcome.programs.as_ref();
    let all = programs.iter().flat_map(|programs| &programs.connections);
    all.map(|it| format!("{}:{} {}", it.host, it.port, it.fate.name())).collect()
}
