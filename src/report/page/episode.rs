//! One question with its episodes, as the page reads it. `docs/report.md` has the shape.

use super::rows::QuestionRow;
use crate::graded::{Graded, Results};
use crate::report::agreement::reading;
use crate::report::trajectory::branch::{branch_edit, branch_parent, is_written, step_origin};
use crate::report::trajectory::{calls, repairs, source, sum, votes};
use crate::run::RunError;
use crate::score::{Divergence, GoldEvidence, is_same_page, marks, search_missed};
use crate::types::text::{cut, visible};
use crate::types::{Branch, Step, Trajectory};
use serde::Serialize;

/// Steps of an episode that the page has; `show` prints all of them.
const STEPS: usize = 300;

/// Characters of a text that the page has: a bound for hostile records.
const TEXT_CHARS: usize = 50_000;

#[derive(Debug, Serialize)]
pub(super) struct Question<'a> {
    gold: Vec<String>,
    pages: &'a [String],
    #[serde(rename = "type")]
    kind: Option<&'a str>,
    level: Option<&'a str>,
    episodes: Vec<Vec<PageEpisode>>,
    /// By repeat, then by pair of variants: where they diverge.
    parted: Vec<Vec<Option<(usize, &'static str)>>>,
}

#[derive(Debug, Serialize)]
struct PageEpisode {
    key: String,
    /// When it began, where that is known: judgements name it.
    started_at: Option<String>,
    right: Option<bool>,
    outcome: &'static str,
    detail: Option<String>,
    answer: Option<String>,
    em: Option<f64>,
    f1: Option<f64>,
    class: Option<&'static str>,
    evidence: Option<String>,
    /// Why models find that it failed.
    readings: Vec<String>,
    grounding: Option<&'static str>,
    votes: Option<String>,
    repairs: Option<String>,
    sum: String,
    branch: Option<PageBranch>,
    steps: Vec<PageStep>,
    /// Steps that the page does not have.
    left_out: usize,
}

/// What an episode branches off.
#[derive(Debug, Serialize)]
struct PageBranch {
    /// The key of the other episode: two with the same are a fork, where `at` is the same too.
    key: String,
    parent: String,
    at: usize,
    /// In words; absent for the control.
    edited: Option<String>,
}

#[derive(Debug, Serialize)]
struct PageStep {
    n: String,
    /// `copied`, or what was edited there, in a branch.
    origin: Option<String>,
    thought: Option<String>,
    action: Option<String>,
    observation: Option<Vec<(String, &'static str)>>,
    page: Option<String>,
    gold: bool,
    url: Option<String>,
    rev: Option<String>,
    source: Option<String>,
    note: Option<String>,
    discarded: Option<String>,
    calls: Option<String>,
    reasoning: Option<String>,
}

/// Reads the episodes of a question.
pub(super) fn question_episodes<'a>(results: &Results, row: &QuestionRow<'a>) -> Result<Question<'a>, RunError> {
    let mut read: Vec<Vec<Graded>> = Vec::with_capacity(row.episodes.len());
    let (mut gold, mut shown) = (Vec::new(), Vec::new());
    for ((source, _), episodes) in results.variants().zip(&row.episodes) {
        let Some(origin) = &source.origin else { continue };
        let graded = episodes.iter().map(|episode| origin.graded.episode(episode.at));
        let graded = graded.collect::<Result<Vec<_>, _>>()?;
        let evidence = origin.graded.evidence.get(row.id);
        if let Some(first) = graded.first().filter(|_| gold.is_empty()) {
            gold = first.trajectory.answers.iter().map(|answer| safe(answer)).collect();
        }
        shown.push(graded.iter().map(|graded| PageEpisode::of(graded, evidence)).collect());
        read.push(graded);
    }
    Ok(Question { gold, pages: row.pages, kind: row.kind, level: row.level, episodes: shown, parted: parted(&read) })
}

/// Where each two variants diverge, repeat by repeat.
fn parted(episodes: &[Vec<Graded>]) -> Vec<Vec<Option<(usize, &'static str)>>> {
    let repeats = episodes.iter().map(Vec::len).max().unwrap_or_default();
    let of = |repeat: usize, a: usize, b: usize| {
        let [a, b] = [a, b].map(|at| episodes[at].get(repeat).map(|graded| &graded.trajectory));
        Divergence::of(a?, b?).map(|found| (found.step, found.part.name()))
    };
    let pairs = || (0..episodes.len()).flat_map(|a| (a + 1..episodes.len()).map(move |b| (a, b)));
    (0..repeats).map(|repeat| pairs().map(|(a, b)| of(repeat, a, b)).collect()).collect()
}

