//! Files with one JSON record a line, read line by line: of a large file nothing is held but its questions.

use super::bytes::MOST;
use super::error::Problem;
use super::fields::{Layout, Record};
use super::records::record_of_line;
use super::{Columns, DatasetError, Format, Place, ReadOptions};
use crate::base::Digester;
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Seek as _, Write as _};
use std::path::Path;

/// Size of the read buffer, which the first line must fit in.
const BLOCK: usize = 64 << 10;

/// The lines of a file, as records or what is wrong with them.
pub(super) struct Lines<'a> {
    name: &'a str,
    columns: &'a Columns,
    file: BufReader<File>,
    bytes: Vec<u8>,
    /// Of the last line and of the last record.
    at: Place,
    digest: Digester,
    broken: Option<DatasetError>,
}

impl<'a> Lines<'a> {
    /// Opens a plain file that begins with a whole record on its first line; any other one is read as a whole.
    pub(super) fn open(path: &Path, name: &'a str, options: &'a ReadOptions) -> Option<Self> {
        if matches!(options.format.and_then(Format::layout), Some(Layout::Csv | Layout::Tsv)) {
            return None;
        }
        let file = File::open(path).ok()?;
        file.metadata().ok().filter(|metadata| metadata.is_file() && metadata.len() <= MOST)?;
        let mut file = BufReader::with_capacity(BLOCK, file);
        let begin = file.fill_buf().ok().filter(|begin| memchr::memchr(0, begin).is_none())?;
        let first: Value = serde_json::from_slice(begin.split(|byte| *byte == b'\n').next()?).ok()?;
        // TriviaQA's records are in a list of that name.
        first.as_object().filter(|fields| !fields.contains_key("Data"))?;
        file.rewind().ok()?;
        let (bytes, at) = (Vec::new(), Place { line: 0, record: 0 });
        Some(Self { name, columns: &options.columns, file, bytes, at, digest: Digester::default(), broken: None })
    }

    /// SHA-256 of what was read, or why it was not read to its end.
    pub(super) fn end(self) -> Result<String, DatasetError> {
        self.broken.map_or_else(|| Ok(self.digest.hex()), Err)
    }

    fn line(&mut self) -> Result<Option<Result<Record, DatasetError>>, DatasetError> {
        let failed = |error| DatasetError::of_file(self.name, Problem::Io(error));
        loop {
            self.bytes.clear();
            if self.file.read_until(b'\n', &mut self.bytes).map_err(failed)? == 0 {
                return Ok(None);
            }
            self.digest.write_all(&self.bytes).map_err(failed)?;
            self.at.line += 1;
            let text = std::str::from_utf8(&self.bytes);
            let text = text.map_err(|_| DatasetError::at_line(self.name, self.at.line, Problem::NotUtf8))?;
            let text = text.lines().next().unwrap_or_default();
            if !text.trim().is_empty() {
                self.at.record += 1;
                return Ok(Some(record_of_line(self.name, self.at, text, self.columns)));
            }
        }
    }
}

impl Iterator for Lines<'_> {
    type Item = Result<Record, DatasetError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.line().unwrap_or_else(|error| {
            self.broken = Some(error);
            None
        })
    }
}
