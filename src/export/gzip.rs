//! Files that are packed while they are written.

use super::ExportError;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{self, BufWriter, Write};

/// Packs what is written. Without [`finish`](Self::finish) the file has no end.
#[derive(Debug)]
pub struct Gzip<W: Write>(GzEncoder<BufWriter<W>>);

impl<W: Write> Gzip<W> {
    /// Writes to `out`, which needs no buffer of its own.
    pub fn new(out: W) -> Self {
        Self(GzEncoder::new(BufWriter::new(out), Compression::default()))
    }

    /// Writes the end.
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
