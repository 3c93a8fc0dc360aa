//! The client: its settings and memory budget, the retry loop of a logical request, and how callers take an answer: whole,
//! or event by event as it arrives.

use super::NetError;
use super::balance::Balance;
use super::events::Events;
use super::limit::{HeldOff, Limiter, Permit, Settings};
use super::redact::{self, SecretSet, mask};
use super::retry::{self, Attempt, Backoff, FOREVER, Next, Retry, RetrySettings, TOO_MANY_REQUESTS, should_retry};
use crate::base::text::printable;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Body, Method, Request, Response, StatusCode, Url};
use secrecy::{ExposeSecret as _, SecretString};
use std::net::IpAddr;
use std::ops::Deref;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout_at;

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

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answer {
    pub status: u16,
    pub content_type: Option<String>,
    pub retry_after: Option<Duration>,
    /// When the limit ends, by the headers of an answer with status 429.
    pub limit_ends: Option<Duration>,
    /// The URL that answered, after redirects, without user part.
    pub url: String,
    /// The URLs that redirected, in order, starting with the requested one.
    pub redirects: Vec<String>,
    pub body: Vec<u8>,
    /// Its part of the client's memory budget; to be kept as long as the body or a copy of it.
    pub memory: MemoryPermit,
    /// How often the request was sent, 1 or more.
    pub attempts: u32,
    /// Time from sending the first attempt to the last byte, including the waits between attempts.
    pub elapsed: Duration,
}

impl Answer {
    pub fn ok(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Whether the server refuses for its key, its account or its address, which another server may not.
    pub(crate) fn is_refused(&self) -> bool {
        (401..=404).contains(&self.status)
    }
}

#[derive(Debug, Clone, Copy)]
pub enum Credential<'a> {
    Bearer(&'a SecretString),
    Header(&'a str, &'a SecretString),
}

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

    /// Posts a JSON `body` to the server that `balance` chooses for each attempt; the last answer is returned anyway.
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

    /// A request, cheap to repeat as copies share its body. The user part of its URL (`http://user:password@host`) is removed
    /// and sent as basic authentication, unless the headers contain another.
    fn outgoing(&self, url: &str, message: &Message) -> Result<Request, NetError> {
        let url = parse(url)?;
        let host = redact::host(&url);
        let Message { method, headers, body } = message;
        let request = self.http(&url).request(method.clone(), url).headers(headers.clone()).build();
        let mut request =
            request.map_err(|_| NetError::BadUrl { url: host, reason: "it is too long or malformed".to_owned() })?;
        // The library keeps a user part that is not UTF-8.
        redact::without_user(request.url_mut());
        *request.body_mut() = body.clone().map(Body::from);
        Ok(request)
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
            let turn = balance.take(last, Instant::now());
            let server = turn.server;
            last = Some(server);
            let outgoing = self.outgoing(urls.get(server).map_or("", String::as_str), &message)?;
            let mut permit = None;
            let result = attempt(self, &outgoing, listener, &mut first, &mut permit).await;
            let summary = summary(&result, listener);
            // A request that waits to be retried holds no permit.
            if let Some(permit) = permit {
                permit.end(summary);
            }
            match &result {
                Ok(answer) if !answer.is_refused() => turn.answered(),
                Ok(_) | Err(NetError::Connect { .. } | NetError::Tls { .. }) => {
                    turn.rests(Instant::now());
                    // Nothing was done: try another server at once, but each one only once.
                    if passed_on + 1 < urls.len() && balance.others(server) {
                        passed_on += 1;
                        continue;
                    }
                }
                Err(_) => {}
            }
            passed_on = 0;
            let is_final = result.as_ref().is_ok_and(|answer| !answer.ok() && listener.is_final(answer));
            let retry = should_retry(&summary).filter(|_| !is_final);
            let Some(retry) = retry else { return finish(result, attempts, first) };
            let wait = match backoff.after(retry, max_wait, self.serves(retry, max_wait)) {
                Next::Again(wait) => wait,
                Next::GiveUp => return finish(result, attempts, first),
                Next::TooLong(wait) | Next::WaitedOut(wait) => {
                    let status =
                        if let Attempt::Answered { status, .. } = summary { status } else { TOO_MANY_REQUESTS };
                    self.hold(wait, status);
                    // A request that is sent only once takes any answer.
                    if self.settings.retry.attempts <= 1 {
                        return finish(result, attempts, first);
                    }
                    return Err(HeldOff { status, left: wait.min(FOREVER) }.at(redact::host(outgoing.url())));
                }
            };
            drop((turn, result));
            self.rest(wait, retry, &outgoing).await?;
        }
    }

    /// Whether the server answers others meanwhile: within the longest wait, or the shorter one where it names no time.
    fn serves(&self, retry: Retry, max_wait: Duration) -> bool {
        let recent = retry.asked.map_or(self.settings.retry.limit_wait.min(max_wait), |_| max_wait);
        self.settings.limiter.answered_within(recent)
    }

    async fn rest(&self, wait: Duration, retry: Retry, outgoing: &Request) -> Result<(), NetError> {
        let rested = self.settings.limiter.rest(wait, retry.asked.is_some()).await;
        rested.map_err(|held| held.at(redact::host(outgoing.url())))
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
        host.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
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
            let asked = answer.retry_after.or_else(in_body).or(answer.limit_ends);
            Attempt::Answered { status, accepted, asked, tokens: listener.tokens() }
        }
        Err(NetError::Timeout { .. }) => Attempt::TimedOut,
        Err(error) if error.passing() => Attempt::Broken,
        Err(_) => Attempt::Other,
    }
}

