//! The comparison: its result as plain data, serialised in full precision.
//!
//! Figures that do not exist (a mean of nothing, the spread of one value) are absent, never NaN.

use super::{NamedFigure, Settings};
use crate::base::Stopping;
use crate::base::named;
use crate::base::stats::{Between, Bootstrap, CochranQ, Interval, McNemar, Permutation, Reach, TTest, Wilcoxon};
use serde::Serialize;

/// Variants compared two by two, each pair on the questions that both measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Its settings.
    pub settings: Settings,
    /// Questions that any of the variants has.
    pub questions: usize,
    /// Questions that all of them have, measured or not.
    pub shared: usize,
    /// The variants, in the order given.
    #[serde(rename = "columns")]
    pub variants: Vec<VariantSummary>,
    /// The figures, in the order of the settings.
    #[serde(rename = "metrics")]
    pub figures: Vec<FigureComparison>,
    /// The parts of the questions, by field and figure.
    pub breakdowns: Vec<Breakdown>,
    /// The single combinations, where the values of one setting are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<Within>,
    /// Caveats, a sentence each.
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Within {
    pub setting: String,
    /// Settings that take another value with it.
    pub with_it: Vec<String>,
    pub combinations: Vec<Combination>,
    /// How far three values or more are apart, for each figure.
    pub spreads: Vec<ValueSpread>,
    /// Names of variants without a counterpart: they are in no mean.
    pub unmatched: Vec<String>,
}

/// How far the values of a setting are apart in one figure, on the questions that all of them measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ValueSpread {
    #[serde(rename = "metric")]
    pub figure: String,
    pub values: usize,
    /// Questions that all values measured.
    pub n: usize,
    /// Mean over the values, each with the same weight.
    pub mean: f64,
    /// The padded t, or Student's of figures without bounds: of other questions under these values.
    pub interval: Option<MethodInterval>,
    /// Standard deviation and range of the values' means, as found and beyond the sampling of questions.
    #[serde(flatten)]
    pub between: Between,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Combination {
    /// The other settings as far as they differ, such as `protocol=robust, model=openai:m`.
    pub name: String,
    /// The same figures and pairs, of this combination alone. Holm's correction does not cover the combinations.
    pub figures: Vec<FigureComparison>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VariantSummary {
    pub name: String,
    pub questions: usize,
    /// Its recorded rows: questions times repeats.
    pub rows: usize,
    /// Most rows of one question.
    pub repeats: usize,
    /// Its questions that another variant lacks.
    pub unmatched: Ids,
    pub not_measured: usize,
    /// Questions without a measured row.
    pub unmeasured: Ids,
}

/// Ids of questions, counted, and the first few of them by name.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Ids {
    pub count: usize,
    /// The first of them, at most [`Ids::LISTED`].
    pub listed: Vec<String>,
}

