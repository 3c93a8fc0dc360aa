//! The log of Inspect (`inspect_ai`), version 2, as JSON: one variant of one run.

use super::{
    Export, ExportError, Origin, Scored, ToolUse, config, instant, is_copied, messages, opening, present, tool_uses,
};
use crate::base::{Call, Cause, Message, Outcome, RebuiltPrompt, Role, Step, Usage, Variant, sha256_hex};
use crate::scoring::{AnswerScore, ScoredEpisode, float};
use serde_json::{Map, Value, json};
use std::io::{self, BufWriter, Write};

const VERSION: u32 = 2;

#[derive(Debug, Clone, Copy)]
pub struct LogHeader<'a> {
    pub origin: Origin<'a>,
    /// Episodes that the variant is to have; absent where only some of them are exported.
    pub planned: Option<usize>,
}

/// What is counted over the episodes of a log. A log says it before them, since readers of its head stop at the first sample.
#[derive(Debug)]
pub struct LogTotals {
    scorers: Vec<Scorer>,
    samples: usize,
    measured: usize,
    /// Absent where no episode has counted tokens.
    usage: Option<Usage>,
}

#[derive(Debug)]
struct Scorer {
    name: String,
    sum: f64,
    scored: usize,
}

impl LogTotals {
    pub fn new(metrics: Vec<String>) -> Self {
        let figures = AnswerScore::NUMBERS.iter().map(|(name, _)| (*name).to_owned());
        let scorers = figures.chain(metrics).map(|name| Scorer { name, sum: 0.0, scored: 0 }).collect();
        Self { scorers, samples: 0, measured: 0, usage: None }
    }

    pub fn add(&mut self, episode: &ScoredEpisode, metrics: &[Option<f64>]) {
        for (scorer, value) in self.scorers.iter_mut().zip(values(episode.score, metrics)) {
            scorer.sum += value.unwrap_or_default();
            scorer.scored += usize::from(value.is_some());
        }
        self.samples += 1;
        self.measured += usize::from(episode.trajectory.measured());
        self.usage =
            [self.usage, episode.trajectory.counted_usage()].into_iter().flatten().reduce(|sum, own| sum + own);
    }

    fn results(&self, planned: Option<usize>) -> Value {
        // The mean of chosen episodes, such as the wrong ones, would look like that of the run.
        let measured = self.scorers.iter().filter(|scorer| planned.is_some() && scorer.scored > 0);
        let score = |Scorer { name, sum, scored }: &Scorer| {
            let mean = json!({ "name": "mean", "value": sum / float(*scored) });
            json!({
                "name": name, "scorer": name, "scored_samples": scored, "unscored_samples": self.samples - scored,
                "metrics": { "mean": mean },
            })
        };
        let scores: Vec<Value> = measured.map(score).collect();
        json!({
            "total_samples": planned.unwrap_or(self.samples), "completed_samples": self.measured,
            "logged_samples": self.samples, "scores": scores,
        })
    }
}

fn values(score: Option<AnswerScore>, metrics: &[Option<f64>]) -> Vec<Option<f64>> {
    let figures = AnswerScore::NUMBERS.iter().map(|(_, of)| score.map(of));
    figures.chain(metrics.iter().copied()).map(|value| value.filter(|value| value.is_finite())).collect()
}

/// Writes one log: an object with its head, and then its samples as they come.
///
/// Source: the models in `inspect_ai.log` of the package `inspect_ai`.
#[derive(Debug)]
pub struct Inspect<'a, W: Write> {
    out: BufWriter<W>,
    header: LogHeader<'a>,
    totals: LogTotals,
    written: usize,
}

impl<'a, W: Write> Inspect<'a, W> {
    /// Writes to `out`, which needs no buffer of its own, with what was counted over the same episodes.
    pub fn new(out: W, header: LogHeader<'a>, totals: LogTotals) -> Result<Self, ExportError> {
        let mut log = Self { out: BufWriter::new(out), header, totals, written: 0 };
        let Value::Object(head) = log.head() else { return Ok(log) };
        log.out.write_all(b"{")?;
        for (name, value) in head {
            write!(log.out, "\"{name}\":")?;
            log.json(&value)?;
            log.out.write_all(b",")?;
        }
        log.out.write_all(b"\"samples\":[")?;
        Ok(log)
    }

    fn head(&self) -> Value {
        let LogHeader { origin, planned } = self.header;
        let manifest = origin.manifest;
        json!({
            "version": VERSION, "status": self.status(), "eval": eval(origin, planned.is_none()),
            "plan": { "name": "plan", "steps": [], "config": config(origin.variant) },
            "results": self.totals.results(planned),
            "stats": {
                "started_at": instant(&manifest.started_at, 0).unwrap_or_default(),
                "completed_at": manifest.ended_at.as_deref().and_then(|end| instant(end, 0)).unwrap_or_default(),
                "model_usage": model_usage(model(origin.variant), self.totals.usage),
            },
        })
    }

    fn json(&mut self, value: &Value) -> Result<(), ExportError> {
        Ok(serde_json::to_writer(&mut self.out, value).map_err(io::Error::from)?)
    }

