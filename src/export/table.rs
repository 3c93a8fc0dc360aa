//! The tables as such, whatever file they are written to: columns with a type, and rows of cells.

use super::{ExportError, Scored, origin, questions, steps};
use std::borrow::Cow;

/// A table with the columns that datasets and files of metrics add to the questions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    pub table: Table,
    /// Fields of the records, which become the columns `meta.NAME`.
    pub meta: Vec<String>,
    /// Metrics from files.
    pub metrics: Vec<String>,
    /// Whether steps have the text of their first prompt.
    pub prompts: bool,
}

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

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name, the same in every format.
    pub name: Cow<'static, str>,
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

impl From<Table> for Layout {
    fn from(table: Table) -> Self {
        Self { table, meta: Vec::new(), metrics: Vec::new(), prompts: false }
    }
}

impl Layout {
    /// The columns, in order; `docs/columns.md` explains each.
    pub fn columns(&self) -> impl Iterator<Item = Column> {
        let own: Vec<Column> = match self.table {
            Table::Questions => {
                let meta =
                    self.meta.iter().map(|name| Column { name: format!("meta.{name}").into(), kind: Kind::Text });
                let metrics = self.metrics.iter().map(|name| Column { name: name.clone().into(), kind: Kind::Real });
                let known = questions::QUESTION_COLUMNS.iter().map(|column| column.column.clone());
                known.chain(questions::QUESTION_FIELDS).chain(meta).chain(metrics).collect()
            }
            Table::Steps => {
                let known = steps::STEP_COLUMNS.iter().map(|(column, _)| column.clone());
                known.chain(self.prompts.then(|| Column::text("prompt_text"))).collect()
            }
        };
        own.into_iter()
            .chain(origin::RUN_COLUMNS)
            .chain(origin::SETTING_COLUMNS.iter().map(|(column, _)| column.clone()))
    }

    /// Whether these are the names of such a table's columns, whatever fields its questions had: nobody has added one.
    pub fn is_header(&self, names: &[String]) -> bool {
        let fixed: Vec<Column> = Self::from(self.table).columns().collect();
        let is_fixed = |name: &str| fixed.iter().any(|column| column.name == name);
        let is_further = |name: &String| {
            name.starts_with("meta.") || name == "prompt_text" || (self.metrics.contains(name) && !is_fixed(name))
        };
        names.iter().filter(|name| !is_further(name)).eq(fixed.iter().map(|column| &*column.name))
    }

    /// Gives the rows of one trajectory to `sink`, each with one cell per column.
    pub(super) fn rows(&self, scored: &Scored<'_>, sink: Sink<'_>) -> Result<(), ExportError> {
        let origin = scored.origin.cells();
        match self.table {
            Table::Questions => {
                let mut row = questions::question_row(scored);
                row.extend(questions::question_fields(scored, self.meta.len()));
                let metric = |at| Cell::of(scored.metrics.get(at).copied().flatten(), Cell::Real);
                row.extend((0..self.metrics.len()).map(metric));
                row.extend(origin);
                sink(&row)
            }
            Table::Steps => {
                let mut prompts = scored.prompts.iter();
                scored.trajectory.steps.iter().try_for_each(|step| {
                    let own = steps::STEP_COLUMNS.iter().map(|(_, cell)| cell(scored.trajectory, step));
                    let calls: Vec<_> = prompts.by_ref().take(step.calls.len()).collect();
                    let prompt = self.prompts.then(|| steps::prompt_cell(calls.first().copied()));
                    sink(&own.chain(prompt).chain(origin.iter().cloned()).collect::<Vec<_>>())
                })
            }
        }
    }
}

impl Column {
    pub(super) const fn text(name: &'static str) -> Self {
        Self { name: Cow::Borrowed(name), kind: Kind::Text }
    }

    pub(super) const fn integer(name: &'static str) -> Self {
        Self { name: Cow::Borrowed(name), kind: Kind::Integer }
    }

    pub(super) const fn real(name: &'static str) -> Self {
        Self { name: Cow::Borrowed(name), kind: Kind::Real }
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