impl Ids {
    pub const LISTED: usize = 20;
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FigureComparison {
    #[serde(rename = "metric")]
    pub figure: NamedFigure,
    /// Questions that all variants measured: the n of the means and of Cochran's Q.
    pub n: usize,
    /// Shared questions that are in no mean because a variant has no value for them.
    pub excluded: Ids,
    /// Whether values are shares of 0 or 1 and no question was repeated, so that Cochran's Q applies.
    pub binary: bool,
    /// Clusters among the questions; absent if no two questions share one.
    pub clusters: Option<usize>,
    pub means: Vec<VariantMean>,
    /// Cochran's Q over all variants; absent for fewer than three, and where values are not 0 or 1.
    pub cochran_q: Option<CochranQ>,
    /// The rule that could stop a run of these variants: then the p of Cochran's Q is not valid at its nominal level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cochran_q_stopped_by: Option<String>,
    pub pairs: Vec<Pair>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VariantMean {
    #[serde(rename = "column")]
    pub variant: String,
    /// Mean over the questions; absent without one.
    pub mean: Option<f64>,
    /// Its standard error: the sample standard deviation over √n, or clustered where there are clusters.
    pub se: Option<f64>,
    /// Wilson's where values are 0 or 1 and independent, the padded t of other bounded figures, else Student's t.
    pub interval: Option<MethodInterval>,
    /// Wilson's, Student's t and the normal one as their formulas give them: they may extend beyond 0 and 1.
    pub intervals: Vec<MethodInterval>,
    /// Its rows that were not measured in this figure.
    pub not_measured: usize,
    /// Smallest and largest mean that these rows allow, and over how many questions.
    pub bounds: Option<Bounds>,
}

/// What a mean could be if the rows without a measurement all had the lowest value (0 of shares) or the highest (1).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bounds {
    pub low: f64,
    pub high: f64,
    /// Questions that the variants tried, measured or not: all variants, or the two of a pair.
    pub n: usize,
    /// Those of them that have a row without a measurement.
    pub unmeasured: usize,
}

impl Bounds {
    /// Whether they leave open which of two is ahead.
    pub(super) fn hold_zero(self) -> bool {
        self.low <= 0.0 && self.high >= 0.0
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MethodInterval {
    /// `wilson`, `score`, `confidence sequence`, or one of `padded t`, `sign flips and t`, `betting`, `t`, `z` and `bootstrap`,
    /// with `cluster` before it where questions are in clusters.
    pub method: &'static str,
    pub level: f64,
    /// Lower end; `−∞` (in JSON `null`) where so few questions can rule out no difference.
    pub low: f64,
    /// Upper end; `∞` (in JSON `null`) in the same case.
    pub high: f64,
}

impl MethodInterval {
    pub(crate) fn new(method: &'static str, level: f64, Interval { low, high }: Interval) -> Self {
        Self { method, level, low, high }
    }

    pub fn contains(&self, value: f64) -> bool {
        Interval { low: self.low, high: self.high }.contains(value)
    }

    /// Its ends as `end` writes them, with `between` them.
    pub(crate) fn ends(&self, between: &str, end: impl Fn(f64) -> String) -> String {
        if self.is_bounded() { end(self.low) + between + &end(self.high) } else { "unbounded".to_owned() }
    }

    /// Whether it rules out any difference at all.
    pub fn is_bounded(&self) -> bool {
        self.low.is_finite() && self.high.is_finite()
    }
}

/// Two variants on the questions that both measured. Every difference is `b − a`: what `b` has more than `a`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Pair {
    /// The baseline, or of two variants the one that was named first.
    pub a: String,
    pub b: String,
    /// Questions that both measured.
    pub n: usize,
    /// Whether the two have no question in common, measured or not.
    #[serde(skip)]
    pub shares_none: bool,
    pub a_mean: Option<f64>,
    pub b_mean: Option<f64>,
    pub difference: Option<f64>,
    /// Standard error of that mean, clustered where there are clusters.
    pub se: Option<f64>,
    /// The standard error if the questions were different ones: shows the gain of pairing.
    pub unpaired_se: Option<f64>,
    pub correlation: Option<f64>,
    /// The interval that agrees with the test that decides, and excludes 0 exactly where `p` (not `p_holm`) is below alpha:
    /// `score` for values of 0 and 1 without clusters, else `sign flips and t`, or `betting` where too few questions differ.
    pub interval: Option<MethodInterval>,
    /// The interval that holds for every distribution, at the level that Holm's correction leaves the pair; absent where the test
    /// that decides holds for every distribution anyway, and for figures without bounds.
    pub distribution_free: Option<MethodInterval>,
    pub intervals: Vec<MethodInterval>,
    pub bootstrap: Option<Bootstrap>,
    pub tests: Tests,
    /// The p that decides, before correction, and its test.
    pub p: Option<DecisiveP>,
    /// The same after Holm's correction over the pairs of this figure.
    pub p_holm: Option<f64>,
    /// What the test that decides can show.
    #[serde(flatten)]
    pub reach: Reach,
    /// What the difference could be if rows without a measurement had the lowest value in one variant and the highest in the
    /// other; absent where nothing is missing, and for figures without a range.
    pub bounds: Option<Bounds>,
    /// Questions that both tried, and of which either has no measurement; counted for figures without a range.
    #[serde(skip)]
    pub unmeasured: usize,
    /// The p after Holm if all such rows were against the variant that leads; absent unless the measured p is below alpha.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p_highest: Option<f64>,
    /// Whether labels by people do not confirm the lead that a judge's figure shows.
    #[serde(skip)]
    pub unconfirmed_by_labels: bool,
    /// The commands that run such rows again.
    #[serde(skip)]
    pub resume: Vec<String>,
    /// What the rule of the run found about this pair and figure. Then `n`, means, difference and interval are those of the
    /// rule's questions, and what assumes a number of questions that was fixed before is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopping: Option<Stopping>,
    /// The rule that could stop a run of this pair, but was about others: p and intervals are not valid at their level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<String>,
    /// Where the pair was named on the command line and not planned: how many pairs there were, and p among them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub possible: Option<AllPairs>,
    pub verdict: Verdict,
}

/// The tests of a pair; absent if a test does not apply.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Tests {
    /// `McNemar`'s test, for values of 0 and 1 without repeats. It assumes that questions are independent.
    pub mcnemar: Option<McNemar>,
    /// The paired t test, clustered where there are clusters.
    pub t_test: Option<TTest>,
    /// The sign-flip permutation test; where there are clusters, whole clusters are flipped.
    pub permutation: Option<Permutation>,
    /// The same by random signs, even if all signs could be enumerated: comparable with other programs.
    pub permutation_sampled: Option<Permutation>,
    /// Wilcoxon's signed-rank test. It assumes that questions are independent.
    pub wilcoxon: Option<Wilcoxon>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DecisiveP {
    /// `mcnemar exact` or `permutation`.
    pub test: &'static str,
    /// Its value, `0.0..=1.0`, before correction.
    pub value: f64,
}

impl Comparison {
    /// The figure of that name.
    pub fn figure(&self, name: &str) -> Option<&FigureComparison> {
        self.figures.iter().find(|figure| figure.figure.name == name)
    }

