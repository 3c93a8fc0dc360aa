//! How long a server asks to wait before the next request, in whichever way it says so.
//!
//! | where | form | who |
//! |---|---|---|
//! | `retry-after-ms` | milliseconds | `OpenAI`, Azure |
//! | `retry-after` | seconds or a date | most |
//! | `llm_provider-` before any name of this table | as without it | `LiteLLM`, for the server behind it |
//! | `retryDelay` in the body | `15.3s` | Gemini |
//! | words in the body: `try again in 1m12.5s`, `retry after 27 seconds` | | `OpenAI`, Groq, Gemini, Azure |
//! | `x-ratelimit-reset…`, `ratelimit-reset`, `anthropic-ratelimit-…-reset` | `6m0s`, `20ms`, seconds, an epoch, a date | `OpenAI`, Groq, `OpenRouter`, Anthropic |
//!
//! The first row that says something is believed; the last two speak only with status 429. Nothing here sleeps.

use super::retry::{FOREVER, parse_retry_after};
use jiff::{SignedDuration, Timestamp};
use reqwest::header::HeaderMap;
use std::time::Duration;

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
/// Words before a duration.
const PHRASES: [&str; 3] = ["try again in ", "retry in ", "retry after "];

/// What the headers say, at any status.
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

/// What the body of a refusal says.
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

/// A number and the unit after it.
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
    use super::{FOREVER, wait_in_body, wait_in_headers, wait_until_reset};
    use jiff::Timestamp;
    use reqwest::header::{HeaderMap, HeaderName};
    use std::time::Duration;

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
