//! Traces of OpenTelemetry: one `ExportTraceServiceRequest` of OTLP/JSON per line, with the semantic conventions for generative AI.

use super::{Scored, ToolUse, is_copied, messages, tool_uses};
use crate::base::{Call, Cause, Message, RebuiltPrompt, Step, Tool, Usage, Variant, sha256_hex};
use crate::scoring::FailureClass;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

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
    let mut resource = Attributes::default();
    resource.text("service.name", "wikitrail");
    resource.text("service.version", &origin.manifest.wikitrail);
    resource.text("wikitrail.run", origin.run);
    resource.text("wikitrail.dataset", &origin.manifest.dataset.name);
    let scope = json!({ "name": "wikitrail", "version": env!("CARGO_PKG_VERSION") });
    let of_scope = json!({ "scope": scope, "spans": Trace::of(scored).spans(metrics) });
    let of_resource = json!({ "resource": { "attributes": resource.0 }, "scopeSpans": [of_scope] });
    json!({ "resourceSpans": [of_resource] })
}

/// Names with their values, each of which says its type.
#[derive(Debug, Default)]
struct Attributes(Vec<Value>);

impl Attributes {
    fn put(&mut self, key: &str, value: Option<Value>) {
        self.0.extend(value.map(|value| json!({ "key": key, "value": value })));
    }

    fn text(&mut self, key: &str, text: &str) {
        self.put(key, Some(json!({ "stringValue": text })));
    }

    fn optional(&mut self, key: &str, text: Option<&str>) {
        self.put(key, text.map(|text| json!({ "stringValue": text })));
    }

    /// OTLP/JSON writes whole numbers of 64 bits as texts.
    fn count(&mut self, key: &str, count: Option<u64>) {
        self.put(key, count.map(|count| json!({ "intValue": count.to_string() })));
    }

    fn number(&mut self, key: &str, number: Option<f64>) {
        self.put(key, number.filter(|number| number.is_finite()).map(|number| json!({ "doubleValue": number })));
    }

    fn flag(&mut self, key: &str, flag: bool) {
        self.put(key, flag.then(|| json!({ "boolValue": true })));
    }

