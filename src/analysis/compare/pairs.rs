//! Pairs of variants: difference, intervals, tests, what can be shown; rules that stop a run; corrections for all possible pairs.

use super::comparison::{AllPairs, Bounds, DecisiveP, MethodInterval, Pair, Tests};
use super::pairing::{FigureValues, Pairing, Values};
use super::verdict::p_equals;
use super::{Comparison, FigureComparison, NamedFigure, Settings, Variant};
use crate::base::stats::{
    Bootstrap, Decision, Differences, Interval, Mean, Reach, Rule, Sums, holm, pearson, permutation_resampled,
    wilcoxon, wilson,
};
use crate::base::text::thousands;
use crate::base::{Stopping, processors};
use crate::runner::RunError;
use crate::scoring::float;
use std::collections::HashMap;
use std::panic::resume_unwind;
use std::thread;

/// Pairs whose figures are kept for others with the same values.
const MAX_KNOWN: usize = 10_000;

/// The pairs of a figure before anything is said about them.
pub(super) fn pairs(values: &FigureValues<'_, '_>, settings: &Settings) -> Vec<Pair> {
    let (figure, variants) = (values.figure, &values.pairing.variants);
    let positions = values.pairing.pairs(settings);
    let Settings { level, alpha, power, resamples, seed, .. } = *settings;
    // A rule's pair has no p, nor have two without a shared question: there is none to correct.
    let has_p = |(a, b): &(usize, usize)| {
        about(&variants[*a].name, &variants[*b].name, figure, settings).is_none() && values.pairing.has_shared(*a, *b)
    };
    let corrected = positions.iter().filter(|pair| has_p(pair)).count();
    let rule = Rule { level, alpha, power, pairs: corrected.max(1), resamples, seed };
    let of_part = |positions: &[(usize, usize)]| pairs_of_part(positions, values, settings, &rule);
    let (mut pairs, paired): (Vec<Pair>, Vec<Differences>) = in_parallel(&positions, of_part).into_iter().unzip();
    let (at, p): (Vec<usize>, Vec<f64>) =
        pairs.iter().enumerate().filter_map(|(at, pair)| Some((at, pair.p?.value))).unzip();
    let highest: Vec<f64> = at.iter().zip(&p).map(|(at, p)| pairs[*at].p_highest.unwrap_or(*p)).collect();
    for ((at, corrected), highest) in at.into_iter().zip(holm(&p)).zip(holm(&highest)) {
        pairs[at].p_holm = Some(corrected);
        pairs[at].p_highest = pairs[at].p_highest.map(|_| highest);
    }
    distribution_free(&mut pairs, &paired, &rule);
    pairs
}

/// Pairs and their differences, in the order of their positions.
fn pairs_of_part(
    positions: &[(usize, usize)],
    values: &FigureValues<'_, '_>,
    settings: &Settings,
    rule: &Rule,
) -> Vec<(Pair, Differences)> {
    let (figure, variants) = (values.figure, &values.pairing.variants);
    // Of a thousand variants most pairs have the values of another one, of which all figures are the same.
    let mut known: HashMap<Vec<u64>, Pair> = HashMap::new();
    let found = positions.iter().map(|&(a, b)| {
        let (bounds, both) = (values.bounds_of_pair((a, b)), [a, b].map(|at| variants[at]));
        // Where there is a range, the bounds say it.
        let unmeasured = if figure.range.is_none() { values.unmeasured_of_pair((a, b)) } else { 0 };
        let resume = if bounds.is_some() { resume(both) } else { Vec::new() };
        let of_pair = values.pair((a, b));
        let paired = differences(&of_pair, values);
        let key = of_pair.key();
        let figures = known.get(&key).cloned().unwrap_or_else(|| {
            let found = pair(&of_pair, &paired, settings, rule);
            if known.len() < MAX_KNOWN {
                known.insert(key, found.clone());
            }
            found
        });
        let [a_name, b_name] = both.map(|variant| variant.name.clone());
        let shares_none = of_pair.questions.is_empty() && !values.pairing.has_shared(a, b);
        let pair = Pair { a: a_name, b: b_name, bounds, unmeasured, resume, shares_none, ..figures };
        let against = |b_leads: bool| tested(&values.against((a, b), b_leads));
        let lead = pair.difference.filter(|_| pair.p.is_some_and(|p| p.value < settings.alpha));
        let p_highest = p_highest(lead, bounds, against, settings);
        (by_stop_rule(Pair { p_highest, ..pair }, figure, settings), paired)
    });
    found.collect()
}

