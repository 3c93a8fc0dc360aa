//! The text of a protocol around a question: rendered once per variant, the same for every question.

use super::{Layout, ToolSpec};
use crate::types::{Message, Prefix};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The fixed part of every request of a variant, and the texts for particular occasions.
///
/// The protocol's [`Layout`] determines which fields are used.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frame {
    /// Text before the question.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub prefix: Prefix,
    /// Text after the question, before the first reply.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub suffix: Arc<str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<Arc<str>>,
    /// Solved examples as turns of a conversation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Message>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolSpec>,
    /// Texts by occasion, such as `feedback` and `force_stop`; slots in braces are filled in by the dialogue.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub texts: BTreeMap<String, Arc<str>>,
}

impl Frame {
    /// A frame that is one text before the question.
    pub fn text(prefix: impl Into<Prefix>) -> Self {
        Self { prefix: prefix.into(), ..Self::default() }
    }

    /// The text for an occasion; empty where there is none.
    pub fn said(&self, occasion: &str) -> &str {
        self.texts.get(occasion).map_or("", |text| text)
    }

    /// A sentence for the model, in the frame's words or else in `ours`, with its slots filled in. Text of the model's
    /// may look like a slot, so it comes last.
    pub(super) fn words(&self, key: &str, ours: &str, slots: &[(&str, &str)]) -> String {
        let words = self.texts.get(key).map_or(ours, |text| text).to_owned();
        slots.iter().fold(words, |words, (slot, value)| words.replace(&format!("{{{slot}}}"), value))
    }

    /// The form that is stored and hashed: the bare text for [`Layout::Text`], indented JSON otherwise.
    pub fn stored(&self, layout: Layout) -> String {
        if layout == Layout::Text {
            return self.prefix.to_string();
        }
        // Strings and lists of strings always serialise.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Reads the form that [`stored`](Self::stored) writes.
    pub fn read(stored: &str, layout: Layout) -> Result<Self, serde_json::Error> {
        if layout == Layout::Text { Ok(Self::text(stored)) } else { serde_json::from_str(stored) }
    }
}
