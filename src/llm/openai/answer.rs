//! Decodes the answers of `OpenAI`-compatible servers, leniently where nothing depends on it.
//!
//! | in the answer | what happens |
//! |---|---|
//! | HTML, truncated or other JSON, no `choices` | not a completion: retried, then an error |
//! | an `error` object | an error, as if the answer had its status |
//! | a `refusal` beside the content | the finish reason `refusal`; it is the text where there is no other |
//! | content `null` or absent (tool calls, reasoning only) | an empty text |
//! | `tool_calls` | calls; in a stream they come in pieces |
//! | reasoning fields | left out of the text, and kept apart, with calls also as they were written; tokens of reasoning that is not shown are noted |
//! | content in parts | the texts of the parts, joined |
//! | `finish_reason` absent, empty or not a string | none |
//! | `usage` absent or not made of numbers | none |
//! | broken UTF-8, unpaired surrogates | replaced by U+FFFD |

use super::{ENDPOINT, Endpoint};
use crate::llm::remote::answer::{Decoded, Fault, Progress, count, parse, read, string, usage};
use crate::llm::remote::refusal::Refusal;
use crate::net::Answer;
use crate::types::{FunctionCall, Usage, Verbatim};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The reason for the end of a message in which the model declined.
const REFUSAL: &str = "refusal";
/// Where in the usage the tokens of reasoning are counted.
const TOKEN_DETAILS: &str = "completion_tokens_details";
const REASONING_TOKENS: &str = "reasoning_tokens";
/// The field in which `OpenRouter` has the reasoning of all providers, signatures included.
const REASONING_DETAILS: &str = "reasoning_details";

/// A whole answer, or one event of a stream.
#[derive(Deserialize)]
struct Body {
    choices: Option<Vec<Choice>>,
    #[serde(default)]
    object: Value,
    #[serde(default)]
    usage: Value,
    #[serde(default)]
    model: Value,
    #[serde(default)]
    error: Value,
}

#[derive(Deserialize)]
struct Choice {
    /// In whole answers of the chat endpoint.
    message: Option<Map<String, Value>>,
    /// In events of the chat endpoint.
    delta: Option<Map<String, Value>>,
    /// Absent is not null: without it, this is not an answer of the completions endpoint.
    #[serde(default, deserialize_with = "present")]
    text: Option<Value>,
    #[serde(default)]
    finish_reason: Value,
}

fn present<'de, D: serde::Deserializer<'de>>(value: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(value).map(Some)
}

