//! What can be wrong with a corpus.

/// Why a corpus cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CorpusError {
    /// The file cannot be read.
    #[error("cannot read `{path}`: {reason}")]
    Read {
        /// The file.
        path: String,
        /// What the system says.
        reason: String,
    },
    /// The packed file is damaged, or unpacks to more than any corpus for memory.
    #[error("cannot unpack `{file}`: {reason}")]
    Unpack {
        /// The file.
        file: String,
        /// What the library says.
        reason: String,
    },
    /// A line is not an article.
    #[error("`{file}`, line {line}: {reason}")]
    Line {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A title or redirect stands for two articles.
    #[error("`{file}`, line {line}: {what} `{name}` is already {taken} in line {first}")]
    Taken {
        /// The file.
        file: String,
        /// The line of the second use, from 1.
        line: usize,
        /// `title` or `redirect`.
        what: &'static str,
        /// The name.
        name: String,
        /// What it is already, in words.
        taken: &'static str,
        /// The line of the first use.
        first: usize,
    },
    /// The text index could not be built.
    #[error("cannot build the text index: {reason}")]
    Index {
        /// What the library says.
        reason: String,
    },
}

impl CorpusError {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Read { .. } => "a corpus is a folder with a file articles.jsonl (or articles.jsonl.gz) in it",
            Self::Unpack { .. } => "unpack the file with gzip to see where it breaks",
            Self::Line { .. } => {
                "each line is one JSON object: {\"title\": str, \"blocks\": [str], \"redirects\": [str]}, \
                 with \"entries\": [[title, description], …] on disambiguation pages"
            }
            Self::Taken { .. } => "every title and redirect stands for one article; remove or rename one of the two",
            Self::Index { .. } => return None,
        })
    }
}
