//! What the transcript of a sample shows of its steps, and what its scorers say of it.

use super::inspect_file::{Sample, instant, is_miscounted, milliseconds, tokens};
use crate::base::text::{cut, visible_line};
use crate::base::{Call, Cause, FinishReason, FunctionCall, Outcome, Step, Tool, Trajectory};
use crate::dataset::argument;
use crate::scoring::Figure;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The most text of all steps of an episode, in bytes: an attachment may stand in many of them, and a record is a line.
const MAX_TEXT: usize = 8 << 20;

/// The longest reasoning that is kept of a call, in characters.
const MAX_REASONING: usize = 64 << 10;

/// The most metrics of an episode, and the longest name of one, in characters.
const MAX_METRICS: usize = 100;
const MAX_NAME: usize = 60;

/// A step for each use of a tool, with the model calls before it, and one for the reply that is the answer of the episode.
/// None where the transcript has neither, or more text than a record can hold. `submit` are the tools that submit an answer.
pub(super) fn steps(sample: &Sample, submit: &[String], episode: &Trajectory) -> Vec<Step> {
    let last = sample.submission(submit);
    let (mut steps, mut calls, mut room): (Vec<Step>, Vec<Call>, usize) = (Vec::new(), Vec::new(), MAX_TEXT);
    for (at, event) in sample.events().iter().enumerate() {
        let size = if event["event"] == "model" {
            let Some(call) = call(sample, event) else { continue };
            let size = size_of(&call);
            calls.push(call);
            size
        } else if event["event"] == "tool" && event["pending"] != true {
            let step = step(sample, event, last.map(|last| last == at), std::mem::take(&mut calls));
            let texts = [&step.input, &step.action_text, &step.observation, &step.thought];
            let size = texts.into_iter().flatten().map(String::len).sum();
            steps.push(step);
            size
        } else {
            continue;
        };
        let Some(left) = room.checked_sub(size) else { return Vec::new() };
        room = left;
    }
    if !calls.is_empty() {
        let answer = episode.answer.clone().filter(|_| last.is_none() && episode.outcome == Outcome::Finished);
        let tool = answer.as_ref().map(|_| Tool::Finish);
        steps.push(Step { tool, input: answer, calls, ..Step::default() });
    }
    (1..).zip(&mut steps).for_each(|(n, step)| step.n = n);
    steps
}

fn size_of(call: &Call) -> usize {
    let arguments = call.calls.iter().map(|call| call.arguments.len() + call.name.len()).sum::<usize>();
    call.completion.len() + call.reasoning.as_ref().map_or(0, String::len) + arguments
}

/// The step of a tool's event; `submits` is absent where no event submits the answer.
fn step(sample: &Sample, event: &Value, submits: Option<bool>, calls: Vec<Call>) -> Step {
    let name = event["function"].as_str().unwrap_or("unknown");
    let tool = match Tool::of_function(name) {
        _ if submits == Some(true) => Tool::Finish,
        // Whatever an attempt or another agent submits, the episode goes on.
        Tool::Finish if submits == Some(false) => Tool::Other,
        tool => tool,
    };
    let arguments = &event["arguments"];
    let input = argument(arguments);
    let input = sample.resolved(&Value::from(input.as_str())).unwrap_or(input);
    let failed = || sample.resolved(&event["error"]["message"]);
    let thought = calls.last().filter(|call| !call.calls.is_empty()).map(|call| call.completion.trim());
    let thought = thought.filter(|text| !text.is_empty());
    // Logs that this program wrote have it.
    let provenance = serde_json::from_value(event["metadata"]["provenance"].clone()).ok();
    Step {
        thought: thought.map(str::to_owned),
        tool: Some(tool),
        action_text: Some(format!("{name}({arguments})")),
        input: Some(input),
        observation: failed().or_else(|| sample.content(&event["result"])),
        provenance,
        tool_started_at: time(event, "timestamp"),
        tool_ms: event["working_time"].as_f64().map(milliseconds),
        calls,
        ..Step::default()
    }
}

