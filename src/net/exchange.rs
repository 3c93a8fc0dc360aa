//! One attempt: send, follow redirects, read the body under its cap.

use super::client::{Answer, Client};
use super::rate::Refused;
use super::retry::retry_after;
use super::{NetError, redact};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, LOCATION, RETRY_AFTER};
use reqwest::{Body, Method, Request, Response, StatusCode, Url};
use std::time::{Duration, Instant};

/// Room made for a body before it comes; a server that lies about its length costs no more than this.
const FIRST_ROOM: usize = 1 << 20;

/// A request that can be sent again at no cost: its body is shared between the copies.
pub(super) struct Outgoing {
    request: Request,
}

impl Outgoing {
    /// A request for `url`; a user part of it (`http://user:password@host`) goes along as basic authentication unless
    /// `headers` hold another, and is nowhere else from here on.
    pub(super) fn new(
        http: &reqwest::Client,
        method: Method,
        url: Url,
        headers: HeaderMap,
        body: Option<Vec<u8>>,
    ) -> Result<Self, NetError> {
        let host = redact::host(&url);
        let request = http.request(method, url).headers(headers).build();
        let mut request =
            request.map_err(|_| NetError::BadUrl { url: host, reason: "no request can be made of it".to_owned() })?;
        // The library leaves a user part in place whose name is no text.
        redact::without_user(request.url_mut());
        *request.body_mut() = body.map(Body::from);
        Ok(Self { request })
    }

    /// A copy for `url`. The key, or the user part, stays at the host that it is meant for.
    fn to(&self, url: &Url) -> Result<Request, NetError> {
        // Only streamed bodies cannot be copied, and none is made here.
        let copy = self.request.try_clone();
        let mut copy = copy.ok_or_else(|| NetError::Setup { reason: "the request cannot be repeated".to_owned() })?;
        if url.origin() != self.request.url().origin() {
            copy.headers_mut().remove(AUTHORIZATION);
        }
        *copy.url_mut() = url.clone();
        Ok(copy)
    }
}

/// Sends the request once and follows its redirects; notes in `first` when it was sent, unless that is noted already.
pub(super) async fn attempt(
    client: &Client,
    outgoing: &Outgoing,
    first: &mut Option<Instant>,
) -> Result<Answer, NetError> {
    let settings = client.settings();
    let mut url = outgoing.request.url().clone();
    let mut redirects = Vec::new();
    let mut left = settings.timeout;
    loop {
        let host = redact::host(&url);
        let entered = client.gate().enter().await;
        let slot =
            entered.map_err(|Refused { status, left }| NetError::HeldOff { host: host.clone(), status, left })?;
        let started = Instant::now();
        first.get_or_insert(started);
        let once = hop(client, outgoing.to(&url)?, &host, redirects.len());
        let Ok(result) = tokio::time::timeout(left, once).await else {
            return Err(NetError::Timeout { host, after: settings.timeout });
        };
        // Before the slot is free: whoever waits for it must know.
        if let Ok(Hop::Arrived(Answer { status: status @ (429 | 503), retry_after: Some(wait), .. })) = &result
            && settings.hold_all
        {
            client.gate().hold(*wait, *status);
        }
        drop(slot);
        match result? {
            Hop::Arrived(answer) => return Ok(Answer { redirects, ..answer }),
            Hop::Moved(next) => {
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

async fn hop(client: &Client, request: Request, host: &str, hops: usize) -> Result<Hop, NetError> {
    let settings = client.settings();
    let method = request.method().clone();
    let url = request.url().clone();
    let sent = client.http(&url).execute(request).await;
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
    let answer = Answer {
        status: response.status().as_u16(),
        content_type: text(CONTENT_TYPE),
        retry_after: text(RETRY_AFTER).and_then(|value| retry_after(&value, jiff::Timestamp::now())),
        url: url.into(),
        redirects: Vec::new(),
        body: Vec::new(),
        attempts: 1,
        elapsed: Duration::ZERO,
    };
    let body = body(response, host, settings.max_body, settings.timeout).await?;
    Ok(Hop::Arrived(Answer { body, ..answer }))
}

/// Where a redirect leads. A posted body goes on only where the status keeps the method (307, 308):
/// the others would make a reading of it, which is not what was asked for.
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
    // A server does not get to choose what we log in with.
    redact::without_user(&mut next);
    if !matches!(next.scheme(), "http" | "https") {
        return Err(bad(format!("redirect from `{}` leads to another scheme", redact::host(from))));
    }
    Ok(Some(next))
}

/// Reads the body piece by piece, so that neither a huge nor a well-packed one fills the memory.
async fn body(mut response: Response, host: &str, limit: usize, timeout: Duration) -> Result<Vec<u8>, NetError> {
    let too_large = || NetError::TooLarge { host: host.to_owned(), limit };
    // The library drops the length where the body is packed, so this is the length of what will come.
    let announced = usize::try_from(response.content_length().unwrap_or(0)).unwrap_or(usize::MAX);
    if announced > limit {
        return Err(too_large());
    }
    let mut body = Vec::with_capacity(announced.min(FIRST_ROOM));
    loop {
        let piece = response.chunk().await.map_err(|e| NetError::from_body(&e, host.to_owned(), timeout))?;
        let Some(piece) = piece else { return Ok(body) };
        if body.len() + piece.len() > limit {
            return Err(too_large());
        }
        body.extend_from_slice(&piece);
    }
}

/// The address for the record: all of it but the user part.
pub(super) fn shown(mut url: Url) -> String {
    redact::without_user(&mut url);
    url.into()
}
