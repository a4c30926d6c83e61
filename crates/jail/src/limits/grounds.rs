//! Where control groups can be made: found from what is mounted and where this process is, then by trying.
//!
//! There are two versions. The second has one tree for everything; groups can be made in our own group, or beside it
//! where that was handed over to us. The first has a tree for each controller, or for several together. A system may
//! have both, with the controllers in the first.

use std::io;
use std::path::{Path, PathBuf};

use bstr::{BString, ByteSlice};

use super::files;
use super::group::{Group, Places};
use crate::outcome::Failure;
use crate::plan::Limits;

/// What names of groups begin with; then comes the number of the spawner, and the number of the jail.
const PREFIX: &str = "exacta-";
/// What a group of the second version must have.
const CONTROLLERS: [&str; 2] = ["memory", "pids"];
/// What groups of the first version are made of.
const FIRST_CONTROLLERS: [&str; 3] = ["memory", "pids", "cpuacct"];
/// More than one process makes jails: a number may be taken.
const MOST_TRIES: u32 = 64;

/// A place for groups, not yet known to work.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Ground {
    Second { directory: PathBuf, own: bool },
    First { memory: PathBuf, tasks: PathBuf, processor: Option<PathBuf> },
}

/// All places there may be, the best first.
pub struct Grounds {
    places: Vec<Ground>,
    next: u32,
    /// Why the last one that was tried gave no group.
    refused: i32,
}

impl Grounds {
    /// Looks for them.
    pub fn find() -> Self {
        let memberships = files::read("/proc/self/cgroup").unwrap_or_default();
        let mounted = usual(&memberships).unwrap_or_else(|| {
            let mounts = files::read("/proc/self/mountinfo").unwrap_or_default();
            mounts.lines().filter_map(mounted).collect()
        });
        let mut grounds = all(&mounted, &memberships);
        grounds.retain(|ground| ground.promises() || (ground.divide() && ground.promises()));
        Grounds { places: grounds, next: 0, refused: libc::ENOENT }
    }

    /// Removes what spawners that were killed have left there.
    pub fn tidy(&self) {
        let all = self.places.iter().flat_map(Ground::directories);
        all.for_each(remove_stale);
    }

    /// A group in each place that takes one. Whoever gets it may still find that no process can be moved there.
    pub fn create<'a>(&'a mut self, limits: &'a Limits) -> impl Iterator<Item = Group> + 'a {
        let Grounds { places, next, refused } = self;
        places.iter().filter_map(|ground| match ground.create(limits, next) {
            Ok(group) => {
                // It is there; should no process come into it, that is why.
                *refused = libc::EACCES;
                Some(group)
            }
            Err(error) => {
                *refused = error.raw_os_error().unwrap_or(libc::EACCES);
                None
            }
        })
    }

    /// Why there was none.
    pub fn why_not(&self) -> Failure {
        Failure { step: "make a control group".to_owned(), errno: self.refused }
    }
}

impl Ground {
    /// Hands what our own group has down to those below it. What others have set up above is not ours to change. Refused
    /// while processes are in the group, unless it is the topmost one; then a place above it may do. `false`: nothing has changed.
    fn divide(&self) -> bool {
        let Ground::Second { directory, own: true } = self else { return false };
        let all = CONTROLLERS.map(|it| format!("+{it}")).join(" ");
        files::write(directory.join("cgroup.subtree_control"), &all).is_ok()
    }

    /// `false`: it lacks what a group would need.
    fn promises(&self) -> bool {
        match self {
            Ground::First { .. } => true,
            Ground::Second { directory, .. } => {
                let file = directory.join("cgroup.subtree_control");
                let handed_down = files::read(file).unwrap_or_default();
                let has = |it: &str| files::words(&handed_down).any(|has| has == it.as_bytes());
                CONTROLLERS.iter().all(|it| has(it))
            }
        }
    }

