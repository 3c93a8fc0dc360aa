//! Agreement of two people, or of a person and a rule, on classes of the same items.

use super::Interval;
use super::distributions::{central_t, count, float};
use serde::Serialize;

/// Questions that are added to those judged before an interval is computed: both agree on half of them.
const ADDED: f64 = 4.0;

/// Questions below which there is no interval: it would hold nearly every value.
const FEWEST: usize = 5;

/// How often one of two named each class while the other named each: `counts[a][b]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Confusion(Vec<Vec<u64>>);

/// A coefficient of agreement with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Coefficient {
    /// From −1 to 1.
    pub value: f64,
    /// Absent with fewer than five clusters, and for κ where one of the two named one class only, as κ is then 0 whatever
    /// they say.
    pub interval: Option<Interval>,
}

/// How two judges agree.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Agreement {
    /// How many pairs there are.
    pub n: u64,
    /// How many of them agree.
    pub agreeing: u64,
    /// How often each pair of classes was named.
    pub confusion: Confusion,
    /// Cohen's κ; absent where both named one class only.
    pub kappa: Option<Coefficient>,
    /// Gwet's AC1; absent where there is one class only.
    pub ac1: Option<Coefficient>,
}

/// Which agreement a coefficient expects by chance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Chance {
    Kappa,
    Ac1,
}

/// Shares of the cells of a table, with the sums of its rows and columns.
struct Shares {
    cells: Vec<Vec<f64>>,
    rows: Vec<f64>,
    columns: Vec<f64>,
}

impl Confusion {
    /// The table of pairs of classes, which are numbered below `classes`.
    pub fn of(pairs: impl IntoIterator<Item = (usize, usize)>, classes: usize) -> Self {
        let mut table = Self(vec![vec![0; classes]; classes]);
        for (a, b) in pairs {
            table.0[a][b] += 1;
        }
        table
    }

    pub fn get(&self, a: usize, b: usize) -> u64 {
        self.0[a][b]
    }

    pub fn classes(&self) -> usize {
        self.0.len()
    }

    pub fn total(&self) -> u64 {
        self.0.iter().flatten().sum()
    }

    pub fn agreeing(&self) -> u64 {
        (0..self.classes()).map(|class| self.0[class][class]).sum()
    }

    pub fn first(&self, class: usize) -> u64 {
        self.0[class].iter().sum()
    }

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
        self.coefficient(Chance::Kappa)
    }

    /// Gwet's AC1 (2008): agreement beyond that of the items that are hard to class, whose share is estimated from how
    /// evenly classes are used.
    pub fn ac1(&self) -> Option<f64> {
        if self.classes() < 2 { None } else { self.coefficient(Chance::Ac1) }
    }

    fn coefficient(&self, chance: Chance) -> Option<f64> {
        let observed = share(self.agreeing(), self.total())?;
        let counts: Vec<Vec<f64>> = self.0.iter().map(|row| row.iter().map(|n| float(*n)).collect()).collect();
        beyond(observed, Shares::of(&counts).expected(chance))
    }

    /// Whether each of the two named several classes.
    fn both_vary(&self) -> bool {
        let several = |named: fn(&Self, usize) -> u64| {
            (0..self.classes()).filter(|class| named(self, *class) > 0).nth(1).is_some()
        };
        several(Self::first) && several(Self::second)
    }
}

impl Shares {
    fn of(counts: &[Vec<f64>]) -> Self {
        let n: f64 = counts.iter().flatten().sum();
        let cells: Vec<Vec<f64>> = counts.iter().map(|row| row.iter().map(|count| count / n).collect()).collect();
        let rows = cells.iter().map(|row| row.iter().sum()).collect();
        let columns = (0..cells.len()).map(|class| cells.iter().map(|row| row[class]).sum()).collect();
        Self { cells, rows, columns }
    }

    fn agreeing(&self) -> f64 {
        self.cells.iter().enumerate().map(|(class, row)| row[class]).sum()
    }

    /// How much of all that both named was this class.
    fn used(&self, class: usize) -> f64 {
        f64::midpoint(self.rows[class], self.columns[class])
    }

