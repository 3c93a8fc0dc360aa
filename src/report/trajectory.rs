//! One episode for reading: question, steps, outcome.

pub(in crate::report) mod branch;
pub(crate) mod live;
mod page;
pub(crate) mod pair;
pub(crate) mod verdict;

use super::number::duration;
use super::view::View;
use crate::types::text::{counted, visible_line};
use crate::types::{Compat, Outcome, Provenance, Step, Trajectory, Usage};
use page::{BOLD, CYAN, DIM, GREEN, PLAIN, Page, RED, YELLOW};
use std::fmt::Write as _;
pub(crate) use verdict::Verdict;

/// The trajectory as text, ending in a line break, with the verdict on its answer if there is one. Control characters in
/// its texts are escaped.
pub(crate) fn render(trajectory: &Trajectory, verdict: Option<&Verdict<'_>>, view: &View) -> String {
    let mut page = Page::about(&trajectory.question, *view);
    head(&mut page, trajectory);
    if let Some(known) = verdict {
        verdict::show_verdict(&mut page, trajectory, known);
    }
    for (step, at) in trajectory.steps.iter().zip(1..) {
        page.blank();
        let origin = branch::step_origin(trajectory, at);
        show_step(&mut page, step, origin.as_deref(), branch::is_written(trajectory, at));
    }
    page.blank();
    end(&mut page, trajectory);
    page.text
}

/// The line above one of several trajectories: its name.
pub(crate) fn heading(name: &str, view: &View) -> String {
    let mut page = Page::new(*view);
    page.marked_rule(&visible_line(name, 200));
    page.text
}

fn head(page: &mut Page, trajectory: &Trajectory) {
    let Trajectory { id, variant, repeat, compat, .. } = trajectory;
    page.field("id", &format!("{id} (variant {variant}, repeat {repeat}{})", semantics(*compat)), BOLD);
    page.field("question", &trajectory.question, BOLD);
    gold(page, trajectory);
    answer(page, trajectory);
}

fn answer(page: &mut Page, trajectory: &Trajectory) {
    let (text, style) = trajectory.answer.as_deref().map_or(("none", RED), |answer| (answer, GREEN));
    page.field("answer", text, style);
    page.optional("branch", trajectory.branch.as_ref().map(branch::branch_line).as_deref(), YELLOW);
}

fn gold(page: &mut Page, trajectory: &Trajectory) {
    match trajectory.answers.split_first() {
        Some((gold, [])) => page.field("gold", gold, PLAIN),
        Some((gold, aliases)) => page.field("gold", &format!("{gold} (or: {})", aliases.join("; ")), PLAIN),
        None => page.field("gold", "hidden", DIM),
    }
}

/// `is_written` says whether an edit wrote the copied replies.
fn show_step(page: &mut Page, step: &Step, origin: Option<&str>, is_written: bool) {
    let sample = step.sample.map(|number| format!("sample {number}, ")).unwrap_or_default();
    let origin = origin.map(|origin| format!(", {origin}")).unwrap_or_default();
    page.rule(&format!("{sample}step {}{origin}", step.n));
    step_fields(page, step, is_written);
}

fn step_fields(page: &mut Page, step: &Step, is_written: bool) {
    page.optional("thought", step.thought.as_deref(), PLAIN);
    page.optional("action", step.action_text.as_deref().map(str::trim), CYAN);
    after_action(page, step, step.observation.as_deref());
    if !step.calls.is_empty() {
        page.field("calls", &calls(step, is_written), DIM);
    }
}

/// The observation, and what belongs to it.
fn after_action(page: &mut Page, step: &Step, observation: Option<&str>) {
    page.optional("observation", observation.map(str::trim_end), PLAIN);
    page.optional("source", step.provenance.as_ref().map(source).as_deref(), DIM);
    page.optional("note", step.note.as_deref(), YELLOW);
    page.optional("set aside", step.discarded.as_deref(), DIM);
}

