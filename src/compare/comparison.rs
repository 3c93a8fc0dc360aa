//! What a comparison says: plain data, all of it serialisable in full precision.
//!
//! Figures that cannot be had (a mean of nothing, the spread of one value) are absent, never NaN.

use super::{Breakdown, NamedFigure, Settings, Verdict};
use crate::stats::{Bootstrap, CochranQ, Interval, McNemar, Permutation, TTest, Wilcoxon};
use serde::Serialize;

/// Columns held against each other on the questions that all of them measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// With what it was made.
    pub settings: Settings,
    /// Questions that any of the columns has.
    pub questions: usize,
    /// Questions that all of them have, measured or not.
    pub shared: usize,
    /// The columns, in the order given.
    pub columns: Vec<ColumnSummary>,
    /// The figures, in the order of the settings.
    #[serde(rename = "metrics")]
    pub figures: Vec<FigureComparison>,
    /// The parts of the questions, by field and figure.
    pub breakdowns: Vec<Breakdown>,
    /// What a reader must know, a sentence each.
    pub notes: Vec<String>,
}

/// What a column holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColumnSummary {
    /// Its name.
    pub name: String,
    /// Its questions.
    pub questions: usize,
    /// Its rows: questions times repeats, as far as they were recorded.
    pub rows: usize,
    /// Most rows of one question.
    pub repeats: usize,
    /// Questions of it that another column lacks.
    pub unmatched: Ids,
    /// Rows that were not measured.
    pub not_measured: usize,
    /// Questions of which no row was measured.
    pub unmeasured: Ids,
}

/// Ids of questions, counted, and the first few of them by name.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Ids {
    /// How many there are.
    pub count: usize,
    /// The first of them, at most [`Ids::LISTED`].
    pub listed: Vec<String>,
}

impl Ids {
    /// As many are listed by name; the rest is only counted.
    pub const LISTED: usize = 20;
}

/// One figure over all columns.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FigureComparison {
    /// The figure.
    #[serde(rename = "metric")]
    pub figure: NamedFigure,
    /// Questions that all columns measured: the n of everything below.
    pub n: usize,
    /// Shared questions that are left out because a column has no value for them.
    pub excluded: Ids,
    /// Whether every value is 0 or 1 and no question was repeated: then `McNemar`'s test and Cochran's Q apply.
    pub binary: bool,
    /// Clusters among the questions; absent where no two questions share one.
    pub clusters: Option<usize>,
    /// The mean of each column, in the order of the columns.
    pub means: Vec<ColumnMean>,
    /// Cochran's Q over all columns; absent for fewer than three, and where values are not 0 or 1.
    pub cochran_q: Option<CochranQ>,
    /// The pairs: all of them, or each column with the baseline.
    pub pairs: Vec<Pair>,
}

/// The mean of one column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColumnMean {
    /// Name of the column.
    pub column: String,
    /// Mean over the questions; absent without one.
    pub mean: Option<f64>,
    /// Its standard error: the sample standard deviation over √n, or clustered where there are clusters.
    pub se: Option<f64>,
    /// Its interval: Wilson's where values are 0 or 1 and questions independent, else Student's t.
    pub interval: Option<MethodInterval>,
    /// Wilson's where it applies, Student's t and the normal one, as their formulas give them: those of a share may reach
    /// beyond 0 and 1, where `interval` is cut.
    pub intervals: Vec<MethodInterval>,
    /// Smallest and largest mean that the rows without a measurement allow, and over how many questions.
    pub bounds: Option<Bounds>,
}

/// What a share could be, were every row without a measurement all wrong (0) or all right (1).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bounds {
    /// The lowest.
    pub low: f64,
    /// The highest.
    pub high: f64,
    /// Questions over which this is: those that all columns tried, measured or not.
    pub n: usize,
}

/// An interval and how it was made.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MethodInterval {
    /// `wilson`, `t`, `z`, `bootstrap`, `cluster t`, `cluster z` or `cluster bootstrap`.
    pub method: &'static str,
    /// Its coverage.
    pub level: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl MethodInterval {
    /// Whether the value lies in it.
    pub fn contains(&self, value: f64) -> bool {
        Interval { low: self.low, high: self.high }.contains(value)
    }
}

/// Two columns on the same questions. Every difference is `b − a`: what `b` has more than `a`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pair {
    /// The baseline, or of two columns the one that was named first.
    pub a: String,
    /// The other.
    pub b: String,
    /// Questions compared.
    pub n: usize,
    /// Mean of `a`.
    pub a_mean: Option<f64>,
    /// Mean of `b`.
    pub b_mean: Option<f64>,
    /// Mean of the differences, `b − a`.
    pub difference: Option<f64>,
    /// Standard error of that mean, clustered where there are clusters.
    pub se: Option<f64>,
    /// What the standard error would be, were these different questions: the gain of pairing.
    pub unpaired_se: Option<f64>,
    /// Pearson's correlation of the two columns' values: why pairing pays.
    pub correlation: Option<f64>,
    /// The interval that decides: `t` for values of 0 and 1, else `bootstrap`; with clusters their clustered kinds.
    pub interval: Option<MethodInterval>,
    /// All intervals of the difference.
    pub intervals: Vec<MethodInterval>,
    /// The paired bootstrap: resamples, seed, standard error, p.
    pub bootstrap: Option<Bootstrap>,
    /// All tests.
    pub tests: Tests,
    /// The p that decides, before correction, and the test that it is of.
    pub p: Option<DecisiveP>,
    /// The same after Holm's correction over the pairs of this figure.
    pub p_holm: Option<f64>,
    /// Smallest difference that so many questions can show at the power of the settings, given how the two differ.
    pub mde: Option<f64>,
    /// Questions at which the difference that was found could be shown at that power.
    pub questions_needed: Option<f64>,
    /// What the difference could be, were every row without a measurement right in one column and wrong in the other.
    pub bounds: Option<Bounds>,
    /// What follows from it.
    pub verdict: Verdict,
}

/// The tests of a pair; absent where a test does not apply.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Tests {
    /// `McNemar`'s test, for values of 0 and 1 without repeats. It assumes that questions are independent.
    pub mcnemar: Option<McNemar>,
    /// The paired t test, clustered where there are clusters.
    pub t_test: Option<TTest>,
    /// The sign-flip permutation test; where there are clusters, whole clusters are flipped.
    pub permutation: Option<Permutation>,
    /// The same by random signs, also where few differences let all signs be enumerated: what other programs have.
    pub permutation_sampled: Option<Permutation>,
    /// Wilcoxon's signed-rank test. It assumes that questions are independent.
    pub wilcoxon: Option<Wilcoxon>,
}

/// The p that decides about a pair.
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
}

impl FigureComparison {
    /// The pair of these two columns, in the order in which it was compared; turn the sign where they stand the other
    /// way round.
    pub fn pair(&self, one: &str, other: &str) -> Option<&Pair> {
        let pair = |pair: &&Pair| (pair.a == one && pair.b == other) || (pair.a == other && pair.b == one);
        self.pairs.iter().find(pair)
    }

    /// The mean of that column.
    pub fn mean(&self, column: &str) -> Option<&ColumnMean> {
        self.means.iter().find(|mean| mean.column == column)
    }
}
