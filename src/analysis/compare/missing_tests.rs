//! What was not measured: which questions a pair has, what the rest could change, and what the verdict makes of it.

use super::tests::{done, first_right, quick, variant};
use super::{Bounds, Item, NamedFigure, Pair, Settings, Unit, Variant, Word, compare, decided_pairs};
use crate::base::Pairs;
use crate::base::stats::{Interval, holm};
use proptest::prelude::*;

/// The same variant without these rows.
fn failed(mut variant: Variant, rows: impl IntoIterator<Item = usize>) -> Variant {
    for row in rows {
        (variant.items[row].measured, variant.items[row].values) = (false, vec![None, None]);
    }
    variant
}

/// `b` leads on what was measured, and fails on questions that `a` has right.
fn leading(lead: usize, missing: usize) -> [Variant; 2] {
    let a = variant("a", (0..200).map(|i| i >= 160));
    let b = variant("b", (0..200).map(|i| i < lead || i >= 160));
    [a, failed(b, 160..160 + missing)]
}

fn first_pair(variants: &[Variant]) -> Pair {
    done(variants).figures.remove(0).pairs.remove(0)
}

fn only(a: &str, b: &str) -> Settings {
    Settings { pairs: Pairs { contrasts: vec![[a.into(), b.into()]], ..Pairs::default() }, ..quick() }
}

#[test]
fn a_third_variant_takes_no_question_from_a_pair() {
    let (a, b) = (first_right("a", 40, 100), first_right("b", 51, 100));
    let c = failed(first_right("c", 100, 100), 0..56);
    let found = done(&[a.clone(), b.clone(), c]);
    let em = &found.figures[0];
    let questions: Vec<usize> = em.pairs.iter().map(|pair| pair.n).collect();
    assert_eq!((em.n, questions), (44, vec![100, 44, 44]));
    let (pair, alone) = (&em.pairs[0], first_pair(&[a, b]));
    assert_eq!((pair.difference, pair.p, pair.interval), (alone.difference, alone.p, alone.interval));
    assert_eq!((pair.a_mean, pair.b_mean, pair.bounds), (Some(0.4), Some(0.51), None));
    // The means, and Q with them, are of the questions that all have: a and b are never right there.
    assert_eq!(em.means.iter().map(|mean| mean.mean).collect::<Vec<_>>(), [Some(0.0), Some(0.0), Some(1.0)]);
    assert!(em.cochran_q.is_some_and(|test| (test.q - 88.0).abs() < 1e-9), "{:?}", em.cochran_q);
    assert!(found.notes.iter().any(|note| note.ends_with("at least one variant and are in no mean")));
}

#[test]
fn a_part_has_the_questions_of_each_pair() {
    // The third variant has nothing of one part.
    let (a, b, c) = (first_right("a", 30, 90), first_right("b", 60, 90), first_right("c", 90, 90));
    let comparisons: Vec<usize> = (0..90).step_by(3).collect();
    let variants = [a, b, failed(c, comparisons)];
    let settings = Settings { breakdowns: vec!["type".into()], ..quick() };
    let found = compare(&variants, &settings).expect("a comparison");
    let groups = &found.breakdowns[0].groups;
    let questions: Vec<_> = groups
        .iter()
        .map(|group| (group.value.as_deref(), group.n, group.pairs.iter().map(|pair| pair.n).collect::<Vec<_>>()))
        .collect();
    assert_eq!(
        questions,
        [(Some("bridge"), 60, vec![60, 60, 60]), (Some("comparison"), 0, vec![30, 0, 0])],
        "a part that no mean has is there for its pair"
    );
    let comparison = &groups[1];
    assert_eq!((comparison.means[0].mean, comparison.pairs[0].difference), (None, Some(1.0 / 3.0)));
    assert_eq!(comparison.pairs[1].difference, None);
}

