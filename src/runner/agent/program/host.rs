//! The server on this machine that programs ask for models and tools. A request goes to the episode whose key it has, which
//! answers and records it.

use super::request::{
    AgentAnswer, AgentRequest, EPISODE_ENDED, MAX_ANSWER, ModelReply, ModelRequest, ToolReply, ToolUse,
};
use crate::base::{Tool, locked};
use crate::models::Api;
use crate::net::server::{Hosts, Refusal, Server, Settings, reply};
use crate::wikipedia::FoundPassage;
use crate::wikipedia::handlers::retriever::{self, MAX_TOP_K, Retriever};
use crate::wikipedia::handlers::tools::{
    self, SessionArgument, ToolAnswer, ToolDescription, ToolError, Tools, input, offered, schema, with,
};
use crate::wikipedia::handlers::{Answer, MAX_QUERY};
use axum::Router;
use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodRouter, get, post};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::io;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use url::form_urlencoded;

/// The longest body of a request to a model, in bytes.
const MAX_REQUEST: usize = 16 << 20;
/// The longest wait for a model, retries included, which the run limits itself.
const LONGEST_ANSWER: Duration = Duration::from_hours(24);
/// Requests of one episode that wait for it.
const WAITING: usize = 64;

impl From<ModelReply> for Response {
    fn from(ModelReply { status, body }: ModelReply) -> Self {
        let is_json = body.trim_start().starts_with(['{', '[']);
        let content_type = if is_json { "application/json" } else { "text/event-stream" };
        reply::typed(StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY), content_type, body)
    }
}

#[derive(Default)]
struct Registry {
    episodes: Mutex<HashMap<String, EpisodeTools>>,
    /// The model that all calls go to, for clients that ask for a list.
    model: Option<String>,
}

impl Registry {
    fn of_key(&self, key: &str) -> Option<EpisodeTools> {
        locked(&self.episodes).get(key).cloned()
    }
}

/// The server. It ends when this is dropped.
pub(super) struct Host {
    address: String,
    registry: Arc<Registry>,
    serving: JoinHandle<()>,
}

impl Drop for Host {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// An episode whose key the server accepts, until this is dropped.
pub(super) struct Registration {
    pub(super) requests: mpsc::Receiver<AgentRequest>,
    pub(super) key: String,
    registry: Arc<Registry>,
}

impl Drop for Registration {
    fn drop(&mut self) {
        locked(&self.registry.episodes).remove(&self.key);
    }
}

impl Host {
    pub(super) async fn listen(model: Option<String>) -> io::Result<Self> {
        let registry = Arc::new(Registry { model, ..Registry::default() });
        let settings = Settings {
            bind: (Ipv4Addr::LOCALHOST, 0).into(),
            hosts: Hosts::default(),
            log: None,
            per_client: None,
            longest_answer: LONGEST_ANSWER,
            // Idle connections of many agents would use up the limit of connections.
            keep_alive: false,
        };
        let server = Server::bind(router(&registry), settings).await.map_err(io::Error::other)?;
        let address = server.url();
        let serving = tokio::spawn(server.run(std::future::pending));
        Ok(Self { address, registry, serving })
    }

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Accepts requests for an episode, under a random key of 128 bits.
    pub(super) fn register(&self, tools: &Arc<[Tool]>) -> io::Result<Registration> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let key = format!("{:032x}", u128::from_be_bytes(random));
        let (episode, requests) = mpsc::channel(WAITING);
        let tools = EpisodeTools { episode, tools: Arc::clone(tools) };
        locked(&self.registry.episodes).insert(key.clone(), tools);
        Ok(Registration { requests, key, registry: Arc::clone(&self.registry) })
    }
}

type Shared = State<Arc<Registry>>;

fn router(registry: &Arc<Registry>) -> Router {
    let router = Router::new()
        .route("/openai/v1/models", get(models))
        .route("/openai/v1/chat/completions", model_route(Api::Chat))
        .route("/openai/v1/completions", model_route(Api::Completions))
        .route("/openai/v1/responses", model_route(Api::Responses))
        .route("/anthropic/v1/messages", model_route(Api::Messages))
        .route("/gemini/{version}/models/{call}", post(generate_content))
        .route("/episode/{key}/tool", get(function_list))
        .route("/episode/{key}/tool/{name}", post(tool))
        .route("/episode/{key}/retrieve", get(top_k).post(retrieve));
    #[cfg(feature = "mcp")]
    let router = router.route("/episode/{key}/mcp", axum::routing::any(mcp));
    router.fallback(nothing).with_state(Arc::clone(registry))
}

async fn nothing() -> Response {
    let sentence = "there is nothing here: the server of an agent has chat completions, completions, responses, messages, \
                    generateContent, its tools and /retrieve";
    let body = json!({ "error": { "message": sentence, "type": "not_found_error" } });
    reply::typed(StatusCode::NOT_FOUND, "application/json", body.to_string())
}

