//! A corpus for other programs: routes, without a listener, so that a server or a run may host them.
//!
//! | file | what it holds |
//! |---|---|
//! | this one | the corpus with a limit of searches at once, answers, and what is served where over HTTP |
//! | `mediawiki` | the Action API, search page, articles and REST, as clients of Wikipedia call them |
//! | `retriever` | the best documents, as agents ask their retrievers for them |
//! | `mcp` | the tool over the Model Context Protocol, the only user of its SDK |
//! | `batch` | several messages in one, which one version of that protocol has |
//! | `tools` | the tool for agents of other programs, which MCP carries, and `POST /tool/NAME` |

#[cfg(feature = "mcp")]
mod batch;
#[cfg(feature = "mcp")]
mod mcp;
mod mediawiki;
pub(crate) mod retriever;
pub(crate) mod tools;

#[cfg(feature = "mcp")]
pub(crate) use mcp::{over_http, over_stdio};

/// The longest query, in bytes; those of sites are the same.
pub(crate) use super::MAX_QUERY_BYTES as MAX_QUERY;
use super::corpus::{Extent, Manifest};
use super::{Corpus, CorpusError};
use crate::base::{Compat, processors};
use crate::net::server::{Base, Refusal, reply};
use axum::body::Body;
use axum::extract::{Path as InPath, RawQuery, State};
use axum::http::{HeaderValue, Method, StatusCode};
#[cfg(feature = "mcp")]
use axum::middleware;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Why there is no answer to a request that is understood.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    /// More searches than it makes at once.
    #[error("too many searches at once; try again")]
    Busy,
    #[error("the corpus: {0}")]
    Corpus(#[from] CorpusError),
    #[error("the search failed inside")]
    Lost,
}

/// Boxed, as it is also what handlers end with instead.
pub(crate) struct Answer(Box<Response>);

impl Answer {
    fn new(status: u16, content_type: &'static str, body: String) -> Self {
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Self(Box::new(reply::typed(status, content_type, body)))
    }

    /// One sentence for the client.
    pub(crate) fn text(status: u16, sentence: &str) -> Self {
        Self::new(status, "text/plain; charset=UTF-8", format!("{sentence}\n"))
    }

    pub(crate) fn json(value: &Value) -> Self {
        Self::json_with(200, value)
    }

    fn json_with(status: u16, value: &Value) -> Self {
        Self::new(status, "application/json; charset=UTF-8", value.to_string())
    }

    fn html(page: String) -> Self {
        Self::new(200, "text/html; charset=UTF-8", page)
    }

    /// A redirect within this server; `path` has nothing but what an address may have.
    fn moved(path: &str) -> Self {
        Self::text(302, path).with_header("location", path)
    }

    fn with_header(mut self, name: &'static str, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.0.headers_mut().insert(name, value);
        }
        self
    }
}

impl From<Fault> for Answer {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Busy => Self::text(503, &fault.to_string()).with_header("retry-after", "1"),
            _ => Self::text(500, &fault.to_string()),
        }
    }
}

impl From<Refusal> for Answer {
    fn from(Refusal(status, sentence): Refusal) -> Self {
        Self::text(status.as_u16(), &sentence)
    }
}

/// Searches that are made or wait for their turn; more are sent away.
const MAX_IN_FLIGHT: usize = 64;

type Service = State<CorpusService>;

#[derive(Clone)]
pub(crate) struct CorpusService {
    pub(crate) corpus: Arc<Corpus>,
    #[cfg_attr(not(feature = "mcp"), expect(dead_code, reason = "only the tool of MCP has it"))]
    pub(crate) compat: Compat,
    in_flight: Arc<Semaphore>,
    /// A text search keeps a processor busy, so there are as many as processors.
    turns: Arc<Semaphore>,
}

impl CorpusService {
    pub(crate) fn new(corpus: Arc<Corpus>, compat: Compat) -> Self {
        let (in_flight, turns) = (Arc::new(Semaphore::new(MAX_IN_FLIGHT)), Arc::new(Semaphore::new(processors())));
        Self { corpus, compat, in_flight, turns }
    }

