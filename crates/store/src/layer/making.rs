//! Makes the folder of a layer, for a request that runs or for one that may come.
//!
//! Until a request uses it, the folder has a name that says so: if its process dies, it goes. What a request brings is
//! little: what it is about, and the moment.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use bstr::BString;
use rustix::io::Errno;

use super::folder::{ABOUT, Dismissed, Layer, MOMENT, UNFINISHED, UPPER, WORK, moment};
use super::marks::Marks;
use super::plan::is_whiteout;
use super::spare;
use crate::error::{At, UndoError};
use crate::facts::{self, Attributes, Facts};
use crate::ground::Ground;
use crate::journal::Journal;
use crate::path::STATE;
use crate::record::About;
use crate::system;
use crate::tree;

/// A layer that no request uses yet. Its `upper` and `work` may be mounted already, as long as nobody looks into the mount: what
/// was looked up there would be shown as it was then.
pub struct LayerAhead {
    /// With the name of an unfinished one, under which it may be mounted.
    layer: Layer,
    /// What its `upper` has of the project's root.
    root: Facts,
    attributes: Attributes,
    /// A change of the root since then has another change time.
    telling: bool,
}

impl Journal {
    /// A new layer, right before the overlay is mounted: `upper` and `work` are in its folder. What somebody changes in
    /// the project from now on is found when the layer is applied.
    pub fn layer(&self, about: &About) -> Result<Layer, UndoError> {
        let mut layer = self.unstamped_layer(about)?;
        layer.stamp()?;
        Ok(layer)
    }

    /// The same for whoever [stamps](Layer::stamp) it, right before it is mounted.
    pub fn unstamped_layer(&self, about: &About) -> Result<Layer, UndoError> {
        retried(|| self.try_layer_ahead()?.begin(about))
    }

    /// A layer for a request that may come.
    pub fn layer_ahead(&self) -> Result<LayerAhead, UndoError> {
        retried(|| self.try_layer_ahead())
    }

    fn try_layer_ahead(&self) -> Result<LayerAhead, UndoError> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let run = &self.ground.folders()?.run;
        let now = system::now();
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let process = rustix::process::getpid().as_raw_nonzero();
        let mut name = BString::from(UNFINISHED);
        name.extend(format!("{}.{:09}-{process}-{count}", now.seconds, now.nanos).bytes());
        let made = || -> Result<(OwnedFd, Filled), Errno> {
            if let Some(found) = spare::take(&self.ground, run, &name) {
                return Ok(found);
            }
            system::spread(run);
            system::make_directory(run, &name)?;
            let folder = system::open_listing(run, &name)?;
            system::lock(&folder)?;
            let filled = fill(&self.ground, &folder)?;
            Ok((folder, filled))
        };
        let (folder, filled) = made().at("make a layer", &name)?;
        let Filled { aside, root, attributes, telling } = filled;
        let ground = Arc::clone(&self.ground);
        let layer = Layer { ground, name, folder, aside, stamped: None };
        Ok(LayerAhead { layer, root, attributes, telling })
    }
}

/// Before it was locked, somebody may have taken it for one that was left by a crash.
fn retried<T>(make: impl Fn() -> Result<T, UndoError>) -> Result<T, UndoError> {
    const TRIES: u32 = 100;
    for _ in 1..TRIES {
        match make() {
            Err(UndoError::System { errno: Errno::NOENT, .. }) => {}
            made => return made,
        }
    }
    make()
}

pub(super) struct Filled {
    /// An overlay cannot write here: it has to write elsewhere, and that is brought here when it has ended.
    pub aside: bool,
    pub root: Facts,
    pub attributes: Attributes,
    pub telling: bool,
}

