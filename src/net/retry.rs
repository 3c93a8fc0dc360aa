//! Whether to retry, when, and how long a server asks to wait before the next request. Nothing here sleeps.
//!
//! | where a server says how long | form | who |
//! |---|---|---|
//! | `retry-after-ms` | milliseconds | `OpenAI`, Azure |
//! | `retry-after` | seconds or a date | most |
//! | `llm_provider-` before any name of this table | as without it | `LiteLLM`, for the server behind it |
//! | `retryDelay` in the body | `15.3s` | Gemini |
//! | words in the body: `try again in 1m12.5s`, `retry after 27 seconds` | | `OpenAI`, Groq, Gemini, Azure |
//! | `x-ratelimit-reset…`, `ratelimit-reset`, `anthropic-ratelimit-…-reset` | `6m0s`, `20ms`, seconds, an epoch, a date | `OpenAI`, Groq, `OpenRouter`, Anthropic |
//!
//! The first row that says something is believed; the last two speak only with status 429.

use jiff::{SignedDuration, Timestamp};
use reqwest::header::HeaderMap;
use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

/// Longest wait that a server may ask for, unless set otherwise; beyond it nothing more is sent.
pub const DEFAULT_MAX_WAIT: Duration = Duration::from_mins(10);
pub(super) const TOO_MANY_REQUESTS: u16 = 429;
/// Longer waits count as this one; it is longer than any run.
pub(super) const FOREVER: Duration = Duration::from_hours(24 * 365);
/// A longer wait is not believed of a server that failed and refuses nothing.
const MAX_TRUSTED_WAIT: Duration = Duration::from_mins(1);
/// How long one request waits in all while others are answered: as many longest waits, and no less than an hour.
const MAX_TOTAL_WAIT: (u32, Duration) = (10, Duration::from_hours(1));

/// How often and how patiently a request is repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetrySettings {
    /// Maximum number of attempts; 0 is read as 1. Beyond them a limit on requests (status 429) is waited out.
    pub attempts: u32,
    /// Wait before the second attempt; later ones double, and up to half of each is random.
    pub first_wait: Duration,
    /// Longest wait, unless a server's `Retry-After` asks for more.
    pub longest_wait: Duration,
    /// How long a limit on requests is waited out beyond the usual attempts where the server names no time. With a
    /// single attempt, or at zero, it is retried as any other failure.
    pub limit_wait: Duration,
}

impl Default for RetrySettings {
    /// Five attempts: 0.5 s, 1 s, 2 s, 4 s, never more than 30 s; a minute more for a limit on requests.
    fn default() -> Self {
        Self {
            attempts: 5,
            first_wait: Duration::from_millis(500),
            longest_wait: Duration::from_secs(30),
            limit_wait: Duration::from_mins(1),
        }
    }
}

/// How an attempt ended, which tells the limiter how busy the server is, and whether to repeat the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempt {
    /// A whole answer came, and the caller accepts it or not; `tokens` is what it took, if the server says so.
    Answered { status: u16, accepted: bool, asked: Option<Duration>, tokens: Option<u64> },
    /// No answer, or no further part of it, in time.
    TimedOut,
    /// No whole answer came, which may be temporary, such as a reset.
    Broken,
    /// Anything that says nothing about the server: a wrong or cancelled request.
    Other,
}

impl Attempt {
    pub(super) const fn answered(status: u16, asked: Option<Duration>) -> Self {
        Self::Answered { status, accepted: true, asked, tokens: None }
    }
}

/// How long a request rests before it is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Retry {
    /// Whether the server limits requests: until the limit may be over.
    pub limited: bool,
    /// At least as long as the server asks.
    pub asked: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    Again(Duration),
    GiveUp,
    TooLong(Duration),
    /// The waits for its limit are too long together; this is the last.
    WaitedOut(Duration),
}