    fn expected(&self, chance: Chance) -> f64 {
        let classes = 0..self.cells.len();
        match chance {
            Chance::Kappa => classes.map(|class| self.rows[class] * self.columns[class]).sum(),
            Chance::Ac1 => {
                classes.map(|class| self.used(class) * (1.0 - self.used(class))).sum::<f64>() / self.others()
            }
        }
    }

    fn others(&self) -> f64 {
        float(count(self.cells.len())) - 1.0
    }

    /// The derivative of the agreement expected by chance towards one more item of a cell.
    fn expected_moves(&self, chance: Chance, a: usize, b: usize) -> f64 {
        match chance {
            Chance::Kappa => self.columns[a] + self.rows[b] - 2.0 * self.expected(chance),
            Chance::Ac1 => {
                let slope = |class| 1.0 - 2.0 * self.used(class);
                let mean: f64 = (0..self.cells.len()).map(|class| self.used(class) * slope(class)).sum();
                (f64::midpoint(slope(a), slope(b)) - mean) / self.others()
            }
        }
    }

    /// The derivative of the coefficient towards one more item of each cell.
    fn moves(&self, chance: Chance) -> Vec<Vec<f64>> {
        let (observed, left) = (self.agreeing(), 1.0 - self.expected(chance));
        let of = |a: usize, b: usize| {
            let agreeing = f64::from(u8::from(a == b)) - observed;
            agreeing / left - self.expected_moves(chance, a, b) * (1.0 - observed) / (left * left)
        };
        let classes = self.cells.len();
        (0..classes).map(|a| (0..classes).map(|b| of(a, b)).collect()).collect()
    }
}

impl Agreement {
    /// Agreement on pairs of classes, each with the cluster that it belongs to: items of one cluster, such as the episodes
    /// of one question, are not independent. Coefficients are of the classes that either named, as AC1 depends on how many
    /// there are.
    pub fn of(pairs: &[(usize, usize)], clusters: &[usize], classes: usize, level: f64) -> Self {
        let confusion = Confusion::of(pairs.iter().copied(), classes);
        let used: Vec<usize> =
            (0..classes).filter(|class| confusion.first(*class) + confusion.second(*class) > 0).collect();
        let number = |class: usize| used.iter().position(|known| *known == class).unwrap_or_default();
        let named: Vec<(usize, usize)> = pairs.iter().map(|(a, b)| (number(*a), number(*b))).collect();
        let (table, members) = (Confusion::of(named.iter().copied(), used.len()), members(&named, clusters));
        let coefficient =
            |chance, value| Coefficient { value, interval: interval(&members, used.len(), chance, value, level) };
        let kappa = table.kappa().map(|value| coefficient(Chance::Kappa, value));
        Self {
            n: confusion.total(),
            agreeing: confusion.agreeing(),
            kappa: kappa
                .map(|kappa| if confusion.both_vary() { kappa } else { Coefficient { interval: None, ..kappa } }),
            ac1: table.ac1().map(|value| coefficient(Chance::Ac1, value)),
            confusion,
        }
    }

    /// The share of items on which both agree; absent without items.
    pub fn share(&self) -> Option<f64> {
        share(self.agreeing, self.n)
    }
}

fn members(pairs: &[(usize, usize)], clusters: &[usize]) -> Vec<Vec<(usize, usize)>> {
    let mut members: Vec<Vec<(usize, usize)>> = Vec::new();
    for (pair, cluster) in pairs.iter().zip(clusters) {
        members.resize_with(members.len().max(cluster + 1), Vec::new);
        members[*cluster].push(*pair);
    }
    members.retain(|members| !members.is_empty());
    members
}

