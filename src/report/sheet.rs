//! A report of tables. Every output format is written from it, so all of them show the same.
//!
//! A cell holds its text and the figures in it. The terminal, Markdown and LaTeX print the text; CSV prints the
//! figures.

pub(crate) mod latex;
pub(crate) mod markdown;
pub(crate) mod terminal;

/// Tables and lines, in reading order.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Sheet {
    pub title: String,
    pub blocks: Vec<Block>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Block {
    Table(Grid),
    /// Sentences, one per line.
    Lines {
        /// Their title; may be empty.
        title: String,
        lines: Vec<String>,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Grid {
    /// Name of the table in CSV.
    pub id: &'static str,
    pub title: String,
    pub header: Vec<Heading>,
    /// Its rows, each with one cell per column.
    pub rows: Vec<Row>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Heading {
    pub text: String,
    /// Whether the column holds numbers, which are aligned right and never wrapped.
    pub right: bool,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Row {
    pub key: Key,
    pub cells: Vec<Cell>,
}

/// What a figure describes; fields that do not apply are empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Key {
    pub metric: String,
    /// The group of questions, such as `type=bridge`.
    pub group: String,
    /// The variant, or the first of two.
    pub a: String,
    /// The second of two.
    pub b: String,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Cell {
    pub text: String,
    /// The figures in it by name, in full precision.
    pub figures: Vec<(&'static str, f64)>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Figure<'a> {
    pub table: &'static str,
    pub key: &'a Key,
    pub name: &'static str,
    pub value: f64,
}

impl Heading {
    /// A column of text.
    pub(crate) fn words(text: impl Into<String>) -> Self {
        Self { text: text.into(), right: false }
    }

    /// A column of numbers.
    pub(crate) fn numbers(text: impl Into<String>) -> Self {
        Self { text: text.into(), right: true }
    }
}

impl Cell {
    /// Text without figures.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), figures: Vec::new() }
    }

    pub(crate) fn figure(name: &'static str, value: f64, text: impl Into<String>) -> Self {
        Self { text: text.into(), figures: vec![(name, value)] }
    }

    /// A count, written without separators.
    pub(crate) fn count(name: &'static str, n: impl TryInto<u64>) -> Self {
        let n = n.try_into().unwrap_or(u64::MAX);
        Self::figure(name, float(n), n.to_string())
    }

    /// A dash, in place of a figure that does not exist.
    pub(crate) fn nothing() -> Self {
        Self::text("–")
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub(crate) fn float(n: u64) -> f64 {
    n as f64
}

impl Sheet {
    /// Every figure, in the order of the tables.
    pub(crate) fn figures(&self) -> impl Iterator<Item = Figure<'_>> {
        let grids = self.blocks.iter().filter_map(|block| match block {
            Block::Table(grid) => Some(grid),
            Block::Lines { .. } => None,
        });
        grids.flat_map(|grid| {
            grid.rows.iter().flat_map(|row| {
                let figures = row.cells.iter().flat_map(|cell| &cell.figures);
                figures.map(|&(name, value)| Figure { table: grid.id, key: &row.key, name, value })
            })
        })
    }
}

#[cfg(test)]
mod tests;
