//! The values of one setting over variants that differ in it alone: matching, equal weights, and what is missing.

use super::tests::{quick, variant};
use super::{Comparison, Matching, SettingValues, Variant, compare};
use crate::base::Pairs;

fn settings(columns: &[(&str, &[&str])]) -> Vec<SettingValues> {
    let value = |value: &&str| Some((*value).to_owned()).filter(|value| value != "–");
    let of = |(name, values): &(&str, &[&str])| SettingValues {
        name: (*name).to_owned(),
        values: values.iter().map(value).collect(),
    };
    columns.iter().map(of).collect()
}

fn names(variants: &[Variant]) -> Vec<String> {
    variants.iter().map(|variant| variant.name.clone()).collect()
}

fn within(setting: &str, columns: &[(&str, &[&str])], variants: &[Variant]) -> Comparison {
    let names = names(variants);
    let matching = Matching::of(setting, &settings(columns), &names).expect("variants that match");
    let mut comparison = compare(&matching.merged(variants), &quick()).expect("a comparison");
    comparison.within = Some(matching.combinations(variants, &names, &comparison).expect("combinations"));
    comparison
}

/// Questions that are right where the letter at their place is `1`, wrong where it is `0`, and not measured where it is `x`.
fn answers(name: &str, letters: &str) -> Variant {
    let mut made = variant(name, letters.chars().map(|letter| letter == '1'));
    for (item, letter) in made.items.iter_mut().zip(letters.chars()) {
        item.measured = letter != 'x';
    }
    made
}

const TWO_BY_TWO: [(&str, &[&str]); 2] = [("prompt", &["v1", "v2", "v1", "v2"]), ("model", &["m", "m", "n", "n"])];

#[test]
fn a_difference_is_the_mean_over_matched_variants() {
    let variants = [
        answers("m1", "0000000000"),
        answers("m2", "1111110000"),
        answers("n1", "1111100000"),
        answers("n2", "1111000000"),
    ];
    let found = within("prompt", &TWO_BY_TWO, &variants);
    let pair = &found.figures[0].pairs[0];
    assert_eq!((&*pair.a, &*pair.b, pair.n), ("prompt=v1", "prompt=v2", 10));
    // 0.6 with the first model, -0.1 with the second.
    assert!((pair.difference.expect("a difference") - 0.25).abs() < 1e-12);
    let within = found.within.expect("combinations");
    let of = |at: usize| (&*within.combinations[at].name, &within.combinations[at].figures[0].pairs[0]);
    let ((first, m), (second, n)) = (of(0), of(1));
    assert_eq!((first, second), ("model=m", "model=n"));
    assert!((m.difference.expect("one") - 0.6).abs() < 1e-12);
    assert!((n.difference.expect("one") + 0.1).abs() < 1e-12);
    let named: Vec<&str> = within.pairs_of("em").map(|(name, _)| name).collect();
    assert_eq!(named, ["model=m", "model=n"]);
}

/// One combination alone is the comparison of its variants, to the last bit.
#[test]
fn without_other_settings_it_is_an_ordinary_comparison() {
    let plain = [answers("prompt=v1", "0110100110x0"), answers("prompt=v2", "01111001111x")];
    let ordinary = compare(&plain, &quick()).expect("a comparison");
    let found =
        within("prompt", &[("prompt", &["v1", "v2"])], &[answers("a", "0110100110x0"), answers("b", "01111001111x")]);
    assert_eq!(found.figures, ordinary.figures);
}

/// A question that one of two matched variants did not measure says nothing about that combination.
#[test]
fn rows_are_compared_with_rows_of_their_own_combination() {
    let variants = [answers("m1", "0x"), answers("m2", "11"), answers("n1", "11"), answers("n2", "01")];
    let found = within("prompt", &TWO_BY_TWO, &variants);
    let pair = &found.figures[0].pairs[0];
    // First question: (1 - 0 + 0 - 1) / 2. Second: only the second model, 1 - 1.
    assert_eq!((pair.n, pair.difference), (2, Some(0.0)));
    let bounds = pair.bounds.expect("a question is not measured");
    assert_eq!((bounds.n, bounds.unmeasured), (2, 1));
    // The missing row was wrong or right: the second question's difference is 0.5 or 0.
    assert_eq!((bounds.low, bounds.high), (0.0, 0.25));
}

/// Repeats are averaged within their variant, so that a variant with more of them weighs no more.
#[test]
fn combinations_weigh_the_same_whatever_their_repeats() {
    let mut often = answers("m2", "11");
    let again = often.items.clone();
    often.items.extend((1..5).flat_map(|repeat| {
        again.iter().cloned().map(move |mut item| {
            item.repeat = repeat;
            item
        })
    }));
    let variants = [answers("m1", "00"), often, answers("n1", "00"), answers("n2", "00")];
    let found = within("prompt", &TWO_BY_TWO, &variants);
    assert_eq!(found.figures[0].pairs[0].difference, Some(0.5));
    assert_eq!(found.variants[1].repeats, 5);
}

