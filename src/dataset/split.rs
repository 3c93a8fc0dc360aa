//! A dataset in two: questions to work on, and a holdout that nobody looks at until the end.

use super::select::read_ids;
use crate::base::stats::rng::SplitMix64;
use crate::base::{Question, excerpt};
use std::collections::HashMap;

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
pub fn split(questions: &[Question], keys: &[String], size: usize, seed: u64) -> Result<Split, SplitError> {
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
fn groups(questions: &[Question], keys: &[String]) -> Vec<Vec<usize>> {
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

#[cfg(test)]
mod tests {
    use super::{Split, SplitError, split};
    use crate::base::Question;

    /// Questions with their clusters; the text of each is its key.
    fn questions(of: &[(&str, Option<&str>)]) -> (Vec<Question>, Vec<String>) {
        let one = |(at, (key, cluster)): (usize, &(&str, Option<&str>))| {
            let line = serde_json::json!({"id": at.to_string(), "question": key, "cluster": cluster});
            serde_json::from_value(line).expect("a question")
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
            id.clone_into(&mut questions[0].id);
            assert!(matches!(split(&questions, &keys, 1, 1), Err(SplitError::Id(_))), "{id:?}");
        }
    }
}
