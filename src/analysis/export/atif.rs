//! Harbor's Agent Trajectory Interchange Format, one trajectory per line.

use super::{Numbers, Scored, ToolUse, instant, is_copied, opening, present, tool_uses};
use crate::base::text::joined;
use crate::base::{Message, Method, Role, Step, Tool, Usage};
use serde_json::{Value, json};

const VERSION: &str = "ATIF-v1.8";

/// A trajectory: the first prompt as steps of the system and the user, then a step of the agent for each recorded step, with its
/// tool call and what the tool answered. What the format has no field for is in `extra`.
///
/// Source: the models in `harbor.models.trajectories` of the package `harbor`.
pub fn line(scored: &Scored<'_>, metrics: &[String]) -> Value {
    let (recorded, variant) = (&scored.episode.trajectory, scored.origin.variant);
    let mut steps = opening_steps(scored);
    if let (Some(first), Some(time)) = (steps.first_mut(), instant(&recorded.started_at, 0)) {
        first["timestamp"] = json!(time);
    }
    for (step, used) in recorded.steps.iter().zip(tool_uses(recorded)) {
        steps.push(agent_step(scored, step, used));
    }
    for (at, step) in steps.iter_mut().enumerate() {
        step["step_id"] = json!(at + 1);
    }
    let usage = |of: fn(Usage) -> Option<u64>| recorded.counted_usage().and_then(Usage::split).and_then(of);
    json!({
        "schema_version": VERSION,
        "session_id": scored.origin.run,
        "trajectory_id": recorded.key,
        "agent": {
            "name": "wikitrail", "version": scored.origin.manifest.wikitrail,
            "model_name": variant.map(|variant| &variant.model), "tool_definitions": tool_definitions(scored),
            "extra": { "variant": variant },
        },
        "final_metrics": {
            "total_prompt_tokens": usage(|usage| Some(usage.prompt_tokens)),
            "total_completion_tokens": usage(|usage| Some(usage.completion_tokens)),
            "total_cached_tokens": usage(|usage| usage.cached_tokens), "total_cost_usd": recorded.cost(), "total_steps": steps.len(),
        },
        "steps": steps,
        "extra": {
            "run": scored.origin.run, "dataset": scored.origin.manifest.dataset.name, "id": recorded.id,
            "variant": recorded.variant, "repeat": recorded.repeat, "question": recorded.question,
            "answers": recorded.answers, "answer": recorded.answer, "outcome": recorded.outcome,
            "detail": recorded.detail, "failure": recorded.failure, "score": scored.episode.score.map(Numbers),
            "metrics": scored.named_metrics(metrics), "votes": recorded.votes, "repairs": recorded.repairs,
            "branch": recorded.branch, "wall_ms": recorded.timed_ms(), "steps_recorded": recorded.has_steps(),
        },
    })
}

/// The functions that were offered, or the tools that a text protocol describes; none for methods without tools.
fn tool_definitions(scored: &Scored<'_>) -> Option<Vec<Value>> {
    let offered = scored.prompts.iter().find_map(|prompt| prompt.request.as_ref()?.functions.as_ref());
    if let Some(functions) = offered {
        return Some(functions.openai());
    }
    let variant = scored.origin.variant?;
    Method::parse(&variant.method)?.agent()?;
    let about = |tool| match tool {
        Tool::Search => "Open a page of Wikipedia by its title, or learn similar titles.",
        Tool::Lookup => "The next sentence of the open page that contains a keyword.",
        Tool::Passages => "The passages that fit a query best.",
        Tool::Document => "The whole document of a passage, by its id.",
        _ => "Give the answer and end the episode.",
    };
    let tools = variant.tools().tools().iter().copied().chain([Tool::Finish]);
    let parameters =
        json!({ "type": "object", "properties": { "input": { "type": "string" } }, "required": ["input"] });
    let defined = |tool: Tool| json!({ "type": "function", "function": { "name": tool.name(), "description": about(tool), "parameters": parameters } });
    Some(tools.map(defined).collect())
}

