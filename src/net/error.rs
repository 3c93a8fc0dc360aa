//! Why a request brought no complete answer.

use super::redact;
use crate::types::text::printable;
use secrecy::SecretString;
use std::error::Error as StdError;
use std::io::ErrorKind;
use std::time::Duration;

/// Longest reason that an error quotes, in characters.
const REASON_CHARS: usize = 200;

/// Why there is no answer. Names the host and the reason; never a secret, a URL's user part or its query.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NetError {
    /// The client could not be built.
    #[error("cannot set up the HTTP client: {reason}")]
    Setup {
        /// What the library says.
        reason: String,
    },
    /// The address is not one that can be asked.
    #[error("`{url}` is not a usable URL: {reason}")]
    BadUrl {
        /// The address, without user part and query.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A header's value cannot be sent.
    #[error("the value of header `{name}` holds characters that cannot be sent")]
    BadHeader {
        /// The header's name; its value may be a secret.
        name: String,
    },
    /// No connection was made.
    #[error("cannot connect to `{host}`: {reason}")]
    Connect {
        /// Host and port.
        host: String,
        /// What the system says.
        reason: String,
        /// Whether the host is there but nothing listens at the port.
        refused: bool,
    },
    /// The connection is not secure.
    #[error("no secure connection to `{host}`: {reason}")]
    Tls {
        /// Host and port.
        host: String,
        /// What the library says.
        reason: String,
    },
    /// The answer did not come in time.
    #[error("no complete answer from `{host}` within {} s", .after.as_secs_f64())]
    Timeout {
        /// Host and port.
        host: String,
        /// The time that was allowed.
        after: Duration,
    },
    /// The connection broke before an answer began.
    #[error("connection to `{host}` broke: {reason}")]
    Broken {
        /// Host and port.
        host: String,
        /// What the system says.
        reason: String,
    },
    /// The body ended early, or could not be decoded.
    #[error("answer of `{host}` ended early: {reason}")]
    Truncated {
        /// Host and port.
        host: String,
        /// What the library says.
        reason: String,
    },
    /// The body is larger than allowed.
    #[error("answer of `{host}` is larger than {limit} bytes")]
    TooLarge {
        /// Host and port.
        host: String,
        /// The limit, in decoded bytes.
        limit: usize,
    },
    /// The server sent the request from address to address.
    #[error("`{host}` redirects more than {limit} times")]
    Redirects {
        /// Host and port of the last one.
        host: String,
        /// How many were allowed.
        limit: usize,
    },
    /// The server asked for a longer wait than requests take on, and it is not over: nothing was sent.
    #[error("`{host}` asked with status {status} not to be asked again, for {} s more", .left.as_secs_f64().ceil())]
    HeldOff {
        /// Host and port.
        host: String,
        /// The status with which it asked.
        status: u16,
        /// How long its wish still lasts.
        left: Duration,
    },
    /// Every attempt failed.
    #[error("{last} (after {attempts} attempts)")]
    Exhausted {
        /// How often the request was sent, 2 or more.
        attempts: u32,
        /// How the last one failed.
        last: Box<NetError>,
    },
}

impl NetError {
    /// The failure itself, without the count of attempts.
    pub fn last(&self) -> &Self {
        match self {
            Self::Exhausted { last, .. } => last.last(),
            other => other,
        }
    }

    /// How often the request was sent.
    pub fn attempts(&self) -> u32 {
        match self {
            Self::Exhausted { attempts, .. } => *attempts,
            Self::Setup { .. } | Self::BadUrl { .. } | Self::BadHeader { .. } | Self::HeldOff { .. } => 0,
            _ => 1,
        }
    }

