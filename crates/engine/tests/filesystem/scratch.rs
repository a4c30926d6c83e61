//! Temporary directories with a canary beside them, and one of each file system.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bstr::BStr;
use exacta::filesystem::{Confined, Memory, Places};
use exacta::undo::Transactions;
use exacta_shell::filesystem::FileSystem;

/// `TEMP/exacta-files-…/{root,outside}`, deleted at the end.
pub struct Scratch {
    base: PathBuf,
}

impl Scratch {
    /// Not under `/tmp`: for a script that is another place than for us.
    pub fn new() -> Self {
        Self::beneath(Path::new(env!("CARGO_TARGET_TMPDIR")))
    }

    pub fn beneath(parent: &Path) -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let base = parent.join(format!("exacta-files-{}-{number}", std::process::id()));
        std::fs::create_dir_all(base.join("root")).unwrap();
        let outside = base.join("outside");
        std::fs::create_dir_all(outside.join("directory")).unwrap();
        std::fs::write(outside.join("secret"), "OUTSIDE").unwrap();
        std::fs::write(outside.join("directory/secret"), "OUTSIDE").unwrap();
        Scratch { base: base.canonicalize().unwrap() }
    }

    pub fn root(&self) -> PathBuf {
        self.base.join("root")
    }

    pub fn outside(&self) -> PathBuf {
        self.base.join("outside")
    }

    pub fn confined(&self) -> Confined {
        Confined::open(&Places::in_project(self.root())).unwrap()
    }

    pub fn confined_by_walking(&self) -> Confined {
        let places = Places { avoid_openat2: true, ..Places::in_project(self.root()) };
        Confined::open(&places).unwrap()
    }

    /// The real tree, exacta's own directory included.
    pub fn tree(&self) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        look(&self.root(), &mut found);
        found
    }

    /// Everything outside of the root: names, kinds, modes, times, content.
    pub fn canary(&self) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        look(&self.outside(), &mut found);
        for entry in std::fs::read_dir(&self.base).unwrap() {
            found.insert(entry.unwrap().path(), "beside".into());
        }
        found
    }
}

fn look(path: &Path, found: &mut BTreeMap<PathBuf, String>) {
    let stat = std::fs::symlink_metadata(path).unwrap();
    let mut text =
        format!("{:o} {} {} {}", stat.mode(), stat.mtime(), stat.mtime_nsec(), stat.nlink());
    if stat.is_file() {
        text += &String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default());
    } else if stat.is_symlink() {
        text += &std::fs::read_link(path).unwrap().to_string_lossy();
    } else if stat.is_dir() {
        for entry in std::fs::read_dir(path).into_iter().flatten() {
            look(&entry.unwrap().path(), found);
        }
    }
    found.insert(path.to_owned(), text);
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _left_for_the_system = std::fs::remove_dir_all(&self.base);
    }
}

/// One file system of each kind, all seeing their root at the same path.
pub struct Backend {
    pub name: &'static str,
    pub files: Arc<dyn FileSystem>,
    /// For the setup of a case: what an overlay reads.
    pub below: Option<Arc<dyn FileSystem>>,
    pub scratch: Scratch,
    /// The request that it all belongs to, where it is recorded.
    pub transactions: Option<Arc<Transactions>>,
}

pub fn backends() -> Vec<Backend> {
    vec![real(), walking(), recorded(), memory(), overlay_above(), overlay_below()]
}

/// The real one, with everything in the undo journal. The private `/tmp` is another file system there.
pub fn recorded() -> Backend {
    let scratch = Scratch::new();
    let (files, transactions) = scratch.confined().recorded();
    transactions.as_ref().unwrap().begin(BStr::new("test"), files.root());
    let files = Arc::new(files);
    Backend { name: "real, recorded", files, below: None, scratch, transactions }
}

fn real() -> Backend {
    let scratch = Scratch::new();
    Backend {
        name: "real",
        files: Arc::new(scratch.confined()),
        below: None,
        scratch,
        transactions: None,
    }
}

fn walking() -> Backend {
    let scratch = Scratch::new();
    let files = Arc::new(scratch.confined_by_walking());
    Backend { name: "real, by walking", files, below: None, scratch, transactions: None }
}

fn memory() -> Backend {
    let scratch = Scratch::new();
    let files = Arc::new(Memory::new(scratch.root().to_str().unwrap()));
    Backend { name: "memory", files, below: None, scratch, transactions: None }
}

fn overlay_above() -> Backend {
    let scratch = Scratch::new();
    let files = Arc::new(exacta::filesystem::over_directory(&scratch.root()).unwrap());
    Backend { name: "overlay, all above", files, below: None, scratch, transactions: None }
}

fn overlay_below() -> Backend {
    let scratch = Scratch::new();
    let below: Arc<dyn FileSystem> = Arc::new(scratch.confined());
    let files = Arc::new(exacta::filesystem::over(Arc::clone(&below)).unwrap());
    Backend { name: "overlay, setup below", files, below: Some(below), scratch, transactions: None }
}
