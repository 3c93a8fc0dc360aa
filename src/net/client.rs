//! The client: its settings and memory budget, the retry loop of a logical request, and how callers take an answer: whole,
//! or event by event as it arrives.

use super::balance::Balance;
use super::limit::{HeldOff, Limiter, Outcome, Settings};
use super::retry::{self, Attempt, Backoff, FOREVER, Next, Retry, RetrySettings, TOO_MANY_REQUESTS, should_retry};
use super::{NetError, exchange, redact};
use crate::base::text::printable;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Request, Url};
use secrecy::{ExposeSecret as _, SecretString};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, SemaphorePermit};

/// How a client behaves. Its limits apply to all of its requests together.
#[derive(Debug, Clone)]
pub struct ClientSettings {
    pub user_agent: String,
    pub connect_timeout: Duration,
    /// Longest time from sending an attempt to the last byte of its answer, including redirects but not the waits for
    /// the limiter or a retry. It holds for answers that a [`Listener`] takes event by event as well.
    pub timeout: Duration,
    /// Largest body in bytes, decompressed. Of an event stream, the largest event; the stream may be 16 times as large.
    pub max_body: usize,
    /// The budget of answers that are read whole and are longer than 1 MiB; no limit if absent. A caller that holds such an
    /// answer must not wait for another.
    pub memory: Option<&'static MemoryBudget>,
    /// Redirects to follow; at 0 the redirect itself is the answer.
    pub max_redirects: usize,
    pub retry: RetrySettings,
    /// Limits all requests, including retries and redirects. Clients of one server share it.
    pub limiter: Arc<Limiter>,
}

impl Default for ClientSettings {
    /// `wikitrail/VERSION`, 10 s to connect, 60 s in all, 16 MiB, 5 redirects, 16 requests at once, no limit per minute;
    /// a `Retry-After` pauses all requests.
    fn default() -> Self {
        Self {
            user_agent: concat!("wikitrail/", env!("CARGO_PKG_VERSION")).to_owned(),
            connect_timeout: Duration::from_secs(10),
            timeout: Duration::from_mins(1),
            max_body: 16 << 20,
            memory: None,
            max_redirects: 5,
            retry: RetrySettings::default(),
            limiter: Arc::new(Limiter::new(&Settings { pause_all: true, ..Settings::fixed(16) })),
        }
    }
}

/// A complete answer with any status.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answer {
    pub status: u16,
    pub content_type: Option<String>,
    /// The wait that its headers ask for.
    pub retry_after: Option<Duration>,
    /// When the limit ends, by the headers of an answer with status 429.
    pub limit_ends: Option<Duration>,
    /// The URL that answered, after redirects, without user part.
    pub url: String,
    /// The URLs that redirected, in order, starting with the requested one.
    pub redirects: Vec<String>,
    /// The body, decompressed.
    pub body: Vec<u8>,
    /// Its part of the client's memory budget; to be kept as long as the body or a copy of it.
    pub memory: MemoryPermit,
    /// How often the request was sent, 1 or more.
    pub attempts: u32,
    /// Time from sending the first attempt to the last byte, including the waits between attempts.
    pub elapsed: Duration,
}

