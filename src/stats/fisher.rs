//! Fisher's exact test: do two groups have the same share of successes?

use super::quantile::float;

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
