//! KILT's evidence scores over pages: what was found, best first, against sets of pages of which each is enough.

use std::collections::HashSet;

/// R-precision as two counts: of the first R pages found, how many are in the set of R pages, for the set where this share is
/// largest. A set without pages scores 0 of 0.
pub(super) fn r_precision(found: &[String], sets: &[HashSet<String>]) -> (usize, usize) {
    let mut best = (0, 0);
    for set in sets {
        let hits = found.iter().take(set.len()).filter(|page| set.contains(*page)).count();
        // hits / R, compared without division.
        if best.1 == 0 || hits * best.1 > best.0 * set.len() {
            best = (hits, set.len());
        }
    }
    best
}

/// A place in KILT's ranking: a page that is in no set, a set found in part, or a whole set.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Other,
    Part(usize),
    Whole,
}

/// How many different sets were found whole among the first `k` places, for each `k`, and how many sets there are. A set has one
/// place, that of its last page; a page that is in no set has one, too. Without anything found there are 0 sets.
pub(super) fn whole_sets<const N: usize>(
    found: &[String],
    sets: &[HashSet<String>],
    at: [usize; N],
) -> ([usize; N], usize) {
    if found.is_empty() {
        return ([0; N], 0);
    }
    let mut open: Vec<HashSet<String>> = Vec::new();
    for set in sets {
        if !open.contains(set) {
            open.push(set.clone());
        }
    }
    let (all, mut places) = (open.len(), Vec::new());
    for page in found {
        let mut in_none = true;
        for (at, set) in open.iter_mut().enumerate() {
            if !set.remove(page) {
                continue;
            }
            in_none = false;
            places.retain(|place| *place != Place::Part(at));
            places.push(if set.is_empty() { Place::Whole } else { Place::Part(at) });
        }
        if in_none {
            places.push(Place::Other);
        }
    }
    (at.map(|k| places.iter().take(k).filter(|place| **place == Place::Whole).count()), all)
}

#[cfg(test)]
mod tests {
    use super::{r_precision, whole_sets};
    use std::collections::HashSet;

    fn sets(sets: &[&str]) -> Vec<HashSet<String>> {
        sets.iter().map(|set| set.split_whitespace().map(str::to_owned).collect()).collect()
    }

    fn found(pages: &str) -> Vec<String> {
        pages.split_whitespace().map(str::to_owned).collect()
    }

    /// What KILT's `rprecision` gives.
    #[test]
    fn r_precision_is_the_best_of_the_sets() {
        for (pages, golds, expected) in [
            ("1 2", &["1"][..], (1, 1)),
            ("2 1", &["1"], (0, 1)),
            ("2 1", &["1", "1 2"], (2, 2)),
            ("1 9 2", &["1 2", "3 4 1"], (1, 2)),
            ("", &["1"], (0, 1)),
            ("1", &[""], (0, 0)),
            ("1", &["", "1 2"], (1, 2)),
        ] {
            assert_eq!(r_precision(&found(pages), &sets(golds)), expected, "{pages} {golds:?}");
        }
    }

    /// What KILT's `get_rank` gives: a set takes the place of its last page, and a page may end two sets.
    #[test]
    fn a_set_is_found_with_its_last_page() {
        for (pages, golds, expected) in [
            ("1 2", &["1 2"][..], ([1, 1], 1)),
            ("1 9 2", &["1 2"], ([0, 1], 1)),
            ("9 1", &["1", "1"], ([0, 1], 1)),
            ("1 2 3", &["1", "2 3", "1 4"], ([1, 1], 3)),
            ("", &["1"], ([0, 0], 0)),
        ] {
            assert_eq!(whole_sets(&found(pages), &sets(golds), [1, 2]), expected, "{pages} {golds:?}");
        }
    }
}
