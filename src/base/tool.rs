//! Tools that an agent can use, one use of them, and native calls: the functions that a request offers to a model, and the
//! model's calls of them.
//!
//! The ids that we write for calls are nine letters and digits, which every server takes: Mistral takes no others, `OpenAI`
//! at most 40 characters, Anthropic letters, digits, `_` and `-`. An id is `x` and two numbers for a call of an exemplar,
//! `c` and two numbers for a call of the conversation.

use super::named;
use super::python::is_python_space;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

named! {
    /// The tools of the paper's environment, and those of a retriever.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Tool {
        /// Open a page by its title, or learn similar titles.
        Search = "search",
        /// The next sentence of the open page that contains a keyword.
        Lookup = "lookup",
        /// The best passages for a query, of any page.
        Passages = "passages",
        /// A whole document, by the id that a passage came with.
        Document = "document",
        /// Give the answer and end the episode.
        Finish = "finish",
        /// Think aloud; the environment has nothing to add.
        Think = "think",
        /// Text that names no tool; the input is the whole of it.
        Invalid = "invalid",
        /// Another program's tool, which none of these is; the action's text names it.
        Other = "other",
    }
}

named! {
    /// The tools that an agent is offered beside the one for its answer.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
    pub enum ToolSet {
        #[default]
        #[serde(rename = "search,lookup")]
        SearchLookup = "search,lookup",
        #[serde(rename = "passages")]
        Passages = "passages",
        #[serde(rename = "passages,document")]
        PassagesDocument = "passages,document",
    }
}

impl ToolSet {
    /// The tools, in the order in which a model is told of them.
    pub fn tools(self) -> &'static [Tool] {
        match self {
            Self::SearchLookup => &[Tool::Search, Tool::Lookup],
            Self::Passages => &[Tool::Passages],
            Self::PassagesDocument => &[Tool::Passages, Tool::Document],
        }
    }

    /// Whether a tool is offered; the answer and a thought always are.
    pub fn offers(self, tool: Tool) -> bool {
        matches!(tool, Tool::Finish | Tool::Think) || self.tools().contains(&tool)
    }
}

/// One use of a tool, as a dialogue understood it from the model's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// Number of the step, from 1.
    pub step: usize,
    pub thought: Option<String>,
    /// The action as the model wrote it.
    pub action_text: String,
    pub tool: Tool,
    /// The tool's argument; for [`Tool::Invalid`] the whole action.
    pub input: String,
    /// Model text after the action that was set aside.
    pub discarded: Option<String>,
    pub reply: Reply,
}

/// Who answers a [`ToolCall`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Reply {
    #[default]
    Tool,
    /// The agent's system itself, with this text: an unknown tool, arguments that cannot be read.
    Given(String),
    /// No answer: the model's text contains the answer, and no tool receives it.
    None,
}

impl Tool {
    /// The tool that another program's function is, by the names that functions which do the same usually have.
    pub fn of_function(name: &str) -> Self {
        match name.trim().to_lowercase().as_str() {
            "search" => Self::Search,
            "lookup" => Self::Lookup,
            "passages" => Self::Passages,
            "document" => Self::Document,
            "finish" | "submit" | "final_answer" => Self::Finish,
            "think" => Self::Think,
            _ => Self::Other,
        }
    }

    /// Reads an action of the paper's environment: `search[X]`, `lookup[y]`, `finish[z]`, `think[t]`.
    ///
    /// The text is trimmed as Python's `str.strip` does; verbs are lower-case; the argument runs to the
    /// last bracket, which must end the text. Anything else is [`Tool::Invalid`] with the trimmed text.
    pub fn parse_action(text: &str) -> (Self, &str) {
        let text = text.trim_matches(is_python_space);
        let verbs =
            [("search[", Self::Search), ("lookup[", Self::Lookup), ("finish[", Self::Finish), ("think[", Self::Think)];
        Self::in_brackets(text, &verbs).unwrap_or((Self::Invalid, text))
    }

    /// The tool whose verb, with its bracket, begins a text that ends in a bracket, and what is between them.
    pub fn in_brackets<'t>(text: &'t str, verbs: &[(&str, Self)]) -> Option<(Self, &'t str)> {
        verbs.iter().find_map(|(verb, tool)| Some((*tool, text.strip_prefix(verb)?.strip_suffix(']')?)))
    }
}

