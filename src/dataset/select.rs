//! Which questions of a file are used, and in which order; a dataset in two parts, and the list of ids of each.

use crate::base::stats::rng::SplitMix64;
use crate::base::{Question, Selection, excerpt, sha256_hex};
use rand_mt::Mt;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// How many questions the paper's shuffle covers.
const PAPERS_RANGE: usize = 7405;

#[derive(Debug, thiserror::Error)]
pub enum SelectionError {
    #[error("{count} ids are not in the dataset: {shown}")]
    UnknownIds { count: usize, shown: String },
    #[error("no question has the type `{kind}`; {}", if found.is_empty() { "the dataset gives no types".to_owned() } else { format!("the types are {found}") })]
    UnknownType { kind: String, found: String },
    #[error("the selection leaves no question")]
    Empty,
}

impl SelectionError {
    pub fn hint(&self) -> &'static str {
        match self {
            Self::UnknownIds { .. } => "check that --ids belongs to this dataset",
            Self::UnknownType { found, .. } if found.is_empty() => "remove --types",
            Self::UnknownType { .. } => "name one of them with --types",
            Self::Empty => "loosen --limit, --ids or --types",
        }
    }
}

/// The ids of an `--ids` file: one per line; empty lines and lines that begin with `#` are skipped.
pub fn read_ids(text: &str) -> Vec<String> {
    text.trim_start_matches('\u{feff}')
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
        .collect()
}

/// Selects: ids (in the order asked for), types, shuffle, limit, one after the other.
///
/// `shuffle_like_paper` gives the order of Python's `random.Random(seed).shuffle` over the first 7,405 of the
/// selected questions, and leaves the rest behind them: the paper shuffles `range(7405)`, the size of the
/// `HotpotQA` development set, for FEVER's 9,999 claims as well. `shuffle` is a Fisher-Yates shuffle driven by `SplitMix64`, whose recipe is a dozen lines in any language.
pub fn select(questions: Vec<Arc<Question>>, selection: &Selection) -> Result<Vec<Arc<Question>>, SelectionError> {
    let mut order =
        if selection.ids.is_empty() { (0..questions.len()).collect() } else { by_ids(&questions, &selection.ids)? };
    check_types(&questions, &selection.types)?;
    if !selection.types.is_empty() {
        order.retain(|&i| questions[i].kind.as_ref().is_some_and(|kind| selection.types.contains(kind)));
    }
    if let Some(seed) = selection.shuffle {
        SplitMix64::new(seed).shuffle(&mut order);
    }
    if let Some(seed) = selection.shuffle_like_paper {
        let shuffled = order.len().min(PAPERS_RANGE);
        shuffle(seed, &mut order[..shuffled]);
    }
    order.truncate(selection.limit.unwrap_or(usize::MAX));
    if order.is_empty() {
        return Err(SelectionError::Empty);
    }
    if order.iter().copied().eq(0..questions.len()) {
        return Ok(questions);
    }
    let mut questions: Vec<Option<Arc<Question>>> = questions.into_iter().map(Some).collect();
    // No question is selected twice.
    Ok(order.into_iter().filter_map(|i| questions[i].take()).collect())
}

fn by_ids(questions: &[Arc<Question>], ids: &[String]) -> Result<Vec<usize>, SelectionError> {
    let places: HashMap<&str, usize> = questions.iter().enumerate().map(|(i, q)| (q.id.as_str(), i)).collect();
    let unknown: Vec<&String> = ids.iter().filter(|id| !places.contains_key(id.as_str())).collect();
    if !unknown.is_empty() {
        let shown: Vec<String> = unknown.iter().take(5).map(|id| format!("`{}`", crate::base::excerpt(id))).collect();
        return Err(SelectionError::UnknownIds { count: unknown.len(), shown: shown.join(", ") });
    }
    // An id that is asked for twice is still one question.
    let mut taken = HashSet::new();
    Ok(ids.iter().filter_map(|id| places.get(id.as_str()).copied()).filter(|i| taken.insert(*i)).collect())
}

