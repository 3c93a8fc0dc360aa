//! A run's episodes with their scores, for commands that look at single episodes.

use super::failure::Failure;
use super::run_ref::RunRef;
use super::say::say;
use crate::report::Verdict;
use crate::report::trajectory::pair::Side;
use crate::run::evidence::Evidence;
use crate::run::left_out;
use crate::score::{AnswerScore, AssessedEpisode, Assessment, Tally};
use crate::store::{Records, RunFolder};
use crate::types::text::visible_line;
use crate::types::{Manifest, Question, Trajectory};
use std::path::{Path, PathBuf};

/// A run's folder, or a file of trajectories such as `ask --save` writes.
#[derive(Debug)]
pub(super) struct GradedRun {
    pub(super) path: PathBuf,
    /// The run's manifest; absent for a file.
    pub(super) manifest: Option<Manifest>,
    pub(super) evidence: Evidence,
    records: Records,
    tally: Tally,
}

#[derive(Debug)]
pub(super) struct Graded {
    pub(super) trajectory: Trajectory,
    pub(super) metric: &'static str,
    /// Its score; absent if it was not measured or has no gold answer.
    pub(super) score: Option<AnswerScore>,
    /// Its trajectory metrics; absent if it was not measured.
    pub(super) assessment: Option<Assessment>,
}

impl Graded {
    pub(super) fn verdict(&self) -> Verdict<'_> {
        Verdict { metric: self.metric, score: self.score, assessment: self.assessment.as_ref() }
    }

    pub(super) fn episode(&self) -> AssessedEpisode<'_> {
        AssessedEpisode { trajectory: &self.trajectory, score: self.score, assessment: self.assessment.as_ref() }
    }

    pub(super) fn side<'a>(&'a self, name: &'a str) -> Side<'a> {
        Side { name, trajectory: &self.trajectory, verdict: Some(self.verdict()) }
    }
}

impl GradedRun {
    /// Opens a run. Reports unreadable lines and missing supporting facts.
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        Self::read(path, None, |_| {})
    }

    /// The same for the episodes of one question; of the others at most those are reported that look damaged.
    pub(super) fn open_question(path: &Path, id: &str) -> anyhow::Result<Self> {
        Self::read(path, Some(id), |_| {})
    }

    /// The same for all, with a look at each of the dataset's questions, if it is available.
    pub(super) fn open_with(path: &Path, look: impl FnMut(&Question)) -> anyhow::Result<Self> {
        Self::read(path, None, look)
    }

    fn read(path: &Path, id: Option<&str>, look: impl FnMut(&Question)) -> anyhow::Result<Self> {
        let (manifest, records, evidence) = if path.is_file() {
            (None, Records::of_file(path)?, Evidence::default())
        } else {
            let folder = RunFolder::open(path)?;
            let manifest = folder.manifest()?;
            let records = id.map_or_else(|| folder.records(), |id| folder.records_of_question(id))?;
            let evidence = Evidence::of_questions(&folder, &manifest, id, look);
            (Some(manifest), records, evidence)
        };
        left_out(&records).for_each(say);
        evidence.note().iter().for_each(say);
        let tally = Tally::new(manifest.as_ref().map_or("", |manifest| &manifest.dataset.name));
        Ok(Self { path: path.to_owned(), manifest, evidence, records, tally })
    }

    /// Refuses a variant that the run does not have.
    pub(super) fn check_variant(&self, run: &RunRef) -> anyhow::Result<()> {
        let (Some(name), Some(manifest)) = (&run.variant, &self.manifest) else { return Ok(()) };
        if manifest.variants.iter().any(|variant| variant.name == *name) {
            return Ok(());
        }
        Err(Failure::bad_input(
            format!("`{}` has no variant `{}`", self.path.display(), visible_line(name, 60)),
            format!("its variants are {}", self.variants()),
        ))
    }

    /// The names of its variants, for messages.
    pub(super) fn variants(&self) -> String {
        let variants = self.manifest.iter().flat_map(|manifest| &manifest.variants);
        variants.map(|variant| visible_line(&variant.name, 60)).collect::<Vec<_>>().join(", ")
    }

    /// The episodes, one at a time, in the order of variant, repeat and dataset.
    pub(super) fn episodes(&self) -> impl Iterator<Item = anyhow::Result<Graded>> {
        // The tally is needed for its metric only; it does not grow.
        let mut tally = self.tally.clone();
        self.records.iter().map(move |trajectory| {
            let trajectory = trajectory?;
            let score = tally.add(&trajectory);
            let metric = tally.metric_for(&trajectory.answers).name();
            let assessment = Assessment::of(&trajectory, score, self.evidence.get(&trajectory.id));
            Ok(Graded { trajectory, metric, score, assessment })
        })
    }
}
