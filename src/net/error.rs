//! Why a request got no complete answer.

use super::redact;
use crate::base::Cause;
use crate::base::text::{printable, wait_in_words};
use secrecy::SecretString;
use std::error::Error as StdError;
use std::io::ErrorKind;
use std::net::IpAddr;
use std::time::Duration;

const REASON_CHARS: usize = 200;

/// Why there is no answer: host, port and reason, but never a secret, or the user part or query of a URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NetError {
    #[error("cannot set up the HTTP client: {reason}")]
    Setup { reason: String },
    #[error("`{url}` is not a usable URL: {reason}")]
    BadUrl { url: String, reason: String },
    /// Only the name is shown: the value may be a secret.
    #[error("the value of header `{name}` contains characters that cannot be sent")]
    BadHeader { name: String },
    #[error("cannot connect to `{host}`: {reason}")]
    Connect { host: String, reason: String, refused: bool, unknown: bool },
    #[error("no secure connection to `{host}`: {reason}")]
    Tls { host: String, reason: String },
    #[error("no complete answer from `{host}` within {} s", .after.as_secs_f64())]
    Timeout { host: String, after: Duration },
    #[error("connection to `{host}` broke: {reason}")]
    Broken { host: String, reason: String },
    #[error("answer of `{host}` ended early: {reason}")]
    Truncated { host: String, reason: String },
    /// The limit is in decoded bytes.
    #[error("answer of `{host}` is larger than {limit} bytes")]
    TooLarge { host: String, limit: usize },
    #[error("`{host}` redirects more than {limit} times")]
    Redirects { host: String, limit: usize },
    /// The server asked for a longer pause than requests wait for, and it is not over: nothing was sent.
    #[error("`{host}` asked with status {status} to wait {}", wait_in_words(*.left))]
    HeldOff { host: String, status: u16, left: Duration },
    #[error("{last} (after {attempts} attempts)")]
    Exhausted { attempts: u32, last: Box<NetError> },
}

impl NetError {
    /// The failure itself, without the count of attempts.
    pub fn last(&self) -> &Self {
        match self {
            Self::Exhausted { last, .. } => last.last(),
            other => other,
        }
    }

    pub fn attempts(&self) -> u32 {
        match self {
            Self::Exhausted { attempts, .. } => *attempts,
            Self::Setup { .. } | Self::BadUrl { .. } | Self::BadHeader { .. } | Self::HeldOff { .. } => 0,
            _ => 1,
        }
    }

    pub fn hint(&self) -> Option<&'static str> {
        Some(match self.last() {
            Self::Connect { refused: true, .. } => "nothing listens there: is the server up, and is the port right?",
            Self::Connect { .. } => "check the host's name and the network",
            Self::Tls { .. } => {
                "write http:// in the URL if the server speaks plain HTTP; else check the system's certificates"
            }
            Self::Timeout { .. } => "the server is slow or does not answer: allow more time, or fewer requests at once",
            Self::BadUrl { .. } => "a URL looks like http://127.0.0.1:8000/v1",
            Self::BadHeader { .. } => "a key is one line of ASCII characters",
            Self::TooLarge { .. } => "check the URL",
            Self::Redirects { .. } => "the URL may redirect to itself: check it in a browser",
            Self::HeldOff { .. } => {
                "run the same command again later: `run` goes on with `--resume`, or waits longer with `--max-wait`"
            }
            Self::Broken { .. } | Self::Truncated { .. } | Self::Setup { .. } | Self::Exhausted { .. } => return None,
        })
    }

    pub fn cause(&self) -> Cause {
        match self.last() {
            Self::Connect { refused: true, .. } => Cause::ConnectionRefused,
            Self::Connect { unknown: true, .. } => Cause::UnknownHost,
            Self::Tls { .. } => Cause::Tls,
            Self::Timeout { .. } => Cause::Timeout,
            Self::HeldOff { .. } => Cause::RateLimit,
            Self::Connect { .. } | Self::Broken { .. } | Self::Truncated { .. } => Cause::Connection,
            Self::TooLarge { .. } => Cause::BadAnswer,
            Self::Redirects { .. } => Cause::NotFound,
            Self::Setup { .. } | Self::BadUrl { .. } | Self::BadHeader { .. } => Cause::BadRequest,
            Self::Exhausted { .. } => Cause::Other,
        }
    }

    /// Masks `key`, which a server can inject by a redirect to a host of that name.
    #[must_use]
    pub(crate) fn without(mut self, key: &SecretString) -> Self {
        for text in self.texts() {
            *text = redact::secret(text, key);
        }
        self
    }

    fn texts(&mut self) -> Vec<&mut String> {
        match self {
            Self::Setup { reason } => vec![reason],
            Self::BadUrl { url, reason } => vec![url, reason],
            Self::BadHeader { .. } => Vec::new(),
            Self::Connect { host, reason, .. }
            | Self::Tls { host, reason }
            | Self::Broken { host, reason }
            | Self::Truncated { host, reason } => vec![host, reason],
            Self::Timeout { host, .. }
            | Self::TooLarge { host, .. }
            | Self::Redirects { host, .. }
            | Self::HeldOff { host, .. } => vec![host],
            Self::Exhausted { last, .. } => last.texts(),
        }
    }

    pub(crate) fn is_held_off(&self) -> bool {
        matches!(self, Self::HeldOff { .. })
    }

    /// Whether a retry may help.
    pub(crate) fn passing(&self) -> bool {
        matches!(self, Self::Connect { .. } | Self::Timeout { .. } | Self::Broken { .. } | Self::Truncated { .. })
    }

    pub(crate) fn from_send(error: &reqwest::Error, host: String, connect_timeout: Duration) -> Self {
        let causes = Causes::of(error);
        // Nearby, a connection that is taken and then silent or closed is one to a server that speaks no TLS.
        let is_https = |url: &reqwest::Url| url.scheme() == "https" && url.host_str().is_some_and(is_private);
        let is_plain = error.is_connect() && !causes.refused && !causes.unknown && error.url().is_some_and(is_https);
        if error.is_timeout() {
            let reason = format!("no connection within {} s", connect_timeout.as_secs_f64());
            if is_plain {
                return Self::Tls { host, reason };
            }
            return Self::Connect { host, reason, refused: false, unknown: false };
        }
        if causes.tls || is_plain {
            return Self::Tls { host, reason: causes.reason };
        }
        if error.is_connect() {
            return Self::Connect { host, reason: causes.reason, refused: causes.refused, unknown: causes.unknown };
        }
        if error.is_builder() {
            return Self::BadUrl { url: host, reason: causes.reason };
        }
        Self::Broken { host, reason: causes.reason }
    }

    pub(crate) fn from_body(error: &reqwest::Error, host: String, timeout: Duration) -> Self {
        if error.is_timeout() {
            return Self::Timeout { host, after: timeout };
        }
        Self::Truncated { host, reason: Causes::of(error).reason }
    }
}

