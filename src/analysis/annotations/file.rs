//! `annotations.jsonl`: reading it, appending to it, and taking it along.

use super::Annotation;
use crate::base::json_error;
use crate::runner::store::{RunFolder, Skipped, StoreError, append_lines, carry_lines, read_lines};
use std::collections::{BTreeMap, HashMap};

#[derive(Debug, Default)]
pub(crate) struct Annotations {
    all: Vec<Annotation>,
    pub(crate) skipped: Vec<Skipped>,
}

impl Annotations {
    /// Reads those of a run, if there are any. Lines that cannot be read are left out and listed.
    pub(crate) fn read(folder: &RunFolder) -> Result<Self, StoreError> {
        let (all, skipped) = read_lines(&folder.annotations(), parse)?;
        Ok(Self { all, skipped })
    }

    /// These with the readings of models behind them.
    pub(crate) fn with(mut self, readings: Vec<Annotation>) -> Self {
        self.all.extend(readings);
        self
    }

    /// All of them, in the order of the file, also those that later ones replace.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Annotation> {
        self.all.iter()
    }

    /// The latest judgement of each person on each episode, by person and then in the order of the file. What was withdrawn
    /// is left out.
    pub(crate) fn latest(&self) -> Vec<&Annotation> {
        let mut latest: HashMap<(&str, &str), (usize, &Annotation)> = HashMap::new();
        for (at, annotation) in self.all.iter().enumerate() {
            let known = latest.entry((&annotation.key, &annotation.by)).or_insert((at, annotation));
            if annotation.time() >= known.1.time() {
                *known = (at, annotation);
            }
        }
        let mut latest: Vec<_> = latest.into_values().filter(|(_, annotation)| !annotation.is_empty()).collect();
        latest.sort_by(|a, b| (&a.1.by, a.0).cmp(&(&b.1.by, b.0)));
        latest.into_iter().map(|(_, annotation)| annotation).collect()
    }

    /// The latest of each person, by the episode's key.
    pub(crate) fn by_key(&self) -> BTreeMap<&str, Vec<&Annotation>> {
        let mut by_key: BTreeMap<&str, Vec<&Annotation>> = BTreeMap::new();
        for annotation in self.latest() {
            by_key.entry(&annotation.key).or_default().push(annotation);
        }
        by_key
    }

    /// A warning for each line that cannot be read.
    pub(crate) fn notes(&self) -> impl Iterator<Item = String> {
        self.skipped
            .iter()
            .map(|Skipped { path, line, reason }| format!("warning: {}:{line}: {reason}; left out", path.display()))
    }
}

fn parse(line: &[u8]) -> Result<Annotation, String> {
    let annotation: Annotation =
        serde_json::from_slice(line).map_err(|error| format!("not a judgement: {}", json_error::in_line(&error)))?;
    annotation.fault().map_or(Ok(annotation), Err)
}

/// Appends judgements to those of a run and waits until they are on disk, so that several people can judge at once.
pub(crate) fn append(folder: &RunFolder, annotations: &[Annotation]) -> Result<(), StoreError> {
    append_lines(&folder.annotations(), annotations)
}

/// Writes the judgements of several folders of one run into a new one, each line once.
pub(crate) fn carry(folders: &[&RunFolder], new: &RunFolder) -> Result<Vec<String>, StoreError> {
    carry_lines(folders.iter().map(|folder| folder.annotations()), &new.annotations(), parse)
}
