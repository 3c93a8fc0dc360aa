//! The record of one episode: every step, every model call, how it ended, what it branches off; the events that a journal
//! keeps of one that has not ended; and what its calls cost.

use super::named;
use super::text::cut;
use super::{
    Cause, Completion, Ending, Failure, FinishReason, FunctionCall, Request, Tool, Usage, Verbatim, sha256_hex, unique,
};
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::{AddAssign, Range};

/// Version of the stored trajectory; readers accept older ones and refuse newer ones.
pub const TRAJECTORY_VERSION: u32 = 1;

/// The score in a record that says how sure an agent is, from 0 to 1.
pub const CONFIDENCE: &str = "confidence";

/// One episode: one question under one variant, once. One line of `trajectories.jsonl`.
///
/// Its texts are `S`, which is `TextLength` for readers that check a record but need none of them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Trajectory<S = String> {
    /// Format version, `TRAJECTORY_VERSION`; always the first field.
    pub v: u32,
    /// Id of the question.
    pub id: S,
    /// Position of the question in its dataset file, from 0; readers sort by it.
    #[serde(default)]
    pub index: usize,
    /// Name of the variant, as in the manifest.
    pub variant: String,
    /// Which repeat of the question this is, from 0.
    pub repeat: u32,
    /// The question's text.
    pub question: S,
    /// Gold answers: the official one, then aliases; empty when hidden.
    pub answers: Vec<S>,
    /// What happened, in order.
    pub steps: Vec<Step<S>>,
    /// `false` where another program ran the episode and its steps are not known. Ask [`Trajectory::has_steps`].
    #[serde(default = "super::yes", skip_serializing_if = "Clone::clone")]
    pub steps_recorded: bool,
    /// The answer given; absent when none was.
    pub answer: Option<S>,
    /// How the episode ended; says nothing about right or wrong.
    pub outcome: Outcome,
    /// The reason in words, where the outcome needs one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<S>,
    /// Who failed and why, where that ended the episode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// Tokens over all calls whose server counted them.
    pub usage: Usage,
    /// Cost of all calls in US dollars, where prices are known.
    #[serde(default, deserialize_with = "super::deserialize_usd", skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// When the episode began, RFC 3339 in UTC.
    pub started_at: S,
    /// How long it took, waiting included, in milliseconds.
    pub wall_ms: u64,
    /// Which semantics the Wikipedia tool had; `null` in episodes of other programs' tools.
    pub compat: Option<Compat>,
    /// What another program's scorers, or the agent itself, say of it, by the metric's name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub scores: BTreeMap<String, f64>,
    /// Deviations from the protocol that were mended, by step and kind.
    pub repairs: Vec<Repair<S>>,
    /// The votes of a majority, most first, ties by first seen; empty for methods that do not vote.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub votes: Vec<Vote<S>>,
    /// The episode that this one branches off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<Branch>,
    /// SHA-256 over everything that decides this episode; resume matches on it.
    pub key: String,
}

pub trait Text {
    fn length(&self) -> usize;
}

impl Text for String {
    fn length(&self) -> usize {
        self.len()
    }
}

/// A text that was read as a `String` is, of which only the length in bytes is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TextLength(usize);

impl Text for TextLength {
    fn length(&self) -> usize {
        self.0
    }
}

impl<'de> Deserialize<'de> for TextLength {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Length;
        impl Visitor<'_> for Length {
            type Value = TextLength;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a string")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<TextLength, E> {
                Ok(TextLength(text.len()))
            }
        }
        deserializer.deserialize_str(Length)
    }
}