/// Whether to retry after this attempt.
///
/// Statuses 408, 409, 425, 429 and 5xx are temporary. Those that report a mistake in the request, such as 400, 401, 403
/// and 404, are final; so are 501 and 505, by which a server says that it is not what was looked for.
pub fn should_retry(attempt: &Attempt) -> Option<Retry> {
    match *attempt {
        Attempt::TimedOut | Attempt::Broken => Some(Retry::default()),
        Attempt::Other => None,
        // A wait of nothing is no time.
        Attempt::Answered { status: TOO_MANY_REQUESTS, asked, .. } => {
            Some(Retry { limited: true, asked: asked.filter(|wait| !wait.is_zero()) })
        }
        Attempt::Answered { status, accepted, asked, .. } => {
            let passing = matches!(status, 408 | 409 | 425 | 500 | 502..=504 | 506..=599) || !accepted;
            // Only a server that refuses requests ends a run by what it asks for.
            let trusted = |wait: &Duration| *wait <= MAX_TRUSTED_WAIT || matches!(status, 503 | 529);
            passing.then(|| Retry { limited: false, asked: asked.filter(trusted) })
        }
    }
}

/// The waits between attempts; ends when no attempt is left.
///
/// Each wait is twice the one before, up to the longest, and at most half of it is random, so that requests that failed
/// together are not repeated together.
#[derive(Debug, Clone)]
pub struct Backoff {
    left: u32,
    /// Whether a limit on requests is waited out.
    waits_out: bool,
    /// What is left of the time for a limit without a time, and what was waited beyond it or as asked.
    limit_left: Duration,
    waited: Duration,
    next: Duration,
    longest: Duration,
}

impl Backoff {
    pub fn new(settings: &RetrySettings) -> Self {
        let longest = settings.longest_wait;
        let (left, next) = (settings.attempts.saturating_sub(1), settings.first_wait.min(longest));
        let waits_out = left > 0 && !settings.limit_wait.is_zero();
        Self { left, waits_out, limit_left: settings.limit_wait, waited: Duration::ZERO, next, longest }
    }

    /// What to do next; no wait exceeds `max_wait`. Limited requests wait on while the server has `served` others.
    pub fn after(&mut self, retry: Retry, max_wait: Duration, served: bool) -> Next {
        let Retry { limited, asked } = retry;
        match asked {
            Some(asked) if asked > max_wait => Next::TooLong(asked),
            _ if limited && self.waits_out => self.limited(asked, max_wait, served),
            _ => self.next().map_or(Next::GiveUp, |wait| Next::Again(wait.max(asked.unwrap_or_default()))),
        }
    }

    fn limited(&mut self, asked: Option<Duration>, max_wait: Duration, served: bool) -> Next {
        if asked.is_none() {
            if let Some(wait) = self.next().or_else(|| self.wait_out(max_wait)) {
                return Next::Again(wait);
            }
            if !served {
                return Next::GiveUp;
            }
        }
        // A wait that the server asked for, or while it answers others, uses up no attempt.
        let wait = self.step().min(max_wait).max(asked.unwrap_or(Duration::from_millis(1)));
        self.waited = self.waited.saturating_add(wait);
        let (times, least) = MAX_TOTAL_WAIT;
        let most = if served { max_wait.saturating_mul(times).max(least) } else { max_wait };
        if self.waited > most { Next::WaitedOut(asked.unwrap_or(wait)) } else { Next::Again(wait) }
    }

    /// The next wait for a limit that names no time, beyond the usual attempts.
    fn wait_out(&mut self, max_wait: Duration) -> Option<Duration> {
        let left = self.limit_left.min(max_wait);
        if left.is_zero() {
            return None;
        }
        let wait = self.step().clamp(Duration::from_millis(1), left.max(Duration::from_millis(1)));
        self.limit_left = left.saturating_sub(wait);
        Some(wait)
    }

    fn step(&mut self) -> Duration {
        let full = self.next;
        self.next = full.saturating_mul(2).min(self.longest);
        // The hasher's random keys are the standard library's only source of randomness.
        let permille = u32::try_from(RandomState::new().hash_one(full) % 1000).unwrap_or(0);
        full.saturating_sub((full / 2).saturating_mul(permille) / 1000)
    }
}

impl Iterator for Backoff {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        self.left = self.left.checked_sub(1)?;
        Some(self.step())
    }
}

