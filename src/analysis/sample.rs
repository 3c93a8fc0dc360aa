//! Which episodes to judge: as many of each stratum, chosen by a seed.

use crate::analysis::Notify;
use crate::analysis::results::{Field, GradedRun, RunRef};
use crate::base::{Trajectory, sha256_hex};
use crate::runner::RunError;
use crate::scoring::ScoredEpisode;
use std::collections::{BTreeMap, HashMap};

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SampledEpisode {
    pub(crate) key: String,
    pub(crate) id: String,
}

/// An episode that may be judged, and its stratum.
type Candidate = (Vec<String>, SampledEpisode);

/// The episodes to judge, in the order in which they are shown: equal parts of `total` from the strata, else `each` of all.
/// An episode's place depends on the seed and its own key only: a sample is part of a larger one, two people with one seed
/// judge the same episodes, and the order shows nothing of the strata.
fn sample(candidates: Vec<Candidate>, total: Option<usize>, each: usize, seed: u64) -> Vec<SampledEpisode> {
    let mut strata: BTreeMap<Vec<String>, Vec<(String, SampledEpisode)>> = BTreeMap::new();
    for (stratum, episode) in candidates {
        let place = sha256_hex([seed.to_string().as_bytes(), b":", episode.key.as_bytes()]);
        strata.entry(stratum).or_default().push((place, episode));
    }
    let mut strata: Vec<Vec<_>> = strata.into_values().collect();
    for stratum in &mut strata {
        stratum.sort_unstable();
    }
    let parts = parts(&strata.iter().map(Vec::len).collect::<Vec<_>>(), total, each);
    let mut chosen: Vec<(String, SampledEpisode)> =
        strata.into_iter().zip(parts).flat_map(|(stratum, part)| stratum.into_iter().take(part)).collect();
    chosen.sort_unstable();
    chosen.into_iter().map(|(_, episode)| episode).collect()
}

/// How many of each stratum, of these sizes: one more of each in turn, until `total` are there.
fn parts(sizes: &[usize], total: Option<usize>, each: usize) -> Vec<usize> {
    let Some(total) = total else { return sizes.iter().map(|size| each.min(*size)).collect() };
    let mut left = total.min(sizes.iter().sum());
    let mut parts = vec![0; sizes.len()];
    while left > 0 {
        for (part, _) in parts.iter_mut().zip(sizes).filter(|(part, size)| **part < **size) {
            let more = usize::from(left > 0);
            *part += more;
            left -= more;
        }
    }
    parts
}

/// How many of each stratum, if no number is given: the paper's Table 2 has 50 right and 50 wrong ones of each method.
const EACH: usize = 50;

/// What distinguishes episodes whatever their questions are, by its name.
const OF_EPISODES: [(&str, OfEpisode); 5] = [
    ("em", |graded| graded.is_right().map_or_else(|| "no gold".to_owned(), |right| right.to_string())),
    ("variant", |graded| graded.trajectory.variant.clone()),
    ("class", |graded| graded.class().map(|class| class.name().to_owned()).unwrap_or_default()),
    ("outcome", |graded| graded.trajectory.outcome.name().to_owned()),
    ("repeat", |graded| graded.trajectory.repeat.to_string()),
];

type OfEpisode = fn(&ScoredEpisode) -> String;

#[derive(Debug, Clone)]
pub(crate) enum Stratum {
    Episode(&'static str, OfEpisode),
    Question(Field),
}

impl Stratum {
    pub(crate) fn parse(name: &str) -> Result<Self, String> {
        let name = name.trim();
        let own = OF_EPISODES.into_iter().map(|(name, of)| Self::Episode(name, of));
        let field = Self::Question(Field::parse(name));
        own.chain([field]).find(|known| known.name() == name).ok_or_else(|| {
            "fields are em, variant, class, outcome, repeat, type, level, hops, answer_kind, cluster, page and meta.NAME"
                .to_owned()
        })
    }

    pub(crate) fn name(&self) -> String {
        match self {
            Self::Episode(name, _) => (*name).to_owned(),
            Self::Question(Field::Meta(name)) => format!("meta.{name}"),
            Self::Question(field) => field.name().to_owned(),
        }
    }

