//! The action in a reply of the model.

use super::labels::Labels;
use super::text;
use super::{MAX_QUESTION, cap};
use crate::protocol::{Kind, Parsed};
use serde_json::Value;

/// An action, taken from a reply.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ParsedAction {
    /// As [`Action::text`](super::Action::text) writes it, or as the model wrote it if the tool is unknown.
    pub(super) action: String,
    /// The input of the tool, as the model wrote it.
    pub(super) input: String,
    /// Whether it is an answer.
    pub(super) finish: bool,
}

/// Parses a reply, probably of step `n`.
pub(super) fn read_reply(reply: &str, labels: &Labels<'_>, n: usize) -> ParsedAction {
    let parsed = labels.protocol.parse(reply, n);
    let did = parsed_action(&parsed);
    // What the protocol rejects may still be an action, for example with another number.
    did.or_else(|| text::action_of(reply, labels.numbered)).unwrap_or_else(|| written(reply))
}

fn parsed_action(parsed: &Parsed) -> Option<ParsedAction> {
    match parsed.kind {
        Kind::Finish => Some(ParsedAction::finish(parsed.answer.as_deref().unwrap_or_default())),
        Kind::Invalid => None,
        Kind::Act => {
            let input = parsed.input.clone().unwrap_or_default();
            let object = parsed.args.as_ref().and_then(|args| args.object().values().find_map(Value::as_str));
            let argument = object.map_or_else(|| argument(&input), str::to_owned);
            Some(ParsedAction::call(parsed.tool.as_deref().unwrap_or_default(), &argument, input))
        }
    }
}

/// A numbered action, already in the common format.
pub(super) fn written(action: &str) -> ParsedAction {
    let action = cap(action, MAX_QUESTION).trim();
    let finish = action.get(..7).is_some_and(|verb| verb.eq_ignore_ascii_case("finish["));
    ParsedAction { action: action.to_owned(), input: action.to_owned(), finish }
}

impl ParsedAction {
    pub(super) fn finish(answer: &str) -> Self {
        let answer = cap(answer, MAX_QUESTION).trim();
        Self { action: format!("Finish[{answer}]"), input: answer.to_owned(), finish: true }
    }

    /// A call of a tool by name; `input` is what `argument` was taken from.
    pub(super) fn call(tool: &str, argument: &str, input: String) -> Self {
        let lower = tool.trim().to_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let verb = match () {
            () if says(&["search", "搜索"]) => "Search",
            () if says(&["look", "查找"]) => "Lookup",
            () if says(&["finish"]) => return Self::finish(argument),
            () => tool.trim(),
        };
        let argument = cap(argument, MAX_QUESTION).trim();
        Self { action: format!("{verb}[{argument}]"), input, finish: false }
    }
}

/// The first string value of an object in JSON or Python notation; the input itself if it is not an object.
pub(super) fn argument(input: &str) -> String {
    let input = cap(input, MAX_QUESTION).trim();
    if !input.starts_with('{') {
        return input.to_owned();
    }
    let object = serde_json::Deserializer::from_str(input).into_iter::<Value>().next();
    if let Some(Ok(Value::Object(object))) = object {
        return object.values().find_map(Value::as_str).unwrap_or_default().to_owned();
    }
    let mut chars = input.chars();
    quoted(&mut chars);
    if chars.find(|c| *c == ':').is_none() {
        return input.to_owned();
    }
    quoted(&mut chars)
}

/// The next quoted string, unescaped.
pub(in crate::llm::baseline) fn quoted(chars: &mut std::str::Chars<'_>) -> String {
    let mut text = String::new();
    let Some(quote) = chars.find(|c| matches!(c, '\'' | '"')) else { return text };
    while let Some(c) = chars.next() {
        match c {
            '\\' => text.extend(escaped(chars)),
            c if c == quote => break,
            c => text.push(c),
        }
    }
    text
}

fn escaped(chars: &mut std::str::Chars<'_>) -> Option<char> {
    let digits = match chars.next()? {
        'n' => return Some('\n'),
        't' => return Some('\t'),
        'r' => return Some('\r'),
        'x' => 2,
        'u' => 4,
        'U' => 8,
        c => return Some(c),
    };
    let code: String = chars.by_ref().take(digits).collect();
    u32::from_str_radix(&code, 16).ok().and_then(char::from_u32)
}

#[cfg(test)]
mod tests {
    use super::{ParsedAction, argument};

    #[test]
    fn arguments_are_read_however_they_are_quoted() {
        for (input, expected) in [
            (r#"{"query": "Ann \"Bee\""}"#, r#"Ann "Bee""#),
            (r#"{"query": "x"} and more"#, "x"),
            (r"{'query': 'x'}", "x"),
            (r#"{'query': "b's"}"#, "b's"),
            (r"{'query': 'b\'s \\ \xe9\u3000乙'}", "b's \\ \u{e9}\u{3000}乙"),
            (r#"{"n": 1}"#, ""),
            ("{", "{"),
            ("{'query'}", "{'query'}"),
            ("{'query': 'x", "x"),
            (" plain ", "plain"),
            ("", ""),
        ] {
            assert_eq!(argument(input), expected, "{input}");
        }
    }

    #[test]
    fn tools_are_known_by_their_names() {
        let action = |tool: &str| ParsedAction::call(tool, "x", String::new()).action;
        assert_eq!(action(" WikiSearch"), "Search[x]");
        assert_eq!(action("lookup"), "Lookup[x]");
        assert_eq!(action("FinishAction"), "Finish[x]");
        assert_eq!(action("Calculator"), "Calculator[x]");
    }
}