/// What a function makes of the items, in their order; each processor has a part of them.
fn in_parallel<T: Sync, R: Send>(items: &[T], of_part: impl Fn(&[T]) -> Vec<R> + Sync) -> Vec<R> {
    let size = items.len().div_ceil(processors()).max(1);
    thread::scope(|scope| {
        let parts: Vec<_> = items.chunks(size).map(|part| scope.spawn(|| of_part(part))).collect();
        // A panic goes on here, as without threads.
        parts.into_iter().flat_map(|part| part.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}

/// The p if all that was not measured were against the variant that leads: 1 where that would end its lead.
fn p_highest(
    lead: Option<f64>,
    bounds: Option<Bounds>,
    against: impl Fn(bool) -> Differences,
    settings: &Settings,
) -> Option<f64> {
    let lead = lead?;
    if bounds?.hold_zero() {
        return Some(1.0);
    }
    against(lead > 0.0).deciding_p(settings.resamples, settings.seed)
}

/// The differences of two variants, with their questions by their ids.
fn differences(values: &Values, all: &FigureValues<'_, '_>) -> Differences {
    let mut order: Vec<usize> = (0..values.questions.len()).collect();
    order.sort_by_key(|at| all.pairing.id(values.questions[*at]));
    let range = all.figure.range_of_differences().or_else(|| all.figure.range_of_own(&values.variants));
    Differences { order, range, ..tested(values) }
}

/// As much of the differences as their test needs.
fn tested(values: &Values) -> Differences {
    let (binary, clusters) = (values.all_binary(), values.clusters.clone());
    Differences { values: values.differences(), clusters, order: Vec::new(), binary, range: None }
}

/// What is decided about two variants, given by their places, as if there were no others.
pub(crate) struct DecidedPair {
    pub(crate) variants: [usize; 2],
    /// Before any correction. Of a rule that stops a run it is 0 if it has decided, else 1.
    pub(crate) p: f64,
    /// The same if every unmeasured value were against the leader; equal to `p` where nothing could change.
    pub(crate) p_highest: f64,
    /// The variant with the greater values, where `p` is below alpha.
    pub(crate) leader: Option<usize>,
}

/// Each two variants on the questions that both have, in a figure of which more is better. A variant that has a question twice
/// is in no pair.
pub(crate) fn decided_pairs(
    variants: &[Variant],
    figure: &NamedFigure,
    settings: &Settings,
) -> Result<Vec<DecidedPair>, RunError> {
    let sound: Vec<usize> = (0..variants.len()).filter(|at| Pairing::of([&variants[*at]]).is_ok()).collect();
    let pairing = Pairing::of(sound.iter().map(|at| &variants[*at]))?;
    let values = pairing.values(figure)?;
    let pairs = (0..sound.len()).flat_map(|a| (a + 1..sound.len()).map(move |b| [a, b]));
    let named = |pair: DecidedPair| DecidedPair {
        variants: pair.variants.map(|at| sound[at]),
        leader: pair.leader.map(|at| sound[at]),
        ..pair
    };
    Ok(pairs.filter_map(|pair| decided(pair, &values, settings)).map(named).collect())
}

fn decided([a, b]: [usize; 2], values: &FigureValues<'_, '_>, settings: &Settings) -> Option<DecidedPair> {
    let variants = [a, b];
    let better = |difference: f64| if difference > 0.0 { b } else { a };
    let [a_name, b_name] = variants.map(|at| values.pairing.variants[at].name.as_str());
    if let Some(found) = about(a_name, b_name, values.figure, settings) {
        let leader = found.decided.then(|| better(found.difference.unwrap_or_default()));
        let p = if found.decided { 0.0 } else { 1.0 };
        return Some(DecidedPair { variants, p, p_highest: p, leader });
    }
    let of_pair = values.pair((a, b));
    let differences = tested(&of_pair);
    let p = differences.deciding_p(settings.resamples, settings.seed)?;
    let mean = Mean::clustered(&differences.values, differences.clusters.as_deref())?.mean;
    let lead = Some(mean).filter(|mean| *mean != 0.0 && p < settings.alpha);
    let against = |b_leads: bool| tested(&values.against((a, b), b_leads));
    let highest = lead.and_then(|_| p_highest(lead, values.bounds_of_pair((a, b)), against, settings));
    Some(DecidedPair { variants, p, p_highest: highest.unwrap_or(p), leader: lead.map(better) })
}

/// Adds the intervals that hold for every distribution. Holm's correction is over the bets alone: what sign flips find first may
/// owe it to an assumption that does not hold.
fn distribution_free(pairs: &mut [Pair], paired: &[Differences], rule: &Rule) {
    let needs_one = |at: &usize| pairs[*at].p.is_some() && !paired[*at].exact() && paired[*at].range.is_some();
    let mut open: Vec<usize> = (0..pairs.len()).filter(needs_one).collect();
    let mut left = rule.pairs;
    while !open.is_empty() {
        let chance = rule.alpha / float(left);
        let is_refuted = |at: &usize| paired[*at].betting_refutes_zero(chance, rule.seed) == Some(true);
        let judged = in_parallel(&open, |part| part.iter().map(|at| (*at, is_refuted(at))).collect());
        let (refuted, kept): (Vec<_>, Vec<_>) = judged.into_iter().partition(|(_, is)| *is);
        left -= refuted.len();
        // Where nothing more is refuted, the correction ends.
        let (done, next) = if refuted.is_empty() { (kept, Vec::new()) } else { (refuted, kept) };
        let interval = |at: usize| paired[at].betting_interval(1.0 - chance, rule.seed);
        for (at, interval) in in_parallel(&done, |part| part.iter().map(|(at, _)| (*at, interval(*at))).collect()) {
            let method = if paired[at].clusters.is_some() { "cluster betting" } else { "betting" };
            pairs[at].distribution_free = interval.map(|ends| MethodInterval::new(method, 1.0 - chance, ends));
        }
        open = next.into_iter().map(|(at, _)| at).collect();
    }
}

/// The commands that run again what was not measured of these variants, which may be of one run.
fn resume(variants: [&Variant; 2]) -> Vec<String> {
    let failed = variants.into_iter().filter(|variant| variant.items.iter().any(|item| !item.measured));
    let mut commands: Vec<String> = failed.filter_map(|variant| variant.resume.clone()).collect();
    commands.dedup();
    commands
}

/// The figures of a pair, which are those of every pair with these values.
fn pair(values: &Values, paired: &Differences, settings: &Settings, rule: &Rule) -> Pair {
    let Settings { level, resamples, seed, .. } = *settings;
    let decision = Decision::of(paired, rule);
    let sample = Sample { values: &paired.values, clusters: paired.clusters.as_deref() };
    let estimate = sample.mean();
    let drawn = Bootstrap::of(sample.values, sample.clusters, level, resamples, seed);
    let tests = Tests {
        mcnemar: decision.mcnemar,
        t_test: estimate.and_then(|estimate| estimate.t_test()),
        permutation: decision.permutation,
        permutation_sampled: decision
            .permutation
            .filter(|test| test.seed.is_some())
            .or_else(|| permutation_resampled(sample.units().sums(), resamples, seed)),
        wilcoxon: wilcoxon(sample.values),
    };
    let interval = decision.interval.map(|(method, ends)| MethodInterval::new(method, level, ends));
    let others = [
        sample.t_interval(level),
        sample.z_interval(level),
        drawn.as_ref().map(|drawn| sample.bootstrap_interval(drawn)),
    ];
    let [mean_a, mean_b] = [0, 1].map(|at| values.sample(at).mean());
    Pair {
        n: sample.values.len(),
        a_mean: mean_a.map(|mean| mean.mean),
        b_mean: mean_b.map(|mean| mean.mean),
        difference: estimate.map(|estimate| estimate.mean),
        se: estimate.and_then(|estimate| estimate.se),
        unpaired_se: mean_a.and_then(|mean| mean.se).zip(mean_b.and_then(|mean| mean.se)).map(|(a, b)| a.hypot(b)),
        correlation: pearson(&values.variants[0], &values.variants[1]),
        interval,
        intervals: interval.into_iter().chain(others.into_iter().flatten()).collect(),
        bootstrap: drawn,
        p: decision.decisive.map(|(test, value)| DecisiveP { test, value }),
        tests,
        reach: Reach::of(paired, rule, decision.interval.map(|(_, ends)| ends)),
        ..Pair::default()
    }
}

/// One value per question: those of a variant, or the differences of two.
#[derive(Clone, Copy)]
pub(super) struct Sample<'a> {
    pub(super) values: &'a [f64],
    /// The cluster of each question, if questions share any.
    pub(super) clusters: Option<&'a [usize]>,
}

impl Values {
    pub(super) fn sample(&self, variant: usize) -> Sample<'_> {
        Sample { values: &self.variants[variant], clusters: self.clusters.as_deref() }
    }
}

impl Sample<'_> {
    /// The mean, with a standard error that accounts for clusters.
    pub(super) fn mean(self) -> Option<Mean> {
        Mean::clustered(self.values, self.clusters)
    }

    /// Wilson's interval of right and wrong answers that are independent.
    fn wilson(self, level: f64) -> Option<MethodInterval> {
        let right = self.values.iter().filter(|value| **value > 0.0).count();
        let (right, n) = (u64::try_from(right).ok()?, u64::try_from(self.values.len()).ok()?);
        (n > 0 && self.clusters.is_none()).then(|| MethodInterval::new("wilson", level, wilson(right, n, level)))
    }

    /// Wilson's for right and wrong, the padded one for other values that have a range, else Student's. That of equal values would
    /// be without width, and is absent.
    pub(super) fn mean_interval(self, binary: bool, range: Option<Interval>, level: f64) -> Option<MethodInterval> {
        match range {
            _ if binary && self.clusters.is_none() => self.wilson(level),
            Some(_) => self.padded_interval(range, level),
            None => self.t_interval(level).filter(|interval| interval.low < interval.high),
        }
    }

    /// Student's interval with one more question, or cluster, at each end of the range.
    pub(super) fn padded_interval(self, range: Option<Interval>, level: f64) -> Option<MethodInterval> {
        let interval = self.units().padded_interval(range, level).filter(|_| !self.values.is_empty())?;
        Some(MethodInterval::new(self.method("padded t", "cluster padded t"), level, interval))
    }

    /// Every interval of a variant's mean, as the formulas give them.
    pub(super) fn mean_intervals(self, binary: bool, level: f64) -> Vec<MethodInterval> {
        let wilson = if binary { self.wilson(level) } else { None };
        [wilson, self.t_interval(level), self.z_interval(level)].into_iter().flatten().collect()
    }

    pub(super) fn t_interval(self, level: f64) -> Option<MethodInterval> {
        Some(MethodInterval::new(self.method("t", "cluster t"), level, self.mean()?.t_interval(level)?))
    }

    /// The same with the normal quantile.
    pub(super) fn z_interval(self, level: f64) -> Option<MethodInterval> {
        Some(MethodInterval::new(self.method("z", "cluster z"), level, self.mean()?.z_interval(level)?))
    }

    fn bootstrap_interval(self, drawn: &Bootstrap) -> MethodInterval {
        MethodInterval::new(self.method("bootstrap", "cluster bootstrap"), drawn.level, drawn.interval)
    }

    fn units(self) -> Sums {
        Sums::of(self.values, self.clusters)
    }

    fn method(self, plain: &'static str, clustered: &'static str) -> &'static str {
        if self.clusters.is_some() { clustered } else { plain }
    }
}

