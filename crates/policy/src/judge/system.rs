//! What is read of the system. Its files are no secret and harmless to read: programs see them in any case, and for what
//! runs in process they do not exist. But a program that is copied has another name afterwards.

use bstr::{BStr, ByteSlice};

use super::command::Subjected;
use super::inquiry::Inquiry;
use crate::event::Access;
use crate::verdict::Finding;

/// Directories of programs.
const PROGRAMS: [&str; 8] = [
    "/bin/",
    "/sbin/",
    "/usr/bin/",
    "/usr/sbin/",
    "/usr/local/bin/",
    "/usr/local/sbin/",
    "/usr/libexec/",
    "/usr/games/",
];

/// Whoever hands a program to one of these wants to have it elsewhere.
const COPYING: [&str; 18] = [
    "base64", "bsdtar", "cat", "cp", "cpio", "dd", "gzip", "install", "ln", "mv", "objcopy",
    "rsync", "scp", "strip", "tar", "tee", "xxd", "zip",
];

impl Inquiry<'_> {
    /// A program of the system that is read as if it were data.
    pub fn program_copied(
        &self,
        absolute: &BStr,
        access: Access,
        by: Option<&Subjected<'_>>,
        findings: &mut Vec<Finding>,
    ) {
        let program = || {
            let name = PROGRAMS.iter().find_map(|folder| absolute.strip_prefix(folder.as_bytes()));
            name.is_some_and(|name| !name.is_empty() && !name.contains(&b'/'))
                || is_loader(absolute)
        };
        let copies = by.is_none_or(|by| COPYING.iter().any(|name| by.reading.name == *name));
        if access == Access::Read && copies && program() {
            findings.extend(self.situation("copied-program", &absolute.to_str_lossy()));
        }
    }
}

fn is_loader(path: &BStr) -> bool {
    let name = path.rsplit_once_str("/").map_or(path.as_bytes(), |(_, name)| name);
    name.starts_with(b"ld-linux") || name.starts_with(b"ld-musl")
}
