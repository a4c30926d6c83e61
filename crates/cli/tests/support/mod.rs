//! A project on disk, and the binary run in it as an agent or as a person would.

use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

pub struct Project {
    base: PathBuf,
    pub root: PathBuf,
}

impl Project {
    pub fn new() -> Self {
        static SERIAL: AtomicU32 = AtomicU32::new(0);
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let base =
            std::env::temp_dir().join(format!("exacta-judge-{}-{serial}", std::process::id()));
        fs::create_dir_all(base.join("project/.git/hooks")).expect("a temporary directory");
        let base = base.canonicalize().expect("a real path");
        Project { root: base.join("project"), base }
    }

    pub fn write(&self, name: &str, text: &str) -> &Self {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
        self
    }

    pub fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.root.join(name)).ok()
    }

    /// The binary with nothing of the machine's own configuration, and without a controlling terminal.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("setsid");
        command.args(["-w", env!("CARGO_BIN_EXE_exacta")]).args(arguments);
        self.surround(&mut command);
        command
    }

    pub fn surround(&self, command: &mut Command) {
        command
            .current_dir(&self.root)
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", &self.base)
            .env("TERM", "dumb")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the binary runs")
    }

    /// Input that could be taken for an answer.
    pub fn feed(&self, arguments: &[&str], input: &str) -> Output {
        self.feed_bytes(arguments, input.as_bytes())
    }

    pub fn feed_bytes(&self, arguments: &[&str], input: &[u8]) -> Output {
        let mut child =
            self.command(arguments).stdin(Stdio::piped()).spawn().expect("the binary runs");
        // It may end without reading any of it.
        let _ = child.stdin.take().expect("a pipe").write_all(input);
        child.wait_with_output().expect("the binary ends")
    }

    /// On a terminal of its own, with a person who answers the question that ends so.
    pub fn answer(&self, line: &str, question: &str, answer: &str) -> String {
        let line = format!("{} {line}", env!("CARGO_BIN_EXE_exacta"));
        let mut command = Command::new("script");
        command.args(["-qec", &line, "/dev/null"]);
        self.surround(&mut command);
        let mut child = command.stdin(Stdio::piped()).spawn().expect("script(1) runs");
        let mut output = child.stdout.take().expect("a pipe");
        let mut seen = Vec::new();
        let mut byte = [0];
        while !seen.ends_with(question.as_bytes()) {
            let read = output.read(&mut byte).expect("output");
            assert_eq!(read, 1, "{}", String::from_utf8_lossy(&seen));
            seen.push(byte[0]);
        }
        let mut input = child.stdin.take().expect("a pipe");
        input.write_all(format!("{answer}\n").as_bytes()).expect("an answer");
        output.read_to_end(&mut seen).expect("output");
        child.wait().expect("it ends");
        String::from_utf8_lossy(&seen).into_owned()
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.base);
    }
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or(-1)
}
