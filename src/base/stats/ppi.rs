//! Prediction-powered inference (PPI++): a mean of a judge's verdicts, corrected by labels of a random part of the items.
//!
//! Angelopoulos, Duchi, Zrnic, "PPI++: Efficient prediction-powered inference" (2023). The judge's error is estimated on the
//! labelled items and subtracted; λ says how much the verdicts of the others count, from 0 (the labels alone) to 1. Labels may
//! be drawn with different probabilities in different strata (Fisch et al., "Stratified prediction-powered inference", 2024).

use super::distributions::{count, float};
use super::{Interval, Mean, fisher_exact};
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};

/// Labelled clusters below which nothing is corrected: the spread of the judge's errors would be guessed.
pub const FEWEST: u64 = 20;

/// Errors of the judge on labelled items below which their spread counts as if two more had been found, one each way: few
/// labels without an error do not show that it makes none.
const FEW_ERRORS: usize = 5;

/// Labels of a stratum below which it is not corrected, unless all of it is labelled.
pub const FEW_LABELS: usize = 5;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JudgedItem {
    /// Items of one cluster, such as the episodes of one question, are not independent.
    pub cluster: usize,
    /// Items of one stratum have been labelled with one probability: those right by exact match, and those wrong.
    pub stratum: usize,
    /// How much it counts beside the others: where a question has several, they share what the question weighs.
    pub weight: f64,
    pub judge: f64,
    /// What a person says, where one was asked.
    pub label: Option<f64>,
}

/// A corrected mean, or difference of means.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Corrected {
    pub mean: f64,
    pub se: f64,
    /// Labelled items, of both where there are two.
    pub labels: u64,
    /// Degrees of freedom: labelled clusters less one.
    pub freedom: u64,
    /// How much the verdicts on items without label count, 0 to 1.
    pub lambda: f64,
}

impl Corrected {
    pub fn interval(&self, level: f64) -> Option<Interval> {
        let Self { mean, se, freedom, .. } = *self;
        Mean { n: freedom + 1, mean, se: Some(se), freedom }.t_interval(level)
    }
}

/// The items of a stratum beside those of them that are labelled.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LabelledPart {
    pub judged: u64,
    /// Of these, the ones that the judge calls correct.
    pub correct: u64,
    pub labels: u64,
    pub correct_labels: u64,
    /// Fisher's exact test of whether the judge calls as many correct with a label as without: labels that were drawn at random
    /// fall below 0.05 once in twenty times at most. Absent where all or none are labelled, or the judge says the same of all. Of
    /// several strata, the smallest times their number.
    pub p: Option<f64>,
    /// The labels of a stratum that has too few to correct it, the fewest of any.
    #[serde(skip)]
    pub too_few: Option<u64>,
}

impl LabelledPart {
    /// Of these strata together, each of which is tested by itself.
    pub fn of(items: &[JudgedItem], is_its: impl Fn(usize) -> bool) -> Self {
        let strata = by_stratum(items).into_iter().filter(|(stratum, _)| is_its(*stratum));
        let parts: Vec<Self> = strata.map(|(_, its)| Self::of_stratum(&its)).collect();
        let sum = |of: fn(&Self) -> u64| parts.iter().map(of).sum();
        let tested = parts.iter().filter(|part| part.p.is_some()).count();
        Self {
            judged: sum(|part| part.judged),
            correct: sum(|part| part.correct),
            labels: sum(|part| part.labels),
            correct_labels: sum(|part| part.correct_labels),
            p: parts.iter().filter_map(|part| part.p).reduce(f64::min).map(|p| (p * float(count(tested))).min(1.0)),
            too_few: parts.iter().filter_map(|part| part.too_few).min(),
        }
    }

