//! Trajectories in the formats of other programs: one file per format, row by row, never a whole run in memory.
//!
//! The columns are defined once (`questions`, `steps`, `origin`) for all formats.

pub mod atif;
pub mod chat;
pub mod csv_figures;
pub mod csv_file;
mod gzip;
pub mod hf;
pub mod inspect;
pub mod json_rows;
pub mod jsonl;
mod origin;
#[cfg(feature = "parquet")]
pub mod parquet_file;
mod questions;
mod scored;
mod steps;
mod table;
mod turns;

pub use atif::Atif;
pub use chat::Chat;
pub use csv_figures::{FigureRow, FiguresCsv, is_figures_header};
pub use csv_file::{Csv, CsvOptions, MAX_CELL_CHARS, header};
pub use gzip::{Gzip, unpacked};
pub use hf::{Hf, HfSource};
pub use inspect::{Inspect, LogHeader, LogTotals};
pub use json_rows::JsonRows;
pub use jsonl::Jsonl;
pub use origin::Origin;
#[cfg(feature = "parquet")]
pub use parquet_file::Parquet;
pub use scored::Scored;
pub use table::{Column, Kind, Layout, Table};

/// Something that writes one trajectory after the other.
pub trait Export {
    /// Writes what the format says of one trajectory.
    fn write(&mut self, scored: &Scored<'_>) -> Result<(), ExportError>;

    /// Writes what is buffered, such as the header of an export without rows. Without it the end may be missing.
    fn finish(&mut self) -> Result<(), ExportError>;
}

/// Why an export ended early. What was written so far is whole rows.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error("cannot write the export: {0}")]
    Io(#[from] std::io::Error),
}

impl ExportError {
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Io(error) if error.kind() == std::io::ErrorKind::BrokenPipe => None,
            Self::Io(_) => Some("check free space and rights of the output; the run itself is untouched"),
        }
    }
}

#[cfg(test)]
mod tests;
