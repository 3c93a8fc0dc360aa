//! The figures of one episode: what each is called and means, which way is better, and how it is computed.
//!
//! This table is the only place that defines a figure. The question columns of `export` and the metrics of `compare` are
//! taken from it, and a test holds `docs/columns.md` to it.

use super::failure::is_attempt;
use super::overlap::float;
use super::{
    AnswerScore, Assessment, Failure, FailureClass, GoldEvidence, GoldRetrieval, Metric, Shortfalls, score_answers,
    search_missed,
};
use crate::base::{Repair, Tool, Trajectory};
use serde::Serialize;

/// An episode with what its answer scored and how it came about: the one view of an episode that is read back.
#[derive(Debug, Clone)]
pub struct ScoredEpisode {
    pub trajectory: Trajectory,
    pub metric: Metric,
    /// Its score, each number in `0.0..=1.0`; absent if it was not measured or its gold is hidden.
    pub score: Option<AnswerScore>,
    /// Its trajectory metrics; absent if it was not measured, if its steps are not known, or if nobody asks for them.
    pub assessment: Option<Assessment>,
}

impl ScoredEpisode {
    /// Scores an episode and assesses it; `gold` is absent if its dataset names no supporting facts.
    pub fn of(trajectory: Trajectory, metric: Metric, gold: Option<&GoldEvidence>) -> Self {
        Self::unassessed(trajectory, metric).assessed(gold)
    }

    /// Scores an episode without its trajectory metrics, which take longer than the score.
    pub fn unassessed(trajectory: Trajectory, metric: Metric) -> Self {
        let answered = || score_answers(metric, trajectory.answer.as_deref(), &trajectory.answers);
        let score = trajectory.measured().then(answered).flatten();
        Self { trajectory, metric, score, assessment: None }
    }

    #[must_use]
    pub fn assessed(self, gold: Option<&GoldEvidence>) -> Self {
        Self { assessment: Assessment::of(&self.trajectory, self.score, gold), ..self }
    }

    /// Whether its answer is right; absent where there is no score.
    pub fn is_right(&self) -> Option<bool> {
        self.score.map(|score| score.em > 0.0)
    }

    /// Whether it attempts an answer: a right one is an attempt, even where no answer is right. Absent where there is no score.
    pub fn attempted(&self) -> Option<bool> {
        self.is_right().map(|right| right || is_attempt(&self.trajectory))
    }

    pub fn failure(&self) -> Option<&Failure> {
        self.assessment.as_ref()?.failure.as_ref()
    }

