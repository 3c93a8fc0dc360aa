//! Trajectories in the formats of other programs: one file per format, row by row, never a whole run in memory.
//!
//! | file | what it holds |
//! |---|---|
//! | `mod.rs` | [`Export`], which every format is; [`Gzip`] |
//! | `episode.rs` | [`Scored`], an episode with what is known of it, and its messages |
//! | `table.rs` | the columns and cells of the tables of questions and steps, defined once for all formats |
//! | `csv_file.rs`, `parquet_file.rs`, `jsonl.rs` | tables as files; `jsonl.rs` also whole trajectories and conversations |
//! | `inspect.rs`, `atif.rs`, `hf.rs` | formats of single programs |
//! | `otlp.rs` | traces for any collector of OpenTelemetry |

pub mod atif;
pub mod csv_file;
mod episode;
pub mod hf;
pub mod inspect;
pub mod jsonl;
pub mod otlp;
#[cfg(feature = "parquet")]
pub mod parquet_file;
mod table;

pub use atif::Atif;
pub(crate) use csv_file::figures_csv;
pub use csv_file::{Csv, CsvOptions, header, is_figures_header};
pub use episode::{Origin, Scored};
pub use hf::{Hf, HfSource};
pub use inspect::{Inspect, LogHeader, LogTotals};
pub use jsonl::{Chat, JsonRows, Jsonl};
pub use otlp::Otlp;
#[cfg(feature = "parquet")]
pub use parquet_file::Parquet;
pub use table::{Layout, Table};

use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;
use std::io::{self, BufRead as _, BufReader, BufWriter, Read, Write};

/// Something that writes one trajectory after the other.
pub trait Export {
    fn write(&mut self, scored: &Scored<'_>) -> Result<(), ExportError>;

    /// Writes what is buffered, such as the header of an export without rows. Without it the end may be missing.
    fn finish(&mut self) -> Result<(), ExportError>;
}

/// Why an export ended early. What was written so far is whole rows.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error("cannot write the export: {0}")]
    Io(#[from] std::io::Error),
    /// The runs cannot be read, or not be exported so.
    #[error(transparent)]
    Run(#[from] crate::runner::RunError),
}

impl ExportError {
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Io(error) if error.kind() == std::io::ErrorKind::BrokenPipe => None,
            Self::Run(error) => Some(error.hint()),
            Self::Io(_) => Some("check free space and rights of the output; the run itself is untouched"),
        }
    }
}

#[cfg(test)]
mod tests;

/// Packs what is written. Without [`finish`](Self::finish) the file has no end.
#[derive(Debug)]
pub struct Gzip<W: Write>(GzEncoder<BufWriter<W>>);

impl<W: Write> Gzip<W> {
    /// Writes to `out`, which needs no buffer of its own.
    pub fn new(out: W) -> Self {
        Self(GzEncoder::new(BufWriter::new(out), Compression::default()))
    }

    pub fn finish(self) -> Result<(), ExportError> {
        Ok(self.0.finish()?.flush()?)
    }
}

impl<W: Write> Write for Gzip<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    /// Nothing: a flush in between would cost size.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What a file holds, unpacked if it begins as a packed one does.
pub fn unpacked<'r>(source: impl Read + 'r) -> io::Result<Box<dyn Read + 'r>> {
    let mut source = BufReader::new(source);
    let is_packed = source.fill_buf()?.starts_with(&[0x1f, 0x8b]);
    Ok(if is_packed { Box::new(MultiGzDecoder::new(source)) } else { Box::new(source) })
}
