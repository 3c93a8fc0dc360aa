//! Exemplars of a prompt that are in the dataset: the model would be shown their answers.

use crate::base::Question;
use crate::prompting::{self, PromptSource, QUESTION_LABELS};
use crate::runner::RunError;
use crate::runner::experiment::shipped;
use crate::scoring::overlap::overlap;
use crate::scoring::{normalize, normalize_characters};
use serde::Serialize;

/// From which share of common words on two questions are nearly the same.
const NEAR: f64 = 0.8;
/// Questions of fewer words are the same or they are not.
const NEAR_WORDS: usize = 4;

#[derive(Debug, Serialize)]
pub(crate) struct Leakage {
    pub(crate) prompt: String,
    pub(crate) exemplars: usize,
    /// Exemplars that are the same question after normalisation.
    pub(crate) equal: Vec<Match>,
    /// Exemplars whose words are nearly the same.
    pub(crate) near: Vec<Match>,
}

/// An exemplar and the question that it resembles most.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Match {
    pub(crate) exemplar: usize,
    pub(crate) id: String,
    pub(crate) question: String,
    /// F1 of their words, 1 for the same.
    pub(crate) similarity: f64,
}

/// A question as it is compared: words without case, punctuation and articles, characters of unspaced scripts apart.
pub(crate) fn key(question: &str) -> String {
    normalize_characters(&normalize(question))
}

/// The exemplars of a prompt that stand among the questions, whose keys are given in the same order.
pub(crate) fn leakage_of(spec: &str, questions: &[Question], keys: &[String]) -> Result<Leakage, RunError> {
    let exemplars = exemplars(&prompting::load(spec, None, &shipped::file)?);
    let words: Vec<usize> = keys.iter().map(|key| count(key)).collect();
    let mut found =
        Leakage { prompt: spec.to_owned(), exemplars: exemplars.len(), equal: Vec::new(), near: Vec::new() };
    for (number, exemplar) in exemplars.iter().enumerate() {
        let Some((best, similarity)) = closest(&key(exemplar), keys, &words) else { continue };
        let question = &questions[best];
        let (id, text) = (question.id.clone(), question.question.clone());
        let same = keys[best] == key(exemplar);
        let list = if same { &mut found.equal } else { &mut found.near };
        list.push(Match { exemplar: number + 1, id, question: text, similarity });
    }
    Ok(found)
}

/// The questions of a prompt's exemplars; in a finished text, the lines that begin with a question's label.
fn exemplars(source: &PromptSource) -> Vec<String> {
    match source {
        PromptSource::File(file) => file.exemplars.iter().map(|exemplar| exemplar.question.clone()).collect(),
        PromptSource::Text(text) => text
            .text
            .lines()
            .filter_map(|line| {
                let (label, question) = line.split_once(':')?;
                QUESTION_LABELS.contains(&label.trim()).then(|| question.trim().to_owned())
            })
            .filter(|question| !question.is_empty())
            .collect(),
    }
}

/// The question that is most like the exemplar, where one is like it at all.
fn closest(exemplar: &str, keys: &[String], words: &[usize]) -> Option<(usize, f64)> {
    if exemplar.is_empty() {
        return None;
    }
    if let Some(same) = keys.iter().position(|key| key == exemplar) {
        return Some((same, 1.0));
    }
    let mine = count(exemplar);
    let mut best: Option<(usize, f64)> = None;
    for (at, key) in keys.iter().enumerate() {
        // Where the lengths differ too much, no overlap reaches the threshold: F1 is at most 2 · min / sum.
        let (short, sum) = (mine.min(words[at]), mine + words[at]);
        if short < NEAR_WORDS || 10 * 2 * short < 8 * sum {
            continue;
        }
        let similarity = overlap(exemplar, key).f1;
        if similarity >= NEAR && best.is_none_or(|(_, most)| similarity > most) {
            best = Some((at, similarity));
        }
    }
    best
}

fn count(key: &str) -> usize {
    key.split(' ').filter(|word| !word.is_empty()).count()
}

#[cfg(test)]
mod tests {
    use super::{closest, count, key};

    #[test]
    fn equality_forgives_case_punctuation_and_articles_and_nearness_a_word() {
        let keys: Vec<String> =
            ["Who wrote Solaris?", "In which year did the poet of the Duino Elegies die?", "谁写了《红楼梦》？"]
                .map(key)
                .to_vec();
        let words: Vec<usize> = keys.iter().map(|key| count(key)).collect();
        let like = |text: &str| closest(&key(text), &keys, &words);
        assert_eq!(like("who wrote the SOLARIS"), Some((0, 1.0)));
        assert_eq!(like("who wrote Stalker"), None);
        let f1 = 2.0 * (8.0 / 9.0) * (8.0 / 9.0) / (8.0 / 9.0 + 8.0 / 9.0);
        assert_eq!(like("In which year did the author of the Duino Elegies die?"), Some((1, f1)));
        assert_eq!(like("谁写了红楼梦"), Some((2, 1.0)));
        assert_eq!(like("…"), None);
    }
}
