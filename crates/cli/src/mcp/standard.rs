//! `exacta mcp` on standard streams: stdout is the protocol and nothing else. It ends with its input, and everything that it has
//! started ends with it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use rmcp::service::ServerInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::io::stdio;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::watch;

use super::{Door, LONGEST_MESSAGE, Way};
use crate::exit::Exit;
use crate::invocation::{Global, McpInvocation};
use crate::serve;
use crate::service::{Projects, Service};
use crate::verbs::failed;

/// A message has the command, and what JSON makes of it.
const LONGEST_LINE: usize = 2 * LONGEST_MESSAGE;
/// As long as answers that are ready may take to be written.
const GRACE: Duration = Duration::from_secs(5);

pub fn perform(global: &Global, mcp: &McpInvocation) -> Exit {
    if mcp.listen.is_some() {
        return serve::perform_mcp(global, mcp);
    }
    match serve_client(global, mcp) {
        Ok(()) => Exit::Success,
        Err(problem) => failed(&problem),
    }
}

fn serve_client(global: &Global, mcp: &McpInvocation) -> Result<(), String> {
    let projects = Projects::open(global, &mcp.projects).map_err(|problem| problem.to_string())?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start: {error}"))?;
    let service = Service::new(projects);
    let served = runtime.block_on(until_input_ends(&service));
    // Whatever came in between.
    service.close();
    // The thread that reads standard input may wait there for ever.
    runtime.shutdown_background();
    served
}

async fn until_input_ends(service: &Arc<Service>) -> Result<(), String> {
    let told = serve::told_to_end()?;
    let (ended, mut ending) = watch::channel(false);
    let (input, output) = stdio();
    let transport = AsyncRwTransport::new_server(Watched { input, ended }, output)
        .with_max_line_length(LONGEST_LINE);
    let door = Door::new(service, Way::Standard);
    let serving = async {
        match rmcp::serve_server(door, transport).await {
            Ok(running) => running.waiting().await.map(drop).map_err(|error| error.to_string()),
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(format!("the client does not speak MCP: {error}")),
        }
    };
    let mut serving = std::pin::pin!(serving);
    tokio::select! {
        served = &mut serving => return served,
        _ended = ending.wait_for(|ended| *ended) => {}
        () = told.notified() => return Ok(()),
    }
    // The protocol layer would let calls that run go on for seconds. Nobody waits for them.
    let closing = Arc::clone(service);
    let closed = tokio::task::spawn_blocking(move || closing.close());
    let _in_time = tokio::time::timeout(GRACE, closed).await;
    tokio::time::timeout(GRACE, serving).await.unwrap_or(Ok(()))
}

/// Tells when there is no more input.
struct Watched<R> {
    input: R,
    ended: watch::Sender<bool>,
}

impl<R: AsyncRead + Unpin> AsyncRead for Watched<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.input).poll_read(context, buffer);
        let nothing = buffer.filled().len() == before && buffer.remaining() > 0;
        if matches!(read, Poll::Ready(Err(_))) || (read.is_ready() && nothing) {
            self.ended.send_replace(true);
        }
        read
    }
}
