//! Type-I error and coverage of a comparison whose number of questions is fixed before.

use crate::draw::{Draw, Source};
use crate::{Effort, Figure, Row, simulate};
use wikitrail::stats::{Decision, Interval, Rule, holm};

pub(crate) const ALPHA: f64 = 0.05;

pub(crate) fn rule(effort: &Effort) -> Rule {
    Rule { level: 0.95, alpha: ALPHA, power: 0.8, pairs: 1, resamples: effort.resamples, seed: 12_345 }
}

/// The decision of `compare` about one simulated pair.
pub(crate) fn decide(draw: &Draw, seed: u64, effort: &Effort) -> Decision {
    let drawn = draw.questions(seed);
    Decision::of(&drawn.differences, drawn.clusters.as_deref(), draw.binary(), &rule(effort))
}

const ERROR: Option<(f64, f64)> = Some((0.0, ALPHA));
const COVERED: Option<(f64, f64)> = Some((0.935, 1.0));
const TEN: Option<(usize, usize)> = Some((10, 10));

fn question(source: Source, truth: f64, n: &[usize]) -> Vec<Draw> {
    n.iter().map(|n| Draw { source, truth, units: *n, sizes: None }).collect()
}

fn cluster(source: Source, sizes: Option<(usize, usize)>, n: &[usize]) -> Vec<Draw> {
    n.iter().map(|n| Draw { source, truth: 0.0, units: *n, sizes }).collect()
}

/// Cases of equal variants; whether their differences are symmetric.
fn equal() -> Vec<(&'static str, Vec<Draw>, bool)> {
    let em = Source::Em { discordant: 0.3 };
    vec![
        ("EM, 30 % discordant", question(em, 0.0, &[5, 6, 8, 10, 20, 30, 100, 300]), true),
        ("graded, normal", question(Source::Normal, 0.0, &[5, 6, 8, 10, 20, 50, 200]), true),
        ("F1, 40 % equal", question(Source::F1 { equal: 0.4 }, 0.0, &[5, 6, 8, 10, 20, 50, 200]), true),
        ("amounts, lognormal", question(Source::Lognormal, 0.0, &[6, 10, 20, 50]), true),
        ("graded, clusters of 10", cluster(Source::Normal, TEN, &[4, 6, 8, 12, 30]), true),
        ("graded, clusters of 2 to 30", cluster(Source::Normal, Some((2, 30)), &[4, 6, 12, 30]), true),
        ("EM, clusters of 10", cluster(em, TEN, &[4, 6, 12, 30]), true),
        ("**skewed**, exponential", question(Source::Skewed, 0.0, &[6, 10, 20, 50, 100, 500]), false),
    ]
}

/// Cases of variants that differ; their intervals have to hold the difference as well.
fn different() -> Vec<(&'static str, Vec<Draw>)> {
    let em = |truth: f64, n: &[usize]| question(Source::Em { discordant: 0.4 }, truth, n);
    vec![
        ("EM, 40 % discordant, 20 points", em(0.2, &[5, 6, 8, 10, 20, 30, 100])),
        ("EM, 40 % discordant, 36 points", em(0.36, &[6, 10, 20, 30, 100])),
        ("graded, one standard deviation", question(Source::Normal, 1.0, &[5, 6, 8, 10, 20, 50])),
    ]
}

fn name(case: &str, draw: &Draw) -> String {
    let units = if draw.sizes.is_some() { "clusters" } else { "questions" };
    format!("{case}, {} {units}", draw.units)
}

/// Equal variants: type-I error, and coverage of a difference of 0.
pub(crate) fn error(effort: &Effort) -> Vec<Row> {
    let mut rows = Vec::new();
    for (case, draws, symmetric) in equal() {
        for draw in draws {
            let found = simulate(effort, |seed| decide(&draw, seed, effort));
            let said: Vec<bool> = found.iter().map(|found| p(found) < ALPHA).collect();
            let mut figures = vec![share("distinguishable", &said, effort, ERROR.filter(|_| symmetric))];
            figures.extend(held(&found, &draw, symmetric, effort));
            rows.push(Row { case: name(case, &draw), figures });
        }
    }
    for pairs in [3, 10] {
        let draw = Draw { source: Source::Em { discordant: 0.3 }, truth: 0.0, units: 100, sizes: None };
        let family = |seed: u64| {
            let of_pairs: Vec<f64> = (0..pairs).map(|at| p(&decide(&draw, seed * pairs + at, effort))).collect();
            holm(&of_pairs).iter().any(|p| *p < ALPHA)
        };
        let case = format!("EM, 30 % discordant, 100 questions, any of {pairs} pairs after Holm");
        let said = share("distinguishable", &simulate(effort, family), effort, ERROR);
        rows.push(Row { case, figures: vec![said, Figure::none("covered"), Figure::none("unbounded")] });
    }
    rows
}

fn p(found: &Decision) -> f64 {
    found.decisive.expect("a test").1
}

/// Variants that differ: coverage of their difference.
pub(crate) fn coverage(effort: &Effort) -> Vec<Row> {
    let row = |case: &str, draw: &Draw| {
        let found = simulate(effort, |seed| decide(draw, seed, effort));
        Row { case: name(case, draw), figures: held(&found, draw, true, effort).into() }
    };
    different().iter().flat_map(|(case, draws)| draws.iter().map(|draw| row(case, draw))).collect()
}

/// How often the intervals hold the true difference, and how often they rule nothing out.
fn held(found: &[Decision], draw: &Draw, symmetric: bool, effort: &Effort) -> [Figure; 2] {
    let intervals: Vec<Interval> = found.iter().map(|found| found.interval.expect("an interval").1).collect();
    let covered: Vec<bool> = intervals.iter().map(|interval| interval.contains(draw.truth)).collect();
    let unbounded: Vec<bool> = intervals.iter().map(|interval| interval.low.is_infinite()).collect();
    [share("covered", &covered, effort, COVERED.filter(|_| symmetric)), share("unbounded", &unbounded, effort, None)]
}

pub(crate) fn share(column: &'static str, hits: &[bool], effort: &Effort, band: Option<(f64, f64)>) -> Figure {
    Figure::share(column, hits.iter().map(|hit| u64::from(*hit)).sum(), effort, band)
}
