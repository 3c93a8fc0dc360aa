//! Large bodies: piece by piece into a sink, and taken up again where a connection broke off.
//!
//! A download asks for the rest of the body (`Range`, RFC 9110, section 14) and only of the same version of it
//! (`If-Range`). A server that knows no ranges sends the whole again, and the sink begins anew. The client's `timeout`
//! is the longest silence here, not the longest download.

use super::client::Client;
use super::exchange::{moved, shown};
use super::limit::{HeldOff, Outcome};
use super::retry::{Attempt, Backoff, Retry, retry_after, should_retry};
use super::{NetError, redact};
use reqwest::header::{
    ACCEPT_ENCODING, CONTENT_RANGE, CONTENT_TYPE, ETAG, HeaderMap, HeaderName, HeaderValue, IF_RANGE, LAST_MODIFIED,
    RANGE, RETRY_AFTER,
};
use reqwest::{Method, Request, Response, Url};
use std::io;
use std::time::Duration;

/// Bytes after which an attempt counts as a success, so that a large file may break off more often than a small one.
const PROGRESS: u64 = 1 << 20;

/// Where the body goes. It may hold the beginning of it already.
pub trait Sink: Send {
    /// Bytes that are here and stay here.
    fn position(&self) -> u64;

    /// The version that these bytes are of, as the server named it, where it did.
    fn version(&self) -> Option<String>;

    /// The body follows from this position on: [`Sink::position`], or 0 for the whole anew. `total` is the whole
    /// body's length, where the server says it.
    fn begin(&mut self, position: u64, total: Option<u64>, version: Option<&str>) -> io::Result<()>;

    /// The next piece.
    fn write(&mut self, piece: &[u8]) -> io::Result<()>;
}

/// Why a download failed. What came so far is in the sink.
#[derive(Debug, thiserror::Error)]
pub enum DownloadError {
    /// There was no answer, or it broke off for good.
    #[error(transparent)]
    Net(#[from] NetError),
    /// The server refuses.
    #[error("`{url}` answers with status {status}")]
    Status {
        /// The address, without user part and query.
        url: String,
        /// The status.
        status: u16,
    },
    /// A web page came instead of a file.
    #[error("`{url}` is a web page, not a data file")]
    Page {
        /// The address, without user part and query.
        url: String,
    },
    /// The body is larger than allowed.
    #[error("`{url}` is larger than {limit} bytes")]
    TooLarge {
        /// The address, without user part and query.
        url: String,
        /// The limit in bytes.
        limit: u64,
    },
    /// The sink failed.
    #[error("cannot write what is downloaded: {0}")]
    Write(#[source] io::Error),
}

impl DownloadError {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Net(error) => error.hint(),
            Self::Status { status: 404 | 410, .. } => {
                Some("the file has moved: look for it, and name its folder with --base-url")
            }
            Self::Status { .. } => Some("try again later, or name another place with --base-url"),
            Self::Page { .. } => Some("a log-in or an error page came: open the address in a browser"),
            Self::TooLarge { .. } => Some("is this the right address?"),
            Self::Write(_) => Some("check that the folder may be written and the disk has room"),
        }
    }
}

/// How one attempt ended that did not bring the whole body.
enum Fault {
    Final(DownloadError),
    /// Another attempt may do better.
    Passing(DownloadError, Retry),
    /// What the sink holds is of no use; begin anew at once.
    Anew,
}

impl Client {
    /// Brings the body at `url` into `sink`, `limit` bytes at most. Attempts that fail are repeated as the client's
    /// settings say, each from where the last one ended.
    pub async fn download(&self, url: &str, limit: u64, sink: &mut dyn Sink) -> Result<(), DownloadError> {
        let bad = |reason: String| NetError::BadUrl { url: redact::url(url), reason };
        let address = Url::parse(url).map_err(|e| bad(e.to_string()))?;
        if !matches!(address.scheme(), "http" | "https") {
            return Err(bad("the scheme is not http or https".to_owned()).into());
        }
        let mut backoff = Backoff::new(&self.settings().retry);
        let mut attempts = 0;
        let mut anew = false;
        loop {
            attempts += 1;
            let before = sink.position();
            let fault = match attempt(self, &address, limit, sink).await {
                Ok(()) => return Ok(()),
                Err(fault) => fault,
            };
            if sink.position() >= before.saturating_add(PROGRESS) {
                backoff = Backoff::new(&self.settings().retry);
            }
            let (error, retry) = match fault {
                Fault::Final(error) => return Err(error),
                Fault::Passing(error, retry) => (error, retry),
                Fault::Anew if !anew => {
                    anew = true;
                    sink.begin(0, None, None).map_err(DownloadError::Write)?;
                    continue;
                }
                Fault::Anew => return Err(status(&address, 416)),
            };
            let wait = if retry == Retry::No { None } else { backoff.next() };
            let Some(wait) = wait else { return Err(exhausted(error, attempts)) };
            let wait = if let Retry::NotBefore(least) = retry { wait.max(least) } else { wait };
            tokio::time::sleep(wait).await;
        }
    }
}

fn exhausted(error: DownloadError, attempts: u32) -> DownloadError {
    match error {
        DownloadError::Net(last) if attempts > 1 => NetError::Exhausted { attempts, last: Box::new(last) }.into(),
        error => error,
    }
}

fn status(url: &Url, status: u16) -> DownloadError {
    DownloadError::Status { url: redact::url(url.as_str()), status }
}

impl From<NetError> for Fault {
    fn from(error: NetError) -> Self {
        if error.passing() { Self::Passing(error.into(), Retry::Backoff) } else { Self::Final(error.into()) }
    }
}

