//! S3 §5: where paths lead. Lexically first, then through the world's eyes; what is not known stays unjudged until
//! it is opened.

use bstr::{BStr, BString, ByteSlice};

use super::command::Subjected;
use super::computed::variable_of;
use super::inquiry::{Inquiry, built_in};
use crate::event::{Access, Directory};
use crate::guarded;
use crate::rules::Subject;
use crate::surroundings::Place;
use crate::verdict::{Decision, Finding, Step};
use crate::word::Word;

const HIDDEN: &str = "exacta's own state does not exist for commands";

/// How a path is used, and where it is seen from.
#[derive(Clone, Copy)]
pub(super) struct Opening<'a> {
    pub access: Access,
    pub directory: &'a Directory,
    /// The command among whose words it is; `None`: the shell itself opens it.
    pub by: Option<&'a Subjected<'a>>,
}

impl Opening<'_> {
    /// Something in a directory goes, not the directory itself.
    fn of_something_in_it(self) -> Self {
        let access = if self.access == Access::Delete { Access::Write } else { self.access };
        Opening { access, ..self }
    }
}

impl Inquiry<'_> {
    /// A path among the words of a command.
    pub fn path(
        &self,
        path: &Word,
        access: Access,
        subjected: &Subjected<'_>,
        findings: &mut Vec<Finding>,
    ) {
        let opening = Opening { access, directory: &subjected.directory, by: Some(subjected) };
        self.opened(path, opening, findings);
    }

    /// A path that stands in code. `import '../sum'` in a file is seen from the folder of the file, and what is read
    /// may be.
    pub fn path_in_code(
        &self,
        path: &Word,
        access: Access,
        subjected: &Subjected<'_>,
        origin: Option<&Directory>,
        findings: &mut Vec<Finding>,
    ) {
        let mut found = Vec::new();
        self.path(path, access, subjected, &mut found);
        let relative = path.as_literal().is_some_and(|path| path.starts_with(b"."));
        let denied = found.iter().any(|finding| finding.decision == Decision::Deny);
        if let Some(directory) = origin.filter(|_| relative && denied)
            && matches!(access, Access::Read | Access::Execute)
        {
            found.clear();
            let opening = Opening { access, directory, by: Some(subjected) };
            self.opened(path, opening, &mut found);
            for finding in &mut found {
                finding.decision = finding.decision.min(Decision::Confirm);
            }
        }
        findings.extend(found);
    }

    /// Every path that the word can be, as far as it is known.
    pub fn opened(&self, path: &Word, opening: Opening<'_>, findings: &mut Vec<Finding>) {
        let Opening { access, directory, .. } = opening;
        self.removed_somewhere(path, opening, findings);
        match path {
            Word::Literal(path) => self.known_path(path.as_bstr(), opening, findings),
            Word::Dynamic(dynamic) if !dynamic.values.is_empty() => {
                for value in &dynamic.values {
                    if dynamic.splits && guarded::is_pattern(value) {
                        self.guarded(value.as_bstr(), opening, findings);
                    }
                    self.known_path(value.as_bstr(), opening, findings);
                }
            }
            Word::Dynamic(dynamic) => {
                // What a command says in `<(…)`: a descriptor, and the command is judged by itself.
                if dynamic.prefix.starts_with(b"/dev/fd/") {
                    return;
                }
                if let Some(glob) = &dynamic.glob {
                    self.guarded(glob.as_bstr(), opening, findings);
                }
                self.each_guarded(dynamic.written.as_bstr(), opening, findings);
                if let Some(glob) = &dynamic.glob
                    && let Some(glob) = absolute(glob.as_bstr(), directory)
                    && access == Access::Read
                {
                    // A pattern that names what is guarded: `~/.config/**/*token*`.
                    self.by_path_rules(glob.as_bstr(), opening, findings);
                }
                self.wiped(dynamic, opening, findings);
                if access == Access::Delete
                    && let Some(glob) = &dynamic.glob
                    && self.is_whole_project(glob.as_bstr(), directory)
                {
                    let about = dynamic.written.to_str_lossy();
                    findings.extend(self.situation("whole-project", &about));
                }
                if access == Access::Delete && climbs(dynamic.written.as_bstr()) {
                    let about = dynamic.written.to_str_lossy();
                    findings.extend(self.situation("unread-path", &about));
                }
                self.unknown_path(dynamic, opening, findings);
                // Whatever follows, it lies beneath the last directory that is known.
                let Some(end) = dynamic.prefix.rfind_byte(b'/') else {
                    if dynamic.glob.is_some() {
                        self.known_path(b".".as_bstr(), opening.of_something_in_it(), findings);
                    }
                    return;
                };
                let known = dynamic.prefix.get(..end.max(1)).unwrap_or_default().as_bstr();
                if known != "/" || dynamic.glob.is_some() {
                    self.known_path(known, opening.of_something_in_it(), findings);
                }
            }
        }
    }

    /// A pattern that can be a guarded path is judged as if it were.
    fn guarded(&self, pattern: &BStr, opening: Opening<'_>, findings: &mut Vec<Finding>) {
        if !guarded::is_pattern(pattern) {
            return self.known_path(pattern, opening, findings);
        }
        for path in guarded::paths(pattern, opening.access) {
            self.known_path(path.as_bstr(), opening, findings);
        }
    }

    /// `for f in .g*; do … "$f"`: the variable is each of what the pattern matches.
    fn each_guarded(&self, written: &BStr, opening: Opening<'_>, findings: &mut Vec<Finding>) {
        for (name, pattern) in &self.each_of_pattern {
            if variable_of(written).is_some_and(|(known, _)| name == known) {
                self.guarded(pattern.as_bstr(), opening, findings);
            }
        }
    }

    /// `*`, `"$PWD"/*`: a pattern that all names in the project's root match.
    fn is_whole_project(&self, glob: &BStr, directory: &Directory) -> bool {
        const ALL: [&str; 8] = ["*", "**", ".*", ".[!.]*", ".[^.]*", ".??*", "*.*", "?*"];
        let (folder, last) = glob.rsplit_once_str("/").unwrap_or((b".", glob.as_bytes()));
        let folder = if folder.is_empty() { b"/" } else { folder };
        ALL.iter().any(|all| last == all.as_bytes())
            && absolute(folder.as_bstr(), directory)
                .is_some_and(|folder| self.inside(folder.as_bstr()) == ".")
    }

    pub fn known_path(&self, path: &BStr, opening: Opening<'_>, findings: &mut Vec<Finding>) {
        let Opening { access, directory, .. } = opening;
        // Standard input, an empty operand, an address: no path.
        if path.is_empty() || path == "-" || path.contains_str("://") {
            return;
        }
        self.in_home(path, opening, findings);
        self.wiped_in_place(path, opening, findings);
        if !path.starts_with(b"/") {
            self.elsewhere(path, opening, findings);
        }
        if access == Access::Write && path.ends_with(b".git/{}") {
            // Whatever is found there may be a hook or the settings.
            findings.extend(self.situation("unread-path", &path.to_str_lossy()));
        }
        let Some(written) = joined(path, directory) else { return };
        let absolute = normalised(written.as_bstr());
        self.by_path_rules(absolute.as_bstr(), opening, findings);
        // Behind a link a guarded file has another name.
        if let Some(real) = self.real_path(written.as_bstr(), access)
            && real != absolute
        {
            self.by_path_rules(real.as_bstr(), opening, findings);
        }
        if let Some(real) = self.through_links(absolute.as_bstr()) {
            self.by_path_rules(real.as_bstr(), opening, findings);
        }
        self.program_copied(absolute.as_bstr(), access, opening.by, findings);
        let mut place = self.world.place(absolute.as_bstr());
        if place == Place::Scratch && self.climbs_out(path, absolute.as_bstr(), directory) {
            place = Place::Outside;
        }
        // Which descriptors there are is no secret.
        if absolute == "/dev/fd" && access == Access::Read {
            return;
        }
        if reachable(place, access) && !self.holds_the_root(absolute.as_bstr(), access) {
            return;
        }
        let (rule, reason) = match place {
            Place::Hidden => ("hidden", HIDDEN),
            Place::System | Place::Granted { .. } => ("outside", "can be read, not changed"),
            _ => ("outside", "leads out of the project"),
        };
        findings.push(outside(rule, reason, path));
    }

    /// Up from within the project: there is nothing above it, though it may lie in `/tmp`.
    fn climbs_out(&self, path: &BStr, absolute: &BStr, directory: &Directory) -> bool {
        let root = self.world.root();
        let within = |path: &BStr| {
            path.strip_prefix(root.as_bytes())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
        };
        let from = match path.find("/..") {
            Some(up) if path.starts_with(b"/") => path.get(..up).map(ByteSlice::as_bstr),
            None if path.starts_with(b"/") => None,
            _ => directory.expected().map(|directory| directory.as_bstr()),
        };
        from.is_some_and(within) && !within(absolute)
    }

    /// Does the project go with it?
    fn holds_the_root(&self, path: &BStr, access: Access) -> bool {
        let root = self.world.root();
        access == Access::Delete
            && root.strip_prefix(path.as_bytes()).is_some_and(|rest| rest.starts_with(b"/"))
    }

    /// Through a link that this very text makes.
    fn through_links(&self, path: &BStr) -> Option<BString> {
        self.links.iter().rev().find_map(|(link, target)| {
            let rest = path.strip_prefix(link.as_slice())?;
            let beneath = rest.is_empty() || rest.starts_with(b"/");
            beneath.then(|| BString::from([target.as_slice(), rest].concat()))
        })
    }

    /// If a `cd` before it failed, the path leads elsewhere. What is guarded there is guarded; that it may lead out is
    /// left to when it is opened, or `cd build; cmake ..` would be refused.
    fn elsewhere(&self, path: &BStr, opening: Opening<'_>, findings: &mut Vec<Finding>) {
        let directory = opening.directory;
        for other in directory.others() {
            let absolute = normalised(beneath(other.as_bstr(), path).as_bstr());
            self.by_path_rules(absolute.as_bstr(), opening, findings);
            if self.world.place(absolute.as_bstr()) == Place::Hidden {
                findings.push(outside("hidden", HIDDEN, path));
            }
        }
    }

    /// Links followed, save one that is itself what goes.
    fn real_path(&self, path: &BStr, access: Access) -> Option<BString> {
        let (folder, name) = path.rsplit_once_str("/")?;
        if access != Access::Delete || matches!(name, b"" | b"." | b"..") {
            return self.world.real_path(path);
        }
        let folder = if folder.is_empty() { b"/" } else { folder };
        let mut real = self.world.real_path(folder.as_bstr())?;
        real.push(b'/');
        real.extend_from_slice(name);
        Some(normalised(real.as_bstr()))
    }

    pub fn by_path_rules(
        &self,
        absolute: &BStr,
        opening: Opening<'_>,
        findings: &mut Vec<Finding>,
    ) {
        let Opening { access, by, .. } = opening;
        let path = self.inside(absolute);
        let subject = match access {
            Access::Write => Subject::Write { path },
            Access::Delete => Subject::Delete { path },
            Access::Read | Access::Execute => Subject::Read { path },
            Access::Enter => return,
        };
        let lifted = by.map_or(&[][..], |by| &by.lifted);
        for mut finding in self.rules_on(&subject, lifted) {
            finding.about = path.into();
            findings.push(finding);
        }
    }

    /// Relative to the root if it is beneath it.
    pub fn inside<'p>(&self, absolute: &'p BStr) -> &'p BStr {
        let root = self.world.root();
        match absolute.strip_prefix(root.as_bytes()) {
            Some(b"") => b".".as_bstr(),
            Some(rest) => rest.strip_prefix(b"/").map_or(absolute, ByteSlice::as_bstr),
            None => absolute,
        }
    }

    /// Where a word leads, if that is known.
    pub fn place_of(&self, path: &Word, directory: &Directory) -> Option<Place> {
        let absolute = absolute(path.as_literal()?, directory)?;
        Some(self.world.place(absolute.as_bstr()))
    }
}