/// Decodes a whole answer of `endpoint`; the error says why it is not a completion.
pub(super) fn decode(answer: &Answer, endpoint: Endpoint, reasoning: &[&'static str]) -> Result<Decoded, Fault> {
    let body: Body = read(answer)?;
    if !body.error.is_null() {
        return Err(Fault::Reported(Refusal::read(&answer.body)));
    }
    let choices = body.choices.ok_or("`choices` is missing")?;
    let choice = choices.into_iter().next().ok_or("`choices` is empty")?;
    let mut decoded = Decoded {
        finish_reason: string(&choice.finish_reason),
        usage: used(&body.usage),
        model: string(&body.model),
        ..Decoded::default()
    };
    decoded.text = match endpoint {
        Endpoint::Chat => {
            let mut message = choice.message.ok_or("`message` is missing")?;
            think(&message, reasoning, &mut decoded);
            call(&message, &mut decoded.calls);
            keep(&message, reasoning, &mut decoded);
            let said = content(message.remove("content").unwrap_or_default())?;
            let refusal = declined(&message).unwrap_or_default();
            if !refusal.is_empty() {
                decoded.finish_reason = Some(REFUSAL.to_owned());
            }
            if said.is_empty() { refusal.to_owned() } else { said }
        }
        _ => content(choice.text.ok_or("`text` is missing")?)?,
    };
    decoded.counted_reasoning(&body.usage[TOKEN_DETAILS], REASONING_TOKENS);
    Ok(decoded)
}

/// Decodes one event of a stream, as far as it is about the first choice.
pub(super) fn chunk(
    data: &[u8],
    endpoint: Endpoint,
    reasoning: &[&'static str],
    progress: &mut Progress,
) -> Result<String, Fault> {
    let chunk: Body = parse(data).map_err(|e| format!("the stream has an event that is not JSON: {e}"))?;
    if !chunk.error.is_null() || chunk.object == "error" {
        return Err(Fault::Reported(Refusal::read(data)));
    }
    let rest = &mut progress.rest;
    rest.usage = used(&chunk.usage).or(rest.usage);
    rest.counted_reasoning(&chunk.usage[TOKEN_DETAILS], REASONING_TOKENS);
    rest.model = rest.model.take().or_else(|| string(&chunk.model));
    let Some(choice) = chunk.choices.unwrap_or_default().into_iter().next() else { return Ok(String::new()) };
    progress.started = true;
    let mut delta = choice.delta.unwrap_or_default();
    think(&delta, reasoning, rest);
    call(&delta, &mut rest.calls);
    keep(&delta, reasoning, rest);
    let piece = content(match endpoint {
        Endpoint::Chat => delta.remove("content").unwrap_or_default(),
        _ => choice.text.unwrap_or_default(),
    })?;
    let refusal = declined(&delta).unwrap_or_default();
    progress.refused |= !refusal.is_empty();
    let reason = string(&choice.finish_reason).map(|reason| if progress.refused { REFUSAL.to_owned() } else { reason });
    let rest = &mut progress.rest;
    rest.finish_reason = reason.or_else(|| rest.finish_reason.take());
    // One of the two is empty.
    Ok(piece + refusal)
}

/// Takes the reasoning from the first of the fields of a message that holds any.
fn think(message: &Map<String, Value>, fields: &[&'static str], decoded: &mut Decoded) {
    let text = |field: &str| message.get(field)?.as_str().filter(|text| !text.is_empty());
    if let Some((field, text)) = fields.iter().find_map(|field| Some((*field, text(field)?))) {
        decoded.reasoned(field, text);
    }
}

/// Reads the calls of a message, or pieces of them of an event: those with an index below the number of calls continue
/// that call.
fn call(message: &Map<String, Value>, calls: &mut Vec<FunctionCall>) {
    for (at, piece) in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten().enumerate() {
        let index = piece["index"].as_u64().map_or(at, |index| usize::try_from(index).unwrap_or(usize::MAX));
        if index >= calls.len() {
            calls.push(FunctionCall::default());
        }
        let at = index.min(calls.len() - 1);
        let call = &mut calls[at];
        let function = &piece["function"];
        for (field, value) in [(&mut call.id, &piece["id"]), (&mut call.name, &function["name"])] {
            // Some servers repeat them in every event.
            if let Some(text) = value.as_str().filter(|_| field.is_empty()) {
                text.clone_into(field);
            }
        }
        match &function["arguments"] {
            Value::String(text) => call.arguments.push_str(text),
            Value::Null => {}
            // Some servers do not write the object as a text.
            arguments => call.arguments.push_str(&arguments.to_string()),
        }
    }
}

/// Keeps the fields with reasoning, which have to be sent back with the results of calls.
fn keep(message: &Map<String, Value>, fields: &[&'static str], decoded: &mut Decoded) {
    for name in fields.iter().copied().chain([REASONING_DETAILS]) {
        let Some(piece) = message.get(name).filter(|piece| !piece.is_null()) else { continue };
        let new = || Verbatim { endpoint: ENDPOINT.to_owned(), content: json!({}) };
        let kept = &mut decoded.verbatim.get_or_insert_with(new).content[name];
        match (kept, piece) {
            (Value::String(kept), Value::String(piece)) => kept.push_str(piece),
            (Value::Array(kept), Value::Array(piece)) => kept.extend(piece.iter().cloned()),
            (kept, piece) => *kept = piece.clone(),
        }
    }
}

/// What a message says in place of its content if the model declined. The reason for its end is `stop` then, as of any
/// other.
fn declined(message: &Map<String, Value>) -> Option<&str> {
    message.get("refusal")?.as_str().filter(|text| !text.is_empty())
}

fn content(value: Value) -> Result<String, Fault> {
    match value {
        Value::String(text) => Ok(text),
        Value::Null => Ok(String::new()),
        Value::Array(parts) => {
            Ok(parts.iter().filter_map(|part| part.as_str().or_else(|| part.get("text")?.as_str())).collect())
        }
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => Err("the content is not text".into()),
    }
}

fn used(value: &Value) -> Option<Usage> {
    let cached_tokens = count(&value["prompt_tokens_details"], "cached_tokens").unwrap_or(0);
    let reasoning_tokens = count(&value[TOKEN_DETAILS], REASONING_TOKENS).unwrap_or(0);
    usage(value, "prompt_tokens", "completion_tokens").map(|usage| Usage { cached_tokens, reasoning_tokens, ..usage })
}

#[cfg(test)]
mod tests {
    use super::{Decoded, Endpoint, Fault, decode};
    use crate::net::Answer;

    fn answer(body: &[u8], content_type: &str) -> Answer {
        Answer { content_type: Some(content_type.into()), body: body.to_vec(), ..Answer::default() }
    }

    fn chat(body: &str) -> Result<Decoded, Fault> {
        decode(&answer(body.as_bytes(), "application/json"), Endpoint::Chat, &["reasoning"])
    }

    #[test]
    fn what_may_be_missing_is_missing() {
        for (choice, rest, text, reason, usage) in [
            (
                r#"{"message":{"content":null,"tool_calls":[]},"finish_reason":"tool_calls"}"#,
                "",
                "",
                Some("tool_calls"),
                None,
            ),
            (r#"{"message":{"reasoning_content":"hm"},"finish_reason":"length"}"#, "", "", Some("length"), None),
            (r#"{"message":{"content":"x"},"finish_reason":""}"#, r#","usage":null"#, "x", None, None),
            (r#"{"message":{"content":"x"},"finish_reason":null}"#, r#","usage":{}"#, "x", None, None),
            (r#"{"message":{"content":"x"}}"#, r#","usage":{"prompt_tokens":-1}"#, "x", None, None),
            (r#"{"message":{"content":"x"},"finish_reason":7}"#, r#","usage":"many""#, "x", None, None),
            (
                r#"{"message":{"content":[{"type":"text","text":"a"},{"type":"image"},"b"]},"finish_reason":"content_filter"}"#,
                r#","usage":{"prompt_tokens":99999999999999999}"#,
                "ab",
                Some("content_filter"),
                Some(1 << 40),
            ),
        ] {
            let got = chat(&format!(r#"{{"choices":[{choice}]{rest}}}"#)).expect(choice);
            assert_eq!((got.text.as_str(), got.finish_reason.as_deref()), (text, reason), "{choice}");
            assert_eq!(got.usage.map(|u| u.prompt_tokens), usage, "{choice}");
        }
    }

    #[test]
    fn what_is_no_completion_is_named() {
        for (body, reason) in [
            ("", "the body is empty"),
            (" \n", "the body is empty"),
            ("<!doctype html><title>Sign  in</title>x", "it is a web page: Sign in"),
            (r#"{"choices":[]}"#, "`choices` is empty"),
            (r#"{"choices":null}"#, "`choices` is missing"),
            ("{}", "`choices` is missing"),
            (r#"{"choices":[{}]}"#, "`message` is missing"),
            (r#"{"choices":[{"message":{"content":7}}]}"#, "the content is not text"),
        ] {
            assert_eq!(chat(body), Err(reason.into()), "{body}");
        }
        for body in
            ["null", "[]", "{\"choices\":[{\"message\":{\"content\":\"cu", "{\"choices\":{}}", "\"text\"", "data: {}"]
        {
            let Err(Fault::Broken(reason)) = chat(body) else { panic!("{body}") };
            assert!(reason.starts_with("it is not a completion in JSON: "), "{body}: {reason}");
        }
        let deep = "[".repeat(100_000);
        assert!(chat(&deep).is_err());
    }

    #[test]
    fn broken_characters_are_replaced() {
        let wrap = |text: &str| format!(r#"{{"choices":[{{"message":{{"content":"{text}"}}}}]}}"#);
        for (sent, text) in [
            (r"cut \ud83d", "cut \u{fffd}"),
            (r"\ude00 and \ud83d\ude00", "\u{fffd} and \u{1f600}"),
            (r"\\ud83d \ud83d\n", "\\ud83d \u{fffd}\n"),
            (r"\ud83d\ud83d\ude00", "\u{fffd}\u{1f600}"),
            (r"\u0000é", "\0é"),
        ] {
            assert_eq!(chat(&wrap(sent)).expect(sent).text, text);
        }
        let mut bytes = wrap("a?b").into_bytes();
        let at = bytes.iter().position(|b| *b == b'?').expect("there");
        bytes[at] = 0xff;
        assert_eq!(decode(&answer(&bytes, ""), Endpoint::Chat, &[]).expect("mended").text, "a\u{fffd}b");
    }
}
