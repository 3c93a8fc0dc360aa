//! Type-I error and coverage of a comparison whose number of questions is fixed before.

use crate::draw::{BETWEEN_MEAN, Draw, Source, f1_values};
use crate::{Effort, Figure, Row, float, simulate};
use wikitrail::compare::statistics::{Decision, Interval, Mean, Moments, Rule, Sums, holm};

pub(crate) const ALPHA: f64 = 0.05;

pub(crate) fn rule(effort: &Effort) -> Rule {
    Rule { level: 0.95, alpha: ALPHA, power: 0.8, pairs: 1, resamples: effort.resamples, seed: 12_345 }
}

/// What `compare` finds about one simulated pair.
pub(crate) struct Found {
    p: f64,
    /// The interval that is printed.
    interval: Interval,
    /// The interval that holds for every distribution; absent for right and wrong answers, whose test does, and for amounts.
    betting: Option<Interval>,
    /// Width of Student's interval.
    student: f64,
}

impl Found {
    /// Whether the paired test finds a difference.
    pub(crate) fn differs(&self) -> bool {
        self.p < ALPHA
    }

    /// Whether `compare` says "beats" rather than "is ahead of".
    pub(crate) fn beats(&self, draw: &Draw) -> bool {
        self.differs() && (draw.is_exact() || self.betting.is_some_and(|interval| !interval.contains(0.0)))
    }
}

pub(crate) fn find(draw: &Draw, seed: u64, effort: &Effort) -> Found {
    let (differences, rule) = (draw.questions(seed), rule(effort));
    let decision = Decision::of(&differences, &rule);
    let mean = Mean::clustered(&differences.values, differences.clusters.as_deref());
    let student = mean.and_then(|mean| mean.t_interval(rule.level));
    Found {
        p: decision.decisive.expect("a test").1,
        interval: decision.interval.expect("an interval").1,
        betting: differences.betting_interval(rule.level, rule.seed).filter(|_| !draw.is_exact()),
        student: student.map_or(0.0, |interval| interval.high - interval.low),
    }
}

const ERROR: Option<(f64, f64)> = Some((0.0, ALPHA));
const COVERED: Option<(f64, f64)> = Some((0.935, 1.0));
const ANY_SHAPE: Option<(f64, f64)> = Some((0.95, 1.0));
const TEN: Option<(usize, usize)> = Some((10, 10));
const MEANS: Option<(f64, f64)> = Some((0.93, 1.0));
/// Most that an interval is wider than Student's, on average.
const WIDTH: f64 = 1.5;
const FEW_AND_MANY: &[usize] = &[6, 8, 10, 15, 20, 30, 60, 200];

fn question(source: Source, truth: f64, n: &[usize]) -> Vec<Draw> {
    n.iter().map(|n| Draw { source, truth, units: *n, sizes: None }).collect()
}

fn cluster(source: Source, sizes: Option<(usize, usize)>, n: &[usize]) -> Vec<Draw> {
    n.iter().map(|n| Draw { source, truth: 0.0, units: *n, sizes }).collect()
}

/// Cases of equal variants; whether their differences are symmetric.
fn equal() -> Vec<(&'static str, Vec<Draw>, bool)> {
    let em = Source::Em { discordant: 0.3 };
    let longer = |lost, on| question(Source::Longer { lost, on }, 0.0, FEW_AND_MANY);
    vec![
        ("EM, 30 % discordant", question(em, 0.0, &[5, 6, 8, 10, 20, 30, 100, 300]), true),
        ("graded, normal", question(Source::Normal, 0.0, &[5, 6, 8, 10, 20, 50, 200]), true),
        ("F1, 40 % equal", question(Source::Answers { equal: 0.4 }, 0.0, FEW_AND_MANY), true),
        ("F1, 70 % equal", question(Source::Answers { equal: 0.7 }, 0.0, FEW_AND_MANY), true),
        ("amounts, lognormal", question(Source::Lognormal, 0.0, &[6, 10, 20, 50]), true),
        ("graded, clusters of 10", cluster(Source::Normal, TEN, &[4, 6, 8, 12, 30]), true),
        ("graded, clusters of 2 to 30", cluster(Source::Normal, Some((2, 30)), &[4, 6, 12, 30]), true),
        ("EM, clusters of 10", cluster(em, TEN, &[4, 6, 12, 30]), true),
        ("**skewed** F1: −0.2 on 30 %, 1 on 6 %", longer(0.2, 0.3), false),
        ("**skewed** F1: −0.1 on 50 %, 1 on 5 %", longer(0.1, 0.5), false),
        ("**skewed** amounts, exponential", question(Source::Exponential, 0.0, &[6, 10, 20, 50, 100, 500]), false),
        ("**skewed** cost, lognormal", question(Source::Cost { deviation: 1.5 }, 0.0, FEW_AND_MANY), false),
        ("**skewed** tokens, 5 % at the step limit", question(Source::StepLimit, 0.0, FEW_AND_MANY), false),
    ]
}

