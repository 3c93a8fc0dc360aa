//! Pairs named on the command line, corrected for all possible pairs. Users may pick a pair after seeing the results of the
//! others, which makes its uncorrected p too small.

use super::number::p_equals;
use super::pairing::Pairing;
use super::pairs::Paired;
use super::{Comparison, FigureComparison, NamedFigure, Pair, Settings, Variant};
use crate::stats::holm;
use crate::types::text::thousands;
use serde::Serialize;

/// With more pairs than this, p after Holm is not computed.
pub(crate) const MOST_PAIRS: usize = 5_000;

/// Sign flips of all pairs together at most: a few seconds.
const MOST_FLIPS: usize = 2_000_000_000;

/// What a named pair is one of.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Possible {
    /// Pairs that were named and not planned.
    pub named: usize,
    /// All pairs of the variants of the files or runs.
    pub pairs: usize,
    /// `holm` over all of them, or `bonferroni`, an upper bound of it, where these are too many to compute.
    pub correction: &'static str,
    /// The p after it.
    pub p: f64,
}

impl Possible {
    fn sentence(&self) -> String {
        let p = p_equals(self.p);
        let p = p.strip_prefix("p = ").or_else(|| p.strip_prefix("p ")).unwrap_or(&p);
        let over = match self.correction {
            "holm" => "p after Holm over all is",
            _ => "p after Bonferroni over all, an upper bound of Holm's, is",
        };
        let (named, pairs) = (thousands(self.named), thousands(self.pairs));
        let noun = if self.pairs == 1 { "pair" } else { "pairs" };
        format!("{named} of {pairs} possible {noun}, not planned in the experiment file: {over} {p}")
    }
}

/// Says of each compared pair that was not planned how many there were. `all` are the variants of the files or runs, those of
/// the comparison under the same names, or those of the comparison alone where all are too many; `count` is their number.
pub(crate) fn among_all(
    comparison: &mut Comparison,
    all: &[Variant],
    count: usize,
    is_planned: &dyn Fn(&str, &str) -> bool,
) {
    let most = count * count.saturating_sub(1) / 2;
    for figure in &mut comparison.figures {
        let is_charged = |pair: &Pair| pair.p.is_some() && !is_planned(&pair.a, &pair.b);
        let named = figure.pairs.iter().filter(|pair| is_charged(pair)).count();
        if named == 0 || figure.pairs.len() >= most || most < 2 {
            continue;
        }
        let flips = if figure.binary { 1 } else { comparison.settings.resamples };
        let is_cheap = most <= MOST_PAIRS && most.saturating_mul(figure.n).saturating_mul(flips) <= MOST_FLIPS;
        let known = (is_cheap && all.len() == count).then(|| p_of_all(figure, all, &comparison.settings));
        let charged: Vec<usize> = (0..figure.pairs.len()).filter(|at| is_charged(&figure.pairs[*at])).collect();
        for at in charged {
            let pair = &mut figure.pairs[at];
            let Some(own) = pair.p.map(|p| p.value) else { continue };
            let found = known.as_ref().and_then(|known| {
                let of_pair = |(a, b, _): &(&str, &str, f64)| {
                    (*a, *b) == (&*pair.a, &*pair.b) || (*b, *a) == (&*pair.a, &*pair.b)
                };
                Some((known.iter().position(of_pair)?, known))
            });
            let possible = match found {
                Some((place, known)) => {
                    let p: Vec<f64> = known.iter().map(|(_, _, p)| *p).collect();
                    Possible { named, pairs: known.len(), correction: "holm", p: holm(&p)[place] }
                }
                #[expect(clippy::cast_precision_loss, reason = "a count of pairs")]
                None => Possible { named, pairs: most, correction: "bonferroni", p: (own * most as f64).min(1.0) },
            };
            pair.verdict.sentence = format!("{}; {}", pair.verdict.sentence, possible.sentence());
            pair.possible = Some(possible);
        }
    }
}

