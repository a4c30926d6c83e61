//! A daemon of its own for a test, and a client that speaks HTTP and nothing more.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::Project;

pub struct Daemon {
    /// Taken when it ends.
    project: Option<Project>,
    pub port: u16,
    process: Child,
}

/// What came back.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: String,
    pub body: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    pub fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_default().to_owned()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum As {
    Person,
    Agent,
    Nobody,
}

impl Daemon {
    pub fn start() -> Self {
        Daemon::serving(Project::new())
    }

    pub fn serving(project: Project) -> Self {
        Daemon::with(project, &[], &[])
    }

    pub fn with(project: Project, words: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_exacta"));
        command.args(["serve", "--listen", "127.0.0.1:0"]).args(words);
        project.surround(&mut command);
        command.envs(variables.iter().copied());
        Daemon::started(project, command)
    }

    /// The project is on a disk of its own, of this size: nobody but the daemon sees it.
    #[allow(dead_code, reason = "each test uses some of it")]
    pub fn on_small_disk(project: Project, size: &str) -> Self {
        let script = "mount -t tmpfs -o mode=0700,size=\"$1\" tmpfs . && cd . && cd \"$PWD\" && mkdir .git && exec \"$2\" serve --listen 127.0.0.1:0";
        let mut command = Command::new("unshare");
        command.args(["-rm", "sh", "-c", script, "sh", size, env!("CARGO_BIN_EXE_exacta")]);
        project.surround(&mut command);
        Daemon::started(project, command)
    }

    fn started(project: Project, mut command: Command) -> Self {
        let mut process = command.spawn().expect("it starts");
        let mut said = String::new();
        let mut errors = BufReader::new(process.stderr.take().expect("a pipe"));
        errors.read_line(&mut said).expect("it says where");
        let port = said.trim().trim_end_matches('/').rsplit(':').next().expect("a port").to_owned();
        let port = port.parse().unwrap_or_else(|_| panic!("no port in {said:?}"));
        Daemon { project: Some(project), port, process }
    }

    pub fn token(&self, who: As) -> String {
        let name = if who == As::Person { "token" } else { "agent-token" };
        let home = self.project().root.parent().expect("a home");
        let path = home.join(".local/state/exacta/serve").join(name);
        std::fs::read_to_string(path).expect("a token")
    }

    /// A connection on which this was asked.
    pub fn ask(&self, who: As, method: &str, path: &str, headers: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout");
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n{headers}");
        if !headers.contains("Host:") {
            head += &format!("Host: 127.0.0.1:{}\r\n", self.port);
        }
        if who != As::Nobody {
            head += &format!("Authorization: Bearer {}\r\n", self.token(who));
        }
        head += &format!("Content-Length: {}\r\n\r\n", body.len());
        stream.write_all(head.as_bytes()).expect("it reads");
        stream.write_all(body.as_bytes()).expect("it reads");
        stream
    }

    pub fn call(&self, who: As, method: &str, path: &str, headers: &str, body: &str) -> Answer {
        let mut text = Vec::new();
        self.ask(who, method, path, headers, body).read_to_end(&mut text).expect("an answer");
        let text = String::from_utf8_lossy(&text).into_owned();
        let (headers, body) = text.split_once("\r\n\r\n").expect("a head");
        let status = headers.split(' ').nth(1).and_then(|status| status.parse().ok());
        let body = if headers.to_lowercase().contains("transfer-encoding: chunked") {
            unchunked(body)
        } else {
            body.to_owned()
        };
        Answer { status: status.expect("a status"), headers: headers.to_owned(), body }
    }

    pub fn get(&self, who: As, path: &str) -> Answer {
        self.call(who, "GET", path, "", "")
    }

    pub fn post(&self, who: As, path: &str, body: &Value) -> Answer {
        self.call(who, "POST", path, "", &body.to_string())
    }

    /// Ends as an operator ends it; how long that took.
    pub fn end(self) -> Duration {
        self.stop().1
    }

    /// The same; its project is left.
    pub fn stop(mut self) -> (Project, Duration) {
        let begun = Instant::now();
        let process = rustix::process::Pid::from_child(&self.process);
        rustix::process::kill_process(process, rustix::process::Signal::TERM).expect("it is there");
        assert!(self.process.wait().expect("it ends").success());
        (self.project.take().expect("a project"), begun.elapsed())
    }

    /// Ends as the kernel ends it; its project is left.
    #[allow(dead_code, reason = "each test uses some of it")]
    pub fn kill(&mut self) -> Project {
        self.process.kill().expect("it is there");
        self.process.wait().expect("it ends");
        self.project.take().expect("a project")
    }

    pub fn project(&self) -> &Project {
        self.project.as_ref().expect("a project")
    }

    #[allow(dead_code, reason = "each test uses some of it")]
    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn process(&self) -> u32 {
        self.process.id()
    }
}

/// Waits until this holds.
pub fn until<T>(what: &str, look: impl Fn() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _it_may_have_ended = self.process.kill();
        let _ = self.process.wait();
    }
}

fn unchunked(mut body: &str) -> String {
    let mut text = String::new();
    while let Some((length, rest)) = body.split_once("\r\n") {
        let length = usize::from_str_radix(length.trim(), 16).unwrap_or(0);
        let Some(piece) = rest.get(..length).filter(|piece| !piece.is_empty()) else { break };
        text += piece;
        body = rest.get(length + 2..).unwrap_or_default();
    }
    text
}
