//! A variant with its agent, as it is built from settings.

use super::breaker::Breaker;
use crate::base::Variant;
use crate::models::LearnedOptions;
use crate::runner::agent::{Agent, StoredPrompt};
use std::sync::Arc;

pub(super) struct BuiltVariant {
    pub(super) variant: Variant,
    pub(super) agent: Agent,
    pub(super) prompts: Vec<StoredPrompt>,
    pub(super) breaker: Option<Arc<Breaker>>,
    pub(super) learned: Option<LearnedOptions>,
    /// What a person may not expect of its prompt.
    pub(super) notes: Vec<String>,
}
