//! The answer scores of the official scripts, bit for bit, and the reward of the paper's harness.

use super::normalize::{normalize, normalize_fid, normalize_orqa, normalize_trivia};
use super::overlap::{AnswerScore, overlap, rouge_l};

/// EM, F1, precision and recall as `hotpot_evaluate_v1.py` gives them, bit for bit.
///
/// A prediction or gold that normalises to `yes`, `no` or `noanswer` earns nothing unless both are the same:
/// an answer that shares a word with such a gold is not partly right.
pub fn hotpot(prediction: &str, gold: &str) -> AnswerScore {
    normalized(&normalize(prediction), &normalize(gold))
}

/// [`hotpot`] over texts that are normalised already.
fn normalized(prediction: &str, gold: &str) -> AnswerScore {
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
    best(golds.iter().map(|gold| normalized(&prediction, &normalize(gold.as_ref()))))
}

/// `SQuAD` 1.1: the maxima of EM and F1 over the golds. Two empty texts give EM 1 and F1 0.
pub fn squad11<S: AsRef<str>>(prediction: &str, golds: &[S]) -> AnswerScore {
    let prediction = normalize(prediction);
    best(golds.iter().map(|gold| overlap(&prediction, &normalize(gold.as_ref()))))
}

/// `SQuAD` 2.0: as 1.1, but golds that normalise to nothing are dropped, where all do one empty gold is left, and an
/// empty side scores F1 1 against an empty side.
pub fn squad20<S: AsRef<str>>(prediction: &str, golds: &[S]) -> AnswerScore {
    let prediction = normalize(prediction);
    let mut golds: Vec<String> =
        golds.iter().map(|gold| normalize(gold.as_ref())).filter(|gold| !gold.is_empty()).collect();
    if golds.is_empty() {
        golds.push(String::new());
    }
    best(golds.iter().map(|gold| with_empty_sides(&prediction, gold)))
}

/// `MuSiQue`: `SQuAD` 2.0's comparison over all golds, none dropped.
pub fn musique<S: AsRef<str>>(prediction: &str, golds: &[S]) -> AnswerScore {
    let prediction = normalize(prediction);
    best(golds.iter().map(|gold| with_empty_sides(&prediction, &normalize(gold.as_ref()))))
}

fn with_empty_sides(prediction: &str, gold: &str) -> AnswerScore {
    if prediction.is_empty() || gold.is_empty() {
        return AnswerScore::right(prediction == gold);
    }
    overlap(prediction, gold)
}

fn best(scores: impl Iterator<Item = AnswerScore>) -> AnswerScore {
    scores.fold(AnswerScore::ZERO, AnswerScore::max)
}

/// `TriviaQA`: the maxima of EM and F1 over all spellings of the answer.
pub fn trivia<S: AsRef<str>>(prediction: &str, golds: &[S]) -> AnswerScore {
    let prediction = normalize_trivia(prediction);
    best(golds.iter().map(|gold| overlap(&prediction, &normalize_trivia(gold.as_ref()))))
}

/// `ORQA`'s exact match, which NQ-open took over: whether the prediction equals a gold after normalisation.
pub fn orqa_em<S: AsRef<str>>(prediction: &str, golds: &[S]) -> bool {
    let prediction = normalize_orqa(prediction);
    golds.iter().any(|gold| normalize_orqa(gold.as_ref()) == prediction)
}

/// `FiD`'s exact match; see [`normalize_fid`] for where it differs.
pub fn fid_em<S: AsRef<str>>(prediction: &str, golds: &[S]) -> bool {
    let prediction = normalize_fid(prediction);
    golds.iter().any(|gold| normalize_fid(gold.as_ref()) == prediction)
}

/// Whether a `StrategyQA` answer is right, whose answers are booleans: `true` is yes and `false` is no, after normalisation.
pub fn strategy_qa(prediction: &str, gold: &str) -> bool {
    verdict(prediction) == verdict(gold)
}

fn verdict(text: &str) -> String {
    let normal = normalize(text);
    match normal.as_str() {
        "true" => "yes".to_owned(),
        "false" => "no".to_owned(),
        _ => normal,
    }
}

/// Long answers: exact match as in [`squad11`], and ROUGE-L's F, precision and recall, each the best of all golds.
pub fn rouge_l_max<S: AsRef<str>>(prediction: &str, golds: &[S]) -> AnswerScore {
    let em = squad11(prediction, golds).em;
    AnswerScore { em, ..best(golds.iter().map(|gold| rouge_l(prediction, gold.as_ref()))) }
}

/// The reward that `ReAct`'s wrappers give: 1 (true) for equality of the normalised texts, for answers and
/// labels alike, and 0 for an episode that never finished.
pub fn paper_reward(prediction: Option<&str>, gold: &str) -> bool {
    prediction.is_some_and(|prediction| normalize(prediction) == normalize(gold))
}

/// The labels of FEVER, as its files spell them.
pub const FEVER_LABELS: [&str; 3] = ["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"];

/// Whether the official scorer counts the label as right: equality after upper-casing, and nothing else.
///
/// Neither space nor punctuation is ignored; [`paper_reward`] is the lenient rule.
///
/// ```
/// use wikitrail::score::fever_label;
/// assert!(fever_label("not enough info", "NOT ENOUGH INFO"));
/// assert!(!fever_label("SUPPORTS.", "SUPPORTS") && !fever_label("", "SUPPORTS"));
/// ```
pub fn fever_label(prediction: &str, gold: &str) -> bool {
    // Rust's and Python's upper-casing agree on every character that a label holds.
    prediction.to_uppercase() == gold.to_uppercase()
}

#[cfg(test)]
mod tests {
    use super::hotpot;
    use crate::scoring::AnswerScore;
    use crate::tests::shared;
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
    #[cfg_attr(not(shared), ignore = "needs ../shared")]
    fn the_papers_own_metric_is_the_same() {
        let text = shared::text("golden/protocols/react_paper.metrics.jsonl");
        let mut checked = 0;
        for line in text.lines() {
            let case: PaperCase = serde_json::from_str(line).expect("a case");
            assert_eq!(crate::scoring::normalize(&case.prediction), case.norm_prediction);
            assert_eq!(crate::scoring::normalize(&case.gold), case.norm_gold);
            let score = hotpot(&case.prediction, &case.gold);
            let [f1, precision, recall] = case.f1_p_r;
            assert_eq!(score, AnswerScore { em: f64::from(u8::from(case.em)), f1, precision, recall }, "{line}");
            assert_eq!(hotpot(&case.norm_gold, &case.norm_prediction).f1.to_bits(), case.wrapper.to_bits(), "{line}");
            checked += 1;
        }
        assert_eq!(checked, text.lines().count());
        assert!(checked > 0);
    }
}
