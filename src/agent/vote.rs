//! Self-consistency: the majority of sampled chains of thought.

use crate::score::{is_unspaced, normalize, normalize_characters};
use crate::types::{Vote, Voting};

/// Counts answers by their normal form, most first, ties by first seen. Samples without an answer do not count.
pub fn tally<'a>(answers: impl IntoIterator<Item = Option<&'a str>>) -> Vec<Vote> {
    let mut votes: Vec<Vote> = Vec::new();
    for answer in answers.into_iter().flatten() {
        let normalized = ballot(answer);
        match votes.iter_mut().find(|vote| vote.normalized == normalized) {
            Some(vote) => vote.count += 1,
            None => votes.push(Vote { answer: answer.to_owned(), normalized, count: 1 }),
        }
    }
    // A stable sort keeps the first seen before its equals.
    votes.sort_by_key(|vote| std::cmp::Reverse(vote.count));
    votes
}

/// The normal form of an answer: the paper's, which handles ASCII punctuation only, or by characters for unspaced
/// scripts. Where nothing is left of it, as of the choice `A` or of `.`, the answer in lower case.
fn ballot(answer: &str) -> String {
    let normal = if answer.contains(is_unspaced) { normalize_characters(answer) } else { normalize(answer) };
    if normal.is_empty() { answer.trim().to_lowercase() } else { normal }
}

/// Whether the first of `votes` has the share of all samples that `voting` requires.
pub fn is_majority(votes: &[Vote], voting: &Voting) -> bool {
    votes.first().is_some_and(|vote| f64::from(vote.count) >= voting.majority * f64::from(voting.samples))
}

#[cfg(test)]
mod tests {
    use super::{is_majority, tally};
    use crate::types::Voting;

    fn counted(answers: &[Option<&str>]) -> Vec<(String, u32)> {
        tally(answers.iter().copied()).into_iter().map(|vote| (vote.answer, vote.count)).collect()
    }

    #[test]
    fn answers_count_by_their_normal_form_and_ties_fall_to_the_first_seen() {
        let answers = [Some("B"), Some("The Answer"), None, Some("answer."), Some("b"), Some("c")];
        assert_eq!(counted(&answers), [("B".to_owned(), 2), ("The Answer".to_owned(), 2), ("c".to_owned(), 1)]);
        assert_eq!(counted(&[Some("a1"), Some("z"), Some("z")])[0], ("z".to_owned(), 2));
        assert_eq!(counted(&[Some("《红楼梦》。"), Some("红楼梦")]), [("《红楼梦》。".to_owned(), 2)]);
        assert!(counted(&[None, None]).is_empty());
    }

    #[test]
    fn answers_of_which_the_normal_form_leaves_nothing_are_counted_as_written() {
        // The choice `A` is not an article here.
        let answers = [Some("the"), Some("A"), Some("B"), Some(" a"), Some("."), Some("a. B")];
        let expected = [("A", 2), ("B", 2), ("the", 1), (".", 1)];
        assert_eq!(counted(&answers), expected.map(|(answer, count)| (answer.to_owned(), count)));
    }

    #[test]
    fn a_majority_has_half_of_all_samples_those_without_an_answer_included() {
        let voting = Voting { samples: 21, ..Voting::default() };
        let votes = |count: usize| tally(std::iter::repeat_n(Some("x"), count));
        assert!(is_majority(&votes(11), &voting));
        assert!(!is_majority(&votes(10), &voting));
        assert!(is_majority(&votes(2), &Voting { samples: 4, ..voting }));
        assert!(!is_majority(&[], &Voting { samples: 1, majority: 0.0, ..voting }));
    }
}
