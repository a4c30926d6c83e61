//! Records of processes that are there for one request, on the disk before anything is done and before any database is open.
//!
//! To open a database, to bring it in order and to sign takes longer than to make a jail. So such a process writes its intents
//! to a file in the user's own state, beside the key and the anchored heads: whoever can change the project can change it as
//! little as those. Whoever opens the database next takes all of it over into the chain, signs that, and only then lets the
//! file begin anew.
//!
//! The file has its full length from the beginning. To write over what is there changes nothing but the data of a file: the
//! disk is waited for, but not the journal of the file system.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::FileType;
use rustix::io::Errno;

use super::anchor::name_of;
use super::chain::sha256;
use super::database::{Database, Signing};
use super::entry::{Entry, RequestId};
use super::error::AuditError;
use super::ledger::{Draft, Durability, Ledger as _, Limits, Manner};
use super::opening;
use crate::system;

/// Of the file. Whoever finds no room in it opens the database.
const LENGTH: u64 = 64 << 10;

const MAGIC: &[u8; 16] = b"exacta-ahead-1\0\0";

/// In front of the records: what this is, whose it is, how often it has begun anew, and how much of it is in use.
const HEAD: usize = 16 + 16 + 8 + 8;

/// In front of each record: its length, and the beginning of its digest.
const FRAME: usize = 4 + 8;

/// The file of one project.
pub struct Ahead {
    file: OwnedFd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Head {
    /// The database that takes it over.
    database: [u8; 16],
    /// Records of an earlier one are none, whatever is left of them behind those of this one.
    generation: u64,
    /// Up to here there are records.
    used: u64,
}

impl Ahead {
    /// That of the project whose state is open here, if it has one. Its database must be one that can be opened later.
    pub fn open_beside(state: BorrowedFd<'_>, signing: &Signing) -> Option<Self> {
        Ahead::open(signing).filter(|_| matches!(opening::look(state), Ok(true)))
    }

    /// That of a project which has one.
    fn open(signing: &Signing) -> Option<Self> {
        let folder = system::open_path(signing.folder.as_deref()?).ok()?;
        Self::open_in(&folder, &signing.project).ok()
    }

    fn open_in(folder: &OwnedFd, project: &[u8]) -> Result<Self, AuditError> {
        let file = system::open_both(folder, file_name(project).as_bytes());
        let file = file.map_err(|errno| failed("open it", errno))?;
        let stat = system::stat_handle(&file).map_err(|errno| failed("look at it", errno))?;
        let plain = system::kind(&stat) == FileType::RegularFile && stat.st_nlink == 1;
        if plain && stat.st_uid == system::user() && stat.st_size as u64 == LENGTH {
            return Ok(Ahead { file });
        }
        Err(failed("use it", Errno::INVAL))
    }

    /// Makes it, for whoever comes next. That there is none only takes longer.
    pub fn make(signing: &Signing, database: &Database) {
        let Some(folder) = signing.folder.as_deref() else { return };
        if Ahead::open(signing).is_none() && database.note_root(&signing.project).is_ok() {
            let _only_slower = make(folder, &signing.project, database.identity());
        }
    }

    /// Adds a record. It outlives this process when this returns, and a power cut after [`Ahead::sync`]. `false`: there is no
    /// room.
    pub fn add(&self, draft: &Draft) -> Result<bool, AuditError> {
        let body = postcard::to_allocvec(&(&draft.entry, &draft.beside))
            .map_err(|error| AuditError::Encoding(error.to_string()))?;
        let Ok(length) = u32::try_from(body.len()) else { return Ok(false) };
        self.locked(|| {
            let head = self.head()?;
            let end = head.used + (FRAME + body.len()) as u64;
            if end > LENGTH {
                return Ok(false);
            }
            let mut frame = Vec::with_capacity(FRAME + body.len());
            frame.extend_from_slice(&length.to_le_bytes());
            frame.extend_from_slice(&digest(&head, head.used, &body));
            frame.extend_from_slice(&body);
            self.write(&frame, head.used)?;
            self.write(&Head { used: end, ..head }.to_bytes(), 0)?;
            Ok(true)
        })
    }