fn check_types(questions: &[Arc<Question>], types: &[String]) -> Result<(), SelectionError> {
    let found: HashSet<&str> = questions.iter().filter_map(|question| question.kind.as_deref()).collect();
    match types.iter().find(|kind| !found.contains(kind.as_str())) {
        None => Ok(()),
        Some(kind) => {
            let mut found: Vec<String> = found.into_iter().map(|kind| format!("`{kind}`")).collect();
            found.sort();
            Err(SelectionError::UnknownType { kind: kind.clone(), found: found.join(", ") })
        }
    }
}

const OF_DATASET: &str = "# sha256 of the dataset's file: ";
const OF_IDS: &str = "# sha256 of the lines below: ";
const HOLDOUT: &str = "holdout";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdList {
    /// Its name, `development` or `holdout`, and after a colon what was drawn, for people; one line.
    pub title: String,
    pub dataset_sha256: String,
    pub ids: Vec<String>,
}

impl IdList {
    /// Digest of the ids, each with a line end, without the comments of the file.
    pub fn sha256(&self) -> String {
        sha256_of_ids(&self.ids)
    }

    pub fn text(&self) -> String {
        let Self { title, dataset_sha256, ids } = self;
        let ids: String = ids.iter().flat_map(|id| [id.as_str(), "\n"]).collect();
        format!("# {title}\n{OF_DATASET}{dataset_sha256}\n{OF_IDS}{}\n{ids}", self.sha256())
    }

    /// The list in a file; absent where it is none, or not as it was drawn: its ids must have the digest above them.
    pub fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let title = lines.next()?.strip_prefix("# ")?.to_owned();
        let dataset_sha256 = lines.next()?.strip_prefix(OF_DATASET)?.to_owned();
        let sha256 = lines.next()?.strip_prefix(OF_IDS)?;
        let list = Self { title, dataset_sha256, ids: read_ids(text) };
        (list.sha256() == sha256).then_some(list)
    }

    /// Whether a file says that it is a holdout, as it was drawn or not.
    pub fn names_holdout(text: &str) -> bool {
        text.strip_prefix("# ").and_then(|rest| rest.strip_prefix(HOLDOUT)).is_some_and(|rest| rest.starts_with(':'))
    }

    /// Whether these are the questions that nobody looks at until the end.
    pub fn is_holdout(&self) -> bool {
        self.title.split_once(':').is_some_and(|(name, _)| name == HOLDOUT)
    }
}

/// The digest that the list with these ids has.
pub fn sha256_of_ids(ids: &[String]) -> String {
    sha256_hex(ids.iter().flat_map(|id| [id.as_bytes(), b"\n"]))
}

/// Positions of the questions of each part, in the file's order.
#[derive(Debug, PartialEq, Eq)]
pub struct Split {
    pub development: Vec<usize>,
    pub holdout: Vec<usize>,
}

#[derive(Debug, thiserror::Error)]
pub enum SplitError {
    #[error("a holdout of {holdout} leaves nothing of {questions} questions to work on")]
    TooLarge { holdout: usize, questions: usize },
    #[error("all {groups} groups of questions that belong together are larger than a holdout of {holdout}")]
    NoGroupFits { groups: usize, holdout: usize },
    #[error("the id `{0}` cannot be a line of a list of ids")]
    Id(String),
}

impl SplitError {
    pub fn hint(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "name a smaller number with --holdout",
            Self::NoGroupFits { .. } => "name a larger number with --holdout, or remove duplicates from the dataset",
            Self::Id(_) => "give it another id: one line, without spaces at its ends, that does not begin with `#`",
        }
    }
}

