//! A prompt for providers that take a system text and then alternating turns of two speakers.
//!
//! | in the prompt | in the turns |
//! |---|---|
//! | a text | one turn of the user; with prefill, a label at its end is the beginning of the model's turn |
//! | system messages at the start | the system text, each on a new line |
//! | later system messages | part of the user's turn |
//! | messages of one speaker in a row | one turn, each on a new line |
//! | blank messages | left out: providers refuse them |
//! | system messages only | the user's turn: providers refuse an empty conversation |
//! | calls of functions | parts of the model's turn, or the turn as the provider wrote it |
//! | results of functions | parts of the user's turn, before what is said in it |

use super::interface::{add_line, lines};
use crate::base::{FunctionCall, Message, Prompt, RequestOption, RequestOptions, Role};
use serde_json::Value;
use std::collections::HashMap;

/// What the model says between the result of a call and a message of the user's, where an API wants something there.
pub(in crate::models) const BRIDGE: &str = "Understood.";

#[derive(Debug, PartialEq, Eq, Default)]
pub(in crate::models) struct Turns {
    pub(in crate::models) system: String,
    pub(in crate::models) list: Vec<Turn>,
    /// How many turns at the start all questions share.
    pub(in crate::models) shared: usize,
    /// How much of the first turn's text they share, in bytes; of a text prompt only.
    pub(in crate::models) prefix: usize,
    /// The label that the model continues, or empty.
    pub(in crate::models) label: String,
    /// Whether the result of a call and what the user says next are apart: the model says something between them.
    bridged: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(in crate::models) struct Turn {
    /// Whether the model says it, not the user.
    pub(in crate::models) own: bool,
    /// Never empty; no two texts are adjacent.
    pub(in crate::models) parts: Vec<Part>,
}

#[derive(Debug, PartialEq, Eq)]
pub(in crate::models) enum Part {
    /// What is said.
    Text(String),
    /// A call of a function.
    Call(FunctionCall),
    /// The result of the call with this id, of the function of this name.
    Result { id: String, name: String, text: String },
    /// All parts of a turn of the model's, as its provider wrote them.
    Verbatim(Value),
}

impl Turns {
    /// The turns of a prompt for the API of this `endpoint`, without what it has `refused`.
    pub(in crate::models) fn of(prompt: &Prompt, endpoint: &str, prefill: bool, refused: RequestOptions) -> Self {
        let mut turns = Self { bridged: refused.contains(RequestOption::UserAfterTool), ..Self::default() };
        match prompt {
            Prompt::Text { prefix, rest } => {
                let at = label_start(prefix, rest).filter(|_| prefill);
                let (before, label) = rest.split_at(at.unwrap_or(rest.len()));
                turns.say(false, &[prefix, before].concat());
                turns.say(true, label);
                turns.prefix = prefix.len();
                label.clone_into(&mut turns.label);
            }
            Prompt::Messages(messages) => {
                let first = messages.iter().position(|m| m.role != Role::System).unwrap_or(messages.len());
                let (system, rest) = messages.split_at(first);
                turns.system = lines(system);
                let mut names = HashMap::new();
                for message in rest {
                    let own = message.role == Role::Assistant;
                    // A turn that goes on is not shared.
                    if turns.shared == turns.list.len() && turns.list.last().is_some_and(|last| last.own == own) {
                        turns.shared -= 1;
                    }
                    turns.add(message, endpoint, &mut names);
                    if message.ends_shared {
                        turns.shared = turns.list.len();
                    }
                }
                if turns.list.is_empty() {
                    let text = std::mem::take(&mut turns.system);
                    turns.say(false, &text);
                }
            }
        }
        turns
    }

    /// Adds a message; `names` has the functions of the calls so far, by the calls' ids.
    fn add<'m>(&mut self, message: &'m Message, endpoint: &str, names: &mut HashMap<&'m str, &'m str>) {
        let own = message.role == Role::Assistant;
        names.extend(message.calls.iter().map(|call| (&*call.id, &*call.name)));
        if let Some(verbatim) = message.verbatim.as_ref().filter(|verbatim| verbatim.endpoint == endpoint) {
            return self.push(own, Part::Verbatim(verbatim.content.clone()));
        }
        if let Some(id) = &message.answers {
            let name = names.get(&**id).copied().unwrap_or_default().to_owned();
            return self.push(own, Part::Result { id: id.clone(), name, text: message.content.to_string() });
        }
        self.say(own, &message.content);
        for call in &message.calls {
            self.push(own, Part::Call(call.clone()));
        }
    }

    /// Whether the user says something in the turn that has the result of a call.
    pub(in crate::models) fn has_user_after_tool(&self) -> bool {
        let mut pairs = self.list.iter().flat_map(|turn| turn.parts.windows(2));
        pairs.any(|pair| matches!(pair, [Part::Result { .. }, Part::Text(_)]))
    }

