//! A sample of the log: its messages, and its events with the exact prompts.

use super::super::Scored;
use super::super::turns::{ToolUse, instant, is_copied, messages, opening, role, tool_uses};
use super::{config, model, usage};
use crate::types::{Call, Cause, Message, Outcome, RebuiltPrompt, Role, Step, sha256_hex};
use serde_json::{Map, Value, json};

/// Bytes from which on a text of a prompt is written once a sample, and referred to from its events.
const LONG: usize = 100;

/// What the log has of one episode; `figures` are its values by scorer.
pub(super) fn sample(scored: &Scored<'_>, figures: &[(&str, f64)]) -> Value {
    let recorded = scored.trajectory;
    let mut story = Story::of(scored);
    let mut prompts = scored.prompts.iter();
    for (step, used) in recorded.steps.iter().zip(tool_uses(recorded)) {
        for call in &step.calls {
            story.model(step, call, used.as_ref(), prompts.next());
        }
        story.tool(step, used.as_ref());
    }
    let failed = (!recorded.measured()).then(|| {
        let message = recorded.detail.clone().unwrap_or_else(|| recorded.outcome.name().to_owned());
        json!({ "message": message, "traceback": "", "traceback_ansi": "" })
    });
    if let Some(error) = &failed {
        story.event("error", json!({ "error": error }));
    }
    let failure = scored.assessment.and_then(|assessment| assessment.failure.as_ref());
    let evidence = failure.map(|failure| failure.evidence.as_str());
    let score = |value: f64| json!({ "value": value, "answer": recorded.answer, "explanation": evidence });
    for (name, value) in figures {
        story.event("score", json!({ "score": score(*value), "target": recorded.answers, "scorer": name }));
    }
    let by_name: Map<String, Value> = figures.iter().map(|(name, value)| ((*name).to_owned(), score(*value))).collect();
    let name = model(scored.origin.variant());
    let Story { messages, events, attachments, .. } = story;
    json!({
        "id": recorded.id, "epoch": recorded.repeat.saturating_add(1), "input": recorded.question,
        "target": recorded.answers, "messages": messages, "events": events, "attachments": attachments,
        "output": output(&name, recorded.answer.as_deref()), "scores": by_name, "error": failed, "limit": limit(scored),
        "metadata": {
            "key": recorded.key, "variant": recorded.variant, "outcome": recorded.outcome, "detail": recorded.detail,
            "failure": recorded.failure, "failure_class": failure.map(|failure| failure.class.name()),
            "votes": recorded.votes, "repairs": recorded.repairs, "branch": recorded.branch, "cost_usd": recorded.cost_usd,
        },
        "model_usage": recorded.counted_usage().map_or_else(|| json!({}), |counted| json!({ (name): usage(counted) })),
        "started_at": instant(&recorded.started_at, 0), "completed_at": recorded.timed_ms().and_then(|ms| instant(&recorded.started_at, ms)),
        "total_time": recorded.timed_ms().map(seconds), "working_time": recorded.timed_ms().map(seconds), "uuid": recorded.key,
    })
}

/// What happens in an episode, told as messages and as events.
struct Story<'a> {
    scored: &'a Scored<'a>,
    model: String,
    messages: Vec<Value>,
    events: Vec<Value>,
    attachments: Map<String, Value>,
    /// Time since the start, as far as calls took it.
    at_ms: u64,
}

impl<'a> Story<'a> {
    fn of(scored: &'a Scored<'a>) -> Self {
        let messages = opening(scored).iter().map(message).collect();
        let model = model(scored.origin.variant());
        Self { scored, model, messages, events: Vec::new(), attachments: Map::new(), at_ms: 0 }
    }

    fn event(&mut self, kind: &str, mut fields: Value) {
        fields["event"] = json!(kind);
        if let Some(time) = instant(&self.scored.trajectory.started_at, self.at_ms) {
            fields["timestamp"] = json!(time);
        }
        fields["working_start"] = json!(seconds(self.at_ms));
        self.events.push(fields);
    }

    /// A call: the exact prompt, or the messages so far where it cannot be rebuilt. A step's last reply is the one that
    /// it was taken from.
    fn model(&mut self, step: &Step, call: &Call, used: Option<&ToolUse>, prompt: Option<&RebuiltPrompt>) {
        let request = prompt.filter(|prompt| prompt.same).and_then(|prompt| prompt.request.as_ref());
        let said: Vec<Value> = request
            .map_or_else(|| self.messages.clone(), |request| messages(&request.prompt).iter().map(message).collect());
        let input: Vec<Value> = said.into_iter().map(|message| self.attached(message)).collect();
        let functions = request.and_then(|request| request.functions.as_ref());
        let tools: Vec<Value> = functions.map_or_else(Vec::new, |functions| {
            let offered = functions.list.iter();
            offered
                .map(|one| json!({ "name": one.name, "description": one.description, "parameters": one.parameters }))
                .collect()
        });
        let is_last = step.calls.last().is_some_and(|last| std::ptr::eq(last, call));
        let reply = self.reply(call, used.filter(|_| is_last));
        let mut config = config(self.scored.origin.variant());
        config["stop_seqs"] = json!(call.stop);
        let start = self.at_ms;
        let own_ms = if call.copied { 0 } else { call.latency_ms };
        let fields = json!({
            "model": self.model, "input": input, "tools": tools, "config": config,
            "tool_choice": if functions.is_some_and(|functions| functions.required) { "any" } else { "auto" },
            "output": {
                "model": self.model, "completion": call.completion, "time": seconds(call.latency_ms),
                "choices": [{ "message": reply, "stop_reason": stop_reason(call) }], "usage": call.usage.map(usage),
            },
            "retries": call.attempts.saturating_sub(1), "cache": call.cached.then_some("read"),
            "completed": instant(&self.scored.trajectory.started_at, start + own_ms), "working_time": seconds(own_ms),
            "metadata": {
                "step": step.n, "sample": step.sample, "copied": call.copied, "finish_reason": call.finish_reason,
                "prompt_sha256": call.prompt_sha256, "exact_prompt": request.is_some(),
            },
        });
        self.event("model", fields);
        self.at_ms = start + own_ms;
        if is_last {
            self.messages.push(reply);
        }
    }

