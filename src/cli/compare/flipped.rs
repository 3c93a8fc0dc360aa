//! Flipped answers of two variants, with both trajectories.

use super::stale::{Editions, Opened};
use crate::compare::{Comparison, Flips, Variant, flips};
use crate::graded::{Episode, Source};
use crate::report::comparison::{FlipList, FlippedQuestion};
use crate::score::Divergence;
use crate::store::RunFolder;
use crate::types::Trajectory;
use crate::types::text::shell_word;
use std::collections::{HashMap, HashSet};

/// Position of a column, id of a question, and which of its repeats.
type Place = (usize, String, u32);

/// The flipped answers of each pair of the comparison; with `stale_gold`, whether their gold is stale. Of each pair
/// the first `most` are printed.
pub(super) fn flip_lists(
    sources: &[Source],
    columns: &[Variant],
    comparison: &Comparison,
    stale_gold: bool,
    most: usize,
) -> anyhow::Result<Vec<FlipList>> {
    let at = |name: &str| columns.iter().position(|column| column.name == name);
    let pairs = comparison.figures.first().map(|figure| figure.pairs.as_slice()).unwrap_or_default();
    let pairs: Vec<(usize, usize)> = pairs.iter().filter_map(|pair| Some((at(&pair.a)?, at(&pair.b)?))).collect();
    let found: Vec<Flips> = pairs.iter().map(|(a, b)| flips(&columns[*a], &columns[*b])).collect();
    let finder = Finder::new(sources);
    let mut places = HashSet::new();
    for ((a, b), flips) in pairs.iter().zip(&found) {
        for (ids, right, wrong) in [(&flips.gained, *b, *a), (&flips.lost, *a, *b)] {
            for id in ids {
                places.extend([finder.place(right, id, true), finder.place(wrong, id, false)].into_iter().flatten());
            }
        }
    }
    let trajectories = trajectories_at(sources, &places)?;
    let mut opened = Opened::default();
    let lists = pairs.into_iter().zip(found).map(|((a, b), flips)| {
        let editions = stale_gold.then(|| Editions::of([a, b].map(|at| (&columns[at], &sources[at])), &mut opened));
        let flipped = |id: &String, right: usize, wrong: usize| -> anyhow::Result<FlippedQuestion> {
            let places = [finder.place(right, id, true), finder.place(wrong, id, false)];
            let [right_one, wrong_one] = places.map(|place| trajectories.get(&place?));
            // In the order of the pair.
            let (first, second) = if right == a { (right_one, wrong_one) } else { (wrong_one, right_one) };
            let wrong = finder.episode(wrong, id, false);
            let evidence = wrong.and_then(|episode| episode.evidence.as_deref());
            let gold = editions.as_ref().map(|editions| editions.judged(evidence)).transpose()?.flatten();
            Ok(FlippedQuestion {
                gold,
                id: id.clone(),
                question: wrong.map(|episode| episode.question.clone()).unwrap_or_default(),
                class: wrong.and_then(|episode| episode.class),
                parted: first.zip(second).and_then(|(first, second)| Divergence::of(first, second)),
                command: show_command(&sources[a], &sources[b], id),
            })
        };
        Ok(FlipList {
            editions: editions.as_ref().map(Editions::said),
            a: columns[a].name.clone(),
            b: columns[b].name.clone(),
            n: flips.n,
            most,
            gained: flips.gained.iter().map(|id| flipped(id, b, a)).collect::<anyhow::Result<_>>()?,
            lost: flips.lost.iter().map(|id| flipped(id, a, b)).collect::<anyhow::Result<_>>()?,
        })
    });
    lists.collect()
}

/// Finds an episode that represents its variant: of several repeats the first that is as right as most of them.
struct Finder<'a> {
    first: HashMap<(usize, &'a str, bool), &'a Episode>,
    sources: &'a [Source],
}

impl<'a> Finder<'a> {
    fn new(sources: &'a [Source]) -> Self {
        let mut first = HashMap::new();
        for (at, source) in sources.iter().enumerate() {
            for episode in &*source.episodes {
                if let Some(right) = episode.right {
                    first.entry((at, episode.id.as_str(), right)).or_insert(episode);
                }
            }
        }
        Self { first, sources }
    }

    fn episode(&self, column: usize, id: &'a str, right: bool) -> Option<&'a Episode> {
        self.first.get(&(column, id, right)).copied()
    }

    /// Where its trajectory is; absent for tables of figures.
    fn place(&self, column: usize, id: &str, right: bool) -> Option<Place> {
        self.sources[column].origin.as_ref()?;
        let (_, episode) = self.first.get_key_value(&(column, id, right))?;
        Some((column, id.to_owned(), episode.repeat))
    }
}

/// The trajectories at these places. Only they are held.
fn trajectories_at(sources: &[Source], places: &HashSet<Place>) -> anyhow::Result<HashMap<Place, Trajectory>> {
    let mut found = HashMap::with_capacity(places.len());
    for (at, source) in sources.iter().enumerate() {
        if source.origin.is_none() || !places.iter().any(|(column, ..)| *column == at) {
            continue;
        }
        for trajectory in RunFolder::open(&source.run.path)?.records()?.iter() {
            let trajectory = trajectory?;
            if source.run.variant.as_ref() != Some(&trajectory.variant) {
                continue;
            }
            let place = (at, trajectory.id.clone(), trajectory.repeat);
            if places.contains(&place) {
                found.insert(place, trajectory);
            }
        }
    }
    Ok(found)
}

fn show_command(a: &Source, b: &Source, id: &str) -> Option<String> {
    let _ = (a.origin.as_ref()?, b.origin.as_ref()?);
    let one = |source: &Source| shell_word(&format!("{}:{id}", source.typed()));
    Some(format!("wikitrail show {} {}", one(a), one(b)))
}