fn finish(result: Result<Answer, NetError>, attempts: u32, first: Option<Instant>) -> Result<Answer, NetError> {
    match result {
        Ok(answer) => Ok(Answer { attempts, elapsed: first.map(|at| at.elapsed()).unwrap_or_default(), ..answer }),
        Err(last) if attempts > 1 => Err(NetError::Exhausted { attempts, last: Box::new(last) }),
        Err(error) => Err(error),
    }
}

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
    let causes = std::iter::successors(Some(error as &dyn std::error::Error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

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
    /// Gets the head of an answer. Returns whether to pass the body to [`Listener::event`] rather than keep it whole.
    fn begin(&mut self, _head: &Answer) -> bool {
        false
    }
    fn event(&mut self, _data: &[u8]) -> Heard {
        Heard::More
    }
    /// Gets the answer, without body if that was passed as events. Returns whether to accept it rather than retry.
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

impl PartialEq for MemoryPermit {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for MemoryPermit {}

impl SecretSet {
    pub fn out_of_error(&self, error: NetError) -> NetError {
        self.0.iter().fold(error, NetError::without)
    }

    pub(crate) fn out_of_result(&self, result: Result<Answer, NetError>) -> Result<Answer, NetError> {
        result.map(|answer| self.out_of_answer(answer)).map_err(|error| self.out_of_error(error))
    }

    pub fn out_of_answer(&self, mut answer: Answer) -> Answer {
        for secret in self.all() {
            mask(&mut answer.body, secret);
            for text in answer.redirects.iter_mut().chain([&mut answer.url]).chain(&mut answer.content_type) {
                let mut bytes = std::mem::take(text).into_bytes();
                mask(&mut bytes, secret);
                *text = String::from_utf8_lossy(&bytes).into_owned();
            }
        }
        answer
    }
}

/// How much larger than a body an event stream may be: each event wraps a few characters in hundreds.
const STREAM_FACTOR: usize = 16;
/// How long to wait for events after the last one that matters.
const AFTERWARDS: Duration = Duration::from_secs(2);

/// A copy of a request for `url`, without credentials if that is another origin.
fn copy(request: &Request, url: &Url) -> Result<Request, NetError> {
    // Fails only for streamed bodies, which are not used.
    let copy = request.try_clone();
    let mut copy = copy.ok_or_else(|| NetError::Setup { reason: "the request cannot be repeated".to_owned() })?;
    if url.origin() != request.url().origin() {
        let headers = copy.headers_mut();
        let secret = |(name, value): (&HeaderName, &HeaderValue)| value.is_sensitive().then(|| name.clone());
        let secrets: Vec<HeaderName> = headers.iter().filter_map(secret).chain([AUTHORIZATION]).collect();
        for name in secrets {
            headers.remove(name);
        }
    }
    *copy.url_mut() = url.clone();
    Ok(copy)
}

/// Sends the request once and follows redirects. Sets `first`, once, to the time of sending, and `permit` to that of
/// the last request sent, for the caller to end.
pub(super) async fn attempt<'a>(
    client: &'a Client,
    outgoing: &Request,
    listener: &mut dyn Listener,
    first: &mut Option<Instant>,
    permit: &mut Option<Permit<'a>>,
) -> Result<Answer, NetError> {
    let settings = client.settings();
    let mut url = outgoing.url().clone();
    let mut redirects = Vec::new();
    let mut left = settings.timeout;
    loop {
        let host = redact::host(&url);
        let acquired = settings.limiter.acquire(listener.estimate(), settings.timeout).await;
        let held_permit = permit.insert(acquired.map_err(|held| held.at(host.clone()))?);
        let started = Instant::now();
        first.get_or_insert(started);
        let mut deadline = HopDeadline::new(&host, left, settings.timeout);
        let hop = hop(client, copy(outgoing, &url)?, &mut deadline, redirects.len(), listener).await;
        held_permit.heard(deadline.longest_silence());
        match hop? {
            Hop::Arrived(answer) => return Ok(Answer { redirects, ..answer }),
            Hop::Moved(next) => {
                if let Some(permit) = permit.take() {
                    permit.end(Attempt::Answered { status: 200, accepted: true, asked: None, tokens: Some(0) });
                }
                redirects.push(url.into());
                url = next;
                left = left.saturating_sub(started.elapsed());
            }
        }
    }
}

enum Hop {
    Arrived(Answer),
    Moved(Url),
}

pub(super) struct HopDeadline<'a> {
    host: &'a str,
    until: tokio::time::Instant,
    allowed: Duration,
    last_heard: Instant,
    longest: Duration,
}

impl<'a> HopDeadline<'a> {
    pub(super) fn new(host: &'a str, left: Duration, allowed: Duration) -> Self {
        let until = tokio::time::Instant::now() + left;
        Self { host, until, allowed, last_heard: Instant::now(), longest: Duration::ZERO }
    }

    pub(super) async fn within<T>(&self, work: impl Future<Output = T>) -> Result<T, NetError> {
        let late = |_| NetError::Timeout { host: self.host.to_owned(), after: self.allowed };
        timeout_at(self.until, work).await.map_err(late)
    }

    pub(super) async fn piece(
        &self,
        response: &mut Response,
    ) -> Result<Option<impl Deref<Target = [u8]> + use<>>, NetError> {
        let piece = self.within(response.chunk()).await?;
        piece.map_err(|e| NetError::from_body(&e, self.host.to_owned(), self.allowed))
    }

    /// Notes that the server said something. The limit stays: a server that drips must end too.
    fn heard(&mut self) {
        self.longest = self.longest_silence();
        self.last_heard = Instant::now();
    }

    /// Does work that the server does not wait for: its time does not count.
    async fn pause<T>(&mut self, work: impl Future<Output = T>) -> T {
        let (begun, silence) = (Instant::now(), self.last_heard.elapsed());
        let done = work.await;
        self.until += begun.elapsed();
        self.last_heard = Instant::now().checked_sub(silence).unwrap_or(self.last_heard);
        done
    }

    fn shorten(&mut self, left: Duration) {
        self.until = self.until.min(tokio::time::Instant::now() + left);
    }

    fn longest_silence(&self) -> Duration {
        self.longest.max(self.last_heard.elapsed())
    }
}

async fn hop(
    client: &Client,
    request: Request,
    deadline: &mut HopDeadline<'_>,
    hops: usize,
    listener: &mut dyn Listener,
) -> Result<Hop, NetError> {
    let settings = client.settings();
    let host = deadline.host;
    let method = request.method().clone();
    let url = request.url().clone();
    let sent = deadline.within(client.http(&url).execute(request)).await?;
    let response = sent.map_err(|e| NetError::from_send(&e, host.to_owned(), settings.connect_timeout))?;
    if settings.max_redirects > 0
        && let Some(next) = moved(&method, &url, &response)?
    {
        if hops >= settings.max_redirects {
            return Err(NetError::Redirects { host: host.to_owned(), limit: settings.max_redirects });
        }
        return Ok(Hop::Moved(next));
    }
    let headers = response.headers();
    let text = |name| headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let now = jiff::Timestamp::now();
    let answer = Answer {
        status: response.status().as_u16(),
        content_type: text(CONTENT_TYPE),
        retry_after: retry::wait_in_headers(headers, now),
        limit_ends: retry::wait_until_reset(headers, now).filter(|_| response.status().as_u16() == TOO_MANY_REQUESTS),
        url: url.into(),
        attempts: 1,
        ..Answer::default()
    };
    let (body, memory) = if listener.begin(&answer) {
        pass_events(response, deadline, settings.max_body, listener).await?;
        (Vec::new(), MemoryPermit::default())
    } else {
        body(response, deadline, settings).await?
    };
    Ok(Hop::Arrived(Answer { body, memory, ..answer }))
}

/// The target of a redirect. A POST is redirected only by statuses that keep the method (307, 308).
pub(super) fn moved(method: &Method, from: &Url, response: &Response) -> Result<Option<Url>, NetError> {
    let follow = match response.status() {
        StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT => true,
        StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND | StatusCode::SEE_OTHER => *method == Method::GET,
        _ => false,
    };
    let Some(location) = response.headers().get(LOCATION).filter(|_| follow) else { return Ok(None) };
    let location = String::from_utf8_lossy(location.as_bytes());
    let bad = |reason: String| NetError::BadUrl { url: redact::url(&location), reason };
    let mut next = from.join(&location).map_err(|e| bad(format!("redirect from `{}`: {e}", redact::host(from))))?;
    // A server must not choose our credentials.
    redact::without_user(&mut next);
    if !matches!(next.scheme(), "http" | "https") {
        return Err(bad(format!("redirect from `{}` leads to another scheme", redact::host(from))));
    }
    Ok(Some(next))
}

/// Reads the body in pieces, so that no huge or highly compressed one fills the memory; a long one waits for memory.
async fn body(
    mut response: Response,
    deadline: &mut HopDeadline<'_>,
    settings: &ClientSettings,
) -> Result<(Vec<u8>, MemoryPermit), NetError> {
    let limit = settings.max_body;
    let too_large = || NetError::TooLarge { host: deadline.host.to_owned(), limit };
    // Absent for a compressed body, so this is the decoded length.
    let announced = usize::try_from(response.content_length().unwrap_or(0)).unwrap_or(usize::MAX);
    if announced > limit {
        return Err(too_large());
    }
    let mut body = Vec::with_capacity(announced.min(MAX_UNRESERVED));
    let mut memory = MemoryPermit::default();
    while let Some(piece) = deadline.piece(&mut response).await? {
        if body.len() + piece.len() > limit {
            return Err(too_large());
        }
        if let Some(budget) = settings.memory
            && body.len() + piece.len() > MAX_UNRESERVED
            && memory.0.is_none()
        {
            let most = if announced > 0 { announced } else { limit };
            memory = deadline.pause(budget.reserve(most)).await;
        }
        body.extend_from_slice(&piece);
    }
    Ok((body, memory))
}

/// Passes the events of the body to the listener as they arrive. Neither they nor comments, which servers send to keep
/// the connection open, extend the time limit.
async fn pass_events(
    mut response: Response,
    deadline: &mut HopDeadline<'_>,
    limit: usize,
    listener: &mut dyn Listener,
) -> Result<(), NetError> {
    let mut events = Events::default();
    let (mut bytes, mut whole) = (0_usize, false);
    loop {
        let piece = match deadline.piece(&mut response).await {
            // Everything that matters has arrived.
            Ok(None) | Err(_) if whole => return Ok(()),
            piece => piece?,
        };
        let mut heard = None;
        let mut each = |data: &[u8]| {
            heard = Some(listener.event(data));
            heard != Some(Heard::Enough)
        };
        let Some(piece) = piece else {
            events.finish(&mut each);
            return Ok(());
        };
        bytes = bytes.saturating_add(piece.len());
        events.push(&piece, &mut each);
        match heard {
            Some(Heard::Enough) => return Ok(()),
            Some(Heard::More) => deadline.heard(),
            Some(Heard::Whole) if !whole => {
                whole = true;
                deadline.heard();
                deadline.shorten(AFTERWARDS);
            }
            Some(Heard::Whole) | None => {}
        }
        if events.held() > limit || bytes > limit.saturating_mul(STREAM_FACTOR) {
            return Err(NetError::TooLarge { host: deadline.host.to_owned(), limit });
        }
    }
}

#[cfg(test)]
mod tests;