    fn directories(&self) -> Vec<&Path> {
        match self {
            Ground::Second { directory, .. } => vec![directory],
            Ground::First { memory, tasks, processor } => {
                [memory, tasks].into_iter().chain(processor).map(PathBuf::as_path).collect()
            }
        }
    }

    fn create(&self, limits: &Limits, next: &mut u32) -> io::Result<Group> {
        for _ in 0..MOST_TRIES {
            let name = format!("{PREFIX}{}-{next}", std::process::id());
            *next = next.wrapping_add(1);
            match Group::create(self.places(&name), limits) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => return made,
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    fn places(&self, name: &str) -> Places {
        match self {
            Ground::Second { directory, .. } => Places::Second { directory: directory.join(name) },
            Ground::First { memory, tasks, processor } => Places::First {
                memory: memory.join(name),
                tasks: tasks.join(name),
                processor: processor.as_ref().map(|processor| processor.join(name)),
            },
        }
    }
}

/// Removes groups of spawners that are gone. One that still holds processes stays: it is not ours to judge them.
fn remove_stale(directory: &Path) {
    for name in files::names(directory) {
        let spawner = name.to_str().and_then(spawner_of);
        if spawner.is_some_and(|process| !is_spawner(process)) {
            let _it_may_be_in_use = files::remove_directory(&directory.join(name));
        }
    }
}

/// The number of the spawner that made a group of this name.
fn spawner_of(name: &str) -> Option<u32> {
    let (process, number) = name.strip_prefix(PREFIX)?.split_once('-')?;
    number.parse::<u32>().ok()?;
    process.parse().ok()
}

/// Numbers of processes are used again, so that it must be more than alive.
fn is_spawner(process: u32) -> bool {
    process == std::process::id()
        || files::read(format!("/proc/{process}/cmdline"))
            .is_ok_and(|line| line.split_str("\0").next() == Some(crate::spawner::NAME.as_bytes()))
}

/// A file system of control groups, as `/proc/self/mountinfo` tells of it.
struct Mounted {
    /// Which group is seen at the place.
    root: PathBuf,
    place: PathBuf,
    /// `None`: the second version.
    controllers: Option<Vec<BString>>,
}

/// Where nearly every system has them. `None`: this one does not, or they do not show the groups that we are in, or it is not sure
/// that they begin at the top: in a namespace of groups ours are told from there, whatever is mounted. To ask for all that is
/// mounted takes the kernel longer than to make a group.
fn usual(memberships: &BString) -> Option<Vec<Mounted>> {
    const TOP: &str = "/sys/fs/cgroup";
    /// The namespace that the system began with.
    const FIRST: &[u8] = b"cgroup:[4026531835]";
    if files::target(Path::new("/proc/self/ns/cgroup"))? != FIRST {
        return None;
    }
    let mount = |place: &str, controller: Option<&str>| {
        let controllers = controller.map(|it| vec![it.into()]);
        // Controllers of one tree have a link each; where there is none, nothing on the way has to be looked at.
        let linked = files::target(Path::new(place)).is_some();
        let place = if linked { files::real(place)? } else { place.into() };
        let mount = Mounted { root: "/".into(), place, controllers };
        let group = own(&mount, memberships, controller)?;
        (files::groups_version(&group)? == u8::from(controller.is_none()) + 1).then_some(mount)
    };
    let mut found = Vec::new();
    if memberships.lines().any(|line| line.starts_with(b"0::")) {
        let second = mount(TOP, None).or_else(|| mount(&format!("{TOP}/unified"), None));
        found.push(second?);
    }
    for controller in FIRST_CONTROLLERS {
        let is_its = |line: &[u8]| {
            let controllers = line.split_str(":").nth(1).unwrap_or_default();
            controllers.split_str(",").any(|it| it == controller.as_bytes())
        };
        if memberships.lines().any(is_its) {
            found.push(mount(&format!("{TOP}/{controller}"), Some(controller))?);
        }
    }
    Some(found)
}

fn all(mounted: &[Mounted], memberships: &BString) -> Vec<Ground> {
    let mut grounds = Vec::new();
    for mount in mounted.iter().filter(|mount| mount.controllers.is_none()) {
        let Some(own) = own(mount, memberships, None) else { continue };
        let above = own.ancestors().take_while(|it| it.starts_with(&mount.place));
        grounds.extend(above.enumerate().map(|(height, directory)| Ground::Second {
            directory: directory.to_owned(),
            own: height == 0,
        }));
    }
    let of = |controller: &str| {
        let has = |mount: &&Mounted| {
            mount.controllers.iter().flatten().any(|it| it == controller.as_bytes())
        };
        mounted.iter().filter(has).find_map(|mount| own(mount, memberships, Some(controller)))
    };
    if let (Some(memory), Some(tasks)) = (of("memory"), of("pids")) {
        grounds.push(Ground::First { memory, tasks, processor: of("cpuacct") });
    }
    grounds
}

/// Where our own group is to be seen.
fn own(mount: &Mounted, memberships: &BString, controller: Option<&str>) -> Option<PathBuf> {
    let group = memberships.lines().find_map(|line| {
        let mut fields = line.splitn(3, |byte| *byte == b':');
        let (number, controllers, group) = (fields.next()?, fields.next()?, fields.next()?);
        let this = match controller {
            None => number == b"0" && controllers.is_empty(),
            Some(controller) => controllers.split_str(",").any(|it| it == controller.as_bytes()),
        };
        this.then(|| group.to_path().ok()).flatten()
    })?;
    let below = group.strip_prefix(&mount.root).ok()?;
    // A group outside of what is seen here is shown with dots.
    below.components().all(|it| matches!(it, std::path::Component::Normal(_))).then(|| {
        if below.as_os_str().is_empty() { mount.place.clone() } else { mount.place.join(below) }
    })
}

/// `31 23 0:28 ROOT PLACE OPTIONS [TAG]… - TYPE SOURCE OPTIONS`, or nothing when it is another file system.
fn mounted(line: &[u8]) -> Option<Mounted> {
    let (mount, system) = line.split_once_str(" - ")?;
    let mut system = files::words(system);
    let controllers = match system.next()? {
        b"cgroup2" => None,
        b"cgroup" => {
            let options = system.nth(1)?;
            Some(options.split_str(",").map(BString::from).collect())
        }
        _ => return None,
    };
    let mut mount = files::words(mount).skip(3);
    let (root, place) = (unescaped(mount.next()?), unescaped(mount.next()?));
    Some(Mounted {
        root: root.to_path().ok()?.into(),
        place: place.to_path().ok()?.into(),
        controllers,
    })
}

/// Blanks and backslashes are written as three octal digits.
fn unescaped(text: &[u8]) -> BString {
    let mut unescaped = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        let digits = after.get(..3).filter(|_| first == b'\\');
        let code = digits.and_then(|it| u8::from_str_radix(it.to_str().ok()?, 8).ok());
        unescaped.push(code.unwrap_or(first));
        rest = if code.is_some() { after.get(3..).unwrap_or_default() } else { after };
    }
    unescaped.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(directory: &str, own: bool) -> Ground {
        Ground::Second { directory: directory.into(), own }
    }

    fn first(memory: &str, tasks: &str, processor: Option<&str>) -> Ground {
        let processor = processor.map(PathBuf::from);
        Ground::First { memory: memory.into(), tasks: tasks.into(), processor }
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "a table")]
    fn grounds_are_found_where_they_are() {
        let separate = "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
            33 31 0:30 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct\n\
            39 31 0:36 / /sys/fs/cgroup/pids rw shared:3 - cgroup cgroup rw,pids\n";
        let cases: [(&str, &str, &str, Vec<Ground>); 9] = [
            ("nothing", "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n", "0::/\n", vec![]),
            (
                "each in its own tree",
                separate,
                "8:pids:/\n4:memory:/job/7\n2:cpuacct:/\n0::/\n",
                vec![first(
                    "/sys/fs/cgroup/memory/job/7",
                    "/sys/fs/cgroup/pids",
                    Some("/sys/fs/cgroup/cpuacct"),
                )],
            ),
            (
                "two in one tree, and the second version without controllers beside it",
                "35 31 0:32 / /c/memory,pids rw - cgroup cgroup rw,memory,pids\n\
                33 31 0:30 / /c/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n\
                41 31 0:38 / /c/unified rw - cgroup2 cgroup2 rw,nsdelegate\n",
                "4:memory,pids:/a\n2:cpu,cpuacct:/b\n0::/\n",
                vec![
                    second("/c/unified", true),
                    first("/c/memory,pids/a", "/c/memory,pids/a", Some("/c/cpu,cpuacct/b")),
                ],
            ),
            (
                "one that can be done without",
                separate,
                "8:pids:/\n4:memory:/\n",
                vec![first("/sys/fs/cgroup/memory", "/sys/fs/cgroup/pids", None)],
            ),
            ("one that cannot", separate, "2:cpuacct:/\n4:memory:/\n", vec![]),
            (
                "the second version, down in a session",
                "30 23 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n",
                "0::/user.slice/app.slice/terminal.scope\n",
                vec![
                    second("/sys/fs/cgroup/user.slice/app.slice/terminal.scope", true),
                    second("/sys/fs/cgroup/user.slice/app.slice", false),
                    second("/sys/fs/cgroup/user.slice", false),
                    second("/sys/fs/cgroup", false),
                ],
            ),
            (
                "a container that is shown only its own part",
                "30 23 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
                "0::/docker/abc/inner\n",
                vec![second("/sys/fs/cgroup/inner", true), second("/sys/fs/cgroup", false)],
            ),
            (
                "a part that we are not in",
                "30 23 0:26 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup rw\n",
                "0::/docker/other\n",
                vec![],
            ),
            (
                "a group outside of the namespace, and a blank in a name",
                "30 23 0:26 / /sys/fs/c\\040group rw - cgroup2 cgroup rw\n",
                "0::/../elsewhere\n",
                vec![],
            ),
        ];
        for (name, mounts, memberships, expected) in cases {
            let mounts: Vec<Mounted> = mounts.as_bytes().lines().filter_map(mounted).collect();
            assert_eq!(all(&mounts, &memberships.into()), expected, "{name}");
        }
    }

