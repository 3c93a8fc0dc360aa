//! Gemini's `generateContent` API.
//!
//! | in a request | how it is sent |
//! |---|---|
//! | the prompt | a system instruction and turns of `user` and `model` (see `remote/turns.rs`) |
//! | stops | as `stopSequences`, at most five; the client applies all of them |
//! | functions | as `functionDeclarations`; `toolConfig` only where one must be called |
//! | calls and results | with the call's `id` where the server gave one |
//! | calls that no model of Gemini's has signed | where it refuses them, with the text that is documented for this |
//! | how much to reason | as `thinkingConfig`: by a name `thinkingLevel`, by a number of tokens or `off` `thinkingBudget` |
//! | a seed above 2,147,483,647 | an error |
//!
//! Sources: <https://ai.google.dev/api/generate-content>; five stops:
//! <https://github.com/continuedev/continue/issues/2702>; reasoning: <https://ai.google.dev/gemini-api/docs/thinking>,
//! <https://github.com/spring-projects/spring-ai/issues/4983>; that it counts against the limit of tokens:
//! <https://github.com/googleapis/python-genai/issues/2062>; signatures:
//! <https://ai.google.dev/gemini-api/docs/thought-signatures>; a temperature of 1 for Gemini 3:
//! <https://docs.cloud.google.com/vertex-ai/generative-ai/docs/start/gemini-3-prompting-guide>.

use super::remote::answer::{count, is_unreadable, no_error, parse_event, read, reason, string};
use super::remote::interface::{Decoded, Fault, Progress};
use super::remote::interface::{
    EncodeResult, EncodedRequest, Interface, join, seed, set_fields, streams, temperature, top_p,
};
use super::remote::refusal::MAX_MALFORMED;
use super::remote::turns::{Part, Turn, Turns};
use super::{ModelError, Remote, RemoteSettings, Unsupported};
use crate::base::{
    Cause, Decoding, Function, FunctionCall, Functions, Reasoning, Request, RequestOption, RequestOptions, Usage,
    Verbatim,
};
use crate::net::{Answer, Credential, escaped_path};
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashSet;

pub const GEMINI_URL: &str = "https://generativelanguage.googleapis.com";

/// The API version, unless the base URL names another one.
const VERSION: &str = "v1beta";
const MAX_STOPS: usize = 5;
const ENDPOINT: &str = "generateContent";
const CALL: &str = "functionCall";
const SIGNATURE: &str = "thoughtSignature";
/// What the API takes for the signature of a call that comes from elsewhere.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// A model behind such a server. Sends nothing yet.
pub fn model(settings: RemoteSettings) -> Result<Remote, ModelError> {
    Remote::new(settings, Box::new(Gemini))
}

#[derive(Debug)]
struct Gemini;

/// The calls of a turn, of which the first is signed.
fn calls(content: &mut Value) -> impl Iterator<Item = &mut Value> {
    let parts = content["parts"].as_array_mut().into_iter().flatten();
    parts.filter(|part| part.get(CALL).is_some())
}

fn is_unsigned(content: &mut Value) -> bool {
    calls(content).next().is_some_and(|call| call.get(SIGNATURE).is_none())
}

/// The turns; `signed` if each turn with calls must have a signature.
fn contents(turns: &Turns, signed: bool) -> Vec<Value> {
    let verbatim = turns.list.iter().flat_map(|turn| &turn.parts).filter_map(|part| match part {
        Part::Verbatim(content) => content.as_array(),
        Part::Text(_) | Part::Call(_) | Part::Result { .. } => None,
    });
    let given: HashSet<&str> = verbatim.flatten().filter_map(|part| part[CALL]["id"].as_str()).collect();
    let content = |turn: &Turn| {
        let role = if turn.own { "model" } else { "user" };
        let parts: Vec<Value> = turn.parts.iter().flat_map(|part| parts(part, &given)).collect();
        let mut content = json!({ "role": role, "parts": parts });
        if signed
            && is_unsigned(&mut content)
            && let Some(call) = calls(&mut content).next()
        {
            call[SIGNATURE] = json!(NO_SIGNATURE);
        }
        content
    };
    turns.list.iter().map(content).collect()
}