/// Parses a `Retry-After` header: whole or decimal seconds, or an HTTP date relative to `now`. A past date means no wait;
/// anything else is ignored, as RFC 9110 says.
pub fn parse_retry_after(value: &str, now: jiff::Timestamp) -> Option<Duration> {
    let value = value.trim();
    if value.starts_with(|c: char| c.is_ascii_digit()) {
        let seconds: f64 = value.parse().ok()?;
        return Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
    }
    let at = http_date(value)?;
    Some(Duration::try_from(at.duration_since(now)).unwrap_or(Duration::ZERO))
}

/// The three date formats of RFC 9110, section 5.6.7.
fn http_date(value: &str) -> Option<jiff::Timestamp> {
    if let Ok(time) = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(value) {
        return Some(time);
    }
    let plain = |format| jiff::civil::DateTime::strptime(format, value).ok();
    let time = plain("%A, %d-%b-%y %H:%M:%S GMT").or_else(|| plain("%a %b %e %H:%M:%S %Y"))?;
    jiff::tz::TimeZone::UTC.to_timestamp(time).ok()
}

/// What `LiteLLM` puts before the names of headers that it passes on.
const PASSED_ON: &str = "llm_provider-";
/// How much of a body is searched, in bytes.
const MAX_SEARCHED: usize = 64 << 10;
/// A longer reset is not believed where the server says that something is left, or that everything is.
const MINUTE: Duration = Duration::from_mins(1);
/// Numbers from here on are seconds since 1970, and a thousand times as large milliseconds.
const EPOCH: f64 = 1e9;
const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);
const PHRASES: [&str; 3] = ["try again in ", "retry in ", "retry after "];

pub(super) fn wait_in_headers(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let named = |prefix: &str| {
        let ms =
            text(&format!("{prefix}retry-after-ms")).and_then(|value| seconds(value.trim().parse::<f64>().ok()? / 1e3));
        ms.or_else(|| parse_retry_after(text(&format!("{prefix}retry-after"))?, now))
    };
    named("").or_else(|| named(PASSED_ON)).map(|wait| wait.min(FOREVER))
}

/// When the headers say that a limit ends: the longest of those that are used up.
pub(super) fn wait_until_reset(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let (mut used_up, mut others) = (None, None);
    for (name, value) in headers {
        let name = name.as_str();
        let bare = name.strip_prefix(PASSED_ON).unwrap_or(name);
        let is_reset = bare.starts_with("x-ratelimit-reset")
            || bare == "ratelimit-reset"
            || (bare.starts_with("anthropic-ratelimit-") && bare.ends_with("-reset"));
        let Some(wait) = value.to_str().ok().filter(|_| is_reset).and_then(|value| reset(value, now)) else { continue };
        let left = headers
            .get(name.replace("reset", "remaining"))
            .and_then(|left| left.to_str().ok()?.trim().parse::<f64>().ok());
        let longest = if left.is_some_and(|left| left > 0.0) { &mut others } else { &mut used_up };
        *longest = (*longest).max(Some(wait));
    }
    used_up.or_else(|| others.map(|wait: Duration| wait.min(MINUTE)))
}

pub(super) fn wait_in_body(body: &[u8], now: Timestamp) -> Option<Duration> {
    let text = String::from_utf8_lossy(&body[..body.len().min(MAX_SEARCHED)]);
    wait_in_words(&text).or_else(|| reset(field(&text, "X-RateLimit-Reset")?, now))
}

/// What an error says in its message or in `retryDelay`.
pub(super) fn wait_in_words(text: &str) -> Option<Duration> {
    if let Some(delay) = field(text, "retryDelay").and_then(duration) {
        return Some(delay);
    }
    let lower = text.to_ascii_lowercase();
    PHRASES.iter().find_map(|phrase| {
        lower.match_indices(phrase).find_map(|(at, _)| {
            let mut words = lower[at + phrase.len()..].split(['"', '\\']).next()?.split_whitespace();
            let first = words.next()?;
            let bare = |word: &str| word.trim_end_matches(|c: char| !c.is_alphanumeric()).to_owned();
            // A number without a unit is one of seconds only where the sentence ends.
            let ends = first.ends_with(|c: char| !c.is_alphanumeric()) || first.parse::<f64>().is_err();
            match words.next() {
                Some(unit) if !ends => with_unit(first, &bare(unit)),
                _ => duration(&bare(first)),
            }
        })
    })
}