async fn attempt(client: &Client, url: &Url, limit: u64, sink: &mut dyn Sink) -> Result<(), Fault> {
    // The permit is held until the last byte: a download is a request in flight.
    let settings = client.settings();
    let permit = settings.limiter.acquire(0, settings.timeout).await;
    let held = |HeldOff { status, left }| NetError::HeldOff { host: redact::host(url), status, left };
    let permit = permit.map_err(held)?;
    let (url, response) = send(client, url, sink).await?;
    let at = sink.position();
    let (position, total) = match response.status().as_u16() {
        200 => (0, response.content_length()),
        206 => match content_range(response.headers()) {
            Some((first, total)) if first == at => (at, total),
            _ => return Err(Fault::Anew),
        },
        // Nothing is left to send where the sink holds all of it.
        416 if at > 0 && unsatisfied_total(response.headers()) == Some(at) => return Ok(()),
        416 if at > 0 => return Err(Fault::Anew),
        code => {
            let wait = text(response.headers(), &RETRY_AFTER).and_then(|v| retry_after(&v, jiff::Timestamp::now()));
            let retry = should_retry(&Attempt::Answered { status: code, accepted: true, retry_after: wait });
            return Err(Fault::Passing(status(&url, code), retry));
        }
    };
    let shown = || redact::url(shown(url.clone()).as_str());
    let kind = text(response.headers(), &CONTENT_TYPE).unwrap_or_default().to_ascii_lowercase();
    if ["text/html", "application/xhtml"].iter().any(|page| kind.starts_with(page)) {
        return Err(Fault::Final(DownloadError::Page { url: shown() }));
    }
    let too_large = || Fault::Final(DownloadError::TooLarge { url: shown(), limit });
    if total.is_some_and(|total| total > limit) {
        return Err(too_large());
    }
    let version = version(response.headers());
    let failed = |error| Fault::Final(DownloadError::Write(error));
    sink.begin(position, total, version.as_deref()).map_err(failed)?;
    pour(client, response, sink, (total, limit), &redact::host(&url), &too_large).await?;
    permit.end(Outcome::Ok { tokens: None });
    Ok(())
}

/// Reads the body to its end.
async fn pour(
    client: &Client,
    mut response: Response,
    sink: &mut dyn Sink,
    (total, limit): (Option<u64>, u64),
    host: &str,
    too_large: &(dyn Fn() -> Fault + Send + Sync),
) -> Result<(), Fault> {
    let silence = client.settings().timeout;
    loop {
        let piece = within(silence, host, response.chunk()).await?;
        let piece = piece.map_err(|e| NetError::from_body(&e, host.to_owned(), silence))?;
        let Some(piece) = piece else { break };
        if sink.position().saturating_add(piece.len() as u64) > limit {
            return Err(too_large());
        }
        sink.write(&piece).map_err(|error| Fault::Final(DownloadError::Write(error)))?;
    }
    match total {
        Some(total) if sink.position() != total => {
            let reason = format!("{} of {total} bytes came", sink.position());
            Err(NetError::Truncated { host: host.to_owned(), reason }.into())
        }
        _ => Ok(()),
    }
}

async fn within<T>(silence: Duration, host: &str, work: impl Future<Output = T>) -> Result<T, NetError> {
    tokio::time::timeout(silence, work).await.map_err(|_| NetError::Timeout { host: host.to_owned(), after: silence })
}

/// Sends the request and follows its redirects.
async fn send(client: &Client, url: &Url, sink: &dyn Sink) -> Result<(Url, Response), Fault> {
    let settings = client.settings();
    let mut url = url.clone();
    for _ in 0..=settings.max_redirects {
        let host = redact::host(&url);
        let mut request = Request::new(Method::GET, url.clone());
        *request.headers_mut() = headers(sink);
        let sent = within(settings.timeout, &host, client.http(&url).execute(request)).await?;
        let response = sent.map_err(|e| NetError::from_send(&e, host, settings.connect_timeout))?;
        match moved(&Method::GET, &url, &response)? {
            None => return Ok((url, response)),
            Some(next) => url = next,
        }
    }
    Err(NetError::Redirects { host: redact::host(&url), limit: settings.max_redirects }.into())
}

fn headers(sink: &dyn Sink) -> HeaderMap {
    let mut headers = HeaderMap::new();
    // Positions count bytes of the file, not of a packed form of it.
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    let at = sink.position();
    if at > 0
        && let Ok(range) = HeaderValue::try_from(format!("bytes={at}-"))
    {
        headers.insert(RANGE, range);
        if let Some(version) = sink.version().and_then(|version| HeaderValue::try_from(version).ok()) {
            headers.insert(IF_RANGE, version);
        }
    }
    headers
}

fn text(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    headers.get(name)?.to_str().ok().map(|value| value.trim().to_owned())
}

/// What `If-Range` may name: a strong tag, or else the time of the last change.
fn version(headers: &HeaderMap) -> Option<String> {
    text(headers, &ETAG).filter(|tag| tag.starts_with('"')).or_else(|| text(headers, &LAST_MODIFIED))
}

/// First byte and whole length of `Content-Range: bytes 5-9/10`.
fn content_range(headers: &HeaderMap) -> Option<(u64, Option<u64>)> {
    let value = text(headers, &CONTENT_RANGE)?;
    let (range, total) = value.strip_prefix("bytes")?.trim().split_once('/')?;
    let (first, _) = range.split_once('-')?;
    Some((first.trim().parse().ok()?, total.trim().parse().ok()))
}

/// Whole length of `Content-Range: bytes */10`.
fn unsatisfied_total(headers: &HeaderMap) -> Option<u64> {
    text(headers, &CONTENT_RANGE)?.strip_prefix("bytes")?.trim().strip_prefix("*/")?.trim().parse().ok()
}

#[cfg(test)]
mod tests;
