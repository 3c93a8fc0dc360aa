//! Official files of golds and predictions, scored as each dataset's own script scores them.
//!
//! Predictions that cannot be read, and golds that cannot be scored by, are errors that name the file and the place in it.

mod answers;
mod fever;
mod hotpot;
mod json_file;
mod kilt;
mod layouts;
mod musique;
mod report;
mod wiki2;

pub use json_file::{FileError, JsonFile};
pub use report::Report;

use crate::types::Question;
use musique::Subset;

pub struct Files<'a> {
    /// The dataset's own file with the gold answers.
    pub gold: JsonFile<'a>,
    /// Predictions as the official script takes them.
    pub predictions: JsonFile<'a>,
    /// Other names of entities (2wiki), JSON lines as in `id_aliases.json`.
    pub aliases: Option<JsonFile<'a>>,
    /// Reads the gold file as a dataset of any format, for metrics that are not bound to a layout.
    pub questions: &'a dyn Fn() -> Result<Vec<Question>, FileError>,
    /// Whether to report the scores of each question too.
    pub per_item: bool,
}

/// A metric for files of predictions.
#[derive(Debug, Clone, Copy)]
pub struct FileMetric {
    /// The name that users type.
    pub name: &'static str,
    score: fn(&Files<'_>) -> Result<Report, FileError>,
}

impl FileMetric {
    /// All metrics, in the order in which help and errors list them.
    pub const ALL: &[Self] = &[
        Self { name: "hotpot", score: hotpot::hotpot },
        Self { name: "2wiki", score: hotpot::wiki2 },
        Self { name: "musique", score: |files| musique::score(files, Subset::All) },
        Self { name: "musique-answerable", score: |files| musique::score(files, Subset::Answerable) },
        Self { name: "musique-full", score: |files| musique::score(files, Subset::Full) },
        Self { name: "squad11", score: answers::squad11 },
        Self { name: "squad20", score: answers::squad20 },
        Self { name: "fever", score: fever::score },
        Self { name: "trivia", score: answers::trivia },
        Self { name: "nq-open", score: answers::orqa },
        Self { name: "orqa", score: answers::orqa },
        Self { name: "fid", score: answers::fid },
        Self { name: "paper", score: answers::paper },
        Self { name: "cjk", score: answers::cjk },
        Self { name: "strategyqa", score: answers::strategy_qa },
        Self { name: "kilt", score: kilt::score },
        Self { name: "rougel", score: answers::rouge_l },
    ];

    /// The names of all metrics in a sentence.
    pub fn names() -> String {
        let names: Vec<&str> = Self::ALL.iter().map(|metric| metric.name).collect();
        names.join(", ")
    }

    /// The metric of that name, in any case.
    pub fn parse(name: &str) -> Option<&'static Self> {
        Self::ALL.iter().find(|metric| metric.name.eq_ignore_ascii_case(name.trim()))
    }

    pub fn score(&self, files: &Files<'_>) -> Result<Report, FileError> {
        (self.score)(files)
    }
}
