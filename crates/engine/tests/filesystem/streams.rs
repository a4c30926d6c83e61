//! What can block ends with the request.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bstr::ByteSlice;
use exacta::filesystem::{CurrentRequest, Stream};
use exacta_shell::control::{Control, Limits};
use exacta_shell::errno;
use exacta_shell::filesystem::{FileSystem, Follow, OpenFile, OpenOptions};

use crate::operations::{absolute, error_name, run};
use crate::scratch::Scratch;

/// Cancels after a while, and says how long the rest took.
fn cancelled<T: Send>(control: &Arc<Control>, work: impl FnOnce() -> T + Send) -> (T, Duration) {
    std::thread::scope(|scope| {
        let canceller = scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(100));
            control.cancel();
            Instant::now()
        });
        let result = work();
        let end = Instant::now();
        (result, end.saturating_duration_since(canceller.join().unwrap()))
    })
}

fn request(files: &dyn FileSystem) -> Arc<Control> {
    let control = Arc::new(Control::new(Limits::default()));
    files.begin_request(&control);
    control
}

/// The promise is 10 ms; a loaded machine gets some more.
const SOON: Duration = Duration::from_millis(60);

pub fn a_fifo_without_a_partner_ends_with_the_request() {
    let scratch = Scratch::new();
    let files = scratch.confined();
    assert_eq!(run(&files, "fifo p"), "ok");
    assert_eq!(run(&files, "stat p"), "Fifo 600");
    for line in ["read p", "write p x", "append p x"] {
        let control = request(&files);
        let (result, late) = cancelled(&control, || run(&files, line));
        assert_eq!(result, "EINTR", "{line}");
        assert!(late < SOON, "{line}: {late:?}");
    }
}

pub fn a_fifo_connects_a_writer_and_a_reader() {
    let scratch = Scratch::new();
    let files = scratch.confined();
    request(&files);
    assert_eq!(run(&files, "fifo p"), "ok");
    let data = "line\n".repeat(100_000);
    for writer_first in [true, false] {
        let pause = |first: bool| {
            if !first {
                std::thread::sleep(Duration::from_millis(30));
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                pause(writer_first);
                let options = OpenOptions::writing(0o644);
                let file = files.open(absolute(&files, "p").as_bstr(), options).unwrap();
                file.write_all(data.as_bytes()).unwrap();
            });
            pause(!writer_first);
            let read = run(&files, "read p");
            assert_eq!(read.len(), data.len());
        });
    }
}

pub fn a_pipe_ends_with_the_request() {
    let request = CurrentRequest::default();
    let control = Arc::new(Control::new(Limits::default()));
    request.set(&control);
    let (reader, writer) = rustix::pipe::pipe().unwrap();
    let reader = Stream::from_descriptor(reader, true, false, &request).unwrap();
    let writer = Stream::from_descriptor(writer, false, true, &request).unwrap();
    assert!(!reader.wait_readable(Duration::from_millis(20)).unwrap());
    assert_eq!(error_name(&reader.write(b"x").unwrap_err()), "EBADF");
    assert_eq!(writer.write(b"abc").unwrap(), 3);
    assert!(reader.wait_readable(Duration::ZERO).unwrap());
    let mut buffer = [0; 10];
    assert_eq!(reader.read(&mut buffer).unwrap(), 3);
    let (result, late) = cancelled(&control, || reader.read(&mut buffer));
    assert_eq!(error_name(&result.unwrap_err()), "EINTR");
    assert!(late < SOON, "{late:?}");
    let control = Arc::new(Control::new(Limits::default()));
    request.set(&control);
    let endless = vec![0; 1 << 20];
    let (result, late) = cancelled(&control, || {
        let writer: &dyn OpenFile = &writer;
        writer.write_all(&endless)
    });
    assert_eq!(error_name(&result.unwrap_err()), "EINTR");
    assert!(late < SOON, "{late:?}");
    drop(reader);
    request.set(&Arc::new(Control::new(Limits::default())));
    assert!(errno::is(&writer.write(b"x").unwrap_err(), errno::EPIPE));
}

pub fn a_wall_clock_limit_counts_too() {
    let scratch = Scratch::new();
    let files = scratch.confined();
    assert_eq!(run(&files, "fifo p"), "ok");
    let wall_time = Some(Duration::from_millis(80));
    let control = Arc::new(Control::new(Limits { wall_time, ..Limits::default() }));
    files.begin_request(&control);
    let start = Instant::now();
    assert_eq!(run(&files, "read p"), "EINTR");
    assert!(start.elapsed() < Duration::from_millis(80) + SOON);
}

pub fn sockets_and_devices_in_the_project_are_not_opened() {
    let scratch = Scratch::new();
    let _socket = std::os::unix::net::UnixListener::bind(scratch.root().join("s")).unwrap();
    let files = scratch.confined();
    assert_eq!(run(&files, "read s"), "ENXIO");
    assert_eq!(run(&files, "write s x"), "ENXIO");
    assert_eq!(run(&files, "stat s"), "Socket 755");
    let handle =
        rustix::fs::open(scratch.root(), rustix::fs::OFlags::PATH, rustix::fs::Mode::empty())
            .unwrap();
    let null = rustix::fs::makedev(1, 3);
    let kind = rustix::fs::FileType::CharacterDevice;
    if rustix::fs::mknodat(&handle, "null", kind, rustix::fs::Mode::RWXU, null).is_ok() {
        assert_eq!(run(&files, "read null"), "ENXIO");
        assert_eq!(run(&files, "write null x"), "ENXIO");
        let directory = files.open_directory(files.root(), Follow::Yes).unwrap();
        assert!(directory.open_file(bstr::BStr::new("null"), Follow::No).is_err());
    } else {
        eprintln!("NOT RUN: device nodes need a privileged user");
    }
}

/// Programs get descriptors that behave as they would from bash.
pub fn descriptors_block() {
    let scratch = Scratch::new();
    let files = scratch.confined();
    request(&files);
    assert_eq!(run(&files, "write f x"), "ok");
    assert_eq!(run(&files, "fifo p"), "ok");
    for path in ["f", "p"] {
        let file = files.open(absolute(&files, path).as_bstr(), OpenOptions::reading()).unwrap();
        let flags = rustix::fs::fcntl_getfl(file.descriptor().unwrap()).unwrap();
        assert!(!flags.contains(rustix::fs::OFlags::NONBLOCK), "{path}");
    }
    let null = files.open(bstr::BStr::new("/dev/null"), OpenOptions::writing(0)).unwrap();
    assert!(null.descriptor().is_some());
}
