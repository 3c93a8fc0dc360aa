//! The step where episodes branch off.

use super::only_variant;
use crate::cli::failure::Failure;
use crate::graded::{GradedRun, RunRef};
use crate::score::Divergence;
use crate::types::text::visible_line;
use crate::types::{Tool, Trajectory};
use std::collections::BTreeMap;

/// How a step is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum At {
    Step(usize),
    LastSearch,
    Parting,
}

pub(super) fn at(text: &str) -> Result<At, String> {
    match (text.parse(), text) {
        (Ok(step), _) if step > 0 => Ok(At::Step(step)),
        (_, "last-search") => Ok(At::LastSearch),
        (_, "parting") => Ok(At::Parting),
        _ => Err("a step from 1, `last-search` or `parting` is expected".to_owned()),
    }
}

impl At {
    /// The step, as its place among all; nothing where an episode has no such step.
    pub(super) fn place(self, trajectory: &Trajectory, right: &Right) -> anyhow::Result<Option<usize>> {
        let place = match self {
            Self::Step(step) => Some(step),
            Self::LastSearch => {
                trajectory.steps.iter().rposition(|step| step.tool == Some(Tool::Search)).map(|at| at + 1)
            }
            Self::Parting => {
                let other = right.of(&trajectory.id)?;
                other.and_then(|other| Divergence::of(trajectory, &other)).map(|found| found.step)
            }
        };
        let exists =
            |place: &usize| trajectory.steps.get(place.wrapping_sub(1)).is_some_and(|step| step.tool.is_some());
        Ok(place.filter(exists))
    }
}

/// The right episodes that `parting` compares with: of each question the first repeat that is right.
#[derive(Default)]
pub(super) struct Right {
    run: Option<GradedRun>,
    /// Where each question's is.
    places: BTreeMap<String, usize>,
}

impl Right {
    /// Of the variant that is named, else of the other one of two in the run.
    pub(super) fn read(named: Option<&RunRef>, run: &RunRef, variant: &str) -> anyhow::Result<Self> {
        let path = named.map_or(&run.path, |named| &named.path);
        let source = GradedRun::open(path)?;
        let other = match named {
            Some(named) => only_variant(&source, named)?,
            None => other_variant(&source, variant)?,
        };
        let mut places = BTreeMap::new();
        for (place, graded) in source.episodes().enumerate() {
            let graded = graded?;
            if graded.trajectory.variant == other && graded.score.is_some_and(|score| score.em > 0.0) {
                places.entry(graded.trajectory.id).or_insert(place);
            }
        }
        if places.is_empty() {
            let message = format!("`{}@{}` has no right episode", path.display(), visible_line(&other, 80));
            return Err(Failure::bad_input(
                message,
                "`--at parting` compares with right episodes: name others with --from",
            ));
        }
        Ok(Self { run: Some(source), places })
    }

    fn of(&self, id: &str) -> anyhow::Result<Option<Trajectory>> {
        let Some((run, place)) = self.run.as_ref().zip(self.places.get(id)) else { return Ok(None) };
        Ok(Some(run.episode(*place)?.trajectory))
    }
}

fn other_variant(source: &GradedRun, variant: &str) -> anyhow::Result<String> {
    let variants = source.manifest.iter().flat_map(|manifest| &manifest.variants);
    let others: Vec<&str> = variants.map(|own| own.name.as_str()).filter(|name| *name != variant).collect();
    if let [one] = others[..] {
        return Ok(one.to_owned());
    }
    let which = if others.is_empty() { "no other variant" } else { "several other variants" };
    let path = source.path.display();
    let message = format!("`--at parting` compares with right episodes of another variant, and `{path}` has {which}");
    Err(Failure::usage(message, "name them with --from RUN@VARIANT"))
}
