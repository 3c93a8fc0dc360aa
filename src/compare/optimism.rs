//! What is left of a difference on questions that nobody looked at while prompts were chosen.

use super::number::{difference, end, p_equals};
use super::{Comparison, MethodInterval, NamedFigure, Pair, Unit};
use crate::types::text::counted;
use serde::Serialize;

/// A pair on the holdout, and the same pair on the development part.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(clippy::struct_field_names, reason = "the names in JSON")]
pub(crate) struct Optimism {
    pub metric: NamedFigure,
    pub a: String,
    pub b: String,
    /// The difference on the holdout, `b − a`: the one that counts.
    pub holdout: Part,
    pub development: Part,
    /// How much larger the difference was on the development part; absent where one of them was not measured.
    pub optimism: Option<f64>,
    /// The sentence; names in it are not escaped.
    pub sentence: String,
}

/// The difference on one part.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Part {
    pub n: usize,
    pub difference: Option<f64>,
    pub interval: Option<MethodInterval>,
    /// The p of the test that decides, after Holm's correction.
    pub p_holm: Option<f64>,
}

/// Every pair of the comparison on the holdout, beside what it was on the development part. Variants have the same names in
/// both.
pub(crate) fn optimism(holdout: &Comparison, development: &Comparison) -> Vec<Optimism> {
    let mut found = Vec::new();
    for figure in &holdout.figures {
        let Some(other) = development.figure(&figure.figure.name) else { continue };
        for pair in &figure.pairs {
            let same = other.pairs.iter().find(|other| (&other.a, &other.b) == (&pair.a, &pair.b));
            found.extend(same.map(|same| Optimism::of(&figure.figure, (pair, same), figure.pairs.len())));
        }
    }
    found
}

impl Optimism {
    fn of(figure: &NamedFigure, (holdout, development): (&Pair, &Pair), pairs: usize) -> Self {
        let (holdout_part, development) = (Part::of(holdout), Part::of(development));
        let mut found = Self {
            metric: figure.clone(),
            a: holdout.a.clone(),
            b: holdout.b.clone(),
            holdout: holdout_part,
            development,
            optimism: development.difference.zip(holdout_part.difference).map(|(before, after)| before - after),
            sentence: String::new(),
        };
        found.sentence = found.said(if pairs > 1 { " after Holm" } else { "" });
        found
    }

    /// Such as `holdout: b − a +1.2 points EM [-1.9, +4.3], p = 0.52 on 500 questions; …`.
    fn said(&self, corrected: &str) -> String {
        let Self { a, b, holdout, development, metric, .. } = self;
        let shown = |number| difference(metric.unit, number);
        let questions = |part: &Part| counted(part.n, "question");
        let points = if metric.unit == Unit::Share { "points " } else { "" };
        let of = format!("{points}{}", metric.label());
        let Some(found) = holdout.difference else {
            return format!("holdout: {b} − {a}: no question of the holdout has a value for {}", metric.label());
        };
        let interval = holdout.interval.map_or_else(String::new, |interval| {
            let ends = [interval.low, interval.high].map(|at| shown(end(metric.unit, at)));
            if interval.is_bounded() { format!(" [{}, {}]", ends[0], ends[1]) } else { " [unbounded]".to_owned() }
        });
        let p = holdout.p_holm.map_or_else(String::new, |p| format!(", {}{corrected}", p_equals(p)));
        let here = format!("holdout: {b} − {a} {} {of}{interval}{p} on {}", shown(found), questions(holdout));
        match development.difference.zip(self.optimism) {
            Some((before, optimism)) => format!(
                "{here}; on the {} of the development part it was {} (optimism {})",
                questions(development),
                shown(before),
                super::number::value(metric.unit, optimism)
            ),
            None => format!("{here}; on the development part it was not measured"),
        }
    }
}

impl Part {
    fn of(pair: &Pair) -> Self {
        Self { n: pair.n, difference: pair.difference, interval: pair.interval, p_holm: pair.p_holm }
    }
}
