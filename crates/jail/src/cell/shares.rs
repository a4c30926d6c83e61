//! Which trees of a view are mounted by whom: the warden has those that are written to and those with something laid over them, and
//! init, beside it, the others, as far as neither has to wait for the other.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::trees::Adding;
use super::view::{Root, is_later};
use crate::outcome::Failure;
use crate::plan::{Access, ReadyPart, Tree, View};
use crate::timeline;
use crate::walls::landlock::Handles;

/// As many as can be sent with everything else.
const MOST: usize = 100;

/// Handles on all sources of a view, in their order. Those that are missing are somebody else's.
pub struct Mounts {
    pub trees: Vec<Option<OwnedFd>>,
    /// For each tree with a layer to write to.
    pub written: Vec<OwnedFd>,
    pub ready: Vec<Option<OwnedFd>>,
    /// Where layers of requests are found.
    pub layers: Option<OwnedFd>,
}

impl Mounts {
    /// In the order of [`sources`](super::outside::sources).
    pub fn of(view: &View, mut all: Vec<OwnedFd>) -> Self {
        let layers = if view.layers.is_some() { all.pop() } else { None };
        let ready = all.split_off(all.len().saturating_sub(view.ready.len()));
        let written = all.split_off(all.len().min(view.trees.len()));
        let some = |all: Vec<OwnedFd>| all.into_iter().map(Some).collect();
        Mounts { trees: some(all), written, ready: some(ready), layers }
    }
}

/// Only read, with nothing laid over it.
fn is_plain(view: &View, tree: &Tree) -> bool {
    tree.access == Access::Read && !is_later(view, tree)
}

/// Places that the warden mounts before anything is laid over something: where something is written, and all that lie in one of its
/// own or have one in them, for which of the two comes first counts.
fn wardens(view: &View) -> Vec<&Path> {
    let settings = view.ready.iter().filter_map(|ready| match &ready.part {
        ReadyPart::Settings(target) => Some(target.as_path()),
        ReadyPart::Mask(_) => None,
    });
    let plain = view.trees.iter().filter(|tree| is_plain(view, tree));
    let mut free: Vec<&Path> = plain.map(|tree| tree.target.as_path()).chain(settings).collect();
    if free.len() > MOST {
        return free;
    }
    let written = view.trees.iter().filter(|tree| !is_plain(view, tree) && !is_later(view, tree));
    let mut wardens: Vec<&Path> = written.map(|tree| tree.target.as_path()).collect();
    loop {
        let is_near =
            |path: &Path| wardens.iter().any(|it| it.starts_with(path) || path.starts_with(it));
        let (near, far): (Vec<_>, Vec<_>) = free.into_iter().partition(|path| is_near(path));
        if near.is_empty() {
            return wardens;
        }
        wardens.extend(near);
        free = far;
    }
}

/// What init mounts. With it come the rules of Landlock, if there are some, the settings, and the trees.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Share {
    /// By their places in the view.
    trees: Vec<usize>,
    settings: Option<PathBuf>,
    has_rules: bool,
}

impl Share {
    /// Takes init's part out of the mounts.
    pub fn take(view: &View, mounts: &mut Mounts) -> (Self, Vec<OwnedFd>) {
        let wardens = wardens(view);
        let is_inits = |path: &Path| !wardens.contains(&path);
        let (mut share, mut given) = (Share::default(), Vec::new());
        for (ready, mount) in view.ready.iter().zip(&mut mounts.ready) {
            if let ReadyPart::Settings(target) = &ready.part
                && is_inits(target)
                && let Some(mount) = mount.take()
            {
                share.settings = Some(target.clone());
                given.push(mount);
            }
        }
        for ((place, tree), mount) in view.trees.iter().enumerate().zip(&mut mounts.trees) {
            if is_plain(view, tree)
                && is_inits(&tree.target)
                && let Some(mount) = mount.take()
            {
                share.trees.push(place);
                given.push(mount);
            }
        }
        (share, given)
    }

    pub fn is_empty(&self) -> bool {
        self.trees.is_empty() && self.settings.is_none()
    }

    /// What goes with it.
    pub fn with<'a>(
        &mut self,
        rules: Option<BorrowedFd<'a>>,
        given: &'a [OwnedFd],
    ) -> Vec<BorrowedFd<'a>> {
        let rules = rules.filter(|_| !self.is_empty());
        self.has_rules = rules.is_some();
        rules.into_iter().chain(given.iter().map(AsFd::as_fd)).collect()
    }

    /// Mounts all of it.
    pub fn mount(
        &self,
        view: &View,
        root: &Root,
        mut given: impl Iterator<Item = OwnedFd>,
    ) -> Result<(), Failure> {
        let grants = Handles::shared(if self.has_rules { given.next() } else { None })?;
        let mut adding = Adding::new(view, None, root.folders(), &grants);
        if let Some(target) = &self.settings
            && let Some(mount) = given.next()
        {
            adding.mount_settings(target, &mount)?;
        }
        let trees = self.trees.iter().filter_map(|place| view.trees.get(*place));
        for (tree, mount) in trees.zip(given) {
            adding.mount(tree, &mount)?;
            adding.grant(tree, mount)?;
        }
        timeline::mark("trees of the view");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::Ready;

    use super::*;

    fn tree(target: &str, access: Access, hidden: &[&str]) -> Tree {
        Tree {
            source: target.into(),
            target: target.into(),
            access,
            hidden: hidden.iter().map(PathBuf::from).collect(),
        }
    }

    #[test]
    fn what_one_has_does_not_depend_on_what_the_other_mounts() {
        let settings = ReadyPart::Settings("/etc".into());
        let cases: [(&[&str], &[&str]); 5] = [
            (&["w/tmp", "w/home/project"], &["/etc", "/etc/fonts", "/opt/a", "/opt/a/b"]),
            (&["w/opt/a/b/project"], &["/etc", "/etc/fonts"]),
            (&["w/opt"], &["/etc", "/etc/fonts"]),
            (&["w/etc/fonts/x"], &["/opt/a", "/opt/a/b"]),
            (&["w/"], &[]),
        ];
        for (written, expected) in cases {
            let mut view = View::default();
            let read = ["/etc/fonts", "/opt/a", "/opt/a/b"];
            view.trees = read.map(|target| tree(target, Access::Read, &[])).into();
            view.trees.push(tree("/usr", Access::Read, &["bin/x"]));
            view.trees.push(tree("/usr/local", Access::Read, &[]));
            let written = written.iter().filter_map(|it| it.strip_prefix('w'));
            view.trees.extend(written.map(|target| tree(target, Access::Write, &[])));
            view.ready = vec![Ready { source: "/kept".into(), part: settings.clone() }];
            let wardens = wardens(&view);
            let plain = view.trees.iter().filter(|tree| is_plain(&view, tree));
            let all = [Path::new("/etc")].into_iter().chain(plain.map(|it| it.target.as_path()));
            let inits: Vec<&Path> = all.filter(|path| !wardens.contains(path)).collect();
            let expected: Vec<&Path> = expected.iter().map(Path::new).collect();
            assert_eq!(inits, expected, "{:?}", view.trees);
        }
    }
}
