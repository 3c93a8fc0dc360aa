//! One attempt: send, follow redirects, read the body up to its limit, whole or event by event.

use super::client::{Answer, Client, ClientSettings, Heard, Listener, MAX_UNRESERVED, MemoryPermit};
use super::events::Events;
use super::limit::{HeldOff, Outcome, Permit};
use super::retry::TOO_MANY_REQUESTS;
use super::{NetError, redact, retry};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Body, Method, Request, Response, StatusCode, Url};
use std::ops::Deref;
use std::time::{Duration, Instant};
use tokio::time::timeout_at;

/// How much larger than a body an event stream may be: each event wraps a few characters in hundreds.
const STREAM_FACTOR: usize = 16;
/// How long to wait for events after the last one that matters.
const AFTERWARDS: Duration = Duration::from_secs(2);

/// A request for `url`, cheap to repeat as copies share its body. Its user part (`http://user:password@host`) is removed
/// and sent as basic authentication, unless `headers` contain another.
pub(super) fn request(
    http: &reqwest::Client,
    method: Method,
    url: Url,
    headers: HeaderMap,
    body: Option<Vec<u8>>,
) -> Result<Request, NetError> {
    let host = redact::host(&url);
    let request = http.request(method, url).headers(headers).build();
    let mut request =
        request.map_err(|_| NetError::BadUrl { url: host, reason: "it is too long or malformed".to_owned() })?;
    // The library keeps a user part that is not UTF-8.
    redact::without_user(request.url_mut());
    *request.body_mut() = body.map(Body::from);
    Ok(request)
}

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

/// Sends the request once and follows its redirects; sets `first`, unless it is set, to the time of sending.
///
/// `permit` becomes that of the last request sent, for the caller to end.
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
        let held = |HeldOff { status, left }| NetError::HeldOff { host: host.clone(), status, left };
        let held_permit = permit.insert(acquired.map_err(held)?);
        let started = Instant::now();
        first.get_or_insert(started);
        let mut deadline = HopDeadline::new(&host, left, settings.timeout);
        let hop = hop(client, copy(outgoing, &url)?, &mut deadline, redirects.len(), listener).await;
        held_permit.heard(deadline.longest_silence());
        match hop? {
            Hop::Arrived(answer) => return Ok(Answer { redirects, ..answer }),
            Hop::Moved(next) => {
                if let Some(permit) = permit.take() {
                    permit.end(Outcome::Ok { tokens: Some(0) });
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

/// The time limit of one hop.
struct HopDeadline<'a> {
    host: &'a str,
    until: tokio::time::Instant,
    allowed: Duration,
    last_heard: Instant,
    longest: Duration,
}

impl<'a> HopDeadline<'a> {
    fn new(host: &'a str, left: Duration, allowed: Duration) -> Self {
        let until = tokio::time::Instant::now() + left;
        Self { host, until, allowed, last_heard: Instant::now(), longest: Duration::ZERO }
    }

    async fn within<T>(&self, work: impl Future<Output = T>) -> Result<T, NetError> {
        let late = |_| NetError::Timeout { host: self.host.to_owned(), after: self.allowed };
        timeout_at(self.until, work).await.map_err(late)
    }

    /// The next piece of a body, or its end.
    async fn piece(&self, response: &mut Response) -> Result<Option<impl Deref<Target = [u8]> + use<>>, NetError> {
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

    /// Waits no longer than this from now on.
    fn shorten(&mut self, left: Duration) {
        self.until = self.until.min(tokio::time::Instant::now() + left);
    }

    /// The longest time without data from the server.
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

/// Reads the body in pieces, so that neither a huge nor a highly compressed one fills the memory. A long one first waits
/// for memory.
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
            && !memory.is_reserved()
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
    let too_large = || NetError::TooLarge { host: deadline.host.to_owned(), limit };
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
            return Err(too_large());
        }
    }
}