    /// Adds a record of what has changed nothing. Without room for it everything is taken over, and it goes behind that.
    pub(super) fn leave(
        &self,
        state: BorrowedFd<'_>,
        (signing, limits): (&Signing, &Limits),
        draft: &Draft,
    ) -> Result<(), AuditError> {
        if self.add(draft)? {
            return Ok(());
        }
        let mut database = Database::open(state, signing)?;
        let manner = Manner { durability: Durability::Process, last: true };
        database.append(std::slice::from_ref(draft), manner)?;
        database.retain(limits).map(|_removed| ())
    }

    /// All that was added is on the disk.
    pub fn sync(&self) -> Result<(), AuditError> {
        system::sync_data(&self.file).map_err(|errno| failed("write it to the disk", errno))
    }

    fn write(&self, bytes: &[u8], at: u64) -> Result<(), AuditError> {
        system::write_all_at(&self.file, bytes, at).map_err(|errno| failed("add a record", errno))
    }

    fn locked<T>(&self, body: impl FnOnce() -> Result<T, AuditError>) -> Result<T, AuditError> {
        system::lock(&self.file).map_err(|errno| failed("have it alone", errno))?;
        let done = body();
        system::unlock(&self.file).map_err(|errno| failed("let go of it", errno))?;
        done
    }

    fn head(&self) -> Result<Head, AuditError> {
        let mut bytes = [0; HEAD];
        let count = system::read_at(&self.file, &mut bytes, 0);
        let count = count.map_err(|errno| failed("read it", errno))?;
        let head = (count == HEAD).then(|| Head::of_bytes(&bytes)).flatten();
        head.ok_or_else(|| failed("read it", Errno::INVAL))
    }
}

impl Head {
    fn to_bytes(self) -> [u8; HEAD] {
        let mut bytes = [0; HEAD];
        let fields: [&[u8]; 4] =
            [MAGIC, &self.database, &self.generation.to_le_bytes(), &self.used.to_le_bytes()];
        for (byte, value) in bytes.iter_mut().zip(fields.concat()) {
            *byte = value;
        }
        bytes
    }

