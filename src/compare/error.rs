//! Why variants cannot be compared.

use crate::stats::Interval;

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum CompareError {
    #[error("a comparison needs at least two variants, found {0}")]
    TooFew(usize),
    #[error("two variants have the name `{0}`")]
    SameName(String),
    #[error("no variant `{wanted}` to compare with; the variants are {known}")]
    Unknown { wanted: String, known: String },
    #[error("`{0}` cannot be compared with itself")]
    WithItself(String),
    #[error("`{variant}` has no figure `{figure}`; it has {known}")]
    UnknownFigure {
        variant: String,
        figure: String,
        /// The figures that it has, separated by commas.
        known: String,
    },
    #[error("no figure to compare")]
    NoFigure,
    /// No variant has a field of the breakdown.
    #[error("no variant has the field `{field}` to break down by; the fields are {known}")]
    UnknownGrouping {
        field: String,
        /// The fields available, separated by commas.
        known: String,
    },
    #[error("`{variant}` has question `{question}`, repeat {repeat}, twice")]
    Duplicate {
        variant: String,
        question: String,
        /// The repeat, from 0.
        repeat: u32,
    },
    #[error("the variants {0} share no question")]
    NothingShared(String),
    #[error(
        "`{figure}` of question `{question}` in `{variant}` is {value}, outside of its bounds {}..{}", range.low, range.high
    )]
    OutOfBounds { figure: String, variant: String, question: String, value: f64, range: Interval },
    /// A setting that must be a share.
    #[error("`{name}` must be greater than 0 and less than 1, not {value}")]
    NotBetween { name: &'static str, value: f64 },
    #[error("`resamples` must be 1 or more")]
    NoResamples,
}
