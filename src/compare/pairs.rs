//! One pair of variants: difference, intervals, tests, what can be shown.

use super::comparison::{Bounds, DecisiveP, Pair, Tests};
use super::pairing::{Extremes, Values};
use super::sample::Sample;
use super::{Settings, Variant, Verdict};
use crate::stats::{McNemar, holm, pearson, questions_needed, smallest_difference, wilcoxon};

/// The pairs of a figure before anything is said about them.
pub(super) fn pairs(
    variants: &[Variant],
    values: &Values<'_>,
    extremes: Option<&[Extremes]>,
    settings: &Settings,
) -> Vec<Pair> {
    let mut pairs: Vec<Pair> = positions(variants, settings)
        .into_iter()
        .map(|(a, b)| Pair {
            bounds: extremes.and_then(|extremes| bounds(&extremes[a], &extremes[b])),
            ..pair(variants, (a, b), values, settings)
        })
        .collect();
    let (at, p): (Vec<usize>, Vec<f64>) =
        pairs.iter().enumerate().filter_map(|(at, pair)| Some((at, pair.p?.value))).unzip();
    for (at, corrected) in at.into_iter().zip(holm(&p)) {
        pairs[at].p_holm = Some(corrected);
    }
    pairs
}

/// Which variants are compared, by their positions.
pub(super) fn positions(variants: &[Variant], settings: &Settings) -> Vec<(usize, usize)> {
    let names: Vec<&str> = variants.iter().map(|variant| variant.name.as_str()).collect();
    settings.pairs.positions(&names)
}

fn pair(variants: &[Variant], (a, b): (usize, usize), values: &Values<'_>, settings: &Settings) -> Pair {
    let level = settings.level;
    let (of_a, of_b) = (&values.variants[a], &values.variants[b]);
    let clusters = values.clusters.as_deref();
    let differences: Vec<f64> = of_a.iter().zip(of_b).map(|(a, b)| b - a).collect();
    let sample = Sample { values: &differences, clusters };
    let estimate = sample.mean();
    let drawn = sample.bootstrap(settings);
    let t = sample.t_interval(level);
    let resampled = drawn.as_ref().map(|drawn| sample.bootstrap_interval(drawn));
    let tests = Tests {
        mcnemar: (values.binary && !differences.is_empty()).then(|| mcnemar(&differences)),
        t_test: estimate.and_then(|estimate| estimate.t_test()),
        permutation: sample.sign_flips(settings),
        permutation_sampled: sample.sampled_flips(settings),
        wilcoxon: wilcoxon(&differences),
    };
    let se = estimate.and_then(|estimate| estimate.se);
    let (mde, questions_needed) = reach(&differences, se, settings);
    let [mean_a, mean_b] = [of_a, of_b].map(|values| Sample { values, clusters }.mean());
    Pair {
        a: variants[a].name.clone(),
        b: variants[b].name.clone(),
        n: differences.len(),
        a_mean: mean_a.map(|mean| mean.mean),
        b_mean: mean_b.map(|mean| mean.mean),
        difference: estimate.map(|estimate| estimate.mean),
        se,
        unpaired_se: mean_a.and_then(|mean| mean.se).zip(mean_b.and_then(|mean| mean.se)).map(|(a, b)| a.hypot(b)),
        correlation: pearson(of_a, of_b),
        interval: if values.binary { t } else { resampled },
        intervals: [t, sample.z_interval(level), resampled].into_iter().flatten().collect(),
        bootstrap: drawn,
        p: decisive(&tests, clusters.is_some()),
        tests,
        p_holm: None,
        mde,
        questions_needed,
        bounds: None,
        verdict: Verdict::default(),
    }
}

/// `McNemar`'s exact test where it applies, else the permutation test. Only the latter accounts for clusters.
fn decisive(tests: &Tests, clustered: bool) -> Option<DecisiveP> {
    let mcnemar = tests.mcnemar.filter(|_| !clustered);
    let mcnemar = mcnemar.map(|test| DecisiveP { test: "mcnemar exact", value: test.exact_p });
    mcnemar.or_else(|| tests.permutation.map(|test| DecisiveP { test: "permutation", value: test.p }))
}

fn mcnemar(differences: &[f64]) -> McNemar {
    let count = |of: fn(&f64) -> bool| differences.iter().filter(|value| of(value)).map(|_| 1).sum();
    McNemar::new(count(|value| *value < 0.0), count(|value| *value > 0.0))
}

/// The minimum detectable difference, and the number of questions needed to detect the one found. Both depend on the
/// spread of the differences and are absent if there is none.
fn reach(differences: &[f64], se: Option<f64>, settings: &Settings) -> (Option<f64>, Option<f64>) {
    #[expect(clippy::cast_precision_loss, reason = "counts of questions are far below 2^53")]
    let n = differences.len() as f64;
    let Some(variance) = se.filter(|se| *se > 0.0).map(|se| se * se * n) else { return (None, None) };
    let found = differences.iter().sum::<f64>() / n;
    let Settings { alpha, power, .. } = *settings;
    (smallest_difference(variance, n, alpha, power), questions_needed(variance, found, alpha, power))
}

/// The lowest and highest difference: unmeasured rows of `a` all right and of `b` all wrong, and the other way round.
fn bounds(a: &Extremes, b: &Extremes) -> Option<Bounds> {
    let sums = a.iter().zip(b).fold((0.0, 0.0), |(low, high), (a, b)| (low + b.0 - a.1, high + b.1 - a.0));
    Bounds::of(sums, a.len())
}
