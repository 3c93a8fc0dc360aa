//! The tool over the Model Context Protocol. The protocol has no sessions any more, so over HTTP the state
//! of a client is in the handle that it gets with each answer and sends back. Over stdio there is one client, and its last handle is
//! kept.

use super::batch;
use super::reply::LONGEST_BODY;
use super::shelf::Shelf;
use super::tools::{self, Told, Untold};
use crate::types::Compat;
use crate::wiki::Corpus;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, InitializeResult,
    JsonObject, ListToolsResult, PaginatedRequestParams, ServerCapabilities, Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// What a client is told of the tool as a whole.
const INSTRUCTIONS: &str = "A frozen Wikipedia. `search` opens a page by its title and shows its first sentences, or lists similar \
     titles; `lookup` finds the next sentence with a keyword in the open page: give it the `session` of the last result.";

/// One client, or one request of it.
#[derive(Clone)]
pub(super) struct Handler {
    shelf: Shelf,
    /// The last handle, where one client has the server to itself.
    last: Option<Arc<Mutex<Option<String>>>>,
}

/// The service below `/mcp`. Host and origin are checked for all of the server.
pub(super) fn over_http(shelf: &Shelf) -> StreamableHttpService<Handler, LocalSessionManager> {
    let handler = Handler { shelf: shelf.clone(), last: None };
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(LONGEST_BODY);
    StreamableHttpService::new(move || Ok(handler.clone()), Arc::default(), config)
}

/// Serves one client over standard input and output, until it hangs up.
pub(crate) async fn over_stdio(corpus: Corpus, compat: Compat) -> io::Result<()> {
    let handler = Handler { shelf: Shelf::new(Arc::new(corpus), compat), last: Some(Arc::default()) };
    let (stdin, stdout) = rmcp::transport::stdio();
    let (input, output, ended) = batch::between(stdin, stdout);
    let served = match rmcp::serve_server(handler, (input, output)).await {
        Ok(service) => service.waiting().await.map(|_| ()).map_err(io::Error::other),
        Err(error) => Err(io::Error::other(error)),
    };
    ended.await;
    served
}

impl ServerHandler for Handler {
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
        Ok(ListToolsResult::with_all_items(offered()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let result = match self.called(&request.name, request.arguments.unwrap_or_default()).await? {
            Ok(Told { observation, structured, handle }) => {
                if let (Some(last), Some(handle)) = (&self.last, handle) {
                    *last.lock().unwrap_or_else(PoisonError::into_inner) = Some(handle.to_string());
                }
                let mut result = CallToolResult::success(vec![ContentBlock::text(observation)]);
                result.structured_content = Some(structured);
                result
            }
            Err(Untold(words)) => CallToolResult::error(vec![ContentBlock::text(words)]),
        };
        Ok(result.into())
    }
}

impl Handler {
    async fn called(&self, name: &str, mut input: JsonObject) -> Result<Result<Told, Untold>, ErrorData> {
        if matches!(name, "search" | "lookup")
            && !input.contains_key("session")
            && let Some(last) = &self.last
        {
            let last = last.lock().unwrap_or_else(PoisonError::into_inner).clone();
            input.insert("session".to_owned(), json!(last));
        }
        Ok(match name {
            "search" => tools::search(&self.shelf, read(input)?).await,
            "lookup" => tools::lookup(&self.shelf, &read(input)?),
            "read" => tools::read(&self.shelf, &read(input)?),
            "similar" => tools::similar(&self.shelf, read(input)?).await,
            _ => return Err(ErrorData::invalid_params("there is no such tool", None)),
        })
    }
}

fn read<T: DeserializeOwned>(input: JsonObject) -> Result<T, ErrorData> {
    serde_json::from_value(Value::Object(input)).map_err(|error| ErrorData::invalid_params(error.to_string(), None))
}

/// The tools; they are the same for every client.
fn offered() -> Vec<Tool> {
    let text = |description: &str| json!({ "type": "string", "description": description });
    let number = |description: &str| json!({ "type": "integer", "minimum": 1, "description": description });
    let session = "the `session` of the last result; the only client of a process may leave it out";
    let tools = [
        (
            "search",
            "Open the Wikipedia page that a query names and get its first sentences; without such a page, similar titles.",
            json!({ "query": text("the title of a page, or words"), "session": text(session) }),
            &["query"][..],
        ),
        (
            "lookup",
            "Get the next sentence of the open page that contains a keyword; repeat it for further ones.",
            json!({ "keyword": text("letters to look for, in any case"), "session": text(session) }),
            &["keyword"],
        ),
        (
            "read",
            "Read the paragraphs of a page, 20 at a time.",
            json!({
                "title": text("the title of the page"), "from": number("the first paragraph, 1 unless given"),
                "to": number("the last one"),
            }),
            &["title"],
        ),
        (
            "similar",
            "List the titles of pages that the words of a query fit best.",
            json!({ "query": text("words") }),
            &["query"],
        ),
    ];
    let described = tools.map(|(name, description, properties, required)| {
        let input = schema(properties, required);
        let mut tool = Tool::new(name, description, Arc::new(input));
        tool.annotations =
            Some(ToolAnnotations::new().read_only(true).destructive(false).idempotent(true).open_world(false));
        tool.output_schema = Some(Arc::new(output(name)));
        tool
    });
    described.into()
}

fn schema(properties: Value, required: &[&str]) -> JsonObject {
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), properties);
    schema.insert("required".to_owned(), json!(required));
    schema
}

fn output(tool: &str) -> JsonObject {
    let (text, number) = (json!({ "type": ["string", "null"] }), json!({ "type": ["integer", "null"] }));
    let mut properties = json!({ "observation": { "type": "string" } });
    if tool == "similar" {
        properties["titles"] = json!({ "type": "array", "items": { "type": "string" } });
        return schema(properties, &["observation", "titles"]);
    }
    for name in ["title", "url", "session"] {
        properties[name] = text.clone();
    }
    let numbers: &[&str] = match tool {
        "lookup" => &["revid", "result", "of"],
        "read" => &["revid", "from", "to", "of"],
        _ => &["revid"],
    };
    for name in numbers {
        properties[*name] = number.clone();
    }
    schema(properties, &["observation", "session"])
}
