//! Decodes Gemini's answers. An event of a stream has the same format as a whole answer.
//!
//! | in an answer | in the completion |
//! |---|---|
//! | parts with `text` | the text, joined |
//! | parts with `thought` | left out of the text, and kept apart |
//! | parts with `functionCall` | calls; all parts are kept as they were written, as they may be signed |
//! | `finishReason` | as the table of [`FinishReason`] has it; others as they are, in small letters |
//! | `finishMessage` with a call that cannot be read | the text, where there is no other |
//! | `promptFeedback` with `blockReason` | an error that is not retried |
//! | `usageMetadata` | tokens of thoughts count as completion tokens, as they are billed |

use super::ENDPOINT;
use crate::llm::remote::answer::{Decoded, Fault, MAX_MALFORMED, Progress, count, is_error, parse, read, string};
use crate::llm::remote::refusal::Refusal;
use crate::net::Answer;
use crate::types::{Cause, FinishReason, FunctionCall, Usage, Verbatim};
use serde::Deserialize;
use serde_json::{Value, json};

/// Longest words of the provider before a call that it could not read, in bytes.
const MAX_REPEATED: usize = 40;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AnswerBody {
    candidates: Option<Vec<Value>>,
    #[serde(default)]
    prompt_feedback: Value,
    #[serde(default)]
    usage_metadata: Value,
    #[serde(default)]
    model_version: Value,
    #[serde(default)]
    error: Value,
}

pub(super) fn decode(answer: &Answer) -> Result<Decoded, Fault> {
    let body: AnswerBody = read(answer)?;
    if is_error(&body.error) {
        return Err(Fault::Reported(Refusal::read(&answer.body)));
    }
    let mut decoded = Decoded::default();
    if take(&body, &mut decoded)? {
        return Ok(decoded);
    }
    Err(if body.candidates.is_some() { "`candidates` is empty" } else { "`candidates` is missing" }.into())
}

pub(super) fn event(data: &[u8], progress: &mut Progress) -> Result<String, Fault> {
    let body: AnswerBody = parse(data).map_err(|e| format!("the stream has an event that is not JSON: {e}"))?;
    if is_error(&body.error) {
        return Err(Fault::Reported(Refusal::read(data)));
    }
    progress.started |= take(&body, &mut progress.rest)?;
    Ok(std::mem::take(&mut progress.rest.text))
}

/// Adds what the body says to `known`. Returns whether it has a candidate.
fn take(body: &AnswerBody, known: &mut Decoded) -> Result<bool, Fault> {
    known.usage = used(&body.usage_metadata).or(known.usage);
    known.counted_reasoning(&body.usage_metadata, "thoughtsTokenCount");
    known.model = known.model.take().or_else(|| string(&body.model_version));
    let Some(candidate) = body.candidates.as_ref().and_then(|all| all.first()) else {
        let blocked = string(&body.prompt_feedback["blockReason"]);
        return blocked.map_or(Ok(false), |reason| Err(Fault::Withheld(format!("the prompt was blocked: {reason}"))));
    };
    for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
        let text = part["text"].as_str().unwrap_or_default();
        let verbatim =
            known.verbatim.get_or_insert_with(|| Verbatim { endpoint: ENDPOINT.to_owned(), content: json!([]) });
        if let Some(parts) = verbatim.content.as_array_mut() {
            parts.push(part.clone());
        }
        if let Some(call) = part.get("functionCall") {
            let text = |name: &str| call[name].as_str().unwrap_or_default().to_owned();
            let arguments = call.get("args").map_or_else(String::new, Value::to_string);
            known.calls.push(FunctionCall { id: text("id"), name: text("name"), arguments });
        } else if part["thought"] == true {
            known.reasoned("thought", text);
        } else {
            known.text.push_str(text);
        }
    }
    if known.text.is_empty() && known.calls.is_empty() {
        known.text.push_str(malformed(candidate).unwrap_or_default());
    }
    known.finish_reason = reason(&candidate["finishReason"]).or_else(|| known.finish_reason.take());
    Ok(true)
}

fn reason(value: &Value) -> Option<String> {
    FinishReason::recorded(&string(value)?)
}

/// The call that the model wrote and the provider could not read: what follows the provider's own words in
/// `Malformed function call: print(…)`.
fn malformed(candidate: &Value) -> Option<&str> {
    let cause = Cause::of_finish(candidate["finishReason"].as_str()?)?;
    let (words, written) = candidate["finishMessage"].as_str()?.split_once(": ")?;
    let is_told = words.len() <= MAX_REPEATED && words.to_ascii_lowercase().ends_with("call");
    let written = written.trim();
    (cause == Cause::MalformedCall && is_told).then(|| &written[..written.floor_char_boundary(MAX_MALFORMED)])
}

fn used(usage: &Value) -> Option<Usage> {
    let prompt = count(usage, "promptTokenCount");
    let parts = ["candidatesTokenCount", "thoughtsTokenCount"];
    let completion = parts.iter().filter_map(|name| count(usage, name)).reduce(|sum, tokens| sum + tokens);
    prompt.or(completion)?;
    Some(Usage {
        cached_tokens: count(usage, "cachedContentTokenCount").unwrap_or(0),
        reasoning_tokens: count(usage, "thoughtsTokenCount").unwrap_or(0),
        ..Usage::new(prompt.unwrap_or(0), completion.unwrap_or(0))
    })
}
