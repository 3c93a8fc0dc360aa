//! The score of a run, one trajectory at a time: the progress bar and the final table are the same sum.
//!
//! In a run with repeats, the repeats of a question share what makes it hard. They are averaged first, and the question is the
//! unit: the mean is over the questions' own means, and so is its variance.

use super::failure::is_attempt;
use super::metric::{Metric, score_answers};
use super::overlap::{AnswerScore, float};
use super::repeats::Variation;
use crate::base::stats::Moments;
use crate::base::{Outcome, Trajectory, Usage};
use serde::Serialize;
use std::collections::BTreeMap;

/// A running sum over trajectories. Its memory does not grow, unless it is [by question](Self::by_question).
#[derive(Debug, Clone, Default)]
pub struct Tally {
    dataset: String,
    /// Of all trajectories; absent where each has its dataset's own.
    metric: Option<Metric>,
    score: RunScore,
    questions: Option<Questions>,
    em_sum: f64,
    f1_sum: f64,
    f1: Variation,
    /// Episodes that were not measured and whose gold is known.
    missing: u64,
}

/// What a run scored. Counts are of episodes; means are over `scored` and absent if that is 0.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct RunScore {
    pub episodes: u64,
    /// Episodes that count: all but `not_measured` and `budget`.
    pub measured: u64,
    /// Measured episodes whose gold is known; the `n` of the means.
    pub scored: u64,
    /// Measured episodes whose gold is hidden; in no mean.
    pub hidden: u64,
    /// Episodes where model or Wikipedia failed for good; in no mean, and never counted wrong.
    pub not_measured: u64,
    /// Episodes that the run's budget cut short; in no mean, and never counted wrong.
    pub budget: u64,
    /// Scored episodes with EM 1.
    pub correct: u64,
    /// Scored episodes that attempted an answer, the correct ones among them.
    pub attempted: u64,
    /// Correct over attempted; where questions are repeated, each question counts by the share of its repeats.
    #[serde(skip)]
    pub given_attempted: Moments,
    /// `SimpleQA`'s F1 in the same way: twice the correct over scored and attempted.
    #[serde(skip)]
    pub simpleqa_f1: Moments,
    /// Mean EM, `0.0..=1.0`. Where questions are repeated, the mean over questions of each question's own mean.
    pub em: Option<f64>,
    /// Mean F1, `0.0..=1.0`, of the same kind.
    pub f1: Option<f64>,
    /// Sample variance of F1 (divided by `scored - 1`); absent below two, and where questions are repeated.
    pub f1_variance: Option<f64>,
    /// How the questions' own means vary; present exactly where questions are repeated.
    pub questions: Option<QuestionMeans>,
    /// Smallest and largest EM that the episodes without a measurement allow: all wrong, all right.
    pub em_bounds: Option<[f64; 2]>,
    /// Episodes by outcome, under the names of [`Outcome::name`]; all outcomes are present.
    pub outcomes: BTreeMap<&'static str, u64>,
    /// Steps of measured episodes; absent, like the next two, where another program did not record them.
    pub steps: Option<u64>,
    pub calls: Option<u64>,
    /// Calls of measured episodes whose text lacked an action (repairs of kind `missing_action`).
    pub bad_calls: Option<u64>,
    pub usage: Usage,
    /// Measured episodes whose tokens a server or another program did not count.
    #[serde(skip)]
    pub uncounted: u64,
    /// Cost of measured episodes in US dollars; absent without one, and where that of some is unknown.
    pub cost_usd: Option<f64>,
    /// Tokens and US dollars of measured episodes whose gold is hidden.
    #[serde(skip)]
    pub of_hidden: (u64, f64),
}

impl Tally {
    /// An empty sum that scores each trajectory by the metric of the dataset of that name.
    ///
    /// See [`Metric::for_answers`].
    pub fn new(dataset: impl Into<String>) -> Self {
        let outcomes = Outcome::ALL.into_iter().map(|outcome| (outcome.name(), 0)).collect();
        let score = RunScore { outcomes, steps: Some(0), calls: Some(0), bad_calls: Some(0), ..RunScore::default() };
        Self { dataset: dataset.into(), score, ..Self::default() }
    }

    /// An empty sum that scores each trajectory by this metric.
    pub fn with_metric(metric: Metric) -> Self {
        Self { metric: Some(metric), ..Self::new("") }
    }

