//! One run: its episodes with their scores.

use super::RunRef;
use super::run_ref::runs_in;
use crate::analysis::annotations::{Annotation, Annotations};
use crate::analysis::judges::{Answer, Read, Reading, Verdicts};
use crate::base::text::visible_line;
use crate::base::{Manifest, Question, Stopping, Trajectory};
use crate::runner::stopping::Watch;
use crate::runner::store::{Records, RunFolder, StoreError};
use crate::runner::stored::Evidence;
use crate::runner::{RunError, left_out};
use crate::scoring::{ScoredEpisode, Tally};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// A run's folder, or a file of trajectories such as `ask --save` writes.
#[derive(Debug)]
pub(crate) struct GradedRun {
    pub(crate) path: PathBuf,
    /// The run's manifest; absent for a file.
    pub(crate) manifest: Option<Manifest>,
    pub(crate) evidence: Evidence,
    /// Lines that cannot be read, and missing supporting facts, a sentence each.
    pub(crate) notes: Vec<String>,
    records: Records,
    tally: Tally,
    /// What models say of episodes, by the episode's key.
    readings: HashMap<String, Vec<Annotation>>,
}

impl GradedRun {
    pub(crate) fn open(path: &Path) -> Result<Self, RunError> {
        Self::read(path, None, |_| {})
    }

    /// The same for the episodes of one question; of the others at most those that look damaged are noted.
    pub(crate) fn open_question(path: &Path, id: &str) -> Result<Self, RunError> {
        Self::read(path, Some(id), |_| {})
    }

    /// The same for all, with a look at each of the dataset's questions, if it is available.
    pub(crate) fn open_with(path: &Path, look: impl FnMut(&Question)) -> Result<Self, RunError> {
        Self::read(path, None, look)
    }

    fn read(path: &Path, id: Option<&str>, look: impl FnMut(&Question)) -> Result<Self, RunError> {
        let (manifest, records, evidence, readings) = if path.is_file() {
            (None, Records::of_file(path)?, Evidence::default(), HashMap::new())
        } else {
            let folder = RunFolder::open(path)?;
            let manifest = folder.manifest()?;
            let records = id.map_or_else(|| folder.records(), |id| folder.records_of_question(id))?;
            let evidence = Evidence::of_questions(&folder, &manifest, id, look);
            (Some(manifest), records, evidence, readings_of(&folder)?)
        };
        Ok(Self { readings, ..Self::new(path, manifest, records, evidence) })
    }

    /// The records of a run without what its dataset says of the questions, for [`scores`](Self::scores).
    pub(crate) fn without_questions(folder: &RunFolder, manifest: &Manifest) -> Result<Self, RunError> {
        Ok(Self::new(folder.path(), Some(manifest.clone()), folder.records()?, Evidence::default()))
    }

    fn new(path: &Path, manifest: Option<Manifest>, records: Records, evidence: Evidence) -> Self {
        let notes = left_out(&records).chain(evidence.note()).collect();
        let tally = Tally::new(manifest.as_ref().map_or("", |manifest| &manifest.dataset.name));
        Self { path: path.to_owned(), manifest, evidence, notes, records, tally, readings: HashMap::new() }
    }

    /// What the rule of a run that may stop by itself has found; `None` without a rule or stored questions.
    pub(crate) fn stopping(&self) -> Result<Option<Stopping>, RunError> {
        Ok(self.watch()?.map(|watch| watch.found()))
    }

    fn watch(&self) -> Result<Option<Watch>, RunError> {
        let Some(manifest) = &self.manifest else { return Ok(None) };
        Watch::of_records(&RunFolder::open(&self.path)?, manifest, &self.records)
    }

    pub(crate) fn check_variant(&self, run: &RunRef) -> Result<(), RunError> {
        let (Some(name), Some(manifest)) = (&run.variant, &self.manifest) else { return Ok(()) };
        if manifest.variants.iter().any(|variant| variant.name == *name) {
            return Ok(());
        }
        Err(RunError::input(
            format!("`{}` has no variant `{}`", self.path.display(), visible_line(name, 60)),
            format!("its variants are {}", self.variants()),
        ))
    }

    pub(crate) fn variants(&self) -> String {
        let variants = self.manifest.iter().flat_map(|manifest| &manifest.variants);
        variants.map(|variant| visible_line(&variant.name, 60)).collect::<Vec<_>>().join(", ")
    }