/// The method of an interval that holds at any time.
pub(super) const SEQUENCE: &str = "confidence sequence";

/// The pair as the rule of its run decides it, or with the rule that makes its p invalid.
pub(super) fn by_stop_rule(pair: Pair, figure: &NamedFigure, settings: &Settings) -> Pair {
    if let Some(found) = about(&pair.a, &pair.b, figure, settings) {
        return sequential(pair, found);
    }
    Pair { stopped_by: stopped_by(&[&pair.a, &pair.b], settings), ..pair }
}

/// The rule that could stop a run of these variants, so that no p and no interval of them is valid at its nominal level.
pub(super) fn stopped_by(variants: &[&str], settings: &Settings) -> Option<String> {
    settings.stopped.iter().find(|run| run.has(variants)).map(|run| run.rule.to_string())
}

/// What a rule found about this pair, seen as `b − a`.
pub(super) fn about(a: &str, b: &str, figure: &NamedFigure, settings: &Settings) -> Option<Stopping> {
    settings.stopped.iter().find_map(|run| run.about(a, b, figure))
}

/// No figure of a fixed number of questions is left.
fn sequential(pair: Pair, found: Stopping) -> Pair {
    let ends = Interval { low: found.low, high: found.high };
    let interval = (found.n > 0).then(|| MethodInterval::new(SEQUENCE, 1.0 - found.rule.alpha, ends));
    Pair {
        a: pair.a,
        b: pair.b,
        n: found.n,
        a_mean: found.a_mean,
        b_mean: found.b_mean,
        difference: found.difference,
        interval,
        intervals: interval.into_iter().collect(),
        reach: Reach { mde: None, questions_needed: None, questions_needed_interval: None, ..pair.reach },
        stopping: Some(found),
        ..Pair::default()
    }
}

