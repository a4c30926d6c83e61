//! A path, component by component, with everything that symbolic links can do.
//!
//! The walk keeps its own stack of places. `..` pops it and asks nobody; above a mount there is nothing. An absolute link
//! means what it says in the script's own world, so it is looked up among the mounts again. The same walk serves
//! the real directory and the trees in memory: see [`Ground`].

use std::io;

use bstr::{BStr, BString, ByteSlice};
use exacta_shell::errno;
use exacta_shell::filesystem::{Follow, MayMiss};

use super::device::Device;
use super::path::{self, MAXIMUM_LINKS};
use super::points::{Found, Points};

/// What a walk goes on.
pub(crate) trait Ground {
    /// A directory, held so that nobody can exchange it.
    type Place: Clone;

    fn points(&self) -> &Points;
    fn base(&self, mount: usize) -> io::Result<Self::Place>;
    /// What is behind one name. Never follows.
    fn step(&self, place: &Self::Place, name: &BStr) -> io::Result<Step<Self::Place>>;
}

pub(crate) enum Step<Place> {
    Directory(Place),
    Link(BString),
    Other,
    Missing,
}

/// What happens to the last component.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It is a name to make or take away, whatever it is now.
    Keep,
    /// It is an object; a symbolic link is the object itself.
    KeepLink,
    Follow,
}

impl Ending {
    pub(crate) fn of(follow: Follow) -> Self {
        match follow {
            Follow::Yes => Ending::Follow,
            Follow::No => Ending::KeepLink,
        }
    }
}

/// The end of a walk.
pub(crate) enum Walked<Place> {
    At(Arrival<Place>),
    Device(Device),
}

pub(crate) struct Arrival<Place> {
    pub mount: usize,
    base: Place,
    /// The way down from the mount; no place where `realpath -m` goes on without one.
    trail: Vec<(BString, Option<Place>)>,
    /// The name in the last place; none if the path ends at that place itself.
    pub last: Option<BString>,
    /// The text had a slash behind a name that was kept.
    pub slash: bool,
    missing: bool,
}

impl<Place: Clone> Arrival<Place> {
    pub(crate) fn is_top(&self) -> bool {
        self.trail.is_empty() && self.last.is_none()
    }

    pub(crate) fn place(&self) -> io::Result<Place> {
        let place = self.trail.last().map_or(Some(&self.base), |(_, place)| place.as_ref());
        place.cloned().ok_or_else(super::missing)
    }

    /// The names from the mount down.
    pub(crate) fn names(&self) -> impl Iterator<Item = &[u8]> {
        let last = self.last.iter().map(|name| &***name);
        self.trail.iter().map(|(name, _)| &***name).chain(last)
    }
}

pub(crate) fn walk<G: Ground>(
    ground: &G,
    path: &BStr,
    ending: Ending,
) -> io::Result<Walked<G::Place>> {
    let mut walk = match Walk::begin(ground, path, MayMiss::Nothing)? {
        Begun::Device(device) => return Ok(Walked::Device(device)),
        Begun::Walk(walk) => walk,
    };
    // `directory/.` names no entry: it is the directory.
    let keep = ending == Ending::Keep && path::split_last(path).is_some();
    let slash = keep && walk.drop_last_slash();
    walk.run(if ending == Ending::Keep && !keep { Ending::Follow } else { ending }, slash)
}

/// The path without symbolic links, `.` and `..`.
pub(crate) fn canonicalize<G: Ground>(
    ground: &G,
    path: &BStr,
    missing: MayMiss,
) -> io::Result<BString> {
    let walked = match Walk::begin(ground, path, missing) {
        Ok(Begun::Device(device)) => return Ok(device.path()),
        Ok(Begun::Walk(mut walk)) => {
            let named = missing != MayMiss::Nothing && path::split_last(path).is_some();
            let slash = named && walk.drop_last_slash();
            walk.run(Ending::Follow, slash)
        }
        Err(error) => Err(error),
    };
    let arrival = match walked {
        Ok(Walked::At(arrival)) => arrival,
        Ok(Walked::Device(device)) => return Ok(device.path()),
        // `realpath -m` promises nothing about existence: outside, the text is all there is.
        Err(error) => return lexical(path, missing).ok_or(error),
    };
    if missing == MayMiss::Nothing && arrival.missing {
        return Err(super::missing());
    }
    let point = path::components(ground.points().get(arrival.mount));
    Ok(path::join(point.chain(arrival.names())))
}

fn lexical(path: &BStr, missing: MayMiss) -> Option<BString> {
    let text = missing == MayMiss::Everything && path.first() == Some(&b'/') && !path.contains(&0);
    text.then(|| path::normalize(BStr::new("/"), path))
}

struct Walk<'a, G: Ground> {
    ground: &'a G,
    mount: usize,
    base: G::Place,
    trail: Vec<(BString, Option<G::Place>)>,
    /// What is still to be walked, next one last.
    pending: Vec<BString>,
    links: u32,
    may_miss: MayMiss,
}

enum Begun<'a, G: Ground> {
    Walk(Walk<'a, G>),
    Device(Device),
}