    /// A run that is still going, or was killed, has no end; one that was stopped lacks episodes.
    fn status(&self) -> &'static str {
        match self.header.planned {
            _ if !self.header.origin.manifest.has_ended() => "started",
            Some(planned) if self.totals.samples < planned => "cancelled",
            _ => "success",
        }
    }
}

impl<W: Write> Export for Inspect<'_, W> {
    fn write(&mut self, scored: &Scored<'_>) -> Result<(), ExportError> {
        if self.written > 0 {
            self.out.write_all(b",\n")?;
        }
        self.written += 1;
        let names = self.totals.scorers.iter().map(|scorer| scorer.name.as_str());
        let values = names.zip(values(scored.episode.score, scored.metrics));
        let figures: Vec<(&str, f64)> = values.filter_map(|(name, value)| Some((name, value?))).collect();
        let sample = sample(scored, &figures);
        self.json(&sample)
    }

    fn finish(&mut self) -> Result<(), ExportError> {
        self.out.write_all(b"]}\n")?;
        Ok(self.out.flush()?)
    }
}

/// What was evaluated; `part` if only some of the episodes are in the log.
fn eval(origin: Origin<'_>, part: bool) -> Value {
    let (manifest, variant) = (origin.manifest, origin.variant);
    let name = variant.map(|variant| variant.name.as_str()).unwrap_or_default();
    let dataset = &manifest.dataset;
    let is_shuffled = dataset.selection.shuffle.or(dataset.selection.shuffle_like_paper).is_some();
    json!({
        "created": instant(&manifest.started_at, 0).unwrap_or_default(),
        "task": format!("wikitrail/{name}"), "task_id": format!("{}-{name}", origin.run), "run_id": origin.run,
        "task_display_name": name,
        "dataset": {
            "name": dataset.name, "location": dataset.path, "samples": dataset.selected, "shuffled": is_shuffled,
        },
        "model": model(variant), "model_generate_config": config(variant),
        "model_base_url": variant.and_then(|variant| variant.base_url.as_ref()),
        "config": { "epochs": manifest.repeats, "limit": dataset.selection.limit },
        "packages": { "wikitrail": manifest.wikitrail },
        "metadata": { "run": origin.run, "dataset_sha256": dataset.sha256, "variant": variant, "part": part },
    })
}

fn model(variant: Option<&Variant>) -> String {
    variant.map_or_else(|| "unknown".to_owned(), |variant| variant.model.clone())
}

/// By the model's name; nothing where no tokens were counted.
fn model_usage(name: String, counted: Option<Usage>) -> Value {
    counted.map_or_else(|| json!({}), |counted| json!({ (name): usage(counted) }))
}

fn usage(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.prompt_tokens, "output_tokens": usage.completion_tokens, "total_tokens": usage.total(),
        "input_tokens_cache_read": usage.cached_tokens, "input_tokens_cache_write": usage.cache_write_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
    })
}

/// Bytes from which on a text of a prompt is written once a sample, and referred to from its events.
const LONG: usize = 100;

fn sample(scored: &Scored<'_>, figures: &[(&str, f64)]) -> Value {
    let recorded = &scored.episode.trajectory;
    let mut story = SampleEvents::of(scored);
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
    let failure = scored.episode.failure();
    let evidence = failure.map(|failure| failure.evidence.as_str());
    let score = |value: f64| json!({ "value": value, "answer": recorded.answer, "explanation": evidence });
    for (name, value) in figures {
        story.event("score", json!({ "score": score(*value), "target": recorded.answers, "scorer": name }));
    }
    let by_name: Map<String, Value> = figures.iter().map(|(name, value)| ((*name).to_owned(), score(*value))).collect();
    let name = model(scored.origin.variant);
    let SampleEvents { messages, events, attachments, .. } = story;
    json!({
        "id": recorded.id, "epoch": recorded.repeat.saturating_add(1), "input": recorded.question,
        "target": recorded.answers, "messages": messages, "events": events, "attachments": attachments,
        "output": output(&name, recorded.answer.as_deref()), "scores": by_name, "error": failed, "limit": limit(scored),
        "metadata": {
            "key": recorded.key, "variant": recorded.variant, "outcome": recorded.outcome, "detail": recorded.detail,
            "failure": recorded.failure, "failure_class": failure.map(|failure| failure.class.name()),
            "votes": recorded.votes, "repairs": recorded.repairs, "branch": recorded.branch, "cost_usd": recorded.cost(),
        },
        "model_usage": model_usage(name, recorded.counted_usage()),
        "started_at": instant(&recorded.started_at, 0), "completed_at": recorded.timed_ms().and_then(|ms| instant(&recorded.started_at, ms)),
        "total_time": recorded.timed_ms().map(seconds), "working_time": recorded.timed_ms().map(seconds), "uuid": recorded.key,
    })
}

struct SampleEvents<'a> {
    scored: &'a Scored<'a>,
    model: String,
    messages: Vec<Value>,
    events: Vec<Value>,
    attachments: Map<String, Value>,
    /// Time since the start, as far as calls took it.
    at_ms: u64,
}

