//! The tables as such, whatever file they are written to: columns with a type, and rows of cells.

use super::{ExportError, Scored, origin, questions, steps};
use std::borrow::Cow;

/// What a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// One row per episode.
    Questions,
    /// One row per step; an episode without steps has none.
    Steps,
}

/// What the cells of a column hold; each may be empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// UTF-8.
    Text,
    /// A count or a size, 0 or more.
    Integer,
    /// A number with a fraction.
    Real,
    /// Yes or no; `1` or `0` in CSV.
    Flag,
}

impl Kind {
    /// The name that `docs/columns.md` gives it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Integer => "int",
            Self::Real => "real",
            Self::Flag => "bool",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Its name, the same in every format.
    pub name: &'static str,
    pub kind: Kind,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell<'a> {
    /// Text from a dataset, a model, a page or a command line.
    Text(Cow<'a, str>),
    /// Text that we chose ourselves: a fixed name, a digest, a time.
    Name(&'a str),
    Integer(u64),
    Real(f64),
    Flag(bool),
    Empty,
}

/// Takes the rows of one trajectory.
pub(super) type Sink<'s> = &'s mut dyn FnMut(&[Cell<'_>]) -> Result<(), ExportError>;

impl Table {
    /// The columns, in order; `docs/columns.md` explains each.
    pub fn columns(self) -> impl Iterator<Item = Column> {
        let questions = if self == Self::Questions { questions::COLUMNS } else { &[] };
        let steps = if self == Self::Steps { steps::COLUMNS } else { &[] };
        let own = questions.iter().map(|column| column.column).chain(steps.iter().map(|(column, _)| *column));
        own.chain(origin::RUN).chain(origin::SETTINGS.iter().map(|(column, _)| *column))
    }

    /// Gives the rows of one trajectory to `sink`, each with one cell per column.
    pub(super) fn rows(self, scored: &Scored<'_>, sink: Sink<'_>) -> Result<(), ExportError> {
        let origin = scored.origin.cells();
        match self {
            Self::Questions => {
                let mut row = questions::row(scored);
                row.extend(origin);
                sink(&row)
            }
            Self::Steps => scored.trajectory.steps.iter().try_for_each(|step| {
                let own = steps::COLUMNS.iter().map(|(_, cell)| cell(scored.trajectory, step));
                sink(&own.chain(origin.iter().cloned()).collect::<Vec<_>>())
            }),
        }
    }
}

impl Column {
    pub(super) const fn text(name: &'static str) -> Self {
        Self { name, kind: Kind::Text }
    }

    pub(super) const fn integer(name: &'static str) -> Self {
        Self { name, kind: Kind::Integer }
    }

    pub(super) const fn real(name: &'static str) -> Self {
        Self { name, kind: Kind::Real }
    }
}

impl<'a> Cell<'a> {
    pub(super) fn text(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }

    pub(super) fn count(count: usize) -> Self {
        // No machine counts further.
        Self::Integer(count as u64)
    }

    /// The cell of a value that may be absent.
    pub(super) fn of<T>(value: Option<T>, cell: impl FnOnce(T) -> Self) -> Self {
        value.map_or(Self::Empty, cell)
    }
}