/// One step: model calls, the action taken from them, what the tool answered.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Step<S = String> {
    /// Number of the step, from 1.
    pub n: usize,
    /// Which sample of a vote this is, from 1; absent for steps of an agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<u32>,
    /// What the model thought.
    pub thought: Option<S>,
    /// The tool used; absent when the episode ended before one was.
    pub tool: Option<Tool>,
    /// The tool's argument.
    pub input: Option<S>,
    /// The action as the model wrote it.
    pub action_text: Option<S>,
    /// What the tool answered.
    pub observation: Option<S>,
    /// Where the observation came from; absent for answers that needed no source.
    pub provenance: Option<Provenance<S>>,
    /// What the tool's record adds: a failure inside it, or that an older page stayed open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<S>,
    /// When the tool was used, RFC 3339 in UTC; absent where no tool was asked, and in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_started_at: Option<S>,
    /// Time its answer took, waiting included, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_ms: Option<u64>,
    /// Model text after the action that was set aside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discarded: Option<S>,
    /// The model calls that led to this step, in order.
    pub calls: Vec<Call<S>>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Call<S = String> {
    /// SHA-256 of the exact prompt; empty where another program does not say it.
    pub prompt_sha256: S,
    /// Its length in characters.
    pub prompt_chars: usize,
    pub stop: Vec<S>,
    /// The completion, cut before the first stop.
    pub completion: S,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<FunctionCall>,
    /// The reply as its provider wrote it, where that has to be sent back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verbatim: Option<Verbatim>,
    /// The reasoning before it, at most 64 KiB of it; empty if the server reasoned and does not show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<S>,
    /// Why the server stopped, where it says so.
    pub finish_reason: Option<S>,
    /// Why the completion is less than the model's whole answer, where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// Whether the completion has as many tokens as the limit allows, although the server says that it ended by itself: it
    /// may have been cut.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_limit: bool,
    /// Tokens used, where the server counts them, with those of answers that were asked for again.
    pub usage: Option<Usage>,
    /// When the call began, RFC 3339 in UTC; absent in records of earlier versions. That of a stored answer is when it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<S>,
    /// Time the call took, waiting included, in milliseconds.
    pub latency_ms: u64,
    pub attempts: u32,
    pub cached: bool,
    /// Whether it was copied from the episode that this one branches off: nothing was sent, and nothing is paid for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub copied: bool,
    /// The request, where another program wrote it; of our own agents it is rendered again from the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<SentBody>,
}

/// A request that another program wrote, without what the one before it in the episode begins with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SentBody {
    /// The API by the name of its endpoint: `chat`, `completions`, `responses`, `messages` or `generateContent`.
    pub endpoint: String,
    /// The model, where the address names it and not the body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Whether a stream was asked for, where the address says so and not the body.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stream: bool,
    /// How many entries at the start of a list are those of the same list in the request before, by the list's field.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub same: BTreeMap<String, usize>,
    /// The body as it was sent, without these entries.
    pub body: Map<String, Value>,
}

impl SentBody {
    /// The record of a body that was sent after another one.
    pub fn new(endpoint: &str, mut body: Map<String, Value>, before: Option<&Map<String, Value>>) -> Self {
        let mut same = BTreeMap::new();
        for (name, before) in before.into_iter().flatten() {
            let (Some(Value::Array(list)), Value::Array(before)) = (body.get_mut(name), before) else { continue };
            let count = list.iter().zip(before).take_while(|(one, other)| one == other).count();
            if count > 0 {
                list.drain(..count);
                same.insert(name.clone(), count);
            }
        }
        Self { endpoint: endpoint.to_owned(), model: None, stream: false, same, body }
    }

    /// The body as it was sent after the body `before`.
    pub fn whole(&self, before: Option<&Map<String, Value>>) -> Map<String, Value> {
        let mut body = self.body.clone();
        for (name, count) in &self.same {
            let (Some(Value::Array(list)), Some(Value::Array(before))) =
                (body.get_mut(name), before.and_then(|before| before.get(name)))
            else {
                continue;
            };
            list.splice(0..0, before.iter().take(*count).cloned());
        }
        body
    }
}

named! {
    /// How an episode ended. Never mixed with correctness.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Outcome {
        /// The agent gave an answer.
        Finished = "finished",
        /// The steps ran out before an answer.
        StepLimit = "step_limit",
        /// The model's text could not be followed.
        FormatFailure = "format_failure",
        /// The agent's own conversation outgrew the model's context before an answer.
        ContextOverflow = "context_overflow",
        /// The program of another agent crashed, took too long, or ended without an answer.
        AgentFailure = "agent_failure",
        /// The run's budget was spent before it ended: there is no measurement, and a resumed run does it again.
        Budget = "budget",
        /// Model or Wikipedia failed for good: there is no measurement, and a resumed run does it again.
        #[default]
        NotMeasured = "not_measured",
    }
}

/// One mended deviation from the protocol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repair<S = String> {
    /// The step, from 1.
    pub step: usize,
    /// What was mended, such as `missing_action`.
    pub kind: S,
}

/// One answer among the samples of a vote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vote<S = String> {
    /// The answer as it was first given.
    pub answer: S,
    /// Its normal form, under which votes are counted.
    pub normalized: S,
    /// How many samples gave it, 1 or more.
    pub count: u32,
}

