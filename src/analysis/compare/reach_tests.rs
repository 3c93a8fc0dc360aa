//! What is said where questions are too few to show a difference.

use super::tests::{done, first_right, quick, variant};
use super::{Item, NamedFigure, Settings, Variant, compare};
use crate::base::stats::{Design, Spread};

/// Variants `a` and `b` of one graded figure, by the values of each question, in clusters of this size.
fn graded(values: &[(f64, f64)], size: Option<usize>) -> [Variant; 2] {
    [("a", 0), ("b", 1)].map(|(name, side)| {
        let mut variant = Variant::new(name, vec!["f1".into()], vec![]);
        for (i, (a, b)) in values.iter().enumerate() {
            let cluster = size.map(|size| format!("page {}", i / size));
            let values = vec![Some([*a, *b][side])];
            variant.items.push(Item { id: i.to_string(), measured: true, values, cluster, ..Item::default() });
        }
        variant
    })
}

fn sentence(variants: &[Variant], figure: &str) -> String {
    let settings = Settings { figures: vec![NamedFigure::new(figure)], ..quick() };
    compare(variants, &settings).expect("a comparison").figures.remove(0).pairs.remove(0).verdict.sentence
}

#[test]
fn few_questions_are_said_to_show_nothing_however_large_the_difference() {
    let five = [(0.05, 0.95), (0.04, 0.9), (0.0, 0.97), (0.08, 0.95), (0.06, 0.97)];
    assert_eq!(
        sentence(&graded(&five, None), "f1"),
        "b and a are not distinguishable: 5 questions cannot show any difference at p < 0.05, as at least 6 questions must \
         differ; observed: 90.2 points F1, 95 % interval -9.5 to 100.0, p = 0.0625"
    );
    // Five of ten questions, all of them one way.
    assert_eq!(
        sentence(&[first_right("a", 2, 10), first_right("b", 7, 10)], "em"),
        "b and a are not distinguishable: 10 questions, of which 5 differ, cannot show any difference at p < 0.05, as at \
         least 6 questions must differ; observed: 50.0 points EM, 95 % interval 0.0 to 76.3, p = 0.0625"
    );
    // 400 questions that are only four pages.
    let pages: Vec<(f64, f64)> = (0..400).map(|i| (0.1, 0.58 + f64::from(i % 7) / 300.0)).collect();
    assert_eq!(
        sentence(&graded(&pages, Some(100)), "f1"),
        "b and a are not distinguishable: 400 questions in 4 clusters cannot show any difference at p < 0.05, as at least 6 \
         clusters must differ; observed: 49.0 points F1, 95 % interval -43.2 to 100.0, p = 0.1250"
    );
    // Nor six of thirty: as many as can show a difference, if all differ one way, but seldom in such questions.
    let thirty = [variant("a", (0..30).map(|i| i == 0)), variant("b", (0..30).map(|i| (1..6).contains(&i)))];
    assert_eq!(
        sentence(&thirty, "em"),
        "b and a are not distinguishable: 30 questions, of which 6 differ, cannot show any difference at p < 0.05 with 80 % \
         power; observed: 13.3 points EM, 95 % interval -3.4 to 31.2, p = 0.2188"
    );
}

#[test]
fn what_can_be_shown_is_at_the_level_of_the_smallest_p_of_all_pairs() {
    // Six questions differ one way: enough for one pair (p = 0.0312), too few for three.
    let (a, b) = (first_right("a", 0, 8), first_right("b", 6, 8));
    let alone = &done(&[a.clone(), b.clone()]).figures[0].pairs[0];
    assert!(alone.verdict.distinguishable, "{}", alone.verdict.sentence);
    let found = done(&[a, b, first_right("c", 1, 8)]);
    let pair = &found.figures[0].pairs[0];
    assert_eq!((pair.reach.units, pair.reach.differing, pair.reach.least_differing, pair.reach.mde), (8, 6, 7, None));
    assert_eq!(
        pair.verdict.sentence,
        "b and a are not distinguishable: 8 questions, of which 6 differ, cannot show any difference at p < 0.05 after Holm, \
         as at least 7 questions must differ; observed: 75.0 points EM, 95 % interval of this pair alone 18.2 to 92.9, \
         p = 0.0938 after Holm"
    );
    // Too few resamples have no p that is small enough.
    let many: Vec<(f64, f64)> = (0..40).map(|i| (0.2, 0.3 + f64::from(i) / 100.0)).collect();
    let settings = Settings { figures: vec![NamedFigure::new("f1")], resamples: 10, ..Settings::default() };
    let found = compare(&graded(&many, None), &settings).expect("a comparison");
    let said = &found.figures[0].pairs[0].verdict.sentence;
    assert!(said.contains("so few resamples cannot show any difference at p < 0.05; "), "{said}");
}

#[test]
fn the_questions_needed_have_the_interval_of_the_difference() {
    let pair = |rises: usize, falls: usize| {
        let b = (0..60).map(|i| (i < 20 + rises) && i >= falls);
        done(&[first_right("a", 20, 60), variant("b", b)]).figures.remove(0).pairs.remove(0)
    };
    let needed = |differing: f64, difference: f64| {
        Design { spread: Spread::Signs, differing, alpha: 0.05 }.units_needed(difference / differing, 0.8)
    };
    // 20 of 60 differ, by 0.2 on average.
    let clear = pair(16, 4);
    let (ends, found) = (clear.interval.expect("an interval"), clear.reach.questions_needed_interval.expect("ends"));
    assert!(ends.low > 0.0 && found.low <= clear.reach.questions_needed && clear.reach.questions_needed <= found.high);
    let share = 20.0 / 60.0;
    // The farther end is larger than the share that differs: so many differ then.
    assert!(ends.high > share, "{ends:?}");
    assert_eq!((found.low, found.high), (needed(ends.high, ends.high), needed(share, ends.low)));
    // What holds 0 may need any number, on whichever side the difference was found.
    let (unclear, mirrored) = (pair(8, 4), pair(4, 8));
    let found = unclear.reach.questions_needed_interval.expect("ends");
    assert!(
        found.low.is_some_and(|low| Some(low) < unclear.reach.questions_needed) && found.high.is_none(),
        "{found:?}"
    );
    assert_eq!(mirrored.reach.questions_needed_interval, Some(found));
    // Equal variants: no number of questions shows a difference of 0, and the interval has no upper end.
    let equal = pair(6, 6);
    assert_eq!((equal.reach.questions_needed, equal.reach.questions_needed_interval.expect("ends").high), (None, None));
}

#[test]
fn what_is_shown_of_graded_figures_depends_on_their_spread() {
    let values: Vec<(f64, f64)> =
        (0..40).map(|i| (0.5, if i % 2 == 0 { 0.5 } else { f64::from(i % 9) / 8.0 })).collect();
    let said = sentence(&graded(&values, None), "f1");
    assert!(said.contains(" points F1 (80 % power, if 45 % of them differ with the same spread); "), "{said}");
    let said = sentence(&graded(&values, Some(2)), "f1");
    assert!(said.contains(" % of the clusters differ with the same spread); "), "{said}");
}