fn with_unit(number: &str, unit: &str) -> Option<Duration> {
    match unit {
        "d" | "day" | "days" => seconds(number.parse::<f64>().ok()? * DAY.as_secs_f64()),
        unit => duration(&format!("{number} {unit}")),
    }
}

/// The value of a field in JSON, also where that stands inside a text.
fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(name)?;
    let rest = rest.trim_start_matches(['\\', '"', ':', ' ']);
    Some(&rest[..rest.find(['\\', '"', ',', '}']).unwrap_or(rest.len())])
}

/// A time with its unit, or a number of seconds.
fn duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    if let Ok(number) = text.parse::<f64>() {
        return seconds(number);
    }
    let signed: SignedDuration = text.parse().ok()?;
    Duration::try_from(signed).ok().map(|wait| wait.min(FOREVER))
}

/// When a limit ends: a time from now, or a moment. What is past asks for no wait.
fn reset(text: &str, now: Timestamp) -> Option<Duration> {
    let text = text.trim();
    let until = |seconds: f64| {
        #[expect(clippy::cast_precision_loss, reason = "a double tells milliseconds of this age apart")]
        let now = now.as_millisecond() as f64 / 1e3;
        Some(self::seconds(seconds - now).unwrap_or_default())
    };
    match text.parse::<f64>() {
        Ok(number) if !number.is_finite() => None,
        Ok(number) if number >= EPOCH * 1e3 => until(number / 1e3),
        Ok(number) if number >= EPOCH => until(number),
        // So many seconds are rare, and as many milliseconds are not; a request that comes too early is refused with a new time.
        Ok(number) if number > HOUR.as_secs_f64() => seconds(number / 1e3).filter(|wait| *wait <= DAY),
        Ok(number) => seconds(number),
        Err(_) => match text.parse::<Timestamp>() {
            Ok(at) => Some(Duration::try_from(at.duration_since(now)).unwrap_or_default().min(FOREVER)),
            Err(_) => duration(text),
        },
    }
}

/// Seconds, if they are none of the past, and no more than can ever be waited.
fn seconds(number: f64) -> Option<Duration> {
    (number >= 0.0).then(|| Duration::try_from_secs_f64(number).unwrap_or(FOREVER).min(FOREVER))
}

#[cfg(test)]
mod tests {
    use super::{
        Attempt, Backoff, DEFAULT_MAX_WAIT, FOREVER, Next, Retry, RetrySettings, parse_retry_after, should_retry,
        wait_in_body, wait_in_headers, wait_until_reset,
    };
    use jiff::Timestamp;
    use reqwest::header::{HeaderMap, HeaderName};
    use std::time::Duration;

    const SECOND: Duration = Duration::from_secs(1);
    const BACKOFF: Retry = Retry { limited: false, asked: None };

    fn not_before(wait: Duration) -> Retry {
        Retry { asked: Some(wait), ..BACKOFF }
    }

    fn limited(asked: Option<Duration>) -> Retry {
        Retry { limited: true, asked }
    }

    #[test]
    fn temporary_failures_are_retried() {
        for status in [408, 409, 425, 500, 502, 503, 504, 520, 529, 599] {
            assert_eq!(should_retry(&Attempt::answered(status, None)), Some(BACKOFF), "{status}");
        }
        for status in [200, 201, 204, 301, 304, 400, 401, 402, 403, 404, 405, 410, 413, 422, 451, 600] {
            assert_eq!(should_retry(&Attempt::answered(status, Some(Duration::from_secs(1)))), None, "{status}");
        }
        let refused = Attempt::Answered { status: 200, accepted: false, asked: None, tokens: None };
        assert_eq!(should_retry(&refused), Some(BACKOFF));
        assert_eq!(should_retry(&Attempt::answered(503, Some(SECOND))), Some(not_before(SECOND)));
        assert_eq!(should_retry(&Attempt::answered(429, Some(SECOND))), Some(limited(Some(SECOND))));
        for (status, next) in [(500, BACKOFF), (408, BACKOFF), (503, not_before(100 * SECOND))] {
            assert_eq!(should_retry(&Attempt::answered(status, Some(100 * SECOND))), Some(next), "{status}");
            assert_eq!(should_retry(&Attempt::answered(status, Some(SECOND))), Some(not_before(SECOND)), "{status}");
        }
        let refused = Attempt::Answered { status: 200, accepted: false, asked: Some(100 * SECOND), tokens: None };
        assert_eq!(should_retry(&refused), Some(BACKOFF));
        for nothing in [None, Some(Duration::ZERO)] {
            assert_eq!(should_retry(&Attempt::answered(429, nothing)), Some(limited(None)));
        }
    }