    fn texts<'t>(&mut self, key: &str, texts: impl Iterator<Item = &'t str>) {
        let values: Vec<Value> = texts.map(|text| json!({ "stringValue": text })).collect();
        self.put(key, (!values.is_empty()).then(|| json!({ "arrayValue": { "values": values } })));
    }
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

    fn add(&mut self, name: &str, kind: u8, (start, end): (u64, u64), attributes: &Attributes, status: &Value) {
        let span = json!({
            "traceId": self.id, "spanId": self.span_id(self.spans.len() + 1), "parentSpanId": self.span_id(0),
            "name": name, "kind": kind, "startTimeUnixNano": start.to_string(), "endTimeUnixNano": end.to_string(),
            "attributes": attributes.0, "status": status,
        });
        self.spans.push(span);
    }

    fn call(&mut self, step: &Step, call: &Call, prompt: Option<&RebuiltPrompt>) {
        // A stored answer took its time when it was recorded.
        let ms = if call.cached { 0 } else { call.latency_ms };
        let times = self.times(call.started_at.as_deref(), ms);
        self.estimated |= call.started_at.is_none();
        let mut attributes = Attributes::default();
        let Called { operation, provider, model } = Called::of(self.scored.origin.variant);
        attributes.text("gen_ai.operation.name", operation);
        attributes.optional("gen_ai.provider.name", provider);
        attributes.text("gen_ai.request.model", model);
        attributes.text("openinference.span.kind", "LLM");
        settings(&mut attributes, self.scored.origin.variant);
        attributes.texts("gen_ai.request.stop_sequences", call.stop.iter().map(String::as_str));
        attributes.texts("gen_ai.response.finish_reasons", call.finish_reason.as_deref().into_iter());
        let usage = |of: fn(Usage) -> u64| call.usage.map(of);
        attributes.count("gen_ai.usage.input_tokens", usage(|usage| usage.prompt_tokens));
        attributes.count("gen_ai.usage.output_tokens", usage(|usage| usage.completion_tokens));
        attributes.count("gen_ai.usage.cache_read.input_tokens", usage(|usage| usage.cached_tokens));
        attributes.count("gen_ai.usage.cache_creation.input_tokens", usage(|usage| usage.cache_write_tokens));
        let sent = prompt.filter(|prompt| prompt.same).and_then(|prompt| prompt.request.as_ref());
        if let Some(request) = sent {
            let input: Vec<Value> = messages(&request.prompt).iter().map(message).collect();
            attributes.text("gen_ai.input.messages", &json!(input).to_string());
        }
        attributes.text("gen_ai.output.messages", &json!([reply(call)]).to_string());
        place(&mut attributes, step);
        attributes.count("wikitrail.attempts", Some(call.attempts.into()));
        attributes.flag("wikitrail.cached", call.cached);
        attributes.optional("wikitrail.prompt_sha256", Some(&*call.prompt_sha256).filter(|digest| !digest.is_empty()));
        attributes.optional("wikitrail.cause", call.shortfall().map(Cause::name));
        let status = if call.is_failure() { json!({ "code": ERROR }) } else { json!({}) };
        self.add(&format!("{operation} {model}"), CLIENT, times, &attributes, &status);
    }

    fn tool(&mut self, step: &Step, used: &ToolUse) {
        let times = self.times(step.tool_started_at.as_deref(), step.tool_ms.unwrap_or_default());
        self.estimated |= step.tool_started_at.is_none() && !self.timed;
        let mut attributes = Attributes::default();
        attributes.text("gen_ai.operation.name", "execute_tool");
        attributes.text("openinference.span.kind", "TOOL");
        attributes.text("gen_ai.tool.name", &used.function);
        attributes.text("gen_ai.tool.type", "function");
        attributes.text("gen_ai.tool.call.id", &used.id);
        attributes.text("gen_ai.tool.call.arguments", &used.arguments.to_string());
        attributes.optional("gen_ai.tool.call.result", step.observation.as_deref());
        place(&mut attributes, step);
        if let Some(page) = &step.provenance {
            attributes.text("wikitrail.page.title", &page.titles_line());
            attributes.text("wikitrail.page.url", &page.url);
            attributes.count("wikitrail.page.revid", page.revid);
        }
        let failed = step.note.as_deref().filter(|_| step.observation.is_none());
        let status = failed.map_or(json!({}), error);
        self.add(&format!("execute_tool {}", used.function), INTERNAL, times, &attributes, &status);
    }

    fn root(&self, metrics: &[String]) -> Value {
        let recorded = &self.scored.episode.trajectory;
        let took = recorded.timed_ms().map(|ms| self.start.saturating_add(ms.saturating_mul(NANOS_A_MS)));
        let end = took.unwrap_or_default().max(self.end);
        let failed = (!recorded.measured()).then(|| recorded.detail.as_deref().unwrap_or(recorded.outcome.name()));
        json!({
            "traceId": self.id, "spanId": self.span_id(0), "name": format!("invoke_agent {}", recorded.variant),
            "kind": INTERNAL, "startTimeUnixNano": self.start.to_string(), "endTimeUnixNano": end.to_string(),
            "attributes": self.root_attributes().0, "events": self.evaluations(metrics, end),
            "status": failed.map_or(json!({}), error),
        })
    }

    fn root_attributes(&self) -> Attributes {
        let recorded = &self.scored.episode.trajectory;
        let mut attributes = Attributes::default();
        let Called { provider, model, .. } = Called::of(self.scored.origin.variant);
        attributes.text("gen_ai.operation.name", "invoke_agent");
        attributes.optional("gen_ai.provider.name", provider);
        attributes.text("gen_ai.request.model", model);
        attributes.text("gen_ai.agent.name", &recorded.variant);
        attributes.text("gen_ai.conversation.id", &recorded.key);
        let usage = recorded.counted_usage().and_then(Usage::split);
        attributes.count("gen_ai.usage.input_tokens", usage.map(|usage| usage.prompt_tokens));
        attributes.count("gen_ai.usage.output_tokens", usage.map(|usage| usage.completion_tokens));
        // The names under which Phoenix lists a trace.
        attributes.text("openinference.span.kind", "AGENT");
        attributes.text("input.value", &recorded.question);
        attributes.optional("output.value", recorded.answer.as_deref());
        attributes.text("wikitrail.id", &recorded.id);
        attributes.text("wikitrail.variant", &recorded.variant);
        attributes.count("wikitrail.repeat", Some(recorded.repeat.into()));
        attributes.texts("wikitrail.answers", recorded.answers.iter().map(String::as_str));
        attributes.text("wikitrail.outcome", recorded.outcome.name());
        attributes.optional("wikitrail.detail", recorded.detail.as_deref());
        attributes.optional("wikitrail.failure_class", self.scored.episode.class().map(FailureClass::name));
        attributes.number("wikitrail.cost_usd", recorded.cost_usd);
        attributes.flag("wikitrail.times_estimated", self.estimated);
        if let Some(branch) = &recorded.branch {
            attributes.text("wikitrail.branch.key", &branch.key);
            attributes.count("wikitrail.branch.at", u64::try_from(branch.at).ok());
        }
        attributes
    }

    /// Scores and metrics, as the conventions have results of evaluations.
    fn evaluations(&self, metrics: &[String], end: u64) -> Vec<Value> {
        let score = self.scored.episode.score;
        let figures = [("em", score.map(|score| score.em)), ("f1", score.map(|score| score.f1))];
        let metrics = metrics.iter().map(String::as_str).zip(self.scored.metrics.iter().copied());
        let values = figures.into_iter().chain(metrics).filter_map(|(name, value)| Some((name, value?)));
        let event = |(name, value): (&str, f64)| {
            let mut attributes = Attributes::default();
            attributes.text("gen_ai.evaluation.name", name);
            attributes.number("gen_ai.evaluation.score.value", Some(value));
            json!({
                "timeUnixNano": end.to_string(), "name": "gen_ai.evaluation.result", "attributes": attributes.0,
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

/// What the calls of a variant are, in the words of the conventions.
struct Called<'v> {
    operation: &'static str,
    provider: Option<&'v str>,
    model: &'v str,
}

impl<'v> Called<'v> {
    fn of(variant: Option<&'v Variant>) -> Self {
        let named = variant.map_or("unknown", |variant| variant.model.as_str());
        let (provider, model) = match named.split_once(':') {
            Some(("gemini", model)) => (Some("gcp.gemini"), model),
            Some((provider @ ("openai" | "anthropic"), model)) => (Some(provider), model),
            _ => (None, named),
        };
        let operation = match variant.map(|variant| variant.endpoint.as_str()) {
            Some("completions") => "text_completion",
            Some("generateContent") => "generate_content",
            _ => "chat",
        };
        Self { operation, provider, model }
    }
}

fn settings(attributes: &mut Attributes, variant: Option<&Variant>) {
    let Some(variant) = variant else { return };
    let sent = |name: &str| !variant.not_sent.iter().any(|other| other == name);
    let decoding = &variant.decoding;
    attributes.number("gen_ai.request.temperature", decoding.temperature.filter(|_| sent("temperature")));
    attributes.number("gen_ai.request.top_p", decoding.top_p.filter(|_| sent("top_p")));
    attributes.count("gen_ai.request.max_tokens", decoding.max_tokens.map(u64::from));
    attributes.count("gen_ai.request.seed", decoding.seed.filter(|_| sent("seed")));
}

fn place(attributes: &mut Attributes, step: &Step) {
    attributes.count("wikitrail.step", u64::try_from(step.n).ok());
    attributes.count("wikitrail.sample", step.sample.map(u64::from));
}

fn tool_call(id: &str, name: &str, arguments: &Value) -> Value {
    json!({ "type": "tool_call", "id": id, "name": name, "arguments": arguments })
}

fn text_part(text: &str) -> Value {
    json!({ "type": "text", "content": text })
}

fn message(message: &Message) -> Value {
    let Message { role, content, calls, answers, .. } = message;
    let mut parts: Vec<Value> = match answers {
        Some(id) => vec![json!({ "type": "tool_call_response", "id": id, "response": &**content })],
        None if content.is_empty() => Vec::new(),
        None => vec![text_part(content)],
    };
    parts.extend(calls.iter().map(|call| tool_call(&call.id, &call.name, &call.object())));
    json!({ "role": role, "parts": parts })
}

fn reply(call: &Call) -> Value {
    let reasoning = call.reasoning.as_deref().filter(|text| !text.is_empty());
    let mut parts: Vec<Value> =
        reasoning.map(|text| json!({ "type": "reasoning", "content": text })).into_iter().collect();
    if !call.completion.is_empty() {
        parts.push(text_part(&call.completion));
    }
    parts.extend(call.calls.iter().map(|call| tool_call(&call.id, &call.name, &call.object())));
    let mut reply = Map::new();
    reply.insert("role".to_owned(), json!("assistant"));
    reply.insert("parts".to_owned(), json!(parts));
    reply.extend(call.finish_reason.as_ref().map(|reason| ("finish_reason".to_owned(), json!(reason))));
    Value::Object(reply)
}