/// The functions that a request offers, and how the model may call them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Functions {
    pub list: Vec<Function>,
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
    pub fn object(&self) -> Value {
        serde_json::from_str(&self.arguments).ok().filter(Value::is_object).unwrap_or_else(|| json!({}))
    }

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

/// The digits of the numbers, of which each has [`WIDTH`].
const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
const WIDTH: u32 = 4;
const RADIX: u32 = 36;
const NUMBERS: usize = (RADIX as usize).pow(WIDTH);
const EXEMPLAR: char = 'x';
const CONVERSATION: char = 'c';

/// The call of step `n` of exemplar `number`, both from 1.
pub fn exemplar_call_id(number: usize, n: usize) -> String {
    call_id(EXEMPLAR, number, n)
}

/// Call `at` (from 1) of the reply at step `n`; 0 where a step is one call.
pub fn reply_call_id(n: usize, at: usize) -> String {
    call_id(CONVERSATION, n, at)
}

/// The same id as the first version of the protocol `tools` wrote it; none for ids that are not ours.
pub fn first_version_call_id(id: &str) -> Option<String> {
    let numbers = |kind| {
        let (first, second) = id.strip_prefix(kind)?.split_at_checked(WIDTH as usize)?;
        (second.len() == WIDTH as usize).then_some((number(first)?, number(second)?))
    };
    if let Some((number, n)) = numbers(EXEMPLAR) {
        return Some(format!("example_{number}_call_{n}"));
    }
    numbers(CONVERSATION).map(|(n, at)| if at == 0 { format!("call_{n}") } else { format!("call_{n}_{at}") })
}

/// Numbers that are too large begin again at 0; the caller makes sure that ids differ.
fn call_id(kind: char, first: usize, second: usize) -> String {
    let mut id = String::from(kind);
    for number in [first, second] {
        let places = (0..WIDTH).rev().map(|place| (number % NUMBERS) / (RADIX as usize).pow(place));
        id.extend(places.map(|digit| char::from(DIGITS[digit % DIGITS.len()])));
    }
    id
}

/// A number as [`call_id`] writes it.
fn number(digits: &str) -> Option<usize> {
    let known = digits.bytes().all(|digit| DIGITS.contains(&digit));
    known.then(|| usize::from_str_radix(digits, RADIX).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::{Tool, exemplar_call_id, first_version_call_id, reply_call_id};
    use std::collections::HashSet;

    #[test]
    fn actions_parse_as_the_environment_does() {
        for (text, tool, input) in [
            (" search[Ray Charles]\n", Tool::Search, "Ray Charles"),
            ("search[[x] y]", Tool::Search, "[x] y"),
            ("search[x] lookup[y]", Tool::Search, "x] lookup[y"),
            ("lookup[]", Tool::Lookup, ""),
            ("finish[yes]\u{1f}", Tool::Finish, "yes"),
            ("think[hm]", Tool::Think, "hm"),
            ("Search[x]", Tool::Invalid, "Search[x]"),
            ("search[x", Tool::Invalid, "search[x"),
            ("search", Tool::Invalid, "search"),
            ("", Tool::Invalid, ""),
        ] {
            assert_eq!(Tool::parse_action(text), (tool, input), "{text:?}");
        }
    }

    #[test]
    fn ids_are_nine_letters_and_digits_and_differ() {
        let mut known = HashSet::new();
        let numbers = [0, 1, 9, 10, 35, 36, 1_295, 46_655, 46_656, 1_679_615];
        for (one, other) in numbers.into_iter().flat_map(|one| numbers.map(|other| (one, other))) {
            for id in [exemplar_call_id(one, other), reply_call_id(one, other)] {
                assert!(id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{id}");
                assert!(known.insert(id));
            }
        }
        assert_eq!(exemplar_call_id(usize::MAX, 1_679_616).len(), 9);
    }

    #[test]
    fn the_first_version_wrote_them_in_words() {
        for (id, words) in [
            (exemplar_call_id(2, 37), Some("example_2_call_37")),
            (reply_call_id(3, 2), Some("call_3_2")),
            (reply_call_id(12, 0), Some("call_12")),
            ("AbCd12345".to_owned(), None),
            ("x0001000".to_owned(), None),
            ("x00010é01".to_owned(), None),
            ("c00010+01".to_owned(), None),
            (String::new(), None),
        ] {
            assert_eq!(first_version_call_id(&id).as_deref(), words, "{id}");
        }
    }
}
