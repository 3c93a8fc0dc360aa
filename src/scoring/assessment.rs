//! Trajectory metrics of an episode, and their sum over a run: retrieval, grounding, failure class.
//!
//! No official script has these; `docs/metrics.md` gives each formula.

use super::evidence::GoldEvidence;
use super::failure::{Failure, FailureClass, failure};
use super::observed::Observed;
use super::overlap::AnswerScore;
use super::retrieval::{Grounding, Match, Retrieval, Share};
use crate::base::Trajectory;
use serde::ser::{Serialize, Serializer};

/// Trajectory metrics of one measured episode.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Assessment {
    /// What it opened, and which of the gold pages.
    pub retrieval: Retrieval,
    /// Where its answer comes from; absent without an answer and where the gold is hidden.
    pub grounding: Option<Grounding>,
    /// Why it is wrong; present exactly where it is.
    pub failure: Option<Failure>,
    /// Whether an observation repeats eight words in a row of the question; absent where the question has fewer.
    pub leak: Option<bool>,
}

impl Assessment {
    /// Assesses an episode with the score of its answer; `None` if it was not measured, or its steps are not known.
    ///
    /// `score` decides what is wrong (EM 0), by whichever metric; it is absent if the gold is hidden. `evidence` is
    /// absent if the dataset names none.
    pub fn of(trajectory: &Trajectory, score: Option<AnswerScore>, evidence: Option<&GoldEvidence>) -> Option<Self> {
        if !trajectory.measured() || !trajectory.has_steps() {
            return None;
        }
        let seen = Observed::of(&trajectory.steps);
        let gold = evidence.and_then(|evidence| Match::of(evidence, &seen));
        let grounding = || Grounding::of(trajectory.answer.as_deref()?, score?, &seen);
        Some(Self {
            retrieval: Retrieval {
                searches: seen.searches,
                missed_searches: seen.missed_searches,
                lookups: seen.lookups,
                empty_lookups: seen.empty_lookups,
                gold: gold.as_ref().map(|found| found.gold),
            },
            grounding: grounding(),
            failure: score.and_then(|score| failure(trajectory, score, &seen, gold.as_ref())),
            leak: seen.repeats_question(&trajectory.question),
        })
    }
}

/// Trajectory metrics of a run: sums over its measured episodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct RunAssessment {
    /// Gold pages opened, of all gold pages.
    pub gold_pages: Share,
    /// Episodes that opened a gold page, of those with gold pages.
    pub first_hop: Share,
    /// Episodes that opened all their gold pages, of those with gold pages.
    pub all_hops: Share,
    /// Gold sentences that appeared in an observation, of those whose text is known.
    pub sentences: Share,
    /// Searches that opened no page, of all searches.
    pub missed_searches: Share,
    /// Lookups that found nothing, of all lookups.
    pub empty_lookups: Share,
    /// Episodes in which an observation repeats eight words in a row of the question, of those whose question has as many.
    pub leak: Share,
    /// Answers that appeared in an observation, of the answers that have a text.
    pub grounded: Share,
    /// Right answers that appeared in none, of the same.
    pub lucky: Share,
    /// Wrong answers that appeared in none, of the same.
    pub ungrounded: Share,
    /// Answers that are yes, no or a label, and therefore in none of these three.
    pub verdicts: u64,
    /// Wrong episodes; the failure classes add up to it.
    pub wrong: u64,
    pub failures: FailureCounts,
    /// Wrong episodes whose steps ran out, whatever their class.
    pub step_limit: u64,
    pub paper: PaperCounts,
}

/// Episodes in the rows of Table 2 of the `ReAct` paper. People assigned them there; here the rules do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct PaperCounts {
    /// Right answers that an observation contained.
    pub true_positive: u64,
    /// Right answers that none contained: facts or reasoning may be made up.
    pub false_positive: u64,
    /// Right answers without a text that an observation could contain: yes, no, a label.
    pub undecided: u64,
    /// Wrong: `reasoning` and `loop`.
    pub reasoning_error: u64,
    /// Wrong: `search` and `lookup`.
    pub search_result_error: u64,
    pub hallucination: u64,
    /// Wrong: `label`.
    pub label_ambiguity: u64,
    /// Wrong for reasons that the paper's table does not have: `format`, `cut`, `declined`, `limit`.
    pub other: u64,
}

impl PaperCounts {
    fn add(&mut self, episode: &Assessment) {
        let row = match (&episode.failure, episode.grounding) {
            (Some(failure), _) => match failure.class {
                FailureClass::Reasoning | FailureClass::Loop => &mut self.reasoning_error,
                FailureClass::Search | FailureClass::Lookup => &mut self.search_result_error,
                FailureClass::Hallucination => &mut self.hallucination,
                FailureClass::Label => &mut self.label_ambiguity,
                _ => &mut self.other,
            },
            (None, Some(Grounding::Grounded)) => &mut self.true_positive,
            (None, Some(Grounding::Lucky)) => &mut self.false_positive,
            (None, Some(Grounding::Verdict)) => &mut self.undecided,
            (None, Some(Grounding::Ungrounded) | None) => return,
        };
        *row += 1;
    }
}

/// Wrong episodes by class, all classes present; as JSON an object of class names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FailureCounts([u64; FailureClass::ALL.len()]);

impl FailureCounts {
    pub fn of(&self, class: FailureClass) -> u64 {
        self.0[class as usize]
    }

    pub fn iter(&self) -> impl Iterator<Item = (FailureClass, u64)> {
        FailureClass::ALL.into_iter().zip(self.0)
    }
}

impl Serialize for FailureCounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter().map(|(class, count)| (class.name(), count)))
    }
}

impl RunAssessment {
    pub fn add(&mut self, episode: &Assessment) {
        let retrieval = &episode.retrieval;
        self.missed_searches.add(retrieval.missed_searches, retrieval.searches);
        self.empty_lookups.add(retrieval.empty_lookups, retrieval.lookups);
        if let Some(gold) = &retrieval.gold {
            self.gold_pages.add(gold.pages_opened, gold.pages);
            self.first_hop.add(u64::from(gold.first_hop()), 1);
            self.all_hops.add(u64::from(gold.all_hops()), 1);
            self.sentences.add(gold.sentences_seen, gold.sentences);
        }
        if let Some(leak) = episode.leak {
            self.leak.add(u64::from(leak), 1);
        }
        match episode.grounding {
            None => {}
            Some(Grounding::Verdict) => self.verdicts += 1,
            Some(grounding) => {
                self.grounded.add(u64::from(grounding == Grounding::Grounded), 1);
                self.lucky.add(u64::from(grounding == Grounding::Lucky), 1);
                self.ungrounded.add(u64::from(grounding == Grounding::Ungrounded), 1);
            }
        }
        if let Some(failure) = &episode.failure {
            self.wrong += 1;
            self.failures.0[failure.class as usize] += 1;
            self.step_limit += u64::from(failure.step_limit);
        }
        self.paper.add(episode);
    }
}
