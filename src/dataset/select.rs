//! Which questions of a file are used, and in which order.

use super::python_random;
use crate::base::stats::rng::SplitMix64;
use crate::base::{Question, Selection};
use std::collections::{HashMap, HashSet};

/// How many questions the paper's shuffle covers.
const PAPERS_RANGE: usize = 7405;

#[derive(Debug, thiserror::Error)]
pub enum SelectionError {
    #[error("{count} ids are not in the dataset: {shown}")]
    UnknownIds { count: usize, shown: String },
    #[error("no question has the type `{kind}`; the types are {found}")]
    UnknownType { kind: String, found: String },
    #[error("the selection leaves no question")]
    Empty,
}

impl SelectionError {
    pub fn hint(&self) -> &'static str {
        match self {
            Self::UnknownIds { .. } => "check that --ids belongs to this dataset",
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
pub fn select(questions: Vec<Question>, selection: &Selection) -> Result<Vec<Question>, SelectionError> {
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
        python_random::shuffle(seed, &mut order[..shuffled]);
    }
    order.truncate(selection.limit.unwrap_or(usize::MAX));
    if order.is_empty() {
        return Err(SelectionError::Empty);
    }
    if order.iter().copied().eq(0..questions.len()) {
        return Ok(questions);
    }
    let mut questions: Vec<Option<Question>> = questions.into_iter().map(Some).collect();
    // No question is selected twice.
    Ok(order.into_iter().filter_map(|i| questions[i].take()).collect())
}

fn by_ids(questions: &[Question], ids: &[String]) -> Result<Vec<usize>, SelectionError> {
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

fn check_types(questions: &[Question], types: &[String]) -> Result<(), SelectionError> {
    let found: HashSet<&str> = questions.iter().filter_map(|question| question.kind.as_deref()).collect();
    match types.iter().find(|kind| !found.contains(kind.as_str())) {
        None => Ok(()),
        Some(kind) => {
            let mut found: Vec<String> = found.into_iter().map(|kind| format!("`{kind}`")).collect();
            found.sort();
            let found = if found.is_empty() { "not given".to_owned() } else { found.join(", ") };
            Err(SelectionError::UnknownType { kind: kind.clone(), found })
        }
    }
}
