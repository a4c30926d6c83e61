//! The namespaces of a process by the names that the kernel gives them, such as `mnt:[4026531841]`.

use std::fs;

use crate::refusal::{Refusal, While};

/// Each of these is the world's own.
const KINDS: [&str; 7] = ["mnt", "pid", "net", "ipc", "uts", "user", "cgroup"];

pub fn own() -> Result<Vec<String>, Refusal> {
    KINDS.iter().map(|kind| of("self", kind)).collect()
}

pub fn of(process: &str, kind: &str) -> Result<String, Refusal> {
    let path = format!("/proc/{process}/ns/{kind}");
    let name = fs::read_link(&path).when(|| format!("reading {path}"))?;
    Ok(name.to_string_lossy().into_owned())
}

/// Those that are the same as outside, or that nobody named.
pub fn shared_with(outside: &[String]) -> Result<Vec<String>, Refusal> {
    let mut shared = Vec::new();
    for (kind, own) in KINDS.iter().zip(own()?) {
        let known = outside.iter().any(|name| name.starts_with(&format!("{kind}:[")));
        if !known || outside.contains(&own) {
            shared.push(own);
        }
    }
    Ok(shared)
}
