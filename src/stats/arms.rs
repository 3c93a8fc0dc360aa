//! The permutation test of an edit against its placebos, which are drawn for the same questions.

use super::permutation::{ENUMERATED, Permutation};
use super::quantile::{count, float};
use super::rng::SplitMix64;

/// Whether the first value of each question, that of the edit, differs from the mean of the others, those of its placebos. If
/// the edit did no more than a placebo, any of the values could as well be the edit's: all choices are enumerated, up to
/// 2^[`ENUMERATED`] of them, else drawn. With one placebo these are the sign flips of the differences.
///
/// Draws one number of [`SplitMix64`] per question with two or more values, in order. Absent without such a question, and if a
/// value is not finite.
pub fn arms_permutation(questions: &[Vec<f64>], resamples: usize, seed: u64) -> Option<Permutation> {
    let effects: Vec<Vec<f64>> = questions.iter().filter(|values| values.len() > 1).map(|of| effects(of)).collect();
    let observed: f64 = effects.iter().map(|of| of[0]).sum();
    let size: f64 = effects.iter().flatten().map(|effect| effect.abs()).sum();
    if effects.is_empty() || !size.is_finite() {
        return None;
    }
    let bar = observed.abs() - 1e-12 * size;
    let varying = || effects.iter().filter(|of| of.iter().any(|effect| *effect != 0.0));
    let patterns = varying().try_fold(1_u64, |product, of| product.checked_mul(count(of.len())));
    if let Some(patterns) = patterns.filter(|patterns| *patterns <= 1 << ENUMERATED) {
        let at_least = count(sums(varying()).iter().filter(|sum| sum.abs() >= bar).count());
        return Some(Permutation { p: float(at_least) / float(patterns), at_least, patterns, seed: None });
    }
    let (mut rng, patterns, mut at_least) = (SplitMix64::new(seed), count(resamples), 0);
    for _ in 0..resamples {
        #[expect(clippy::cast_possible_truncation, reason = "below the length of a list")]
        let sum: f64 = effects.iter().map(|of| of[rng.below(count(of.len())) as usize]).sum();
        at_least += u64::from(sum.abs() >= bar);
    }
    (resamples > 0).then(|| Permutation {
        p: float(at_least + 1) / float(patterns + 1),
        at_least,
        patterns,
        seed: Some(seed),
    })
}

/// What the edit's difference would be if each of the values were the edit's.
fn effects(values: &[f64]) -> Vec<f64> {
    let (sum, others) = (values.iter().sum::<f64>(), float(count(values.len() - 1)));
    values.iter().map(|value| value - (sum - value) / others).collect()
}

/// The sums of all choices of one effect per question.
fn sums<'a>(effects: impl Iterator<Item = &'a Vec<f64>>) -> Vec<f64> {
    effects.fold(vec![0.0], |sums, of| sums.iter().flat_map(|sum| of.iter().map(move |effect| sum + effect)).collect())
}

#[cfg(test)]
mod tests {
    use super::arms_permutation;
    use crate::stats::permutation;

    fn p(questions: &[Vec<f64>]) -> f64 {
        arms_permutation(questions, 10_000, 1).expect("a test").p
    }

    #[test]
    fn one_placebo_is_the_sign_flip_test() {
        let pairs: Vec<Vec<f64>> =
            [(1.0, 0.0), (1.0, 0.0), (0.5, 0.0), (0.0, 1.0), (1.0, 1.0)].iter().map(|(e, p)| vec![*e, *p]).collect();
        let differences: Vec<f64> = pairs.iter().map(|of| of[0] - of[1]).collect();
        let flips = permutation(&differences, 10_000, 1).expect("a test");
        assert!((p(&pairs) - flips.p).abs() < 1e-12);
    }

    #[test]
    fn all_choices_are_enumerated_while_they_are_few() {
        // Only the edit repairs: one choice in 4^3 is as far, as the others have a smaller sum on the other side.
        let three = vec![vec![1.0, 0.0, 0.0, 0.0]; 3];
        let found = arms_permutation(&three, 10, 1).expect("a test");
        assert_eq!((found.at_least, found.patterns, found.seed), (1, 64, None));
        // Questions without any difference change nothing; neither do those without a placebo.
        let more = [three.clone(), vec![vec![1.0; 4], vec![0.0; 4], vec![1.0]]].concat();
        assert!((p(&more) - p(&three)).abs() < 1e-12);
        let many = vec![vec![1.0, 0.0, 0.0, 0.0]; 11];
        let found = arms_permutation(&many, 999, 1).expect("a test");
        assert_eq!((found.at_least, found.patterns, found.seed), (0, 999, Some(1)));
        assert!((found.p - 0.001).abs() < 1e-12);
    }

    #[test]
    fn nothing_is_tested_without_placebos_or_with_broken_values() {
        assert_eq!(arms_permutation(&[], 10, 1), None);
        assert_eq!(arms_permutation(&[vec![1.0]], 10, 1), None);
        assert_eq!(arms_permutation(&[vec![f64::NAN, 0.0]], 10, 1), None);
        assert!((p(&[vec![1.0, 1.0], vec![0.0, 0.0, 0.0]]) - 1.0).abs() < 1e-12);
    }
}