/// The key of a request, in the header of any of the APIs or in its query.
fn key_of(headers: &HeaderMap, query: Option<&str>) -> Option<String> {
    let header = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let bearer = header("authorization").and_then(|value| value.split_once(' ')).map(|(_, key)| key);
    let named =
        bearer.or_else(|| header("x-api-key")).or_else(|| header("x-goog-api-key")).or_else(|| header("api-key"));
    let in_query = || {
        let mut pairs = form_urlencoded::parse(query?.as_bytes());
        pairs.find(|(name, _)| name == "key").map(|(_, key)| key.into_owned())
    };
    named.map(|key| key.trim().to_owned()).or_else(in_query)
}

fn unknown_key(api: Api) -> Response {
    let message = "this key is of no episode that is under way: use the one in the program's environment";
    ModelReply::refused(api, 401, message).into()
}

/// A model whose API says everything in the body.
fn model_route(api: Api) -> MethodRouter<Arc<Registry>> {
    post(
        move |host: Shared, headers: HeaderMap, body: Body| async move { model(host, api, &headers, None, body).await },
    )
}

/// Gemini's model and whether it streams are in the path.
async fn generate_content(
    host: Shared,
    Path((_, call)): Path<(String, String)>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let refused = |message: &str| Response::from(ModelReply::refused(Api::GenerateContent, 400, message));
    let (name, stream) = match call.split_once(':') {
        Some((name, "generateContent")) => (name.to_owned(), false),
        Some((name, "streamGenerateContent")) => (name.to_owned(), true),
        _ => return refused("only generateContent and streamGenerateContent are answered"),
    };
    if stream && !query.as_ref().is_some_and(|query| query.contains("alt=sse")) {
        return refused("a stream needs ?alt=sse");
    }
    model(host, Api::GenerateContent, &headers, Some(InPath { name, stream, query }), body).await
}

/// What Gemini's clients say in the address instead of the body.
struct InPath {
    name: String,
    stream: bool,
    query: Option<String>,
}

/// Headers that say how a body is meant. All others, keys among them, are the program's and its client's alone.
fn headers_of_body(headers: &HeaderMap) -> Vec<(String, String)> {
    let is_of_body = |name: &str| name.starts_with("anthropic-") || name == "openai-beta";
    let of_body = headers.iter().filter(|(name, _)| is_of_body(name.as_str()));
    of_body.filter_map(|(name, value)| Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))).collect()
}

async fn model(State(host): Shared, api: Api, headers: &HeaderMap, in_path: Option<InPath>, body: Body) -> Response {
    let key = key_of(headers, in_path.as_ref().and_then(|path| path.query.as_deref()));
    let Some(tools) = key.and_then(|key| host.of_key(&key)) else { return unknown_key(api) };
    let body = match reply::body_at_most(body, MAX_REQUEST).await {
        Ok(body) => body,
        Err(Refusal(status, sentence)) => return ModelReply::refused(api, status.as_u16(), &sentence).into(),
    };
    let body: Map<String, Value> = match serde_json::from_slice(&body) {
        Ok(body) => body,
        Err(error) => {
            return ModelReply::refused(api, 400, &format!("the body is not a JSON object: {error}")).into();
        }
    };
    let in_body = || {
        let name = body.get("model").and_then(Value::as_str).unwrap_or_default().to_owned();
        (name, body.get("stream").and_then(Value::as_bool).unwrap_or_default())
    };
    let (name, stream) = in_path.map_or_else(in_body, |path| (path.name, path.stream));
    let asked = ModelRequest { api, name, body, stream, headers: headers_of_body(headers) };
    let (reply, answer) = oneshot::channel();
    let sent = tools.episode.send(AgentRequest::Model { asked, reply }).await;
    match (sent, answer.await) {
        (Ok(()), Ok(answer)) => answer.into(),
        _ => ModelReply::refused(api, 400, EPISODE_ENDED).into(),
    }
}

/// The one model that all calls go to; without one, an empty list.
async fn models(State(host): Shared) -> Response {
    let model = |name: &String| json!({ "id": name, "object": "model", "created": 0, "owned_by": "wikitrail" });
    let data: Vec<Value> = host.model.iter().map(model).collect();
    Answer::json(&json!({ "object": "list", "data": data })).into_response()
}

fn of_path(host: &Registry, key: &str) -> Result<EpisodeTools, Refusal> {
    host.of_key(key)
        .ok_or_else(|| Refusal(StatusCode::NOT_FOUND, "no episode with this address is under way".to_owned()))
}

async fn function_list(State(host): Shared, Path(key): Path<String>) -> Result<Answer, Refusal> {
    Ok(tools::function_list(&of_path(&host, &key)?))
}

async fn tool(State(host): Shared, Path((key, name)): Path<(String, String)>, body: Body) -> Result<Answer, Refusal> {
    Ok(tools::posted(&of_path(&host, &key)?, &name, &reply::body(body).await?).await)
}

async fn retrieve(State(host): Shared, Path(key): Path<String>, body: Body) -> Result<Answer, Answer> {
    retriever::retrieve(&of_path(&host, &key)?, &reply::body(body).await?).await
}