    /// Searches texts on a thread that may be kept busy. Holds the place until the search ends, even if no one waits.
    pub(crate) async fn search<T: Send + 'static>(
        &self,
        search: impl FnOnce(&Corpus) -> Result<T, CorpusError> + Send + 'static,
    ) -> Result<T, Fault> {
        let place = Arc::clone(&self.in_flight).try_acquire_owned().map_err(|_| Fault::Busy)?;
        let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(|_| Fault::Busy)?;
        let corpus = Arc::clone(&self.corpus);
        let searched = tokio::task::spawn_blocking(move || {
            let _held = (place, turn);
            search(&corpus)
        });
        Ok(searched.await.map_err(|_| Fault::Lost)??)
    }

    /// What people call the corpus: its own name, or that of its folder.
    pub(crate) fn name(&self) -> &str {
        let folder = || Path::new(self.corpus.name()).file_name().and_then(|name| name.to_str());
        self.corpus.manifest().map(|manifest| manifest.name.as_str()).or_else(folder).unwrap_or("corpus")
    }

    pub(crate) fn language(&self) -> &str {
        self.corpus.manifest().and_then(|manifest| manifest.language.as_deref()).unwrap_or("en")
    }

    /// Whether articles are leads, so that all of one is its introduction.
    pub(crate) fn has_leads(&self) -> bool {
        self.corpus.manifest().is_some_and(|Manifest { extent, .. }| *extent == Extent::Lead)
    }

    /// The corpus in one sentence, for the foot of pages.
    pub(crate) fn notice(&self) -> String {
        let license = self.corpus.manifest().map_or("unknown", |manifest| manifest.license.id.as_str());
        format!("From the frozen corpus {} ({}), license {license}.", self.name(), self.corpus.id())
    }
}

// What is served where, and the end of a request that reads its body.

/// A part of the server that can be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    MediaWiki,
    /// Search-R1's `/retrieve`, and what other agents ask their retrievers by.
    Retrieve,
    /// The tool, over plain HTTP.
    Tool,
    /// The tool, over the Model Context Protocol.
    #[cfg(feature = "mcp")]
    Mcp,
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        *self.0
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        Answer::from(self).into_response()
    }
}

pub(crate) fn router(parts: &[Part], service: CorpusService) -> Router {
    let mut router = Router::new().route("/corpus.json", get(described));
    router = router.route("/healthz", get(async || reply::text(StatusCode::OK, "ok")));
    let mut served = vec!["/healthz", "/corpus.json"];
    if parts.contains(&Part::MediaWiki) {
        router = router
            .route("/w/api.php", get(api).post(api))
            .route("/w/index.php", get(mediawiki::index))
            .route("/wiki/{*title}", get(mediawiki::article))
            .route("/api/rest_v1/page/summary/{*title}", get(mediawiki::summary))
            .route("/w/rest.php/v1/search/page", get(mediawiki::rest_search))
            .route("/w/rest.php/v1/search/title", get(mediawiki::rest_search_titles));
        served.extend(["/w/api.php", "/w/index.php", "/wiki/TITLE", "/api/rest_v1/page/summary/TITLE"]);
        served.push("/w/rest.php/v1/search/page");
    }
    if parts.contains(&Part::Retrieve) {
        // Search-R1's and `FlashRAG`'s requests, and those of `DSPy`'s class for `ColBERT`, which may be given either address.
        router = router
            .route("/retrieve", get(top_k).post(retrieve))
            .route("/search", post(retriever::search_one))
            .route("/batch_search", post(retriever::search_many))
            .route("/api/search", get(top_k).post(retriever::top_k_of_body));
        served.extend(["/retrieve", "/search", "/batch_search", "/api/search"]);
    }
    if parts.contains(&Part::Tool) {
        let list = async |State(service): Service| tools::function_list(&service);
        router = router.route("/tool", get(list)).route("/tool/{name}", post(tool));
        served.extend(["/tool", "/tool/NAME"]);
    }
    #[cfg(feature = "mcp")]
    if parts.contains(&Part::Mcp) {
        let tool = Router::new().route_service("/mcp", mcp::over_http(&service));
        router = router.merge(tool.layer(middleware::from_fn(batch::over_http)));
        served.push("/mcp");
    }
    let nothing = format!("there is nothing here; this server has {}", served.join(", "));
    let router = router.fallback(async move || reply::text(StatusCode::NOT_FOUND, &nothing));
    router.with_state(service)
}

async fn api(
    service: Service,
    base: Extension<Base>,
    RawQuery(query): RawQuery,
    method: Method,
    body: Body,
) -> Result<Answer, Answer> {
    let form = if method == Method::POST { reply::body(body).await? } else { Vec::new() };
    Ok(mediawiki::api(&service, &base.0.0, query.as_deref(), &form).await)
}

async fn retrieve(service: Service, body: Body) -> Result<Answer, Answer> {
    retriever::retrieve(&service.0, &reply::body(body).await?).await
}

