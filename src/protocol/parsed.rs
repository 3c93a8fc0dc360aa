//! What a protocol's parser makes of one reply, in a form common to all.

use super::lenient_json::{self, Item};
use serde::ser::{Error as _, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// A reply, understood. What an upstream parser has no notion of is absent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Parsed {
    /// What the system's loop does next.
    pub kind: Kind,
    /// The thought, white space as the parser leaves it.
    pub thought: Option<String>,
    /// The tool as the model names it; for numbered protocols `Search`, `Lookup`, `Finish`, `Think`.
    pub tool: Option<String>,
    /// The argument's raw text, as the parser returns it.
    pub input: Option<String>,
    /// The decoded object, where the parser decodes one.
    pub args: Option<Arguments>,
    /// The answer, for [`Kind::Finish`].
    pub answer: Option<String>,
    /// The system's own error text, for [`Kind::Invalid`] where it has one.
    pub error: Option<String>,
}

/// What a loop does after a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Run a tool.
    Act,
    /// End with an answer.
    Finish,
    /// Send feedback, or make a fallback call.
    Invalid,
}

impl Parsed {
    /// A reply of that kind, with nothing else known of it.
    pub fn new(kind: Kind) -> Self {
        Self { kind, thought: None, tool: None, input: None, args: None, answer: None, error: None }
    }

    /// A tool call.
    pub fn act(thought: Option<String>, tool: impl Into<String>, input: impl Into<String>) -> Self {
        Self { thought, tool: Some(tool.into()), input: Some(input.into()), ..Self::new(Kind::Act) }
    }

    /// An answer.
    pub fn finish(thought: Option<String>, answer: impl Into<String>) -> Self {
        Self { thought, answer: Some(answer.into()), ..Self::new(Kind::Finish) }
    }

    /// A reply that cannot be followed, with the system's error text.
    pub fn invalid(error: impl Into<String>) -> Self {
        Self { error: Some(error.into()), ..Self::new(Kind::Invalid) }
    }
}

/// Decoded arguments, with the JSON text that they are printed as: integers have no bounds there, while a number of
/// [`Value`] would round them.
#[derive(Debug, Clone, PartialEq)]
pub struct Arguments {
    object: Map<String, Value>,
    text: String,
}

impl Arguments {
    /// Arguments that were decoded from `written`.
    pub fn new(object: Map<String, Value>, written: &str) -> Self {
        // Decoded JSON always serialises.
        let text = exact(written).unwrap_or_else(|| serde_json::to_string(&object).unwrap_or_default());
        Self { object, text }
    }

    /// The object, integers beyond 64 bits rounded.
    pub fn object(&self) -> &Map<String, Value> {
        &self.object
    }
}

/// The object as one line of JSON, where it may hold an integer that a [`Value`] would round.
fn exact(written: &str) -> Option<String> {
    let is_long = |digits: &str| digits.len() > 18;
    if !written.split(|c: char| !c.is_ascii_digit()).any(is_long) {
        return None;
    }
    match lenient_json::first_value(written).ok()? {
        Item::Dict(entries) => Some(lenient_json::to_text(&entries)),
        _ => None,
    }
}

impl Serialize for Arguments {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RawValue::from_string(self.text.clone()).map_err(S::Error::custom)?.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::{Arguments, Kind, Parsed};
    use serde_json::json;

    #[test]
    fn integers_are_printed_whole_and_on_one_line() {
        let object = json!({"a": 1.5}).as_object().expect("an object").clone();
        let printed = |written: &str| {
            let args = Some(Arguments::new(object.clone(), written));
            serde_json::to_string(&Parsed { args, ..Parsed::new(Kind::Act) }).expect("JSON")
        };
        let big = "{\n\"a\": 1,\"b\":[123456789012345678901234567890, \"x\ny\"], \"a\": 2}";
        let expected = r#""args":{"a": 2, "b": [123456789012345678901234567890, "x\ny"]},"#;
        assert!(printed(big).contains(expected), "{}", printed(big));
        assert!(printed("{a: 1.5}").contains(r#""args":{"a":1.5},"#), "{}", printed("{a: 1.5}"));
    }
}
