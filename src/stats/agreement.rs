//! Agreement of two people, or of a person and a rule, on classes of the same items.

use super::Interval;
use super::bootstrap::quantile;
use super::quantile::{count, float};
use super::rng::SplitMix64;
use serde::Serialize;

/// How often one of two named each class while the other named each: `counts[a][b]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Confusion(Vec<Vec<u64>>);

/// A coefficient of agreement with its bootstrap interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Coefficient {
    pub value: f64,
    /// Percentile interval over resampled clusters; absent where no resample has a value.
    pub interval: Option<Interval>,
    /// Resamples that have a value.
    pub resamples: usize,
}

/// How two agree.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Agreement {
    pub n: u64,
    pub agreeing: u64,
    pub confusion: Confusion,
    /// Cohen's κ; absent where both named one class only.
    pub kappa: Option<Coefficient>,
    /// Gwet's AC1; absent where there is one class only.
    pub ac1: Option<Coefficient>,
}

/// How intervals are drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Resampling {
    pub level: f64,
    pub resamples: usize,
    pub seed: u64,
}

impl Confusion {
    /// The table of pairs of classes, which are numbered below `classes`.
    pub fn of(pairs: impl IntoIterator<Item = (usize, usize)>, classes: usize) -> Self {
        let mut table = Self(vec![vec![0; classes]; classes]);
        for (a, b) in pairs {
            table.add(a, b, 1);
        }
        table
    }

    fn add(&mut self, a: usize, b: usize, times: u64) {
        self.0[a][b] += times;
    }

    pub fn get(&self, a: usize, b: usize) -> u64 {
        self.0[a][b]
    }

    pub fn classes(&self) -> usize {
        self.0.len()
    }

    /// All pairs.
    pub fn total(&self) -> u64 {
        self.0.iter().flatten().sum()
    }

    /// Pairs of the same class.
    pub fn agreeing(&self) -> u64 {
        (0..self.classes()).map(|class| self.0[class][class]).sum()
    }

    /// How often the first named a class.
    pub fn first(&self, class: usize) -> u64 {
        self.0[class].iter().sum()
    }

    /// How often the second named a class.
    pub fn second(&self, class: usize) -> u64 {
        self.0.iter().map(|row| row[class]).sum()
    }

    /// Of what the first put into a class, the share that the second did too; absent where it put nothing there.
    pub fn precision(&self, class: usize) -> Option<f64> {
        share(self.0[class][class], self.first(class))
    }

    /// Of what the second put into a class, the share that the first did too; absent where it put nothing there.
    pub fn recall(&self, class: usize) -> Option<f64> {
        share(self.0[class][class], self.second(class))
    }

    /// Cohen's κ (1960): agreement beyond that of two who draw from their own shares of classes.
    pub fn kappa(&self) -> Option<f64> {
        let n = float(self.total());
        let chance = (0..self.classes()).map(|class| float(self.first(class)) * float(self.second(class))).sum::<f64>();
        beyond(share(self.agreeing(), self.total())?, chance / (n * n))
    }

    /// Gwet's AC1 (2008): agreement beyond that of the items that are hard to class, whose share is estimated from how
    /// evenly classes are used.
    pub fn ac1(&self) -> Option<f64> {
        let (n, classes) = (float(self.total()), self.classes());
        if classes < 2 {
            return None;
        }
        let used = |class| float(self.first(class) + self.second(class)) / (2.0 * n);
        let uneven = (0..classes).map(|class| used(class) * (1.0 - used(class))).sum::<f64>();
        beyond(share(self.agreeing(), self.total())?, uneven / float(count(classes - 1)))
    }
}

impl Agreement {
    /// Agreement on pairs of classes, each with the cluster that it belongs to: items of one cluster, such as the episodes
    /// of one question, are not independent. Classes that neither named are left out by the caller, as AC1 depends on how
    /// many there are.
    pub fn of(pairs: &[(usize, usize)], clusters: &[usize], classes: usize, how: Resampling) -> Self {
        let confusion = Confusion::of(pairs.iter().copied(), classes);
        let (mut kappas, mut ac1s) = (Vec::new(), Vec::new());
        for table in resampled(pairs, clusters, classes, how) {
            kappas.extend(table.kappa());
            ac1s.extend(table.ac1());
        }
        Self {
            n: confusion.total(),
            agreeing: confusion.agreeing(),
            kappa: confusion.kappa().map(|value| coefficient(value, kappas, how.level)),
            ac1: confusion.ac1().map(|value| coefficient(value, ac1s, how.level)),
            confusion,
        }
    }

    /// The share of items on which both agree; absent without items.
    pub fn share(&self) -> Option<f64> {
        share(self.agreeing, self.n)
    }
}

/// Tables of as many clusters as there are, drawn with replacement.
fn resampled(
    pairs: &[(usize, usize)],
    clusters: &[usize],
    classes: usize,
    how: Resampling,
) -> impl Iterator<Item = Confusion> {
    let mut members: Vec<Vec<(usize, usize)>> = Vec::new();
    for (pair, cluster) in pairs.iter().zip(clusters) {
        members.resize_with(members.len().max(cluster + 1), Vec::new);
        members[*cluster].push(*pair);
    }
    members.retain(|members| !members.is_empty());
    let mut rng = SplitMix64::new(how.seed);
    let resamples = if members.is_empty() { 0 } else { how.resamples };
    (0..resamples).map(move |_| {
        let all = count(members.len());
        let drawn: Vec<usize> = (0..all).map(|_| usize::try_from(rng.below(all)).unwrap_or_default()).collect();
        Confusion::of(drawn.into_iter().flat_map(|at| members[at].iter().copied()), classes)
    })
}

