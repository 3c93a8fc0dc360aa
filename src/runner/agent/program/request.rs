//! A program's requests to its episode, and their answers.

use crate::base::Tool;
use crate::models::Api;
use crate::wikipedia::FoundPassage;
use crate::wikipedia::handlers::tools::{ToolAnswer, ToolError};
use serde_json::{Map, Value};
use tokio::sync::oneshot;

pub(super) enum AgentRequest {
    Model { asked: ModelRequest, reply: oneshot::Sender<ModelReply> },
    Tool { used: ToolUse, reply: ToolReply },
    Submit { given: AgentAnswer, reply: oneshot::Sender<Result<ToolAnswer, ToolError>> },
}

/// A call of a model, as a program wrote it.
pub(super) struct ModelRequest {
    pub(super) api: Api,
    /// The model that the program names.
    pub(super) name: String,
    pub(super) body: Map<String, Value>,
    pub(super) stream: bool,
    /// Headers that say how the body is meant.
    pub(super) headers: Vec<(String, String)>,
}

/// The answer to it, as its server wrote it.
pub(super) struct ModelReply {
    pub(super) status: u16,
    pub(super) body: String,
}

impl ModelReply {
    pub(super) fn refused(api: Api, status: u16, message: &str) -> Self {
        Self { status, body: api.error(status, message).to_string() }
    }
}

/// What a request gets after the end of its episode.
pub(super) const EPISODE_ENDED: &str = "the episode has ended";

/// The longest answer, in bytes.
pub(super) const MAX_ANSWER: usize = 64 << 10;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct AgentAnswer {
    pub(super) answer: String,
    /// From 0 to 1.
    pub(super) confidence: Option<f64>,
}

impl AgentAnswer {
    /// Reads a JSON object with `answer` and perhaps `confidence`, or else the last line of a text; none if it says nothing.
    pub(super) fn read(text: &str) -> Option<Self> {
        let text = text.trim_start_matches('\u{feff}').trim();
        let object =
            serde_json::from_str::<Map<String, Value>>(text).ok().filter(|object| object.contains_key("answer"));
        if let Some(object) = object {
            return Self::of(&object["answer"], object.get("confidence"));
        }
        let line = text.lines().next_back().unwrap_or_default().trim();
        // A server may answer with a JSON string.
        let answer = serde_json::from_str::<String>(line).unwrap_or_else(|_| line.to_owned());
        Some(Self { answer, confidence: None }).filter(|given| !given.answer.is_empty())
    }

    pub(super) fn of(answer: &Value, confidence: Option<&Value>) -> Option<Self> {
        let answer = match answer {
            Value::String(text) => text.trim().to_owned(),
            Value::Null | Value::Array(_) | Value::Object(_) => return None,
            scalar => scalar.to_string(),
        };
        let confidence = confidence.and_then(Value::as_f64).filter(|value| (0.0..=1.0).contains(value));
        Some(Self { answer, confidence }).filter(|given| (1..=MAX_ANSWER).contains(&given.answer.len()))
    }
}

pub(super) enum ToolReply {
    Tool(oneshot::Sender<Result<ToolAnswer, ToolError>>),
    Documents(oneshot::Sender<Result<Vec<FoundPassage>, ToolError>>),
}

pub(super) struct ToolUse {
    pub(super) tool: Tool,
    pub(super) input: String,
    /// How many passages; the usual number unless given.
    pub(super) count: Option<usize>,
}

#[cfg(test)]
mod tests {
    use super::AgentAnswer;

    #[test]
    fn an_answer_is_a_text_or_an_object() {
        let read = |text| AgentAnswer::read(text).map(|given| (given.answer, given.confidence));
        assert_eq!(read(" Paris "), Some(("Paris".to_owned(), None)));
        assert_eq!(read("\u{feff}yes\n"), Some(("yes".to_owned(), None)));
        assert_eq!(read(r#"{"answer": "Paris", "confidence": 0.7}"#), Some(("Paris".to_owned(), Some(0.7))));
        assert_eq!(read(r#"{"answer": 1906, "confidence": 70}"#), Some(("1906".to_owned(), None)));
        assert_eq!(read(r#"{"text": "x"}"#), Some((r#"{"text": "x"}"#.to_owned(), None)));
        assert_eq!(read(r#"{"answer": null}"#), None);
        assert_eq!(read("\"Paris\""), Some(("Paris".to_owned(), None)));
        assert_eq!(read("  "), None);
    }
}
