//! Why columns cannot be compared.

/// Why columns cannot be compared.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CompareError {
    /// A comparison takes two.
    #[error("a comparison needs two columns or more, and there is {0}")]
    TooFew(usize),
    /// Two columns have one name, so that no figure could be told from another.
    #[error("two columns are called `{0}`")]
    SameName(String),
    /// The baseline is none of the columns.
    #[error("there is no column `{wanted}` to be the baseline; the columns are {known}")]
    NoBaseline {
        /// The name that was given.
        wanted: String,
        /// The names that there are, separated by commas.
        known: String,
    },
    /// A column lacks a figure.
    #[error("`{column}` has no figure `{figure}`; it has {known}")]
    UnknownFigure {
        /// The column.
        column: String,
        /// The figure that was asked for.
        figure: String,
        /// The figures that it has, separated by commas.
        known: String,
    },
    /// No figure was asked for.
    #[error("no figure to compare")]
    NoFigure,
    /// No column knows a field that results were to be broken down by.
    #[error("no column has the field `{field}` to break down by; there are {known}")]
    UnknownGrouping {
        /// The field that was asked for.
        field: String,
        /// The fields that there are, separated by commas.
        known: String,
    },
    /// A column has a row twice.
    #[error("`{column}` has question `{question}`, repeat {repeat}, twice")]
    Duplicate {
        /// The column.
        column: String,
        /// Id of the question.
        question: String,
        /// The repeat, from 0.
        repeat: u32,
    },
    /// The columns have no question in common.
    #[error("the columns {0} share no question")]
    NothingShared(String),
    /// A share that is none.
    #[error("`{name}` must lie between 0 and 1, both excluded, and is {value}")]
    NotBetween {
        /// Name of the setting.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// Nothing can be said without resamples.
    #[error("`resamples` must be 1 or more")]
    NoResamples,
}
