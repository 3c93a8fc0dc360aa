//! Digits against mpmath (40 digits), textbook cases, degenerate input, and properties of all methods.

#![expect(clippy::excessive_precision, reason = "digits as mpmath gives them")]

use super::distributions::{central_t, two_sided_t, two_sided_z};
use super::resampling::{ENUMERATED, permutation_exact, permutation_resampled};
use super::*;
use proptest::prelude::*;

#[track_caller]
fn close(got: f64, expected: f64) {
    assert!((got - expected).abs() <= 1e-13 * expected.abs(), "{got:e} is not {expected:e}");
}

#[test]
fn tails_and_quantiles_of_t_have_all_their_digits() {
    for (freedom, t, p) in [
        (1, 12.0, 0.052_929_352_119_179_751),
        (11, 3.3, 0.007_077_990_164_459_767_6),
        (199, 4.09, 6.260_904_848_351_879_9e-5),
        (7404, 1.96, 0.050_033_243_440_621_893),
        (7404, -5.0, 5.864_753_581_023_606_2e-7),
        (7404, 0.1, 0.920_347_032_869_340_94),
    ] {
        close(two_sided_t(t, freedom), p);
    }
    for (freedom, level, t) in [
        (1, 0.95, 12.706_204_736_174_693),
        (2, 0.99, 9.924_843_200_918_288_6),
        (11, 0.95, 2.200_985_160_091_639_4),
        (199, 0.95, 1.971_956_544_251_753_4),
        (7404, 0.95, 1.960_284_440_035_677_4),
        (7404, 0.999, 3.291_841_326_469_575_6),
    ] {
        close(central_t(level, freedom).expect("a quantile"), t);
    }
    assert_eq!((central_t(0.95, 0), central_t(1.0, 9), central_t(f64::NAN, 9)), (None, None, None));
    close(two_sided_z(1.0).expect("a tail"), 0.317_310_507_862_914_1);
    assert_eq!((two_sided_z(0.0), two_sided_z(f64::NAN)), (Some(1.0), None));
}

#[test]
fn mcnemar_is_exact_for_few_and_for_thousands() {
    for (only_a, only_b, exact, mid) in [
        (20, 0, 1.907_348_632_812_5e-6, 9.536_743_164_062_5e-7),
        (60, 60, 1.0, 1.0),
        (40, 81, 0.000_244_217_024_496_944_6, 0.000_179_845_775_970_898_26),
        (45, 76, 0.006_150_808_149_995_358_4, 0.004_800_874_060_088_957_4),
        (3000, 3200, 0.011_488_253_770_871_206, 0.011_085_759_458_586_639),
        (0, 900, 2.366_104_372_333_549_4e-271, 1.183_052_186_166_774_7e-271),
    ] {
        for test in [McNemar::new(only_a, only_b), McNemar::new(only_b, only_a)] {
            close(test.exact_p, exact);
            close(test.mid_p, mid);
        }
    }
    let nothing = McNemar::new(0, 0);
    assert_eq!((nothing.exact_p, nothing.mid_p, nothing.corrected, nothing.uncorrected), (1.0, 1.0, None, None));
    assert!(McNemar::new(0, 100_000).exact_p < f64::MIN_POSITIVE);
}

#[test]
fn cochrans_q_is_its_formula() {
    let column = |bits: [u8; 10]| bits.map(|bit| bit == 1).to_vec();
    let columns = [
        column([1, 1, 1, 0, 1, 0, 1, 0, 1, 1]),
        column([1, 0, 1, 0, 0, 0, 1, 0, 0, 0]),
        column([1, 1, 0, 0, 1, 1, 1, 0, 1, 1]),
    ];
    let test = cochran_q(&columns).expect("a test");
    close(test.q, 16.0 / 3.0);
    close(test.p, 0.069_483_451_222_801_535);
    assert_eq!(test.freedom, 2);
    let same = cochran_q(&[columns[0].clone(), columns[0].clone()]).expect("a test");
    assert_eq!((same.q, same.p), (0.0, 1.0));
    // For two columns it is McNemar's test without correction.
    let (two, pair) = (cochran_q(&columns[..2]).expect("a test"), McNemar::new(4, 0).uncorrected.expect("a test"));
    assert_eq!((two.q, two.p), (pair.statistic, pair.p));
    assert_eq!(cochran_q(&[vec![], vec![]]).map(|test| test.p), Some(1.0));
    assert_eq!((cochran_q(&columns[..1]), cochran_q(&[]), cochran_q(&[vec![true], vec![]])), (None, None, None));
}

