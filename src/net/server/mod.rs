//! HTTP servers of this program, without what they serve: a caller brings its routes.
//!
//! Here are the address, its connections, the end of both, and one line of log for each request; `guard` says which
//! requests are answered at all, and how many of each client; `peer` has what a client may hold; `reply` has answers as HTTP
//! sends them, and refusals.

mod guard;
mod peer;
pub(crate) mod reply;

pub(crate) use guard::{Base, Hosts};
pub(crate) use reply::Refusal;

use crate::base::text::printable;
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use guard::Clients;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulConnection, GracefulShutdown};
use hyper_util::service::TowerToHyperService;
use peer::{Shares, Timed};
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
/// The usual longest time for a request's body and its answer.
pub(crate) const LONGEST_ANSWER: Duration = Duration::from_secs(30);
const LONGEST_HEAD: usize = 64 << 10;
/// How long answers may take to be sent after the server was told to end.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);
/// The wait after a connection that could not be accepted: there are too many open files, and none is free at once.
const PAUSE: Duration = Duration::from_millis(50);

pub(crate) struct Settings {
    pub(crate) bind: SocketAddr,
    pub(crate) hosts: Hosts,
    pub(crate) log: Option<LogSettings>,
    /// Requests a second that one client may send.
    pub(crate) per_client: Option<NonZeroU32>,
    /// The longest time for a request's body and its answer.
    pub(crate) longest_answer: Duration,
    /// Whether a connection may be used for further requests. One that waits for them takes a place.
    pub(crate) keep_alive: bool,
}

#[derive(Clone)]
pub(crate) struct LogSettings {
    pub(crate) write: Log,
    /// A path as far as the server itself gives it its name.
    pub(crate) known_path: fn(&str) -> &'static str,
    /// Whether a line of the log has what was asked.
    pub(crate) queries: bool,
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

pub(crate) struct Server {
    listener: TcpListener,
    address: SocketAddr,
    router: Router,
    keep_alive: bool,
    /// Whether other machines may connect, of which none may hold all connections.
    remote: bool,
}

#[derive(Clone)]
struct Gate {
    hosts: Arc<Hosts>,
    log: Option<LogSettings>,
    clients: Option<Arc<Clients>>,
    longest_answer: Duration,
}

#[derive(Clone, Copy)]
struct Client(IpAddr);

impl Server {
    pub(crate) async fn bind(router: Router, settings: Settings) -> Result<Self, ServeError> {
        let Settings { bind, hosts, log, per_client, longest_answer, keep_alive } = settings;
        if !bind.ip().is_loopback() && !hosts.remote {
            return Err(ServeError::Remote(bind));
        }
        let cannot = |source| ServeError::Bind { address: bind, source };
        let listener = TcpListener::bind(bind).await.map_err(cannot)?;
        let address = listener.local_addr().map_err(cannot)?;
        let remote = hosts.remote;
        let clients = per_client.map(|limit| Arc::new(Clients::new(limit)));
        let gate = Gate { hosts: Arc::new(hosts), log, clients, longest_answer };
        let router = router.layer(middleware::from_fn_with_state(gate, answered));
        Ok(Self { listener, address, router, keep_alive, remote })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Answers until `stop`; then closes idle connections and waits for requests under way, until another `stop`.
    pub(crate) async fn run(self, mut stop: impl AsyncFnMut()) {
        let places = Arc::new(Semaphore::new(CONNECTIONS));
        let mut shares = Shares::default();
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
                let share = self.remote.then(|| shares.place(address.ip()));
                if share == Some(None) {
                    continue;
                }
                let connection = connections.watch(connection(stream, address, self.router.clone(), self.keep_alive));
                tokio::spawn(async move {
                    let _held = (place, share);
                    // A client that goes away, or sends no request, is its own affair.
                    let _ = connection.await;
                });
            }
        }
        drop(self.listener);
        tokio::select! {
            () = connections.shutdown() => {}
            () = sleep(SHUTDOWN_TIMEOUT) => {}
            () = stop() => {}
        }
    }
}

/// One connection, with time limits that `axum` has none of.
fn connection(stream: TcpStream, address: SocketAddr, router: Router, keep_alive: bool) -> impl GracefulConnection {
    // Answers are written whole, and clients wait for each.
    let _ = stream.set_nodelay(true);
    let mut http = http1::Builder::new();
    http.keep_alive(keep_alive).timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(LONGEST_HEAD);
    let answers = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(Client(address.ip()));
        answers.call(request)
    });
    http.serve_connection(TokioIo::new(Timed::new(stream)), service)
}

impl Gate {
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
        if gate.log.as_ref().is_some_and(|log| log.queries) {
            match request_texts(&mut request).await {
                Ok(asked) => texts = Some(asked),
                Err(refusal) => return refusal.into_response(),
            }
        }
        next.run(request).await
    };
    let answer = match timeout(gate.longest_answer, answer).await {
        Ok(answer) => answer,
        Err(_) => reply::text(StatusCode::GATEWAY_TIMEOUT, "the request and its answer took too long"),
    };
    if let Some(log) = &gate.log {
        let path = (log.known_path)(&path);
        (log.write)(&log_line(&method, path, answer.status().as_u16(), began.elapsed(), texts.as_deref()));
    }
    answer
}

/// Takes one line for each request, without its texts, neither queries nor the titles in paths, unless they are asked for.
pub(crate) type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// Characters of a target and of a body that a line shows.
const MAX_LOGGED: usize = 1_000;

/// Everything that a request says: its target and its body, which is read for that and put back.
async fn request_texts(request: &mut Request) -> Result<String, Refusal> {
    let body = reply::body(std::mem::take(request.body_mut())).await?;
    let mut texts = printable(&request.uri().to_string(), MAX_LOGGED);
    if !body.is_empty() {
        texts.push(' ');
        texts.push_str(&printable(&String::from_utf8_lossy(&body), MAX_LOGGED));
    }
    *request.body_mut() = Body::from(body);
    Ok(texts)
}

pub(crate) fn log_line(method: &Method, path: &str, status: u16, took: Duration, texts: Option<&str>) -> String {
    let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ");
    // A client may invent methods, too.
    let method = match method.as_str() {
        known @ ("GET" | "HEAD" | "POST" | "PUT" | "DELETE" | "OPTIONS" | "CONNECT" | "PATCH" | "TRACE") => known,
        _ => "OTHER",
    };
    let texts = texts.map(|texts| format!(" {texts}")).unwrap_or_default();
    format!("{now} {method} {path} {status} {} us{texts}", took.as_micros())
}