    /// The waits after as many refusals of one kind, and what comes then.
    fn waits(settings: &RetrySettings, retry: Retry, max_wait: Duration) -> (Vec<Duration>, Next) {
        waits_while(false, settings, retry, max_wait)
    }

    fn waits_while(served: bool, settings: &RetrySettings, retry: Retry, max_wait: Duration) -> (Vec<Duration>, Next) {
        let (mut backoff, mut waits) = (Backoff::new(settings), Vec::new());
        loop {
            match backoff.after(retry, max_wait, served) {
                Next::Again(wait) => waits.push(wait),
                end => return (waits, end),
            }
        }
    }

    #[test]
    fn a_limit_is_waited_out_beyond_the_usual_attempts() {
        let usual = RetrySettings::default();
        let total = |(waits, end): (Vec<Duration>, Next)| (waits.iter().sum::<Duration>(), end);
        // Four usual waits of 3.75 s to 7.5 s, and the minute.
        let (waited, end) = total(waits(&usual, limited(None), DEFAULT_MAX_WAIT));
        assert!(waited >= 63 * SECOND && waited <= 68 * SECOND, "{waited:?}");
        assert_eq!(end, Next::GiveUp);
        let (waited, end) = total(waits(&usual, limited(None), SECOND));
        assert!(waited <= 9 * SECOND, "{waited:?}");
        assert_eq!(end, Next::GiveUp);
        let asked = limited(Some(59 * SECOND));
        assert_eq!(waits(&usual, asked, DEFAULT_MAX_WAIT), (vec![59 * SECOND; 10], Next::WaitedOut(59 * SECOND)));
        assert_eq!(waits(&usual, asked, 58 * SECOND), (vec![], Next::TooLong(59 * SECOND)));
        let (few, end) = waits(&usual, not_before(59 * SECOND), DEFAULT_MAX_WAIT);
        assert_eq!((few, end), (vec![59 * SECOND; 4], Next::GiveUp));
        let once = RetrySettings { attempts: 1, ..usual };
        for retry in [limited(None), asked] {
            assert_eq!(waits(&once, retry, DEFAULT_MAX_WAIT), (vec![], Next::GiveUp));
        }
        assert_eq!(waits(&once, limited(Some(Duration::MAX)), DEFAULT_MAX_WAIT).1, Next::TooLong(Duration::MAX));
    }

    #[test]
    fn a_limited_request_waits_on_while_others_are_answered() {
        let usual = RetrySettings::default();
        let max_wait = 6 * SECOND;
        let (alone, end) = waits_while(false, &usual, limited(Some(SECOND)), max_wait);
        assert!(alone.iter().sum::<Duration>() <= max_wait, "{alone:?}");
        assert_eq!(end, Next::WaitedOut(SECOND));
        for asked in [None, Some(SECOND)] {
            let (waits, end) = waits_while(true, &usual, limited(asked), max_wait);
            let waited: Duration = waits.iter().sum();
            assert!(waited > Duration::from_mins(55) && waited <= Duration::from_mins(62), "{waited:?}");
            assert!(waits.iter().all(|wait| *wait <= max_wait), "{waits:?}");
            assert!(matches!(end, Next::WaitedOut(wait) if wait <= max_wait), "{end:?}");
        }
        let (waits, end) = waits_while(true, &usual, limited(Some(59 * SECOND)), DEFAULT_MAX_WAIT);
        assert_eq!((waits.len(), end), (101, Next::WaitedOut(59 * SECOND)));
        assert_eq!(waits_while(true, &usual, limited(Some(7 * SECOND)), max_wait).1, Next::TooLong(7 * SECOND));
        assert_eq!(waits_while(true, &usual, BACKOFF, max_wait).1, Next::GiveUp);
    }

