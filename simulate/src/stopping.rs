//! Stopping when decided: errors, power and the question at which a rule stops that is looked at after every question.

use crate::draw::{Draw, Source};
use crate::fixed::{ALPHA, share};
use crate::{Effort, Figure, Row, float, simulate};
use wikitrail::compare::statistics::{Betting, McNemar, Mean};

/// Questions of a run that nothing stops.
const QUESTIONS: usize = 500;
const ERROR: Option<(f64, f64)> = Some((0.0, ALPHA));
const COVERED: Option<(f64, f64)> = Some((1.0 - ALPHA, 1.0));

struct Stopped {
    /// The question after which it was decided.
    after: Option<usize>,
    /// Whether the interval at the stop, or at the end, holds the true difference.
    covered: bool,
    /// Whether a test of all questions, fixed before, finds a difference.
    fixed: bool,
}

pub(crate) fn stopping(effort: &Effort) -> Vec<Row> {
    let em = |discordant: f64| Source::Em { discordant };
    let f1 = Source::Answers { equal: 0.4 };
    let cases: [(&str, Source, &[f64]); 4] = [
        ("EM, 20 % discordant", em(0.2), &[0.0, 0.02, 0.05, 0.1, 0.15]),
        ("EM, 40 % discordant", em(0.4), &[0.0, 0.05, 0.1, 0.2]),
        ("EM, 100 % discordant", em(1.0), &[0.0]),
        ("F1, 40 % equal", f1, &[0.0, 0.05, 0.1, 0.2]),
    ];
    let rows = cases.iter().flat_map(|(case, source, truths)| truths.iter().map(move |truth| (case, source, *truth)));
    let row = |(case, source, truth): (&&str, &Source, f64)| {
        let draw = Draw { source: *source, truth, units: QUESTIONS, sizes: None };
        let runs = simulate(effort, |seed| run(&draw, seed));
        Row { case: format!("{case}, {:.0} points", 100.0 * truth), figures: figures(&runs, truth, effort) }
    };
    rows.map(row).collect()
}

/// A run that is looked at after every question.
fn run(draw: &Draw, seed: u64) -> Stopped {
    let differences = draw.questions(seed).values;
    let mut betting = Betting::default();
    let decided = |difference: &f64| {
        betting.add(*difference);
        betting.e_value() >= 1.0 / ALPHA
    };
    let after = differences.iter().position(decided).map(|at| at + 1);
    let fixed = if draw.is_exact() {
        McNemar::of(&differences).exact_p
    } else {
        Mean::of(&differences).and_then(|mean| mean.t_test()).map_or(1.0, |test| test.p)
    };
    Stopped { after, covered: betting.interval(ALPHA).contains(draw.truth), fixed: fixed < ALPHA }
}

fn figures(runs: &[Stopped], truth: f64, effort: &Effort) -> Vec<Figure> {
    let each = |of: fn(&Stopped) -> bool| runs.iter().map(of).collect::<Vec<bool>>();
    let band = ERROR.filter(|_| truth == 0.0);
    let mut stops: Vec<usize> = runs.iter().map(|run| run.after.unwrap_or(usize::MAX)).collect();
    stops.sort_unstable();
    let median = stops[stops.len() / 2];
    let median = if median == usize::MAX { "–".to_owned() } else { median.to_string() };
    let asked: u64 = runs.iter().map(|run| run.after.unwrap_or(QUESTIONS) as u64).sum();
    vec![
        share("decided", &each(|run| run.after.is_some()), effort, band),
        Figure::text("median stop", median),
        Figure::text("mean questions", format!("{:.0}", float(asked) / float(effort.simulations))),
        share("covered", &each(|run| run.covered), effort, COVERED),
        share("all 500, fixed", &each(|run| run.fixed), effort, band),
    ]
}
