//! Traces of OpenTelemetry: one `ExportTraceServiceRequest` of OTLP/JSON per line, with the semantic conventions for generative AI.

use super::{Scored, ToolUse, config, is_copied, messages, present, tool_uses};
use crate::base::{Call, Cause, Message, Provenance, RebuiltPrompt, Step, Tool, Usage, Variant, sha256_hex};
use crate::scoring::FailureClass;
use jiff::Timestamp;
use serde_json::{Value, json};

/// What each line begins with, by which an earlier export is known.
pub const BEGINNING: &str =
    r#"{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"wikitrail"}}"#;

/// Kinds of spans: work inside of the process, and a request to a server.
const INTERNAL: u8 = 1;
const CLIENT: u8 = 3;

/// The code of a status that is an error.
const ERROR: u8 = 2;

const NANOS_A_MS: u64 = 1_000_000;

/// A request. An episode is a trace: a span for the agent, and below it one for each model call and each use of a tool. Ids
/// follow from the episode, so that a second export is the same trace.
///
/// Sources: `opentelemetry/proto/trace/v1/trace.proto` with the mapping to JSON of the OTLP specification, and the attributes
/// `gen_ai.*` of the semantic conventions.
pub fn line(scored: &Scored<'_>, metrics: &[String]) -> Value {
    let origin = scored.origin;
    let resource = attributes(json!({
        "service.name": "wikitrail", "service.version": origin.manifest.wikitrail, "wikitrail.run": origin.run,
        "wikitrail.dataset": origin.manifest.dataset.name,
    }));
    let scope = json!({ "name": "wikitrail", "version": env!("CARGO_PKG_VERSION") });
    let of_scope = json!({ "scope": scope, "spans": Trace::of(scored).spans(metrics) });
    let of_resource = json!({ "resource": { "attributes": resource }, "scopeSpans": [of_scope] });
    json!({ "resourceSpans": [of_resource] })
}

/// The fields of an object as names with their values, each of which says its type. What is absent, false or an empty list is
/// left out. OTLP/JSON writes whole numbers of 64 bits as texts.
fn attributes(fields: Value) -> Vec<Value> {
    fn typed(value: Value) -> Option<Value> {
        let typed = match value {
            Value::String(_) => ("stringValue", value),
            Value::Number(number) if number.is_f64() => ("doubleValue", number.into()),
            Value::Number(number) => ("intValue", number.to_string().into()),
            Value::Bool(true) => ("boolValue", value),
            Value::Array(items) if !items.is_empty() => {
                let values = items.into_iter().filter_map(typed).collect();
                ("arrayValue", [("values", Value::Array(values))].into_iter().collect())
            }
            _ => return None,
        };
        Some([typed].into_iter().collect())
    }
    let Value::Object(fields) = fields else { return Vec::new() };
    let attribute = |(key, value): (String, Value)| {
        let value = typed(value)?;
        Some([("key", Value::String(key)), ("value", value)].into_iter().collect())
    };
    fields.into_iter().filter_map(attribute).collect()
}

struct Trace<'a> {
    scored: &'a Scored<'a>,
    id: String,
    /// When it began, in nanoseconds since 1970; 0 where the record does not say it.
    start: u64,
    /// Where the next span begins that has no time of its own: behind the last one.
    at: u64,
    end: u64,
    /// Whether the record says when its calls began; it then says so of the tools that were asked, too.
    timed: bool,
    estimated: bool,
    spans: Vec<Value>,
}

impl<'a> Trace<'a> {
    fn of(scored: &'a Scored<'a>) -> Self {
        let recorded = &scored.episode.trajectory;
        let start = nanos(&recorded.started_at).unwrap_or_default();
        let id = digest(&[&recorded.key, &recorded.started_at], 32);
        let timed = recorded.steps.iter().flat_map(|step| &step.calls).any(|call| call.started_at.is_some());
        Self { scored, id, start, at: start, end: start, timed, estimated: false, spans: Vec::new() }
    }

    fn spans(mut self, metrics: &[String]) -> Vec<Value> {
        let recorded = &self.scored.episode.trajectory;
        let mut prompts = self.scored.prompts.iter();
        for (step, used) in recorded.steps.iter().zip(tool_uses(recorded)) {
            for call in &step.calls {
                let prompt = prompts.next();
                // What was copied took place in another trace.
                if !call.copied {
                    self.call(step, call, prompt);
                }
            }
            // The answer of a method without tools is given to none.
            let given = step.tool == Some(Tool::Finish) && step.observation.is_none();
            if let Some(used) = used.filter(|_| !given && !is_copied(recorded, step)) {
                self.tool(step, &used);
            }
        }
        let root = self.root(metrics);
        self.spans.insert(0, root);
        self.spans
    }

    fn span_id(&self, number: usize) -> String {
        digest(&[&self.id, &number.to_string()], 16)
    }

