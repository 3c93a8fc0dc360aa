//! `--model baseline`: a simple rule-based policy with the interface of a real model.
//!
//! It searches for the titles that the question names, looks up its rarest words, follows names that it reads, and
//! answers with the best matching span. It needs no key, network or weights, so runs can be tried, tested and measured on any machine, with the same answers every time. A real model should beat it.

mod notes;
mod policy;
mod text;
mod transcript;

use super::{Model, ModelError, cut_at_stop};
use crate::base::{Completion, Request};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use transcript::Transcript;

pub use transcript::BaselineSettings;

#[derive(Debug, Clone, Default)]
pub struct Baseline {
    settings: BaselineSettings,
}

impl Baseline {
    pub fn new(settings: BaselineSettings) -> Self {
        Self { settings }
    }

    /// The policy's reply to a request, not cut at any stop.
    pub fn reply(&self, request: &Request) -> Completion {
        let transcript = Transcript::read(request, &self.settings);
        let decision = policy::decide(&transcript, &self.settings);
        if let Some(functions) = &request.functions {
            return transcript.call(&decision, functions);
        }
        let text = transcript.write(&decision, &self.settings);
        Completion { text, finish_reason: Some("stop".to_owned()), ..Completion::default() }
    }
}

impl Model for Baseline {
    fn complete<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Completion, ModelError>> {
        let mut completion = self.reply(request);
        let end = cut_at_stop(&completion.text, &request.stop);
        completion.text.truncate(end);
        futures_util::future::ready(Ok(completion)).boxed()
    }
}

#[cfg(test)]
mod tests;
