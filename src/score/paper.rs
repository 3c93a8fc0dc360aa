//! The reward of the paper's harness.

use super::normalize::normalize;

/// The reward that `ReAct`'s wrappers give: 1 (true) for equality of the normalised texts, for answers and
/// labels alike, and 0 for an episode that never finished.
pub fn paper_reward(prediction: Option<&str>, gold: &str) -> bool {
    prediction.is_some_and(|prediction| normalize(prediction) == normalize(gold))
}

#[cfg(test)]
mod tests {
    use super::paper_reward;

    #[test]
    fn labels_may_be_dressed_but_not_absent() {
        assert!(paper_reward(Some("Not enough info."), "NOT ENOUGH INFO"));
        assert!(!paper_reward(Some("supports"), "REFUTES"));
        assert!(!paper_reward(None, ""));
        assert!(paper_reward(Some(""), ""));
    }
}
