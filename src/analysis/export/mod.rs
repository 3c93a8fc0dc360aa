//! Trajectories in the formats of other programs: one file per format, row by row, never a whole run in memory.
//!
//! | file | what it holds |
//! |---|---|
//! | `mod.rs` | [`Export`], which every format is |
//! | `episode.rs` | [`Scored`], an episode with what is known of it, and its messages |
//! | `table.rs` | the columns and cells of the tables of questions and steps, defined once for all formats |
//! | `csv_file.rs`, `parquet_file.rs`, `jsonl.rs` | tables as files; `jsonl.rs` also whole trajectories and conversations |
//! | `inspect.rs`, `atif.rs`, `hf.rs` | formats of single programs |
//! | `gzip.rs` | packed files |

pub mod atif;
pub mod csv_file;
mod episode;
mod gzip;
pub mod hf;
pub mod inspect;
pub mod jsonl;
#[cfg(feature = "parquet")]
pub mod parquet_file;
mod table;

pub use atif::Atif;
pub(crate) use csv_file::figures_csv;
pub use csv_file::{Csv, CsvOptions, header, is_figures_header};
pub use episode::{Origin, Scored};
pub use gzip::{Gzip, unpacked};
pub use hf::{Hf, HfSource};
pub use inspect::{Inspect, LogHeader, LogTotals};
pub use jsonl::{Chat, JsonRows, Jsonl};
#[cfg(feature = "parquet")]
pub use parquet_file::Parquet;
pub use table::{Layout, Table};

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