    fn of_stratum(its: &[&JudgedItem]) -> Self {
        let correct = |item: &&&JudgedItem| item.judge > 0.5;
        let labelled = || its.iter().filter(|item| item.label.is_some());
        let (judged, labels) = (count(its.len()), count(labelled().count()));
        let (all, with) = (count(its.iter().filter(correct).count()), count(labelled().filter(correct).count()));
        let (others, of_others) = (judged - labels, all - with);
        let varies = labels > 0 && others > 0 && all > 0 && all < judged;
        let p = varies.then(|| fisher_exact([[with, labels - with], [of_others, others - of_others]]));
        let too_few = Some(labels).filter(|labels| *labels < count(FEW_LABELS) && *labels < judged);
        Self { judged, correct: all, labels, correct_labels: with, p, too_few }
    }
}

/// What an item moves in an estimate, by its cluster: a part of its own, and one for each unit of λ.
#[derive(Default)]
struct Influence(BTreeMap<usize, (f64, f64)>);

struct Arm {
    strata: BTreeMap<usize, Stratum>,
    /// Means over the strata, by their sizes, of the labels and of the verdicts on the labelled items; the mean of all verdicts.
    label: f64,
    labelled: f64,
    all: f64,
    weights: f64,
}

#[derive(Default)]
struct Stratum {
    weight: f64,
    labels: u64,
    /// The sum of the weights of the labelled items.
    weights: f64,
    /// Means of the labels, and of the verdicts on the labelled items.
    label: f64,
    labelled: f64,
    /// What the judge's errors add to the variance where few were found.
    floor: f64,
}

/// The corrected mean of one variant; absent with fewer than [`FEWEST`] labelled clusters.
pub fn corrected(items: &[JudgedItem]) -> Option<Corrected> {
    estimate(&[(items, 1.0)])
}

/// The corrected difference of two variants, `b` less `a`. Clusters are those of both, so that questions that both answered
/// are paired; absent with fewer than [`FEWEST`] labelled clusters in either.
pub fn corrected_difference(a: &[JudgedItem], b: &[JudgedItem]) -> Option<Corrected> {
    estimate(&[(b, 1.0), (a, -1.0)])
}

/// What a corrected mean with this λ would be if in each stratum right answers had been labelled `odds` times as often as wrong
/// ones: a right label then stands for fewer items.
pub fn corrected_at_odds(items: &[JudgedItem], lambda: f64, odds: f64) -> f64 {
    let all = weights(items);
    let mean = items.iter().map(|item| lambda * item.weight * item.judge).sum::<f64>() / all;
    let of_stratum = |its: &Vec<&JudgedItem>| {
        let labelled: Vec<(&JudgedItem, f64)> = its.iter().filter_map(|item| Some((*item, item.label?))).collect();
        let whole = labelled.len() == its.len();
        let weight =
            |(item, label): &(&JudgedItem, f64)| item.weight * if whole { 1.0 } else { 1.0 - label + label / odds };
        let error = |(item, label): &(&JudgedItem, f64)| label - lambda * item.judge;
        let sum: f64 = labelled.iter().map(|one| weight(one) * error(one)).sum();
        sum / labelled.iter().map(weight).sum::<f64>() * weights(its.iter().copied()) / all
    };
    mean + by_stratum(items).values().map(of_stratum).sum::<f64>()
}

fn weights<'a>(items: impl IntoIterator<Item = &'a JudgedItem>) -> f64 {
    items.into_iter().map(|item| item.weight).sum()
}

fn by_stratum(items: &[JudgedItem]) -> BTreeMap<usize, Vec<&JudgedItem>> {
    let mut strata: BTreeMap<usize, Vec<&JudgedItem>> = BTreeMap::new();
    for item in items {
        strata.entry(item.stratum).or_default().push(item);
    }
    strata
}

