//! Whole comparisons: planted differences, repeats, clusters, what is missing, and what must never change.

use super::flips::Flips;
use super::{Better, Comparison, Ids, Item, NamedFigure, Settings, Unit, Variant, Word, compare, flips};
use crate::base::Pairs;
use crate::base::stats::Mean;
use proptest::prelude::*;

/// A variant of EM and F1 from EM alone: F1 is half where EM is 0.
pub(super) fn variant(name: &str, right: impl IntoIterator<Item = bool>) -> Variant {
    let mut variant = Variant::new(name, vec!["em".into(), "f1".into()], vec!["type".into()]);
    for (i, right) in right.into_iter().enumerate() {
        let (em, f1) = if right { (1.0, 1.0) } else { (0.0, 0.5) };
        variant.items.push(Item {
            id: format!("q{i:04}"),
            measured: true,
            values: vec![Some(em), Some(f1)],
            groups: vec![Some(if i % 3 == 0 { "comparison" } else { "bridge" }.into())],
            ..Item::default()
        });
    }
    variant
}

pub(super) fn quick() -> Settings {
    Settings { resamples: 500, ..Settings::default() }
}

pub(super) fn done(variants: &[Variant]) -> Comparison {
    compare(variants, &quick()).expect("a comparison")
}

/// `n` questions, the first `right` of them right.
pub(super) fn first_right(name: &str, right: usize, n: usize) -> Variant {
    variant(name, (0..n).map(|i| i < right))
}

/// The case of a thread on lm-eval: 220 questions, unpaired p 0.08, `McNemar`'s 0.008.
#[test]
fn pairing_finds_what_unpaired_errors_hide() {
    // 26 questions flip one way and 9 the other; 100 more are right in both.
    let a = variant("a", (0..220).map(|i| i < 109));
    let b = variant("b", (0..220).map(|i| (9..135).contains(&i)));
    let pair = &done(&[a, b]).figures[0].pairs[0];
    let test = pair.tests.mcnemar.expect("a test");
    assert_eq!((test.only_a, test.only_b), (9, 26));
    assert!(test.exact_p < 0.01 && pair.verdict.distinguishable);
    let z = pair.difference.expect("a difference") / pair.unpaired_se.expect("an error");
    assert!(z < 1.96 && pair.se < pair.unpaired_se && pair.correlation > Some(0.6), "{z}");
}

#[test]
fn indistinguishable_variants_show_the_detectable_difference() {
    let a = variant("a", (0..500).map(|i| i < 150));
    let b = variant("b", (0..500).map(|i| (36..192).contains(&i)));
    let found = done(&[a, b]);
    let pair = &found.figures[0].pairs[0];
    let least = pair.reach.mde.expect("a difference");
    assert!((0.0508..0.0509).contains(&least), "{least}");
    assert_eq!(
        pair.verdict.sentence,
        "b and a are not distinguishable: with 500 questions the smallest detectable difference is 5.1 points EM (80 % power, if 16 % \
         of them differ); observed: 1.2 points EM, 95 % interval -2.3 to 4.7, p = 0.5716"
    );
    let needed = pair.reach.questions_needed.expect("a number");
    assert!((8000..9000).contains(&needed), "{needed}");
    assert!(found.notes.is_empty(), "{:?}", found.notes);
}

