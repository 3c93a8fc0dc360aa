//! What a server's 2xx answer says, read leniently where nothing depends on it.
//!
//! | in the answer | what becomes of it |
//! |---|---|
//! | HTML, cut or other JSON, an `error` object, no `choices` | no completion: tried again, then an error |
//! | content `null` or absent (tool calls, reasoning only) | an empty text |
//! | content in parts | the texts of the parts, joined |
//! | `finish_reason` absent, empty or no string | none |
//! | `usage` absent or not made of numbers | none |
//! | broken UTF-8, halves of surrogate pairs | replaced by U+FFFD |

use super::Endpoint;
use super::refusal::Refusal;
use crate::net::Answer;
use crate::types::Usage;
use serde::Deserialize;
use serde_json::{Map, Value};

/// More tokens than this are a lie, and would overflow a sum.
const MOST_TOKENS: u64 = 1 << 40;

/// A completion as the server sent it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Decoded {
    /// The text, not cut yet.
    pub(super) text: String,
    /// Why the server stopped.
    pub(super) finish_reason: Option<String>,
    /// Tokens used.
    pub(super) usage: Option<Usage>,
    /// The model that the server says it used.
    pub(super) model: Option<String>,
}

#[derive(Deserialize)]
struct Body {
    choices: Option<Vec<Choice>>,
    #[serde(default)]
    usage: Value,
    #[serde(default)]
    model: Value,
    #[serde(default)]
    error: Value,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    message: Option<Map<String, Value>>,
    /// Absent is not null: an answer in the form of the other endpoint holds no completion at all.
    #[serde(default, deserialize_with = "present")]
    text: Option<Value>,
    #[serde(default)]
    finish_reason: Value,
}

fn present<'de, D: serde::Deserializer<'de>>(value: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(value).map(Some)
}

/// Reads the answer of `endpoint`; the error says in words why it is no completion.
pub(super) fn decode(answer: &Answer, endpoint: Endpoint) -> Result<Decoded, String> {
    let body: Body = parse(&answer.body).map_err(|e| {
        if answer.body.trim_ascii().is_empty() {
            return "the body is empty".to_owned();
        }
        if is_html(answer) {
            return format!("it is a web page: {}", Refusal::read(&answer.body).message);
        }
        format!("it is not a completion in JSON: {e}")
    })?;
    if !body.error.is_null() {
        return Err(format!("it holds an error: {}", Refusal::read(&answer.body).message));
    }
    let choices = body.choices.ok_or("`choices` is missing")?;
    let choice = choices.into_iter().next().ok_or("`choices` is empty")?;
    let text = match endpoint {
        Endpoint::Chat => choice.message.ok_or("`message` is missing")?.remove("content").unwrap_or_default(),
        Endpoint::Completions => choice.text.ok_or("`text` is missing")?,
    };
    Ok(Decoded {
        text: content(text)?,
        finish_reason: string(choice.finish_reason),
        usage: usage(&body.usage),
        model: string(body.model),
    })
}

fn parse(body: &[u8]) -> Result<Body, serde_json::Error> {
    serde_json::from_slice(body).or_else(|error| {
        let text = String::from_utf8_lossy(body);
        let mended = without_half_pairs(&text);
        if mended == text && matches!(text, std::borrow::Cow::Borrowed(_)) {
            Err(error)
        } else {
            serde_json::from_str(&mended)
        }
    })
}

/// Replaces `\ud83d` without its second half (and a second half without its first): servers write them where a
/// text is cut in the middle of a character, and JSON readers refuse them.
fn without_half_pairs(text: &str) -> String {
    let unit = |at: usize| -> Option<u16> {
        let escape = text.get(at..at + 6)?;
        u16::from_str_radix(escape.strip_prefix("\\u")?, 16).ok()
    };
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(found) = text[at..].find('\\') {
        out.push_str(&text[at..at + found]);
        at += found;
        let (keep, length) = match unit(at) {
            Some(0xd800..=0xdbff) if matches!(unit(at + 6), Some(0xdc00..=0xdfff)) => (true, 12),
            Some(0xd800..=0xdfff) => (false, 6),
            // An escaped backslash is skipped whole, so that what follows it is not taken for an escape.
            _ => (true, 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8)),
        };
        out.push_str(if keep { &text[at..at + length] } else { "\\ufffd" });
        at += length;
    }
    out.push_str(&text[at..]);
    out
}

fn content(value: Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text),
        Value::Null => Ok(String::new()),
        Value::Array(parts) => {
            Ok(parts.iter().filter_map(|part| part.as_str().or_else(|| part.get("text")?.as_str())).collect())
        }
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => Err("the content is not text".to_owned()),
    }
}

fn string(value: Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text.chars().take(200).collect()),
        _ => None,
    }
}

fn usage(value: &Value) -> Option<Usage> {
    let count = |name| value.get(name).and_then(Value::as_u64).map(|n| n.min(MOST_TOKENS));
    let (prompt, completion) = (count("prompt_tokens"), count("completion_tokens"));
    let both = prompt.or(completion).is_some();
    both.then(|| Usage { prompt_tokens: prompt.unwrap_or(0), completion_tokens: completion.unwrap_or(0) })
}

fn is_html(answer: &Answer) -> bool {
    answer.content_type.as_deref().is_some_and(|kind| kind.to_ascii_lowercase().contains("html"))
        || answer.body.trim_ascii_start().starts_with(b"<")
}

#[cfg(test)]
mod tests {
    use super::{Decoded, decode};
    use crate::llm::Endpoint;
    use crate::net::Answer;
    use crate::types::Usage;
    use std::time::Duration;

    fn answer(body: &[u8], content_type: &str) -> Answer {
        Answer {
            status: 200,
            content_type: Some(content_type.into()),
            retry_after: None,
            url: String::new(),
            redirects: vec![],
            body: body.to_vec(),
            attempts: 1,
            elapsed: Duration::ZERO,
        }
    }

    fn chat(body: &str) -> Result<Decoded, String> {
        decode(&answer(body.as_bytes(), "application/json"), Endpoint::Chat)
    }

    #[test]
    fn a_whole_answer() {
        let body = r#"{"id":"x","model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}"#;
        let want = Decoded {
            text: "hi".into(),
            finish_reason: Some("stop".into()),
            usage: Some(Usage { prompt_tokens: 3, completion_tokens: 1 }),
            model: Some("m-1".into()),
        };
        assert_eq!(chat(body), Ok(want.clone()));
        let body = body.replace(r#""message":{"role":"assistant","content":"hi"}"#, r#""text":"hi""#);
        assert_eq!(decode(&answer(body.as_bytes(), ""), Endpoint::Completions), Ok(want));
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
            (r#"{"error":{"message":"overloaded","code":502}}"#, "it holds an error: overloaded"),
        ] {
            assert_eq!(chat(body), Err(reason.to_owned()), "{body}");
        }
        for body in
            ["null", "[]", "{\"choices\":[{\"message\":{\"content\":\"cu", "{\"choices\":{}}", "\"text\"", "data: {}"]
        {
            let reason = chat(body).expect_err(body);
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
        assert_eq!(decode(&answer(&bytes, ""), Endpoint::Chat).expect("mended").text, "a\u{fffd}b");
    }
}