named! {
    /// Semantics of the Wikipedia tool.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Compat {
        /// The paper's environment, observation for observation, faults included.
        Paper = "paper",
        /// The same tool with its faults mended.
        #[default]
        Fixed = "fixed",
    }
}

/// Where an observation came from.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Provenance<S = String> {
    /// `html`, `api`, `corpus`, …
    pub source: S,
    /// Where it was read.
    pub url: S,
    /// Title of the page, or the query of a result list.
    pub title: S,
    /// `MediaWiki`'s number of the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pageid: Option<u64>,
    /// `MediaWiki`'s number of the revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revid: Option<u64>,
    /// HTTP status; 200 for sources without one.
    pub status: u16,
    /// When it was fetched, RFC 3339 in UTC; empty for frozen sources, which have no such time.
    pub fetched_at: S,
    /// SHA-256 of the body as received; of a corpus, of the article's text, or the id where no page was found.
    pub sha256: S,
    /// Which given sentences of the page are whole in the observation, as `[block, from, to]`: block and `from` counted
    /// from 0, `to` behind the last. Absent where the source gives no sentences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sentences: Option<Vec<[usize; 3]>>,
    /// The passages that a retriever found, the best first; empty for other tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hits: Vec<PassageHit<S>>,
}

impl Provenance {
    /// Titles of the pages that the observation may show text of: those of its passages, or of the page.
    pub fn titles(&self) -> impl Iterator<Item = &str> {
        let shown = self.hits.iter().filter(|hit| hit.shown > 0).map(|hit| hit.title.as_str());
        shown.chain(Some(self.title.as_str()).filter(|_| self.hits.is_empty()))
    }

    /// The same on one line, each once: `Hafnium · Copenhagen`.
    pub fn titles_line(&self) -> String {
        unique(self.titles()).join(" · ")
    }
}

/// A passage that was found for a query, and how much of it the model was shown.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct PassageHit<S = String> {
    /// The passage's id in its corpus; empty where a retriever gives none.
    pub id: S,
    /// Title of the page that it is from; empty where a retriever gives none.
    pub title: S,
    /// Its place among the passages found, from 1.
    pub rank: usize,
    /// The retriever's score, the greater the better; absent where it gives none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// How many characters of its text the observation shows; 0 where the observation was cut before it.
    pub shown: usize,
    /// Which given sentences of its page the observation shows whole, as in [`Provenance::sentences`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sentences: Option<Vec<[usize; 3]>>,
}

impl Outcome {
    /// The outcome of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.name() == name)
    }
}

impl Repair {
    /// Kind of the repair that a second call for a missing action is: the paper's `n_badcalls`.
    pub const MISSING_ACTION: &'static str = "missing_action";
    /// Kind of the repair that a further call after a reply which the parser refused is.
    pub const UNREADABLE_REPLY: &'static str = "unreadable_reply";
    pub const EMPTY_REPLY: &'static str = "empty_reply";
    /// Kind of the repair that a second call for the answer of a chain of thought is.
    pub const MISSING_ANSWER: &'static str = "missing_answer";

    /// Whether it is a further call, because a reply held no action.
    pub fn is_bad_call(&self) -> bool {
        self.kind == Self::MISSING_ACTION || self.is_refused_reply()
    }

    /// Whether it is a further call in place of a reply of which nothing was used.
    pub fn is_refused_reply(&self) -> bool {
        [Self::UNREADABLE_REPLY, Self::EMPTY_REPLY].contains(&self.kind.as_str())
    }
}

impl Call {
    pub fn of(request: &Request, completion: Completion) -> Self {
        Self {
            cause: completion.shortfall(),
            prompt_sha256: request.prompt.sha256(),
            prompt_chars: request.prompt.chars(),
            stop: request.stop.clone(),
            completion: completion.text,
            calls: completion.calls,
            verbatim: completion.verbatim,
            reasoning: completion.reasoning,
            finish_reason: completion.finish_reason,
            at_limit: completion.at_limit,
            usage: completion.usage,
            latency_ms: completion.latency_ms,
            attempts: completion.attempts,
            cached: completion.cached,
            ..Self::default()
        }
    }