/// The p of every pair on the questions that both have: the compared ones as they were compared.
fn p_of_all<'v>(figure: &FigureComparison, all: &'v [Variant], settings: &Settings) -> Vec<(&'v str, &'v str, f64)> {
    let mut found = Vec::new();
    for (at, a) in all.iter().enumerate() {
        for b in &all[at + 1..] {
            let compared = figure.pair(&a.name, &b.name).and_then(|pair| pair.p);
            let p = compared.map(|p| p.value).or_else(|| p_of(a, b, &figure.figure, settings));
            found.extend(p.map(|p| (a.name.as_str(), b.name.as_str(), p)));
        }
    }
    found
}

/// The p that decides about two variants, without what else is known of them.
fn p_of(a: &Variant, b: &Variant, figure: &NamedFigure, settings: &Settings) -> Option<f64> {
    let pairing = Pairing::of([a, b]).ok()?;
    let values = pairing.values(figure).ok()?;
    let paired = Paired::of(&values.pair((0, 1)), &values, figure);
    paired.borrowed().deciding_p(settings.resamples, settings.seed)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{done, quick, variant};
    use super::{Possible, among_all};
    use crate::compare::{Settings, Variant, compare};
    use crate::stats::holm;
    use crate::types::Pairs;

    /// Ten variants that are right on a third of 60 questions, each on others.
    fn ten() -> Vec<Variant> {
        (0..10_usize)
            .map(|v| variant(&format!("v{v}"), (0..60_usize).map(|i| (i * (v + 3) + v * v) % 7 < 2 + v % 3)))
            .collect()
    }

    fn named(pairs: &[[&str; 2]], count: usize, all: &[Variant], planned: &[&str]) -> Vec<(Option<Possible>, String)> {
        let contrasts = pairs.iter().map(|pair| pair.map(str::to_owned)).collect();
        let settings = Settings { pairs: Pairs { contrasts, ..Pairs::default() }, ..quick() };
        let mut found = compare(&ten(), &settings).expect("a comparison");
        among_all(&mut found, all, count, &|a, b| planned.contains(&a) && planned.contains(&b));
        // F1 goes by sign flips, EM by McNemar's test.
        let pairs = found.figures.into_iter().flat_map(|figure| figure.pairs);
        pairs.map(|pair| (pair.possible, pair.verdict.sentence)).collect()
    }

    #[test]
    fn a_named_pair_has_the_p_that_it_has_among_all_pairs() {
        let all = done(&ten());
        let found = named(&[["v0", "v2"], ["v1", "v5"]], 10, &ten(), &[]);
        for (figure, found) in all.figures.iter().zip(found.chunks(2)) {
            let p: Vec<f64> = figure.pairs.iter().map(|pair| pair.p.expect("a p").value).collect();
            for ((a, b), (possible, sentence)) in [("v0", "v2"), ("v1", "v5")].into_iter().zip(found) {
                let at = figure.pairs.iter().position(|pair| pair.a == a && pair.b == b).expect("the pair");
                let possible = possible.expect("not planned");
                assert_eq!((possible.named, possible.pairs, possible.correction), (2, 45, "holm"));
                assert!((possible.p - holm(&p)[at]).abs() < 1e-12, "{possible:?}");
                assert!(sentence.contains(
                    "; 2 of 45 possible pairs, not planned in the experiment file: p after Holm over all is "
                ));
            }
        }
    }

    #[test]
    fn many_pairs_have_an_upper_bound_and_planned_ones_nothing() {
        let exact = named(&[["v0", "v2"]], 10, &ten(), &[]).remove(0).0.expect("not planned");
        let (bound, sentence) = named(&[["v0", "v2"]], 1000, &[], &[]).remove(0);
        let bound = bound.expect("not planned");
        assert_eq!((bound.pairs, bound.correction), (499_500, "bonferroni"));
        assert!(bound.p >= exact.p);
        assert!(
            sentence.contains("; 1 of 499,500 possible pairs, not planned")
                && sentence.contains("an upper bound of Holm's")
        );
        assert!(named(&[["v0", "v2"]], 10, &ten(), &["v2", "v0"]).iter().all(|(found, _)| found.is_none()));
        // All that there are, so that Holm's correction covers them anyway.
        assert!(named(&[["v0", "v2"]], 2, &ten()[..2], &[]).iter().all(|(found, _)| found.is_none()));
    }
}
