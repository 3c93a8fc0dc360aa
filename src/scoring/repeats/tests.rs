//! The estimators against the definition, and what a table of repeats counts.

use super::{Pass, Repeats};
use crate::base::{Outcome, Step};
use crate::scoring::{Metric, ScoredEpisode, fixtures};
use proptest::prelude::*;

/// The share of all sets of `k` of these repeats for which `holds` says yes, by looking at every set.
fn share_of_sets(right: &[bool], k: u64, holds: fn(&[bool]) -> bool) -> Option<f64> {
    let (mut sets, mut held) = (0_u32, 0_u32);
    for set in 0_u32..1 << right.len() {
        if u64::from(set.count_ones()) == k {
            let members: Vec<bool> = (0..right.len()).filter(|at| set >> at & 1 == 1).map(|at| right[at]).collect();
            sets += 1;
            held += u32::from(holds(&members));
        }
    }
    (sets > 0).then(|| f64::from(held) / f64::from(sets))
}

fn episode(id: &str, answer: Option<&str>, outcome: Outcome) -> ScoredEpisode {
    let mut trajectory = fixtures::episode(vec![Step::default()], answer, &["x"], outcome);
    trajectory.id = id.to_owned();
    ScoredEpisode::unassessed(trajectory, Metric::Hotpot)
}

fn mean(values: &[f64]) -> Option<f64> {
    Some(crate::base::stats::Mean::of(values)?.mean)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Tables of up to 6 questions with up to 8 repeats each, some of which were not measured.
    #[test]
    fn the_estimators_are_the_shares_of_all_sets_of_repeats(
        table in prop::collection::vec(prop::collection::vec(prop::option::weighted(0.85, any::<bool>()), 0..=8), 1..=6),
        k in 1_u64..=8,
    ) {
        let mut repeats = Repeats::default();
        for (at, row) in table.iter().enumerate() {
            for right in row {
                let (answer, outcome) = match right {
                    Some(true) => (Some("x"), Outcome::Finished),
                    Some(false) => (Some("y"), Outcome::Finished),
                    None => (None, Outcome::NotMeasured),
                };
                repeats.add(&episode(&at.to_string(), answer, outcome));
            }
        }
        let scored: Vec<Vec<bool>> = table.iter().map(|row| row.iter().flatten().copied().collect()).collect();
        let by_hand = |holds: fn(&[bool]) -> bool| -> Vec<f64> {
            scored.iter().filter_map(|right| share_of_sets(right, k, holds)).collect()
        };
        let any = by_hand(|set| set.contains(&true));
        let all = by_hand(|set| !set.contains(&false));
        for (values, expected) in [(repeats.values(Pass::Any(k)), any), (repeats.values(Pass::All(k)), all)] {
            prop_assert_eq!(values.len(), expected.len());
            prop_assert!(values.iter().zip(&expected).all(|(value, expected)| (value - expected).abs() < 1e-12));
            match (mean(&values), mean(&expected)) {
                (Some(value), Some(expected)) => prop_assert!((value - expected).abs() < 1e-12),
                (value, expected) => prop_assert_eq!(value, expected),
            }
        }
        prop_assert_eq!(repeats.most(), scored.iter().map(|right| right.len() as u64).max().unwrap_or(0));
        prop_assert_eq!(repeats.questions(), scored.iter().filter(|right| !right.is_empty()).count());
    }
}

#[test]
fn names_have_one_spelling() {
    for pass in [Pass::Any(1), Pass::All(3), Pass::Any(12)] {
        assert_eq!(Pass::parse(&pass.to_string()), Some(pass));
    }
    for name in ["pass", "pass@", "pass@0", "pass^+3", "pass@03", "pass@-1", "pass^x", "em"] {
        assert_eq!(Pass::parse(name), None, "{name}");
    }
}

#[test]
fn too_few_repeats_have_no_value() {
    assert_eq!([Pass::Any(3).of(2, 2), Pass::All(3).of(2, 2), Pass::All(1).of(0, 0)], [None; 3]);
    assert_eq!([Pass::Any(2).of(1, 2), Pass::All(2).of(1, 2)], [Some(1.0), Some(0.0)]);
}

#[test]
fn answers_that_normalise_alike_agree_and_repeats_vary_within_their_question() {
    let mut repeats = Repeats::default();
    let mut add = |id: &str, answer: Option<&str>, outcome, steps: usize, cost| {
        let mut episode = episode(id, answer, outcome);
        episode.trajectory.steps = vec![Step { tool: Some(crate::base::Tool::Search), ..Step::default() }; steps];
        episode.trajectory.cost_usd = cost;
        repeats.add(&episode);
    };
    // Of three pairs one agrees; two episodes without an answer agree; one that was not measured says nothing.
    add("a", Some("The X."), Outcome::Finished, 1, Some(0.1));
    add("a", Some("x"), Outcome::Finished, 3, Some(0.3));
    add("a", Some("y"), Outcome::Finished, 2, None);
    add("b", None, Outcome::StepLimit, 7, Some(9.0));
    add("b", None, Outcome::StepLimit, 7, Some(9.0));
    add("b", Some("x"), Outcome::NotMeasured, 1, Some(5.0));
    add("c", Some("x"), Outcome::Finished, 50, None);
    assert_eq!(repeats.agreement(), [1.0 / 3.0, 1.0]);
    let unstable: Vec<(&str, String)> = repeats.unstable().map(|(id, right)| (id, right.to_string())).collect();
    assert_eq!(unstable, [("a", "2/3".to_owned())]);
    // Squares 2 and 0 on 2 and 1 degrees of freedom; 0.02 and 0 on 1 and 1.
    let close = |found: Option<f64>, expected: f64| found.is_some_and(|found| (found - expected).abs() < 1e-12);
    assert!(close(repeats.steps_deviation(), (2.0_f64 / 3.0).sqrt()), "{:?}", repeats.steps_deviation());
    assert!(close(repeats.cost_deviation(), 0.1), "{:?}", repeats.cost_deviation());
    assert_eq!((Repeats::default().steps_deviation(), Repeats::default().agreement()), (None, Vec::new()));
}
