//! How a file begins, by which an earlier output is recognised.

use crate::export::unpacked;
use crate::types::bounded::LONGEST_LINE;
use serde_json::{Map, Value};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

/// Bytes that are read behind the first line.
const MORE: u64 = 64 << 10;

/// The first line of a file and some of what follows, unpacked where it is gzip.
#[derive(Debug)]
pub(in crate::cli) struct Start {
    path: PathBuf,
    text: String,
}

impl Start {
    pub(super) fn read(path: &Path) -> io::Result<Self> {
        let mut source = BufReader::new(unpacked(File::open(path)?)?);
        let mut bytes = Vec::new();
        source.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut bytes)?;
        source.take(MORE).read_to_end(&mut bytes)?;
        let text = String::from_utf8_lossy(&bytes);
        Ok(Self { path: path.to_owned(), text: text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned() })
    }

    pub(in crate::cli) fn path(&self) -> &Path {
        &self.path
    }

    /// All that was read.
    pub(in crate::cli) fn text(&self) -> &str {
        &self.text
    }

    /// The first line, without its end.
    pub(in crate::cli) fn line(&self) -> &str {
        self.text.lines().next().unwrap_or_default()
    }

    /// The object in the first line; empty where there is none.
    pub(in crate::cli) fn object(&self) -> Map<String, Value> {
        serde_json::from_str(self.line()).unwrap_or_default()
    }
}