    /// The episodes, one at a time, in the order of variant, repeat and dataset.
    pub(crate) fn episodes(&self) -> impl Iterator<Item = Result<ScoredEpisode, RunError>> {
        self.records.iter().map(|trajectory| Ok(self.scored(trajectory?)))
    }

    /// The episodes that tables have, each with its place: all but those after the question at which a rule stopped the run. A
    /// rule that cannot be read is told by [`stopping`](Self::stopping).
    pub(crate) fn counted_episodes(&self) -> impl Iterator<Item = (usize, Result<ScoredEpisode, RunError>)> {
        let watch = self.watch().ok().flatten();
        let is_after = move |episode: &ScoredEpisode| {
            watch.as_ref().is_some_and(|watch| watch.is_after_stop(&episode.trajectory.id))
        };
        let counts = move |episode: &Result<ScoredEpisode, RunError>| !episode.as_ref().is_ok_and(&is_after);
        self.episodes().enumerate().filter(move |(_, episode)| counts(episode))
    }

    pub(crate) fn episode(&self, at: usize) -> Result<ScoredEpisode, RunError> {
        Ok(self.scored(self.records.trajectory(at)?))
    }

    /// The same episodes with their scores alone.
    pub(crate) fn scores(&self) -> impl Iterator<Item = Result<ScoredEpisode, RunError>> {
        self.records.iter().map(|trajectory| {
            let trajectory = trajectory?;
            let metric = self.tally.metric_for(&trajectory.answers);
            Ok(ScoredEpisode::unassessed(trajectory, metric))
        })
    }

    fn scored(&self, trajectory: Trajectory) -> ScoredEpisode {
        let (metric, gold) = (self.tally.metric_for(&trajectory.answers), self.evidence.get(&trajectory.id));
        ScoredEpisode::of(trajectory, metric, gold)
    }

    /// Why models find that an episode failed, one each.
    pub(crate) fn readings(&self, episode: &ScoredEpisode) -> &[Annotation] {
        self.readings.get(&episode.trajectory.key).map_or(&[], Vec::as_slice)
    }
}

/// The wrong episodes of a run, those without an answer among them, as a model reads them.
pub(crate) fn failed_episodes(run: &GradedRun) -> Result<Vec<Answer>, RunError> {
    let mut failed = Vec::new();
    for scored in run.episodes() {
        let scored = scored?;
        if scored.is_right() == Some(false) {
            let episode = Some(Read::of(&scored.trajectory));
            let trajectory = scored.trajectory;
            failed.push(Answer {
                id: trajectory.id,
                question: trajectory.question,
                golds: trajectory.answers,
                text: trajectory.answer.unwrap_or_else(|| "(none)".to_owned()),
                right: false,
                episode,
            });
        }
    }
    Ok(failed)
}

/// The judgements of people on the episodes of a run, and the readings of models as if they were people.
pub(crate) fn judgements_of(folder: &RunFolder) -> Result<(Annotations, Verdicts<Reading>), StoreError> {
    let readings = Verdicts::<Reading>::read(folder)?;
    Ok((Annotations::read(folder)?.with(readings.annotations()), readings))
}

/// The latest reading of each model, by the episode's key.
fn readings_of(folder: &RunFolder) -> Result<HashMap<String, Vec<Annotation>>, StoreError> {
    let said = Annotations::default().with(Verdicts::<Reading>::read(folder)?.annotations());
    let owned = |(key, readings): (&str, Vec<&Annotation>)| (key.to_owned(), readings.into_iter().cloned().collect());
    Ok(said.by_key().into_iter().map(owned).collect())
}

/// The named runs, or all runs below a named folder.
pub(crate) fn runs(named: &[String]) -> Result<Vec<RunRef>, RunError> {
    let mut runs = Vec::new();
    for text in named {
        if let Some(run) = RunRef::parse(text) {
            runs.push(run);
            continue;
        }
        let found = runs_in(Path::new(text));
        if found.is_empty() {
            let meant = RunRef::meant(text);
            if meant.path == Path::new(text) && meant.path.is_dir() {
                return Err(RunError::input(
                    format!("`{}` contains no run", meant.path.display()),
                    "name a folder created by `wikitrail run`, such as results/<run>, or one that contains such folders",
                ));
            }
            // Reports the specific error: no run, or no such variant.
            RunFolder::open(&meant.path)?;
            GradedRun::open(&meant.path)?.check_variant(&meant)?;
        }
        runs.extend(found.into_iter().map(|path| RunRef { path, variant: None }));
    }
    Ok(runs)
}
