//! Tests of paired counts and ranks: `McNemar`, Fisher, Cochran's Q, Wilcoxon.

use super::distributions::{chi_square_tail, count, float, two_sided_z};
use serde::Serialize;

/// `McNemar`'s test (1947), which counts the questions that only one of two variants answered right.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct McNemar {
    /// Questions that only the first variant answered right.
    pub only_a: u64,
    /// Questions that only the second variant answered right.
    pub only_b: u64,
    /// Two-sided exact p: twice the binomial tail at one half, at most 1.
    pub exact_p: f64,
    /// Two-sided mid-p (Fagerland et al. 2013): twice the tail, with half the probability of the observed counts; 1 if they
    /// are equal.
    pub mid_p: f64,
    /// Chi-square with Edwards' continuity correction; absent if both counts are 0.
    pub corrected: Option<ChiSquare>,
    /// Chi-square without correction; absent if both counts are 0.
    pub uncorrected: Option<ChiSquare>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ChiSquare {
    pub statistic: f64,
    pub freedom: u64,
    /// Probability of a statistic at least this large.
    pub p: f64,
}

/// Up to this many questions binomial coefficients and their sums are exact in 128 bits.
const EXACT: u64 = 120;

impl McNemar {
    /// The test of differences of right and wrong answers: negative where only the first is right.
    pub fn of(differences: &[f64]) -> Self {
        let count = |of: fn(&f64) -> bool| differences.iter().filter(|value| of(value)).map(|_| 1).sum();
        Self::new(count(|value| *value < 0.0), count(|value| *value > 0.0))
    }

    /// The test for these counts; both p are 1 if both counts are 0, and 0 if they would be below about 1e-308.
    pub fn new(only_a: u64, only_b: u64) -> Self {
        let (fewer, n) = (only_a.min(only_b), only_a + only_b);
        // Twice the tail of a fair coin at `fewer` or less, and twice its last term.
        let (tail, last) = if n <= EXACT { exact_tail(fewer, n) } else { scaled_tail(fewer, n) };
        let equal = only_a == only_b;
        let chi_square = |distance: f64| {
            let statistic = distance * distance / float(n);
            (n > 0).then(|| Some(ChiSquare { statistic, freedom: 1, p: chi_square_tail(statistic, 1)? })).flatten()
        };
        let distance = float(only_a.abs_diff(only_b));
        Self {
            only_a,
            only_b,
            exact_p: if equal { 1.0 } else { tail.min(1.0) },
            mid_p: if equal { 1.0 } else { (tail - last / 2.0).min(1.0) },
            corrected: chi_square(distance - 1.0),
            uncorrected: chi_square(distance),
        }
    }
}

/// In integers, rounded once.
fn exact_tail(k: u64, n: u64) -> (f64, f64) {
    let (mut term, mut sum) = (1_u128, 1_u128);
    for i in 0..k {
        term = term * u128::from(n - i) / u128::from(i + 1);
        sum += term;
    }
    #[expect(clippy::cast_precision_loss, reason = "this is the one rounding")]
    let scaled = |whole: u128| 2.0 * (whole as f64) / 2.0_f64.powi(i32::try_from(n).unwrap_or(i32::MAX));
    (scaled(sum), scaled(term))
}

/// Relative to the middle term, which avoids overflow and logarithms.
fn scaled_tail(k: u64, n: u64) -> (f64, f64) {
    let middle = n / 2;
    let (mut term, mut below, mut last) = (1.0, 0.0, 0.0);
    let mut all = 0.0;
    // Down from the middle: C(n, i − 1) / C(n, i) = i / (n − i + 1).
    for i in (0..=middle).rev() {
        all += term;
        if i <= k {
            below += term;
        }
        if i == k {
            last = term;
        }
        term *= float(i) / float(n - i + 1);
        if term == 0.0 {
            break;
        }
    }
    // The other half is symmetric; an even n has one middle term.
    let whole = if n.is_multiple_of(2) { 2.0 * all - 1.0 } else { 2.0 * all };
    (2.0 * below / whole, 2.0 * last / whole)
}

/// Probabilities that differ by less than this part are equal, as in R's `fisher.test`.
const TIES: f64 = 1e-7;

