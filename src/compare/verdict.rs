//! One sentence about a pair.

use super::number::{end, p_equals, percent, value};
use super::{Better, NamedFigure, Pair, Unit};
use serde::Serialize;

/// What follows from a pair.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Verdict {
    /// Whether the two are distinguishable: the corrected p is below alpha, and the interval that decides excludes 0.
    pub distinguishable: bool,
    /// Name of the better one; absent if they are not distinguishable or the figure has no better direction.
    pub winner: Option<String>,
    /// The sentence, such as `react-6 beats act-6 by 4.2 points EM, 95 % interval 1.1 to 7.3, p = 0.008 after Holm`.
    /// Names in it are not escaped: do that before printing it.
    pub sentence: String,
}

impl Verdict {
    /// What follows from a pair, one of `pairs` that were corrected together.
    pub(super) fn of(pair: &Pair, figure: &NamedFigure, pairs: usize, alpha: f64) -> Self {
        let distinct = |p: f64| p < alpha && pair.interval.is_some_and(|interval| !interval.contains(0.0));
        let words = Words { pair, figure, pairs };
        match (pair.difference, pair.p_holm) {
            (Some(difference), Some(p)) if difference != 0.0 && distinct(p) => words.apart(difference, p),
            (difference, p) => Self { distinguishable: false, winner: None, sentence: words.not_apart(difference, p) },
        }
    }
}

struct Words<'a> {
    pair: &'a Pair,
    figure: &'a NamedFigure,
    pairs: usize,
}

impl Words<'_> {
    /// The two are distinguishable: the better one, or the one with more, comes first, and its lead is positive.
    fn apart(&self, difference: f64, p: f64) -> Verdict {
        let Pair { a, b, .. } = self.pair;
        let b_first = match self.figure.better {
            Better::Higher | Better::Neither => difference > 0.0,
            Better::Lower => difference < 0.0,
        };
        let (first, second) = if b_first { (b, a) } else { (a, b) };
        let size = self.amount(difference.abs());
        let claim = match self.figure.better {
            Better::Higher => format!("{first} beats {second} by {size}"),
            Better::Lower => format!("{first} beats {second} by {size} (less is better)"),
            Better::Neither => format!("{first} lies above {second} by {size}"),
        };
        let swapped = difference < 0.0;
        let sentence = format!("{claim}{}, {}", self.interval(swapped), self.p(p));
        let winner = (self.figure.better != Better::Neither).then(|| first.clone());
        Verdict { distinguishable: true, winner, sentence }
    }

    fn not_apart(&self, difference: Option<f64>, p: Option<f64>) -> String {
        let Pair { a, b, n, mde, .. } = self.pair;
        let unlike = format!("{b} and {a} are not distinguishable");
        let (Some(difference), Some(p)) = (difference, p) else {
            return format!("{unlike}: no question has a value for {} in all variants", self.figure.label());
        };
        let questions = if *n == 1 { "1 question".to_owned() } else { format!("{n} questions") };
        if self.never_differ() {
            return format!("{unlike}: they never differ in {} on {questions}", self.figure.label());
        }
        let found = format!("the difference is {}{}, {}", self.amount(difference), self.interval(false), self.p(p));
        match mde {
            Some(mde) => format!("{unlike}: {questions} can show {}, and {found}", self.amount(*mde)),
            None => format!("{unlike}: {questions} cannot show what varies; {found}"),
        }
    }

    /// The signed-rank test leaves out what is 0, and is absent if that is all.
    fn never_differ(&self) -> bool {
        self.pair.n > 0 && self.pair.tests.wilcoxon.is_none()
    }

    /// `4.2 points EM`, `131.5 tokens`.
    fn amount(&self, number: f64) -> String {
        let points = if self.figure.unit == Unit::Share { "points " } else { "" };
        format!("{} {points}{}", value(self.figure.unit, number), self.figure.label())
    }

    /// `, 95 % interval 1.1 to 7.3`; with the ends swapped where the sentence names `b` first.
    fn interval(&self, swapped: bool) -> String {
        self.pair.interval.map_or_else(String::new, |interval| {
            let ends = if swapped { [-interval.high, -interval.low] } else { [interval.low, interval.high] };
            let [low, high] = ends.map(|at| value(self.figure.unit, end(self.figure.unit, at)));
            format!(", {} % interval {low} to {high}", percent(interval.level))
        })
    }

    fn p(&self, p: f64) -> String {
        let corrected = if self.pairs > 1 { " after Holm" } else { "" };
        format!("{}{corrected}", p_equals(p))
    }
}