/// `"$x/.."`: out of a directory that nobody knows.
fn climbs(written: &BStr) -> bool {
    written.trim_end_with(|c| c == '"' || c == '/' || c == '*').ends_with(b"/..")
        || written.contains_str("/../")
}

fn reachable(place: Place, access: Access) -> bool {
    let reads = matches!(access, Access::Read | Access::Execute | Access::Enter);
    match place {
        Place::Project | Place::Scratch | Place::Device => true,
        Place::Granted { writable } => writable || reads,
        // For what runs in process it is not there, which harms nobody.
        Place::System => reads,
        Place::Hidden | Place::Outside => false,
    }
}

fn outside(rule: &str, reason: &str, path: &BStr) -> Finding {
    let mut finding = built_in(Decision::Deny, rule, &format!("{path}: {reason}"));
    finding.step = Step::Paths;
    finding.hint = "use a path inside the project or /tmp; an operator can grant others".into();
    finding.about = path.into();
    finding
}

/// The path from the root of all, without `.` and `..`. `None`: it is relative to a directory nobody knows.
pub(super) fn absolute(path: &BStr, directory: &Directory) -> Option<BString> {
    joined(path, directory).map(|whole| normalised(whole.as_bstr()))
}

/// What a file goes by in one verdict: its path, or how a path that nobody knows is written.
pub(super) fn key(path: &Word, directory: &Directory) -> Option<BString> {
    match path {
        Word::Literal(path) => absolute(path.as_bstr(), directory),
        Word::Dynamic(dynamic) if dynamic.glob.is_none() => {
            Some([b"\0", dynamic.written.trim_with(|c| c == '"')].concat().into())
        }
        Word::Dynamic(_) => None,
    }
}

