//! Sources in languages that nobody here reads line by line, written by the text and then built or run: what they do
//! outside the project, and whom they talk to, by sight.

use bstr::{BStr, ByteSlice};

use super::command::Subjected;
use super::implied::Fresh;
use super::inquiry::Inquiry;
use crate::event::Via;
use crate::hosts::{host_of, is_loopback};

/// What makes a program of such a source start another one.
const STARTING: &[&str] = &[
    "Command",
    "exec",
    "system",
    "popen",
    "spawn",
    "Process",
    "Runtime",
    "shell",
    "cmd",
    "execute",
    "commandLine",
    "go:generate",
    "run(",
    "sh.Run",
    "Sys.command",
    "os:cmd",
    "os.cmd",
    "Process(",
    ".!",
];

/// What removes files, in languages nobody here reads …
const REMOVING: &[&str] = &[
    "RemoveAll",
    "os.Remove",
    "remove_dir",
    "remove_file",
    "unlink",
    "rmdir",
    "remove(",
    "rm_rf",
    "Files.delete",
    "deleteRecursively",
    ".delete(",
    "Directory.Delete",
    "File.Delete",
    "removeItem",
    "File.rm",
    "removeDirectory",
    "deleteTree",
    "removeFile",
    "nftw",
];

/// … what is secret wherever it lies …
const SECRET: &[&str] = &[
    ".ssh/",
    "id_rsa",
    "id_ed25519",
    ".netrc",
    ".aws/",
    ".git-credentials",
    ".gnupg",
    ".kube/",
    ".pypirc",
    ".docker/config",
];

/// … and what is not the project's.
const ELSEWHERE: &[&str] = &[
    "HOME",
    "UserHomeDir",
    "home_dir",
    "USERPROFILE",
    "user.home",
    "user_home",
    "UserProfile",
    "homeDirectory",
    "\"/home",
    "\"/root",
    "\"/etc",
    "\"/\"",
    "\"/usr",
    "\"/var",
];

/// … what writes, …
const WRITING: &[&str] = &[
    "WriteFile",
    "os.Create",
    "os.OpenFile",
    "fs::write",
    "File::create",
    "OpenOptions",
    "FileWriter",
    "Files.write",
    "writeText",
    "ofstream",
    "fopen(",
    "WriteAll",
    "File.write",
    "StreamWriter",
];

/// … what connects, …
const CONNECTING: &[&str] = &[
    "net.Dial",
    "TcpStream::connect",
    "new Socket(",
    "connect(",
    "TcpClient",
    "Socket.connect",
    "http.Get(",
    "http.Post",
    "http.NewRequest",
    "reqwest::",
    "ureq::",
    "HttpClient",
    "HttpURLConnection",
    "openConnection(",
    "WebClient",
];

/// … and a shell without a text, which takes its commands from somewhere.
const SHELLS: &[&str] = &[
    "\"sh\"",
    "\"bash\"",
    "\"/bin/sh\"",
    "\"/bin/bash\"",
    "\"/usr/bin/sh\"",
    "\"/usr/bin/bash\"",
    "\"cmd.exe\"",
    "\"/bin/sh -i\"",
    "\"/bin/bash -i\"",
];

/// Does it start programs at all?
pub(super) fn starts_programs(text: &BStr) -> bool {
    STARTING.iter().any(|name| text.contains_str(name))
}

impl Inquiry<'_> {
    /// `os.RemoveAll(os.Getenv("HOME"))`: removes or writes what is not the project's, or reads what is secret there;
    /// a shell on a connection, or one that nobody gives a text to.
    pub fn reaches_elsewhere(&mut self, subjected: &Subjected<'_>, fresh: &Fresh, via: &Via) {
        let names = |sights: &[&str]| sights.iter().any(|sight| fresh.text.contains_str(sight));
        let elsewhere = names(ELSEWHERE) && (names(REMOVING) || names(SECRET) || names(WRITING));
        let shell = names(STARTING) && names(SHELLS);
        let bare = shell && !fresh.text.contains_str("\"-c\"");
        if elsewhere || bare || (names(CONNECTING) && (shell || self.reaches_a_stranger(fresh))) {
            self.harmful(subjected, fresh, fresh.path.clone(), via);
        }
    }

    /// The source names a machine, or takes the name from a variable that this text exports.
    fn reaches_a_stranger(&self, fresh: &Fresh) -> bool {
        const ADDRESSES: [&str; 4] = ["http://", "https://", "tcp://", "ws://"];
        let named = |text: &BStr| {
            ADDRESSES.iter().any(|scheme| {
                text.find_iter(scheme).any(|at| {
                    let rest = text.get(at..).unwrap_or_default();
                    let ends = |byte: &u8| b"\"'` \\".contains(byte) || byte.is_ascii_whitespace();
                    let end = rest.iter().position(ends).unwrap_or(rest.len());
                    let address = rest.get(..end).unwrap_or(rest).as_bstr();
                    !is_loopback(host_of(address)) && address.len() > scheme.len()
                })
            })
        };
        let reads = ["Getenv", "env::var", "getenv", "GetEnvironmentVariable"];
        let looks_like_a_host = |value: &BStr| value.contains(&b'.') && !value.starts_with(b"/");
        let from_variable = reads.iter().any(|sight| fresh.text.contains_str(sight))
            && self.exported.iter().any(|it| {
                let value = it.value.shown();
                named(value) || (fresh.text.contains_str(&it.name) && looks_like_a_host(value))
            });
        named(fresh.text.as_bstr()) || from_variable
    }
}