    /// The same for a run with `repeats` of each question. The repeats of a question are not independent, so with more
    /// than one the means are over questions, each by the mean of its own repeats.
    #[must_use]
    pub fn by_question(mut self, repeats: u32) -> Self {
        self.questions = (repeats > 1).then(Questions::default);
        self
    }

    pub fn metric_for(&self, answers: &[String]) -> Metric {
        self.metric.unwrap_or_else(|| Metric::for_answers(&self.dataset, answers))
    }

    /// Adds one trajectory and gives its score: `None` if it was not measured or its gold is hidden.
    ///
    /// Sums run in the order of the calls, so that equal input gives equal bits.
    pub fn add(&mut self, trajectory: &Trajectory) -> Option<AnswerScore> {
        let metric = self.metric_for(&trajectory.answers);
        let answered = || score_answers(metric, trajectory.answer.as_deref(), &trajectory.answers);
        let score = trajectory.measured().then(answered).flatten();
        self.add_scored(trajectory, score);
        score
    }

    /// The same for a trajectory that has been scored by [`metric_for`](Self::metric_for) its golds.
    pub fn add_scored(&mut self, trajectory: &Trajectory, score: Option<AnswerScore>) {
        let total = &mut self.score;
        total.episodes += 1;
        *total.outcomes.entry(trajectory.outcome.name()).or_default() += 1;
        if !trajectory.measured() {
            let unmeasured =
                if trajectory.outcome == Outcome::Budget { &mut total.budget } else { &mut total.not_measured };
            *unmeasured += 1;
            if !trajectory.answers.is_empty() {
                self.missing += 1;
                if let Some(questions) = &mut self.questions {
                    questions.miss(&trajectory.id);
                }
            }
            return;
        }
        total.measured += 1;
        total.usage += trajectory.usage;
        total.uncounted += u64::from(trajectory.counted_usage().is_none());
        let before = if total.measured == 1 { Some(0.0) } else { total.cost_usd };
        total.cost_usd = before.zip(trajectory.cost()).map(|(sum, cost)| sum + cost);
        let add = |sum: &mut Option<u64>, n: Option<usize>| *sum = sum.zip(n).map(|(sum, n)| sum + n as u64);
        let (steps, calls) = (trajectory.agent_steps().count(), trajectory.recorded_calls());
        let bad_calls = trajectory.repairs.iter().filter(|repair| repair.is_bad_call()).count();
        add(&mut total.steps, trajectory.has_steps().then_some(steps));
        add(&mut total.calls, calls);
        // Another program's protocol is not known, nor what was mended of it.
        add(&mut total.bad_calls, calls.filter(|_| trajectory.compat.is_some()).map(|_| bad_calls));
        let Some(score) = score else {
            total.hidden += 1;
            total.of_hidden.0 += trajectory.usage.total();
            total.of_hidden.1 += trajectory.cost().unwrap_or_default();
            return;
        };
        let attempted = score.em > 0.0 || is_attempt(trajectory);
        self.score.attempted += u64::from(attempted);
        self.score.scored += 1;
        self.score.correct += u64::from(score.em > 0.0);
        self.em_sum += score.em;
        self.f1_sum += score.f1;
        self.f1.add(score.f1);
        match &mut self.questions {
            Some(questions) => questions.add(&trajectory.id, score, attempted),
            None => self.score.add_attempt(f64::from(score.em > 0.0), f64::from(attempted)),
        }
    }

    pub fn score(&self) -> RunScore {
        let scored = self.score.scored;
        let mut score = self.score.clone();
        if let Some(questions) = &self.questions {
            questions.means(&mut score);
            // Until a question has a second measured episode, nothing differs from a run without repeats.
            if score.questions.is_none() {
                score.f1_variance = self.f1.variance();
            }
            return score;
        }
        if scored > 0 {
            score.em = Some(self.em_sum / float(scored));
            score.f1 = Some(self.f1_sum / float(scored));
        }
        score.f1_variance = self.f1.variance();
        let all = scored + self.missing;
        if all > 0 {
            score.em_bounds = Some([self.em_sum / float(all), (self.em_sum + float(self.missing)) / float(all)]);
        }
        score
    }
}

impl RunScore {
    /// Adds a question: which share of its scored repeats is right, and which attempted an answer.
    fn add_attempt(&mut self, right: f64, attempted: f64) {
        // A question that was never attempted says nothing about attempts.
        if attempted > 0.0 {
            self.given_attempted.add(right, attempted);
        }
        self.simpleqa_f1.add(2.0 * right, 1.0 + attempted);
    }

