//! One pair of variants: difference, intervals, tests, what can be shown.

use super::comparison::{DecisiveP, MethodInterval, Pair, Tests};
use super::pairing::{FigureValues, Values};
use super::sample::Sample;
use super::stopped::{about, ruled};
use super::{NamedFigure, Settings, Variant, Verdict};
use crate::stats::{Decision, Reach, Rule, holm, pearson, wilcoxon};

/// The pairs of a figure before anything is said about them.
pub(super) fn pairs(
    variants: &[Variant],
    values: &FigureValues<'_, '_>,
    figure: &NamedFigure,
    settings: &Settings,
) -> Vec<Pair> {
    let positions = positions(variants, settings);
    let Settings { level, alpha, power, resamples, seed, .. } = *settings;
    // A rule's pair has no p, and so none to correct.
    let of_rule = |(a, b): &(usize, usize)| about(&variants[*a].name, &variants[*b].name, figure, settings).is_some();
    let corrected = positions.iter().filter(|pair| !of_rule(pair)).count();
    let rule = Rule { level, alpha, power, pairs: corrected.max(1), resamples, seed };
    let mut pairs: Vec<Pair> = positions
        .into_iter()
        .map(|(a, b)| {
            let (bounds, both) = (values.bounds_of_pair((a, b)), [a, b].map(|at| &variants[at]));
            let resume = if bounds.is_some() { resume(both) } else { Vec::new() };
            let pair = Pair { bounds, resume, ..pair(both, &values.pair((a, b)), settings, &rule) };
            Pair { p_highest: p_highest(&pair, values, (a, b), &rule), ..pair }
        })
        .map(|pair| ruled(pair, figure, settings))
        .collect();
    let (at, p): (Vec<usize>, Vec<f64>) =
        pairs.iter().enumerate().filter_map(|(at, pair)| Some((at, pair.p?.value))).unzip();
    let highest: Vec<f64> = at.iter().zip(&p).map(|(at, p)| pairs[*at].p_highest.unwrap_or(*p)).collect();
    for ((at, corrected), highest) in at.into_iter().zip(holm(&p)).zip(holm(&highest)) {
        pairs[at].p_holm = Some(corrected);
        pairs[at].p_highest = pairs[at].p_highest.map(|_| highest);
    }
    pairs
}

/// The p if all that was not measured were against the variant that leads: 1 where that would end its lead.
fn p_highest(pair: &Pair, values: &FigureValues<'_, '_>, places: (usize, usize), rule: &Rule) -> Option<f64> {
    let lead = pair.difference.filter(|_| pair.p.is_some_and(|p| p.value < rule.alpha))?;
    if pair.bounds?.hold_zero() {
        return Some(1.0);
    }
    let values = values.against(places, lead > 0.0);
    let decision = Decision::of(&differences(&values), values.clusters.as_deref(), values.binary, rule);
    decision.decisive.map(|(_, p)| p)
}

/// What the second variant has more, question by question.
fn differences(values: &Values) -> Vec<f64> {
    values.variants[0].iter().zip(&values.variants[1]).map(|(a, b)| b - a).collect()
}

/// Which variants are compared, by their positions.
pub(super) fn positions(variants: &[Variant], settings: &Settings) -> Vec<(usize, usize)> {
    let names: Vec<&str> = variants.iter().map(|variant| variant.name.as_str()).collect();
    settings.pairs.positions(&names)
}

/// The commands that run again what was not measured of these variants, which may be of one run.
fn resume(variants: [&Variant; 2]) -> Vec<String> {
    let failed = variants.into_iter().filter(|variant| variant.items.iter().any(|item| !item.measured));
    let mut commands: Vec<String> = failed.filter_map(|variant| variant.resume.clone()).collect();
    commands.dedup();
    commands
}

fn pair([a, b]: [&Variant; 2], values: &Values, settings: &Settings, rule: &Rule) -> Pair {
    let level = settings.level;
    let (of_a, of_b) = (&values.variants[0], &values.variants[1]);
    let clusters = values.clusters.as_deref();
    let differences = differences(values);
    let decision = Decision::of(&differences, clusters, values.binary, rule);
    let reach = Reach::of(&differences, clusters, values.binary, rule);
    let sample = Sample { values: &differences, clusters };
    let estimate = sample.mean();
    let drawn = sample.bootstrap(settings);
    let tests = Tests {
        mcnemar: decision.mcnemar,
        t_test: estimate.and_then(|estimate| estimate.t_test()),
        permutation: decision.permutation,
        permutation_sampled: decision
            .permutation
            .filter(|test| test.seed.is_some())
            .or_else(|| sample.sampled_flips(settings)),
        wilcoxon: wilcoxon(&differences),
    };
    let interval = decision.interval.map(|(method, ends)| MethodInterval::new(method, level, ends));
    let others = [
        sample.t_interval(level),
        sample.z_interval(level),
        drawn.as_ref().map(|drawn| sample.bootstrap_interval(drawn)),
    ];
    let [mean_a, mean_b] = [of_a, of_b].map(|values| Sample { values, clusters }.mean());
    Pair {
        a: a.name.clone(),
        b: b.name.clone(),
        n: differences.len(),
        a_mean: mean_a.map(|mean| mean.mean),
        b_mean: mean_b.map(|mean| mean.mean),
        difference: estimate.map(|estimate| estimate.mean),
        se: estimate.and_then(|estimate| estimate.se),
        unpaired_se: mean_a.and_then(|mean| mean.se).zip(mean_b.and_then(|mean| mean.se)).map(|(a, b)| a.hypot(b)),
        correlation: pearson(of_a, of_b),
        interval,
        intervals: interval.into_iter().chain(others.into_iter().flatten()).collect(),
        bootstrap: drawn,
        p: decision.decisive.map(|(test, value)| DecisiveP { test, value }),
        tests,
        p_holm: None,
        units: reach.units,
        differing: reach.differing,
        least_differing: reach.least,
        too_few_resamples: reach.too_few_resamples,
        mde: reach.smallest,
        questions_needed: reach.needed,
        bounds: None,
        p_highest: None,
        resume: Vec::new(),
        stopping: None,
        stopped_by: None,
        verdict: Verdict::default(),
    }
}
