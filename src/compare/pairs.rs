//! One pair of variants: difference, intervals, tests, what can be shown.

use super::comparison::{DecisiveP, MethodInterval, Pair, Tests};
use super::pairing::{FigureValues, Values};
use super::sample::Sample;
use super::stopped::{about, ruled};
use super::{NamedFigure, Settings, Variant, Verdict};
use crate::stats::{Decision, Differences, Interval, Reach, Rule, holm, pearson, wilcoxon};

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
    let (mut pairs, paired): (Vec<Pair>, Vec<Paired>) = positions
        .into_iter()
        .map(|(a, b)| {
            let (bounds, both) = (values.bounds_of_pair((a, b)), [a, b].map(|at| &variants[at]));
            let resume = if bounds.is_some() { resume(both) } else { Vec::new() };
            let of_pair = values.pair((a, b));
            let paired = Paired::of(&of_pair, values, figure);
            let pair = Pair { bounds, resume, ..pair(both, &of_pair, &paired.borrowed(), settings, &rule) };
            let against = |b_leads: bool| Paired::of(&values.against((a, b), b_leads), values, figure);
            (ruled(Pair { p_highest: p_highest(&pair, against, &rule), ..pair }, figure, settings), paired)
        })
        .unzip();
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

/// The p if all that was not measured were against the variant that leads: 1 where that would end its lead.
fn p_highest(pair: &Pair, against: impl Fn(bool) -> Paired, rule: &Rule) -> Option<f64> {
    let lead = pair.difference.filter(|_| pair.p.is_some_and(|p| p.value < rule.alpha))?;
    if pair.bounds?.hold_zero() {
        return Some(1.0);
    }
    let decision = Decision::of(&against(lead > 0.0).borrowed(), rule);
    decision.decisive.map(|(_, p)| p)
}

/// The differences of a pair.
pub(super) struct Paired {
    values: Vec<f64>,
    clusters: Option<Vec<usize>>,
    /// Positions of the questions by their ids.
    order: Vec<usize>,
    binary: bool,
    range: Option<Interval>,
}

impl Paired {
    pub(super) fn of(values: &Values, all: &FigureValues<'_, '_>, figure: &NamedFigure) -> Self {
        let mut order: Vec<usize> = (0..values.questions.len()).collect();
        order.sort_by_key(|at| all.id(values.questions[*at]));
        Self {
            values: values.variants[0].iter().zip(&values.variants[1]).map(|(a, b)| b - a).collect(),
            clusters: values.clusters.clone(),
            order,
            binary: values.all_binary(),
            range: figure.range_of_differences().or_else(|| figure.range_of_own(&values.variants)),
        }
    }

    pub(super) fn borrowed(&self) -> Differences<'_> {
        let Self { values, clusters, order, binary, range } = self;
        Differences { values, clusters: clusters.as_deref(), order, binary: *binary, range: *range }
    }
}

/// Adds the intervals that hold for every distribution. Holm's correction is over the bets alone: what sign flips find first may
/// owe it to an assumption that does not hold.
fn distribution_free(pairs: &mut [Pair], paired: &[Paired], rule: &Rule) {
    let needs_one =
        |at: &usize| pairs[*at].p.is_some() && !paired[*at].borrowed().exact() && paired[*at].range.is_some();
    let mut open: Vec<usize> = (0..pairs.len()).filter(needs_one).collect();
    let mut left = rule.pairs;
    while !open.is_empty() {
        #[expect(clippy::cast_precision_loss, reason = "a number of pairs")]
        let chance = rule.alpha / left as f64;
        let refuted = |at: &usize| paired[*at].borrowed().betting_refutes_zero(chance, rule.seed) == Some(true);
        let (refuted, kept): (Vec<usize>, Vec<usize>) = open.into_iter().partition(refuted);
        left -= refuted.len();
        // Where nothing more is refuted, the correction ends.
        let (done, next) = if refuted.is_empty() { (kept, Vec::new()) } else { (refuted, kept) };
        for at in done {
            let method = if paired[at].clusters.is_some() { "cluster betting" } else { "betting" };
            let interval = paired[at].borrowed().betting_interval(1.0 - chance, rule.seed);
            pairs[at].distribution_free = interval.map(|ends| MethodInterval::new(method, 1.0 - chance, ends));
        }
        open = next;
    }
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

fn pair([a, b]: [&Variant; 2], values: &Values, paired: &Differences<'_>, settings: &Settings, rule: &Rule) -> Pair {
    let level = settings.level;
    let (of_a, of_b) = (&values.variants[0], &values.variants[1]);
    let Differences { values: differences, clusters, .. } = *paired;
    let decision = Decision::of(paired, rule);
    let reach = Reach::of(paired, rule);
    let sample = Sample { values: differences, clusters };
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
        wilcoxon: wilcoxon(differences),
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
        distribution_free: None,
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
        questions_needed_interval: reach.need.zip(decision.interval).map(|(need, (_, ends))| need.between(ends)),
        bounds: None,
        p_highest: None,
        resume: Vec::new(),
        stopping: None,
        stopped_by: None,
        possible: None,
        verdict: Verdict::default(),
    }
}