    /// Mean steps of a measured episode; absent without one.
    pub fn mean_steps(&self) -> Option<f64> {
        per(float(self.steps?), self.measured)
    }

    /// Tokens of measured episodes; absent where another program counted none.
    pub fn counted_usage(&self) -> Option<Usage> {
        Some(self.usage).filter(|usage| self.uncounted == 0 || usage.total() > 0)
    }

    /// All tokens of measured episodes; absent where those of some are unknown.
    fn all_tokens(&self) -> Option<f64> {
        (self.uncounted == 0).then(|| float(self.usage.total()))
    }

    /// Tokens of a measured episode, on average; absent without one, and where those of some are unknown.
    pub fn tokens_per_question(&self) -> Option<f64> {
        per(self.all_tokens()?, self.measured)
    }

    /// Tokens of scored episodes for each right answer.
    pub fn tokens_per_correct(&self) -> Option<f64> {
        per(self.all_tokens()? - float(self.of_hidden.0), self.correct)
    }

    /// Cost of a measured episode in US dollars, on average; absent without one, and where that of some is unknown.
    pub fn cost_per_question(&self) -> Option<f64> {
        per(self.cost_usd?, self.measured)
    }

    /// Cost of scored episodes for each right answer.
    pub fn cost_per_correct(&self) -> Option<f64> {
        per(self.cost_usd? - self.of_hidden.1, self.correct)
    }
}

fn per(total: f64, count: u64) -> Option<f64> {
    (count > 0).then(|| total / float(count))
}

/// How the questions' own means vary.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct QuestionMeans {
    /// Questions with a scored episode; the `n` of the means.
    pub n: u64,
    /// Sample variance of the questions' EM (divided by `n - 1`); absent below two.
    pub em_variance: Option<f64>,
    /// The same of F1.
    pub f1_variance: Option<f64>,
}

/// The sums by question, in the order of their ids, so that equal input in any order gives equal bits.
#[derive(Debug, Clone, Default)]
pub(super) struct Questions(BTreeMap<String, Sums>);

#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    scored: u64,
    missing: u64,
    em: f64,
    f1: f64,
    right: f64,
    attempted: f64,
}

impl Questions {
    /// Adds an episode that was not measured and whose gold is known.
    pub(super) fn miss(&mut self, id: &str) {
        self.sums(id).missing += 1;
    }

    pub(super) fn add(&mut self, id: &str, score: AnswerScore, attempted: bool) {
        let sums = self.sums(id);
        sums.scored += 1;
        sums.em += score.em;
        sums.f1 += score.f1;
        sums.right += f64::from(score.em > 0.0);
        sums.attempted += f64::from(attempted);
    }

    fn sums(&mut self, id: &str) -> &mut Sums {
        self.0.entry(id.to_owned()).or_default()
    }

    pub(super) fn means(&self, score: &mut RunScore) {
        let scored = || self.0.values().filter(|sums| sums.scored > 0);
        let (em, em_variance) = mean(scored().map(|sums| sums.em / float(sums.scored)));
        let (f1, f1_variance) = mean(scored().map(|sums| sums.f1 / float(sums.scored)));
        let n = scored().map(|_| 1).sum();
        for sums in scored() {
            score.add_attempt(sums.right / float(sums.scored), sums.attempted / float(sums.scored));
        }
        (score.em, score.f1) = (em, f1);
        let is_repeated = scored().any(|sums| sums.scored > 1);
        score.questions = is_repeated.then_some(QuestionMeans { n, em_variance, f1_variance });
        let all = |sums: &Sums| float(sums.scored + sums.missing);
        let (low, _) = mean(self.0.values().map(|sums| sums.em / all(sums)));
        let (high, _) = mean(self.0.values().map(|sums| (sums.em + float(sums.missing)) / all(sums)));
        score.em_bounds = low.zip(high).map(|(low, high)| [low, high]);
    }
}

fn mean(values: impl Iterator<Item = f64> + Clone) -> (Option<f64>, Option<f64>) {
    let n = values.clone().count();
    if n == 0 {
        return (None, None);
    }
    let mean = values.clone().sum::<f64>() / float(n);
    let squares: f64 = values.map(|value| (value - mean) * (value - mean)).sum();
    (Some(mean), (n > 1).then(|| squares / float(n - 1)))
}

#[cfg(test)]
mod tests;