    #[test]
    fn waits_double_up_to_the_longest_and_at_most_half_is_random() {
        let (first_wait, longest_wait) = (Duration::from_millis(100), Duration::from_millis(500));
        let settings = RetrySettings { attempts: 6, first_wait, longest_wait, ..RetrySettings::default() };
        let all: Vec<Vec<Duration>> = (0..200).map(|_| Backoff::new(&settings).collect()).collect();
        for waits in &all {
            assert_eq!(waits.len(), 5);
            for (wait, full) in waits.iter().zip([100, 200, 400, 500, 500].map(Duration::from_millis)) {
                assert!(*wait <= full && *wait >= full / 2, "{wait:?} of {full:?}");
            }
        }
        assert!(all.iter().any(|waits| waits != &all[0]));
        let after = |settings: &RetrySettings, retry| Backoff::new(settings).after(retry, DEFAULT_MAX_WAIT, false);
        assert_eq!(after(&settings, not_before(9 * SECOND)), Next::Again(9 * SECOND));
        for attempts in [0, 1] {
            assert_eq!(after(&RetrySettings { attempts, ..settings.clone() }, BACKOFF), Next::GiveUp);
        }
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        // The date of RFC 9110's examples.
        let now: jiff::Timestamp = "1994-11-06T08:49:30Z".parse().expect("a time");
        for (text, seconds) in [
            ("0", Some(0.0)),
            (" 120 ", Some(120.0)),
            ("1.5", Some(1.5)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(7.0)),
            ("Sunday, 06-Nov-94 08:49:37 GMT", Some(7.0)),
            ("Sun Nov  6 08:49:37 1994", Some(7.0)),
            ("Sun, 06 Nov 1994 08:49:00 GMT", Some(0.0)),
            ("soon", None),
            ("", None),
            ("-1", None),
            ("5 minutes", None),
        ] {
            assert_eq!(parse_retry_after(text, now), seconds.map(Duration::from_secs_f64), "{text:?}");
        }
        assert_eq!(parse_retry_after("99999999999999999999999999", now), Some(Duration::MAX));
    }

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().expect("a value"))).collect()
    }

    fn now() -> Timestamp {
        "2026-11-23T12:00:00Z".parse().expect("a time")
    }

    fn s(seconds: f64) -> Duration {
        Duration::from_secs_f64(seconds)
    }

    #[test]
    fn headers_that_name_a_wait() {
        for (pairs, wait) in [
            (&[("retry-after-ms", "1500"), ("retry-after", "9")][..], Some(s(1.5))),
            (&[("retry-after-ms", "soon"), ("retry-after", "9")], Some(s(9.0))),
            (&[("retry-after-ms", "-5")], None),
            (&[("retry-after-ms", "NaN")], None),
            (&[("retry-after-ms", "1e308")], Some(FOREVER)),
            (&[("retry-after", "1e308")], Some(FOREVER)),
            (&[("retry-after", "-1")], None),
            (&[("retry-after", "inf")], None),
            (&[("retry-after", "Fri, 31 Dec 9999 23:59:59 GMT")], None),
            (&[("llm_provider-retry-after", "60")], Some(s(60.0))),
            (&[("retry-after", "2"), ("llm_provider-retry-after", "60")], Some(s(2.0))),
            (&[], None),
        ] {
            assert_eq!(wait_in_headers(&headers(pairs), now()), wait, "{pairs:?}");
        }
    }

    #[test]
    fn resets_of_limits_that_are_used_up() {
        let (requests, tokens) = ("x-ratelimit-reset-requests", "x-ratelimit-reset-tokens");
        let (left_requests, left_tokens) = ("x-ratelimit-remaining-requests", "x-ratelimit-remaining-tokens");
        for (pairs, wait) in [
            (&[(requests, "1s"), (left_requests, "9"), (tokens, "6m0s"), (left_tokens, "0")][..], Some(s(360.0))),
            (&[(requests, "20ms"), (left_requests, "0"), (tokens, "6m0s"), (left_tokens, "7")], Some(s(0.02))),
            (&[(requests, "1s"), (left_requests, "9"), (tokens, "6m0s"), (left_tokens, "7")], Some(s(60.0))),
            (&[(tokens, "7.66s")], Some(s(7.66))),
            (&[(requests, "2m59.56s")], Some(s(179.56))),
            (&[("x-ratelimit-reset-tokens-minute", "11.38")], Some(s(11.38))),
            (&[("x-ratelimit-reset", "1795435230")], Some(s(30.0))),
            (&[("x-ratelimit-reset", "1795435230500"), ("x-ratelimit-remaining", "0")], Some(s(30.5))),
            (&[("x-ratelimit-reset", "1000000000")], Some(s(0.0))),
            (&[("anthropic-ratelimit-tokens-reset", "2026-11-23T12:00:40Z")], Some(s(40.0))),
            (&[("anthropic-ratelimit-tokens-reset", "9999-12-30T22:00:00Z")], Some(FOREVER)),
            (&[("llm_provider-x-ratelimit-reset-tokens", "12s")], Some(s(12.0))),
            (&[("ratelimit-reset", "50")], Some(s(50.0))),
            (&[("x-ratelimit-reset", "3600")], Some(s(3600.0))),
            (&[("x-ratelimit-reset", "60000")], Some(s(60.0))),
            (&[("x-ratelimit-reset", "86400000")], Some(s(86400.0))),
            (&[("x-ratelimit-reset", "90000000")], None),
            (&[("x-ratelimit-reset", "1e308")], Some(FOREVER)),
            (&[("x-ratelimit-reset", "-3")], None),
            (&[("x-ratelimit-reset", "-3s")], None),
            (&[("x-ratelimit-reset", "NaN")], None),
            (&[("x-ratelimit-reset", "")], None),
            (&[("x-ratelimit-limit-requests", "60")], None),
        ] {
            assert_eq!(wait_until_reset(&headers(pairs), now()), wait, "{pairs:?}");
        }
    }

    #[test]
    fn bodies_name_a_wait_in_fields_and_words() {
        for (body, wait) in [
            (r#"{"error":{"details":[{"@type":"x/google.rpc.RetryInfo","retryDelay":"15.3s"}]}}"#, Some(s(15.3))),
            (r#"{"error":{"message":"geminiException - {\n \"retryDelay\": \"38s\"\n}"}}"#, Some(s(38.0))),
            (r#"{"error":{"message":"Quota exceeded.\nPlease retry in 15.299s."}}"#, Some(s(15.299))),
            (r#"{"error":{"message":"Rate limit reached. Please try again in 1m12.5s. Visit"}}"#, Some(s(72.5))),
            (r#"{"error":{"message":"Please try again in 20ms."}}"#, Some(s(0.02))),
            (r#"{"error":{"message":"Please retry after 27 seconds. Contact us"}}"#, Some(s(27.0))),
            (r#"{"error":{"message":"Please retry after 27."}}"#, Some(s(27.0))),
            (r#"{"error":{"message":"Try again in 1 day."}}"#, Some(s(86400.0))),
            (r#"{"error":{"message":"try again in 2 days"}}"#, Some(s(172_800.0))),
            (r#"{"error":{"message":"try again in 1 hour, or retry in 2 s"}}"#, Some(s(3600.0))),
            (r#"{"error":{"message":"Please try again in 20 years."}}"#, None),
            (r#"{"error":{"message":"try again in 20 years or retry after 3 s"}}"#, Some(s(3.0))),
            (r#"{"error":{"message":"try again in 5 attempts"}}"#, None),
            ("retry after 27", Some(s(27.0))),
            (r#"{"error":{"message":"retry after 27"},"code":429}"#, Some(s(27.0))),
            (r#"{"error":{"metadata":{"headers":{"X-RateLimit-Reset":"1795435230000"}}}}"#, Some(s(30.0))),
            (r#"{"retryDelay":"-15s"}"#, None),
            (r#"{"retryDelay":"99999999999999s"}"#, Some(FOREVER)),
            (r#"{"retryDelay":"1e308s"}"#, None),
            (r#"{"retryDelay":1e308}"#, Some(FOREVER)),
            (r#"{"error":{"message":"Please try again in a while. retry in "}}"#, None),
            ("retryDelay", None),
            ("", None),
        ] {
            assert_eq!(wait_in_body(body.as_bytes(), now()), wait, "{body}");
        }
        assert_eq!(wait_in_body(&[0xff; 100], now()), None);
    }
}