/// With more pairs than this, p after Holm is not computed.
pub(crate) const MOST_PAIRS: usize = 5_000;

/// How many pairs so many variants have.
pub(crate) const fn pairs_of(variants: usize) -> usize {
    variants * variants.saturating_sub(1) / 2
}

/// Sign flips of all pairs together at most: a few seconds.
const MOST_FLIPS: usize = 2_000_000_000;

impl AllPairs {
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
    let most = pairs_of(count);
    for figure in &mut comparison.figures {
        let is_charged = |pair: &Pair| pair.p.is_some() && !is_planned(&pair.a, &pair.b);
        let named = figure.pairs.iter().filter(|pair| is_charged(pair)).count();
        if named == 0 || figure.pairs.len() >= most || most < 2 {
            continue;
        }
        let flips = if figure.binary { 1 } else { comparison.settings.resamples };
        let is_cheap = most <= MOST_PAIRS && most.saturating_mul(figure.n).saturating_mul(flips) <= MOST_FLIPS;
        let all = if is_cheap && all.len() == count { all } else { &[] };
        let known = holm_of_all(figure, all, &comparison.settings);
        for pair in figure.pairs.iter_mut().filter(|pair| is_charged(pair)) {
            let Some(own) = pair.p.map(|p| p.value) else { continue };
            let [a, b] = [pair.a.as_str(), pair.b.as_str()];
            let possible = match known.get(&[a, b]).or_else(|| known.get(&[b, a])) {
                Some(p) => AllPairs { named, pairs: known.len(), correction: "holm", p: *p },
                None => AllPairs { named, pairs: most, correction: "bonferroni", p: (own * float(most)).min(1.0) },
            };
            pair.verdict.sentence = format!("{}; {}", pair.verdict.sentence, possible.sentence());
            pair.possible = Some(possible);
        }
    }
}