enum Progress {
    Done { last: Option<BString>, missing: bool },
    Device(Device),
    Continue,
}

impl<'a, G: Ground> Walk<'a, G> {
    fn begin(ground: &'a G, path: &BStr, may_miss: MayMiss) -> io::Result<Begun<'a, G>> {
        let (mount, rest) = match ground.points().find(path)? {
            Found::Device(device) => return Ok(Begun::Device(device)),
            Found::Mount(mount, rest) => (mount, rest),
        };
        // Before anything else, as the fast way does: the answer must not depend on what is on the way.
        if may_miss != MayMiss::Everything && path::has_hidden(rest) {
            return Err(super::missing());
        }
        let base = ground.base(mount)?;
        let (trail, pending) = (Vec::new(), Vec::new());
        let mut walk = Walk { ground, mount, base, trail, pending, links: 0, may_miss };
        walk.push(rest);
        Ok(Begun::Walk(walk))
    }

    /// Puts the components of a path in front of what is still to be walked. A slash at its end becomes a `.`,
    /// which only a directory has.
    fn push(&mut self, path: &[u8]) {
        let mut parts: Vec<BString> = path::components(path).map(BString::from).collect();
        if path::asks_directory(path) {
            parts.push(".".into());
        }
        self.pending.extend(parts.into_iter().rev());
    }

    fn drop_last_slash(&mut self) -> bool {
        let slash = self.pending.len() > 1 && self.pending.first().is_some_and(|last| last == ".");
        if slash {
            self.pending.remove(0);
        }
        slash
    }

    fn run(mut self, ending: Ending, slash: bool) -> io::Result<Walked<G::Place>> {
        loop {
            match self.step(ending)? {
                Progress::Continue => {}
                Progress::Device(device) => return Ok(Walked::Device(device)),
                Progress::Done { last, missing } => {
                    let (mount, base, trail) = (self.mount, self.base, self.trail);
                    return Ok(Walked::At(Arrival { mount, base, trail, last, slash, missing }));
                }
            }
        }
    }

    fn step(&mut self, ending: Ending) -> io::Result<Progress> {
        let Some(name) = self.pending.pop() else {
            return Ok(Progress::Done { last: None, missing: false });
        };
        match &**name {
            b"." => return Ok(Progress::Continue),
            b".." if self.trail.pop().is_some() => return Ok(Progress::Continue),
            b".." => return Err(super::missing()),
            hidden if path::is_hidden(hidden) => return self.absent(name, super::missing()),
            _ => {}
        }
        if self.pending.is_empty() && ending == Ending::Keep {
            return Ok(Progress::Done { last: Some(name), missing: false });
        }
        let place = self.trail.last().map_or(Some(&self.base), |(_, place)| place.as_ref());
        let Some(place) = place else {
            self.trail.push((name, None));
            return Ok(Progress::Continue);
        };
        let last = self.pending.is_empty();
        match self.ground.step(place, name.as_bstr()) {
            Ok(Step::Directory(child)) => {
                self.trail.push((name, Some(child)));
                Ok(Progress::Continue)
            }
            Ok(Step::Link(_)) if last && ending == Ending::KeepLink => {
                Ok(Progress::Done { last: Some(name), missing: false })
            }
            Ok(Step::Link(text)) => self.follow(text.as_bstr()),
            Ok(Step::Missing) if last => Ok(Progress::Done { last: Some(name), missing: true }),
            Ok(Step::Other) if last => Ok(Progress::Done { last: Some(name), missing: false }),
            Ok(Step::Missing) => self.absent(name, super::missing()),
            Ok(Step::Other) => self.absent(name, errno::error(errno::ENOTDIR)),
            Err(error) => self.absent(name, error),
        }
    }

    /// Only `realpath -m` goes on where nothing is.
    fn absent(&mut self, name: BString, error: io::Error) -> io::Result<Progress> {
        if self.may_miss != MayMiss::Everything {
            return Err(error);
        }
        self.trail.push((name, None));
        Ok(Progress::Continue)
    }

    fn follow(&mut self, text: &BStr) -> io::Result<Progress> {
        self.links += 1;
        if self.links > MAXIMUM_LINKS {
            return Err(errno::error(errno::ELOOP));
        }
        match text.first() {
            None => Err(super::missing()),
            Some(b'/') => self.jump(text),
            Some(_) => {
                self.push(text);
                Ok(Progress::Continue)
            }
        }
    }

    /// An absolute link: what it names, with what was still to come behind it.
    fn jump(&mut self, text: &BStr) -> io::Result<Progress> {
        let mut whole = text.to_owned();
        for name in self.pending.drain(..).rev() {
            whole.push(b'/');
            whole.extend_from_slice(&name);
        }
        match self.ground.points().find(whole.as_bstr())? {
            Found::Device(device) => Ok(Progress::Device(device)),
            Found::Mount(mount, rest) => {
                self.base = self.ground.base(mount)?;
                self.mount = mount;
                self.trail.clear();
                self.push(rest);
                Ok(Progress::Continue)
            }
        }
    }
}
