//! The tool over the Model Context Protocol. The protocol has no sessions any more, so over HTTP the state
//! of a client is in the handle that it gets with each answer and sends back. Over stdio there is one client, and its last handle is
//! kept: its calls take their turns at it in the order in which they arrive, as each may depend on the one before.

use super::tools::{ToolAnswer, ToolDescription, ToolError, Tools};
use super::{CorpusService, batch};
use crate::base::{Compat, locked};
use crate::net::server::reply::MAX_BODY;
use crate::wikipedia::Corpus;
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, ready};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientRequest, ContentBlock, Implementation,
    InitializeResult, JsonObject, JsonRpcMessage, JsonRpcRequest, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, ServerHandler};
use serde_json::json;
use std::io;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::OwnedMutexGuard;

const INSTRUCTIONS: &str = "A frozen Wikipedia. `search` opens a page by its title and shows its first sentences, or lists similar \
     titles; `lookup` finds the next sentence with a keyword in the open page: give it the `session` of the last result.";

/// One client, or one request of it.
#[derive(Clone)]
pub(crate) struct Handler<T> {
    service: T,
    /// Whether one client has the server to itself, so that its last handle is kept.
    keeps_session: bool,
}

/// The last handle, once it is a call's turn to have it.
type Turn = BoxFuture<'static, OwnedMutexGuard<Option<String>>>;

/// The turn of a request, which its one call takes.
#[derive(Clone)]
struct Ticket(Arc<Mutex<Option<Turn>>>);

/// Standard input and output. A call gets its turn here, as the SDK hands requests to tasks that begin in any order.
struct InTurns<R: AsyncRead, W: AsyncWrite> {
    transport: AsyncRwTransport<RoleServer, R, W>,
    last: Arc<tokio::sync::Mutex<Option<String>>>,
}

impl<R, W> Transport<RoleServer> for InTurns<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(&mut self, message: TxJsonRpcMessage<RoleServer>) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.transport.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let mut message = self.transport.receive().await?;
        if let JsonRpcMessage::Request(JsonRpcRequest { request: ClientRequest::CallToolRequest(call), .. }) =
            &mut message
        {
            let mut turn = Arc::clone(&self.last).lock_owned().boxed();
            // Asked for once, it has its place in the queue.
            let turn = match (&mut turn).now_or_never() {
                Some(last) => ready(last).boxed(),
                None => turn,
            };
            call.extensions.insert(Ticket(Arc::new(Mutex::new(Some(turn)))));
        }
        Some(message)
    }

    fn close(&mut self) -> impl Future<Output = io::Result<()>> + Send {
        self.transport.close()
    }
}

/// The service below `/mcp`. Host and origin are checked for all of the server.
pub(crate) fn over_http<T: Tools>(service: &T) -> StreamableHttpService<Handler<T>, LocalSessionManager> {
    let handler = Handler { service: service.clone(), keeps_session: false };
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(MAX_BODY);
    StreamableHttpService::new(move || Ok(handler.clone()), Arc::default(), config)
}

/// Serves one client over standard input and output, until it hangs up.
pub(crate) async fn over_stdio(corpus: Corpus, compat: Compat) -> io::Result<()> {
    let handler = Handler { service: CorpusService::new(Arc::new(corpus), compat), keeps_session: true };
    let (stdin, stdout) = rmcp::transport::stdio();
    let (input, output, ended) = batch::between(stdin, stdout);
    let transport = InTurns { transport: AsyncRwTransport::new_server(input, output), last: Arc::default() };
    let served = match rmcp::serve_server(handler, transport).await {
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
            self.service.offered(self.keeps_session).into_iter().map(described).collect(),
        ))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let turn = context.extensions.get::<Ticket>().and_then(|Ticket(turn)| locked(turn).take());
        let mut last = if let Some(turn) = turn { Some(turn.await) } else { None };
        let kept = last.as_deref().and_then(Option::as_deref);
        let result = match self.call(&request.name, request.arguments.unwrap_or_default(), kept).await? {
            Ok(ToolAnswer(structured)) => {
                if let (Some(last), Some(handle)) = (&mut last, structured["session"].as_str()) {
                    **last = Some(handle.to_owned());
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
    async fn call(
        &self,
        name: &str,
        mut input: JsonObject,
        kept: Option<&str>,
    ) -> Result<Result<ToolAnswer, ToolError>, ErrorData> {
        if matches!(name, "search" | "lookup")
            && !input.contains_key("session")
            && let Some(kept) = kept
        {
            input.insert("session".to_owned(), json!(kept));
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
