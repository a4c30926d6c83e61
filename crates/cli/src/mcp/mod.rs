//! `exacta mcp`: the same service for clients of the Model Context Protocol, on standard streams and over HTTP.
//!
//! - [`tools`]: what there is; [`executing`], [`tasks`] and [`calls`] do it, [`answer`] says how it went.
//! - [`caller`]: who calls; [`asking`]: its person is asked. No tool decides what a person has to.
//! - [`standard`], [`http`]: the two ways in.

mod answer;
mod asking;
mod caller;
mod calls;
mod executing;
mod http;
mod progress;
mod standard;
mod tasks;
mod tools;

pub use http::{Mounted, mounted};
pub use standard::perform;

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, Implementation, JsonObject,
    ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig,
    Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde::de::DeserializeOwned;

use asking::Offers;
use caller::Caller;
use executing::Again;

use crate::service::{Code, Problem, Service};

/// As long as a command of the HTTP door.
const LONGEST_MESSAGE: usize = 2 << 20;

/// How clients come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Standard,
    Http,
}

/// What answers a client.
#[derive(Clone)]
pub struct Door {
    service: Arc<Service>,
    offers: Arc<Offers>,
    way: Way,
}

impl Door {
    fn new(service: &Arc<Service>, way: Way) -> Self {
        Door { service: Arc::clone(service), offers: Arc::default(), way }
    }

    /// Work that may wait, on a thread that may.
    async fn off<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Arc<Service>) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let service = Arc::clone(&self.service);
        let done = tokio::task::spawn_blocking(move || work(&service)).await;
        done.unwrap_or_else(|lost| Err(Problem::failed(lost)))
    }

    /// That of another agent is not there.
    fn own_session(&self, id: &str, caller: &Caller) -> Result<(), Problem> {
        self.service.see_session(id, |agent| agent == caller.agent)
    }

    fn own_process(&self, id: &str, caller: &Caller) -> Result<(), Problem> {
        self.service.see_process(id, |agent| agent == caller.agent)
    }

    fn instructions(&self) -> String {
        let roots = self.service.projects.all().iter().map(|it| it.root.display().to_string());
        let roots: Vec<String> = roots.collect();
        format!(
            "A bash for the project {}. Every command is judged by the operator's rules, files that it changes can be put back with undo, and programs run isolated. What a rule refuses says what to do instead; approval_pending means that a person has to decide: wait with approval_wait, then run the same command again. Work of several commands is a task: task_run takes a plan with what is expected of each step, judges all of it before anything runs, and goes on by itself when a person has approved it.",
            roots.join(", ")
        )
    }
}

impl ServerHandler for Door {
    fn get_info(&self) -> ServerConfig {
        let about = Implementation::new("exacta", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(about)
            .with_instructions(self.instructions())
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(&[
            ProtocolVersion::V_2025_03_26,
            ProtocolVersion::V_2025_06_18,
            ProtocolVersion::V_2025_11_25,
            ProtocolVersion::V_2026_07_28,
        ])
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::all()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::find(name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let caller = Caller::of(&context, self.way);
        let arguments = request.arguments.unwrap_or_default();
        let name: &str = &request.name;
        let responses = request.input_responses.unwrap_or_default();
        let again = request.request_state.map(|state| Again { state, responses });
        let answer = match name {
            "shell_exec" => executing::exec(self, &caller, arguments, again, &context).await,
            "task_run" => tasks::run(self, &caller, arguments, again, &context).await,
            name => {
                let answer = if name.starts_with("task_") {
                    tasks::call(self, &caller, name, arguments, &context).await
                } else {
                    calls::call(self, &caller, name, arguments, &context).await
                };
                let Some(answer) = answer else {
                    let message = format!("there is no tool {name}: tools/list names all of them");
                    return Err(ErrorData::invalid_params(message, None));
                };
                answer.map(CallToolResponse::from)
            }
        };
        // A failed tool is a result, which the model reads; a protocol error is for the program around it.
        Ok(answer.unwrap_or_else(|problem| answer::failed(&problem).into()))
    }
}

/// The arguments of a tool.
fn read<T: DeserializeOwned>(arguments: JsonObject) -> Result<T, Problem> {
    serde_json::from_value(arguments.into()).map_err(|error| {
        let message = format!("these arguments do not fit: {error}");
        Problem::new(Code::BadRequest, message, "see the tool's inputSchema")
    })
}
