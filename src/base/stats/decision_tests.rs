//! The decision about a pair: its power against other ways to compute it, and intervals that agree with their tests.

use super::distributions::float;
use super::resampling::permutation_exact;
use super::resampling::{flip_chance, flip_interval, score_interval};
use super::tests::differences;
use super::*;
use proptest::prelude::*;

fn rule() -> Rule {
    Rule { level: 0.95, alpha: 0.05, power: 0.8, pairs: 1, resamples: 300, seed: 7 }
}

#[test]
fn fewer_units_than_the_smallest_p_needs_show_nothing() {
    for (pairs, least) in [(1, 6), (2, 7), (3, 7), (10, 9)] {
        assert_eq!(least_differing(0.05 / f64::from(pairs)), least, "p of 2 / 2^n is below 0.05 / {pairs}");
    }
    assert_eq!((least_differing(1.0), least_differing(0.5), least_differing(0.0)), (2, 3, u64::MAX));
    for spread in [Spread::Signs, Spread::Normal] {
        let design = Design { spread, differing: 1.0, alpha: 0.05 };
        assert_eq!((design.smallest_effect(5, 0.8), design.power(5, 1.0)), (None, 0.0));
        assert!(design.smallest_effect(6, 0.8).is_some());
        // Where fewer than all questions differ, six of them are a matter of luck.
        assert_eq!(Design { differing: 0.3, ..design }.smallest_effect(10, 0.8), None);
    }
}

#[test]
fn the_power_of_mcnemar_is_the_sum_over_all_tables() {
    let (n, discordant, difference) = (14_i32, 0.6, 0.35);
    let (won, lost): (f64, f64) = (f64::midpoint(discordant, difference), f64::midpoint(discordant, -difference));
    let factorial = |n: i32| (1..=n).map(f64::from).product::<f64>();
    let mut power = 0.0;
    for b in 0..=n {
        for c in 0..=n - b {
            let ways = factorial(n) / factorial(b) / factorial(c) / factorial(n - b - c);
            let chance = ways * won.powi(b) * lost.powi(c) * (1.0 - discordant).powi(n - b - c);
            let shown = b > c && McNemar::new(c.unsigned_abs().into(), b.unsigned_abs().into()).exact_p < 0.05;
            power += if shown { chance } else { 0.0 };
        }
    }
    let design = Design { spread: Spread::Signs, differing: discordant, alpha: 0.05 };
    let found = design.power(14, difference / discordant);
    assert!((found - power).abs() < 1e-9, "{found} is not {power}");
    // Above 128 differing questions it is an approximation, and goes on where the sum ends.
    let all = Design { differing: 1.0, ..design };
    let (summed, after) =
        (all.smallest_effect(128, 0.8).expect("an effect"), all.smallest_effect(129, 0.8).expect("an effect"));
    assert!((summed / after - 1.0).abs() < 0.03, "{summed} {after}");
}

#[test]
fn the_power_of_sign_flips_is_that_of_simulated_tests() {
    for (n, alpha) in [(6, 0.05), (7, 0.05), (8, 0.05), (8, 0.05 / 3.0), (9, 0.05), (12, 0.05)] {
        let design = Design { spread: Spread::Normal, differing: 1.0, alpha };
        let effect = design.smallest_effect(n, 0.8).expect("an effect");
        let mut rng = rng::SplitMix64::new(n);
        #[expect(clippy::cast_precision_loss, reason = "a number of few digits")]
        let mut normal = || {
            distributions::normal_quantile(((rng.next_u64() >> 40) as f64 + 0.5) / f64::from(1 << 24)).expect("a share")
        };
        let mut shown = 0;
        for _ in 0..1000 {
            let values: Vec<f64> = (0..n).map(|_| effect + normal()).collect();
            shown += i32::from(permutation_exact(&values).expect("a test").p < alpha);
        }
        // 0.80, with three standard errors of 1,000 simulations on both sides.
        assert!((762..=838).contains(&shown), "{n} at {alpha}: {shown}");
    }
}

