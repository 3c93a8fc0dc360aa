//! `HotpotQA`'s official answer score.

use super::normalize::normalize;
use super::overlap::{AnswerScore, overlap};

/// EM, F1, precision and recall as `hotpot_evaluate_v1.py` gives them, bit for bit.
///
/// A prediction or gold that normalises to `yes`, `no` or `noanswer` earns nothing unless both are the same:
/// sharing a word with such a gold is no partial answer.
pub fn hotpot(prediction: &str, gold: &str) -> AnswerScore {
    normalized(&normalize(prediction), &normalize(gold))
}

/// [`hotpot`] over texts that are normalised already.
pub(crate) fn normalized(prediction: &str, gold: &str) -> AnswerScore {
    let verdict = |text: &str| matches!(text, "yes" | "no" | "noanswer");
    if prediction != gold && (verdict(prediction) || verdict(gold)) {
        return AnswerScore::ZERO;
    }
    overlap(prediction, gold)
}

/// The maxima of [`hotpot`] over several golds, each number for itself, as `2WikiMultiHopQA` v1.1 takes them over
/// aliases. With one gold it is [`hotpot`]; without any it is zero.
pub fn hotpot_max<S: AsRef<str>>(prediction: &str, golds: &[S]) -> AnswerScore {
    let prediction = normalize(prediction);
    golds
        .iter()
        .map(|gold| normalized(&prediction, &normalize(gold.as_ref())))
        .fold(AnswerScore::ZERO, AnswerScore::max)
}

#[cfg(test)]
mod tests {
    use super::{hotpot, hotpot_max};
    use crate::score::{AnswerScore, shared};
    use serde::Deserialize;

    #[derive(Deserialize)]
    struct PaperCase {
        prediction: String,
        gold: String,
        norm_prediction: String,
        norm_gold: String,
        em: bool,
        f1_p_r: [f64; 3],
        #[serde(rename = "f1_in_wrapper(gold_norm,pred_norm)")]
        wrapper: f64,
    }

    #[test]
    fn the_papers_own_metric_is_the_same() {
        let Some(text) = shared::text("golden/protocols/react_paper.metrics.jsonl") else { return };
        let mut checked = 0;
        for line in text.lines() {
            let case: PaperCase = serde_json::from_str(line).expect("a case");
            assert_eq!(crate::score::normalize(&case.prediction), case.norm_prediction);
            assert_eq!(crate::score::normalize(&case.gold), case.norm_gold);
            let score = hotpot(&case.prediction, &case.gold);
            let [f1, precision, recall] = case.f1_p_r;
            assert_eq!(score, AnswerScore { em: f64::from(u8::from(case.em)), f1, precision, recall }, "{line}");
            assert_eq!(hotpot(&case.norm_gold, &case.norm_prediction).f1.to_bits(), case.wrapper.to_bits(), "{line}");
            checked += 1;
        }
        assert_eq!(checked, text.lines().count());
        assert!(checked > 0);
    }

    #[test]
    fn yes_and_no_earn_no_partial_score() {
        assert_eq!(hotpot("yes it is", "yes"), AnswerScore::ZERO);
        assert_eq!(hotpot("No.", "no"), AnswerScore::right(true));
        assert_eq!(hotpot("no", "no one"), AnswerScore::ZERO);
        assert_eq!(hotpot("the", "a"), AnswerScore { em: 1.0, ..AnswerScore::ZERO });
    }

    #[test]
    fn maxima_are_independent() {
        let score = hotpot_max("b c", &["b", "b c d e"]);
        assert_eq!(score, AnswerScore { em: 0.0, f1: 2.0 * 0.5 / 1.5, precision: 1.0, recall: 1.0 });
        assert_eq!(hotpot_max::<&str>("b", &[]), AnswerScore::ZERO);
    }
}
