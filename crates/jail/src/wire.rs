//! Messages between the engine, the spawner, and what runs in a jail: a length, a body, and descriptors with it.
//!
//! A jail's side of a socket is held by our own code only, never by a program; but a reader still takes nothing on
//! trust: bodies are bounded, and what does not decode ends the connection.
//!
//! The sockets keep the borders of what is sent: so a message is one call at both ends, and only a long one is sent in pieces.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags,
    SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg,
    sendmsg, socketpair,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The kernel passes at most 253 at a time.
const MOST_DESCRIPTORS: usize = 250;
/// Room for the longest argument list a system takes, and some more.
const LONGEST: usize = 16 << 20;
/// What is sent at one time. Nearly every message is shorter.
const PIECE: usize = 8 << 10;

/// A length is a number of so many bytes.
const LENGTH: usize = 8;

/// A connected pair, each end closed when a program starts.
pub fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?)
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
    let mut descriptors = Some(descriptors).filter(|some| !some.is_empty());
    for piece in frame.chunks(PIECE) {
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if let Some(descriptors) = descriptors.take() {
            ancillary.push(SendAncillaryMessage::ScmRights(descriptors));
        }
        let piece = [IoSlice::new(piece)];
        while let Err(error) = sendmsg(&socket, &piece, &mut ancillary, SendFlags::NOSIGNAL) {
            if error != Errno::INTR {
                return Err(error.into());
            }
        }
    }
    Ok(())
}

/// Waits for one message. `None`: the other end is gone.
pub fn receive<T: DeserializeOwned>(socket: impl AsFd) -> io::Result<Option<(T, Vec<OwnedFd>)>> {
    let mut descriptors = Vec::new();
    let mut piece = [0; PIECE];
    let received = next(socket.as_fd(), &mut piece, &mut descriptors)?;
    let Some((length, begun)) = piece.get(..received).and_then(<[u8]>::split_first_chunk) else {
        return if received == 0 { Ok(None) } else { Err(broken()) };
    };
    let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
    if length > LONGEST || begun.len() > length {
        return Err(broken());
    }
    if begun.len() == length {
        return Ok(Some((postcard::from_bytes(begun).map_err(invalid)?, descriptors)));
    }
    let mut body = Vec::with_capacity(length);
    body.extend_from_slice(begun);
    while body.len() < length {
        match next(socket.as_fd(), &mut piece, &mut descriptors)? {
            0 => return Ok(None),
            received => body.extend_from_slice(piece.get(..received).unwrap_or_default()),
        }
    }
    if body.len() != length {
        return Err(broken());
    }
    Ok(Some((postcard::from_bytes(&body).map_err(invalid)?, descriptors)))
}

/// How long it is looked for what is about to be said.
const MOMENT: Duration = Duration::from_micros(150);

/// The same for what is about to be said by somebody who is at work on another processor. For a moment this looks again and again:
/// to be woken takes about as long, above all in a virtual machine. Whoever else wants this processor has it meanwhile.
pub fn receive_soon<T: DeserializeOwned>(
    socket: impl AsFd,
) -> io::Result<Option<(T, Vec<OwnedFd>)>> {
    let latest = Instant::now() + MOMENT;
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let mut watched = [PollFd::new(&socket, PollFlags::IN)];
    while matches!(poll(&mut watched, Some(&now)), Ok(0)) && Instant::now() < latest {
        std::thread::yield_now();
    }
    receive(socket)
}

/// What was sent at one time. 0: the other end is gone.
fn next(
    socket: BorrowedFd<'_>,
    piece: &mut [u8; PIECE],
    descriptors: &mut Vec<OwnedFd>,
) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let received = loop {
        let flags = RecvFlags::CMSG_CLOEXEC;
        match recvmsg(socket, &mut [IoSliceMut::new(piece)], &mut ancillary, flags) {
            // The other end has gone without having read everything: that is said once, before what it had to say itself.
            Err(Errno::INTR | Errno::CONNRESET) => {}
            received => break received?,
        }
    };
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            descriptors.extend(rights);
        }
    }
    // What was cut off is lost.
    if received.flags.intersects(ReturnFlags::TRUNC | ReturnFlags::CTRUNC) {
        return Err(broken());
    }
    Ok(received.bytes)
}

/// Not what anybody here sends.
fn broken() -> io::Error {
    io::Error::from_raw_os_error(libc::EBADMSG)
}

fn invalid(error: postcard::Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_of_any_length_is_one_message() {
        let (ours, theirs) = pair().expect("a pair");
        for length in [0, 1, PIECE - 10, PIECE, 3 * PIECE, 1 << 20] {
            let sent = "x".repeat(length);
            let (message, descriptors) = std::thread::scope(|scope| {
                scope.spawn(|| send(&ours, &sent, &[ours.as_fd(), theirs.as_fd()]).expect("sent"));
                receive::<String>(&theirs).expect("received").expect("a message")
            });
            assert_eq!((message.len(), descriptors.len()), (length, 2));
        }
        send(&ours, &"a", &[]).expect("sent");
        send(&ours, &"b", &[]).expect("sent");
        drop(ours);
        for expected in [Some("a"), Some("b"), None] {
            let received = receive::<String>(&theirs).expect("received");
            assert_eq!(received.map(|(message, _)| message).as_deref(), expected);
        }
        assert!(send(&theirs, &"c", &[]).is_err());
    }

    #[test]
    fn what_was_said_before_the_end_is_heard_whatever_was_not_read() {
        let (ours, theirs) = pair().expect("a pair");
        send(&theirs, &"why", &[]).expect("sent");
        send(&ours, &"unread", &[]).expect("sent");
        drop(theirs);
        let heard = receive::<String>(&ours).expect("received");
        assert_eq!(heard.map(|(message, _)| message).as_deref(), Some("why"));
        assert!(receive::<String>(&ours).expect("received").is_none());
    }

    #[test]
    fn what_is_no_message_is_refused() {
        let (ours, theirs) = pair().expect("a pair");
        let too_long = u64::try_from(LONGEST + 1).expect("a number").to_le_bytes();
        let more_than_said = [&1_u64.to_le_bytes()[..], b"two"].concat();
        for bytes in [&b"short"[..], &too_long, &more_than_said] {
            rustix::net::send(&ours, bytes, SendFlags::empty()).expect("sent");
            assert!(receive::<String>(&theirs).is_err());
        }
    }
}
