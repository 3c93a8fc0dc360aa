//! The questions of all variants, with what each variant made of them: the list of the page, and what is counted from it.

use crate::graded::{Episode, Results, Source};
use crate::score::FailureClass;
use crate::types::Outcome;
use std::collections::HashMap;

/// One question.
#[derive(Debug)]
pub(super) struct QuestionRow<'a> {
    /// The group of variants that share it.
    pub(super) group: usize,
    pub(super) id: &'a str,
    pub(super) question: &'a str,
    pub(super) gold: Option<&'a str>,
    pub(super) kind: Option<&'a str>,
    pub(super) level: Option<&'a str>,
    /// Titles of its gold pages.
    pub(super) pages: &'a [String],
    /// Its episodes by variant, each with its repeats in order; none where that variant was not asked.
    pub(super) episodes: Vec<Vec<&'a Episode>>,
}

/// The questions in the order of their datasets.
pub(super) fn rows(results: &Results) -> Vec<QuestionRow<'_>> {
    let variants = results.variants().count();
    let (mut rows, mut first) = (Vec::new(), 0);
    for (group, members) in results.groups.iter().enumerate() {
        let mut at: HashMap<&str, usize> = HashMap::new();
        for (variant, source) in members.sources.iter().enumerate() {
            for episode in &*source.episodes {
                let row = *at.entry(&episode.id).or_insert_with(|| {
                    rows.push(QuestionRow::new(group, episode, variants));
                    rows.len() - 1
                });
                rows[row].episodes[first + variant].push(episode);
            }
        }
        first += members.sources.len();
    }
    rows
}

impl<'a> QuestionRow<'a> {
    fn new(group: usize, episode: &'a Episode, variants: usize) -> Self {
        let field = |at: usize| episode.groups.get(at).and_then(Option::as_deref);
        Self {
            group,
            id: &episode.id,
            question: &episode.question,
            gold: episode.gold.as_deref(),
            kind: field(0),
            level: field(1),
            pages: episode.evidence.as_ref().map_or(&[], |gold| &gold.pages),
            episodes: vec![Vec::new(); variants],
        }
    }

    /// Whether a variant is right, as flipped answers are counted: in more than half of its measured repeats.
    pub(super) fn right(&self, variant: usize) -> Option<bool> {
        self.em(variant).map(|em| em > 0.5)
    }

    /// Mean EM over the measured repeats.
    pub(super) fn em(&self, variant: usize) -> Option<f64> {
        self.mean(variant, 0)
    }

    /// The mean of the figure at that place over the measured repeats.
    pub(super) fn mean(&self, variant: usize, figure: usize) -> Option<f64> {
        let values = self.episodes[variant].iter().filter_map(|episode| episode.values.get(figure).copied().flatten());
        let (sum, n) = values.fold((0.0, 0.0), |(sum, n), value| (sum + value, n + 1.0));
        (n > 0.0).then(|| sum / n)
    }

    /// The episode that represents a variant: the first that is as right as most of its repeats.
    pub(super) fn first(&self, variant: usize) -> Option<&'a Episode> {
        let episodes = &self.episodes[variant];
        let right = self.right(variant);
        episodes.iter().find(|episode| episode.right == right).or(episodes.first()).copied()
    }

    /// Why a variant is wrong.
    pub(super) fn class(&self, variant: usize) -> Option<FailureClass> {
        self.first(variant)?.class
    }

    /// Whether a variant is wrong and its steps ran out.
    pub(super) fn ended_wrong_at_limit(&self, variant: usize) -> bool {
        let ended = self.first(variant).is_some_and(|episode| episode.outcome == Some(Outcome::StepLimit));
        ended && self.right(variant) == Some(false)
    }

    /// Whether one variant is right and another one wrong.
    pub(super) fn differs(&self) -> bool {
        let mut known = (0..self.episodes.len()).filter_map(|variant| self.right(variant));
        known.next().is_some_and(|first| known.any(|other| other != first))
    }

    /// Variants that are wrong.
    pub(super) fn wrong(&self) -> usize {
        (0..self.episodes.len()).filter(|variant| self.right(*variant) == Some(false)).count()
    }
}

/// Variants whose answers and verdicts are the same on every question of the group, as lists of their positions in it.
pub(super) fn alike(sources: &[Source]) -> Vec<Vec<usize>> {
    let answers = |source: &Source| {
        let mut answers: Vec<_> = source
            .episodes
            .iter()
            .map(|episode| (episode.id.clone(), episode.repeat, episode.right, episode.answer.clone()))
            .collect();
        answers.sort();
        answers
    };
    let mut groups: Vec<(Vec<_>, Vec<usize>)> = Vec::new();
    for (at, source) in sources.iter().enumerate() {
        let mine = answers(source);
        match groups.iter_mut().find(|(known, _)| *known == mine) {
            Some((_, members)) => members.push(at),
            None => groups.push((mine, vec![at])),
        }
    }
    groups.into_iter().map(|(_, members)| members).collect()
}
