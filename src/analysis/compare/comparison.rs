//! The comparison: its result as plain data, serialised in full precision, and the function that computes it.
//!
//! Figures that do not exist (a mean of nothing, the spread of one value) are absent, never NaN.

use super::breakdown::breakdowns;
use super::pairing::{FigureValues, Pairing};
use super::pairs::{Sample, pairs, stopped_by};
use super::{Breakdown, CompareError, NamedFigure, Possible, Settings, StoppedRun, Unit, Variant, Verdict};
use crate::base::stats::{Bootstrap, CochranQ, Interval, McNemar, Needed, Permutation, TTest, Wilcoxon, cochran_q};
use crate::base::text::counted;
use crate::base::{Pairs, Stopping};
use serde::Serialize;
use std::collections::HashSet;

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
    /// Caveats, a sentence each.
    pub notes: Vec<String>,
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
    /// Rows that were not measured.
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
    /// The pairs: all of them, or each variant with the baseline.
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

/// What a share could be if the rows without a measurement were all wrong (0) or all right (1).
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
    pub(super) fn new(method: &'static str, level: f64, Interval { low, high }: Interval) -> Self {
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
    /// The means on these questions.
    pub a_mean: Option<f64>,
    pub b_mean: Option<f64>,
    /// Mean of the differences, `b − a`.
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
    /// The paired bootstrap: resamples, seed, standard error, p.
    pub bootstrap: Option<Bootstrap>,
    pub tests: Tests,
    /// The p that decides, before correction, and its test.
    pub p: Option<DecisiveP>,
    /// The same after Holm's correction over the pairs of this figure.
    pub p_holm: Option<f64>,
    /// What the test that decides takes as one: questions, or clusters.
    pub units: usize,
    /// Units that differ; all others say nothing to the test.
    pub differing: usize,
    /// If fewer units differ, no difference can be shown.
    pub least_differing: u64,
    /// Whether the settings have so few resamples that no difference can be shown either.
    #[serde(skip)]
    pub too_few_resamples: bool,
    /// Minimum difference that the test shows with the power of the settings, where as many units differ as much.
    pub mde: Option<f64>,
    /// The fewest questions with which the difference found would be shown with that power.
    pub questions_needed: Option<u64>,
    /// The same for the ends of the difference's interval, from the farther one to the nearer one.
    pub questions_needed_interval: Option<Needed>,
    /// What the difference could be if rows without a measurement were right in one variant and wrong in the other.
    pub bounds: Option<Bounds>,
    /// The p after Holm if all such rows were against the variant that leads; absent unless the measured p is below alpha.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p_highest: Option<f64>,
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
    pub possible: Option<Possible>,
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

/// Compares variants, each two on the questions that both measured; the means are those of the questions that all measured.
///
/// Repeats are averaged within a question first. Equal input gives equal output to the last bit.
pub(crate) fn compare(variants: &[Variant], settings: &Settings) -> Result<Comparison, CompareError> {
    if variants.len() < 2 {
        return Err(CompareError::TooFew(variants.len()));
    }
    means_and_pairs(variants, settings)
}

/// The same for one variant too, which has means and no pairs.
pub(crate) fn means_and_pairs(variants: &[Variant], settings: &Settings) -> Result<Comparison, CompareError> {
    settings.check()?;
    check(variants, settings)?;
    let pairing = Pairing::of(variants)?;
    let shared = pairing.shared();
    if shared == 0 {
        return Err(CompareError::NothingShared(names_or_none(variants.iter().map(|variant| variant.name.as_str()))));
    }
    let (mut figures, mut parts) = (Vec::new(), Vec::new());
    for figure in &settings.figures {
        let figure = &with_range(figure, variants)?;
        let values = pairing.values(figure)?;
        parts.extend(breakdowns(variants, &pairing, figure, &values, settings));
        figures.push(compare_figure(variants, figure, &values, settings));
    }
    let summaries = pairing.summaries();
    let mut notes = notes(&summaries, &figures, pairing.all(), shared, !parts.is_empty());
    notes.extend(settings.stopped.iter().map(StoppedRun::note));
    Ok(Comparison {
        settings: settings.clone(),
        questions: pairing.all(),
        shared,
        variants: summaries,
        figures,
        breakdowns: parts,
        notes,
    })
}

fn check(variants: &[Variant], settings: &Settings) -> Result<(), CompareError> {
    let mut names = HashSet::new();
    if let Some(variant) = variants.iter().find(|variant| !names.insert(variant.name.as_str())) {
        return Err(CompareError::SameName(variant.name.clone()));
    }
    let Pairs { baseline, contrasts } = &settings.pairs;
    if let Some(wanted) = baseline.iter().chain(contrasts.iter().flatten()).find(|name| !names.contains(name.as_str()))
    {
        let known = names_or_none(variants.iter().map(|variant| variant.name.as_str()));
        return Err(CompareError::Unknown { wanted: wanted.clone(), known });
    }
    if let Some([same, _]) = contrasts.iter().find(|[a, b]| a == b) {
        return Err(CompareError::WithItself(same.clone()));
    }
    for field in &settings.breakdowns {
        if variants.iter().all(|variant| variant.grouping(field).is_none()) {
            let mut known: Vec<&str> = Vec::new();
            for name in variants.iter().flat_map(|variant| &variant.groupings) {
                if !known.contains(&name.as_str()) {
                    known.push(name);
                }
            }
            return Err(CompareError::UnknownGrouping {
                field: field.clone(),
                known: names_or_none(known.into_iter()),
            });
        }
    }
    Ok(())
}

/// The figure with the bounds of its values: a figure that the program does not know has those of shares where all its values lie
/// between 0 and 1. Refuses values outside of bounds that are given.
fn with_range(figure: &NamedFigure, variants: &[Variant]) -> Result<NamedFigure, CompareError> {
    let outside = |range: Interval| {
        variants.iter().find_map(|variant| {
            let at = variant.figure(&figure.name)?;
            let values = variant.items.iter().filter_map(|item| Some((item, item.value(at)?)));
            let (item, value) = values.into_iter().find(|(_, value)| !range.contains(*value))?;
            let (variant, question) = (variant.name.clone(), item.id.clone());
            Some(CompareError::OutOfBounds { figure: figure.name.clone(), variant, question, value, range })
        })
    };
    let Some(range) = figure.range else {
        let range = Some(Interval::SHARES).filter(|range| figure.is_own() && outside(*range).is_none());
        return Ok(NamedFigure { range, ..figure.clone() });
    };
    outside(range).map_or_else(|| Ok(figure.clone()), Err)
}

fn names_or_none<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

fn compare_figure(
    variants: &[Variant],
    figure: &NamedFigure,
    values: &FigureValues<'_, '_>,
    settings: &Settings,
) -> FigureComparison {
    let mut pairs = pairs(variants, values, figure, settings);
    let corrected = pairs.iter().filter(|pair| pair.p.is_some()).count();
    for pair in &mut pairs {
        // Shares differ by 1 at most: what only more than that would show is not shown.
        pair.mde = pair.mde.filter(|mde| figure.unit != Unit::Share || *mde <= 1.0);
        pair.verdict = Verdict::of(pair, figure, corrected, settings);
    }
    let common = values.common();
    let clusters = common.clusters.as_deref();
    let means = variants.iter().zip(values.bounds()).enumerate().map(|(at, (variant, bounds))| {
        let sample = Sample { values: &common.variants[at], clusters };
        let estimate = sample.mean();
        VariantMean {
            variant: variant.name.clone(),
            mean: estimate.map(|estimate| estimate.mean),
            se: estimate.and_then(|estimate| estimate.se),
            interval: sample.mean_interval(common.binary[at], figure.range, settings.level),
            intervals: sample.mean_intervals(common.binary[at], settings.level),
            not_measured: values.not_measured(at),
            bounds,
        }
    });
    let right = |variant: &Vec<f64>| variant.iter().map(|value| *value > 0.0).collect();
    let several = common.all_binary() && variants.len() > 2 && !common.questions.is_empty();
    let cochran_q =
        several.then(|| cochran_q(&common.variants.iter().map(right).collect::<Vec<Vec<bool>>>())).flatten();
    let names: Vec<&str> = variants.iter().map(|variant| variant.name.as_str()).collect();
    FigureComparison {
        figure: figure.clone(),
        n: common.questions.len(),
        binary: common.all_binary() && !common.questions.is_empty(),
        clusters: clusters.map(|clusters| clusters.iter().collect::<HashSet<_>>().len()),
        means: means.collect(),
        cochran_q,
        cochran_q_stopped_by: cochran_q.and_then(|_| stopped_by(&names, settings)),
        pairs,
        excluded: values.excluded(),
    }
}

fn notes(
    variants: &[VariantSummary],
    figures: &[FigureComparison],
    all: usize,
    shared: usize,
    in_parts: bool,
) -> Vec<String> {
    let mut notes = Vec::new();
    // Of three variants two may have what the third lacks.
    let left_out = if variants.len() > 2 { "are in no mean" } else { "are excluded" };
    if shared < all {
        notes.push(format!("{} of {all} questions are not in all variants and {left_out}", all - shared));
    }
    if variants.iter().any(|variant| variant.not_measured > 0) {
        notes.push(
            "episodes that were not measured (the model or Wikipedia failed, or the budget was spent) are in no mean; the bounds show how much they could change"
                .to_owned(),
        );
    }
    for figure in figures.iter().filter(|figure| figure.excluded.count > 0) {
        let (label, count) = (figure.figure.label(), figure.excluded.count);
        notes.push(format!(
            "{label}: {count} of {shared} shared questions have no value in at least one variant and {left_out}"
        ));
    }
    let failed: usize = variants.iter().map(|variant| variant.not_measured).sum();
    for figure in figures {
        let all: usize = figure.means.iter().map(|mean| mean.not_measured).sum();
        if all > failed {
            let (label, some) = (figure.figure.label(), counted(all - failed, "measured episode"));
            notes.push(format!("{label}: {some} without a value of it; they count as not measured"));
        }
    }
    if let Some(repeats) = variants.iter().map(|variant| variant.repeats).max().filter(|repeats| *repeats > 1) {
        notes.push(format!(
            "questions were asked up to {repeats} times: repeats are averaged within a question first. An average is \
             neither right nor wrong, so McNemar's test and Cochran's Q are left out"
        ));
    }
    if let Some(figure) = figures.iter().find(|figure| figure.clusters.is_some()) {
        let (questions, clusters) =
            (counted(figure.n, "question"), counted(figure.clusters.unwrap_or_default(), "cluster"));
        notes.push(format!(
            "{questions} are in {clusters}: standard errors, intervals and the permutation test are by \
             cluster. McNemar's test, Wilcoxon's and Cochran's Q assume independent questions and decide nothing"
        ));
    }
    // The pair of a rule has no p to correct.
    let corrected = |figure: &FigureComparison| figure.pairs.iter().filter(|pair| pair.stopping.is_none()).count();
    if let Some(most) = figures.iter().map(corrected).max().filter(|most| *most > 1) {
        notes.push(format!("Holm's correction covers the {most} pairs of a figure, not several figures"));
    }
    if in_parts {
        notes.push("parts are not corrected for their number: they suggest where to look and prove nothing".to_owned());
    }
    notes
}