/// Student's t interval of a coefficient by the delta method (Fleiss, Cohen, Everitt 1969; Gwet 2008), over clusters.
///
/// First [`ADDED`] clusters of mean size are added, half of them spread over the cells in which both agree and half over the
/// others, as Agresti and Coull (1998) do for a share: few items without a disagreement do not show that there is none.
fn interval(
    members: &[Vec<(usize, usize)>],
    classes: usize,
    chance: Chance,
    value: f64,
    level: f64,
) -> Option<Interval> {
    if members.len() < FEWEST || classes < 2 {
        return None;
    }
    let (n, clusters, q) =
        (float(count(members.iter().map(Vec::len).sum())), float(count(members.len())), float(count(classes)));
    let size = n / clusters;
    let added = |a, b| ADDED * size / (2.0 * q) / if a == b { 1.0 } else { q - 1.0 };
    let mut counts: Vec<Vec<f64>> = (0..classes).map(|a| (0..classes).map(|b| added(a, b)).collect()).collect();
    members.iter().flatten().for_each(|(a, b)| counts[*a][*b] += 1.0);
    let shares = Shares::of(&counts);
    let moves = shares.moves(chance);
    let of_cluster = |pairs: &Vec<(usize, usize)>| pairs.iter().map(|(a, b)| moves[*a][*b]).sum::<f64>().powi(2);
    let of_clusters: f64 = members.iter().map(of_cluster).sum();
    let cells = (0..classes).flat_map(|a| (0..classes).map(move |b| (a, b)));
    let of_added: f64 = cells.map(|(a, b)| added(a, b) * size * moves[a][b].powi(2)).sum();
    let se = (of_clusters * clusters / (clusters - 1.0) + of_added).sqrt() / (n + ADDED * size);
    let (centre, half) =
        (beyond(shares.agreeing(), shares.expected(chance))?, central_t(level, count(members.len()) - 1)? * se);
    Some(Interval { low: (centre - half).max(-1.0).min(value), high: (centre + half).min(1.0).max(value) })
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
    use super::{Agreement, Chance, Confusion, Shares};
    use crate::base::stats::Interval;
    use crate::base::stats::rng::SplitMix64;

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
        let all = Agreement::of(&[], &[], 2, 0.95);
        assert_eq!((all.n, all.share(), all.kappa, all.ac1), (0, None, None, None));
    }

    /// Each pair is a cluster of its own.
    fn alone(table: &[&[usize]]) -> Agreement {
        let all = pairs(table);
        Agreement::of(&all, &(0..all.len()).collect::<Vec<_>>(), table.len(), 0.95)
    }

    /// The ends are those of the formulas of docs/annotation.md in numpy.
    #[test]
    fn intervals_are_those_of_the_formula() {
        let of = alone(&[&[20, 5], &[10, 15]]);
        near(of.kappa.and_then(|kappa| kappa.interval), [0.118_467_145_448_379_77, 0.622_273_595_292_360_7]);
        near(of.ac1.and_then(|ac1| ac1.interval), [0.118_253_540_379_313_35, 0.633_191_546_325_888_6]);
        let of = alone(&[&[15, 3, 3], &[0, 7, 1], &[0, 0, 11]]);
        near(of.kappa.and_then(|kappa| kappa.interval), [0.500_675_367_547_555_9, 0.872_742_353_971_431_4]);
        near(of.ac1.and_then(|ac1| ac1.interval), [0.513_495_329_363_661_5, 0.882_385_677_501_327]);
        let all = pairs(&[&[20, 5], &[10, 15]]);
        let uneven: Vec<usize> = (0..all.len()).map(|at| at / 3).collect();
        let of = Agreement::of(&all, &uneven, 2, 0.95);
        near(of.kappa.and_then(|kappa| kappa.interval), [-0.096_498_166_630_291_1, 0.744_117_214_249_333_9]);
        near(of.ac1.and_then(|ac1| ac1.interval), [-0.101_965_540_463_743_07, 0.758_389_429_265_023]);
    }

    fn near(found: Option<Interval>, [low, high]: [f64; 2]) {
        let found = found.expect("an interval");
        assert!(
            (found.low - low).abs() < 1e-12 && (found.high - high).abs() < 1e-12,
            "{found:?} is not [{low}, {high}]"
        );
    }

    #[test]
    fn derivatives_are_those_of_small_steps() {
        let counts = |more: f64, cell: (usize, usize)| {
            let mut counts = vec![vec![15.0, 3.0, 3.0], vec![2.0, 7.0, 1.0], vec![1.0, 4.0, 11.0]];
            counts[cell.0][cell.1] += more;
            Shares::of(&counts)
        };
        let value = |shares: &Shares, chance| {
            let expected = shares.expected(chance);
            (shares.agreeing() - expected) / (1.0 - expected)
        };
        for chance in [Chance::Kappa, Chance::Ac1] {
            let moves = counts(0.0, (0, 0)).moves(chance);
            for (a, b) in [(0, 0), (0, 2), (1, 1), (2, 1), (1, 0)] {
                let step = 1e-4;
                let slope =
                    (value(&counts(step, (a, b)), chance) - value(&counts(-step, (a, b)), chance)) / (2.0 * step);
                assert!((moves[a][b] - 47.0 * slope).abs() < 1e-6, "{a} {b}: {} {slope}", moves[a][b]);
            }
        }
    }

    #[test]
    fn classes_that_neither_named_change_nothing() {
        let two = alone(&[&[20, 5], &[10, 15]]);
        let three = alone(&[&[20, 0, 5], &[0, 0, 0], &[10, 0, 15]]);
        assert_eq!((two.kappa, two.ac1), (three.kappa, three.ac1));
        assert_eq!(three.confusion.classes(), 3);
    }

    #[test]
    fn an_interval_has_a_width_or_there_is_none() {
        // Ten of ten is not certainty.
        let of = alone(&[&[5, 0], &[0, 5]]);
        for coefficient in [of.kappa, of.ac1].map(|coefficient| coefficient.expect("a value")) {
            let Interval { low, high } = coefficient.interval.expect("an interval");
            assert!(coefficient.value > 0.999 && high > 0.999 && (0.2..0.7).contains(&low), "{coefficient:?}");
        }
        // Where one side names one class only, κ is 0 by definition.
        let of = alone(&[&[30, 10], &[0, 0]]);
        assert!(of.kappa.is_some_and(|kappa| kappa.value.abs() < 1e-12 && kappa.interval.is_none()), "{of:?}");
        assert!(of.ac1.is_some_and(|ac1| ac1.interval.is_some()), "{of:?}");
        let four = alone(&[&[2, 0], &[1, 1]]);
        assert!(four.kappa.is_some_and(|kappa| kappa.interval.is_none()), "{four:?}");
        // Ten questions whose five episodes come out alike hold less than fifty questions.
        let all = pairs(&[&[20, 5], &[10, 15]]);
        let width = |of: Agreement| of.kappa.and_then(|kappa| kappa.interval).map(|ends| ends.high - ends.low);
        let together: Vec<usize> = (0..all.len()).map(|at| at / 5).collect();
        assert!(width(Agreement::of(&all, &together, 2, 0.95)) > width(alone(&[&[20, 5], &[10, 15]])));
    }

    /// `simulate` has more cases; this is the worst one of the percentile bootstrap that was here.
    #[test]
    fn few_items_and_a_rare_class_are_covered() {
        let mut rng = SplitMix64::new(3);
        let (mut covered, mut given) = ([0_u32; 2], [0_u32; 2]);
        let truth = [1.0 - 0.08 / (1.0 - 0.82), 1.0 - 0.08 / (1.0 - 0.18)];
        for _ in 0..2_000 {
            let cell = |draw| match draw {
                0..86 => (0, 0),
                86..90 => (0, 1),
                90..94 => (1, 0),
                _ => (1, 1),
            };
            let all: Vec<(usize, usize)> = (0..10).map(|_| cell(rng.below(100))).collect();
            let of = Agreement::of(&all, &(0..10).collect::<Vec<_>>(), 2, 0.95);
            for (at, coefficient) in [of.kappa, of.ac1].into_iter().enumerate() {
                let Some(interval) = coefficient.and_then(|coefficient| coefficient.interval) else { continue };
                given[at] += 1;
                covered[at] += u32::from(interval.contains(truth[at]));
            }
        }
        assert!(given[0] > 700 && given[1] > 1_400, "{given:?}");
        for (covered, given) in covered.iter().zip(given) {
            assert!(f64::from(*covered) >= 0.95 * f64::from(given), "{covered} of {given}");
        }
    }
}
