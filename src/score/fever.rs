//! FEVER's labels.

/// The labels of FEVER, as its files spell them.
pub const FEVER_LABELS: [&str; 3] = ["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"];

/// Whether the official scorer counts the label as right: equality after upper-casing, and nothing else.
///
/// Neither space nor punctuation is ignored; [`paper_reward`](super::paper_reward) is the lenient rule.
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
