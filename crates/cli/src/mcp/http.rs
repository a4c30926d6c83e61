//! Streamable HTTP, behind the guards of the daemon: they have looked at host, origin and token before anything comes here.

use std::sync::Arc;
use std::time::Duration;

use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};

use super::{Door, LONGEST_MESSAGE, Way};
use crate::service::Service;

/// A session of the older protocols ends when nothing was heard in it for so long. A command that says nothing, and a person
/// who thinks, take longer than the five minutes that are usual.
const IDLE: Duration = Duration::from_secs(2 * 60 * 60);

type Served = StreamableHttpService<Door, LocalSessionManager>;

/// The route, and the means to end the streams that clients keep open.
#[derive(Clone)]
pub struct Mounted {
    pub service: Served,
    configuration: StreamableHttpServerConfig,
}

impl Mounted {
    pub fn end(&self) {
        self.configuration.cancellation_token.cancel();
    }
}

pub fn mounted(service: &Arc<Service>) -> Mounted {
    let door = Door::new(service, Way::Http);
    // The guard knows the port as well, and has refused all others.
    let configuration = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_max_request_body_bytes(LONGEST_MESSAGE);
    let made = move || Ok(door.clone());
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(IDLE);
    let service = StreamableHttpService::new(made, Arc::new(sessions), configuration.clone());
    Mounted { service, configuration }
}
