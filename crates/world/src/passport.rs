//! What one step tells the next, in the environment. It is a claim, never a proof: each step asks the kernel.

use std::env;
use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::process::Command;

use crate::namespaces;
use crate::refusal::{Refusal, While};

const STEP: &str = "EXACTA_WORLD";
const TOKEN: &str = "EXACTA_WORLD_TOKEN";
const OUTSIDE: &str = "EXACTA_WORLD_OUTSIDE";
const STAGING: &str = "EXACTA_WORLD_STAGING";
const PROGRAM: &str = "EXACTA_WORLD_PROGRAM";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    Ground,
    Init,
    Inside,
}

#[derive(Clone, Debug)]
pub struct Passport {
    pub step: Step,
    /// Random; a part of the name of every mount of the world.
    pub token: String,
    /// The namespaces that the world must not share.
    pub outside: Vec<String>,
    /// The directory that holds the layers while the world is built.
    pub staging: PathBuf,
    /// The test binary.
    pub program: PathBuf,
}

impl Passport {
    pub fn new(step: Step, staging: PathBuf, program: PathBuf) -> Result<Self, Refusal> {
        let mut bytes = [0; 12];
        fs::File::open("/dev/urandom")
            .and_then(|mut file| file.read_exact(&mut bytes))
            .when(|| "reading /dev/urandom".into())?;
        let token = bytes.map(|byte| format!("{byte:02x}")).concat();
        Ok(Passport { step, token, outside: namespaces::own()?, staging, program })
    }

    /// `None`: nothing claims that this is a world.
    pub fn shown() -> Result<Option<Self>, Refusal> {
        let Some(step) = env::var_os(STEP) else { return Ok(None) };
        let step = match step.to_str() {
            Some("step-ground") => Step::Ground,
            Some("step-init") => Step::Init,
            Some("step-inside") => Step::Inside,
            _ => return Err(Refusal::new(format!("{STEP} is set to something unknown; unset it"))),
        };
        let text = |name: &str| env::var(name).unwrap_or_default();
        let path = |name: &str| env::var_os(name).map(PathBuf::from).unwrap_or_default();
        let token = text(TOKEN);
        if token.len() != 24 || !token.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(Refusal::new(format!("{STEP} is set, but no world was built; unset it")));
        }
        Ok(Some(Passport {
            step,
            token,
            outside: text(OUTSIDE).split_whitespace().map(str::to_owned).collect(),
            staging: path(STAGING),
            program: path(PROGRAM),
        }))
    }

    pub fn hand_to(&self, command: &mut Command, step: Step) {
        let name = match step {
            Step::Ground => "step-ground",
            Step::Init => "step-init",
            Step::Inside => "step-inside",
        };
        command.env(STEP, name).env(TOKEN, &self.token).env(OUTSIDE, self.outside.join(" "));
        if step == Step::Inside {
            command.env_remove(STAGING).env_remove(PROGRAM);
        } else {
            command.env(STAGING, &self.staging).env(PROGRAM, &self.program);
        }
    }

    /// The source that `/proc/self/mountinfo` shows for every mount of this world.
    pub fn mount_name(&self) -> String {
        format!("exacta-world-{}", self.token)
    }

    /// Where the tree of the world is laid out, as seen from outside.
    pub fn tree(&self) -> PathBuf {
        self.staging.join("tree")
    }
}
