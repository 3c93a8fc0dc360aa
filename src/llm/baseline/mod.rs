//! `--model baseline`: a policy of rules behind the same interface as a real model.
//!
//! It needs no key, no network and no weights, and gives the same answer every time, so that a run can be tried, tested
//! and measured on any machine. It knows nothing but the prompt: it reads the question and the steps so far, and
//! writes the next step as a model would. Its rules are about English (and Chinese) questions and encyclopedic
//! sentences in general; none is about a particular question. Real models should beat it; a prompt that does not is suspect.
//!
//! | file | what it holds |
//! |---|---|
//! | [`transcript`] | from prompt to steps, from decision to text, in the form of whatever protocol is spoken |
//! | `lexicon` | words of English at large: small words, words alike, peoples, months, numbers |
//! | `text` | words, stems, capitalised spans, numbers and years |
//! | `question` | what a question asks for: named things, kind of answer, the words around the question word |
//! | `reading` | pages as far as they were seen; which sentence fits which words |
//! | `extract` | from a sentence to a short answer |
//! | `bridge`, `compare`, `claim` | what to do next for each kind of question |
//! | `chinese` | all of that for questions in Chinese |
//! | `policy` | which of them is asked, the last step, and what is done instead of an action that failed |

mod bridge;
mod chinese;
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
use crate::protocol::Protocol;
use crate::types::{Completion, Request};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use std::sync::Arc;
use transcript::Transcript;

/// Settings of the policy: what a prompt does not tell about itself.
#[derive(Debug, Clone)]
pub struct BaselineSettings {
    /// Label before a question.
    pub question_label: String,
    /// Label before a claim, which is judged rather than answered.
    pub claim_label: String,
    /// Whether all questions are claims, for protocols that put them without a label.
    pub claims: bool,
    /// The step at which an answer must be given, from 1.
    pub last_step: usize,
    /// The protocol that is spoken. Without one, steps are numbered as in the paper, and a prompt that ends in
    /// `Answer:` or `Thought:` is answered without tools.
    pub protocol: Option<Arc<dyn Protocol>>,
    /// Whether steps have thoughts; what a prompt's last label says comes before this.
    pub thoughts: bool,
    /// The text by which the protocol says that an answer is due, slots in braces included; empty if there is none.
    pub force_stop: String,
}

impl Default for BaselineSettings {
    /// `Question`, `Claim`, and the paper's seven steps.
    fn default() -> Self {
        Self {
            question_label: "Question".to_owned(),
            claim_label: "Claim".to_owned(),
            claims: false,
            last_step: 7,
            protocol: None,
            thoughts: true,
            force_stop: String::new(),
        }
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
        transcript.write(&decision, &self.settings)
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