#[test]
fn what_is_missing_in_one_figure_is_not_measured_in_it() {
    let (a, mut b) = (first_right("a", 30, 100), first_right("b", 60, 100));
    for item in &mut b.items[90..] {
        (item.values[1], item.missing) = (None, vec![1]);
    }
    // One whose gold is hidden has no value, and lacks none.
    b.items[0].values = vec![None, None];
    let found = done(&[a, b]);
    let [em, f1] = &found.figures[..] else { panic!("two figures") };
    assert_eq!((em.n, em.means[1].not_measured, em.means[1].bounds, em.pairs[0].bounds), (99, 0, None, None));
    assert_eq!((f1.n, f1.means[1].not_measured, f1.means[0].not_measured), (89, 10, 0));
    // Of b 59 are right and 30 are half right; of a 29 and 70.
    let bounds = f1.means[1].bounds.expect("bounds");
    assert_eq!((bounds.n, bounds.unmeasured), (99, 10));
    assert!((bounds.low - 74.0 / 99.0).abs() < 1e-12 && (bounds.high - 84.0 / 99.0).abs() < 1e-12, "{bounds:?}");
    let of_pair = f1.pairs[0].bounds.expect("bounds");
    assert!((of_pair.low - 10.0 / 99.0).abs() < 1e-12 && (of_pair.high - 20.0 / 99.0).abs() < 1e-12, "{of_pair:?}");
    assert_eq!(found.variants[1].not_measured, 0, "the episodes were measured");
    let note = "F1: 10 measured episodes without a value of it; they count as not measured".to_owned();
    assert!(found.notes.contains(&note), "{:?}", found.notes);
}

#[test]
fn nobody_wins_where_the_unmeasured_could_reverse_it() {
    let pair = first_pair(&leading(20, 30));
    let bounds = Bounds { low: -10.0 / 200.0, high: 20.0 / 200.0, n: 200, unmeasured: 30 };
    assert_eq!((pair.n, pair.bounds), (170, Some(bounds)));
    let verdict = &pair.verdict;
    assert_eq!((verdict.word, verdict.distinguishable, &verdict.winner), (Word::Undecided, true, &None));
    assert_eq!(
        verdict.sentence,
        "b leads by 11.8 points EM on the 170 measured questions; undecided, as the 30 unmeasured could reverse it (bounds \
         -5.0 to +10.0), 95 % interval 7.7 to 17.5, p < 0.0001: measure them to decide"
    );
    let json = serde_json::to_value(verdict).expect("JSON");
    assert_eq!((&json["word"], &json["winner"]), (&"undecided".into(), &serde_json::Value::Null));

    // Seen from the other side the bounds are turned round, as the interval is.
    let [a, b] = leading(20, 30);
    let turned = first_pair(&[b, a]);
    assert_eq!(
        (turned.bounds.map(|of| (of.low, of.high)), &turned.verdict.sentence),
        (Some((-0.1, 0.05)), &verdict.sentence)
    );

    // A tie is no lead: bounds that end at 0 hold it.
    let even = first_pair(&leading(20, 20));
    assert_eq!((even.bounds.map(|of| of.low), even.verdict.word), (Some(0.0), Word::Undecided));
    // Not reversed, and yet no difference that the test would find: 20 questions against 9.
    let weak = first_pair(&leading(20, 9));
    assert!(weak.p_highest.is_some_and(|highest| (highest - 0.0614).abs() < 1e-4), "{:?}", weak.p_highest);
    assert_eq!((weak.verdict.word, &weak.verdict.winner), (Word::Undecided, &None));
    let begin = "b leads by 10.5 points EM on the 191 measured questions; undecided, as the 9 unmeasured could bring it to \
                 p = 0.0614 (bounds +5.5 to +10.0), 95 % interval ";
    assert!(weak.verdict.sentence.starts_with(begin), "{}", weak.verdict.sentence);
    let sure = first_pair(&leading(20, 8)).verdict;
    assert_eq!((sure.word, sure.winner.as_deref()), (Word::Beats, Some("b")));
    let begin = "b beats a by 10.4 points EM (bounds +6.0 to +10.0 over all 200 questions tried), 95 % interval ";
    assert!(sure.sentence.starts_with(begin), "{sure:?}");
    let none = first_pair(&leading(3, 30)).verdict;
    assert_eq!((none.word, none.distinguishable), (Word::NotDistinguishable, false));
}

