//! What is left of a difference on questions that nobody looked at while prompts were chosen.

use super::number::{difference, end, p_equals, percent, value};
use super::stopped::SEQUENCE;
use super::{Better, Comparison, MethodInterval, NamedFigure, Pair, Unit};
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
    /// How much larger the lead was on the development part, of the variant that had it there; absent where one of them was
    /// not measured, and for a figure of which neither more nor less is better.
    pub optimism: Option<f64>,
    /// The sentence; names in it are not escaped.
    pub sentence: String,
}

/// The difference on one part.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Part {
    pub n: usize,
    pub difference: Option<f64>,
    pub interval: Option<MethodInterval>,
    /// The p of the test that decides, after Holm's correction.
    pub p_holm: Option<f64>,
    /// The rule that could stop the run, where it was about other variants: then interval and p are not valid at their nominal
    /// level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<String>,
}

/// Every pair of the comparison on the holdout, beside what it was on the development part. Variants have the same names in
/// both.
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
        let both = development.difference.zip(holdout.difference);
        let mut found = Self {
            metric: figure.clone(),
            a: holdout.a.clone(),
            b: holdout.b.clone(),
            holdout: Part::of(holdout),
            development: Part::of(development),
            optimism: both.filter(|_| figure.better != Better::Neither).map(|(before, after)| lost(before, after)),
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
        let less = if metric.better == Better::Lower { " (less is better)" } else { "" };
        let of = format!("{points}{}{less}", metric.label());
        let Some(found) = holdout.difference else {
            return format!("holdout: {b} − {a}: no question of the holdout has a value for {}", metric.label());
        };
        let interval = holdout.interval.map_or_else(String::new, |interval| {
            let ends = [interval.low, interval.high].map(|at| shown(end(metric.unit, at)));
            let ends = if interval.is_bounded() { ends.join(", ") } else { "unbounded".to_owned() };
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
        let optimism =
            self.optimism.map_or_else(String::new, |optimism| format!(" (optimism {})", value(metric.unit, optimism)));
        format!("{here}; on the {} of the development part it was {}{optimism}", questions(development), shown(before))
    }
}

impl Part {
    fn of(pair: &Pair) -> Self {
        let stopped_by = pair.stopped_by.clone();
        Self { n: pair.n, difference: pair.difference, interval: pair.interval, p_holm: pair.p_holm, stopped_by }
    }
}

/// What a lead on the development part lost on the holdout. Without a lead, any difference is a loss of it: below 0.
fn lost(before: f64, after: f64) -> f64 {
    if before == 0.0 { -after.abs() } else { (before - after) * before.signum() }
}

#[cfg(test)]
mod tests {
    use super::{Optimism, lost, optimism};
    use crate::compare::{Item, NamedFigure, Settings, Variant, compare};

    /// What is left of 3 less in `b` on the development part, of which 1 is left on the holdout.
    fn of(figure: &str, [a, b]: [&str; 2]) -> Optimism {
        let variant = |name: &str, of_b: f64| {
            let mut variant = Variant::new(name, vec![figure.to_owned()], Vec::new());
            for (at, question) in ["p", "q", "r"].into_iter().enumerate() {
                let other = f64::from(u8::try_from(at).expect("few"));
                let value = if name == "b" { 10.0 - of_b + other } else { 10.0 + other };
                let values = vec![Some(value)];
                variant.items.push(Item { question: question.to_owned(), measured: true, values, ..Item::default() });
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
            assert!(
                sentence.contains("tokens (less is better)") && sentence.ends_with("(optimism 2.00)"),
                "{sentence}"
            );
            let other = of("size", names);
            let sentence = &other.sentence;
            assert!(other.optimism.is_none() && !sentence.contains("optimism"), "{sentence}");
            assert!(sentence.contains("on the 3 questions of the development part it was "), "{sentence}");
        }
    }

    #[test]
    fn optimism_is_that_of_whoever_led_and_does_not_depend_on_the_order() {
        for (before, after, optimism) in [(4.0, 1.0, 3.0), (-4.0, -1.0, 3.0), (4.0, -1.0, 5.0), (-1.0, -4.0, -3.0)] {
            assert!((lost(before, after) - optimism).abs() < 1e-12, "{before} {after}");
            assert!((lost(-before, -after) - optimism).abs() < 1e-12, "{before} {after}");
        }
        assert!((lost(0.0, 2.0) + 2.0).abs() < 1e-12);
    }
}