/// Where an observation came from.
pub(in crate::report) fn source(provenance: &Provenance) -> String {
    let Provenance { source, url, title, revid, status, .. } = provenance;
    let revision = revid.map(|revid| format!(", revision {revid}")).unwrap_or_default();
    let status = if *status == 200 { String::new() } else { format!(", status {status}") };
    match url.strip_prefix("corpus:") {
        // The titles of a search, or that there are none: no page was read.
        Some(corpus) if !corpus.contains('#') => url.clone(),
        Some(_) => format!("{title}{revision}{status}, {url}"),
        None => format!("{title}{revision}{status}, {source} {url}"),
    }
}

/// Duration, tokens and end of each model call of a step. `is_written` says whether an edit wrote the copied replies.
pub(in crate::report) fn calls(step: &Step, is_written: bool) -> String {
    let parts: Vec<String> = step
        .calls
        .iter()
        .map(|call| {
            let mut text = duration(call.latency_ms);
            if let Some(usage) = call.usage {
                let _ = write!(text, ", {}", tokens(usage));
            }
            if let Some(reason) = &call.finish_reason {
                let _ = write!(text, ", {reason}");
            }
            if call.is_reasoning_only() {
                text.push_str(", reasoning only");
            }
            if call.did_not_fit() {
                text.push_str(", did not fit into the model's context");
            }
            if call.attempts > 1 {
                let _ = write!(text, ", {}", counted(call.attempts, "attempt"));
            }
            if call.copied {
                text.push_str(if is_written { ", written by the edit" } else { ", copied" });
            }
            if call.cached {
                text.push_str(", cached");
            }
            text
        })
        .collect();
    parts.join("; ")
}

/// Tokens of prompts and completions, and what only some providers count of them.
fn tokens(usage: Usage) -> String {
    let details = usage.details().map(|details| format!(" ({details})")).unwrap_or_default();
    format!("{} + {} tokens{details}", usage.prompt_tokens, usage.completion_tokens)
}

fn end(page: &mut Page, trajectory: &Trajectory) {
    let style = if trajectory.outcome == Outcome::Finished { GREEN } else { RED };
    page.field("outcome", trajectory.outcome.name(), style);
    page.optional("detail", trajectory.detail.as_deref(), PLAIN);
    page.optional("votes", votes(trajectory).as_deref(), PLAIN);
    page.optional("repairs", repairs(trajectory).as_deref(), YELLOW);
    // Imported episodes do not say when they began.
    let from =
        if trajectory.started_at.is_empty() { String::new() } else { format!(" from {}", trajectory.started_at) };
    page.field("sum", &format!("{}{from}", sum(trajectory)), DIM);
}

/// The semantics of the tool behind a comma, where they are known.
fn semantics(compat: Option<Compat>) -> String {
    compat.map(|compat| format!(", {}", compat.name())).unwrap_or_default()
}

/// The votes of a majority.
pub(in crate::report) fn votes(trajectory: &Trajectory) -> Option<String> {
    let votes: Vec<String> =
        trajectory.votes.iter().map(|vote| format!("{} for `{}`", vote.count, vote.answer)).collect();
    (!votes.is_empty()).then(|| votes.join("; "))
}

/// Deviations from the protocol that were mended.
pub(in crate::report) fn repairs(trajectory: &Trajectory) -> Option<String> {
    let repairs: Vec<String> =
        trajectory.repairs.iter().map(|repair| format!("step {}: {}", repair.step, repair.kind)).collect();
    (!repairs.is_empty()).then(|| repairs.join("; "))
}

/// Steps, calls, tokens, cost and duration.
pub(in crate::report) fn sum(trajectory: &Trajectory) -> String {
    let mut parts = if trajectory.has_steps() {
        vec![counted(trajectory.agent_steps().count(), "step"), counted(trajectory.call_count(), "call")]
    } else {
        vec!["steps not recorded".to_owned()]
    };
    parts.extend(trajectory.counted_usage().map(tokens));
    parts.extend(trajectory.cost_usd.map(|cost| format!("{cost:.4} USD")));
    parts.extend(trajectory.timed_ms().map(duration));
    parts.join(", ")
}

#[cfg(test)]
mod tests;