    /// The record of a request that the server refused because it did not fit into the model's context. Nothing was
    /// generated, and nothing is paid for.
    pub fn context_overflow(request: &Request) -> Self {
        let nothing = Completion { usage: Some(Usage::default()), attempts: 1, ..Completion::default() };
        Self { cause: Some(Cause::ContextOverflow), ..Self::of(request, nothing) }
    }

    /// The record of a request that got no answer, although the server generated something.
    pub fn failed(
        request: &Request,
        cause: Cause,
        finish_reason: Option<String>,
        usage: Option<Usage>,
        attempts: u32,
    ) -> Self {
        let nothing = Completion { finish_reason, usage, attempts, ..Completion::default() };
        Self { cause: Some(cause), ..Self::of(request, nothing) }
    }

    /// Whether it is one of [`Call::failed`].
    pub fn has_failed(&self) -> bool {
        self.cause.is_some_and(|cause| matches!(cause, Cause::UnknownReason | Cause::Recording) || cause.is_passing())
    }

    /// Whether it ended by a failure of the server, and was taken for an answer. Only records of earlier versions have such
    /// calls.
    pub fn is_failure(&self) -> bool {
        self.ending() == Some(Ending::Failed)
    }

    /// What the reason for its end says, if that is known.
    pub fn ending(&self) -> Option<Ending> {
        FinishReason::ending(self.finish_reason.as_deref()?)
    }

    /// Whether it is one of [`Call::context_overflow`]: there was no completion, so that none ended.
    pub fn did_not_fit(&self) -> bool {
        self.cause == Some(Cause::ContextOverflow) && self.finish_reason.is_none()
    }

    /// Why the completion is less than the model's whole answer, in older records too.
    pub fn shortfall(&self) -> Option<Cause> {
        self.cause.or_else(|| Cause::of_finish(self.finish_reason.as_deref()?))
    }

    pub fn is_reasoning_only(&self) -> bool {
        self.reasoning.is_some() && self.completion.trim().is_empty()
    }
}

impl<S> Trajectory<S> {
    /// Whether the episode counts: everything but [`Outcome::NotMeasured`] and [`Outcome::Budget`] does.
    pub fn measured(&self) -> bool {
        !matches!(self.outcome, Outcome::NotMeasured | Outcome::Budget)
    }

    /// Whether its steps are known: without them there are no counts, no retrieval, no grounding and no failure class. A
    /// measured episode has at least the step of its answer, so one without any is from before `steps_recorded`; but a
    /// program that fails may have done nothing.
    pub fn has_steps(&self) -> bool {
        let needs_steps = self.measured() && self.outcome != Outcome::AgentFailure;
        self.steps_recorded && !(self.steps.is_empty() && needs_steps)
    }

    /// The steps of an agent, in order; samples of a vote are left out.
    pub fn agent_steps(&self) -> impl Iterator<Item = &Step<S>> {
        self.steps.iter().filter(|step| step.sample.is_none())
    }

    /// How many samples were voted on; 0 without a vote.
    pub fn sample_count(&self) -> usize {
        self.steps.iter().filter_map(|step| step.sample).max().map_or(0, |number| number as usize)
    }

    /// Number of model calls over all steps, copied ones left out.
    pub fn call_count(&self) -> usize {
        self.steps.iter().flat_map(|step| &step.calls).filter(|call| !call.copied).count()
    }
}

impl Trajectory {
    /// Cuts each text that is only evidence after this many characters, and leaves out what a provider or another program
    /// wrote in its own form. Answer, outcome, scores, tokens, costs and times stay.
    pub fn shorten(&mut self, most: usize) {
        let shorten = |text: &mut String| {
            if let Cow::Owned(shorter) = cut(text, most) {
                *text = shorter;
            }
        };
        self.votes.iter_mut().flat_map(|vote| [&mut vote.answer, &mut vote.normalized]).for_each(shorten);
        for step in &mut self.steps {
            let Step { thought, input, action_text, observation, note, discarded, calls, .. } = step;
            let texts = [thought, input, action_text, observation, note, discarded];
            texts.into_iter().flatten().for_each(shorten);
            for call in calls {
                // A request is recorded as its difference from the one before, so that none can be read without the others.
                (call.verbatim, call.sent) = (None, None);
                call.stop.iter_mut().chain([&mut call.completion]).chain(&mut call.reasoning).for_each(shorten);
                let functions = call.calls.iter_mut();
                functions.flat_map(|one| [&mut one.id, &mut one.name, &mut one.arguments]).for_each(shorten);
            }
        }
    }
}

