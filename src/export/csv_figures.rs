//! The CSV table of a comparison: one row a figure.

use super::ExportError;
use super::csv_file::{CsvOptions, Sheet};
use super::table::Cell;
use std::borrow::Cow;
use std::io::Write;

/// Columns, in the order of the file. `docs/compare.md` describes each of them.
const COLUMNS: [&str; 7] = ["table", "metric", "group", "a", "b", "figure", "value"];

/// One figure and what it is about; what does not apply is empty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FigureRow<'a> {
    /// Table in which it stands.
    pub table: &'a str,
    /// Name of the metric.
    pub metric: &'a str,
    /// The part of the questions.
    pub group: &'a str,
    /// The column, or the first of two.
    pub a: &'a str,
    /// The second of two.
    pub b: &'a str,
    /// Name of the figure.
    pub figure: &'a str,
    /// Its value, written so that reading it gives the same bits.
    pub value: f64,
}

/// Writes figures as CSV.
pub struct FiguresCsv<W: Write> {
    sheet: Sheet<W>,
}

impl<W: Write> FiguresCsv<W> {
    /// Writes to `out`, beginning with a header.
    pub fn new(out: W, options: CsvOptions) -> Self {
        Self { sheet: Sheet::new(out, options) }
    }

    /// Writes one figure.
    pub fn write(&mut self, row: &FigureRow<'_>) -> Result<(), ExportError> {
        self.sheet.begin(COLUMNS.into_iter())?;
        let texts = [row.table, row.metric, row.group, row.a, row.b, row.figure];
        let [table, metric, group, a, b, figure] = texts.map(|text| Cell::Text(Cow::Borrowed(text)));
        self.sheet.row(&[table, metric, group, a, b, figure, Cell::Real(row.value)])
    }

    /// Writes what is held back.
    pub fn finish(&mut self) -> Result<(), ExportError> {
        self.sheet.finish(COLUMNS.into_iter())
    }
}

#[cfg(test)]
mod tests {
    use super::{FigureRow, FiguresCsv};
    use crate::export::CsvOptions;

    #[test]
    fn a_figure_is_a_row_and_keeps_its_bits() {
        let mut out = Vec::new();
        let mut csv = FiguresCsv::new(&mut out, CsvOptions::default());
        let value = 0.1 + 0.2;
        let row = FigureRow { table: "pairs", metric: "em", group: "", a: "=x", b: "y,z", figure: "p", value };
        csv.write(&row).expect("written");
        csv.write(&FigureRow { value: -1e-9, ..row }).expect("written");
        csv.finish().expect("finished");
        drop(csv);
        let text = String::from_utf8(out).expect("UTF-8");
        let lines: Vec<&str> = text.split("\r\n").collect();
        assert_eq!(lines[0], "table,metric,group,a,b,figure,value");
        assert_eq!(lines[1], "pairs,em,,'=x,\"y,z\",p,0.30000000000000004");
        assert_eq!(lines[2].rsplit(',').next().expect("a value").parse(), Ok(-1e-9));
    }
}