fn estimate(sides: &[(&[JudgedItem], f64)]) -> Option<Corrected> {
    let mut influence = Influence::default();
    let mut arms = Vec::new();
    let mut labelled = HashSet::new();
    for (items, sign) in sides {
        let of_side: HashSet<usize> =
            items.iter().filter(|item| item.label.is_some()).map(|item| item.cluster).collect();
        if count(of_side.len()) < FEWEST {
            return None;
        }
        labelled.extend(of_side);
        let arm = Arm::of(items)?;
        influence.add(items, &arm, *sign);
        arms.push((arm, *sign));
    }
    let lambda = influence.lambda();
    let mean = arms.iter().map(|(arm, sign)| sign * (arm.label + lambda * (arm.all - arm.labelled))).sum();
    let clusters = float(count(labelled.len()));
    let floor: f64 = arms.iter().map(|(arm, _)| arm.floor()).sum();
    // Few clusters that move the mean do not show that none does: as in the padded t, two more count, one at each end.
    let padding = if influence.clusters_off_mean(lambda) < FEW_ERRORS { 2.0 / clusters.powi(2) } else { 0.0 };
    let variance = influence.squares(lambda) * clusters / (clusters - 1.0) + floor.max(padding);
    let corrected = Corrected {
        mean,
        se: variance.sqrt(),
        labels: arms.iter().flat_map(|(arm, _)| arm.strata.values()).map(|stratum| stratum.labels).sum(),
        freedom: count(labelled.len()) - 1,
        lambda,
    };
    (corrected.mean.is_finite() && corrected.se.is_finite()).then_some(corrected)
}

impl Arm {
    /// Absent where a stratum has too few labels.
    fn of(items: &[JudgedItem]) -> Option<Self> {
        let (strata, all) = (by_stratum(items), weights(items));
        let of = |(stratum, its): (&usize, &Vec<&JudgedItem>)| Some((*stratum, Stratum::of(its, all)?));
        let strata: BTreeMap<usize, Stratum> = strata.iter().map(of).collect::<Option<_>>()?;
        let weighted = |of: fn(&Stratum) -> f64| strata.values().map(|stratum| stratum.weight * of(stratum)).sum();
        Some(Self {
            label: weighted(|stratum| stratum.label),
            labelled: weighted(|stratum| stratum.labelled),
            all: items.iter().map(|item| item.weight * item.judge).sum::<f64>() / all,
            weights: all,
            strata,
        })
    }

    fn floor(&self) -> f64 {
        self.strata.values().map(|stratum| stratum.floor).sum()
    }
}

impl Stratum {
    fn of(items: &[&JudgedItem], all: f64) -> Option<Self> {
        let labelled: Vec<(&JudgedItem, f64)> = items.iter().filter_map(|item| Some((*item, item.label?))).collect();
        let whole = labelled.len() == items.len();
        if labelled.len() < FEW_LABELS && !whole {
            return None;
        }
        let (share, of_labelled) =
            (weights(items.iter().copied()) / all, weights(labelled.iter().map(|(item, _)| *item)));
        let errors = labelled.iter().filter(|(item, label)| (item.judge - label).abs() > f64::EPSILON).count();
        // So many items of equal weights would tell as much.
        let n = of_labelled.powi(2) / labelled.iter().map(|(item, _)| item.weight.powi(2)).sum::<f64>();
        Some(Self {
            weight: share,
            labels: count(labelled.len()),
            weights: of_labelled,
            label: labelled.iter().map(|(item, label)| item.weight * label).sum::<f64>() / of_labelled,
            labelled: labelled.iter().map(|(item, _)| item.weight * item.judge).sum::<f64>() / of_labelled,
            floor: if errors < FEW_ERRORS && !whole { 2.0 * (share / n).powi(2) } else { 0.0 },
        })
    }
}

impl Influence {
    fn add(&mut self, items: &[JudgedItem], arm: &Arm, sign: f64) {
        for item in items {
            let Some(stratum) = arm.strata.get(&item.stratum) else { continue };
            let (own, of_lambda) = self.0.entry(item.cluster).or_default();
            // How large the strata are is drawn, too.
            let part = sign * item.weight / arm.weights;
            *own += part * (stratum.label - arm.label);
            *of_lambda += part * (item.judge - arm.all - stratum.labelled + arm.labelled);
            if let Some(label) = item.label {
                let share = sign * stratum.weight * item.weight / stratum.weights;
                *own += share * (label - stratum.label);
                *of_lambda -= share * (item.judge - stratum.labelled);
            }
        }
    }

