//! Whether to retry, and when. Nothing here sleeps.

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

/// Longest `Retry-After` that is waited for; beyond it the answer is returned as it is.
pub const LONGEST_RETRY_AFTER: Duration = Duration::from_mins(5);

/// How often a request is sent, and the waits in between.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetrySettings {
    /// Maximum number of attempts; 0 is read as 1.
    pub attempts: u32,
    /// Wait before the second attempt; later ones double, and up to half of each is random.
    pub first_wait: Duration,
    /// Longest wait, unless a server's `Retry-After` asks for more.
    pub longest_wait: Duration,
}

impl Default for RetrySettings {
    /// Five attempts: 0.5 s, 1 s, 2 s, 4 s, never more than 30 s.
    fn default() -> Self {
        Self { attempts: 5, first_wait: Duration::from_millis(500), longest_wait: Duration::from_secs(30) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempt {
    /// A whole answer came, and the caller accepts it or not.
    Answered { status: u16, accepted: bool, retry_after: Option<Duration> },
    /// No whole answer came; `passing` if that may be temporary, such as a reset or a timeout.
    Failed { passing: bool },
}

/// What to do after an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    No,
    /// Retry after the next wait of the [`Backoff`].
    Backoff,
    /// The same, but wait at least this long.
    NotBefore(Duration),
}

/// Whether to retry after this attempt.
///
/// Statuses 408, 409, 425, 429 and 5xx are temporary. Those that report a mistake in the request, such as 400, 401, 403
/// and 404, are final; so are 501 and 505, by which a server says that it is not what was looked for.
pub fn should_retry(attempt: &Attempt) -> Retry {
    match *attempt {
        Attempt::Failed { passing: true } => Retry::Backoff,
        Attempt::Failed { passing: false } => Retry::No,
        Attempt::Answered { status, accepted, retry_after } => {
            let passing = matches!(status, 408 | 409 | 425 | 429 | 500 | 502..=504 | 506..=599) || !accepted;
            match retry_after {
                _ if !passing => Retry::No,
                Some(wait) if wait > LONGEST_RETRY_AFTER => Retry::No,
                Some(wait) => Retry::NotBefore(wait),
                None => Retry::Backoff,
            }
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
    next: Duration,
    longest: Duration,
}

impl Backoff {
    /// The waits of these settings.
    pub fn new(settings: &RetrySettings) -> Self {
        let longest = settings.longest_wait;
        Self { left: settings.attempts.saturating_sub(1), next: settings.first_wait.min(longest), longest }
    }

    /// The wait before the next attempt, if there is one.
    pub fn wait(&mut self, retry: Retry) -> Option<Duration> {
        match retry {
            Retry::No => None,
            Retry::Backoff => self.next(),
            Retry::NotBefore(least) => self.next().map(|wait| wait.max(least)),
        }
    }
}

impl Iterator for Backoff {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        self.left = self.left.checked_sub(1)?;
        let full = self.next;
        self.next = full.saturating_mul(2).min(self.longest);
        // The hasher's random keys are the standard library's only source of randomness.
        let permille = u32::try_from(RandomState::new().hash_one(self.left) % 1000).unwrap_or(0);
        Some(full.saturating_sub((full / 2).saturating_mul(permille) / 1000))
    }
}

/// Parses a `Retry-After` header: whole or decimal seconds, or an HTTP date relative to `now`. A past date means no wait;
/// anything else is ignored, as RFC 9110 says.
pub fn retry_after(value: &str, now: jiff::Timestamp) -> Option<Duration> {
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

#[cfg(test)]
mod tests {
    use super::{Attempt, Backoff, LONGEST_RETRY_AFTER, Retry, RetrySettings, retry_after, should_retry};
    use std::time::Duration;

    #[test]
    fn temporary_failures_are_retried() {
        let answered = |status, retry_after| Attempt::Answered { status, accepted: true, retry_after };
        for status in [408, 409, 425, 429, 500, 502, 503, 504, 520, 529, 599] {
            assert_eq!(should_retry(&answered(status, None)), Retry::Backoff, "{status}");
        }
        for status in [200, 201, 204, 301, 304, 400, 401, 402, 403, 404, 405, 410, 413, 422, 451, 600] {
            assert_eq!(should_retry(&answered(status, Some(Duration::from_secs(1)))), Retry::No, "{status}");
        }
        let refused = Attempt::Answered { status: 200, accepted: false, retry_after: None };
        assert_eq!(should_retry(&refused), Retry::Backoff);
        let longest = LONGEST_RETRY_AFTER;
        assert_eq!(should_retry(&answered(429, Some(longest))), Retry::NotBefore(longest));
        assert_eq!(should_retry(&answered(429, Some(longest + Duration::from_millis(1)))), Retry::No);
    }

    #[test]
    fn waits_double_up_to_the_longest_and_at_most_half_is_random() {
        let (first_wait, longest_wait) = (Duration::from_millis(100), Duration::from_millis(500));
        let settings = RetrySettings { attempts: 6, first_wait, longest_wait };
        let all: Vec<Vec<Duration>> = (0..200).map(|_| Backoff::new(&settings).collect()).collect();
        for waits in &all {
            assert_eq!(waits.len(), 5);
            for (wait, full) in waits.iter().zip([100, 200, 400, 500, 500].map(Duration::from_millis)) {
                assert!(*wait <= full && *wait >= full / 2, "{wait:?} of {full:?}");
            }
        }
        assert!(all.iter().any(|waits| waits != &all[0]));
        let least = Duration::from_secs(9);
        assert_eq!(Backoff::new(&settings).wait(Retry::NotBefore(least)), Some(least));
        assert_eq!(Backoff::new(&settings).wait(Retry::No), None);
        for attempts in [0, 1] {
            assert_eq!(Backoff::new(&RetrySettings { attempts, ..settings.clone() }).wait(Retry::Backoff), None);
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
            assert_eq!(retry_after(text, now), seconds.map(Duration::from_secs_f64), "{text:?}");
        }
        assert_eq!(retry_after("99999999999999999999999999", now), Some(Duration::MAX));
    }
}