#[test]
fn clusters_widen_the_standard_error() {
    let values = [1.0, 0.5, -1.0, 0.0, 0.25, 1.0, 1.0, -0.5];
    let mean = Mean::clustered(&values, Some(&[0, 0, 1, 2, 2, 2, 3, 4])).expect("a mean");
    close(mean.se.expect("an error"), 0.272_878_893_696_452_82);
    assert_eq!((mean.mean, mean.n, mean.freedom), (0.281_25, 8, 4));
    // Clusters of one value change nothing.
    let (alone, plain) = (Mean::clustered(&values, Some(&[7, 6, 5, 4, 3, 2, 1, 0])), Mean::of(&values));
    let (alone, plain) = (alone.expect("a mean"), plain.expect("a mean"));
    close(alone.se.expect("an error"), plain.se.expect("an error"));
    assert_eq!(alone.freedom, plain.freedom);
    // Equal pairs count half.
    let twins: Vec<f64> = values.iter().flat_map(|value| [*value, *value]).collect();
    let clusters: Vec<usize> = (0..16).map(|i| i / 2).collect();
    let paired = Mean::clustered(&twins, Some(&clusters)).expect("a mean");
    close(paired.se.expect("an error"), plain.se.expect("an error"));
    let drawn = Bootstrap::of(&twins, Some(&clusters), 0.95, 200, 3).expect("a bootstrap");
    let single = Bootstrap::of(&values, None, 0.95, 200, 3).expect("a bootstrap");
    assert_eq!((drawn.interval, drawn.p), (single.interval, single.p));
    // One cluster says nothing about the spread.
    assert_eq!(Mean::clustered(&values, Some(&[0; 8])).expect("a mean").se, None);
}

#[test]
fn a_bootstrap_of_unequal_clusters_weighs_their_values() {
    let drawn = Bootstrap::of(&[1.0, 1.0, 1.0, 0.0], Some(&[4, 4, 4, 9]), 0.9, 500, 1).expect("a bootstrap");
    // Two clusters can only give the means 0, 3/4 and 1.
    assert_eq!((drawn.interval.low, drawn.interval.high), (0.0, 1.0));
    assert!((0.15..0.35).contains(&drawn.share_at_most_0), "{drawn:?}");
}

#[test]
fn resampled_and_enumerated_signs_agree() {
    let values: Vec<f64> = (0..18).map(|i| f64::from(i * i % 7) / 7.0 - 0.2).collect();
    let (exact, drawn) = (permutation_exact(&values).expect("a test"), permutation_resampled(&values, 20_000, 5));
    assert_eq!((exact.patterns, exact.seed), (1 << 18, None));
    assert!((exact.p - drawn.expect("a test").p).abs() < 0.01);
    let many = vec![0.5; ENUMERATED + 1];
    assert_eq!(permutation_exact(&many), None);
    assert_eq!(permutation(&many, 10, 5).expect("a test").seed, Some(5));
    // Zeros have no sign, and do not count towards the limit.
    let mut padded = vec![0.0; 500];
    padded.extend([0.5; 4]);
    assert_eq!(permutation(&padded, 10, 5).map(|test| (test.p, test.patterns)), Some((0.125, 16)));
}

#[test]
fn corrections_keep_the_order_they_were_given() {
    assert_eq!(holm(&[0.04, 0.01, 0.03]), [0.06, 0.03, 0.06]);
    assert_eq!(bonferroni(&[0.5, 0.01]), [1.0, 0.02]);
    assert_eq!(benjamini_hochberg(&[0.04, 0.01, 0.03]), [0.04, 0.03, 0.04]);
    for correct in [holm, bonferroni, benjamini_hochberg] {
        assert_eq!(correct(&[]), [0.0; 0]);
        assert_eq!(correct(&[0.3]), [0.3]);
    }
}

#[test]
fn the_smallest_difference_is_the_inverse_of_the_questions_needed() {
    let n = questions_needed(0.15, 0.05, 0.05, 0.8).expect("a number");
    close(smallest_difference(0.15, n, 0.05, 0.8).expect("a difference"), 0.05);
    // 500 questions of which 15 % are discordant detect 4.9 points.
    let least = smallest_difference(0.15, 500.0, 0.05, 0.8).expect("a difference");
    assert!((0.0485..0.0486).contains(&least), "{least}");
    assert_eq!((questions_needed(0.1, 0.0, 0.05, 0.8), questions_needed(-0.1, 0.1, 0.05, 0.8)), (None, None));
    assert_eq!((smallest_difference(0.1, 0.0, 0.05, 0.8), smallest_difference(0.1, 9.0, 1.0, 0.8)), (None, None));
    assert_eq!((smallest_difference(0.1, 9.0, 0.05, 0.0), smallest_difference(0.1, 9.0, f64::NAN, 0.8)), (None, None));
}

