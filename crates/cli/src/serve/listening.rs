//! Connections: accepted, cut when they are slow, ended with the daemon.

#![expect(clippy::disallowed_methods, reason = "the operator names the socket that is listened on")]

use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::{Notify, Semaphore, watch};

use super::{Daemon, routes};

pub const USUAL: &str = "127.0.0.1:7300";

/// Connections at once. More wait in the kernel.
const MOST: usize = 1_024;
/// As long as a client may take to say what it wants.
const PATIENCE: Duration = Duration::from_secs(10);
/// As long as running requests may take to end when the daemon does.
const GRACE: Duration = Duration::from_secs(5);

pub enum Address {
    Loopback(SocketAddr),
    Socket(PathBuf),
}

pub enum Bound {
    Loopback(TcpListener, SocketAddr),
    Socket(UnixListener, PathBuf),
}

impl Address {
    /// Nobody from outside of this machine is let in, whatever the operator says.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.replace("localhost", "127.0.0.1");
        let address: SocketAddr = text
            .parse()
            .map_err(|_| format!("{text:?} is no address: say 127.0.0.1:PORT or [::1]:PORT"))?;
        match address.ip() {
            IpAddr::V4(ip) if ip.is_loopback() => Ok(Address::Loopback(address)),
            IpAddr::V6(ip) if ip.is_loopback() => Ok(Address::Loopback(address)),
            ip => Err(format!(
                "{ip} is not the loopback: others could come in. Use 127.0.0.1 and a tunnel"
            )),
        }
    }
}

pub async fn bind(address: &Address) -> Result<Bound, String> {
    match address {
        Address::Loopback(address) => {
            let listener = TcpListener::bind(address).await.map_err(|error| {
                format!("cannot listen on {address}: {error}\n\nhint: another daemon may run already: --listen 127.0.0.1:0 takes any port")
            })?;
            let bound = listener.local_addr().map_err(|error| error.to_string())?;
            Ok(Bound::Loopback(listener, bound))
        }
        Address::Socket(path) => {
            let failed =
                |error: std::io::Error| format!("cannot listen on {}: {error}", path.display());
            // Left behind by one that was killed; one that is listened on answers.
            if std::fs::symlink_metadata(path).is_ok_and(|about| about.file_type().is_socket())
                && std::os::unix::net::UnixStream::connect(path).is_err()
            {
                std::fs::remove_file(path).map_err(failed)?;
            }
            let listener = UnixListener::bind(path).map_err(failed)?;
            let private = std::fs::Permissions::from_mode(0o600);
            std::fs::set_permissions(path, private).map_err(failed)?;
            Ok(Bound::Socket(listener, path.clone()))
        }
    }
}

impl Bound {
    pub fn shown(&self) -> String {
        match self {
            Bound::Loopback(_, address) => format!("http://{address}/"),
            Bound::Socket(_, path) => format!("unix:{}", path.display()),
        }
    }

    /// What `Host` may say.
    pub fn hosts(&self) -> Vec<String> {
        match self {
            Bound::Loopback(_, address) => {
                vec![address.to_string(), format!("localhost:{}", address.port())]
            }
            Bound::Socket(..) => vec!["localhost".to_owned()],
        }
    }
}

impl Drop for Bound {
    fn drop(&mut self) {
        if let Bound::Socket(_, path) = self {
            let _it_is_gone = std::fs::remove_file(path);
        }
    }
}

pub async fn until_told_to_end(daemon: Arc<Daemon>, bound: Bound, told: Arc<Notify>) {
    let (end, ending) = watch::channel(false);
    let router = routes::all(&daemon);
    let accepting = accept(&bound, router, ending);
    let mut accepting = pin!(accepting);
    tokio::select! {
        () = &mut accepting => {}
        () = told.notified() => {}
    }
    let _nobody_may_listen = end.send(true);
    // Whoever waits for a command is answered once that was stopped.
    let service = Arc::clone(&daemon.service);
    let closed = tokio::task::spawn_blocking(move || service.close());
    let _in_time = tokio::time::timeout(GRACE, closed).await;
    let _in_time = tokio::time::timeout(GRACE, end.closed()).await;
}

/// Listens for the signals that end it; before anybody is told that it is there.
pub fn told_to_end() -> Result<Arc<Notify>, String> {
    let told = Arc::new(Notify::new());
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])
        .map_err(|error| format!("cannot listen for signals: {error}"))?;
    let teller = Arc::clone(&told);
    let thread = std::thread::Builder::new().name("signals".into()).spawn(move || {
        for _signal in signals.forever() {
            teller.notify_one();
        }
    });
    thread.map(|_| told).map_err(|error| error.to_string())
}

async fn accept(bound: &Bound, router: Router, ending: watch::Receiver<bool>) {
    let room = Arc::new(Semaphore::new(MOST));
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
        let (router, ending) = (router.clone(), ending.clone());
        let accepted: Result<(), std::io::Error> = match bound {
            Bound::Loopback(listener, _) => listener.accept().await.map(|(stream, _)| {
                let _small_answers_go_at_once = stream.set_nodelay(true);
                drop(tokio::spawn(held(permit, serve(stream, router, ending))));
            }),
            Bound::Socket(listener, _) => listener.accept().await.map(|(stream, _)| {
                drop(tokio::spawn(held(permit, serve(stream, router, ending))));
            }),
        };
        if accepted.is_err() {
            // No descriptors are left, most likely: those that end give some back.
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

async fn held<P>(permit: P, work: impl Future<Output = ()>) {
    work.await;
    drop(permit);
}

async fn serve<S>(stream: S, router: Router, mut ending: watch::Receiver<bool>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(PATIENCE).max_buf_size(64 << 10);
    let connection =
        builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let mut connection = pin!(connection);
    let told = tokio::select! {
        _ended = connection.as_mut() => false,
        told = ending.changed() => told.is_ok(),
    };
    if told {
        connection.as_mut().graceful_shutdown();
        let _in_time = tokio::time::timeout(GRACE, connection).await;
    }
}
