//! Why models find that episodes failed, beside what people say.

use super::GradedRun;
use crate::judge::{Answer, Read, Reading, Verdicts};
use crate::label::{Annotation, Annotations};
use crate::run::RunError;
use crate::store::{RunFolder, StoreError};
use std::collections::HashMap;

/// The wrong episodes of a run, those without an answer among them, as a model reads them.
pub(crate) fn failed_episodes(run: &GradedRun) -> Result<Vec<Answer>, RunError> {
    let mut failed = Vec::new();
    for graded in run.episodes() {
        let graded = graded?;
        if graded.score.is_some_and(|score| score.em <= 0.0) {
            let episode = Some(Read::of(&graded.trajectory));
            let trajectory = graded.trajectory;
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
pub(super) fn readings_of(folder: &RunFolder) -> Result<HashMap<String, Vec<Annotation>>, StoreError> {
    let said = Annotations::default().with(Verdicts::<Reading>::read(folder)?.annotations());
    let owned = |(key, readings): (&str, Vec<&Annotation>)| (key.to_owned(), readings.into_iter().cloned().collect());
    Ok(said.by_key().into_iter().map(owned).collect())
}
