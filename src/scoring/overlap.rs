//! Overlap of words and of sets, in the float order of the official scripts.
//!
//! ROUGE-L as the `PyPI` package `rouge` 1.0.1 computes it, which KILT's script calls for long answers.
//!
//! A text is cut into sentences at `.`, a sentence into words at white space; case and punctuation stay. For each pair of a gold
//! sentence and an answer's sentence the words of their longest common subsequence are taken, and `L` is the number of different
//! words in all of them. With `n` and `m` different words in answer and gold, `P = L / n`, `R = L / m`, and
//! `F = 2 · (P · R / (P + R + 10⁻⁸))`.

use crate::base::python::is_python_space;
use std::collections::HashSet;

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

/// A number of a score, and its name.
pub(crate) type NamedNumber = (&'static str, fn(AnswerScore) -> f64);

impl AnswerScore {
    /// The score of an answer that was never given.
    pub const ZERO: Self = Self { em: 0.0, f1: 0.0, precision: 0.0, recall: 0.0 };

    /// The four under their names.
    pub(crate) const NUMBERS: [NamedNumber; 4] = [
        ("em", |score| score.em),
        ("f1", |score| score.f1),
        ("precision", |score| score.precision),
        ("recall", |score| score.recall),
    ];

    /// All four at 1 or all four at 0, for metrics that know only right and wrong.
    pub fn right(right: bool) -> Self {
        let value = f64::from(right);
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
    let em = f64::from(prediction == gold);
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

/// A count as a number, exact for every count that fits into memory.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub(crate) fn float(n: impl TryInto<u64>) -> f64 {
    n.try_into().unwrap_or(u64::MAX) as f64
}

/// `part / whole`, and 0 for an empty whole.
pub(crate) fn ratio(part: usize, whole: usize) -> f64 {
    ratio_of_sum(float(part), whole)
}

/// `sum / n`, and 0 for none.
pub(crate) fn ratio_of_sum(sum: f64, n: usize) -> f64 {
    if n == 0 { 0.0 } else { sum / float(n) }
}

/// Python's `round(value, digits)`: the decimal that is nearest to the exact binary value.
pub(crate) fn round_like_python(value: f64, digits: usize) -> f64 {
    // Formatting rounds correctly, and reading back gives the double that is nearest to the decimal.
    format!("{value:.digits$}").parse().unwrap_or(value)
}

pub(super) fn sorted_words(text: &str) -> Vec<&str> {
    let mut words: Vec<&str> = text.split(is_python_space).filter(|word| !word.is_empty()).collect();
    words.sort_unstable();
    words
}

/// How many words two sorted lists share, each as often as both have it.
pub(super) fn common(a: &[&str], b: &[&str]) -> usize {
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

/// Words of a sentence that are compared. The package gives up at some 1,000 words, where its recursion ends.
const WORDS: usize = 4096;

/// F, precision and recall of an answer against one gold; `em` is 0. All are 0 where one side has no sentence.
pub fn rouge_l(prediction: &str, gold: &str) -> AnswerScore {
    let (prediction, gold) = (sentences(prediction), sentences(gold));
    if prediction.is_empty() || gold.is_empty() {
        return AnswerScore::ZERO;
    }
    let mut common = HashSet::new();
    for reference in &gold {
        for answer in &prediction {
            common_words(reference, answer, &mut common);
        }
    }
    let precision = ratio(common.len(), different(&prediction));
    let recall = ratio(common.len(), different(&gold));
    AnswerScore { em: 0.0, f1: 2.0 * ((precision * recall) / (precision + recall + 1e-8)), precision, recall }
}

/// The words of each sentence. One of white space alone has one word, the empty one, as in the package.
fn sentences(text: &str) -> Vec<Vec<&str>> {
    text.split('.').filter(|piece| !piece.is_empty()).map(words).collect()
}

fn words(sentence: &str) -> Vec<&str> {
    let words: Vec<&str> = sentence.split(is_python_space).filter(|word| !word.is_empty()).take(WORDS).collect();
    if words.is_empty() { vec![""] } else { words }
}

fn different(sentences: &[Vec<&str>]) -> usize {
    sentences.iter().flatten().collect::<HashSet<_>>().len()
}

/// Adds the words of the longest common subsequence. Of several, the package's: from the end, it leaves out a word of the answer
/// unless leaving out one of the gold keeps more.
fn common_words<'a>(gold: &[&'a str], answer: &[&str], common: &mut HashSet<&'a str>) {
    let width = answer.len() + 1;
    let mut lengths = vec![0_u16; (gold.len() + 1) * width];
    for (i, word) in gold.iter().enumerate() {
        for (j, other) in answer.iter().enumerate() {
            let (above, left) = (i * width + j + 1, (i + 1) * width + j);
            lengths[left + 1] =
                if word == other { lengths[i * width + j] + 1 } else { lengths[above].max(lengths[left]) };
        }
    }
    let (mut i, mut j) = (gold.len(), answer.len());
    while i > 0 && j > 0 {
        if gold[i - 1] == answer[j - 1] {
            common.insert(gold[i - 1]);
            (i, j) = (i - 1, j - 1);
        } else if lengths[(i - 1) * width + j] > lengths[i * width + j - 1] {
            i -= 1;
        } else {
            j -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{overlap, rouge_l};
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

    /// What `rouge` 1.0.1 gives: F, P, R.
    #[test]
    fn figures_are_the_package_s_to_the_bit() {
        for (prediction, gold, expected) in [
            ("", "a b", [0.0, 0.0, 0.0]),
            ("...", "a", [0.0, 0.0, 0.0]),
            ("a b c", "a b c", [0.999_999_995, 1.0, 1.0]),
            ("the cat sat", "the cat", [0.799_999_995_200_000_1, 0.666_666_666_666_666_6, 1.0]),
            ("w1 w2 w6 w7 w8. w1 w3 w8 w9 w5", "w1 w2 w3 w4 w5", [0.615_384_610_650_887_7, 0.5, 0.8]),
            ("a. b. ", "b a. ", [0.999_999_995, 1.0, 1.0]),
            (" . .", "x. ", [0.666_666_662_222_222_3, 1.0, 0.5]),
            (
                "The sea is salt. Rivers bring it, and it stays.",
                "Rivers bring salt to the sea. It stays there.",
                [0.421_052_626_592_797_85, 0.4, 0.444_444_444_444_444_4],
            ),
            ("x y x. z", "y x y. z z x", [0.999_999_995, 1.0, 1.0]),
            ("A a", "a", [0.666_666_662_222_222_3, 0.5, 1.0]),
            ("one\u{a0}two\tthree", "one two\u{1c}three", [0.999_999_995, 1.0, 1.0]),
        ] {
            let score = rouge_l(prediction, gold);
            assert_eq!(
                [score.f1, score.precision, score.recall].map(f64::to_bits),
                expected.map(f64::to_bits),
                "{prediction:?} {gold:?}"
            );
        }
    }

    #[test]
    fn long_texts_are_bounded() {
        let text = "a b c d e f g h ".repeat(4000);
        assert!(rouge_l(&text, &text).f1 > 0.999);
    }
}
