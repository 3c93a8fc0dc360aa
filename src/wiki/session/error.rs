//! Why a step of a session has no observation.

use crate::types::{Failure, Service};
use crate::wiki::clean_str::PythonError;
use crate::wiki::source::SourceError;

#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The source failed: nothing changed, and the episode is not measured (but see
    /// [`is_infrastructure`](SessionError::is_infrastructure)).
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The paper's environment raises here, and leaves the state that the session then has.
    #[error(transparent)]
    Page(#[from] PageError),
}

/// A fault of the paper's environment that ends an episode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    #[error("the paper's environment raises {0}")]
    Python(#[from] PythonError),
    #[error("`{query}` led to disambiguation pages {retries} times in a row")]
    Disambiguation { query: String, retries: usize },
}

impl PageError {
    /// Name of the Python exception that the original raises.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Python(error) => error.kind,
            Self::Disambiguation { .. } => "RecursionError",
        }
    }

    /// The text of that exception, or ours where the original's depends on its stack.
    pub fn message(&self) -> String {
        match self {
            Self::Python(error) => error.message.clone(),
            Self::Disambiguation { .. } => self.to_string(),
        }
    }
}

impl SessionError {
    /// Whether the step failed for reasons outside of agent and tool, so that the episode is not measured and is worth
    /// doing again. Otherwise the paper's environment itself raises here, every time: the episode ends, as it did there.
    pub fn is_infrastructure(&self) -> bool {
        match self {
            Self::Source(error) => error.is_infrastructure(),
            Self::Page(_) => false,
        }
    }

    /// Who failed and why, for programs; nothing where the paper's environment itself raises.
    pub fn failure(&self) -> Option<Failure> {
        match self {
            Self::Source(error) => Some(Failure { service: Service::Wikipedia, cause: error.cause() }),
            Self::Page(_) => None,
        }
    }

    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Source(error) => error.hint(),
            Self::Page(_) => Some("`--compat fixed` does not have this fault".to_owned()),
        }
    }
}