#[test]
fn all_pairs_or_those_with_the_baseline_are_corrected_together() {
    let variants = [first_right("a", 20, 60), first_right("b", 26, 60), first_right("c", 40, 60)];
    let all = done(&variants);
    let em = &all.figures[0];
    let names = |pairs: &[super::Pair]| pairs.iter().map(|pair| (pair.a.clone(), pair.b.clone())).collect::<Vec<_>>();
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(names(&em.pairs), [pair("a", "b"), pair("a", "c"), pair("b", "c")]);
    let q = em.cochran_q.expect("a test");
    assert!(q.freedom == 2 && q.p < 0.001);
    // 0.03125 is the largest of the three, and stays.
    let first = em.pair("b", "a").expect("a pair");
    assert_eq!((first.p.map(|p| p.value), first.p_holm), (Some(0.03125), Some(0.03125)));
    let last = em.pair("b", "c").expect("a pair");
    assert_eq!(last.p_holm, Some(last.p.expect("a p").value * 2.0));
    assert!(last.verdict.sentence.ends_with(" after Holm"), "{}", last.verdict.sentence);
    assert!(all.notes.iter().any(|note| note.contains("covers the 3 pairs")));
    // F1 is not 0 and 1: no Q.
    assert_eq!((all.figures[1].binary, all.figures[1].cochran_q), (false, None));
    assert_eq!(all.figures[1].pairs[0].p.expect("a p").test, "permutation");

    let with = compare(&variants, &Settings { pairs: Pairs::with("c"), ..quick() }).expect("a comparison");
    let em = &with.figures[0];
    assert_eq!(names(&em.pairs), [pair("c", "a"), pair("c", "b")]);
    assert_eq!(em.pairs[0].difference, Some(-20.0 / 60.0));
    assert_eq!(em.pairs[0].verdict.winner.as_deref(), Some("c"));
    assert!(em.pairs[0].verdict.sentence.starts_with("c beats a by 33.3 points EM, 95 % interval 22.7 to 45.9"));

    let contrasts = vec![["c".into(), "a".into()], ["a".into(), "b".into()]];
    let planned = Pairs { contrasts, ..Pairs::with("b") };
    let found = compare(&variants, &Settings { pairs: planned, ..quick() }).expect("a comparison");
    let em = &found.figures[0];
    assert_eq!(names(&em.pairs), [pair("c", "a"), pair("a", "b")]);
    let p = em.pairs[0].p.expect("a p").value;
    assert_eq!(em.pairs[0].p_holm, Some(2.0 * p), "corrected for two pairs");
    assert_eq!(em.pairs[0].difference, Some(-20.0 / 60.0));
}

#[test]
fn unmatched_and_unmeasured_questions_are_counted_listed_and_bounded() {
    let (mut a, mut b) = (first_right("a", 30, 100), first_right("b", 40, 100));
    a.items.truncate(90);
    for item in &mut b.items[0..3] {
        (item.measured, item.values) = (false, vec![None, None]);
    }
    b.items[50].values[1] = None;
    let found = done(&[a, b]);
    assert_eq!((found.questions, found.shared), (100, 90));
    let [of_a, of_b] = &found.variants[..] else { panic!("two variants") };
    assert_eq!((of_a.unmatched.count, of_b.unmatched.count, of_b.unmatched.listed[0].as_str()), (0, 10, "q0090"));
    let three = Ids { count: 3, listed: vec!["q0000".into(), "q0001".into(), "q0002".into()] };
    assert_eq!((&of_b.unmeasured, of_b.not_measured, of_a.not_measured), (&three, 3, 0));
    let em = &found.figures[0];
    assert_eq!((em.n, &em.excluded), (87, &three));
    assert_eq!(found.figures[1].n, 86);
    let bounds = em.means[1].bounds.expect("bounds");
    assert_eq!((bounds.low, bounds.high, bounds.n), (37.0 / 90.0, 40.0 / 90.0, 90));
    assert_eq!(em.means[0].bounds, None);
    let pair = em.pairs[0].bounds.expect("bounds");
    assert_eq!((pair.low, pair.high, pair.n), (7.0 / 90.0, 10.0 / 90.0, 90));
    assert_eq!(found.notes.len(), 4, "{:?}", found.notes);

    let (many, few) = (first_right("a", 0, 100), first_right("b", 0, 2));
    let unmatched = &done(&[many, few]).variants[0].unmatched;
    assert_eq!((unmatched.count, unmatched.listed.len()), (98, Ids::LISTED));
}

