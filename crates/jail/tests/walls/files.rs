//! Landlock, which must not be felt where something is granted, and holds where the view does not.

use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

use crate::prison::{Directory, Prison};

#[test]
fn what_is_granted_works() {
    let mut prison = Prison::new();
    let done = prison.shell(
        "set -e
         echo one > a; cat a; mkdir d; mv a d/b; ln d/b c; ln -s d/b l; cat l; : > c; rm -r d c l
         echo '#!/bin/sh' > run; echo 'echo ran' >> run; chmod +x run; ./run
         cp run /tmp/run; /tmp/run; mkfifo p; rm p
         echo nothing > /dev/null; head -c 3 /dev/zero | wc -c; ls / /etc /dev /proc > /dev/null
         cat /etc/passwd; echo out > /dev/stdout; echo name > /proc/self/comm; truncate -s 0 run
         sleep 5 & kill $!; echo end",
    );
    let expected = "one\none\nran\nran\n3\nagent:x:1000:1000::/:/bin/sh\nout\nend\n";
    assert_eq!(done.output, expected);
}

#[test]
fn a_way_around_the_view_ends_at_landlock() {
    let outside = Directory::new();
    std::fs::write(outside.0.join("secret"), "secret").expect("a file");
    let everybody = |mode| std::os::unix::fs::PermissionsExt::from_mode(mode);
    std::fs::set_permissions(&outside.0, everybody(0o777)).expect("its mode");
    std::fs::set_permissions(outside.0.join("secret"), everybody(0o666)).expect("its mode");
    let handle = std::fs::File::open(&outside.0).expect("the directory");
    let mut prison = Prison::new();
    // Handed over as it is, it is nothing; and as if somebody outside had passed it on to a program that it talks to.
    let (ours, theirs) = UnixStream::pair().expect("a pair of sockets");
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let handles = [handle.as_fd()];
    assert!(control.push(SendAncillaryMessage::ScmRights(&handles)));
    let message = [std::io::IoSlice::new(b"x")];
    sendmsg(&ours, &message, &mut control, SendFlags::empty()).expect("it is passed on");
    let reach = "import os, socket
try: os.listdir('/proc/self/fd/8')
except NotADirectoryError: print('given 13')
os.dup2(socket.recv_fds(socket.socket(fileno=7), 1, 1)[1][0], 9)
def attempt(name, action):
    try: action(); print(name, 'done')
    except OSError as error: print(name, error.errno)
attempt('read', lambda: os.open('secret', os.O_RDONLY, dir_fd=9))
attempt('write', lambda: os.open('secret', os.O_WRONLY, dir_fd=9))
attempt('make', lambda: os.open('new', os.O_WRONLY | os.O_CREAT, dir_fd=9))
attempt('list', lambda: os.listdir('/proc/self/fd/9'))
attempt('unlink', lambda: os.unlink('secret', dir_fd=9))
attempt('move', lambda: os.rename('secret', 'stolen', src_dir_fd=9))
attempt('link', lambda: os.link('secret', 'stolen', src_dir_fd=9))
attempt('directory', lambda: os.mkdir('new', dir_fd=9))";
    let done = prison
        .run_with(&["/usr/bin/python3", "-c", reach], &[(7, theirs.as_fd()), (8, handle.as_fd())]);
    let lines: Vec<&str> = done.output.lines().collect();
    assert_eq!(lines.len(), 9, "{done:?}");
    for line in lines {
        let refused = [libc::EACCES, libc::EXDEV, libc::EPERM].map(|errno| errno.to_string());
        let answer = line.split_whitespace().nth(1).unwrap_or_default();
        assert!(refused.iter().any(|errno| errno == answer), "{line}");
    }
    let left: Vec<_> = std::fs::read_dir(&outside.0).expect("the directory").collect();
    assert_eq!(left.len(), 1);
}