fn parts(part: &Part, given: &HashSet<&str>) -> Vec<Value> {
    match part {
        Part::Text(text) => vec![json!({ "text": text })],
        Part::Call(call) => vec![json!({ "functionCall": { "name": call.name, "args": call.object() } })],
        Part::Result { id, name, text } => {
            let mut response = json!({ "name": name, "response": { "result": text } });
            if given.contains(id.as_str()) {
                response["id"] = json!(id);
            }
            vec![json!({ "functionResponse": response })]
        }
        Part::Verbatim(content) => content.as_array().cloned().unwrap_or_default(),
    }
}

/// The functions as `tools`, and `toolConfig`. There is neither a switch for several calls nor for strict arguments, and
/// `parameters` has no `additionalProperties`.
fn tools(functions: &Functions) -> (Value, Option<Value>) {
    let declaration = |function: &Function| {
        let Function { name, description, parameters } = function;
        let mut parameters = parameters.clone();
        if let Some(parameters) = parameters.as_object_mut() {
            parameters.remove("additionalProperties");
        }
        json!({ "name": name, "description": description, "parameters": parameters })
    };
    let declarations: Vec<Value> = functions.list.iter().map(declaration).collect();
    let any = functions.required.then(|| json!({ "functionCallingConfig": { "mode": "ANY" } }));
    (json!([{ "functionDeclarations": declarations }]), any)
}

/// How much to reason, and that the reasoning is to be shown. Levels are of Gemini 3 and later, numbers of tokens of 2.5.
fn thinking(reasoning: Reasoning) -> Value {
    match (reasoning.budget(), reasoning.name()) {
        (None, Some(name)) if reasoning.is_on() => {
            json!({ "includeThoughts": true, "thinkingLevel": name.to_ascii_uppercase() })
        }
        (None, _) => json!({ "thinkingBudget": 0 }),
        (Some(budget), _) => json!({ "includeThoughts": true, "thinkingBudget": budget }),
    }
}

impl Interface for Gemini {
    fn endpoint(&self) -> &'static str {
        ENDPOINT
    }

    fn credential<'k>(&self, key: &'k SecretString) -> Credential<'k> {
        Credential::Header("x-goog-api-key", key)
    }

    fn address(&self, base: &str, model: &str, stream: bool) -> String {
        let path = base.split('?').next().unwrap_or_default().trim().trim_end_matches('/');
        let versioned = ["/v1", "/v1beta", "/v1alpha"].iter().any(|version| path.ends_with(version));
        let version = if versioned { String::new() } else { format!("{VERSION}/") };
        let folder = if model.contains('/') { "" } else { "models/" };
        let method = if stream { "streamGenerateContent?alt=sse" } else { "generateContent" };
        join(base, &[], &format!("{version}{folder}{}:{method}", escaped_path(model)))
    }

    fn unsupported(&self, decoding: &Decoding, _forced: bool) -> Option<Unsupported> {
        let seed = decoding.seed.filter(|seed| i32::try_from(*seed).is_err())?;
        Some(Unsupported {
            reason: format!("the seed {seed} is above {}, the maximum that Gemini supports", i32::MAX),
            hint: "set it lower with --seed".to_owned(),
        })
    }

    fn encode(&self, _model: &str, request: &Request, refused: RequestOptions, watched: bool) -> EncodeResult {
        let decoding = &request.decoding;
        let turns = Turns::of(&request.prompt, ENDPOINT, false, refused);
        let mut contents = contents(&turns, refused.contains(RequestOption::Unsigned));
        let (tools, tool_config) = request.functions.as_deref().map(tools).unzip();
        let most = if refused.contains(RequestOption::Stop) { 0 } else { MAX_STOPS };
        let stops = request.stop.len().min(most);
        let temperature = temperature(decoding, refused);
        // What is usual differs between models.
        let (top_p, seed) = (top_p(decoding, None, refused), seed(decoding, refused));
        let sent = [
            (RequestOption::Temperature, temperature.is_some()),
            (RequestOption::TopP, top_p.is_some()),
            (RequestOption::Seed, seed.is_some()),
            (RequestOption::Stop, stops > 0),
            (RequestOption::Stream, streams(watched, stops, request, refused)),
            (RequestOption::Unsigned, contents.iter_mut().any(is_unsigned)),
        ];
        let body = set_fields(json!({
            "systemInstruction": Some(&turns.system)
                .filter(|text| !text.is_empty())
                .map(|text| json!({ "parts": [{ "text": text }] })),
            "contents": contents,
            "tools": tools,
            "toolConfig": tool_config.flatten(),
            "generationConfig": set_fields(json!({
                "temperature": temperature,
                "topP": top_p,
                "maxOutputTokens": decoding.max_total_tokens(),
                "seed": seed,
                "thinkingConfig": decoding.reasoning.map(thinking),
                "stopSequences": Some(&request.stop[..stops]).filter(|stops| !stops.is_empty()),
            })),
        }));
        Ok(EncodedRequest { body: serde_json::to_vec(&body)?, sent: sent.into(), label: String::new() })
    }

    fn decode(&self, answer: &Answer) -> Result<Decoded, Fault> {
        let body: AnswerBody = read(answer)?;
        no_error(&body.error, &answer.body)?;
        let mut decoded = Decoded::default();
        if take(&body, &mut decoded)? {
            return Ok(decoded);
        }
        Err(if body.candidates.is_some() { "`candidates` is empty" } else { "`candidates` is missing" }.into())
    }

    fn decode_event(&self, data: &[u8], progress: &mut Progress) -> Result<String, Fault> {
        let body: AnswerBody = parse_event(data)?;
        no_error(&body.error, data)?;
        progress.started |= take(&body, &mut progress.rest)?;
        Ok(std::mem::take(&mut progress.rest.text))
    }

    fn limit_name(&self, _refused: RequestOptions) -> &'static str {
        "maxOutputTokens"
    }
}

