//! The client: settings, and the loop of attempts that makes one logical request.

use super::balance::Balance;
use super::exchange::{self, Outgoing};
use super::limit::{Limiter, Outcome, Settings};
use super::listen::{Keep, Listener};
use super::retry::{Attempt, Backoff, Retry, RetrySettings, should_retry};
use super::{NetError, redact};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Url};
use secrecy::{ExposeSecret as _, SecretString};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Says whether an answer is one that the caller can use; a refused one is retried like a broken one.
pub type Accept<'a> = &'a (dyn Fn(&Answer) -> bool + Send + Sync);

/// How a client behaves. Made for one server: its limits are counted over all of the client's requests.
#[derive(Debug, Clone)]
pub struct ClientSettings {
    /// What the program calls itself.
    pub user_agent: String,
    /// Longest time to make a connection.
    pub connect_timeout: Duration,
    /// Longest time from sending an attempt to the last byte of its answer, redirects included.
    /// Waiting for a slot, for the rate limit or for a retry does not count. Where a [`Listener`] hears the answer event
    /// by event, the longest wait for the next event.
    pub timeout: Duration,
    /// Largest body, in bytes after decompression. Of a stream of events, the largest event; the whole of it may be
    /// 16 times as large.
    pub max_body: usize,
    /// Redirects that are followed; at 0 the redirect itself is the answer.
    pub max_redirects: usize,
    /// What is tried again.
    pub retry: RetrySettings,
    /// Where requests wait for their turn, retries and redirects included. Clients of one server share it.
    pub limiter: Arc<Limiter>,
}

impl Default for ClientSettings {
    /// `wikitrail/VERSION`, 10 s to connect, 60 s in all, 16 MiB, 5 redirects, 16 at once, no limit a minute; a
    /// `Retry-After` binds all requests.
    fn default() -> Self {
        Self {
            user_agent: concat!("wikitrail/", env!("CARGO_PKG_VERSION")).to_owned(),
            connect_timeout: Duration::from_secs(10),
            timeout: Duration::from_mins(1),
            max_body: 16 << 20,
            max_redirects: 5,
            retry: RetrySettings::default(),
            limiter: Arc::new(Limiter::new(&Settings { pause_all: true, ..Settings::fixed(16) })),
        }
    }
}

/// A whole answer, whatever its status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// The `Content-Type` header as it was sent.
    pub content_type: Option<String>,
    /// The wait that the server asks for.
    pub retry_after: Option<Duration>,
    /// The address that answered, after redirects, without user part.
    pub url: String,
    /// The addresses that redirected, in order, the one asked for first; empty without a redirect.
    pub redirects: Vec<String>,
    /// The body, decompressed.
    pub body: Vec<u8>,
    /// How often the request was sent, 1 or more.
    pub attempts: u32,
    /// Time from sending the first attempt to the last byte, waiting between attempts included.
    pub elapsed: Duration,
}

