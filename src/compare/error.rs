//! Why variants cannot be compared.

/// Why variants cannot be compared.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum CompareError {
    /// A comparison takes two.
    #[error("a comparison needs at least two variants, found {0}")]
    TooFew(usize),
    /// Two variants have the same name.
    #[error("two variants have the name `{0}`")]
    SameName(String),
    /// No variant has the name of the baseline.
    #[error("no variant `{wanted}` to use as the baseline; the variants are {known}")]
    NoBaseline {
        /// The name given.
        wanted: String,
        /// The names available, separated by commas.
        known: String,
    },
    /// A variant lacks a figure.
    #[error("`{variant}` has no figure `{figure}`; it has {known}")]
    UnknownFigure {
        /// The variant.
        variant: String,
        /// The figure requested.
        figure: String,
        /// The figures that it has, separated by commas.
        known: String,
    },
    /// No figure was requested.
    #[error("no figure to compare")]
    NoFigure,
    /// No variant has a field of the breakdown.
    #[error("no variant has the field `{field}` to break down by; the fields are {known}")]
    UnknownGrouping {
        /// The field requested.
        field: String,
        /// The fields available, separated by commas.
        known: String,
    },
    /// A variant has a row twice.
    #[error("`{variant}` has question `{question}`, repeat {repeat}, twice")]
    Duplicate {
        /// The variant.
        variant: String,
        /// Id of the question.
        question: String,
        /// The repeat, from 0.
        repeat: u32,
    },
    /// The variants have no question in common.
    #[error("the variants {0} share no question")]
    NothingShared(String),
    /// A setting that must be a share.
    #[error("`{name}` must be greater than 0 and less than 1, not {value}")]
    NotBetween {
        /// Name of the setting.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// Intervals and tests need resamples.
    #[error("`resamples` must be 1 or more")]
    NoResamples,
}