#[test]
fn the_units_needed_are_the_inverse_of_the_smallest_effect() {
    for (spread, differing) in
        [(Spread::Signs, 0.3), (Spread::Signs, 1.0), (Spread::Normal, 0.5), (Spread::Normal, 1.0)]
    {
        let design = Design { spread, differing, alpha: 0.05 };
        for n in [40, 300, 5000] {
            let effect = design.smallest_effect(n, 0.8).expect("an effect");
            let needed = design.units_needed(effect, 0.8).expect("a number");
            // McNemar's power falls a little where one more question allows no more losses.
            assert!(needed <= n && needed + 2 + n / 50 >= n, "{design:?}: {needed} for {n}");
        }
        assert_eq!(design.units_needed(0.0, 0.8), None);
        // Thousands of questions: the usual formula.
        let effect = design.smallest_effect(20_000, 0.8).expect("an effect");
        let per_unit = if spread == Spread::Signs {
            differing
        } else {
            differing + differing * (1.0 - differing) * effect * effect
        };
        let usual = smallest_difference(per_unit, 20_000.0, 0.05, 0.8).expect("a difference") / differing;
        assert!((effect / usual - 1.0).abs() < 0.02, "{design:?}: {effect} {usual}");
    }
}

#[test]
fn the_score_interval_excludes_0_where_mcnemar_rejects() {
    for n in 1..=24_u64 {
        for (a, b) in (0..=n).flat_map(|a| (0..=n - a).map(move |b| (a, b))) {
            let p = McNemar::new(a, b).exact_p;
            for level in [0.8, 0.9, 0.95, 0.99] {
                let interval = score_interval(a, b, n, level, p).expect("an interval");
                let found = (float(b) - float(a)) / float(n);
                assert!(interval.contains(found) && interval.low >= -1.0 && interval.high <= 1.0, "{a} {b} of {n}");
                assert_eq!(interval.contains(0.0), p >= flip_chance(level), "{a} {b} of {n} at {level}: {interval:?}");
                // The formula itself excludes 0 there; the end is not moved to the edge of 0.
                assert!(interval.low.abs().min(interval.high.abs()) > 1e-3 || interval.contains(0.0), "{interval:?}");
            }
        }
    }
    // With the restricted estimate found by maximising the likelihood numerically (scipy).
    let interval = score_interval(1, 7, 21, 0.95, 0.0).expect("an interval");
    assert!(
        (interval.low - 0.026_003_032).abs() < 1e-8 && (interval.high - 0.517_232_276).abs() < 1e-8,
        "{interval:?}"
    );
    assert_eq!((score_interval(0, 0, 0, 0.95, 1.0), score_interval(1, 2, 9, 1.0, 1.0)), (None, None));
}

/// The decision about graded differences without a bound.
fn graded(values: &[f64], clusters: Option<&[usize]>, rule: &Rule) -> Decision {
    Decision::of(&differences_of(values, clusters, None), rule)
}

fn differences_of(values: &[f64], clusters: Option<&[usize]>, range: Option<Interval>) -> Differences {
    let (order, clusters) = ((0..values.len()).collect(), clusters.map(<[usize]>::to_vec));
    Differences { values: values.to_vec(), clusters, order, binary: false, range }
}

#[test]
fn the_ends_of_the_flip_interval_are_where_the_test_begins_to_reject() {
    let values = [0.3, -0.1, 0.8, 0.45, 0.0, 0.2, 0.62, -0.4, 0.9];
    let p = |shift: f64| permutation_exact(&values.map(|value| value - shift)).expect("a test").p;
    let flips = |values: &[f64], clusters: &[usize]| {
        let units = Sums::of(values, Some(clusters));
        let p = permutation_exact(units.sums()).map_or(1.0, |test| test.p);
        flip_interval(&units, 0.95, 300, 7, p)
    };
    let alone: Vec<usize> = (0..9).collect();
    let interval = flips(&values, &alone).expect("an interval");
    for (end, inwards) in [(interval.low, 1e-6), (interval.high, -1e-6)] {
        assert!(p(end + inwards) >= 0.05 && p(end - inwards) < 0.05, "{interval:?}");
    }
    // Of twins each counts once.
    let (twins, pairs): (Vec<f64>, Vec<usize>) = (0..18).map(|at| (values[at / 2], at / 2)).unzip();
    let of_twins = flips(&twins, &pairs).expect("an interval");
    assert!((of_twins.low - interval.low).abs() < 1e-12 && (of_twins.high - interval.high).abs() < 1e-12);
    // Five units reject nothing, six do.
    let few = |n: usize| flips(&values[..n], &alone[..n]).expect("an interval");
    assert_eq!((few(4).low, few(4).high), (f64::NEG_INFINITY, f64::INFINITY));
    assert!(few(6).low.is_finite() && few(6).high.is_finite());
    assert_eq!(flips(&[], &[]), None);
}