/// A model call; none where the model gave no answer. The prompt is not known as it was sent.
fn call(sample: &Sample, event: &Value) -> Option<Call> {
    let output = &event["output"];
    let choice = output["choices"].get(0)?;
    let message = &choice["message"];
    let finish_reason = choice["stop_reason"].as_str().and_then(FinishReason::recorded);
    let usage = Some(&output["usage"]).filter(|usage| usage.is_object() && !is_miscounted(usage));
    let seconds = output["time"].as_f64().or_else(|| event["working_time"].as_f64());
    let retries = event["retries"].as_u64().and_then(|retries| u32::try_from(retries).ok());
    let stop = event["config"]["stop_seqs"].as_array().into_iter().flatten();
    Some(Call {
        stop: stop.filter_map(Value::as_str).map(str::to_owned).collect(),
        completion: sample.content(&message["content"]).unwrap_or_default(),
        calls: message["tool_calls"].as_array().into_iter().flatten().map(function_call).collect(),
        reasoning: reasoning(sample, &message["content"]),
        cause: finish_reason.as_deref().and_then(Cause::of_finish),
        finish_reason,
        usage: usage.map(tokens),
        started_at: time(event, "timestamp"),
        latency_ms: milliseconds(seconds.unwrap_or_default()),
        attempts: retries.unwrap_or_default().saturating_add(1),
        cached: event["cache"] == "read",
        ..Call::default()
    })
}

fn time(event: &Value, field: &str) -> Option<String> {
    event[field].as_str().and_then(instant)
}

fn function_call(call: &Value) -> FunctionCall {
    let text = |field: &str| call[field].as_str().unwrap_or_default().to_owned();
    FunctionCall { id: text("id"), name: text("function"), arguments: call["arguments"].to_string() }
}

/// The parts of a message that are reasoning.
fn reasoning(sample: &Sample, content: &Value) -> Option<String> {
    let parts = content.as_array()?.iter().filter(|part| part["type"] == "reasoning");
    let texts: Vec<String> = parts.filter_map(|part| sample.resolved(&part["reasoning"])).collect();
    (!texts.is_empty()).then(|| cut(&texts.join("\n"), MAX_REASONING).into_owned())
}

/// What the scorers say, by their names; of a scorer with several values each by both names. Words that Inspect counts are counted
/// as it does; other texts are none.
pub(super) fn metrics(scores: Option<&Map<String, Value>>) -> BTreeMap<String, f64> {
    let mut metrics = BTreeMap::new();
    for (scorer, score) in scores.into_iter().flatten() {
        let value = &score["value"];
        let parts = value.as_object().into_iter().flatten().map(|(part, value)| (format!("{scorer}_{part}"), value));
        for (name, value) in parts.chain([(scorer.clone(), value)]) {
            if let Some(value) = number(value).filter(|_| metrics.len() < MAX_METRICS) {
                metrics.entry(metric_name(&name)).or_insert(value);
            }
        }
    }
    metrics
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64().filter(|number| number.is_finite()),
        Value::Bool(right) => Some(f64::from(u8::from(*right))),
        Value::String(word) => match word.as_str() {
            "C" => Some(1.0),
            "P" => Some(0.5),
            "I" | "N" => Some(0.0),
            _ => None,
        },
        _ => None,
    }
}

/// A name that a metric can have: figures of every run and judges keep theirs.
fn metric_name(scorer: &str) -> String {
    let name = visible_line(scorer, MAX_NAME - 10).replace(',', "_");
    let lower = name.to_lowercase();
    let is_taken = Figure::named(&lower).is_some() || lower == "judge" || lower.starts_with("judge:");
    if is_taken { format!("inspect_{name}") } else { name }
}

#[cfg(test)]
mod tests {
    use super::metrics;
    use crate::base::{Step, Tool, Usage};
    use crate::runner::import::inspect_file::{AnswerFrom, Sample};
    use serde_json::{Value, json};

    fn sample(events: &Value, attachments: &Value) -> Sample {
        serde_json::from_value(
            json!({"id": 1, "epoch": 1, "input": "?", "target": "x", "events": events, "attachments": attachments}),
        )
        .expect("a sample")
    }

    fn steps(sample: &Sample, submit: &[&str]) -> Vec<Step> {
        let submit: Vec<String> = submit.iter().map(|name| (*name).to_owned()).collect();
        let episode = sample.episode("v", AnswerFrom::Either, &submit).expect("an episode");
        super::steps(sample, &submit, &episode)
    }

