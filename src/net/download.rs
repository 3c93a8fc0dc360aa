//! Downloads: a large body is written to a sink, and resumed after a broken connection.
//!
//! A retry requests the rest of the body (`Range`, RFC 9110, section 14) of the same version (`If-Range`). A server without
//! ranges sends the whole body again, and the sink starts over. The client's `timeout` limits the time between two
//! pieces, not the whole download.

use super::client::{Client, HopDeadline, moved, parse};
use super::retry::{Attempt, Backoff, Next, Retry, should_retry};
use super::{NetError, redact, retry};
use reqwest::header::{
    ACCEPT_ENCODING, CONTENT_RANGE, CONTENT_TYPE, ETAG, HeaderMap, HeaderName, HeaderValue, IF_RANGE, LAST_MODIFIED,
    RANGE,
};
use reqwest::{Method, Request, Response, Url};
use std::io;

/// Bytes after which the attempts are counted anew, so that large files get more of them.
const PROGRESS: u64 = 1 << 20;

/// Where the body is written. It may already hold the beginning.
pub trait Sink: Send {
    fn position(&self) -> u64;

    fn version(&self) -> Option<String>;

    /// The body follows from this position: [`Sink::position`], or 0 to start over. `total` is its length, if known.
    fn begin(&mut self, position: u64, total: Option<u64>, version: Option<&str>) -> io::Result<()>;

    fn write(&mut self, piece: &[u8]) -> io::Result<()>;
}

/// Why a download failed. The sink keeps what was received. URLs are shown without user part and query.
#[derive(Debug, thiserror::Error)]
pub enum DownloadError {
    #[error(transparent)]
    Net(#[from] NetError),
    #[error("`{url}` answered with status {status}")]
    Status { url: String, status: u16 },
    #[error("`{url}` is a web page, not a data file")]
    Page { url: String },
    #[error("`{url}` is larger than {limit} bytes")]
    TooLarge { url: String, limit: u64 },
    #[error("cannot write the download: {0}")]
    Write(#[source] io::Error),
}

impl DownloadError {
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Net(error) => error.hint(),
            Self::Status { status: 404 | 410, .. } => {
                Some("the file may have moved: find it, and name its folder with --base-url")
            }
            Self::Status { .. } => Some("try again later, or name another server with --base-url"),
            Self::Page { .. } => Some("this may be a log-in or error page: open the URL in a browser"),
            Self::TooLarge { .. } => Some("check the URL"),
            Self::Write(_) => Some("check that the folder is writable and the disk has space"),
        }
    }
}

enum Fault {
    Final(DownloadError),
    Passing(DownloadError, Retry),
    /// The sink holds something else: start over at once.
    StartOver,
}

impl Client {
    pub async fn download(&self, url: &str, limit: u64, sink: &mut dyn Sink) -> Result<(), DownloadError> {
        let address = parse(url)?;
        let mut backoff = Backoff::new(&self.settings().retry);
        let mut attempts = 0;
        let mut started_over = false;
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
                Fault::StartOver if !started_over => {
                    started_over = true;
                    sink.begin(0, None, None).map_err(DownloadError::Write)?;
                    continue;
                }
                Fault::StartOver => return Err(status(&address, 416)),
            };
            let Next::Again(wait) = backoff.after(retry, self.settings().limiter.max_wait(), false) else {
                return Err(exhausted(error, attempts));
            };
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
        if error.passing() { Self::Passing(error.into(), Retry::default()) } else { Self::Final(error.into()) }
    }
}

async fn attempt(client: &Client, url: &Url, limit: u64, sink: &mut dyn Sink) -> Result<(), Fault> {
    // Held until the last byte.
    let settings = client.settings();
    let permit = settings.limiter.acquire(0, settings.timeout).await;
    let permit = permit.map_err(|held| held.at(redact::host(url)))?;
    let (url, response) = send(client, url, sink).await?;
    let at = sink.position();
    let (position, total) = match response.status().as_u16() {
        200 => (0, response.content_length()),
        206 => match content_range(response.headers()) {
            Some((first, total)) if first == at => (at, total),
            _ => return Err(Fault::StartOver),
        },
        // The sink already holds the whole body.
        416 if at > 0 && unsatisfied_total(response.headers()) == Some(at) => return Ok(()),
        416 if at > 0 => return Err(Fault::StartOver),
        code => {
            let asked = retry::wait_in_headers(response.headers(), jiff::Timestamp::now());
            let error = status(&url, code);
            let retry = should_retry(&Attempt::answered(code, asked));
            return Err(match retry {
                Some(retry) => Fault::Passing(error, retry),
                None => Fault::Final(error),
            });
        }
    };
    let shown = || redact::url(url.as_str());
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
    permit.end(Attempt::answered(200, None));
    Ok(())
}

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
        let deadline = HopDeadline::new(host, silence, silence);
        let Some(piece) = deadline.piece(&mut response).await? else { break };
        if sink.position().saturating_add(piece.len() as u64) > limit {
            return Err(too_large());
        }
        sink.write(&piece).map_err(|error| Fault::Final(DownloadError::Write(error)))?;
    }
    match total {
        Some(total) if sink.position() != total => {
            let reason = format!("received {} of {total} bytes", sink.position());
            Err(NetError::Truncated { host: host.to_owned(), reason }.into())
        }
        _ => Ok(()),
    }
}

async fn send(client: &Client, url: &Url, sink: &dyn Sink) -> Result<(Url, Response), Fault> {
    let settings = client.settings();
    let mut url = url.clone();
    for _ in 0..=settings.max_redirects {
        let host = redact::host(&url);
        let mut request = Request::new(Method::GET, url.clone());
        *request.headers_mut() = headers(sink);
        let deadline = HopDeadline::new(&host, settings.timeout, settings.timeout);
        let sent = deadline.within(client.http(&url).execute(request)).await?;
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
    // Positions count bytes of the uncompressed file.
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

/// The version for `If-Range`: a strong `ETag`, or else `Last-Modified`.
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
