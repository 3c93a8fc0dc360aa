//! Which answers a judge is asked about.

use super::verdict::{Answer, Chosen, Rule, normalised};
use crate::base::sha256_hex;
use std::collections::HashSet;

/// The distinct answers that this rule chooses, in the order of the episodes. The audit depends on the seed and on the
/// answers, not on the judge: two judges are asked the same.
pub(crate) fn due(answers: impl IntoIterator<Item = Answer>, rule: Rule) -> Vec<Answer> {
    let mut known = HashSet::new();
    let distinct = answers.into_iter().filter(|answer| {
        let episode = answer.episode.as_ref().map(|read| read.of.key.clone());
        known.insert((answer.question.clone(), answer.golds.clone(), normalised(&answer.text), episode))
    });
    let distinct: Vec<Answer> = distinct.collect();
    if rule.judged == Chosen::All {
        return distinct;
    }
    let drawn = |answer: &Answer| {
        sha256_hex([
            rule.seed.to_string().as_bytes(),
            b" ",
            answer.id.as_bytes(),
            b" ",
            normalised(&answer.text).as_bytes(),
        ])
    };
    let mut right: Vec<(String, usize)> = distinct
        .iter()
        .enumerate()
        .filter(|(_, answer)| answer.right)
        .map(|(at, answer)| (drawn(answer), at))
        .collect();
    right.sort();
    let audited: HashSet<usize> = right.into_iter().take(rule.audit as usize).map(|(_, at)| at).collect();
    let chosen = |(at, answer): (usize, Answer)| (!answer.right || audited.contains(&at)).then_some(answer);
    distinct.into_iter().enumerate().filter_map(chosen).collect()
}