fn fill(ground: &Ground, folder: &OwnedFd) -> Result<Filled, Errno> {
    // The overlay shows the attributes of the upper root as those of the project's.
    let root = Facts::from_stat(&system::stat_handle(ground.root())?);
    let attributes = Attributes::of(ground.root())?;
    system::make_directory(folder, WORK)?;
    // Most often that is its mode then; nobody else can look into the folder.
    system::make_directory_as(folder, UPPER, root.mode & 0o777 | 0o700)?;
    // The state is absent in what the overlay shows.
    let upper = system::open_directory(folder.as_fd(), UPPER)?;
    let aside = match system::make_whiteout(&upper, STATE) {
        // An overlay does not let anybody make what is its own.
        Err(Errno::PERM | Errno::OPNOTSUPP | Errno::INVAL) => true,
        made => made.map(|()| false)?,
    };
    facts::put_back_but_time(&upper, &root, &attributes)?;
    // What was just made has another time than what was there before.
    system::set_time(folder, UPPER, root.modified)?;
    system::make_file(folder, MOMENT)?;
    let telling = Some(root.changed) < moment(folder.as_fd())?;
    Ok(Filled { aside, root, attributes, telling })
}

impl LayerAhead {
    /// The name of its folder until it is used.
    pub fn name(&self) -> &BString {
        self.layer.name()
    }

    /// Whether it is known that an overlay cannot write to it.
    pub fn is_aside(&self) -> bool {
        self.layer.is_aside()
    }

    /// Whether it can be used as the project is now, though it was mounted before.
    pub fn is_fit(&self) -> bool {
        self.fits().unwrap_or(false)
    }

    /// What it has of the project's root is compared by value where no time says for sure that nobody has changed anything. A
    /// mount keeps mode, owner and attributes of its root in memory; the time it asks of `upper` whenever somebody wants to know
    /// it, so that can be put right: a new file in the root changes nothing else.
    fn fits(&self) -> Result<bool, Errno> {
        let (folder, ground) = (self.layer.folder.as_fd(), &self.layer.ground);
        let root = Facts::from_stat(&system::stat_handle(ground.root())?);
        let kept = |facts: &Facts| (facts.inode, facts.device, facts.mode, facts.user, facts.group);
        if kept(&root) != kept(&self.root) {
            return Ok(false);
        }
        let unchanged = self.telling && root.changed == self.root.changed;
        if !unchanged && Attributes::of(ground.root())? != self.attributes {
            return Ok(false);
        }
        // Whoever clears a project away may have cleared away what keeps its state out of sight.
        let upper = system::open_directory(folder, UPPER)?;
        let Some(state) = Facts::of(&upper, STATE)? else { return Ok(false) };
        if !is_whiteout(&state, &Marks::default()) {
            return Ok(false);
        }
        facts::set_time(folder, UPPER, root.modified)?;
        Ok(true)
    }

    /// From now on it is the layer of a request, which [stamps](Layer::stamp) it before anything is written to it.
    pub fn begin(self, about: &About) -> Result<Layer, UndoError> {
        let mut layer = self.layer;
        let name = BString::from(layer.name.strip_prefix(UNFINISHED).unwrap_or(&layer.name));
        let encoded = postcard::to_stdvec(about).map_err(|_| Errno::INVAL);
        let encoded = encoded.at("make a layer", &name)?;
        let run = &layer.ground.folders()?.run;
        let begun = || -> Result<(), Errno> {
            // One that is used again has that of the request before.
            system::put_content(&layer.folder, ABOUT, &encoded)?;
            system::rename(run, &layer.name, run, &name)
        };
        let begun = begun();
        if begun.is_err() {
            let _next_who_opens_the_journal_does = tree::remove(run.as_fd(), &layer.name);
        }
        begun.at("make a layer", &name)?;
        layer.name = name;
        Ok(layer)
    }

    /// It is not used. What is left of it is to be removed by somebody.
    pub fn dismiss(self) -> Dismissed {
        let Layer { ground, name, folder, .. } = self.layer;
        Dismissed { ground, name, folder, is_unused: false }
    }
}
