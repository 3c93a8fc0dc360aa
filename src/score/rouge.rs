//! ROUGE-L as the `PyPI` package `rouge` 1.0.1 computes it, which KILT's script calls for long answers.
//!
//! A text is cut into sentences at `.`, a sentence into words at white space; case and punctuation stay. For each pair of a gold
//! sentence and an answer's sentence the words of their longest common subsequence are taken, and `L` is the number of different
//! words in all of them. With `n` and `m` different words in answer and gold, `P = L / n`, `R = L / m`, and
//! `F = 2 · (P · R / (P + R + 10⁻⁸))`.

use super::overlap::{AnswerScore, ratio};
use crate::types::python::is_python_space;
use std::collections::HashSet;

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
    use super::rouge_l;

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