/// The p of every pair on the questions that both have, after Holm over all: the compared ones as they were compared.
fn holm_of_all<'v>(figure: &FigureComparison, all: &'v [Variant], settings: &Settings) -> HashMap<[&'v str; 2], f64> {
    let mut found = Vec::new();
    for (at, a) in all.iter().enumerate() {
        for b in &all[at + 1..] {
            let compared = figure.pair(&a.name, &b.name).and_then(|pair| pair.p);
            let p = compared.map(|p| p.value).or_else(|| p_of(a, b, &figure.figure, settings));
            found.extend(p.map(|p| ([a.name.as_str(), b.name.as_str()], p)));
        }
    }
    let (names, p): (Vec<_>, Vec<f64>) = found.into_iter().unzip();
    names.into_iter().zip(holm(&p)).collect()
}

/// The p that decides about two variants, without what else is known of them.
fn p_of(a: &Variant, b: &Variant, figure: &NamedFigure, settings: &Settings) -> Option<f64> {
    let pairing = Pairing::of([a, b]).ok()?;
    let values = pairing.values(figure).ok()?;
    tested(&values.pair((0, 1))).deciding_p(settings.resamples, settings.seed)
}

#[cfg(test)]
mod tests {
    use super::{AllPairs, among_all, decided_pairs};
    use crate::analysis::compare::tests::{done, quick, variant};
    use crate::analysis::compare::{Settings, Variant, compare};
    use crate::base::Pairs;
    use crate::base::stats::holm;

    /// Ten variants that are right on a third of 60 questions, each on others.
    fn ten() -> Vec<Variant> {
        (0..10_usize)
            .map(|v| variant(&format!("v{v}"), (0..60_usize).map(|i| (i * (v + 3) + v * v) % 7 < 2 + v % 3)))
            .collect()
    }

    fn named(pairs: &[[&str; 2]], count: usize, all: &[Variant], planned: &[&str]) -> Vec<(Option<AllPairs>, String)> {
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
    fn a_variant_with_a_question_twice_is_in_no_pair() {
        let mut variants = ten();
        let twice = variants[3].items[0].clone();
        variants[3].items.push(twice);
        let settings = quick();
        let pairs = decided_pairs(&variants, &settings.figures[0], &settings).expect("pairs");
        assert_eq!(pairs.len(), 36);
        assert!(pairs.iter().all(|pair| !pair.variants.contains(&3)));
        assert!(pairs.iter().any(|pair| pair.variants == [2, 4]));
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
