//! What it takes to see a difference: questions, repeats, and what their episodes cost.

use super::verdict::percent;
use super::{Comparison, FigureComparison, Item, NamedFigure, Pair, Unit, Variant};
use crate::base::stats::VarianceParts;
use crate::base::text::{counted, thousands};
use crate::scoring::float;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Differences that are planned for.
const POINTS: [f64; 3] = [0.01, 0.03, 0.05];

/// Figures of what an episode took, in the order of [`Expense`].
pub(crate) const EXPENSES: [&str; 3] = ["cost_usd", "calls", "tokens"];

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Effort {
    pub(crate) metric: NamedFigure,
    pub(crate) a: String,
    pub(crate) b: String,
    pub(crate) difference: f64,
    pub(crate) once: Design,
    /// Questions that are asked twice; absent where it is not known how much repeats of a question vary.
    pub(crate) twice: Option<Design>,
    /// All questions of the dataset, if fewer than needed, with the fewest repeats that are enough; absent if none are.
    pub(crate) of_dataset: Option<Design>,
    /// The sentence; names in it are not escaped.
    pub(crate) sentence: String,
}

/// Questions, how often each is asked under both variants, and what that costs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Design {
    pub(crate) questions: u64,
    pub(crate) repeats: u64,
    #[serde(flatten)]
    pub(crate) expense: Expense,
}

/// As much as it was per episode, of both variants together.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub(crate) struct Expense {
    pub(crate) cost_usd: Option<f64>,
    pub(crate) calls: Option<f64>,
    pub(crate) tokens: Option<f64>,
}

/// What it takes to see 1, 3 and 5 points in each share and pair; `dataset` is its number of questions, if known.
pub(crate) fn efforts(variants: &[Variant], comparison: &Comparison, dataset: Option<usize>) -> Vec<Effort> {
    // What sets of repeats say does not become surer with repeats as a mean does.
    let is_planned = |figure: &NamedFigure| figure.unit == Unit::Share && figure.pass().is_none();
    let shares = comparison.figures.iter().filter(|figure| is_planned(&figure.figure));
    let pairs = shares.flat_map(|figure| figure.pairs.iter().map(move |pair| (figure, pair)));
    let of_pair = |(figure, pair)| Planning::of(variants, comparison, figure, pair, dataset);
    pairs.filter_map(of_pair).flat_map(|planning| POINTS.map(|points| planning.effort(points))).flatten().collect()
}

struct Planning<'c> {
    figure: &'c NamedFigure,
    pair: &'c Pair,
    parts: VarianceParts,
    /// Of one question under both variants.
    expense: Expense,
    alpha: f64,
    power: f64,
    dataset: Option<u64>,
}

impl<'c> Planning<'c> {
    fn of(
        variants: &[Variant],
        comparison: &'c Comparison,
        figure: &'c FigureComparison,
        pair: &'c Pair,
        dataset: Option<usize>,
    ) -> Option<Self> {
        let variant = |name: &str| variants.iter().find(|variant| variant.name == name);
        let both = [variant(&pair.a)?, variant(&pair.b)?];
        // As for p: the pair of a rule has none to correct.
        let corrected = figure.pairs.iter().filter(|pair| pair.stopping.is_none()).count();
        let (n, pairs) = (float(pair.n), float(corrected.max(1)));
        // Clustered where there are clusters. Variants that never differ say nothing of those that will.
        let found = Some(pair.se?.powi(2) * n).filter(|variance| *variance > 0.0)?;
        let within = both.map(|variant| within(variant, &figure.figure.name));
        let within = within[0].zip(within[1]).map(|(a, b)| (a.0 + b.0, a.1 + b.1));
        let blocks = both.map(blocks_of);
        let of = |name, at: usize| Some(mean_of(both[at], name)? * blocks[at]);
        let [cost_usd, calls, tokens] = EXPENSES.map(|name| Some(of(name, 0)? + of(name, 1)?));
        Some(Self {
            figure: &figure.figure,
            pair,
            parts: VarianceParts::of(found, within),
            expense: Expense { cost_usd, calls, tokens },
            alpha: comparison.settings.alpha / pairs,
            power: comparison.settings.power,
            dataset: dataset.and_then(|questions| u64::try_from(questions).ok()),
        })
    }

    fn effort(&self, difference: f64) -> Option<Effort> {
        let needed = |repeats| self.parts.questions_needed(repeats, difference, self.alpha, self.power);
        let once = self.design(needed(1)?.max(self.least_for(difference)), 1);
        let twice = needed(2).map(|questions| self.design(questions, 2));
        let few = self.dataset.filter(|questions| *questions < once.questions);
        let repeats =
            few.and_then(|questions| self.parts.repeats_needed(questions, difference, self.alpha, self.power));
        let of_dataset = few.zip(repeats).map(|(questions, repeats)| self.design(questions, repeats));
        let (metric, a, b) = (self.figure.clone(), self.pair.a.clone(), self.pair.b.clone());
        let effort = Effort { metric, a, b, difference, once, twice, of_dataset, sentence: String::new() };
        Some(Effort { sentence: self.sentence(&effort, few), ..effort })
    }

    /// What right and wrong answers need at least: a difference of 5 points takes 5 % of the questions to differ, however few did.
    fn least_for(&self, difference: f64) -> u64 {
        let all_one_way = VarianceParts::of(difference - difference * difference, None);
        let needed = || all_one_way.questions_needed(1, difference, self.alpha, self.power);
        self.pair.tests.mcnemar.and_then(|_| needed()).unwrap_or_default()
    }