impl<S: Text> Trajectory<S> {
    /// Whether we ran it: other programs' episodes do not say when they began, have no steps, or other tools.
    fn is_own(&self) -> bool {
        self.has_steps() && self.started_at.length() > 0 && self.compat.is_some()
    }

    /// [`Self::call_count`]; absent where another program did not record its calls.
    pub fn recorded_calls(&self) -> Option<usize> {
        Some(self.call_count()).filter(|calls| self.is_own() || *calls > 0)
    }

    /// Tokens over all calls; absent where a server or another program did not count those of each.
    pub fn counted_usage(&self) -> Option<Usage> {
        Some(self.usage).filter(|usage| if self.is_own() { !self.has_uncounted_call() } else { usage.total() > 0 })
    }

    /// Cost of all calls in US dollars; absent without a price, and where tokens were not counted.
    pub fn cost(&self) -> Option<f64> {
        self.cost_usd.filter(|_| !self.is_own() || !self.has_uncounted_call())
    }

    /// Whether a server answered a call without counting its tokens. Calls of the baseline have no server.
    fn has_uncounted_call(&self) -> bool {
        let mut calls = self.steps.iter().flat_map(|step| &step.calls);
        calls.any(|call| !call.copied && call.usage.is_none() && (call.attempts > 0 || call.cached))
    }

    /// How long it took, in milliseconds; absent where another program did not say it.
    pub fn timed_ms(&self) -> Option<u64> {
        Some(self.wall_ms).filter(|ms| self.is_own() || *ms > 0)
    }
}

/// Something that took place in an episode and need not take place again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    Call(Call),
    Tool(ToolAnswer),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolAnswer {
    pub tool: Tool,
    pub input: String,
    pub observation: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// When it was used; absent in journals of earlier versions, like the next one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Paid {
    /// Model calls answered by a server.
    pub calls: u64,
    /// Those whose tokens the server did not count.
    pub uncounted: u64,
    /// Their tokens, estimated where not counted.
    pub usage: Usage,
}

impl Paid {
    pub fn of<S: Text>(trajectory: &Trajectory<S>) -> Self {
        let mut paid = Self::default();
        trajectory.steps.iter().flat_map(|step| &step.calls).for_each(|call| paid += Self::of_call(call));
        paid
    }

    pub fn of_call<S: Text>(call: &Call<S>) -> Self {
        if call.cached || call.copied {
            return Self::default();
        }
        let usage = call.usage.unwrap_or_else(|| Usage::estimated(call.prompt_chars, call.completion.length()));
        Self { calls: 1, uncounted: u64::from(call.usage.is_none()), usage }
    }

    #[must_use]
    pub fn share(self, count: u64, of: u64) -> Self {
        let part = |n: u64| n.saturating_mul(count).div_ceil(of.max(1));
        let usage = Usage { unsplit_tokens: 0, ..self.usage.each_with(self.usage, |n, _| part(n)) };
        Self { calls: part(self.calls), uncounted: part(self.uncounted), usage }
    }

    /// The one of two sums that has more calls.
    #[must_use]
    pub fn larger(self, other: Self) -> Self {
        if other.calls >= self.calls { other } else { self }
    }

    #[must_use]
    pub fn saturating_sub(self, other: Self) -> Self {
        Self {
            calls: self.calls.saturating_sub(other.calls),
            uncounted: self.uncounted.saturating_sub(other.uncounted),
            usage: self.usage.saturating_sub(other.usage),
        }
    }
}

impl AddAssign for Paid {
    fn add_assign(&mut self, other: Self) {
        self.calls = self.calls.saturating_add(other.calls);
        self.uncounted = self.uncounted.saturating_add(other.uncounted);
        self.usage += other.usage;
    }
}

/// Which episode another one branches off, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Branch {
    /// The run's folder, as it was named.
    pub run: String,
    pub key: String,
    pub variant: String,
    pub id: String,
    pub repeat: u32,
    /// The step from which on it differs, from 1; those before are copied.
    pub at: usize,
    /// What was edited; absent for the control, which goes on from the same step without an edit. A placebo has an edit of the
    /// same kind that says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edit: Option<BranchEdit>,
    /// What chose the edit: `hand`, the rule of `--with`, or `placebo`.
    pub by: String,
}

/// An edit of one step, or of what goes on from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchEdit {
    /// `thought`, `action`, `observation`, `prompt`, `model`, `protocol`, `formatting`, or several joined by `+`.
    pub part: String,
    pub sha256: String,
    pub text: String,
}

