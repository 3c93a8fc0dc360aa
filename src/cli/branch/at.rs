//! The step where episodes branch off.

use super::chosen::only_variant;
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
    /// The step, as its place among all, or why an episode has none.
    pub(super) fn place(self, trajectory: &Trajectory, right: &Right) -> anyhow::Result<Result<usize, String>> {
        let place = match self {
            Self::Step(step) => Ok(step),
            Self::LastSearch => {
                let last = trajectory.steps.iter().rposition(|step| step.tool == Some(Tool::Search));
                last.map(|at| at + 1).ok_or_else(|| "no search".to_owned())
            }
            Self::Parting => match right.of(&trajectory.id)? {
                None => Err(format!("`{}` has no right episode of the question", right.name)),
                Some(other) => Divergence::of(trajectory, &other)
                    .map(|found| found.step)
                    .ok_or_else(|| format!("all steps are those of the right episode in `{}`", right.name)),
            },
        };
        let acts = |step: &usize| trajectory.steps.get(step.wrapping_sub(1)).is_some_and(|step| step.tool.is_some());
        Ok(place.and_then(|step| Some(step).filter(acts).ok_or_else(|| format!("no action at step {step}"))))
    }
}

/// The right episodes that `parting` compares with: of each question the first repeat that is right.
#[derive(Default)]
pub(super) struct Right {
    run: Option<GradedRun>,
    /// Whose they are, as `RUN@VARIANT`.
    name: String,
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
        let name = visible_line(&format!("{}@{other}", path.display()), 200);
        if places.is_empty() {
            let message = format!("`{name}` has no right episode");
            return Err(Failure::bad_input(
                message,
                "`--at parting` compares with right episodes: name others with --from",
            ));
        }
        Ok(Self { run: Some(source), name, places })
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