#[test]
fn repeats_are_averaged_before_anything_is_compared() {
    let repeated = |name: &str, right: &[[bool; 3]]| {
        let mut variant = Variant::new(name, vec!["em".into()], vec![]);
        for (i, repeats) in right.iter().enumerate() {
            for (repeat, right) in (0..).zip(repeats) {
                let (question, values) = (format!("q{i}"), vec![Some(f64::from(u8::from(*right)))]);
                variant.items.push(Item { id: question, repeat, measured: true, values, ..Item::default() });
            }
        }
        variant
    };
    let a = repeated("a", &[[true, false, false], [true, true, false], [false; 3], [true; 3]]);
    let mut b = repeated("b", &[[true, true, false], [true, false, false], [false; 3], [true; 3]]);
    assert_eq!(flips(&a, &b), Flips { n: 4, gained: vec!["q0".into()], lost: vec!["q1".into()] });
    let settings = Settings { figures: vec![NamedFigure::new("em")], ..quick() };
    let found = compare(&[a.clone(), b.clone()], &settings).expect("a comparison");
    let (em, pair) = (&found.figures[0], &found.figures[0].pairs[0]);
    assert_eq!((em.binary, pair.tests.mcnemar, em.means[0].mean), (false, None, Some(0.5)));
    assert_eq!((pair.n, found.variants[0].repeats, found.variants[0].rows), (4, 3, 12));
    assert_eq!(pair.p.expect("a p").test, "permutation");
    assert!(found.notes.iter().any(|note| note.contains("McNemar's test and Cochran's Q are left out")));
    // A repeat that failed leaves the mean of the others.
    (b.items[0].measured, b.items[0].values) = (false, vec![None]);
    let found = compare(&[a, b], &settings).expect("a comparison");
    let mean = &found.figures[0].means[1];
    assert_eq!((found.figures[0].n, mean.mean), (4, Some((0.5 + 1.0 / 3.0 + 1.0) / 4.0)));
    let bounds = mean.bounds.expect("bounds");
    assert!((bounds.high - bounds.low - 1.0 / 12.0).abs() < 1e-15);
}

#[test]
fn clusters_decide_the_error_and_the_test() {
    let (mut a, mut b) = (first_right("a", 20, 80), first_right("b", 40, 80));
    let plain = done(&[a.clone(), b.clone()]);
    for variant in [&mut a, &mut b] {
        for (i, item) in variant.items.iter_mut().enumerate() {
            item.cluster = (i < 60).then(|| format!("page {}", i / 10));
        }
    }
    let found = done(&[a, b]);
    let (em, before) = (&found.figures[0], &plain.figures[0]);
    assert_eq!((em.clusters, before.clusters, em.n), (Some(26), None, 80));
    let pair = &em.pairs[0];
    assert!(pair.se > before.pairs[0].se && em.means[0].se > before.means[0].se);
    // Too few clusters differ for sign flips.
    assert_eq!(pair.interval.expect("an interval").method, "cluster betting");
    assert_eq!(em.means[0].interval.expect("an interval").method, "cluster padded t");
    // Two clusters differ: four patterns of signs, of which two are as far.
    let test = pair.tests.permutation.expect("a test");
    assert_eq!((test.patterns, test.p, pair.p.expect("a p").test), (4, 0.5, "permutation"));
    assert!(before.pairs[0].verdict.distinguishable && !pair.verdict.distinguishable);
    assert!(pair.tests.mcnemar.expect("a test").exact_p < 1e-4);
    assert!(found.notes.iter().any(|note| note.contains("80 questions are in 26 clusters")));
    let mut together = [first_right("a", 20, 80), first_right("b", 40, 80)];
    together.iter_mut().flat_map(|of| &mut of.items).for_each(|item| item.cluster = Some("page".into()));
    assert!(done(&together).notes.iter().any(|note| note.contains("80 questions are in 1 cluster: ")));
    let differences: Vec<f64> = (0..80).map(|i| f64::from(u8::from((20..40).contains(&i)))).collect();
    let clusters: Vec<usize> = (0..80).map(|i| if i < 60 { i / 10 } else { i }).collect();
    assert_eq!(pair.se, Mean::clustered(&differences, Some(&clusters)).and_then(|mean| mean.se));
}

