//! `exacta serve`: one process for people and agents. HTTP on the loopback or a Unix socket, and nowhere else.
//!
//! - [`tokens`], [`guard`]: who may come in.
//! - [`listening`]: connections, and their end.
//! - [`routes`]: what can be asked; [`running`] is the part that takes long.
//! - [`tasks`]: work that goes on by itself.
//! - [`page`]: what people see of it.

mod answer;
mod body;
mod description;
mod guard;
mod listening;
mod metrics;
mod page;
mod people;
mod routes;
mod running;
mod tasks;
mod tokens;

pub use guard::Client;
pub use listening::told_to_end;
pub use tokens::Role;

use std::path::PathBuf;
use std::sync::Arc;

use listening::{Address, Bound};
use tokens::Tokens;

use crate::exit::Exit;
use crate::invocation::{Global, McpInvocation, ServeInvocation};
use crate::mcp::Mounted;
use crate::service::{Projects, Service};
use crate::telegram::{Bot, Working};
use crate::verbs::failed;
use crate::{doctor, launch, output};

/// All that a connection needs.
pub struct Daemon {
    service: Arc<Service>,
    tokens: Tokens,
    buckets: guard::Buckets,
    /// What `Host` may say.
    hosts: Vec<String>,
    mcp: Mounted,
}

/// `exacta serve`: everything.
pub fn perform(global: &Global, serve: &ServeInvocation) -> Exit {
    let announced = |daemon: &Daemon, bound: &Bound| announce(daemon, bound, serve.print_token);
    listen(global, serve, announced, routes::all)
}

/// `exacta mcp --listen`: that door alone, behind the same guards.
pub fn perform_mcp(global: &Global, mcp: &McpInvocation) -> Exit {
    let (listen_on, projects) = (mcp.listen.clone(), mcp.projects.clone());
    let serve = ServeInvocation { listen: listen_on, projects, ..ServeInvocation::default() };
    let announced = |_: &Daemon, bound: &Bound| {
        output::error(&format!("exacta: listens on {}mcp\n", bound.shown()));
        if let Some(folder) = folder() {
            let folder = folder.display();
            output::error(&format!("hint: the tokens are in {folder}: docs/mcp.md\n"));
        }
    };
    listen(global, &serve, announced, routes::mcp)
}

fn listen(
    global: &Global,
    serve: &ServeInvocation,
    announce: impl FnOnce(&Daemon, &Bound),
    routes: impl FnOnce(&Arc<Daemon>) -> axum::Router,
) -> Exit {
    let started = start(global, serve);
    match started.and_then(|(runtime, daemon, bound)| {
        let (telegram, told) = (telegram(global, &daemon)?, listening::told_to_end()?);
        announce(&daemon, &bound);
        daemon.service.attend_tasks();
        let router = routes(&daemon);
        runtime.block_on(listening::until_told_to_end(Arc::clone(&daemon), router, bound, told));
        if let Some(telegram) = telegram {
            telegram.end();
        }
        // Nothing of what was started outlives the daemon.
        daemon.service.close();
        runtime.shutdown_timeout(std::time::Duration::from_secs(5));
        Ok(())
    }) {
        Ok(()) => Exit::Success,
        Err(problem) => failed(&problem),
    }
}

type Started = (tokio::runtime::Runtime, Arc<Daemon>, Bound);

fn start(global: &Global, serve: &ServeInvocation) -> Result<Started, String> {
    let folder = folder().ok_or("there is no place for its token: HOME is not set")?;
    let tokens = Tokens::open(&folder).map_err(|error| format!("its token: {error}"))?;
    let projects =
        Projects::open(global, &serve.projects).map_err(|problem| problem.to_string())?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start: {error}"))?;
    let address = match &serve.socket {
        Some(path) => Address::Socket(path.clone()),
        None => Address::parse(serve.listen.as_deref().unwrap_or(listening::USUAL))?,
    };
    let bound = runtime.block_on(listening::bind(&address))?;
    let service = Service::new(projects);
    let daemon = Daemon {
        mcp: crate::mcp::mounted(&service),
        service,
        tokens,
        buckets: guard::Buckets::new(),
        hosts: bound.hosts(),
    };
    Ok((runtime, Arc::new(daemon), bound))
}

/// Questions go to a phone too, if the operator's configuration says so.
fn telegram(global: &Global, daemon: &Daemon) -> Result<Option<Working>, String> {
    let configuration = launch::configuration(global).map_err(|problem| problem.to_string())?;
    let (Some(settings), Some(folder)) = (configuration.telegram, folder()) else {
        return Ok(None);
    };
    Bot::start(settings, Arc::clone(&daemon.service), &folder).map(Some)
}

/// Where the tokens are.
fn folder() -> Option<PathBuf> {
    launch::state().map(|state| state.join("serve"))
}

fn announce(daemon: &Daemon, bound: &Bound, with_token: bool) {
    let address = bound.shown();
    if with_token {
        output::print(&format!("{address}#token={}\n", daemon.tokens.of_person()));
    }
    output::error(&format!("exacta: listens on {address}\n"));
    if !with_token {
        output::error(
            "hint: `exacta serve --print-token` prints the address with the token for the page\n",
        );
    }
}