#[test]
fn degenerate_input_gives_nothing_rather_than_nan() {
    for values in [&[][..], &[f64::NAN], &[1.0, f64::INFINITY], &[f64::MAX, f64::MAX, f64::MIN]] {
        assert_eq!(Mean::of(values), None, "{values:?}");
        assert_eq!(Mean::clustered(values, Some(&[0, 0, 1][..values.len()])), None, "{values:?}");
        assert_eq!(Bootstrap::of(values, None, 0.95, 10, 1), None, "{values:?}");
        assert_eq!(permutation(values, 10, 1), None, "{values:?}");
        if values.len() < 3 {
            assert_eq!(wilcoxon(values), None, "{values:?}");
        }
    }
    let one = Mean::of(&[0.5]).expect("a mean");
    assert_eq!(
        (one.mean, one.se, one.t_test(), one.t_interval(0.95), one.z_interval(0.95)),
        (0.5, None, None, None, None)
    );
    // Adding up 0.1 rounds, and equal values still have no spread.
    let equal = Mean::of(&[0.1; 77]).expect("a mean");
    assert_eq!((equal.se, equal.t_test()), (Some(0.0), None));
    assert_eq!(equal.t_interval(0.95).map(|interval| interval.low), Some(equal.mean));
    assert_eq!((wilcoxon(&[0.0; 9]), pearson(&[0.1; 9], &[0.2; 9]), pearson(&[], &[])), (None, None, None));
    assert_eq!((pearson(&[1.0], &[1.0, 2.0]), pearson(&[1.0, f64::NAN], &[1.0, 2.0])), (None, None));
    assert_eq!(permutation(&[0.0; 9], 10, 1).map(|test| (test.p, test.patterns)), Some((1.0, 1)));
    let still = Bootstrap::of(&[0.0; 9], None, 0.95, 10, 1).expect("a bootstrap");
    assert_eq!((still.p, still.se, still.interval), (1.0, Some(0.0), Interval { low: 0.0, high: 0.0 }));
    assert_eq!(Bootstrap::of(&[1.0, 2.0], None, 0.95, 1, 1).expect("a bootstrap").se, None);
    assert_eq!((Bootstrap::of(&[1.0], None, 0.95, 0, 1), Bootstrap::of(&[1.0], None, 1.0, 9, 1)), (None, None));
    assert_eq!(permutation_resampled(&[1.0], 0, 1), None);
}

pub(super) fn differences() -> impl Strategy<Value = Vec<f64>> {
    // Eighths add up without rounding, and ties are many.
    proptest::collection::vec((-8_i8..=8).prop_map(|eighths| f64::from(eighths) / 8.0), 1..40)
}

proptest! {
    #[test]
    fn swapping_the_columns_mirrors_everything(values in differences(), seed: u64) {
        let mirrored: Vec<f64> = values.iter().map(|value| -value).collect();
        let (here, there) = (Mean::of(&values).expect("a mean"), Mean::of(&mirrored).expect("a mean"));
        prop_assert_eq!((here.mean, here.se), (-there.mean, there.se));
        prop_assert_eq!(here.t_test().map(|test| test.p), there.t_test().map(|test| test.p));
        prop_assert_eq!(permutation(&values, 50, seed), permutation(&mirrored, 50, seed));
        let rank = |values| wilcoxon(values).map(|test| (test.w, test.p));
        prop_assert_eq!(rank(&values), rank(&mirrored));
        let draw = |values| Bootstrap::of(values, None, 0.9, 50, seed).expect("a bootstrap");
        let (here, there) = (draw(&values), draw(&mirrored));
        prop_assert_eq!((here.p, here.se), (there.p, there.se));
        prop_assert!((here.interval.low + there.interval.high).abs() < 1e-12);
    }

    #[test]
    fn every_p_is_a_probability_and_every_interval_holds_the_mean(values in differences(), seed: u64) {
        let mean = Mean::of(&values).expect("a mean");
        let drawn = permutation_resampled(&values, 30, seed).expect("a test");
        let chosen = permutation(&values, 30, seed).expect("a test");
        let bootstrap = Bootstrap::of(&values, None, 0.95, 30, seed).expect("a bootstrap");
        for p in [drawn.p, chosen.p, bootstrap.p] {
            prop_assert!(p > 0.0 && p <= 1.0, "{}", p);
        }
        for p in [mean.t_test().map(|test| test.p), wilcoxon(&values).map(|test| test.p)].into_iter().flatten() {
            prop_assert!((0.0..=1.0).contains(&p), "{}", p);
        }
        for interval in [mean.t_interval(0.95), mean.z_interval(0.95)].into_iter().flatten() {
            prop_assert!(interval.contains(mean.mean));
        }
        prop_assert!(bootstrap.interval.low <= bootstrap.interval.high);
    }

    #[test]
    fn a_mcnemar_test_is_the_sign_flip_of_its_questions(only_a in 0_u8..=9, only_b in 0_u8..=9) {
        let mut values = vec![-1.0; usize::from(only_a)];
        values.extend(vec![1.0; usize::from(only_b)]);
        values.push(0.0);
        let signs = permutation_exact(&values).expect("a test").p;
        prop_assert!((McNemar::new(only_a.into(), only_b.into()).exact_p - signs).abs() < 1e-15);
    }

    #[test]
    fn corrections_never_make_a_p_smaller(p in proptest::collection::vec(0.0..=1.0_f64, 0..20)) {
        let (holm, bonferroni, bh) = (holm(&p), bonferroni(&p), benjamini_hochberg(&p));
        for i in 0..p.len() {
            prop_assert!(p[i] <= bh[i] + 1e-15 && bh[i] <= holm[i] + 1e-15 && holm[i] <= bonferroni[i] + 1e-15);
            prop_assert!(bonferroni[i] <= 1.0);
        }
    }
}
