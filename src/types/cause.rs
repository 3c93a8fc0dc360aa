//! Why a call or an episode is not what was asked for, for programs; the words for people are elsewhere.

use super::finish::{Ending, FinishReason};
use serde::{Deserialize, Serialize};

/// Who failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Service {
    /// The model's server.
    Model,
    /// The source of pages.
    Wikipedia,
}

/// Why an episode could not be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Failure {
    /// Who failed.
    pub service: Service,
    /// Why.
    pub cause: Cause,
}

/// What went wrong. The first six also say why a completion is less than the model's whole answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The limit of tokens cut the answer.
    TokenLimit,
    /// A filter of the provider withheld prompt or answer.
    ContentFilter,
    /// The model declined to answer, and the server says so.
    Refusal,
    /// The prompt, or prompt and answer, do not fit into the model's context.
    ContextOverflow,
    /// The server sent neither a text nor a call, and no reason.
    Empty,
    /// The model wrote a call that the provider cannot read.
    MalformedCall,
    /// The key was rejected (401).
    Key,
    /// The account has to be paid for (402).
    Payment,
    /// The key, or this machine, may not do this (403).
    Forbidden,
    /// There is nothing at this address (404).
    NotFound,
    /// The server does not have this model.
    UnknownModel,
    /// What the account may spend is spent.
    Quota,
    /// Nothing listens at this address.
    ConnectionRefused,
    /// The host's name is not known.
    UnknownHost,
    /// No secure connection.
    Tls,
    /// The server refused this request, for a reason of its own.
    BadRequest,
    /// Too many requests (429).
    RateLimit,
    /// The server was overloaded or failed (5xx).
    ServerError,
    /// No whole answer in time.
    Timeout,
    /// The connection broke, or never came about.
    Connection,
    /// What came back is not an answer.
    BadAnswer,
    /// An empty answer ended for a reason that is not known.
    UnknownReason,
    /// Something else than the wiki answered.
    NotTheWiki,
    /// A replay has no such answer, or a recording cannot be written.
    Recording,
    /// Anything else.
    #[serde(other)]
    Other,
}

impl Cause {
    /// Its name in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::TokenLimit => "token_limit",
            Self::ContentFilter => "content_filter",
            Self::Refusal => "refusal",
            Self::ContextOverflow => "context_overflow",
            Self::Empty => "empty",
            Self::MalformedCall => "malformed_call",
            Self::Key => "key",
            Self::Payment => "payment",
            Self::Forbidden => "forbidden",
            Self::NotFound => "not_found",
            Self::UnknownModel => "unknown_model",
            Self::Quota => "quota",
            Self::ConnectionRefused => "connection_refused",
            Self::UnknownHost => "unknown_host",
            Self::Tls => "tls",
            Self::BadRequest => "bad_request",
            Self::RateLimit => "rate_limit",
            Self::ServerError => "server_error",
            Self::Timeout => "timeout",
            Self::Connection => "connection",
            Self::BadAnswer => "bad_answer",
            Self::UnknownReason => "unknown_reason",
            Self::NotTheWiki => "not_the_wiki",
            Self::Recording => "recording",
            Self::Other => "other",
        }
    }

    /// Why a completion with this reason for its end is less than the model's whole answer; nothing if it is not less, and
    /// nothing for failures of the server.
    pub fn of_finish(reason: &str) -> Option<Self> {
        match FinishReason::ending(reason)? {
            Ending::Short(cause) => Some(cause),
            Ending::Answer | Ending::Paused | Ending::Failed | Ending::Unclear | Ending::Unsaid => None,
        }
    }

    /// What a status other than success says.
    pub fn of_status(status: u16) -> Self {
        match status {
            401 | 407 => Self::Key,
            402 => Self::Payment,
            403 => Self::Forbidden,
            // By 501 and 505, something else than the API says that it does not know the method, or the protocol.
            300..=399 | 404 | 405 | 410 | 501 | 505 => Self::NotFound,
            408 => Self::Timeout,
            429 => Self::RateLimit,
            409 | 425 | 500.. => Self::ServerError,
            400..=499 => Self::BadRequest,
            0..=299 => Self::BadAnswer,
        }
    }

    /// Whether the same request may succeed later.
    pub fn is_passing(self) -> bool {
        matches!(self, Self::RateLimit | Self::ServerError | Self::Timeout)
    }

    /// Whether the next request will fail for the same reason, until somebody does something about it.
    pub fn is_lasting(self) -> bool {
        matches!(
            self,
            Self::Key
                | Self::Payment
                | Self::Forbidden
                | Self::NotFound
                | Self::UnknownModel
                | Self::Quota
                | Self::ConnectionRefused
                | Self::UnknownHost
                | Self::Tls
                | Self::BadRequest
                | Self::NotTheWiki
        )
    }
}