/// Draws a holdout of `size` questions. Questions of one cluster, and those with the same key, go to the same part: an
/// answer that was seen while prompts were written says nothing about new questions. Where the last groups are larger than
/// what is left to draw, the holdout is that much smaller.
///
/// Groups are shuffled like `--shuffle`, in the order of their first question, and taken from the front if they fit.
pub fn split(questions: &[Arc<Question>], keys: &[String], size: usize, seed: u64) -> Result<Split, SplitError> {
    if size >= questions.len() {
        return Err(SplitError::TooLarge { holdout: size, questions: questions.len() });
    }
    if let Some(question) = questions.iter().find(|question| read_ids(&question.id) != [question.id.as_str()]) {
        return Err(SplitError::Id(excerpt(&question.id)));
    }
    let groups = groups(questions, keys);
    let mut order: Vec<usize> = (0..groups.len()).collect();
    SplitMix64::new(seed).shuffle(&mut order);
    let mut is_held = vec![false; questions.len()];
    let mut left = size;
    for group in order.iter().map(|&at| &groups[at]) {
        if group.len() <= left {
            left -= group.len();
            for &at in group {
                is_held[at] = true;
            }
        }
    }
    let (holdout, development): (Vec<usize>, Vec<usize>) = (0..questions.len()).partition(|&at| is_held[at]);
    if holdout.is_empty() {
        return Err(SplitError::NoGroupFits { groups: groups.len(), holdout: size });
    }
    Ok(Split { development, holdout })
}

/// The questions that belong together, by position; both kinds of ties chain.
fn groups(questions: &[Arc<Question>], keys: &[String]) -> Vec<Vec<usize>> {
    let mut parent: Vec<usize> = (0..questions.len()).collect();
    let mut seen: HashMap<(bool, &str), usize> = HashMap::new();
    for (at, (question, key)) in questions.iter().zip(keys).enumerate() {
        for tie in question.cluster.as_deref().map(|cluster| (true, cluster)).into_iter().chain([(false, key.as_str())])
        {
            let other = *seen.entry(tie).or_insert(at);
            let (one, other) = (root(&mut parent, at), root(&mut parent, other));
            parent[one.max(other)] = one.min(other);
        }
    }
    let mut groups: Vec<Vec<usize>> = vec![Vec::new(); questions.len()];
    for at in 0..questions.len() {
        groups[root(&mut parent, at)].push(at);
    }
    groups.retain(|group| !group.is_empty());
    groups
}

fn root(parent: &mut [usize], mut at: usize) -> usize {
    while parent[at] != at {
        parent[at] = parent[parent[at]];
        at = parent[at];
    }
    at
}

pub(super) fn shuffle<T>(seed: u64, items: &mut [T]) {
    let mut generator = Mt::new_with_key(words(seed));
    for i in (1..items.len()).rev() {
        items.swap(i, below(&mut generator, i + 1));
    }
}

/// The seed's 32-bit words, low one first, without leading zeros.
fn words(seed: u64) -> Vec<u32> {
    #[expect(clippy::cast_possible_truncation, reason = "the two halves of a word are what is wanted")]
    let (low, high) = (seed as u32, (seed >> 32) as u32);
    if high == 0 { vec![low] } else { vec![low, high] }
}