    fn of_bytes(bytes: &[u8; HEAD]) -> Option<Self> {
        let rest = bytes.strip_prefix(MAGIC)?;
        let (database, rest) = rest.split_first_chunk()?;
        let (generation, rest) = rest.split_first_chunk()?;
        let (used, _) = rest.split_first_chunk()?;
        let head = Head {
            database: *database,
            generation: u64::from_le_bytes(*generation),
            used: u64::from_le_bytes(*used),
        };
        (HEAD as u64..=LENGTH).contains(&head.used).then_some(head)
    }
}

/// Covers the place of a record as well: what an earlier generation has left behind the last one is none.
fn digest(head: &Head, at: u64, body: &[u8]) -> [u8; 8] {
    let mut bytes = Vec::with_capacity(16 + body.len());
    bytes.extend_from_slice(&head.generation.to_le_bytes());
    bytes.extend_from_slice(&at.to_le_bytes());
    bytes.extend_from_slice(body);
    sha256(&bytes).first_chunk().copied().unwrap_or_default()
}

/// Whether there is anything to take over.
pub(super) fn is_waiting(signing: &Signing) -> bool {
    let head = Ahead::open(signing).and_then(|ahead| ahead.head().ok());
    head.is_some_and(|head| head.used > HEAD as u64)
}

/// Brings what waits into the chain, to the disk, and signs it. Done twice it is done once.
pub(super) fn take_over(database: &mut Database, signing: &Signing) -> Result<(), AuditError> {
    let Some(folder) = signing.folder.as_deref() else { return Ok(()) };
    let Ok(folder) = system::open_path(folder) else { return Ok(()) };
    if let Ok(ahead) = Ahead::open_in(&folder, &signing.project) {
        ahead.locked(|| take_over_all(database, &ahead, &folder, &signing.project))?;
    }
    take_over_moved(database, &folder, &signing.project)
}

/// A project that was somewhere else when its file was written takes that with it.
fn take_over_moved(
    database: &mut Database,
    folder: &OwnedFd,
    project: &[u8],
) -> Result<(), AuditError> {
    let before = database.noted_root()?;
    if before.as_deref() == Some(project) {
        return Ok(());
    }
    if let Some(before) = before.filter(|before| !has_record(before))
        && let Ok(ahead) = Ahead::open_in(folder, &before)
        && ahead.head().is_ok_and(|head| head.database == database.identity())
    {
        ahead.locked(|| take_over_all(database, &ahead, folder, &before))?;
        let _nobody_looks_there = system::unlink(folder, file_name(&before).as_bytes());
    }
    database.note_root(project)
}

/// Whether a project is still where it was.
fn has_record(root: &[u8]) -> bool {
    use std::os::unix::ffi::OsStrExt as _;
    let root = Path::new(std::ffi::OsStr::from_bytes(root));
    let state = system::open_path(&root.join(".clada"));
    state.is_ok_and(|state| !matches!(system::stat(&state, b"exacta.db"), Ok(None)))
}

fn take_over_all(
    database: &mut Database,
    ahead: &Ahead,
    folder: &OwnedFd,
    project: &[u8],
) -> Result<(), AuditError> {
    let Ok(head) = ahead.head() else { return put_aside(folder, project) };
    if head.used == HEAD as u64 {
        return Ok(());
    }
    let bytes = system::read_whole(&ahead.file).map_err(|errno| failed("read it", errno))?;
    let taken = database.taken_ahead(head.generation)?;
    let mut drafts = Vec::new();
    let mut at = HEAD as u64;
    while at < head.used {
        let Some((draft, next)) = record(&bytes, &head, at) else { break };
        // What says that it was taken over lies in the project: it is held against what is there.
        if at >= taken || !is_known(database, &draft)? {
            drafts.push(draft);
        }
        at = next;
    }
    let manner = Manner { durability: Durability::Disk, last: true };
    database.append_ahead(&drafts, manner, (head.generation, head.used))?;
    if at < head.used {
        return put_aside(folder, project);
    }
    let (generation, used) = (head.generation + 1, HEAD as u64);
    ahead.write(&Head { generation, used, database: database.identity() }.to_bytes(), 0)
}

/// A record that begins here, and where the next one does.
fn record(bytes: &[u8], head: &Head, at: u64) -> Option<(Draft, u64)> {
    let rest = bytes.get(usize::try_from(at).ok()?..usize::try_from(head.used).ok()?)?;
    let (length, rest) = rest.split_first_chunk::<4>()?;
    let (expected, rest) = rest.split_first_chunk::<8>()?;
    let length = u32::from_le_bytes(*length) as usize;
    let body = rest.get(..length)?;
    if digest(head, at, body) != *expected {
        return None;
    }
    let (entry, beside) = postcard::from_bytes(body).ok()?;
    Some((Draft { entry, beside }, at + (FRAME + length) as u64))
}

fn is_known(database: &Database, draft: &Draft) -> Result<bool, AuditError> {
    request(&draft.entry).map_or(Ok(false), |id| database.has_request(id))
}

fn request(entry: &Entry) -> Option<&RequestId> {
    match entry {
        Entry::Intent(intent) => Some(&intent.asked.id),
        Entry::Start(start) => Some(&start.id),
        Entry::Outcome(outcome) => Some(&outcome.asked.id),
        Entry::Answer(_) | Entry::Cut(_) | Entry::Moved(_) => None,
    }
}

/// What cannot be read is kept for a person to look at, and in nobody's way.
fn put_aside(folder: &OwnedFd, project: &[u8]) -> Result<(), AuditError> {
    let name = file_name(project);
    let aside = format!("{name}.damaged");
    system::rename_over(folder, name.as_bytes(), aside.as_bytes())
        .map_err(|errno| failed("put it aside", errno))
}

/// Whole or not at all; of two that make one at once, the first one's counts.
fn make(folder: &Path, project: &[u8], database: [u8; 16]) -> Result<(), Errno> {
    let folder = system::make_path(folder)?;
    let temporary = format!("ahead.{}", rustix::process::getpid().as_raw_nonzero());
    let file = system::create_copy(&folder, temporary.as_bytes())?;
    let head = Head { database, generation: 1, used: HEAD as u64 };
    let mut bytes = head.to_bytes().to_vec();
    bytes.resize(LENGTH as usize, 0);
    let placed = system::write_all_at(&file, &bytes, 0)
        .and_then(|()| system::sync_data(&file))
        .and_then(|()| {
            system::link(&folder, temporary.as_bytes(), &folder, file_name(project).as_bytes())
        });
    system::unlink(&folder, temporary.as_bytes())?;
    placed.and_then(|()| system::sync_directory(&folder))
}

fn file_name(project: &[u8]) -> String {
    name_of(project, "ahead")
}

fn failed(doing: &'static str, errno: Errno) -> AuditError {
    AuditError::System { doing, path: "the records that are not in the database yet".into(), errno }
}