#[test]
fn parts_of_the_questions_have_means_and_differences_of_their_own() {
    let variants = [first_right("a", 30, 90), first_right("b", 60, 90)];
    let settings = Settings { breakdowns: vec!["type".into()], ..quick() };
    let found = compare(&variants, &settings).expect("a comparison");
    assert_eq!(found.breakdowns.len(), 2);
    let by_type = &found.breakdowns[0];
    let groups: Vec<_> = by_type.groups.iter().map(|group| (group.value.as_deref(), group.n)).collect();
    assert_eq!((by_type.figure.as_str(), groups), ("em", vec![(Some("bridge"), 60), (Some("comparison"), 30)]));
    let bridge = &by_type.groups[0];
    assert_eq!((bridge.means[0].mean, bridge.pairs[0].difference), (Some(20.0 / 60.0), Some(20.0 / 60.0)));
    assert_eq!(bridge.means[0].interval.expect("an interval").method, "wilson");
    assert!(found.notes.iter().any(|note| note.contains("prove nothing")));

    let mut variants = variants;
    for variant in &mut variants {
        for (i, item) in variant.items.iter_mut().enumerate() {
            item.groups[0] = [Some("10"), Some("2"), Some("x"), None][i % 4].map(str::to_owned);
        }
    }
    let found = compare(&variants, &settings).expect("a comparison");
    let order: Vec<_> = found.breakdowns[0].groups.iter().map(|group| group.value.as_deref()).collect();
    assert_eq!(order, [Some("2"), Some("10"), Some("x"), None]);
}

#[test]
fn amounts_are_shown_in_their_own_units() {
    let amounts = |name: &str, of: fn(u32) -> f64| {
        let mut variant = Variant::new(name, vec!["steps".into(), "cost_usd".into()], vec![]);
        for i in 0..40 {
            let values = vec![Some(of(i)), Some(of(i) / 1000.0).filter(|_| i > 0)];
            variant.items.push(Item { id: i.to_string(), measured: true, values, ..Item::default() });
        }
        variant
    };
    let (a, b) = (amounts("a", |i| f64::from(i % 5)), amounts("b", |i| f64::from(i % 5 + 1 + i % 2)));
    let settings = Settings { figures: vec![NamedFigure::new("steps"), NamedFigure::new("cost_usd")], ..quick() };
    let found = compare(&[a, b], &settings).expect("a comparison");
    let [steps, cost] = &found.figures[..] else { panic!("two figures") };
    assert_eq!((steps.figure.unit, steps.figure.better, cost.n), (Unit::Amount, Better::Neither, 39));
    let verdict = &steps.pairs[0].verdict;
    assert_eq!((verdict.distinguishable, &verdict.winner), (true, &None));
    assert_eq!(
        (verdict.word, verdict.sentence.as_str()),
        (
            Word::IsAheadOf,
            "b lies above a by 1.50 steps, 95 % interval 1.20 to 1.68, p = 0.0020; a kind of question that makes up 7.2 % could \
             be missing from these 40"
        )
    );
    let verdict = &cost.pairs[0].verdict;
    assert_eq!(verdict.winner.as_deref(), Some("a"));
    assert!(
        verdict.sentence.starts_with("a is ahead of b by 0.001513 cost_usd (less is better), 95 % interval 0.0012"),
        "{}",
        verdict.sentence
    );
}

#[test]
fn counts_of_0_and_1_are_no_shares() {
    let named = |mut variant: Variant| {
        variant.figures = variant.figures.iter().map(|name| name.replace("em", "lookups")).collect();
        variant
    };
    let variants = [named(first_right("a", 1, 6)), named(first_right("b", 2, 6)), named(first_right("c", 5, 6))];
    let settings = Settings { figures: vec![NamedFigure::new("lookups")], ..quick() };
    let found = compare(&variants, &settings).expect("a comparison");
    let lookups = &found.figures[0];
    assert_eq!((lookups.binary, lookups.cochran_q), (false, None));
    assert!(lookups.pairs.iter().all(|pair| pair.tests.mcnemar.is_none()));
}

