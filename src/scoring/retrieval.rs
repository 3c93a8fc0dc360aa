//! Retrieval: whether gold pages were opened and gold sentences shown, and how often the tool found nothing.
//!
//! Grounding: did an observation contain the answer's text before it was given?
//!
//! KILT's evidence scores over pages: what was found, best first, against sets of pages of which each is enough.

use super::evidence::{EvidenceGroup, GoldEvidence, GoldFact, page_key, pieces, words};
use super::observed::{Observed, cap, is_verdict};
use super::overlap::{AnswerScore, float};
use crate::base::{named, unique};
use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};
use std::collections::HashSet;

/// Words from which on a sentence says which page it is from.
const TELLING_WORDS: usize = 6;

/// A share as the two counts that it is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Share {
    pub count: u64,
    pub of: u64,
}

impl Share {
    /// `count / of`, `0.0..=1.0`; absent for a share of nothing.
    pub fn value(self) -> Option<f64> {
        (self.of > 0).then(|| float(self.count) / float(self.of))
    }

    pub fn is_mixed(self) -> bool {
        self.count > 0 && self.count < self.of
    }

    pub(super) fn add(&mut self, count: u64, of: u64) {
        self.count += count;
        self.of += of;
    }
}

/// `3/5`.
impl std::fmt::Display for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.count, self.of)
    }
}

/// `{"count", "of", "share"}`.
impl Serialize for Share {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Share", 3)?;
        fields.serialize_field("count", &self.count)?;
        fields.serialize_field("of", &self.of)?;
        fields.serialize_field("share", &self.value())?;
        fields.end()
    }
}

/// What one episode retrieved, in counts. What needs gold evidence is absent if none is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Retrieval {
    pub searches: u64,
    /// Searches that opened no page. See [`search_missed`](super::search_missed).
    pub missed_searches: u64,
    pub lookups: u64,
    /// Lookups answered by `No more results.`
    pub empty_lookups: u64,
    pub gold: Option<GoldRetrieval>,
}

/// How much of the gold evidence was retrieved. Of alternatives it is the one that was retrieved best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct GoldRetrieval {
    /// Gold pages, 1 or more.
    pub pages: u64,
    /// How many of them were opened, redirects followed.
    pub pages_opened: u64,
    /// Gold sentences whose text is known, or whose number is where observations name the sentences that they show.
    pub sentences: u64,
    /// How many of them were shown.
    pub sentences_seen: u64,
    /// Gold sentences whose text the dataset does not give; in no share.
    pub sentences_unknown: u64,
    /// KILT's R-precision: of the first R pages opened, those of a set of R gold pages, for the set where this is largest.
    pub r_precision: Share,
    /// KILT's recall at 5: sets of gold pages that were whole among the first five places of the pages opened, of all sets.
    pub recall_at_5: Share,
}

impl GoldRetrieval {
    /// Whether a gold page was opened at all. Datasets do not say which page comes first, so whichever it was is the
    /// first hop.
    pub fn first_hop(&self) -> bool {
        self.pages_opened > 0
    }

    /// Whether every gold page was opened.
    pub fn all_hops(&self) -> bool {
        self.pages_opened == self.pages
    }

    /// Whether every gold sentence appeared in an observation; never where the text of one is not known.
    pub fn all_seen(&self) -> bool {
        self.sentences > 0 && self.sentences_seen == self.sentences && self.sentences_unknown == 0
    }

    /// Better retrieved is larger: whole groups first, then the share of pages, then that of sentences.
    fn rank(&self) -> (bool, u64, u64) {
        let share = |part: u64, whole: u64| (part * 1_000_000).checked_div(whole).unwrap_or(0);
        (self.all_hops(), share(self.pages_opened, self.pages), share(self.sentences_seen, self.sentences))
    }
}

pub(super) struct Match<'a> {
    pub(super) group: &'a EvidenceGroup,
    pub(super) gold: GoldRetrieval,
}

