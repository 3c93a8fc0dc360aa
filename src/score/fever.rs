//! FEVER's label accuracy, strict score, and precision and recall of evidence.

use super::overlap::f1;
use crate::types::Evidence;
use std::collections::HashSet;

/// The labels of FEVER, as its files spell them.
pub const FEVER_LABELS: [&str; 3] = ["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"];

/// Whether the official scorer counts the label as right: equality after upper-casing, and nothing else.
///
/// Neither space nor punctuation is forgiven; [`paper_reward`](super::paper_reward) is the lenient rule.
pub fn fever_label(prediction: &str, gold: &str) -> bool {
    // Rust's and Python's upper-casing agree on every character that a label holds.
    prediction.to_uppercase() == gold.to_uppercase()
}

/// How many predicted pieces of evidence the official score looks at.
pub const FEVER_MAX_EVIDENCE: usize = 5;

/// The scores of one claim.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FeverScore {
    /// Whether the label is right.
    pub label: bool,
    /// Whether it is right and a whole group of evidence was predicted; NOT ENOUGH INFO needs none.
    pub strict: bool,
    /// Share of predicted pieces that are gold; 1 where none was predicted; absent for NOT ENOUGH INFO.
    pub precision: Option<f64>,
    /// Whether a whole group was predicted, 1 or 0; 1 where gold has none; absent for NOT ENOUGH INFO.
    pub recall: Option<f64>,
}

/// Scores a claim. Only the first `limit` predicted pieces count, all where it is absent.
pub fn fever(
    label: &str,
    evidence: &[Evidence],
    gold_label: &str,
    gold: &[Vec<Evidence>],
    limit: Option<usize>,
) -> FeverScore {
    let right = fever_label(label, gold_label);
    if gold_label.to_uppercase() == FEVER_LABELS[2] {
        return FeverScore { label: right, strict: right, precision: None, recall: None };
    }
    let evidence = &evidence[..limit.unwrap_or(usize::MAX).min(evidence.len())];
    let predicted: HashSet<&Evidence> = evidence.iter().collect();
    let whole_group = gold.iter().any(|group| group.iter().all(|piece| predicted.contains(piece)));
    let pieces: HashSet<&Evidence> = gold.iter().flatten().filter(|piece| piece.1.is_some()).collect();
    let hits = evidence.iter().filter(|piece| pieces.contains(piece)).count();
    let precision = if evidence.is_empty() { 1.0 } else { super::overlap::ratio(hits, evidence.len()) };
    let recall = f64::from(u8::from(whole_group || gold.is_empty()));
    FeverScore { label: right, strict: right && whole_group, precision: Some(precision), recall: Some(recall) }
}

/// The evaluation of a file of predictions, claim by claim in its order.
#[derive(Debug, Clone, Default)]
pub struct FeverEvaluation {
    n: usize,
    right: usize,
    strict: usize,
    precision: f64,
    recall: f64,
    /// Claims with evidence to find.
    verifiable: usize,
}

impl FeverEvaluation {
    /// Adds the scores of one claim.
    pub fn add(&mut self, score: FeverScore) {
        self.n += 1;
        self.right += usize::from(score.label);
        self.strict += usize::from(score.strict);
        if let (Some(precision), Some(recall)) = (score.precision, score.recall) {
            self.verifiable += 1;
            self.precision += precision;
            self.recall += recall;
        }
    }

    /// The official numbers: strict score, label accuracy, precision (1 without a claim to find evidence for),
    /// recall (0 then) and F1 of evidence. F1 is 0 where the script would divide by zero.
    pub fn means(&self) -> [(&'static str, f64); 5] {
        let ratio = super::overlap::ratio;
        let mean = |sum, none| {
            if self.verifiable == 0 { none } else { super::overlap::ratio_of_sum(sum, self.verifiable) }
        };
        let (precision, recall) = (mean(self.precision, 1.0), mean(self.recall, 0.0));
        [
            ("strict_score", ratio(self.strict, self.n)),
            ("label_accuracy", ratio(self.right, self.n)),
            ("precision", precision),
            ("recall", recall),
            ("f1", f1(precision, recall)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::fever_label;
    use crate::score::shared;
    use serde::Deserialize;
    use std::collections::HashMap;

    #[derive(Deserialize)]
    struct Item {
        id: u64,
        predicted_label: String,
        correct: bool,
    }

    #[derive(Deserialize)]
    struct Gold {
        id: u64,
        label: String,
    }

    #[test]
    fn labels_score_as_the_official_script_does() {
        let Some(items) = shared::text("golden/scoring/fever.items.jsonl") else { return };
        let Some(gold) = shared::text("data/datasets/fever_paper_dev.jsonl") else { return };
        let gold: HashMap<u64, String> = gold
            .lines()
            .map(|line| serde_json::from_str::<Gold>(line).expect("a gold record"))
            .map(|gold| (gold.id, gold.label))
            .collect();
        let mut checked = 0;
        for line in items.lines() {
            let item: Item = serde_json::from_str(line).expect("an item");
            assert_eq!(fever_label(&item.predicted_label, &gold[&item.id]), item.correct, "{line}");
            checked += 1;
        }
        assert_eq!(checked, 2000);
    }

    #[test]
    fn only_case_is_forgiven() {
        assert!(fever_label("not enough info", "NOT ENOUGH INFO"));
        assert!(!fever_label("SUPPORTS.", "SUPPORTS"));
        assert!(!fever_label("", "SUPPORTS"));
    }
}
