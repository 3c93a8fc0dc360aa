//! Tools that an agent can use, and one use of them.

use super::python::is_python_space;
use serde::{Deserialize, Serialize};

/// The tools of the paper's environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tool {
    /// Open a page by its title, or learn similar titles.
    Search,
    /// The next sentence of the open page that contains a keyword.
    Lookup,
    /// Give the answer and end the episode.
    Finish,
    /// Think aloud; the environment has nothing to add.
    Think,
    /// Text that names no tool; the input is the whole of it.
    Invalid,
}

/// One use of a tool, as a dialogue understood it from the model's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// Number of the step, from 1.
    pub step: usize,
    /// What the model thought before it acted.
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
    /// The Wikipedia tool.
    #[default]
    Tool,
    /// The agent's system itself, with this text: an unknown tool, arguments that cannot be read.
    Given(String),
    /// Nobody: the model's text contains the answer, and no tool receives it.
    None,
}

impl Tool {
    pub fn name(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::Lookup => "lookup",
            Self::Finish => "finish",
            Self::Think => "think",
            Self::Invalid => "invalid",
        }
    }

    /// Reads an action of the paper's environment: `search[X]`, `lookup[y]`, `finish[z]`, `think[t]`.
    ///
    /// The text is trimmed as Python's `str.strip` does; verbs are lower-case; the argument runs to the
    /// last bracket, which must end the text. Anything else is [`Tool::Invalid`] with the trimmed text.
    pub fn parse_action(text: &str) -> (Self, &str) {
        let text = text.trim_matches(is_python_space);
        for (verb, tool) in
            [("search[", Self::Search), ("lookup[", Self::Lookup), ("finish[", Self::Finish), ("think[", Self::Think)]
        {
            if let Some(input) = text.strip_prefix(verb).and_then(|rest| rest.strip_suffix(']')) {
                return (tool, input);
            }
        }
        (Self::Invalid, text)
    }
}

#[cfg(test)]
mod tests {
    use super::Tool;

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
}