    /// Start and end of a span that took so long, from its recorded beginning on.
    fn times(&mut self, started_at: Option<&str>, ms: u64) -> (u64, u64) {
        let recorded = started_at.and_then(nanos);
        let start = recorded.unwrap_or(self.at);
        let end = start.saturating_add(ms.saturating_mul(NANOS_A_MS));
        (self.at, self.end) = (self.at.max(end), self.end.max(end));
        (start, end)
    }

    fn add(&mut self, name: &str, kind: u8, (start, end): (u64, u64), fields: Value, status: &Value) {
        let span = json!({
            "traceId": self.id, "spanId": self.span_id(self.spans.len() + 1), "parentSpanId": self.span_id(0),
            "name": name, "kind": kind, "startTimeUnixNano": start.to_string(), "endTimeUnixNano": end.to_string(),
            "attributes": attributes(fields), "status": status,
        });
        self.spans.push(span);
    }

    fn call(&mut self, step: &Step, call: &Call, prompt: Option<&RebuiltPrompt>) {
        // A stored answer took its time when it was recorded.
        let ms = if call.cached { 0 } else { call.latency_ms };
        let times = self.times(call.started_at.as_deref(), ms);
        self.estimated |= call.started_at.is_none();
        let variant = self.scored.origin.variant;
        let ((provider, model), settings) = (model_of(variant), config(variant));
        let operation = match variant.map(|variant| variant.endpoint.as_str()) {
            Some("completions") => "text_completion",
            Some("generateContent") => "generate_content",
            _ => "chat",
        };
        let sent = prompt.filter(|prompt| prompt.same).and_then(|prompt| prompt.request.as_ref());
        let input = sent.map(|request| messages(&request.prompt).iter().map(message).collect::<Value>().to_string());
        let fields = json!({
            "gen_ai.operation.name": operation, "gen_ai.provider.name": provider, "gen_ai.request.model": model,
            "openinference.span.kind": "LLM",
            "gen_ai.request.temperature": settings["temperature"], "gen_ai.request.top_p": settings["top_p"],
            "gen_ai.request.max_tokens": settings["max_tokens"], "gen_ai.request.seed": settings["seed"],
            "gen_ai.request.stop_sequences": call.stop,
            "gen_ai.response.finish_reasons": call.finish_reason.as_slice(),
            "gen_ai.usage.input_tokens": call.usage.map(|usage| usage.prompt_tokens),
            "gen_ai.usage.output_tokens": call.usage.map(|usage| usage.completion_tokens),
            "gen_ai.usage.cache_read.input_tokens": call.usage.and_then(|usage| usage.cached_tokens),
            "gen_ai.usage.cache_creation.input_tokens": call.usage.and_then(|usage| usage.cache_write_tokens),
            "gen_ai.input.messages": input, "gen_ai.output.messages": json!([reply(call)]).to_string(),
            "wikitrail.step": step.n, "wikitrail.sample": step.sample, "wikitrail.attempts": call.attempts,
            "wikitrail.cached": call.cached,
            "wikitrail.prompt_sha256": Some(&call.prompt_sha256).filter(|digest| !digest.is_empty()),
            "wikitrail.cause": call.shortfall().map(Cause::name),
        });
        let status = if call.is_failure() { json!({ "code": ERROR }) } else { json!({}) };
        self.add(&format!("{operation} {model}"), CLIENT, times, fields, &status);
    }

    fn tool(&mut self, step: &Step, used: &ToolUse) {
        let times = self.times(step.tool_started_at.as_deref(), step.tool_ms.unwrap_or_default());
        self.estimated |= step.tool_started_at.is_none() && !self.timed;
        let page = step.provenance.as_ref();
        let fields = json!({
            "gen_ai.operation.name": "execute_tool", "openinference.span.kind": "TOOL", "gen_ai.tool.name": used.function,
            "gen_ai.tool.type": "function", "gen_ai.tool.call.id": used.id,
            "gen_ai.tool.call.arguments": used.arguments.to_string(), "gen_ai.tool.call.result": step.observation,
            "wikitrail.step": step.n, "wikitrail.sample": step.sample,
            "wikitrail.page.title": page.map(Provenance::titles_line), "wikitrail.page.url": page.map(|page| &page.url),
            "wikitrail.page.revid": page.and_then(|page| page.revid),
        });
        let failed = step.note.as_deref().filter(|_| step.observation.is_none());
        let status = failed.map_or(json!({}), error);
        self.add(&format!("execute_tool {}", used.function), INTERNAL, times, fields, &status);
    }

