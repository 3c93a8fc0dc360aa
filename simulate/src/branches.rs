//! Branches of a greedy model: an edit against a control that replays wrong answers, and against placebos.

use crate::{Effort, Figure, Row, float, simulate};
use wikitrail::compare::statistics::SplitMix64;
use wikitrail::compare::statistics::{arms_permutation, permutation};

const ALPHA: f64 = 0.05;
const ERROR: (f64, f64) = (0.0, ALPHA);
const POWER: (f64, f64) = (0.8, 1.0);

/// A model whose answer is a new draw wherever its prompt is changed.
struct Model {
    case: &'static str,
    /// Wrong answers that are branched off.
    questions: u64,
    placebos: u64,
    /// Chance of a right answer, in per cent: of every second question, and of the others.
    right: [u64; 2],
    /// What the edit adds to it.
    repaired: u64,
}

const MODELS: [Model; 6] = [
    Model { case: "no repair, 24 questions, 3 placebos", questions: 24, placebos: 3, right: [40, 40], repaired: 0 },
    Model { case: "no repair, 24 questions, 1 placebo", questions: 24, placebos: 1, right: [40, 40], repaired: 0 },
    Model {
        case: "no repair, uneven, 24 questions, 3 placebos",
        questions: 24,
        placebos: 3,
        right: [80, 5],
        repaired: 0,
    },
    Model { case: "no repair, 8 questions, 3 placebos", questions: 8, placebos: 3, right: [40, 40], repaired: 0 },
    Model { case: "50 points, 24 questions, 3 placebos", questions: 24, placebos: 3, right: [40, 40], repaired: 50 },
    Model { case: "50 points, 24 questions, 1 placebo", questions: 24, placebos: 1, right: [40, 40], repaired: 50 },
];

impl Model {
    /// The EM of the edited branch and of the placebos of each question.
    fn questions(&self, seed: u64) -> Vec<Vec<f64>> {
        let mut rng = SplitMix64::new(seed.wrapping_mul(0x5851_f42d_4c95_7f2d));
        let mut one = |chance: u64| if rng.below(100) < chance { 1.0 } else { 0.0 };
        let chance = |question: u64, arm: u64| {
            let right = if question.is_multiple_of(2) { self.right[0] } else { self.right[1] };
            right + if arm == 0 { self.repaired } else { 0 }
        };
        (0..self.questions).map(|at| (0..=self.placebos).map(|arm| one(chance(at, arm))).collect()).collect()
    }
}

/// How often an edit is found to repair.
pub(crate) fn branches(effort: &Effort) -> Vec<Row> {
    MODELS.iter().map(|model| row(model, effort)).collect()
}

fn row(model: &Model, effort: &Effort) -> Row {
    let results = simulate(effort, |seed| {
        let questions = model.questions(seed);
        let edited: Vec<f64> = questions.iter().map(|values| values[0]).collect();
        let others = |values: &Vec<f64>| values[1..].iter().sum::<f64>() / float(model.placebos);
        let difference: f64 = questions.iter().map(|values| values[0] - others(values)).sum();
        // The control is wrong wherever the record is.
        let control = permutation(&edited, effort.resamples, seed);
        let placebo = arms_permutation(&questions, effort.resamples, seed);
        let is_found = |p: Option<f64>| p.is_some_and(|p| p < ALPHA);
        (
            is_found(control.map(|test| test.p)),
            is_found(placebo.map(|test| test.p)),
            difference / float(model.questions),
        )
    });
    let count = |is: fn(&(bool, bool, f64)) -> bool| results.iter().filter(|result| is(result)).count() as u64;
    let mean = 100.0 * results.iter().map(|result| result.2).sum::<f64>() / float(effort.simulations);
    let band = if model.repaired == 0 { ERROR } else { POWER };
    Row {
        case: model.case.to_owned(),
        figures: vec![
            Figure::share("against control", count(|result| result.0), effort, None),
            Figure::share("against placebos", count(|result| result.1), effort, Some(band)),
            Figure::text("mean difference", format!("{mean:+.1}")),
        ],
    }
}