#[test]
fn an_undecided_pair_says_what_to_run() {
    let [mut a, mut b] = leading(20, 30);
    (a.resume, b.resume) =
        (Some("wikitrail run --out a --resume".into()), Some("wikitrail run --out b --resume".into()));
    let said = |variants: &[Variant]| first_pair(variants).verdict.sentence;
    let sentence = said(&[a.clone(), b.clone()]);
    assert!(sentence.ends_with(", p < 0.0001: `wikitrail run --out b --resume`"), "all of a was measured: {sentence}");
    let both = said(&[failed(a.clone(), [199]), b.clone()]);
    assert!(both.ends_with(": `wikitrail run --out a --resume` and `wikitrail run --out b --resume`"), "{both}");
    let one_run = Variant { resume: b.resume.clone(), ..failed(a.clone(), [199]) };
    assert!(said(&[one_run, b.clone()]).ends_with("p < 0.0001: `wikitrail run --out b --resume`"));
    // Of several pairs each names both of its variants.
    let found = done(&[a, b, first_right("c", 60, 200)]);
    let sentence = &found.figures[0].pairs[0].verdict.sentence;
    assert!(sentence.starts_with("b leads a by 11.8 points EM on the 170 measured questions; undecided"), "{sentence}");
}

#[test]
fn repeats_that_failed_leave_a_question_measured() {
    let [a, b] = leading(20, 0).map(|once| {
        let mut twice = once.clone();
        twice.items.extend(once.items.iter().map(|item| Item { repeat: 1, ..item.clone() }));
        twice
    });
    let pair = first_pair(&[a.clone(), failed(b.clone(), 160..200)]);
    assert_eq!((pair.n, pair.bounds.map(|of| (of.n, of.unmeasured))), (200, Some((200, 40))));
    let sentence = &pair.verdict.sentence;
    assert!(sentence.contains("; undecided, as 40 questions with unmeasured repeats could undo it ("), "{sentence}");
    let one = first_pair(&[a, failed(b, [199, 399])]).verdict.sentence;
    assert!(
        one.starts_with("b beats a by 10.1 points EM (bounds +9.5 to +10.0 over all 200 questions tried), "),
        "{one}"
    );
}

#[test]
fn figures_of_ones_own_have_words_and_bounds() {
    let [a, b] = leading(20, 30);
    let named = |name: &str, unit| Settings { figures: vec![NamedFigure::joined(name, unit, false)], ..quick() };
    let verdict = |unit| {
        let variants =
            [&a, &b].map(|variant| Variant { figures: vec!["grade".into(), "f1".into()], ..variant.clone() });
        compare(&variants, &named("grade", unit)).expect("a comparison").figures.remove(0).pairs.remove(0).verdict
    };
    let share = verdict(Unit::Share);
    let begin = "b lies above a by 11.8 points grade on the 170 measured questions; undecided, as the 30 unmeasured";
    assert!(share.word == Word::Undecided && share.sentence.starts_with(begin), "{}", share.sentence);
    let amount = verdict(Unit::Amount);
    assert_eq!((amount.word, amount.winner), (Word::Undecided, None), "{}", amount.sentence);
    assert!(amount.sentence.starts_with("b lies above a by "), "{}", amount.sentence);
}

#[test]
fn amounts_say_what_was_not_measured() {
    let [a, b] = leading(20, 30);
    let named = |name: &str, range| {
        let figure = NamedFigure { range, ..NamedFigure::new(name) };
        let variants = [&a, &b].map(|variant| Variant { figures: vec![name.into(), "f1".into()], ..variant.clone() });
        let settings = Settings { figures: vec![figure], ..quick() };
        compare(&variants, &settings).expect("a comparison").figures.remove(0).pairs.remove(0)
    };
    let tokens = named("tokens", None);
    let begin = "a is ahead of b by 0.12 tokens (less is better) without the 30 unmeasured questions, 95 %";
    assert!(tokens.bounds.is_none() && tokens.verdict.sentence.starts_with(begin), "{}", tokens.verdict.sentence);
    // Steps end at --max-steps, so that the others could have had as many.
    let steps = named("steps", Some(Interval { low: 0.0, high: 7.0 }));
    assert_eq!(steps.bounds.map(|bounds| (bounds.n, bounds.unmeasured)), Some((200, 30)));
    assert_eq!(steps.verdict.word, Word::Undecided, "{}", steps.verdict.sentence);
    let even = Variant { figures: vec!["tokens".into()], ..Variant::default() };
    let item = |at: usize| Item { id: at.to_string(), measured: true, values: vec![Some(200.0)], ..Item::default() };
    let even = ["a", "b"].map(|name| Variant { name: name.into(), items: (0..9).map(item).collect(), ..even.clone() });
    let settings = Settings { figures: vec![NamedFigure::new("tokens")], ..quick() };
    let found = compare(&even, &settings).expect("a comparison");
    assert_eq!((found.figures[0].means[0].mean, found.figures[0].means[0].interval), (Some(200.0), None));
}

