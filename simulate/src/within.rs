//! Two prompts in a matrix: their difference over all combinations of the other settings, beside all pairs of the matrix.

use crate::fixed::{ALPHA, rule};
use crate::{Effort, Figure, Row, simulate};
use wikitrail::compare::statistics::{Decision, Differences, Interval, McNemar, SplitMix64, holm};

/// A matrix of two prompts and some models.
struct Matrix {
    case: &'static str,
    questions: u64,
    models: u64,
    /// What the second prompt adds to the chance of a right answer, in per cent: under every second model, and under the others.
    added: [u64; 2],
    /// What it takes from it.
    taken: [u64; 2],
}

const EQUAL: [u64; 2] = [0, 0];

const MATRICES: [Matrix; 8] = [
    Matrix { case: "equal prompts, 3 models, 20 questions", questions: 20, models: 3, added: EQUAL, taken: EQUAL },
    Matrix { case: "equal prompts, 3 models, 60 questions", questions: 60, models: 3, added: EQUAL, taken: EQUAL },
    Matrix { case: "equal prompts, 6 models, 60 questions", questions: 60, models: 6, added: EQUAL, taken: EQUAL },
    Matrix {
        case: "equal on average, ±20 points by model, 6 models, 60 questions",
        questions: 60,
        models: 6,
        added: [20, 0],
        taken: [0, 20],
    },
    Matrix { case: "10 points, 3 models, 60 questions", questions: 60, models: 3, added: [10, 10], taken: EQUAL },
    Matrix { case: "10 points, 6 models, 60 questions", questions: 60, models: 6, added: [10, 10], taken: EQUAL },
    Matrix { case: "10 points, 6 models, 200 questions", questions: 200, models: 6, added: [10, 10], taken: EQUAL },
    Matrix { case: "20 or 0 points, 6 models, 60 questions", questions: 60, models: 6, added: [20, 0], taken: EQUAL },
];

impl Matrix {
    /// Whether each answer is right: by variant, the two prompts of a model side by side, then by question.
    fn answers(&self, seed: u64) -> Vec<Vec<bool>> {
        let mut rng = SplitMix64::new(seed.wrapping_mul(0x5851_f42d_4c95_7f2d));
        // Questions differ in how hard they are, and models in how good.
        let easy: Vec<u64> = (0..self.questions).map(|_| 20 + rng.below(40)).collect();
        let mut variants = Vec::new();
        for model in 0..self.models {
            let (parity, better) = (usize::from(model % 2 == 1), 2 * model);
            for [added, taken] in [[0, 0], [self.added[parity], self.taken[parity]]] {
                let right = |easy: &u64| rng.below(100) < easy + better + added - taken;
                variants.push(easy.iter().map(right).collect());
            }
        }
        variants
    }

    /// The true difference of the prompts, averaged over the models.
    fn truth(&self) -> f64 {
        let of = |values: [u64; 2]| (0..self.models).map(|model| values[usize::from(model % 2 == 1)]).sum::<u64>();
        (crate::float(of(self.added)) - crate::float(of(self.taken))) / 100.0 / crate::float(self.models)
    }
}

/// How often the prompts are said to differ, and how often the interval holds their difference.
pub(crate) fn within(effort: &Effort) -> Vec<Row> {
    MATRICES.iter().map(|matrix| row(matrix, effort)).collect()
}

fn row(matrix: &Matrix, effort: &Effort) -> Row {
    let truth = matrix.truth();
    let results = simulate(effort, |seed| {
        let answers = matrix.answers(seed);
        let (differs, interval) = averaged(&answers, effort);
        (differs, interval.contains(truth), all_pairs(&answers))
    });
    let count = |is: fn(&(bool, bool, bool)) -> bool| results.iter().filter(|result| is(result)).count() as u64;
    let error = (truth == 0.0).then_some((0.0, ALPHA));
    Row {
        case: matrix.case.to_owned(),
        figures: vec![
            Figure::share("distinguishable", count(|result| result.0), effort, error),
            Figure::share("covered", count(|result| result.1), effort, Some((0.935, 1.0))),
            Figure::share("any model, of all pairs", count(|result| result.2), effort, None),
        ],
    }
}

/// The mean difference of each question over the models, decided as `compare --within` does.
fn averaged(answers: &[Vec<bool>], effort: &Effort) -> (bool, Interval) {
    let models = answers.as_chunks::<2>().0;
    let difference = |question: usize| {
        let of = |[a, b]: &[Vec<bool>; 2]| f64::from(i8::from(b[question]) - i8::from(a[question]));
        models.iter().map(of).sum::<f64>() / crate::float(models.len() as u64)
    };
    let values: Vec<f64> = (0..answers[0].len()).map(difference).collect();
    let order = (0..values.len()).collect();
    let range = Some(Interval { low: -1.0, high: 1.0 });
    let differences = Differences { values, clusters: None, order, binary: false, range };
    let decision = Decision::of(&differences, &rule(effort));
    (decision.decisive.expect("a test").1 < ALPHA, decision.interval.expect("an interval").1)
}

/// Whether the two prompts differ under any model, with Holm's correction over all pairs of the matrix.
fn all_pairs(answers: &[Vec<bool>]) -> bool {
    let (mut p, mut is_of_prompts) = (Vec::new(), Vec::new());
    for a in 0..answers.len() {
        for b in a + 1..answers.len() {
            let only = |one: &[bool], other: &[bool]| one.iter().zip(other).filter(|(x, y)| **x && !**y).count() as u64;
            let test = McNemar::new(only(&answers[a], &answers[b]), only(&answers[b], &answers[a]));
            p.push(test.exact_p);
            is_of_prompts.push(a.is_multiple_of(2) && b == a + 1);
        }
    }
    holm(&p).iter().zip(is_of_prompts).any(|(p, of_prompts)| of_prompts && *p < ALPHA)
}
