//! The tool over the Model Context Protocol. The protocol has no sessions any more, so over HTTP the state
//! of a client is in the handle that it gets with each answer and sends back. Over stdio there is one client, and its last handle is
//! kept.

use super::tools::{ToolAnswer, ToolDescription, ToolError, Tools};
use super::{CorpusService, batch};
use crate::base::{Compat, locked};
use crate::net::server::reply::MAX_BODY;
use crate::wikipedia::Corpus;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, InitializeResult,
    JsonObject, ListToolsResult, PaginatedRequestParams, ServerCapabilities, Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, ServerHandler};
use serde_json::json;
use std::io;
use std::sync::{Arc, Mutex};

const INSTRUCTIONS: &str = "A frozen Wikipedia. `search` opens a page by its title and shows its first sentences, or lists similar \
     titles; `lookup` finds the next sentence with a keyword in the open page: give it the `session` of the last result.";

/// One client, or one request of it.
#[derive(Clone)]
pub(crate) struct Handler<T> {
    service: T,
    /// The last handle, where one client has the server to itself.
    last: Option<Arc<Mutex<Option<String>>>>,
}

/// The service below `/mcp`. Host and origin are checked for all of the server.
pub(crate) fn over_http<T: Tools>(service: &T) -> StreamableHttpService<Handler<T>, LocalSessionManager> {
    let handler = Handler { service: service.clone(), last: None };
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(MAX_BODY);
    StreamableHttpService::new(move || Ok(handler.clone()), Arc::default(), config)
}

/// Serves one client over standard input and output, until it hangs up.
pub(crate) async fn over_stdio(corpus: Corpus, compat: Compat) -> io::Result<()> {
    let handler = Handler { service: CorpusService::new(Arc::new(corpus), compat), last: Some(Arc::default()) };
    let (stdin, stdout) = rmcp::transport::stdio();
    let (input, output, ended) = batch::between(stdin, stdout);
    let served = match rmcp::serve_server(handler, (input, output)).await {
        Ok(service) => service.waiting().await.map(|_| ()).map_err(io::Error::other),
        Err(error) => Err(io::Error::other(error)),
    };
    ended.await;
    served
}

impl<T: Tools> ServerHandler for Handler<T> {
    fn get_info(&self) -> InitializeResult {
        let program = Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
        InitializeResult::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(program)
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(
            self.service.offered(self.last.is_some()).into_iter().map(described).collect(),
        ))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let result = match self.call(&request.name, request.arguments.unwrap_or_default()).await? {
            Ok(ToolAnswer(structured)) => {
                if let (Some(last), Some(handle)) = (&self.last, structured["session"].as_str()) {
                    *locked(last) = Some(handle.to_owned());
                }
                let observation = structured["observation"].as_str().unwrap_or_default();
                let mut result = CallToolResult::success(vec![ContentBlock::text(observation)]);
                result.structured_content = Some(structured);
                result
            }
            Err(ToolError(words)) => CallToolResult::error(vec![ContentBlock::text(words)]),
        };
        Ok(result.into())
    }
}

impl<T: Tools> Handler<T> {
    async fn call(&self, name: &str, mut input: JsonObject) -> Result<Result<ToolAnswer, ToolError>, ErrorData> {
        if matches!(name, "search" | "lookup")
            && !input.contains_key("session")
            && let Some(last) = &self.last
        {
            let last = locked(last).clone();
            input.insert("session".to_owned(), json!(last));
        }
        let called = self.service.call(name, input).await;
        called.ok_or_else(|| ErrorData::invalid_params("there is no such tool", None))
    }
}

/// A tool as the SDK describes it; all of ours only read.
fn described(tool: ToolDescription) -> Tool {
    let ToolDescription { name, title, description, input, output } = tool;
    let mut described = Tool::new(name, description, Arc::new(input));
    described.title = Some(title.to_owned());
    described.annotations =
        Some(ToolAnnotations::new().read_only(true).destructive(false).idempotent(true).open_world(false));
    described.output_schema = Some(Arc::new(output));
    described
}
