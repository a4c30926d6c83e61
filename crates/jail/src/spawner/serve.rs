//! The spawner itself: one thread, no environment, one socket.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::setsid;

use super::NAME;
use super::leavings::Leavings;
use super::making::{Made, Workshop, build};
use crate::cell::outside::Identity;
use crate::messages::{Ask, Built};
use crate::outcome::Failure;
use crate::processors;
use crate::system::{process, words};
use crate::wire;

// SAFETY: the loader calls each pointer in this section once before `main`, with the arguments of `main`; so glibc
// does it, and where a C library passes none, `divert` finds an argument count that is not 1 or a name that is not
// ours only by reading what it was not given. Therefore the crate is for glibc (checked in `lib.rs`).
#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn(
    libc::c_int,
    *const *const libc::c_char,
    *const *const libc::c_char,
) = divert;

/// Takes over when this process was started to be the spawner; otherwise `main` follows as if nothing was.
extern "C" fn divert(
    count: libc::c_int,
    arguments: *const *const libc::c_char,
    environment: *const *const libc::c_char,
) {
    // SAFETY: nothing has run yet that could have changed either; both are as the loader hands them over.
    unsafe { words::remember(arguments, environment) };
    if count != 1 || arguments.is_null() {
        return;
    }
    // SAFETY: `arguments` has `count` entries, so the first one is there to be read.
    let name = unsafe { *arguments };
    if name.is_null() {
        return;
    }
    // SAFETY: entries before the last are NUL-terminated strings that live as long as the process.
    let name = unsafe { CStr::from_ptr(name) };
    if name.to_bytes() == NAME.as_bytes() {
        let ended = serve(None);
        process::exit(i32::from(ended.is_err()));
    }
}

/// All jails there are. Their ends are made to happen side by side.
#[derive(Default)]
struct Jails(Vec<Made>);

impl Jails {
    /// Before something that may take its time.
    fn release(&mut self) {
        self.0.iter_mut().for_each(Made::release);
    }

    /// Keeps what was built, and says what came of it.
    fn answer(
        &mut self,
        socket: &OwnedFd,
        built: Result<(Made, Built, Vec<OwnedFd>), Failure>,
    ) -> io::Result<()> {
        match built {
            Ok((jail, built, descriptors)) => {
                self.0.push(jail);
                let descriptors: Vec<_> = descriptors.iter().map(AsFd::as_fd).collect();
                wire::send(socket, &built, &descriptors)
            }
            Err(failure) => wire::send(socket, &Built::Failed(failure), &[]),
        }
    }

    /// Has what others have left behind removed, which may take its time. It is done then.
    fn tidy(&mut self, workshop: &Workshop) -> bool {
        self.release();
        workshop.tidy();
        true
    }
}

impl Drop for Jails {
    fn drop(&mut self) {
        self.0.iter().for_each(Made::kill);
        // What is left to do is no longer for anybody who waits.
        process::give_way();
    }
}

/// Until the engine is gone. Dropping what was made ends it. The socket is standard input; there is no other descriptor
/// that counts.
pub fn serve(expected: Option<Identity>) -> io::Result<()> {
    process::close_from(3)?;
    process::reset_signals();
    // What is typed at a terminal is for the engine.
    setsid()?;
    let socket = io::stdin().as_fd().try_clone_to_owned()?;
    let mut workshop = Workshop::open();
    // Jails end before what they may still use is removed.
    let mut leavings = Leavings::default();
    let mut jails = Jails::default();
    if let Some(identity) = expected {
        workshop.expect(identity);
        wire::send(&socket, &Built::Waits, &[])?;
    }
    // Not now: the first jail does not have to wait for that, whose parts need every processor.
    let (mut tidied, mut expects) = (false, expected.is_some());
    loop {
        let is_tidy = tidied || expects;
        let is_done = is_tidy && leavings.is_empty() && workshop.is_at_rest();
        let patience = if is_done { None } else { Some(&IDLE) };
        match wait(&socket, &mut jails.0, patience)? {
            Woken::Asked => {}
            Woken::Otherwise => continue,
            Woken::Idle => {
                leavings.remove(|| jails.release());
                workshop.rest();
                tidied |= !is_tidy && jails.tidy(&workshop);
                continue;
            }
        }
        let (plan, least, descriptors) = match wire::receive(&socket)? {
            None => {
                std::thread::sleep(COURTESY);
                break;
            }
            Some((Ask::End, _)) => break,
            Some((Ask::Expect { user, group }, _)) => {
                workshop.expect(Identity { user, group });
                continue;
            }
            Some((Ask::PutAway { name, again }, descriptors)) => {
                leavings.add(name, again, descriptors);
                continue;
            }
            Some((Ask::Build { plan, least }, descriptors)) => {
                (plan.into_owned(), least, descriptors)
            }
        };
        expects = false;
        jails.release();
        jails.answer(&socket, build(plan, least, descriptors, &mut workshop))?;
        // The engine waits for that on this processor.
        std::thread::yield_now();
        // What comes now may be done anywhere, and if it cannot, nothing is lost but time.
        let _where_we_are_is_good_too = processors::spread();
    }
    drop(jails);
    if !tidied {
        workshop.tidy();
    }
    Ok(())
}

/// The engine has closed its socket, and is about to end. Whoever waits for that end comes before what is to be ended here: woken by a
/// signal, a jail's first process would have the processor on which both were.
const COURTESY: Duration = Duration::from_micros(50);

/// So long after the last thing that happened, nobody is kept from anything by who cleans up.
const IDLE: Timespec = Timespec { tv_sec: 0, tv_nsec: 2_000_000 };

enum Woken {
    Asked,
    /// A jail has come further to its end.
    Otherwise,
    /// Nothing has happened for a while.
    Idle,
}

/// Waits until there is something to read, and forgets jails that are over.
fn wait(socket: &OwnedFd, made: &mut Vec<Made>, patience: Option<&Timespec>) -> io::Result<Woken> {
    let wardens = made.iter().filter_map(|jail| Some(&jail.warden_handle.as_ref()?.handle));
    let inits = made.iter().filter(|jail| !jail.empty).map(|jail| &jail.init);
    let leases = made.iter().filter(|jail| jail.leased).map(|jail| &jail.lease);
    let all = [socket].into_iter().chain(wardens).chain(inits).chain(leases);
    let mut watched: Vec<_> = all.map(|it| PollFd::new(it, PollFlags::IN)).collect();
    match poll(&mut watched, patience) {
        Ok(0) => return Ok(Woken::Idle),
        Ok(_) => {}
        Err(Errno::INTR) => return Ok(Woken::Otherwise),
        Err(error) => return Err(error.into()),
    }
    let mut ready =
        watched.iter().map(|it| !it.revents().is_empty()).collect::<Vec<_>>().into_iter();
    let asked = ready.next().unwrap_or(false);
    for jail in made.iter_mut().filter(|jail| jail.warden_handle.is_some()) {
        if ready.next().unwrap_or(false) {
            jail.bury();
        }
    }
    for jail in made.iter_mut().filter(|jail| !jail.empty) {
        jail.empty = ready.next().unwrap_or(false);
    }
    for jail in made.iter_mut().filter(|jail| jail.leased) {
        if ready.next().unwrap_or(false) {
            jail.leased = false;
            jail.kill();
        }
    }
    if made.iter().any(Made::is_over) {
        // To remove what one had may take its time, which the others must not have to wait for.
        made.iter_mut().for_each(Made::release);
        made.retain(|jail| !jail.is_over());
    }
    Ok(if asked { Woken::Asked } else { Woken::Otherwise })
}
