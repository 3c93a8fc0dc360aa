//! Which episodes of a branch go on as the record does.

use crate::analysis::report::repair::{Controls, Placebos};
use crate::analysis::results::{GradedRun, RunRef};
use crate::base::{Branch, BranchEdit, Manifest, Trajectory};
use crate::runner::RunError;
use crate::runner::branch::{CONTROL, PLACEBO};
use crate::scoring::Divergence;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// The measured episodes of controls and placebos, by question: how many of them equal the record, and how many there are.
#[derive(Default)]
pub(crate) struct Paths {
    controls: BTreeMap<String, Count>,
    placebos: BTreeMap<String, Count>,
    /// Episodes that are recorded, and that there are to be.
    recorded: usize,
    planned: usize,
}

type Count = (usize, usize);

impl Paths {
    pub(crate) fn of(out: &Path, run: &RunRef) -> Result<Self, RunError> {
        let (branched, source) = (GradedRun::open(out)?, GradedRun::open(&run.path)?);
        let mut places: HashMap<String, usize> = HashMap::new();
        for (place, graded) in source.episodes().enumerate() {
            places.insert(graded?.trajectory.key, place);
        }
        let planned = branched.manifest.as_ref().map_or(0, Manifest::planned_in_all);
        let mut paths = Self { planned, ..Self::default() };
        for graded in branched.episodes() {
            let trajectory = graded?.trajectory;
            paths.recorded += 1;
            let arm = match trajectory.variant.as_str() {
                CONTROL => &mut paths.controls,
                PLACEBO => &mut paths.placebos,
                _ => continue,
            };
            let Some(branch) = trajectory.branch.as_ref().filter(|_| trajectory.measured()) else { continue };
            let Some(place) = places.get(&branch.key) else { continue };
            let from = goes_on(branch);
            let count = arm.entry(branch.id.clone()).or_default();
            count.0 += usize::from(is_same(source.episode(*place)?.trajectory, trajectory.clone(), from));
            count.1 += 1;
        }
        Ok(paths)
    }

    /// Whether every episode was tried: a run that stopped by itself has others left.
    pub(crate) fn are_all_tried(&self) -> bool {
        self.recorded >= self.planned
    }

    pub(crate) fn controls(&self) -> Controls {
        let (equal_the_record, measured) = sum(self.controls.values());
        Controls { equal_the_record, measured, replay: measured > 0 && 2 * equal_the_record >= measured }
    }

    pub(crate) fn placebos(&self, is_of: impl Fn(&str) -> bool) -> Placebos {
        let counts = || self.placebos.iter().filter(|(id, _)| is_of(id)).map(|(_, count)| count);
        let (same, measured) = sum(counts());
        Placebos {
            measured,
            left_the_record: measured - same,
            questions: counts().count(),
            questions_left: counts().filter(|(same, measured)| same < measured).count(),
        }
    }
}

fn sum<'a>(counts: impl Iterator<Item = &'a Count>) -> Count {
    counts.fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1))
}

/// How many steps an edit decides: the model goes on behind them.
fn goes_on(branch: &Branch) -> usize {
    let is_of_the_step = branch.edit.as_ref().is_some_and(BranchEdit::is_of_the_step);
    if is_of_the_step { branch.at } else { branch.at.saturating_sub(1) }
}

/// Whether both go on alike behind so many steps, up to their answers.
fn is_same(mut recorded: Trajectory, mut other: Trajectory, steps: usize) -> bool {
    for trajectory in [&mut recorded, &mut other] {
        trajectory.steps.drain(..steps.min(trajectory.steps.len()));
    }
    Divergence::of(&recorded, &other).is_none()
}