/// Cases of variants that differ; their intervals have to hold the difference as well.
fn different() -> Vec<(&'static str, Vec<Draw>)> {
    let em = |truth: f64, n: &[usize]| question(Source::Em { discordant: 0.4 }, truth, n);
    let f1 = |equal, truth| question(Source::Answers { equal }, truth, FEW_AND_MANY);
    vec![
        ("EM, 40 % discordant, 20 points", em(0.2, &[5, 6, 8, 10, 20, 30, 100])),
        ("EM, 40 % discordant, 36 points", em(0.36, &[6, 10, 20, 30, 100])),
        ("graded, one standard deviation", question(Source::Normal, 1.0, &[5, 6, 8, 10, 20, 50])),
        ("F1, 40 % equal, 3 points", f1(0.4, 0.03)),
        ("F1, 40 % equal, 6 points", f1(0.4, 0.06)),
        ("F1, 70 % equal, 3 points", f1(0.7, 0.03)),
        ("F1, 70 % equal, 6 points", f1(0.7, 0.06)),
    ]
}

fn name(case: &str, draw: &Draw) -> String {
    let units = if draw.sizes.is_some() { "clusters" } else { "questions" };
    format!("{case}, {} {units}", draw.units)
}

/// Equal variants: how often they are said to differ, and coverage of a difference of 0.
pub(crate) fn error(effort: &Effort) -> Vec<Row> {
    let mut rows = Vec::new();
    for (case, draws, symmetric) in equal() {
        for draw in draws {
            let found = simulate(effort, |seed| find(&draw, seed, effort));
            let differs: Vec<bool> = found.iter().map(Found::differs).collect();
            let beats: Vec<bool> = found.iter().map(|found| found.beats(&draw)).collect();
            let mut figures = vec![
                share("distinguishable", &differs, effort, ERROR.filter(|_| symmetric)),
                share("beats", &beats, effort, ERROR),
            ];
            figures.extend(held(&found, &draw, symmetric, effort));
            rows.push(Row { case: name(case, &draw), figures });
        }
    }
    for pairs in [3, 10] {
        let draw = Draw { source: Source::Em { discordant: 0.3 }, truth: 0.0, units: 100, sizes: None };
        let family = |seed: u64| {
            let of_pairs: Vec<f64> = (0..pairs).map(|at| find(&draw, seed * pairs + at, effort).p).collect();
            holm(&of_pairs).iter().any(|p| *p < ALPHA)
        };
        let case = format!("EM, 30 % discordant, 100 questions, any of {pairs} pairs after Holm");
        let differs = simulate(effort, family);
        let mut figures = Vec::from(["distinguishable", "beats"].map(|column| share(column, &differs, effort, ERROR)));
        figures.extend(["covered", "any shape", "width", "unbounded"].map(Figure::none));
        rows.push(Row { case, figures });
    }
    rows
}

/// Variants that differ: coverage of their difference.
pub(crate) fn coverage(effort: &Effort) -> Vec<Row> {
    let row = |case: &str, draw: &Draw| {
        let found = simulate(effort, |seed| find(draw, seed, effort));
        Row { case: name(case, draw), figures: held(&found, draw, true, effort).into() }
    };
    different().iter().flat_map(|(case, draws)| draws.iter().map(|draw| row(case, draw))).collect()
}

