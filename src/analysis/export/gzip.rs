//! Files that are packed while they are written.

use super::ExportError;
use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;
use std::io::{self, BufRead as _, BufReader, BufWriter, Read, Write};

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