/// The path from the root of all, as it is written.
fn joined(path: &BStr, directory: &Directory) -> Option<BString> {
    if path.starts_with(b"/") {
        return Some(path.into());
    }
    directory.expected().map(|directory| beneath(directory.as_bstr(), path))
}

fn beneath(directory: &BStr, path: &BStr) -> BString {
    BString::from([directory.as_bytes(), b"/", path.as_bytes()].concat())
}

/// Lexically: a link before a `..` is the world's business.
fn normalised(path: &BStr) -> BString {
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in path.split_str("/") {
        match part {
            b"" | b"." => {}
            b".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let mut whole = BString::from("/");
    whole.extend_from_slice(&bstr::join("/", parts));
    whole
}

/// The directory after entering another one.
pub(super) fn entered(directory: &Directory, target: &Word) -> Directory {
    let Some(target) = target.as_literal() else { return Directory::Unknown };
    match (absolute(target, directory), directory) {
        (Some(expected), Directory::Likely { others, .. }) if !target.starts_with(b"/") => {
            let others =
                others.iter().map(|other| normalised(beneath(other.as_bstr(), target).as_bstr()));
            Directory::Likely { expected, others: others.collect() }
        }
        (Some(path), _) => Directory::Known(path),
        (None, _) => Directory::Unknown,
    }
}
