//! Why there is no completion.

use crate::base::{Call, Cause, Failure, Request, Service, Usage};
use crate::net::NetError;
use crate::net::recording::TapeError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BudgetKind {
    Calls,
    Tokens,
    Usd,
}

impl BudgetKind {
    pub fn unit(self) -> &'static str {
        match self {
            Self::Calls => "model calls",
            Self::Tokens => "tokens",
            Self::Usd => "USD",
        }
    }
}

/// Why there is no completion. [`ModelError::Budget`] makes an episode `budget`, every other kind `not_measured`; none
/// counts as a wrong answer. `usage` has the tokens that the server counted although its answers were no completion.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// The server rejected the request; a retry would not help. `message` has at most 300 characters, without secrets.
    /// The status is 200 where the answer to a request that was taken says so.
    #[error("the model's server refused the request{}: {message}", with_status(*status))]
    Refused {
        status: u16,
        message: String,
        cause: Cause,
        /// The answer as it was written, without secrets, where another program wrote the request.
        body: Option<Box<str>>,
    },
    #[error("the model's server failed with {reason} (attempts: {attempts})")]
    Exhausted { attempts: u32, reason: String, cause: Cause, usage: Option<Usage> },
    #[error("the model's server sent no completion: {reason} (attempts: {attempts})")]
    Undecodable { attempts: u32, reason: String },
    #[error("the model's server sent an empty answer {} (attempts: {attempts})", ended_with(reason))]
    Unexplained { attempts: u32, reason: String, usage: Option<Usage> },
    #[error("the model's server did not answer: {0}")]
    Net(NetError),
    #[error(transparent)]
    Tape(#[from] TapeError),
    /// The server answered, and the answer could not be recorded.
    #[error("{error}")]
    Unrecorded { error: Box<TapeError>, usage: Option<Usage> },
    #[error("the budget of {limit} {} is spent ({spent} with what is in flight)", which.unit())]
    Budget { which: BudgetKind, spent: String, limit: String },
    /// The request was not sent, or a model without a server failed.
    #[error("{0}")]
    Other(String),
}

// Not `#[from]`, which would print the same failure twice in a chain of causes.
impl From<NetError> for ModelError {
    fn from(error: NetError) -> Self {
        Self::Net(error)
    }
}

fn with_status(status: u16) -> String {
    if status == 200 { String::new() } else { format!(" with status {status}") }
}

fn ended_with(reason: &str) -> String {
    if reason.is_empty() {
        return "and no reason for it".to_owned();
    }
    format!("that ended with `{reason}`, which is not known")
}

const KEY_HINT: &str = "the server rejects the key: set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY, or name another variable with --key-env or a file with --key-file";

/// What to do about a reason for the end of answers that is not known.
pub const UNKNOWN_REASON_HINT: &str = "`wikitrail models check` shows one answer; the server's documentation says what its reasons mean, and `wikitrail docs models` which are known";

impl ModelError {
    pub fn failure(&self) -> Failure {
        let cause = match self {
            Self::Refused { cause, .. } | Self::Exhausted { cause, .. } => *cause,
            Self::Undecodable { .. } => Cause::BadAnswer,
            Self::Unexplained { .. } => Cause::UnknownReason,
            Self::Net(error) => error.cause(),
            Self::Tape(_) | Self::Unrecorded { .. } => Cause::Recording,
            Self::Budget { .. } | Self::Other(_) => Cause::Other,
        };
        Failure { service: Service::Model, cause }
    }

    #[must_use]
    pub(super) fn with_usage(mut self, counted: Option<Usage>) -> Self {
        if let Self::Exhausted { usage, .. } | Self::Unexplained { usage, .. } = &mut self {
            *usage = counted;
        }
        self
    }

    /// The record of a call that failed after the server had generated something, which it charges for.
    pub fn charged_call(&self, request: &Request) -> Option<Call> {
        match self {
            Self::Unexplained { attempts, reason, usage } => {
                Some(Call::failed(request, Cause::UnknownReason, Some(reason.clone()), *usage, *attempts))
            }
            Self::Exhausted { attempts, cause, usage: Some(usage), .. } => {
                Some(Call::failed(request, *cause, None, Some(*usage), *attempts))
            }
            Self::Unrecorded { usage, .. } => Some(Call::failed(request, Cause::Recording, None, *usage, 1)),
            _ => None,
        }
    }