    /// What a person can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self.last() {
            Self::Connect { refused: true, .. } => "nothing listens there: is the server up, and is the port right?",
            Self::Connect { .. } => "check the host's name and the network",
            Self::Tls { .. } => "check the address (https or http?) and the system's certificates",
            Self::Timeout { .. } => "the server is slow or does not answer: allow more time, or fewer requests at once",
            Self::BadUrl { .. } => "a URL looks like http://127.0.0.1:8000/v1",
            Self::BadHeader { .. } => "a key is one line of plain characters",
            Self::TooLarge { .. } => "is this the right address?",
            Self::Redirects { .. } => "the address seems to point at itself; check it in a browser",
            Self::HeldOff { .. } => "go on later with `--resume`, and with fewer requests at once or a minute",
            Self::Broken { .. } | Self::Truncated { .. } | Self::Setup { .. } | Self::Exhausted { .. } => return None,
        })
    }

    /// The same without `key`, which a server can bring into it by a redirect to a host of that name.
    #[must_use]
    pub(crate) fn without(mut self, key: &SecretString) -> Self {
        for text in self.texts() {
            *text = redact::secret(text, key);
        }
        self
    }

    /// The texts that may come from a server.
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

    /// Whether another attempt may do better.
    pub(crate) fn passing(&self) -> bool {
        matches!(self, Self::Connect { .. } | Self::Timeout { .. } | Self::Broken { .. } | Self::Truncated { .. })
    }

    /// A failure while the request was sent or the answer's head was awaited.
    pub(crate) fn from_send(error: &reqwest::Error, host: String, connect_timeout: Duration) -> Self {
        let causes = Causes::of(error);
        if error.is_timeout() {
            let reason = format!("no connection within {} s", connect_timeout.as_secs_f64());
            return Self::Connect { host, reason, refused: false };
        }
        if causes.tls {
            return Self::Tls { host, reason: causes.reason };
        }
        if error.is_connect() {
            return Self::Connect { host, reason: causes.reason, refused: causes.refused };
        }
        if error.is_builder() {
            return Self::BadUrl { url: host, reason: causes.reason };
        }
        Self::Broken { host, reason: causes.reason }
    }

    /// A failure while the body was read.
    pub(crate) fn from_body(error: &reqwest::Error, host: String, timeout: Duration) -> Self {
        if error.is_timeout() {
            return Self::Timeout { host, after: timeout };
        }
        Self::Truncated { host, reason: Causes::of(error).reason }
    }
}

/// What the chain of causes below an error of the library says.
struct Causes {
    reason: String,
    refused: bool,
    tls: bool,
}

impl Causes {
    fn of(error: &reqwest::Error) -> Self {
        let mut refused = false;
        let mut tls = false;
        let mut reason = None;
        let mut next: Option<&(dyn StdError + 'static)> = error.source();
        while let Some(cause) = next {
            if let Some(io) = cause.downcast_ref::<std::io::Error>() {
                refused |= io.kind() == ErrorKind::ConnectionRefused;
                // The TLS library reports its own failures as invalid data; nothing else below a connection does.
                tls |= io.kind() == ErrorKind::InvalidData;
            }
            reason = Some(cause.to_string());
            next = cause.source();
        }
        // The outermost text would hold the URL; the innermost one names the cause.
        let reason = reason.unwrap_or_else(|| "no reason was given".to_owned());
        Self { reason: printable(&reason, REASON_CHARS), refused, tls: tls && error.is_connect() }
    }
}

#[cfg(test)]
mod tests {
    use super::NetError;
    use std::time::Duration;

    #[test]
    fn texts_are_fragments_with_the_host_in_backticks() {
        let timeout = NetError::Timeout { host: "127.0.0.1:9".into(), after: Duration::from_millis(1500) };
        assert_eq!(timeout.to_string(), "no complete answer from `127.0.0.1:9` within 1.5 s");
        let all = NetError::Exhausted { attempts: 4, last: Box::new(timeout.clone()) };
        assert_eq!(all.to_string(), "no complete answer from `127.0.0.1:9` within 1.5 s (after 4 attempts)");
        assert_eq!((all.last(), all.attempts(), all.hint()), (&timeout, 4, timeout.hint()));
    }

    #[test]
    fn a_key_in_the_name_of_a_host_is_masked() {
        let last = NetError::Connect { host: "sk-0123456789.example".into(), reason: "refused".into(), refused: true };
        let all = NetError::Exhausted { attempts: 2, last: Box::new(last) }.without(&"SK-0123456789".into());
        assert_eq!(all.to_string(), "cannot connect to `***.example`: refused (after 2 attempts)");
    }
}