impl<'a> Match<'a> {
    /// Compares an episode with each group; the first of equally good ones counts.
    pub(super) fn of(evidence: &'a GoldEvidence, seen: &Observed<'_>) -> Option<Self> {
        let groups = evidence.groups().iter().map(|group| Self { group, gold: gold(group, seen) });
        let mut best = groups.reduce(|best, next| if best.gold.rank() < next.gold.rank() { next } else { best })?;
        (best.gold.r_precision, best.gold.recall_at_5) = by_pages(evidence, seen);
        Some(best)
    }
}

fn gold(group: &EvidenceGroup, seen: &Observed<'_>) -> GoldRetrieval {
    let known: Vec<bool> = group.facts.iter().filter_map(|fact| fact_seen(fact, seen)).collect();
    GoldRetrieval {
        pages: group.pages.len() as u64,
        pages_opened: group.pages.iter().filter(|page| page_opened(group, page, seen)).count() as u64,
        sentences: known.len() as u64,
        sentences_seen: known.iter().filter(|seen| **seen).count() as u64,
        sentences_unknown: (group.facts.len() - known.len()) as u64,
        ..GoldRetrieval::default()
    }
}

/// R-precision and recall at 5 over the pages opened, in their order, as KILT takes them over the pages of a prediction.
fn by_pages(evidence: &GoldEvidence, seen: &Observed<'_>) -> (Share, Share) {
    let found = seen.opened_in_order();
    let keys = |group: &EvidenceGroup| group.pages.iter().map(|page| page_key(page)).collect();
    let sets: Vec<HashSet<String>> = evidence.groups().iter().map(keys).collect();
    let share = |count: usize, of: usize| Share { count: count as u64, of: of as u64 };
    let (hits, pages) = r_precision(&found, &sets);
    let ([whole], all) = whole_sets(&found, &sets, [5]);
    // Of nothing opened no set is found, where the ranking has none.
    (share(hits, pages), share(whole, all.max(1)))
}

/// Whether a gold page was opened under its own title, or under another one (a redirect that the site did not tell):
/// then a whole sentence of it was shown.
pub(super) fn page_opened(group: &EvidenceGroup, page: &str, seen: &Observed<'_>) -> bool {
    let key = page_key(page);
    let telling = |fact: &GoldFact| fact.texts.iter().any(|text| words(text).split(' ').count() > TELLING_WORDS);
    seen.pages.contains_key(&key)
        || group
            .facts
            .iter()
            .any(|fact| page_key(&fact.page) == key && telling(fact) && fact_seen(fact, seen) == Some(true))
}

/// Whether a fact's sentence was shown: by its number where observations of its page name sentences, otherwise by its text,
/// whole or in the pieces into which the tool cuts it at `. `. `None` where neither can tell.
pub(super) fn fact_seen(fact: &GoldFact, seen: &Observed<'_>) -> Option<bool> {
    let by_text = |text: &String| {
        seen.shows_words(&words(text)) || {
            let pieces = pieces(text);
            !pieces.is_empty() && pieces.iter().all(|piece| seen.shows_words(piece))
        }
    };
    let by_texts = || (!fact.texts.is_empty()).then(|| fact.texts.iter().any(by_text));
    seen.shows_sentence(fact).or_else(by_texts)
}

named! {
    /// Where an answer comes from, as far as its text can tell.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Grounding {
        /// The answer appeared in an observation, right or wrong.
        Grounded = "grounded",
        /// Right, though it appeared in none.
        Lucky = "lucky",
        /// Wrong, and it appeared in none.
        Ungrounded = "ungrounded",
        /// Yes, no or a label: an answer without a text that a page could hold. In no share.
        Verdict = "verdict",
    }
}

impl Grounding {
    /// Grounding of an answer with this score; `None` for an answer without words.
    pub(super) fn of(answer: &str, score: AnswerScore, seen: &Observed<'_>) -> Option<Self> {
        let answer = cap(answer);
        if is_verdict(answer) {
            return Some(Self::Verdict);
        }
        if words(answer).len() <= 1 {
            return None;
        }
        Some(match seen.supports_answer(answer) {
            true => Self::Grounded,
            false if score.em > 0.0 => Self::Lucky,
            false => Self::Ungrounded,
        })
    }
}

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
    let mut open: Vec<HashSet<String>> = unique(sets).into_iter().cloned().collect();
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
