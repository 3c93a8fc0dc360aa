//! Questions that one column gets right and the other wrong.

use super::Column;
use serde::Serialize;
use std::collections::HashMap;

/// Questions that changed from `a` to `b`, in the order of `a`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Flips {
    /// Questions that both columns measured.
    pub n: usize,
    /// Right in `b` only.
    pub gained: Vec<String>,
    /// Right in `a` only.
    pub lost: Vec<String>,
}

/// The questions on which two columns differ in EM, among those that both measured.
///
/// A question is right where more than half of its measured repeats are: its mean EM is above 0.5. Columns without the
/// figure `em` share no question.
pub fn flips(a: &Column, b: &Column) -> Flips {
    let mut found = Flips::default();
    let other: HashMap<&str, f64> = exact_matches(b).into_iter().collect();
    for (question, mean) in exact_matches(a) {
        let Some(&other) = other.get(question) else { continue };
        found.n += 1;
        match (mean > 0.5, other > 0.5) {
            (false, true) => found.gained.push(question.to_owned()),
            (true, false) => found.lost.push(question.to_owned()),
            _ => {}
        }
    }
    found
}

/// Mean EM of every measured question, in the order of the column.
fn exact_matches(column: &Column) -> Vec<(&str, f64)> {
    let Some(em) = column.figure("em") else { return Vec::new() };
    let mut at: HashMap<&str, usize> = HashMap::new();
    let mut sums: Vec<(&str, f64, f64)> = Vec::new();
    for item in &column.items {
        let Some(value) = item.value(em) else { continue };
        let row = *at.entry(&item.question).or_insert_with(|| {
            sums.push((&item.question, 0.0, 0.0));
            sums.len() - 1
        });
        sums[row].1 += value;
        sums[row].2 += 1.0;
    }
    sums.into_iter().map(|(question, sum, n)| (question, sum / n)).collect()
}