    fn say(&mut self, own: bool, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        let answered = |last: &Turn| matches!(last.parts.last(), Some(Part::Result { .. }));
        if self.bridged && !own && self.list.last().is_some_and(answered) {
            self.push(true, Part::Text(BRIDGE.to_owned()));
        }
        match self.list.last_mut().filter(|last| last.own == own).and_then(|last| last.parts.last_mut()) {
            Some(Part::Text(last)) => add_line(last, text),
            _ => self.push(own, Part::Text(text.to_owned())),
        }
    }

    fn push(&mut self, own: bool, part: Part) {
        match self.list.last_mut().filter(|last| last.own == own) {
            Some(last) => last.parts.push(part),
            None => self.list.push(Turn { own, parts: vec![part] }),
        }
    }
}

// The label at the end of a text prompt, such as `Thought 1:`, which can be sent to a chat model as the beginning of its
// own answer.

/// Longer last lines, in characters, are not labels.
const LABEL_CHARS: usize = 40;

/// Where in `rest` the label at the end of a prompt begins: its last line, if that is short, ends in a colon (white
/// space aside) and is not the whole prompt.
pub(in crate::models) fn label_start(prefix: &str, rest: &str) -> Option<usize> {
    let start = match rest.rfind('\n') {
        Some(newline) => newline + 1,
        None if prefix.ends_with('\n') => 0,
        None => return None,
    };
    let line = rest[start..].trim();
    let label = line.ends_with([':', '\u{ff1a}']) && line.chars().nth(LABEL_CHARS).is_none();
    let alone = rest[..start].trim().is_empty() && prefix.trim().is_empty();
    (label && !alone).then_some(start)
}

#[cfg(test)]
mod tests {
    use super::{Part, Turns, label_start};
    use crate::base::{FunctionCall, Message, Prompt, RequestOptions, Verbatim};
    use serde_json::json;
    use std::sync::Arc;

    fn of(messages: &[Message]) -> (String, Vec<(bool, String)>) {
        let turns = Turns::of(&Prompt::Messages(messages.to_vec()), "messages", true, RequestOptions::default());
        assert_eq!(turns.label, "");
        let text = |part: Part| match part {
            Part::Text(text) => text,
            Part::Call(call) => format!("{}({})", call.name, call.arguments),
            Part::Result { id, name, text } => format!("{id} {name}: {text}"),
            Part::Verbatim(content) => content.to_string(),
        };
        let parts = |parts: Vec<Part>| parts.into_iter().map(text).collect::<Vec<_>>().join(" | ");
        (turns.system, turns.list.into_iter().map(|turn| (turn.own, parts(turn.parts))).collect())
    }

    #[test]
    fn calls_and_results_are_parts_and_only_the_same_api_gets_its_own_words_back() {
        let call = FunctionCall { id: "c1".into(), name: "search".into(), arguments: "{}".into() };
        let reply = |endpoint: &str| Message {
            calls: vec![call.clone()],
            verbatim: Some(Arc::new(Verbatim { endpoint: endpoint.into(), content: json!(["signed"]) })),
            ..Message::assistant("I look.")
        };
        let result = [Message::result("c1", ""), Message::user("Go on.")];
        for (endpoint, said) in [("messages", r#"["signed"]"#), ("chat", "I look. | search({})")] {
            let messages = [vec![Message::user("Q"), reply(endpoint)], result.to_vec()].concat();
            let turns = of(&messages).1;
            assert_eq!(turns[1..], [(true, said.to_owned()), (false, "c1 search:  | Go on.".to_owned())]);
        }
    }

    #[test]
    fn speakers_alternate_below_the_system_text() {
        let messages = [
            Message::system("Answer."),
            Message::system("Briefly.\n"),
            Message::user("Q\n"),
            Message::user(" \n"),
            Message::system("Call a tool."),
            Message::assistant("A"),
            Message::assistant(""),
            Message::system("Stop now."),
        ];
        let (system, turns) = of(&messages);
        assert_eq!(system, "Answer.\nBriefly.\n");
        let turns: Vec<(bool, &str)> = turns.iter().map(|(own, text)| (*own, text.as_str())).collect();
        assert_eq!(turns, [(false, "Q\nCall a tool."), (true, "A"), (false, "Stop now.")]);
        assert_eq!(of(&messages[..2]), (String::new(), vec![(false, "Answer.\nBriefly.\n".to_owned())]));
        assert_eq!(of(&[]), (String::new(), vec![]));
    }

    #[test]
    fn a_label_is_a_short_last_line_with_a_colon() {
        for (prefix, rest, label) in [
            ("Examples.\n", "Question: x\nThought 1:", Some("Thought 1:")),
            ("Examples.\n", "Question: x\nThought: ", Some("Thought: ")),
            ("Examples.\n", "Thought 1:", Some("Thought 1:")),
            ("", "问题：x\n思考 1：", Some("思考 1：")),
            ("Examples.", "Thought 1:", None),
            ("", "Thought 1:", None),
            ("\n", "\nThought 1:", None),
            ("Examples.\n", "Question: x\nThought 1: I", None),
            ("Examples.\n", "Question: x\n", None),
            ("Examples.\n", "", None),
            ("Examples.\n", "One long line about something that is not a label:", None),
        ] {
            assert_eq!(label_start(prefix, rest).map(|start| &rest[start..]), label, "{rest}");
        }
    }
}