#[test]
fn what_cannot_be_compared_is_refused_with_its_names() {
    let (a, b) = (first_right("a", 1, 3), first_right("b", 2, 3));
    let refused =
        |variants: &[Variant], settings: &Settings| compare(variants, settings).expect_err("an error").to_string();
    assert_eq!(refused(std::slice::from_ref(&a), &quick()), "a comparison needs at least two variants, found 1");
    assert_eq!(refused(&[a.clone(), a.clone()], &quick()), "two variants have the name `a`");
    let both = [a.clone(), b.clone()];
    let error = refused(&both, &Settings { pairs: Pairs::with("c"), ..quick() });
    assert_eq!(error, "no variant `c` to compare with; the variants are a, b");
    let contrast = |a: &str, b: &str| Pairs { contrasts: vec![[a.into(), b.into()]], ..Pairs::default() };
    let error = refused(&both, &Settings { pairs: contrast("a", "d"), ..quick() });
    assert_eq!(error, "no variant `d` to compare with; the variants are a, b");
    let error = refused(&both, &Settings { pairs: contrast("a", "a"), ..quick() });
    assert_eq!(error, "`a` cannot be compared with itself");
    let error = refused(&both, &Settings { figures: vec![NamedFigure::new("steps")], ..quick() });
    assert_eq!(error, "`a` has no figure `steps`; it has em, f1");
    let error = refused(&both, &Settings { breakdowns: vec!["level".into()], ..quick() });
    assert_eq!(error, "no variant has the field `level` to break down by; the fields are type");
    assert_eq!(refused(&both, &Settings { figures: vec![], ..quick() }), "no figure to compare");
    assert_eq!(refused(&both, &Settings { resamples: 0, ..quick() }), "`resamples` must be 1 or more");
    for settings in [Settings { level: 1.0, ..quick() }, Settings { alpha: f64::NAN, ..quick() }] {
        assert!(refused(&both, &settings).contains("must be greater than 0 and less than 1"));
    }
    let (mut twice, mut other) = (a.clone(), b.clone());
    twice.items.push(a.items[0].clone());
    let error = refused(&[b, twice], &quick());
    assert_eq!(error, "`a` has question `q0000`, repeat 0, twice");
    other.items.iter_mut().for_each(|item| item.id.push('x'));
    assert_eq!(refused(&[a, other], &quick()), "the variants a, b share no question");
}

#[test]
fn nothing_measured_and_one_question_are_said_and_hold_no_nan() {
    let (mut a, b) = (first_right("a", 0, 4), first_right("b", 4, 4));
    a.items.iter_mut().for_each(|item| item.measured = false);
    let found = done(&[a, b.clone()]);
    let em = &found.figures[0];
    assert_eq!((em.n, em.binary, em.means[1].mean, em.pairs[0].p), (0, false, None, None));
    let verdict = &em.pairs[0].verdict;
    assert_eq!((verdict.word, verdict.distinguishable), (Word::CannotBeCompared, false));
    assert_eq!(verdict.sentence, "b and a cannot be compared: no question has a value for EM in both");
    let json = serde_json::to_value(&found).expect("JSON");
    assert_eq!(
        (&json["metrics"][0]["pairs"][0]["difference"], json["settings"]["seed"].as_u64()),
        (&serde_json::Value::Null, Some(12_345))
    );

    let twin = Variant { name: "twin".into(), ..b.clone() };
    assert_eq!(
        done(&[b.clone(), twin]).figures[0].pairs[0].verdict.sentence,
        "twin and b are not distinguishable: they never differ in EM on 4 questions"
    );

    // Values that are not finite do not count.
    let (mut a, good) = (first_right("a", 0, 4), first_right("b", 4, 4));
    (a.items[0].values[0], a.items[1].values[0]) = (Some(f64::NAN), Some(f64::INFINITY));
    let found = done(&[a, good]);
    assert_eq!((found.figures[0].n, found.figures[0].excluded.count, found.figures[1].n), (2, 2, 4));

    let found = done(&[first_right("a", 0, 1), b]);
    let pair = &found.figures[0].pairs[0];
    assert_eq!((pair.n, pair.difference, pair.se, pair.reach.mde, pair.p_holm), (1, Some(1.0), None, None, Some(1.0)));
    assert_eq!(
        pair.verdict.sentence,
        "b and a are not distinguishable: 1 question cannot show any difference at p < 0.05, as at least 6 questions must \
         differ; observed: 100.0 points EM, 95 % interval -58.7 to 100.0, p = 1.0000"
    );
}