    fn reply(&self, call: &Call, used: Option<&ToolUse>) -> Value {
        let text = json!(call.completion);
        let content = match call.reasoning.as_deref().filter(|reasoning| !reasoning.is_empty()) {
            Some(reasoning) => {
                json!([{ "type": "reasoning", "reasoning": reasoning }, { "type": "text", "text": text }])
            }
            None => text,
        };
        let mut reply = json!({ "role": "assistant", "content": content, "source": "generate", "model": self.model });
        if let Some(used) = used {
            reply["tool_calls"] = json!([tool_call(used)]);
        }
        reply
    }

    /// What the tool answered. Where no tool was called, the agent's system answered, and says it as the user does.
    fn tool(&mut self, step: &Step, used: Option<&ToolUse>) {
        let Some(used) = used else {
            if let Some(text) = &step.observation {
                self.messages.push(json!({ "role": "user", "content": text }));
                self.event("info", json!({ "source": "wikitrail", "data": text }));
            }
            return;
        };
        if step.calls.is_empty() {
            // One of several calls of a reply.
            let calls = json!([tool_call(used)]);
            self.messages.push(json!({ "role": "assistant", "content": "", "model": self.model, "tool_calls": calls }));
        }
        let text = step.observation.as_deref();
        if let Some(text) = text {
            self.messages.push(json!({
                "role": "tool", "content": text, "tool_call_id": used.id, "function": used.function,
            }));
        }
        let copied = is_copied(self.scored.trajectory, step);
        let fields = json!({
            "type": "function", "id": used.id, "function": used.function, "arguments": used.arguments,
            "result": text.unwrap_or_default(),
            "metadata": {
                "step": step.n, "sample": step.sample, "copied": copied, "action_text": step.action_text,
                "provenance": step.provenance, "note": step.note,
            },
        });
        self.event("tool", fields);
    }

    /// A message of a prompt, with a long text in the attachments: prompts repeat what was said before.
    fn attached(&mut self, mut message: Value) -> Value {
        if let Some(text) = message["content"].as_str().filter(|text| text.len() > LONG) {
            let name = sha256_hex([text.as_bytes()])[..32].to_owned();
            let content = json!(format!("attachment://{name}"));
            self.attachments.insert(name, json!(text));
            message["content"] = content;
        }
        message
    }
}

fn message(message: &Message) -> Value {
    let Message { content, calls, answers, .. } = message;
    let mut value = json!({ "role": role(message.role), "content": content });
    if !calls.is_empty() {
        let call = |call: &crate::types::FunctionCall| json!({ "id": call.id, "function": call.name, "arguments": call.object(), "type": "function" });
        value["tool_calls"] = json!(calls.iter().map(call).collect::<Vec<_>>());
    }
    if message.role == Role::Tool {
        value["tool_call_id"] = json!(answers);
    }
    value
}

fn tool_call(used: &ToolUse) -> Value {
    json!({ "id": used.id, "function": used.function, "arguments": used.arguments, "type": "function" })
}

fn output(model: &str, answer: Option<&str>) -> Value {
    let choice = |answer: &str| {
        json!({
            "message": { "role": "assistant", "content": answer, "source": "generate", "model": model },
            "stop_reason": "stop",
        })
    };
    let choices: Vec<Value> = answer.map(choice).into_iter().collect();
    json!({ "model": model, "choices": choices, "completion": answer.unwrap_or_default() })
}

fn stop_reason(call: &Call) -> &'static str {
    match (call.shortfall(), call.finish_reason.is_some()) {
        (Some(Cause::TokenLimit), _) => "max_tokens",
        (Some(Cause::ContextOverflow), _) => "model_length",
        (Some(Cause::ContentFilter | Cause::Refusal), _) => "content_filter",
        (None, _) if !call.calls.is_empty() => "tool_calls",
        (None, true) => "stop",
        _ => "unknown",
    }
}

/// The limit that ended the episode.
fn limit(scored: &Scored<'_>) -> Option<Value> {
    let variant = scored.origin.variant()?;
    if scored.trajectory.outcome != Outcome::StepLimit {
        return None;
    }
    let Some(most) = variant.max_steps else {
        // As `import inspect` words it.
        let (kind, number) = scored.trajectory.detail.as_deref()?.strip_prefix("limit: ")?.rsplit_once(", ")?;
        return Some(json!({ "type": kind, "limit": number.parse::<f64>().ok()? }));
    };
    Some(json!({ "type": "turn", "limit": most, "reason": "step_limit" }))
}

#[expect(clippy::cast_precision_loss, reason = "no run takes that long")]
fn seconds(ms: u64) -> f64 {
    ms as f64 / 1000.0
}
