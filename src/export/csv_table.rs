//! What both CSV tables have in common: RFC 4180, and cells that no reader stumbles over.

use super::ExportError;
use std::borrow::Cow;
use std::fmt::Display;
use std::io::Write;

/// Python's csv module refuses longer cells, so they are cut, with a mark at the end: 131,072 characters.
pub const MAX_CELL_CHARS: usize = 131_072;

/// Ends a cell that was cut.
const CUT_MARK: &str = "… [cut; the JSON Lines export has it whole]";

/// How CSV is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CsvOptions {
    /// Begin with a byte order mark, by which Excel knows UTF-8.
    pub bom: bool,
    /// Leave cells that begin like a formula as they are. Otherwise a `'` is put before them, since a
    /// spreadsheet would run what a model or a page wrote.
    pub raw: bool,
}

/// One cell.
#[derive(Debug, Clone)]
pub(super) enum Cell<'a> {
    /// Text from a dataset, a model or a page.
    Text(Cow<'a, str>),
    /// A value that we wrote ourselves: a number or a fixed name.
    Plain(String),
    Empty,
}

/// A CSV table with a header, written row by row.
pub(super) struct CsvTable<W: Write> {
    writer: csv::Writer<W>,
    options: CsvOptions,
    columns: &'static [&'static str],
    /// Whether the header is written.
    begun: bool,
}

impl<W: Write> CsvTable<W> {
    pub(super) fn new(out: W, options: CsvOptions, columns: &'static [&'static str]) -> Self {
        let writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(out);
        Self { writer, options, columns, begun: false }
    }

    /// Writes the header, once.
    fn begin(&mut self) -> Result<(), ExportError> {
        if self.begun {
            return Ok(());
        }
        self.begun = true;
        // The mark is a part of the first cell for the writer, and none for whoever reads the file.
        let mark = if self.options.bom { "\u{feff}" } else { "" };
        let header = self.columns.iter().enumerate();
        let header = header.map(|(i, name)| if i == 0 { format!("{mark}{name}") } else { (*name).to_owned() });
        self.writer.write_record(header).map_err(io_error)
    }

    /// Writes a row; `cells` has one cell a column.
    pub(super) fn row(&mut self, cells: &[Cell<'_>]) -> Result<(), ExportError> {
        debug_assert_eq!(cells.len(), self.columns.len(), "one cell a column");
        self.begin()?;
        for cell in cells {
            let field = match cell {
                Cell::Text(text) => safe(text, self.options.raw),
                Cell::Plain(text) => Cow::Borrowed(text.as_str()),
                Cell::Empty => Cow::Borrowed(""),
            };
            self.writer.write_field(field.as_bytes()).map_err(io_error)?;
        }
        // An empty record ends the row whose fields were just written.
        self.writer.write_record(None::<&[u8]>).map_err(io_error)
    }

    pub(super) fn finish(&mut self) -> Result<(), ExportError> {
        self.begin()?;
        Ok(self.writer.flush()?)
    }
}

impl<'a> Cell<'a> {
    pub(super) fn text(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }

    pub(super) fn optional(text: Option<&'a str>) -> Self {
        text.map_or(Self::Empty, Self::text)
    }

    pub(super) fn plain(value: impl Display) -> Self {
        Self::Plain(format!("{value}"))
    }

    pub(super) fn optional_plain(value: Option<impl Display>) -> Self {
        value.map_or(Self::Empty, Self::plain)
    }
}

/// The text as it may stand in a cell. A NUL becomes U+FFFD, since older readers end or refuse a cell there.
fn safe(text: &str, raw: bool) -> Cow<'_, str> {
    let mut cell = Cow::Borrowed(text);
    if text.contains('\0') {
        cell = Cow::Owned(text.replace('\0', "\u{fffd}"));
    }
    if !raw && cell.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        cell = Cow::Owned(format!("'{cell}"));
    }
    // Bytes are at least as many as characters, so most texts are not counted.
    if cell.len() > MAX_CELL_CHARS && cell.chars().nth(MAX_CELL_CHARS).is_some() {
        let kept = MAX_CELL_CHARS - CUT_MARK.chars().count();
        cell = Cow::Owned(cell.chars().take(kept).chain(CUT_MARK.chars()).collect());
    }
    cell
}

fn io_error(error: csv::Error) -> ExportError {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => ExportError::Io(error),
        other => ExportError::Io(std::io::Error::other(format!("{other:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::{CUT_MARK, MAX_CELL_CHARS, safe};

    #[test]
    fn cells_that_look_like_formulas_are_made_safe() {
        for text in ["=1+1", "+1", "-1", "@x", "\tx", "\rx"] {
            assert_eq!(safe(text, false), format!("'{text}"));
            assert_eq!(safe(text, true), text);
        }
        for text in ["", "a=b", " =1", "'=1", "1-2"] {
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