/// Each pair of values is compared over the combinations that have both.
#[test]
fn a_value_may_be_absent_in_a_combination() {
    let variants = [
        answers("m1", "0000"),
        answers("m2", "1111"),
        answers("m3", "1100"),
        answers("n1", "1100"),
        answers("n2", "1000"),
        answers("alone", "1111"),
    ];
    let columns: [(&str, &[&str]); 2] =
        [("prompt", &["v1", "v2", "v3", "v1", "v2", "v3"]), ("model", &["m", "m", "m", "n", "n", "o"])];
    let found = within("prompt", &columns, &variants);
    let differences: Vec<_> = found.figures[0].pairs.iter().map(|pair| pair.difference.expect("one")).collect();
    // v2 - v1: (1 - 0.25) / 2; v3 - v1 and v3 - v2 with the first model alone.
    assert_eq!(differences, [0.375, 0.5, -0.5]);
    let within = found.within.expect("combinations");
    assert_eq!((within.combinations.len(), &within.unmatched[..]), (2, &["alone".to_owned()][..]));
    assert_eq!(within.combinations[1].figures[0].pairs.len(), 1);
}

/// A default that depends on the setting keeps no variants apart; another prompt or model does.
#[test]
fn settings_with_one_value_for_each_go_with_it() {
    let variants = [answers("a", "01"), answers("b", "11"), answers("c", "01"), answers("d", "11")];
    let columns: [(&str, &[&str]); 3] = [
        ("protocol", &["robust", "react", "robust", "react"]),
        ("max_tokens", &["512", "100", "512", "100"]),
        ("method", &["act", "act", "react", "react"]),
    ];
    let found = within("protocol", &columns, &variants).within.expect("combinations");
    assert_eq!(found.with_it, ["max_tokens"]);
    assert!(found.notes()[0].starts_with("each protocol has its own max_tokens"));
    let found = within("method", &columns, &variants).within.expect("combinations");
    let names: Vec<&str> = found.combinations.iter().map(|combination| &*combination.name).collect();
    assert_eq!((names, found.with_it.len()), (vec!["protocol=robust", "protocol=react"], 0));
}

#[test]
fn a_baseline_is_named_by_its_value() {
    let variants = [answers("a", "01"), answers("b", "11")];
    let matching = Matching::of("prompt", &settings(&[("prompt", &["v1", "v2"])]), &names(&variants)).expect("a match");
    let named = matching.named(Pairs::with("v2"));
    assert_eq!(named.baseline.as_deref(), Some("prompt=v2"));
    assert_eq!(matching.named(Pairs::with("prompt=v1")).baseline.as_deref(), Some("prompt=v1"));
}

#[test]
fn what_cannot_be_matched_is_refused() {
    let names: Vec<String> = ["a", "b"].map(str::to_owned).into();
    let matching = |setting: &str, columns: &[(&str, &[&str])]| {
        Matching::of(setting, &settings(columns), &names).expect_err("nothing to match").to_string()
    };
    let prompts: (&str, &[&str]) = ("prompt", &["v1", "v2"]);
    let unknown = "the variants do not differ in `max_steps`; they differ in prompt";
    assert_eq!(matching("max-steps", &[prompts]), unknown);
    let alone = "no two variants differ in `prompt` alone; they differ in model too";
    assert_eq!(matching("prompt", &[prompts, ("model", &["m", "n"])]), alone);
    assert_eq!(matching("prompt", &[("prompt", &["v1", "v1"])]), "`a` and `b` have the same settings");
}

/// Three values or more have a spread, over the questions that all of them measured; two have one difference.
#[test]
fn three_values_have_a_spread() {
    let variants = [answers("a", "11011x0100"), answers("b", "1001100100"), answers("c", "0001000101")];
    let found = within("prompt", &[("prompt", &["v1", "v2", "v3"])], &variants);
    let spreads = found.within.expect("combinations").spreads;
    let [em, f1] = &spreads[..] else { panic!("{spreads:?}") };
    assert_eq!((&*em.figure, &*f1.figure, em.values, em.n), ("em", "f1", 3, 9));
    // Of the nine questions that all measured, 5, 4 and 3 are right.
    let close = |found: f64, expected: f64| (found - expected).abs() < 1e-12;
    assert!(
        close(em.mean, 4.0 / 9.0) && close(em.between.sd, 1.0 / 9.0) && close(em.between.range, 2.0 / 9.0),
        "{em:?}"
    );
    assert!(em.interval.is_some_and(|interval| interval.method == "padded t" && interval.contains(em.mean)));
    let two = within("prompt", &[("prompt", &["v1", "v2"])], &variants[..2]);
    assert_eq!(two.within.expect("combinations").spreads, []);
}
