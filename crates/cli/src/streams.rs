//! The process's own standard streams for a request. What the caller closed is closed for the script too, although
//! Rust's runtime has opened `/dev/null` in its place.

use std::sync::Arc;

use exacta::Request;
use exacta::host::StandardStream;
use exacta_jail::standard_streams::closed_at_start;
use exacta_shell::pipe::Bytes;

/// The request reads and writes what the process does.
pub fn own(request: Request) -> Request {
    let (output, errors) = (StandardStream::output(), StandardStream::errors());
    request
        .with_streams(Arc::new(StandardStream::input()), Arc::new(output), Arc::new(errors))
        .without(closed_at_start())
}

/// The request writes what the process does, and has nothing to read.
pub fn own_output(request: Request) -> Request {
    let (output, errors) = (StandardStream::output(), StandardStream::errors());
    request
        .with_streams(Arc::new(Bytes::new(Vec::new())), Arc::new(output), Arc::new(errors))
        .without(closed_at_start().filter(|descriptor| *descriptor != 0))
}