#[test]
fn a_judge_wins_nothing_that_labels_do_not_confirm() {
    let [a, b] = leading(40, 0);
    let judged = || first_pair(&[a.clone(), b.clone()]);
    let held = |low: f64, high: f64| {
        let mut pair = judged();
        pair.hold_against_labels(60, Some((f64::midpoint(low, high), Interval { low, high })), 0.95);
        pair
    };
    let confirmed = held(0.05, 0.15).verdict;
    assert_eq!((confirmed.word, confirmed.winner.as_deref()), (Word::Beats, Some("b")));
    let end = "; 60 labels make it +10.0 points, 95 % interval +5.0 to +15.0";
    assert!(confirmed.sentence.ends_with(end), "{}", confirmed.sentence);
    let open = held(-0.05, 0.15);
    assert_eq!((open.verdict.word, open.verdict.winner, open.unconfirmed_by_labels), (Word::Undecided, None, true));
    assert!(open.verdict.sentence.starts_with("undecided, as labels do not confirm that b beats a by 20.0 points"));
    assert_eq!(held(-0.15, -0.05).verdict.word, Word::Undecided);
    // From the other side the sentence is the same.
    let mut turned = first_pair(&[b.clone(), a.clone()]);
    turned.hold_against_labels(60, Some((-0.1, Interval { low: -0.15, high: -0.05 })), 0.95);
    assert_eq!((turned.verdict.word, turned.verdict.sentence), (Word::Beats, confirmed.sentence));
}

fn masks() -> impl Strategy<Value = [Vec<(bool, bool, bool)>; 3]> {
    let variant = || proptest::collection::vec(any::<(bool, bool, bool)>(), 24);
    [variant(), variant(), variant()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Which variants are compared beside a pair changes nothing of it: neither its questions, repeats and clusters nor its test.
    #[test]
    fn a_pair_depends_on_its_two_variants_alone(masks in masks(), size in 1_usize..5, repeated in 0_usize..3) {
        let mut variants: Vec<Variant> = Vec::new();
        for (at, mask) in masks.iter().enumerate() {
            let measured: Vec<usize> = (0..24).filter(|row| mask[*row].1).collect();
            let mut one = failed(variant(["a", "b", "c"][at], mask.iter().map(|row| row.0)), measured);
            for (row, item) in one.items.iter_mut().enumerate() {
                item.cluster = (at == 2 && size > 1).then(|| format!("page {}", row / size));
                item.missing = if item.measured && mask[row].2 { vec![1] } else { Vec::new() };
                item.values[1] = item.values[1].filter(|_| item.missing.is_empty());
            }
            if at == repeated {
                let again = Item { repeat: 1, ..one.items[0].clone() };
                one.items.push(again);
            }
            variants.push(one);
        }
        let of_three = compare(&variants, &only("a", "b")).expect("a comparison");
        let of_two = compare(&variants[..2], &only("a", "b")).expect("a comparison");
        for (three, two) in of_three.figures.iter().zip(&of_two.figures) {
            prop_assert_eq!(&three.pairs, &two.pairs);
            let pair = &two.pairs[0];
            let Some(bounds) = pair.bounds else { continue };
            prop_assert!(bounds.low < bounds.high && bounds.n >= pair.n && bounds.unmeasured > 0);
            // Whatever the missing rows were, the mean of all lies within.
            let mean = pair.difference.unwrap_or_default() * f64::from(u32::try_from(pair.n).expect("few"));
            let all = f64::from(u32::try_from(bounds.n).expect("few"));
            prop_assert!(repeated < 2 || (bounds.low <= mean / all + 1e-12 && bounds.high >= mean / all - 1e-12));
        }
    }
}

#[test]
fn a_rank_goes_by_the_corrected_p_of_the_verdict() {
    let [a, b] = leading(60, 9);
    let variants = [a, b, first_right("c", 70, 200)];
    let found = done(&variants);
    let decided = decided_pairs(&variants, &NamedFigure::new("em"), &quick()).expect("pairs");
    let highest = holm(&decided.iter().map(|pair| pair.p_highest).collect::<Vec<_>>());
    let pairs = found.figures[0].pairs.iter().zip(highest);
    let (verdict, rank): (Vec<f64>, Vec<f64>) = pairs.filter_map(|(pair, p)| Some((pair.p_highest?, p))).unzip();
    assert!(!verdict.is_empty());
    assert_eq!(verdict, rank);
}
