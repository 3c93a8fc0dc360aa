//! Recorded episodes executed again, and the replies that the paper's loop could not use, parsed by another protocol.

use crate::base::bounded::text_at_most;
use crate::base::named;
use crate::base::{Prefix, Question, Repair, Step, Trajectory, Variant, sha256_hex};
use crate::prompting::protocol::react_paper::{self, Paper};
use crate::prompting::protocol::react_paper::{question_line, step_text};
use crate::prompting::protocol::{self, Frame, Kind, Options, Parsed, Protocol, Setup, robust};
use crate::runner::RunError;
use crate::runner::agent::replay::{Difference, Replayed, replay};
use crate::runner::agent::{Acting, Approach, Stage};
use crate::runner::find_protocol;
use crate::runner::import::notebook::{self, Imported};
use crate::runner::stored::question_of;
use crate::scoring::{AnswerScore, Metric, score_answers};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// Largest file of recorded episodes, in bytes.
const MOST_IMPORTED: u64 = 256 << 20;

pub(crate) struct Outcome {
    pub(crate) id: String,
    pub(crate) replayed: Replayed,
    pub(crate) score: Option<AnswerScore>,
}

/// Why a variant may differ: an earlier version of `robust` read replies in another way. Other protocols are replayed in
/// the version that was recorded.
pub(crate) fn of_earlier_version(variant: &Variant) -> Option<String> {
    let Variant { name, protocol, protocol_version: recorded, .. } = variant;
    let today = protocol::find(protocol, &Options(variant.options.clone()))?.ok()?.version();
    (protocol == robust::ID && *recorded < today).then(|| {
        format!(
            "note: `{name}` was recorded with version {recorded} of `{protocol}`, and its replies are read by version \
             {today}: the differences may be between the versions\nhint: `wikitrail docs protocols#versions` lists what each version changed"
        )
    })
}

pub(crate) fn outcome(trajectory: &Trajectory, question: &Question, approach: &Approach, metric: Metric) -> Outcome {
    let replayed = replay(trajectory, question, approach);
    let score = score_answers(metric, replayed.answer.as_deref(), &trajectory.answers);
    Outcome { id: trajectory.id.clone(), replayed, score }
}

pub(crate) fn imported(path: &Path) -> Result<Vec<Imported>, RunError> {
    let shown = path.display();
    let text = File::open(path)
        .and_then(|file| text_at_most(file, MOST_IMPORTED))
        .map_err(|error| RunError::input(format!("cannot read `{shown}`: {error}"), "check the path"))?;
    let mut episodes = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let bad = |error: &dyn std::fmt::Display| {
            let message = format!("`{shown}`, line {}: not a recorded episode: {error}", number + 1);
            RunError::input(
                message,
                "--import takes one episode per line, with the digests of its prompts; `wikitrail import react-notebook` reads what the notebooks write",
            )
        };
        if line.trim().is_empty() {
            continue;
        }
        episodes.push(notebook::import(line).map_err(|error| bad(&error))?);
    }
    Ok(episodes)
}

pub(crate) fn imported_outcome(imported: &Imported, prefix: &Prefix, label: &str) -> Outcome {
    let setup = Arc::new(Setup::new(Frame::text(prefix.clone()), label, react_paper::MAX_STEPS));
    let metric = if imported.claims.claim.is_some() { Metric::Paper } else { Metric::Hotpot };
    let approach = Approach(vec![Stage::Act(Acting { protocol: Arc::new(react_paper::Paper), setup })]);
    let mut outcome = outcome(&imported.trajectory, &question_of(&imported.trajectory), &approach, metric);
    let found = claim_differences(imported, &outcome, prefix, label);
    outcome.replayed.differences.extend(found);
    outcome
}

fn claim_differences(imported: &Imported, outcome: &Outcome, prefix: &str, label: &str) -> Vec<Difference> {
    let mut found = Vec::new();
    let (Imported { trajectory, claims }, replayed) = (imported, &outcome.replayed);
    let mut compare = |field: &'static str, expected: String, got: String| {
        if expected != got {
            found.push(Difference { step: replayed.steps.max(1), field, expected, got });
        }
    };
    compare("n_calls", claims.n_calls.to_string(), replayed.calls.to_string());
    compare("n_badcalls", claims.n_badcalls.to_string(), replayed.bad_calls.to_string());
    compare("steps", claims.info.steps.to_string(), replayed.steps.to_string());
    compare("answer", claims.answer.clone(), replayed.answer.clone().unwrap_or_default());
    let score = outcome.score.unwrap_or(AnswerScore::ZERO);
    compare("em", claims.em.to_string(), score.em.to_string());
    if let Some(f1) = claims.f1 {
        compare("f1", f1.to_string(), score.f1.to_string());
    }
    if let Some(expected) = &claims.final_prompt_sha256 {
        compare("final_prompt_sha256", expected.clone(), final_prompt(trajectory, prefix, label));
    }
    found
}

