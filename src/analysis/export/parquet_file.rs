//! A table as Parquet: typed columns, each of which may be null, in groups of rows.
//!
//! The file is written by the column writers of the crate itself; its arrow interface would bring ten crates more, for
//! record batches that nothing else here has a use for.

use super::table::{Cell, Kind, Layout};
use super::{Export, ExportError, Scored};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};
use std::io::{self, Write};
use std::sync::Arc;

/// Rows and bytes of text that are held before they are written as one group.
const GROUP_ROWS: usize = 50_000;
const GROUP_BYTES: usize = 32 * 1024 * 1024;

/// Writes a table as one Parquet file. Without [`finish`](Export::finish) it has no end and cannot be read.
pub struct Parquet<W: Write + Send> {
    file: SerializedFileWriter<W>,
    layout: Layout,
    held: Vec<ColumnBuffer>,
    rows: usize,
    bytes: usize,
}

/// The values of one column that are not written yet; a cell without a value has a level only.
struct ColumnBuffer {
    values: Values,
    /// 1 for a value, 0 for none.
    levels: Vec<i16>,
}

enum Values {
    Text(Vec<ByteArray>),
    Integer(Vec<i64>),
    Real(Vec<f64>),
    Flag(Vec<bool>),
}

impl<W: Write + Send> Parquet<W> {
    pub fn new(out: W, layout: impl Into<Layout>) -> Result<Self, ExportError> {
        let layout = layout.into();
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(concat!("wikitrail ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        let file = SerializedFileWriter::new(out, schema(&layout).map_err(io_error)?, Arc::new(properties));
        let held = layout.columns().map(|column| ColumnBuffer::new(column.kind)).collect();
        Ok(Self { file: file.map_err(io_error)?, layout, held, rows: 0, bytes: 0 })
    }

    fn flush(&mut self) -> Result<(), ParquetError> {
        if self.rows == 0 {
            return Ok(());
        }
        let mut group = self.file.next_row_group()?;
        for held in &mut self.held {
            held.write(&mut group)?;
        }
        (self.rows, self.bytes) = (0, 0);
        group.close().map(drop)
    }
}

impl<W: Write + Send> Export for Parquet<W> {
    fn write(&mut self, scored: &Scored<'_>) -> Result<(), ExportError> {
        let Self { layout, held, rows, bytes, .. } = self;
        layout.rows(scored, &mut |row| {
            *rows += 1;
            for (held, cell) in held.iter_mut().zip(row) {
                *bytes += held.push(cell);
            }
            Ok(())
        })?;
        if self.rows >= GROUP_ROWS || self.bytes >= GROUP_BYTES {
            self.flush().map_err(io_error)?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), ExportError> {
        self.flush().map_err(io_error)?;
        self.file.finish().map_err(io_error)?;
        Ok(self.file.inner_mut().flush()?)
    }
}

impl ColumnBuffer {
    fn new(kind: Kind) -> Self {
        let values = match kind {
            Kind::Text => Values::Text(Vec::new()),
            Kind::Integer => Values::Integer(Vec::new()),
            Kind::Real => Values::Real(Vec::new()),
            Kind::Flag => Values::Flag(Vec::new()),
        };
        Self { values, levels: Vec::new() }
    }

    /// Holds a cell and returns about how many bytes it takes. A cell of another kind than its column's becomes null.
    fn push(&mut self, cell: &Cell<'_>) -> usize {
        match (&mut self.values, cell) {
            (Values::Text(values), Cell::Text(text)) => values.push(text.as_bytes().to_vec().into()),
            // Counts and times stay far below; what does not fit is shown as the largest number.
            (Values::Integer(values), Cell::Integer(number)) => {
                values.push(i64::try_from(*number).unwrap_or(i64::MAX));
            }
            (Values::Real(values), Cell::Real(number)) => values.push(*number),
            (Values::Flag(values), Cell::Flag(flag)) => values.push(*flag),
            (_, cell) => {
                debug_assert_eq!(cell, &Cell::Empty, "a cell of the column's kind");
                self.levels.push(0);
                return size_of::<i64>();
            }
        }
        self.levels.push(1);
        match cell {
            Cell::Text(text) => text.len(),
            _ => size_of::<i64>(),
        }
    }

    /// Writes what is held as the next column of the group, and holds nothing any more.
    fn write<W: Write + Send>(&mut self, group: &mut SerializedRowGroupWriter<'_, W>) -> Result<(), ParquetError> {
        match &mut self.values {
            Values::Text(values) => column::<ByteArrayType, W>(group, values, &self.levels)?,
            Values::Integer(values) => column::<Int64Type, W>(group, values, &self.levels)?,
            Values::Real(values) => column::<DoubleType, W>(group, values, &self.levels)?,
            Values::Flag(values) => column::<BoolType, W>(group, values, &self.levels)?,
        }
        self.levels.clear();
        Ok(())
    }
}

fn column<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &mut Vec<T::T>,
    levels: &[i16],
) -> Result<(), ParquetError> {
    let missing = || ParquetError::General("the schema has fewer columns than the table".to_owned());
    let mut column = group.next_column()?.ok_or_else(missing)?;
    column.typed::<T>().write_batch(values, Some(levels), None)?;
    values.clear();
    column.close()
}

fn schema(layout: &Layout) -> Result<TypePtr, ParquetError> {
    let field = |name: &str, kind| {
        let (physical, logical) = match kind {
            Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Kind::Integer => (Physical::INT64, None),
            Kind::Real => (Physical::DOUBLE, None),
            Kind::Flag => (Physical::BOOLEAN, None),
        };
        let builder = Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL);
        builder.with_logical_type(logical).build().map(Arc::new)
    };
    let fields = layout.columns().map(|column| field(&column.name, column.kind)).collect::<Result<Vec<_>, _>>()?;
    Type::group_type_builder("schema").with_fields(fields).build().map(Arc::new)
}

/// The system's own error where there is one, so that a reader that has gone is recognised.
fn io_error(error: ParquetError) -> ExportError {
    ExportError::Io(match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(cause) => io::Error::other(cause),
        },
        error => io::Error::other(error),
    })
}