impl BranchEdit {
    pub fn new(part: &str, text: String) -> Self {
        Self { part: part.to_owned(), sha256: sha256_hex([text.as_bytes()]), text }
    }

    /// Whether a step was edited, and not only what goes on from it.
    pub fn is_of_the_step(&self) -> bool {
        self.part.split('+').any(|part| ["thought", "action", "observation"].contains(&part))
    }

    /// How the prompt's white space was written, where that was edited: the last line of the text.
    pub fn formatting(&self) -> Option<&str> {
        let is_last = self.part.rsplit('+').next() == Some("formatting");
        self.text.rsplit('\n').next().filter(|_| is_last)
    }
}

/// A branch to run: the copied steps, the edited one last where a step is edited.
#[derive(Debug, Clone, PartialEq)]
pub struct Fork {
    /// The variant that runs it.
    pub arm: String,
    /// Which repeats of the variant it is; the placebos of a question are one variant.
    pub repeats: Range<u32>,
    pub branch: Branch,
    /// The steps with the calls that led to them. An observation that is given must be the tool's, but for `given`.
    pub steps: Vec<Step>,
    /// The observation of the last step, in place of the tool's.
    pub given: Option<String>,
    /// Whether prompts are those of the record; another prompt's are not.
    pub same_prompt: bool,
}

/// The exact prompt of a recorded call, made again from the record, which holds only its digest and length.
#[derive(Debug, Clone, PartialEq)]
pub struct RebuiltPrompt {
    /// Number of the step that the call led to.
    pub step: usize,
    /// The sample of a vote, from 1.
    pub sample: Option<u32>,
    /// Which call of the step, from 1.
    pub call: usize,
    pub prompt_sha256: String,
    /// The request; absent where the replay does not get that far.
    pub request: Option<Request>,
    /// Whether its prompt has the recorded digest.
    pub same: bool,
}

impl RebuiltPrompt {
    pub fn new(step: usize, sample: Option<u32>, call: usize, recorded: &Call, request: Option<Request>) -> Self {
        let same = request.as_ref().is_some_and(|request| request.prompt.sha256() == recorded.prompt_sha256);
        Self { step, sample, call, prompt_sha256: recorded.prompt_sha256.clone(), request, same }
    }

    /// The prompt as `text` or `messages`, its digest, and whether that is the one that was recorded.
    pub fn to_json(&self) -> Value {
        let mut value = json!({
            "step": self.step, "sample": self.sample, "call": self.call, "prompt_sha256": self.prompt_sha256,
            "same": self.same,
        });
        if let Some(request) = &self.request {
            let (key, content) = request.prompt.to_json();
            value[key] = content;
            value["stop"] = json!(request.stop);
            if let Some(functions) = &request.functions {
                value["functions"] = json!(functions);
            }
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::{SentBody, Trajectory};
    use serde_json::{Map, Value, json};

    impl Trajectory {
        /// What does not depend on the time.
        #[must_use]
        pub fn without_times(mut self) -> Self {
            (self.started_at, self.wall_ms) = (String::new(), 0);
            for step in &mut self.steps {
                (step.tool_started_at, step.tool_ms) = (None, None);
                step.calls.iter_mut().for_each(|call| call.started_at = None);
            }
            self
        }
    }

    fn body(value: Value) -> Map<String, Value> {
        serde_json::from_value(value).expect("an object")
    }

    #[test]
    fn a_body_is_recorded_without_what_the_one_before_begins_with() {
        let first = body(json!({"model": "m", "messages": ["a", "b"], "tools": [1]}));
        let second = body(json!({"model": "m", "messages": ["a", "b", "c"], "tools": [1], "stop": null}));
        let other = body(json!({"messages": ["x", "b"], "tools": "none"}));
        let sent = SentBody::new("chat", second.clone(), Some(&first));
        assert_eq!((&sent.body["messages"], sent.same["messages"], sent.same["tools"]), (&json!(["c"]), 2, 1));
        let order = |body: &Map<String, Value>| Value::Object(body.clone()).to_string();
        for (body, before) in
            [(&first, None), (&second, Some(&first)), (&other, Some(&second)), (&first, Some(&second))]
        {
            let sent = SentBody::new("chat", body.clone(), before);
            assert_eq!(order(&sent.whole(before)), order(body));
        }
    }
}