/// Whether a host is this machine or on a private network.
pub(crate) fn is_private(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    match bare.parse::<IpAddr>() {
        Ok(IpAddr::V4(ip)) => ip.is_loopback() || ip.is_private() || ip.is_link_local() || ip.is_unspecified(),
        Ok(IpAddr::V6(ip)) => {
            ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local() || ip.is_unspecified()
        }
        Err(_) => {
            let name = bare.trim_end_matches('.').to_ascii_lowercase();
            // A name without a dot is one of the local network.
            !name.contains('.') || [".localhost", ".local", ".internal", ".lan"].iter().any(|end| name.ends_with(end))
        }
    }
}

struct Causes {
    reason: String,
    refused: bool,
    unknown: bool,
    tls: bool,
}

impl Causes {
    fn of(error: &reqwest::Error) -> Self {
        let mut refused = false;
        let mut unknown = false;
        let mut tls = false;
        let mut reason = None;
        let mut next: Option<&(dyn StdError + 'static)> = error.source();
        while let Some(cause) = next {
            if let Some(io) = cause.downcast_ref::<std::io::Error>() {
                refused |= io.kind() == ErrorKind::ConnectionRefused;
                // Only the TLS library reports invalid data while connecting.
                tls |= io.kind() == ErrorKind::InvalidData;
            }
            let message = cause.to_string();
            // The library has no kind for it.
            unknown |= message == "dns error";
            reason = Some(message);
            next = cause.source();
        }
        // The outermost message contains the URL; the innermost one names the cause.
        let reason = reason.unwrap_or_else(|| "no reason was given".to_owned());
        Self { reason: printable(&reason, REASON_CHARS), refused, unknown, tls: tls && error.is_connect() }
    }
}

#[cfg(test)]
mod tests {
    use super::NetError;
    use std::time::Duration;

    #[test]
    fn whoever_must_wait_is_told_what_every_command_can_do() {
        let held = NetError::HeldOff { host: "a.example".into(), status: 429, left: Duration::from_secs(700) };
        assert!(held.hint().is_some_and(|hint| hint.starts_with("run the same command again later")));
    }

    #[test]
    fn a_key_in_the_name_of_a_host_is_masked() {
        let last = NetError::Connect {
            host: "sk-0123456789.example".into(),
            reason: "refused".into(),
            refused: true,
            unknown: false,
        };
        let all = NetError::Exhausted { attempts: 2, last: Box::new(last) }.without(&"SK-0123456789".into());
        assert_eq!(all.to_string(), "cannot connect to `***.example`: refused (after 2 attempts)");
    }
}
