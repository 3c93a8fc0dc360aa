//! The exact prompt of a recorded call, made again from the record, which holds only its digest and length.

use super::{Call, Request};
use serde_json::{Value, json};

#[derive(Debug, Clone, PartialEq)]
pub struct RebuiltPrompt {
    /// Number of the step that the call led to.
    pub step: usize,
    /// The sample of a vote, from 1.
    pub sample: Option<u32>,
    /// Which call of the step, from 1.
    pub call: usize,
    /// The digest that was recorded.
    pub prompt_sha256: String,
    /// The request; absent where the replay does not get that far.
    pub request: Option<Request>,
    /// Whether its prompt has the recorded digest.
    pub same: bool,
}

impl RebuiltPrompt {
    pub fn new(step: usize, sample: Option<u32>, call: usize, recorded: &Call, request: Option<Request>) -> Self {
        let same = request.as_ref().is_some_and(|request| request.prompt.sha256() == recorded.prompt_sha256);
        Self { step, sample, call, prompt_sha256: recorded.prompt_sha256.clone(), request, same }
    }

    /// The prompt as `text` or `messages`, its digest, and whether that is the one that was recorded.
    pub fn to_json(&self) -> Value {
        let mut value = json!({
            "step": self.step, "sample": self.sample, "call": self.call, "prompt_sha256": self.prompt_sha256,
            "same": self.same,
        });
        if let Some(request) = &self.request {
            let (key, content) = request.prompt.to_json();
            value[key] = content;
            value["stop"] = json!(request.stop);
            if let Some(functions) = &request.functions {
                value["functions"] = json!(functions);
            }
        }
        value
    }
}