/// A text without characters that turn the direction of writing, cut where nobody would read on.
pub(super) fn safe(text: &str) -> String {
    visible(&cut(text, TEXT_CHARS)).into_owned()
}

fn optional(text: Option<&String>) -> Option<String> {
    text.map(|text| safe(text.trim())).filter(|text| !text.is_empty())
}

impl PageEpisode {
    fn of(graded: &Graded, evidence: Option<&GoldEvidence>) -> Self {
        let Graded { trajectory, score, assessment, readings, .. } = graded;
        let failure = assessment.as_ref().and_then(|assessment| assessment.failure.as_ref());
        let grounding = assessment.as_ref().and_then(|assessment| assessment.grounding);
        Self {
            key: trajectory.key.clone(),
            started_at: optional(Some(&trajectory.started_at)),
            right: score.map(|score| score.em > 0.0),
            outcome: trajectory.outcome.name(),
            detail: optional(trajectory.detail.as_ref()),
            answer: trajectory.answer.as_deref().map(safe),
            em: score.map(|score| score.em),
            f1: score.map(|score| score.f1),
            class: failure.map(|failure| failure.class.name()),
            evidence: failure.map(|failure| safe(&failure.described())),
            readings: readings.iter().map(|one| safe(&reading(one))).collect(),
            grounding: grounding.map(crate::score::Grounding::name),
            votes: votes(trajectory).map(|text| safe(&text)),
            repairs: repairs(trajectory).map(|text| safe(&text)),
            sum: sum(trajectory),
            branch: trajectory.branch.as_ref().map(PageBranch::of),
            steps: (1..)
                .zip(trajectory.steps.iter().take(STEPS))
                .map(|(at, step)| PageStep::of(step, at, trajectory, evidence))
                .collect(),
            left_out: trajectory.steps.len().saturating_sub(STEPS),
        }
    }
}

impl PageBranch {
    fn of(branch: &Branch) -> Self {
        Self { key: safe(&branch.key), parent: branch_parent(branch), at: branch.at, edited: branch_edit(branch) }
    }
}

impl PageStep {
    fn of(step: &Step, at: usize, trajectory: &Trajectory, evidence: Option<&GoldEvidence>) -> Self {
        let sample = step.sample.map(|number| format!("sample {number}, ")).unwrap_or_default();
        // The title of a search that missed is its query.
        let read = step.provenance.as_ref().filter(|_| !search_missed(step));
        let facts = || evidence.into_iter().flat_map(GoldEvidence::groups).flat_map(|group| &group.facts);
        let of_page = |page: &str| facts().any(|fact| is_same_page(&fact.page, page));
        let reasoning: Vec<&str> = step.calls.iter().filter_map(|call| call.reasoning.as_deref()).collect();
        let http = |url: &&String| url.starts_with("https://") || url.starts_with("http://");
        Self {
            n: format!("{sample}step {}", step.n),
            origin: step_origin(trajectory, at),
            thought: optional(step.thought.as_ref()),
            action: optional(step.action_text.as_ref()),
            observation: step.observation.as_deref().map(|text| pieces(text, facts, &trajectory.answers)),
            page: read.map(|read| safe(&read.title)),
            gold: read.is_some_and(|read| of_page(&read.title)),
            url: step.provenance.as_ref().map(|read| &read.url).filter(http).map(|url| safe(url)),
            rev: read.and_then(|read| read.revid).map(|revid| revid.to_string()),
            source: step.provenance.as_ref().map(|read| safe(&source(read))),
            note: optional(step.note.as_ref()),
            discarded: optional(step.discarded.as_ref()),
            calls: Some(calls(step, is_written(trajectory, at))).filter(|text| !text.is_empty()),
            reasoning: Some(safe(&reasoning.join("\n\n"))).filter(|text| !text.is_empty()),
        }
    }
}

/// An observation in pieces: `s` marks a gold sentence, `a` a gold answer.
fn pieces<'e, F: Iterator<Item = &'e crate::score::GoldFact>>(
    text: &str,
    facts: impl Fn() -> F,
    answers: &[String],
) -> Vec<(String, &'static str)> {
    let sentences: Vec<String> = facts().flat_map(|fact| fact.texts.iter().cloned()).collect();
    let text = cut(text.trim_end(), TEXT_CHARS);
    let pieces = marks(&text, &sentences, answers);
    let mark = |sentence: bool, answer: bool| match (sentence, answer) {
        (false, false) => "",
        (true, false) => "s",
        (false, true) => "a",
        (true, true) => "sa",
    };
    pieces.into_iter().map(|piece| (visible(piece.text).into_owned(), mark(piece.sentence, piece.answer))).collect()
}