/// SHA-256 of the prompt after the model's last step.
fn final_prompt(trajectory: &Trajectory, prefix: &str, label: &str) -> String {
    let mut text = format!("{prefix}{}", question_line(label, &trajectory.question));
    for step in &trajectory.steps {
        if let (Some(thought), Some(action), Some(observation)) = (&step.thought, &step.action_text, &step.observation)
        {
            text.push_str(&step_text(step.n, thought, action, &react_paper::as_observed(observation)));
        }
    }
    sha256_hex([text.as_bytes()])
}

const INVALID_ACTION: &str = "Invalid action:";

named! {
    /// Why the paper's loop could not use a reply.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum ParseFailure {
        /// Not exactly one label of an action.
        BadCall = "bad_call",
        /// An action that the environment does not know.
        InvalidAction = "invalid_action",
    }
}

named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Verdict {
        AsMeant = "as_meant",
        Otherwise = "otherwise",
        /// Executes something that cannot be compared.
        Executed = "executed",
        Refused = "refused",
    }
}

/// A reply that the paper's loop could not use, parsed by the other protocol.
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) step: usize,
    pub(crate) trouble: ParseFailure,
    pub(crate) reply: String,
    pub(crate) parsed: Parsed,
    /// Tool and argument of the second call.
    pub(crate) meant: Option<(String, String)>,
    pub(crate) verdict: Verdict,
}

pub(crate) fn find_other(id: &str, options: &[String]) -> Result<Arc<dyn Protocol>, RunError> {
    let mut pairs = BTreeMap::new();
    for option in options {
        let Some((name, value)) = option.split_once('=') else {
            return Err(RunError::usage(format!("`--option {option}` has no value"), "write --option KEY=VALUE"));
        };
        pairs.insert(name.to_owned(), value.to_owned());
    }
    find_protocol(id, &Options(pairs), None)
}

/// The replies of one episode, in order. A step can have one of each kind.
pub(crate) fn rows(protocol: &dyn Protocol, episode: &Trajectory) -> Vec<Row> {
    let mut found = Vec::new();
    for step in &episode.steps {
        let (Some(first), Some(action)) = (step.calls.first(), &step.action_text) else { continue };
        let repaired = |repair: &Repair| repair.step == step.n && repair.kind == Repair::MISSING_ACTION;
        let bad_call = episode.repairs.iter().any(repaired);
        let mut add = |trouble, reply: String| {
            let parsed = protocol.parse(&reply, step.n);
            let meant = if trouble == ParseFailure::BadCall { recorded(step, action) } else { None };
            let verdict = verdict(&parsed, meant.as_ref());
            found.push(Row { id: episode.id.clone(), step: step.n, trouble, reply, parsed, meant, verdict });
        };
        if bad_call {
            add(ParseFailure::BadCall, first.completion.clone());
        }
        if step.observation.as_deref().is_some_and(|text| text.starts_with(INVALID_ACTION)) {
            // The second reply follows a label that the loop wrote.
            let reply = if bad_call { labelled(step, action) } else { first.completion.clone() };
            add(ParseFailure::InvalidAction, reply);
        }
    }
    found
}

fn labelled(step: &Step, action: &str) -> String {
    let thought = step.thought.as_deref().unwrap_or_default();
    format!("{thought}\nAction {}: {action}", step.n)
}

/// The action of a step as the paper's environment reads it.
fn recorded(step: &Step, action: &str) -> Option<(String, String)> {
    let text = format!("t\nAction {}: {action}", step.n);
    executed(&Paper.parse(&text, step.n))
}

pub(crate) fn executed(parsed: &Parsed) -> Option<(String, String)> {
    match parsed.kind {
        Kind::Act => Some((parsed.tool.clone()?, parsed.input.clone().unwrap_or_default())),
        Kind::Finish => Some(("Finish".to_owned(), parsed.answer.clone().unwrap_or_default())),
        Kind::Invalid => None,
    }
}

fn verdict(parsed: &Parsed, meant: Option<&(String, String)>) -> Verdict {
    let folded = |(tool, input): &(String, String)| (tool.to_lowercase(), input.trim().to_lowercase());
    match (executed(parsed), meant) {
        (None, _) => Verdict::Refused,
        (Some(_), None) => Verdict::Executed,
        (Some(done), Some(meant)) if folded(&done) == folded(meant) => Verdict::AsMeant,
        (Some(_), Some(_)) => Verdict::Otherwise,
    }
}