    /// The figures for people: without F1 where EM is an accuracy, which is the same.
    pub(crate) fn distinct_figures(&self) -> impl Iterator<Item = &FigureComparison> {
        let accuracy = self.figures.iter().any(|figure| figure.figure.accuracy);
        self.figures.iter().filter(move |figure| !accuracy || figure.figure.name != "f1")
    }
}

impl FigureComparison {
    /// The pair of these two variants, in the order in which it was compared: its difference may have the other sign.
    pub fn pair(&self, one: &str, other: &str) -> Option<&Pair> {
        let pair = |pair: &&Pair| (pair.a == one && pair.b == other) || (pair.a == other && pair.b == one);
        self.pairs.iter().find(pair)
    }

    /// Whether `McNemar`'s test applies to any pair.
    pub(crate) fn has_mcnemar(&self) -> bool {
        self.binary || self.pairs.iter().any(|pair| pair.tests.mcnemar.is_some())
    }

    /// Whether what was not measured leaves any difference open.
    pub(crate) fn has_bounds(&self) -> bool {
        self.pairs.iter().any(|pair| pair.bounds.is_some())
    }

    /// Whether the questions of any pair are not those of the means; the rule of a run has its own.
    pub(crate) fn has_own_questions(&self) -> bool {
        self.pairs.iter().any(|pair| pair.n != self.n && pair.stopping.is_none())
    }

    pub fn mean(&self, variant: &str) -> Option<&VariantMean> {
        self.means.iter().find(|mean| mean.variant == variant)
    }
}

/// One figure by one field. Parts are many and nothing corrects for that, so there is no verdict.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Breakdown {
    pub by: String,
    #[serde(rename = "metric")]
    pub figure: String,
    /// The parts, by the values of the field; questions without a value come last.
    pub groups: Vec<Group>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    /// The value; absent for questions without one.
    pub value: Option<String>,
    /// Questions that all variants measured: the n of the means.
    pub n: usize,
    pub means: Vec<GroupMean>,
    /// The same pairs as for all questions.
    pub pairs: Vec<GroupPair>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupMean {
    #[serde(rename = "column")]
    pub variant: String,
    pub mean: Option<f64>,
    pub interval: Option<MethodInterval>,
}

/// Two variants in a part; the difference is `b − a`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupPair {
    pub a: String,
    pub b: String,
    /// Questions that both measured.
    pub n: usize,
    pub difference: Option<f64>,
    pub se: Option<f64>,
    /// Its padded t interval, clustered where there are clusters.
    pub interval: Option<MethodInterval>,
    /// The rule that could stop a run of the two: the interval is not valid at its nominal level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Verdict {
    pub word: Word,
    /// Whether the corrected p of the paired test is below alpha. The interval then excludes 0, too.
    pub distinguishable: bool,
    /// Absent if not distinguishable, if unmeasured questions could undo the difference, or without a better direction.
    pub winner: Option<String>,
    /// The sentence, such as `react-6 beats act-6 by 4.2 points EM, 95 % interval 1.1 to 7.3, p = 0.008 after Holm`.
    /// Names in it are not escaped: do that before printing it.
    pub sentence: String,
}

named! {
    /// The surest first.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize)]
    #[serde(into = "&'static str")]
    pub enum Word {
        /// The paired test shows a difference, and so does what holds for every distribution.
        Beats = "beats",
        /// Only the paired test does, which assumes that rare questions do not differ much more than these.
        IsAheadOf = "is ahead of",
        /// The test finds a difference that it might not find with the unmeasured questions, labels do not confirm it, or the rule
        /// of the run has not decided.
        Undecided = "undecided",
        #[default]
        NotDistinguishable = "not distinguishable",
        /// No question has a value in both.
        CannotBeCompared = "cannot be compared",
    }
}

impl From<Word> for &'static str {
    fn from(word: Word) -> Self {
        word.name()
    }
}

/// What a named pair is one of.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AllPairs {
    /// Pairs that were named and not planned.
    pub named: usize,
    /// All pairs of the variants of the files or runs.
    pub pairs: usize,
    /// `holm` over all of them, or `bonferroni`, an upper bound of it, where these are too many to compute.
    pub correction: &'static str,
    pub p: f64,
}
