//! Native tool calls: the functions that a request offers to a model, and the model's calls of them.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The functions that a request offers, and how the model may call them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Functions {
    pub list: Vec<Function>,
    /// Whether the model must call one.
    pub required: bool,
    /// Whether one reply may hold several calls.
    pub parallel: bool,
    /// Whether the server is to hold the model's arguments to the schema.
    pub strict: bool,
}

/// A function as the model is told of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Function {
    pub name: String,
    pub description: String,
    /// JSON schema of its arguments, an object.
    pub parameters: Value,
}

/// A model's call of a function.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FunctionCall {
    /// What the result refers to; made up by the provider.
    pub id: String,
    pub name: String,
    /// The arguments as the model wrote them: a JSON object, if all is well.
    pub arguments: String,
}

impl Functions {
    /// The list in the form of `OpenAI`'s chat completions, which most servers and files for fine-tuning share.
    pub fn openai(&self) -> Vec<Value> {
        let written = |function: &Function| {
            let Function { name, description, parameters } = function;
            let mut function = json!({ "name": name, "description": description, "parameters": parameters });
            if self.strict {
                function["strict"] = json!(true);
            }
            json!({ "type": "function", "function": function })
        };
        self.list.iter().map(written).collect()
    }
}

impl FunctionCall {
    /// The arguments as an object; an empty one where they are none.
    pub fn object(&self) -> Value {
        serde_json::from_str(&self.arguments).ok().filter(Value::is_object).unwrap_or_else(|| json!({}))
    }

    /// The call in the form of `OpenAI`'s chat completions.
    pub fn openai(&self) -> Value {
        let Self { id, name, arguments } = self;
        json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } })
    }
}

/// A reply as its provider wrote it, which has to be sent back unchanged, because it holds signed or encrypted reasoning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verbatim {
    /// The API that wrote it and can read it, by the name of its endpoint.
    pub endpoint: String,
    pub content: Value,
}

impl Verbatim {
    /// Whether it holds the ids of calls, to which results refer. Gemini's results are matched by name and order, and of chat
    /// completions only the reasoning is kept.
    pub fn has_ids(&self) -> bool {
        !matches!(self.endpoint.as_str(), "chat" | "generateContent")
    }
}