/// A whole number from 0 up to `bound`, which is at least 1 and at most [`PAPERS_RANGE`]: `getrandbits` with as many bits as it has.
fn below(generator: &mut Mt, bound: usize) -> usize {
    let bits = usize::BITS - bound.leading_zeros();
    loop {
        let drawn = (generator.next_u32() >> (32 - bits)) as usize;
        if drawn < bound {
            return drawn;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{IdList, Split, SplitError, split};
    use crate::base::Question;
    use std::sync::Arc;

    #[test]
    fn a_list_is_read_as_it_was_written_and_not_when_it_was_changed() {
        let ids = ["a b", "ü"].map(str::to_owned).to_vec();
        let list = IdList { title: "holdout: 2 of 9".to_owned(), dataset_sha256: "d".repeat(64), ids };
        let text = list.text();
        assert_eq!(IdList::parse(&text), Some(list.clone()));
        assert_eq!(IdList::parse(&text.replace('\n', "\r\n")), Some(list.clone()));
        assert!(list.is_holdout());
        for title in ["development: 2 of 9", "holdouts: 2", "holdout"] {
            assert!(!IdList { title: title.to_owned(), ..list.clone() }.is_holdout(), "{title}");
        }
        for other in [format!("{text}c\n"), text.replace('ü', "u"), text.replace("# ", ""), "a\nb\n".to_owned()] {
            assert_eq!(IdList::parse(&other), None, "{other}");
        }
    }

    /// Questions with their clusters; the text of each is its key.
    fn questions(of: &[(&str, Option<&str>)]) -> (Vec<Arc<Question>>, Vec<String>) {
        let one = |(at, (key, cluster)): (usize, &(&str, Option<&str>))| {
            let line = serde_json::json!({"id": at.to_string(), "question": key, "cluster": cluster});
            Arc::new(serde_json::from_value(line).expect("a question"))
        };
        (of.iter().enumerate().map(one).collect(), of.iter().map(|(key, _)| (*key).to_owned()).collect())
    }

    fn drawn(of: &[(&str, Option<&str>)], size: usize, seed: u64) -> Result<Split, SplitError> {
        let (questions, keys) = questions(of);
        split(&questions, &keys, size, seed)
    }

    #[test]
    fn a_seed_draws_the_same_holdout_and_another_seed_another() {
        let names: Vec<String> = (0..100).map(|at| format!("q{at}")).collect();
        let of: Vec<(&str, Option<&str>)> = names.iter().map(|name| (name.as_str(), None)).collect();
        let one = drawn(&of, 30, 7).expect("drawn");
        assert_eq!((one.holdout.len(), one.development.len()), (30, 70));
        assert!(one.holdout.iter().all(|at| !one.development.contains(at)));
        assert!(one.holdout.is_sorted() && one.development.is_sorted());
        assert_eq!(one, drawn(&of, 30, 7).expect("drawn"));
        assert_ne!(one, drawn(&of, 30, 8).expect("drawn"));
    }

    #[test]
    fn clusters_duplicates_and_chains_of_both_are_never_torn() {
        // 0-1 by cluster, 1-2 by text, 2-5 by cluster: one group of four.
        let of = [
            ("a", Some("x")),
            ("b", Some("x")),
            ("b", Some("y")),
            ("c", None),
            ("d", None),
            ("e", Some("y")),
            ("f", None),
        ];
        for (size, seed) in (1..7).flat_map(|size| (0..50).map(move |seed| (size, seed))) {
            let Split { development, holdout } = drawn(&of, size, seed).expect("drawn");
            let held = [0, 1, 2, 5].iter().filter(|at| holdout.contains(at)).count();
            assert!([0, 4].contains(&held), "{size} {seed}: {holdout:?}");
            assert!(holdout.len() <= size && holdout.len() + development.len() == 7);
        }
        // A cluster and a text of the same name are no tie.
        let apart = [("x", None), ("a", Some("x"))];
        assert_eq!(drawn(&apart, 1, 0).expect("drawn").holdout.len(), 1);
    }

    #[test]
    fn every_question_is_as_likely_to_be_held_out() {
        let of = [("a", None), ("b", None), ("c", None), ("d", None)];
        let mut held = [0; 4];
        for seed in 0..4000 {
            drawn(&of, 1, seed).expect("drawn").holdout.iter().for_each(|&at| held[at] += 1);
        }
        // 1,000 each, with a standard deviation of 27.
        assert!(held.iter().all(|count| (880..1120).contains(count)), "{held:?}");
    }

    #[test]
    fn what_cannot_be_split_is_refused() {
        let error = |of: &[(&str, Option<&str>)], size| drawn(of, size, 1).expect_err("refused").to_string();
        let two = [("a", None), ("b", None)];
        assert_eq!(error(&two, 2), "a holdout of 2 leaves nothing of 2 questions to work on");
        let pairs = [("a", None), ("a", None), ("b", None), ("b", None)];
        let larger = "all 2 groups of questions that belong together are larger than a holdout of 1";
        assert_eq!(error(&pairs, 1), larger);
        let (mut questions, keys) = questions(&two);
        for id in ["#1", " 1", "1\n2", ""] {
            id.clone_into(&mut Arc::make_mut(&mut questions[0]).id);
            assert!(matches!(split(&questions, &keys, 1, 1), Err(SplitError::Id(_))), "{id:?}");
        }
    }
}