    pub fn class(&self) -> Option<FailureClass> {
        Some(self.failure()?.class)
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Figure {
    /// The name that users type, and the name of its column in an export.
    pub name: &'static str,
    pub better: Better,
    /// What it means; a test holds `docs/columns.md` to it.
    #[cfg_attr(not(test), expect(dead_code, reason = "documentation"))]
    pub about: &'static str,
    /// What kind of number it is, and how it is computed.
    pub measure: Measure,
}

/// How a figure is computed. The result is absent if the episode has no such value.
#[derive(Debug, Clone, Copy)]
pub enum Measure {
    /// A share in `0.0..=1.0`.
    Share(fn(&ScoredEpisode) -> Option<f64>),
    /// Yes or no. Its mean is a share.
    Flag(fn(&ScoredEpisode) -> Option<bool>),
    Count(fn(&ScoredEpisode) -> Option<u64>),
    Amount(fn(&ScoredEpisode) -> Option<f64>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Shares in `0.0..=1.0`: shown in per cent, and their differences in percentage points.
    Share,
    /// Any other number, shown as it is.
    Amount,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    Higher,
    Lower,
    /// Neither is: a comparison says more and less, and names no winner.
    Neither,
}

impl Figure {
    pub fn named(name: &str) -> Option<&'static Self> {
        ALL.iter().find(|figure| figure.name == name)
    }

    pub fn unit(&self) -> Unit {
        match self.measure {
            Measure::Share(_) | Measure::Flag(_) => Unit::Share,
            Measure::Count(_) | Measure::Amount(_) => Unit::Amount,
        }
    }

    /// Its value as a number; absent if the episode was not measured.
    pub fn value(&self, episode: &ScoredEpisode) -> Option<f64> {
        if !episode.trajectory.measured() {
            return None;
        }
        match self.measure {
            Measure::Share(of) | Measure::Amount(of) => of(episode),
            Measure::Flag(of) => of(episode).map(f64::from),
            Measure::Count(of) => of(episode).map(float),
        }
    }
}

macro_rules! figures {
    ($($id:ident $name:literal $better:ident $measure:ident($of:expr) $about:literal;)*) => {
        $(
            #[doc = concat!("`", $name, "`: ", $about, ".")]
            pub const $id: Figure =
                Figure { name: $name, better: Better::$better, about: $about, measure: Measure::$measure($of) };
        )*
        /// All figures, in the order in which errors list them.
        pub const ALL: &[Figure] = &[$($id),*];
    };
}

figures! {
    EM "em" Higher Share(|episode| Some(episode.score?.em))
        "exact match, 0 or 1; empty when not measured or the gold is hidden, like the next three";
    F1 "f1" Higher Share(|episode| Some(episode.score?.f1)) "F1 over words, 0 to 1";
    PRECISION "precision" Higher Share(|episode| Some(episode.score?.precision)) "precision over words, 0 to 1";
    RECALL "recall" Higher Share(|episode| Some(episode.score?.recall)) "recall over words, 0 to 1";
    ATTEMPTED "attempted" Neither Flag(ScoredEpisode::attempted)
        "1 if an answer was attempted, else 0; empty where `em` is";
    STEPS "steps" Neither Count(|episode| count(with_steps(episode)?.agent_steps()))
        "steps without samples of a vote; empty, like all that follows from steps, if another program did not record them";
    CALLS "calls" Neither Count(|episode| u64::try_from(with_steps(episode)?.recorded_calls()?).ok())
        "number of model calls";
    BAD_CALLS "bad_calls" Lower
        Count(|episode| count(repairs(episode)?.filter(|repair| repair.is_bad_call())))
        "replies without an action, mended by a further call (the paper's `n_badcalls`)";
    CUT_CALLS "cut_calls" Lower Count(|episode| Some(Shortfalls::of(with_calls(episode)?).cut()))
        "calls that the token limit cut, or too long for the context";
    DECLINED_CALLS "declined_calls" Lower Count(|episode| Some(Shortfalls::of(with_calls(episode)?).declined()))
        "calls that the model declined, a filter withheld, or the server left empty";
    SEARCHES "searches" Neither Count(|episode| uses(episode, &[Tool::Search, Tool::Passages])) "steps that searched";
    LOOKUPS "lookups" Neither Count(|episode| uses(episode, &[Tool::Lookup])) "steps that looked a keyword up";
    MISSED_SEARCHES "missed_searches" Neither Count(missed_searches)
        "searches that opened no page";
    REPAIRS "repairs" Lower Count(|episode| count(repairs(episode)?))
        "mended deviations from the protocol, with bad calls";
    SAMPLES "samples" Neither Count(|episode| u64::try_from(with_steps(episode)?.sample_count()).ok())
        "samples of a vote, else 0";
    GOLD_PAGES_OPENED "gold_pages_opened" Higher Count(|episode| Some(gold(episode)?.pages_opened))
        "gold pages opened, redirects followed; empty, like the next five, without supporting facts";
    GOLD_PAGES "gold_pages" Neither Count(|episode| Some(gold(episode)?.pages))
        "gold pages; of alternatives (FEVER) those of the one that was retrieved best";
    FIRST_HOP "first_hop" Higher Flag(|episode| Some(gold(episode)?.first_hop()))
        "1 when a gold page was opened, else 0";
    ALL_HOPS "all_hops" Higher Flag(|episode| Some(gold(episode)?.all_hops()))
        "1 when all gold pages were opened, else 0";
    SENTENCES_SEEN "sentences_seen" Higher Count(|episode| Some(gold(episode)?.sentences_seen))
        "gold sentences that an observation showed";
    SENTENCES "sentences" Neither Count(|episode| Some(gold(episode)?.sentences))
        "gold sentences whose text the dataset gives, or whose number is enough";
    R_PRECISION "r_precision" Higher Share(|episode| gold(episode)?.r_precision.value())
        "KILT's R-precision; empty, like the next three, without supporting facts";
    RECALL_AT_5 "recall_at_5" Higher Share(|episode| gold(episode)?.recall_at_5.value())
        "KILT's recall at 5";
    KILT_EM "kilt_em" Higher Share(|episode| Some(found_all(episode)? * episode.score?.em))
        "KILT-EM: `em` where `r_precision` is 1, else 0";
    KILT_F1 "kilt_f1" Higher Share(|episode| Some(found_all(episode)? * episode.score?.f1))
        "KILT-F1, and KILT-RL by the metric `rougel`: `f1` where `r_precision` is 1, else 0";
    EMPTY_LOOKUPS "empty_lookups" Neither Count(|episode| Some(episode.assessment.as_ref()?.retrieval.empty_lookups))
        "lookups answered by `No more results.`; empty when not measured";
    PROMPT_TOKENS "prompt_tokens" Lower Count(|episode| Some(episode.trajectory.counted_usage()?.split()?.prompt_tokens))
        "counted tokens of all prompts";
    COMPLETION_TOKENS "completion_tokens" Lower Count(|episode| Some(episode.trajectory.counted_usage()?.split()?.completion_tokens))
        "counted tokens of all completions";
    TOKENS "tokens" Lower Count(|episode| Some(episode.trajectory.counted_usage()?.total())) "all tokens, of prompts and completions";
    CACHED_TOKENS "cached_tokens" Neither Count(|episode| episode.trajectory.usage.cached_tokens)
        "prompt tokens read from the provider's cache; empty, like the next two, if uncounted";
    CACHE_WRITE_TOKENS "cache_write_tokens" Neither Count(|episode| episode.trajectory.usage.cache_write_tokens)
        "prompt tokens written to that cache";
    REASONING_TOKENS "reasoning_tokens" Neither Count(|episode| episode.trajectory.usage.reasoning_tokens)
        "tokens of the completions that were reasoning";
    COST_USD "cost_usd" Lower Amount(|episode| episode.trajectory.cost())
        "cost in US dollars; empty where no price is known";
    WALL_MS "wall_ms" Lower Count(|episode| episode.trajectory.timed_ms())
        "duration in milliseconds, waiting included";
}

fn count<T>(items: impl Iterator<Item = T>) -> Option<u64> {
    u64::try_from(items.count()).ok()
}

/// The episode, if its steps are known.
fn with_steps(episode: &ScoredEpisode) -> Option<&Trajectory> {
    Some(&episode.trajectory).filter(|trajectory| trajectory.has_steps())
}

/// The name of a figure in a sentence: `EM` and `F1` in capitals, all others as they are. EM of labels is called accuracy.
pub fn label(name: &str, accuracy: bool) -> &str {
    match name {
        "em" if accuracy => "accuracy",
        "em" => "EM",
        "f1" => "F1",
        name => name,
    }
}

/// The episode, if its calls are known.
fn with_calls(episode: &ScoredEpisode) -> Option<&Trajectory> {
    with_steps(episode).filter(|trajectory| trajectory.recorded_calls().is_some())
}

fn repairs(episode: &ScoredEpisode) -> Option<impl Iterator<Item = &Repair>> {
    // Another program's protocol is not known, nor what was mended of it.
    Some(with_calls(episode)?).filter(|trajectory| trajectory.compat.is_some()).map(|one| one.repairs.iter())
}

fn uses(episode: &ScoredEpisode, tools: &[Tool]) -> Option<u64> {
    count(with_steps(episode)?.steps.iter().filter(|step| step.tool.is_some_and(|tool| tools.contains(&tool))))
}

fn missed_searches(episode: &ScoredEpisode) -> Option<u64> {
    let steps = with_steps(episode)?.steps.iter();
    count(steps.filter(|step| matches!(step.tool, Some(Tool::Search | Tool::Passages)) && search_missed(step)))
}

/// 1 where all the pages that KILT asks for were opened first, else 0.
fn found_all(episode: &ScoredEpisode) -> Option<f64> {
    let share = gold(episode)?.r_precision;
    Some(f64::from(share.count == share.of))
}

fn gold(episode: &ScoredEpisode) -> Option<GoldRetrieval> {
    episode.assessment.as_ref()?.retrieval.gold
}