/// Two-sided p of a table of two groups with successes and failures (Fisher 1935, *Journal of the Royal Statistical Society*
/// 98:39): the probability of all tables with the same sums that are at most as probable as this one. It is 1 where a sum is 0.
pub fn fisher_exact([[a, b], [c, d]]: [[u64; 2]; 2]) -> f64 {
    let (first, second, successes) = (a + b, c + d, a + c);
    let (least, most) = (successes.saturating_sub(second), successes.min(first));
    // Relative to the most probable table, which avoids overflow: P(x + 1) / P(x) of the hypergeometric distribution.
    let ratio =
        |x: u64| float(first - x) * float(successes - x) / (float(x + 1) * (float(second + x + 1) - float(successes)));
    let rising = (least..most).find(|x| ratio(*x) < 1.0).unwrap_or(most);
    let mut relative = vec![1.0; usize::try_from(most - least).unwrap_or_default() + 1];
    let place = |x: u64| usize::try_from(x - least).unwrap_or_default();
    for x in rising..most {
        relative[place(x) + 1] = relative[place(x)] * ratio(x);
    }
    for x in (least..rising).rev() {
        relative[place(x)] = relative[place(x) + 1] / ratio(x);
    }
    let limit = relative[place(a)] * (1.0 + TIES);
    let rare: f64 = relative.iter().filter(|probability| **probability <= limit).sum();
    (rare / relative.iter().sum::<f64>()).min(1.0)
}

/// Cochran's Q (1950).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CochranQ {
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

/// Wilcoxon's signed-rank test (1945) by the normal approximation, with midranks for ties.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Wilcoxon {
    pub w: f64,
    pub n: u64,
    /// Two-sided p, without continuity correction.
    pub p: f64,
}

/// The test without differences of 0. Absent if none are left, and if a difference is not finite.
///
/// `z = (w − n(n + 1)/4) / √((n(n + 1)(2n + 1) − Σ(t³ − t)/2) / 24)` with t the sizes of the ties.
pub fn wilcoxon(differences: &[f64]) -> Option<Wilcoxon> {
    if differences.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mut ranked: Vec<f64> = differences.iter().copied().filter(|value| *value != 0.0).collect();
    ranked.sort_unstable_by(|a, b| a.abs().total_cmp(&b.abs()));
    let (mut positive, mut negative, mut ties, mut before) = (0.0, 0.0, 0.0, 0_usize);
    #[expect(clippy::float_cmp, reason = "a tie is an equal number")]
    for tied in ranked.chunk_by(|a, b| a.abs() == b.abs()) {
        let t = float(count(tied.len()));
        let rank = float(count(before)) + f64::midpoint(t, 1.0);
        let above = float(count(tied.iter().filter(|value| **value > 0.0).count()));
        positive += above * rank;
        negative += (t - above) * rank;
        ties += t * t * t - t;
        before += tied.len();
    }
    let n = float(count(ranked.len()));
    let w = f64::min(positive, negative);
    let variance = (n * (n + 1.0) * (2.0 * n + 1.0) - ties / 2.0) / 24.0;
    let z = (w - n * (n + 1.0) / 4.0) / variance.sqrt();
    Some(Wilcoxon { w, n: count(ranked.len()), p: two_sided_z(z).filter(|_| variance > 0.0)? })
}

#[cfg(test)]
mod tests {
    use super::fisher_exact;

    fn close(table: [[u64; 2]; 2], known: f64) {
        let p = fisher_exact(table);
        assert!((p - known).abs() <= 1e-12 * known.max(1e-3), "{table:?}: {p}, not {known}");
    }

    #[test]
    fn p_is_that_computed_by_hand() {
        // The lady tasting tea: of C(8, 4) = 70 tables, 1 + 16 + 16 + 1 are at most as probable as 3 of 4.
        close([[3, 1], [1, 3]], 34.0 / 70.0);
        close([[4, 0], [0, 4]], 2.0 / 70.0);
        // C(3, 2) C(7, 0) / C(10, 2) = 3 / 45; the other tables are more probable.
        close([[2, 1], [0, 7]], 3.0 / 45.0);
        for table in [[[0, 0], [3, 4]], [[5, 0], [3, 0]], [[0, 5], [0, 3]], [[0, 0], [0, 0]]] {
            close(table, 1.0);
        }
    }

    /// `scipy.stats.fisher_exact` 1.17.
    #[test]
    fn p_is_that_of_scipy() {
        close([[0, 40], [54, 26]], 1.484_072_898_646_582_4e-14);
        close([[7, 13], [40, 31]], 0.128_733_631_839_093_62);
        close([[12, 5], [29, 2]], 0.080_268_552_074_104_63);
        close([[8, 2], [1, 5]], 0.034_965_034_965_034_975);
        close([[130, 370], [2100, 7400]], 0.047_053_118_631_313_79);
        close([[50, 50], [1000, 1000]], 1.0);
    }

    #[test]
    fn the_order_of_groups_and_outcomes_does_not_matter_and_large_tables_are_finite() {
        let p = fisher_exact([[7, 13], [40, 31]]);
        for same in [[[40, 31], [7, 13]], [[13, 7], [31, 40]], [[7, 40], [13, 31]]] {
            close(same, p);
        }
        assert!((0.0..1e-200).contains(&fisher_exact([[0, 5_000], [5_000, 0]])));
    }
}