fn bits(n: usize) -> impl Strategy<Value = (Vec<bool>, Vec<bool>)> {
    let variant = || proptest::collection::vec(any::<bool>(), n);
    (variant(), variant())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn swapping_two_columns_mirrors_the_comparison((a, b) in bits(30), seed: u64) {
        let settings = Settings { resamples: 60, seed, ..Settings::default() };
        let run = |variants: &[Variant]| compare(variants, &settings).expect("a comparison");
        let (a, b) = (variant("a", a), variant("b", b));
        let (here, there) = (run(&[a.clone(), b.clone()]), run(&[b.clone(), a.clone()]));
        for (here, there) in here.figures.iter().zip(&there.figures) {
            let (here, there) = (&here.pairs[0], &there.pairs[0]);
            prop_assert_eq!(here.difference.map(|difference| -difference), there.difference);
            prop_assert_eq!((here.p, here.p_holm, here.se), (there.p, there.p_holm, there.se));
            prop_assert_eq!(here.verdict.distinguishable, there.verdict.distinguishable);
            prop_assert_eq!(&here.verdict.winner, &there.verdict.winner);
            let (Some(mine), Some(theirs)) = (here.interval, there.interval) else { continue };
            prop_assert!((mine.low + theirs.high).abs() < 1e-12 && (mine.high + theirs.low).abs() < 1e-12);
        }
        let (forth, back) = (flips(&a, &b), flips(&b, &a));
        prop_assert_eq!((forth.gained, forth.lost), (back.lost, back.gained));
    }

    #[test]
    fn the_order_of_rows_changes_no_figure_of_the_means((a, b) in bits(20)) {
        let mut turned = variant("b", b.clone());
        turned.items.reverse();
        let (a, b) = (variant("a", a), variant("b", b));
        let (here, there) = (done(&[a.clone(), b]), done(&[a, turned]));
        prop_assert_eq!(here, there);
    }

    #[test]
    fn a_verdict_never_outruns_its_rule((a, b) in bits(25), seed: u64) {
        let settings = Settings { resamples: 60, seed, ..Settings::default() };
        let found = compare(&[variant("a", a), variant("b", b)], &settings).expect("a comparison");
        for pair in found.figures.iter().flat_map(|figure| &figure.pairs) {
            let p = pair.p_holm.expect("a p");
            prop_assert!(p > 0.0 && p <= 1.0);
            prop_assert_eq!(pair.verdict.distinguishable, p < 0.05);
            let excludes = pair.interval.is_some_and(|interval| !interval.contains(0.0));
            prop_assert_eq!(pair.verdict.distinguishable, excludes, "one pair: the interval says the same");
        }
    }
}

#[test]
fn pairs_share_figures_only_where_all_their_values_are_the_same() {
    // The differences of right and right are those of wrong and wrong.
    let [right, wrong] = [true, false].map(|right| move |name: &str| variant(name, [right; 30]));
    let all = [right("a"), right("b"), wrong("c"), wrong("d"), right("e")];
    let found = done(&all);
    let figures = |of: &Comparison, a: &str, b: &str| {
        let pair = of.figures[0].pair(a, b).expect("a pair").clone();
        (pair.a, pair.b, pair.n, pair.a_mean, pair.b_mean, pair.bootstrap, pair.intervals, pair.tests)
    };
    for a in 0..all.len() {
        for b in a + 1..all.len() {
            let (one, other) = (&all[a].name, &all[b].name);
            let alone = done(&[all[a].clone(), all[b].clone()]);
            assert_eq!(figures(&found, one, other), figures(&alone, one, other), "{one} {other}");
        }
    }
}
