//! Options for running one command (S2).

use std::collections::HashMap;
use std::time::Duration;

/// How one command runs. The defaults are S2's.
///
/// ```
/// use std::time::Duration;
///
/// use exacta::primitives::BashOptions;
///
/// let options = BashOptions::new()
///     .working_dir("crates")
///     .env("RUST_BACKTRACE", "1")
///     .timeout(Duration::from_secs(10))
///     .block_command("git push")
///     .max_output(64 * 1024);
/// assert_eq!(options.working_dir.as_deref(), Some("crates"));
/// assert_eq!(BashOptions::new().timeout, Some(Duration::from_secs(120)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BashOptions {
    /// Working directory for the command; relative to the context's.
    pub working_dir: Option<String>,
    /// Environment variables to set.
    pub env_vars: HashMap<String, String>,
    /// Nothing of the caller's environment, not even its language. Its secrets are never passed on.
    pub clear_env: bool,
    /// How long it may take.
    pub timeout: Option<Duration>,
    /// Patterns of commands to refuse, see [`CommandValidator`](super::CommandValidator).
    pub blocked_commands: Vec<String>,
    /// So many bytes of each stream are kept; the rest is read and forgotten.
    pub max_output_size: usize,
}

impl Default for BashOptions {
    fn default() -> Self {
        let blocked = [
            "rm -rf /",
            ":(){ :|:& };:", // Fork bomb
            "mkfs",
            "dd if=/dev/",
            "> /dev/sd",
        ];
        BashOptions {
            working_dir: None,
            env_vars: HashMap::new(),
            clear_env: false,
            timeout: Some(Duration::from_secs(120)),
            blocked_commands: blocked.map(str::to_owned).to_vec(),
            max_output_size: 10 * 1024 * 1024,
        }
    }
}

impl BashOptions {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn working_dir(mut self, dir: &str) -> Self {
        self.working_dir = Some(dir.to_owned());
        self
    }

    pub fn env(mut self, key: &str, value: &str) -> Self {
        self.env_vars.insert(key.to_owned(), value.to_owned());
        self
    }

    pub fn envs(mut self, vars: HashMap<String, String>) -> Self {
        self.env_vars.extend(vars);
        self
    }

    pub fn clear_env(mut self) -> Self {
        self.clear_env = true;
        self
    }

    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    pub fn no_timeout(mut self) -> Self {
        self.timeout = None;
        self
    }

    /// Adds to what is blocked.
    pub fn block_command(mut self, pattern: &str) -> Self {
        self.blocked_commands.push(pattern.to_owned());
        self
    }

    pub fn max_output(mut self, size: usize) -> Self {
        self.max_output_size = size;
        self
    }
}
