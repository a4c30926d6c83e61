//! Whoever calls a tool: its name, and whether its person can be asked through it.

use axum::http::request::Parts;
use rmcp::RoleServer;
use rmcp::model::ProtocolVersion;
use rmcp::service::RequestContext;

use super::Way;
use crate::launch;
use crate::serve::{Client, Role};

/// Longer names are cut.
const LONGEST_NAME: usize = 100;

#[derive(Debug, Clone)]
pub struct Caller {
    /// Sessions, processes and records are found by it.
    pub agent: String,
    /// What the client program calls itself.
    pub program: String,
    pub asking: Asking,
}

/// How its person is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asking {
    /// Not through it: the client cannot, or may not.
    No,
    /// While the call runs (before 2026-07-28).
    Meanwhile,
    /// The call ends with the question, and the client calls again with the answer.
    ByReturn,
}

impl Caller {
    pub fn of(context: &RequestContext<RoleServer>, way: Way) -> Self {
        let client = context.extensions.get::<Parts>().and_then(|it| it.extensions.get::<Client>());
        let program = context.client_info().map(|info| shortened(&info.name)).unwrap_or_default();
        let said = match way {
            Way::Standard => launch::agent(),
            Way::Http => client.map(|client| client.agent.clone()).unwrap_or_default(),
        };
        let named = [said, program.clone(), "mcp".to_owned()];
        let agent = named.into_iter().find(|name| !name.is_empty()).unwrap_or_default();
        Caller { agent, program, asking: asking(context, way, client) }
    }
}

/// An answer that comes back through the client is a person's only if the client is one that a person trusts to ask. On
/// standard streams somebody has started us with it; over HTTP it shows by the token: with an agent's, nothing is decided.
fn asking(context: &RequestContext<RoleServer>, way: Way, client: Option<&Client>) -> Asking {
    let trusted = match way {
        Way::Standard => true,
        Way::Http => client.is_some_and(|client| client.role == Role::Person),
    };
    let declared = context.client_capabilities().and_then(|all| all.elicitation);
    // Neither form nor URL was ever named before there were URLs: then it is forms.
    let forms = declared.is_some_and(|it| it.form.is_some() || it.url.is_none());
    let version = context.protocol_version();
    match version {
        _ if !trusted || !forms => Asking::No,
        Some(version) if version.as_str() >= ProtocolVersion::V_2026_07_28.as_str() => {
            Asking::ByReturn
        }
        _ => Asking::Meanwhile,
    }
}

fn shortened(name: &str) -> String {
    name.chars().filter(|character| !character.is_control()).take(LONGEST_NAME).collect()
}