    fn root(&self, metrics: &[String]) -> Value {
        let recorded = &self.scored.episode.trajectory;
        let took = recorded.timed_ms().map(|ms| self.start.saturating_add(ms.saturating_mul(NANOS_A_MS)));
        let end = took.unwrap_or_default().max(self.end);
        let failed = (!recorded.measured()).then(|| recorded.detail.as_deref().unwrap_or(recorded.outcome.name()));
        json!({
            "traceId": self.id, "spanId": self.span_id(0), "name": format!("invoke_agent {}", recorded.variant),
            "kind": INTERNAL, "startTimeUnixNano": self.start.to_string(), "endTimeUnixNano": end.to_string(),
            "attributes": attributes(self.root_fields()), "events": self.evaluations(metrics, end),
            "status": failed.map_or(json!({}), error),
        })
    }

    fn root_fields(&self) -> Value {
        let recorded = &self.scored.episode.trajectory;
        let (provider, model) = model_of(self.scored.origin.variant);
        let usage = recorded.counted_usage().and_then(Usage::split);
        let branch = recorded.branch.as_ref();
        json!({
            "gen_ai.operation.name": "invoke_agent", "gen_ai.provider.name": provider, "gen_ai.request.model": model,
            "gen_ai.agent.name": recorded.variant, "gen_ai.conversation.id": recorded.key,
            "gen_ai.usage.input_tokens": usage.map(|usage| usage.prompt_tokens),
            "gen_ai.usage.output_tokens": usage.map(|usage| usage.completion_tokens),
            // The names under which Phoenix lists a trace.
            "openinference.span.kind": "AGENT", "input.value": recorded.question, "output.value": recorded.answer,
            "wikitrail.id": recorded.id, "wikitrail.variant": recorded.variant, "wikitrail.repeat": recorded.repeat,
            "wikitrail.answers": recorded.answers, "wikitrail.outcome": recorded.outcome.name(),
            "wikitrail.detail": recorded.detail,
            "wikitrail.failure_class": self.scored.episode.class().map(FailureClass::name),
            "wikitrail.cost_usd": recorded.cost(), "wikitrail.times_estimated": self.estimated,
            "wikitrail.branch.key": branch.map(|branch| &branch.key), "wikitrail.branch.at": branch.map(|branch| branch.at),
        })
    }

    /// Scores and metrics, as the conventions have results of evaluations.
    fn evaluations(&self, metrics: &[String], end: u64) -> Vec<Value> {
        let score = self.scored.episode.score;
        let figures = [("em", score.map(|score| score.em)), ("f1", score.map(|score| score.f1))];
        let metrics = metrics.iter().map(String::as_str).zip(self.scored.metrics.iter().copied());
        let values = figures.into_iter().chain(metrics).filter_map(|(name, value)| Some((name, value?)));
        let event = |(name, value): (&str, f64)| {
            let fields = json!({ "gen_ai.evaluation.name": name, "gen_ai.evaluation.score.value": value });
            json!({
                "timeUnixNano": end.to_string(), "name": "gen_ai.evaluation.result", "attributes": attributes(fields),
            })
        };
        values.map(event).collect()
    }
}

fn error(message: &str) -> Value {
    json!({ "code": ERROR, "message": message })
}

fn digest(texts: &[&str], digits: usize) -> String {
    sha256_hex([texts.join("\n").as_bytes()])[..digits].to_owned()
}

/// A recorded time in nanoseconds since 1970.
fn nanos(text: &str) -> Option<u64> {
    u64::try_from(text.parse::<Timestamp>().ok()?.as_nanosecond()).ok()
}

/// The provider and the model of a variant, in the words of the conventions.
fn model_of(variant: Option<&Variant>) -> (Option<&str>, &str) {
    let named = variant.map_or("unknown", |variant| variant.model.as_str());
    match named.split_once(':') {
        Some(("gemini", model)) => (Some("gcp.gemini"), model),
        Some((provider @ ("openai" | "anthropic"), model)) => (Some(provider), model),
        _ => (None, named),
    }
}

fn tool_call(id: &str, name: &str, arguments: &Value) -> Value {
    json!({ "type": "tool_call", "id": id, "name": name, "arguments": arguments })
}

fn message(message: &Message) -> Value {
    let Message { role, content, calls, answers, .. } = message;
    let mut parts: Vec<Value> = match answers {
        Some(id) => vec![json!({ "type": "tool_call_response", "id": id, "response": &**content })],
        None if content.is_empty() => Vec::new(),
        None => vec![json!({ "type": "text", "content": &**content })],
    };
    parts.extend(calls.iter().map(|call| tool_call(&call.id, &call.name, &call.object())));
    json!({ "role": role, "parts": parts })
}

fn reply(call: &Call) -> Value {
    let reasoning = call.reasoning.as_deref().filter(|text| !text.is_empty());
    let mut parts: Vec<Value> =
        reasoning.map(|text| json!({ "type": "reasoning", "content": text })).into_iter().collect();
    if !call.completion.is_empty() {
        parts.push(json!({ "type": "text", "content": call.completion }));
    }
    parts.extend(call.calls.iter().map(|call| tool_call(&call.id, &call.name, &call.object())));
    present(json!({ "role": "assistant", "parts": parts, "finish_reason": call.finish_reason }))
}
