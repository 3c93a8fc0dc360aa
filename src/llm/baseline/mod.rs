//! `--model baseline`: a policy of rules behind the same interface as a real model.
//!
//! It needs no key, no network and no weights, and gives the same answer every time, so that a run can be tried, tested
//! and measured on any machine. It knows nothing but the prompt: it reads the question and the steps so far, and
//! writes the next step as a model would. Its rules are about English questions and encyclopedic sentences in
//! general; none is about a particular question. Real models should beat it; a prompt that does not is suspect.
//!
//! | file | what it holds |
//! |---|---|
//! | [`transcript`] | from prompt to steps, from decision to text: the one place that knows a protocol's form |
//! | `lexicon` | words of English at large: small words, words alike, peoples, months, numbers |
//! | `text` | words, stems, capitalised spans, numbers and years |
//! | `question` | what a question asks for: named things, kind of answer, the words around the question word |
//! | `reading` | pages as far as they were seen; which sentence fits which words |
//! | `extract` | from a sentence to a short answer |
//! | `bridge`, `compare`, `claim` | what to do next for each kind of question |
//! | `policy` | which of them is asked, and the last step |

mod bridge;
mod claim;
mod compare;
mod extract;
mod lexicon;
mod policy;
mod question;
mod reading;
mod text;
pub mod transcript;

use super::{Model, ModelError, stop};
use crate::types::{Completion, Request};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use transcript::Transcript;

/// Settings of the policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaselineSettings {
    /// Label before a question.
    pub question_label: String,
    /// Label before a claim, which is judged rather than answered.
    pub claim_label: String,
    /// The step at which an answer must be given, from 1.
    pub last_step: usize,
}

impl Default for BaselineSettings {
    /// `Question`, `Claim`, and the paper's seven steps.
    fn default() -> Self {
        Self { question_label: "Question".to_owned(), claim_label: "Claim".to_owned(), last_step: 7 }
    }
}

/// The policy as a model.
#[derive(Debug, Clone, Default)]
pub struct Baseline {
    settings: BaselineSettings,
}

impl Baseline {
    /// A policy with these settings.
    pub fn new(settings: BaselineSettings) -> Self {
        Self { settings }
    }

    /// What the policy writes after this prompt, not cut at any stop.
    pub fn write(&self, request: &Request) -> String {
        let transcript = Transcript::read(&request.prompt, &self.settings);
        let decision = policy::decide(&transcript, self.settings.last_step);
        transcript.write(&decision)
    }
}

impl Model for Baseline {
    fn complete<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Completion, ModelError>> {
        let mut text = self.write(request);
        let end = stop::cut(&text, &request.stop);
        text.truncate(end);
        let completion = Completion {
            text,
            finish_reason: Some("stop".to_owned()),
            usage: None,
            latency_ms: 0,
            attempts: 0,
            cached: false,
        };
        futures_util::future::ready(Ok(completion)).boxed()
    }
}

#[cfg(test)]
mod tests;