async fn top_k(State(host): Shared, Path(key): Path<String>, RawQuery(query): RawQuery) -> Result<Answer, Answer> {
    retriever::top_k_of_parameters(&of_path(&host, &key)?, query.as_deref()).await
}

#[cfg(feature = "mcp")]
async fn mcp(
    State(host): Shared,
    Path(key): Path<String>,
    request: axum::extract::Request,
) -> Result<Response, Refusal> {
    let tools = of_path(&host, &key)?;
    Ok(crate::wikipedia::handlers::over_http(&tools).handle(request).await.map(Body::new))
}

const SUBMIT: &str = "submit";

/// One client's way to the tools of an episode.
#[derive(Clone)]
struct EpisodeTools {
    episode: mpsc::Sender<AgentRequest>,
    tools: Arc<[Tool]>,
}

#[derive(Deserialize)]
struct Query {
    query: String,
    k: Option<usize>,
}

#[derive(Deserialize)]
struct Keyword {
    keyword: String,
}

#[derive(Deserialize)]
struct Id {
    id: String,
}

#[derive(Deserialize)]
struct Submission {
    answer: Value,
    confidence: Option<Value>,
}

impl EpisodeTools {
    async fn ask<T>(&self, ask: impl FnOnce(oneshot::Sender<T>) -> AgentRequest) -> Result<T, ToolError> {
        let ended = || ToolError(EPISODE_ENDED.to_owned());
        let (reply, answer) = oneshot::channel();
        self.episode.send(ask(reply)).await.map_err(|_| ended())?;
        answer.await.map_err(|_| ended())
    }

    async fn used(&self, tool: Tool, input: String, count: Option<usize>) -> Result<ToolAnswer, ToolError> {
        if input.len() > MAX_QUERY {
            return Err(ToolError(format!("a query has at most {MAX_QUERY} bytes")));
        }
        if count.is_some_and(|count| !(1..=MAX_TOP_K).contains(&count)) {
            return Err(ToolError(format!("`k` is a number from 1 to {MAX_TOP_K}")));
        }
        let used = ToolUse { tool, input, count };
        self.ask(|reply| AgentRequest::Tool { used, reply: ToolReply::Tool(reply) }).await?
    }

    async fn submit(&self, Submission { answer, confidence }: Submission) -> Result<ToolAnswer, ToolError> {
        let given = AgentAnswer::of(&answer, confidence.as_ref())
            .ok_or_else(|| ToolError(format!("`answer` is a text of 1 to {MAX_ANSWER} bytes")))?;
        self.ask(|reply| AgentRequest::Submit { given, reply }).await?
    }
}

impl Tools for EpisodeTools {
    fn offered(&self, _keeps_session: bool) -> Vec<ToolDescription> {
        let has = |tool: &ToolDescription| self.tools.iter().any(|own| own.name() == tool.name);
        let mut tools: Vec<ToolDescription> = offered(SessionArgument::None).into_iter().filter(has).collect();
        let properties = json!({
            "answer": { "type": "string", "description": "the answer to the question" },
            "confidence": { "type": "number", "minimum": 0, "maximum": 1, "description": "how sure you are" },
        });
        tools.push(ToolDescription {
            name: SUBMIT,
            title: "Submit the answer",
            description: "Give the answer to the question; the first one counts.",
            input: input(properties, &["answer"]),
            output: schema(json!({ "observation": { "type": "string" } }), &["observation"]),
        });
        tools
    }

    async fn call(&self, name: &str, input: Map<String, Value>) -> Option<Result<ToolAnswer, ToolError>> {
        let tool = self.tools.iter().copied().find(|tool| tool.name() == name);
        Some(match tool {
            Some(Tool::Lookup) => {
                with(input, "\"keyword\": text", async |Keyword { keyword }| {
                    self.used(Tool::Lookup, keyword, None).await
                })
                .await
            }
            Some(Tool::Document) => {
                with(input, "\"id\": text", async |Id { id }| self.used(Tool::Document, id, None).await).await
            }
            Some(tool) => {
                with(input, "\"query\": text", async |Query { query, k }| self.used(tool, query, k).await).await
            }
            None if name == SUBMIT => {
                with(input, "\"answer\": text, \"confidence\": 0.5", async |given| self.submit(given).await).await
            }
            None => return None,
        })
    }
}

impl Retriever for EpisodeTools {
    async fn best(&self, queries: Vec<String>, most: usize) -> Result<Vec<Vec<FoundPassage>>, Answer> {
        let mut found = Vec::new();
        for query in queries {
            let used = ToolUse { tool: Tool::Passages, input: query, count: Some(most) };
            let asked = self.ask(|reply| AgentRequest::Tool { used, reply: ToolReply::Documents(reply) }).await;
            let documents = asked.and_then(|answer| answer).map_err(|ToolError(words)| Answer::text(422, &words))?;
            found.push(documents);
        }
        Ok(found)
    }
}
