//! Overlap of words and of sets, in the float order of the official scripts.

use crate::types::python::is_python_space;

/// Exact match and word overlap of one answer, or their maxima over several golds. All values are in `0.0..=1.0`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct AnswerScore {
    /// 1 where the normalised texts are equal, else 0.
    pub em: f64,
    /// Harmonic mean of precision and recall.
    pub f1: f64,
    /// Share of the prediction's words that are gold's.
    pub precision: f64,
    /// Share of gold's words that are in the prediction.
    pub recall: f64,
}

impl AnswerScore {
    /// The score of an answer that was never given.
    pub const ZERO: Self = Self { em: 0.0, f1: 0.0, precision: 0.0, recall: 0.0 };

    /// All four at 1 or all four at 0, for metrics that know only right and wrong.
    pub fn right(right: bool) -> Self {
        let value = f64::from(u8::from(right));
        Self { em: value, f1: value, precision: value, recall: value }
    }

    /// The larger of each number, each for itself, as `2WikiMultiHopQA` and `SQuAD` take them over several golds.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self {
            em: self.em.max(other.em),
            f1: self.f1.max(other.f1),
            precision: self.precision.max(other.precision),
            recall: self.recall.max(other.recall),
        }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.em += other.em;
        self.f1 += other.f1;
        self.precision += other.precision;
        self.recall += other.recall;
    }
}

/// Exact match and word overlap of two texts that are normalised already.
///
/// Overlap counts a word as often as both sides have it; with none in common all three numbers are 0, so two
/// empty texts give EM 1 and F1 0, as in `HotpotQA` and `SQuAD` 1.1.
pub(crate) fn overlap(prediction: &str, gold: &str) -> AnswerScore {
    let em = f64::from(u8::from(prediction == gold));
    let prediction = sorted_words(prediction);
    let gold = sorted_words(gold);
    let same = common(&prediction, &gold);
    if same == 0 {
        return AnswerScore { em, ..AnswerScore::ZERO };
    }
    let precision = ratio(same, prediction.len());
    let recall = ratio(same, gold.len());
    AnswerScore { em, f1: f1(precision, recall), precision, recall }
}

/// `2 * p * r / (p + r)`, evaluated from left to right; 0 where both are 0.
pub(crate) fn f1(precision: f64, recall: f64) -> f64 {
    if precision + recall > 0.0 { 2.0 * precision * recall / (precision + recall) } else { 0.0 }
}

/// `part / whole`, and 0 for an empty whole. Exact for every count that fits into memory.
#[expect(clippy::cast_precision_loss, reason = "counts of words and items are far below 2^53")]
pub(crate) fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// `sum / n`, and 0 for none.
#[expect(clippy::cast_precision_loss, reason = "counts of questions are far below 2^53")]
pub(crate) fn ratio_of_sum(sum: f64, n: usize) -> f64 {
    if n == 0 { 0.0 } else { sum / n as f64 }
}

/// Python's `round(sum / n * 100, digits)`.
pub(crate) fn percent(sum: f64, n: usize, digits: usize) -> f64 {
    round_like_python(ratio_of_sum(sum, n) * 100.0, digits)
}

/// Python's `round(value, digits)`: the decimal that is nearest to the exact binary value.
pub(crate) fn round_like_python(value: f64, digits: usize) -> f64 {
    // Formatting rounds correctly, and reading back gives the double that is nearest to the decimal.
    format!("{value:.digits$}").parse().unwrap_or(value)
}

fn sorted_words(text: &str) -> Vec<&str> {
    let mut words: Vec<&str> = text.split(is_python_space).filter(|word| !word.is_empty()).collect();
    words.sort_unstable();
    words
}

/// Size of the intersection of two sorted multisets.
fn common(a: &[&str], b: &[&str]) -> usize {
    let (mut i, mut j, mut same) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                same += 1;
                i += 1;
                j += 1;
            }
        }
    }
    same
}

#[cfg(test)]
mod tests {
    use super::overlap;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn overlap_is_symmetric_and_bounded(a in "[bcd ]{0,12}", b in "[bcd ]{0,12}") {
            let one = overlap(&a, &b);
            let two = overlap(&b, &a);
            prop_assert_eq!(one.precision.to_bits(), two.recall.to_bits());
            prop_assert!((0.0..=1.0).contains(&one.precision));
            prop_assert!(one.f1 <= one.precision.max(one.recall) + 1e-15);
            prop_assert!(one.f1 >= one.precision.min(one.recall) - 1e-15);
        }
    }
}