/// How often each word is said of variants that differ.
pub(crate) fn words(effort: &Effort) -> Vec<Row> {
    let mut rows = Vec::new();
    for (equal, truth) in [(0.4, 0.05), (0.4, 0.1), (0.4, 0.2), (0.7, 0.05), (0.7, 0.1), (0.7, 0.2)] {
        for draw in question(Source::Answers { equal }, truth, &[60, 100, 200, 500]) {
            let found = simulate(effort, |seed| find(&draw, seed, effort));
            let beats: Vec<bool> = found.iter().map(|found| found.beats(&draw)).collect();
            let ahead: Vec<bool> = found.iter().zip(&beats).map(|(found, beats)| found.differs() && !beats).collect();
            let none: Vec<bool> = found.iter().map(|found| !found.differs()).collect();
            let case = format!("F1, {:.0} % equal, {:.0} points", 100.0 * equal, 100.0 * truth);
            let figures = vec![
                share("beats", &beats, effort, None),
                share("is ahead of", &ahead, effort, None),
                share("not distinguishable", &none, effort, None),
            ];
            rows.push(Row { case: name(&case, &draw), figures });
        }
    }
    rows
}

/// Means of one variant's F1: coverage and width of their interval.
pub(crate) fn means(effort: &Effort) -> Vec<Row> {
    let mut rows = Vec::new();
    for (case, zeros, ones) in [
        ("80 % zeros", 0.8, 0.0),
        ("80 % zeros, 10 % ones", 0.8, 0.1),
        ("90 % ones", 0.0, 0.9),
        ("90 % ones, 5 % zeros", 0.05, 0.9),
        ("40 % zeros, 35 % ones", 0.4, 0.35),
    ] {
        let truth = ones + (1.0 - ones - zeros) * BETWEEN_MEAN;
        for n in [5, 6, 8, 10, 20, 30, 60, 200] {
            let found = simulate(effort, |seed| {
                let values = f1_values(seed, zeros, ones, n);
                let padded =
                    Moments::of(&Sums::of(&values, None)).padded_interval(Interval::SHARES, 0.95).expect("an interval");
                let student = Mean::of(&values).and_then(|mean| mean.t_interval(0.95)).expect("an interval");
                (padded, Interval { low: student.low.max(0.0), high: student.high.min(1.0) })
            });
            let width = |of: fn(&(Interval, Interval)) -> Interval| {
                let widths = found.iter().map(|found| of(found).high - of(found).low);
                widths.sum::<f64>() / float(effort.simulations)
            };
            let held = |of: fn(&(Interval, Interval)) -> Interval| {
                found.iter().map(|found| of(found).contains(truth)).collect::<Vec<bool>>()
            };
            let figures = vec![
                share("covered", &held(|found| found.0), effort, MEANS),
                Figure::text("width", format!("{:.3}", width(|found| found.0))),
                share("Student's covers", &held(|found| found.1), effort, None),
                Figure::text("its width", format!("{:.3}", width(|found| found.1))),
            ];
            rows.push(Row { case: format!("F1, {case}, {n} questions"), figures });
        }
    }
    rows
}

/// How often the intervals hold the true difference, how wide they are beside Student's, and how often they rule nothing out.
fn held(found: &[Found], draw: &Draw, symmetric: bool, effort: &Effort) -> [Figure; 4] {
    let covered: Vec<bool> = found.iter().map(|found| found.interval.contains(draw.truth)).collect();
    let any_shape: Option<Vec<bool>> = found.iter().map(|found| Some(found.betting?.contains(draw.truth))).collect();
    let unbounded: Vec<bool> = found.iter().map(|found| found.interval.low.is_infinite()).collect();
    let bounded: Vec<&Found> = found.iter().filter(|found| found.interval.low.is_finite()).collect();
    let width = |of: fn(&Found) -> f64| bounded.iter().map(|found| of(found)).sum::<f64>();
    let ratio = width(|found| found.interval.high - found.interval.low) / width(|found| found.student);
    // Of right and wrong answers that hardly ever differ, Student's interval often has no width.
    let limit = (draw.units >= 60 && !draw.is_exact()).then_some(WIDTH);
    [
        share("covered", &covered, effort, COVERED.filter(|_| symmetric)),
        any_shape.map_or_else(|| Figure::none("any shape"), |held| share("any shape", &held, effort, ANY_SHAPE)),
        if bounded.is_empty() || draw.is_exact() {
            Figure::none("width")
        } else {
            Figure::at_most("width", ratio, limit)
        },
        share("unbounded", &unbounded, effort, None),
    ]
}

pub(crate) fn share(column: &'static str, hits: &[bool], effort: &Effort, band: Option<(f64, f64)>) -> Figure {
    Figure::share(column, hits.iter().map(|hit| u64::from(*hit)).sum(), effort, band)
}
