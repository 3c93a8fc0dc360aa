//! The CSV table of a comparison: one row per figure.

use super::ExportError;
use super::csv_file::{CsvOptions, Sheet};
use super::table::Cell;
use std::borrow::Cow;
use std::io::Write;

/// Columns, in the order of the file. `docs/compare.md` describes each of them.
const FIGURE_COLUMNS: [&str; 7] = ["table", "metric", "group", "a", "b", "figure", "value"];

/// One figure and what it is about; what does not apply is empty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FigureRow<'a> {
    pub table: &'a str,
    pub metric: &'a str,
    /// The part of the questions.
    pub group: &'a str,
    /// The variant, or the first of two.
    pub a: &'a str,
    /// The second of two.
    pub b: &'a str,
    pub figure: &'a str,
    /// Its value, written so that reading it gives the same bits.
    pub value: f64,
}

/// Whether a line is the header of such a table.
pub fn is_figures_header(line: &str) -> bool {
    line == FIGURE_COLUMNS.join(",")
}

pub struct FiguresCsv<W: Write> {
    sheet: Sheet<W>,
}

impl<W: Write> FiguresCsv<W> {
    /// Writes to `out`, beginning with a header.
    pub fn new(out: W, options: CsvOptions) -> Self {
        Self { sheet: Sheet::new(out, options, FIGURE_COLUMNS) }
    }

    pub fn write(&mut self, row: &FigureRow<'_>) -> Result<(), ExportError> {
        let texts = [row.table, row.metric, row.group, row.a, row.b, row.figure];
        let [table, metric, group, a, b, figure] = texts.map(|text| Cell::Text(Cow::Borrowed(text)));
        self.sheet.row(&[table, metric, group, a, b, figure, Cell::Real(row.value)])
    }

    pub fn finish(&mut self) -> Result<(), ExportError> {
        self.sheet.finish()
    }
}