    fn model(text: &str, calls: &Value) -> Value {
        json!({"event": "model", "retries": 1, "cache": "read", "output": {"time": 0.5, "usage": {"input_tokens": 5, "output_tokens": 2},
            "choices": [{"stop_reason": "tool_calls", "message": {"content": [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": text}],
                "tool_calls": calls}}]}})
    }

    fn tool(name: &str, arguments: &Value, result: &str) -> Value {
        json!({"event": "tool", "function": name, "arguments": arguments, "result": result})
    }

    #[test]
    fn a_step_is_a_use_of_a_tool_with_the_calls_before_it() {
        let calls = json!([{"id": "c1", "function": "search", "arguments": {"entity": "Rome"}}]);
        let events = json!([{"event": "info"}, model("Look.", &calls), tool("search", &json!({"entity": "Rome"}), "attachment://a"),
            tool("python", &json!({"code": "1", "n": 2}), "1"), {"event": "model", "error": "503", "output": {"choices": []}},
            tool("submit", &json!({"answer": "Milan"}), "no"), model("", &json!([])), tool("submit", &json!({"answer": "Rome"}), "Rome")]);
        let found = steps(&sample(&events, &json!({"a": "A city."})), &["submit"]);
        let parts: Vec<_> =
            found.iter().map(|step| (step.n, step.tool, step.input.as_deref(), step.calls.len())).collect();
        assert_eq!(
            parts,
            [
                (1, Some(Tool::Search), Some("Rome"), 1),
                (2, Some(Tool::Other), Some(r#"{"code":"1","n":2}"#), 0),
                (3, Some(Tool::Other), Some("Milan"), 0),
                (4, Some(Tool::Finish), Some("Rome"), 1),
            ]
        );
        let call = &found[0].calls[0];
        assert_eq!((found[0].observation.as_deref(), found[0].thought.as_deref()), (Some("A city."), Some("Look.")));
        assert_eq!((call.usage, call.latency_ms, call.attempts, call.cached), (Some(Usage::new(5, 2)), 500, 2, true));
        assert_eq!((call.reasoning.as_deref(), call.calls[0].arguments.as_str()), (Some("hm"), r#"{"entity":"Rome"}"#));
    }

    #[test]
    fn a_reply_that_is_the_answer_is_a_step_and_a_transcript_without_events_has_none() {
        let replied = json!([model("Rome", &json!([]))]);
        let found = steps(&sample(&replied, &json!({})), &[]);
        assert_eq!((found.len(), found[0].tool, found[0].input.as_deref()), (1, None, None));
        let output = json!({"completion": "Rome"});
        let answered = json!({"id": 1, "epoch": 1, "input": "?", "target": "x", "events": replied, "output": output});
        let found = steps(&serde_json::from_value(answered).expect("a sample"), &[]);
        assert_eq!((found.len(), found[0].tool, found[0].input.as_deref()), (1, Some(Tool::Finish), Some("Rome")));
        assert!(steps(&sample(&json!([{"event": "state"}]), &json!({})), &[]).is_empty());
        // An attachment may stand in many places, and a record is a line.
        let long = json!({"a": "x".repeat(1 << 20)});
        let many: Vec<Value> = (0..9).map(|_| tool("t", &json!({}), "attachment://a")).collect();
        assert!(steps(&sample(&json!(many), &long), &[]).is_empty());
    }

    #[test]
    fn scores_are_metrics_under_names_that_no_figure_has() {
        let scores = json!({"match": {"value": "C"}, "f1": {"value": 0.5}, "multi": {"value": {"a": true, "b,c": "P"}},
            "grade": {"value": "good"}, "judge": {"value": "N"}, "none": {"value": null}});
        let found: Vec<(String, f64)> = metrics(scores.as_object()).into_iter().collect();
        let expected =
            [("inspect_f1", 0.5), ("inspect_judge", 0.0), ("match", 1.0), ("multi_a", 1.0), ("multi_b_c", 0.5)];
        assert_eq!(found, expected.map(|(name, value)| (name.to_owned(), value)));
    }
}
