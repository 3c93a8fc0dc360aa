//! Prompts that mean the same: how often the intervals of their spread and of their mean hold the truth.

use crate::{Effort, Figure, Row, simulate};
use wikitrail::compare::statistics::{Between, Interval, Moments, SplitMix64, Sums};

/// What each prompt adds to the chance of a right answer, in per cent.
struct Prompts {
    case: &'static str,
    added: &'static [u64],
    /// What it adds under every second question instead.
    other: &'static [u64],
}

const PROMPTS: [Prompts; 5] = [
    Prompts { case: "5 equal prompts", added: &[20; 5], other: &[20; 5] },
    Prompts {
        case: "5 prompts, equal on average, ±20 by question",
        added: &[0, 40, 0, 40, 20],
        other: &[40, 0, 40, 0, 20],
    },
    Prompts { case: "3 prompts, SD 10", added: &[10, 20, 30], other: &[10, 20, 30] },
    Prompts { case: "5 prompts, one 20 below", added: &[20, 20, 20, 20, 0], other: &[20, 20, 20, 20, 0] },
    Prompts {
        case: "10 prompts, 0 to 40",
        added: &[0, 4, 9, 13, 18, 22, 27, 31, 36, 40],
        other: &[0, 4, 9, 13, 18, 22, 27, 31, 36, 40],
    },
];

const COVERED: (f64, f64) = (0.935, 1.0);
const MEANS: (f64, f64) = (0.93, 1.0);

pub(crate) fn spread(effort: &Effort) -> Vec<Row> {
    let of = |prompts: &'static Prompts| [20, 60, 200].map(|questions| row(prompts, questions, effort));
    PROMPTS.iter().flat_map(of).collect()
}

/// Where the chances of questions begin, and how far they go: no chance is cut at 0 or 1.
const EASY: [u64; 2] = [10, 50];

impl Prompts {
    /// The true means, each over all questions that there could be.
    fn means(&self) -> Vec<f64> {
        let easy = crate::float(EASY[0]) + (crate::float(EASY[1]) - 1.0) / 2.0;
        let of = |(added, other): (&u64, &u64)| (easy + crate::float(added + other) / 2.0) / 100.0;
        self.added.iter().zip(self.other).map(of).collect()
    }

    /// Whether each answer is right, prompt by prompt.
    fn answers(&self, questions: u64, seed: u64) -> Vec<Vec<f64>> {
        let mut rng = SplitMix64::new(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
        let easy: Vec<[u64; 2]> = (0..questions).map(|_| [EASY[0] + rng.below(EASY[1]), rng.below(2)]).collect();
        let mut of_prompt = |at: usize| {
            let chance = |[easy, parity]: [u64; 2]| easy + [self.added, self.other][usize::from(parity == 1)][at];
            easy.iter().map(|of| f64::from(u8::from(rng.below(100) < chance(*of)))).collect()
        };
        (0..self.added.len()).map(&mut of_prompt).collect()
    }
}

struct Found {
    between: Between,
    mean: Interval,
}

fn row(prompts: &Prompts, questions: u64, effort: &Effort) -> Row {
    let means = prompts.means();
    let count = crate::float(means.len() as u64);
    let mean = means.iter().sum::<f64>() / count;
    let sd = (means.iter().map(|of| (of - mean) * (of - mean)).sum::<f64>() / (count - 1.0)).sqrt();
    let (low, high) = means.iter().fold((1.0_f64, 0.0_f64), |(low, high), of| (low.min(*of), high.max(*of)));
    let found = simulate(effort, |seed| {
        let answers = prompts.answers(questions, seed);
        let of_question = |at: usize| answers.iter().map(|of| of[at]).sum::<f64>() / count;
        let values: Vec<f64> = (0..answers[0].len()).map(of_question).collect();
        let mean = Moments::of(&Sums::of(&values, None)).padded_interval(Interval::SHARES, 0.95).expect("an interval");
        Found { between: Between::of(&answers, None, 0.95).expect("questions"), mean }
    });
    let held = |name, truth: f64, band, of: fn(&Found) -> Option<Interval>| {
        // A rounding of equal means is no difference.
        let holds = |interval: Interval| interval.low <= truth + 1e-9 && truth <= interval.high + 1e-9;
        let held = found.iter().filter(|found| of(found).is_none_or(holds)).count() as u64;
        Figure::share(name, held, effort, Some(band))
    };
    let points = |name, of: fn(&Between) -> f64| {
        let sum: f64 = found.iter().map(|found| of(&found.between)).sum();
        Figure::text(name, format!("{:.1}", 100.0 * sum / crate::float(effort.simulations)))
    };
    Row {
        case: format!("{}, {questions} questions", prompts.case),
        figures: vec![
            Figure::text("true SD", format!("{:.1}", 100.0 * sd)),
            points("SD found", |of| of.sd),
            points("corrected", |of| of.corrected_sd),
            held("SD covered", sd, COVERED, |found| found.between.sd_interval),
            held("range covered", high - low, COVERED, |found| found.between.range_interval),
            held("mean covered", mean, MEANS, |found| Some(found.mean)),
        ],
    }
}
