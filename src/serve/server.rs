//! The address, its connections, and the end of both.

use super::clients::Clients;
use super::guard::Hosts;
use super::log::{self, Entry, Log};
use super::shelf::Shelf;
use super::{mediawiki, reply, retrieve};
use crate::types::Compat;
use crate::wiki::Corpus;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use serde_json::{Value, json};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU32;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

/// Connections at once; further ones wait to be accepted.
const CONNECTIONS: usize = 512;
/// The longest wait for the head of a request, and so for the next request of a connection.
const HEAD: Duration = Duration::from_mins(1);
/// The longest time for a request's body and its answer.
const ANSWER: Duration = Duration::from_secs(30);
/// The longest head of a request, in bytes.
const LONGEST_HEAD: usize = 64 << 10;
/// How long answers may take to be sent after the server was told to end.
const FAREWELL: Duration = Duration::from_secs(10);
/// The wait after a connection that could not be accepted: there are too many open files, and none is free at once.
const PAUSE: Duration = Duration::from_millis(50);

/// A part of the server that can be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// The Action API, pages and REST.
    MediaWiki,
    /// Search-R1's `/retrieve`.
    Retrieve,
    /// The tool, over the Model Context Protocol.
    #[cfg(feature = "mcp")]
    Mcp,
}

pub(crate) struct Settings {
    pub(crate) bind: SocketAddr,
    pub(crate) hosts: Hosts,
    pub(crate) parts: Vec<Part>,
    /// What the tool of MCP answers with.
    pub(crate) compat: Compat,
    pub(crate) log: Option<Log>,
    /// Whether a line of the log has what was asked.
    pub(crate) log_queries: bool,
    /// Requests a second that one client may send.
    pub(crate) per_client: Option<NonZeroU32>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum ServeError {
    #[error("`{0}` is an address that other machines can reach")]
    Remote(SocketAddr),
    #[error("cannot listen at `{address}`")]
    Bind { address: SocketAddr, source: io::Error },
}

impl ServeError {
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            Self::Remote(_) => {
                "anyone who reaches it can read the corpus and keep this machine busy: add --allow-remote if that is wanted"
            }
            Self::Bind { .. } => "is another program using the port? `--bind 127.0.0.1:0` takes a free one",
        }
    }
}

/// A server that listens.
pub(crate) struct Server {
    listener: TcpListener,
    address: SocketAddr,
    router: Router,
}

#[derive(Clone)]
struct Gate {
    hosts: Arc<Hosts>,
    log: Option<Log>,
    log_queries: bool,
    clients: Option<Arc<Clients>>,
}

/// Who sent a request.
#[derive(Clone, Copy)]
struct Client(IpAddr);

/// The router for one connection.
#[derive(Clone)]
struct Connected(TowerToHyperService<Router>, Client);

impl Service<hyper::Request<Incoming>> for Connected {
    type Response = <TowerToHyperService<Router> as Service<hyper::Request<Incoming>>>::Response;
    type Error = <TowerToHyperService<Router> as Service<hyper::Request<Incoming>>>::Error;
    type Future = <TowerToHyperService<Router> as Service<hyper::Request<Incoming>>>::Future;

    fn call(&self, mut request: hyper::Request<Incoming>) -> Self::Future {
        request.extensions_mut().insert(self.1);
        self.0.call(request)
    }
}

impl Server {
    pub(crate) async fn bind(corpus: Corpus, settings: Settings) -> Result<Self, ServeError> {
        let Settings { bind, hosts, parts, compat, log, log_queries, per_client } = settings;
        let shelf = Shelf::new(Arc::new(corpus), compat);
        let clients = per_client.map(|limit| Arc::new(Clients::new(limit)));
        let gate = Gate { hosts: Arc::new(hosts), log, log_queries, clients };
        Self::listen(bind, router(&parts, shelf), gate).await
    }

    /// A server of somebody's own pages, for this machine alone.
    pub(super) async fn of(router: Router, bind: SocketAddr) -> Result<Self, ServeError> {
        let gate = Gate { hosts: Arc::new(Hosts::default()), log: None, log_queries: false, clients: None };
        Self::listen(bind, router, gate).await
    }

    async fn listen(bind: SocketAddr, router: Router, gate: Gate) -> Result<Self, ServeError> {
        if !bind.ip().is_loopback() && !gate.hosts.remote {
            return Err(ServeError::Remote(bind));
        }
        let cannot = |source| ServeError::Bind { address: bind, source };
        let listener = TcpListener::bind(bind).await.map_err(cannot)?;
        let address = listener.local_addr().map_err(cannot)?;
        let router = router.layer(middleware::from_fn_with_state(gate, answered));
        Ok(Self { listener, address, router })
    }

