//! Decodes the answers of `OpenAI`-compatible servers, leniently where nothing depends on it.
//!
//! | in the answer | what happens |
//! |---|---|
//! | HTML, truncated or other JSON, no `choices` | not a completion: retried, then an error |
//! | an `error` object, in a choice too | an error, as if the answer had its status |
//! | a `refusal` beside the content | the finish reason `refusal`; it is the text where there is no other |
//! | content `null` or absent (tool calls, reasoning only) | an empty text |
//! | `tool_calls` | calls; in a stream they come in pieces, put together by index, id and name |
//! | reasoning fields | left out of the text, and kept apart, with calls also as they were written; tokens of reasoning that is not shown are noted |
//! | content in parts | the texts of the parts, joined |
//! | `finish_reason` absent, empty or not a string | none |
//! | `usage` absent or not made of numbers | none |
//! | broken UTF-8, unpaired surrogates | replaced by U+FFFD |

use super::{ENDPOINT, Endpoint};
use crate::base::finish::REFUSAL;
use crate::base::{Cause, FinishReason, FunctionCall, Usage, Verbatim};
use crate::models::remote::answer::{count, is_error, no_error, parse_event, read, string, usage};
use crate::models::remote::interface::{Decoded, Fault, Progress};
use crate::net::Answer;
use serde::Deserialize;
use serde_json::{Map, Value, json};

const TOKEN_DETAILS: &str = "completion_tokens_details";
const REASONING_TOKENS: &str = "reasoning_tokens";
/// The field in which `OpenRouter` has the reasoning of all providers, signatures included.
const REASONING_DETAILS: &str = "reasoning_details";

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
    /// Its number, where several were asked for.
    #[serde(default)]
    index: Value,
    /// In whole answers of the chat endpoint.
    message: Option<Map<String, Value>>,
    /// In events of the chat endpoint.
    delta: Option<Map<String, Value>>,
    /// Absent is not null: without it, this is not an answer of the completions endpoint.
    #[serde(default, deserialize_with = "present")]
    text: Option<Value>,
    #[serde(default)]
    finish_reason: Value,
    /// The reason of the provider that `OpenRouter` asked.
    #[serde(default)]
    native_finish_reason: Value,
    /// What `OpenRouter` says of a provider that failed.
    #[serde(default)]
    error: Value,
}

impl Choice {
    fn number(&self) -> u64 {
        self.index.as_u64().unwrap_or_default()
    }

    /// Why it ended. `OpenRouter` calls it an error when Gemini's model wrote a call that cannot be read.
    fn reason(&self) -> Option<String> {
        self.malformed().or_else(|| string(&self.finish_reason))
    }

    fn malformed(&self) -> Option<String> {
        let native = self.native_finish_reason.as_str()?;
        FinishReason::recorded(native).filter(|_| Cause::of_finish(native) == Some(Cause::MalformedCall))
    }

    fn failed(&self) -> Result<(), Fault> {
        if !is_error(&self.error) || self.malformed().is_some() {
            return Ok(());
        }
        Err(Fault::reported(json!({ "error": self.error }).to_string().as_bytes()))
    }
}

fn present<'de, D: serde::Deserializer<'de>>(value: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(value).map(Some)
}