    /// What is found without asking for everything is what is found by asking.
    #[test]
    fn usual_places_are_those_that_are_mounted() {
        let memberships = files::read("/proc/self/cgroup").expect("our groups");
        let mounts = files::read("/proc/self/mountinfo").expect("what is mounted");
        let mounts: Vec<Mounted> = mounts.lines().filter_map(mounted).collect();
        if let Some(usual) = usual(&memberships) {
            assert_eq!(all(&usual, &memberships), all(&mounts, &memberships));
        }
        for elsewhere in ["4:memory:/not/here\n", "0::/not/here\n", "9:pids:/../above\n"] {
            assert!(super::usual(&elsewhere.into()).is_none(), "{elsewhere}");
        }
        assert!(super::usual(&"3:cpuset:/\n".into()).is_some_and(|found| found.is_empty()));
    }

    #[test]
    fn only_our_own_names_are_ever_removed() {
        let cases = [
            ("exacta-12-3", Some(12)),
            ("exacta-12", None),
            ("exacta-12-", None),
            ("exacta-world-17885-09", None),
            ("exacta-1-2-3", None),
            ("exacta--1-2", None),
            ("user.slice", None),
        ];
        for (name, expected) in cases {
            assert_eq!(spawner_of(name), expected, "{name}");
        }
        assert!(is_spawner(std::process::id()));
        assert!(!is_spawner(1), "process 1 is alive and is no spawner");
    }

    #[test]
    fn escapes_are_read() {
        assert_eq!(unescaped(br"/a\040b\134c\9"), BString::from(r"/a b\c\9"));
    }
}
