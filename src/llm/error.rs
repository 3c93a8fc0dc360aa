//! Why there is no completion.

use super::budget::BudgetKind;
use crate::net::NetError;
use crate::tape::TapeError;

/// Why there is no completion. [`ModelError::Budget`] makes an episode `budget`, every other kind `not_measured`; none is
/// a wrong answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The server will not answer this request, however often it is sent.
    #[error("the model's server refused the request with status {status}: {message}")]
    Refused {
        /// HTTP status.
        status: u16,
        /// The server's own words, at most 300 characters, without the key.
        message: String,
    },
    /// The server was overloaded or broken at every attempt.
    #[error("the model's server failed with {reason} (attempts: {attempts})")]
    Exhausted {
        /// How often the request was sent.
        attempts: u32,
        /// The last status and the server's own words.
        reason: String,
    },
    /// The server said that all was well, but what it sent is no completion.
    #[error("the model's server sent no completion: {reason} (attempts: {attempts})")]
    Undecodable {
        /// How often the request was sent.
        attempts: u32,
        /// What is wrong with the last answer.
        reason: String,
    },
    /// No whole answer came.
    #[error("the model's server did not answer: {0}")]
    Net(NetError),
    /// A replay has no such answer, or a recording cannot be written.
    #[error("{0}")]
    Tape(TapeError),
    /// The run may not spend more, so the request was not sent.
    #[error("the run's budget of {limit} {} is spent ({spent} with what is in flight)", which.unit())]
    Budget {
        /// Which limit was reached.
        which: BudgetKind,
        /// What was spent, with the estimates of the calls in flight.
        spent: String,
        /// The limit.
        limit: String,
    },
    /// A model that is no server could not answer.
    #[error("{0}")]
    Other(String),
}

// Not `#[from]`: that would name the same failure twice where a chain of causes is printed.
impl From<NetError> for ModelError {
    fn from(error: NetError) -> Self {
        Self::Net(error)
    }
}

const KEY_HINT: &str = "the server wants a key that it knows: set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY, or name another variable with --key-env or a file with --key-file";

impl From<TapeError> for ModelError {
    fn from(error: TapeError) -> Self {
        Self::Tape(error)
    }
}

impl ModelError {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        let text = match self {
            Self::Refused { status: 401 | 403, .. } => KEY_HINT,
            Self::Refused { message, .. } if message.to_ascii_lowercase().contains("api key") => KEY_HINT,
            Self::Refused { message, .. } if is_length(message) => {
                "the prompt is longer than the model takes: use fewer examples, or a model with a larger window"
            }
            Self::Refused { status: 404 | 405 | 300..=399, .. } => {
                "check the model's name and --base-url, which usually ends in /v1"
            }
            Self::Refused { message, .. } if message.to_ascii_lowercase().contains("prefill") => {
                "the model does not continue an answer that was begun for it: leave out --prefill"
            }
            Self::Refused { message, .. } if message.contains("temperature") => {
                "the model allows no other temperature than its own: try --temperature 1"
            }
            Self::Exhausted { .. } => "the server is overloaded or broken: ask less at once, or allow more attempts",
            Self::Undecodable { .. } => "does --base-url name the API itself? it usually ends in /v1",
            Self::Net(error) => error.hint()?,
            Self::Tape(error) => error.hint(),
            Self::Budget { which: BudgetKind::Calls, .. } => "go on with --resume and a larger --max-calls",
            Self::Budget { which: BudgetKind::Tokens, .. } => "go on with --resume and a larger --budget-tokens",
            Self::Budget { which: BudgetKind::Usd, .. } => "go on with --resume and a larger --budget-usd",
            Self::Refused { .. } | Self::Other(_) => return None,
        };
        Some(text.to_owned())
    }
}

/// Whether a refusal speaks of the length of the prompt.
fn is_length(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    ["context length", "context_length", "context window", "maximum context", "context size", "too long"]
        .iter()
        .any(|words| message.contains(words))
}

#[cfg(test)]
mod tests {
    use super::ModelError;
    use crate::net::NetError;

    #[test]
    fn hints_name_what_to_change() {
        let refused = |status, message: &str| ModelError::Refused { status, message: message.into() }.hint();
        assert!(refused(401, "no").is_some_and(|h| h.contains("OPENAI_API_KEY") && h.contains("--key-env")));
        assert!(refused(404, "no such model").is_some_and(|h| h.contains("--base-url") && h.contains("model's name")));
        assert!(
            refused(400, "This model's maximum context length is 10").is_some_and(|h| h.contains("fewer examples"))
        );
        assert_eq!(refused(400, "something else"), None);
        assert!(refused(400, "API key not valid.").is_some_and(|h| h.contains("GEMINI_API_KEY")));
        let message = "This model does not support assistant message prefill.";
        assert!(refused(400, message).is_some_and(|h| h.contains("--prefill")));
        assert!(
            refused(400, "`temperature` is deprecated for this model.").is_some_and(|h| h.ends_with("--temperature 1"))
        );
        let gone = NetError::Connect { host: "h".into(), reason: "refused".into(), refused: true };
        assert!(ModelError::Net(gone).hint().is_some_and(|h| h.contains("is the server up")));
    }
}
