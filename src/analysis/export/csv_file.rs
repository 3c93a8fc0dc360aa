//! A table as CSV: RFC 4180, and cells that no reader stumbles over. Also the table of figures of a comparison.

use super::table::{Cell, Layout};
use super::{Export, ExportError, Scored};
use crate::dataset::GUARDED;
use std::borrow::Cow;
use std::io::Write;

/// Python's csv module refuses longer cells, so they are cut, with a mark at the end: 131,072 characters.
pub const MAX_CELL_CHARS: usize = 131_072;

const CUT_MARK: &str = "… [cut; the JSON Lines export has it whole]";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CsvOptions {
    /// Begin with a byte order mark, by which Excel knows UTF-8.
    pub bom: bool,
    /// Leave cells that begin like a formula as they are. Otherwise a `'` is put before those that are not numbers, since
    /// a spreadsheet would run what a model or a page wrote.
    pub raw: bool,
}

pub struct Csv<W: Write> {
    sheet: Sheet<W>,
    layout: Layout,
}

impl<W: Write> Csv<W> {
    pub fn new(out: W, layout: impl Into<Layout>, options: CsvOptions) -> Self {
        let layout = layout.into();
        Self { sheet: Sheet::new(out, options, layout.columns().map(|column| column.name)), layout }
    }
}

impl<W: Write> Export for Csv<W> {
    fn write(&mut self, scored: &Scored<'_>) -> Result<(), ExportError> {
        self.layout.rows(scored, &mut |row| self.sheet.row(row))
    }

    fn finish(&mut self) -> Result<(), ExportError> {
        self.sheet.finish()
    }
}

pub fn header(line: &str) -> Vec<String> {
    let mut reader = csv::ReaderBuilder::new().from_reader(line.as_bytes());
    reader.headers().map(|names| names.iter().map(str::to_owned).collect()).unwrap_or_default()
}

struct Sheet<W: Write> {
    writer: csv::Writer<W>,
    options: CsvOptions,
    header: Option<Vec<String>>,
}

impl<W: Write> Sheet<W> {
    fn new(out: W, options: CsvOptions, columns: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(out);
        let mut header: Vec<String> =
            columns.into_iter().map(|name| safe(name.as_ref(), options.raw).into_owned()).collect();
        // The mark is a part of the first cell for the writer, and none for whoever reads the file.
        if let Some(first) = header.first_mut().filter(|_| options.bom) {
            first.insert(0, '\u{feff}');
        }
        Self { writer, options, header: Some(header) }
    }

    fn begin(&mut self) -> Result<(), ExportError> {
        self.header.take().map_or(Ok(()), |header| self.writer.write_record(header).map_err(io_error))
    }

    /// Writes what is buffered, and the header where there was no row.
    fn finish(&mut self) -> Result<(), ExportError> {
        self.begin()?;
        Ok(self.writer.flush()?)
    }

    fn row(&mut self, cells: &[Cell<'_>]) -> Result<(), ExportError> {
        self.begin()?;
        for cell in cells {
            let field = match cell {
                Cell::Text(text) => safe(text, self.options.raw),
                Cell::Integer(number) => Cow::Owned(number.to_string()),
                Cell::Real(number) => Cow::Owned(number.to_string()),
                Cell::Flag(flag) => Cow::Borrowed(if *flag { "1" } else { "0" }),
                Cell::Empty => Cow::Borrowed(""),
            };
            self.writer.write_field(field.as_bytes()).map_err(io_error)?;
        }
        // An empty record ends the row whose fields were just written.
        self.writer.write_record(None::<&[u8]>).map_err(io_error)
    }
}

/// The text as a cell may hold it. A NUL becomes U+FFFD, since older readers end or refuse a cell there.
fn safe(text: &str, raw: bool) -> Cow<'_, str> {
    let mut cell = Cow::Borrowed(text);
    if text.contains('\0') {
        cell = Cow::Owned(text.replace('\0', "\u{fffd}"));
    }
    if !raw && cell.starts_with(GUARDED) && !is_number(&cell) {
        cell = Cow::Owned(format!("'{cell}"));
    }
    // Bytes are at least as many as characters, so most texts are not counted.
    if cell.len() > MAX_CELL_CHARS && cell.chars().nth(MAX_CELL_CHARS).is_some() {
        let kept = MAX_CELL_CHARS - CUT_MARK.chars().count();
        cell = Cow::Owned(cell.chars().take(kept).chain(CUT_MARK.chars()).collect());
    }
    cell
}

/// Whether a spreadsheet reads the text as a number, such as `-5`: digits with a sign, a point or an exponent.
fn is_number(text: &str) -> bool {
    text.ends_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b))
        && text.parse::<f64>().is_ok_and(f64::is_finite)
}

fn io_error(error: csv::Error) -> ExportError {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => ExportError::Io(error),
        other => ExportError::Io(std::io::Error::other(format!("{other:?}"))),
    }
}

/// Columns, in the order of the file. `docs/compare.md` describes each of them.
const FIGURE_COLUMNS: [&str; 7] = ["table", "metric", "group", "a", "b", "figure", "value"];

pub fn is_figures_header(line: &str) -> bool {
    line == FIGURE_COLUMNS.join(",")
}

/// The figures of a report as a table, each with the texts of the columns before it. Reading a value back gives the same bits.
pub(crate) fn figures_csv<'a>(figures: impl Iterator<Item = ([&'a str; 6], f64)>) -> Result<Vec<u8>, ExportError> {
    let mut out = Vec::new();
    let mut csv = Sheet::new(&mut out, CsvOptions::default(), FIGURE_COLUMNS);
    for (texts, value) in figures {
        let texts = texts.map(|text| Cell::Text(Cow::Borrowed(text)));
        csv.row(&texts.into_iter().chain([Cell::Real(value)]).collect::<Vec<_>>())?;
    }
    csv.finish()?;
    drop(csv);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::{CUT_MARK, MAX_CELL_CHARS, safe};

    #[test]
    fn cells_that_look_like_formulas_are_made_safe() {
        for text in ["=1+1", "+1+1", "-1-1", "-inf", "-1.", "--1", "-x", "@x", "\tx", "\rx"] {
            assert_eq!(safe(text, false), format!("'{text}"));
            assert_eq!(safe(text, true), text);
        }
        for text in ["", "a=b", " =1", "'=1", "1-2", "-5", "+1", "-0.5", "-1e-3"] {
            assert_eq!(safe(text, false), text);
        }
        assert_eq!(safe("a\0\u{1}\u{1b}b", false), "a\u{fffd}\u{1}\u{1b}b");
    }

    #[test]
    fn a_cell_is_never_longer_than_readers_take() {
        let whole = "é".repeat(MAX_CELL_CHARS);
        assert_eq!(safe(&whole, false), whole);
        let cut = safe(&format!("{whole}é"), false).into_owned();
        assert_eq!(cut.chars().count(), MAX_CELL_CHARS);
        assert!(cut.ends_with(CUT_MARK));
    }
}