    /// The λ of the smallest variance, clipped to what has a meaning.
    fn lambda(&self) -> f64 {
        let (mut both, mut squares) = (0.0, 0.0);
        for (own, of_lambda) in self.0.values() {
            both += own * of_lambda;
            squares += of_lambda * of_lambda;
        }
        // The sum makes -0 a 0.
        if squares > 0.0 { (-both / squares).clamp(0.0, 1.0) + 0.0 } else { 0.0 }
    }

    /// How many clusters are not at the mean.
    fn clusters_off_mean(&self, lambda: f64) -> usize {
        self.0.values().filter(|(own, of_lambda)| (own + lambda * of_lambda).abs() > f64::EPSILON).count()
    }

    fn squares(&self, lambda: f64) -> f64 {
        self.0.values().map(|(own, of_lambda)| (own + lambda * of_lambda).powi(2)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::{FEWEST, JudgedItem, LabelledPart, corrected, corrected_at_odds, corrected_difference};
    use crate::base::stats::rng::SplitMix64;
    use crate::base::stats::{Mean, wilson};

    #[allow(clippy::cast_precision_loss, reason = "53 bits")]
    fn draw(rng: &mut SplitMix64, share: f64) -> bool {
        ((rng.next_u64() >> 11) as f64) < share * (1_u64 << 53) as f64
    }

    fn one(yes: bool) -> f64 {
        f64::from(u8::from(yes))
    }

    /// A judge of this sensitivity and specificity.
    fn judged(rng: &mut SplitMix64, right: bool, [sensitivity, specificity]: [f64; 2]) -> bool {
        if right { draw(rng, sensitivity) } else { !draw(rng, specificity) }
    }

    /// Coverage of the corrected interval, its mean width, and the coverage of the raw one.
    fn simulate(truth: f64, judge: [f64; 2], items: usize, labels: usize, times: u32, seed: u64) -> [f64; 3] {
        let mut rng = SplitMix64::new(seed);
        let mut sums = [0.0; 3];
        for _ in 0..times {
            let drawn: Vec<JudgedItem> = (0..items)
                .map(|cluster| {
                    let right = draw(&mut rng, truth);
                    let says = judged(&mut rng, right, judge);
                    JudgedItem {
                        cluster,
                        stratum: 0,
                        weight: 1.0,
                        judge: one(says),
                        label: (cluster < labels).then_some(one(right)),
                    }
                })
                .collect();
            let interval = corrected(&drawn).and_then(|corrected| corrected.interval(0.95)).expect("enough labels");
            let says = drawn.iter().filter(|item| item.judge > 0.5).count() as u64;
            let raw = wilson(says, drawn.len() as u64, 0.95);
            sums[0] += one(interval.contains(truth));
            sums[1] += interval.high - interval.low;
            sums[2] += one(raw.contains(truth));
        }
        sums.map(|sum| sum / f64::from(times))
    }

    /// Makes the table of docs/statistics-tables.md again.
    #[test]
    fn the_raw_judge_misses_the_truth_and_the_corrected_one_covers_it() {
        let documented = include_str!("../../../docs/statistics-tables.md");
        let mut rows = Vec::new();
        for (labels, judge) in [
            (100, [0.95, 0.85]),
            (50, [0.95, 0.85]),
            (20, [0.95, 0.85]),
            (100, [0.80, 0.80]),
            (100, [0.98, 0.98]),
            (50, [0.98, 0.98]),
            (30, [0.98, 0.98]),
        ] {
            let [corrected, width, raw] = simulate(0.4, judge, 500, labels, 2_000, 16);
            let [sensitivity, specificity] = judge;
            let (raw_shown, shown) = (100.0 * raw, 100.0 * corrected);
            let row = format!(
                "| {sensitivity:.2}, {specificity:.2} | {labels} | {raw_shown:.1} % | {shown:.1} % | {width:.3} |"
            );
            rows.push(row.clone());
            assert!(corrected > 0.93, "{row}");
            if labels == 100 && specificity < 0.9 && sensitivity > 0.9 {
                assert!((corrected - 0.95).abs() <= 0.015, "{corrected}");
                assert!((width - 0.136).abs() < 0.006, "{width}");
                assert!((raw - 0.115).abs() < 0.02, "{raw}");
            }
        }
        let rows = rows.join("\n");
        assert!(documented.contains(&rows), "docs/statistics-tables.md lacks\n{rows}");
    }

    #[test]
    fn differences_are_corrected_within_questions() {
        let mut rng = SplitMix64::new(5);
        let (mut covered, mut raw, times) = (0.0, 0.0, 1_000);
        for _ in 0..times {
            let (mut a, mut b) = (Vec::new(), Vec::new());
            for cluster in 0..400 {
                // Hard questions are hard for both; the judge is kinder to `b`.
                let easy = draw(&mut rng, 0.5);
                for (items, share, judge) in [(&mut a, [0.2, 0.6], [0.9, 0.95]), (&mut b, [0.3, 0.7], [0.98, 0.75])] {
                    let right = draw(&mut rng, share[usize::from(easy)]);
                    let says = one(judged(&mut rng, right, judge));
                    items.push(JudgedItem {
                        cluster,
                        stratum: 0,
                        weight: 1.0,
                        judge: says,
                        label: (cluster < 100).then_some(one(right)),
                    });
                }
            }
            let interval = corrected_difference(&a, &b).and_then(|both| both.interval(0.95)).expect("enough labels");
            covered += one(interval.contains(0.1));
            let differences: Vec<f64> = a.iter().zip(&b).map(|(a, b)| b.judge - a.judge).collect();
            raw += one(Mean::of(&differences).and_then(|mean| mean.t_interval(0.95)).expect("values").contains(0.1));
        }
        let share = covered / f64::from(times);
        assert!((share - 0.95).abs() < 0.02, "{share}");
        assert!(raw / f64::from(times) < 0.5, "{raw}");
    }

    /// `annotate` takes as many right answers as wrong ones, which are a quarter and three quarters here.
    #[test]
    fn strata_may_be_labelled_unequally() {
        let (mut rng, mut covered, times) = (SplitMix64::new(9), 0.0, 1_000);
        for _ in 0..times {
            let mut left = [40, 40];
            let items: Vec<JudgedItem> = (0..400)
                .map(|cluster| {
                    let right = draw(&mut rng, 0.4);
                    let by_em = right && draw(&mut rng, 0.6);
                    let says = by_em || judged(&mut rng, right, [0.9, 0.8]);
                    let stratum = usize::from(by_em);
                    let labelled = left[stratum] > 0;
                    left[stratum] -= usize::from(labelled);
                    JudgedItem {
                        cluster,
                        stratum,
                        weight: 1.0,
                        judge: one(says),
                        label: labelled.then_some(one(right)),
                    }
                })
                .collect();
            let found = corrected(&items).and_then(|found| found.interval(0.95)).expect("enough labels");
            covered += one(found.contains(0.4));
        }
        let share = covered / f64::from(times);
        assert!((0.93..0.985).contains(&share), "{share}");
        // Labels of the wrong answers alone say nothing of the others.
        let one_sided = |at: usize| JudgedItem {
            cluster: at,
            stratum: at % 2,
            weight: 1.0,
            judge: one(at < 50),
            label: at.is_multiple_of(2).then_some(0.0),
        };
        assert!(corrected(&(0..100).map(one_sided).collect::<Vec<_>>()).is_none());
    }

    /// Judged answers, 40 % right by exact match, of which so many of either kind are labelled, the wrong ones as `odds` says.
    fn labelled(rng: &mut SplitMix64, labels: usize, odds: impl Fn(bool, bool) -> f64) -> Vec<JudgedItem> {
        let item = |rng: &mut SplitMix64, cluster| {
            let by_em = draw(rng, 0.4);
            let right = draw(rng, if by_em { 0.97 } else { 0.3 });
            let says = by_em || judged(rng, right, [0.9, 0.8]);
            (JudgedItem { cluster, stratum: usize::from(by_em), weight: 1.0, judge: one(says), label: None }, right)
        };
        let mut items: Vec<(JudgedItem, bool)> = (0..500).map(|cluster| item(rng, cluster)).collect();
        for stratum in [0, 1] {
            let mut left = labels;
            while left > 0 {
                let at = usize::try_from(rng.below(500)).expect("an index");
                let (item, right) = &mut items[at];
                let wanted = stratum == 1 || draw(rng, odds(*right, item.judge > 0.5));
                if item.stratum == stratum && item.label.is_none() && wanted {
                    item.label = Some(one(*right));
                    left -= 1;
                }
            }
        }
        items.into_iter().map(|(item, _)| item).collect()
    }

    /// Makes the figures of docs/statistics-tables.md again: how often p is below 0.05, and the mean errors of the corrected share and
    /// of that at odds of 2.
    #[test]
    fn labels_that_were_not_drawn_at_random_are_flagged_or_their_error_is_shown() {
        type Odds = fn(bool, bool) -> f64;
        let documented = include_str!("../../../docs/statistics-tables.md");
        let truth = 0.4 * 0.97 + 0.6 * 0.3;
        let cases: [(&str, usize, Odds); 5] = [
            ("at random", 25, |_, _| 1.0),
            ("at random", 50, |_, _| 1.0),
            ("only answers that the judge calls wrong", 25, |_, says| one(!says)),
            ("right answers twice as often", 25, |right, _| if right { 1.0 } else { 0.5 }),
            ("right answers twice as often", 50, |right, _| if right { 1.0 } else { 0.5 }),
        ];
        let mut missing = Vec::new();
        for (name, labels, odds) in cases {
            let (mut rng, times) = (SplitMix64::new(11), 1_000);
            let mut sums = [0.0; 3];
            for _ in 0..times {
                let items = labelled(&mut rng, labels, odds);
                let found = corrected(&items).expect("enough labels");
                let p = LabelledPart::of(&items, |stratum| stratum == 0).p.expect("some are labelled");
                let twice = corrected_at_odds(&items, found.lambda, 2.0);
                sums[0] += one(p < 0.05);
                sums[1] += 100.0 * (found.mean - truth);
                sums[2] += 100.0 * (twice - truth);
            }
            let [flagged, error, twice] = sums.map(|sum| sum / f64::from(times));
            let row = format!("| {name} | {} | {:.1} % | {error:+.1} | {twice:+.1} |", 2 * labels, 100.0 * flagged);
            if !documented.contains(&row) {
                missing.push(row.clone());
            }
            if name == "at random" {
                assert!(flagged < 0.06 && error.abs() < 0.5, "{row}");
            }
        }
        assert!(missing.is_empty(), "{}", missing.join("\n"));
    }

    #[test]
    fn labels_are_counted_and_weighted_by_stratum() {
        let item = |stratum, judge, label| JudgedItem { cluster: 0, stratum, weight: 1.0, judge, label };
        let mut items = vec![item(0, 0.0, Some(0.0)); 40];
        items.extend(vec![item(0, 1.0, None); 54]);
        items.extend(vec![item(0, 0.0, None); 26]);
        items.extend(vec![item(1, 1.0, Some(1.0)); 5]);
        let part = LabelledPart::of(&items, |stratum| stratum == 0);
        assert_eq!((part.judged, part.correct, part.labels, part.correct_labels), (120, 54, 40, 0));
        assert!(part.p.is_some_and(|p| (p / 1.484_072_898_646_582_4e-14 - 1.0).abs() < 1e-9), "{part:?}");
        // All are labelled, and the judge says the same of all.
        assert_eq!(LabelledPart::of(&items, |stratum| stratum == 1).p, None);
        assert!(
            LabelledPart::of(&items, |stratum| stratum == 1).too_few.is_none()
                && LabelledPart::of(&items[36..120], |stratum| stratum == 0).too_few.is_some()
        );
        // Of four labels two are right: at odds of 2 they stand for one of three. The whole stratum stays as it is.
        let items = [
            [Some(1.0), Some(1.0), Some(0.0), Some(0.0), None, None],
            [Some(1.0), Some(1.0), Some(0.0), Some(0.0), Some(0.0), Some(0.0)],
        ];
        let items: Vec<JudgedItem> = items
            .iter()
            .enumerate()
            .flat_map(|(stratum, labels)| labels.iter().map(move |label| item(stratum, 1.0, *label)))
            .collect();
        for (odds, share) in [(1.0, 0.5), (2.0, 1.0 / 3.0), (0.5, 2.0 / 3.0)] {
            let found = corrected_at_odds(&items, 0.0, odds);
            assert!((found - f64::midpoint(share, 1.0 / 3.0)).abs() < 1e-12, "{odds}: {found}");
        }
    }

    #[test]
    fn labels_of_everything_are_the_answer_and_few_labels_are_none() {
        let items = |labels: usize, of_cluster: usize| -> Vec<JudgedItem> {
            let item = |at: usize| JudgedItem {
                cluster: at / of_cluster,
                stratum: 0,
                weight: 1.0,
                judge: one(at.is_multiple_of(2)),
                label: (at < labels).then_some(one(at.is_multiple_of(4))),
            };
            (0..80).map(item).collect()
        };
        let all = corrected(&items(80, 1)).expect("labels");
        let some = corrected(&items(40, 1)).expect("labels");
        assert!((corrected_at_odds(&items(40, 1), some.lambda, 1.0) - some.mean).abs() < 1e-12);
        assert!((all.mean - 0.25).abs() < 1e-12 && all.labels == 80, "{all:?}");
        let labels: Vec<f64> = items(80, 1).iter().filter_map(|item| item.label).collect();
        let plain = Mean::of(&labels).and_then(|mean| mean.se).expect("a spread");
        assert!((all.se - plain).abs() < 1e-12, "{} {plain}", all.se);
        assert!(corrected(&items(usize::try_from(FEWEST).expect("few") - 1, 1)).is_none());
        // Labels of few questions are few labels, however many episodes those have.
        assert!(corrected(&items(40, 4)).is_none());
        let clustered = corrected(&items(80, 4)).expect("20 questions");
        assert_eq!(clustered.freedom, 19);
    }

    #[test]
    fn weights_decide_how_much_an_item_counts() {
        // A judge that is always right corrects to the weighted share, however the items weigh.
        let item = |cluster: usize| {
            let right = one(cluster.is_multiple_of(3));
            let weight = if cluster < 20 { 0.2 } else { 1.0 };
            JudgedItem { cluster, stratum: cluster % 2, weight, judge: right, label: Some(right) }
        };
        let items: Vec<JudgedItem> = (0..80).map(item).collect();
        let share = items.iter().map(|item| item.weight * item.judge).sum::<f64>()
            / items.iter().map(|item| item.weight).sum::<f64>();
        let found = corrected(&items).expect("enough labels");
        assert!((found.mean - share).abs() < 1e-12, "{found:?} {share}");
        let at_odds = corrected_at_odds(&items, found.lambda, 2.0);
        assert!((at_odds - share).abs() < 1e-12, "{at_odds} {share}");
        // Items of twice the weight count as two of one cluster.
        let twice = |item: &JudgedItem| [*item, *item];
        let doubled: Vec<JudgedItem> = items.iter().flat_map(twice).collect();
        let heavy: Vec<JudgedItem> =
            items.iter().map(|item| JudgedItem { weight: 2.0 * item.weight, ..*item }).collect();
        let (doubled, heavy) = (corrected(&doubled).expect("one"), corrected(&heavy).expect("one"));
        assert!((doubled.mean - heavy.mean).abs() < 1e-12 && (heavy.se - found.se).abs() < 1e-12);
        // Strata of which each has its own labels are tested each by itself.
        let part = LabelledPart::of(&items, |_| true);
        assert_eq!((part.judged, part.labels, part.too_few), (80, 80, None));
        let few = |item: &JudgedItem| JudgedItem { label: item.label.filter(|_| item.cluster < 6), ..*item };
        let few: Vec<JudgedItem> = items.iter().map(few).collect();
        assert_eq!(LabelledPart::of(&few, |stratum| stratum == 1).too_few, Some(3));
    }
}
