//! Cochran's Q: do three or more variants differ in accuracy at all?

use super::quantile::{chi_square_tail, count, float};
use serde::Serialize;

/// Cochran's Q (1950).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CochranQ {
    /// The statistic, 0 or more.
    pub q: f64,
    /// Degrees of freedom: variants less one.
    pub freedom: u64,
    /// Probability of a Q at least this large, by the chi-square distribution.
    pub p: f64,
}

/// Cochran's Q of columns, one for each variant, that say which of the same questions were answered right.
///
/// `Q = (k − 1)(k ΣC_j² − T²) / (k T − ΣR_i²)`, with `C_j` the right answers of column j, `R_i` those to question i, and
/// `T` all of them. If the columns never differ Q is 0 and p is 1. Absent for fewer than two columns and for columns of
/// unequal length.
pub fn cochran_q(columns: &[Vec<bool>]) -> Option<CochranQ> {
    let k = columns.len();
    let n = columns.first()?.len();
    if k < 2 || columns.iter().any(|column| column.len() != n) {
        return None;
    }
    let right = |column: &Vec<bool>| count(column.iter().filter(|right| **right).count());
    let of_columns: u64 = columns.iter().map(|column| right(column).pow(2)).sum();
    let total: u64 = columns.iter().map(right).sum();
    let of_question = |i: usize| count(columns.iter().filter(|column| column[i]).count()).pow(2);
    let of_questions: u64 = (0..n).map(of_question).sum();
    let (k, freedom) = (count(k), count(k) - 1);
    // Neither is negative: by Cauchy and Schwarz, and as no question has more than k right answers.
    let (spread, varying) = ((k * of_columns).saturating_sub(total * total), (k * total).saturating_sub(of_questions));
    if varying == 0 {
        return Some(CochranQ { q: 0.0, freedom, p: 1.0 });
    }
    let q = float(freedom * spread) / float(varying);
    Some(CochranQ { q, freedom, p: chi_square_tail(q, freedom)? })
}
