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
    /// Its title.
    pub title: String,
    /// Tables and lines.
    pub blocks: Vec<Block>,
}

/// A part of a report.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Block {
    /// A table.
    Table(Grid),
    /// Sentences, one per line.
    Lines {
        /// Their title; may be empty.
        title: String,
        /// The sentences.
        lines: Vec<String>,
    },
}

/// One table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Grid {
    /// Name of the table in CSV.
    pub id: &'static str,
    /// Its title.
    pub title: String,
    /// The headings of its columns.
    pub header: Vec<Heading>,
    /// Its rows, each with one cell per column.
    pub rows: Vec<Row>,
}

/// The heading of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Heading {
    /// Its text.
    pub text: String,
    /// Whether the column holds numbers, which are aligned right and never wrapped.
    pub right: bool,
}

/// One row.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Row {
    /// What its figures describe.
    pub key: Key,
    /// Its cells.
    pub cells: Vec<Cell>,
}

/// What a figure describes; fields that do not apply are empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Key {
    /// Name of the metric.
    pub metric: String,
    /// The group of questions, such as `type=bridge`.
    pub group: String,
    /// The variant, or the first of two.
    pub a: String,
    /// The second of two.
    pub b: String,
}

/// One cell.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Cell {
    /// The text.
    pub text: String,
    /// The figures in it by name, in full precision.
    pub figures: Vec<(&'static str, f64)>,
}

/// One figure of a report.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Figure<'a> {
    /// Name of the table.
    pub table: &'static str,
    /// What it describes.
    pub key: &'a Key,
    /// Its name.
    pub name: &'static str,
    /// Its value.
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

    /// A figure and its text.
    pub(crate) fn figure(name: &'static str, value: f64, text: impl Into<String>) -> Self {
        Self { text: text.into(), figures: vec![(name, value)] }
    }

    /// A dash, in place of a figure that does not exist.
    pub(crate) fn nothing() -> Self {
        Self::text("–")
    }
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