    pub fn hint(&self) -> Option<String> {
        let text = match self {
            Self::Refused { cause: Cause::Key | Cause::Forbidden, .. } => KEY_HINT,
            Self::Refused { cause: Cause::Payment | Cause::Quota, .. } => {
                "the account has nothing left to spend: see the provider's page of plans and billing"
            }
            Self::Refused { cause: Cause::ContextOverflow, .. } => {
                "the prompt is too long for the model: use fewer examples, or a model with a larger context window"
            }
            Self::Refused { cause: Cause::NotFound | Cause::UnknownModel, .. } => {
                "check the model's name and --base-url, which usually ends in /v1"
            }
            Self::Refused { cause: Cause::ContentFilter, .. } => {
                "the provider withholds the answer: another model may give it"
            }
            Self::Refused { message, .. } if message.to_ascii_lowercase().contains("prefill") => {
                "the model does not support prefill: leave out --prefill"
            }
            Self::Refused { cause: Cause::BadRequest, message, .. } => refused_setting(message),
            Self::Exhausted { .. } => {
                "the server is overloaded or failing: lower --concurrency or raise --model-attempts"
            }
            Self::Unexplained { .. } => UNKNOWN_REASON_HINT,
            Self::Undecodable { .. } => {
                "check the server's log, and that --base-url is the URL of the API, which usually ends in /v1"
            }
            Self::Net(error) => error.hint()?,
            Self::Tape(error) => error.hint(),
            Self::Unrecorded { error, .. } => error.hint(),
            Self::Budget { which: BudgetKind::Calls, .. } => "continue with --resume and a larger --max-calls",
            Self::Budget { which: BudgetKind::Tokens, .. } => "continue with --resume and a larger --budget-tokens",
            Self::Budget { which: BudgetKind::Usd, .. } => "continue with --resume and a larger --budget-usd",
            Self::Refused { .. } | Self::Other(_) => return None,
        };
        Some(text.to_owned())
    }
}

/// What to do about a setting that a server refuses, by its words.
pub fn refused_setting(message: &str) -> &'static str {
    let message = message.to_ascii_lowercase();
    if message.contains("enable-auto-tool-choice") || message.contains("tool-call-parser") {
        "start the server with --enable-auto-tool-choice --tool-call-parser NAME, where NAME fits the model, or use --protocol robust"
    } else if message.contains("--jinja") {
        "start the server with --jinja and a chat template with tools, or use --protocol robust"
    } else if message.contains("/v1/responses") {
        "this model takes tools or reasoning only at the Responses API: add --responses"
    } else if message.contains("temperature") {
        "the server does not take this temperature: leave out --temperature (none is sent then), or try --temperature 1"
    } else if message.contains("top_p") || message.contains("topp") {
        "the server does not take this top_p: leave out --top-p"
    } else if message.contains("seed") {
        "the server does not take a seed: leave out --seed"
    } else if ["reasoning", "thinking", "effort", "budget_tokens"].iter().any(|word| message.contains(word)) {
        "models take only some ways to reason: try another --reasoning (off, low, medium, high or a number of tokens), or leave it out"
    } else {
        "the server refuses these requests: leave out the setting that it names, or tell with --server which software it is"
    }
}

#[cfg(test)]
mod tests {
    use super::{ModelError, TapeError};
    use crate::base::{Cause, Decoding, Prompt, Request, Usage};
    use crate::net::NetError;

    #[test]
    fn hints_name_what_to_change() {
        let refused = |cause, message: &str| {
            ModelError::Refused { status: 400, message: message.into(), cause, body: None }.hint()
        };
        for (cause, message, hint) in [
            (Cause::Key, "no", "OPENAI_API_KEY"),
            (Cause::Key, "no", "--key-env"),
            (Cause::Quota, "no", "billing"),
            (Cause::UnknownModel, "no such model", "model's name and --base-url"),
            (Cause::ContextOverflow, "no", "fewer examples"),
            (Cause::BadRequest, "This model does not support assistant message prefill.", "--prefill"),
            (Cause::BadRequest, "`temperature` is deprecated for this model.", "--temperature 1"),
            (
                Cause::BadRequest,
                "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set",
                "start the server with --enable-auto-tool-choice --tool-call-parser NAME",
            ),
            (Cause::BadRequest, "tools param requires --jinja flag", "with --jinja"),
            (
                Cause::BadRequest,
                "Function tools with reasoning_effort are not supported. Please use /v1/responses instead.",
                "--responses",
            ),
            (Cause::BadRequest, "something else", "leave out the setting that it names"),
        ] {
            assert!(refused(cause, message).is_some_and(|found| found.contains(hint)), "{message}");
        }
        let (path, usage) = ("r".into(), Some(Usage::new(7, 3)));
        let unrecorded = ModelError::Unrecorded { error: TapeError::Stopped { path }.into(), usage };
        let call = unrecorded
            .charged_call(&Request::new(Prompt::text("p".into(), String::new()), vec![], Decoding::default()))
            .expect("the server answered");
        assert!(call.has_failed() && call.usage == usage && unrecorded.hint().is_some());
        let gone = NetError::Connect { host: "h".into(), reason: "refused".into(), refused: true, unknown: false };
        assert!(ModelError::Net(gone).hint().is_some_and(|h| h.contains("is the server up")));
    }
}
