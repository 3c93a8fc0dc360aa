//! The formats, and which of them a file has.

use super::fields::{Fault, First, Layout, Record, Records};
use super::{
    Columns, DatasetError, bamboogle, fever, frames, hotpotqa, jsonl, musique, nq_open, popqa, simpleqa, strategyqa,
    table, triviaqa, webquestions, wiki2,
};
use crate::types::Question;
use std::path::Path;

/// Whether a file's first record shows a format.
type LooksLike = fn(&First<'_>) -> bool;

/// A dataset format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `HotpotQA`: official, hub layout, and the paper's simplified files.
    HotpotQa,
    /// FEVER: claims with labels.
    Fever,
    /// `2WikiMultiHopQA`: the layout of `HotpotQA` with evidence triples.
    Wiki2,
    /// `MuSiQue`, its "full" files with their twins too.
    Musique,
    /// `StrategyQA`: yes or no.
    StrategyQa,
    /// Bamboogle.
    Bamboogle,
    /// NQ-open: all answers listed are gold.
    NqOpen,
    /// `TriviaQA`: official, hub layout, and flat records.
    TriviaQa,
    /// `PopQA`: a table, or records with aliases.
    PopQa,
    /// `WebQuestions`.
    WebQuestions,
    /// `SimpleQA`: a table, or records with aliases.
    SimpleQa,
    /// FRAMES.
    Frames,
    /// Our own form, one JSON object a line; also a JSON array of such objects.
    Jsonl,
    /// Comma-separated cells under a header.
    Csv,
    /// Tab-separated cells under a header.
    Tsv,
}

impl Format {
    /// All formats, in the order in which they are listed.
    pub const ALL: [Self; 15] = [
        Self::HotpotQa,
        Self::Fever,
        Self::Wiki2,
        Self::Musique,
        Self::StrategyQa,
        Self::Bamboogle,
        Self::NqOpen,
        Self::TriviaQa,
        Self::PopQa,
        Self::WebQuestions,
        Self::SimpleQa,
        Self::Frames,
        Self::Jsonl,
        Self::Csv,
        Self::Tsv,
    ];

    /// The formats that a first record can show, the particular before the general.
    const SHOWN: [(Self, LooksLike); 12] = [
        (Self::Fever, fever::looks_like),
        (Self::Wiki2, wiki2::looks_like),
        (Self::Musique, musique::looks_like),
        (Self::StrategyQa, strategyqa::looks_like),
        (Self::TriviaQa, triviaqa::looks_like),
        (Self::Frames, frames::looks_like),
        (Self::Bamboogle, bamboogle::looks_like),
        (Self::WebQuestions, webquestions::looks_like),
        (Self::PopQa, popqa::looks_like),
        (Self::SimpleQa, simpleqa::looks_like),
        (Self::NqOpen, nq_open::looks_like),
        (Self::HotpotQa, hotpotqa::looks_like),
    ];

    /// The name under which it is typed and shown.
    pub fn name(self) -> &'static str {
        match self {
            Self::HotpotQa => "hotpotqa",
            Self::Fever => "fever",
            Self::Wiki2 => "2wiki",
            Self::Musique => "musique",
            Self::StrategyQa => "strategyqa",
            Self::Bamboogle => "bamboogle",
            Self::NqOpen => "nq-open",
            Self::TriviaQa => "triviaqa",
            Self::PopQa => "popqa",
            Self::WebQuestions => "webquestions",
            Self::SimpleQa => "simpleqa",
            Self::Frames => "frames",
            Self::Jsonl => "jsonl",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
        }
    }

    /// The format of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// The format that a file's first record shows. Where names are given for its fields, it is a general one.
    pub(super) fn of(file: &str, records: &Records, columns: &Columns) -> Result<Self, DatasetError> {
        let general = match records.layout {
            Layout::Csv => Self::Csv,
            Layout::Tsv => Self::Tsv,
            Layout::Array | Layout::Lines => Self::Jsonl,
        };
        let Some(record) = records.list.first().filter(|_| columns.question.is_none() && columns.answer.is_none())
        else {
            // Without a single record, its fault says more than a guess at the format would.
            return Ok(general);
        };
        let file_in_lower_case = file.to_ascii_lowercase();
        let first = First { record, layout: records.layout, file: &file_in_lower_case };
        if let Some((format, _)) = Self::SHOWN.into_iter().find(|(_, looks_like)| looks_like(&first)) {
            return Ok(format);
        }
        if general != Self::Jsonl || first.has("question") || first.has("answer") {
            return Ok(general);
        }
        let keys = record.fields.keys().cloned().collect();
        Err(DatasetError::UnknownFormat { file: file.to_owned(), line: record.place.line, keys })
    }

    /// The dataset's name: that of the format, or of the first record, or the file's stem.
    pub(super) fn dataset_name(self, file: &str, records: &Records) -> String {
        if !matches!(self, Self::Jsonl | Self::Csv | Self::Tsv) {
            return self.name().to_owned();
        }
        let named = records.list.first().and_then(|record| record.get("dataset")?.as_str());
        named.map_or_else(|| stem(file), str::to_owned)
    }

    pub(super) fn question(self, record: &Record, columns: &Columns) -> Result<Question, Fault> {
        match self {
            Self::HotpotQa => hotpotqa::question(record),
            Self::Fever => fever::question(record),
            Self::Wiki2 => wiki2::question(record),
            Self::Musique => musique::question(record),
            Self::StrategyQa => strategyqa::question(record),
            Self::Bamboogle => bamboogle::question(record),
            Self::NqOpen => nq_open::question(record),
            Self::TriviaQa => triviaqa::question(record),
            Self::PopQa => popqa::question(record),
            Self::WebQuestions => webquestions::question(record),
            Self::SimpleQa => simpleqa::question(record),
            Self::Frames => frames::question(record),
            Self::Jsonl => jsonl::question(record, columns),
            Self::Csv | Self::Tsv => table::question(record, columns),
        }
    }
}

/// The file's name without folder and extensions.
fn stem(file: &str) -> String {
    let name = Path::new(file).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    match name.split('.').next() {
        Some(stem) if !stem.is_empty() => stem.to_owned(),
        _ => "dataset".to_owned(),
    }
}
