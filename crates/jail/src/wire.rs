//! Messages between the engine, the spawner, and what runs in a jail: a length, a body, and descriptors with it.
//!
//! A jail's side of a socket is held by our own code only, never by a program; but a reader still takes nothing on
//! trust: bodies are bounded, and what does not decode ends the connection.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The kernel passes at most 253 at a time.
const MOST_DESCRIPTORS: usize = 250;
/// Room for the longest argument list a system takes, and some more.
const LONGEST: usize = 16 << 20;

/// A length is a number of so many bytes.
const LENGTH: usize = 8;

/// A connected pair, each end closed when a program starts.
pub fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?)
}

/// Sends one message. An end that is gone is an error, never a signal.
pub fn send(
    socket: impl AsFd,
    message: &impl Serialize,
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let mut frame = postcard::to_extend(message, vec![0; LENGTH]).map_err(invalid)?;
    let length = frame.len().saturating_sub(LENGTH);
    if length > LONGEST || descriptors.len() > MOST_DESCRIPTORS {
        return Err(io::Error::from_raw_os_error(libc::E2BIG));
    }
    for (place, byte) in frame.iter_mut().zip((length as u64).to_le_bytes()) {
        *place = byte;
    }
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    let mut sent = 0;
    while let Some(rest) = frame.get(sent..).filter(|rest| !rest.is_empty()) {
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if sent == 0 && !descriptors.is_empty() {
            ancillary.push(SendAncillaryMessage::ScmRights(descriptors));
        }
        match sendmsg(&socket, &[IoSlice::new(rest)], &mut ancillary, SendFlags::NOSIGNAL) {
            Ok(count) => sent += count,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Waits for one message. `None`: the other end is gone.
pub fn receive<T: DeserializeOwned>(socket: impl AsFd) -> io::Result<Option<(T, Vec<OwnedFd>)>> {
    let mut descriptors = Vec::new();
    let mut length = [0; LENGTH];
    if !fill(socket.as_fd(), &mut length, &mut descriptors)? {
        return Ok(None);
    }
    let length = usize::try_from(u64::from_le_bytes(length)).unwrap_or(usize::MAX);
    if length > LONGEST {
        return Err(io::Error::from_raw_os_error(libc::E2BIG));
    }
    let mut body = vec![0; length];
    if !fill(socket.as_fd(), &mut body, &mut descriptors)? {
        return Ok(None);
    }
    Ok(Some((postcard::from_bytes(&body).map_err(invalid)?, descriptors)))
}

/// Reads until the buffer is full. `false`: the other end was gone before.
fn fill(
    socket: BorrowedFd<'_>,
    buffer: &mut [u8],
    descriptors: &mut Vec<OwnedFd>,
) -> io::Result<bool> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::CMSG_CLOEXEC;
        match recvmsg(socket, &mut [IoSliceMut::new(rest)], &mut ancillary, flags) {
            Ok(received) if received.bytes == 0 => return Ok(false),
            Ok(received) => filled += received.bytes,
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        }
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(rights) = message {
                descriptors.extend(rights);
            }
        }
    }
    Ok(true)
}

fn invalid(error: postcard::Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}