    fn of(&self, graded: &ScoredEpisode, fields: &HashMap<(String, usize), String>, at: usize) -> String {
        match self {
            Self::Episode(_, of) => of(graded),
            Self::Question(_) => fields.get(&(graded.trajectory.id.clone(), at)).cloned().unwrap_or_default(),
        }
    }
}

/// The episodes to judge, in the order in which they are shown.
pub(crate) fn sample_of_run(
    run: &RunRef,
    stratify: &[Stratum],
    size: Option<usize>,
    seed: u64,
    tell: Notify<'_>,
) -> Result<Vec<SampledEpisode>, RunError> {
    let mut fields: HashMap<(String, usize), String> = HashMap::new();
    let source = GradedRun::open_with(&run.path, None, |question| {
        for (at, stratum) in stratify.iter().enumerate() {
            if let Stratum::Question(field) = stratum
                && let Some(value) = field.of(question)
            {
                fields.insert((question.id.clone(), at), value);
            }
        }
    })?;
    source.notes.iter().cloned().for_each(tell);
    source.check_variant(run)?;
    let mut candidates = Vec::new();
    for graded in source.episodes() {
        let graded = graded?;
        let trajectory = &graded.trajectory;
        if !trajectory.measured() || run.variant.as_ref().is_some_and(|variant| *variant != trajectory.variant) {
            continue;
        }
        let stratum = stratify.iter().enumerate().map(|(at, stratum)| stratum.of(&graded, &fields, at)).collect();
        let Trajectory { key, id, .. } = graded.trajectory;
        candidates.push((stratum, SampledEpisode { key, id }));
    }
    if candidates.is_empty() {
        let what = format!("`{}` has no episode that was measured", run.typed());
        return Err(RunError::input(what, "continue the run with --resume, or name another"));
    }
    Ok(sample(candidates, size, EACH, seed))
}

#[cfg(test)]
mod tests {
    use super::{Candidate, SampledEpisode, parts};
    use std::collections::HashSet;

    fn candidates(sizes: &[(&str, usize)]) -> Vec<Candidate> {
        let of = |(name, size): &(&str, usize)| {
            let (name, size) = ((*name).to_owned(), *size);
            let episode = |key: String| SampledEpisode { id: key.clone(), key };
            (0..size).map(move |n| (vec![name.clone()], episode(format!("{name}{n}"))))
        };
        sizes.iter().flat_map(of).collect()
    }

    fn sample(candidates: &[Candidate], total: Option<usize>, each: usize, seed: u64) -> Vec<String> {
        super::sample(candidates.to_vec(), total, each, seed).into_iter().map(|episode| episode.key).collect()
    }

    #[test]
    fn strata_have_equal_parts_and_what_one_lacks_goes_to_the_others() {
        assert_eq!(parts(&[40, 3, 40], Some(30), 50), [14, 3, 13]);
        assert_eq!(parts(&[5, 5], Some(100), 50), [5, 5]);
        assert_eq!(parts(&[5, 5], Some(1), 50), [1, 0]);
        assert_eq!(parts(&[120, 7], None, 50), [50, 7]);
        assert!(parts(&[], Some(3), 50).is_empty());
    }

    #[test]
    fn a_sample_is_part_of_a_larger_one_and_its_order_mixes_the_strata() {
        let all = candidates(&[("right", 60), ("wrong", 60)]);
        let (few, many) = (sample(&all, Some(20), 50, 7), sample(&all, Some(40), 50, 7));
        assert_eq!((few.len(), many.len()), (20, 40));
        assert!(few.iter().all(|key| many.contains(key)));
        assert_eq!(few.iter().filter(|key| key.starts_with("right")).count(), 10);
        assert!(few[..10].iter().map(|key| &key[..5]).collect::<HashSet<_>>().len() == 2, "{few:?}");
        // The order of the candidates decides nothing, the seed does.
        let backwards: Vec<Candidate> = all.iter().rev().cloned().collect();
        assert_eq!(sample(&backwards, Some(20), 50, 7), few);
        assert_ne!(sample(&all, Some(20), 50, 8), few);
    }
}