impl Answer {
    /// Whether the status is 2xx.
    pub fn ok(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// A secret, and how it is sent.
#[derive(Debug, Clone, Copy)]
pub enum Credential<'a> {
    Bearer(&'a SecretString),
    Header(&'a str, &'a SecretString),
}

/// The request without its URL.
struct Message {
    method: Method,
    headers: HeaderMap,
    body: Option<Vec<u8>>,
}

/// An HTTP client for one server, or for several equivalent ones. Share it to reuse connections.
///
/// A `Retry-After` with status 429 or 503 pauses all of its requests. Beyond the limiter's `max_wait` requests do not wait,
/// but fail with [`NetError::HeldOff`] until it has passed.
///
/// The user part of a URL (`http://user:password@host`) is sent as basic authentication, to that host only, and appears in
/// no answer and no error.
#[derive(Debug)]
pub struct Client {
    settings: ClientSettings,
    /// For other machines, through the proxy of the environment.
    far: reqwest::Client,
    /// For this machine, without proxy.
    near: reqwest::Client,
}

impl Client {
    /// Builds a client. Sends nothing.
    pub fn new(settings: ClientSettings) -> Result<Self, NetError> {
        // Fails if a provider is installed already, which is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let build = |builder: reqwest::ClientBuilder| {
            builder
                .user_agent(settings.user_agent.as_str())
                .connect_timeout(settings.connect_timeout)
                .tcp_nodelay(true)
                // `exchange` follows redirects: it records them, and keeps keys from other hosts.
                .redirect(reqwest::redirect::Policy::none())
                // `send` retries and counts.
                .retry(reqwest::retry::never())
                .build()
                .map_err(|e| NetError::Setup { reason: printable(&chain(&e), 200) })
        };
        let far = build(reqwest::Client::builder())?;
        let near = build(reqwest::Client::builder().no_proxy())?;
        Ok(Self { settings, far, near })
    }

    /// Gets `url`, retrying as the settings say; any final status is `Ok`.
    pub async fn get(&self, url: &str, headers: &[(&'static str, &str)]) -> Result<Answer, NetError> {
        let message = Message { method: Method::GET, headers: header_map(headers)?, body: None };
        self.send(&[url.to_owned()], &Balance::new(1), message, &mut Keep).await
    }

    /// Posts a JSON `body` to one of several equivalent servers, chosen by `balance` for each attempt. `listener` takes the
    /// answer, event by event if it wants, and says whether it is accepted; the last answer is returned in any case.
    pub async fn post_json(
        &self,
        urls: &[String],
        balance: &Balance,
        headers: &[(&str, &str)],
        credentials: &[Credential<'_>],
        body: Vec<u8>,
        listener: &mut dyn Listener,
    ) -> Result<Answer, NetError> {
        let mut map = header_map(headers)?;
        map.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for credential in credentials {
            let (name, value) = secret_header(*credential)?;
            map.insert(name, value);
        }
        self.send(urls, balance, Message { method: Method::POST, headers: map, body: Some(body) }, listener).await
    }

    /// Pauses for `wait`, for servers that ask for it other than by status and header.
    pub(crate) fn hold(&self, wait: Duration, status: u16) {
        self.settings.limiter.hold(wait, status);
    }

    fn outgoing(&self, url: &str, message: &Message) -> Result<Request, NetError> {
        let url = parse(url)?;
        let Message { method, headers, body } = message;
        exchange::request(self.http(&url), method.clone(), url, headers.clone(), body.clone())
    }

    async fn send(
        &self,
        urls: &[String],
        balance: &Balance,
        message: Message,
        listener: &mut dyn Listener,
    ) -> Result<Answer, NetError> {
        // Set when the first attempt is sent: waiting for the limiter does not count.
        let mut first = None;
        let mut backoff = Backoff::new(&self.settings.retry);
        let (mut attempts, mut passed_on, mut last) = (0, 0, None);
        let max_wait = self.settings.limiter.max_wait();
        loop {
            attempts += 1;
            let turn = balance.take(last);
            let server = turn.server;
            last = Some(server);
            let outgoing = self.outgoing(urls.get(server).map_or("", String::as_str), &message)?;
            let mut permit = None;
            let result = exchange::attempt(self, &outgoing, listener, &mut first, &mut permit).await;
            let summary = summary(&result, listener);
            // A request that waits to be retried holds no permit.
            if let Some(permit) = permit {
                permit.end(outcome(&result, &summary, listener.tokens()));
            }
            match &result {
                Ok(_) => turn.answered(),
                Err(NetError::Connect { .. }) => {
                    turn.unreachable();
                    // Nothing was sent: try another server at once, but each one only once.
                    if passed_on + 1 < urls.len() && balance.others(server) {
                        passed_on += 1;
                        continue;
                    }
                }
                Err(_) => {}
            }
            passed_on = 0;
            let is_final = result.as_ref().is_ok_and(|answer| !answer.ok() && listener.is_final(answer));
            let retry = if is_final { Retry::No } else { should_retry(&summary) };
            let wait = match backoff.after(retry, max_wait, self.serves(retry, max_wait)) {
                Next::Again(wait) => wait,
                Next::GiveUp => return finish(result, attempts, first),
                Next::TooLong(wait) | Next::WaitedOut(wait) => {
                    self.hold(wait, status_of(&summary));
                    // A request that is sent only once takes any answer.
                    if self.settings.retry.attempts <= 1 {
                        return finish(result, attempts, first);
                    }
                    return Err(held_off(&outgoing, status_of(&summary), wait.min(FOREVER)));
                }
            };
            drop((turn, result));
            self.rest(wait, retry, &outgoing).await?;
        }
    }

    /// Whether the server answers others meanwhile: within the longest wait, or the shorter one where it names no time.
    fn serves(&self, retry: Retry, max_wait: Duration) -> bool {
        let recent = retry.requested_wait().map_or(self.settings.retry.limit_wait.min(max_wait), |_| max_wait);
        self.settings.limiter.answered_within(recent)
    }

    /// Waits before a request is repeated.
    async fn rest(&self, wait: Duration, retry: Retry, outgoing: &Request) -> Result<(), NetError> {
        let rested = self.settings.limiter.rest(wait, retry.requested_wait().is_some()).await;
        rested.map_err(|HeldOff { status, left }| held_off(outgoing, status, left))
    }

    pub(super) fn settings(&self) -> &ClientSettings {
        &self.settings
    }

    pub(super) fn http(&self, url: &Url) -> &reqwest::Client {
        if is_loopback(url) { &self.near } else { &self.far }
    }
}

/// Whether a URL is on this machine: `localhost`, `127.0.0.0/8` or `::1`.
fn is_loopback(url: &Url) -> bool {
    url.host_str().is_some_and(|host| {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        host.eq_ignore_ascii_case("localhost") || bare.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
    })
}

fn summary(result: &Result<Answer, NetError>, listener: &mut dyn Listener) -> Attempt {
    match result {
        Ok(answer) => {
            let accepted = listener.end(answer);
            let (status, said) =
                listener.reported().map_or((answer.status, None), |(status, words)| (status, Some(words)));
            let in_body = || match said {
                _ if status != TOO_MANY_REQUESTS => None,
                Some(words) => retry::wait_in_words(words),
                None => retry::wait_in_body(&answer.body, jiff::Timestamp::now()),
            };
            Attempt::Answered { status, accepted, asked: answer.retry_after.or_else(in_body).or(answer.limit_ends) }
        }
        Err(error) => Attempt::Failed { passing: error.passing() },
    }
}

/// What an attempt tells the limiter.
fn outcome(result: &Result<Answer, NetError>, attempt: &Attempt, tokens: Option<u64>) -> Outcome {
    match *attempt {
        Attempt::Answered { status: 200..=299, accepted: true, .. } => Outcome::Ok { tokens },
        Attempt::Failed { .. } if matches!(result, Err(NetError::Timeout { .. })) => Outcome::TimedOut,
        Attempt::Answered { status: 200..=299, accepted: false, .. } | Attempt::Failed { passing: true } => {
            Outcome::Failed { retry_after: None }
        }
        Attempt::Answered { status, asked, .. } => Outcome::of_status(status, asked),
        Attempt::Failed { passing: false } => Outcome::Other,
    }
}

/// The status of an answer that asks for a wait.
fn status_of(attempt: &Attempt) -> u16 {
    match *attempt {
        Attempt::Answered { status, .. } => status,
        Attempt::Failed { .. } => TOO_MANY_REQUESTS,
    }
}

fn held_off(outgoing: &Request, status: u16, left: Duration) -> NetError {
    NetError::HeldOff { host: redact::host(outgoing.url()), status, left }
}

fn finish(result: Result<Answer, NetError>, attempts: u32, first: Option<Instant>) -> Result<Answer, NetError> {
    match result {
        Ok(answer) => Ok(Answer { attempts, elapsed: first.map(|at| at.elapsed()).unwrap_or_default(), ..answer }),
        Err(last) if attempts > 1 => Err(NetError::Exhausted { attempts, last: Box::new(last) }),
        Err(error) => Err(error),
    }
}

/// Parses an `http` or `https` URL.
pub(super) fn parse(address: &str) -> Result<Url, NetError> {
    let bad = |reason: String| NetError::BadUrl { url: redact::url(address), reason };
    let url = Url::parse(address).map_err(|e| bad(e.to_string()))?;
    match url.scheme() {
        "http" | "https" => Ok(url),
        other => Err(bad(format!("the scheme is `{}`, not http or https", printable(other, 20)))),
    }
}

fn header_map(headers: &[(&str, &str)]) -> Result<HeaderMap, NetError> {
    let mut map = HeaderMap::with_capacity(headers.len() + 2);
    for &(name, value) in headers {
        let bad = || NetError::BadHeader { name: name.to_owned() };
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?;
        map.append(key, HeaderValue::from_str(value).map_err(|_| bad())?);
    }
    Ok(map)
}

fn secret_header(credential: Credential<'_>) -> Result<(HeaderName, HeaderValue), NetError> {
    let (name, text) = match credential {
        Credential::Bearer(secret) => (AUTHORIZATION, format!("Bearer {}", secret.expose_secret())),
        Credential::Header(name, secret) => {
            let known = HeaderName::from_bytes(name.as_bytes());
            let known = known.map_err(|_| NetError::BadHeader { name: name.to_owned() })?;
            (known, secret.expose_secret().to_owned())
        }
    };
    let mut value = HeaderValue::try_from(text).map_err(|_| NetError::BadHeader { name: name.to_string() })?;
    value.set_sensitive(true);
    Ok((name, value))
}

fn chain(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut next = std::error::Error::source(error);
    while let Some(cause) = next {
        text = format!("{text}: {cause}");
        next = cause.source();
    }
    text
}

/// What a listener wants after an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    More,
    /// Everything that matters has arrived; further events are read if they follow soon.
    Whole,
    /// No more events: the connection is closed.
    Enough,
}

/// Takes the answer to one logical request. After a retry the calls start again with [`Listener::begin`].
pub trait Listener: Send {
    /// Gets the head of an answer, without body. Returns whether to pass the body to [`Listener::event`] rather than keep
    /// it whole.
    fn begin(&mut self, _head: &Answer) -> bool {
        false
    }
    /// Gets the data of the next event.
    fn event(&mut self, _data: &[u8]) -> Heard {
        Heard::More
    }
    /// Gets the complete answer, without body if that was passed as events. Returns whether to accept it rather than
    /// retry.
    fn end(&mut self, answer: &Answer) -> bool;
    /// Whether a failure with this answer will last, although its status is one of those that pass.
    fn is_final(&self, _answer: &Answer) -> bool {
        false
    }
    /// The status and the words of an error that stands in place of an answer, after [`Listener::end`].
    fn reported(&self) -> Option<(u16, &str)> {
        None
    }
    /// Estimated tokens of prompt and answer, before each attempt; 0 if tokens are not limited.
    fn estimate(&self) -> u64 {
        0
    }
    /// Actual tokens of the last answer, if it says so, after [`Listener::end`].
    fn tokens(&self) -> Option<u64> {
        None
    }
}

/// Takes every answer whole.
#[derive(Debug)]
pub struct Keep;

impl Listener for Keep {
    fn end(&mut self, _answer: &Answer) -> bool {
        true
    }
}

/// How long answers may be that reserve no memory, in bytes.
pub(super) const MAX_UNRESERVED: usize = 1 << 20;

/// How much memory the large answers of some clients may take together.
#[derive(Debug)]
pub struct MemoryBudget {
    free: Semaphore,
    mib: u32,
}

/// A part of the budget, free again when its last copy is dropped. All are equal, so that answers are compared without it.
#[derive(Debug, Clone, Default)]
pub struct MemoryPermit(Option<Arc<SemaphorePermit<'static>>>);

impl MemoryBudget {
    pub const fn new(mib: u32) -> Self {
        Self { free: Semaphore::const_new(mib as usize), mib }
    }

    /// Waits for this much memory. All of it is reserved at once, as partial reservations could deadlock.
    pub(super) async fn reserve(&'static self, bytes: usize) -> MemoryPermit {
        let mib = u32::try_from(bytes.div_ceil(1 << 20)).unwrap_or(u32::MAX);
        // Nobody closes the semaphore; were it closed, large answers would merely be unlimited.
        MemoryPermit(self.free.acquire_many(mib.min(self.mib)).await.ok().map(Arc::new))
    }
}

impl MemoryPermit {
    pub(super) fn is_reserved(&self) -> bool {
        self.0.is_some()
    }
}

impl PartialEq for MemoryPermit {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for MemoryPermit {}

#[cfg(test)]
mod tests;