#[test]
fn graded_intervals_hold_the_flips_own_and_have_a_width() {
    let values = [0.3, -0.1, 0.8, 0.45, 0.0, 0.2, 0.62, -0.4, 0.9];
    let alone: Vec<usize> = (0..9).collect();
    let (name, interval) = graded(&values, None, &rule()).interval.expect("an interval");
    let of_clusters = graded(&values, Some(&alone), &rule()).interval;
    assert_eq!((name, of_clusters), ("sign flips and t", Some(("cluster sign flips and t", interval))));
    let flips = flip_interval(&Sums::of(&values, Some(&alone)), 0.95, 300, 7, 0.1).expect("an interval");
    assert!(interval.low <= flips.low && interval.high >= flips.high, "{interval:?} {flips:?}");
    assert_eq!(graded(&[], None, &rule()).interval, None);
    // Five that differ reject nothing: without a bound nothing is ruled out, with one betting rules out some.
    let range = Some(Interval { low: -1.0, high: 1.0 });
    let bounded =
        |values: &[f64]| Decision::of(&differences_of(values, None, range), &rule()).interval.expect("an interval");
    assert_eq!(graded(&values[..5], None, &rule()).interval.map(|(_, of)| of.low), Some(f64::NEG_INFINITY));
    for values in [&values[..5], &[0.0; 30], &[0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]] {
        let (name, interval) = bounded(values);
        assert!(name == "betting" && interval.low < 0.0 && interval.high > 0.0, "{values:?}: {interval:?}");
        assert!(interval.low > -1.0 || interval.high < 1.0, "{interval:?}");
    }
    // All differ by the same: there is a width, and 0 is not in it, as the test says.
    for interval in [bounded(&[0.2; 30]).1, graded(&[0.2; 30], None, &rule()).interval.expect("an interval").1] {
        assert!(interval.low > 0.0 && interval.low < 0.2 && interval.high > 0.2, "{interval:?}");
    }
}

proptest! {
    #[test]
    fn the_interval_excludes_0_exactly_where_the_test_rejects(values in differences(), lift in 0_i8..4, sizes in 1_usize..4, bound in any::<bool>()) {
        let values: Vec<f64> = values.iter().map(|value| value + f64::from(lift) / 8.0).collect();
        let clusters: Vec<usize> = (0..values.len()).map(|at| at / sizes).collect();
        let largest = values.iter().map(|value| value.abs()).fold(0.1, f64::max);
        let range = bound.then_some(Interval { low: -largest, high: largest });
        for clusters in [None, Some(&clusters[..])] {
            for level in [0.9, 0.95] {
                let order = (0..values.len()).rev().collect();
                let differences = Differences { order, ..differences_of(&values, clusters, range) };
                let found = Decision::of(&differences, &Rule { level, ..rule() });
                let (Some((_, p)), Some((_, interval))) = (found.decisive, found.interval) else { panic!("a decision") };
                prop_assert_eq!(interval.contains(0.0), p >= flip_chance(level), "{:?} {:?}", p, interval);
                let mean = Mean::of(&values).expect("a mean").mean;
                prop_assert!(interval.low <= mean + 1e-9 && mean <= interval.high + 1e-9);
                prop_assert!(interval.low < interval.high);
            }
        }
    }
}
