//! Coverage of the intervals of κ and AC1.

use crate::draw::uniform;
use crate::{Effort, Figure, Row, float};
use wikitrail::compare::statistics::SplitMix64;
use wikitrail::compare::statistics::{Agreement, Coefficient};

const COVERED: Option<(f64, f64)> = Some((0.935, 1.0));

/// Two who judge the same questions.
struct Case {
    /// How often both name each class.
    classes: &'static [f64],
    kappa: f64,
    questions: usize,
    /// Episodes of a question; each is judged as the question's first with a probability of one half.
    episodes: usize,
}

const EVEN: &[f64] = &[0.6, 0.4];
const RARE: &[f64] = &[0.9, 0.1];
const SEVEN: &[f64] = &[0.35, 0.25, 0.15, 0.1, 0.05, 0.05, 0.05];

impl Case {
    /// The probability of each cell, row by row.
    fn cells(&self) -> Vec<f64> {
        let shares = self.classes;
        let cell = |a: usize, b: usize| {
            let same = if a == b { self.kappa * shares[a] } else { 0.0 };
            same + (1.0 - self.kappa) * shares[a] * shares[b]
        };
        (0..shares.len()).flat_map(|a| (0..shares.len()).map(move |b| cell(a, b))).collect()
    }

    /// The true AC1.
    fn ac1(&self) -> f64 {
        let cells = self.cells();
        let agreeing: f64 = cells.iter().step_by(self.classes.len() + 1).sum();
        let chance = self.classes.iter().map(|share| share * (1.0 - share)).sum::<f64>();
        let chance = chance / (float(self.classes.len() as u64) - 1.0);
        (agreeing - chance) / (1.0 - chance)
    }

    fn judged(&self, rng: &mut SplitMix64) -> Agreement {
        let cells = self.cells();
        let cell = |rng: &mut SplitMix64| {
            let (draw, mut sum) = (uniform(rng), 0.0);
            let at = cells.iter().position(|share| {
                sum += share;
                draw < sum
            });
            at.unwrap_or_default()
        };
        let (mut pairs, mut clusters) = (Vec::new(), Vec::new());
        for question in 0..self.questions {
            let first = cell(rng);
            for episode in 0..self.episodes {
                let own = cell(rng);
                let at = if episode == 0 || uniform(rng) < 0.5 { first } else { own };
                pairs.push((at / self.classes.len(), at % self.classes.len()));
                clusters.push(question);
            }
        }
        Agreement::of(&pairs, &clusters, self.classes.len(), 0.95)
    }
}

fn cases() -> Vec<(String, Case)> {
    let mut cases = Vec::new();
    for (name, classes) in [("60/40", EVEN), ("90/10", RARE), ("7 classes", SEVEN)] {
        for kappa in [0.6, 0.8] {
            for questions in [10, 30, 100] {
                let case = Case { classes, kappa, questions, episodes: 1 };
                cases.push((format!("{name}, κ {kappa}, {questions} questions"), case));
            }
        }
    }
    for (name, classes) in [("60/40", EVEN), ("90/10", RARE), ("7 classes", SEVEN)] {
        for questions in [10, 30, 100] {
            let case = Case { classes, kappa: 0.8, questions, episodes: 5 };
            cases.push((format!("{name}, κ 0.8, {questions} questions of 5 episodes"), case));
        }
    }
    cases
}

pub(crate) fn agreement(effort: &Effort) -> Vec<Row> {
    let row = |(name, case): (String, Case)| {
        let mut found = [Tally::default(), Tally::default()];
        let truth = [case.kappa, case.ac1()];
        for seed in 0..effort.simulations {
            let judged = case.judged(&mut SplitMix64::new((seed + 1).wrapping_mul(0x5851_f42d_4c95_7f2d)));
            for ((found, coefficient), truth) in found.iter_mut().zip([judged.kappa, judged.ac1]).zip(truth) {
                found.add(coefficient, truth);
            }
        }
        let columns = [["no κ interval", "κ covered", "width"], ["no AC1 interval", "AC1 covered", "width"]];
        let figures = found.iter().zip(columns).flat_map(|(found, columns)| found.figures(columns, effort));
        Row { case: name, figures: figures.collect() }
    };
    cases().into_iter().map(row).collect()
}

#[derive(Default)]
struct Tally {
    given: u64,
    covered: u64,
    widths: f64,
}

impl Tally {
    fn add(&mut self, coefficient: Option<Coefficient>, truth: f64) {
        let Some(interval) = coefficient.and_then(|coefficient| coefficient.interval) else { return };
        self.given += 1;
        self.covered += u64::from(interval.contains(truth));
        self.widths += interval.high - interval.low;
    }

    fn figures(&self, [none, covered, width]: [&'static str; 3], effort: &Effort) -> Vec<Figure> {
        let given = Effort { simulations: self.given, ..*effort };
        vec![
            Figure::share(none, effort.simulations - self.given, effort, None),
            Figure::share(covered, self.covered, &given, COVERED),
            Figure::text(width, format!("{:.2}", self.widths / float(self.given))),
        ]
    }
}