// Decodes Gemini's answers. An event of a stream has the same format as a whole answer.
//
// | in an answer | in the completion |
// |---|---|
// | parts with `text` | the text, joined |
// | parts with `thought` | left out of the text, and kept apart |
// | parts with `functionCall` | calls; all parts are kept as they were written, as they may be signed |
// | `finishReason` | as the table of [`FinishReason`] has it; others as they are, in small letters |
// | `finishMessage` with a call that cannot be read | the text, where there is no other |
// | `promptFeedback` with `blockReason` | an error that is not retried |
// | `usageMetadata` | tokens of thoughts count as completion tokens, as they are billed |

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

/// The call that the model wrote and the provider could not read: what follows the provider's own words in
/// `Malformed function call: print(…)`.
fn malformed(candidate: &Value) -> Option<&str> {
    let cause = Cause::of_finish(candidate["finishReason"].as_str()?)?;
    let (words, written) = candidate["finishMessage"].as_str()?.split_once(": ")?;
    let is_told = words.len() <= MAX_REPEATED && words.to_ascii_lowercase().ends_with("call");
    let written = written.trim();
    (cause == Cause::MalformedCall && is_told).then(|| &written[..written.floor_char_boundary(MAX_MALFORMED)])
}

/// What was counted. The API leaves out counts of 0: one that is absent is 0 if the others add up to the total.
fn used(usage: &Value) -> Option<Usage> {
    let parts = ["candidatesTokenCount", "thoughtsTokenCount"];
    if parts.into_iter().chain(["promptTokenCount"]).any(|name| is_unreadable(usage, name)) {
        return None;
    }
    let prompt = count(usage, "promptTokenCount");
    let completion = parts.iter().filter_map(|name| count(usage, name)).reduce(|sum, tokens| sum + tokens);
    prompt.or(completion)?;
    let of_tools = count(usage, "toolUsePromptTokenCount");
    let sum = [prompt, completion, of_tools].into_iter().flatten().sum::<u64>();
    let is_whole = prompt.is_some() && count(usage, "totalTokenCount") == Some(sum);
    let special = |name: &str| count(usage, name).or(is_whole.then_some(0));
    Some(Usage {
        cached_tokens: special("cachedContentTokenCount"),
        reasoning_tokens: special("thoughtsTokenCount"),
        ..Usage::new(prompt.unwrap_or(0), completion.unwrap_or(0))
    })
}