    /// Where it listens.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Answers until `stop`; then connections that wait are closed, and those with a request are waited for, but not beyond
    /// another `stop`.
    pub(crate) async fn run(self, mut stop: impl AsyncFnMut()) {
        let places = Arc::new(Semaphore::new(CONNECTIONS));
        let connections = GracefulShutdown::new();
        {
            let mut stopped = pin!(stop());
            loop {
                let accepted = async {
                    let place = Arc::clone(&places).acquire_owned().await.ok();
                    (self.listener.accept().await, place)
                };
                let (accepted, place) = tokio::select! {
                    accepted = accepted => accepted,
                    () = &mut stopped => break,
                };
                let Ok((stream, address)) = accepted else {
                    sleep(PAUSE).await;
                    continue;
                };
                let connection = connections.watch(connection(stream, address, self.router.clone()));
                tokio::spawn(async move {
                    let _place = place;
                    // A client that goes away, or sends no request, is its own affair.
                    let _ = connection.await;
                });
            }
        }
        drop(self.listener);
        tokio::select! {
            () = connections.shutdown() => {}
            () = sleep(FAREWELL) => {}
            () = stop() => {}
        }
    }
}

/// One connection, with time limits that `axum` has none of.
fn connection(
    stream: TcpStream,
    address: SocketAddr,
    router: Router,
) -> http1::Connection<TokioIo<TcpStream>, Connected> {
    // Answers are written whole, and clients wait for each.
    let _ = stream.set_nodelay(true);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(LONGEST_HEAD);
    http.serve_connection(TokioIo::new(stream), Connected(TowerToHyperService::new(router), Client(address.ip())))
}

fn router(parts: &[Part], shelf: Shelf) -> Router {
    let mut router = Router::new().route("/healthz", get(healthy)).route("/corpus.json", get(described));
    let mut served = vec!["/healthz", "/corpus.json"];
    if parts.contains(&Part::MediaWiki) {
        router = router.merge(mediawiki::routes());
        served.extend(["/w/api.php", "/w/index.php", "/wiki/TITLE", "/api/rest_v1/page/summary/TITLE"]);
        served.push("/w/rest.php/v1/search/page");
    }
    if parts.contains(&Part::Retrieve) {
        router = router.merge(retrieve::routes());
        served.push("/retrieve");
    }
    #[cfg(feature = "mcp")]
    if parts.contains(&Part::Mcp) {
        let tool = Router::new().route_service("/mcp", super::mcp::over_http(&shelf));
        router = router.merge(tool.layer(middleware::from_fn(super::batch::over_http)));
        served.push("/mcp");
    }
    let nothing = format!("there is nothing here; this server has {}", served.join(", "));
    let router = router.fallback(async move || reply::refused(StatusCode::NOT_FOUND, &nothing));
    router.with_state(shelf)
}

impl Gate {
    /// Why a request is not answered.
    fn refused(&self, request: &mut Request) -> Option<Response> {
        let client = request.extensions().get::<Client>().copied();
        let too_often =
            self.clients.as_ref().zip(client).and_then(|(clients, Client(address))| clients.refused(address));
        too_often.or_else(|| Some(self.hosts.check(request).err()?.into_response()))
    }
}

/// Checks a request, has it answered in time, and writes its line.
async fn answered(State(gate): State<Gate>, mut request: Request, next: Next) -> Response {
    let began = Instant::now();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let mut texts = None;
    let answer = async {
        if let Some(refused) = gate.refused(&mut request) {
            return refused;
        }
        if gate.log_queries && gate.log.is_some() {
            match log::texts(&mut request).await {
                Ok(asked) => texts = Some(asked),
                Err(refusal) => return refusal.into_response(),
            }
        }
        next.run(request).await
    };
    let answer = match timeout(ANSWER, answer).await {
        Ok(answer) => answer,
        Err(_) => reply::refused(StatusCode::GATEWAY_TIMEOUT, "the request and its answer took too long"),
    };
    if let Some(log) = &gate.log {
        let (status, took) = (answer.status().as_u16(), began.elapsed());
        let entry = Entry { method: &method, path: &path, status, took, texts };
        log(&entry.to_string());
    }
    answer
}

async fn healthy() -> Response {
    reply::refused(StatusCode::OK, "ok")
}

/// What the corpus is. Paths of this machine are not told.
async fn described(State(shelf): State<Shelf>) -> Response {
    let mut about = json!({ "id": shelf.corpus.id(), "name": shelf.name(), "articles": shelf.corpus.count() });
    if let Some(manifest) = shelf.corpus.manifest() {
        about["extent"] = json!(manifest.extent);
        about["language"] = json!(manifest.language);
        about["as_of"] = json!(manifest.as_of);
        about["redirects"] = json!(manifest.redirects);
        about["disambiguations"] = json!(manifest.disambiguations);
        about["license"] = json!(manifest.license);
    }
    about["wikitrail"] = Value::from(env!("CARGO_PKG_VERSION"));
    reply::json(&about)
}