impl Answer {
    /// Whether the status is one of the 2xx.
    pub fn ok(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// A secret, and how it travels.
#[derive(Debug, Clone, Copy)]
pub enum Credential<'a> {
    /// As bearer token.
    Bearer(&'a SecretString),
    /// As it is, in the header of this name.
    Header(&'static str, &'a SecretString),
}

/// What is sent, wherever it goes.
struct Message {
    method: Method,
    headers: HeaderMap,
    body: Option<Vec<u8>>,
}

/// An HTTP client for one server, or for several that do the same work. Share it: connections are kept and used again.
///
/// A `Retry-After` with status 429 or 503 binds all of its requests, those that are under way to be sent included. One
/// beyond [`LONGEST_RETRY_AFTER`](super::retry::LONGEST_RETRY_AFTER) is not waited for: until it has passed, every
/// request fails with [`NetError::HeldOff`], and nothing is sent.
///
/// The user part of an address (`http://user:password@host`) is sent as basic authentication, to that host only, and
/// appears in no answer and no error.
#[derive(Debug)]
pub struct Client {
    settings: ClientSettings,
    /// For hosts beyond this machine; goes through the proxy that the environment names.
    far: reqwest::Client,
    /// For this machine, which no proxy can reach.
    near: reqwest::Client,
}

impl Client {
    /// Builds a client. Sends nothing.
    pub fn new(settings: ClientSettings) -> Result<Self, NetError> {
        // Refused where the program has chosen a provider already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let build = |builder: reqwest::ClientBuilder| {
            builder
                .user_agent(settings.user_agent.as_str())
                .connect_timeout(settings.connect_timeout)
                .tcp_nodelay(true)
                // Redirects are followed by hand: they are listed, and never take a key to another host.
                .redirect(reqwest::redirect::Policy::none())
                // Attempts are made here, where each is counted.
                .retry(reqwest::retry::never())
                .build()
                .map_err(|e| NetError::Setup { reason: redact::printable(&chain(&e), 200) })
        };
        let far = build(reqwest::Client::builder())?;
        let near = build(reqwest::Client::builder().no_proxy())?;
        Ok(Self { settings, far, near })
    }

    /// Asks for `url`. One logical request, retried as the settings say; any final status is an `Ok`.
    pub async fn get(&self, url: &str, headers: &[(&'static str, &str)]) -> Result<Answer, NetError> {
        self.get_accepting(url, headers, &|_| true).await
    }

    /// [`Client::get`] that also retries answers which `accept` refuses; the last one is returned even so.
    pub async fn get_accepting(
        &self,
        url: &str,
        headers: &[(&'static str, &str)],
        accept: Accept<'_>,
    ) -> Result<Answer, NetError> {
        let message = Message { method: Method::GET, headers: header_map(headers)?, body: None };
        self.send(&[url.to_owned()], &Balance::new(1), message, &mut Keep(accept)).await
    }

    /// Posts a JSON `body`, with `secret` as bearer token where there is one. Retried like [`Client::get`], and
    /// where `accept` refuses the answer; the last answer is returned even so.
    pub async fn post_json(
        &self,
        url: &str,
        headers: &[(&'static str, &str)],
        secret: Option<&SecretString>,
        body: Vec<u8>,
        accept: Accept<'_>,
    ) -> Result<Answer, NetError> {
        let credential = secret.map(Credential::Bearer);
        self.post_json_to(&[url.to_owned()], &Balance::new(1), headers, credential, body, &mut Keep(accept)).await
    }

    /// [`Client::post_json`] to one of several servers that do the same work, each attempt to the one with the least in
    /// flight by `balance`, which counts as many servers. The answer is one that `listener` may hear event by event, as
    /// it comes; it also says whether the answer can be used.
    pub async fn post_json_to(
        &self,
        urls: &[String],
        balance: &Balance,
        headers: &[(&'static str, &str)],
        credential: Option<Credential<'_>>,
        body: Vec<u8>,
        listener: &mut dyn Listener,
    ) -> Result<Answer, NetError> {
        let mut map = header_map(headers)?;
        map.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(credential) = credential {
            let (name, value) = secret_header(credential)?;
            map.insert(name, value);
        }
        self.send(urls, balance, Message { method: Method::POST, headers: map, body: Some(body) }, listener).await
    }

    /// Sends nothing for `wait`, for servers that ask for it in other ways than by status and header.
    pub(crate) fn hold(&self, wait: Duration, status: u16) {
        self.settings.limiter.hold(wait, status);
    }

    fn outgoing(&self, url: &str, message: &Message) -> Result<Outgoing, NetError> {
        let url = parse(url)?;
        let Message { method, headers, body } = message;
        Outgoing::new(self.http(&url), method.clone(), url, headers.clone(), body.clone())
    }

    async fn send(
        &self,
        urls: &[String],
        balance: &Balance,
        message: Message,
        listener: &mut dyn Listener,
    ) -> Result<Answer, NetError> {
        // Waiting for the first slot is our own doing and says nothing about the server.
        let mut first = None;
        let mut backoff = Backoff::new(&self.settings.retry);
        let mut attempts = 0;
        let mut passed_on = 0;
        let mut last = None;
        loop {
            attempts += 1;
            let turn = balance.take(last);
            let server = turn.server;
            last = Some(server);
            let outgoing = self.outgoing(urls.get(server).map_or("", String::as_str), &message)?;
            let (result, permit) = exchange::attempt(self, &outgoing, listener, &mut first).await;
            let summary = summary(&result, listener);
            // Before it is tried again: whoever waits to try again holds no place.
            if let Some(permit) = permit {
                permit.end(outcome(&result, &summary, listener.tokens()));
            }
            match &result {
                Ok(_) => turn.answered(),
                Err(NetError::Connect { .. }) => {
                    turn.unreachable();
                    // Nothing was sent, so another server may have it at once, but not for ever.
                    if passed_on + 1 < urls.len() && balance.others(server) {
                        passed_on += 1;
                        continue;
                    }
                }
                Err(_) => {}
            }
            passed_on = 0;
            let retry = should_retry(&summary);
            let wait = if retry == Retry::No { None } else { backoff.next() };
            let Some(wait) = wait else { return finish(result, attempts, first) };
            let wait = if let Retry::NotBefore(least) = retry { wait.max(least) } else { wait };
            drop(turn);
            tokio::time::sleep(wait).await;
        }
    }

    pub(super) fn settings(&self) -> &ClientSettings {
        &self.settings
    }

    pub(super) fn http(&self, url: &Url) -> &reqwest::Client {
        if is_loopback(url) { &self.near } else { &self.far }
    }
}

/// Whether an address names this machine: `localhost`, `127.0.0.0/8` or `::1`.
pub(super) fn is_loopback(url: &Url) -> bool {
    url.host_str().is_some_and(|host| {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        host.eq_ignore_ascii_case("localhost") || bare.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
    })
}

fn summary(result: &Result<Answer, NetError>, listener: &mut dyn Listener) -> Attempt {
    match result {
        Ok(answer) => {
            Attempt::Answered { status: answer.status, accepted: listener.end(answer), retry_after: answer.retry_after }
        }
        Err(error) => Attempt::Failed { passing: error.passing() },
    }
}

/// What an attempt says about how much the server bears.
fn outcome(result: &Result<Answer, NetError>, attempt: &Attempt, tokens: Option<u64>) -> Outcome {
    match *attempt {
        Attempt::Answered { status: 200..=299, accepted: true, .. } => Outcome::Ok { tokens },
        Attempt::Failed { .. } if matches!(result, Err(NetError::Timeout { .. })) => Outcome::TimedOut,
        Attempt::Answered { status: 200..=299, accepted: false, .. } | Attempt::Failed { passing: true } => {
            Outcome::Failed { retry_after: None }
        }
        Attempt::Answered { status, retry_after, .. } => Outcome::of_status(status, retry_after),
        Attempt::Failed { passing: false } => Outcome::Other,
    }
}

fn finish(result: Result<Answer, NetError>, attempts: u32, first: Option<Instant>) -> Result<Answer, NetError> {
    match result {
        Ok(answer) => Ok(Answer { attempts, elapsed: first.map(|at| at.elapsed()).unwrap_or_default(), ..answer }),
        Err(last) if attempts > 1 => Err(NetError::Exhausted { attempts, last: Box::new(last) }),
        Err(error) => Err(error),
    }
}

fn parse(address: &str) -> Result<Url, NetError> {
    let bad = |reason: String| NetError::BadUrl { url: redact::url(address), reason };
    let url = Url::parse(address).map_err(|e| bad(e.to_string()))?;
    match url.scheme() {
        "http" | "https" => Ok(url),
        other => Err(bad(format!("the scheme is `{}`, not http or https", redact::printable(other, 20)))),
    }
}

fn header_map(headers: &[(&'static str, &str)]) -> Result<HeaderMap, NetError> {
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

#[cfg(test)]
mod tests;