/// What was said before the first reply. Replies among it are solved examples, which the agent did not give.
fn opening_steps(scored: &Scored<'_>) -> Vec<Value> {
    let mut steps: Vec<Value> = Vec::new();
    for Message { role, content, calls, answers, .. } in opening(scored) {
        let content = &*content;
        match role {
            Role::System => steps.push(json!({ "source": "system", "message": content })),
            Role::User => steps.push(json!({ "source": "user", "message": content })),
            Role::Assistant => {
                let written = calls.iter().map(|call| tool_call(&call.id, &call.name, &call.object()));
                let calls = (!calls.is_empty()).then(|| written.collect::<Value>());
                steps.push(present(json!({
                    "source": "agent", "message": content, "is_copied_context": true, "extra": { "example": true },
                    "tool_calls": calls,
                })));
            }
            Role::Tool => answer_call(&mut steps, answers.as_deref(), content),
        }
    }
    steps
}

/// Adds the result of an example's call to the step that made it.
fn answer_call(steps: &mut [Value], id: Option<&str>, content: &str) {
    let Some(step) = steps.last_mut().filter(|step| step["source"] == "agent") else { return };
    let called = |call: &Value| id.is_some_and(|id| call["tool_call_id"] == id);
    let id = id.filter(|_| step["tool_calls"].as_array().is_some_and(|calls| calls.iter().any(called)));
    let result = json!({ "source_call_id": id, "content": content });
    match step["observation"]["results"].as_array_mut() {
        Some(results) => results.push(result),
        None => step["observation"] = json!({ "results": [result] }),
    }
}

fn agent_step(scored: &Scored<'_>, step: &Step, used: Option<ToolUse>) -> Value {
    let copied = is_copied(&scored.episode.trajectory, step);
    let own = step.calls.iter().filter(|call| !call.copied).count();
    let said: Vec<&str> = step.calls.iter().map(|call| call.completion.as_str()).collect();
    // A step without a call of its own has neither reasoning nor metrics, by the rules of the format.
    let has_own = copied || own > 0;
    let reasoning = joined(step.calls.iter().filter_map(|call| call.reasoning.as_deref()), "\n");
    let thought = reasoning.filter(|text| !text.is_empty()).or_else(|| step.thought.clone());
    let id = used.as_ref().map(|used| used.id.clone());
    let call = |ToolUse { id, function, arguments }: ToolUse| json!([tool_call(&id, &function, &arguments)]);
    let branch =
        scored.episode.trajectory.branch.as_ref().filter(|branch| branch.at == step.n && step.sample.is_none());
    let result = |text: &String| json!({ "results": [{ "source_call_id": id, "content": text }] });
    present(json!({
        "source": "agent", "message": said.join("\n"), "is_copied_context": copied.then_some(true),
        "llm_call_count": (!copied).then_some(own), "reasoning_content": thought.filter(|_| has_own),
        "metrics": metrics(step).filter(|_| has_own), "tool_calls": used.map(call),
        "observation": step.observation.as_ref().map(result),
        "extra": {
            "step": step.n, "sample": step.sample, "thought": step.thought, "action_text": step.action_text,
            "tool": step.tool, "provenance": step.provenance, "note": step.note, "discarded": step.discarded,
            "calls": step.calls, "edit": branch.and_then(|branch| branch.edit.as_ref()),
        },
    }))
}

fn tool_call(id: &str, function: &str, arguments: &Value) -> Value {
    json!({ "tool_call_id": id, "function_name": function, "arguments": arguments })
}

fn metrics(step: &Step) -> Option<Value> {
    let own = step.calls.iter().filter(|call| !call.copied).filter_map(|call| call.usage);
    let usage = own.reduce(|sum, usage| sum + usage)?;
    Some(json!({
        "prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.completion_tokens,
        "cached_tokens": usage.cached_tokens,
        "extra": { "cache_write_tokens": usage.cache_write_tokens, "reasoning_tokens": usage.reasoning_tokens },
    }))
}
