//! Experiment files: which datasets, and a matrix of settings with its cells. From text to cells, nothing else: no file is
//! opened here, and what a setting means the flags of `run` say.
//!
//! | file | what it holds |
//! |---|---|
//! | `setting` | the settings there are, which cells have a use for each, and the flag that each is |
//! | `reader` | names, numbers and settings as values of the file |
//! | `datasets` | the datasets, and settings of a cell that are another on one of them |
//! | `matrix` | dimensions, combinations, names |
//! | `cells` | from matrix, inclusions and exclusions to the cells that are run |
//! | `published` | figures that others have published for the same cells |
//! | `problem` | what can be wrong |

mod cells;
mod datasets;
mod matrix;
mod problem;
mod published;
mod reader;
mod setting;

pub use matrix::prompt_name;
pub use published::{Published, PublishedFigure, PublishedMetric};
pub use setting::{CELL_KEYS, DATASET_KEYS, Key, Setting, Value};

use crate::prompt::Problems;
use problem::ProblemKind;
use reader::{Notes, TOP_KEYS};

/// Cells that an experiment may have.
pub const MAX_CELLS: usize = 1000;
/// How often a question may be run.
const MAX_REPEATS: u32 = 1000;

/// An experiment, checked as far as a file can be by itself.
#[derive(Debug, Clone)]
pub struct Experiment {
    /// Its name, fit for a folder.
    pub name: String,
    /// What it is for, in the author's words.
    pub description: Option<String>,
    /// The datasets, at least one, each with a name of its own.
    pub datasets: Vec<DatasetSpec>,
    /// How often each question is run in each cell, 1 to 1,000.
    pub repeats: u32,
    /// Name of the cell that others are compared with.
    pub baseline: Option<String>,
    /// The cells, at least one, in the order of the file; each has a name of its own.
    pub cells: Vec<Cell>,
    /// Combinations of the matrix that are the same as an earlier one and stand once.
    pub merged: usize,
    /// Combinations of the matrix that are excluded.
    pub excluded: usize,
    /// Figures that others have published, in the order of the file; each is of a dataset and a cell of this experiment.
    pub published: Vec<Published>,
}

/// A dataset of an experiment.
#[derive(Debug, Clone)]
pub struct DatasetSpec {
    /// Its name, fit for a folder; of the file unless another is given.
    pub name: String,
    /// The file.
    pub path: String,
    /// Line of the file, from 1.
    pub line: usize,
    /// Line of the value that names the file.
    pub path_line: usize,
    /// How it is read, and what is selected.
    pub settings: Vec<Setting>,
    /// Settings of cells on this dataset, in place of those that hold for all cells.
    pub cell_settings: Vec<Setting>,
}

/// A cell: one way of answering.
#[derive(Debug, Clone)]
pub struct Cell {
    /// Its name, unique within the experiment.
    pub name: String,
    /// Line of the file where it comes from: of its inclusion, or of the matrix.
    pub line: usize,
    /// What it sets; only settings that are of use to it.
    pub settings: Vec<Setting>,
    /// Names of the settings that the matrix or its inclusion gives it.
    own: Vec<&'static str>,
}

impl Cell {
    /// Sets something from elsewhere, if the cell has a use for it.
    pub fn set(&mut self, key: &'static Key, value: Value) {
        if key.of_use(&self.settings) {
            self.settings.retain(|setting| setting.key.name != key.name);
            self.settings.push(Setting { key, value, line: 0 });
        }
    }
}

impl Cell {
    /// The cell as it is on a dataset, whose settings stand in place of those for all cells; what makes this cell another
    /// one than its neighbours stays.
    #[must_use]
    pub fn on(&self, dataset: &DatasetSpec) -> Self {
        let mut cell = self.clone();
        for setting in &dataset.cell_settings {
            if !cell.own.contains(&setting.key.name) && setting.key.of_use(&cell.settings) {
                cell.settings.retain(|other| other.key.name != setting.key.name);
                cell.settings.push(setting.clone());
            }
        }
        // What belonged to a source that is another one now is of no use any more.
        let settings = cell.settings.clone();
        cell.settings.retain(|setting| setting.key.of_use(&settings));
        cell
    }
}

impl Experiment {
    /// Reads an experiment; `file` is its name for messages. An error holds everything that is wrong.
    pub fn parse(file: &str, text: &str) -> Result<Self, Problems> {
        let (mut notes, tree) = Notes::parse(file, text, "docs/experiments.md explains the file key by key")?;
        let root = Notes::root(tree.get_ref());
        let entries = notes.entries(&root);
        for entry in entries.iter().filter(|entry| !TOP_KEYS.contains(&entry.key)) {
            notes.unknown_key(&root, *entry, &TOP_KEYS);
        }
        let find = |key: &str| entries.iter().copied().find(|entry| entry.key == key);
        let name = find("name").and_then(|entry| notes.name("name", entry.value, true));
        let description = find("description").and_then(|entry| notes.text("description", entry.value));
        let repeats = find("repeats").and_then(|entry| notes.whole("repeats", entry.value, MAX_REPEATS));
        let datasets = find("dataset").map(|entry| datasets::read(&mut notes, entry)).unwrap_or_default();
        for needed in ["name", "dataset"] {
            if find(needed).is_none() {
                notes.note(1, ProblemKind::MissingKey(needed.to_owned()));
            }
        }
        let cells = cells::read(&mut notes, &entries);
        let baseline = find("baseline").and_then(|entry| {
            let name = notes.text("baseline", entry.value)?;
            // Cells of which something is wrong are not there, which is no fault of the baseline's.
            if notes.is_clean() {
                cells::check_baseline(&mut notes, entry.line, &name, &cells.kept);
            }
            Some(name)
        });
        datasets::check(&mut notes, &datasets, &cells.kept);
        let published = find("published")
            .map(|entry| published::read(&mut notes, entry, &datasets, &cells.kept))
            .unwrap_or_default();
        match name {
            Some(name) if notes.is_clean() => Ok(Self {
                name,
                description,
                datasets,
                repeats: repeats.unwrap_or(1),
                baseline,
                cells: cells.kept,
                merged: cells.merged,
                excluded: cells.excluded,
                published,
            }),
            _ => Err(notes.into_problems()),
        }
    }
}

#[cfg(test)]
mod tests;
