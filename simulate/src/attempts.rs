//! Accuracy given attempted and `SimpleQA`'s F1: how often their intervals hold the true ratio.

use crate::{Effort, Figure, Row, simulate};
use wikitrail::compare::statistics::{Interval, Moments, SplitMix64, wilson};

/// The chances of an attempt and of a right answer, in per cent, of one half of the questions and of the other.
const MODELS: [(&str, [[u64; 2]; 2]); 3] = [
    ("attempts 90 %, right 70 %", [[95, 85], [85, 55]]),
    ("attempts 50 %, right 40 %", [[80, 70], [20, 10]]),
    ("attempts 30 %, right 3 %", [[40, 5], [20, 1]]),
];

const COVERED: (f64, f64) = (0.93, 1.0);

pub(crate) fn attempts(effort: &Effort) -> Vec<Row> {
    let mut rows = Vec::new();
    for (model, halves) in MODELS {
        for (questions, repeats) in [(20, 1), (60, 1), (200, 1), (20, 4), (60, 4), (200, 4)] {
            let times = if repeats == 1 { "once".to_owned() } else { format!("{repeats} times") };
            let case = format!("{model}, {questions} questions, {times}");
            rows.push(Row { case, figures: figures(halves, questions, repeats, effort) });
        }
    }
    rows
}

fn figures(halves: [[u64; 2]; 2], questions: u64, repeats: u64, effort: &Effort) -> Vec<Figure> {
    let mean = |at: usize| crate::float(halves[0][at] + halves[1][at]) / 200.0;
    let (attempted, right) = (mean(0), mean(1));
    let truth = [right / attempted, 2.0 * right / (1.0 + attempted)];
    let found = simulate(effort, |seed| intervals(halves, questions, repeats, seed));
    let held = |at: usize| {
        // Without an attempt there is no ratio to hold.
        found.iter().filter(|found| found[at].is_none_or(|interval| interval.contains(truth[at]))).count() as u64
    };
    let width = |at: usize| {
        let widths: Vec<f64> = found.iter().filter_map(|found| found[at].map(|of| of.high - of.low)).collect();
        Figure::text("width", format!("{:.3}", widths.iter().sum::<f64>() / crate::float(widths.len() as u64)))
    };
    vec![
        Figure::share("given attempted", held(0), effort, Some(COVERED)),
        width(0),
        Figure::share("SimpleQA F1", held(1), effort, Some(COVERED)),
        width(1),
    ]
}

/// The intervals of both ratios, as `score` computes them.
fn intervals(halves: [[u64; 2]; 2], questions: u64, repeats: u64, seed: u64) -> [Option<Interval>; 2] {
    let mut rng = SplitMix64::new(seed.wrapping_mul(0x5851_f42d_4c95_7f2d));
    let (mut given, mut f1) = (Moments::default(), Moments::default());
    let [mut all_attempted, mut all_right] = [0, 0];
    for _ in 0..questions {
        let [attempts, rights] = halves[usize::from(rng.below(2) == 1)];
        let [mut attempted, mut right] = [0, 0];
        for _ in 0..repeats {
            let drawn = rng.below(100);
            attempted += u64::from(drawn < attempts);
            right += u64::from(drawn < rights);
        }
        all_attempted += attempted;
        all_right += right;
        let [attempted, right] = [attempted, right].map(|count| crate::float(count) / crate::float(repeats));
        if attempted > 0.0 {
            given.add(right, attempted);
        }
        f1.add(2.0 * right, 1.0 + attempted);
    }
    let padded = |of: Moments| of.mean().and_then(|_| of.padded_interval(Interval::SHARES, 0.95));
    let once = (all_attempted > 0).then(|| wilson(all_right, all_attempted, 0.95));
    [if repeats == 1 { once } else { padded(given) }, padded(f1)]
}