impl<'a> SampleEvents<'a> {
    fn of(scored: &'a Scored<'a>) -> Self {
        let messages = opening(scored).iter().map(message).collect();
        let model = model(scored.origin.variant);
        Self { scored, model, messages, events: Vec::new(), attachments: Map::new(), at_ms: 0 }
    }

    fn event(&mut self, kind: &str, mut fields: Value) {
        fields["event"] = json!(kind);
        if let Some(time) = instant(&self.scored.episode.trajectory.started_at, self.at_ms) {
            fields["timestamp"] = json!(time);
        }
        fields["working_start"] = json!(seconds(self.at_ms));
        self.events.push(fields);
    }

    /// A call: the exact prompt, or the messages so far where it cannot be rebuilt. A step was taken from its last reply.
    fn model(&mut self, step: &Step, call: &Call, used: Option<&ToolUse>, prompt: Option<&RebuiltPrompt>) {
        let request = prompt.filter(|prompt| prompt.same).and_then(|prompt| prompt.request.as_ref());
        let said: Vec<Value> = request
            .map_or_else(|| self.messages.clone(), |request| messages(&request.prompt).iter().map(message).collect());
        let input: Vec<Value> = said.into_iter().map(|message| self.attached(message)).collect();
        let functions = request.and_then(|request| request.functions.as_ref());
        let tools = functions.iter().flat_map(|functions| &functions.list);
        let tools =
            tools.map(|one| json!({ "name": one.name, "description": one.description, "parameters": one.parameters }));
        let is_last = step.calls.last().is_some_and(|last| std::ptr::eq(last, call));
        let reply = self.reply(call, used.filter(|_| is_last));
        let mut config = config(self.scored.origin.variant);
        config["stop_seqs"] = json!(call.stop);
        let start = self.at_ms;
        let own_ms = if call.copied { 0 } else { call.latency_ms };
        let fields = json!({
            "model": self.model, "input": input, "tools": tools.collect::<Value>(), "config": config,
            "tool_choice": if functions.is_some_and(|functions| functions.required) { "any" } else { "auto" },
            "output": {
                "model": self.model, "completion": call.completion, "time": seconds(call.latency_ms),
                "choices": [{ "message": reply, "stop_reason": stop_reason(call) }], "usage": call.usage.map(usage),
            },
            "retries": call.attempts.saturating_sub(1), "cache": call.cached.then_some("read"),
            "completed": instant(&self.scored.episode.trajectory.started_at, start + own_ms), "working_time": seconds(own_ms),
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
        let calls = used.map(|used| json!([tool_call(&used.id, &used.function, &used.arguments)]));
        present(json!({
            "role": "assistant", "content": content, "source": "generate", "model": self.model, "tool_calls": calls,
        }))
    }

    /// What the tool answered. Where no tool was called, the agent's system answered, and says it as the user does.
    fn tool(&mut self, step: &Step, used: Option<&ToolUse>) {
        let Some(used) = used else {
            if let Some(text) = &step.observation {
                self.messages.push(json!({ "role": "user", "content": text }));
                let Step { n, sample, tool, input, action_text, note, .. } = step;
                let step = json!({
                    "step": n, "sample": sample, "tool": tool, "input": input, "action_text": action_text, "note": note,
                });
                self.event("info", json!({ "source": "wikitrail", "data": text, "metadata": step }));
            }
            return;
        };
        if step.calls.is_empty() {
            // One of several calls of a reply.
            let calls = json!([tool_call(&used.id, &used.function, &used.arguments)]);
            self.messages.push(json!({ "role": "assistant", "content": "", "model": self.model, "tool_calls": calls }));
        }
        let text = step.observation.as_deref();
        if let Some(text) = text {
            self.messages.push(json!({
                "role": "tool", "content": text, "tool_call_id": used.id, "function": used.function,
            }));
        }
        let copied = is_copied(&self.scored.episode.trajectory, step);
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
    let written = calls.iter().map(|call| tool_call(&call.id, &call.name, &call.object()));
    let calls = (!calls.is_empty()).then(|| written.collect::<Value>());
    let mut value = present(json!({ "role": message.role, "content": content, "tool_calls": calls }));
    if message.role == Role::Tool {
        value["tool_call_id"] = json!(answers);
    }
    value
}

fn tool_call(id: &str, function: &str, arguments: &Value) -> Value {
    json!({ "id": id, "function": function, "arguments": arguments, "type": "function" })
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

fn limit(scored: &Scored<'_>) -> Option<Value> {
    let variant = scored.origin.variant?;
    if scored.episode.trajectory.outcome != Outcome::StepLimit {
        return None;
    }
    let Some(most) = variant.max_steps else {
        // As `import inspect` words it.
        let (kind, number) = scored.episode.trajectory.detail.as_deref()?.strip_prefix("limit: ")?.rsplit_once(", ")?;
        return Some(json!({ "type": kind, "limit": number.parse::<f64>().ok()? }));
    };
    Some(json!({ "type": "turn", "limit": most, "reason": "step_limit" }))
}

fn seconds(ms: u64) -> f64 {
    float(ms) / 1000.0
}