    fn design(&self, questions: u64, repeats: u64) -> Design {
        let times = |of_one: f64| of_one * float(questions) * float(repeats);
        let Expense { cost_usd, calls, tokens } = self.expense;
        let expense = Expense { cost_usd: cost_usd.map(times), calls: calls.map(times), tokens: tokens.map(times) };
        Design { questions, repeats, expense }
    }

    /// Such as `to see 3 points EM at 80 % power (b − a): 1,850 questions, 41.00 USD; …`.
    fn sentence(&self, effort: &Effort, few: Option<u64>) -> String {
        let Effort { a, b, once, twice, of_dataset, .. } = effort;
        let difference = effort.difference;
        let points = if difference < 0.015 { "point" } else { "points" };
        let (size, label, power) = (percent(difference), self.figure.label(), percent(self.power));
        let mut parts = vec![format!("to see {size} {points} {label} at {power} % power ({b} − {a}): {once}")];
        if let Some(twice) = twice {
            // Equal only where repeats are all that varies.
            let price = if 2 * twice.questions > once.questions { "dearer" } else { "as dear" };
            parts.push(format!("{price}: {twice}"));
        }
        if let Some(few) = few {
            let there = format!("the dataset has {}", thousands(few));
            parts.push(match (of_dataset, twice) {
                (Some(design), _) => format!("{there}, which is enough with {design}"),
                (None, Some(_)) => format!("{there}, which is too few with any number of repeats"),
                (None, None) => there,
            });
        }
        parts.join("; ")
    }
}

impl std::fmt::Display for Design {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&counted(self.questions, "question"))?;
        if self.repeats > 1 {
            write!(f, " with {} repeats", self.repeats)?;
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts")]
        let whole = |count: f64, noun: &str| counted(count.round() as u64, noun);
        let Expense { cost_usd, calls, tokens } = self.expense;
        match (cost_usd, calls, tokens) {
            (Some(usd), ..) => write!(f, ", {usd:.2} USD"),
            (None, Some(calls), Some(tokens)) => {
                write!(f, ", {} and {}", whole(calls, "model call"), whole(tokens, "token"))
            }
            (None, Some(calls), None) => write!(f, ", {}", whole(calls, "model call")),
            _ => Ok(()),
        }
    }
}

/// How repeats of a question vary: the mean of their variance over questions with two or more, and the mean of what it adds to
/// the variance of a question's average.
fn within(variant: &Variant, figure: &str) -> Option<(f64, f64)> {
    let at = variant.figure(figure)?;
    // In the order of ids, as the last digits of a sum depend on the order.
    let mut questions: BTreeMap<&str, BTreeMap<u32, Vec<f64>>> = BTreeMap::new();
    for item in &variant.items {
        questions.entry(&item.id).or_default().entry(item.block).or_default().extend(item.value(at));
    }
    let repeated = questions.values().filter(|blocks| blocks.values().all(|values| values.len() > 1));
    let (mut n, mut variance, mut added) = (0.0, 0.0, 0.0);
    for blocks in repeated {
        n += 1.0;
        for values in blocks.values() {
            let k = float(values.len());
            let mean = values.iter().sum::<f64>() / k;
            let of_it = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (k - 1.0);
            // Of the mean over the blocks.
            let of_it = of_it / float(blocks.len()).powi(2);
            (variance, added) = (variance + of_it, added + of_it / k);
        }
    }
    (n > 0.0).then(|| (variance / n, added / n))
}

/// In how many of the variants that were merged into this one a question is, on average.
fn blocks_of(variant: &Variant) -> f64 {
    let blocks: BTreeSet<(&str, u32)> = variant.items.iter().map(|item| (item.id.as_str(), item.block)).collect();
    let questions: BTreeSet<&str> = blocks.iter().map(|(id, _)| *id).collect();
    float(blocks.len()) / float(questions.len())
}

/// The mean of the rows.
fn mean_of(variant: &Variant, figure: &str) -> Option<f64> {
    let at = variant.figure(figure)?;
    let value = |item: &Item| item.value(at);
    let (sum, n) = variant.items.iter().filter_map(value).fold((0.0, 0.0), |(sum, n), one| (sum + one, n + 1.0));
    (n > 0.0).then(|| sum / n)
}

#[cfg(test)]
mod tests {
    use super::{blocks_of, within};
    use crate::analysis::compare::Item;
    use crate::analysis::compare::tests::variant;

    #[test]
    fn the_variance_of_repeats_is_the_same_to_the_last_bit_each_time() {
        let mut repeated = variant("a", (0..200).map(|i| i % 3 == 0));
        let again = repeated.items.clone();
        repeated.items.extend(again);
        for (i, item) in (1_i32..).zip(&mut repeated.items) {
            item.values[1] = Some(1.0 / f64::from(i));
        }
        let first = within(&repeated, "f1").expect("repeats");
        assert!((0..50).all(|_| within(&repeated, "f1") == Some(first)));
    }

    #[test]
    fn merged_variants_are_no_repeats_and_cost_as_much_as_each() {
        let mut merged = variant("a", (0..20).map(|i| i % 3 == 0));
        let once = merged.items.clone();
        merged.items.extend(once.into_iter().map(|item| Item { block: 1, ..item }));
        assert_eq!((within(&merged, "em"), blocks_of(&merged)), (None, 2.0));
        // Both asked again: the variance of a mean of two is half of each.
        let mut repeated = variant("a", (0..20).map(|_| true));
        let wrong = variant("a", (0..20).map(|_| false)).items;
        repeated.items.extend(wrong);
        let of_one = within(&repeated, "em").expect("repeats");
        let again = repeated.items.clone();
        repeated.items.extend(again.into_iter().map(|item| Item { block: 1, ..item }));
        assert_eq!(within(&repeated, "em"), Some((of_one.0 / 2.0, of_one.1 / 2.0)));
    }
}
