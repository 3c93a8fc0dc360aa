//! What is left of a difference on questions that nobody looked at while prompts were chosen.

use super::pairs::SEQUENCE;
use super::verdict::{p_equals, percent, shown_end, signed};
use super::{Better, Comparison, MethodInterval, NamedFigure, Pair, Unit};
use crate::base::stats::{Interval, independent_difference};
use crate::base::text::counted;
use serde::Serialize;

/// A pair on the holdout, and the same pair on the development part.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(clippy::struct_field_names, reason = "the names in JSON")]
pub(crate) struct Optimism {
    pub metric: NamedFigure,
    pub a: String,
    pub b: String,
    /// The difference on the holdout, `b − a`: the one that counts.
    pub holdout: PairDifference,
    pub development: PairDifference,
    /// How much larger the lead was on the development part, of the variant that had it there; absent where one of them was
    /// not measured, and for a figure of which neither more nor less is better. It is above 0 on average without any
    /// selection, as the development part says who leads.
    pub optimism: Option<f64>,
    /// From the intervals of both parts, where they have the same level.
    pub optimism_interval: Option<MethodInterval>,
    /// The sentence; names in it are not escaped.
    pub sentence: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct PairDifference {
    pub n: usize,
    pub difference: Option<f64>,
    pub interval: Option<MethodInterval>,
    /// The p of the test that decides, after Holm's correction.
    pub p_holm: Option<f64>,
    /// The rule that could stop the run, but was about others: interval and p are not valid at their level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<String>,
}

/// Every pair on the holdout beside the development part. Variants have the same names in both.
pub(crate) fn optimism(holdout: &Comparison, development: &Comparison) -> Vec<Optimism> {
    let mut found = Vec::new();
    for figure in &holdout.figures {
        let Some(other) = development.figure(&figure.figure.name) else { continue };
        let corrected = figure.pairs.iter().filter(|pair| pair.p.is_some()).count();
        for pair in &figure.pairs {
            let same = other.pairs.iter().find(|other| (&other.a, &other.b) == (&pair.a, &pair.b));
            found.extend(same.map(|same| Optimism::of(&figure.figure, (pair, same), corrected)));
        }
    }
    found
}

impl Optimism {
    fn of(figure: &NamedFigure, (holdout, development): (&Pair, &Pair), pairs: usize) -> Self {
        let both = development.difference.zip(holdout.difference).filter(|_| figure.better != Better::Neither);
        let ends = |(before, after)| interval((before, development.interval), (after, holdout.interval));
        let mut found = Self {
            metric: figure.clone(),
            a: holdout.a.clone(),
            b: holdout.b.clone(),
            holdout: PairDifference::of(holdout),
            development: PairDifference::of(development),
            optimism: both.map(|(before, after)| sign(before, after) * (before - after)),
            optimism_interval: both.and_then(ends),
            sentence: String::new(),
        };
        found.sentence = found.sentence(if pairs > 1 { " after Holm" } else { "" });
        found
    }

    /// Such as `holdout: b − a +1.2 points EM [-1.9, +4.3], p = 0.52 on 500 questions; …`.
    fn sentence(&self, corrected: &str) -> String {
        let Self { a, b, holdout, development, metric, .. } = self;
        let shown = |number| signed(metric.unit, number);
        let questions = |part: &PairDifference| counted(part.n, "question");
        let points = if metric.unit == Unit::Share { "points " } else { "" };
        let less = if metric.better == Better::Lower { " (less is better)" } else { "" };
        let of = format!("{points}{}{less}", metric.label());
        let Some(found) = holdout.difference else {
            return format!("holdout: {b} − {a}: no question of the holdout has a value for {}", metric.label());
        };
        let interval = holdout.interval.map_or_else(String::new, |interval| {
            let ends = interval.ends(", ", |at| shown(shown_end(metric.unit, at)));
            let name = match interval.method {
                SEQUENCE => format!(", {} % {SEQUENCE}", percent(interval.level)),
                _ => String::new(),
            };
            format!("{name} [{ends}]")
        });
        let p = holdout.p_holm.map_or_else(String::new, |p| format!(", {}{corrected}", p_equals(p)));
        let valid = match &holdout.stopped_by {
            Some(rule) => format!(" (not valid at its nominal level, as the run had the rule {rule})"),
            None => String::new(),
        };
        let here = format!("holdout: {b} − {a} {} {of}{interval}{p}{valid} on {}", shown(found), questions(holdout));
        let Some(before) = development.difference else {
            return format!("{here}; on the development part it was not measured");
        };
        let ends = self.optimism_interval.map_or_else(String::new, |of| format!(" [{}]", of.ends(", ", shown)));
        let optimism =
            self.optimism.map_or_else(String::new, |optimism| format!(" (optimism {}{ends})", shown(optimism)));
        format!("{here}; on the {} of the development part it was {}{optimism}", questions(development), shown(before))
    }
}

impl PairDifference {
    fn of(pair: &Pair) -> Self {
        let stopped_by = pair.stopped_by.clone();
        Self { n: pair.n, difference: pair.difference, interval: pair.interval, p_holm: pair.p_holm, stopped_by }
    }
}

/// The sign of the lead on the development part. Without one there, any difference on the holdout is a loss.
fn sign(before: f64, after: f64) -> f64 {
    if before == 0.0 { after.signum() } else { before.signum() }
}

type Estimate = (f64, Option<MethodInterval>);

/// The interval of the optimism: the parts share no question, so that their errors add as those of independent estimates.
fn interval((before, of_before): Estimate, (after, of_after): Estimate) -> Option<MethodInterval> {
    let (first, second) = of_before.zip(of_after)?;
    if (first.level - second.level).abs() > 1e-12 {
        return None;
    }
    let ends = |of: MethodInterval| Interval { low: of.low, high: of.high };
    let Interval { low, high } = independent_difference((before, ends(first)), (after, ends(second)));
    let ends = if sign(before, after) < 0.0 { Interval { low: -high, high: -low } } else { Interval { low, high } };
    Some(MethodInterval::new("square-and-add", first.level, ends))
}

#[cfg(test)]
mod tests {
    use super::{Optimism, interval, optimism, sign};
    use crate::analysis::compare::{Item, MethodInterval, NamedFigure, Settings, Variant, compare};