fn coefficient(value: f64, mut drawn: Vec<f64>, level: f64) -> Coefficient {
    drawn.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - level) / 2.0;
    let ends = quantile(&drawn, tail).zip(quantile(&drawn, 1.0 - tail));
    Coefficient { value, interval: ends.map(|(low, high)| Interval { low, high }), resamples: drawn.len() }
}

/// The part of the way from `chance` to 1 at which the observed agreement is.
fn beyond(observed: f64, chance: f64) -> Option<f64> {
    let left = 1.0 - chance;
    (left > f64::EPSILON).then(|| (observed - chance) / left)
}

fn share(part: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| float(part) / float(of))
}

#[cfg(test)]
mod tests {
    use super::{Agreement, Confusion, Resampling};
    use crate::stats::Interval;

    const HOW: Resampling = Resampling { level: 0.95, resamples: 2_000, seed: 7 };

    /// The pairs of a table of counts.
    fn pairs(table: &[&[usize]]) -> Vec<(usize, usize)> {
        let rows = table.iter().enumerate();
        rows.flat_map(|(a, row)| row.iter().enumerate().flat_map(move |(b, n)| vec![(a, b); *n])).collect()
    }

    fn close(value: Option<f64>, known: f64) {
        let value = value.expect("it has a value");
        assert!((value - known).abs() < 1e-12, "{value} is not {known}");
    }

    #[test]
    fn coefficients_are_those_computed_by_hand() {
        // 20 + 15 of 50 agree; shares 25/25 and 30/20: chance (25·30 + 25·20) / 2500 = 0.5.
        let table = Confusion::of(pairs(&[&[20, 5], &[10, 15]]), 2);
        assert_eq!((table.total(), table.agreeing(), table.first(0), table.second(0)), (50, 35, 25, 30));
        close(table.kappa(), (0.7 - 0.5) / 0.5);
        // Used: 55/100 and 45/100, so chance is 2 · 0.55 · 0.45 = 0.495.
        close(table.ac1(), (0.7 - 0.495) / 0.505);
        close(table.precision(0), 20.0 / 25.0);
        close(table.recall(0), 20.0 / 30.0);
        // The paradox that AC1 is for: nearly all agree on one class, and κ is below 0.
        let table = Confusion::of(pairs(&[&[118, 5], &[2, 0]]), 2);
        assert!(table.kappa().is_some_and(|kappa| kappa < 0.0));
        assert!(table.ac1().is_some_and(|ac1| ac1 > 0.93));
    }

    /// κ is scikit-learn's `cohen_kappa_score` (1.9), AC1 irrCAC's `CAC.gwet` (0.4).
    #[test]
    fn coefficients_are_those_of_other_programs() {
        let tables: [(&[&[usize]], f64, f64); 3] = [
            (&[&[15, 3, 3], &[0, 7, 1], &[0, 0, 11]], 0.730_769_230_769_230_8, 0.742_410_303_587_856),
            (
                &[
                    &[12, 1, 2, 0, 2, 1, 1, 0],
                    &[2, 4, 1, 0, 0, 1, 1, 0],
                    &[0, 1, 5, 0, 0, 1, 0, 0],
                    &[0, 2, 0, 4, 0, 1, 0, 0],
                    &[1, 0, 0, 1, 2, 0, 0, 1],
                    &[0, 0, 0, 0, 0, 2, 0, 0],
                    &[0, 0, 2, 0, 0, 0, 2, 1],
                    &[1, 0, 1, 0, 0, 0, 0, 4],
                ],
                0.503_968_253_968_254,
                0.526_771_227_690_644,
            ),
            (
                &[&[16, 10, 11, 5, 6], &[2, 11, 1, 4, 2], &[1, 3, 10, 1, 1], &[4, 4, 3, 7, 4], &[1, 2, 2, 3, 6]],
                0.270_199_826_238_053_94,
                0.274_243_193_329_949,
            ),
        ];
        for (table, kappa, ac1) in tables {
            let table = Confusion::of(pairs(table), table.len());
            close(table.kappa(), kappa);
            close(table.ac1(), ac1);
        }
    }

    #[test]
    fn what_has_no_value_has_none() {
        let nothing = Confusion::of([], 3);
        assert_eq!((nothing.kappa(), nothing.ac1(), nothing.precision(0), nothing.recall(0)), (None, None, None, None));
        let one = Confusion::of(pairs(&[&[4]]), 1);
        assert_eq!((one.kappa(), one.ac1(), one.precision(0)), (None, None, Some(1.0)));
        let all = Agreement::of(&[], &[], 2, HOW);
        assert_eq!((all.n, all.share(), all.kappa, all.ac1), (0, None, None, None));
    }

    #[test]
    fn intervals_are_seeded_and_drawn_over_clusters() {
        let all = pairs(&[&[20, 5], &[10, 15]]);
        let alone: Vec<usize> = (0..all.len()).collect();
        let drawn = |clusters: &[usize], seed| {
            let of = Agreement::of(&all, clusters, 2, Resampling { seed, ..HOW });
            of.kappa.and_then(|kappa| kappa.interval).expect("an interval")
        };
        let Interval { low, high } = drawn(&alone, 7);
        assert!((0.10..0.20).contains(&low) && (0.58..0.68).contains(&high), "{low} {high}");
        assert_eq!(drawn(&alone, 7), Interval { low, high });
        assert_ne!(drawn(&alone, 8), Interval { low, high });
        // Ten questions whose five episodes come out alike hold less than fifty questions.
        let together: Vec<usize> = (0..all.len()).map(|at| at / 5).collect();
        let wide = drawn(&together, 7);
        assert!(wide.high - wide.low > high - low, "{wide:?}");
    }
}