async fn top_k(service: Service, RawQuery(query): RawQuery) -> Result<Answer, Answer> {
    retriever::top_k_of_parameters(&service.0, query.as_deref()).await
}

async fn tool(service: Service, InPath(name): InPath<String>, body: Body) -> Result<Answer, Answer> {
    Ok(tools::posted(&service.0, &name, &reply::body(body).await?).await)
}

/// What the corpus is. Paths of this machine are not told.
async fn described(State(service): Service) -> Answer {
    let mut about = json!({ "id": service.corpus.id(), "name": service.name(), "articles": service.corpus.count() });
    if let Some(manifest) = service.corpus.manifest() {
        about["extent"] = json!(manifest.extent);
        about["language"] = json!(manifest.language);
        about["as_of"] = json!(manifest.as_of);
        about["redirects"] = json!(manifest.redirects);
        about["disambiguations"] = json!(manifest.disambiguations);
        about["license"] = json!(manifest.license);
    }
    about["wikitrail"] = Value::from(env!("CARGO_PKG_VERSION"));
    Answer::json(&about)
}

/// The path as far as this server gives it its name.
pub(crate) fn known_path(path: &str) -> &'static str {
    const WHOLE: [&str; 13] = [
        "/",
        "/healthz",
        "/corpus.json",
        "/retrieve",
        "/search",
        "/batch_search",
        "/api/search",
        "/mcp",
        "/tool",
        "/w/api.php",
        "/w/index.php",
        "/w/rest.php/v1/search/page",
        "/w/rest.php/v1/search/title",
    ];
    const BEGUN: [(&str, &str); 3] =
        [("/wiki/", "/wiki/*"), ("/tool/", "/tool/*"), ("/api/rest_v1/page/summary/", "/api/rest_v1/page/summary/*")];
    let whole = WHOLE.into_iter().find(|known| *known == path);
    let begun = || BEGUN.into_iter().find(|(known, _)| path.starts_with(known)).map(|(_, shown)| shown);
    whole.or_else(begun).unwrap_or("(other)")
}

#[cfg(test)]
mod tests {
    use super::{Answer, CorpusService, Fault, MAX_IN_FLIGHT, known_path};
    use crate::base::Compat;
    use crate::net::server::log_line;
    use crate::wikipedia::Corpus;
    use axum::http::Method;
    use std::sync::Arc;
    use std::time::Duration;

    #[test]
    fn lines_have_no_texts() {
        let line = |method: &str, path: &str| {
            let method = Method::from_bytes(method.as_bytes()).expect("a method");
            let (path, took) = (known_path(path), Duration::from_micros(7));
            log_line(&method, path, 200, took, None).split_once(' ').expect("a time").1.to_owned()
        };
        assert_eq!(line("GET", "/w/api.php"), "GET /w/api.php 200 7 us");
        assert_eq!(line("GET", "/wiki/Secret"), "GET /wiki/* 200 7 us");
        assert_eq!(line("SECRET", "/secret"), "OTHER (other) 200 7 us");
    }

    #[tokio::test]
    async fn more_searches_than_are_made_at_once_are_sent_away() {
        let corpus = Corpus::from_jsonl("mine", br#"{"title": "Ada", "text": "She wrote."}"#).expect("a corpus");
        let service = CorpusService::new(Arc::new(corpus), Compat::Fixed);
        let (go, gate) = std::sync::mpsc::channel::<()>();
        let gate = Arc::new(std::sync::Mutex::new(gate));
        let searches: Vec<_> = (0..MAX_IN_FLIGHT)
            .map(|_| {
                let (service, gate) = (service.clone(), Arc::clone(&gate));
                tokio::spawn(async move {
                    let waits = move |corpus: &Corpus| {
                        let _ = gate.lock().map(|gate| gate.recv());
                        corpus.similar("wrote", 1)
                    };
                    service.search(waits).await.map(|hits| hits.len()).ok()
                })
            })
            .collect();
        while service.in_flight.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        let refused = service.search(|corpus| corpus.similar("wrote", 1)).await.expect_err("there is no place");
        assert!(matches!(refused, Fault::Busy));
        let refused = Answer::from(refused);
        assert_eq!(refused.0.status(), 503);
        assert!(refused.0.headers().contains_key("retry-after"));
        // Whoever waits at the gate goes through.
        drop(go);
        for search in searches {
            assert_eq!(search.await.expect("it ends"), Some(1));
        }
        assert!(service.search(|corpus| corpus.similar("wrote", 1)).await.is_ok());
    }
}
