//! Which episodes of a run a person judges, and what their strata have in common.

use crate::analysis::Tell;
use crate::analysis::annotations::{Candidate, sample};
use crate::analysis::results::{Field, GradedRun, RunRef};
use crate::runner::RunError;
use crate::scoring::ScoredEpisode;
use std::collections::HashMap;

/// How many of each stratum, if no number is given: the paper's Table 2 has 50 right and 50 wrong ones of each method.
const EACH: usize = 50;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stratum {
    Em,
    Variant,
    Class,
    Outcome,
    Repeat,
    Field(Field),
}

impl Stratum {
    pub(crate) fn parse(name: &str) -> Result<Self, String> {
        Ok(match name.trim() {
            "em" => Self::Em,
            "variant" => Self::Variant,
            "class" => Self::Class,
            "outcome" => Self::Outcome,
            "repeat" => Self::Repeat,
            name @ ("type" | "level" | "hops" | "answer_kind" | "cluster" | "page") => Self::Field(Field::parse(name)),
            name if name.starts_with("meta.") => Self::Field(Field::parse(name)),
            _ => {
                let known =
                    "em, variant, class, outcome, repeat, type, level, hops, answer_kind, cluster, page and meta.NAME";
                return Err(format!("fields are {known}"));
            }
        })
    }

    pub(crate) fn name(&self) -> String {
        match self {
            Self::Em => "em".to_owned(),
            Self::Variant => "variant".to_owned(),
            Self::Class => "class".to_owned(),
            Self::Outcome => "outcome".to_owned(),
            Self::Repeat => "repeat".to_owned(),
            Self::Field(Field::Meta(name)) => format!("meta.{name}"),
            Self::Field(field) => field.name().to_owned(),
        }
    }

    fn of(&self, graded: &ScoredEpisode, fields: &HashMap<(String, usize), String>, at: usize) -> String {
        let trajectory = &graded.trajectory;
        match self {
            Self::Em => graded.is_right().map_or_else(|| "hidden".to_owned(), |right| right.to_string()),
            Self::Variant => trajectory.variant.clone(),
            Self::Class => graded.class().map(|class| class.name().to_owned()).unwrap_or_default(),
            Self::Outcome => trajectory.outcome.name().to_owned(),
            Self::Repeat => trajectory.repeat.to_string(),
            Self::Field(_) => fields.get(&(trajectory.id.clone(), at)).cloned().unwrap_or_default(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SampledEpisode {
    pub(crate) key: String,
    pub(crate) id: String,
}

/// The episodes to judge, in the order in which they are shown.
pub(crate) fn sampled(
    run: &RunRef,
    stratify: &[Stratum],
    size: Option<usize>,
    seed: u64,
    tell: Tell<'_>,
) -> Result<Vec<SampledEpisode>, RunError> {
    let mut fields: HashMap<(String, usize), String> = HashMap::new();
    let source = GradedRun::open_with(&run.path, |question| {
        for (at, stratum) in stratify.iter().enumerate() {
            if let Stratum::Field(field) = stratum
                && let Some(value) = field.of(question)
            {
                fields.insert((question.id.clone(), at), value);
            }
        }
    })?;
    source.notes.iter().cloned().for_each(tell);
    source.check_variant(run)?;
    let (mut candidates, mut ids) = (Vec::new(), HashMap::new());
    for graded in source.episodes() {
        let graded = graded?;
        let trajectory = &graded.trajectory;
        if !trajectory.measured() || run.variant.as_ref().is_some_and(|variant| *variant != trajectory.variant) {
            continue;
        }
        let stratum = stratify.iter().enumerate().map(|(at, stratum)| stratum.of(&graded, &fields, at)).collect();
        ids.insert(trajectory.key.clone(), trajectory.id.clone());
        candidates.push(Candidate { key: trajectory.key.clone(), stratum });
    }
    if candidates.is_empty() {
        let what = format!("`{}` has no episode that was measured", run.typed());
        return Err(RunError::input(what, "continue the run with --resume, or name another"));
    }
    let keys = sample(&candidates, size, EACH, seed);
    Ok(keys.into_iter().filter_map(|key| Some(SampledEpisode { id: ids.remove(&key)?, key })).collect())
}