    /// What is left of 3 less in `b` on the development part, of which 1 is left on the holdout.
    fn of(figure: &str, [a, b]: [&str; 2]) -> Optimism {
        let variant = |name: &str, of_b: f64| {
            let mut variant = Variant::new(name, vec![figure.to_owned()], Vec::new());
            for (at, question) in ["p", "q", "r"].into_iter().enumerate() {
                let other = f64::from(u8::try_from(at).expect("few"));
                let value = if name == "b" { 10.0 - of_b + other } else { 10.0 + other };
                let values = vec![Some(value)];
                variant.items.push(Item { id: question.to_owned(), measured: true, values, ..Item::default() });
            }
            variant
        };
        let settings = Settings { figures: vec![NamedFigure::new(figure)], ..Settings::default() };
        let part = |less: f64| compare(&[variant(a, less), variant(b, less)], &settings).expect("compared");
        optimism(&part(1.0), &part(3.0)).remove(0)
    }

    #[test]
    fn a_figure_without_a_direction_has_no_optimism() {
        for names in [["a", "b"], ["b", "a"]] {
            let tokens = of("tokens", names);
            assert!((tokens.optimism.expect("a lead") - 2.0).abs() < 1e-12, "{tokens:?}");
            let sentence = &tokens.sentence;
            assert!(sentence.contains("tokens (less is better)") && sentence.contains("(optimism +2.00"), "{sentence}");
            let other = of("size", names);
            let sentence = &other.sentence;
            assert!(other.optimism.is_none() && !sentence.contains("optimism"), "{sentence}");
            assert!(sentence.contains("on the 3 questions of the development part it was "), "{sentence}");
        }
    }

    #[test]
    fn optimism_is_that_of_whoever_led_and_does_not_depend_on_the_order() {
        for (before, after, optimism) in [(4.0, 1.0, 3.0), (-4.0, -1.0, 3.0), (4.0, -1.0, 5.0), (-1.0, -4.0, -3.0)] {
            for side in [1.0, -1.0] {
                let (before, after) = (side * before, side * after);
                let found: f64 = sign(before, after) * (before - after);
                assert!((found - optimism).abs() < 1e-12, "{before} {after}");
            }
        }
        let found: f64 = sign(0.0, 2.0) * (0.0 - 2.0);
        assert!((found + 2.0).abs() < 1e-12);
    }

    #[test]
    fn the_interval_of_the_optimism_is_that_of_two_independent_estimates() {
        let of = |low, high| Some(MethodInterval { method: "score", level: 0.95, low, high });
        // By hand: 0.3 − 0.1, less the root of 0.2² + 0.4², and more that of 0.1² + 0.3².
        let found = interval((0.3, of(0.1, 0.4)), (0.1, of(-0.2, 0.5))).expect("an interval");
        let (low, high) = (0.2 - 0.2_f64.hypot(0.4), 0.2 + 0.1_f64.hypot(0.3));
        assert!((found.low - low).abs() < 1e-12 && (found.high - high).abs() < 1e-12, "{found:?}");
        // Seen from the other side it is the same.
        let mirrored = interval((-0.3, of(-0.4, -0.1)), (-0.1, of(-0.5, 0.2))).expect("an interval");
        assert!((mirrored.low - low).abs() < 1e-12 && (mirrored.high - high).abs() < 1e-12, "{mirrored:?}");
        let unbounded = of(f64::NEG_INFINITY, f64::INFINITY);
        assert!(!interval((0.3, of(0.1, 0.4)), (0.1, unbounded)).expect("an interval").is_bounded());
        let other = Some(MethodInterval { level: 0.8, ..found });
        assert_eq!(
            (interval((0.3, of(0.1, 0.4)), (0.1, other)), interval((0.3, None), (0.1, of(0.0, 0.2)))),
            (None, None)
        );
    }
}
