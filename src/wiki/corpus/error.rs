//! What can be wrong with a corpus.

use crate::wiki::source::CORPUS_FORM;

/// Why a corpus cannot be used. Lines are numbered from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CorpusError {
    #[error("cannot read `{path}`: {reason}")]
    Read { path: String, reason: String },
    /// The packed file is damaged, or unpacks to more than any corpus for memory.
    #[error("cannot unpack `{file}`: {reason}")]
    Unpack { file: String, reason: String },
    #[error("`{file}`, line {line}: {reason}")]
    Line { file: String, line: usize, reason: String },
    #[error("`{file}`, line {line}: {what} `{name}` is already {taken} in line {first}")]
    Taken { file: String, line: usize, what: &'static str, name: String, taken: &'static str, first: usize },
    #[error("there are no articles in `{path}`")]
    Nothing { path: String },
    /// A file of a folder that was built is not what was written.
    #[error("`{file}` is damaged: {reason}")]
    Damaged { file: String, reason: String },
    /// A folder that was built by another version.
    #[error("`{file}` {what}")]
    Other { file: String, what: String },
    #[error("text index: {reason}")]
    Index { reason: String },
}

impl CorpusError {
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Read { .. } | Self::Nothing { .. } => CORPUS_FORM,
            Self::Unpack { .. } => "unpack the file with gzip to see where it breaks",
            Self::Line { .. } => {
                "each line is one JSON object: {\"title\": str, \"text\": str}, or {\"title\": str, \"blocks\": [str], \"redirects\": \
                 [str]} with \"entries\": [[title, description], …] on disambiguation pages"
            }
            Self::Taken { .. } => "every title and redirect stands for one article; remove or rename one of the two",
            Self::Damaged { .. } => {
                "`wikitrail corpus verify DIR` lists what is wrong; copy the folder again, or build it again"
            }
            Self::Other { .. } => "build it again with `wikitrail corpus build`; its identity stays the same",
            Self::Index { .. } => return None,
        })
    }
}
