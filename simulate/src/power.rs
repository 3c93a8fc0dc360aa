//! Power at the minimum detectable difference, where the true discordance or spread is known.

use crate::draw::{Draw, Source};
use crate::fixed::{ALPHA, find, share};
use crate::{Effort, Figure, Row, simulate};
use wikitrail::compare::statistics::{Design, Spread};

const WANTED: f64 = 0.8;
const BAND: Option<(f64, f64)> = Some((WANTED - 0.03, WANTED + 0.03));

pub(crate) fn power(effort: &Effort) -> Vec<Row> {
    let mut rows = Vec::new();
    for discordant in [0.15, 0.3, 0.6, 1.0] {
        for n in [5, 10, 15, 20, 30, 50, 100, 500] {
            let design = Design { spread: Spread::Signs, differing: discordant, alpha: ALPHA };
            let smallest = design.smallest_effect(n, WANTED).map(|effect| effect * discordant);
            let draw = |truth: f64| Draw { source: Source::Em { discordant }, truth, units: units(n), sizes: None };
            let case = format!("EM, {:.0} % discordant, {n} questions", 100.0 * discordant);
            rows.push(row(case, smallest, 100.0, "points", draw, effort));
        }
    }
    let graded = Design { spread: Spread::Normal, differing: 1.0, alpha: ALPHA };
    for n in [5, 6, 7, 8, 9, 10, 12, 15, 20, 30, 100] {
        let draw = |truth: f64| Draw { source: Source::Normal, truth, units: units(n), sizes: None };
        rows.push(row(format!("graded, {n} questions"), graded.smallest_effect(n, WANTED), 1.0, "sd", draw, effort));
    }
    for clusters in [5, 6, 8, 12, 30] {
        // The sum of 10 values with half of their variance in common has the variance 5 · 10 + 5.
        let smallest = graded.smallest_effect(clusters, WANTED).map(|effect| effect * 55_f64.sqrt() / 10.0);
        let draw = |truth: f64| Draw { source: Source::Normal, truth, units: units(clusters), sizes: Some((10, 10)) };
        rows.push(row(format!("graded, {clusters} clusters of 10 questions"), smallest, 1.0, "sd", draw, effort));
    }
    rows
}

fn row(
    case: String,
    smallest: Option<f64>,
    scale: f64,
    unit: &str,
    draw: impl Fn(f64) -> Draw,
    effort: &Effort,
) -> Row {
    let power = smallest.map_or_else(
        || Figure::none("power"),
        |smallest| {
            let draw = draw(smallest);
            let shown = simulate(effort, |seed| find(&draw, seed, effort).differs());
            share("power", &shown, effort, BAND)
        },
    );
    let smallest = smallest.map_or_else(|| "none".to_owned(), |smallest| format!("{:.2} {unit}", scale * smallest));
    Row { case, figures: vec![Figure::text("detectable", smallest), power] }
}

fn units(n: u64) -> usize {
    usize::try_from(n).expect("a small number")
}