pub(super) fn decode(answer: &Answer, endpoint: Endpoint, reasoning: &[&'static str]) -> Result<Decoded, Fault> {
    let body: Body = read(answer)?;
    no_error(&body.error, &answer.body)?;
    let choices = body.choices.ok_or("`choices` is missing")?;
    let choice = choices.into_iter().min_by_key(Choice::number).ok_or("`choices` is empty")?;
    choice.failed()?;
    let mut decoded = Decoded {
        finish_reason: choice.reason(),
        usage: used(&body.usage),
        model: string(&body.model),
        ..Decoded::default()
    };
    decoded.text = match endpoint {
        Endpoint::Chat => {
            let mut message = choice.message.ok_or("`message` is missing")?;
            think(&message, reasoning, &mut decoded);
            decoded.calls = pieces(&message).map(|(_, call)| call).collect();
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

/// Decodes one event of a stream, as far as it is about the choice that came first.
pub(super) fn chunk(
    data: &[u8],
    endpoint: Endpoint,
    reasoning: &[&'static str],
    progress: &mut Progress,
) -> Result<String, Fault> {
    let chunk: Body = parse_event(data)?;
    no_error(&chunk.error, data)?;
    if chunk.object == "error" {
        return Err(Fault::reported(data));
    }
    let rest = &mut progress.rest;
    rest.usage = used(&chunk.usage).or(rest.usage);
    rest.counted_reasoning(&chunk.usage[TOKEN_DETAILS], REASONING_TOKENS);
    rest.model = rest.model.take().or_else(|| string(&chunk.model));
    let mut choices = chunk.choices.unwrap_or_default().into_iter();
    let is_followed = |choice: &Choice| *progress.choice.get_or_insert(choice.number()) == choice.number();
    let Some(choice) = choices.find(is_followed) else { return Ok(String::new()) };
    choice.failed()?;
    let reason = choice.reason();
    progress.started = true;
    let mut delta = choice.delta.unwrap_or_default();
    think(&delta, reasoning, rest);
    call(&delta, &mut rest.calls, &mut progress.indices);
    keep(&delta, reasoning, rest);
    let piece = content(match endpoint {
        Endpoint::Chat => delta.remove("content").unwrap_or_default(),
        _ => choice.text.unwrap_or_default(),
    })?;
    let refusal = declined(&delta).unwrap_or_default();
    progress.refused |= !refusal.is_empty();
    let reason = reason.map(|reason| if progress.refused { REFUSAL.to_owned() } else { reason });
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

/// The pieces of calls of a message, or of an event. In a whole message each is a call.
fn pieces(message: &Map<String, Value>) -> impl Iterator<Item = (Option<u64>, FunctionCall)> {
    message.get("tool_calls").and_then(Value::as_array).into_iter().flatten().map(|piece| {
        let function = &piece["function"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let arguments = arguments_text(&function["arguments"]);
        (piece["index"].as_u64(), FunctionCall { id: text(&piece["id"]), name: text(&function["name"]), arguments })
    })
}

/// Arguments as a text: some servers write the object itself.
pub(super) fn arguments_text(arguments: &Value) -> String {
    match arguments {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        arguments => arguments.to_string(),
    }
}

/// A piece may continue one of this many last calls. Comparing it with all of them would take quadratic time.
const MAX_OPEN_CALLS: usize = 64;

/// Adds the pieces of an event to the calls so far, whose indices are `indices`: servers may begin to count anywhere, give
/// all calls the same index, or give none.
fn call(delta: &Map<String, Value>, calls: &mut Vec<FunctionCall>, indices: &mut Vec<Option<u64>>) {
    for (index, piece) in pieces(delta) {
        let continued = {
            let last = |same_id: bool| {
                let fits = |at: usize| index.is_none() || indices[at] == index;
                (0..calls.len())
                    .rev()
                    .take(MAX_OPEN_CALLS)
                    .find(|at| fits(*at) && (!same_id || calls[*at].id == piece.id))
            };
            let same = if piece.id.is_empty() { None } else { last(true) };
            same.or_else(|| last(false)).filter(|at| !begins(&piece, &calls[*at]))
        };
        let Some(at) = continued else {
            calls.push(piece);
            indices.push(index);
            continue;
        };
        let call = &mut calls[at];
        for (field, text) in [(&mut call.id, piece.id), (&mut call.name, piece.name)] {
            // Some servers repeat them in every event.
            if field.is_empty() {
                *field = text;
            }
        }
        call.arguments.push_str(&piece.arguments);
    }
}

fn begins(piece: &FunctionCall, call: &FunctionCall) -> bool {
    let is_same = !piece.id.is_empty() && piece.id == call.id;
    if !is_same && !piece.id.is_empty() && !call.id.is_empty() {
        return true;
    }
    // A name in the middle of the arguments is a repeated one, unless it is another.
    let is_whole = || {
        let ends = call.arguments.trim_end().ends_with('}');
        ends && serde_json::from_str::<serde::de::IgnoredAny>(&call.arguments).is_ok()
    };
    let goes_on = is_same && piece.arguments.trim().is_empty();
    !piece.name.is_empty() && !call.arguments.is_empty() && (piece.name != call.name || is_whole() && !goes_on)
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
    let cached_tokens = count(&value["prompt_tokens_details"], "cached_tokens");
    let reasoning_tokens = count(&value[TOKEN_DETAILS], REASONING_TOKENS);
    usage(value, "prompt_tokens", "completion_tokens").map(|usage| Usage { cached_tokens, reasoning_tokens, ..usage })
}

#[cfg(test)]
mod tests {
    use super::{Decoded, Endpoint, Fault, Progress, chunk, decode};
    use crate::base::FunctionCall;
    use crate::net::Answer;
    use serde_json::{Value, json};

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
                r#"{"message":{"content":"x"}}"#,
                r#","usage":{"prompt_tokens":9,"completion_tokens":"1"}"#,
                "x",
                None,
                None,
            ),
            (
                r#"{"message":{"content":[{"type":"text","text":"a"},{"type":"image"},"b"]},"finish_reason":"content_filter"}"#,
                r#","usage":{"prompt_tokens":99999999999999999}"#,
                "ab",
                Some("content_filter"),
                None,
            ),
        ] {
            let got = chat(&format!(r#"{{"choices":[{choice}]{rest}}}"#)).expect(choice);
            assert_eq!((got.text.as_str(), got.finish_reason.as_deref()), (text, reason), "{choice}");
            assert_eq!(got.usage.map(|u| u.prompt_tokens), usage, "{choice}");
        }
    }

    #[test]
    fn of_several_choices_one_is_read() {
        let two = r#"{"choices":[{"index":1,"message":{"content":"b"}},{"index":0,"message":{"content":"a"}}]}"#;
        assert_eq!(chat(two).expect("an answer").text, "a");
        for index in ["null", "-1", "\"0\"", "{}"] {
            let odd = format!(r#"{{"choices":[{{"index":{index},"message":{{"content":"a"}}}}]}}"#);
            assert_eq!(chat(&odd).expect("an answer").text, "a", "{index}");
        }
        let mut progress = Progress::default();
        let mut piece = |index: u64, text: &str| {
            let event = json!({"choices": [{"index": index, "delta": {"content": text}}]}).to_string();
            chunk(event.as_bytes(), Endpoint::Chat, &[], &mut progress).expect("an event")
        };
        assert_eq!([piece(0, "19"), piece(1, "other"), piece(0, "99"), piece(1, "x")], ["19", "", "99", ""]);
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

    /// A piece of a call, with only the fields that are given; an index of -1 is none.
    fn piece(index: i64, id: &str, name: &str, arguments: &str) -> Value {
        let mut piece = json!({"function": {"arguments": arguments}});
        for (field, value, given) in [("index", json!(index), index >= 0), ("id", json!(id), !id.is_empty())] {
            if given {
                piece[field] = value;
            }
        }
        if !name.is_empty() {
            piece["function"]["name"] = json!(name);
        }
        piece
    }

    fn written(calls: &[FunctionCall]) -> Vec<String> {
        calls.iter().map(|call| format!("{} {}({})", call.id, call.name, call.arguments)).collect()
    }

    #[test]
    fn calls_stay_apart_whatever_the_server_counts_them_by() {
        let (a, b) = (r#"{"q":"a"}"#, r#"{"q":"b"}"#);
        for (what, pieces, calls) in [
            ("same index", vec![piece(0, "x", "s", a), piece(0, "y", "s", b)], ["x", "y"]),
            ("no index", vec![piece(-1, "x", "s", a), piece(-1, "y", "s", b)], ["x", "y"]),
            ("no index, no id", vec![piece(-1, "", "s", a), piece(-1, "", "s", b)], ["", ""]),
            ("same index, same id", vec![piece(0, "x", "s", a), piece(0, "x", "s", b)], ["x", "x"]),
            ("indices from 5", vec![piece(5, "x", "s", a), piece(6, "y", "s", b)], ["x", "y"]),
        ] {
            let expected = [format!("{} s({a})", calls[0]), format!("{} s({b})", calls[1])];
            let whole = json!({"choices": [{"message": {"content": null, "tool_calls": pieces}}]});
            assert_eq!(written(&chat(&whole.to_string()).expect(what).calls), expected, "{what}, whole");
            assert_eq!(streamed(&[&pieces]), expected, "{what}, in one event");
            assert_eq!(streamed(&[&pieces[..1], &pieces[1..]]), expected, "{what}, in two events");
        }
    }

    #[test]
    fn streamed_pieces_continue_the_call_they_belong_to() {
        let (a, b) = (r#"{"q":"a"}"#, r#"{"q":"b"}"#);
        let in_pieces = |index: i64, id: &str, repeated: bool, text: &str| {
            let (again, name) = if repeated { (id, "s") } else { ("", "") };
            [piece(index, id, "s", ""), piece(index, again, name, &text[..4]), piece(index, again, name, &text[4..])]
        };
        for (index, next, repeated) in
            [(0, 1, false), (1, 2, false), (5, 9, false), (0, 0, false), (-1, -1, true), (0, 0, true)]
        {
            let pieces = [in_pieces(index, "x", repeated, a), in_pieces(next, "y", repeated, b)].concat();
            let events: Vec<&[Value]> = pieces.iter().map(std::slice::from_ref).collect();
            assert_eq!(streamed(&events), [format!("x s({a})"), format!("y s({b})")], "{index} {next} {repeated}");
        }
        let [mut name, first, rest] = in_pieces(-1, "", true, a);
        assert_eq!(streamed(&[&[name.clone(), first, rest]]), [format!(" s({a})")], "a repeated name");
        name["function"]["arguments"] = json!({"q": "a"});
        assert_eq!(streamed(&[&[name]]), [format!(" s({a})")], "arguments that are an object");
        let mixed = [piece(3, "x", "s", "{"), piece(4, "y", "s", "{"), piece(3, "", "", "}"), piece(4, "", "", "}")];
        assert_eq!(streamed(&[&mixed]), ["x s({})", "y s({})"], "by turns");
        let late = [piece(0, "", "s", a), piece(0, "x", "", "")];
        assert_eq!(streamed(&[&late]), [format!("x s({a})")], "a late id");
    }

    /// The calls of a stream with these events.
    fn streamed(events: &[&[Value]]) -> Vec<String> {
        let mut progress = Progress::default();
        for pieces in events {
            let event = json!({"choices": [{"delta": {"tool_calls": pieces}}]});
            chunk(event.to_string().as_bytes(), Endpoint::Chat, &[], &mut progress).expect("an event");
        }
        written(&progress.rest.calls)
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
