//! Which attempts are worth another, and when. Nothing here sleeps: a decision is a question about a value.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::Duration;

/// Longest `Retry-After` that is waited for. A server that asks for more is left alone, and its answer returned.
pub const LONGEST_RETRY_AFTER: Duration = Duration::from_mins(5);

/// How often a request is sent, and how long to wait in between.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetrySettings {
    /// How often a request is sent at most; 1 means never again, and 0 is read as 1.
    pub attempts: u32,
    /// Wait before the second attempt; it doubles from then on, and up to half of it is left to chance.
    pub first_wait: Duration,
    /// Longest wait of our own choosing; a server's `Retry-After` may ask for more.
    pub longest_wait: Duration,
}

impl Default for RetrySettings {
    /// Five attempts: 0.5 s, 1 s, 2 s, 4 s, never more than 30 s.
    fn default() -> Self {
        Self { attempts: 5, first_wait: Duration::from_millis(500), longest_wait: Duration::from_secs(30) }
    }
}

/// What one attempt came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempt {
    /// A whole answer came.
    Answered {
        /// Its HTTP status.
        status: u16,
        /// Whether the caller can use it: `false` for a body that is not what it says it is.
        accepted: bool,
        /// The wait that the server asks for.
        retry_after: Option<Duration>,
    },
    /// No whole answer came.
    Failed {
        /// Whether the failure may pass: a reset or a timeout may, a malformed URL may not.
        passing: bool,
    },
}

/// What to do after an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// Take it as it is.
    No,
    /// Try again after our own wait.
    Backoff,
    /// Try again, but not before this time has passed.
    NotBefore(Duration),
}

/// Whether another attempt may do better than this one.
///
/// Statuses that pass: 408, 409, 425, 429 and all from 500 on (overload, restart, a gateway without its server).
/// Those that tell of a mistake in the request itself, such as 400, 401, 403 and 404, are final.
pub fn should_retry(attempt: &Attempt) -> Retry {
    match *attempt {
        Attempt::Failed { passing: true } => Retry::Backoff,
        Attempt::Failed { passing: false } => Retry::No,
        Attempt::Answered { status, accepted, retry_after } => {
            let passing = matches!(status, 408 | 409 | 425 | 429 | 500..=599) || !accepted;
            match retry_after {
                _ if !passing => Retry::No,
                Some(wait) if wait > LONGEST_RETRY_AFTER => Retry::No,
                Some(wait) => Retry::NotBefore(wait),
                None => Retry::Backoff,
            }
        }
    }
}

/// The waits between attempts, shortest first; ends when no attempt is left.
///
/// The wait doubles up to the longest one. A random part, at most half of it, keeps requests that failed
/// together from coming back together.
#[derive(Debug, Clone)]
pub struct Backoff {
    left: u32,
    next: Duration,
    longest: Duration,
    state: u64,
}

impl Backoff {
    /// Waits as `settings` say, with a seed from the system.
    pub fn new(settings: &RetrySettings) -> Self {
        // The standard library's hasher keys are its one source of randomness.
        Self::with_seed(settings, RandomState::new().build_hasher().finish())
    }

    /// Waits that are the same for the same seed.
    pub fn with_seed(settings: &RetrySettings, seed: u64) -> Self {
        let longest = settings.longest_wait;
        Self { left: settings.attempts.saturating_sub(1), next: settings.first_wait.min(longest), longest, state: seed }
    }

    /// A number in 0..1000. `SplitMix64` (Steele, Lea, Flood 2014): small, and good enough to spread waits.
    fn permille(&mut self) -> u32 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        u32::try_from((z ^ (z >> 31)) % 1000).unwrap_or(0)
    }
}

impl Iterator for Backoff {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        self.left = self.left.checked_sub(1)?;
        let full = self.next;
        self.next = full.saturating_mul(2).min(self.longest);
        let spared = (full / 2).saturating_mul(self.permille()) / 1000;
        Some(full.saturating_sub(spared))
    }
}

/// Reads a `Retry-After` header: whole or decimal seconds, or an HTTP date, in relation to `now`.
///
/// A date that has passed means no wait at all. Anything else is ignored, as RFC 9110 has it.
pub fn retry_after(value: &str, now: jiff::Timestamp) -> Option<Duration> {
    let value = value.trim();
    if value.starts_with(|c: char| c.is_ascii_digit()) {
        let seconds: f64 = value.parse().ok()?;
        return Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
    }
    let at = http_date(value)?;
    Some(Duration::try_from(at.duration_since(now)).unwrap_or(Duration::ZERO))
}

/// The three forms of RFC 9110, section 5.6.7: today's, RFC 850's and that of C's `asctime`.
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

    fn answered(status: u16) -> Attempt {
        Attempt::Answered { status, accepted: true, retry_after: None }
    }

    #[test]
    fn statuses_that_pass_are_tried_again_and_mistakes_are_not() {
        for status in [408, 409, 425, 429, 500, 502, 503, 504, 520, 529, 599] {
            assert_eq!(should_retry(&answered(status)), Retry::Backoff, "{status}");
        }
        for status in [200, 201, 204, 301, 304, 400, 401, 402, 403, 404, 405, 410, 413, 422, 451, 600] {
            assert_eq!(should_retry(&answered(status)), Retry::No, "{status}");
        }
    }

    #[test]
    fn failures_and_refused_bodies() {
        assert_eq!(should_retry(&Attempt::Failed { passing: true }), Retry::Backoff);
        assert_eq!(should_retry(&Attempt::Failed { passing: false }), Retry::No);
        let lie = Attempt::Answered { status: 200, accepted: false, retry_after: None };
        assert_eq!(should_retry(&lie), Retry::Backoff);
    }

    #[test]
    fn a_server_that_asks_for_too_long_is_left_alone() {
        let after = |wait| Attempt::Answered { status: 429, accepted: true, retry_after: Some(wait) };
        assert_eq!(should_retry(&after(LONGEST_RETRY_AFTER)), Retry::NotBefore(LONGEST_RETRY_AFTER));
        assert_eq!(should_retry(&after(LONGEST_RETRY_AFTER + Duration::from_millis(1))), Retry::No);
        let done = Attempt::Answered { status: 200, accepted: true, retry_after: Some(Duration::from_secs(1)) };
        assert_eq!(should_retry(&done), Retry::No);
    }

    #[test]
    fn waits_double_up_to_the_longest_and_at_most_half_is_chance() {
        let settings = RetrySettings {
            attempts: 6,
            first_wait: Duration::from_millis(100),
            longest_wait: Duration::from_millis(500),
        };
        for seed in 0..200 {
            let waits: Vec<Duration> = Backoff::with_seed(&settings, seed).collect();
            assert_eq!(waits.len(), 5);
            for (wait, full) in waits.iter().zip([100, 200, 400, 500, 500]) {
                let full = Duration::from_millis(full);
                assert!(*wait <= full && *wait >= full / 2, "{wait:?} of {full:?}");
            }
        }
        let first = |seed| Backoff::with_seed(&settings, seed).next();
        assert_eq!(first(7), first(7));
        assert_ne!(first(7), first(8));
    }

    #[test]
    fn one_attempt_has_no_wait_and_zero_is_read_as_one() {
        for attempts in [0, 1] {
            assert_eq!(Backoff::new(&RetrySettings { attempts, ..RetrySettings::default() }).next(), None);
        }
    }

    #[test]
    fn retry_after_as_seconds_and_as_the_three_forms_of_a_date() {
        // 1994-11-06T08:49:37Z is the date of RFC 9110's own examples.
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
